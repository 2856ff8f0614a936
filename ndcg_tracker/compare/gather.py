"""A baseline compared with its candidates: the comparison of each, with the items that moved its extreme groups."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import words
from ndcg_tracker.compare.arms import (
    Arm,
    arm_on,
    arms_of,
    named_runs,
    named_systems,
    refuse_shared_runs,
    retraining_note,
)
from ndcg_tracker.compare.decide import (
    Attributes,
    PairedResults,
    SuiteResults,
    adjusted_jointly,
    compare_runs,
    suite_comparison,
)
from ndcg_tracker.compare.gather_results import (
    mean_share,
    not_judged,
    paired_results,
    refuse_other_groups,
    shares_of_sides,
    with_same_lists,
)
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.compare.reach import coverage as coverage_by_labels
from ndcg_tracker.compare.results import (
    NOT_COMPARABLE,
    WELL_JUDGED,
    Clusters,
    Comparison,
    GroupDelta,
    GroupTieBounds,
    JudgedShare,
    ListedShare,
    Suite,
    most_telling,
)
from ndcg_tracker.compare.run_pair import RunPair, is_tested_on_suites, label_set_ref, resolved_pair, suite_metric
from ndcg_tracker.compare.say import comparison_said, metric_rows, slice_rows
from ndcg_tracker.compare.slices import numbered
from ndcg_tracker.errors import (
    InputError,
    NdcgTrackerError,
    NotComparableError,
    ReferenceNotFoundError,
    argument,
)
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged, matching_rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.judges import judge_option, judged_share_notes
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Fact, Note, in_words
from ndcg_tracker.words.texts import about, judge_words

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.compare.gather_drawn import Answers
    from ndcg_tracker.compare.report_facts import PairReports
    from ndcg_tracker.compare.slices import AttributeValues
    from ndcg_tracker.rankings import Index
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


MOVES = 3
"""At most this many items are kept for each of the worst and best groups."""
_ROUNDING = 1e-12
_GROUPS_READ = 10_000
"""About so many groups are enough to see that labels changed."""
_MANY_CHANGED = 0.1
"""Labels that give more than this share of their common pairs another grade get a note."""
_MOST_GRADES = 20
"""More different grades than these are measured, not chosen from a scale."""
_MUCH_SHORTER = 0.8
"""Lists of at most this share of the other run's length get a note."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two stored runs, their comparison, and the results of groups behind it, by metric.

    ``parts``: the same on each dataset of a suite, which have the results; ``both`` are then the runs on the first.
    """

    both: RunPair
    comparison: Comparison
    results: list[PairedResults]
    parts: tuple[ComparedPair, ...] = ()

    @property
    def decided_by(self) -> str | None:
        """Who gave the answers that decide about the first metric, None where labels alone do."""
        check = self.results[0].about.check
        return self.both.checked_by if check is None else check.checked_by


def compared(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> list[ComparedPair]:
    """Return the comparison of a run, an arm or a system with each candidate, their p-values corrected together.

    The tests of arms cross groups and repeats (``crossed_t``). Parameters: references of runs and arms, the candidates
    one by one or in lists; on a suite names of systems (see ``arm_on``), of candidates also patterns. Raises:
    ReferenceNotFoundError; InputError without a candidate, for an attribute that no group has, and for methods that do
    not apply; NotComparableError where runs share no metric, with the command that fixes it.
    """
    on = _on_dataset if options.suite is None else _on_suite
    each, left_out = on(tx, baseline, candidates, options)
    each[0] = replace(each[0], comparison=replace(each[0].comparison, notes=(*each[0].comparison.notes, *left_out)))
    if len(each) == 1:
        return each
    corrected = adjusted_jointly([pair.comparison for pair in each])
    return [replace(pair, comparison=comparison) for pair, comparison in zip(each, corrected, strict=True)]


def _on_dataset(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> tuple[list[ComparedPair], list[Note]]:
    names, left_out = named_runs(tx, candidates, options.dataset, baseline)
    first, *others = arms_of(tx, [baseline, *names], options.dataset)
    if not others:
        raise _no_candidate()
    pairs = [asked_pair(tx, first, other, options) for other in others]
    attributes = asked_attributes(tx, first.runs[0], options)
    each = [compared_pair(tx, both, options, attributes) for both in pairs]
    under = {both.baseline.label_set.id: both for both in pairs}
    names = list(dict.fromkeys(arm.name for both in pairs for arm in both.arms))
    changes = {of: changed_labels(tx, both, names, options) for of, both in under.items()}
    for at, pair in enumerate(each):
        notes = (*changes[pair.both.baseline.label_set.id], *pair.comparison.notes)
        each[at] = replace(pair, comparison=replace(pair.comparison, notes=notes))
    return each, left_out


def _no_candidate() -> InputError:
    return InputError("a comparison needs a candidate", advice="name one after the baseline")


def _on_suite(
    tx: ReadTransaction, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
) -> tuple[list[ComparedPair], list[Note]]:
    suite = tx.suites.known(options.suite or "")
    options = replace(options, metrics=tuple(suite_metric(tx, suite, metric) for metric in options.metrics))
    names, left_out = named_systems(tx, suite.datasets, baseline, candidates, options.by_tag)
    if not names:
        raise _no_candidate()
    each = []
    for systems in ((baseline, name) for name in names):
        pairs, lacking = pairs_on_suite(tx, systems, options)
        each.append(compared_on_suite(tx, systems, pairs, options, lacking)[0])
    return each, left_out


def pairs_on_suite(
    tx: ReadTransaction, systems: tuple[str, str], options: CompareOptions
) -> tuple[dict[str, RunPair], list[str]]:
    """Return the runs of two systems by dataset of a suite, and the datasets on which one of them has none.

    Without metrics, those that can be tested and that all these runs share. Raises: ReferenceNotFoundError for an
    unknown suite, and where no dataset has both; NotComparableError without a metric on all of them.
    """
    suite = tx.suites.known(options.suite or "")
    pairs: dict[str, RunPair] = {}
    lacking: list[str] = []
    for dataset in suite.datasets:
        baseline, candidate = (arm_on(tx, dataset, system, options.by_tag) for system in systems)
        if baseline is None or candidate is None:
            lacking.append(dataset)
            continue
        pairs[dataset] = asked_pair(tx, baseline, candidate, options)
    if not pairs:
        raise ReferenceNotFoundError(
            f"no dataset of suite {suite.name!r} has both {systems[0]!r} and {systems[1]!r}",
            advice=f"see what there is with: ndcg-track leaderboard --suite {shlex.quote(suite.name)}",
        )
    if options.metrics:
        return pairs, lacking
    first, *others = (of.metrics for of in pairs.values())
    shared = tuple(of for of in first if is_tested_on_suites(of) and all(of in metrics for metrics in others))
    if not shared:
        raise NotComparableError(
            f"{systems[0]!r} and {systems[1]!r} share no metric on all of {', '.join(pairs)}",
            advice="add one to all runs: ndcg-track rescore --all --dataset DATASET --metric METRIC",
        )
    return {dataset: replace(both, metrics=shared) for dataset, both in pairs.items()}, lacking


def compared_on_suite(
    tx: ReadTransaction,
    systems: tuple[str, str],
    pairs: Mapping[str, RunPair],
    options: CompareOptions,
    lacking: Sequence[str] = (),
    *,
    with_other_ids: bool = False,
) -> tuple[ComparedPair, list[SuiteResults]]:
    """Return the comparison over a suite, a stratum for each dataset, and the results behind it by metric.

    ``pairs``, ``lacking``: see ``pairs_on_suite``.

    ``with_other_ids``: also where labels do not reach both runs, for a gate, which then decides nothing. Raises:
    NotComparableError where two runs cannot be compared.
    """
    parts = []
    for dataset, both in pairs.items():
        of_dataset = replace(options, suite=None, by_tag=None, dataset=dataset, metrics=both.metrics)
        pair = compared_pair(tx, both, of_dataset, asked_attributes(tx, both.baseline.run, of_dataset))
        for of in pair.comparison.metrics:
            if of.delta is None or (of.has_other_ids and not with_other_ids):
                command = ("ndcg-track", "compare", *(arm.name for arm in both.arms), "--dataset", dataset)
                raise NotComparableError(
                    f"{systems[1]!r} cannot be compared with {systems[0]!r} under {of.metric} on {dataset!r}: "
                    f"{NOT_COMPARABLE[of.about.not_comparable or 'no_group']}",
                    advice=f"see: {shlex.join((*command, *judge_option(options.judge or '')))}",
                )
        parts.append(replace(pair, results=[with_same_lists(tx, both, of) for of in pair.results]))
    of_metrics = zip(*(part.results for part in parts), strict=True)
    results = [SuiteResults(dict(zip(pairs, of_metric, strict=True))) for of_metric in of_metrics]
    suite = Suite(tuple(part.comparison for part in parts), tuple(lacking), options.by_tag)
    comparison = suite_comparison(options.suite or "", systems, results, suite)
    return ComparedPair(parts[0].both, comparison, [], tuple(parts)), results


def changed_labels(tx: ReadTransaction, both: RunPair, names: Sequence[str], options: CompareOptions) -> list[Note]:
    """Return notes where the labels of two runs differ much from the version before, and newer ones from these.

    ``names``: of all runs that are compared.
    """
    used = both.baseline.label_set
    if both.are_labels_named or both.checked_by is not None or used.judge in NO_LABELS_HERE:
        return []
    label_sets, notes = tx.labels.sets(both.dataset_id, used.judge), list[Note]()
    place = label_sets.index(used)
    if place:
        options = replace(options, labels=label_sets[place - 1].version, judge=None)
        again = (
            "ndcg-track",
            "compare",
            *names,
            "--dataset",
            both.baseline.run.dataset,
            *words(options, but=["dataset"]),
        )
        notes = _changed(tx, label_sets[place - 1], used, again)
    return notes if used == label_sets[-1] else [*notes, *_changed(tx, used, label_sets[-1])]


def _changed(
    tx: ReadTransaction, before: LabelSetRecord, after: LabelSetRecord, command: tuple[str, ...] = ()
) -> list[Note]:
    """Return a note if labels have other grades than the version before, or differ in more than a tenth of the pairs.

    Of very many groups, only some are read.
    """
    ids = tx.labels.group_ids(after.id)
    ids = ids[:: ids.size // _GROUPS_READ + 1]
    old, new = (tx.labels.lists(of.id, ids) for of in (before, after))
    rows, others = matching_rows(old, new)
    n_changed = int((old.grades[rows] != new.grades[others]).sum())
    scales = [np.unique(labels.grades).tolist() for labels in (old, new)]
    is_other_scale = scales[0] != scales[1] and min(map(len, scales)) <= _MOST_GRADES
    if not old.n_items or not (is_other_scale or n_changed > _MANY_CHANGED * rows.size):
        return []
    facts: dict[str, Fact] = {"version": after.version, "before": before.version, "n_changed": n_changed}
    facts |= {"n": rows.size, "scales": scales if is_other_scale else [], "is_newer": not command}
    return [Note("labels_changed", facts, command)]


def asked_pair(tx: ReadTransaction, baseline: Arm, candidate: Arm, options: CompareOptions) -> RunPair:
    """Return two arms under the labels, and with the answers that check them, that were asked for.

    Raises: InputError for options that repeated runs do not support, and for a run that is in both arms; see
    ``resolved_pair`` and ``checked_pair``.
    """
    if options.check_with is not None and options.check_with == (options.judge or ""):
        advice = f"name who answered with {argument('check_with')}"
        raise InputError(f"{judge_words(options.check_with)} cannot check itself", advice=advice)
    if len(baseline.runs) > 1 or len(candidate.runs) > 1:
        options.refuse(arms=True)
        refuse_shared_runs(baseline, candidate)
    if options.check_with is None:
        return resolved_pair(tx, baseline, candidate, options.metrics, options)
    from ndcg_tracker.compare.gather_drawn import checked_pair

    return checked_pair(tx, baseline, candidate, options.metrics, options, options.check_with)


def comparable_others(
    tx: ReadTransaction, reference: str, options: CompareOptions
) -> tuple[list[RunRecord], list[tuple[RunRecord, NdcgTrackerError]]]:
    """Return the other runs of a run's dataset that can be compared with it, oldest first, and why the rest cannot."""
    run = tx.runs.resolve(reference, options.dataset)
    comparable: list[RunRecord] = []
    left_out: list[tuple[RunRecord, NdcgTrackerError]] = []
    for other in tx.runs.all(run.dataset):
        if other.id == run.id:
            continue
        try:
            if other.is_checkpoint:
                raise InputError("it is a checkpoint of a training", advice="name it to compare it")
            both = asked_pair(tx, Arm.of(run), Arm.of(other), options)
            compared_pair(tx, both, replace(options, reads_items=False), asked_attributes(tx, run, options))
        except NdcgTrackerError as error:
            left_out.append((other, error))
        else:
            comparable.append(other)
    return comparable, left_out


