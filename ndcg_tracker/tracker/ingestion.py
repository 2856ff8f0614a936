"""How a run gets into the store: labels settled, metrics computed, everything written in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndcg_tracker.errors import ConflictError, InputError
from ndcg_tracker.ingest import RankedTable
from ndcg_tracker.metrics import Metric
from ndcg_tracker.rankings import LabelLists, Ranking, judged
from ndcg_tracker.tracker.label_versions import Labels, settle_labels
from ndcg_tracker.tracker.scoring import Scores, StoredMetric, settle_weights, store_scores

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, RunRecord
    from ndcg_tracker.storage.store import Store, WriteTransaction

NOTHING_JUDGED = "none of its items has a label, so every result is 0 or undefined; do the ids match?"


@dataclass(frozen=True)
class RunDetails:
    """What is kept of a run beside its content."""

    name: str
    dataset: str = "default"
    source: str | None = None
    git_commit: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class IngestResult:
    """What became of an ingested run.

    ``outcome``: "stored", "replaced", or "already stored" (nothing was added but the metrics marked new). ``notes``:
    what else to know, in words.
    """

    run: str
    run_id: int
    dataset: str
    outcome: str
    n_groups: int
    n_items: int
    label_set_version: int
    metrics: tuple[StoredMetric, ...]
    notes: tuple[str, ...]


def store_run(
    store: Store,
    table: RankedTable,
    labels: LabelLists | None,
    details: RunDetails,
    metrics: Sequence[Metric],
    *,
    replace: bool = False,
) -> IngestResult:
    """Store a run with its labels, metrics and group results in one transaction, and return what became of it.

    Raises: ConflictError where the name is taken by other content or a label contradicts a stored one; InputError
    where there are neither scores nor labels.
    """
    ranking = table.ranking
    if ranking is None:
        raise InputError(f"run {details.name!r} has no scores; give a score column")
    digest = ranking.digest()
    with store.write() as tx:
        dataset = tx.ensure_dataset(details.dataset)
        settled = settle_labels(tx, dataset, labels, table.labels, details.source)
        weights = settle_weights(tx, dataset, table.weights)
        notes = _twin_notes(tx, dataset, digest, details.name)
        run, outcome, moved = _settle_run(tx, dataset, ranking, digest, details, replace)
        done = {
            evaluation.metric: StoredMetric(
                evaluation.metric,
                evaluation.mean,
                evaluation.n_groups,
                evaluation.n_missing,
                evaluation.n_undefined,
                is_new=False,
            )
            for evaluation in tx.evaluations(run.id)
            if evaluation.label_set_id == settled.label_set.id
        }
        wanted = list(dict.fromkeys(metrics))
        new = [metric for metric in wanted if str(metric) not in done]
        if new:
            if outcome == "already stored":
                ranking = tx.read_ranking(run.id)  # ties stand in the order that was stored first
            scores = Scores(new)
            scores.add(judged(ranking, settled.lists))
            done |= {one.metric: one for one in store_scores(tx, run, settled.label_set, scores, weights)}
            if not scores.any_judged:
                notes.append(NOTHING_JUDGED)
    notes += _moved_notes(moved, run)
    return IngestResult(
        run.name,
        run.id,
        dataset.name,
        outcome,
        run.n_groups,
        run.n_items,
        settled.label_set.version,
        tuple(done[str(metric)] for metric in wanted),
        (*notes, *_label_notes(settled)),
    )


def _settle_run(
    tx: WriteTransaction, dataset: DatasetRecord, ranking: Ranking, digest: str, details: RunDetails, replace: bool
) -> tuple[RunRecord, str, list[str]]:
    """Return the run that holds this content, how it came to be, and the aliases that moved to it."""
    existing = tx.find_run(dataset.id, details.name)
    if existing is not None and existing.digest == digest:
        return existing, "already stored", []
    moved = []
    if existing is not None:
        if not replace:
            raise ConflictError(
                f"run {details.name!r} of dataset {dataset.name!r} is already stored with other content; keep both "
                f"with --name {details.name}-2, or put this one in its place with --replace"
            )
        moved = [alias.name for alias in tx.aliases(dataset.name) if alias.run_id == existing.id]
        for alias in moved:
            tx.delete_alias(dataset.id, alias)
        tx.delete_run(existing.id)
    run = tx.insert_run(
        dataset.id,
        details.name,
        ranking,
        source=details.source,
        git_commit=details.git_commit,
        parameters=dict(details.parameters),
        tags=dict(details.tags),
    )
    for alias in moved:
        tx.set_alias(dataset.id, alias, run.id)
    return run, "stored" if existing is None else "replaced", moved


def _twin_notes(tx: WriteTransaction, dataset: DatasetRecord, digest: str, name: str) -> list[str]:
    twins = [run.name for run in tx.runs_with_digest(dataset.id, digest) if run.name != name]
    return [f"its content equals that of run {twins[0]!r}"] if twins else []


def _moved_notes(moved: list[str], run: RunRecord) -> list[str]:
    return [f"alias @{alias} now points at the new content (run {run.id})" for alias in moved]


def _label_notes(labels: Labels) -> list[str]:
    version = labels.label_set.version
    if labels.is_new and version > 1:
        return [f"its labels are new: version {version} of the dataset; older runs need rescore to be comparable"]
    return []
