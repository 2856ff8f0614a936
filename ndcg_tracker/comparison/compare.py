"""Two runs, metric by metric: from paired arrays to typed results with a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.comparison.pairing import Pairing
from ndcg_tracker.comparison.results import (
    Comparison,
    GroupCounts,
    GroupDelta,
    JudgedShare,
    LabelSetRef,
    MetricComparison,
    RunRef,
    Verdict,
)
from ndcg_tracker.comparison.significance import TTest, detectable_delta, holm, paired_t, skewness, weighted_t
from ndcg_tracker.comparison.tie_effect import TieEffect

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
GroupNames = Callable[[Index], Sequence[str]]

ALPHA = 0.05
FEW_DIFFERENCES = 100
MUCH_SKEWNESS = 0.1
COVERAGE_GAP = 0.01


@dataclass(frozen=True, slots=True)
class PairedResults:
    """One metric of two runs, ready to be compared.

    ``metric``: its canonical text. ``weights``: float64, shape (n,), one per paired group, or None.
    ``missing_in_*``: how many labelled groups that run lacks. ``means``: the means of baseline and candidate where
    they are no (weighted) mean of the group results. ``no_inference``: why no test applies, "" if one does
    (``empty_weight=one``). ``tie_effect``: the bounds of both means over ties in scores, if known.
    """

    metric: str
    pairing: Pairing
    weights: Floats | None = None
    missing_in_baseline: int = 0
    missing_in_candidate: int = 0
    means: tuple[float, float] | None = None
    no_inference: str = ""
    tie_effect: TieEffect | None = None


def compare_runs(
    baseline: RunRef,
    candidate: RunRef,
    dataset: str,
    label_set: LabelSetRef,
    results: Sequence[PairedResults],
    group_names: GroupNames,
    *,
    top: int = 10,
    coverage: Sequence[JudgedShare] = (),
    notes: Sequence[str] = (),
) -> Comparison:
    """Return the comparison of two runs under one label set.

    Parameters: ``results``: at least one metric; the first one decides the counts of groups and the worst and best
    groups. ``group_names``: gives the ids of groups from their numbers (int64), in the same order. ``top``: how many
    worst and best groups to keep. Raises: ValueError without any metric.
    """
    if not results:
        raise ValueError("a comparison needs at least one metric")
    metrics = compare_metrics(results)
    return Comparison(
        baseline,
        candidate,
        dataset,
        label_set,
        metrics[0].groups,
        metrics,
        worst=extreme_groups(results[0], group_names, top=top, sign=-1),
        best=extreme_groups(results[0], group_names, top=top, sign=1),
        notes=(*notes, *_coverage_notes(coverage)),
        coverage=tuple(coverage),
    )


def compare_metrics(results: Sequence[PairedResults]) -> tuple[MetricComparison, ...]:
    """Return the comparison of each metric, the p-values Holm-corrected over all of them.

    The verdict is "improved" or "regressed" where the corrected p is below .05, by the sign of delta; "identical"
    where every difference is 0; "not_comparable" where no group counts; else "no_difference_detected". That last one
    includes what no test can decide: a single group, the same nonzero difference in every group, and a metric without
    inference; a warning then says so, p and interval are None, and delta stands on its own.
    """
    return _adjusted([_compared(metric) for metric in results])


def adjusted_jointly(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return several candidates' comparisons with one baseline, Holm-corrected over all of their metrics together."""
    metrics = _adjusted([metric for comparison in comparisons for metric in comparison.metrics])
    adjusted, done = [], 0
    for comparison in comparisons:
        adjusted.append(replace(comparison, metrics=metrics[done : done + len(comparison.metrics)]))
        done += len(comparison.metrics)
    return tuple(adjusted)


def extreme_groups(results: PairedResults, group_names: GroupNames, *, top: int, sign: int) -> tuple[GroupDelta, ...]:
    """Return the groups that moved most in one direction, the largest move first, equal ones by key in byte order.

    Parameters: ``top``: how many at most. ``sign``: -1 for the worst groups, 1 for the best. Groups that did not move
    that way, or have weight 0, are never among them.
    """
    pairing = results.pairing
    moves = sign * pairing.delta
    places = np.flatnonzero(moves > 0 if results.weights is None else (moves > 0) & (results.weights > 0))
    if top < 1 or not places.size:
        return ()
    if places.size > top:
        threshold = np.partition(moves[places], places.size - top)[places.size - top]
        places = places[moves[places] >= threshold]  # all that tie with the last one: their keys decide
    names = group_names(pairing.group_ids[places])
    ordered = sorted(zip((-moves[places]).tolist(), names, places.tolist(), strict=True))[:top]
    return tuple(
        GroupDelta(name, float(pairing.baseline[place]), float(pairing.candidate[place]), -sign * move)
        for move, name, place in ordered
    )


