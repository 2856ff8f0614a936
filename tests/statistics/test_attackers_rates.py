"""Authors who adapt to what a gate tells them: past a seal they get as seldom as it says, past an open gate always.

``python tests/rate_tables.py sealed`` prints every cell.
"""

import numpy as np
import pytest
from attackers import AUTHORS, BUDGET, LOOKS, SIZES, SPREADS, any_false_pass
from populations import RATED, Record, repeats
from rates import MARGIN, passes

from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.questions.gate.decide import Levels, bounds
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.statistics.distribution_free import content_generator

WORLDS = repeats(100)
CELLS = [(0.05, 500, 50), (0.14, 150, 50), (0.14, 2000, 10), (0.3, 500, 200)]


def above(rate: float, worlds: int = WORLDS) -> float:
    """Return how far a measured rate may lie above a true one."""
    return rate + 3.3 * (rate * (1 - rate) / worlds) ** 0.5


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("equally", [True, False], ids=["a number of looks", "looks without end"])
@pytest.mark.parametrize(("sd", "n", "looks"), CELLS)
@pytest.mark.parametrize("author", AUTHORS)
def test_no_author_gets_past_a_seal(
    author: str, sd: float, n: int, looks: int, equally: bool, record_property: Record
) -> None:
    found = any_false_pass(author, sd, n, looks, WORLDS, is_open=False, shares_equally=equally)
    record_property("any false PASS", found)
    assert found <= above(BUDGET)


@pytest.mark.parametrize(("sd", "n", "looks"), [(0.14, 150, 50), (0.05, 500, 50)])
@pytest.mark.parametrize("author", AUTHORS)
def test_every_author_gets_past_an_open_gate(
    author: str, sd: float, n: int, looks: int, record_property: Record
) -> None:
    found = any_false_pass(author, sd, n, looks, WORLDS, is_open=True)
    record_property("any false PASS", found)
    assert found > 0.9


@pytest.mark.nightly
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("author", AUTHORS)
def test_the_whole_grid(author: str, n: int, record_property: Record) -> None:
    for sd in SPREADS:
        for looks in LOOKS:
            found = any_false_pass(author, sd, n, looks, WORLDS, is_open=False)
            record_property(f"sd {sd}, {looks} looks", found)
            assert found <= above(BUDGET), (sd, looks)


def test_the_columns_decide_as_the_bounds_do() -> None:
    """At levels of sealed looks, which are far, and at sizes where t decides and where betting bounds do."""
    for name, n in (("normal", 150), ("normal", 900), ("exponential losses", 600)):
        rows = RATED[name].samples(np.random.default_rng(n), (12, n), mean=0.02).clip(-1, 1)
        ordered = np.sort(rows, axis=1)
        for row in ordered:
            content_generator(row).shuffle(row)
        for level in (look_level(1, BUDGET, 10, 0), look_level(5, BUDGET, 50, 1)):
            found = passes(ordered, MARGIN, alpha=level)
            for row, is_pass in zip(rows, found, strict=True):
                found_lower = bounds(Sample(row, limits=(-1.0, 1.0)), Levels(1 - level, level)).lower
                assert (found_lower is not None and found_lower > -MARGIN) == is_pass
