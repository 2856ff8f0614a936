"""A fresh store on each engine."""

from collections.abc import Iterator

import pytest

from ndcg_tracker.storage import store as storage
from ndcg_tracker.storage.store import Store


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """An empty store: the test runs once on SQLite and once on Postgres."""
    storage.upgrade(database_url)
    with Store.open(database_url) as opened:
        yield opened
