"""A tracker on a fresh database of either engine."""

from collections.abc import Iterator

import pytest

from ndcg_tracker.storage.store import upgrade
from ndcg_tracker.tracker.tracker import Tracker


@pytest.fixture
def ready_url(database_url: str) -> str:
    """The URL of a database that ``ingest`` can write to: on Postgres ``db upgrade`` has made the schema."""
    if not database_url.startswith("sqlite"):
        upgrade(database_url)
    return database_url


@pytest.fixture
def tracker(ready_url: str) -> Iterator[Tracker]:
    """A tracker on a fresh database of either engine."""
    with Tracker(ready_url) as opened:
        yield opened
