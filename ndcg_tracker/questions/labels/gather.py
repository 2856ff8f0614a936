"""What is read of labels: versions, their difference, what is left to judge, two judges, a comparison under each."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import arm_or_run, named_runs
from ndcg_tracker.compare.decide import adjusted_jointly, compare_metrics
from ndcg_tracker.compare.gather import CompareOptions, compared
from ndcg_tracker.compare.gather_results import paired_results
from ndcg_tracker.compare.results import Comparison, RunRef
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_command, check_one_dataset, label_set_ref
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.kernel.mean import GroupValues, aligned_weights
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import possible_moves, unjudged_items, what_stops
from ndcg_tracker.questions.labels.decide import (
    Conclusion,
    GradeFrequency,
    JudgesAgreement,
    LabelsDiff,
    LabelVersion,
    NeededLabels,
    RunUnderJudges,
    VersionsComparison,
    judges_kappa,
    kendall_tau,
    labels_diff,
    most_needed,
    turned_verdicts,
)
from ndcg_tracker.questions.labels.say import NeededFormat, needed_said, versions_said
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.labels import GROUPS_AT_ONCE, HELD_LABELS, numbered_labels
from ndcg_tracker.runs.scoring import stored_weights
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    from ndcg_tracker.compare.results import MetricComparison
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def label_versions(tx: ReadTransaction, dataset_name: str, judge: str | None = None) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, of a judge or of all, oldest first; they are read to be counted."""
    dataset = tx.datasets.known(dataset_name)
    n_runs = tx.evaluations.runs_by_label_set(dataset.id)
    versions = []
    for label_set in tx.labels.sets(dataset.id, judge):
        if label_set.judge in NO_LABELS_HERE:
            continue
        n_items, grades = _contents(tx, label_set)
        sizes = label_set.n_groups, n_items, label_set.n_labels, grades, n_runs.get(label_set.id, 0), label_set.judge
        versions.append(
            LabelVersion(
                dataset.name, label_set.version, label_set.digest, label_set.created_at_utc, label_set.source, *sizes
            )
        )
    return versions


def _contents(tx: ReadTransaction, label_set: LabelSetRecord) -> tuple[int, tuple[GradeFrequency, ...]]:
    """Return how many different items have labels, and how often each grade was given."""
    items, grades = np.empty(0, dtype=np.uint64), Counter[float]()
    for lists in _blocks(tx, label_set):
        items = np.union1d(items, lists.item_keys.hashes())
        levels, counts = np.unique(lists.grades, return_counts=True)
        grades.update(dict(zip(levels.tolist(), counts.tolist(), strict=True)))
    return items.size, tuple(GradeFrequency(grade, grades[grade]) for grade in sorted(grades))


def _blocks(tx: ReadTransaction, label_set: LabelSetRecord) -> Iterator[LabelLists]:
    if label_set.n_labels <= HELD_LABELS:
        yield tx.labels.lists(label_set.id)
        return
    ids = tx.labels.group_ids(label_set.id)
    for first in range(0, ids.size, GROUPS_AT_ONCE):
        yield tx.labels.lists(label_set.id, ids[first : first + GROUPS_AT_ONCE])


