"""Stored runs, with all that belongs to them, into a folder of Parquet files and back."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, MetricError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.text import asked_for, parse_metric
from ndcg_tracker.metrics.verification import Difference, StatedResults, are_close, difference_of_means
from ndcg_tracker.notes import Fact, Note
from ndcg_tracker.rankings.join import places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.types import Index
from ndcg_tracker.rankings.weights import MAX_WEIGHT, GroupWeights
from ndcg_tracker.reporting.notes import in_words
from ndcg_tracker.reporting.verification import contradiction_text, difference_text
from ndcg_tracker.tracker.labels import add_labels, label_source
from ndcg_tracker.tracker.scoring import restore_results, scores_of, settle_weights
from ndcg_tracker.tracker.verification import SHARES_AGREE, can_be_computed, verdicts

if TYPE_CHECKING:
    from ndcg_tracker.exchange import Column, ExportReader, ExportWriter, Part
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings.ranking import GroupedItems
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.write import WriteTransaction
    from ndcg_tracker.tracker.labels import KnownLabels
    from ndcg_tracker.tracker.scoring import Scores

Row = dict[str, Any]
NOT_VERIFIABLE = {"imported": "not verifiable"}
"""The tag of a run with results that an import could not compute again."""


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds; ``n_pruned``: runs left out, whose items are gone."""

    n_runs: int
    n_items: int
    n_label_sets: int
    n_results: int
    n_pruned: int = 0


Progress = Callable[[int, int | None], None]
"""Called with how many runs are done, and how many there are."""


