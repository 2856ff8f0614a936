"""Databases to torture, and what is looked at afterwards: is each whole, and what does each run hold."""

from __future__ import annotations

import hashlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from postgres_server import PostgresServer
from sqlalchemy import make_url

from ndcg_tracker.storage import database as storage
from ndcg_tracker.storage.connection import wal_is_safe
from ndcg_tracker.storage.store import Store

from .report import Setting

_numbers = itertools.count(1)
_templates: dict[PostgresServer, str] = {}
_VIEWS = (
    "SELECT metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM run_summary WHERE run_id = {}",
    "SELECT group_key, metric, label_set_version, value FROM group_history WHERE run_id = {}",
    "SELECT source, n_groups, n_items FROM run_details WHERE run_id = {}",
    "SELECT label_set_version, cutoff, judged_share FROM label_coverage "
    "WHERE run = (SELECT run FROM run_details WHERE run_id = {0}) "
    "AND dataset = (SELECT dataset FROM run_details WHERE run_id = {0})",
)


def engine_name(engine: str) -> str:
    """Return how the report names an engine, with the journal that the program chooses on this SQLite."""
    if engine == "postgres":
        return "Postgres"
    return "SQLite (WAL)" if wal_is_safe() else "SQLite (rollback journal)"


@contextmanager
def database(setting: Setting, engine: str, *, upgraded: bool = True) -> Iterator[str]:
    """Yield the URL of a new database, with the schema or (``upgraded`` is False) without anything."""
    name = f"torture_{next(_numbers)}"
    if engine == "sqlite":
        folder = setting.folder / name
        folder.mkdir()
        url = f"sqlite:///{folder / 'runs.db'}"
    else:
        setting.postgres.create_database(name, *([_template(setting.postgres)] if upgraded else []))
        url = setting.postgres.url(name)
    try:
        if upgraded:
            storage.upgrade(url)
        yield url
    finally:
        if engine == "sqlite":
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
        else:
            setting.postgres.drop_database(name)


@contextmanager
def restorable(setting: Setting, engine: str, url: str) -> Iterator[Callable[[], None]]:
    """Yield what brings a database back to what it holds now, whatever was left beside it."""
    if engine == "sqlite":
        path = Path(url.removeprefix("sqlite:///"))
        kept = path.with_name("kept")
        shutil.copyfile(path, kept)

        def restore() -> None:
            for name in ("", "-journal", "-wal", "-shm"):
                path.with_name(path.name + name).unlink(missing_ok=True)
            shutil.copyfile(kept, path)

        yield restore
        return
    name, server = str(make_url(url).database), setting.postgres
    server.create_database(f"{name}_kept", name)

    def restore_from_copy() -> None:
        server.drop_database(name)
        server.create_database(name, f"{name}_kept")

    try:
        yield restore_from_copy
    finally:
        server.drop_database(f"{name}_kept")


def _template(server: PostgresServer) -> str:
    """Return the name of a database with the newest schema, made by the migrations once: a copy costs a tenth."""
    if server not in _templates:
        name = "torture_template"
        server.create_database(name)
        storage.upgrade(server.url(name))
        _templates[server] = name
    return _templates[server]


def contents(url: str) -> dict[tuple[str, str], str]:
    """Return a checksum per (dataset, run) of all that is stored of the run and all that the views say of it.

    It is the digest of the items read back, not the recorded one; a recorded one that differs is in it, too. It does
    not depend on the run's number or on when it was stored.
    """
    found = {}
    with Store.open(url) as store, store.read() as tx:
        for run in tx.runs.all():
            parts = [tx.runs.ranking(run.id).digest(), run.digest]
            for view in _VIEWS:
                parts.append(repr(sorted(map(repr, store.query(view.format(run.id)).rows))))
            found[(run.dataset, run.name)] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return found


def label_versions(url: str) -> dict[tuple[str, int], str]:
    """Return a checksum of the labels read back per (dataset, version)."""
    with Store.open(url) as store, store.read() as tx:
        return {
            (dataset.name, one.version): f"{one.judge} {one.digest} {tx.labels.lists(one.id).digest()}"
            for dataset in tx.datasets.all()
            for one in tx.labels.sets(dataset.id, None)
        }


def n_runs(url: str) -> int:
    """Return how many runs a database has."""
    with Store.open(url) as store, store.read() as tx:
        return len(tx.runs.all())


def damage(url: str) -> list[str]:
    """Return what is damaged: SQLite's integrity and foreign key checks, and the program's own on both engines."""
    return storage.check(url)
