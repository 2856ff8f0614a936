"""One stored run under the convention of every tool, and which axis moves its value by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.mean import aggregated
from ndcg_tracker.metrics.kernel.values import group_results, values_with_bounds
from ndcg_tracker.metrics.language.agreement import differences
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.ranking import GroupWeights
from ndcg_tracker.runs.labels import numbered_labels
from ndcg_tracker.runs.scoring import stored_weights

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction


@dataclass(frozen=True, slots=True)
class Effect:
    """What one axis adds to a value: ``change``, on the way from the default to the convention, axis after axis."""

    axis: str
    value: str
    change: float


@dataclass(frozen=True, slots=True)
class OpenTies:
    """What a tool with an unstable sort may print: its mean lies from ``low`` to ``high``.

    ``from_items``: the length of a list from which its sort is unstable. ``n_groups``: in how many lists of that length
    the order of equal scores changes the value.
    """

    low: float
    high: float
    from_items: int
    n_groups: int


@dataclass(frozen=True, slots=True)
class Convention:
    """One tool's value of a run.

    ``text``: the metric as the tool writes it; ``metric``: its canonical form. ``mean``: None where the tool has
    none, then ``refusal`` says why if it refuses. ``effects``: the axes that change the value, the largest change
    first; they add up to the difference from our own default.
    """

    text: str
    metric: str
    mean: float | None
    effects: tuple[Effect, ...]
    refusal: str = ""
    open_ties: OpenTies | None = None


def conventions(tx: ReadTransaction, run: RunRecord, cutoff: int) -> list[Convention]:
    """Return the plain NDCG of a run under our own default and every dialect.

    Raises: InputError where the run's dataset has no labels.
    """
    newest = numbered_labels(tx, run.dataset_id, run.dataset)
    both = judged(tx.runs.ranking(run.id), tx.labels.lists(newest.id))
    weights = stored_weights(tx, run.dataset_id)
    tools = [(dialect.text(cutoff), dialect.unstable_from) for dialect in DIALECTS.values()]
    return [_convention(both, text, weights, unstable) for text, unstable in ((f"ndcg@{cutoff}", None), *tools)]


def _convention(both: JudgedRanking, text: str, weights: GroupWeights | None, unstable_from: int | None) -> Convention:
    metric = parse_metric(text)
    try:
        mean = group_results(both, [metric], weights)[0].mean
    except MetricError as error:
        return Convention(text, str(metric), None, (), str(error))
    open_ties = None if unstable_from is None else _open_ties(both, metric, weights, unstable_from)
    return Convention(text, str(metric), mean, _effects(both, metric, weights), open_ties=open_ties)


def _open_ties(both: JudgedRanking, metric: Metric, weights: GroupWeights | None, from_items: int) -> OpenTies | None:
    """Return between which means the order of equal scores leaves a metric in lists of ``from_items`` or more."""
    own, worst, best = values_with_bounds(both, [metric])[0]
    is_open = (own.n_items >= from_items) & (worst.values < best.values)
    if not is_open.any():
        return None
    low, high = (
        aggregated(replace(own, values=np.where(is_open, bound.values, own.values)), weights).mean
        for bound in (worst, best)
    )
    return None if low is None or high is None else OpenTies(low, high, from_items, int(is_open.sum()))


def _effects(both: JudgedRanking, metric: Metric, weights: GroupWeights | None) -> tuple[Effect, ...]:
    """Return what each axis adds on the way from the plain metric to this one, the largest change first."""
    step = Metric(metric.measure, metric.cutoff)
    before = _mean(both, step, weights)
    effects = []
    for difference in differences(step, metric):
        step = step.with_axes(**{difference.axis: difference.theirs})
        after = _mean(both, step, weights)
        if before is not None and after is not None and after != before:
            effects.append(Effect(difference.axis, difference.theirs, after - before))
        before = before if after is None else after
    return tuple(sorted(effects, key=lambda effect: -abs(effect.change)))


def _mean(both: JudgedRanking, metric: Metric, weights: GroupWeights | None) -> float | None:
    """Return the mean, None where the metric refuses the run half-way."""
    try:
        return group_results(both, [metric], weights)[0].mean
    except MetricError:
        return None
