"""Space that deleted rows leave: what doctor says of it, and how it comes back; backups and what becomes of them."""

from pathlib import Path

import psycopg
import pytest
from stored_samples import BM25, add_run

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.database import VacuumResult
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import health
from ndcg_tracker.storage.upkeep.health import Finding

MANY = {f"q{group}": {f"item {group} {item}": float(-item) for item in range(40)} for group in range(1500)}


def finding(url: str, check: str) -> Finding:
    return next(one for one in health.examine(url) if one.check == check)


@pytest.fixture
def emptied(postgres_schema: None, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database most of whose rows were deleted; a few megabytes are enough for a note."""
    monkeypatch.setattr(health, "FEW_BYTES", 1 << 19)
    database.upgrade(database_url)
    with Store.open(database_url) as store:
        for name in ("bm25", "many"):
            with store.write() as tx:
                add_run(tx, name, BM25 if name == "bm25" else MANY)
        with store.write() as tx:
            tx.write.runs.delete(next(run.id for run in tx.runs.all() if run.name == "many"))
    return database_url


@pytest.mark.nightly
def test_free_space_is_given_back(emptied: str) -> None:
    is_sqlite = emptied.startswith("sqlite")
    if is_sqlite:
        before = finding(emptied, "space")
        assert (before.state, before.advice) == (
            "note",
            "new runs use it; to give it back to the disk: ndcg-track db vacuum",
        )
    found = database.vacuum(emptied, full=not is_sqlite)
    assert found.after < found.before - (1 << 18)
    assert finding(emptied, "space").state == "ok"
    assert database.check(emptied) == []


def test_what_others_may_still_use_stays_on_postgres(postgres_schema: None, postgres_url: str) -> None:
    database.upgrade(postgres_url)
    with Store.open(postgres_url) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    assert isinstance(database.vacuum(postgres_url), VacuumResult)
    assert database.check(postgres_url) == []


def test_only_the_owner_vacuums(postgres_schema: None, postgres_url: str) -> None:
    database.upgrade(postgres_url)
    conninfo = postgres_url.replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(conninfo, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS sweeper")
        admin.execute("CREATE ROLE sweeper LOGIN")
        try:
            admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO sweeper")
            with pytest.raises(DatabaseError, match="run it as the owner of the tables"):
                database.vacuum(postgres_url.replace("//ndcg@", "//sweeper@"))
        finally:
            admin.execute("DROP OWNED BY sweeper")
            admin.execute("DROP ROLE sweeper")


def test_a_backup_becomes_a_database(sqlite_url: str, postgres_url: str, tmp_path: Path) -> None:
    with Store.open(sqlite_url, create=True) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    steps: list[tuple[int, int | None]] = []
    copy, new = tmp_path / "copy.db", tmp_path / "new.db"
    assert database.backup(sqlite_url, str(copy), lambda done, total: steps.append((done, total))) == copy
    assert steps[-1][0] == steps[-1][1] == copy.stat().st_size
    assert database.restore(str(new), str(copy)) == new
    assert database.check(str(new)) == []
    with pytest.raises(InputError, match="the file already exists"):
        database.restore(str(new), str(copy))
    with pytest.raises(InputError, match="restore a Postgres database with its own tools, pg_restore or psql"):
        database.restore(postgres_url, str(copy))
