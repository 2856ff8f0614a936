"""A fresh store on each engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer

from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import Store


@pytest.fixture
def store(postgres_schema: None, database_url: str) -> Iterator[Store]:
    """An empty store: the test runs once on SQLite and once on Postgres."""
    if database_url.startswith("sqlite"):
        database.upgrade(database_url)
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def both(postgres_schema: None, sqlite_url: str, postgres_url: str) -> Iterator[tuple[Store, Store]]:
    """An empty store on SQLite and one on Postgres."""
    database.upgrade(sqlite_url)
    with Store.open(sqlite_url) as sqlite, Store.open(postgres_url) as postgres:
        yield sqlite, postgres


@pytest.fixture
def python(preloaded_programs: Path) -> Path:
    """What runs a script without the start of Python, for ``started``."""
    return preloaded_programs / "preloaded-python"


@pytest.fixture
def other_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A second empty database on the same engine."""
    if database_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'other.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    server.create_database("other")
    yield server.url("other")
    server.drop_database("other")
