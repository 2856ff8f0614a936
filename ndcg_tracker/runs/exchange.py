"""Copy a whole database, or named runs with their labels, to a folder of Parquet files, and from there."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError, argument
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.grouping import grouped, places_in
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists, Ranking, SameItems, Unweighted
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.check import check_content
from ndcg_tracker.runs.export_files import ADVICE, N_ROWS, OWNERS
from ndcg_tracker.runs.labels import add_labels
from ndcg_tracker.runs.older_exports import FILES, OlderExport
from ndcg_tracker.runs.parts import refuse_of_both_parts
from ndcg_tracker.runs.rules import Rules
from ndcg_tracker.runs.scoring import settle_weights
from ndcg_tracker.statistics.t_test import sample_std_dev
from ndcg_tracker.storage.copying import COLUMNS, OF_RUNS
from ndcg_tracker.storage.records import LabelOrigin, with_extended
from ndcg_tracker.storage.upkeep.integrity import NUMBERED
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import GroupedItems
    from ndcg_tracker.runs.check import Checked
    from ndcg_tracker.runs.export_files import Column, ExportReader, ExportWriter
    from ndcg_tracker.storage.copying import Row
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

Progress = Callable[[int, int | None], None]
"""Called with how many runs are done, and how many there are."""
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds; ``notes``: what it leaves out."""

    n_runs: int
    n_items: int
    n_label_sets: int
    n_results: int
    notes: tuple[str, ...] = ()


def export(
    tx: ReadTransaction, runs: Sequence[RunRecord] | None, folder: str, *, progress: Progress | None = None
) -> Exported:
    """Write some runs with their labels, or the whole database (None), into a new folder (``Tracker.export_runs``)."""
    from ndcg_tracker.runs.export_files import ExportWriter

    is_whole = runs is None
    runs = sorted({run.id: run for run in (tx.runs.all() if runs is None else runs)}.values(), key=lambda run: run.id)
    if not runs and (not is_whole or tx.copies.is_empty()):
        raise ReferenceNotFoundError("there are no runs to export", advice="store one with: ndcg-track ingest FILE")
    chosen = None if is_whole else _chosen(tx, runs)
    left_out = {} if chosen is None else tx.copies.n_beside_runs(chosen["dataset_id"])
    with ExportWriter(Path(folder), COLUMNS if is_whole else OF_RUNS) as writer:
        of_export = _Export(tx, writer)
        for name in COLUMNS if is_whole else OF_RUNS:
            for rows in tx.copies.rows(name, chosen):
                for number, row in enumerate(rows, 1 + writer.n_rows[name]):
                    of_export.large(name, row)
                    if name == "runs" and progress is not None:
                        progress(number, len(runs))
                writer.add_rows(name, rows)
    n, notes = writer.n_rows, [Note("left_out", dict(left_out))] if any(left_out.values()) else []
    return Exported(n["runs"], n["items"], n["label_sets"], n["group_results"], in_words(notes))


def _chosen(tx: ReadTransaction, runs: Sequence[RunRecord]) -> dict[str, set[int]]:
    """Return the ids of runs, their datasets, and their labels with the versions that these extend."""
    used = {evaluation.label_set_id for run in runs for evaluation in tx.evaluations.of_run(run.id)}
    dataset_ids = {run.dataset_id for run in runs}
    sets = (one for dataset_id in dataset_ids for one in with_extended(tx.labels.sets(dataset_id, None), used))
    label_set_ids = {label_set.id for label_set in sets}
    return {"dataset_id": dataset_ids, "run_id": {run.id for run in runs}, "label_set_id": label_set_ids}


class _Export:
    """Writes items, labels and results of their owners' rows, and tells each row how many it has."""

    def __init__(self, tx: ReadTransaction, writer: ExportWriter) -> None:
        self._tx = tx
        self._writer = writer
        self._datasets = {dataset.id: dataset.name for dataset in tx.datasets.all()}
        self._without = tx.runs.without("items")

    def large(self, name: str, row: Row) -> None:
        """Write what a row of a table owns."""
        if name in OWNERS:
            row[N_ROWS] = {"runs": self._items, "label_sets": self._labels, "evaluations": self._results}[name](row)

    def _labels(self, row: Row) -> int:
        labels = self._tx.labels.lists(row["id"])
        owner = {"dataset": self._datasets[row["dataset_id"]], "label_set_version": row["version"]}
        rows = {"group_key": _repeated(labels), "item_key": labels.item_keys, "grade": labels.grades}
        self._writer.add("labels", owner | rows, labels.n_items)
        return labels.n_items

    def _items(self, row: Row) -> int:
        run, n_items = self._tx.runs.with_id(row["id"]), 0
        for items in self._tx.runs.kept_blocks(run, is_whole=run.id not in self._without):
            rows: dict[str, Column] = {
                "dataset": run.dataset,
                "run": run.name,
                "group_key": _repeated(items),
                "rank": places_in(np.diff(items.offsets)),
                "item_key": items.item_keys,
                "score": items.scores,
            }
            self._writer.add("items", rows, items.n_items)
            n_items += items.n_items
        return n_items

    def _results(self, row: Row) -> int:
        if not self._tx.evaluations.results_of([row["id"]])[0][0].size:
            return 0
        results = self._tx.evaluations.results(row["id"], components=True)
        rows: dict[str, Column] = {name: row[name] for name in ("dataset", "run", "label_set_version", "metric")}
        rows |= {
            "group_key": self._tx.groups.keys(row["dataset_id"], results.group_ids),
            "value": results.values,
            "dcg": results.dcg,
            "ideal_dcg": results.ideal_dcg,
            "undefined_reason": results.reasons_by_row().tolist(),
        }
        self._writer.add("group_results", rows, results.group_ids.size)
        return results.group_ids.size


