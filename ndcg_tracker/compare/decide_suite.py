"""Two systems on the datasets of a suite: the comparison on each is a stratum of the one on all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.results import ALPHA, MetricComparison
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.stratified import Estimate, StratumMean, of_strata, strata_information, stratified
from ndcg_tracker.statistics.t_test import Information
from ndcg_tracker.words.notes import Note

SuiteVerdict = Literal["improved", "regressed", "no_difference_detected", "identical"]


@dataclass(frozen=True, slots=True)
class SuiteNote:
    """What else to know of one dataset."""

    dataset: str
    note: Note


@dataclass(frozen=True, slots=True)
class SuiteDelta:
    """A comparison on one dataset; ``p_adjusted``: Holm-corrected over the datasets; ``metric``: all that it found."""

    dataset: str
    label_set_version: int | None
    baseline: str
    candidate: str
    n: int
    baseline_mean: float | None
    candidate_mean: float | None
    delta: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    p_adjusted: float | None
    verdict: SuiteVerdict
    wins: int
    ties: int
    losses: int
    low_information: bool
    metric: MetricComparison


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """Two systems on the datasets of a suite, under one metric.

    ``macro``: the mean of the datasets' differences, for other queries of these datasets; the verdict rests on it, and
    on ``p_adjusted``, its p-value corrected over all metrics and candidates that were asked for together.
    ``over_datasets``: the same for other datasets like these. ``micro``: the mean difference of all queries.
    ``missing``: datasets on which one of the two has no run. ``information``: of all differences together, None where
    they are not known.
    """

    suite: str
    metric: str
    baseline: str
    candidate: str
    verdict: SuiteVerdict
    macro: Estimate
    over_datasets: Estimate
    micro: Estimate
    deltas: tuple[SuiteDelta, ...]
    missing: tuple[str, ...]
    notes: tuple[SuiteNote, ...] = ()
    direction: Direction = "higher"
    p_adjusted: float | None = None
    information: Information | None = None

    @property
    def has_low_information(self) -> bool:
        """Whether too few differences are nonzero for the verdict to be safe."""
        return self.information is not None and self.information.is_low and self.macro.p_value is not None


@dataclass(frozen=True, slots=True)
class OnDataset:
    """What was found on one dataset: the runs by name, the version of their labels, the comparison, its results.

    ``results``: None where only sums are known.
    """

    runs: tuple[str, str]
    label_set_version: int
    metric: MetricComparison
    results: PairedResults | None


def suite_comparison(
    suite: str,
    names: tuple[str, str],
    found: Mapping[str, OnDataset],
    missing: Sequence[str],
    notes: Sequence[SuiteNote] = (),
) -> SuiteComparison:
    """Return the comparison on a suite. Parameters: ``names``: of the systems. ``found``: by dataset."""
    metrics = [one.metric for one in found.values()]
    first = metrics[0]
    adjusted = holm([one.p_value for one in metrics])
    strata = [
        StratumMean(one.n, one.delta or 0.0, 0.0 if one.verdict == "identical" else one.standard_error, one.df)
        for one in metrics
    ]
    macro = stratified(strata, [1.0] * len(strata))
    is_identical = all(one.verdict == "identical" for one in metrics)
    return SuiteComparison(
        suite,
        first.metric,
        *names,
        "identical" if is_identical else verdict_of(macro.mean, macro.p_value, first.direction),
        macro,
        of_strata([one.mean for one in strata]),
        stratified(strata, [float(one.n) for one in strata]),
        tuple(_delta(dataset, one, p) for (dataset, one), p in zip(found.items(), adjusted, strict=True)),
        tuple(missing),
        tuple(notes),
        first.direction,
        macro.p_value,
        _information([one.results for one in found.values()]),
    )


def _delta(dataset: str, found: OnDataset, p_adjusted: float | None) -> SuiteDelta:
    one = found.metric
    return SuiteDelta(
        dataset,
        found.label_set_version,
        *found.runs,
        n=one.n,
        baseline_mean=one.baseline,
        candidate_mean=one.candidate,
        delta=one.delta,
        ci=one.ci,
        p_value=one.p_value,
        p_adjusted=p_adjusted,
        verdict="identical" if one.verdict == "identical" else verdict_of(one.delta, p_adjusted, one.direction),
        wins=one.wins,
        ties=one.ties,
        losses=one.losses,
        low_information=one.has_low_information,
        metric=one,
    )


def _information(results: Sequence[PairedResults | None]) -> Information | None:
    """Return how much the differences of all datasets say, those of clusters where there are any."""
    known = [one for one in results if one is not None]
    if len(known) < len(results):
        return None
    return strata_information([one.chance.independent(one.gain, None)[0] for one in known])


def adjusted_jointly(comparisons: Sequence[SuiteComparison]) -> tuple[SuiteComparison, ...]:
    """Return the comparisons with p-values of their macro means corrected together (Holm), and their verdicts."""
    return tuple(
        replace(
            one,
            p_adjusted=p,
            verdict="identical" if one.verdict == "identical" else verdict_of(one.macro.mean, p, one.direction),
        )
        for one, p in zip(comparisons, holm([one.macro.p_value for one in comparisons]), strict=True)
    )


def verdict_of(delta: float | None, p_value: float | None, direction: Direction) -> SuiteVerdict:
    """Return what a p-value says of a difference."""
    if delta is None or p_value is None or p_value >= ALPHA:
        return "no_difference_detected"
    return "improved" if (delta > 0) == (direction == "higher") else "regressed"
