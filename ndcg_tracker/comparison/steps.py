"""Where in a history of runs the mean stepped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.comparison.betting import betting_p_value
from ndcg_tracker.comparison.information import information_in
from ndcg_tracker.comparison.significance import holm, paired_t, weighted_t

Floats = NDArray[np.float64]

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Step:
    """What happened between one run and the next.

    ``delta``: the mean difference, None where the two could not be paired. ``p_value``: of a difference of 0, None
    where there is nothing to infer; ``p_adjusted``: after Holm's correction over the history. ``is_step``: whether the
    mean stepped here, which marks the later of the two runs.
    """

    delta: float | None
    p_value: float | None
    p_adjusted: float | None
    is_step: bool


def history_steps(
    deltas: Iterable[Floats | None], weights: Iterable[Floats | None] | None = None, *, alpha: float = ALPHA
) -> tuple[Step, ...]:
    """Return, for each run after the first, whether the mean stepped between the run before and it.

    The paired t-test of every two consecutive runs, Holm-corrected over the history: **a history in which no mean
    ever moves has a step marked with probability ``alpha`` at most**, however long it is and however its runs depend
    on each other (neighbouring differences share a run). Where information is low (few nonzero or very skewed
    differences, as when a change touches a handful of groups) the tail of t is not to be trusted at alpha / length:
    what t calls significant there must be so by the betting capital too, which is valid for any differences within -1
    to 1 (others of low information are never marked). t alone marks up to 94% of very skewed histories in which
    nothing ever moves.

    A change-point search over the means (CUSUM, PELT) would find a drift of many small drops, but it needs independent
    errors and a penalty to tune, and the same groups in each run make the errors strongly dependent; paired
    differences cancel that. A drift is the gate's to find, against a pinned baseline. As a history grows, the
    correction grows with it, and a mark that was barely made may go.

    Parameters: ``deltas``: for each run after the first, its paired differences with the run before (float64, shape
    (n,), finite), None where the two cannot be compared. ``weights``: the weights of these groups, likewise.
    ``alpha``: in (0, 1). Returns: one row per item of ``deltas``. Raises: ValueError for any other number or shape.
    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.

    >>> noise = np.tile([0.1, -0.1], 100)
    >>> [step.is_step for step in history_steps([noise + 0.001, noise + 0.05, None, -noise])]
    [False, True, False, False]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not at {alpha}")
    if weights is None:
        found = [_tested(delta, None, alpha) for delta in deltas]
    else:
        found = [_tested(delta, own, alpha) for delta, own in zip(deltas, weights, strict=True)]
    adjusted = holm([p for _, p in found])
    return tuple(
        Step(mean, p, corrected, corrected is not None and corrected < alpha)
        for (mean, p), corrected in zip(found, adjusted, strict=True)
    )


def _tested(delta: Floats | None, weights: Floats | None, alpha: float) -> tuple[float | None, float | None]:
    """Return the mean difference and its p-value."""
    if delta is None:
        return None, None
    if weights is not None and delta.shape == weights.shape:
        delta, weights = delta[weights > 0], weights[weights > 0]
    test = paired_t(delta) if weights is None else weighted_t(delta, weights)
    if test.n < 2 or not delta.any():
        return test.mean, None
    if test.p_value is not None and (test.p_value >= alpha or not information_in(delta, weights).is_low):
        return test.mean, test.p_value
    if float(np.abs(delta).max()) > 1:
        return test.mean, None
    return test.mean, max(test.p_value or 0.0, betting_p_value(delta, weights, alpha=alpha))