def asked_attributes(
    tx: ReadTransaction, run: RunRecord, options: CompareOptions, *, are_sliced: bool = True
) -> Attributes:
    """Return the attributes of groups that a comparison needs (InputError where no group has one)."""
    from ndcg_tracker.compare.slices import asked_slices, attribute_values

    clusters = None if options.cluster is None else attribute_values(tx, run, options.cluster)
    if not are_sliced:
        return Attributes(clusters=clusters)
    return Attributes(*asked_slices(tx, run, options.by), are_shown=bool(options.by), clusters=clusters)


def compared_pair(tx: ReadTransaction, both: RunPair, options: CompareOptions, attributes: Attributes) -> ComparedPair:
    """Return the comparison of two arms under one label set; ``attributes``: see ``asked_attributes``."""
    clusters = attributes.clusters
    label_set = both.baseline.label_set
    pruned = pruned_notes(tx, both)
    results, more, coverage = _stored(tx, both, options, pruned)
    listed: tuple[ListedShare, ...] = ()
    if clusters is not None:
        more += _without_cluster(clusters, results[0].pairing.group_ids)
        results = [clustered(of_metric, clusters) for of_metric in results]
    answers = _answers(tx, both, options, pruned)
    if answers is not None:
        from ndcg_tracker.compare.gather_drawn import old_designs_note, with_answers

        each = zip(both.metrics, results, strict=True)
        answered = [with_answers(tx, both, metric, of, answers, fresh=options.fresh) for metric, of in each]
        results = [of_metric for of_metric, _ in answered]
        more += [note for _, notes in answered[:1] for note in notes]
        more += old_designs_note(tx, both, answers) if both.checked_by is not None else []
    if not options.trust_judge and (alone := judge_alone(tx, both)):
        results = [of.knowing(judge_alone=alone) for of in results]
    if options.reads_items and not (pruned and options.unjudged is None) and both.checked_by is None:
        results, of_labels, listed = coverage_by_labels(tx, both, results, coverage, options)
        if any(note.kind == "other_ids" for note in of_labels):  # which says why far fewer are judged
            more = [note for note in more if note.kind != "far_fewer_judged"]
        more += of_labels
    comparison = compare_runs(
        Comparison(
            both.arms[0].ref,
            both.arms[1].ref,
            both.baseline.run.dataset,
            label_set_ref(label_set),
            coverage=coverage,
            listed=listed,
            notes=(*both.notes(), *pruned, *more),
            are_labels_asked=options.labels is not None,
        ),
        results,
        lambda group_ids: tx.groups.keys(both.dataset_id, group_ids).to_list(),
        methods=options,
        top=options.top,
        by=attributes,
    )
    is_stored = results[0].about.check is None and results[0].graded is None  # moves are by stored labels alone
    if is_stored and not pruned and not both.is_repeated:
        comparison = _with_moves(tx, comparison, both, with_items=not options.for_screen)
    runs, labels = [side.run for side in both.sides], both.baseline.label_set
    note = None if both.is_repeated else retraining_note(tx, runs, labels.id, comparison.metrics[0])
    if note is not None:
        comparison = replace(comparison, notes=(*comparison.notes, note))
    if options.tie_bounds and not both.metric.is_external:
        tie_groups, n_open = _open_groups(tx, both, options.top)
        comparison = replace(comparison, tie_groups=tie_groups, n_tie_groups=n_open)
    return ComparedPair(both, comparison, results)


