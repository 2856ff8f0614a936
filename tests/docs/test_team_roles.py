"""The team of docs/database.md: its statements and commands run as they stand there, and a refusal reads as shown."""

import re
import shlex

import psycopg
from console_blocks import REPOSITORY
from postgres_server import PostgresServer

from ndcg_tracker import Tracker
from ndcg_tracker.cli.app import run
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import grants

SECTION = (REPOSITORY / "docs" / "database.md").read_text(encoding="utf-8").partition("## A team on Postgres")[2]
ROLES = ("ndcg_owner", "ndcg_writer", "ndcg_reader", "ndcg_dashboards", "ann")


def block(language: str) -> str:
    """Return the first block of a language in the section."""
    found = re.search(rf"^```{language}\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_team_of_the_docs(postgres_server: PostgresServer, postgres_url: str, capfd: object) -> None:
    name = postgres_url.partition("@/")[2].partition("?")[0]

    def url(role: str) -> str:
        return postgres_url.replace("//ndcg@", f"//{role}@")

    with psycopg.connect(postgres_server.conninfo(name), autocommit=True) as admin:
        admin.execute(block("sql").replace("shop", name).encode())
    try:
        commands = [shlex.split(line) for line in block("sh").splitlines()]
        assert [words[3:5] for words in commands] == [["db", "upgrade"], ["db", "grant"]]
        for program, option, address, *words in commands:
            assert (program, option, address) == ("ndcg-track", "--db", "postgresql://ndcg_owner@db/shop")
            assert run(["--db", url("ndcg_owner"), *words]) == 0
        frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
        with Tracker(url("ndcg_writer")) as tracker:
            tracker.ingest(frame, name="bm25", item="item")
        for role in ("ann", "ndcg_dashboards"):
            with Tracker(url(role)) as tracker:
                assert len(tracker.sql("SELECT run FROM run_list")) == 1
        owners = b"WHERE usename = 'ndcg_owner' AND state LIKE 'idle in%'"
        since = b"SELECT xact_start IS NOT NULL FROM pg_stat_activity " + owners
        with (
            Store.open(url("ndcg_owner")) as store,
            store.write(),
            psycopg.connect(url("ndcg_writer").replace("+psycopg", "")) as writer,
        ):
            assert writer.execute(since).fetchall() == [(True,)]
        timeouts = []
        for role in ("ann", "ndcg_dashboards", "ndcg_writer", "ndcg_owner"):
            with psycopg.connect(url(role).replace("+psycopg", "")) as one:
                timeouts += one.execute("SHOW statement_timeout").fetchone() or ()
        assert timeouts == ["1min", "30s", "0", "0"]
        capfd.readouterr()  # type: ignore[attr-defined]
        assert run(["--db", url("ndcg_writer"), "runs", "delete", "bm25", "--yes"]) == 2
        said = capfd.readouterr().err  # type: ignore[attr-defined]
        assert said.replace(url("ndcg_writer"), "postgresql+psycopg://ndcg_writer@db/shop") == block("text")
    finally:
        postgres_server.drop_database(name)
        with psycopg.connect(postgres_server.conninfo(), autocommit=True) as admin:
            admin.execute(f"DROP ROLE {', '.join(reversed(ROLES))}".encode())


def test_where_a_writer_deletes_is_told() -> None:
    told = re.search(r"^The writer may delete in six tables:.*?\n\n", SECTION, re.DOTALL | re.MULTILINE)
    assert told is not None
    assert tuple(sorted(set(re.findall(r"`(\w+)`", told[0])) & set(schema.metadata.tables))) == grants.DELETED
