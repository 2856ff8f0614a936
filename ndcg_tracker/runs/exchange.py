"""Stored runs, with all that belongs to them, into a folder of Parquet files and back."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, MetricError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.text import asked_for, parse_metric
from ndcg_tracker.metrics.verification import Difference, StatedResults, are_close, difference_of_means
from ndcg_tracker.rankings.join import places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.types import Index
from ndcg_tracker.rankings.weights import MAX_WEIGHT, GroupWeights
from ndcg_tracker.runs.labels import add_labels, label_source, stored_version
from ndcg_tracker.runs.record import BroughtRecord, ExportedRecord
from ndcg_tracker.runs.scoring import restore_results, scores_of, settle_weights
from ndcg_tracker.runs.verification import SHARES_AGREE, can_be_computed, contradiction_text, difference_text, verdicts
from ndcg_tracker.statistics.summary import PairedSums
from ndcg_tracker.storage.records import SUMMED_JUDGE, PairedSumsRecord, PruningRecord
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings.ranking import GroupedItems
    from ndcg_tracker.runs.export_files import Column, ExportReader, ExportWriter, Part
    from ndcg_tracker.runs.labels import KnownLabels
    from ndcg_tracker.runs.scoring import Scores
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.write import RunDetails, WriteTransaction

Row = dict[str, Any]
NOT_VERIFIABLE = {"imported": "not verifiable"}
"""The tag of a run with results that an import could not compute again."""


@dataclass(frozen=True, slots=True)
class Exported:
    """How much an export holds; ``n_pruned``: how many of the runs are without their items, which are gone.

    ``n_aliases``, ``n_decisions``: of what people did with the runs.
    """

    n_runs: int
    n_items: int
    n_label_sets: int
    n_results: int
    n_pruned: int = 0
    n_aliases: int = 0
    n_decisions: int = 0


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
    """Write runs with all that belongs to them into a new folder (see ``Tracker.export_runs``).

    ``datasets``: those to be exported whole, with labels that no run has.
    """
    from ndcg_tracker.runs.export_files import LACKING, RECORD, ExportWriter

    if not runs:
        raise ReferenceNotFoundError("there are no runs to export", advice="store one with: ndcg-track ingest FILE")
    prunings = tx.runs.prunings()
    of_export = ExportedRecord(tx, runs, datasets) if record else None
    optional = [*(["texts"] if texts else []), *(RECORD if record else [])]
    optional += LACKING if any(run.id in prunings for run in runs) else []
    with ExportWriter(Path(folder), optional) as writer:
        if texts:
            for dataset_id, name in {run.dataset_id: run.dataset for run in runs}.items():
                _write_texts(tx, dataset_id, name, writer)
        found = _written(tx, runs, datasets, writer, of_export, progress)
        if of_export is None:
            return found
        n_aliases, n_decisions = of_export.write(writer)
        return replace(found, n_aliases=n_aliases, n_decisions=n_decisions)


def _written(
    tx: ReadTransaction,
    runs: Sequence[RunRecord],
    datasets: Sequence[DatasetRecord],
    writer: ExportWriter,
    record: ExportedRecord | None,
    progress: Progress | None,
) -> Exported:
    """Write runs with their items, labels, evaluations and group results, in the order in which they were stored."""
    runs = sorted({run.id: run for run in runs}.values(), key=lambda run: run.id)
    prunings = tx.runs.prunings()
    names = {run.dataset_id: run.dataset for run in runs} | {one.id: one.name for one in datasets}
    whole = {one.id for one in datasets}
    n_label_sets = n_results = n_done = n_items = 0
    for dataset_id, name in sorted(names.items()):
        of_dataset = [run for run in runs if run.dataset_id == dataset_id]
        evaluations = {run.id: tx.evaluations.of_run(run.id) for run in of_dataset}
        used = {one.label_set_id for found in evaluations.values() for one in found}
        used |= set() if record is None else record.label_set_ids
        label_sets = [one for one in tx.labels.sets(dataset_id, None) if one.id in used or dataset_id in whole]
        _write_groups(tx, dataset_id, name, writer)
        for label_set in label_sets:
            _write_labels(tx, name, label_set, writer)
        for run in of_dataset:
            n_items += _write_run(tx, run, prunings.get(run.id), writer)
            n_results += sum(_write_evaluation(tx, run, one, writer) for one in evaluations[run.id])
            if run.id in prunings:
                _write_sums(tx, run, evaluations[run.id], runs, writer)
            _write_coverage(tx, run, label_sets, writer)
            n_done += 1
            if progress is not None:
                progress(n_done, len(runs))
        n_label_sets += len(label_sets)
    n_pruned = sum(run.id in prunings for run in runs)
    return Exported(len(runs), n_items, n_label_sets, n_results, n_pruned)


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
        "created_at_utc": label_set.created_at_utc,
    }
    writer.add("label_sets", columns | facts, 1)
    rows: dict[str, Column] = {"group_key": _repeated(labels), "item_key": labels.item_keys, "grade": labels.grades}
    writer.add("labels", columns | rows, labels.n_items)


def _write_run(tx: ReadTransaction, run: RunRecord, pruning: PruningRecord | None, writer: ExportWriter) -> int:
    """Write a run with the items that it has here, and return how many these are."""
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
    n_items = 0
    for items in tx.runs.ranking_blocks(run) if pruning is None else _kept(tx, run):
        lengths = np.diff(items.offsets)
        rows: dict[str, Column] = {
            "group_key": _repeated(items),
            "rank": np.arange(1, items.n_items + 1) - np.repeat(items.offsets[:-1], lengths),
            "item_key": items.item_keys,
            "score": items.scores,
        }
        writer.add("items", owner | rows, items.n_items)
        n_items += items.n_items
    if pruning is not None:
        ids = tx.runs.group_ids(run.id)
        gone: dict[str, Column] = {
            "created_at_utc": pruning.created_at_utc,
            "summaries_only": int(pruning.summaries_only),
            "kept_share": [pruning.kept_share],
            "n_groups": ids.size,
            "n_kept_items": n_items,
        }
        writer.add("prunings", owner | gone, 1)
        writer.add("pruned_groups", owner | {"group_key": tx.groups.keys(run.dataset_id, ids)}, ids.size)
    return n_items


def _kept(tx: ReadTransaction, run: RunRecord) -> Iterator[Ranking]:
    """Yield the items that are left of a pruned run."""
    ids = tx.runs.kept_group_ids(run.id)
    if ids.size:
        yield tx.runs.ranking(run.id, ids)


def _write_sums(
    tx: ReadTransaction,
    run: RunRecord,
    evaluations: Iterable[EvaluationRecord],
    runs: Sequence[RunRecord],
    writer: ExportWriter,
) -> None:
    """Write the sums of a run's differences to the baselines that are exported, too."""
    name_of = {one.id: one.name for one in runs}
    for one in evaluations:
        for sums, stored_at in tx.evaluations.all_sums(one.id):
            if sums.baseline_run_id not in name_of:
                continue
            whole = {"whole": sums.whole.to_dict(), "attribute": sums.attribute, "cluster": sums.cluster}
            slices = [{"slice": value, **of_slice.to_dict()} for value, of_slice in sums.slices.items()]
            columns: dict[str, Column] = {
                "dataset": run.dataset,
                "run": run.name,
                "label_set_version": one.label_set_version,
                "metric": one.metric,
                "baseline": name_of[sums.baseline_run_id],
                "sums": _json(whole | {"slices": slices}),
                "created_at_utc": stored_at,
            }
            writer.add("paired_sums", columns, 1)


