"""What docs/postgres.md shows: its statements run, and its messages are those of the program."""

import re

import psycopg
import pytest
from console_blocks import REPOSITORY
from postgres_server import PostgresServer

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database, locks
from ndcg_tracker.storage.store import Store

PAGE = (REPOSITORY / "docs" / "postgres.md").read_text(encoding="utf-8")


def block(section: str, language: str) -> str:
    """Return the first block of a language in a section."""
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.partition(f"## {section}\n")[2], re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_schema_beside_other_programs(postgres_server: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]
    behind, foreign, empty = block("Share a database with other programs", "text").splitlines()
    with psycopg.connect(postgres_server.conninfo(name), autocommit=True) as admin:
        admin.execute("CREATE ROLE ndcg_owner LOGIN")
        try:
            admin.execute("CREATE SCHEMA app; CREATE TABLE app.alembic_version (version_num text)")
            admin.execute(block("Share a database with other programs", "sql").encode())
            option = f"{postgres_url}&options=-csearch_path%3D"
            refusals = [(f"{option}ranking", empty), (f"{option}app", foreign), (f"{option}app,ranking", behind)]
            owner = postgres_url.replace("//ndcg@", "//ndcg_owner@")
            for url, said in refusals:
                if said == behind:
                    database.upgrade(owner)
                with pytest.raises(DatabaseError) as caught:
                    Store.open(url)
                assert f": {said.removesuffix('...')}" in str(caught.value)
            Store.open(f"{option}ranking,app").close()
        finally:
            postgres_server.drop_database(name)
            with psycopg.connect(postgres_server.conninfo(), autocommit=True) as other:
                other.execute("DROP ROLE ndcg_owner")


def test_the_line_of_who_waits(
    postgres_schema: None, postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shown = block("Who waits for whom", "text").rstrip("\n")
    assert f"up to {locks.WAIT_SECONDS:g} s " in shown
    monkeypatch.setattr(locks, "TOLD_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(locks, "IDLE_SECONDS", 0)
    with Store.open(postgres_url) as store, store.write(), pytest.raises(DatabaseError), store.write("marks"):
        pass
    (said,) = caplog.messages
    words = [re.sub(r"20[-\dT:]+Z|\d[\d.]*|'\w+'|^\S+: ", "_", line) for line in (shown, said)]
    assert words[0] == words[1]


def test_what_is_said_where_nothing_may_be_written(
    postgres_server: PostgresServer, postgres_schema: None, postgres_url: str
) -> None:
    """The line of a replica is that of row 23 (``tests/torture/refusing_servers.py``)."""
    shown, of_replica = block("Read-only servers and roles", "text").splitlines()
    assert of_replica == "this is a replica; nothing was stored: connect to the primary"
    with psycopg.connect(postgres_server.conninfo(), autocommit=True) as admin:
        admin.execute("CREATE ROLE ci LOGIN")
        try:
            admin.execute("ALTER ROLE ci SET default_transaction_read_only = on")
            with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
                owner.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO ci")
                with Store.open(postgres_url.replace("//ndcg@", "//ci@")) as store:
                    with store.read() as tx:
                        assert tx.runs.all() == []
                    with pytest.raises(DatabaseError) as caught, store.write():
                        pass
                    owner.execute("DROP OWNED BY ci")
            assert str(caught.value).endswith(f": {shown}")
        finally:
            admin.execute("DROP ROLE ci")
