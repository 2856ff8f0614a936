"""Whether a run reproduces a published one: the measures of repro_eval, under its names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.compare.decide import PairedResults, compare_metrics
from ndcg_tracker.compare.results import Estimate, LabelSetRef, RunRef
from ndcg_tracker.words.notes import Note


@dataclass(frozen=True, slots=True)
class ListAgreement:
    """How similar the first ``cutoff`` items of both lists are, as means over groups, None without any group.

    ``ktu``: see ``statistics.similarity.repro_eval_ktu``. Lists of different length count as many ranks as the shorter
    one has, and groups of one rank are left out. ``rbo``: see ``SharedRanks.repro_eval_rbo``.
    """

    cutoff: int
    ktu: float | None
    rbo: float | None


@dataclass(frozen=True, slots=True)
class ReproducedMetric:
    """One metric of the original and of the reproduced run, over the ``n`` groups that count.

    ``original``, ``reproduced``: means. ``delta``: reproduced minus original, with its 95% interval ``ci``. ``rmse``:
    the root of the mean squared difference of the groups. ``p_value``: of the two-sided paired t-test, not corrected;
    None if all groups differ by the same amount, or not at all. ``er``: the effect ratio, the reproduced run's mean
    improvement over its baseline, divided by the original's over its own; 1 if the effect is the same. ``delta_ri``:
    the original's relative improvement over its baseline minus the reproduced run's; 0 if the effect is the same. Both
    are None without baselines, and if the divisor is 0. Source: Breuer et al., "How to measure the reproducibility of
    system-oriented IR experiments", SIGIR 2020. Agrees with: repro_eval's RMSE, ttest, ER and DRI.
    """

    metric: str
    requested_as: str
    original: float | None
    reproduced: float | None
    delta: float | None
    ci: tuple[float, float] | None
    rmse: float | None
    p_value: float | None
    n: int
    er: float | None
    delta_ri: float | None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How close a run comes to the one that it reproduces.

    ``n``: the groups that are paired in the first metric; ``only_in_original`` and ``only_in_reproduced``: how many
    groups have a result in only one run. ``n_lists``: the groups for which both runs have a list, 0 if the items of one
    run are not stored; then ``lists`` is empty. ``same_lists``: the share of these lists that are the same, None
    without lists. ``rbo_p``: the parameter of every rbo. ``baselines``: of the original and of the reproduced run, None
    without an effect.
    """

    original: RunRef
    reproduced: RunRef
    dataset: str
    label_set: LabelSetRef
    baselines: tuple[RunRef, RunRef] | None
    n: int
    only_in_original: int
    only_in_reproduced: int
    n_lists: int
    same_lists: float | None
    rbo_p: float
    lists: tuple[ListAgreement, ...]
    metrics: tuple[ReproducedMetric, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedMean:
    """The mean of a run, compared with a published one.

    ``judge``: who gave the labels. ``ci``: the 95% interval of the run's mean, None if there is none. ``n``: the groups
    of the mean. ``n_missing``: how many of the labels' groups the run lacks.

    >>> beside = PublishedMean(RunRef("a", 1), "d", 1, "", "AP", "map", 0.5, 0.25, (0.125, 0.5), 9)
    >>> beside.delta, beside.is_within
    (-0.25, True)
    """

    run: RunRef
    dataset: str
    label_set_version: int
    judge: str
    metric: str
    requested_as: str
    published: float
    mean: float | None
    ci: tuple[float, float] | None
    n: int
    n_missing: int = 0

    @property
    def delta(self) -> float | None:
        """The run's mean minus the published one."""
        return None if self.mean is None else self.mean - self.published

    @property
    def is_within(self) -> bool | None:
        """Whether the published mean is in the interval of the run's mean, None without an interval."""
        return None if self.ci is None else self.ci[0] <= self.published <= self.ci[1]


def reproduced_metrics(
    results: Sequence[PairedResults],
    effects: tuple[Sequence[PairedResults], Sequence[PairedResults]] | None,
    requests: Sequence[str],
) -> tuple[ReproducedMetric, ...]:
    """Return the numbers of each metric.

    Parameters: ``results``: of the original run, as baseline, and the reproduced one. ``effects``: of each run and its
    baseline, first the original, None without baselines. ``requests``: the name by which each metric was requested.
    """
    compared = compare_metrics(results)
    improvements = [] if effects is None else list(zip(*map(compare_metrics, effects), strict=True))
    rows = []
    for place, (metric, of_groups) in enumerate(zip(compared, results, strict=True)):
        er, delta_ri = _effects(*improvements[place]) if improvements else (None, None)
        rows.append(
            ReproducedMetric(
                *(metric.metric, requests[place], metric.baseline, metric.candidate, metric.delta, metric.ci),
                *(_rmse(of_groups), metric.p_value, metric.n, er, delta_ri),
            )
        )
    return tuple(rows)


def _rmse(results: PairedResults) -> float | None:
    delta, weights = results.every.delta, results.every.weights
    if not delta.size or (weights is not None and not weights.sum()):
        return None
    return math.sqrt(float(np.average(np.square(delta), weights=weights)))


def _effects(original: Estimate, reproduced: Estimate) -> tuple[float | None, float | None]:
    """Return ER and DeltaRI of the effects on one metric."""
    er = None if reproduced.delta is None or not original.delta else reproduced.delta / original.delta
    of_original, of_reproduced = _relative(original), _relative(reproduced)
    return er, None if of_original is None or of_reproduced is None else of_original - of_reproduced


def _relative(effect: Estimate) -> float | None:
    return None if effect.delta is None or not effect.baseline else effect.delta / effect.baseline
