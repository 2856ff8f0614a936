"""The Wilcoxon test is there, and known to be wrong about means: the harness can fail."""

import math

import numpy as np
import pytest
import scipy.stats
from populations import Record, asymmetric, repeats

from ndcg_tracker.statistics.distribution_free import wilcoxon_p_value
from ndcg_tracker.statistics.t_test import paired_t


def test_rounding_makes_no_ranks() -> None:
    delta = np.array([0.1 + 0.2, -0.3, 0.3, 0.4 - 0.1, 0.0, 0.7])
    assert wilcoxon_p_value(delta) == wilcoxon_p_value(np.array([0.3, -0.3, 0.3, 0.3, 0.0, 0.7]))


def test_without_inference_and_never_zero() -> None:
    for nothing in ([], [0.5], [0.0, 0.0]):
        assert wilcoxon_p_value(np.array(nothing)) is None
    p_value = wilcoxon_p_value(np.full(20_000, 0.25))
    assert p_value is not None
    assert p_value > 0
    with pytest.raises(ValueError, match="NaN is refused"):
        wilcoxon_p_value(np.array([0.5, math.nan]))


@pytest.mark.nightly
def test_pratt_and_wilcoxon_reject_an_asymmetric_null_nearly_always(record_property: Record) -> None:
    """Known to be bad, and pinned: mean 0, yet both reject. The t-test does not."""
    samples = repeats(5000)
    differences = asymmetric(np.random.default_rng(1), (samples, 200))
    for zero_method in ("pratt", "wilcox"):
        p_values = scipy.stats.wilcoxon(differences, zero_method=zero_method, method="asymptotic", axis=1).pvalue
        rejected = float((p_values < 0.05).mean())
        record_property(f"rejected by {zero_method}", float(rejected))
        assert rejected > 0.9
    tests = [paired_t(delta).p_value for delta in differences]
    rejected_by_t = sum(p is not None and p < 0.05 for p in tests) / samples
    record_property("rejected by t", float(rejected_by_t))
    assert rejected_by_t < 0.12
    assert np.mean([(wilcoxon_p_value(delta) or 1.0) < 0.05 for delta in differences[:200]]) > 0.9
