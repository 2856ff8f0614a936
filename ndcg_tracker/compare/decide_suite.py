"""Two systems on the datasets of a suite: each dataset is a stratum of the comparison on all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.estimate import adjusted, estimate
from ndcg_tracker.compare.reach import joined
from ndcg_tracker.compare.results import ENDS, About, Estimate, LabelSetRef
from ndcg_tracker.compare.sample import Span, Strata
from ndcg_tracker.statistics.stratified import of_strata
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import Note


@dataclass(frozen=True, slots=True)
class SuiteNote:
    """A note on one dataset."""

    dataset: str
    note: Note


@dataclass(frozen=True, slots=True)
class OnDataset:
    """The comparison on one dataset: the names of the runs, their labels, and the estimate, corrected over datasets."""

    dataset: str
    baseline: str
    candidate: str
    labels: LabelSetRef
    found: Estimate


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """Two systems on the datasets of a suite, under one metric.

    ``macro``: the mean of the datasets' differences, which generalizes to other queries of these datasets. It gives the
    verdict; its p-value is corrected over all requested metrics and candidates. ``over_datasets``: the same mean, but
    generalized to other datasets like these. ``micro``: the mean difference of all queries. ``missing``: datasets on
    which one of the two has no run.
    """

    suite: str
    metric: str
    baseline: str
    candidate: str
    macro: Estimate
    over_datasets: Estimate
    micro: Estimate
    deltas: tuple[OnDataset, ...]
    missing: tuple[str, ...]
    notes: tuple[SuiteNote, ...] = ()


def strata_of(results: Mapping[str, PairedResults], limits: Span | None = None) -> Strata:
    """Return the samples of the datasets of a suite as strata; ``limits``: of the mean over them."""
    return Strata({dataset: paired.sample for dataset, paired in results.items()}, limits)


def moved_strata(strata: Strata, results: Mapping[str, PairedResults]) -> dict[str, Strata]:
    """Return the strata at both ends of what unjudged items may be worth, none if no end is known."""
    known = {dataset: paired.ends for dataset, paired in results.items() if paired.ends}
    return {end: strata.moved({dataset: of[end] for dataset, of in known.items()}) for end in ENDS} if known else {}


def suite_comparison(
    suite: str,
    names: tuple[str, str],
    on_datasets: Sequence[OnDataset],
    results: Mapping[str, PairedResults],
    missing: Sequence[str],
    notes: Sequence[SuiteNote] = (),
) -> SuiteComparison:
    """Return the comparison on a suite. Parameters: ``names``: of the systems. ``results``: by dataset."""
    deltas = adjusted([on.found for on in on_datasets])
    strata, metric = strata_of(results), deltas[0].metric
    alone = next((paired.judge_alone for paired in results.values() if paired.judge_alone), "")
    about = About(metric=metric, unjudged=joined(of.unjudged for of in results.values()), judge_alone=alone)
    others = {end: estimate(moved) for end, moved in moved_strata(strata, results).items()}
    each = zip(results, strata.strata, strict=True)
    equal = [SuiteNote(name, Note("equal_values")) for name, of in each if of.standard_error is None and of.n > 1]
    return SuiteComparison(
        suite,
        metric,
        *names,
        replace(estimate(strata, about=about), others=others),
        _tested(of_strata([stratum.mean for stratum in strata.strata]), about),
        _tested(strata.test(by_size=True), about),
        tuple(replace(on, found=found) for on, found in zip(on_datasets, deltas, strict=True)),
        tuple(missing),
        (*notes, *equal),
    )


def _tested(test: TTest, about: About) -> Estimate:
    return Estimate(about=about, t=test, ci=test.ci, p_value=test.p_value, p_adjusted=test.p_value)


def adjusted_jointly(comparisons: Sequence[SuiteComparison]) -> tuple[SuiteComparison, ...]:
    """Return the comparisons with p-values of their macro means corrected together (Holm)."""
    macros = adjusted([comparison.macro for comparison in comparisons])
    return tuple(replace(of, macro=macro) for of, macro in zip(comparisons, macros, strict=True))
