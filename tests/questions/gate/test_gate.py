"""The gate: every decision, its reason in words, and how often it errs."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from populations import ALL, LONG, Record, graded, repeats, standard_errors
from rates import fails, passes
from samples import decided, decided_set

from ndcg_tracker.compare.sample import AnySample, Sample, Strata
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.decide import Rules, decide
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.questions.gate.say import reason, to_decide
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.statistics.distribution_free import betting_lower_bound, betting_upper_bound
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.statistics.t_test import paired_t, t_lower_bound, t_upper_bound, weighted_t
from ndcg_tracker.words.notes import Note

DIFFERENCES = st.lists(st.integers(-20, 20).map(lambda number: number / 20), min_size=1, max_size=200)
NOISE = np.tile([0.125, -0.125, 0.0], 100)


def shifted(mean: float, n_times: int = 1) -> NDArray[np.float64]:
    return np.tile(NOISE, n_times) + mean


def test_pass() -> None:
    found = decided(shifted(0.0, 10), 0.01)
    assert found.decision == "pass"
    assert reason(found) == "delta +0.0000; the data allow -0.0031 to +0.0043; PASS needs the lower end above -0.01"
    assert found.lower == found.told.t_lower == t_lower_bound(paired_t(shifted(0.0, 10)))
    assert found.upper == t_upper_bound(paired_t(shifted(0.0, 10)), level=0.99)
    assert (found.told.lower_method, found.told.upper_method, found.told.betting_lower) == ("t", "t", None)
    assert (found.ways.n, found.ways.margin, found.is_small_drop) == (None, None, False)


def test_small_but_real_drop() -> None:
    found = decided(shifted(-0.005, 20), 0.01)
    assert (found.decision, found.is_small_drop) == ("pass", True)
    assert reason(found) == (
        "delta -0.0050; the data allow -0.0072 to -0.0019; PASS needs the lower end above -0.01; "
        "a real drop within the margin"
    )


def test_fail() -> None:
    found = decided(shifted(-0.03), 0.01)
    assert found.decision == "fail"
    assert reason(found) == (
        "delta -0.0300; the data allow -0.040 to -0.016; PASS needs the lower end above -0.01; all of that is below 0"
    )


def test_inconclusive_names_what_would_decide() -> None:
    delta = shifted(-0.003)
    found = decided(delta, 0.01)
    assert found.decision == "inconclusive"
    assert reason(found) == (
        "delta -0.0030; the data allow -0.013 to +0.011; PASS needs the lower end above -0.01; neither a drop of more "
        "than 0.01 nor no drop can be ruled out; to decide: about 1,330 queries like these (PASS), or a margin above "
        "0.01274 (PASS)"
    )
    assert found.ways.margin is not None
    assert decided(delta, found.ways.margin * 1.0001).decision == "pass"
    assert decided(delta, found.ways.margin).decision == "inconclusive"


@pytest.mark.parametrize("mean", [-0.004, -0.003, -0.001, -0.006, -0.008, -0.0092, -0.012])
def test_the_groups_needed_decide_4_times_in_5(mean: float) -> None:
    delta = shifted(mean)
    found = decided(delta, 0.01)
    assert found.decision == "inconclusive"
    assert found.ways.n is not None
    rows = np.random.default_rng(2).choice(delta, (200, found.ways.n))
    share = (passes(rows, 0.01) if found.ways.word == "pass" else fails(rows, 0.01)).mean()
    assert share == pytest.approx(0.8, abs=0.05 + 3.3 * math.sqrt(0.8 * 0.2 / 200))


Drawing = Callable[[np.random.Generator, float], AnySample]
LIMITS = (-1.0, 1.0)


def suite(rng: np.random.Generator, times: float) -> AnySample:
    parts = ((0.05, 0.15, 60), (-0.05, 0.2, 300))
    return Strata({str(n): Sample(rng.normal(mean, sd, round(n * times)).clip(-1, 1)) for mean, sd, n in parts}, LIMITS)


def sparse_suite(rng: np.random.Generator, times: float) -> AnySample:
    values = [rng.choice([-0.3, 0.0, 0.3], round(n * times), p=[0.075, 0.85, 0.075]) for n in (100, 200)]
    return Strata({str(n): Sample(of, limits=LIMITS) for n, of in enumerate(values)}, LIMITS)


def clusters(rng: np.random.Generator, times: float) -> AnySample:
    codes = np.repeat(np.arange(round(80 * times)), 5)
    delta = rng.normal(0, 0.1, codes[-1] + 1)[codes] + rng.normal(0, 0.1, codes.size)
    return Sample(delta.clip(-1, 1), clusters=codes, limits=LIMITS)


def arms(rng: np.random.Generator, times: float) -> AnySample:
    n = round(200 * times)
    one, other = (0.5 + rng.normal(0, 0.004, (4, 1)) + rng.normal(0, 0.1, (4, n)) for _ in range(2))
    other += rng.normal(0, 0.15, n)
    return Sample(other.mean(axis=0) - one.mean(axis=0), repeats=(one, other), limits=LIMITS)


def learned(rng: np.random.Generator, times: float) -> AnySample:
    delta = rng.normal(rng.normal(0, 0.004 * math.sqrt(2)), 0.2, round(300 * times))
    return Sample(delta.clip(-1, 1), training=RunVariance(20, 0.004**2), limits=LIMITS)


@pytest.mark.parametrize("drawing", [suite, sparse_suite, clusters, arms, learned])
def test_so_do_those_of_suites_clusters_and_repeats(drawing: Drawing) -> None:
    pilots = [drawing(np.random.default_rng(seed), 1.0).pilot for seed in range(6)]
    needed = sorted(math.inf if of is None else of.groups_for(0.02) or math.inf for of in pilots)
    rng, times = np.random.default_rng(9), needed[2] / drawing(np.random.default_rng(9), 1.0).n
    assert 1.5 < times < 15
    share = np.mean([decide(drawing(rng, times), Rules(0.02)).whole == "pass" for _ in range(100)])
    assert share == pytest.approx(0.8, abs=0.05 + 3.3 * math.sqrt(0.8 * 0.2 / 100))


def test_what_no_number_of_groups_decides() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, (4, 400))
    levels = np.array([[0.1], [0.2], [0.3], [0.4]])  # trainings vary more than any number of queries averages out
    apart = decide(Sample(noise[0], repeats=(noise + levels, noise[::-1] + levels)), Rules(0.01))
    assert (apart.decision, apart.ways.n, to_decide(apart).startswith("about")) == ("inconclusive", None, False)
    equal = decide(Strata({"a": Sample(np.full(9, 0.25)), "b": Sample(noise[0])}, LIMITS), Rules(0.01))
    assert (equal.decision, equal.ways.n) == ("inconclusive", None)  # equal values say nothing about further ones
    alone = decide(Sample(noise[0], clusters=np.zeros(400, dtype=np.int64), limits=LIMITS), Rules(0.01))
    assert (alone.decision, alone.ways.n) == ("inconclusive", None)  # one cluster says nothing about others
    assert reason(alone).startswith("delta ")
    assert "; only 1 cluster differs" in reason(alone)


def test_no_number_of_groups_decides_where_the_mean_is_the_margin() -> None:
    found = decided(shifted(0.0), 0.0)
    assert (found.decision, found.ways.n, found.ways.word) == ("inconclusive", None, None)


def test_identical() -> None:
    same = np.ones(200, dtype=np.bool_)
    found = decided(np.zeros(200), 0.01, same_lists=same)
    assert (found.decision, reason(found), found.delta) == ("pass", "identical on all 200 queries", 0.0)
    assert reason(decided(np.zeros(1), 0.0, same_lists=same[:1])) == "identical on the 1 query"
    weights = np.array([1.0, 0.0])
    of_one = decided(np.array([0.0, -1.0]), 0.0, weights=weights, same_lists=same[:2])
    assert of_one.decision == "pass"


def test_no_group() -> None:
    for found in (decided(np.zeros(0), 0.01), decided_set(np.zeros(0), 0.01)):
        assert (found.decision, reason(found), found.delta) == (
            "inconclusive",
            "no query has a result in both runs",
            None,
        )


def test_with_low_information_the_betting_bound_decides() -> None:
    delta = np.repeat([0.125, -0.125, 0.0], [20, 20, 260])
    found = decided(delta, 0.01)
    assert found.told.t_lower is not None
    assert found.told.t_lower > -0.01
    assert found.told.betting_lower == found.lower == betting_lower_bound(delta)
    assert (found.decision, found.told.lower_method, found.ways.n, found.ways.word) == (
        "inconclusive",
        "betting",
        459,
        "pass",
    )
    assert found.why == Note("low_information", {"n": 300, "n_nonzero": 40, "enough": 150, "decides": "pass"})
    assert "only 40 of 300 queries differ" in reason(found)
    assert decided(delta, 0.05).decision == "pass"


def test_a_constant_difference_is_left_to_the_betting_bounds() -> None:
    delta = np.full(2000, -0.125)
    found = decided(delta, 0.01)
    assert (found.decision, found.told.t_lower) == ("fail", None)
    assert (found.told.lower_method, found.told.upper_method) == ("betting", "betting")
    assert found.upper == betting_upper_bound(delta, level=0.99)
    assert reason(found).endswith("all of that is below 0")
    assert decided(-delta, 0.01).decision == "pass"


def test_differences_beyond_1_know_no_betting_bound() -> None:
    found = decided(np.repeat([3.0, -3.0, 0.0], [20, 20, 260]), 1.0)
    assert (found.decision, found.lower, found.ways.margin) == ("inconclusive", None, None)
    assert reason(found) == (
        "delta +0.0000; the data allow at most +0.148; PASS needs the lower end above -1; only 40 of 300 queries "
        "differ; to decide: about 1,220 queries like these (PASS)"
    )
    assert decided(np.array([-3.0]), 1.0).upper is None


def test_weights() -> None:
    rng = np.random.default_rng(3)
    delta, weights = rng.normal(0, 0.14, 3000).clip(-1, 1), rng.integers(0, 4, 3000).astype(np.float64)
    found, test = decided(delta, 0.02, weights=weights), weighted_t(delta, weights)
    assert (found.lower, found.delta, found.n) == (t_lower_bound(test), test.mean, test.n)
    low = decided(delta[:60], 0.02, weights=weights[:60])
    assert low.told.betting_lower == betting_lower_bound(delta[:60], weights[:60])


def test_fail_alpha_takes_the_place_of_one_percent() -> None:
    delta = shifted(-0.0155)
    assert decided(delta, 0.01).decision == "fail"
    later = decided(delta, 0.01, fail_alpha=look_level(5, 0.05))
    assert later.decision == "inconclusive"
    assert later.fail_alpha == look_level(5, 0.05)


@given(st.integers(1, 10**6), st.floats(1e-6, 0.49))
def test_the_share_of_a_decision_equals_its_formula(number: int, alpha: float) -> None:
    assert look_level(number, alpha) == pytest.approx(alpha * 6 / (math.pi**2 * number**2), rel=1e-12)


def test_the_budget_is_spent_but_not_overspent() -> None:
    shares = [look_level(number, 0.05) for number in range(1, 10_001)]
    assert shares == sorted(shares, reverse=True)
    assert 0.04999 < sum(shares) < 0.05


def test_set_scope_is_arithmetic() -> None:
    below = decided_set(np.array([0.49 - 0.50]), 0.01)
    assert below.decision == "pass"  # .01 below to the last digit written, and rounding does not decide
    assert reason(below) == "delta -0.0100 on this query; PASS needs it to be at least -0.01"
    found = decided_set(np.array([-0.5, 0.25]), 0.1)
    assert (found.decision, reason(found), found.delta, found.margin) == (
        "fail",
        "delta -0.1250 on these 2 queries; PASS needs it to be at least -0.1",
        -0.125,
        0.1,
    )
    assert (found.lower, found.upper, found.ways.n, found.scope) == (None, None, None, "set")
    assert reason(decided_set(np.array([-1e-9, 0.0]), 0.0)).endswith("PASS needs it to be at least 0")
    assert reason(decided_set(np.zeros(7), 0.0)) == "identical on all 7 queries"
    weighted = decided_set(np.array([-0.5, 0.25, -1.0]), 0.0, weights=np.array([1.0, 2.0, 0.0]))
    assert (weighted.decision, weighted.delta, weighted.n) == ("pass", 0.0, 2)
    assert decided_set(np.array([0.5, 0.5]), 0.0, mean=-0.1).decision == "fail"


@example([0.05, -0.05], 1e-168, Random(0))  # no secret; of such a margin the square is nothing
@given(DIFFERENCES, st.floats(0, 0.2), st.randoms(use_true_random=False))
def test_group_order_decides_nothing(differences: list[float], margin: float, random: Random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    one, other = (decided(np.array(d), margin) for d in (differences, shuffled))
    assert decided_set(np.array(shuffled), margin) == decided_set(np.array(differences), margin)
    near = min(abs((one.lower or 9.0) + margin), abs(one.upper or 9.0))
    assert one.decision == other.decision or near < 1e-9
    assert reason(one)
    assert json.loads(json.dumps(as_object(one), allow_nan=False))["decision"] == one.decision


@given(DIFFERENCES, st.floats(0, 0.2))
def test_swapping_the_runs_mirrors_the_bounds(differences: list[float], margin: float) -> None:
    delta = np.array(differences)
    there, back = (decided(sign * delta, margin, fail_alpha=0.05) for sign in (1, -1))
    assert there.delta == -(back.delta or 0.0)
    for one, other in ((there, back), (back, there)):
        assert one.told.t_lower == (
            None if other.told.t_upper is None else pytest.approx(-other.told.t_upper, abs=1e-12)
        )
        assert one.told.betting_lower == (None if other.told.betting_upper is None else -other.told.betting_upper)
    assert {there.decision, back.decision} != {"fail"}  # not both runs are worse than the other


@given(DIFFERENCES, st.floats(0.001, 0.2))
def test_a_wider_margin_never_hurts(differences: list[float], margin: float) -> None:
    ranks = {"fail": 0, "inconclusive": 1, "pass": 2}
    delta = np.array(differences)
    assert ranks[decided(delta, margin).decision] <= ranks[decided(delta, 2 * margin).decision]


@pytest.mark.parametrize("margin", [-0.01, math.nan, math.inf])
def test_margins_that_are_refused(margin: float) -> None:
    with pytest.raises(InputError) as refusal:
        decided(NOISE, margin)
    assert str(refusal.value) == (
        f"the margin must be a number 0 or more, not {margin}; give it in absolute points, such as 0.01"
    )
    with pytest.raises(InputError, match="the margin must be a number 0 or more"):
        decided_set(NOISE, margin)


def test_what_else_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the level of FAIL must lie between 0 and \.5, not at 0\.5"):
        decided(NOISE, 0.01, fail_alpha=0.5)
    for bad in (np.array([0.5, math.nan]), np.array([0.5, math.inf])):
        with pytest.raises(ValueError, match="NaN is refused"):
            decided(bad, 0.01)
        with pytest.raises(ValueError, match="the mean difference must be a finite number, not"):
            decided_set(bad, 0.01)
    with pytest.raises(ValueError, match="weights must be one number >= 0"):
        decided(NOISE, 0.01, weights=-np.ones(300))
    with pytest.raises(ValueError, match="the mean difference must be a finite number, not nan"):
        decided_set(NOISE, 0.01, mean=math.nan)
    with pytest.raises(InputError, match="a budget has 1 to 1,000,000,000 looks, not 0"):
        look_level(0, 0.05)
    with pytest.raises(InputError, match=r"a budget must lie between 0 and 0\.5, not at 1"):
        look_level(1, 1.0)


@pytest.mark.parametrize("n", [200, 1000] if LONG else [200])
def test_errors_on_the_graded_population(n: int, record_property: Record) -> None:
    samples, margin = repeats(10_000), 0.01
    differences = graded(np.random.default_rng(n), (samples, n))
    t = standard_errors(differences)
    may_fail, may_pass = t < -2, t > 1.4  # FAIL begins at -2.3, PASS at 1.65
    failed = sum(decided(delta, margin).decision == "fail" for delta in differences[may_fail])
    passed = sum(decided(delta - margin, margin).decision == "pass" for delta in differences[may_pass])
    assert all(decided(delta, margin).decision != "fail" for delta in differences[~may_fail][:100])
    assert all(decided(delta - margin, margin).decision != "pass" for delta in differences[~may_pass][:100])
    record_property("FAIL where nothing differs", float(failed / samples))
    record_property("PASS where the drop is the margin", float(passed / samples))
    assert failed / samples <= 0.014
    assert passed / samples <= 0.058


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("n", "mean", "samples", "naive", "small_p", "fails"),
    [(200, 0.0, 2000, (0.12, 0.19), (0.01, 0.04), 0.014), (7000, -0.005, 300, (0, 0.02), (0.8, 0.93), 0.13)],
)
def test_why_there_are_three_answers(
    n: int,
    mean: float,
    samples: int,
    naive: tuple[float, float],
    small_p: tuple[float, float],
    fails: float,
    record_property: Record,
) -> None:
    """The figures of docs/gate.md: what other rules make of a harmless change with a standard deviation of .138."""
    rng, samples, margin = np.random.default_rng(n), repeats(samples), 0.01
    counts = np.zeros(3)
    for _ in range(samples):
        delta = rng.normal(mean, 0.138, n)
        drop, p_value = delta.mean() < 0, paired_t(delta).p_value
        failed = bool(drop) and decided(delta, margin).decision == "fail"  # no other one can FAIL
        counts += [delta.mean() < -margin, p_value is not None and p_value < 0.05 and drop, failed]
    rates = counts / samples
    for name, rate in zip(("delta below -margin", "p below .05 and a drop", "FAIL"), rates.tolist(), strict=True):
        record_property(name, float(rate))
    assert naive[0] <= rates[0] <= naive[1]
    assert small_p[0] <= rates[1] <= small_p[1]
    assert rates[2] <= fails


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sparse", "asymmetric", "skewed"])
def test_false_passes_where_information_is_low(name: str, record_property: Record) -> None:
    """The drop is the margin itself; where t would PASS far too often the betting bound does not."""
    samples, n, margin = repeats(1000), 250, 0.0125
    differences = ALL[name](np.random.default_rng(5), (samples, n)) - margin
    passed = sum(decided(delta, margin).decision == "pass" for delta in differences)
    record_property("PASS where the drop is the margin", float(passed / samples))
    assert passed / samples <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / samples)


def test_with_low_information_fail_needs_the_betting_bound_too() -> None:
    delta = np.repeat([-0.25, 0.125, 0.0], [24, 8, 268])
    found = decided(delta, 0.0)
    assert found.told.t_upper is not None
    assert found.told.t_upper < 0
    assert found.told.betting_upper == found.upper == betting_upper_bound(delta, level=0.99)
    assert (found.decision, found.told.upper_method) == ("inconclusive", "betting")
    why = reason(found).partition("; to decide: ")[0]
    assert why == (
        "delta -0.0167; the data allow -0.028 to +0.0029; PASS needs the lower end above 0; "
        "only 32 of 300 queries differ"
    )
    assert (found.ways.n, found.ways.word) == (426, "fail")
    assert to_decide(found).startswith("about 430 queries like these (FAIL), or a margin above ")
    assert reason(found) == f"{why}; to decide: {to_decide(found)}"
    clear = np.repeat([-0.5, 0.0], [80, 20])
    both = decided(clear, 0.0)
    assert (both.decision, both.told.upper_method, both.upper) == (
        "fail",
        "betting",
        betting_upper_bound(clear, level=0.99),
    )
    assert reason(both).endswith(
        "the data allow -0.444 to -0.320; PASS needs the lower end above 0; all of that is below 0"
    )


def test_a_small_drop_is_real_where_both_bounds_say_so() -> None:
    delta = np.repeat([-0.25, 0.125, 0.0], [24, 8, 268])
    found = decided(delta, 0.2)
    assert (found.decision, found.is_small_drop) == ("pass", False)
    assert decided(np.repeat([-0.5, 0.0], [80, 20]), 0.9).is_small_drop


def test_differences_beyond_1_do_not_fail_where_information_is_low() -> None:
    found = decided(np.repeat([-3.0, -1.0, 0.0], [20, 20, 60]), 0.5)
    assert found.told.t_upper is not None
    assert found.told.t_upper < 0
    assert (found.decision, found.upper, found.told.upper_method) == ("inconclusive", None, None)
    assert reason(found) == (
        "delta -0.8000; PASS needs the lower end above -0.5; only 40 of 100 queries differ; to decide: about 610 "
        "queries like these (FAIL)"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["asymmetric", "skewed"])
def test_false_fails_where_information_is_low(name: str, record_property: Record) -> None:
    """Nothing differs on average; where t alone would FAIL three to five times too often the gate does not."""
    samples, n = repeats(1000), 250
    differences = -ALL[name](np.random.default_rng(6), (samples, n))
    bounds = [t_upper_bound(paired_t(delta), level=0.99) for delta in differences]
    failed_by_t = sum(bound is not None and bound < 0 for bound in bounds)
    failed = sum(decided(delta, 0.0).decision == "fail" for delta in differences)
    record_property("FAIL by the t bound alone", float(failed_by_t / samples))
    record_property("FAIL", float(failed / samples))
    assert failed_by_t / samples > 0.02
    assert failed / samples <= 0.01


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(-0.5, 0.5), st.sampled_from([0.0, 0.01, 0.3]))
def test_a_decision_that_is_not_moved_stays(delta: list[float], by: float, margin: float) -> None:
    numbers = np.array(delta)
    for decision in (decided(numbers, margin), decided_set(numbers, margin)):
        assert decision.moved(0.0) == decision.decision
        order = ["fail", "inconclusive", "pass"]
        assert (order.index(decision.moved(by)) - order.index(decision.decision)) * by >= 0


def test_no_bound_lies_where_no_difference_can() -> None:
    delta = np.array([1.0, -0.9])
    free, limited = decided(delta, 0.01), decided(delta, 0.01, limits=(-1.0, 1.0))
    assert free.told.t_lower is not None
    assert free.told.t_lower < -1
    assert (limited.told.t_lower, limited.told.t_upper, limited.upper) == (-1.0, 1.0, 1.0)
    assert (limited.decision, limited.delta) == (free.decision, free.delta)


def test_a_cause_is_the_true_one() -> None:
    """From 150 to 229 nonzero differences t decides PASS and betting FAIL: not because differences are the same."""
    rng = np.random.default_rng(4)
    for mean in (-0.003, -0.1):
        found = decided(rng.normal(mean, 0.05, 200), 0.005)
        assert (found.told.lower_method, found.told.upper_method) == ("t", "betting")
        assert (found.why, "differ" in reason(found)) == (None, False)


def test_what_unjudged_items_leave_open_is_a_difference() -> None:
    ends = {end: decided(np.full(40, mean), 0.01) for end, mean in (("low", -0.25), ("high", 0.5))}
    both = [
        replace(decided(np.zeros(40), 0.01), others=ends, direction=which).open_delta for which in ("higher", "lower")
    ]
    assert both == [(-0.25, 0.5), (-0.5, 0.25)]
