"""Steps of a history: the stored group results of runs under one version of the labels, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.statistics.steps import Step, history_steps
from ndcg_tracker.tracker.inference_limits import MEANS_AGREE, NO_INFERENCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.records import HistoryRecord
    from ndcg_tracker.storage.store import ReadTransaction

    Mask = NDArray[np.bool_]
    Results = tuple[Index, Floats]

_ENOUGH = 0.9
"""A run with results for a smaller share of the groups of the others is left out, or it would take them away."""


@dataclass(frozen=True, slots=True)
class FoundStep:
    """What happened at one run, by run id.

    ``before``: the run it was compared with. ``first`` and ``last``: the runs between which a step lies.
    """

    step: Step
    before: int | None = None
    first: int | None = None
    last: int | None = None


def steps_of(
    tx: ReadTransaction, dataset_id: int, metric: str, records: Sequence[HistoryRecord], notes: list[Note]
) -> dict[int, FoundStep]:
    """Return what happened at each of the runs by its id; what could not be compared joins the notes.

    Each run is paired with those under the same version of the labels, whatever stands between them.
    """
    found: dict[int, FoundStep] = {}
    for version in dict.fromkeys(record.label_set_version for record in records):
        of_version = [record for record in records if record.label_set_version == version]
        if len(of_version) > 1:
            found |= _steps_of_version(tx, dataset_id, metric, of_version, notes)
    return found


def _steps_of_version(
    tx: ReadTransaction, dataset_id: int, metric: str, records: Sequence[HistoryRecord], notes: list[Note]
) -> dict[int, FoundStep]:
    """Return what happened at runs under one version of the labels."""
    results = tx.history_results([record.evaluation_id for record in records])
    weights = _weights(tx, dataset_id) if parse_metric(metric)["weights"] != "none" else None
    if any(not _is_mean(record, each, weights) for record, each in zip(records, results, strict=True)):
        if NO_INFERENCE not in notes:
            notes.append(NO_INFERENCE)
        return _differences(records)
    ids, values, kept = _side_by_side(results)
    if ids is not results[0][0]:
        notes += _notes(records, results, ids, kept)
    runs = [record for record, is_kept in zip(records, kept.tolist(), strict=True) if is_kept]
    steps = history_steps(values, None if weights is None else _of_groups(weights, ids))
    before = [None, *(run.run_id for run in runs)]
    return {
        run.run_id: FoundStep(step, last, *(None if at is None else runs[at].run_id for at in (step.first, step.last)))
        for run, last, step in zip(runs, before, steps, strict=False)
    }


def _notes(records: Sequence[HistoryRecord], results: Sequence[Results], ids: Index, kept: Mask) -> list[Note]:
    """Return what must be known of runs that do not all have results for the same groups."""
    n_defined = [values.size - int(np.count_nonzero(np.isnan(values))) for _, values in results]
    notes = [
        Note("other_groups", {"run": records[place].run, "n": n_defined[place], "n_beside": ids.size})
        for place in np.flatnonzero(np.logical_not(kept)).tolist()
    ]
    most = max(n_defined)
    if 0 < ids.size < most:
        notes.append(Note("shared_groups", {"n": ids.size, "most": most}))
    return notes


def _differences(records: Sequence[HistoryRecord]) -> dict[int, FoundStep]:
    """Return the differences of the stored means, where nothing can be tested."""
    found: dict[int, FoundStep] = {}
    for before, record in pairwise(records):
        unknown = record.mean is None or before.mean is None
        delta = None if unknown else float(record.mean or 0.0) - float(before.mean or 0.0)
        found[record.run_id] = FoundStep(Step(delta, None, None, False), before.run_id)
    return found


def _side_by_side(results: Sequence[Results]) -> tuple[Index, Floats, Mask]:
    """Return the groups that the runs share, a row of their results per run, and which runs these are."""
    first = results[0][0]
    kept = np.ones(len(results), dtype=np.bool_)
    if all(ids is first for ids, _ in results):
        table = np.concatenate([values for _, values in results]).reshape(len(results), first.size)
        if not np.isnan(table.sum()):
            return first, table, kept
    all_ids = np.unique(np.concatenate([ids for ids, _ in results]))
    defined = np.zeros((len(results), all_ids.size), dtype=np.bool_)
    for row, (ids, values) in zip(defined, results, strict=True):
        row[np.searchsorted(all_ids, ids)] = ~np.isnan(values)
    usual = 2 * defined.sum(axis=0) > len(results)
    kept = defined[:, usual].sum(axis=1) >= _ENOUGH * int(usual.sum())
    common = defined[kept].all(axis=0)
    shared = all_ids[common]
    rows = [
        values[np.searchsorted(ids, shared)]
        for (ids, values), is_kept in zip(results, kept.tolist(), strict=True)
        if is_kept
    ]
    return shared, np.stack(rows) if rows else np.empty((0, shared.size)), kept


def _is_mean(record: HistoryRecord, results: Results, weights: tuple[Index, Floats] | None) -> bool:
    """Return whether the stored mean is the (weighted) mean of the stored results."""
    if weights is None or record.mean is None:
        return True
    ids, values = results
    defined = ~np.isnan(values)
    shares = _of_groups(weights, ids[defined])
    if not shares.any():
        return True
    return abs(float(np.average(values[defined], weights=shares)) - record.mean) <= MEANS_AGREE


def _weights(tx: ReadTransaction, dataset_id: int) -> tuple[Index, Floats]:
    """Return the ids, ascending, and weights of the groups that have one."""
    ids, weights = tx.group_weights(dataset_id)
    known = ~np.isnan(weights)
    return ids[known], weights[known]


def _of_groups(weights: tuple[Index, Floats], group_ids: Index) -> Floats:
    """Return the weight of each group, 1 where there is none."""
    ids, numbers = weights
    found = np.ones(group_ids.size)
    if ids.size:
        place = np.minimum(np.searchsorted(ids, group_ids), ids.size - 1)
        found = np.where(ids[place] == group_ids, numbers[place], 1.0)
    return found
