"""One stored run: its origin, its means, its judged share, its groups, and its NDCG as tools compute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.options import LATEST, LabelView
from ndcg_tracker.compare.run_pair import adding_words, known_metric, label_set_ref
from ndcg_tracker.compare.shares import Evaluated
from ndcg_tracker.compare.slices import attribute_values
from ndcg_tracker.errors import InputError, MetricError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.kernel.mean import aggregated
from ndcg_tracker.metrics.kernel.values import group_results, values_with_bounds
from ndcg_tracker.metrics.language.dialects import DIALECTS, differences
from ndcg_tracker.metrics.language.metric import LISTED, Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.leaderboard import ranked_runs
from ndcg_tracker.questions.show.decide import (
    ShownCoverage,
    ShownGroup,
    ShownMean,
    ShownRun,
    ShownSlice,
    hardest_places,
    mean_interval,
    run_slices,
)
from ndcg_tracker.questions.show.question import RunsQuestion
from ndcg_tracker.rankings.join import JudgedRanking, judged
from ndcg_tracker.rankings.ranking import GroupWeights
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.groups import texts_of
from ndcg_tracker.runs.judges import numbered_labels
from ndcg_tracker.runs.scoring import depends_on_sort, stored_weights
from ndcg_tracker.storage.records import EXTERNAL_JUDGE
from ndcg_tracker.words.texts import judge_words

if TYPE_CHECKING:
    from ndcg_tracker.questions.leaderboard.gather import RankedRun
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.storage.records import EvaluationRecord, GroupWeightsById, RunRecord
    from ndcg_tracker.storage.store import HasStore, ReadTransaction


@dataclass(frozen=True, slots=True)
class ListedRuns:
    """Stored runs; ``means`` and ``judged``: of ``metric``, by the id of the run."""

    runs: Sequence[RunRecord]
    metric: str | None
    means: Mapping[int, float | None]
    judged: Mapping[int, float | None]
    notes: tuple[str, ...] = ()


def shown_run(
    tx: ReadTransaction,
    run: RunRecord,
    metric: Metric | None,
    by: str | None,
    top: int,
    view: LabelView = LATEST,
) -> ShownRun:
    """Return the facts, the means and the groups of a run (see ``Tracker.show``).

    Raises: ReferenceNotFoundError for a metric that it does not have; InputError for slices of a run without results of
    groups, or by an attribute that no group has.
    """
    evaluations = tx.evaluations.of_run(run.id)
    weights_of = tx.groups.weights(run.dataset_id)
    columns = tx.evaluations.results_of([evaluation.id for evaluation in evaluations])
    results = {evaluation.id: of_groups for evaluation, of_groups in zip(evaluations, columns, strict=True)}
    means = tuple(_mean(evaluation, *results[evaluation.id], weights_of) for evaluation in evaluations)
    chosen = _chosen(tx, run, evaluations, metric, view)
    hardest: tuple[ShownGroup, ...] = ()
    slices: tuple[ShownSlice, ...] = ()
    ids, values = results[chosen.id] if chosen is not None else (np.empty(0, np.int64), np.empty(0))
    ids, values = ids[~np.isnan(values)], values[~np.isnan(values)]
    if chosen is not None and values.size:
        parsed = parse_metric(chosen.metric)
        places = hardest_places(values, top, parsed.direction)
        worst = ids[places].tolist()
        texts = texts_of(tx, run.dataset_id, {}, worst)
        queries = [texts[number].query if number in texts else None for number in worst]
        keys = tx.groups.keys(run.dataset_id, ids[places]).to_list()
        hardest = tuple(map(ShownGroup, keys, values[places].tolist(), queries))
        if by is not None:
            names = attribute_values(tx, run, by).of(ids).values
            slices = run_slices(values, names, _weights(parsed, ids, weights_of), parsed.limits)
    elif by is not None:
        raise InputError(f"run {run.name!r} has no group results to slice", advice="ingest its ranking again")
    label_sets = {evaluation.label_set_id: evaluation.label_set_version for evaluation in evaluations}
    pruning, sets = tx.runs.pruning(run.id), tx.labels.sets(run.dataset_id, None)
    return ShownRun(
        run.name,
        run.id,
        run.dataset,
        run.created_at_utc,
        run.source,
        run.git_commit,
        run.parameters,
        run.tags,
        tuple(alias.name for alias in tx.aliases.all(run.dataset) if alias.run_id == run.id),
        run.n_groups,
        run.n_items,
        run.digest,
        None if pruning is None else pruning.created_at_utc,
        run.sampled,
        run.collapsed,
        run.documents_in_ten,
        run.tie_order,
        run.groups_share,
        means,
        tuple(
            ShownCoverage(version, coverage.cutoff, coverage.judged_share)
            for label_set_id, version in label_sets.items()
            for coverage in tx.evaluations.coverages(run.id, label_set_id)
        ),
        None if chosen is None else means[evaluations.index(chosen)],
        hardest,
        by,
        slices,
        label_set=next((label_set_ref(of) for of in sets if chosen is not None and of.id == chosen.label_set_id), None),
    )


def _chosen(
    tx: ReadTransaction,
    run: RunRecord,
    evaluations: list[EvaluationRecord],
    metric: Metric | None,
    view: LabelView,
) -> EvaluationRecord | None:
    """Return the evaluation whose groups are shown: of the metric, else of the first, under the labels that are meant.

    By default these are the latest labels of the unnamed judge, else of all judges.
    """
    if view.labels is not None or view.judge:
        label_set = numbered_labels(tx, run.dataset_id, run.dataset, view.version, view.judge)
        under = [of for of in evaluations if of.label_set_id == label_set.id or of.judge == EXTERNAL_JUDGE]
        if view.labels is None:
            under = [of for of in evaluations if of.judge in (label_set.judge, EXTERNAL_JUDGE)]
        if evaluations and not under:
            of = LabelView(judge=label_set.judge, labels=None if view.version is None else label_set.version)
            typed = [] if metric is None else [metric.requested_as]
            computing = adding_words(tx, [run], typed, of)
            raise ReferenceNotFoundError(
                f"run {run.name!r} has no metric under version {label_set.version} of the labels"
                f"{f' of {judge_words(label_set.judge)}' if label_set.judge else ''}",
                advice=f"compute some with: {computing}",
            )
        evaluations = under
    if metric is not None:
        text = str(known_metric(tx, run.dataset_id, metric))
        evaluations = [evaluation for evaluation in evaluations if evaluation.metric == text]
        if not evaluations:
            command = adding_words(
                tx, [run], [text if metric.is_external else metric.requested_as], LabelView(judge=view.judge)
            )
            adding = "store it" if metric.is_external else "compute it"
            raise ReferenceNotFoundError(f"run {run.name!r} has no {text}", advice=f"{adding} with: {command}")
    unnamed = [evaluation for evaluation in evaluations if not evaluation.judge] or evaluations
    if not unnamed:
        return None
    return max(
        (evaluation for evaluation in unnamed if evaluation.metric == unnamed[0].metric),
        key=lambda evaluation: evaluation.label_set_version,
    )


def _mean(evaluation: EvaluationRecord, ids: Index, values: Floats, weights_of: GroupWeightsById) -> ShownMean:
    """Return a stored mean, with its interval if it is the mean of the known groups."""
    metric, ci = parse_metric(evaluation.metric), None
    defined = ~np.isnan(values)
    ids, values = ids[defined], values[defined]
    if metric.summary == "mean" and metric.shown_only is None and values.size == evaluation.n_groups:
        weights = _weights(metric, ids, weights_of)
        total = float(values.size if weights is None else weights.sum())
        mean, interval = mean_interval(values, weights, metric.limits)
        ci = interval if Evaluated(evaluation, total, mean).is_mean_of_groups else None
    return ShownMean(
        *(
            evaluation.metric,
            evaluation.requested_as,
            evaluation.label_set_version,
            evaluation.judge,
            evaluation.mean,
            ci,
        ),
        *(evaluation.n_groups, evaluation.n_missing, evaluation.n_undefined),
    )


def _weights(metric: Metric, ids: Index, weights_of: GroupWeightsById) -> Floats | None:
    """Return the weights of groups under a metric, None if all weights are equal."""
    return weights_of.weights_of(ids) if metric["weights"] != "none" and weights_of.ids.size else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What one axis adds to a value: ``change``, on the way from the default to the convention, axis by axis."""

    axis: str
    value: str
    change: float