def _write_evaluation(tx: ReadTransaction, run: RunRecord, one: EvaluationRecord, writer: ExportWriter) -> int:
    """Write one evaluation with its group results; return how many these are."""
    owner: dict[str, Column] = {
        "dataset": run.dataset,
        "run": run.name,
        "label_set_version": one.label_set_version,
        "metric": one.metric,
    }
    n_results = tx.evaluations.results_of([one.id])[0][0].size
    facts: dict[str, Column] = {name: [getattr(one, name)] for name in ("mean", "worst_mean", "best_mean", "std_dev")}
    facts |= {name: getattr(one, name) for name in ("n_groups", "n_missing", "n_undefined")}
    facts |= {"n_results": n_results, "requested_as": one.requested_as, "created_at_utc": one.created_at_utc}
    writer.add("evaluations", owner | facts, 1)
    if not n_results:
        return 0
    results = tx.evaluations.results(one.id, components=True)
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
    """What an import brought. ``notes``: what one should know of it.

    ``n_aliases``, ``n_decisions``: how many aliases are new or went on, and how many decisions of gates are new.
    """

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...]
    n_aliases: int = 0
    n_decisions: int = 0


def import_all(
    tx: WriteTransaction,
    reader: ExportReader,
    dataset: str | None = None,
    *,
    record: bool = True,
    progress: Progress | None = None,
) -> Imported:
    """Store everything of an export that is not there yet.

    Results are computed again from items and labels, as ingest does, and refused where they differ. Parameters:
    ``dataset``: the name that the export's only dataset gets here; None for its own. ``record``: whether to store
    aliases, decisions and suites, too. Raises: InputError for an export
    that does not hold together; ConflictError for a name with other content, and for a weight that
    contradicts a stored one.
    """
    runs, evaluations = reader.rows("runs"), _by_run(reader.rows("evaluations"))
    dates = {row["dataset"]: row["created_at_utc"] for row in reader.rows("datasets")}
    named = list(dict.fromkeys([*(row["dataset"] for row in runs), *dates]))
    if dataset is not None and len(named) > 1:
        raise InputError(
            f"the export holds the datasets {', '.join(named)}; {argument('dataset')} is for an export of one"
        )
    datasets = {name: tx.write.datasets.ensure(dataset or name, dates.get(name)) for name in named}
    notes: list[Note] = []
    weights = _import_groups(tx, reader, datasets)
    _import_texts(tx, reader, datasets)
    label_sets = _import_labels(tx, reader, datasets, notes)
    coverages = _by_run(reader.rows("label_coverage"))
    prunings = {(row["dataset"], row["run"]): row for row in reader.rows("prunings")}
    imported: list[ImportedRun] = []
    for row in runs:
        owner = row["dataset"], row["run"]
        run, outcome, ranking = _import_run(tx, reader, row, prunings.get(owner), datasets[row["dataset"]])
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
    _import_sums(tx, reader, datasets, label_sets)
    from ndcg_tracker.runs.export_files import RECORD

    n_aliases = n_decisions = 0
    if record:
        n_aliases, n_decisions, further = BroughtRecord(tx, reader, datasets, label_sets.of).store()
        notes += further
    reader.check_read([] if record else RECORD)
    return Imported(tuple(imported), in_words(notes), n_aliases, n_decisions)


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
        dataset = datasets[name]
        judge, stored_at = row["judge"] or "", row["created_at_utc"]
        if judge == SUMMED_JUDGE and not labels.n_items:  # known by its digest alone
            found.add(name, version, _labels_of_sums(tx, dataset, row))
            continue
        _check_whole(reader, "labels", f"labels version {version}", labels, row["digest"])
        is_numbered = row["by_row_number"]
        labels = replace(labels, by_row_number=None if is_numbered is None else bool(is_numbered))
        settled = add_labels(tx, dataset, labels, row["source"], judge, created_at_utc=stored_at)
        found.add(name, version, settled.label_set)
        here = settled.label_set.version
        if settled.is_new and here != version:
            notes.append(Note("other_version", {"version": version, "here": here, "dataset": dataset.name}))
    return found