def _answers(tx: ReadTransaction, both: RunPair, options: CompareOptions, pruned: Sequence[Note]) -> Answers | None:
    """Return the answers that check the judge of two runs or fill the holes of their labels, None for none."""
    judge = both.baseline.label_set.judge
    is_asked = options.fills_holes and options.labels is None and options.unjudged in (None, "range")
    fills_holes = is_asked and not pruned and not both.is_repeated and judge not in NO_LABELS_HERE
    if not (fills_holes or both.checked_by is not None) or not tx.designs.all(both.dataset_id):
        return None
    from ndcg_tracker.compare.gather_drawn import answers_of

    if both.checked_by is not None:
        return answers_of(tx, both.dataset_id, "judge", both.checked_by)
    return answers_of(tx, both.dataset_id, "holes", judge)


def judge_alone(tx: ReadTransaction, both: RunPair) -> str:
    """Return the named judge whose labels decide although nobody checks them, "" if there is none."""
    judge = both.baseline.label_set.judge
    if not judge or both.checked_by is not None or judge in NO_LABELS_HERE:
        return ""
    return "" if judge in {design.checked_by for design in tx.designs.all(both.dataset_id)} else judge


def _stored(
    tx: ReadTransaction, both: RunPair, options: CompareOptions, pruned: Sequence[Note]
) -> tuple[list[PairedResults], list[Note], tuple[JudgedShare, ...]]:
    """Return the stored results of two arms by metric, notes on them, and their judged shares."""
    refuse_other_groups(both)
    shares = shares_of_sides(tx, both)
    of_arms = shares[: len(both.sides_of[0])], shares[len(both.sides_of[0]) :]
    coverage = tuple(
        JudgedShare(cutoff, *(mean_share(of_arm, cutoff) for of_arm in of_arms))
        for cutoff in dict.fromkeys(metric.cutoff for metric in both.metrics if not metric.is_external)
    )
    judged_at = {share.cutoff: share for share in coverage}
    results = [
        replace(
            paired_results(tx, both, metric, options.missing), not_judged=not_judged(tx, both, metric, shares)
        ).knowing(
            requested_as=_requested_as(both, metric),
            judged=None if metric.is_external else judged_at.get(metric.cutoff),
        )
        for metric in both.metrics
    ]
    more = _single_repeats(both)
    for side in both.sides if any(share < WELL_JUDGED for of_side in shares for share in of_side.values()) else ():
        other = both.sides[1 - both.sides.index(side)].run if len(both.sides) == len(both.arms) else None
        more += judged_share_notes(tx, side.run, both.baseline.label_set, other)
    more += [] if pruned else _shorter_lists(both)
    return results, more, coverage