def _repeated(items: GroupedItems) -> Keys:
    """Return the group of every item."""
    rows: Index = np.repeat(np.arange(items.n_groups), np.diff(items.offsets))
    return items.group_keys.take(rows)


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """The outcome for one run: "stored" or "already stored"."""

    run: str
    run_id: int
    dataset: str
    outcome: str
    n_groups: int
    n_items: int


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import stored, and what it found when it computed all results again. ``notes``: remarks on it."""

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]
    n_results: int = 0
    n_evaluations: int = 0
    n_not_verifiable: int = 0


def import_all(
    tx: WriteTransaction, reader: ExportReader, dataset: str | None = None, *, progress: Progress | None = None
) -> Imported:
    """Store an export: a whole database in an empty one, or runs whose names are free (``Tracker.import_runs``)."""
    is_whole = reader.is_older or reader.is_whole
    if is_whole and not (dataset is None and tx.copies.is_empty()):
        raise ConflictError(
            "only an empty database takes a copy of a whole one, or an export of version 0.1.0 or 0.2.0",
            advice=f"import it into a new one with {argument('location', 'NEW.db')}, then export runs by name there",
        )
    of_import = _Import(tx, reader, dataset, is_whole=is_whole)
    for name in COLUMNS if is_whole else OF_RUNS:
        of_import.take(name)
    reader.check_read()
    checked = of_import.checked(progress)
    if checked.damage:
        raise InputError(checked.damage[0], where=reader.folder, advice=ADVICE)
    n_unknown = checked.n_evaluations - checked.n_computed
    counts = checked.n_results, checked.n_evaluations, n_unknown
    return Imported(tuple(of_import.runs), in_words(of_import.notes), *counts)


class _Import:
    """An import: every row as it is, with the numbers that it and what it names have here.

    In an empty database rows keep their numbers. Only the tables that the program numbers without a gap are numbered
    anew, because servers leave gaps, and so are the versions of labels, because an older export may lack some. In any
    other database runs and their labels get new numbers, and what is here already stays as it is.

    ``named``: the dataset to import into, None for those of the export.
    """

    def __init__(self, tx: WriteTransaction, reader: ExportReader, named: str | None, *, is_whole: bool) -> None:
        self._tx = tx
        self._reader = reader
        self._named = named
        self._is_whole = is_whole
        self._older = OlderExport(reader) if reader.is_older else None
        self._rules = Rules(tx)
        self._names: dict[int, str] = {}
        self._here: dict[int, DatasetRecord] = {}
        self._ids: dict[str, dict[int, int]] = defaultdict(dict)
        self._versions: dict[tuple[int, int | None], int] = {}
        self._used = {"runs": 0, "label_sets": 0}
        self._with_reasons = set[tuple[int, int, str]]()
        self.runs: list[ImportedRun] = []
        self.notes: list[Note] = []

    def take(self, name: str) -> None:
        """Store the rows of a table, with what they own; refuse the first row that breaks a rule."""
        waiting: list[Row] = []
        rows = self._reader.rows(name) if self._older is None else iter(self._older.rows.get(name, ()))
        for number, given in enumerate(rows, 1):
            row: Row = dict.fromkeys(COLUMNS[name]) | given
            told = self._rules.broken(name, row)
            if told is not None:
                raise self._reader.error(name if self._older is None else FILES.get(name, name), f"row {number} {told}")
            if name == "datasets":
                self._names[row["id"]] = row["name"]
            waiting.append(row)
            if len(waiting) == (1 if name in OWNERS else _ROWS_AT_ONCE):
                self._store(name, waiting)
                waiting = []
        if waiting:
            self._store(name, waiting)

    def _store(self, name: str, rows: list[Row]) -> None:
        """Store some rows of a table, or the one row of a table whose rows own others."""
        part = self._owned(name, rows[0]) if name in OWNERS else []
        if not self._is_whole:
            rows = self._to_add(name, rows, part)
        if not rows:
            return
        owner, write = rows[0], self._tx.write
        if name == "evaluations" and owner["std_dev"] is None:  # version 0.1.0 did not write it
            owner["std_dev"] = sample_std_dev(part[1][~np.isnan(part[1])])
        mapped = [self._mapped(name, row) for row in rows]
        if self._is_whole or name in ("coverages", "label_reasons"):
            write.copies.insert(name, mapped)
        else:
            write.copies.add(name, mapped[0])
        if name not in OWNERS:
            return
        number, dataset_id = mapped[0]["id"], mapped[0]["dataset_id"]
        self._ids[name][owner["id"]] = number
        if name == "label_sets":
            labels = LabelLists.from_rows(*part)
            write.labels.append(number, dataset_id, labels)
            write.labels.finish(number, owner["digest"], labels.n_groups, owner["n_labels"])
        elif name == "runs":
            write.runs.append(number, dataset_id, Ranking.from_rows(*part))
            self._tell(number, "stored")
        else:
            keys, values, dcg, ideal_dcg, reasons = part
            ids = write.groups.ensure(dataset_id, keys)
            of_groups = {"values": values, "dcg": dcg, "ideal_dcg": ideal_dcg, "reasons": reasons}
            write.evaluations.refill(number, group_ids=ids, **of_groups)

    def _mapped(self, name: str, given: Row) -> Row:
        """Return the columns of a row, with the numbers that it and others have here."""
        row: Row = {column: given[column] for column in COLUMNS[name]}
        if name in NUMBERED:
            row["id"] = self._ids[name].setdefault(row["id"], len(self._ids[name]) + 1)
        for column in COLUMNS[name].values():
            for key in column.foreign_keys:
                ids = self._ids.get(key.column.table.name, {})
                row[column.name] = ids.get(row[column.name], row[column.name])
        if name == "label_sets":
            before = sum(dataset_id == row["dataset_id"] for dataset_id, _ in self._versions)
            self._versions[row["dataset_id"], row["version"]] = row["version"] = before + 1
            row["extends"] = self._versions.get((row["dataset_id"], row["extends"]))
        elif name == "evaluations":
            of_labels = row["dataset_id"], row["label_set_version"]
            row["label_set_version"] = self._versions.get(of_labels, of_labels[1])
        elif name == "budget_resets":
            covered = [new for old, new in self._ids["decisions"].items() if old <= row["after_decision_id"]]
            row["after_decision_id"] = max(covered, default=0)
        for table in self._used:  # designs and their items name runs and labels that may be gone
            self._used[table] = max(self._used[table], row.get(f"answered_after_{table[:-1]}_id") or 0)
        if not self._is_whole and name == "runs":
            dataset = self._tx.datasets.with_id(row["dataset_id"]).name
            row |= {"dataset": dataset, "stored_by": self._tx.write.runs.storer()}
        elif not self._is_whole and name == "evaluations":
            row["metric_id"] = self._tx.write.evaluations.metric_id(row["metric"])
            row |= self._tx.write.evaluations.names(row["run_id"], row["label_set_id"])
        return row

    def _owned(self, name: str, row: Row) -> list[Any]:
        """Take the items, labels or results of a row of the export."""
        owner: Row = {"dataset": self._names[row["dataset_id"]]}
        owner |= {"run": row["name"]} if name == "runs" else {"label_set_version": row.get("version")}
        if name == "evaluations":
            owner = {column: row[column] for column in ("dataset", "run", "label_set_version", "metric")}
        part = self._reader.part(OWNERS[name], row[N_ROWS], owner)
        if name == "evaluations" and len(grouped(part[0]).keys) < len(part[0]):
            raise self._reader.error(OWNERS[name], f"has a group twice in {row['metric']} of run {row['run']!r}")
        return part

    def _tell(self, run_id: int, outcome: str) -> None:
        run = self._tx.runs.with_id(run_id)
        self.runs.append(ImportedRun(run.name, run.id, run.dataset, outcome, run.n_groups, run.n_items))

    def checked(self, progress: Progress | None) -> Checked:
        """Check what was stored as ``db check`` does."""
        if not self._is_whole:
            return check_content(self._tx, self._tx.write.made, progress)
        self._tx.write.copies.count_on(self._used)
        return check_content(self._tx, None, progress)

    def _to_add(self, name: str, rows: list[Row], part: list[Any]) -> list[Row]:
        """Return which rows of named runs are to be stored as rows; find or make what the others are here."""
        if name == "groups":
            for dataset_id, dataset in self._here.items():
                self._groups(dataset, [row for row in rows if row["dataset_id"] == dataset_id])
        elif name == "label_sets":
            self._ids[name][rows[0]["id"]] = self._labels(rows[0], LabelLists.from_rows(*part)).id
        elif name == "datasets":
            self._ids[name] |= {row["id"]: self._dataset(row).id for row in rows}
        elif name == "runs":
            return [] if self._has_run(rows[0]) else rows
        elif name == "label_reasons":
            sets, groups = self._ids["label_sets"], self._ids["groups"]
            places = [(sets[row["label_set_id"]], groups[row["group_id"]], row["item_key"]) for row in rows]
            return [row for row, place in zip(rows, places, strict=True) if place not in self._with_reasons]
        elif name != "metrics":
            return [row for row in rows if row["run_id"] in self._ids["runs"]]
        return []

    def _dataset(self, row: Row) -> DatasetRecord:
        refuse("import", {"dataset": self._named, "several_datasets": self._here})
        here = self._tx.write.datasets.ensure(
            self._named or row["name"], row["created_at_utc"], group_column=row.get("word") or ""
        )
        self._here[row["id"]] = here
        refuse_of_both_parts(self._tx, here, "an export")
        return here

    def _groups(self, dataset: DatasetRecord, rows: list[Row]) -> None:
        """Store groups: a weight must equal one that is here, and attributes that are here stay."""
        if self._tx.groups.weights(dataset.id).unweighted.default is not None:
            rows = [row for row in rows if row["key"]]  # the one without a key has the weight of all others
        keys = Keys.from_strings(row["key"] for row in rows)
        ids = self._tx.write.groups.ensure(dataset.id, keys).tolist()
        self._ids["groups"] |= zip((row["id"] for row in rows), ids, strict=True)
        weights = np.array([row["weight"] for row in rows], dtype=np.float64)  # NaN for None
        weighted = np.flatnonzero(~np.isnan(weights))
        varies, unweighted = np.zeros(weighted.size, dtype=np.bool_), Unweighted(default=1.0)
        settle_weights(
            self._tx, dataset, GroupWeights(keys.take(weighted), weights[weighted], varies, unweighted=unweighted)
        )
        here = self._tx.groups.attributes(dataset.id)
        new = {group: row["attributes"] for group, row in zip(ids, rows, strict=True) if row["attributes"]}
        self._tx.write.groups.set_attributes(dataset.id, {of: facts for of, facts in new.items() if of not in here})

    def _labels(self, row: Row, labels: LabelLists) -> LabelSetRecord:
        dataset, same = self._here[row["dataset_id"]], SameItems.of_json(row.get("same_items"))
        labels = replace(labels, by_row_number=row["by_row_number"], same_items=same)
        sets = {of.version: of for of in self._tx.labels.sets(dataset.id, None)}
        taken = sets.get(row["version"])
        if taken is not None and (taken.digest, taken.judge) != (row["digest"], row["judge"]):
            raise ConflictError(
                f"version {taken.version} of the labels of dataset {dataset.name!r} has other content here",
                advice=f"import into another dataset with {argument('dataset', 'NEW')}",
            )
        if labels.digest() != row["digest"]:
            raise self._reader.error("label_sets", f"labels version {row['version']} do not match their digest")
        facts = {column.name: row[column.name] for column in fields(LabelOrigin)}
        facts["extends"] = self._versions.get((dataset.id, row["extends"]))
        here = add_labels(self._tx, dataset, labels, LabelOrigin(**facts)).label_set
        self._versions[dataset.id, row["version"]] = here.version
        for rows in self._tx.copies.rows("label_reasons", {"label_set_id": {*self._tx.labels.extended(here)}}):
            self._with_reasons |= {(here.id, row["group_id"], row["item_key"]) for row in rows}
        if here.version != row["version"]:
            told: dict[str, Fact] = {"version": row["version"], "here": here.version, "dataset": dataset.name}
            self.notes.append(Note("other_version", told))
        return here

    def _has_run(self, row: Row) -> bool:
        """Return whether a run is here with this content. Raises: ConflictError if it has other content."""
        existing = self._tx.runs.named(self._here[row["dataset_id"]].id, row["name"])
        if existing is None:
            return False
        if (existing.digest, existing.sampled) != (row["digest"], row["sampled"]):
            rename = shlex.join(["ndcg-track", "runs", "rename", existing.name, "NEW"])
            raise ConflictError(
                f"run {existing.name!r} of dataset {existing.dataset!r} is already stored with other content",
                advice=f"import into {argument('dataset', 'NEW')}, or rename the run here with: {rename}",
            )
        self._tell(existing.id, "already stored")
        return True
