"""What is done before the first visitor comes: all templates are compiled, and nothing that fails is in the way."""

from pathlib import Path

from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.ui.rendering import environment_of_pages
from ndcg_tracker.ui.warming import warm


def compiled() -> set[str]:
    """Return the templates that are ready."""
    cache = environment_of_pages().cache
    assert cache is not None
    return {name for _, name in cache}


def test_the_templates_of_the_first_pages_are_compiled(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with nt.Tracker(url) as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame())
    environment_of_pages.cache_clear()
    with nt.Tracker(url, read_only=True) as tracker:
        warm(tracker)
    assert compiled() >= {"runs.html", "compare.html", "report.html", "group.html", "groups.html", "macros.html"}


def test_an_empty_database_is_no_fault(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.db")
    with nt.Tracker(url) as tracker:
        warm(tracker)
        labels = {"group": ["q"], "item": ["a"], "label": [1]}
        tracker.ingest({**labels, "score": [1.0]}, name="alone")
        warm(tracker)
