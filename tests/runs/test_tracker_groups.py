"""``Tracker.set_groups`` and ``Tracker.groups``: attributes and weights of the groups of a dataset."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.runs.groups import GroupRecord, GroupsSet

WEIGHTED = "ndcg(weights=group)@10"
METRICS = ["ndcg@10", WEIGHTED, "lightgbm:ndcg@3"]
WEIGHTS = {"q1": 1.0, "q2": 4.0, "q3": 2.5, "q4": 0.5, "q5": 0.1}


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), dataset="shop", metrics=METRICS)
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="other", metrics=METRICS)


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with two runs of the dataset shop, and another dataset with the same groups."""
    fill_as(fill_shop)
    return tracker


def weights_frame(weights: dict[str, float]) -> dict[str, list[Any]]:
    return {"group": list(weights), "weight": list(weights.values())}


def facts(tracker: nt.Tracker, dataset: str = "shop") -> dict[str, tuple[float | None, dict[str, Any]]]:
    return {group.key: (group.weight, group.attributes) for group in tracker.groups(dataset)}


def evaluations(tracker: nt.Tracker, run: str, dataset: str = "shop") -> list[tuple[Any, ...]]:
    """Return all that is kept of the evaluations of a run, but the results of the groups."""
    found = tracker.run(run, dataset)[1]
    with tracker.store().read() as tx:
        results = [tx.evaluations.results(one.id, components=True) for one in found]
    lists = [(r.group_ids.tolist(), r.values.tolist(), r.undefined.tolist(), r.reasons) for r in results]
    return [
        (one.metric, one.label_set_version, one.mean, one.worst_mean, one.best_mean, one.std_dev, one.n_groups, *rest)
        for one, rest in zip(found, lists, strict=True)
    ]


def test_attributes_are_merged(shop: nt.Tracker) -> None:
    first = {"group": ["q1", "q2"], "device": ["phone", "desk"], "n_words": [2, 3]}
    assert shop.set_groups(first, dataset="shop") == GroupsSet("shop", 2, ("device", "n_words"), False, 0, None, 0)
    second = {"group": ["q2", "q3", "q1"], "device": [None, "tv", "phone"], "lang": ["de", "fr", float("nan")]}
    shop.set_groups(second, dataset="shop")
    assert facts(shop) == {
        "q1": (None, {"device": "phone", "n_words": 2}),
        "q2": (None, {"n_words": 3, "lang": "de"}),
        "q3": (None, {"device": "tv", "lang": "fr"}),
        "q4": (None, {}),
        "q5": (None, {}),
    }
    assert facts(shop, "other")["q1"] == (None, {})
    shop.set_groups({"group": ["q3"], "device": [""], "lang": [""]}, dataset="shop")
    assert facts(shop)["q3"] == (None, {})


def test_groups_stand_as_they_came(shop: nt.Tracker) -> None:
    assert shop.groups("shop")[0] == GroupRecord("q1", None, {})
    assert [group.key for group in shop.groups("shop")] == ["q1", "q2", "q3", "q4", "q5"]


def test_attributes_leave_weights_and_means_alone_and_the_other_way_round(shop: nt.Tracker) -> None:
    shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    before = evaluations(shop, "bm25")
    shop.set_groups({"group": ["q1"], "lang": ["de"]}, dataset="shop")
    assert evaluations(shop, "bm25") == before
    assert facts(shop)["q1"] == (1.0, {"lang": "de"})
    shop.set_groups(weights_frame({"q1": 7.0}), dataset="shop")
    assert facts(shop)["q1"] == (7.0, {"lang": "de"})


def test_what_is_said_of_unknown_groups_is_kept_until_they_come(shop: nt.Tracker) -> None:
    shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    before = evaluations(shop, "bm25")
    done = shop.set_groups({"group": ["q9", "q1", "q8"], "lang": ["x", "de", "y"], "weight": [1, 1, 3]}, dataset="shop")
    assert (done.n_groups, done.n_unknown, done.first_unknown, done.n_recomputed) == (3, 2, "q9", 0)
    assert facts(shop)["q9"] == (1.0, {"lang": "x"})
    assert evaluations(shop, "bm25") == before
    again = shop.ingest(frame_of(BM25), name="again", dataset="shop", metrics=WEIGHTED).metrics[0]
    assert (again.n_groups, again.n_missing) == (5, 0)
    labels = {**LABELS, "q8": {"a": 1}, "q9": {"a": 1}}
    run = {**BM25, "q9": {"a": 1.0}}
    found = shop.ingest(frame_of(run), name="new", labels=labels_frame(labels), dataset="shop", metrics=WEIGHTED)
    per_group = nt.evaluate(frame_of(run), "ndcg@10", labels=labels_frame(labels)).per_group["ndcg@10"].fillna(0)
    weights = [{**WEIGHTS, "q8": 3.0, "q9": 1.0}[group] for group in per_group.index]
    assert found.metrics[0].mean == pytest.approx(np.average(per_group, weights=weights))
    assert (found.metrics[0].n_groups, found.metrics[0].n_missing) == (7, 1)


def test_what_is_not_there_is_refused(shop: nt.Tracker) -> None:
    for call in (lambda: shop.set_groups({"group": ["q1"], "a": [1]}, dataset="shp"), lambda: shop.groups("shp")):
        with pytest.raises(nt.ReferenceNotFoundError) as caught:
            call()
        assert str(caught.value) == "no dataset 'shp'; did you mean 'shop'?"


