"""How a run gets into the store: labels settled, metrics computed, everything written in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndcg_tracker.errors import NameTakenError, argument
from ndcg_tracker.ingest.ranks import joined_notes
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.tracker.label_versions import settle_labels
from ndcg_tracker.tracker.scoring import NOTHING_JUDGED, Scores, StoredMetric, settle_weights, store_scores

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.write import WriteTransaction


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
    with ThreadPoolExecutor(1) as worker, store.write() as tx:
        digest = worker.submit(ranking.digest)  # while the items are written
        dataset = tx.write.datasets.ensure(details.dataset)
        settled = settle_labels(tx, dataset, labels, table, details.source)
        weights = settle_weights(tx, dataset, table.weights)
        run, outcome, moved = _settle_run(tx, dataset, ranking, digest, details, replace)
        notes = twin_notes(tx, dataset, run.digest, run.name)
        done = stored_metrics(tx, run, settled.label_set)
        wanted = list(dict.fromkeys(metrics))
        new = [metric for metric in wanted if str(metric) not in done]
        if new:
            if outcome == "already stored":
                ranking = tx.runs.ranking(run.id)  # ties stand in the order that was stored first
            scores = Scores(new)
            scores.add(judged(ranking, settled.lists))
            done |= {one.metric: one for one in store_scores(tx, run, settled.label_set, scores, weights)}
            if not scores.any_judged:
                notes.append(NOTHING_JUDGED)
    notes += [*map(str, joined_notes(table.notes, has_labels=table.labels is not None)), *moved_notes(moved, run)]
    return IngestResult(
        run.name,
        run.id,
        dataset.name,
        outcome,
        run.n_groups,
        run.n_items,
        settled.label_set.version,
        tuple(done[str(metric)] for metric in wanted),
        (*notes, *label_notes(settled.label_set, settled.is_new)),
    )


def source_name(path: str) -> str:
    """Return a path as it is stored: what is no UTF-8 in it, which no database keeps, as an escape."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def stored_metrics(tx: ReadTransaction, run: RunRecord, label_set: LabelSetRecord) -> dict[str, StoredMetric]:
    """Return the metrics that a run has under a label set, by canonical text."""
    return {
        one.metric: StoredMetric(
            one.metric,
            one.mean,
            one.n_groups,
            one.n_missing,
            one.n_undefined,
            is_new=False,
            requested_as=one.requested_as,
        )
        for one in tx.evaluations.of_run(run.id)
        if one.label_set_id == label_set.id
    }


def _settle_run(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    ranking: Ranking,
    digest: Future[str],
    details: RunDetails,
    replace: bool,
) -> tuple[RunRecord, str, list[str]]:
    """Return the run that holds this content, how it came to be, and the aliases that moved to it."""
    existing = tx.runs.named(dataset.id, details.name)
    if existing is not None and existing.digest == digest.result():
        return existing, "already stored", []
    moved = []
    if existing is not None:
        if not replace:
            raise other_content(dataset, details)
        moved = taken_aliases(tx, dataset, existing)
        tx.write.runs.delete(existing.id)
    run_id = begun_run(tx, dataset, details)
    tx.write.runs.append(run_id, dataset.id, ranking)
    run = tx.write.runs.finish(run_id, digest.result(), ranking.n_groups, ranking.n_items)
    for alias in moved:
        tx.write.aliases.set(dataset.id, alias, run.id)
    return run, "stored" if existing is None else "replaced", moved


def begun_run(tx: WriteTransaction, dataset: DatasetRecord, details: RunDetails) -> int:
    """Return the id of a run made of what is kept of it beside its content."""
    return tx.write.runs.begin(
        dataset.id,
        details.name,
        source=details.source,
        git_commit=details.git_commit,
        parameters=dict(details.parameters),
        tags=dict(details.tags),
    )


def other_content(dataset: DatasetRecord, details: RunDetails) -> NameTakenError:
    """Return the error for a name that other content has."""
    return NameTakenError(
        f"run {details.name!r} of dataset {dataset.name!r} is already stored with other content; keep both with "
        f"{argument('name', details.name + '-2')}, or put this one in its place with {argument('replace', True)}"
    )


def taken_aliases(tx: WriteTransaction, dataset: DatasetRecord, run: RunRecord) -> list[str]:
    """Return the aliases of a run, taken from it."""
    names = [alias.name for alias in tx.aliases.all(dataset.name) if alias.run_id == run.id]
    for name in names:
        tx.write.aliases.delete(dataset.id, name)
    return names


def twin_notes(tx: ReadTransaction, dataset: DatasetRecord, digest: str, name: str) -> list[str]:
    """Return a note where another run has this content."""
    twins = [run.name for run in tx.runs.with_digest(dataset.id, digest) if run.name != name]
    return [f"its content equals that of run {twins[0]!r}"] if twins else []


def moved_notes(moved: list[str], run: RunRecord) -> list[str]:
    """Return a note per alias that stands for another run now."""
    return [f"alias @{alias} now points at the new content (run {run.id})" for alias in moved]


def label_notes(label_set: LabelSetRecord, is_new: bool) -> list[str]:
    """Return a note where a run has brought new labels."""
    if is_new and label_set.version > 1:
        return [
            f"its labels are new: version {label_set.version} of the dataset; older runs need rescore to be comparable"
        ]
    return []