def label_sets_diff(
    tx: ReadTransaction, dataset_name: str, first: int, second: int | None = None, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels, by default between one and its judge's newest."""
    dataset = tx.datasets.known(dataset_name)
    before = numbered_labels(tx, dataset.id, dataset.name, first)
    after = numbered_labels(tx, dataset.id, dataset.name, second, before.judge if second is None else None)
    first_lists, second_lists = (tx.labels.lists(label_set.id) for label_set in (before, after))
    return labels_diff(dataset.name, (label_set_ref(before), label_set_ref(after)), first_lists, second_lists, top=top)


def labels_needed(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidates: Sequence[RunRecord],
    metric: Metric | None,
    budget: int | None,
    judge: str | None = None,
) -> NeededLabels:
    """Return which items to judge next (see ``Tracker.labels_needed``).

    Raises: InputError for a budget below 1, a metric without bounds, and labels without a grade that is worth
    something; NotComparableError for runs of several datasets, or without a metric in common.
    """
    if budget is not None and budget < 1:
        raise InputError(f"the budget must be 1 label or more, not {budget}")
    if not candidates:
        raise InputError("what to judge next takes two runs or more", advice="name a candidate after the baseline")
    for candidate in candidates:
        check_one_dataset(baseline, candidate, "judged together")
    label_set = numbered_labels(tx, baseline.dataset_id, baseline.dataset, judge=judge)
    labels, weights = tx.labels.lists(label_set.id), stored_weights(tx, baseline.dataset_id)
    metric = _metric(tx, [baseline, *candidates], metric, np.unique(labels.grades), labels.n_groups)
    judged_baseline = judged(tx.runs.ranking(baseline.id), labels)
    moves, unjudged = [], set[tuple[str, str]]()
    for candidate in candidates:
        of_candidate = _moves(judged_baseline, judged(tx.runs.ranking(candidate.id), labels), metric, weights)
        unjudged.update(of_candidate)
        moves.append(of_candidate)
    return NeededLabels(
        RunRef(baseline.name, baseline.id),
        tuple(RunRef(candidate.name, candidate.id) for candidate in candidates),
        baseline.dataset,
        label_set_ref(label_set),
        str(metric),
        len(unjudged),
        most_needed(moves, budget),
    )


def _metric(
    tx: ReadTransaction, runs: Sequence[RunRecord], metric: Metric | None, grades: Floats, n_groups: int
) -> Metric:
    """Return the metric that was asked for, else the first that all runs have and that has bounds."""
    if metric is not None:
        stop = what_stops(metric, grades, n_groups)
        if stop is not None:
            what = "for this measure" if stop == "measure" else f"with {stop}"
            raise InputError(
                f"how far unjudged items leave it open is not known {what}",
                where=metric.requested_as,
                advice=f"use {argument('metric', 'ndcg@10')}",
            )
        return metric
    evaluated = [[evaluation.metric for evaluation in tx.evaluations.of_run(run.id)] for run in runs]
    shared = [parse_metric(text) for text in evaluated[0] if all(text in of_run for of_run in evaluated[1:])]
    bounded = [shared_metric for shared_metric in shared if what_stops(shared_metric, grades, n_groups) is None]
    if not bounded:
        raise NotComparableError(
            "the runs share no metric of which is known how far unjudged items leave it open, such as ndcg@10",
            advice=f"type: {shlex.join(adding_command(runs, ['ndcg@10']))}",
        )
    return bounded[0]


def _moves(
    baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, weights: GroupWeights | None
) -> dict[tuple[str, str], float]:
    """Return how far each unjudged item could move the mean difference, by group and item."""
    values: list[GroupValues] = [group_values(side, [metric])[0] for side in (baseline, candidate)]
    keys = values[0].group_keys
    before, after = values[0].values, np.append(values[1].values, np.nan)[places_of(keys, values[1].group_keys)]
    paired = np.flatnonzero(~np.isnan(before + after))
    of_groups = aligned_weights(values[0], weights)
    shares = np.ones(paired.size) if of_groups is None else of_groups[paired]
    keys = keys.take(paired)
    items = unjudged_items(baseline, candidate, metric, keys)
    moves = (
        possible_moves(items, before[paired], after[paired]) * (shares / max(float(shares.sum()), 1e-300))[items.groups]
    )
    pairs = zip(keys.take(items.groups).to_list(), items.keys.to_list(), strict=True)
    return dict(zip(pairs, moves.tolist(), strict=True))


@dataclass(frozen=True, repr=False)
class LabelsNeededResult(Answer):
    """What to judge next; notebooks and ``print`` show it as a table.

    ``needed``: the typed rows. ``to_frame`` has a row per item: group, item, and how far its grade could move the mean
    difference.
    """

    needed: NeededLabels

    def save(self, path: str | os.PathLike[str], format: NeededFormat = "csv") -> None:
        """Write the items for judges, as a file that ``labels add`` reads once grades are filled in.

        ``format``: "csv", "quepid" or "elasticsearch", or one without a place for grades. Raises: InputError where it
        cannot be written.
        """
        from ndcg_tracker.render.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(self._said().in_format(format))

    def _said(self) -> Said:
        return needed_said(self.needed)


def judges_agreement(
    tx: ReadTransaction, dataset_name: str, judges: Sequence[str], metric: Metric, *, top: int = 10
) -> JudgesAgreement:
    """Return how far the newest labels of two judges agree, and how the runs that have a metric fare under each.

    ``judges``: two; one is compared with the unnamed judge, as is the only named one if none is given. ``top``: how
    many labels to keep of those whose grades differ. Raises: InputError where it is not clear which two, or one has no
    labels.
    """
    dataset = tx.datasets.known(dataset_name)
    two = _two(tx, dataset.id, dataset.name, judges)
    first, second = sets = [numbered_labels(tx, dataset.id, dataset.name, judge=judge) for judge in two]
    first_lists, second_lists = (tx.labels.lists(label_set.id) for label_set in sets)
    text, runs = str(metric), tx.runs.all(dataset.name)
    evaluations = [tx.evaluations.of_run(run.id) for run in runs]
    sides = [
        [Side.of(run, label_set, of_run) for run, of_run in zip(runs, evaluations, strict=True)] for label_set in sets
    ]
    has_metric = [{side.run.id for side in of_set if text in side.evaluations} for of_set in sides]
    notes = [
        _left_out(label_set, [run for run in runs if run.id in there - here], text)
        for label_set, here, there in zip(sets, has_metric, reversed(has_metric), strict=True)
        if there - here
    ]
    evaluated = [[side for side in of_set if side.run.id in has_metric[0] & has_metric[1]] for of_set in sides]
    order = _means(evaluated[0], evaluated[1], text)
    pairs = list(combinations(range(len(evaluated[0])), 2))
    verdicts = [[_compared(tx, of_set[i], of_set[j], metric) for i, j in pairs] for of_set in evaluated]
    names = [(evaluated[0][i].run.name, evaluated[0][j].run.name) for i, j in pairs]
    return JudgesAgreement(
        labels_diff(dataset.name, (label_set_ref(first), label_set_ref(second)), first_lists, second_lists, top=top),
        judges_kappa(first_lists, second_lists),
        text,
        order,
        kendall_tau(order),
        len(pairs),
        turned_verdicts(names, *verdicts),
        tuple(notes),
    )


def _left_out(label_set: LabelSetRecord, runs: Sequence[RunRecord], metric: str) -> Note:
    """Return a note on runs that lack a metric under the labels of one judge."""
    command = adding_command(runs, [metric], judge=label_set.judge)
    facts: dict[str, Fact] = {"version": label_set.version, "judge": label_set.judge, "n": len(runs)}
    return Note("not_under_judge", {**facts, "metrics": [metric]}, command)


def _two(tx: ReadTransaction, dataset_id: int, dataset: str, judges: Sequence[str]) -> Sequence[str]:
    """Return the two judges that are meant."""
    if len(judges) > 2 or len(set(judges)) < len(judges):
        given = ", ".join(map(repr, judges))
        raise InputError(f"two judges are held against each other, not {given}", advice="name two")
    if len(judges) == 2:
        return judges
    if judges:
        return ["", *judges]
    named = list(dict.fromkeys(label_set.judge for label_set in tx.labels.sets(dataset_id, None) if label_set.judge))
    if not named:
        advice = "add some with ndcg-track labels add FILE --judge NAME"
        raise InputError(f"dataset {dataset!r} has no labels of a named judge", advice=advice)
    if len(named) > 1:
        raise InputError(
            f"dataset {dataset!r} has labels of judges {', '.join(map(repr, named))}",
            advice=f"choose with {argument('judge')}",
        )
    return ["", *named]


def _means(first: Sequence[Side], second: Sequence[Side], metric: str) -> tuple[RunUnderJudges, ...]:
    """Return the runs that have a mean under both, best first under the first judge."""
    runs = []
    for under_first, under_second in zip(first, second, strict=True):
        means = under_first.evaluations[metric].mean, under_second.evaluations[metric].mean
        if means[0] is not None and means[1] is not None:
            runs.append(RunUnderJudges(under_first.run.name, means[0], means[1]))
    return tuple(sorted(runs, key=lambda run: -run.first))


def _compared(tx: ReadTransaction, baseline: Side, candidate: Side, metric: Metric) -> MetricComparison:
    both = RunPair.of(baseline, candidate, (metric,), baseline.label_set.version, are_labels_named=True)
    return compare_metrics([paired_results(tx, both, metric, "intersect")])[0]


def compared_versions(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> VersionsComparison:
    """Return the comparison of a run or an arm with each candidate under every version of the labels that has both.

    Without metrics, those that all versions of a candidate have, if any, so that p-values are corrected over the same
    ones. Parameters and raises: as ``compared``.
    """
    names = named_runs(tx, candidates, options.dataset, baseline)
    arms = {name: arm_or_run(tx, name, options.dataset) for name in (baseline, *names)}
    versions = [
        label_set.version for label_set in tx.labels.sets(arms[baseline].runs[0].dataset_id, options.judge or "")
    ]
    comparisons_of: dict[str, dict[int, Comparison]] = {name: {} for name in names}
    lacking: list[tuple[str, int]] = []
    for name, version in product(names, versions):
        try:
            (pair,) = compared(tx, baseline, [name], replace(options, labels=version))
            comparisons_of[name][version] = pair.comparison
        except NotComparableError:
            lacking.append((name, version))
    if not any(comparisons_of.values()):
        compared(tx, baseline, candidates, options)  # raises the reason
    for name, of_name in comparisons_of.items():
        texts = [[metric.metric for metric in comparison.metrics] for comparison in of_name.values()]
        shared = [text for text in texts[-1] if all(text in of_version for of_version in texts)] if texts else []
        for version, comparison in of_name.items():
            if shared and len(comparison.metrics) > len(shared):
                chosen = replace(options, labels=version, metrics=tuple(map(parse_metric, shared)))
                (pair,) = compared(tx, baseline, [name], chosen)
                of_name[version] = pair.comparison
    for version in versions:
        beside = [name for name in comparisons_of if version in comparisons_of[name]]
        if len(beside) > 1:
            corrected = adjusted_jointly([comparisons_of[name][version] for name in beside])
            for name, comparison in zip(beside, corrected, strict=True):
                comparisons_of[name][version] = comparison
    every = [comparison for of_name in comparisons_of.values() for comparison in of_name.values()]
    metrics = list(dict.fromkeys(metric.metric for comparison in every for metric in comparison.metrics))
    notes = []
    for version in dict.fromkeys(version for _, version in lacking):
        without = [arms[name] for name, of in lacking if of == version]
        runs = [run for arm in (arms[baseline], *without) for run in arm.runs]
        command = adding_command(runs, metrics, version)
        notes.append(Note("not_evaluated", {"version": version, "runs": [arm.name for arm in without]}, command))
    return VersionsComparison(
        tuple(every), tuple((arms[name].name, version) for name, version in lacking), tuple(notes)
    )


@dataclass(frozen=True, repr=False)
class VersionsResult(Answer):
    """A baseline compared with its candidates under every version of the labels; notebooks show it as a report.

    ``found``: the typed rows. ``to_frame`` has a row per candidate, version and metric.
    """

    found: VersionsComparison

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The verdicts on each candidate and metric by version, and whether they change."""
        return self.found.conclusions

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.found.notes)

    def _said(self) -> Said:
        return versions_said(self.found)