@dataclass(frozen=True, slots=True)
class OpenTies:
    """What a tool with an unstable sort may print: its mean lies from ``low`` to ``high``.

    ``from_items``: the length of a list from which its sort is unstable. ``n_groups``: in how many lists of that length
    the order of equal scores changes the value.
    """

    low: float
    high: float
    from_items: int
    n_groups: int


@dataclass(frozen=True, slots=True)
class Convention:
    """One tool's value of a run.

    ``text``: the metric as the tool writes it; ``metric``: its canonical form. ``mean``: None if the tool has none; if
    the tool refuses, ``refusal`` says why. ``effects``: the axes that change the value, the largest change first; they
    add up to the difference from our own default. ``tie_order``: that of the run, where the metric names no rule.
    """

    text: str
    metric: str
    mean: float | None
    effects: tuple[Effect, ...]
    refusal: str = ""
    open_ties: OpenTies | None = None
    tie_order: str | None = None


def conventions(tx: ReadTransaction, run: RunRecord, cutoff: int, view: LabelView) -> list[Convention]:
    """Return the plain NDCG of a run under our own default and every dialect.

    Raises: InputError if the run's dataset has no labels.
    """
    newest = numbered_labels(tx, run.dataset_id, run.dataset, view.version, view.judge)
    both = judged(tx.runs.ranking(run.id), tx.labels.lists(newest.id))
    weights = stored_weights(tx, run.dataset_id)
    tools = [(dialect.text(cutoff), dialect.unstable_from) for dialect in DIALECTS.values()]
    return [_convention(both, text, weights, unstable) for text, unstable in ((f"ndcg@{cutoff}", None), *tools)]


