"""``Tracker.compare`` with its options, and its numbers against scipy, on runs of more than a handful of groups."""

import contextlib
import sqlite3

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import ndcg_tracker as nt
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.statistics.distribution_free import (
    betting_interval,
    bootstrap_interval,
    sign_flip_p_value,
    wilcoxon_p_value,
)
from ndcg_tracker.statistics.many_tests import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_test import equivalence_test, paired_t


def spread_run(tracker: nt.Tracker) -> None:
    """Two runs of 40 groups, of which the candidate loses on those of tv and wins or ties elsewhere."""
    groups = [f"q{number}" for number in range(40)]
    rows = [(group, item) for group in groups for item in ("a", "b", "c")]
    frame = {"group": [row[0] for row in rows], "item": [row[1] for row in rows]}
    labels = {**frame, "label": [3, 1, 0] * 40}
    lost, lost_less, same, won = [1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 1.0, 2.0], [3.0, 2.0, 1.0]
    moved: list[float] = []
    for number in range(40):
        is_tv = number % 4 == 0
        moved += (lost_less if number % 8 else lost) if is_tv else same if number % 5 == 4 else won
    tracker.ingest({**frame, "score": same * 40}, name="old", labels=labels, dataset="forty")
    tracker.ingest({**frame, "score": moved}, name="new", dataset="forty")
    tracker.set_groups(
        {
            "group": groups,
            "device": ["tv" if number % 4 == 0 else "phone" if number < 38 else "" for number in range(40)],
            "length": [float(number % 2) for number in range(40)],
        },
        dataset="forty",
    )


def test_methods_may_be_chosen(tracker: nt.Tracker) -> None:
    spread_run(tracker)
    query = "SELECT group_key, delta FROM group_diff WHERE baseline = 'old' AND candidate = 'new'"
    delta = tracker.sql(query).set_index("group_key")["delta"][[f"q{number}" for number in range(40)]].to_numpy()
    assert delta.size == 40
    plain = tracker.compare("old", "new").to_dict()["metrics"][0]
    assert "equivalence" not in plain
    assert plain["betting_ci"] is None
    found = tracker.compare("old", "new", test="permutation", ci="bootstrap", equivalence=0.5).to_dict()["metrics"][0]
    assert (found["test"], found["ci_method"]) == ("permutation", "bootstrap")
    assert found["p_value"] == sign_flip_p_value(delta)
    assert found["ci"] == list(bootstrap_interval(delta) or ())
    assert found["equivalence"] == as_object(equivalence_test(paired_t(delta), 0.5))
    found = tracker.compare("old", "new", test="wilcoxon", ci="betting").to_dict()["metrics"][0]
    assert found["p_value"] == wilcoxon_p_value(delta)
    assert found["ci"] == found["betting_ci"] == list(betting_interval(delta))
    assert "the Wilcoxon test tests symmetry, not the mean" in found["warnings"]
    frame = tracker.compare("old", "new", equivalence=0.5).to_frame()
    assert {"betting_ci_low", "betting_ci_high", "equivalent", "equivalence_p_value"} <= set(frame.columns)
    assert not {"betting_ci", "equivalence"} & set(frame.columns)


def test_slices_by_an_attribute(tracker: nt.Tracker) -> None:
    spread_run(tracker)
    result = tracker.compare("old", "new", by="device")
    slices = result.to_dict()["slices"]
    assert [(row["attribute"], row["value"], row["n"], row["verdict"]) for row in slices] == [
        ("device", "tv", 10, "regressed"),
        ("device", None, 2, "no_difference_detected"),
        ("device", "phone", 28, "improved"),
    ]
    p_values = [row["p_value"] for row in slices]
    assert [row["q_value"] for row in slices] == benjamini_hochberg(p_values)
    assert [row["p_adjusted"] for row in slices] == holm(p_values)
    frame = result.slices_to_frame()
    assert [None if pd.isna(value) else value for value in frame["value"]] == ["tv", None, "phone"]
    assert list(frame["delta"]) == [row["delta"] for row in slices]
    assert tracker.compare("old", "new").slices_to_frame().empty
    assert "slices" not in tracker.compare("old", "new").to_dict()
    lengths = tracker.compare("old", "new", by="length").to_dict()["slices"]
    assert sorted((row["value"], row["n"]) for row in lengths) == [("0", 20), ("1", 20)]


def test_only_the_lists_of_the_shown_groups_are_read(sqlite_url: str) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        spread_run(tracker)
        found = tracker.compare("old", "new", top=2).to_dict()
    shown = [group["group"] for group in found["worst"] + found["best"]]
    assert len(shown) == 4
    with contextlib.closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as database, database:
        for table, column in (("ranked_lists", "item_keys"), ("label_lists", "grades")):
            database.execute(
                f"UPDATE {table} SET {column} = 'not a list' WHERE group_id IN "
                "(SELECT id FROM groups WHERE key NOT IN (?, ?, ?, ?))",
                shown,
            )
    with nt.Tracker(sqlite_url) as tracker:
        assert tracker.compare("old", "new", top=2).to_dict() == found


@pytest.mark.parametrize("metric", ["ndcg@10", "AP", "ndcg(gain=exp2)@5"])
def test_the_numbers_equal_those_of_scipy_on_the_exported_results(tracker: nt.Tracker, metric: str) -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat([f"q{number}" for number in range(120)], 12)
    rows = {"group": groups, "item": np.tile([f"d{number}" for number in range(12)], 120)}
    labels = rng.integers(0, 4, groups.size) * (rng.random(groups.size) < 0.4)
    scores = labels + rng.normal(size=groups.size)
    tracker.ingest({**rows, "score": scores, "label": labels}, name="one", metrics=metric)
    tracker.ingest({**rows, "score": scores + rng.normal(0.0, 0.7, groups.size)}, name="two", metrics=metric)
    found = tracker.compare("one", "two").to_dict()["metrics"][0]
    exported = tracker.sql("SELECT baseline_value, candidate_value FROM group_diff WHERE baseline = 'one'")
    one, two = exported["baseline_value"].to_numpy(), exported["candidate_value"].to_numpy()
    theirs = scipy.stats.ttest_rel(two, one)
    assert found["n"] == one.size > 100
    assert found["p_value"] == pytest.approx(theirs.pvalue, rel=1e-12, abs=0)
    assert found["ci"] == pytest.approx(list(theirs.confidence_interval(0.95)), rel=0, abs=1e-12)
    assert found["delta"] == pytest.approx((two - one).mean(), rel=0, abs=1e-12)
    assert found["effect_size"] == pytest.approx((two - one).mean() / (two - one).std(ddof=1), rel=0, abs=1e-12)
