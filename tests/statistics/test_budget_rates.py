"""How often any of 40 candidates gets a false PASS or FAIL: at most as often as the budget says, 5%.

``docs/verdicts.md`` has the table.
"""

import numpy as np
import pytest
from budgets import (
    BUDGET,
    CANDIDATES,
    FAR,
    GOALS,
    LEVEL,
    POPULATIONS,
    SIZES,
    RareLosses,
    any_false,
    lognormal_losses,
)
from populations import Null, Record, repeats
from rates import BEFORE, MARGIN, Columns, drawn, passes

WORLDS = repeats(60)


def above(rate: float) -> float:
    """Return how far a measured rate may lie above a true one."""
    return rate + 3.3 * (rate * (1 - rate) / WORLDS) ** 0.5 + 2 / WORLDS


@pytest.mark.nightly(but=4)
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


@pytest.mark.parametrize(("n", "before"), [(350, 0.030), (500, 0.0066)])
def test_far_levels_hold_where_1_percent_lose_much(n: int, before: float, record_property: Record) -> None:
    """By half of the information, the rule until then, t decided there, and a sample often lacks these losses."""
    for sd in (1e-9, 0.05):
        found = RareLosses(0.01, sd).passed(n, FAR, 100)
        record_property(f"PASS, sd {sd}", found)
        assert all(rate <= alpha for rate, alpha in zip(found, FAR, strict=True))
    assert RareLosses(0.01, 1e-9).passed(n, FAR, 100, BEFORE)[0] == pytest.approx(before, abs=0.0005)


@pytest.mark.nightly
@pytest.mark.parametrize("n", [350, 500, 700, 1000, 5000])
@pytest.mark.parametrize("sd", [1e-9, 0.05, 0.14])
@pytest.mark.parametrize("share", [0.01, 0.02])
def test_far_levels_hold_where_few_lose_much(share: float, sd: float, n: int, record_property: Record) -> None:
    """The highest is .0016 in place of .00125: 1% losses, sd .14, 1,000 groups, where t trusts those with few."""
    samples = min(2000, 1_000_000 // n)
    found = RareLosses(share, sd).passed(n, FAR, samples)
    record_property("PASS", found)
    for rate, alpha in zip(found, FAR, strict=True):
        assert rate <= 1.3 * alpha + 3.3 * (0.15 * alpha / samples) ** 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("n", [1000, 5000])
def test_far_levels_hold_of_lognormal_losses(n: int, record_property: Record) -> None:
    samples, counts = repeats(600), np.zeros(2)
    for rows in drawn(Null(lognormal_losses), n, samples, -MARGIN):
        columns = Columns.of(rows)
        counts += [passes(rows, MARGIN, columns=columns, alpha=alpha).sum() for alpha in FAR]
    record_property("PASS", list(counts / samples))
    for alpha, count in zip(FAR, counts, strict=True):
        assert count / samples <= alpha + 3.3 * (alpha / samples) ** 0.5
