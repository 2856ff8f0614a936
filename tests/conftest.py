"""Databases for the tests: a fresh SQLite file or a fresh database of a real Postgres."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from postgres_server import PostgresServer

settings.register_profile("untimed", deadline=None)  # how long an example takes decides no test
settings.load_profile("untimed")

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The running server; without one every test that asks for it fails (it never skips)."""
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a fresh Postgres database, dropped after the test."""
    name = f"test_{next(_numbers)}"
    postgres_server.create_database(name)
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'ndcg-track.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh database: the test runs once on SQLite and once on Postgres."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
