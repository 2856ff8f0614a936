"""A tracker on a fresh database of either engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import SEALED_DATABASE


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


@pytest.fixture
def held(
    ready_url: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The URL of an empty database of the same engine, which the variable names as the sealed one."""
    if ready_url.startswith("sqlite"):
        monkeypatch.setenv(SEALED_DATABASE, url := f"sqlite:///{tmp_path / 'held.db'}")
        yield url
        return
    server = request.getfixturevalue("postgres_server")
    server.create_database("held", request.getfixturevalue("postgres_template"))
    monkeypatch.setenv(SEALED_DATABASE, url := server.url("held"))
    yield url
    server.drop_database("held")
