"""Two runs, metric by metric: from paired arrays to typed results with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.estimate import T_TEST, adjusted, at, estimate, sliced, without_inference
from ndcg_tracker.compare.options import Methods
from ndcg_tracker.compare.pair import Pairing
from ndcg_tracker.compare.results import (
    ENDS,
    TIED,
    About,
    Comparison,
    End,
    Estimate,
    GroupCounts,
    GroupDelta,
    JudgedShare,
    LabelSetRef,
    NotComparable,
    RunRef,
    Suite,
    Unjudged,
    ties_note,
)
from ndcg_tracker.compare.sample import Sample, Strata
from ndcg_tracker.compare.where import ranked, where
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.statistics.t_test import checked_weights
from ndcg_tracker.words.notes import Fact, Note, all_one_notes, carry_command, typed
from ndcg_tracker.words.texts import DatasetName, sample_command

if TYPE_CHECKING:
    from ndcg_tracker.compare.slices import AttributeValues, Slicing

GroupNames = Callable[[Index], Sequence[str]]


@dataclass(frozen=True)
class PairedResults:
    """One metric of two runs, ready to be compared.

    ``about``: what an estimate of it is about. ``every``: the sample of all paired groups, also of weight 0. ``means``:
    the means of baseline and candidate if they are not a (weighted) mean of the group results. ``no_inference``: why no
    test applies, None if one does (``empty_weight=one``); of a metric that is shown but not compared, a note about
    that. ``not_judged``: which runs have no judged item that the metric counts, None if both have some. ``ends``: the
    differences at both ends of what unjudged items may be worth, if these are known. ``unreached``: a note that labels
    do not reach both runs, None if they do. ``others``: the estimates without drawn answers. ``graded``: labels with
    answers that are too few to decide, None for the stored labels.
    """

    about: About
    pairing: Pairing
    every: Sample
    means: tuple[float, float] | None = None
    no_inference: Note | None = None
    not_judged: NotComparable | None = None
    ends: Mapping[End, Floats] = field(default_factory=dict)
    unreached: Note | None = None
    others: Mapping[str, Estimate] = field(default_factory=dict)
    graded: LabelLists | None = None

    def knowing(self, **facts: Any) -> PairedResults:
        """Return the same with other facts in ``about``."""
        return replace(self, about=replace(self.about, **facts))

    def of(self, places: Index) -> PairedResults:
        """Return the same for some of the groups."""
        pairing, every, clusters = self.pairing, self.every.of(places), self.about.clusters
        baseline, candidate = pairing.baseline[places], pairing.candidate[places]
        pairing = replace(pairing, group_ids=pairing.group_ids[places], baseline=baseline, candidate=candidate)
        return replace(self, pairing=pairing, every=every).knowing(
            groups=replace(self.about.groups, paired=every.n),
            clusters=clusters and replace(clusters, n=every.n_clusters),
        )

    def valued(self, baseline: Floats, candidate: Floats) -> PairedResults:
        """Return the same groups with other results, of which neither other means nor ties are known."""
        pairing = replace(self.pairing, baseline=baseline, candidate=candidate)
        every = replace(self.every, delta=pairing.delta, values=(baseline, candidate))
        return replace(self, pairing=pairing, every=every, means=None).knowing(tie_effect=None)

    @cached_property
    def counts(self) -> Index | None:
        """The places of the groups that count; None for all."""
        weights = self.every.weights
        if weights is None or checked_weights(self.every.delta, weights).all():
            return None
        return np.flatnonzero(weights)

    @cached_property
    def sample(self) -> Sample:
        """The sample of the groups that count."""
        return self.every if self.counts is None else self.every.of(self.counts)

    def at(self, end: End) -> Sample:
        """Return the sample at one end of what unjudged items may be worth."""
        moved = self.every.moved((self.pairing.baseline + self.ends[end]) - self.pairing.baseline)
        return moved if self.counts is None else moved.of(self.counts)

    def counted(self, by: Slicing) -> Slicing:
        """Return a slicing of the groups that count."""
        return by if self.counts is None else by.at(self.counts)


@dataclass(frozen=True)
class SuiteResults:
    """One metric of two systems on the datasets of a suite: ``parts``, by dataset (see ``PairedResults``)."""

    parts: Mapping[str, PairedResults]

    no_inference = means = not_judged = None

    @property
    def sample(self) -> Strata:
        """The samples of the datasets as strata."""
        return Strata({dataset: paired.sample for dataset, paired in self.parts.items()})

    every = sample

    @property
    def ends(self) -> tuple[End, ...]:
        """Both ends of what unjudged items may be worth, none if no end is known."""
        return ENDS if any(paired.ends for paired in self.parts.values()) else ()

    def at(self, end: End) -> Strata:
        """Return the strata at one end of what unjudged items may be worth."""
        return Strata({name: of.at(end) if of.ends else of.sample for name, of in self.parts.items()})

    @property
    def unreached(self) -> Note | None:
        """A note that labels do not reach both systems somewhere."""
        return next((paired.unreached for paired in self.parts.values() if paired.unreached is not None), None)

    def _unjudged(self) -> Unjudged | None:
        """Return what unjudged items leave open, with the mean judged share of the datasets that leave some open."""
        opened = [of.about.unjudged for of in self.parts.values() if of.about.unjudged is not None]
        if not opened:
            return None
        sides = zip(*((left.share.baseline, left.share.candidate) for left in opened), strict=True)
        baseline, candidate = (None if None in side else sum(filter(None, side)) / len(side) for side in sides)
        share = JudgedShare(opened[0].share.cutoff, baseline, candidate)
        stop = None if any(left.stop is None for left in opened) else opened[0].stop  # a known end leaves the mean open
        return Unjudged(share, sum(left.n_items for left in opened), stop=stop)

    def counted(self, by: Slicing) -> Slicing:
        """Return a slicing of the groups that count."""
        return by

    @property
    def about(self) -> About:
        """What an estimate of the macro mean is about."""
        each = [paired.about for paired in self.parts.values()]
        first, clusters = each[0], each[0].clusters
        counts = [of.name for of in fields(GroupCounts) if of.name != "missing"]
        groups = {name: sum(getattr(of.groups, name) for of in each) for name in counts}
        return About(
            metric=first.metric,
            requested_as=first.requested_as,
            groups=replace(first.groups, **groups),
            clusters=clusters and replace(clusters, n=sum(of.clusters.n for of in each if of.clusters)),
            unjudged=self._unjudged(),
            judge_alone=next((of.judge_alone for of in each if of.judge_alone), ""),
        )

    @property
    def others(self) -> dict[str, Estimate]:
        """The macro mean for other datasets like these, and the mean of all groups."""
        from ndcg_tracker.statistics.stratified import of_strata

        tests = of_strata([stratum.mean for stratum in self.sample.strata]), self.sample.test(by_size=True)
        return {
            name: Estimate(about=self.about, t=test, ci=test.ci, p_value=test.p_value, p_adjusted=test.p_value)
            for name, test in zip(("over_datasets", "micro"), tests, strict=True)
        }


Results = PairedResults | SuiteResults


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of groups that a comparison looks at.

    ``slices``: those to slice by; ``left_out``: those with too many values, and how many; ``are_shown``: whether
    somebody asked for them. ``clusters``: the one that makes clusters, None where nobody asked.
    """

    slices: tuple[AttributeValues, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    are_shown: bool = False
    clusters: AttributeValues | None = None


NO_ATTRIBUTES = Attributes()


def compare_runs(
    runs: Comparison,
    results: Sequence[PairedResults],
    group_names: GroupNames,
    *,
    methods: Methods = T_TEST,
    top: int = 10,
    by: Attributes = NO_ATTRIBUTES,
) -> Comparison:
    """Return the comparison of two runs under one label set.

    Parameters: ``runs``: what is known of them besides their results. ``results``: at least one metric; the first one
    decides the counts of groups and the worst and best
    groups. ``group_names``: returns the ids of groups for their numbers (int64), in the same order. ``top``: how many
    worst and best groups to keep. ``by``: attributes whose slices of the first metric's groups are looked at, always by
    t-tests; if nobody asked for them, only those that stand out are returned. Raises: ValueError without any metric;
    InputError for methods that do not apply (weights with "wilcoxon", differences beyond 1 with "betting", slices where
    no test applies).
    """
    if not results:
        raise ValueError("a comparison needs at least one metric")
    metrics = compare_metrics(results, methods)
    first = results[0]
    if first.about.shown_only is not None or first.every.drawn is not None:
        top = 0  # no value says which group is worse: of no quality, or not labelled by people
    if by.are_shown and first.no_inference is not None:
        raise InputError(f"{first.about.metric} cannot be sliced: no test applies", advice="name another metric first")
    found, slices = None, None
    if by.slices and first.no_inference is None and first.about.shown_only is None:
        slicings = [first.counted(of.of(first.pairing.group_ids)) for of in by.slices]
        found, aparts = where(first.sample, slicings)
        found = replace(found, left_out=by.left_out)
        if by.are_shown:
            slices = ranked(sliced(first.sample, slicings), found, aparts)
    has_ties = any(metric.about.tie_effect is not None and metric.about.tie_effect.is_open for metric in metrics)
    runs_notes = [note for note in runs.notes if has_ties or note.kind != "tie_orders"]
    comparison = replace(
        runs,
        groups=metrics[0].about.groups,
        metrics=metrics,
        worst=extreme_groups(first, group_names, top=top, sign=-1),
        best=extreme_groups(first, group_names, top=top, sign=1),
        notes=(*runs_notes, *_equal_metrics(results, metrics)),
        slices=slices,
        where=found,
        are_labels_asked=runs.are_labels_asked or any(note.kind == "newer_labels" for note in runs.notes),
    )
    return _with_metric_notes(comparison)


_OF_METRICS = ("ties", "nothing_judged", "all_one", "unjudged_zero", "unjudged_open", "judge_unchecked")


def _with_metric_notes(comparison: Comparison) -> Comparison:
    """Return the comparison with the current notes on its metrics; those on a suite are about its datasets."""
    metrics = comparison.metrics
    if comparison.suite is not None:
        return comparison
    notes = [note for note in comparison.notes if note.kind not in _OF_METRICS]
    notes += [
        ties_note(metric.about.tie_effect, metric.metric)
        for metric in metrics
        if metric.ties_could_change_verdict and metric.about.tie_effect is not None
    ]
    unjudged = [metric.metric for metric in metrics if metric.about.not_comparable == "nothing_judged"]
    if unjudged:
        notes.append(Note("nothing_judged", {"metrics": unjudged}, carry_command(comparison.dataset)))
    same = [metric for metric in metrics if metric.verdict == "identical"]
    notes += all_one_notes((metric.about.requested_as or metric.metric, metric.baseline, metric.n) for metric in same)
    notes += _of_open(comparison)
    names = {metric.metric: metric.about.requested_as or metric.metric for metric in metrics}
    return replace(comparison, notes=tuple(typed(note, names) for note in notes))


def _equal_metrics(results: Sequence[PairedResults], metrics: Sequence[Estimate]) -> list[Note]:
    """Return a note on the first two tested metrics that are equal in every group of both runs."""
    tested = [
        (paired.pairing, metric.metric) for paired, metric in zip(results, metrics, strict=True) if metric.p_value
    ]
    for (pairing, name), (other, other_name) in combinations(tested, 2):
        if np.array_equal(pairing.baseline, other.baseline) and np.array_equal(pairing.candidate, other.candidate):
            return [Note("equal_metrics", {"metrics": [name, other_name]})]
    return []


def _of_open(comparison: Comparison) -> list[Note]:
    """Return notes on what unjudged items leave open: why it is not known of a metric, and how to settle a verdict."""
    notes, sides = list[Note](), (comparison.baseline, comparison.candidate)
    lefts = [(of, of.about.unjudged) for of in comparison.metrics if of.about.unjudged is not None]
    for metric, left in [(metric, left) for metric, left in lefts if left.stop is not None][:1]:
        notes.append(Note("unjudged_zero", {"metric": metric.metric, "stop": left.stop}))
    names = [run.runs[0].name if run.runs else run.name for run in sides]
    for judge in {of.about.judge_alone for of in comparison.metrics if of.open == "judge not checked"}:
        notes.append(Note("judge_unchecked", {"judge": judge}, sample_command(names, judge, comparison.dataset)))
    for metric, left in [(of, left) for of, left in lefts if of.is_open and of.open != "judge not checked"][:1]:
        n_items = None if any(run.runs for run in sides) else left.n_items
        notes.append(closing_note(comparison, metric.metric, names, n_items, left.n_groups))
    return notes


def closing_note(
    comparison: Comparison,
    metric: str,
    names: Sequence[str],
    n_items: int | None = None,
    n_groups: int | None = None,
) -> Note:
    """Return a note with the command that settles what unjudged items leave open; ``names``: one run of each side.

    ``n_items``, ``n_groups``: how many items are unjudged, and in how many groups; None if that is not known.
    """
    labels = comparison.label_set
    facts: dict[str, Fact] = {"metric": metric, "n": n_items, "n_groups": n_groups}
    if n_items and not labels.judge and not comparison.are_labels_asked:
        from ndcg_tracker.compare.drawn import why_not_drawn

        if why_not_drawn(parse_metric(metric)) is None:
            command = sample_command(names, "", comparison.dataset, metric=metric, budget=n_items)
            return Note("unjudged_open", facts, command)
    chosen = ("--judge", labels.judge) if labels.judge else ()
    if comparison.are_labels_asked:
        chosen = (*chosen, "--labels", str(labels.version))
    words = (*dict.fromkeys(names), "--metric", metric, "--dataset", comparison.dataset, "--all", *chosen)
    return Note("unjudged_open", facts, ("ndcg-track", "labels", "needed", *words))


def compare_metrics(results: Sequence[Results], methods: Methods = T_TEST) -> tuple[Estimate, ...]:
    """Return the comparison of each metric, the p-values Holm-corrected over all of them.

    The verdict is "improved" or "regressed" if the corrected p is below .05, by the sign of delta and the metric's
    direction. It is "identical" if every difference is 0, and "not_comparable" if no group counts, or if every
    difference is 0 because neither run has a judged item that the metric counts. Otherwise it is
    "no_difference_detected". That includes cases that no test can decide: a single group, the same nonzero difference
    in every group, and a metric without inference. Then a warning says so, p and interval are None, and only delta is
    known. A metric that is only shown (``About.shown_only``) has no verdict at all.

    Parameters and raises: as ``compare_runs``.
    """
    return adjusted([compared(metric, methods) for metric in results])


def suite_comparison(name: str, systems: tuple[str, str], results: Sequence[SuiteResults], suite: Suite) -> Comparison:
    """Return the comparison over a suite; ``results``: by metric."""
    each, metrics = suite.each, compare_metrics(results)
    judges = {of.label_set.judge for of in each}
    slices = [
        replace(of.metrics[at], about=replace(of.metrics[at].about, attribute="dataset", value=of.dataset))
        for at in range(len(results))
        for of in each
    ]
    corrected = (adjusted(slices[at : at + len(each)]) for at in range(0, len(slices), len(each)))
    equal = (
        dataset
        for of in results
        for dataset, stratum in zip(of.parts, of.sample.strata, strict=True)
        if stratum.standard_error is None and stratum.n > 1
    )
    return Comparison(
        RunRef(systems[0], None),
        RunRef(systems[1], None),
        DatasetName.over(name, (of.dataset for of in each)),
        LabelSetRef(0, "", judges.pop() if len(judges) == 1 else ""),
        metrics[0].about.groups,
        metrics,
        notes=(
            *(replace(note, dataset=of.dataset) for of in each for note in of.notes),
            *(Note("equal_values", dataset=dataset) for dataset in dict.fromkeys(equal)),
        ),
        slices=tuple(chain(*corrected)),
        are_labels_asked=each[0].are_labels_asked,
        suite=suite,
    )


def adjusted_jointly(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return several candidates' comparisons with one baseline, Holm-corrected over all of their metrics together."""
    every = adjusted([metric for comparison in comparisons for metric in comparison.metrics])
    corrected, done = [], 0
    for comparison in comparisons:
        own = every[done : done + len(comparison.metrics)]
        corrected.append(_with_metric_notes(replace(comparison, metrics=own)))
        done += len(comparison.metrics)
    return tuple(corrected)


def extreme_groups(results: PairedResults, group_names: GroupNames, *, top: int, sign: int) -> tuple[GroupDelta, ...]:
    """Return the groups that got worse or better by most, the largest change first, equal ones by key in byte order.

    Parameters: ``top``: how many at most. ``sign``: -1 for the worst groups, 1 for the best. Groups that did not move
    that way, or have weight 0, are never among them.
    """
    pairing, every = results.pairing, results.every
    moves = sign * every.gains.delta
    sign = sign if every.direction == "higher" else -sign
    places = np.flatnonzero(moves > 0 if every.weights is None else (moves > 0) & (every.weights > 0))
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


def compared(results: Results, methods: Methods = T_TEST) -> Estimate:
    """Return one metric's comparison, as if it were the only one."""
    sample = results.sample
    found = estimate(sample, methods, untestable=results.no_inference, about=results.about)
    if not sample.n:
        unknown: NotComparable | None = "no_group"
    elif results.not_judged == "nothing_judged" and found.settled != "identical":
        unknown = None
    else:
        unknown = results.not_judged
    if unknown is None and results.unreached is not None and results.unreached.kind == "other_ids":
        unknown = "other_ids"
    means: tuple[float | None, float | None] = results.means or (None, None)
    if results.means is not None and sample.n:
        found = replace(found, t=replace(found.t, mean=results.means[1] - results.means[0]))
    elif sample.n:
        means = results.every.means
    found = replace(found, means=means, others={**found.others, **results.others})
    n_weightless = found.about.groups.paired - sample.n
    weightless = (Note("weightless", {"n": n_weightless}),) if n_weightless else ()
    if found.about.shown_only is not None:
        told = without_inference(found)
        return replace(told, settled="shown", equivalence=None, warnings=tuple(filter(None, [results.no_inference])))
    if unknown is not None:
        warnings = () if unknown == "other_ids" else (*weightless, *(found.warnings if unknown == "no_group" else ()))
        found = replace(without_inference(replace(found, settled="not_comparable")), warnings=warnings)
        if unknown != "other_ids":
            found = replace(found, t=replace(found.t, mean=None))
        return replace(found, about=replace(found.about, not_comparable=unknown))
    ends: dict[str, Estimate] = {
        end: estimate(results.at(end), methods, untestable=results.no_inference) for end in results.ends
    }
    effect = found.about.tie_effect
    if effect is not None and effect.is_open and found.p_value is not None and found.standard_error:
        ends |= {name: at(found, delta) for name, delta in zip(TIED, effect.delta, strict=True)}
    return replace(found, warnings=(*weightless, *found.warnings), others={**found.others, **ends})
