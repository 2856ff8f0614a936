"""Slices: each as if it were alone, corrected together, and few false ones among those listed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import Record, repeats
from samples import sample_of, slices

from ndcg_tracker.compare.estimate import sliced
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.statistics.many_tests import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_test import paired_t, weighted_t
from ndcg_tracker.words.notes import note_text


def test_each_slice_is_the_comparison_of_its_groups() -> None:
    rng = np.random.default_rng(1)
    baseline = rng.random(500)
    candidate = baseline + rng.normal(0.01, 0.1, 500)
    values = rng.choice(np.array(["de", "fr", "", "日本"]), 500).tolist()
    rows = sliced(Sample(candidate - baseline, values=(baseline, candidate)), [Slicing.of("", values)])
    assert sorted(row.about.value or "" for row in rows) == ["", "de", "fr", "日本"]
    assert [row.delta for row in rows] == sorted(row.delta or 0.0 for row in rows)
    for row in rows:
        here = np.array([value == row.about.value for value in values])
        test = paired_t(candidate[here] - baseline[here])
        assert (row.n, row.delta, row.ci, row.p_value) == (test.n, test.mean, test.ci, test.p_value)
        assert (row.baseline, row.candidate) == pytest.approx((baseline[here].mean(), candidate[here].mean()))
        assert (row.wins or 0) + (row.ties or 0) + (row.losses or 0) == row.n
    p_values = [row.p_value for row in rows]
    assert [row.q_value for row in rows] == benjamini_hochberg(p_values)
    assert [row.p_adjusted for row in rows] == holm(p_values)


def test_weights_and_groups_without_a_value() -> None:
    candidate, weights = np.array([0.5, 0.25, -0.5, 1.0]), np.array([1.0, 2.0, 3.0, 1.0])
    rows = sliced(sample_of(candidate, weights=weights), [Slicing.of("", ["a", "a", "a", None])])
    assert [(row.about.value, row.n, row.verdict) for row in rows] == [
        ("a", 3, "no_difference_detected"),
        (None, 1, "not_comparable"),
    ]
    test = weighted_t(candidate[:3], weights[:3])
    assert (rows[0].delta, rows[0].p_value, rows[0].p_adjusted) == (test.mean, test.p_value, test.p_value)
    assert (rows[1].p_value, rows[1].q_value, rows[1].ci) == (None, None, None)
    assert note_text(rows[0].warnings[0]).startswith("low information: 3 of 3")


def test_a_slice_of_one_cluster_is_not_tested() -> None:
    clusters, values = np.repeat([0, 1, 2], 2), ["tent"] * 2 + ["rest"] * 4
    candidate = np.array([-0.5, -0.25, 0.5, 0.25, 0.5, 0.0])
    tent, rest = slices(candidate, values, clusters=clusters)
    assert (rest.verdict, rest.is_untested) == ("no_difference_detected", False)
    assert (tent.verdict, tent.delta, tent.p_value, tent.is_untested) == ("not_comparable", -0.375, None, True)
    assert note_text(tent.warnings[0]) == "one cluster says nothing about others: no interval and no p-value"
    (same,) = slices(np.ones(6), ["a"] * 6, clusters=clusters)
    assert same.is_untested
    assert note_text(same.warnings[0]).startswith("all 3 clusters differ by the same amount")


def test_verdicts_are_decided_by_holm() -> None:
    noise = np.tile([0.1, -0.1], 100)
    moves = {"up": 0.05, "down": -0.05, "same": 0.0, **{f"noise{i}": 0.001 for i in range(17)}, "nearly": 0.0145}
    candidate = np.concatenate([noise + mean if name != "same" else 0 * noise for name, mean in moves.items()])
    rows = slices(candidate, np.repeat(list(moves), 200).tolist())
    verdicts = {row.about.value: row.verdict for row in rows}
    assert (verdicts["up"], verdicts["down"], verdicts["same"]) == ("improved", "regressed", "identical")
    (nearly,) = (row for row in rows if row.about.value == "nearly")
    assert nearly.p_value is not None
    assert nearly.p_value < 0.05 <= (nearly.p_adjusted or 0)
    assert nearly.verdict == "no_difference_detected"


def test_no_group_and_wrong_numbers() -> None:
    assert slices(np.zeros(0), []) == ()
    with pytest.raises(ValueError, match="NaN is refused"):
        slices(np.array([0.5, math.nan]), ["a", "a"])


@pytest.mark.nightly
def test_false_discovery_rate_over_20_slices(record_property: Record) -> None:
    """Five of twenty slices differ; of those listed at q < .05, few are false."""
    samples, n = repeats(1500), 40
    rng, values = np.random.default_rng(7), [f"s{number:02}" for number in range(20) for _ in range(n)]
    truth = np.where(np.arange(20) < 5, 0.08, 0.0)
    shares, n_false = [], 0
    for _ in range(samples):
        delta = (truth[:, None] + rng.normal(0, 0.14, (20, n))).ravel()
        rows = slices(delta, values)
        listed = [row.about.value or "" for row in rows if row.q_value is not None and row.q_value < 0.05]
        shares.append(sum(value >= "s05" for value in listed) / max(len(listed), 1))
        n_false += any(row.verdict != "no_difference_detected" and (row.about.value or "") >= "s05" for row in rows)
    record_property("false discovery rate", float(np.mean(shares)))
    record_property("any false one by Holm", float(n_false / samples))
    assert np.mean(shares) <= 0.07
    assert n_false / samples <= 0.07


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.floats(-1, 1)), max_size=30))
def test_the_worst_slice_is_first_and_slices_add_up(moves: list[tuple[str | None, float]]) -> None:
    values, delta = [value for value, _ in moves], np.array([move for _, move in moves])
    rows = slices(delta, values)
    assert {row.about.value for row in rows} == set(values)
    assert [row.delta for row in rows] == sorted(row.delta or 0.0 for row in rows)
    assert sum(row.n for row in rows) == delta.size
    total = sum(row.n * (row.delta or 0.0) for row in rows)
    assert math.isclose(total, float(delta.sum()), abs_tol=1e-9)