def _convention(both: JudgedRanking, text: str, weights: GroupWeights | None, unstable_from: int | None) -> Convention:
    metric = parse_metric(text)
    try:
        mean = group_results(both, [metric], weights)[0].mean
    except MetricError as error:
        return Convention(text, str(metric), None, (), str(error))
    open_ties = None if unstable_from is None else _open_ties(both, metric, weights, unstable_from)
    tie_order = both.ranking.tie_order if metric.tie_rule(both.ranking.tie_order) == LISTED else None
    return Convention(text, str(metric), mean, _effects(both, metric, weights), "", open_ties, tie_order)


def _open_ties(both: JudgedRanking, metric: Metric, weights: GroupWeights | None, from_items: int) -> OpenTies | None:
    """Return the range of means that the order of equal scores allows, in lists of ``from_items`` items or more."""
    own, worst, best = values_with_bounds(both, [metric])[0]
    is_open = depends_on_sort(own, worst, best, from_items)
    if not is_open.any():
        return None
    low, high = (
        aggregated(replace(own, values=np.where(is_open, bound.values, own.values)), weights).mean
        for bound in (worst, best)
    )
    return None if low is None or high is None else OpenTies(low, high, from_items, int(is_open.sum()))


def _effects(both: JudgedRanking, metric: Metric, weights: GroupWeights | None) -> tuple[Effect, ...]:
    """Return what each axis adds on the way from the plain metric to this one, the largest change first."""
    step = Metric(metric.measure, metric.cutoff)
    before = _mean_or_none(both, step, weights)
    effects = []
    waiting: dict[str, str] = {}  # a depth equal to the cutoff has no effect before an ideal that ends with the list
    for difference in differences(step, metric):
        waiting[difference.axis] = difference.theirs
        step = step.with_axes(**waiting)
        waiting = {axis: value for axis, value in waiting.items() if step[axis] != value}
        after = _mean_or_none(both, step, weights)
        if before is not None and after is not None and after != before:
            effects.append(Effect(difference.axis, difference.theirs, after - before))
        before = before if after is None else after
    return tuple(sorted(effects, key=lambda effect: -abs(effect.change)))


def _mean_or_none(both: JudgedRanking, metric: Metric, weights: GroupWeights | None) -> float | None:
    """Return the mean, None if the metric refuses the run half-way."""
    try:
        return group_results(both, [metric], weights)[0].mean
    except MetricError:
        return None


def listed_runs(holder: HasStore, question: RunsQuestion) -> ListedRuns:
    """Return the requested runs (see ``list_runs``)."""
    metric, sort, tags, judge = question.metric, question.sort, question.tags, question.judge
    refuse("runs list", {"sort": sort, "metric": metric})
    with holder.store().read() as tx:
        every = tx.runs.chosen((), question.dataset)
    chosen = [run for run in every if run.has_tags(question.tags)][-(question.limit or 0) :]
    ranked: list[RankedRun] = []
    notes: tuple[str, ...] = ()
    if metric is not None and sort == "mean":
        newest = {run.id for run in chosen}
        ranked, notes = ranked_runs(holder, metric, dataset=question.dataset, tags=tags, judge=judge)
        chosen = [of_run.run for of_run in ranked if of_run.run.id in newest]
    elif metric is not None:
        for of_dataset in dict.fromkeys(run.dataset for run in chosen):
            with suppress(NotComparableError):  # no run of this dataset has the metric
                ranked += ranked_runs(holder, metric, dataset=of_dataset, tags=tags, judge=judge)[0]
    means = {of_run.run.id: of_run.mean for of_run in ranked}
    if metric is not None and sort == "time" and chosen and all(means.get(run.id) is None for run in chosen):
        of_first = [run for run in chosen if run.dataset_id == chosen[0].dataset_id]
        with holder.store().read() as tx:
            adding = adding_words(tx, of_first, [metric], LabelView(judge=question.judge), every=True)
        raise NotComparableError(f"no run has {metric}", advice=f"add it with: {adding}")
    return ListedRuns(chosen[: question.top], metric, means, {of_run.run.id: of_run.judged for of_run in ranked}, notes)
