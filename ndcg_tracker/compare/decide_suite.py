"""Two systems on the datasets of a suite: each dataset is a stratum of the comparison on all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ndcg_tracker.compare.decide import PairedResults, adjusted_open, are_same
from ndcg_tracker.compare.results import (
    ALPHA,
    ENDS,
    End,
    MetricComparison,
    OpenVerdict,
    PossibleDelta,
    RareLoss,
    ToldVerdict,
)
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.statistics.distribution_free import share_upper_bound
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.stratified import (
    Estimate,
    of_strata,
    strata_information,
    stratified,
    stratum_mean,
)
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
    """A comparison on one dataset.

    ``p_adjusted``: Holm-corrected over the datasets; ``metric``: all of it; ``judge``: who gave the labels.
    """

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
    wins: int | None
    ties: int | None
    losses: int | None
    low_information: bool
    metric: MetricComparison
    judge: str = ""

    @property
    def told(self) -> ToldVerdict:
        """The verdict that reports show."""
        return "open" if self.metric.open is not None and self.metric.open.turning(self.verdict) else self.verdict


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """Two systems on the datasets of a suite, under one metric.

    ``macro``: the mean of the datasets' differences, which generalizes to other queries of these datasets. It gives the
    verdict together with ``p_adjusted``, its p-value corrected over all requested metrics and candidates.
    ``over_datasets``: the same mean, but generalized to other datasets like these. ``micro``: the mean difference of
    all queries. ``missing``: datasets on which one of the two has no run. ``information``: of all differences together,
    ``open``: how far unjudged items leave the macro mean open, None if they do not or
    nobody looked.
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
    open: OpenVerdict | None = None

    @property
    def is_open(self) -> bool:
        """Whether what the labels do not say could turn the verdict."""
        return self.open is not None and self.open.turning(self.verdict) is not None

    @property
    def told(self) -> ToldVerdict:
        """The verdict that reports show."""
        return "open" if self.is_open else self.verdict

    @property
    def rare_loss(self) -> RareLoss | None:
        """The losses that the queries of all datasets cannot rule out; None if they are not known for a dataset.

        If each dataset is drawn by itself, the bound errs less often than promised, because the product of (1 - share)
        over the datasets is at most that of the mean share.
        """
        rare = [delta.metric.rare_loss for delta in self.deltas]
        known = [one for one in rare if one is not None]
        if len(known) < len(rare):
            return None
        n = sum(one.n for one in known)
        return RareLoss(n, max(one.worst for one in known), share_upper_bound(0, n))

    @property
    def has_low_information(self) -> bool:
        """Whether too few differences are nonzero for the verdict to be safe."""
        return self.information is not None and self.information.is_low and self.macro.p_value is not None


@dataclass(frozen=True, slots=True)
class OnDataset:
    """The comparison on one dataset: the runs by name, the version of their labels, the metric and its results.

    ``judge``: who gave the labels.
    """

    runs: tuple[str, str]
    label_set_version: int
    metric: MetricComparison
    results: PairedResults
    judge: str = ""


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
    p_values = [metric.p_value for metric in metrics]
    adjusted = holm(p_values)
    same = [are_same(of.results.same_lists) for of in by_dataset.values()]
    strata = [
        stratum_mean(metric.n, metric.delta or 0.0, metric.standard_error, metric.df, is_same=is_same)
        for metric, is_same in zip(metrics, same, strict=True)
    ]
    equal = [name for name, of in zip(by_dataset, strata, strict=True) if of.standard_error is None and of.n > 1]
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
            _delta(dataset, on_dataset, p, adjusted_open(on_dataset.metric.open, p_values, place))
            for place, ((dataset, on_dataset), p) in enumerate(zip(by_dataset.items(), adjusted, strict=True))
        ),
        tuple(missing),
        (*notes, *(SuiteNote(dataset, Note("equal_values")) for dataset in equal)),
        first.direction,
        macro.p_value,
        strata_information([of.results.chance.independent(of.results.gain, None)[0] for of in by_dataset.values()]),
        _open_verdict([on_dataset.results for on_dataset in by_dataset.values()], first.direction),
    )


def _open_verdict(paired: Sequence[PairedResults], direction: Direction) -> OpenVerdict | None:
    """Return what unjudged items leave open of the macro mean: its t-test with each dataset at one end."""
    opened = [of_dataset.open for of_dataset in paired if of_dataset.open is not None]
    if not opened:
        return None
    if all(left.stop is not None for left in opened):
        return OpenVerdict(0, None, None, opened[0].stop)
    n_items = sum(left.n_items for left in opened)
    low, high = (_possible(paired, end, direction) for end in ENDS)
    return OpenVerdict(n_items, low, high, None)


def _possible(paired: Sequence[PairedResults], end: End, direction: Direction) -> PossibleDelta:
    """Return the macro mean with unjudged items at one end of what they may be worth."""
    strata = []
    for results in paired:
        moved = None if results.open is None else getattr(results.open, end)
        delta = results.pairing.delta if moved is None else moved
        test, _ = results.chance.shifted(delta - results.pairing.delta).test(delta, None)
        is_same = are_same(results.same_lists)
        strata.append(stratum_mean(test.n, test.mean or 0.0, test.standard_error, test.df, is_same=is_same))
    macro = stratified(strata, [1.0] * len(strata))
    verdict = verdict_of(macro.mean, macro.p_value, direction)
    return PossibleDelta(macro.mean, macro.ci, macro.p_value, macro.p_value, verdict)


def _delta(dataset: str, on_dataset: OnDataset, p_adjusted: float | None, left: OpenVerdict | None) -> SuiteDelta:
    metric = replace(on_dataset.metric, open=left)
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
        judge=on_dataset.judge,
    )


def adjusted_jointly(comparisons: Sequence[SuiteComparison]) -> tuple[SuiteComparison, ...]:
    """Return the comparisons with p-values of their macro means corrected together (Holm), and their verdicts."""
    p_values = [comparison.macro.p_value for comparison in comparisons]
    return tuple(
        replace(
            comparison,
            p_adjusted=p,
            verdict="identical"
            if comparison.verdict == "identical"
            else verdict_of(comparison.macro.mean, p, comparison.direction),
            open=adjusted_open(comparison.open, p_values, place),
        )
        for place, (comparison, p) in enumerate(zip(comparisons, holm(p_values), strict=True))
    )


def verdict_of(delta: float | None, p_value: float | None, direction: Direction) -> SuiteVerdict:
    """Return the verdict that a p-value gives a difference."""
    if delta is None or p_value is None or p_value >= ALPHA:
        return "no_difference_detected"
    return "improved" if (delta > 0) == (direction == "higher") else "regressed"