def pruned_notes(tx: ReadTransaction, both: RunPair) -> list[Note]:
    """Return a note for each run whose items are gone, or were not all stored."""
    return [
        Note("pruned", {"run": side.run.name, "at": pruning.created_at_utc})
        if pruning.holds.is_pruned
        else Note("without_items", {"run": side.run.name, "kept_share": pruning.kept_share})
        for side in both.sides
        for pruning in tx.runs.prunings(side.run.id).values()
    ]


def clustered(results: PairedResults, by: AttributeValues) -> PairedResults:
    """Return results in which groups with the same value form a cluster; a group without a value is its own cluster."""
    _, codes = numbered(by.of(results.pairing.group_ids).values, none_alone=True)
    found = replace(results, every=replace(results.every, clusters=codes))
    return found.knowing(clusters=Clusters(by.attribute, found.sample.n_clusters))


def _without_cluster(clusters: AttributeValues, group_ids: Index) -> list[Note]:
    """Return a note where some groups have no value of the attribute that makes clusters."""
    n = sum(value is None for value in clusters.of(group_ids).values)
    facts: dict[str, Fact] = {"n": n, "n_groups": group_ids.size, "attribute": clusters.attribute}
    return [Note("without_cluster", facts)] if n else []


def _shorter_lists(both: RunPair) -> list[Note]:
    """Return a note where the lists of one run end before a cutoff that those of the other reach, on average."""
    lengths = [
        (sum(run.n_items for run in arm.runs) / n_groups, arm.name)
        for arm in both.arms
        if (n_groups := sum(run.n_groups for run in arm.runs))
    ]
    if len(lengths) < len(both.arms):
        return []
    (n_short, run), (n_long, _) = sorted(lengths)
    cut = [metric for metric in both.metrics if metric.cutoff is not None and n_short < metric.cutoff <= n_long]
    if not cut or n_short > _MUCH_SHORTER * n_long:
        return []
    facts: dict[str, Fact] = {"run": run, "n_short": n_short, "n_long": n_long}
    return [Note("shorter_lists", facts | {"metric": familiar_name(str(cut[0]), cut[0].requested_as)})]


