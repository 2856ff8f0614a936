"""Reading labels: versions, their difference, what is left to judge, a comparison under each; drawn items."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ndcg_tracker.asked import DEFAULT_METRIC
from ndcg_tracker.compare.arms import Arm, arm_or_run, named_runs
from ndcg_tracker.compare.decide import adjusted_jointly
from ndcg_tracker.compare.drawn import Aim, check_drawable, why_not_drawn
from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.gather_drawn import Answers, DrawnPair, answers_of
from ndcg_tracker.compare.gather_results import paired_results
from ndcg_tracker.compare.options import CompareOptions, LabelView
from ndcg_tracker.compare.results import Comparison, LabelSetRef, RunRef
from ndcg_tracker.compare.run_pair import (
    RunPair,
    adding_command,
    adding_words,
    check_one_dataset,
    label_set_ref,
    resolved_pair,
)
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.kernel.mean import GroupValues, aligned_weights
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import possible_moves, unjudged_items, what_stops
from ndcg_tracker.questions.labels.decide import (
    Conclusion,
    GradeFrequency,
    ItemToGrade,
    LabelsDiff,
    LabelsSample,
    LabelVersion,
    NeededLabels,
    VersionsComparison,
    labels_diff,
    most_needed,
)
from ndcg_tracker.questions.labels.question import NeededQuestion
from ndcg_tracker.questions.labels.say import versions_said
from ndcg_tracker.questions.labels.say_items import NeededFormat, needed_said, sample_said
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.designs import LARGEST_BUDGET, design_of, person_of
from ndcg_tracker.runs.groups import texts_of
from ndcg_tracker.runs.judges import chosen_judges, judges_of, numbered_labels
from ndcg_tracker.runs.labels import NO_LABELS, label_source
from ndcg_tracker.runs.scoring import stored_weights
from ndcg_tracker.statistics.drawn_queries import LEAST_DRAWN
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Fact, Note, in_words
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.ranking import GroupWeights
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


_FIRST_RANKS = 10
"""How many ranks a first batch has if the metric has no cutoff."""


def label_versions(tx: ReadTransaction, dataset_name: str, judge: str | None = None) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, of one judge or of all, oldest first, with counts of their labels."""
    dataset = tx.datasets.known(dataset_name)
    n_runs = tx.evaluations.runs_by_label_set(dataset.id)
    versions = []
    for label_set in tx.labels.sets(dataset.id, judge):
        if label_set.judge not in NO_LABELS_HERE:
            n_items, grades = _contents(tx, label_set)
            facts: dict[str, Any] = {of.name: getattr(label_set, of.name, None) for of in fields(LabelVersion)}
            of_runs = tuple((label_set.from_runs or {}).get("runs", ()))
            facts |= {"dataset": dataset.name, "n_items": n_items, "grades": grades}
            facts |= {"n_runs": n_runs.get(label_set.id, 0), "from_runs": of_runs}
            facts |= {name: label_set.told(name) for name in ("model", "prompt", "repeats", "left_out")}
            versions.append(LabelVersion(**facts))
    return versions


def _contents(tx: ReadTransaction, label_set: LabelSetRecord) -> tuple[int, tuple[GradeFrequency, ...]]:
    """Return how many different items have labels, and how often each grade was given."""
    items, grades = np.empty(0, dtype=np.uint64), Counter[float]()
    for lists in label_source(tx, label_set)().rest():
        items = np.union1d(items, lists.item_keys.hashes())
        levels, counts = np.unique(lists.grades, return_counts=True)
        grades.update(dict(zip(levels.tolist(), counts.tolist(), strict=True)))
    return items.size, tuple(GradeFrequency(grade, grades[grade]) for grade in sorted(grades))


