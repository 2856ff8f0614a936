"""A tracker on a fresh database of either engine."""

from collections.abc import Iterator

import pytest

from ndcg_tracker.api.tracker import Tracker


@pytest.fixture
def ready_url(postgres_schema: None, database_url: str) -> str:
    """The URL of a database that ``ingest`` can write to: on Postgres the schema is there."""
    return database_url


@pytest.fixture
def tracker(ready_url: str) -> Iterator[Tracker]:
    """A tracker on a fresh database of either engine."""
    with Tracker(ready_url) as opened:
        yield opened
