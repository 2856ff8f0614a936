"""Metrics of tools that round their means: the groups are not rounded, and are tested like any others."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.metrics.kernel.mean import rounded
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.ui.overviews import against_baseline

METRICS = ("recbole:ndcg@5", "beir:NDCG@5", "mteb:ndcg_at_5")


def fill(url: str) -> None:
    """Two arms of two runs each."""
    rng = np.random.default_rng(4)
    grades = rng.integers(0, 2, (40, 8))
    frame = {"group": np.repeat([f"q{n}" for n in range(40)], 8).tolist(), "item": list("abcdefgh") * 40}
    with nt.Tracker(url) as tracker:
        labels = frame | {"label": grades.ravel().tolist()}
        for name, gain in (("old-1", 0.1), ("old-2", 0.1), ("new-1", 2.0), ("new-2", 2.0)):
            scores = gain * grades + rng.normal(size=grades.shape)
            run = frame | {"score": scores.ravel().tolist()}
            tracker.ingest(
                run, labels=labels, name=name, dataset="shop", metrics=METRICS, tags={"arm": name.partition("-")[0]}
            )
        tracker.create_suite("shops", ["shop"])


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[nt.Tracker]:
    fill_as(fill)
    with nt.Tracker(database_url) as tracker:
        yield tracker


@pytest.mark.parametrize("metric", METRICS)
def test_the_groups_are_tested(shop: nt.Tracker, metric: str) -> None:
    stored = [shop.show(run).evaluations[METRICS.index(metric)].mean for run in ("old-1", "new-1")]
    found = shop.compare("old-1", "new-1", metrics=[metric]).to_dict()["metrics"][0]
    assert (found["verdict"], found["warnings"]) == ("improved", [])
    assert found["delta"] == pytest.approx(found["candidate"] - found["baseline"], abs=1e-12)
    parsed = parse_metric(metric)
    assert [rounded(parsed, found[side], "mean") for side in ("baseline", "candidate")] == stored
    assert found["baseline"] != stored[0]


def test_every_question_takes_them(shop: nt.Tracker) -> None:
    metric = METRICS[0]
    arms = shop.compare("tag:arm=old", "tag:arm=new", metrics=[metric], dataset="shop").to_dict()["metrics"][0]
    assert (arms["verdict"], arms["warnings"]) == ("improved", [])
    assert shop.gate("new-1", baseline="old-1", metric=metric, margin=0.01).decision == "pass"
    board = shop.leaderboard(dataset="shop", metrics=[metric]).to_frame()
    assert board["rank_low"].tolist() == [1, 1, 3, 3]
    with shop.store().read() as tx:
        dataset, text = tx.datasets.known("shop"), str(parse_metric(metric))
        records = tx.evaluations.history(dataset.id, text, None, "")
        ids = {record.run: record.run_id for record in records}
        against = against_baseline(tx, dataset, text, records, list(ids.values()), ids["old-1"])
    assert against[ids["new-1"]].found.ci is not None
