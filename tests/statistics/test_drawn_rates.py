"""How often a verdict under a judge that people checked is wrong, and how often its interval holds the true difference.

The night measures the whole grid in 2,000 worlds a cell, ``docs/verdicts.md`` has the table; a cell beyond a limit is
measured again in 10,000. The suite measures six cells in 150. Cells with few informative labels, whose verdicts are
marked, have no limits.
"""

import judged_scenarios as scenarios
import numpy as np
import pytest
from judged_rates import (
    BIASED,
    JUDGES,
    KINDS,
    SIZES,
    UNBIASED,
    Cell,
    Judge,
    Kind,
    ManyTests,
    Observed,
    cells,
    population,
)
from populations import LONG, Record

from ndcg_tracker.statistics.t_test import paired_t, t_lower_bound, t_upper_bound

WORLDS = 2000 if LONG else 150
LIMITS = {"false": 0.07, "false PASS": 0.06, "false FAIL": 0.02}
"""Of any cell: the interval holds the truth in .93, so that verdicts other than it are .07 at most."""
FALSE_ON_AVERAGE = 0.06
IN_SUITE: dict[str, tuple[Judge, Kind, int, int]] = {
    "no bias": (UNBIASED, "equal", 600, 400),
    "biased": (BIASED, "equal in dcg", 600, 400),
    "few groups": (BIASED, "equal", 100, 400),
    "many labels": (BIASED, "equal in ndcg", 600, 800),
    "noisy": (JUDGES[3], "equal", 600, 100),
    "worse": (BIASED, "different", 600, 800),
}


def recorded(cell: Cell, name: str, record_property: Record) -> Cell:
    """Record the rates of a cell; assert that its estimates lie around the truth."""
    rates: dict[str, object] = {
        "informative labels": cell.informative,
        "coverage": cell.coverage,
        "differ": cell.verdicts,
        "false by the judge": cell.false_by_judge,
        "false by people": cell.false_by_people,
        "false PASS": cell.false_pass,
        "false FAIL": cell.false_fail,
        "widths": (cell.judge.width, cell.people.width, cell.corrected.width),
        "did the work of": cell.work,
        "bias": cell.bias,
    }
    for rate, found in rates.items():
        record_property(f"{name}: {rate}", found)
    assert abs(cell.bias_in_errors) < 4.5, name
    return cell


def beyond(cell: Cell, *, by_chance: bool = False) -> list[str]:
    """Return which limits a cell is beyond; ``by_chance``: by more than chance does in one of 1,000."""
    rates = {"false": cell.false, "false PASS": cell.false_pass, "false FAIL": cell.false_fail}
    found = []
    for name, limit in LIMITS.items():
        rate, band = rates[name], 3.1 * (limit * (1 - limit) / cell.n_drawn.size) ** 0.5
        if rate is not None and not cell.is_low and rate > limit + band * by_chance:
            found.append(f"{name}: {rate:.4f}")
    return found


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", IN_SUITE)
def test_the_interval_holds_the_true_difference_whatever_the_judge(name: str, record_property: Record) -> None:
    judge, kind, n, budget = IN_SUITE[name]
    (cell,) = cells(judge, kind, n, 150, [budget])
    assert not beyond(recorded(cell, name, record_property), by_chance=True)
    assert not cell.is_low
    if judge.bias >= 0.8:  # the harness can fail
        assert cell.false_by_judge > 0.9


@pytest.mark.nightly
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_the_whole_grid(judge: Judge, n: int, record_property: Record) -> None:
    assert population(judge, "equal in ndcg").agreement == pytest.approx(judge.agreement, abs=0.01)
    found = {(kind, cell.budget): cell for kind in KINDS for cell in cells(judge, kind, n, WORLDS)}
    for (kind, budget), cell in found.items():
        if beyond(recorded(cell, f"{kind}, {budget} labels", record_property)):
            (again,) = cells(judge, kind, n, 10_000, [budget], again=True)
            assert not beyond(recorded(again, f"{kind}, {budget} labels, again", record_property))
    false = [cell.false for cell in found.values() if not cell.is_low]
    assert not false or np.mean(false) <= FALSE_ON_AVERAGE


