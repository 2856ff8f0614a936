"""Weights of groups: they come with a run, stay with the dataset, and weigh the metrics that ask for them."""

import numpy as np
import pytest
from small_shop import frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.compare.gather_results import NO_INFERENCE
from ndcg_tracker.words.notes import sentence

METRIC = "ndcg(weights=group)@10"
LABELS = {"q1": {"a": 1.0}, "q2": {"c": 1.0}}
FULL = {**frame_of({"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}), "weight": [2.0, 2.0, 6.0]}
PART = {**frame_of({"q1": {"a": 2.0, "b": 1.0}}), "weight": [2.0, 2.0]}


def mean(tracker: nt.Tracker, frame: object, name: str) -> float | None:
    found = tracker.ingest(frame, name=name, labels=labels_frame(LABELS), metrics=METRIC)
    return found.metrics[0].mean


def test_weights_are_stored_and_hold_for_runs_without_them(tracker: nt.Tracker) -> None:
    assert mean(tracker, FULL, "full") == 1.0
    assert mean(tracker, frame_of({"q1": {"a": 1.0}, "q2": {"x": 1.0}}), "without") == 0.25


def test_a_missing_group_keeps_the_weight_that_is_stored(tracker: nt.Tracker) -> None:
    mean(tracker, FULL, "full")
    assert mean(tracker, PART, "part") == 0.25
    assert mean(tracker, frame_of({"q1": {"a": 5.0, "b": 1.0}}), "no weights") == 0.25
    (metric,) = tracker.compare("full", "part").to_dict()["metrics"]
    assert (metric["baseline"], metric["candidate"], metric["delta"]) == (1.0, 0.25, -0.75)


def test_new_groups_bring_further_weights(tracker: nt.Tracker) -> None:
    tracker.ingest(PART, name="part", labels=labels_frame(LABELS), metrics="ndcg")
    assert mean(tracker, {**frame_of({"q2": {"c": 1.0}}), "weight": [6.0]}, "rest") == 0.75


def test_a_weight_that_contradicts_the_stored_one_is_refused_whole(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(FULL, name="full", labels=labels_frame(LABELS), dataset="shop")
    before = row_counts(ready_url)
    with pytest.raises(nt.ConflictError) as caught:
        tracker.ingest({**FULL, "weight": [2.0, 2.0, 7.5]}, name="other", dataset="shop")
    assert str(caught.value) == (
        "group 'q2' has the weight 7.5 here but 6 in dataset 'shop'; leave the weight column out, or use another "
        "dataset"
    )
    assert row_counts(ready_url) == before


def test_weights_of_items_are_no_group_weights(tracker: nt.Tracker) -> None:
    varying = {**FULL, "weight": [1.0, 2.0, 6.0]}
    assert tracker.ingest(varying, name="varying", labels=labels_frame(LABELS)).outcome == "stored"
    weighted, plain = tracker.ingest(varying, name="varying", metrics=[METRIC, "ndcg@10"]).metrics
    assert weighted.mean == plain.mean


def test_rescoring_uses_the_stored_weights(tracker: nt.Tracker) -> None:
    tracker.ingest(FULL, name="full", labels=labels_frame(LABELS))
    tracker.ingest(PART, name="part")
    found = tracker.rescore(metrics=[METRIC])
    assert [(run.run, [one.mean for one in run.metrics]) for run in found] == [("full", [1.0]), ("part", [0.25])]


def test_a_comparison_weighs_the_groups(tracker: nt.Tracker) -> None:
    mean(tracker, FULL, "full")
    mean(tracker, frame_of({"q1": {"a": 1.0}, "q2": {"x": 2.0, "c": 1.0}}), "worse")
    found = tracker.compare("full", "worse").to_dict()["metrics"][0]
    expected = nt.evaluate(
        frame_of({"q1": {"a": 1.0}, "q2": {"x": 2.0, "c": 1.0}}), METRIC, labels=labels_frame(LABELS)
    ).per_group[METRIC]
    assert found["candidate"] == pytest.approx((2 * expected["q1"] + 6 * expected["q2"]) / 8)
    assert tracker.history(METRIC)["ci_low"].isna().all()


TWO = {"group": ["q1", "q1", "q2"], "item": ["a", "b", "c"]}


def test_groups_added_unweighted_show_the_stored_mean_and_no_test(tracker: nt.Tracker) -> None:
    frame = {**TWO, "score": [2.0, 1.0, 1.0], "label": [0, 1, 0], "weight": [0.5, 0.5, 1.5]}
    other = {**frame, "score": [1.0, 2.0, 1.0]}
    metric = "ndcg(empty=1, empty_weight=one, weights=group)"
    means = [
        tracker.ingest(run, name=name, metrics=metric).metrics[0].mean for name, run in (("a", frame), ("b", other))
    ]
    found = tracker.compare("a", "b").to_dict()["metrics"][0]
    assert [found["baseline"], found["candidate"]] == means == [pytest.approx((0.5 / np.log2(3) + 1) / 2), 0.75]
    assert found["delta"] == means[1] - means[0]
    assert (found["ci"], found["p_value"], found["warnings"]) == (None, None, [sentence(NO_INFERENCE)])


def test_item_weights_show_the_stored_mean_and_no_test(tracker: nt.Tracker) -> None:
    frame = {**TWO, "score": [2.0, 1.0, 1.0], "label": [0, 1, 1], "weight": [1.0, 3.0, 6.0]}
    other = {**frame, "score": [1.0, 2.0, 1.0]}
    for name, run in (("a", frame), ("b", other)):
        tracker.ingest(run, name=name, metrics="ndcg(weights=item_mean)@1")
    found = tracker.compare("a", "b").to_dict()["metrics"][0]
    assert (found["baseline"], found["candidate"], found["p_value"]) == (0.75, 1.0, None)
    assert found["warnings"] == [sentence(NO_INFERENCE)]


def test_a_mean_that_is_known_of_all_groups_only_is_not_taken_over_fewer(tracker: nt.Tracker) -> None:
    frame = {**TWO, "score": [2.0, 1.0, 1.0], "weight": [1.0, 3.0, 6.0]}
    labels = {"group": ["q1", "q1", "q2", "q3"], "item": ["a", "b", "c", "d"], "label": [0, 1, 1, 1]}
    metrics = ["ndcg(weights=item_mean)@1", "ndcg(round=4, round_of=mean)@2"]
    tracker.ingest({**TWO, "score": [1.0, 1.0, 1.0]}, labels=labels, name="first")
    tracker.set_groups(default_weight=1.0)
    for name, scores in (("a", [2.0, 1.0, 1.0]), ("b", [1.0, 2.0, 1.0])):
        tracker.ingest({**frame, "score": scores}, labels=labels, name=name, metrics=metrics)
    assert tracker.compare("a", "b", metrics=metrics[0]).to_dict()["metrics"][0]["warnings"] == [sentence(NO_INFERENCE)]
    with pytest.raises(nt.InputError) as caught:
        tracker.compare("a", "b", metrics=metrics[0], missing="skip")
    assert str(caught.value) == (
        f"{metrics[0]}: {sentence(NO_INFERENCE)}, and no mean over 2 of the groups is known; compare runs of the same "
        "groups, without missing='skip'"
    )
    rounded = tracker.compare("a", "b", metrics=metrics[1], missing="skip").to_dict()["metrics"][0]
    assert rounded["baseline"] == pytest.approx((1 / np.log2(3) + 1) / 2, abs=1e-12)


def test_the_weights_of_boosting_tools_weigh_the_comparison(tracker: nt.Tracker) -> None:
    labels = {"label": [1, 0, 1, 0, 1, 0]}
    frame = {"group": list("qqrrss"), "item": list("ababab"), "weight": [1, 1, 2, 2, 5, 5], **labels}
    tracker.ingest({**frame, "score": [2, 1, 2, 1, 1, 2]}, name="a", metrics=["lightgbm:ndcg@1", "xgboost:ndcg@1"])
    tracker.ingest({**frame, "score": [2, 1, 1, 2, 2, 1]}, name="b", metrics=["lightgbm:ndcg@1", "xgboost:ndcg@1"])
    for found in tracker.compare("a", "b").to_dict()["metrics"]:
        assert (found["baseline"], found["candidate"]) == (pytest.approx(3 / 8), pytest.approx(6 / 8))
        assert found["p_value"] is not None
