"""What the warning of low information promises, and what it cannot: how often ``compare`` errs without it.

The populations have mean 0, so every verdict is an error, on either side: a population and its mirror image err alike.
Rates are shares of all samples, flagged ones too.
"""

import numpy as np
import pytest
from populations import NOISE, RATED, Record, repeats
from rates import PLAIN, Columns, Variant, Verdicts, drawn, verdicts

from ndcg_tracker.statistics.t_test import information_in, paired_t

SAMPLES = repeats(2000)
MOST = 0.06
NOISY = Variant(noise=NOISE)
SIZES = (20, 35, 50, 100, 150, 200, 300, 500, 1000)
RARE_IN_1_PERCENT = "a loss of .97 in 1%"


def above(rate: float) -> float:
    """Return how far a measured rate may lie above a true one."""
    return rate + 3.3 * (rate * (1 - rate) / SAMPLES) ** 0.5


def measured(name: str, n: int, of: Variant, record: Record) -> Verdicts:
    found = verdicts(RATED[name], n, SAMPLES, of)
    which = f"n = {n}" + (", noisy" if of.noise else "")
    for what in ("wrong", "by_count", "few", "skewed"):
        record(f"{what}, {which}", getattr(found, what))
    return found


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", RATED)
def test_the_columns_say_what_the_comparison_does(name: str) -> None:
    for n, of in ((20, PLAIN), (60, NOISY), (200, PLAIN), (500, NOISY)):
        for rows in drawn(RATED[name], n, 20, 0.0, of):
            columns = Columns.of(rows)
            found = columns.t_refutes(0.0, 0.025) | columns.mirrored.t_refutes(0.0, 0.025)
            for row, is_found, few, low in zip(rows, found, columns.are_few, columns.is_low, strict=True):
                p_value, information = paired_t(row).p_value, information_in(row)
                assert (p_value is not None and p_value < 0.05) == is_found
                assert (information.are_few, information.is_low) == (few, low)


@pytest.mark.nightly(but=5)
@pytest.mark.parametrize("name", [name for name in RATED if name != RARE_IN_1_PERCENT])
def test_verdicts_without_a_warning_hold_from_150_groups_on(name: str, record_property: Record) -> None:
    for n in SIZES:
        for of in (PLAIN, NOISY):
            found = measured(name, n, of, record_property)
            if n >= 150 or n == 20:  # of 20 groups all are flagged, or none differs
                assert found.wrong <= above(MOST), (n, of)


@pytest.mark.parametrize(
    ("name", "n", "wrong", "by_count"),
    [
        ("a loss of .49 in 2%", 150, 0.06, 0.12),
        ("a loss of .49 in 2%, sd .02", 200, 0.03, 0.08),
        ("90% zeros, gains of .1 in 8%, losses of .4 in 2%", 100, 0.025, 0.12),
        ("67% zeros, gains of .05 in 30%, losses of .5 in 3%", 100, 0.06, 0.095),
    ],
)
def test_the_count_alone_does_not_find_what_skewness_does(
    name: str, n: int, wrong: float, by_count: float, record_property: Record
) -> None:
    found = measured(name, n, NOISY, record_property)
    assert found.wrong <= wrong
    assert found.by_count >= by_count


@pytest.mark.parametrize(
    ("name", "n", "rate"),
    [
        ("a loss of .49 in 2%", 35, 0.493),
        ("a loss of .49 in 2%", 50, 0.363),
        ("a loss of .49 in 2%", 100, 0.135),
        ("a loss of .3 in 5%", 35, 0.17),
        (RARE_IN_1_PERCENT, 100, 0.367),
        (RARE_IN_1_PERCENT, 200, 0.136),
    ],
)
def test_nothing_in_a_sample_tells_of_losses_that_it_lacks(
    name: str, n: int, rate: float, record_property: Record
) -> None:
    """No flag can: the samples without one are those of another population. A bound on their share can."""
    for of in (PLAIN, NOISY):
        assert measured(name, n, of, record_property).wrong == pytest.approx(rate, abs=0.035)


def test_ties_hide_errors(record_property: Record) -> None:
    """A sample of one value has no p-value, and so no error, until noise that nobody sees parts its values."""
    name = "a loss of .49 in 2%, all others tied"
    tied, noisy = (measured(name, 50, of, record_property) for of in (PLAIN, NOISY))
    assert tied.wrong <= 0.001
    assert noisy.wrong > 0.3


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("normal", 0.001),
        ("graded, half of them 0", 0.001),
        ("TREC-COVID, pmc to pubmed", 0.001),
        ("lambdarank, regression", 0.08),
        ("Student t, 3 degrees of freedom", 0.19),
        ("lambdarank, seed", 0.26),
    ],
)
def test_common_differences_are_flagged_seldom(name: str, most: float, record_property: Record) -> None:
    for n in (50, 100, 200):
        assert measured(name, n, PLAIN, record_property).skewed <= most
    assert measured(name, 1000, PLAIN, record_property).skewed <= 0.001


def test_an_array_of_clear_ties_is_known_as_such() -> None:
    columns = Columns.of(np.full((1, 9), 0.1))
    assert not columns.varies[0]
