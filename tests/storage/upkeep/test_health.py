"""What ``doctor`` finds of a database and what it advises."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from migrated import NEWEST
from stored_samples import BM25, add_run

from ndcg_tracker.errors import DatabaseError, argument
from ndcg_tracker.runs.check import check_database
from ndcg_tracker.storage import database, locks
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import health
from ndcg_tracker.storage.upkeep.health import Finding


def found_in(url: str) -> dict[str, Finding]:
    return {finding.check: finding for finding in health.examine(url)}


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def execute(url: str, *statements: str) -> None:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


@pytest.fixture
def filled(postgres_schema: None, database_url: str) -> str:
    """The URL of a database with a run."""
    database.upgrade(database_url)
    with Store.open(database_url) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    return database_url


def test_all_is_well(filled: str) -> None:
    found = found_in(filled)
    assert list(found) == ["schema", "version", "space", "integrity"]
    assert {one.state for one in found.values()} == {"ok"}
    assert found["schema"].found == f"{NEWEST}, the latest that this program knows"
    assert found["integrity"] == Finding(
        "integrity",
        "ok",
        "1 run, with all that they must have",
        "to compute digests and results again, type: ndcg-track db check",
    )
    if filled.startswith("sqlite"):
        assert found["version"].found == f"SQLite {sqlite3.sqlite_version}"
        assert re.fullmatch(r"0% of 0\.\d MB is free for new rows; [\d,.]+ GB on the disk", found["space"].found)
    else:
        assert re.fullmatch(r"Postgres \d+\..*", found["version"].found)
        assert re.fullmatch(r"\d+\.\d MB", found["space"].found)


def test_nothing_is_left_behind(sqlite_url: str) -> None:
    database.upgrade(sqlite_url)
    folder = path_of(sqlite_url).parent
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    found_in(sqlite_url)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_damage(filled: str) -> None:
    execute(filled, "DELETE FROM ranked_lists WHERE group_id = (SELECT min(group_id) FROM ranked_lists)")
    assert found_in(filled)["integrity"] == Finding(
        "integrity", "bad", "1 runs without all their lists", "restore a backup, or report what was found"
    )


def test_a_database_that_is_not_there(sqlite_url: str) -> None:
    found = found_in(sqlite_url)
    path = path_of(sqlite_url)
    assert found["schema"].state == "note"
    assert found["schema"].found == "the database does not exist"
    assert "ingest FILE --labels LABELS" in found["schema"].advice
    assert not path.exists()


def test_an_empty_server(postgres_url: str) -> None:
    found = found_in(postgres_url)
    assert list(found) == ["schema"]
    assert (found["schema"].state, found["schema"].found) == ("note", "the database is empty")
    assert found["schema"].advice.endswith("db upgrade")


def test_a_server_that_does_not_answer() -> None:
    (finding,) = health.examine("postgresql://127.0.0.1:1/shop")
    assert (finding.check, finding.state) == ("schema", "bad")
    assert "no server answers there" in finding.found


def test_another_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100)
    assert found_in(str(tmp_path / "notes.txt"))["schema"] == Finding(
        "schema",
        "bad",
        "not a SQLite database, it is a file of another kind",
        f"give {argument('location')} another path",
    )


def test_little_room(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database.upgrade(sqlite_url)
    monkeypatch.setattr(health, "LITTLE_ROOM", 1 << 62)
    found = found_in(sqlite_url)["space"]
    assert (found.state, found.advice.startswith("free some space before the next ingest")) == ("bad", True)


def test_a_file_system_without_locks(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite without locks behaves as it does where the file system keeps none."""
    database.upgrade(sqlite_url)
    assert check_database(sqlite_url).damage == []
    unlocked = health._SECOND_WRITER.replace("sys.argv[1]", 'f"file:{sys.argv[1]}?vfs=unix-none"')
    monkeypatch.setattr(health, "_SECOND_WRITER", unlocked.replace("timeout=0", "timeout=0, uri=True"))
    assert check_database(sqlite_url).damage == [
        "the file system does not lock out a second writer: put the database on a local disk, or use Postgres"
    ]


@pytest.fixture
def other_role(postgres_schema: None, postgres_url: str) -> Iterator[str]:
    """The URL of the database for a role that owns nothing, in an upgraded database."""
    database.upgrade(postgres_url)
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute('CREATE ROLE "Somebody" LOGIN')
        yield postgres_url.replace("//ndcg@", "//Somebody@")
        owner.execute('DROP OWNED BY "Somebody"')
        owner.execute('DROP ROLE "Somebody"')


def test_a_writer_that_waits_is_told_what_its_role_may_not_see(
    postgres_url: str, other_role: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "TOLD_AFTER_SECONDS", 0.05)
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.1)
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute('GRANT SELECT ON ALL TABLES IN SCHEMA public TO "Somebody"')
        said = []
        for _ in range(2):
            with Store.open(postgres_url) as store, store.write("marks"), Store.open(other_role) as other:
                with pytest.raises(DatabaseError), other.write("marks"):
                    pass
                said.append(caplog.messages[-1].partition("ndcg-tracker of role 'ndcg'")[2])
            owner.execute('GRANT pg_read_all_stats TO "Somebody"')
        owner.execute('REVOKE pg_read_all_stats FROM "Somebody"')
    assert said[0] == " (only members of pg_read_all_stats see when it began)"
    assert re.fullmatch(r", since 20[-0-9T:]+Z", said[1])


def test_a_role_that_reads_no_tables_is_not_told_of_damage(postgres_url: str, other_role: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute('GRANT SELECT ON run_list, ndcg_tracker_version TO "Somebody"')
    found = found_in(other_role)
    assert found["integrity"] == Finding(
        "integrity",
        "note",
        "role 'Somebody' has no SELECT right on view run_summary, so this was not checked",
        "run doctor as a role that reads the tables",
    )


def test_a_schema_that_the_role_may_not_use_is_not_empty(postgres_url: str, other_role: str) -> None:
    """What the message says to type is what helps."""
    owner = psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True)
    with closing(owner):
        owner.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        said = "the tables are in schema 'public', which is not the first of search_path that this role may use"
        grants = "GRANT USAGE ON SCHEMA public TO ...; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ..."
        advice = f"make it the first: ALTER ROLE ... SET search_path = public; or ask its owner to run: {grants}"
        found = found_in(other_role)["schema"]
        assert (found.state, found.found, found.advice) == ("bad", said, advice)
        with pytest.raises(DatabaseError) as caught:
            Store.open(other_role)
        assert str(caught.value).endswith(f": {said}; {advice}")
        with pytest.raises(DatabaseError, match="which is not the first of search_path that this role may use"):
            database.upgrade(other_role)
        owner.execute(grants.replace("...", '"Somebody"'))
        assert found_in(other_role)["schema"].state == "ok"


def test_a_schema_of_ones_own_needs_a_search_path_of_its_own(postgres_url: str, other_role: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        owner.execute('CREATE SCHEMA "Somebody" AUTHORIZATION "Somebody"')
        assert found_in(other_role)["schema"].found.startswith("the tables are in schema 'public', which is not")
        owner.execute('ALTER ROLE "Somebody" SET search_path = "$user"')
        assert found_in(other_role)["schema"].found == "schema 'Somebody' of search_path is empty"


def test_a_password_is_not_shown() -> None:
    (finding,) = health.examine("postgresql://me:secret@127.0.0.1:1/shop?sslpassword=secret")
    assert finding.state == "bad"
    assert "secret" not in finding.found + finding.advice
