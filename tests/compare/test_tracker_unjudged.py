"""What unjudged items leave open between two stored runs, against every grade that they may have."""

import functools
import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from ndcg_tracker import Tracker, errors, evaluate

RUNS = {
    "old": {"q1": "abxc", "q2": "dye", "q3": "fg"},
    "new": {"q1": "xazb", "q2": "edw", "q3": "gf"},
}
LABELS = {"q1": {"a": 2, "b": 1}, "q2": {"d": 0, "e": 0}, "q3": {"f": 1, "g": 2}, "q4": {"h": 1}}
"""w, x, y and z have no label; q2 has nothing to find as yet; q4 is in neither run."""


def rows(lists: dict[str, str]) -> dict[str, list[object]]:
    listed = [(group, item, -float(rank)) for group, items in lists.items() for rank, item in enumerate(items)]
    return {name: [row[at] for row in listed] for at, name in enumerate(("group", "item", "score"))}


def labelled(labels: dict[str, dict[str, int]]) -> dict[str, list[object]]:
    pairs = [(group, item, grade) for group, items in labels.items() for item, grade in items.items()]
    return {name: [row[at] for row in pairs] for at, name in enumerate(("group", "item", "label"))}


def fill_shop(url: str) -> None:
    with Tracker(url) as tracker:
        for name, lists in RUNS.items():
            tracker.ingest(rows(lists), labels=labelled(LABELS), name=name, metrics=["ndcg@3", "P@2", "RR", "AP"])


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    fill_as(fill_shop)
    return tracker


@functools.cache
def by_every_grading(metric: str, cutoff: int | None) -> tuple[frozenset[tuple[str, str]], float, float]:
    """Return the unjudged items, and the least and greatest delta over all of their grades; once for both engines."""
    free = {
        (group, item)
        for lists in RUNS.values()
        for group, items in lists.items()
        for item in items[:cutoff]
        if item not in LABELS[group]
    }
    graded: dict[str, dict[str, int]] = {}
    for number, grades in enumerate(itertools.product((None, 0, 1, 2), repeat=len(free))):
        graded |= {f"{number} {group}": dict(items) for group, items in LABELS.items()}
        for (group, item), grade in zip(sorted(free), grades, strict=True):
            if grade is not None:
                graded[f"{number} {group}"][item] = grade
    listed = [{group: lists.get(group.split()[1], "") for group in graded} for lists in RUNS.values()]
    with warnings.catch_warnings():  # of q4, which is not in the runs
        warnings.simplefilter("ignore", errors.NdcgTrackerWarning)
        old, new = (evaluate(rows(lists), [metric], labels=labelled(graded)).per_group[metric] for lists in listed)
    assert not (old.isna() | new.isna()).any()
    deltas = (new - old).groupby(lambda group: group.split()[0]).mean()
    assert len(deltas) == 4 ** len(free)
    return frozenset(free), float(deltas.min()), float(deltas.max())


@pytest.mark.parametrize(("metric", "cutoff"), [("ndcg@3", 3), ("P@2", 2), ("RR", None)])
def test_the_bounds_are_those_of_every_grading(shop: Tracker, metric: str, cutoff: int | None) -> None:
    found = shop.compare("old", "new", metrics=metric, unjudged_bounds=True).to_dict()["metrics"][0]["unjudged_bounds"]
    free, least, greatest = by_every_grading(metric, cutoff)
    assert found["n_items"] == len(free)
    assert found["n_groups"] == len({group for group, _ in free})
    assert found["least"]["delta"] == pytest.approx(least, abs=1e-12)
    assert found["greatest"]["delta"] == pytest.approx(greatest, abs=1e-12)
    assert found["not_supported"] is None


def test_the_condensed_lists_have_judged_items_only(shop: Tracker) -> None:
    for metric in ("ndcg@3", "AP"):
        compared = shop.compare("old", "new", metrics=metric, unjudged_bounds=True).to_dict()["metrics"][0]
        kept = {
            name: {group: "".join(item for item in items if item in LABELS[group]) for group, items in lists.items()}
            for name, lists in RUNS.items()
        }
        old, new = (evaluate(rows(kept[name]), [metric], labels=labelled(LABELS)).mean[metric] for name in kept)
        assert old is not None
        assert new is not None
        assert compared["unjudged_bounds"]["condensed"]["delta"] == pytest.approx(new - old, abs=1e-12)
    assert compared["unjudged_bounds"]["not_supported"] == "measure"
    assert compared["unjudged_bounds"]["least"] is None


