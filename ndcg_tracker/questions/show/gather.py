"""One stored run: where it comes from, its means, how much of it is judged, its hardest groups and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.attributes import attribute_values
from ndcg_tracker.compare.gather_results import Evaluated
from ndcg_tracker.compare.run_pair import adding_command
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
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
from ndcg_tracker.runs.known_metrics import known_metric
from ndcg_tracker.words.notes import command_line

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.records import EvaluationRecord, GroupWeightsById, RunRecord
    from ndcg_tracker.storage.transactions import ReadTransaction


def shown_run(tx: ReadTransaction, run: RunRecord, metric: Metric | None, by: str | None, top: int) -> ShownRun:
    """Return what there is to say of a run (see ``Tracker.show``).

    Raises: ReferenceNotFoundError for a metric that it does not have; InputError for slices of a run without results of
    groups, or by an attribute that no group has.
    """
    evaluations = tx.evaluations.of_run(run.id)
    weights_of = tx.groups.weights_by_id(run.dataset_id)
    columns = tx.evaluations.results_of([one.id for one in evaluations])
    results = {one.id: found for one, found in zip(evaluations, columns, strict=True)}
    means = tuple(_mean(one, *results[one.id], weights_of) for one in evaluations)
    chosen = _chosen(tx, run, evaluations, metric)
    hardest: tuple[ShownGroup, ...] = ()
    slices: tuple[ShownSlice, ...] = ()
    ids, values = results[chosen.id] if chosen is not None else (np.empty(0, np.int64), np.empty(0))
    ids, values = ids[~np.isnan(values)], values[~np.isnan(values)]
    if chosen is not None and values.size:
        parsed = parse_metric(chosen.metric)
        places = hardest_places(values, top, parsed.direction)
        keys = tx.groups.keys(run.dataset_id, ids[places]).to_list()
        hardest = tuple(map(ShownGroup, keys, values[places].tolist()))
        if by is not None:
            names = attribute_values(tx, run, by).of(ids).values
            slices = run_slices(values, names, _weights(parsed, ids, weights_of), parsed.limits)
    elif by is not None:
        raise InputError(f"run {run.name!r} has no results of groups to slice", advice="ingest its ranking again")
    label_sets = {one.label_set_id: one.label_set_version for one in evaluations}
    pruning = tx.runs.prunings(run.id).get(run.id)
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
        means,
        tuple(
            ShownCoverage(version, one.cutoff, one.judged_share)
            for label_set_id, version in label_sets.items()
            for one in tx.evaluations.coverages(run.id, label_set_id)
        ),
        None if chosen is None else means[evaluations.index(chosen)],
        hardest,
        by,
        slices,
    )


def _chosen(
    tx: ReadTransaction, run: RunRecord, evaluations: list[EvaluationRecord], metric: Metric | None
) -> EvaluationRecord | None:
    """Return the evaluation whose groups are shown: of the metric, else of the first, under the newest labels."""
    if metric is not None:
        text = str(known_metric(tx, run.dataset_id, metric))
        evaluations = [one for one in evaluations if one.metric == text]
        if not evaluations:
            command = command_line(adding_command([run], [text]))
            adding = "store it" if metric.is_external else "compute it"
            raise ReferenceNotFoundError(f"run {run.name!r} has no {text}", advice=f"{adding} with: {command}")
    unnamed = [one for one in evaluations if not one.judge] or evaluations
    if not unnamed:
        return None
    return max((one for one in unnamed if one.metric == unnamed[0].metric), key=lambda one: one.label_set_version)


def _mean(one: EvaluationRecord, ids: Index, values: Floats, weights_of: GroupWeightsById) -> ShownMean:
    """Return a stored mean, with its interval where it is the mean of the groups that are known."""
    metric, ci = parse_metric(one.metric), None
    defined = ~np.isnan(values)
    ids, values = ids[defined], values[defined]
    if metric.summary == "mean" and metric.shown_only is None and values.size == one.n_groups:
        weights = _weights(metric, ids, weights_of)
        total = float(values.size if weights is None else weights.sum())
        mean, found = mean_interval(values, weights, metric.limits)
        ci = found if Evaluated(one, total, mean).differs_by_rounding else None
    return ShownMean(
        *(one.metric, one.requested_as, one.label_set_version, one.judge, one.mean, ci),
        *(one.n_groups, one.n_missing, one.n_undefined),
    )


def _weights(metric: Metric, ids: Index, weights_of: GroupWeightsById) -> Floats | None:
    """Return what groups weigh under a metric, None where all weigh alike."""
    return weights_of.weights_of(ids) if metric["weights"] != "none" and weights_of.ids.size else None
