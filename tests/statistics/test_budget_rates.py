"""How often any of 40 candidates gets a false PASS or FAIL: at most as often as the budget says, 5%.

``docs/verdicts.md`` has the table.
"""

import pytest
from budgets import BUDGET, CANDIDATES, GOALS, LEVEL, POPULATIONS, SIZES, any_false
from populations import Record, repeats

WORLDS = repeats(60)


def above(rate: float) -> float:
    """Return how far a measured rate may lie above a true one."""
    return rate + 3.3 * (rate * (1 - rate) / WORLDS) ** 0.5 + 2 / WORLDS


@pytest.mark.parametrize("shared", [0.0, 0.7], ids=["independent", "sharing groups"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", GOALS)
def test_any_false_verdict_is_as_rare_as_the_budget_says(
    name: str, n: int, shared: float, record_property: Record
) -> None:
    found = any_false(POPULATIONS[name], n, WORLDS, shared=shared)
    record_property("any false verdict", vars(found))
    assert found.passed <= above(BUDGET)
    assert found.failed <= above(BUDGET)


@pytest.mark.parametrize(("n", "by_t", "without"), [(150, 0.87, 0.87), (200, 0.71, 0.50)])
def test_without_a_budget_some_candidate_passes(n: int, by_t: float, without: float, record_property: Record) -> None:
    """The harness can fail: by t alone at the level of a look, and at 5% each."""
    found = any_false(POPULATIONS["2% losses"], n, 2 * WORLDS)
    record_property("any false PASS", vars(found))
    band = 3.3 * (0.25 / (2 * WORLDS)) ** 0.5
    assert found.by_t == pytest.approx(by_t, abs=band)
    assert found.without == pytest.approx(without, abs=band)
    assert any_false(POPULATIONS["normal"], n, WORLDS).without > 0.2


def test_the_level_of_a_look() -> None:
    assert pytest.approx(BUDGET / CANDIDATES) == LEVEL
