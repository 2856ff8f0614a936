"""How a database is created and upgraded: whole or not at all, by any number of processes at once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from migrated import DAMAGING, NEWEST, PLANTED, SECOND, catalogue_of, folder_with, migrate, rows_of
from postgres_server import PostgresServer
from stored_samples import BM25, DENSE, add_run, outputs_of, started

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import handshake as revisions
from ndcg_tracker.storage.upkeep.handshake import Kind, State

UPGRADE = "import sys; from ndcg_tracker.storage import database; database.upgrade(sys.argv[1])"
CREATE = """
import sys
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1], create=True) as store, store.write() as tx:
    tx.write.datasets.ensure("shop")
"""


def fill(url: str) -> None:
    with Store.open(url) as store, store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        add_run(tx, "dense", DENSE)
        tx.write.aliases.set(run.dataset_id, "baseline", run.id)


def test_the_revisions_are_what_alembic_finds() -> None:
    config = Config()
    config.set_main_option("script_location", str(revisions.migrations_folder()))
    scripts = ScriptDirectory.from_config(config)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == revisions.known_revisions()
    assert scripts.get_heads() == [revisions.newest_revision()]


def test_a_new_sqlite_file_gets_the_very_schema_that_the_migrations_make(tmp_path: Path) -> None:
    made, migrated = tmp_path / "made.db", tmp_path / "migrated.db"
    database.upgrade(str(made))
    migrated.touch()
    migrate(str(migrated), "upgrade", "head")
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"
    with closing(sqlite3.connect(made)) as one, closing(sqlite3.connect(migrated)) as other:
        assert one.execute(schema).fetchall() == other.execute(schema).fetchall()
    assert rows_of(str(made)) == rows_of(str(migrated))


def test_without_a_snapshot_of_the_newest_revision_the_migrations_make_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_with(SECOND, tmp_path / "migrations")
    monkeypatch.setattr(revisions, "FOLDERS", (folder,))
    assert revisions.snapshot_statements() is None
    database.upgrade(str(tmp_path / "new.db"))
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
    assert columns[-1] == "planted"


def test_a_snapshot_that_is_not_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_with(SECOND, tmp_path / "migrations")
    (folder / "versions" / f"{PLANTED}_planted.py").unlink()
    monkeypatch.setattr(revisions, "FOLDERS", (folder,))
    assert revisions.snapshot_statements() is not None
    revisions.snapshot_file(folder).unlink()
    assert revisions.snapshot_statements() is None


def test_upgrade_makes_the_schema_once(database_url: str) -> None:
    before = None if database_url.startswith("sqlite") else State(Kind.EMPTY)
    assert database.current(database_url) == (before or State(Kind.MISSING))
    first = database.upgrade(database_url)
    assert (first.before, first.after, first.backup, first.changed) == (None, NEWEST, None, True)
    again = database.upgrade(database_url)
    assert (again.before, again.after, again.backup, again.changed) == (NEWEST, NEWEST, None, False)
    assert database.current(database_url) == State(Kind.CURRENT, NEWEST)


@pytest.mark.nightly(but=2)
def test_down_and_up_again(database_url: str) -> None:
    database.upgrade(database_url)
    fill(database_url)
    migrate(database_url, "downgrade", "base")
    assert rows_of(database_url) == {}
    assert database.current(database_url) == State(Kind.EMPTY)
    assert database.upgrade(database_url).before is None
    fill(database_url)
    assert database.check(database_url) == []


@pytest.mark.nightly(but=2)
def test_the_views_are_as_they_were_before_seals(database_url: str) -> None:
    database.upgrade(database_url)
    migrate(database_url, "downgrade", "0018")
    back = catalogue_of(database_url)
    migrate(database_url, "downgrade", "base")
    migrate(database_url, "upgrade", "0018")
    assert back == catalogue_of(database_url)
    assert "seals" not in str(back)


@pytest.mark.nightly
def test_the_policies_of_agents_go(database_url: str) -> None:
    """Those that 0.2.0 made; a policy of somebody else stays."""
    if database_url.startswith("sqlite"):
        pytest.skip("it has no policies")
    database.upgrade(database_url)
    migrate(database_url, "downgrade", "0025")
    conninfo = database_url.replace("+psycopg", "")
    with psycopg.connect(conninfo, autocommit=True) as admin:
        for table in ("runs", "label_sets"):
            admin.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY".encode())
            admin.execute(f"CREATE POLICY ndcg_tracker_team ON {table} USING (true)".encode())
            admin.execute(f'CREATE POLICY "an ""agent" ON {table} AS RESTRICTIVE USING (true)'.encode())
        admin.execute("CREATE POLICY theirs ON texts AS RESTRICTIVE USING (true)")
    database.upgrade(database_url)
    with psycopg.connect(conninfo) as admin:
        assert admin.execute("SELECT policyname::text FROM pg_policies").fetchall() == [("theirs",)]
        assert admin.execute("SELECT count(*) FROM pg_class WHERE relrowsecurity").fetchone() == (0,)


@pytest.mark.nightly(but=2)
def test_a_further_revision_keeps_every_row(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database.upgrade(database_url)
    fill(database_url)
    before = rows_of(database_url)
    monkeypatch.setattr(revisions, "FOLDERS", (folder_with(SECOND, tmp_path / "migrations"),))
    assert database.current(database_url) == State(Kind.OLDER, NEWEST)
    result = database.upgrade(database_url)
    assert (result.before, result.after, result.changed) == (NEWEST, PLANTED, True)
    upgraded = rows_of(database_url)
    for name in ("runs", "aliases"):
        upgraded[name] = [row[:-1] for row in upgraded[name]]
    assert upgraded == before
    if database_url.startswith("sqlite"):
        assert result.backup is not None
        assert rows_of(str(result.backup)) == before
        assert database.current(str(result.backup)) == State(Kind.OLDER, NEWEST)
    else:
        assert result.backup is None
    migrate(database_url, "downgrade", NEWEST)
    assert rows_of(database_url) == before
    monkeypatch.undo()
    assert database.check(database_url) == []
    fill_again = Store.open(database_url)
    with fill_again as store, store.write() as tx:
        add_run(tx, "third", BM25)


@pytest.mark.nightly(but=2)
def test_a_revision_that_loses_rows_changes_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.upgrade(database_url)
    fill(database_url)
    before = rows_of(database_url)
    monkeypatch.setattr(revisions, "FOLDERS", (folder_with(DAMAGING, tmp_path / "migrations"),))
    with pytest.raises(DatabaseError, match=r"the upgrade would damage coverages; nothing was changed"):
        database.upgrade(database_url)
    assert rows_of(database_url) == before
    assert database.current(database_url) == State(Kind.OLDER, NEWEST)


def test_a_broken_revision_changes_nothing(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database.upgrade(database_url)
    broken = DAMAGING.replace("DELETE FROM coverages", "DELETE FROM nowhere")
    monkeypatch.setattr(revisions, "FOLDERS", (folder_with(broken, tmp_path / "migrations"),))
    with pytest.raises(DatabaseError, match="nowhere"):
        database.upgrade(database_url)
    assert database.current(database_url) == State(Kind.OLDER, NEWEST)


def test_a_newer_program_upgrades_while_an_older_one_is_open(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.upgrade(database_url)
    with Store.open(database_url) as store:
        with monkeypatch.context() as newer:
            newer.setattr(revisions, "FOLDERS", (folder_with(SECOND, tmp_path / "migrations"),))
            database.upgrade(database_url)
        with pytest.raises(DatabaseError, match=f"has the newer schema {PLANTED}"), store.write() as tx:
            tx.write.datasets.ensure("shop")


@pytest.mark.nightly(but=2)
def test_eight_processes_upgrade_at_once(database_url: str, python: Path) -> None:
    outputs_of([started(UPGRADE, database_url, python=python) for _ in range(8)])
    assert database.current(database_url) == State(Kind.CURRENT, NEWEST)
    assert database.check(database_url) == []


@pytest.mark.nightly
def test_eight_processes_create_one_file(sqlite_url: str, python: Path) -> None:
    outputs_of([started(CREATE, sqlite_url, python=python) for _ in range(8)])
    with Store.open(sqlite_url) as store, store.read() as rx:
        assert [dataset.name for dataset in rx.datasets.all()] == ["shop"]


def test_a_postgres_that_cannot_hold_every_id_is_refused(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.conninfo(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    try:
        with pytest.raises(DatabaseError, match="the database is encoded in LATIN1, which cannot hold every id"):
            database.upgrade(postgres_server.url("latin"))
    finally:
        postgres_server.drop_database("latin")


def test_the_folder_of_a_new_file_must_exist(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "x.db"
    with pytest.raises(DatabaseError) as caught:
        Store.open(str(path), create=True)
    assert str(caught.value) == f"{path}: its folder does not exist; create it or give location= another path"


def test_paths_may_have_any_letters(tmp_path: Path) -> None:
    for name in ("100%.db", "a b?c#d.db", "é'\".db", "x&y=1;.db"):
        path = tmp_path / name
        with Store.open(str(path), create=True) as store, store.write() as tx:
            tx.write.datasets.ensure("shop")
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT name FROM datasets").fetchall() == [("shop",)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["100%.db", "a b?c#d.db", "é'\".db", "x&y=1;.db"])
