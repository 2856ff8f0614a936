"""What a report shows of two runs: means at a cutoff, every pair of runs, slices, and both lists of a group."""

import numpy as np
import pytest
from scipy import stats

from ndcg_tracker.compare.report_facts import MOST_SLICES, at_cutoff, every_pair, slices_by
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import clustered_t


def test_the_means_at_a_cutoff_are_those_of_the_paired_t_test() -> None:
    random = np.random.default_rng(3)
    one, other = random.random((2, 50))
    one[3] = np.nan
    found = at_cutoff(5, one, other)
    assert found is not None
    known = ~np.isnan(one)
    expected = stats.ttest_rel(other[known], one[known]).confidence_interval(0.95)
    assert found.ci == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.baseline, found.candidate) == pytest.approx((one[known].mean(), other[known].mean()))
    assert found.delta == pytest.approx(found.candidate - found.baseline)


def test_weights_move_the_means_and_groups_of_no_weight_do_not_count() -> None:
    found = at_cutoff(
        5, np.array([0.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.0]), Sample(np.zeros(3), weights=np.array([3.0, 1.0, 0.0]))
    )
    assert found is not None
    assert (found.baseline, found.candidate, found.delta) == (0.25, 1.0, 0.75)
    assert at_cutoff(5, np.array([np.nan]), np.array([0.5])) is None


def test_every_pair_is_tested_and_corrected_together() -> None:
    random = np.random.default_rng(5)
    values = random.random((4, 30)) + np.array([[0.0], [0.02], [0.3], [0.3]])
    values[3] = values[2]
    found = {(one.baseline, one.candidate): one for one in every_pair("abcd", values)}
    assert len(found) == 12
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    expected = holm([stats.ttest_rel(values[other], values[one]).pvalue for one, other in pairs])
    for (one, other), p_value in zip(pairs, expected, strict=True):
        there, back = found["abcd"[one], "abcd"[other]], found["abcd"[other], "abcd"[one]]
        assert there.p_adjusted == back.p_adjusted == pytest.approx(p_value, rel=1e-9)
        assert there.delta == -back.delta == pytest.approx(values[other].mean() - values[one].mean())
    assert found["a", "c"].verdict == "improved"
    assert found["c", "a"].verdict == "regressed"
    assert found["c", "d"].verdict == found["d", "c"].verdict == "identical"
    assert found["a", "b"].verdict == "no_difference_detected"


def test_clusters_widen_every_interval() -> None:
    random = np.random.default_rng(7)
    users = np.repeat(np.arange(12), 5)
    one = random.random(60)
    other = one + np.repeat(random.normal(0, 0.2, 12), 5) + random.normal(0, 0.02, 60)
    one[3], like = np.nan, Sample(np.zeros(60), clusters=users)
    found, known = at_cutoff(5, one, other, like), ~np.isnan(one)
    assert found is not None
    assert found.ci == clustered_t((other - one)[known], users[known]).ci
    (there, _) = every_pair("ab", np.array([one, other]), like)
    assert there.p_adjusted == clustered_t((other - one)[known], users[known]).p_value
    one[3] = 0.5
    found_by = slices_by(Sample(other - one, clusters=users), [Slicing.of("half", ["a", "b"] * 30)])
    rows = {row.about.value: row for row in found_by["half"]}
    assert rows["b"].ci == clustered_t((other - one)[1::2], users[1::2]).ci


def test_a_group_that_one_run_lacks_counts_for_no_pair() -> None:
    (there, _) = every_pair("ab", np.array([[0.5, 0.5, np.nan], [1.0, 0.75, 1.0]]))
    assert there.delta == 0.375
    assert every_pair("ab", np.array([[np.nan], [1.0]])) == ()


def test_attributes_that_are_identifiers_are_no_slices() -> None:
    n = MOST_SLICES + 1
    values = np.linspace(0, 1, n)
    attributes = {
        "id": [str(number) for number in range(n)],
        "one": ["same"] * n,
        "half": ["ab"[number % 2] for number in range(n)],
    }
    found = slices_by(Sample(values**2 - values), map(Slicing.of, attributes, attributes.values()))
    assert list(found) == ["half"]
    assert {row.about.value: row.n for row in found["half"]} == {"a": 26, "b": 25}
