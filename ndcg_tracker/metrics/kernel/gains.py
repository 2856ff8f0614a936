"""The gain of a grade, the discount of a rank, and both as single-precision code computes them."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.language.axes import gain_table
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.types import Floats


def gains(gain: str, grades: Floats) -> Floats:
    """Return the gain of each grade.

    ``linear``: l. ``exp2``: 2**l - 1. ``binary``: 1 where l > 0, else 0. ``NAME>=r``: the same where l >= r, else 0.
    A table: its entry; a grade that it lacks keeps its own value.

    Parameters: ``gain``, a value of the axis; ``grades``, float64, any shape. Returns: float64 of the same shape,
    +inf where 2**l overflows. Source: linear: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 1; exp2: Burges et al.,
    ICML 2005, sec. 4; a table: trec_eval ``-m ndcg.1=3.5,2=9``; a least grade: ranx ``ndcg-l2``.

    >>> gains("exp2", np.array([0.0, 1.0, 3.0])).tolist(), gains("{1:5}", np.array([1.0, 2.0])).tolist()
    ([0.0, 1.0, 7.0], [5.0, 2.0])
    """
    table = gain_table(gain)
    if table is not None:
        return np.array([table.get(float(grade), float(grade)) for grade in grades.ravel()]).reshape(grades.shape)
    name, _, least = gain.partition(">=")
    if name == "exp2":
        with np.errstate(over="ignore"):
            worth = np.exp2(grades) - 1.0
    elif name == "binary":
        worth = (grades > 0).astype(np.float64)
    else:
        worth = grades.astype(np.float64)
    return np.where(grades >= float(least), worth, 0.0) if least else np.asarray(worth)


def discounts(discount: str, n_ranks: int) -> Floats:
    """Return the discount of rank 0 (unused, 0) to ``n_ranks``.

    ``log2``: 1/log2(i + 1). ``ln``: 1/ln(i + 1). ``position``: 1/i. ``jkB``: 1 up to rank B, then 1/log_B(i).
    ``none``: 1.

    Parameters: ``discount``, a value of the axis; ``n_ranks`` >= 0. Returns: float64, shape (n_ranks + 1,).
    Source: log2: Burges et al., ICML 2005, sec. 4; jkB: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 2; position:
    CatBoost, ``denominator=Position``.

    >>> discounts("log2", 3).round(4).tolist(), discounts("jk2", 4).round(4).tolist()
    ([0.0, 1.0, 0.6309, 0.5], [0.0, 1.0, 1.0, 0.6309, 0.5])
    """
    ranks = np.arange(1, n_ranks + 1, dtype=np.float64)
    if discount == "log2":
        weights = 1.0 / np.log2(ranks + 1.0)
    elif discount == "ln":
        weights = 1.0 / np.log(ranks + 1.0)
    elif discount == "position":
        weights = 1.0 / ranks
    elif discount.startswith("jk"):
        base = float(discount.removeprefix("jk"))
        weights = np.ones(n_ranks)
        late = ranks > base
        weights[late] = np.log(base) / np.log(ranks[late])
    else:
        weights = np.ones(n_ranks)
    return np.concatenate([[0.0], weights])


def in_precision_of(metric: Metric, numbers: Floats) -> Floats:
    """Return numbers rounded to single precision where a metric asks for that, else as they are: float64."""
    return numbers.astype(np.float32).astype(np.float64) if metric["arithmetic"] == "f32" else numbers


def rank_weights(metric: Metric, n_ranks: int) -> Floats:
    """Return the weight of each rank under a metric: float64, shape (n_ranks + 1,), entry r for rank r."""
    return in_precision_of(metric, discounts(metric.discount, n_ranks))
