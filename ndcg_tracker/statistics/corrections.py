"""P-values corrected for multiple tests: Holm, and Benjamini and Hochberg."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected for multiple tests by Holm's step-down procedure.

    Parameters: ``p_values``: each in [0, 1]; None is left out and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6,
    1979.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    given = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(given):
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must be between 0 and 1, not {p}")
        largest = max(largest, min(p * (len(given) - rank), 1.0))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the q-values of p-values: the smallest false discovery rate at which each is a discovery.

    Parameters: ``p_values``: each in [0, 1]; None is left out and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57,
    1995. By: scipy.stats.false_discovery_control.

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    [0.03, None, 0.04, 0.04]
    """
    given = [p for p in p_values if p is not None]
    for p in given:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value must be between 0 and 1, not {p}")
    if not given:
        return [None] * len(p_values)
    from scipy.stats import false_discovery_control

    q_values = iter(false_discovery_control(given).tolist())
    return [None if p is None else next(q_values) for p in p_values]
