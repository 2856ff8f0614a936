"""What a comparison tells beside its numbers."""

import numpy as np
import pandas as pd
import pytest
from small_shop import Run, frame_of

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning


def test_a_metric_without_a_range_says_so(two_runs: nt.Tracker) -> None:
    assert two_runs.compare("bm25", "dense", metrics="dcg@3").notes == (), "no worth of these items turns the verdict"
    two_runs.rescore(metrics="ERR@3", dataset="shop")
    found = two_runs.compare("bm25", "dense", metrics="ERR@3").to_dict()
    (share,) = found["coverage"]
    assert share["cutoff"] == 3
    assert share["baseline"] == pytest.approx((1 + 2 / 3 + 1 / 2 + 1) / 4), "q5 is in one list alone"
    assert share["candidate"] == pytest.approx((1 + 1 + 1 / 2 + 1 / 2) / 4)
    told = "unjudged items count as not relevant, because no bound on their effect is known for ERR@3"
    assert found["notes"] == [told]


POSITIVE: Run = {"q1": {"a": 3, "b": 1}, "q2": {"d": 2}}
ASSUMED = "unjudged items count as not relevant, because {}"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("further", "note"),
    [
        ({}, ASSUMED.format("no label has grade 0")),
        ({"q3": {"e": 0}}, ASSUMED.format("no bound on their effect is known for ERR@10")),
        ({"q3": {"e": -1}}, ASSUMED.format("no bound on their effect is known for ERR@10")),
        ({"q1": {"a": 3, "b": 1, "x": 0}}, None),  # nothing is unjudged
    ],
)
def test_why_unjudged_items_count_as_not_relevant(tracker: nt.Tracker, further: Run, note: str | None) -> None:
    better: Run = {"q1": {"a": 2, "b": 1}, "q2": {"d": 1}}
    worse: Run = {"q1": {"x": 2, "b": 1}, "q2": {"d": 1}}
    tracker.ingest(frame_of(better), name="better", labels=frame_of({**POSITIVE, **further}, "label"), metrics="ERR@10")
    tracker.ingest(frame_of(worse), name="worse", metrics="ERR@10")
    assert tracker.compare("better", "worse").notes == (() if note is None else (note,))


def test_groups_without_a_cluster_are_told(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(30)]
    rows = [(group, item, float(score), (number + score) % 2) for number, group in enumerate(groups)
            for score, item in enumerate("abc")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    tracker.ingest(frame, name="one")
    tracker.ingest(frame.assign(score=-frame["score"]).drop(columns="label"), name="other")
    tracker.set_groups(pd.DataFrame({"group": groups[:28], "user": [f"u{n % 7}" for n in range(28)]}))
    found = tracker.compare("one", "other", cluster="user")
    told = "2 of 30 queries have no user; each counts as its own cluster"
    assert told in found.notes
    assert told in tracker.gate("other", baseline="one", margin=0.01, cluster="user", dry_run=True).notes
    tracker.set_groups(pd.DataFrame({"group": groups, "user": [f"u{n % 7}" for n in range(30)]}))
    assert told not in tracker.compare("one", "other", cluster="user").notes


def test_a_log_of_clicks_alone_is_told(tracker: nt.Tracker) -> None:
    frame = pd.DataFrame({"group": [f"q{n}" for n in range(9)], "item": "a", "score": 1.0, "label": 1})
    told = "all 9 groups score 1 by ndcg@10, so no run can do better: a log with only clicked items has this effect"
    first = tracker.ingest(frame, name="one")
    assert any(told in note for note in first.notes)
    tracker.ingest(frame.drop(columns="label").assign(score=2.0), name="other")
    assert any(told in note for note in tracker.gate("other", baseline="one", margin=0.01, dry_run=True).notes)
    with pytest.warns(NdcgTrackerWarning, match="all 9 groups score 1 by ndcg@10"):
        nt.evaluate(frame, "ndcg@10")
    few = nt.evaluate(frame.head(4), "ndcg@10")
    assert few.notes == ()


def test_lists_of_equal_scores_are_told(tracker: nt.Tracker) -> None:
    rows = [(f"q{n}", item, 0.5, place) for n in range(6) for place, item in enumerate("cba")]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    told = "the scores of each list are all equal, so ties decide the order, not a model"
    assert tracker.ingest(frame, name="constant").notes == (told,)
    with pytest.warns(NdcgTrackerWarning, match=told):
        assert nt.evaluate(frame, "ndcg@10").notes == (told,)
    one_differs = frame.assign(score=np.where(frame.index == 17, 1.0, 0.5))
    assert tracker.ingest(one_differs.drop(columns="label"), name="other").notes == ()
    assert nt.evaluate(frame.head(12), "ndcg@10").notes == (), "few lists may be so by chance"


def test_metrics_that_are_equal_in_every_group_are_told(tracker: nt.Tracker) -> None:
    rng = np.random.default_rng(3)
    rows = [(f"q{n}", item, float(rng.normal()), int(rng.integers(0, 3))) for n in range(12) for item in "abcd"]
    frame = pd.DataFrame(rows, columns=["group", "item", "score", "label"])
    metrics = ["ndcg@10", "P@2", "trec_eval:ndcg_cut_10"]
    tracker.ingest(frame, name="one", metrics=metrics)
    other = frame.assign(score=rng.normal(size=len(frame))).drop(columns="label")
    tracker.ingest(other, name="other", metrics=metrics)
    told = "are equal in every query, but p-values are corrected for both: name only one"
    (comparison,) = tracker.compare("one", "other").comparisons
    (note,) = (note for note in comparison.notes if note.kind == "equal_metrics")
    assert note.facts["metrics"][0] == "ndcg@10"
    assert told in tracker.compare("one", "other").to_text(verbose=True).replace("\n      ", " ")
    other = tracker.compare("one", "other", metrics=["ndcg@10", "P@2"])
    assert told not in other.to_text(verbose=True).replace("\n      ", " ")


def test_lists_that_end_before_a_cutoff_are_told(tracker: nt.Tracker) -> None:
    groups, items = [f"q{number}" for number in range(8) for _ in range(20)], [f"d{rank}" for rank in range(20)] * 8
    whole = {"group": groups, "item": items, "score": list(range(20, 0, -1)) * 8, "label": [0, 1, 1, 0] * 40}
    tracker.ingest(whole, name="whole", metrics=["ndcg@10", "ndcg"])
    for name, n_kept in (("short", 5), ("nearly", 19)):
        kept = [row for row in range(160) if row % 20 < n_kept]
        part = {column: [values[row] for row in kept] for column, values in whole.items() if column != "label"}
        tracker.ingest(part, name=name, metrics=["ndcg@10", "ndcg"])
    told = (
        "the lists of short have 5.0 items on average, those of the other run 20.0: ndcg@10 looks past the end of the "
        "shorter lists"
    )
    assert told in tracker.compare("whole", "short").notes
    assert told in tracker.compare("short", "whole").notes
    for pair, metric in ((("whole", "nearly"), "ndcg@10"), (("whole", "short"), "ndcg")):
        assert not any("the shorter ones" in note for note in tracker.compare(*pair, metrics=metric).notes)
