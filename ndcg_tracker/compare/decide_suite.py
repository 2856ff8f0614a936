"""Two systems on the datasets of a suite: one comparison whose sample has a stratum for each dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.estimate import adjusted, estimate
from ndcg_tracker.compare.reach import joined
from ndcg_tracker.compare.results import (
    ENDS,
    About,
    Clusters,
    Comparison,
    End,
    Estimate,
    GroupCounts,
    LabelSetRef,
    RunRef,
    Suite,
    Unjudged,
)
from ndcg_tracker.compare.sample import Strata
from ndcg_tracker.statistics.stratified import of_strata
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import DatasetName


@dataclass(frozen=True)
class SuiteResults:
    """One metric of two systems on the datasets of a suite (see ``PairedResults``)."""

    parts: Mapping[str, PairedResults]

    drawn = check = tie_effect = no_inference = means = weights = None

    @property
    def sample(self) -> Strata:
        """The samples of the datasets as strata."""
        return Strata({dataset: paired.sample for dataset, paired in self.parts.items()})

    @property
    def ends(self) -> tuple[End, ...]:
        """Both ends of what unjudged items may be worth, none if no end is known."""
        return ENDS if any(paired.ends for paired in self.parts.values()) else ()

    def at(self, end: End) -> Strata:
        """Return the strata at one end of what unjudged items may be worth."""
        return self.sample.moved({dataset: paired.ends[end] for dataset, paired in self.parts.items() if paired.ends})

    @property
    def unjudged(self) -> Unjudged | None:
        """What unjudged items leave open."""
        return joined(paired.unjudged for paired in self.parts.values())

    @property
    def unreached(self) -> Note | None:
        """A note that labels do not reach both systems somewhere."""
        return next((paired.unreached for paired in self.parts.values() if paired.unreached is not None), None)

    @property
    def judge_alone(self) -> str:
        """The named judge whose labels decide although nobody checked them, "" for none."""
        return next((paired.judge_alone for paired in self.parts.values() if paired.judge_alone), "")

    def counted(self, values: Sequence[str | None]) -> Sequence[str | None]:
        """Return the values of an attribute of the groups that count."""
        return values


def suite_comparison(
    name: str, systems: tuple[str, str], each: Sequence[Comparison], results: Sequence[SuiteResults], suite: Suite
) -> Comparison:
    """Return the comparison over a suite. Parameters: ``each``: by dataset. ``results``: by metric."""
    judges = {of.label_set.judge for of in each}
    of_metrics = [
        adjusted([replace(of.metrics[at], about=_named(of, at)) for of in each]) for at in range(len(results))
    ]
    metrics = tuple(_macro(of, deltas) for of, deltas in zip(results, of_metrics, strict=True))
    notes = [replace(note, dataset=of.dataset) for of in each for note in of.notes]
    equal = (
        dataset
        for of in results
        for dataset, stratum in zip(of.parts, of.sample.strata, strict=True)
        if stratum.standard_error is None and stratum.n > 1
    )
    notes += [Note("equal_values", dataset=dataset) for dataset in dict.fromkeys(equal)]
    return Comparison(
        RunRef(systems[0], None),
        RunRef(systems[1], None),
        DatasetName.over(name, (of.dataset for of in each)),
        LabelSetRef(0, "", judges.pop() if len(judges) == 1 else ""),
        metrics[0].about.groups,
        adjusted(metrics),
        notes=tuple(notes),
        slices=tuple(delta for deltas in of_metrics for delta in deltas),
        are_labels_asked=each[0].are_labels_asked,
        suite=suite,
    )


def _named(of: Comparison, at: int) -> About:
    return replace(of.metrics[at].about, attribute="dataset", value=of.dataset)


def _macro(results: SuiteResults, deltas: Sequence[Estimate]) -> Estimate:
    """Return the macro mean, for other groups of these datasets; ``deltas``: of the datasets."""
    first, strata, clusters = deltas[0].about, results.sample, [of.about.clusters for of in deltas]
    counts = [of.name for of in fields(GroupCounts) if of.name != "missing"]
    groups = {name: sum(getattr(of.about.groups, name) for of in deltas) for name in counts}
    about = About(
        metric=first.metric,
        requested_as=first.requested_as,
        groups=replace(first.groups, **groups),
        clusters=first.clusters and Clusters(first.clusters.attribute, sum(of.n for of in clusters if of)),
        unjudged=results.unjudged,
        judge_alone=results.judge_alone,
    )
    others: dict[str, Estimate] = {end: estimate(results.at(end)) for end in results.ends}
    others["over_datasets"] = _tested(of_strata([stratum.mean for stratum in strata.strata]), about)
    others["micro"] = _tested(strata.test(by_size=True), about)
    return replace(estimate(strata, about=about), others=others)


def _tested(test: TTest, about: About) -> Estimate:
    return Estimate(about=about, t=test, ci=test.ci, p_value=test.p_value, p_adjusted=test.p_value)
