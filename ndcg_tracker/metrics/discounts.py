"""The discount axis: what a rank is worth."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.ranking import Floats


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
