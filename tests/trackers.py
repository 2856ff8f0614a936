"""A tracker on a fresh database of either engine."""

from collections.abc import Callable, Iterator

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

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


def _ingest_two_runs(url: str) -> None:
    with Tracker(url) as opened:
        opened.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=["ndcg@10", "dcg@3"])
        opened.ingest(frame_of(DENSE), name="dense", dataset="shop", metrics=["ndcg@10", "dcg@3", "dcg@1"])


@pytest.fixture
def two_runs(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    """A tracker with the runs bm25 and dense of the dataset shop, under one label set."""
    fill_as(_ingest_two_runs)
    return tracker
