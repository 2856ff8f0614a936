"""Why two stored runs differ: in one group, or on average, from their stored items."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import Arm, refuse_shared_runs
from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.estimate import estimate
from ndcg_tracker.compare.gather_results import paired_results
from ndcg_tracker.compare.item_changes import ItemChanges, contributions_of, item_changes, joined_changes
from ndcg_tracker.compare.options import LATEST, LabelView
from ndcg_tracker.compare.pair import pair
from ndcg_tracker.compare.reach import other_ids_notes
from ndcg_tracker.compare.results import About
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_words, check_one_dataset, check_one_sample, typed_metric
from ndcg_tracker.compare.shares import check_one_share
from ndcg_tracker.compare.slices import attribute_values
from ndcg_tracker.concurrency import mapped
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.contributions import (
    ADDITIVE,
    Contributions,
    contributions,
    mean_contributions,
    refuse_what_is_not_split,
)
from ndcg_tracker.metrics.kernel.mean import REASONS, GroupResults, GroupValues
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain.decide import (
    Explanation,
    GroupExplanation,
    RunExplanation,
    change_totals,
    explained_items,
    slice_totals,
)
from ndcg_tracker.questions.explain.gather_parts import (
    SideBlock,
    arm_notes,
    explain_command,
    group_parts,
    labels_options,
    run_parts,
    side_blocks,
    subject_of,
)
from ndcg_tracker.questions.explain.say import explanation_said
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.groups import group_id, texts_of
from ndcg_tracker.runs.judges import counting_judge, numbered_labels
from ndcg_tracker.runs.scoring import GatheredValues, stored_weights
from ndcg_tracker.words.notes import Note, in_words
from ndcg_tracker.words.texts import GroupTexts, unit

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.records import EvaluationRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

PREFERRED = "ndcg@10"


def explained_pair(
    tx: ReadTransaction,
    baseline: Arm,
    candidate: Arm,
    metric: Metric | None,
    versions: tuple[int | None, int | None] = (None, None),
    view: LabelView = LATEST,
) -> RunPair:
    """Return two arms with the labels under which their difference is explained.

    These are the latest labels under which all runs have the metric, or if there are none, the latest for each arm. A
    given version counts even if the run was not evaluated under it. ``view``: labels for both. ``metric`` None: ndcg@10
    if both runs have it, else the first cg, dcg or ndcg that they share. Raises: MetricError for a metric that is not a
    sum over items; NotComparableError, with the command that fixes it; ReferenceNotFoundError for an unknown version.
    """
    if metric is not None:
        refuse_what_is_not_split(metric)
    arms, first = (baseline, candidate), baseline.runs[0]
    check_one_dataset(first, candidate.runs[0], "explained")
    runs = (*baseline.runs, *candidate.runs)
    check_one_sample(runs)
    check_one_share(runs, "explained")
    tx.runs.require("groups", *runs)
    evaluations = {run.id: tx.evaluations.of_run(run.id) for run in runs}
    numbered = partial(numbered_labels, tx, first.dataset_id, first.dataset)
    judge = view.judge
    if view.labels is not None:
        of_both = numbered(view.version, judge).version
        versions = (of_both, of_both)
    whose = "" if None not in versions else counting_judge(tx, first.dataset_id, first.dataset, judge)
    if metric is None:
        metric = _shared_metric(tx, runs, evaluations)
    stored = [
        set.intersection(
            *(
                {of.label_set_version for of in evaluations[run.id] if of.metric == str(metric) and of.judge == whose}
                for run in arm.runs
            )
        )
        for arm in arms
    ]
    without = [
        arm for arm, version, of_arm in zip(arms, versions, stored, strict=True) if version is None and not of_arm
    ]
    if without:
        lacking = [run for arm in without for run in arm.runs]
        names = " and ".join(repr(arm.name) for arm in without)
        has = "runs {} have" if len(lacking) > 1 else "run {} has"
        raise NotComparableError(
            f"{has.format(names)} no {metric} to explain",
            advice=f"type: {adding_words(tx, lacking, [metric.requested_as], LabelView(judge=whose))}",
        )
    are_named = versions != (None, None)
    shared = set() if are_named else stored[0] & stored[1]
    sides = list[tuple[Side, ...]]()
    for arm, version, has_metric in zip(arms, versions, stored, strict=True):
        wanted = max(shared or has_metric) if version is None else version
        label_set = numbered(wanted, None if version is None else judge)
        sides.append(tuple(Side.of(run, label_set, evaluations[run.id]) for run in arm.runs))
    newest = numbered(judge=sides[0][0].label_set.judge)
    both = RunPair(arms, (sides[0], sides[1]), (metric,), newest.version, are_named)
    if both.is_repeated and both.is_same_labels:
        refuse_shared_runs(*arms)
    return both


def _shared_metric(
    tx: ReadTransaction, runs: Sequence[RunRecord], evaluations: Mapping[int, Sequence[EvaluationRecord]]
) -> Metric:
    of_runs = [{evaluation.metric: evaluation for evaluation in evaluations[run.id]} for run in runs]
    texts = of_runs[0]
    shared = [
        text for text in texts if all(text in of_run for of_run in of_runs) and parse_metric(text).measure in ADDITIVE
    ]
    for run, of_run in zip(runs, of_runs, strict=True):
        if of_run and all(parse_metric(text).is_external for text in of_run):
            raise NotComparableError(
                f"run {run.name!r} has only results of other engines, so the items behind them are not known",
                advice="ingest its ranking under another name",
            )
    if not shared:
        raise NotComparableError(
            f"runs {' and '.join(repr(run.name) for run in runs)} share no cg, dcg or ndcg to explain",
            advice=f"type: {adding_words(tx, runs, [PREFERRED])}",
        )
    return typed_metric(texts[PREFERRED if PREFERRED in shared else shared[0]])


def unjudged_note(metric: Metric, counts: Sequence[float], *, any_judged: bool) -> list[Note]:
    """Return a note on the unjudged items within the cutoff of baseline and candidate, which displace other items.

    ``counts``: of repeats their mean. ``any_judged``: whether any item there is judged.
    """
    if not any(counts):
        return []
    facts = {"cutoff": metric.cutoff, "baseline": math.ceil(counts[0]), "candidate": math.ceil(counts[1])}
    return [Note("unjudged_items" if any_judged else "no_item_judged", facts)]


def group_explanation(tx: ReadTransaction, both: RunPair, group: str) -> GroupExplanation:
    """Return what each item contributed to the delta of one group.

    Raises: ReferenceNotFoundError for a group that the dataset does not have; InputError for a group that has no result
    in one of the runs.
    """
    ids = np.array([group_id(tx, both.dataset_id, both.baseline.run.dataset, group)])
    parts = [[contributions_of(tx, side, both.metric, ids) for side in sides] for sides in both.sides_of]
    baseline, candidate = arms = [mean_contributions(of_arm) for of_arm in parts]
    notes, values = list[Note](), list[float]()
    for sides, of_arm in zip(both.sides_of, parts, strict=True):
        each = [
            (side, of, _group_value(tx, side, of, group, int(ids[0]))) for side, of in zip(sides, of_arm, strict=True)
        ]
        values.append(sum(value for _, _, value in each) / len(each))
        notes += [
            Note("group_not_in_run", {"group": group, "run": side.run.name, "value": value})
            for side, of, value in each
            if of.values.n_items[0] < 0
        ]
    axis = np.zeros(1, dtype=np.int64)
    n_unjudged = [float(of.within[np.isnan(of.grades)].sum()) for of in arms]
    any_judged = any(of.within[~np.isnan(of.grades)].any() for of in arms)
    notes += unjudged_note(both.metric, n_unjudged, any_judged=any_judged)
    if both.is_same_labels:
        notes += other_ids_notes(tx, both, tx.runs.group_ids(both.baseline.run.id))
    notes += arm_notes(both)
    steps = None
    if not both.is_same_labels:
        steps = group_parts(both, baseline.judged.labels, parts[1], values)
        notes += [Note("no_split")] if steps is None else []
    details = tx.labels.details(both.candidate.label_set, [group])
    items = explained_items(item_changes(baseline, candidate, axis, axis))
    items = tuple(replace(item, detail=details.get((group, item.move.item))) for item in items)
    texts = texts_of(tx, both.dataset_id, {int(ids[0]): [item.move.item for item in items]})
    return GroupExplanation(
        subject_of(both), group, values[0], values[1], items, steps, tuple(notes), texts.get(int(ids[0]), GroupTexts())
    )


def _group_value(tx: ReadTransaction, side: Side, contributed: Contributions, group: str, group_id: int) -> float:
    """Return the value of one group, the stored one if there is one."""
    place = int(places_of(Keys.from_strings([group]), contributed.values.group_keys)[0])
    if place < 0:
        raise InputError(
            f"group {group!r} is neither in run {side.run.name!r} nor in version {side.label_set.version} of the "
            "labels",
            advice="explain another group",
        )
    value = float(contributed.values.values[place])
    evaluation = side.evaluations.get(str(contributed.metric))
    if evaluation is not None:
        stored = tx.evaluations.results(evaluation.id)
        at = int(np.searchsorted(stored.group_ids, group_id))
        if at < stored.group_ids.size and stored.group_ids[at] == group_id:
            value = float(stored.values[at])
    if math.isnan(value):
        reason = REASONS[int(contributed.values.reasons[place])] or "undefined"
        raise InputError(
            f"group {group!r} has no result under {contributed.metric} in run {side.run.name!r} ({reason}), so there "
            "is no difference to explain",
            advice="explain another group",
        )
    return value


@dataclass(frozen=True, slots=True)
class _SomeGroups:
    """Some groups of an arm: their places in the dataset, and their values.

    ``counts``: float64, shape (2, n_groups), their items within the cutoff: the unjudged ones, and the judged ones.
    """

    places: Index
    values: GroupValues
    counts: Floats

    @classmethod
    def of(cls, contributed: Contributions, block: SideBlock) -> _SomeGroups:
        """Return this data from what the items of an arm contribute."""
        unjudged, keys = np.isnan(contributed.grades), contributed.values.group_keys
        sums = [group_sums(contributed.groups, contributed.within * of, len(keys)) for of in (unjudged, ~unjudged)]
        return cls(block.first + places_of(keys, block.group_keys), contributed.values, np.array(sums))


def run_explanation(tx: ReadTransaction, both: RunPair, *, top: int | None, by: str | None = None) -> RunExplanation:
    """Return the effects of items, grades and ranks on the mean, or those of labels for runs under two label sets.

    This reads the runs some groups at a time, and keeps only the items whose contribution changed. ``by``: a group
    attribute, for the effect of each of its values as well. Raises: InputError if no group has a result in both runs,
    for an attribute that no group has, and for slices under two label sets.
    """
    if not both.is_same_labels:
        refuse("explain", {"by": by, "two_versions": True})
        return run_parts(tx, both)
    slices = None if by is None else attribute_values(tx, both.baseline.run, by)
    ids, keys = tx.groups.all(both.dataset_id)
    *sides, parts = zip(*mapped(partial(_explained, metric=both.metric), side_blocks(tx, both)), strict=True)
    results = _paired(tx, both, sides, ids)
    paired = results.pairing
    if not paired.group_ids.size:
        raise InputError(
            f"no {unit()} has a result under {both.metric} in both runs {both.arms[0].name!r} and "
            f"{both.arms[1].name!r}",
            advice="see why with: ndcg-track sql 'SELECT * FROM run_summary'",
        )
    shares = np.ones(paired.group_ids.size) if (own := results.every.weights) is None else own
    shares = shares / shares.sum() if shares.sum() > 0 else np.zeros(shares.size)
    means = results.means or (float((shares * paired.baseline).sum()), float((shares * paired.candidate).sum()))
    places = np.searchsorted(ids, paired.group_ids)
    lowest = int(np.argmin(paired.delta))
    worst_group = keys[int(places[lowest])] if paired.delta[lowest] < 0 else None
    totals = change_totals(
        joined_changes(parts).within(places, ids.size),
        shares,
        means[1] - means[0],
        lambda groups: keys.take(places[groups]).to_list(),
        top=top,
        by_row_number=bool(both.baseline.label_set.by_row_number),
    )
    if slices is not None:
        totals = replace(totals, slices=slice_totals(slices.of(paired.group_ids), paired.delta, shares))
    n_alone = paired.only_in_baseline.size + paired.only_in_candidate.size
    counts = np.zeros((2, 2, ids.size))
    for of_side, some in zip(counts, sides, strict=True):
        for block in some:
            of_side[:, block.places] = block.counts
    (n_unjudged, n_other_unjudged), n_judged = counts[:, 0, places].sum(axis=1).tolist(), counts[:, 1, places]
    found = estimate(results.sample)
    return RunExplanation(
        subject_of(both),
        means[0],
        means[1],
        paired.group_ids.size,
        totals,
        worst_group=worst_group,
        notes=(
            *([Note("in_one_run_only", {"n": n_alone})] if n_alone else []),
            *unjudged_note(
                both.metric,
                [n_unjudged, n_other_unjudged],
                any_judged=bool(n_judged.any()),
            ),
            *other_ids_notes(tx, both, paired.group_ids),
            *arm_notes(both),
            *_worst_group(both, worst_group),
        ),
        verdict=None if found.p_value is None and found.verdict != "identical" else found.verdict,
    )


def _explained(block: SideBlock, metric: Metric) -> tuple[_SomeGroups, _SomeGroups, ItemChanges]:
    """Return the data of some groups, and their items whose contribution changed."""
    baseline, candidate = (
        mean_contributions([contributions(judged(ranking, labels), metric) for ranking in rankings])
        for rankings, labels in ((block.baseline, block.baseline_labels), (block.candidate, block.candidate_labels))
    )
    some, of_other = _SomeGroups.of(baseline, block), _SomeGroups.of(candidate, block)
    return some, of_other, item_changes(baseline, candidate, some.places, of_other.places, changed_only=True)


def _paired(tx: ReadTransaction, both: RunPair, sides: Sequence[Sequence[_SomeGroups]], ids: Index) -> PairedResults:
    """Return the results of both runs, group by group: stored ones if there are any, else computed ones."""
    if all(str(both.metric) in side.evaluations for side in both.sides):
        return paired_results(tx, both, both.metric, "intersect", keeps_counted=True)
    of_groups, values = stored_weights(tx, both.dataset_id), np.full((2, ids.size), np.nan)
    found, weights = list[GroupResults](), np.ones(ids.size)
    for of_side, blocks in zip(values, sides, strict=True):
        gathered, places = GatheredValues(), np.concatenate([block.places for block in blocks])
        for block in blocks:
            gathered.add([block.values])
        found += gathered.results(of_groups)
        of_side[places] = found[-1].values
        weights[places] = 1.0 if found[-1].weights is None else found[-1].weights
    pairing = pair(ids, values[0], ids, values[1], missing="intersect")
    (mean, other_mean), n = (of.mean for of in found), pairing.group_ids.size
    means = None
    if mean is not None and other_mean is not None and all(of.n_groups == n for of in found):
        means = (mean, other_mean)
    own = None if found[0].weights is None else weights[np.searchsorted(ids, pairing.group_ids)]
    return PairedResults(About(metric=str(both.metric)), pairing, replace(pairing.sample, weights=own), means)


def _worst_group(both: RunPair, group: str | None) -> list[Note]:
    """Return a note with the command that explains the group that lost most."""
    if group is None:
        return []
    options = labels_options(both) if both.are_labels_named else ()
    return [Note("worst_group", command=explain_command(both, *options, "--group", group))]


@dataclass(frozen=True, repr=False)
class ExplanationResult(Answer):
    """Why two runs differ, in one group or over all; notebooks show it as a report.

    ``explanation``: the typed rows, a ``GroupExplanation`` or a ``RunExplanation``. ``to_frame`` has a row per item, or
    per row of the tables.
    """

    explanation: Explanation
    chart_of: Callable[[], Chart] | None = field(default=None, repr=False, compare=False)

    @property
    def delta(self) -> float:
        """Candidate minus baseline: of the group, or of the means."""
        return self.explanation.delta

    @property
    def notes(self) -> tuple[str, ...]:
        """Further notes, in words."""
        return in_words(self.explanation.notes, self.explanation.subject.dataset)

    def _said(self) -> Said:
        return explanation_said(self.explanation)

    def plot(self) -> Chart:
        """Return both lists of the group as a chart. Raises: InputError for one over all groups or of arms."""
        if self.chart_of is None:
            if isinstance(self.explanation, GroupExplanation):
                raise InputError("the lists of repeats cannot be drawn", advice="name two single runs")
            raise InputError("only the lists of one group can be drawn", advice=f"name it with {argument('group')}")
        return self.chart_of()

    def _repr_html_(self) -> str:
        from ndcg_tracker.render.chart import picture_element

        return self.to_html() + ("" if self.chart_of is None else picture_element(self.chart_of))