def label_sets_diff(
    tx: ReadTransaction, dataset_name: str, first: int, second: int | None = None, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels; the default second is its judge's latest."""
    dataset = tx.datasets.known(dataset_name)
    before = numbered_labels(tx, dataset.id, dataset.name, first)
    after = numbered_labels(tx, dataset.id, dataset.name, second, before.judge if second is None else None)
    first_lists, second_lists = map(tx.labels.detailed, (before, after))
    return labels_diff(dataset.name, (label_set_ref(before), label_set_ref(after)), first_lists, second_lists, top=top)


def labels_needed(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidates: Sequence[RunRecord],
    question: NeededQuestion,
) -> NeededLabels:
    """Return which items to judge next (see ``Tracker.labels_needed``).

    Raises: InputError for a budget below 1, a metric without bounds, and labels whose grades are all worth nothing;
    NotComparableError for runs of several datasets, or without a common metric.
    """
    metric, budget, judge = question.metric, question.budget, question.judge
    if budget is not None and budget < 1:
        raise InputError(f"the budget must be 1 label or more, not {budget}")
    if not candidates:
        raise InputError("choosing what to judge takes two runs or more", advice="name a candidate after the baseline")
    for candidate in candidates:
        check_one_dataset(baseline, candidate, "judged together")
    runs = [baseline, *candidates]
    if judge is not None and question.labels is None and judge not in judges_of(tx, baseline.dataset_id):
        cutoff = None if metric is None else metric.cutoff
        metric, ref = parse_metric(DEFAULT_METRIC) if metric is None else metric, LabelSetRef(0, "", judge)
        items, n_unjudged = _first_batch(tx, runs, cutoff or _FIRST_RANKS, budget)
    else:
        label_set = numbered_labels(tx, baseline.dataset_id, baseline.dataset, question.version, judge)
        labels, weights = tx.labels.lists(label_set.id), stored_weights(tx, baseline.dataset_id)
        metric, ref = _metric(tx, runs, metric, np.unique(labels.grades), labels.n_groups), label_set_ref(label_set)
        first, *others = (judged(tx.runs.ranking(run.id), labels) for run in runs)
        moves = [_moves(first, other, metric, weights) for other in others]
        items, n_unjudged = most_needed(moves, budget), len(set().union(*moves))
    refs = [RunRef(run.name, run.id) for run in runs]
    return NeededLabels(refs[0], tuple(refs[1:]), baseline.dataset, ref, str(metric), n_unjudged, items)


def _first_batch(
    tx: ReadTransaction, runs: Sequence[RunRecord], cutoff: int, budget: int | None
) -> tuple[tuple[ItemToGrade, ...], int]:
    """Return what a judge without labels should judge first, and how many items the first ranks of the runs have.

    The best rank in any run comes first, in every group before the next rank in any. Groups come in the order of a hash
    of their ids, so that a small budget does not prefer any kind of group.
    """
    best: dict[tuple[str, str], int] = {}
    for run in runs:
        ranking = tx.runs.ranking(run.id)
        groups = group_codes(ranking.offsets)
        ranks = np.arange(ranking.n_items) - ranking.offsets[:-1][groups]
        rows = np.flatnonzero(ranks < cutoff)
        names = ranking.group_keys.take(groups[rows]).to_list(), ranking.item_keys.take(rows).to_list()
        for pair, rank in zip(zip(*names, strict=True), ranks[rows].tolist(), strict=True):
            best[pair] = min(rank, best.get(pair, rank))
    order = sorted(best, key=lambda pair: (best[pair], crc32(pair[0].encode("utf-8", "surrogatepass")), pair))
    return tuple(ItemToGrade(*pair) for pair in order[:budget]), len(best)


def _metric(
    tx: ReadTransaction, runs: Sequence[RunRecord], metric: Metric | None, grades: Floats, n_groups: int
) -> Metric:
    """Return the requested metric, else the first that all runs have and that has bounds."""
    if metric is not None:
        stop = what_stops(metric, grades, n_groups)
        if stop is not None:
            what = "for this measure" if stop == "measure" else f"with {stop}"
            raise InputError(
                f"the effect of unjudged items on it has no known bound {what}",
                where=metric.requested_as,
                advice=f"use {argument('metric', 'ndcg@10')}",
            )
        return metric
    evaluated = [[evaluation.metric for evaluation in tx.evaluations.of_run(run.id)] for run in runs]
    shared = [parse_metric(text) for text in evaluated[0] if all(text in of_run for of_run in evaluated[1:])]
    bounded = [shared_metric for shared_metric in shared if what_stops(shared_metric, grades, n_groups) is None]
    if not bounded:
        raise NotComparableError(
            "the runs share no metric for which the effect of unjudged items has a known bound, such as ndcg@10",
            advice=f"type: {adding_words(tx, runs, [DEFAULT_METRIC])}",
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
    of_groups = aligned_weights(values[0], weights, of_all=True)
    shares = np.ones(paired.size) if of_groups is None else of_groups[paired]
    keys = keys.take(paired)
    items = unjudged_items(baseline, candidate, metric, keys)
    moves = (
        possible_moves(items, before[paired], after[paired]) * (shares / max(float(shares.sum()), 1e-300))[items.groups]
    )
    pairs = zip(keys.take(items.groups).to_list(), items.keys.to_list(), strict=True)
    return dict(zip(pairs, moves.tolist(), strict=True))


class ForJudges(Answer):
    """Items that people are to grade."""

    def save(self, path: str | os.PathLike[str], format: NeededFormat = "csv") -> None:
        """Write the items for judges, as a file that ``labels add`` reads once grades are filled in.

        ``format``: "csv", "quepid" or "elasticsearch", or one without a place for grades. Raises: InputError if the
        file cannot be written.
        """
        from ndcg_tracker.render.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(self._said().in_format(format))


@dataclass(frozen=True, repr=False)
class LabelsNeededResult(ForJudges):
    """The items to judge next; notebooks and ``print`` show them as a table.

    ``needed``: the typed rows. ``to_frame`` has a row per item: group, item, and how far its grade could move the mean
    difference.
    """

    needed: NeededLabels

    def _said(self) -> Said:
        return needed_said(self.needed)


def compared_versions(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> VersionsComparison:
    """Return the comparison of a run or an arm with each candidate under every version of the labels that has both.

    These are the versions of one judge (see ``counting_judge``), or of all judges if ``judge`` is ``EVERY_JUDGE``; with
    ``labels`` "newest", the latest version of each judge that has both. Parameters and raises: as ``compared``.
    """
    names, notes = named_runs(tx, candidates, options.dataset, baseline)
    arms = {name: arm_or_run(tx, name, options.dataset) for name in (baseline, *names)}
    of_run = arms[baseline].runs[0]
    judges = chosen_judges(tx, of_run.dataset_id, of_run.dataset, options.judge)
    judge_of = {of.version: judge for judge in judges for of in tx.labels.sets(of_run.dataset_id, judge)}
    found: dict[tuple[str, int], Comparison] = {}
    lacking: list[tuple[str, int]] = []
    for name, judge in product(names, judges):
        missed = []
        for version in [version for version, of in reversed(judge_of.items()) if of == judge]:
            try:
                (pair,) = compared(tx, baseline, [name], replace(options, labels=version, judge=judge))
            except NotComparableError:
                missed.append((name, version))
                continue
            found[name, version] = pair.comparison
            if options.labels == "newest":  # of labels without evaluations, only the latest are reported
                missed = []
                break
        lacking += missed[:1] if options.labels == "newest" else reversed(missed)
    if not found:
        compared(tx, baseline, candidates, replace(options, labels=None, judge=judges[0]))  # raises the reason
    for version in judge_of:
        beside = [(name, version) for name in names if (name, version) in found]
        if len(beside) > 1:
            found |= zip(beside, adjusted_jointly([found[of] for of in beside]), strict=True)
    every = [found[of] for of in product(names, judge_of) if of in found]
    metrics = list({metric.metric: metric.about.requested_as for of in every for metric in of.metrics}.values())
    for version in dict.fromkeys(version for _, version in lacking):
        without = [arms[name] for name, of in lacking if of == version]
        runs = [run for arm in (arms[baseline], *without) for run in arm.runs]
        facts: dict[str, Fact] = {"version": version, "runs": [arm.name for arm in without]}
        if judge_of[version]:
            facts["judge"] = judge_of[version]
        notes.append(Note("not_evaluated", facts, adding_command(runs, metrics, LabelView(labels=version))))
    left_out = tuple((arms[name].name, version, judge_of[version]) for name, version in lacking)
    return VersionsComparison(tuple(every), left_out, tuple(notes))


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
        """Further notes, in words."""
        return in_words(self.found.notes)

    def _said(self) -> Said:
        return versions_said(self.found)


def _checkable(tx: ReadTransaction, arms: Sequence[Arm], metric: Metric | None, view: LabelView) -> RunPair:
    """Return two runs under a judge's labels, and one metric that is exact in labelled queries (InputError)."""
    both = resolved_pair(tx, arms[0], arms[1], () if metric is None else (metric,), view)
    chosen = metric or next((of for of in both.metrics if why_not_drawn(of) is None), both.metrics[0])
    check_drawable(chosen)
    return replace(both, metrics=(chosen,))


def labels_sample(
    tx: WriteTransaction,
    runs: Sequence[RunRecord],
    view: LabelView,
    metric: Metric | None,
    *,
    budget: int,
    seed: str | None,
) -> LabelsSample:
    """Draw whole queries, store that people are asked about them, and return them (see ``Tracker.labels_sample``)."""
    if not 1 <= budget <= LARGEST_BUDGET:
        raise InputError(f"the budget must be 1 to {LARGEST_BUDGET:,} items, not {budget:,}")
    check_one_dataset(runs[0], runs[1], "drawn from together")
    names, dataset = [run.name for run in runs], runs[0].dataset
    if runs[0].id == runs[1].id:
        raise InputError(f"run {names[0]!r} cannot differ from itself", advice="name two runs")
    tx.keep_creators_out()
    both = _checkable(tx, [Arm.of(run) for run in runs], metric, view)
    (metric,), label_set = both.metrics, both.baseline.label_set
    aim: Aim = "holes" if view.judge is None else "judge"
    design = design_of(tx, label_set, runs, str(metric), aim, seed, budget)
    person = person_of(tx, design) if aim == "judge" else label_set.judge
    nothing = Answers(aim, "", (), design.seed, NO_LABELS, NO_LABELS)
    answers = nothing if person is None else answers_of(tx, both.dataset_id, aim, person) or nothing
    ids = paired_results(tx, both, metric, "error").pairing.group_ids
    pair = DrawnPair.of(tx, (runs[0], runs[1]), label_set.id, metric, ids, answers)
    standing, pool = pair.standing, pair.pool
    waiting = np.flatnonzero(standing.has_old & ~standing.known)  # older answers: the few items that are new
    order = np.concatenate([waiting, standing.order])
    if not order.size:
        raise InputError(
            f"nothing is open for {names[1]!r} and {names[0]!r} under {metric}: people labelled it, or the "
            "lists are the same",
            advice="compare them",
        )
    costs = np.cumsum(pool.count(standing.is_open)[order])
    n_drawn = int(np.searchsorted(costs, budget, "right"))
    if not n_drawn:
        what = f"the first query has {counted(int(costs[0]), 'open item')}, more than the budget of {budget}"
        raise InputError(what, advice=f"raise {argument('budget')}")
    place_of = {group: place for place, group in enumerate(order[:n_drawn].tolist())}
    keys, items = pair.keys.to_list(), pool.items.to_list()
    rows = zip(pool.groups[standing.to_ask].tolist(), np.flatnonzero(standing.to_ask).tolist(), strict=True)
    asked = sorted((place_of[group], items[row], group) for group, row in rows if group in place_of)
    design = design if design.id else tx.write.designs.insert(design)
    tx.write.designs.ask(design, [(int(ids[group]), item) for _, item, group in asked], budget)
    items_of = {int(ids[group]): [item for _, item, _ in of] for group, of in groupby(asked, itemgetter(2))}
    texts = texts_of(tx, both.dataset_id, items_of)
    least = min(LEAST_DRAWN + waiting.size, order.size)
    of_judge = ("--judge", label_set.judge) if aim == "judge" else ()
    at = ("--metric", metric.requested_as, "--dataset", dataset)
    n_ungraded = int(np.isnan(pool.numbers(pair.labels)).sum())
    notes = []
    if of_judge and n_ungraded:
        facts: dict[str, Fact] = {"judge": label_set.judge, "n": n_ungraded}
        notes.append(Note("ungraded", facts, ("ndcg-track", "labels", "needed", *names, *of_judge, *at, "--all")))
    if not asked:
        checked = (*of_judge, "--check-with", person) if of_judge and person else ()
        notes.append(Note("all_answered", {}, ("ndcg-track", "compare", *names, *checked, *at)))
    n_items, refs = int(costs[n_drawn - 1]), [RunRef(run.name, run.id) for run in runs]
    return LabelsSample(
        *(design.number, dataset, refs[0], refs[1], label_set_ref(label_set), view.judge, str(metric), budget),
        *(ids.size, int((~standing.known).sum()), n_drawn, n_items, n_items - len(asked)),
        (int(least), int(costs[least - 1])),
        _half_width(pair, order[:n_drawn]),
        tuple(ItemToGrade.of(keys[group], item, texts.get(int(ids[group]))) for _, item, group in asked),
        tuple(notes),
    )


def _half_width(pair: DrawnPair, drawn: Index) -> float | None:
    """Return about how wide the interval is at most, if the answers vary as the labels do and nobody can guess them."""
    deltas = pair.deltas()
    in_sample, zeros = np.zeros(len(pair.keys), dtype=np.bool_), np.zeros(len(pair.keys))
    in_sample[drawn] = True
    in_sample &= ~deltas.known
    blind = replace(deltas, delta=deltas.control, control=zeros, drawn=in_sample, left_out=np.zeros_like(in_sample))
    interval = blind.queries().mean().interval
    return None if interval is None else (interval[1] - interval[0]) / 2


@dataclass(frozen=True, repr=False)
class LabelsSampleResult(ForJudges):
    """The items for people to grade; notebooks and ``print`` show them as a table.

    ``sample``: the typed rows. ``to_frame`` has a row per item: group and item.
    """

    sample: LabelsSample

    def _said(self) -> Said:
        return sample_said(self.sample)