def export(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    folder: str,
    *,
    texts: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write runs with all that belongs to them into a new folder (see ``Tracker.export_runs``)."""
    from ndcg_tracker.exchange import OPTIONAL, ExportWriter

    if not runs:
        raise ReferenceNotFoundError("there are no runs to export", advice="store one with: ndcg-track ingest FILE")
    with ExportWriter(Path(folder), OPTIONAL if texts else ()) as writer:
        if texts:
            for dataset_id, name in {run.dataset_id: run.dataset for run in runs}.items():
                _write_texts(tx, dataset_id, name, writer)
        return _written(tx, runs, writer, progress)


def _written(
    tx: ReadTransaction, runs: Sequence[RunRecord], writer: ExportWriter, progress: Progress | None
) -> Exported:
    """Write runs with their items, labels, evaluations and group results, in the order in which they were stored."""
    runs = sorted({run.id: run for run in runs}.values(), key=lambda run: run.id)
    n_label_sets = n_results = n_done = 0
    for dataset_id in dict.fromkeys(run.dataset_id for run in runs):
        of_dataset = [run for run in runs if run.dataset_id == dataset_id]
        name = of_dataset[0].dataset
        evaluations = {run.id: tx.evaluations.of_run(run.id) for run in of_dataset}
        used = {one.label_set_id for found in evaluations.values() for one in found}
        label_sets = [one for one in tx.labels.sets(dataset_id, None) if one.id in used]
        _write_groups(tx, dataset_id, name, writer)
        for label_set in label_sets:
            _write_labels(tx, name, label_set, writer)
        for run in of_dataset:
            _write_run(tx, run, writer)
            n_results += sum(_write_evaluation(tx, run, one, writer) for one in evaluations[run.id])
            _write_coverage(tx, run, label_sets, writer)
            n_done += 1
            if progress is not None:
                progress(n_done, len(runs))
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


def _write_texts(tx: ReadTransaction, dataset_id: int, name: str, writer: ExportWriter) -> None:
    """Write the texts of a dataset; no group: an item in every group, no item: the group itself."""
    texts = tx.texts.all(dataset_id)
    ids, keys = tx.groups.all(dataset_id)
    key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
    columns: dict[str, Column] = {
        "dataset": name,
        "group_key": [key_of.get(one.group_id) for one in texts],
        "item_key": [one.item_key or None for one in texts],
        **{name: [getattr(one, name) for one in texts] for name in ("text", "title", "url")},
    }
    writer.add("texts", columns, len(texts))


def _write_labels(tx: ReadTransaction, name: str, label_set: LabelSetRecord, writer: ExportWriter) -> None:
    columns: dict[str, Column] = {"dataset": name, "label_set_version": label_set.version, "digest": label_set.digest}
    labels = tx.labels.lists(label_set.id)
    is_numbered = label_set.by_row_number
    facts: dict[str, Column] = {
        "source": [label_set.source],
        "n_labels": labels.n_items,
        "by_row_number": [None if is_numbered is None else int(is_numbered)],
        "judge": label_set.judge,
    }
    writer.add("label_sets", columns | facts, 1)
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


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What became of a run, and how many evaluations are new.

    ``outcome``: "stored", "already stored", or "restored" (it was pruned, and has its items again).
    ``n_not_verifiable``: how many of the new evaluations could not be computed again, for want of items or labels.
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
    """What an import brought. ``notes``: what one should know of it."""

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]


def import_all(
    tx: WriteTransaction, reader: ExportReader, dataset: str | None = None, progress: Progress | None = None
) -> Imported:
    """Store everything of an export that is not there yet.

    Results are computed again from items and labels, as ingest does, and refused where they differ. Parameters:
    ``dataset``: the name that the export's only dataset gets here; None for its own. Raises: InputError for an export
    that does not hold together; ConflictError for a name with other content, and for a weight that
    contradicts a stored one.
    """
    runs, evaluations = reader.rows("runs"), _by_run(reader.rows("evaluations"))
    named = list(dict.fromkeys(row["dataset"] for row in runs))
    if dataset is not None and len(named) > 1:
        raise InputError(
            f"the export holds the datasets {', '.join(named)}; {argument('dataset')} is for an export of one"
        )
    datasets = {name: tx.write.datasets.ensure(dataset or name) for name in named}
    notes: list[Note] = []
    weights = _import_groups(tx, reader, datasets)
    _import_texts(tx, reader, datasets)
    label_sets = _import_labels(tx, reader, datasets, notes)
    coverages = _by_run(reader.rows("label_coverage"))
    imported = []
    for row in runs:
        run, outcome, ranking = _import_run(tx, reader, row, datasets[row["dataset"]])
        owner = row["dataset"], row["run"]
        brought = _Brought(tx, reader, run, ranking, label_sets, weights[row["dataset"]])
        n_new, unverified = brought.store(evaluations[owner], coverages[owner])
        if unverified:
            tx.write.runs.set_tags(run.id, run.tags | NOT_VERIFIABLE)
            facts: dict[str, Fact] = {"run": run.name, "dataset": run.dataset, "metrics": unverified}
            notes.append(Note("not_verifiable", facts))
        counts = (run.n_groups, run.n_items, n_new, len(unverified))
        imported.append(ImportedRun(run.name, run.id, run.dataset, outcome, *counts))
        if progress is not None:
            progress(len(imported), len(runs))
    reader.check_read()
    return Imported(tuple(imported), in_words(notes))


def _import_groups(
    tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord]
) -> dict[str, GroupWeights | None]:
    """Store weights and attributes of groups, and return the weights by the export's dataset.

    An attribute that a group has here already stays.
    """
    rows = reader.rows("groups")
    found: dict[str, GroupWeights | None] = dict.fromkeys(datasets)
    for name, dataset in datasets.items():
        of_dataset = [row for row in rows if row["dataset"] == name]
        if not of_dataset:
            continue
        keys = Keys.from_strings(row["group_key"] for row in of_dataset)
        ids = tx.write.groups.ensure(dataset.id, keys)
        weights = np.array([np.nan if row["weight"] is None else row["weight"] for row in of_dataset], dtype=np.float64)
        known = np.flatnonzero(~np.isnan(weights))
        if known.size:
            if weights[known].min() < 0 or weights[known].max() > MAX_WEIGHT:
                raise reader.error("groups", f"has a weight that is not from 0 to {MAX_WEIGHT:g}")
            found[name] = GroupWeights(keys.take(known), weights[known], np.zeros(known.size, dtype=np.bool_))
            settle_weights(tx, dataset, found[name])
        here = tx.groups.attributes(dataset.id)
        new = {}
        for row, group_id in zip(of_dataset, ids.tolist(), strict=True):
            given = _facts(row["attributes"] or "{}", reader, "groups")
            if given and given | here.get(group_id, {}) != here.get(group_id):
                new[group_id] = given | here.get(group_id, {})
        tx.write.groups.set_attributes(dataset.id, new)
    return found


def _import_texts(tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord]) -> None:
    """Store texts, if the export has them; groups and items that have some here keep theirs."""
    from ndcg_tracker.storage.records import TextRecord

    rows = reader.rows("texts")
    for name, dataset in datasets.items():
        of_dataset = [row for row in rows if row["dataset"] == name]
        if any(not row["group_key"] and not row["item_key"] for row in of_dataset):
            raise reader.error("texts", "has a text of no group and no item")
        keys = list(dict.fromkeys(row["group_key"] for row in of_dataset if row["group_key"]))
        ids = tx.write.groups.ensure(dataset.id, Keys.from_strings(keys)).tolist()
        id_of = dict(zip(keys, ids, strict=True))
        texts = [
            TextRecord(id_of.get(row["group_key"], 0), row["item_key"] or "", row["text"], row["title"], row["url"])
            for row in of_dataset
        ]
        tx.write.texts.add(dataset.id, texts)


def _import_labels(
    tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord], notes: list[Note]
) -> _LabelSets:
    """Store the label sets that are not there yet, and return all."""
    found = _LabelSets(tx, reader)
    for row in reader.rows("label_sets"):
        name, version = row["dataset"], row["label_set_version"]
        part = reader.part("labels", row["n_labels"], {"dataset": name, "label_set_version": version})
        labels = LabelLists.from_rows(part.keys("group_key"), part.keys("item_key"), part.numbers("grade"))
        _check_whole(reader, "labels", f"labels version {version}", labels, row["digest"])
        dataset = datasets[name]
        is_numbered = row["by_row_number"]
        labels = replace(labels, by_row_number=None if is_numbered is None else bool(is_numbered))
        settled = add_labels(tx, dataset, labels, row["source"], row["judge"] or "")
        found.add(name, version, settled.label_set)
        here = settled.label_set.version
        if settled.is_new and here != version:
            notes.append(Note("other_version", {"version": version, "here": here, "dataset": dataset.name}))
    return found


def _import_run(
    tx: WriteTransaction, reader: ExportReader, row: Row, dataset: DatasetRecord
) -> tuple[RunRecord, str, Ranking | None]:
    """Store a run that is not here yet, and return it, what became of it, and its items if they are new here."""
    owner = {"dataset": row["dataset"], "run": row["run"]}
    part = reader.part("items", row["n_items"], owner)
    ranking = Ranking.from_rows(part.keys("group_key"), part.keys("item_key"), part.numbers("score"))
    _check_whole(reader, "items", f"run {row['run']!r}", ranking, row["digest"])
    existing = tx.runs.named(dataset.id, row["run"])
    if existing is not None:
        if existing.digest != row["digest"]:
            raise ConflictError(
                f"run {existing.name!r} of dataset {dataset.name!r} is already stored with other content",
                advice=(
                    f"import into another dataset with {argument('dataset')}, or first give the run here another name "
                    f"with: {shlex.join(['ndcg-track', 'runs', 'rename', existing.name, 'NEW'])}"
                ),
            )
        pruning = tx.runs.prunings(existing.id).get(existing.id)
        if pruning is None:
            return existing, "already stored", None
        tx.write.runs.append_missing(existing.id, dataset.id, ranking)
        tx.write.runs.restored(existing.id, existing.digest)
        if pruning.summaries_only:
            restore_results(tx, existing)
        return existing, "restored", ranking
    run = tx.write.runs.insert(
        dataset.id,
        row["run"],
        ranking,
        source=row["source"],
        git_commit=row["git_commit"],
        parameters=_facts(row["parameters"], reader, "runs"),
        tags=_facts(row["tags"], reader, "runs"),
        created_at_utc=row["created_at_utc"],
    )
    return run, "stored", ranking


class _Brought:
    """What an export brings of a run that is stored by now: its evaluations and how much of it is judged.

    ``ranking``: its items if they came with the export; those of a run that was here are read from there.
    """

    def __init__(
        self,
        tx: WriteTransaction,
        reader: ExportReader,
        run: RunRecord,
        ranking: Ranking | None,
        label_sets: _LabelSets,
        weights: GroupWeights | None,
    ) -> None:
        self._tx = tx
        self._reader = reader
        self._run = run
        self._ranking = ranking
        self._label_sets = label_sets
        self._weights = weights

    def store(self, rows: list[Row], coverages: list[Row]) -> tuple[int, list[str]]:
        """Store the evaluations that the run does not have yet; return how many, and which could not be verified."""
        stored = {(one.label_set_id, one.metric) for one in self._tx.evaluations.of_run(self._run.id)}
        new: dict[int, list[_Evaluation]] = {}
        for row in rows:
            owner = {name: row[name] for name in ("dataset", "run", "label_set_version", "metric")}
            metric = _metric(self._reader, row["metric"], row["requested_as"])
            part = self._reader.part("group_results", row["n_results"], owner)
            label_set = self._label_sets.of(row)
            if (label_set.id, row["metric"]) not in stored:
                new.setdefault(label_set.id, []).append(_Evaluation.of(metric, label_set, row, part))
        shares: dict[int, list[Row]] = defaultdict(list)
        for row in coverages:
            shares[self._label_sets.of(row).id].append(row)
        unverified = []
        for label_set_id in dict.fromkeys([*new, *shares]):
            evaluations = new.get(label_set_id, [])
            known = {one.cutoff for one in self._tx.evaluations.coverages(self._run.id, label_set_id)}
            lacking = {row["cutoff"]: row["judged_share"] for row in shares[label_set_id]}
            lacking = {cutoff: share for cutoff, share in lacking.items() if (cutoff or None) not in known}
            unverified += self._verified(label_set_id, evaluations, lacking)
            for one in evaluations:
                self._insert(one)
            for cutoff, share in lacking.items():
                self._tx.write.evaluations.insert_coverage(self._run.id, label_set_id, cutoff, share)
        return sum(map(len, new.values())), unverified

    def _verified(
        self, label_set_id: int, evaluations: list[_Evaluation], shares: dict[int | None, float]
    ) -> list[str]:
        """Return the metrics that cannot be computed again; InputError where others differ from what is stated."""
        for cutoff, share in shares.items():
            if (cutoff or 0) < 0 or share is None or not 0 <= share <= 1:
                raise self._reader.error("label_coverage", f"has a cutoff {cutoff} with the judged share {share}")
        unverified = [one for one in evaluations if not can_be_computed(one.metric, one.label_set)]
        for one in unverified:
            found = difference_of_means(one.metric, one.stated)
            if found is not None:
                raise self._error(one, contradiction_text(found))
        left = [one for one in evaluations if one not in unverified]
        if not left:
            return [str(one.metric) for one in unverified]
        labels = self._label_sets.source(label_set_id)
        metrics = [one.metric for one in left]
        scores = scores_of(self._tx, self._run, self._ranking, metrics, labels)
        keys = next(scores.groups())[0].group_keys
        stated = [(one.stated, places_of(keys, one.keys)) for one in left]
        for one, verdict in zip(left, verdicts(scores, stated, self._weights), strict=True):
            if verdict.difference is not None:
                raise self._error(one, difference_text(verdict.difference))
            if verdict.rests_on_weights:
                unverified.append(one)
        self._check_shares(scores, shares)
        return [str(one.metric) for one in unverified]

    def _check_shares(self, scores: Scores, shares: dict[int | None, float]) -> None:
        computed = scores.coverage()
        for cutoff, share in shares.items():
            if (cutoff or None) in computed and not are_close(share, computed[cutoff or None], SHARES_AGREE):
                found = Difference("judged_share", share, computed[cutoff or None])
                raise self._reader.error("label_coverage", f"run {self._run.name!r}: {difference_text(found)}")

    def _error(self, one: _Evaluation, what: str) -> InputError:
        where = f"run {self._run.name!r}, {one.metric} under labels version {one.version}"
        return self._reader.error("evaluations", f"{where}: {what}")

    def _insert(self, one: _Evaluation) -> None:
        stated = one.stated
        self._tx.write.evaluations.insert(
            self._run.id,
            one.label_set.id,
            str(one.metric),
            mean=stated.mean,
            tie_bounds=(stated.worst_mean, stated.best_mean),
            n_groups=stated.n_groups,
            n_missing=stated.n_missing,
            n_undefined=stated.n_undefined,
            group_ids=self._tx.write.groups.ensure(self._run.dataset_id, one.keys),
            values=stated.values,
            dcg=stated.dcg,
            ideal_dcg=stated.ideal_dcg,
            reasons=stated.reasons,
            requested_as=asked_for(str(one.metric), one.requested_as),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """An evaluation of an export; ``version``: of its labels there."""

    metric: Metric
    label_set: LabelSetRecord
    version: int
    requested_as: str | None
    keys: Keys
    stated: StatedResults

    @classmethod
    def of(cls, metric: Metric, label_set: LabelSetRecord, row: Row, part: Part) -> _Evaluation:
        """Return an evaluation that is written in a row, with its results."""
        stated = StatedResults(
            **{name: row[name] for name in ("mean", "worst_mean", "best_mean", "n_groups", "n_missing", "n_undefined")},
            values=part.numbers("value"),
            dcg=part.numbers("dcg"),
            ideal_dcg=part.numbers("ideal_dcg"),
            reasons=part.texts("undefined_reason"),
        )
        return cls(metric, label_set, row["label_set_version"], row["requested_as"], part.keys("group_key"), stated)


class _LabelSets:
    """The label sets of an export as they are here, and what gives their labels."""

    def __init__(self, tx: WriteTransaction, reader: ExportReader) -> None:
        self._tx = tx
        self._reader = reader
        self._by_version: dict[tuple[str, int], LabelSetRecord] = {}
        self._by_id: dict[int, LabelSetRecord] = {}
        self._sources: dict[int, Callable[[], KnownLabels]] = {}

    def add(self, dataset: str, version: int, label_set: LabelSetRecord) -> None:
        """Take the label set that is here for a version of the export."""
        self._by_version[dataset, version] = self._by_id[label_set.id] = label_set

    def of(self, row: Row) -> LabelSetRecord:
        """Return the label set that a row of the export names (InputError where the export has none)."""
        found = self._by_version.get((row["dataset"], row["label_set_version"]))
        if found is None:
            raise self._reader.error(
                "label_sets", f"lacks version {row['label_set_version']} of dataset {row['dataset']!r}"
            )
        return found

    def source(self, label_set_id: int) -> KnownLabels:
        """Return what gives the labels of a label set to one run."""
        if label_set_id not in self._sources:
            self._sources[label_set_id] = label_source(self._tx, self._by_id[label_set_id])
        return self._sources[label_set_id]()


def _by_run(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["dataset"], row["run"]].append(row)
    return found


def _check_whole(reader: ExportReader, table: str, what: str, items: LabelLists | Ranking, digest: str) -> None:
    if items.has_duplicates() or items.digest() != digest:
        raise reader.error(table, f"the content of {what} is not that which was exported")


def _metric(reader: ExportReader, text: str, requested_as: str | None) -> Metric:
    if not (requested_as or "").isprintable():
        raise reader.error(
            "evaluations", f"says that a metric was asked for by {requested_as!r}, which nobody can type"
        )
    try:
        metric = parse_metric(text)
    except MetricError as error:
        raise reader.error("evaluations", f"holds a metric that this program does not know ({error})") from None
    if str(metric) != text:
        raise reader.error("evaluations", f"holds {text!r}, whose canonical form is {str(metric)!r}")
    return metric


def _facts(text: str, reader: ExportReader, table: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise reader.error(table, "holds facts that are no JSON object")
    return found
