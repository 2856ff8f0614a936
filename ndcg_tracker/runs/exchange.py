"""Export stored runs, with everything that belongs to them, to a folder of Parquet files, and import them."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.text import asked_for
from ndcg_tracker.metrics.verification import Difference, StatedResults, are_close, difference_of_means
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.rankings.join import places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import MAX_WEIGHT, GroupWeights, LabelLists, Ranking, Unweighted
from ndcg_tracker.runs.check import SHARES_AGREE, can_be_computed, contradiction_text, difference_text, verdicts
from ndcg_tracker.runs.labels import add_labels, label_source, stored_version
from ndcg_tracker.runs.parts import refuse_of_both_parts
from ndcg_tracker.runs.record import BroughtRecord, ExportedRecord, exported_metric
from ndcg_tracker.runs.samples import refuse_other_sample
from ndcg_tracker.runs.scoring import restore, settle_weights, stored_scores
from ndcg_tracker.storage.records import SUMMED_JUDGE, LabelOrigin, with_extended
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings.ranking import GroupedItems
    from ndcg_tracker.runs.export_files import Column, ExportReader, ExportWriter, Row
    from ndcg_tracker.runs.labels import KnownLabels
    from ndcg_tracker.runs.scoring import Scores
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

NOT_VERIFIABLE = {"imported": "not verifiable"}
"""The tag of a run with results that an import could not recompute."""
_STATED = ("mean", "worst_mean", "best_mean", "n_groups", "n_missing", "n_undefined")


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds; ``n_pruned``: how many of the runs have lost their items.

    ``n_aliases``, ``n_decisions``, ``n_designs``: how many are in the record of what people did with the runs.
    """

    n_runs: int
    n_items: int
    n_label_sets: int
    n_results: int
    n_pruned: int = 0
    n_aliases: int = 0
    n_decisions: int = 0
    n_designs: int = 0


Progress = Callable[[int, int | None], None]
"""Called with how many runs are done, and how many there are."""


def export(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    folder: str,
    *,
    datasets: Sequence[DatasetRecord] = (),
    texts: bool = False,
    record: bool = True,
    progress: Progress | None = None,
) -> Exported:
    """Write runs with everything that belongs to them into a new folder (see ``Tracker.export_runs``).

    ``datasets``: the datasets to export completely, with labels that no run uses.
    """
    from ndcg_tracker.runs.export_files import ExportWriter

    if not runs:
        raise ReferenceNotFoundError("there are no runs to export", advice="store one with: ndcg-track ingest FILE")
    names, whole = {run.dataset_id: run.dataset for run in runs}, {dataset.id: dataset.name for dataset in datasets}
    runs = sorted({run.id: run for run in runs}.values(), key=lambda run: run.id)
    of_export = ExportedRecord(tx, runs, datasets) if record else None
    are_pruned = not tx.runs.without("items").isdisjoint(run.id for run in runs)
    parts = {"texts": texts, "record": record, "pruned": are_pruned}
    with ExportWriter(Path(folder), [part for part, is_wanted in parts.items() if is_wanted]) as writer:
        written = _Export(tx, writer, runs)
        for dataset_id, name in names.items() if texts else ():
            written.texts(dataset_id, name)
        of_record = set() if of_export is None else of_export.label_set_ids
        for dataset_id, name in sorted((names | whole).items()):
            of_whole = (
                {label_set.id for label_set in tx.labels.sets(dataset_id, None)} if dataset_id in whole else set()
            )
            written.dataset(dataset_id, name, of_record | of_whole, progress)
        if of_export is not None:
            of_export.write(writer)
    n = writer.n_rows
    counts = n["runs"], n["items"], n["label_sets"], n["group_results"], n["prunings"], n["aliases"]
    return Exported(*counts, n["decisions"] + n["suite_decisions"], n["designs"])


