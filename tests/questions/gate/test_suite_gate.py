"""A gate on suites: its bounds, its error rates, and what datasets by themselves change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import decided, decided_suite, strata_of
from thorough import LONG

from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.decide import Decision, slices_of
from ndcg_tracker.questions.gate.say import reason
from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.stratified import strata_information

Sampler = Callable[[np.random.Generator, int], Floats]

POPULATIONS: dict[str, Sampler] = {
    "normal": lambda rng, n: rng.normal(0, 0.2, n).clip(-1, 1),
    "sparse": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.choice([-0.3, 0.3], n)),
    "rare losses": lambda rng, n: np.where(rng.random(n) < 0.03, -0.5, 0.5 * 0.03 / 0.97),
    "skewed": lambda rng, n: 0.15 * (1 - rng.exponential(1, n)).clip(-6, 1),
}
SUITES = {
    "even": [200] * 5,
    "eighteen small ones": [50] * 18,
    "one small one": [40, 3000],
    "tiny ones": [10] * 3,
    "mixed": [30, 50, 300, 600, 120],
}


def test_the_bounds_of_two_datasets_are_those_of_welch() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.normal(0.1, 0.2, 300), rng.normal(0.1, 0.3, 500)
    found = decided_suite([one, other], 0.01, fail_alpha=0.02)
    # the mean of both is half of one minus (-other), whose test is Welch's
    low = scipy.stats.ttest_ind(one, -other, equal_var=False, alternative="greater").confidence_interval(0.95).low
    high = scipy.stats.ttest_ind(one, -other, equal_var=False, alternative="less").confidence_interval(0.98).high
    assert (found.lower, found.upper) == pytest.approx((low / 2, high / 2))
    assert (found.decision, found.told.lower_method, found.n, found.ways.n) == ("pass", "t", 800, None)


@given(st.integers(2, 400), st.floats(-0.1, 0.1), st.integers(0, 1000))
@settings(max_examples=50)
def test_a_suite_of_one_dataset_is_decided_as_the_dataset(n: int, shift: float, seed: int) -> None:
    delta = (np.random.default_rng(seed).normal(shift, 0.2, n)).clip(-1, 1)
    alone, suite = decided(delta, 0.02), decided_suite([delta], 0.02)
    assert suite.decision == alone.decision
    assert suite.delta == pytest.approx(alone.delta)
    for name in ("lower", "upper", "t_lower", "t_upper", "betting_lower"):
        assert getattr(suite.told, name) == pytest.approx(getattr(alone.told, name)), name


def test_what_is_known_without_a_test() -> None:
    nothing = decided_suite([np.zeros(50), np.zeros(9)], 0.01, same=[True, True])
    assert (nothing.decision, nothing.is_identical, nothing.n) == ("pass", True, 59)
    assert decided_suite([np.zeros(50), np.zeros(9)], 0.01, same=[True, False]).decision == "inconclusive"
    assert decided_suite([np.zeros(50), np.zeros(0)], 0.01).decision == "inconclusive"
    assert decided_suite([np.full(1, 0.5), np.full(1, 0.5)], 0.01).told.lower_method == "betting"
    with pytest.raises(InputError, match="the margin must be"):
        decided_suite([np.zeros(2)], -0.1)


def test_a_dataset_of_equal_lists_adds_no_chance() -> None:
    delta = np.random.default_rng(2).normal(0, 0.2, 500)
    alone, beside = decided_suite([delta], 0.01), decided_suite([delta, np.zeros(30)], 0.01, same=[False, True])
    assert beside.lower == pytest.approx((alone.lower or math.nan) / 2)


def test_how_much_strata_say() -> None:
    rng = np.random.default_rng(3)
    small, large = rng.exponential(1, 60) - 1, rng.exponential(1, 6000) - 1
    assert strata_information([large]).n_nonzero == 6000
    assert 60 <= strata_information([small, large]).n_nonzero < 65
    # the skewness of the macro mean is that of its sum
    found = strata_information([small, large])
    assert found.skewness / math.sqrt(found.n) == pytest.approx(scipy.stats.skew(small) / math.sqrt(60), rel=0.05)


@pytest.mark.nightly
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("apart", [0.0, 0.2])
def test_false_fail_and_false_pass(suite: str, population: str, apart: float) -> None:
    """FAIL strikes in about 1% where nothing differs, PASS in about 5% where the drop is the margin.

    ``apart``: how far datasets differ from their mean, upwards and downwards.
    """
    rng, sampler, margin = np.random.default_rng(4), POPULATIONS[population], 0.02
    rounds = 4000 if LONG else 300
    shifts = apart * np.resize([1.0, -1.0], len(SUITES[suite]))
    shifts -= shifts.mean()
    fails = passes = 0
    for _ in range(rounds):
        deltas = [sampler(rng, n) + shift for n, shift in zip(SUITES[suite], shifts, strict=True)]
        limits = (-2.0, 2.0)
        fails += decided_suite(deltas, margin, limits=limits).decision == "fail"
        passes += decided_suite([delta - margin for delta in deltas], margin, limits=limits).decision == "pass"
    assert fails / rounds < 0.01 + 4 * math.sqrt(0.01 * 0.99 / rounds)
    assert passes / rounds < 0.06 + 4 * math.sqrt(0.05 * 0.95 / rounds)


def test_datasets_have_floors() -> None:
    noise = np.tile([0.125, -0.125], 300)
    deltas = {"fiqa": noise + 0.06, "scifact": noise - 0.04, "tiny": noise[:24] - 0.5}
    large = {name: delta for name, delta in deltas.items() if name != "tiny"}
    whole = decided_suite(large, 0.01)
    assert whole.decision == "pass"

    def with_datasets(each: dict[str, Floats], margin: float) -> Decision:
        rules = replace(whole.rules, by="dataset", part_margin=margin)
        return replace(whole, rules=rules, parts=slices_of(rules, list(strata_of(each).parts.items())))

    failed = with_datasets(deltas, 0.02)
    assert (failed.decision, failed.without("dataset")) == ("fail", "pass")
    assert [(row.value, row.n, row.status) for row in failed.slices] == [
        ("scifact", 600, "fails"), ("fiqa", 600, "within"), ("tiny", 24, "open"),
    ]  # fmt: skip
    loose = with_datasets(deltas, 0.1)
    assert loose.decision == "inconclusive"
    assert "regressed by compare's test: dataset='tiny' (" in reason(loose)
    close = with_datasets(large, 0.045)
    assert close.decision == "inconclusive"
    assert "regressed by compare's test: dataset='scifact' (" in reason(close)
    assert with_datasets(large, 0.1).decision == "pass"
    small = with_datasets({name: delta[:24] for name, delta in large.items()}, 0.1)
    assert small.decision == "pass"
    assert ("no dataset has 25 queries, so none was judged") in reason(small)