def test_equal_systems_are_equal() -> None:
    assert population(BIASED, "equal").truth == pytest.approx(0, abs=1e-4)
    assert population(BIASED, "equal in dcg").truth == pytest.approx(0, abs=1e-12)
    in_ndcg = population(BIASED, "equal in ndcg")
    assert in_ndcg.delta_in_ndcg == pytest.approx(0, abs=1e-12)
    assert -0.006 < in_ndcg.truth < -0.002  # what the judge's ideal moves


def test_tests_of_many_worlds_are_those_of_each() -> None:
    of, rng = population(BIASED, "equal"), np.random.default_rng(1)
    labels = [of.world(of.rows(rng, 100)).drawn(rng, 200) for _ in range(20)]
    tests = [paired_t(one.corrected_deltas()) for one in labels]
    many, bound = ManyTests.of(tests), 0.01
    assert many.refute(0.0).tolist() == [(test.p_value or 1) < 0.05 for test in tests]
    assert many.lie_above(-bound, 0.05).tolist() == [(t_lower_bound(test) or 0) > -bound for test in tests]
    assert many.lie_below(bound, 0.01).tolist() == [(t_upper_bound(test, level=0.99) or 0) < bound for test in tests]
    assert many.width == pytest.approx(np.mean([high - low for low, high in (test.ci or (0, 0) for test in tests)]))
    seen = Observed.of(labels[0])
    assert (seen.judge, seen.corrected) == (paired_t(labels[0].judged_deltas()), tests[0])
    assert (seen.n_drawn, seen.n_informative) == (labels[0].rows.size, labels[0].informative.sum())


BOTH = pytest.mark.parametrize("judge", [BIASED, UNBIASED], ids=lambda judge: judge.name)


@pytest.mark.nightly(but=2)
@BOTH
def test_a_second_candidate_may_use_the_items_of_both_designs(judge: Judge, record_property: Record) -> None:
    alone, united = scenarios.second_candidate(judge, 600, 400, WORLDS)
    for name, cell in (("its own design", alone), ("both designs", united)):
        assert not beyond(recorded(cell, name, record_property), by_chance=True)
    assert united.corrected.width < alone.corrected.width
    assert united.informative > alone.informative


@pytest.mark.nightly(but=4)
@BOTH
@pytest.mark.parametrize("k", [5, 20])
def test_looks_that_share_alpha_err_as_often_as_one(judge: Judge, k: int, record_property: Record) -> None:
    found = scenarios.looks(judge, 600, 800, WORLDS, k)
    record_property("looks", vars(found))
    assert found.shared <= 0.05 + 3.1 * (0.05 * 0.95 / WORLDS) ** 0.5
    assert found.each > 0.09  # the harness can fail


@pytest.mark.nightly(but=2)
@BOTH
def test_groups_of_one_user_are_no_more_than_one_by_clusters(judge: Judge, record_property: Record) -> None:
    by_clusters, by_groups = scenarios.users(judge, 600, 800, WORLDS)
    assert not beyond(recorded(by_clusters, "by clusters", record_property), by_chance=True)
    record_property("by groups: coverage", by_groups.coverage)
    assert by_groups.coverage < by_clusters.coverage


@pytest.mark.nightly(but=4)
@BOTH
@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_a_run_tuned_on_the_answers_needs_fresh_numbers(judge: Judge, strength: float, record_property: Record) -> None:
    same, fresh = scenarios.tuned(judge, 600, 800, WORLDS, strength)
    assert not beyond(recorded(fresh, "fresh numbers", record_property), by_chance=True)
    record_property("the same numbers: coverage", same.coverage)
    record_property("the same numbers: bias", same.bias)
    assert same.coverage < 0.85
    assert same.bias > 0.01


@pytest.mark.nightly
@BOTH
def test_the_best_of_many_by_the_first_answers_needs_fresh_numbers_too(judge: Judge, record_property: Record) -> None:
    same, in_these, fresh = scenarios.best_of_many(judge, 600, 800, WORLDS // 2)
    for name, cell in (("the same numbers", same), ("in these groups", in_these), ("fresh numbers", fresh)):
        record_property(f"{name}: coverage, bias, false PASS", (cell.coverage, cell.bias, cell.false_pass))
    assert fresh.coverage >= 0.93
    assert same.coverage < 0.93 <= in_these.coverage
    assert abs(fresh.bias) < same.bias
