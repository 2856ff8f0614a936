"""What ``doctor`` finds of a database and what it advises."""

import os
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
from ndcg_tracker.storage import database, locks
from ndcg_tracker.storage.completion import names_to_complete
from ndcg_tracker.storage.connection import wal_is_safe
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import health
from ndcg_tracker.storage.upkeep.health import Finding, _file_system


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
    assert {one.check for one in found.values() if one.state == "bad"} == set()
    assert found["schema"] == Finding("schema", "ok", f"{NEWEST}, the latest that this program knows")
    assert found["integrity"] == Finding(
        "integrity", "ok",
        "1 run, each with all its lists and results; views, indexes and triggers are those of the schema",
        "this does not compute digests and results again; to do so, type: ndcg-track db check",
    )  # fmt: skip
    if filled.startswith("sqlite"):
        assert list(found) == ["file", "SQLite", "journal", "room", "locks", "schema", "space", "integrity"]
        assert found["SQLite"].state == ("ok" if wal_is_safe() else "note")
        assert found["locks"].found.startswith("a second writer waits")
    else:
        assert list(found) == ["schema", "server", "role", "writer", "planner", "space", "integrity"]
        assert found["writer"] == Finding("writer", "ok", "nobody")
        assert found["role"].advice.startswith("give readers a read-only role")


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
    assert found["file"] == Finding("file", "note", f"{path} does not exist yet", "the first ingest creates it")
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
    assert (finding.check, finding.state) == ("database", "bad")
    assert "no server answers there" in finding.found


def test_another_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database " * 100)
    assert found_in(str(tmp_path / "notes.txt"))["schema"] == Finding(
        "schema",
        "bad",
        "not a SQLite database, it is a file of another kind",
        f"give {argument('location')} another path",
    )


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    finding = next(iter(health.examine(str(tmp_path / "no" / "x.db"))))
    assert finding == Finding(
        "file",
        "bad",
        f"the folder {tmp_path / 'no'} does not exist",
        f"create it, or give {argument('location')} another path",
    )


