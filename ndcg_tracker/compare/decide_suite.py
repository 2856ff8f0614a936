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
    """A note on one dataset."""

    dataset: str
    note: Note


@dataclass(frozen=True, slots=True)
class SuiteDelta:
    """A comparison on one dataset; ``p_adjusted``: Holm-corrected over the datasets; ``metric``: all of it."""

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
    """The comparison on one dataset: the runs by name, the version of their labels, the metric and its results.

    ``results``: None where only sums are known.
    """

    runs: tuple[str, str]
    label_set_version: int
    metric: MetricComparison
    results: PairedResults | None


def suite_comparison(
    suite: str,
    names: tuple[str, str],
    by_dataset: Mapping[str, OnDataset],
    missing: Sequence[str],
    notes: Sequence[SuiteNote] = (),
) -> SuiteComparison:
    """Return the comparison on a suite. Parameters: ``names``: of the systems."""
    metrics = [on_dataset.metric for on_dataset in by_dataset.values()]
    first = metrics[0]
    adjusted = holm([metric.p_value for metric in metrics])
    strata = [
        StratumMean(
            metric.n, metric.delta or 0.0, 0.0 if metric.verdict == "identical" else metric.standard_error, metric.df
        )
        for metric in metrics
    ]
    macro = stratified(strata, [1.0] * len(strata))
    is_identical = all(metric.verdict == "identical" for metric in metrics)
    return SuiteComparison(
        suite,
        first.metric,
        *names,
        "identical" if is_identical else verdict_of(macro.mean, macro.p_value, first.direction),
        macro,
        of_strata([stratum.mean for stratum in strata]),
        stratified(strata, [float(metric.n) for metric in strata]),
        tuple(
            _delta(dataset, on_dataset, p)
            for (dataset, on_dataset), p in zip(by_dataset.items(), adjusted, strict=True)
        ),
        tuple(missing),
        tuple(notes),
        first.direction,
        macro.p_value,
        _information([on_dataset.results for on_dataset in by_dataset.values()]),
    )


def _delta(dataset: str, on_dataset: OnDataset, p_adjusted: float | None) -> SuiteDelta:
    metric = on_dataset.metric
    return SuiteDelta(
        dataset,
        on_dataset.label_set_version,
        *on_dataset.runs,
        n=metric.n,
        baseline_mean=metric.baseline,
        candidate_mean=metric.candidate,
        delta=metric.delta,
        ci=metric.ci,
        p_value=metric.p_value,
        p_adjusted=p_adjusted,
        verdict="identical"
        if metric.verdict == "identical"
        else verdict_of(metric.delta, p_adjusted, metric.direction),
        wins=metric.wins,
        ties=metric.ties,
        losses=metric.losses,
        low_information=metric.has_low_information,
        metric=metric,
    )


def _information(results: Sequence[PairedResults | None]) -> Information | None:
    """Return the information that the differences of all datasets carry, those of clusters where there are any."""
    paired = [of_dataset for of_dataset in results if of_dataset is not None]
    if len(paired) < len(results):
        return None
    return strata_information([of_dataset.chance.independent(of_dataset.gain, None)[0] for of_dataset in paired])


def adjusted_jointly(comparisons: Sequence[SuiteComparison]) -> tuple[SuiteComparison, ...]:
    """Return the comparisons with p-values of their macro means corrected together (Holm), and their verdicts."""
    return tuple(
        replace(
            comparison,
            p_adjusted=p,
            verdict="identical"
            if comparison.verdict == "identical"
            else verdict_of(comparison.macro.mean, p, comparison.direction),
        )
        for comparison, p in zip(
            comparisons, holm([comparison.macro.p_value for comparison in comparisons]), strict=True
        )
    )


def verdict_of(delta: float | None, p_value: float | None, direction: Direction) -> SuiteVerdict:
    """Return the verdict that a p-value gives a difference."""
    if delta is None or p_value is None or p_value >= ALPHA:
        return "no_difference_detected"
    return "improved" if (delta > 0) == (direction == "higher") else "regressed"
