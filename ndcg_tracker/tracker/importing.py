"""What an export holds, into the database: the same runs, labels and results, to the last bit."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, MetricError, argument
from ndcg_tracker.metrics.language.text import asked_for, parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.weights import MAX_WEIGHT, GroupWeights
from ndcg_tracker.tracker.labels import add_labels
from ndcg_tracker.tracker.scoring import settle_weights

if TYPE_CHECKING:
    from ndcg_tracker.exchange import ExportReader
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import WriteTransaction

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What became of a run: "stored" or "already stored", and how many evaluations are new."""

    run: str
    run_id: int
    dataset: str
    outcome: str
    n_groups: int
    n_items: int
    n_evaluations: int


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought. ``notes``: what one should know of it."""

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]


def import_all(tx: WriteTransaction, reader: ExportReader, dataset: str | None = None) -> Imported:
    """Store everything of an export that is not there yet.

    Parameters: ``dataset``: the name that the export's only dataset gets here; None for its own. Raises: InputError
    for an export that does not hold together; ConflictError for a name with other content, and for a weight that
    contradicts a stored one.
    """
    runs, evaluations = reader.rows("runs"), _by_run(reader.rows("evaluations"))
    named = list(dict.fromkeys(row["dataset"] for row in runs))
    if dataset is not None and len(named) > 1:
        raise InputError(
            f"the export holds the datasets {', '.join(named)}; {argument('dataset')} is for an export of one"
        )
    datasets = {name: tx.ensure_dataset(dataset or name) for name in named}
    notes: list[str] = []
    _import_groups(tx, reader, datasets)
    label_sets = _import_labels(tx, reader, datasets, notes)
    coverages = _by_run(reader.rows("label_coverage"))
    imported = []
    for row in runs:
        run, outcome = _import_run(tx, reader, row, datasets[row["dataset"]])
        owner = row["dataset"], row["run"]
        n_new = _import_evaluations(tx, reader, run, evaluations[owner], label_sets)
        for one in coverages[owner]:
            label_set = _label_set(reader, label_sets, one)
            tx.insert_coverage(run.id, label_set.id, one["cutoff"], one["judged_share"])
        imported.append(ImportedRun(run.name, run.id, run.dataset, outcome, run.n_groups, run.n_items, n_new))
    reader.check_read()
    return Imported(tuple(imported), tuple(notes))


def _import_groups(tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord]) -> None:
    """Store weights and attributes of groups; an attribute that a group has here already stays."""
    rows = reader.rows("groups")
    for name, dataset in datasets.items():
        of_dataset = [row for row in rows if row["dataset"] == name]
        if not of_dataset:
            continue
        keys = Keys.from_strings(row["group_key"] for row in of_dataset)
        ids = tx.ensure_groups(dataset.id, keys)
        weights = np.array([np.nan if row["weight"] is None else row["weight"] for row in of_dataset], dtype=np.float64)
        known = np.flatnonzero(~np.isnan(weights))
        if known.size:
            if weights[known].min() < 0 or weights[known].max() > MAX_WEIGHT:
                raise reader.error("groups", f"has a weight that is not from 0 to {MAX_WEIGHT:g}")
            settle_weights(
                tx, dataset, GroupWeights(keys.take(known), weights[known], np.zeros(known.size, dtype=np.bool_))
            )
        here = tx.group_attributes(dataset.id)
        new = {}
        for row, group_id in zip(of_dataset, ids.tolist(), strict=True):
            given = _facts(row["attributes"] or "{}", reader, "groups")
            if given and given | here.get(group_id, {}) != here.get(group_id):
                new[group_id] = given | here.get(group_id, {})
        tx.set_group_attributes(dataset.id, new)


def _import_labels(
    tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord], notes: list[str]
) -> dict[tuple[str, int], LabelSetRecord]:
    """Store the label sets that are not there yet; return each by the export's dataset and version."""
    found = {}
    for row in reader.rows("label_sets"):
        name, version = row["dataset"], row["label_set_version"]
        part = reader.part("labels", row["n_labels"], {"dataset": name, "label_set_version": version})
        labels = LabelLists.from_rows(part.keys("group_key"), part.keys("item_key"), part.numbers("grade"))
        _check_whole(reader, "labels", f"labels version {version}", labels, row["digest"])
        dataset = datasets[name]
        is_numbered = row["by_row_number"]
        labels = replace(labels, by_row_number=None if is_numbered is None else bool(is_numbered))
        settled = add_labels(tx, dataset, labels, row["source"])
        found[name, version] = settled.label_set
        here = found[name, version].version
        if settled.is_new and here != version:
            notes.append(
                f"labels version {version} of the export is version {here} of dataset {dataset.name!r} here, its "
                "newest; runs under older versions need rescore to be comparable"
            )
    return found