def _single_repeats(both: RunPair) -> list[Note]:
    """Return a note where the repeats of one system are compared with a single run."""
    single = [arm.name for arm in both.arms if len(arm.runs) == 1]
    return [Note("one_repeat", {"run": name}) for name in single] if both.is_repeated else []


def _requested_as(both: RunPair, metric: Metric) -> str:
    """Return the text by which a metric was requested, as the view ``group_diff`` has it."""
    stored = [sides[0].evaluations.get(str(metric)) for sides in both.sides_of]
    if stored[0] is None or stored[1] is None:
        return metric.requested_as
    baseline_text, candidate_text = stored[0].requested_as, stored[1].requested_as
    return baseline_text if candidate_text == str(metric) else candidate_text


def _with_moves(tx: ReadTransaction, comparison: Comparison, both: RunPair, *, with_items: bool) -> Comparison:
    """Return the comparison with the texts of its worst and best groups, and the items that moved them.

    Only the lists of these groups are read.
    """
    shown = [of.group for of in (*comparison.worst, *comparison.best)]
    ids = tx.groups.ids(both.dataset_id, Keys.from_strings(shown))
    key_of = dict(zip(ids.tolist(), shown, strict=True))
    texts = {key_of[of.group_id]: of.text for of in tx.texts.of_groups(both.dataset_id, list(key_of)) if of.text}
    comparison = replace(comparison, texts=texts)
    if not with_items:
        return comparison
    from ndcg_tracker.compare.item_changes import item_moves

    moves = item_moves(tx, both, ids, n=sys.maxsize)
    if not moves:
        return comparison

    def with_moves(groups: Sequence[GroupDelta], of_groups: Sequence[int]) -> tuple[GroupDelta, ...]:
        return tuple(
            replace(group, moves=most_telling(moves[group_id], group.delta, MOVES))
            for group, group_id in zip(groups, of_groups, strict=True)
        )

    worst, best = ids[: len(comparison.worst)].tolist(), ids[len(comparison.worst) :].tolist()
    return replace(comparison, worst=with_moves(comparison.worst, worst), best=with_moves(comparison.best, best))