def test_means_are_those_of_a_run_that_comes_after_the_weights(shop: nt.Tracker) -> None:
    untouched = evaluations(shop, "bm25", "other")
    done = shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    assert (done.has_weights, done.attributes, done.n_recomputed) == (True, (), 4)
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        shop.ingest(frame_of(run), name=f"{name}-later", dataset="shop", metrics=METRICS)
        assert evaluations(shop, name) == evaluations(shop, f"{name}-later")
    assert evaluations(shop, "bm25", "other") == untouched
    found = shop.compare("bm25", "dense", dataset="shop", metrics=WEIGHTED).to_dict()["metrics"][0]
    assert found["p_value"] is not None
    per_group = nt.evaluate(frame_of(DENSE), "ndcg@10", labels=labels_frame()).per_group["ndcg@10"].fillna(0)
    weights = [WEIGHTS[group] for group in per_group.index]
    assert found["candidate"] == pytest.approx(np.average(per_group, weights=weights))


def test_weights_may_be_taken_away(shop: nt.Tracker) -> None:
    before = evaluations(shop, "dense")
    shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    assert evaluations(shop, "dense") != before
    done = shop.set_groups(weights_frame(dict.fromkeys(WEIGHTS, float("nan"))), dataset="shop")
    assert done.n_recomputed == 4
    assert evaluations(shop, "dense") == before
    assert {weight for weight, _ in facts(shop).values()} == {None}


def test_a_mean_without_weight_is_undefined(shop: nt.Tracker) -> None:
    shop.set_groups(weights_frame(dict.fromkeys(LABELS, 0.0)), dataset="shop")
    means = {one.metric: one.mean for one in shop.run("bm25", "shop")[1]}
    assert means[WEIGHTED] is None
    assert means["ndcg@10"] is not None


def test_weights_that_stay_recompute_nothing(shop: nt.Tracker) -> None:
    shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    assert shop.set_groups(weights_frame(WEIGHTS), dataset="shop").n_recomputed == 0


def test_only_means_that_rest_on_a_changed_weight_are_recomputed(tracker: nt.Tracker) -> None:
    one: Run = {"q1": {"a": 1.0}}
    other: Run = {"q2": {"b": 1.0}}
    tracker.ingest(frame_of(one), name="one", labels=labels_frame(one), metrics=[WEIGHTED, "ndcg@10"])
    metrics = [WEIGHTED, "ndcg@10"]
    tracker.ingest(frame_of(other), name="other", labels=labels_frame(other), metrics=metrics, allow="no-overlap")
    assert tracker.set_groups(weights_frame({"q1": 3.0})).n_recomputed == 1
    assert tracker.set_groups(weights_frame({"q1": 3.0, "q2": 5.0})).n_recomputed == 1
    assert tracker.set_groups(weights_frame({"q1": 4.0, "q2": 6.0})).n_recomputed == 2


def test_means_under_every_version_of_the_labels_are_recomputed(shop: nt.Tracker) -> None:
    newer = {**LABELS, "q2": {"a": 2, "x": 3}, "q6": {"z": 1}}
    shop.add_labels(labels_frame(newer), dataset="shop")
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        shop.ingest(frame_of(run), name=name, labels=labels_frame(newer), dataset="shop", metrics=METRICS)
    assert shop.set_groups(weights_frame({**WEIGHTS, "q6": 9.0}), dataset="shop").n_recomputed == 8
    for labels in (LABELS, newer):
        shop.ingest(frame_of(DENSE), name="later", labels=labels_frame(labels), dataset="shop", metrics=METRICS)
    assert evaluations(shop, "dense") == evaluations(shop, "later")


def test_a_mean_that_is_refused_leaves_everything_as_it_was(tracker: nt.Tracker) -> None:
    metric = "ndcg(clip=error_above_1, empty=1, empty_weight=one, weights=group)@10"
    labels: Run = {"q1": {"a": 1.0}, "q2": {"b": 0.0}}
    tracker.ingest(frame_of(labels), name="run", labels=labels_frame(labels), metrics=metric)
    before = evaluations(tracker, "run", "default")
    with pytest.raises(nt.MetricError) as caught:
        tracker.set_groups({"group": ["q1", "q2"], "weight": [1.0, 0.1], "lang": ["de", "fr"]})
    assert "the weighted mean is 1.81818, which is above 1" in str(caught.value)
    assert evaluations(tracker, "run", "default") == before
    assert [(group.weight, group.attributes) for group in tracker.groups()] == [(None, {})] * 2


def test_named_columns_of_a_frame(shop: nt.Tracker) -> None:
    shop.set_groups(weights_frame(WEIGHTS), dataset="shop")
    frame = {"qid": ["q1"], "lang": ["de"], "w": [2], "weight": ["heavy"], "x": [None]}
    shop.set_groups(frame, dataset="shop", group="qid", weight="w", attributes=["lang", "weight"])
    assert facts(shop)["q1"] == (2.0, {"lang": "de", "weight": "heavy"})


def test_many_groups(tracker: nt.Tracker) -> None:
    keys = [f"q{number}" for number in range(1500)]
    run = {"group": keys, "item": ["a"] * 1500, "score": [1.0] * 1500, "label": [1, 0, 2] * 500}
    tracker.ingest(run, name="run", metrics=WEIGHTED)
    weights = np.arange(1500) / 7
    tracker.set_groups({"group": keys[::-1], "weight": weights[::-1], "n": np.arange(1500)[::-1]})
    found = tracker.groups()
    assert [group.weight for group in found] == weights.tolist()
    assert [group.attributes["n"] for group in found] == list(range(1500))
    with tracker.store().read() as tx:
        assert tx.damage() == []