def _compared(results: PairedResults) -> MetricComparison:
    """Return one metric's comparison, as if it were the only one."""
    pairing, weights = results.pairing, results.weights
    delta = pairing.delta
    test = paired_t(delta) if weights is None else weighted_t(delta, weights)
    counting = delta if weights is None else delta[weights > 0]
    n_wins, n_losses = int((counting > 0).sum()), int((counting < 0).sum())
    if test.n and results.means is not None:
        means: tuple[float | None, float | None] = results.means
        mean: float | None = results.means[1] - results.means[0]
    else:
        means = (_mean(pairing.baseline, weights), _mean(pairing.candidate, weights)) if test.n else (None, None)
        mean = test.mean
    identical = test.n > 0 and not n_wins + n_losses
    inferred = not identical and not results.no_inference and test.p_value is not None
    return MetricComparison(
        metric=results.metric,
        baseline=means[0],
        candidate=means[1],
        delta=mean,
        ci=test.ci if inferred else None,
        ci_method="t",
        p_value=test.p_value if inferred else None,
        p_adjusted=test.p_value if inferred else None,
        test="t",
        n=test.n,
        wins=n_wins,
        ties=test.n - n_wins - n_losses,
        losses=n_losses,
        effect_size=test.effect_size if inferred else None,
        detectable_delta=detectable_delta(test.n, test.sd) if inferred and test.sd else None,
        warnings=tuple(_warnings(results, test, counting)),
        verdict="identical" if identical else "no_difference_detected" if test.n else "not_comparable",
        groups=GroupCounts(
            paired=pairing.group_ids.size,
            only_in_baseline=pairing.only_in_baseline.size,
            only_in_candidate=pairing.only_in_candidate.size,
            undefined=pairing.undefined,
            missing_in_baseline=results.missing_in_baseline,
            missing_in_candidate=results.missing_in_candidate,
            missing=pairing.missing,
        ),
        tie_effect=results.tie_effect,
    )


def _adjusted(metrics: Sequence[MetricComparison]) -> tuple[MetricComparison, ...]:
    """Return the metrics with p-values corrected over all of them, and the verdicts that follow."""
    corrected = holm([metric.p_value for metric in metrics])
    return tuple(
        replace(metric, p_adjusted=p, verdict=_verdict(metric, p)) for metric, p in zip(metrics, corrected, strict=True)
    )


def _verdict(metric: MetricComparison, p_adjusted: float | None) -> Verdict:
    """Return what the corrected p-value makes of a metric."""
    if metric.verdict in ("identical", "not_comparable"):
        return metric.verdict
    if p_adjusted is None or metric.delta is None or p_adjusted >= ALPHA:
        return "no_difference_detected"
    return "improved" if metric.delta > 0 else "regressed"


def _warnings(results: PairedResults, test: TTest, counting: Floats) -> list[str]:
    """Return what a reader of this metric must keep in mind."""
    warnings = []
    n_weightless = results.pairing.group_ids.size - test.n
    if n_weightless:
        warnings.append(f"{_groups(n_weightless)} of weight 0 left out")
    n_different = int(np.count_nonzero(counting))
    if test.n == 0:
        warnings.append("no group has a result in both runs, so there is nothing to compare")
    elif n_different == 0:
        pass
    elif results.no_inference:
        warnings.append(results.no_inference)
    elif test.n < 2:
        warnings.append("one group says nothing about others: no interval and no p-value")
    elif test.p_value is None:
        warnings.append(f"all {test.n:,} groups differ by the same amount: the interval and the p-value are undefined")
    elif n_different < FEW_DIFFERENCES:
        warnings.append(
            f"low information: {n_different:,} of {test.n:,} differences are nonzero, "
            f"and below {FEW_DIFFERENCES} the t interval may be too narrow"
        )
    else:
        skew = skewness(_influence(counting, results, test))
        if abs(skew) / math.sqrt(test.n) > MUCH_SKEWNESS:
            warnings.append(
                f"low information: the differences are very skewed (skewness {skew:.1f} over {_groups(test.n)}), "
                "and the t interval may be too narrow"
            )
    return warnings


def _influence(counting: Floats, results: PairedResults, test: TTest) -> Floats:
    """Return how far each group that counts pulls the mean."""
    if results.weights is None:
        return counting
    return np.asarray(results.weights[results.weights > 0] * (counting - (test.mean or 0.0)))


def _mean(values: Floats, weights: Floats | None) -> float:
    """Return the mean, weighted if there are weights."""
    if weights is None:
        return float(values.mean())
    return float((weights * values).sum() / weights.sum())


def _coverage_notes(coverage: Sequence[JudgedShare]) -> list[str]:
    """Return a note for every cutoff at which one run has clearly fewer judged items."""
    notes = []
    for share in coverage:
        if share.baseline is None or share.candidate is None:
            continue
        gap = share.baseline - share.candidate
        if abs(gap) >= COVERAGE_GAP:
            where = "whole lists" if share.cutoff is None else f"top {share.cutoff}"
            run, effect = ("candidate", "understated") if gap > 0 else ("baseline", "overstated")
            notes.append(
                f"the {run} has fewer judged items in its {where}: delta may be {effect}, "
                "which could change the verdict"
            )
    return notes


def _groups(n: int) -> str:
    return f"{n:,} group{'' if n == 1 else 's'}"