class _Export:
    """Writes runs with their items, labels, evaluations and group results, in the order in which they were stored."""

    def __init__(self, tx: ReadTransaction, writer: ExportWriter, runs: Sequence[RunRecord]) -> None:
        self._tx = tx
        self._writer = writer
        self._runs = runs
        self._prunings = tx.runs.prunings()

    def texts(self, dataset_id: int, name: str) -> None:
        """Write the texts of a dataset: without a group of an item in all groups, without an item of a group."""
        texts = self._tx.texts.all(dataset_id)
        ids, keys = self._tx.groups.all(dataset_id)
        key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
        columns: dict[str, Column] = {
            "dataset": name,
            "group_key": [key_of.get(text.group_id) for text in texts],
            "item_key": [text.item_key or None for text in texts],
        }
        self._writer.add("texts", columns, len(texts), texts)

    def dataset(self, dataset_id: int, name: str, label_set_ids: set[int], progress: Progress | None) -> None:
        """Write the runs of a dataset with their labels, and also the labels of ``label_set_ids``."""
        runs = [run for run in self._runs if run.dataset_id == dataset_id]
        evaluations = {run.id: self._tx.evaluations.of_run(run.id) for run in runs}
        used = label_set_ids | {evaluation.label_set_id for of_run in evaluations.values() for evaluation in of_run}
        label_sets = with_extended(self._tx.labels.sets(dataset_id, None), used)
        self._groups(dataset_id, name)
        for label_set in label_sets:
            self._labels(name, label_set)
        for run in runs:
            owner: dict[str, Column] = {"dataset": run.dataset, "run": run.name}
            self._run(run, owner)
            for evaluation in evaluations[run.id]:
                self._evaluation(run, evaluation, owner)
            for label_set in label_sets:
                coverages = self._tx.evaluations.coverages(run.id, label_set.id)
                of_labels = owner | {"label_set_version": label_set.version}
                self._writer.add("label_coverage", of_labels, len(coverages), coverages)
            if progress is not None:
                progress(self._writer.n_rows["runs"], len(self._runs))

    def _groups(self, dataset_id: int, name: str) -> None:
        """Write the groups of a dataset that have a weight or attributes."""
        attributes = self._tx.groups.attributes(dataset_id)
        stored = self._tx.groups.weights(dataset_id)
        default = stored.unweighted.default
        weights = dict(zip(stored.ids.tolist(), stored.weights.tolist(), strict=True))
        ids = np.array(sorted(attributes.keys() | weights.keys()), dtype=np.int64)
        if default is not None:
            ids, _ = self._tx.groups.all(dataset_id)
        columns: dict[str, Column] = {
            "dataset": name,
            "group_key": self._tx.groups.keys(dataset_id, ids),
            "weight": [weights.get(group, default) for group in ids.tolist()],
            "attributes": [attributes.get(group) for group in ids.tolist()],
        }
        self._writer.add("groups", columns, ids.size)

    def _labels(self, name: str, label_set: LabelSetRecord) -> None:
        owner: dict[str, Column] = {"dataset": name, "label_set_version": label_set.version}
        labels = self._tx.labels.lists(label_set.id)
        self._writer.add("label_sets", owner | {"n_labels": labels.n_items}, records=[label_set])
        rows: dict[str, Column] = {"group_key": _repeated(labels), "item_key": labels.item_keys, "grade": labels.grades}
        self._writer.add("labels", owner | rows, labels.n_items)

    def _run(self, run: RunRecord, owner: dict[str, Column]) -> None:
        """Write a run with its stored items."""
        self._writer.add("runs", owner, records=[run])
        pruning = self._prunings.get(run.id)
        n_before = self._writer.n_rows["items"]
        for items in self._tx.runs.kept_blocks(run, is_whole=pruning is None):
            rows: dict[str, Column] = {
                "group_key": _repeated(items),
                "rank": places_in(np.diff(items.offsets)),
                "item_key": items.item_keys,
                "score": items.scores,
            }
            self._writer.add("items", owner | rows, items.n_items)
        if pruning is not None:
            ids = self._tx.runs.group_ids(run.id)
            keys = self._tx.groups.keys(run.dataset_id, ids)
            counts = {"n_groups": ids.size, "n_kept_items": self._writer.n_rows["items"] - n_before}
            self._writer.add("prunings", owner | counts, records=[pruning])
            self._writer.add("pruned_groups", owner | {"group_key": keys}, ids.size)

    def _evaluation(self, run: RunRecord, evaluation: EvaluationRecord, owner: dict[str, Column]) -> None:
        """Write an evaluation with its group results."""
        n_results = self._tx.evaluations.results_of([evaluation.id])[0][0].size
        self._writer.add("evaluations", owner | {"n_results": n_results}, records=[evaluation])
        if not n_results:
            return
        results = self._tx.evaluations.results(evaluation.id, components=True)
        rows: dict[str, Column] = {
            "label_set_version": evaluation.label_set_version,
            "metric": evaluation.metric,
            "group_key": self._tx.groups.keys(run.dataset_id, results.group_ids),
            "value": results.values,
            "dcg": results.dcg,
            "ideal_dcg": results.ideal_dcg,
            "undefined_reason": results.reasons_by_row().tolist(),
        }
        self._writer.add("group_results", owner | rows, n_results)