def test_the_report_tells_the_bounds_and_the_frame_has_them(shop: Tracker) -> None:
    result = shop.compare("old", "new", metrics=["ndcg@3", "AP"], unjudged_bounds=True)
    assert "\neffect of unjudged items on ndcg@3: 4 items in 2 groups\n" in str(result)
    assert "\neffect of unjudged items on AP: not known for this metric\n" in str(result)
    frame = result.to_frame()
    assert frame["n_unjudged"].tolist() == [4, 0]
    least = result.to_dict()["metrics"][0]["unjudged_bounds"]["least"]
    assert (frame["least_delta"][0], frame["least_verdict"][0]) == (least["delta"], least["verdict"])
    assert np.isnan(frame["least_delta"][1])
    assert "unjudged_bounds" not in shop.compare("old", "new").to_dict()["metrics"][0]


def test_weights_of_items_leave_no_bounds(tracker: Tracker) -> None:
    metric = "ndcg(empty=1, empty_weight=one, weights=group)@3"
    for name, lists in RUNS.items():
        tracker.ingest(rows(lists), labels=labelled(LABELS), name=name, metrics=metric)
    tracker.set_groups({"group": ["q1", "q2"], "weight": [3.0, 5.0]}, default_weight=1.0)
    (found,) = tracker.compare("old", "new", unjudged_bounds=True).to_dict()["metrics"]
    assert found["unjudged_bounds"] == {
        "n_items": 0,
        "n_groups": 0,
        "least": None,
        "greatest": None,
        "condensed": None,
        "not_supported": "empty_weight=one",
        "earlier": None,
    }


def test_groups_that_one_run_lacks_count_0_where_that_is_asked_for(tracker: Tracker) -> None:
    metric = "ndcg(missing=skip)@3"
    for name, lists in RUNS.items():
        some = {group: items for group, items in lists.items() if name == "old" or group != "q1"}
        tracker.ingest(rows(some), labels=labelled(LABELS), name=name, metrics=metric)
    (found,) = tracker.compare("old", "new", unjudged_bounds=True, missing="zero").to_dict()["metrics"]
    bounds = found["unjudged_bounds"]
    assert bounds["n_items"] == 3
    up, down = 2 / np.log2(2) + 1 / np.log2(3), 1 / np.log2(2) + 2 / np.log2(3)
    q1, q2, q3 = -1.0, 0.0, 1 - down / up
    assert bounds["condensed"]["delta"] == pytest.approx((q1 + q2 + q3) / 3)
    # in q1 old has the ideal order already; in q2 y alone may be worth something, at its second rank
    assert bounds["least"]["delta"] == pytest.approx((q1 - 1 / np.log2(3) + q3) / 3)
    (fewer,) = tracker.compare("old", "new", unjudged_bounds=True, missing="intersect").to_dict()["metrics"]
    assert fewer["unjudged_bounds"]["n_items"] == 2


def test_arms_are_refused_and_clusters_hold_at_the_extremes(shop: Tracker) -> None:
    for name in RUNS:
        shop.ingest(rows(RUNS[name]), name=f"{name}-2", tags={"arm": "a"}, metrics="ndcg@3")
    with pytest.raises(errors.InputError) as refused:
        shop.compare("old", "tag:arm=a", unjudged_bounds=True)
    assert str(refused.value) == "unjudged_bounds= takes single runs, not arms; leave it out, or name two runs"
    shop.set_groups({"group": ["q1", "q2", "q3", "q4"], "user": ["ann", "ann", "bob", "cy"]})
    alone, clustered = (
        shop.compare("old", "new", metrics="ndcg@3", unjudged_bounds=True, cluster=by).to_dict()["metrics"][0]
        for by in (None, "user")
    )
    one, other = (found["unjudged_bounds"]["least"] for found in (alone, clustered))
    assert one["delta"] == other["delta"]
    assert one["ci"] != other["ci"]