def _labels_of_sums(tx: WriteTransaction, dataset: DatasetRecord, row: Row) -> LabelSetRecord:
    known = stored_version(tx, dataset, row["digest"], SUMMED_JUDGE)
    if known is not None:
        return known
    begun = tx.write.labels.begin(
        dataset.id, by_row_number=None, judge=SUMMED_JUDGE, created_at_utc=row["created_at_utc"]
    )
    return tx.write.labels.finish(begun, row["digest"], 0, 0)


def _import_run(
    tx: WriteTransaction, reader: ExportReader, row: Row, gone: Row | None, dataset: DatasetRecord
) -> tuple[RunRecord, str, Ranking | None]:
    """Store a run that is not here yet, and return it, what became of it, and its items if they are new here."""
    owner = {"dataset": row["dataset"], "run": row["run"]}
    part = reader.part("items", row["n_items"] if gone is None else gone["n_kept_items"], owner)
    ranking = Ranking.from_rows(part.keys("group_key"), part.keys("item_key"), part.numbers("score"))
    if gone is None:
        _check_whole(reader, "items", f"run {row['run']!r}", ranking, row["digest"])
    groups = None if gone is None else reader.part("pruned_groups", gone["n_groups"], owner).keys("group_key")
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
        if pruning is None or gone is not None:
            return existing, "already stored", None
        tx.write.runs.append_missing(existing.id, dataset.id, ranking)
        tx.write.runs.restored(existing.id, existing.digest)
        if pruning.summaries_only:
            restore_results(tx, existing)
        return existing, "restored", ranking
    details: RunDetails = {
        "source": row["source"],
        "git_commit": row["git_commit"],
        "parameters": _facts(row["parameters"], reader, "runs"),
        "tags": _facts(row["tags"], reader, "runs"),
        "created_at_utc": row["created_at_utc"],
    }
    if gone is None or groups is None:
        return tx.write.runs.insert(dataset.id, row["run"], ranking, **details), "stored", ranking
    run_id = tx.write.runs.begin(dataset.id, row["run"], **details)
    tx.write.runs.append(run_id, dataset.id, ranking)
    ids = np.unique(tx.write.groups.ensure(dataset.id, groups))
    share = gone["kept_share"]
    if share is not None and not 0 <= share < 1:
        raise reader.error("prunings", f"says that {share} of the groups of run {row['run']!r} have items")
    if ids.size not in (0, row["n_groups"]):
        raise reader.error("prunings", f"has {ids.size} groups of {row['n_groups']} for run {row['run']!r}")
    pruning = PruningRecord(run_id, gone["created_at_utc"], bool(gone["summaries_only"]), share)
    tx.write.runs.keep_pruning(run_id, ids, pruning)
    return tx.write.runs.finish(run_id, row["digest"], row["n_groups"], row["n_items"]), "stored", None