def _import_run(tx: WriteTransaction, reader: ExportReader, row: Row, dataset: DatasetRecord) -> tuple[RunRecord, str]:
    owner = {"dataset": row["dataset"], "run": row["run"]}
    part = reader.part("items", row["n_items"], owner)
    ranking = Ranking.from_rows(part.keys("group_key"), part.keys("item_key"), part.numbers("score"))
    _check_whole(reader, "items", f"run {row['run']!r}", ranking, row["digest"])
    existing = tx.find_run(dataset.id, row["run"])
    if existing is not None:
        if existing.digest != row["digest"]:
            raise ConflictError(
                f"run {existing.name!r} of dataset {dataset.name!r} is already stored with other content; import into "
                f"another dataset with {argument('dataset')}, or first give the run here another name with: "
                f"{shlex.join(['ndcg-track', 'runs', 'rename', existing.name, 'NEW'])}"
            )
        return existing, "already stored"
    run = tx.insert_run(
        dataset.id,
        row["run"],
        ranking,
        source=row["source"],
        git_commit=row["git_commit"],
        parameters=_facts(row["parameters"], reader, "runs"),
        tags=_facts(row["tags"], reader, "runs"),
        created_at_utc=row["created_at_utc"],
    )
    return run, "stored"


def _import_evaluations(
    tx: WriteTransaction,
    reader: ExportReader,
    run: RunRecord,
    rows: list[Row],
    label_sets: dict[tuple[str, int], LabelSetRecord],
) -> int:
    """Store the evaluations that a run does not have yet and return how many."""
    stored = {(one.label_set_id, one.metric) for one in tx.evaluations(run.id)}
    n_new = 0
    for row in rows:
        owner = {name: row[name] for name in ("dataset", "run", "label_set_version", "metric")}
        _check_metric(reader, row["metric"], row["requested_as"])
        part = reader.part("group_results", row["n_results"], owner)
        label_set = _label_set(reader, label_sets, row)
        if (label_set.id, row["metric"]) in stored:
            continue
        tx.insert_evaluation(
            run.id,
            label_set.id,
            row["metric"],
            mean=row["mean"],
            tie_bounds=(row["worst_mean"], row["best_mean"]),
            n_groups=row["n_groups"],
            n_missing=row["n_missing"],
            n_undefined=row["n_undefined"],
            group_ids=tx.ensure_groups(run.dataset_id, part.keys("group_key")),
            values=part.numbers("value"),
            dcg=part.numbers("dcg"),
            ideal_dcg=part.numbers("ideal_dcg"),
            reasons=part.texts("undefined_reason"),
            requested_as=asked_for(row["metric"], row["requested_as"]),
        )
        n_new += 1
    return n_new


def _by_run(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["dataset"], row["run"]].append(row)
    return found


def _label_set(reader: ExportReader, label_sets: dict[tuple[str, int], LabelSetRecord], row: Row) -> LabelSetRecord:
    found = label_sets.get((row["dataset"], row["label_set_version"]))
    if found is None:
        raise reader.error("label_sets", f"lacks version {row['label_set_version']} of dataset {row['dataset']!r}")
    return found


def _check_whole(reader: ExportReader, table: str, what: str, items: LabelLists | Ranking, digest: str) -> None:
    if items.has_duplicates() or items.digest() != digest:
        raise reader.error(table, f"the content of {what} is not that which was exported")


def _check_metric(reader: ExportReader, text: str, requested_as: str | None) -> None:
    if not (requested_as or "").isprintable():
        raise reader.error(
            "evaluations", f"says that a metric was asked for by {requested_as!r}, which nobody can type"
        )
    try:
        canonical = str(parse_metric(text))
    except MetricError as error:
        raise reader.error("evaluations", f"holds a metric that this program does not know ({error})") from None
    if canonical != text:
        raise reader.error("evaluations", f"holds {text!r}, whose canonical form is {canonical!r}")


def _facts(text: str, reader: ExportReader, table: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise reader.error(table, "holds facts that are no JSON object")
    return found
