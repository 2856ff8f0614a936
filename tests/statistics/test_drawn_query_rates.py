"""How often the bounds of drawn queries miss the truth, and how often a gate decides with them.

The night measures every world of ``docs/verdicts.md`` in 2,000 samples; a cell beyond a limit is measured again in
10,000. The suite measures some cells in 300.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from drawn_rates import (
    Cell,
    Of,
    Rates,
    best_of_twenty,
    clustered,
    decisions,
    families,
    looks,
    rates,
    slices,
    table_rows,
    without_some,
    worlds,
)
from drawn_worlds import JUDGES, Facts, candidates, under_a_judge, with_holes
from populations import Record

WORLDS = 300
LOWER, UPPER, HIGHEST = 0.05, 0.02, 0.08
"""What is promised: of both bounds the mean rate over the worlds, and of the lower one the rate in each world."""


def by_chance(limit: float, n: int) -> float:
    """Return the rate that a true rate of the limit exceeds in one of 1,000 counts."""
    return limit + 3.1 * (limit * (1 - limit) / n) ** 0.5


def blank_there(kind: str, share: float) -> Facts:
    """Return near copies, of which the candidate loses all in a few queries, where the judge finds nothing."""
    return under_a_judge(kind, "alike").harmed(share, blank=True).facts()


BY_DAY: dict[str, Callable[[], Rates]] = {
    "a judge for the candidate": lambda: rates(under_a_judge("for B").facts(), 300, 50, WORLDS),
    "a judge that misses": lambda: rates(under_a_judge("misses").facts("R"), 150, 30, WORLDS),
    "a binary judge, gains of 2^grade": lambda: rates(
        under_a_judge("binary", exponential=True).facts(), 300, 50, WORLDS
    ),
    "holes": lambda: rates(with_holes("heavy").facts("R"), 300, 100, WORLDS),
    "two nights": lambda: rates(with_holes("two nights").facts(), 60, 30, WORLDS),
    "few lose all": lambda: rates(blank_there("strict", 0.08), 300, 50, WORLDS),
    "few lose all, holes": lambda: rates(with_holes("two nights").harmed(0.04).facts(), 300, 50, WORLDS),
    "left out": lambda: without_some(blank_there("symmetric", 0.08), 300, 114, WORLDS, "in which B loses most"),
    "looks": lambda: looks(blank_there("strict", 0.08), 150, WORLDS),
    "candidates": lambda: families(
        [of.harmed(0.08, blank=True, seed=place).facts() for place, of in enumerate(candidates("strict", 5, "alike"))],
        300,
        50,
        WORLDS,
    ),
    "slices": lambda: slices(under_a_judge("unfair to A", "light").facts(), 8, 150, 30, WORLDS // 3),
    "clusters": lambda: clustered(under_a_judge("symmetric", sizes="1 or 20").facts(), 300, 50, WORLDS),
}


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("name", BY_DAY)
def test_bounds_miss_the_truth_as_seldom_as_promised(name: str, record_property: Record) -> None:
    found = BY_DAY[name]()
    record_property(f"{name}: lower, upper", (found.lower, found.upper))
    assert found.lower <= by_chance(HIGHEST, WORLDS)
    assert found.upper <= by_chance(UPPER, WORLDS)
    assert found.decided == 1


@pytest.mark.nightly
@pytest.mark.parametrize("of", ["judges", "holes"])
def test_the_whole_table(of: Of, record_property: Record) -> None:
    for name, cells, is_promised in table_rows(of, 2000):
        deciding = [cell.rates for cell in cells if cell.rates.decided >= 0.5]
        means = [float(np.mean([getattr(found, bound) for found in deciding])) for bound in ("lower", "upper")]
        record_property(f"{name}: mean of lower and upper", means)
        record_property(f"{name}: highest of lower", max(cell.rates.lower for cell in cells))
        if is_promised:
            assert means[0] <= LOWER, name
            assert means[1] <= UPPER, name
            beyond = [cell.name for cell in cells if cell.rates.lower > HIGHEST and _again(cell) > HIGHEST]
            assert beyond == [], name


def _again(cell: Cell) -> float:
    return cell.measure(10_000).lower


def test_without_the_stakes_rare_losses_are_missed() -> None:
    """What the harness must be able to find."""
    facts = blank_there("symmetric", 0.04)
    without = replace(facts, costs=np.zeros_like(facts.costs))
    assert rates(without, 300, 30, WORLDS).lower > by_chance(HIGHEST, WORLDS)
    assert rates(facts, 300, 30, WORLDS).lower <= by_chance(LOWER, WORLDS)


def test_undeclared_clusters_are_missed() -> None:
    facts = under_a_judge("symmetric", sizes="1 or 20").facts()
    assert clustered(facts, 300, 50, WORLDS, declared=False).lower > by_chance(HIGHEST, WORLDS)


@pytest.mark.nightly
def test_queries_that_the_choice_of_a_run_knew_flatter_it() -> None:
    known, fresh = (
        np.mean([cell.rates.lower for cell in best_of_twenty(400, fresh=fresh) if cell.n_queries == 150])
        for fresh in (False, True)
    )
    assert fresh < 0.03 < known


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("kind", JUDGES)
def test_no_judge_turns_the_estimate(kind: str) -> None:
    facts = under_a_judge(kind).facts()
    found = rates(facts, 300, 50, WORLDS)
    assert abs(found.bias) < 0.15 * found.width
    if kind in ("for B", "unfair to A"):  # by the judge alone they say the opposite
        assert facts.truth < -0.05 < 0.05 < facts.control.mean()


PASSES = {  # PASS at a margin of .02 by the number of answers, 150 / 300 queries
    ("two nights", 100): (0.62, 0.71),
    ("two nights, less alike", 100): (0.12, 0.12),
    ("finder", 100): (0.15, 0.16),
    ("two nights", 200): (0.87, 0.93),
    ("two nights", 400): (0.86, 1.00),
    ("two nights, less alike", 200): (0.24, 0.30),
    ("two nights, less alike", 400): (0.37, 0.50),
    ("newcomer", 200): (0.68, 0.81),
    ("newcomer", 400): (0.78, 0.91),
    ("semantic", 200): (0.38, 0.39),
    ("semantic", 400): (0.59, 0.63),
    ("finder", 200): (1.00, 1.00),
}


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "budget"), PASSES)
def test_a_gate_passes_as_often_as_the_docs_say(name: str, budget: int, record_property: Record) -> None:
    facts = with_holes(name).facts()
    for n_queries, wanted in zip((150, 300), PASSES[name, budget], strict=True):
        found = decisions(facts, n_queries, budget, 600)
        record_property(f"{name}, {budget} of {n_queries}", vars(found))
        assert found.passed == pytest.approx(wanted, abs=0.07)
        if facts.truth > -0.02:
            assert found.failed <= by_chance(0.01, 600)


def test_two_nights_of_one_system_pass_with_a_hundred_answers_and_fifty_are_too_few() -> None:
    facts = with_holes("two nights").facts()
    assert facts.truth == pytest.approx(0.004, abs=0.003)
    assert decisions(facts, 150, 100, WORLDS).passed >= 0.55
    assert decisions(facts, 150, 200, WORLDS).passed >= 0.8
    assert decisions(facts, 150, 50, WORLDS).too_few > 0.8


def test_worlds_are_samples_whose_open_queries_are_in_random_order() -> None:
    facts = with_holes("two nights").facts()
    for world in worlds(facts, 150, 5):
        assert len(set(world.queries.tolist())) == 150
        assert sorted(world.order) == sorted(q for q in world.queries if not facts.known[q])
    assert facts.known.mean() == pytest.approx(0.14, abs=0.01)