def _repeated(items: GroupedItems) -> Keys:
    """Return the group of every item."""
    rows: Index = np.repeat(np.arange(items.n_groups), np.diff(items.offsets))
    return items.group_keys.take(rows)


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """The outcome for one run, and how many of its evaluations are new.

    ``outcome``: "stored", "already stored", or "restored" (it was pruned, and has its items again).
    ``n_not_verifiable``: how many of the new evaluations could not be recomputed, because items or labels are missing.
    """

    run: str
    run_id: int
    dataset: str
    outcome: str
    n_groups: int
    n_items: int
    n_evaluations: int
    n_not_verifiable: int = 0


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import stored. ``notes``: remarks on it.

    ``n_aliases``, ``n_designs``: how many are new or were continued; ``n_decisions``: how many gate decisions are new.
    """

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]
    n_aliases: int = 0
    n_decisions: int = 0
    n_designs: int = 0


def import_all(
    tx: WriteTransaction,
    reader: ExportReader,
    dataset: str | None = None,
    *,
    record: bool = True,
    progress: Progress | None = None,
) -> Imported:
    """Store everything of an export that is not there yet.

    Results are recomputed from items and labels, as ingest does, and refused if they differ. Parameters: ``dataset``:
    the name that the export's only dataset gets here; None for its own. ``record``: whether to store also what people
    did. Raises: InputError for an export that contradicts itself; ConflictError for a name with other
    content, and for a weight that contradicts a stored one.
    """
    runs, evaluations = reader.rows("runs"), reader.rows_by("evaluations", "dataset", "run")
    dates = {row["dataset"]: row["created_at_utc"] for row in reader.rows("datasets")}
    named = list(dict.fromkeys([*(row["dataset"] for row in runs), *dates]))
    if dataset is not None and len(named) > 1:
        raise InputError(
            f"the export holds the datasets {', '.join(named)}, but {argument('dataset')} needs an export of a "
            "single dataset"
        )
    datasets = {name: tx.write.datasets.ensure(dataset or name, dates.get(name)) for name in named}
    for of_name in datasets.values():
        refuse_of_both_parts(tx, of_name, "an export")
    of_import = _Import(tx, reader, datasets)
    weights = of_import.groups()
    of_import.texts()
    of_import.labels()
    coverages, prunings = (reader.rows_by(table, "dataset", "run") for table in ("label_coverage", "prunings"))
    imported: list[ImportedRun] = []
    for row in runs:
        owner = row["dataset"], row["run"]
        run, outcome, ranking = of_import.run(row, prunings[owner][-1] if owner in prunings else None)
        brought = _Brought(of_import, run, ranking, weights[row["dataset"]])
        n_new, unverified = brought.store(evaluations[owner], coverages[owner])
        if unverified:
            tx.write.runs.set_tags(run.id, run.tags | NOT_VERIFIABLE)
            facts: dict[str, Fact] = {"run": run.name, "dataset": run.dataset, "metrics": unverified}
            of_import.notes.append(Note("not_verifiable", facts))
        counts = (run.n_groups, run.n_items, n_new, len(unverified))
        imported.append(ImportedRun(run.name, run.id, run.dataset, outcome, *counts))
        if progress is not None:
            progress(len(imported), len(runs))
    of_record = 0, 0, 0
    if record:
        of_record, further = BroughtRecord(tx, reader, datasets, of_import.label_set, runs).store()
        of_import.notes += further
    reader.check_read(left_out="none" if record else "record")
    return Imported(tuple(imported), in_words(of_import.notes), *of_record)


class _Import:
    """Stores what an export holds; ``datasets``: the datasets here, by their names in the export."""

    def __init__(self, tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord]) -> None:
        self.tx = tx
        self.reader = reader
        self.datasets = datasets
        self.notes: list[Note] = []
        self._label_sets: dict[tuple[str, int], LabelSetRecord] = {}
        self._sources: dict[int, Callable[[], KnownLabels]] = {}

    def groups(self) -> dict[str, GroupWeights | None]:
        """Store weights and attributes of groups, and return the weights by the export's dataset.

        A group keeps the attributes that it already has here.
        """
        rows = self.reader.rows_by("groups", "dataset")
        weights_of: dict[str, GroupWeights | None] = dict.fromkeys(self.datasets)
        for name, dataset in self.datasets.items():
            of_dataset = rows[name,]
            if not of_dataset:
                continue
            keys = Keys.from_strings(row["group_key"] for row in of_dataset)
            ids = self.tx.write.groups.ensure(dataset.id, keys)
            weights = np.array([row["weight"] for row in of_dataset], dtype=np.float64)  # NaN for None
            weighted = np.flatnonzero(~np.isnan(weights))
            if weighted.size:
                if weights[weighted].min() < 0 or weights[weighted].max() > MAX_WEIGHT:
                    raise self.reader.error("groups", f"has a weight that is not from 0 to {MAX_WEIGHT:g}")
                weights_of[name] = GroupWeights(
                    keys.take(weighted),
                    weights[weighted],
                    np.zeros(weighted.size, dtype=np.bool_),
                    unweighted=Unweighted(default=1.0),  # what is stored is checked, whatever it is
                )
                settle_weights(self.tx, dataset, weights_of[name])
            here = self.tx.groups.attributes(dataset.id)
            new = {}
            for row, group_id in zip(of_dataset, ids.tolist(), strict=True):
                given = self.reader.facts("groups", row["attributes"] or "{}")
                if given and given | here.get(group_id, {}) != here.get(group_id):
                    new[group_id] = given | here.get(group_id, {})
            self.tx.write.groups.set_attributes(dataset.id, new)
        return weights_of

    def texts(self) -> None:
        """Store texts, if the export has them; groups and items that have some here keep theirs."""
        from ndcg_tracker.storage.records import TextRecord

        rows = self.reader.rows_by("texts", "dataset")
        for name, dataset in self.datasets.items():
            of_dataset = rows[name,]
            if any(not row["group_key"] and not row["item_key"] for row in of_dataset):
                raise self.reader.error("texts", "has a text without a group or an item")
            keys = list(dict.fromkeys(row["group_key"] for row in of_dataset if row["group_key"]))
            ids = self.tx.write.groups.ensure(dataset.id, Keys.from_strings(keys)).tolist()
            id_of = dict(zip(keys, ids, strict=True))
            texts = [
                TextRecord(id_of.get(row["group_key"], 0), row["item_key"] or "", row["text"], row["title"], row["url"])
                for row in of_dataset
            ]
            self.tx.write.texts.add(dataset.id, texts)

    def labels(self) -> None:
        """Store the label sets that are not there yet."""
        for row in self.reader.rows("label_sets"):
            labels = LabelLists.from_rows(*self.reader.part("labels", row))
            version, dataset = row["label_set_version"], self.datasets[row["dataset"]]
            judge, stored_at = row["judge"] or "", row["created_at_utc"]
            if judge == SUMMED_JUDGE and not labels.n_items:  # only its digest is stored
                here = stored_version(self.tx, dataset, row["digest"], judge)
                if here is None:
                    here = self.tx.write.labels.known_by_digest(dataset.id, row["digest"], judge, stored_at)
            else:
                self.reader.check_whole("labels", f"labels version {version}", labels, row["digest"])
                labels = replace(labels, by_row_number=row["by_row_number"])
                before = self._label_sets.get((row["dataset"], row["extends"]))
                extends = None if before is None else before.version
                logs = self.reader.facts("label_sets", row["from_runs"]) if row["from_runs"] else None
                origin = LabelOrigin(row["source"], judge, stored_at, extends, row["added_by"], logs)
                settled = add_labels(self.tx, dataset, labels, origin)
                here = settled.label_set
                if settled.is_new and here.version != version:
                    facts: dict[str, Fact] = {"version": version, "here": here.version, "dataset": dataset.name}
                    self.notes.append(Note("other_version", facts))
            self._label_sets[row["dataset"], version] = here

    def label_set(self, row: Row) -> LabelSetRecord:
        """Return the label set that a row of the export names (InputError if the export lacks it)."""
        name, version = row["dataset"], row["label_set_version"]
        if (name, version) not in self._label_sets:
            raise self.reader.error("label_sets", f"lacks version {version} of dataset {name!r}")
        return self._label_sets[name, version]

    def source(self, label_set: LabelSetRecord) -> KnownLabels:
        """Return the labels of a label set for one run."""
        if label_set.id not in self._sources:
            self._sources[label_set.id] = label_source(self.tx, label_set)
        return self._sources[label_set.id]()

    def run(self, row: Row, gone: Row | None) -> tuple[RunRecord, str, Ranking | None]:
        """Store a run that is not here yet, and return it, the outcome, and its items if they are new here."""
        dataset = self.datasets[row["dataset"]]
        kept = row if gone is None else row | {"n_items": gone["n_kept_items"]}
        ranking = replace(Ranking.from_rows(*self.reader.part("items", kept)), tie_order=row["tie_order"])
        if gone is None:
            self.reader.check_whole("items", f"run {row['run']!r}", ranking, row["digest"])
        groups = None if gone is None else next(self.reader.part("pruned_groups", gone))
        details = self.reader.details(row)
        existing = self.tx.runs.named(dataset.id, row["run"])
        if existing is not None:
            if existing.digest != row["digest"]:
                rename = shlex.join(["ndcg-track", "runs", "rename", existing.name, "NEW"])
                or_rename = f"or first rename the run here with: {rename}"
                raise ConflictError(
                    f"run {existing.name!r} of dataset {dataset.name!r} is already stored with other content",
                    advice=f"import into another dataset with {argument('dataset')}, {or_rename}",
                )
            refuse_other_sample(existing, details["sampled"])
            if "items" in self.tx.runs.holds(existing.id) or gone is not None:
                return existing, "already stored", None
            self.tx.write.runs.append_missing(existing.id, dataset.id, ranking)
            restore(self.tx, existing)
            return existing, "restored", ranking
        if gone is None or groups is None:
            return self.tx.write.runs.insert(dataset.id, row["run"], ranking, **details), "stored", ranking
        run_id = self.tx.write.runs.begin(dataset.id, row["run"], **details)
        self.tx.write.runs.append(run_id, dataset.id, ranking)
        ids = np.unique(self.tx.write.groups.ensure(dataset.id, groups))
        share = gone["kept_share"]
        if share is not None and not 0 <= share < 1:
            raise self.reader.error("prunings", f"says that {share} of the groups of run {row['run']!r} have items")
        if ids.size not in (0, row["n_groups"]):
            raise self.reader.error("prunings", f"has {ids.size} groups of {row['n_groups']} for run {row['run']!r}")
        self.tx.write.runs.keep_pruning(
            run_id,
            ids,
            summaries_only=bool(gone["summaries_only"]),
            kept_share=share,
            created_at_utc=gone["created_at_utc"],
        )
        return self.tx.write.runs.finish(run_id, row["digest"], row["n_groups"], row["n_items"]), "stored", None


@dataclass(frozen=True, slots=True, eq=False)
class _Brought:
    """The evaluations and judged shares that an export brings for a run, which is already stored.

    ``ranking``: its items if they came with the export; the items of a run that was here are read from the database.
    """

    of_import: _Import
    run: RunRecord
    ranking: Ranking | None
    weights: GroupWeights | None

    def store(self, rows: list[Row], coverages: list[Row]) -> tuple[int, list[str]]:
        """Store the evaluations that the run does not have yet; return how many, and which could not be verified."""
        stored = {
            (evaluation.label_set_id, evaluation.metric)
            for evaluation in self.of_import.tx.evaluations.of_run(self.run.id)
        }
        new: dict[int, list[_Evaluation]] = {}
        for row in rows:
            metric = exported_metric(self.of_import.reader, row["metric"], row["requested_as"])
            part = self.of_import.reader.part("group_results", row)
            label_set = self.of_import.label_set(row)
            if (label_set.id, row["metric"]) not in stored:
                keys, *columns = part
                facts = (row[name] for name in _STATED)
                evaluation = _Evaluation(metric, label_set, row, keys, StatedResults(*facts, *columns))
                new.setdefault(label_set.id, []).append(evaluation)
        shares: dict[int, list[Row]] = defaultdict(list)
        for row in coverages:
            shares[self.of_import.label_set(row).id].append(row)
        unverified = []
        for label_set_id in dict.fromkeys([*new, *shares]):
            evaluations = new.get(label_set_id, [])
            cutoffs = {
                coverage.cutoff for coverage in self.of_import.tx.evaluations.coverages(self.run.id, label_set_id)
            }
            lacking = {row["cutoff"]: row["judged_share"] for row in shares[label_set_id]}
            lacking = {cutoff: share for cutoff, share in lacking.items() if (cutoff or None) not in cutoffs}
            unverified += self._verified(label_set_id, evaluations, lacking)
            for evaluation in evaluations:
                self._insert(evaluation)
            for cutoff, share in lacking.items():
                self.of_import.tx.write.evaluations.insert_coverage(self.run.id, label_set_id, cutoff, share)
        return sum(map(len, new.values())), unverified

    def _verified(
        self, label_set_id: int, evaluations: list[_Evaluation], shares: dict[int | None, float]
    ) -> list[str]:
        """Return the metrics that cannot be recomputed; InputError if others differ from the stated results."""
        for cutoff, share in shares.items():
            if (cutoff or 0) < 0 or share is None or not 0 <= share <= 1:
                wrong = f"has a cutoff {cutoff} with the judged share {share}"
                raise self.of_import.reader.error("label_coverage", wrong)
        is_whole = "items" in self.of_import.tx.runs.holds(self.run.id)
        unverified = [
            evaluation
            for evaluation in evaluations
            if not (is_whole and can_be_computed(evaluation.metric, evaluation.label_set))
        ]
        for evaluation in unverified:
            difference = difference_of_means(evaluation.metric, evaluation.stated)
            if difference is not None:
                raise self._error(evaluation, contradiction_text(difference))
        left = [evaluation for evaluation in evaluations if evaluation not in unverified]
        if not left:
            return [str(evaluation.metric) for evaluation in unverified]
        labels = self.of_import.source(left[0].label_set)
        metrics = [evaluation.metric for evaluation in left]
        scores = stored_scores(self.of_import.tx, self.run, metrics, labels, self.ranking)
        keys = next(scores.groups())[0].group_keys
        stated = [(evaluation.stated, places_of(keys, evaluation.keys)) for evaluation in left]
        for evaluation, verdict in zip(left, verdicts(scores, stated, self.weights), strict=True):
            if verdict.difference is not None:
                raise self._error(evaluation, difference_text(verdict.difference))
            if verdict.rests_on_weights:
                unverified.append(evaluation)
        self._check_shares(scores, shares)
        return [str(evaluation.metric) for evaluation in unverified]

    def _check_shares(self, scores: Scores, shares: dict[int | None, float]) -> None:
        computed = scores.coverage()
        for cutoff, share in shares.items():
            if (cutoff or None) in computed and not are_close(share, computed[cutoff or None], SHARES_AGREE):
                difference = Difference("judged_share", share, computed[cutoff or None])
                raise self.of_import.reader.error(
                    "label_coverage", f"run {self.run.name!r}: {difference_text(difference)}"
                )

    def _error(self, evaluation: _Evaluation, what: str) -> InputError:
        of_run = f"run {self.run.name!r}, {evaluation.metric} under labels version"
        return self.of_import.reader.error("evaluations", f"{of_run} {evaluation.row['label_set_version']}: {what}")

    def _insert(self, evaluation: _Evaluation) -> None:
        stated, row = evaluation.stated, evaluation.row
        self.of_import.tx.write.evaluations.insert(
            self.run.id,
            evaluation.label_set.id,
            row["metric"],
            tie_bounds=(stated.worst_mean, stated.best_mean),
            group_ids=self.of_import.tx.write.groups.ensure(self.run.dataset_id, evaluation.keys),
            **{name: row[name] for name in ("mean", "n_groups", "n_missing", "n_undefined", "created_at_utc")},
            **{name: getattr(stated, name) for name in ("values", "dcg", "ideal_dcg", "reasons")},
            requested_as=asked_for(row["metric"], row["requested_as"]),
            std_dev=row["std_dev"] if not stated.values.size else None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """An evaluation of an export, with the row that holds it."""

    metric: Metric
    label_set: LabelSetRecord
    row: Row
    keys: Keys
    stated: StatedResults