@pytest.mark.skipif(wal_is_safe(), reason="this SQLite may use its write-ahead log")
def test_a_journal_that_this_sqlite_may_corrupt(sqlite_url: str) -> None:
    database.upgrade(sqlite_url)
    with closing(sqlite3.connect(path_of(sqlite_url))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert found_in(sqlite_url)["journal"] == Finding(
        "journal",
        "bad",
        "write-ahead log, which this SQLite may corrupt",
        "close other programs that use the file; the next write turns it off",
    )
    with Store.open(sqlite_url) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    assert found_in(sqlite_url)["journal"] == Finding("journal", "ok", "rollback journal")


def test_little_room(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database.upgrade(sqlite_url)
    monkeypatch.setattr(health, "LITTLE_ROOM", 1 << 62)
    found = found_in(sqlite_url)["room"]
    assert (found.state, found.advice.startswith("free some space before the next ingest")) == ("bad", True)


def test_a_file_system_without_locks(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite without locks behaves as it does where the file system keeps none."""
    database.upgrade(sqlite_url)
    unlocked = health._SECOND_WRITER.replace("sys.argv[1]", 'f"file:{sys.argv[1]}?vfs=unix-none"')
    monkeypatch.setattr(health, "_SECOND_WRITER", unlocked.replace("timeout=0", "timeout=0, uri=True"))
    found = found_in(sqlite_url)["locks"]
    assert found.state == "bad"
    assert "does not lock out a second writer" in found.found
    assert found.advice == "put the database on a local disk, or use Postgres"


def test_the_file_system_of_a_folder(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("a / ext4 rw 0 0\nb /data nfs4 rw 0 0\nc /data/my\\040disk xfs rw 0 0\nd /dat tmpfs rw 0 0\n")
    for folder, kind in (("/home", "ext4"), ("/data/x", "nfs4"), ("/data/my disk/x", "xfs"), ("/database", "ext4")):
        assert _file_system(Path(folder), mounts) == kind
    assert _file_system(Path("/"), tmp_path / "none") == ""


def test_a_network_s_file_system(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_file_system", lambda folder: "nfs4")
    found = found_in(sqlite_url)["locks"]
    assert (found.state, found.advice) == ("note", "put the database on a local disk, or use Postgres")


def test_who_is_writing(postgres_schema: None, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database.upgrade(postgres_url)
    with Store.open(postgres_url) as store, store.write() as tx:
        tx.write.datasets.ensure("shop")
        assert found_in(postgres_url)["writer"].found.startswith("process ")
        monkeypatch.setattr(health, "LONG_SECONDS", -1)
        found = found_in(postgres_url)["writer"]
    assert found.state == "note"
    assert re.fullmatch(r"process \d+ \(ndcg-tracker\), writing for \d+ s; others may wait for it", found.found)
    assert found.advice.startswith("if that process hangs: SELECT pg_terminate_backend(")


@pytest.fixture
def other_role(postgres_schema: None, postgres_url: str) -> Iterator[str]:
    """The URL of the database for a role that owns nothing, in an upgraded database."""
    database.upgrade(postgres_url)
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute('CREATE ROLE "Somebody" LOGIN')
        yield postgres_url.replace("//ndcg@", "//Somebody@")
        owner.execute('DROP OWNED BY "Somebody"')
        owner.execute('DROP ROLE "Somebody"')


def test_another_role_may_not_see_since_when_someone_writes(postgres_url: str, other_role: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute('GRANT SELECT ON ALL TABLES IN SCHEMA public TO "Somebody"')
    with Store.open(postgres_url) as store, store.write() as tx:
        tx.write.datasets.ensure("shop")
        found = found_in(other_role)["writer"]
    assert (found.state, found.advice) == (
        "ok",
        'to see it, ask a superuser to run: GRANT pg_read_all_stats TO "Somebody"',
    )
    assert re.fullmatch(r'process \d+ \(ndcg-tracker\), of another role: "Somebody" may not see its start', found.found)


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
    assert {one.state for one in found.values()} == {"ok", "note"}
    assert found["rights"] == Finding(
        "rights",
        "note",
        "role 'Somebody' has no SELECT right on table runs, so these were not checked: integrity",
        "run doctor as a role that reads the tables",
    )


def test_a_schema_that_the_role_may_not_use_is_not_empty(postgres_url: str, other_role: str) -> None:
    """What the message says to type is what helps."""
    owner = psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True)
    with closing(owner):
        owner.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        grants = 'GRANT USAGE ON SCHEMA public TO "Somebody"; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "Somebody"'
        found = found_in(other_role)["schema"]
        assert (found.state, found.found, found.advice) == (
            "bad",
            "this role may not use the schema that the tables are in",
            f"ask its owner to run: {grants}",
        )
        with pytest.raises(DatabaseError) as caught:
            Store.open(other_role)
        assert str(caught.value).endswith(
            f": this role may not use the schema that the tables are in; ask its owner to run: {grants}"
        )
        with pytest.raises(DatabaseError, match="this role may not use the schema"):
            database.upgrade(other_role)
        owner.execute(grants)
        assert found_in(other_role)["schema"].state == "ok"


def test_a_schema_of_ones_own_is_empty_where_another_may_not_be_used(postgres_url: str, other_role: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as owner:
        owner.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC")
        owner.execute('CREATE SCHEMA "Somebody" AUTHORIZATION "Somebody"')
    assert found_in(other_role)["schema"].found == "schema 'Somebody' of search_path is empty"


@pytest.mark.parametrize("threshold", ["0", "none"])
def test_a_threshold_for_prepared_statements(postgres_url: str, threshold: str) -> None:
    url = f"{postgres_url}{'&' if '?' in postgres_url else '?'}prepare_threshold={threshold}"
    database.upgrade(url)
    with Store.open(url) as store:
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
        assert store.query("SELECT run FROM run_details").rows == [("bm25",)]
    assert names_to_complete(url, ["runs"]) == ["bm25"]
    assert {finding.state for finding in health.examine(url)} <= {"ok", "note"}


def test_a_password_is_not_shown() -> None:
    (finding,) = health.examine("postgresql://me:secret@127.0.0.1:1/shop?sslpassword=secret")
    assert finding.state == "bad"
    assert "secret" not in finding.found + finding.advice


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    finding = next(iter(health.examine(str(tmp_path / "x.db"))))
    tmp_path.chmod(0o700)
    assert (finding.check, finding.state) == ("file", "bad")