def _open_groups(tx: ReadTransaction, both: RunPair, top: int) -> tuple[tuple[GroupTieBounds, ...], int]:
    """Return the groups of baseline and candidate whose value ties leave open, and how many there are.

    The widest come first, ``top`` at most; a group that is open in both runs counts twice.
    """
    from ndcg_tracker.metrics.kernel.values import group_results, tie_bounds
    from ndcg_tracker.runs.scoring import stored_weights

    labels, weights = tx.labels.lists(both.baseline.label_set.id), stored_weights(tx, both.dataset_id)
    bounds: list[GroupTieBounds] = []
    n_open = 0
    for role, side in zip(("baseline", "candidate"), both.sides, strict=True):
        judged_ranking = judged(tx.runs.ranking(side.run.id), labels)
        ((worst, best),) = tie_bounds(judged_ranking, [both.metric], weights)
        values = group_results(judged_ranking, [both.metric], weights)[0].values
        spread = np.nan_to_num(best.values - worst.values)
        places = np.flatnonzero(spread > _ROUNDING)
        n_open += places.size
        places = places[np.argsort(-spread[places], kind="stable")][:top]
        bounds += [
            GroupTieBounds(key, role, float(worst.values[place]), float(values[place]), float(best.values[place]))
            for key, place in zip(judged_ranking.group_keys.take(places).to_list(), places.tolist(), strict=True)
        ]
    return tuple(sorted(bounds, key=lambda group: group.worst - group.best)[:top]), n_open


