"""What the warning of low information promises: where it is not given, a two-sided t-test errs in 7.5% at most.

The populations have mean 0, so every verdict is an error, on either side: a population and its mirror image err alike.
"""

import numpy as np
import pytest
from populations import ALL, Record, repeats
from scipy.stats import t as student

from ndcg_tracker.statistics.t_test import Information

BATCH = 2_000
SAMPLES = repeats(10_000)
MOST = 0.075
SIZES = (25, 35, 50, 100, 200, 500, 1000)


def error_rate(name: str, n: int, record: Record) -> float | None:
    """Return the share of verdicts among samples that are not flagged; None where fewer than 1 in 50 is not."""
    rng, n_unflagged, n_wrong = np.random.default_rng(n), 0, 0
    for _ in range(SAMPLES // BATCH):
        delta = ALL[name](rng, (BATCH, n))
        sd = delta.std(axis=1, ddof=1)
        t = np.divide(np.abs(delta.mean(axis=1)) * n**0.5, sd, out=np.zeros(BATCH), where=sd > 1e-12)
        n_nonzero = np.count_nonzero(delta, axis=1)
        unflagged = np.array([not Information(n, int(count), 0.0).is_low for count in n_nonzero])
        n_unflagged += int(unflagged.sum())
        n_wrong += int((unflagged & (t > student.ppf(0.975, n - 1))).sum())
    record(f"unflagged, {name}, n = {n}", n_unflagged / SAMPLES)
    if n_unflagged < SAMPLES / 50:
        return None
    record(f"verdicts, {name}, n = {n}", n_wrong / n_unflagged)
    return n_wrong / n_unflagged


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("name", ["normal", "graded", "sparse", "skewed"])
def test_verdicts_without_a_warning_hold(name: str, record_property: Record) -> None:
    rates = [error_rate(name, n, record_property) for n in SIZES]
    assert max(rate for rate in rates if rate is not None) <= MOST


def test_the_price_of_a_rule_that_counts_only(record_property: Record) -> None:
    """Rare losses ten times the size of the gains: no number of differences tells, and 150 are needed."""
    assert 0.1 < (error_rate("asymmetric", 100, record_property) or 0.0) < 0.13
    assert MOST < (error_rate("asymmetric", 200, record_property) or 0.0) < 0.1
    assert (error_rate("asymmetric", 500, record_property) or 1.0) <= MOST
    assert (error_rate("asymmetric", 1000, record_property) or 1.0) <= MOST
