"""The arithmetic axis: numbers as single-precision code computes them."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.kernel.gains import discounts
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.types import Floats


def in_precision_of(metric: Metric, numbers: Floats) -> Floats:
    """Return numbers rounded to single precision where a metric asks for that, else as they are: float64."""
    return numbers.astype(np.float32).astype(np.float64) if metric["arithmetic"] == "f32" else numbers


def rank_weights(metric: Metric, n_ranks: int) -> Floats:
    """Return the weight of each rank under a metric: float64, shape (n_ranks + 1,), entry r for rank r."""
    return in_precision_of(metric, discounts(metric.discount, n_ranks))