@dataclass(frozen=True, repr=False)
class ComparisonResult(Answer):
    """A baseline compared with one candidate or several; notebooks show it as a report, and ``print`` prints it.

    ``comparisons``: the typed rows, one comparison per candidate.

    >>> import ndcg_tracker as nt
    >>> from tempfile import TemporaryDirectory
    >>> groups, items = ["tent", "tent", "lamp", "lamp"], ["a", "b", "a", "b"]
    >>> shop = {"group": groups, "item": items, "label": [3, 0, 1, 0]}
    >>> with TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     _ = tracker.ingest({**shop, "score": [2.0, 1.0, 2.0, 1.0]}, name="old")
    ...     _ = tracker.ingest({**shop, "score": [1.0, 2.0, 2.0, 1.0]}, name="new")
    ...     _ = tracker.set_groups({"group": ["tent", "lamp"], "device": ["phone", "tv"]})
    ...     result = tracker.compare("old", "new", by="device")
    >>> print(str(result).splitlines()[0])
    new against old on default (2 queries): no difference detected in ndcg@10 (-0.1845; low information)
    >>> result.to_frame()[["candidate_run", "metric", "n", "wins", "ties", "losses"]].values.tolist()
    [['new', 'ndcg@10', 2, 0, 1, 1]]
    >>> worst = result.to_dict()["worst"][0]
    >>> worst["group"], worst["moves"][0]["item"], worst["moves"][0]["rank_candidate"]
    ('tent', 'a', 2)
    >>> result.slices_to_frame()[["value", "n", "verdict"]].values.tolist()
    [['phone', 1, 'not_comparable'], ['tv', 1, 'identical']]
    >>> result.to_html()[:48]
    '<div><p><strong>new against old on default (2 qu'
    """

    comparisons: tuple[Comparison, ...]
    reports_of: Callable[[ComparisonChart], PairReports] | None = field(default=None, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know of the comparisons, in words."""
        notes = (note for comparison in self.comparisons for note in comparison.notes)
        return in_words(notes, self.comparisons[0].dataset)

    def _said(self) -> Said:
        return comparison_said(*self.comparisons)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and metric, with the columns of ``--format csv`` that do not concern slices.

        Values that are undefined or were not asked for are None or NaN.
        """
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in metric_rows(comparison)])

    def to_latex(self) -> str:
        """Return a table for a paper: booktabs, with means, difference, interval and p-value."""
        return self._said().in_format("latex")

    def slices_to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and slice of the first metric; no row where ``by`` was not given."""
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in slice_rows(comparison)])

    def plot(self, kind: ComparisonChart = "every", *, by: str | None = None) -> Chart:
        """Return a chart of the comparison: "every" group, "scatter", "histogram", "forest", "slices", "cutoffs".

        "heatmap" shows every run against every other. The groups are read again from the database. If a chart shows one
        candidate, it shows the first of several. Of a suite, it shows the difference on each dataset and on all
        together. Parameters: ``by``: a group attribute; "slices" and "forest" show its
        slices, and "every" and "scatter" show its values as colours. Raises: InputError for a kind that does not exist
        or cannot be drawn, and if the database has changed since.
        """
        from ndcg_tracker.compare.chart import checked_kind, comparison_chart, suite_forest
        from ndcg_tracker.render.chart import Chart

        if self.comparisons[0].suite is not None:
            with about(self.comparisons[0].dataset):
                return Chart(suite_forest(*self.comparisons))
        checked_kind(kind)
        refuse("plot compare", {"kind": kind, "by": by, "check_with": self._is_checked})
        if self.reports_of is None:
            raise InputError("this comparison has no database behind it", advice="get one from Tracker.compare")
        reports = self.reports_of(kind)
        if tuple(pair.comparison for pair in reports.pairs) != self.comparisons:
            raise InputError("the database has changed since these runs were compared", advice="compare them again")
        with about(self.comparisons[0].dataset):
            return Chart(comparison_chart(kind, reports, by))

    def _repr_html_(self) -> str:
        from ndcg_tracker.render.chart import picture_element

        picture = partial(self.plot, "forest" if self._is_checked else "every")
        return self.to_html() + ("" if self.reports_of is None else picture_element(picture))

    @property
    def _is_checked(self) -> bool:
        """Whether only drawn groups are exact, so that nothing is known about the others."""
        return any(metric.is_drawn for comparison in self.comparisons for metric in comparison.metrics)
