"""Stored runs, with all that belongs to them, into a folder of Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Index

if TYPE_CHECKING:
    from ndcg_tracker.exchange.writer import Column, ExportWriter
    from ndcg_tracker.rankings.ranking import GroupedItems
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import EvaluationRecord, LabelSetRecord, RunRecord


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds."""

    n_runs: int
    n_items: int
    n_label_sets: int
    n_results: int


def export(tx: ReadTransaction, runs: Sequence[RunRecord], writer: ExportWriter) -> Exported:
    """Write runs with their items, labels, evaluations and group results, in the order in which they were stored."""
    runs = sorted({run.id: run for run in runs}.values(), key=lambda run: run.id)
    n_label_sets = n_results = 0
    for dataset_id in dict.fromkeys(run.dataset_id for run in runs):
        of_dataset = [run for run in runs if run.dataset_id == dataset_id]
        name = of_dataset[0].dataset
        evaluations = {run.id: tx.evaluations.of_run(run.id) for run in of_dataset}
        used = {one.label_set_id for found in evaluations.values() for one in found}
        label_sets = [one for one in tx.labels.sets(dataset_id) if one.id in used]
        _write_groups(tx, dataset_id, name, writer)
        for label_set in label_sets:
            _write_labels(tx, name, label_set, writer)
        for run in of_dataset:
            _write_run(tx, run, writer)
            n_results += sum(_write_evaluation(tx, run, one, writer) for one in evaluations[run.id])
            _write_coverage(tx, run, label_sets, writer)
        n_label_sets += len(label_sets)
    return Exported(len(runs), sum(run.n_items for run in runs), n_label_sets, n_results)


def _write_groups(tx: ReadTransaction, dataset_id: int, name: str, writer: ExportWriter) -> None:
    """Write the groups of a dataset that have a weight or attributes."""
    attributes = tx.groups.attributes(dataset_id)
    weights = dict(zip(*(column.tolist() for column in tx.groups.weights(dataset_id)), strict=True))
    ids = np.array(sorted(attributes.keys() | weights.keys()), dtype=np.int64)
    columns: dict[str, Column] = {
        "dataset": name,
        "group_key": tx.groups.keys(dataset_id, ids),
        "weight": [weights.get(group) for group in ids.tolist()],
        "attributes": [_json(attributes[group]) if group in attributes else None for group in ids.tolist()],
    }
    writer.add("groups", columns, ids.size)


def _write_labels(tx: ReadTransaction, name: str, label_set: LabelSetRecord, writer: ExportWriter) -> None:
    columns: dict[str, Column] = {"dataset": name, "label_set_version": label_set.version, "digest": label_set.digest}
    labels = tx.labels.lists(label_set.id)
    writer.add("label_sets", columns | {"source": [label_set.source], "n_labels": labels.n_items}, 1)
    rows: dict[str, Column] = {"group_key": _repeated(labels), "item_key": labels.item_keys, "grade": labels.grades}
    writer.add("labels", columns | rows, labels.n_items)


def _write_run(tx: ReadTransaction, run: RunRecord, writer: ExportWriter) -> None:
    owner: dict[str, Column] = {"dataset": run.dataset, "run": run.name}
    facts: dict[str, Column] = {
        "digest": run.digest,
        "created_at_utc": run.created_at_utc,
        "git_commit": [run.git_commit],
        "source": [run.source],
        "parameters": _json(run.parameters),
        "tags": _json(run.tags),
        "n_groups": run.n_groups,
        "n_items": run.n_items,
    }
    writer.add("runs", owner | facts, 1)
    for items in tx.runs.ranking_blocks(run):
        lengths = np.diff(items.offsets)
        rows: dict[str, Column] = {
            "group_key": _repeated(items),
            "rank": np.arange(1, items.n_items + 1) - np.repeat(items.offsets[:-1], lengths),
            "item_key": items.item_keys,
            "score": items.scores,
        }
        writer.add("items", owner | rows, items.n_items)


def _write_evaluation(tx: ReadTransaction, run: RunRecord, one: EvaluationRecord, writer: ExportWriter) -> int:
    """Write one evaluation with its group results; return how many these are."""
    owner: dict[str, Column] = {
        "dataset": run.dataset,
        "run": run.name,
        "label_set_version": one.label_set_version,
        "metric": one.metric,
    }
    results = tx.evaluations.results(one.id, components=True)
    n_results = results.group_ids.size
    facts: dict[str, Column] = {name: [getattr(one, name)] for name in ("mean", "worst_mean", "best_mean")}
    facts |= {name: getattr(one, name) for name in ("n_groups", "n_missing", "n_undefined")}
    facts |= {"n_results": n_results, "requested_as": one.requested_as}
    writer.add("evaluations", owner | facts, 1)
    rows: dict[str, Column] = {
        "group_key": tx.groups.keys(run.dataset_id, results.group_ids),
        "value": results.values,
        "dcg": results.dcg,
        "ideal_dcg": results.ideal_dcg,
        "undefined_reason": results.reasons_by_row().tolist(),
    }
    writer.add("group_results", owner | rows, n_results)
    return n_results


def _write_coverage(
    tx: ReadTransaction, run: RunRecord, label_sets: Iterable[LabelSetRecord], writer: ExportWriter
) -> None:
    for label_set in label_sets:
        found = tx.evaluations.coverages(run.id, label_set.id)
        columns: dict[str, Column] = {
            "dataset": run.dataset,
            "run": run.name,
            "label_set_version": label_set.version,
            "cutoff": [one.cutoff for one in found],
            "judged_share": [one.judged_share for one in found],
        }
        writer.add("label_coverage", columns, len(found))


def _repeated(items: GroupedItems) -> Keys:
    """Return the group of every item."""
    rows: Index = np.repeat(np.arange(items.n_groups), np.diff(items.offsets))
    return items.group_keys.take(rows)


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True)