def _import_sums(
    tx: WriteTransaction, reader: ExportReader, datasets: dict[str, DatasetRecord], label_sets: _LabelSets
) -> None:
    """Store the sums of differences that are not here yet."""
    for row in reader.rows("paired_sums"):
        dataset = datasets[row["dataset"]]
        run, baseline = (tx.runs.named(dataset.id, row[name]) for name in ("run", "baseline"))
        label_set = label_sets.of(row)
        evaluations = () if run is None else tx.evaluations.of_run(run.id)
        one = next(
            (one for one in evaluations if (one.label_set_id, one.metric) == (label_set.id, row["metric"])), None
        )
        if one is None or baseline is None:
            raise reader.error("paired_sums", f"has sums of run {row['run']!r}, which is not there")
        if tx.evaluations.sums(one.id, baseline.id) is not None:
            continue
        try:
            given = json.loads(row["sums"])
            slices = {of["slice"]: PairedSums.from_dict(of) for of in given["slices"]}
            whole = PairedSums.from_dict(given["whole"])
            record = PairedSumsRecord(baseline.id, whole, given["attribute"], slices, given["cluster"])
        except (ValueError, RecursionError, TypeError, KeyError):
            raise reader.error("paired_sums", "holds sums that are none") from None
        tx.write.evaluations.insert_sums(one.id, record, row["created_at_utc"])


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
        is_whole = self._run.id not in self._tx.runs.prunings(self._run.id)
        unverified = [one for one in evaluations if not (is_whole and can_be_computed(one.metric, one.label_set))]
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
        of_run = f"run {self._run.name!r}, {one.metric} under labels version {one.version}: {what}"
        return self._reader.error("evaluations", of_run)

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
            std_dev=one.std_dev if not stated.values.size else None,
            created_at_utc=one.created_at_utc,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """An evaluation of an export; ``version``: of its labels there."""

    metric: Metric
    label_set: LabelSetRecord
    version: int
    requested_as: str | None
    std_dev: float | None
    created_at_utc: str | None
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
        facts = (row["label_set_version"], row["requested_as"], row["std_dev"], row["created_at_utc"])
        return cls(metric, label_set, *facts, part.keys("group_key"), stated)


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
