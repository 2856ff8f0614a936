"""A shop with ids that nobody should obey, its pages served, on either engine."""

from collections.abc import Callable, Iterator

import pytest
from rankings_of import labels_of
from served import HOSTILE, Served, served
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt


def fill(url: str) -> None:
    """Store a shop with runs, tags, attributes, an alias and decisions, a hostile dataset, and one without runs."""
    with nt.Tracker(url) as tracker:
        metrics = ["ndcg@10", "p@5"]
        labels = labels_frame()
        shop = {"dataset": "shop", "labels": labels, "metrics": metrics}
        tracker.ingest(frame_of(BM25), name="bm25", tags={"branch": "main"}, git_commit="8f2a91c", **shop)
        tracker.ingest(frame_of(DENSE), name="dense", tags={"branch": "trial"}, parameters={"layers": "6"}, **shop)
        tracker.ingest(frame_of({**DENSE, "q1": BM25["q1"]}), name="mixed", tags={"branch": "main"}, **shop)
        tracker.set_groups({"group": ["q1", "q2"], "device": ["phone", "tv"]}, dataset="shop")
        texts = {
            "group": ["q1", "q1", None, "q2"],
            "item": [None, "a", "b", None],
            "text": ["<b>light</b> tent", None, None, "lamp"],
            "title": [None, "Tent & more", "Lamp", None],
            "url": ["https://shop.example/?q=tent", "javascript:alert(1)", "https://shop.example/b", None],
        }
        tracker.add_texts(texts, dataset="shop")
        tracker.set_alias("baseline", "bm25", "shop")
        tracker.gate("dense", baseline="@baseline", margin=0.01, dataset="shop")
        tracker.gate("mixed", baseline="@baseline", margin=0.5, dataset="shop", acknowledge=HOSTILE)
        bad = {"group": [HOSTILE] * 2 + ["a/b?c"] * 2, "item": [HOSTILE, "%2e%2e/"] * 2}
        bad_labels = {**bad, "label": [1, 0, 0, 1]}
        dataset = HOSTILE.replace("\u202e", "")
        for name, scores in (("<b>1", [2.0, 1.0, 2.0, 1.0]), ("<b>2", [1.0, 2.0, 2.0, 1.0])):
            run = {**bad, "score": scores}
            tracker.ingest(run, name=name, dataset=dataset, labels=bad_labels, tags={"<i>": HOSTILE}, metrics=metrics)
        tracker.add_labels(labels_of({"q1": {"a": 1}}), dataset="without runs")


@pytest.fixture
def filled_url(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> str:
    """The URL of a database with both datasets."""
    fill_as(fill)
    return database_url


@pytest.fixture
def pages(filled_url: str) -> Iterator[Served]:
    """The pages over it."""
    with served(filled_url) as found:
        yield found


@pytest.fixture(scope="module")
def shop_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The pages over it on SQLite, for what does not depend on the engine."""
    url = f"sqlite:///{tmp_path_factory.mktemp('ui') / 'runs.db'}"
    fill(url)
    with served(url) as found:
        yield found
