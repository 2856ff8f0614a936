"""How a run of any size gets into the store: block by block, in one transaction, with memory for a few blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.ingest.ranks import joined_notes
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.weights import GroupWeights, joined_weights
from ndcg_tracker.tracker.block_labels import BlockLabels, block_labels
from ndcg_tracker.tracker.ingestion import (
    IngestResult,
    RunDetails,
    begun_run,
    label_notes,
    moved_notes,
    other_content,
    stored_metrics,
    taken_aliases,
    twin_notes,
)
from ndcg_tracker.tracker.known_labels import label_source
from ndcg_tracker.tracker.rescoring import stored_scores
from ndcg_tracker.tracker.scoring import NOTHING_JUDGED, Scores, settle_weights, store_scores

if TYPE_CHECKING:
    from ndcg_tracker.ingest.ranks import RunFact
    from ndcg_tracker.storage.records import DatasetRecord, RunRecord
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.write import WriteTransaction


class _Coming:
    """A run and its labels while its blocks come, and what is known of it in the end."""

    def __init__(self, blocks: Iterable[RankedTable], labels: BlockLabels) -> None:
        self._blocks = blocks
        self.labels = labels
        self.digest = joined_digest([])
        self.n_groups = self.n_items = 0
        self._weights: list[GroupWeights] = []
        self._notes: list[RunFact] = []
        self._has_labels = False

    def blocks(self) -> Iterator[tuple[Ranking, LabelLists]]:
        """Yield the items and the labels of one block after the other."""
        for block in self._blocks:
            ranking = block.ranking
            self.digest = joined_digest([self.digest, ranking.digest()])
            self.n_groups += ranking.n_groups
            self.n_items += ranking.n_items
            if block.weights is not None:
                self._weights.append(block.weights)
            self._notes += block.notes
            self._has_labels |= block.labels is not None
            labels = self.labels.of(block)
            del block  # neither is to be held while the next block is read
            yield ranking, labels
            del ranking, labels

    @property
    def notes(self) -> list[str]:
        """What its reader has found that one should know."""
        return [str(note) for note in joined_notes(self._notes, has_labels=self._has_labels)]

    @property
    def weights(self) -> GroupWeights | None:
        """The weights of the groups that came, None where none has one."""
        return joined_weights(self._weights) if self._weights else None


def digested(blocks: Iterable[RankedTable]) -> Iterator[RankedTable]:
    """Yield the blocks once their content digests are made, which they keep: work for the thread that reads ahead."""
    for block in blocks:
        block.ranking.digest()
        yield block
        del block  # not to be held while the next one is read


def store_stream(
    store: Store,
    blocks: Iterable[RankedTable],
    labels: LabelLists | None,
    details: RunDetails,
    metrics: Sequence[Metric],
    *,
    replace: bool = False,
) -> IngestResult:
    """Store a run that comes in blocks of whole groups: what ``store_run`` does, with memory for a few blocks.

    Held in memory are the blocks in use, ``labels``, and per group its id and its results. The transaction is open
    while the blocks are read. Raises: what ``store_run`` raises, and what the blocks raise.
    """
    wanted = list(dict.fromkeys(metrics))
    with store.write() as tx:
        dataset = tx.write.datasets.ensure(details.dataset)
        coming = _Coming(blocks, block_labels(tx, dataset, labels, details.source))
        run, outcome, moved, scores = _settled_run(tx, dataset, coming, details, wanted, replace)
        label_set, is_new = coming.labels.settled()
        weights = settle_weights(tx, dataset, coming.weights)
        notes = twin_notes(tx, dataset, run.digest, run.name)
        done = stored_metrics(tx, run, label_set)
        new = [metric for metric in wanted if str(metric) not in done]
        if new:
            if scores is None:
                scores = stored_scores(tx, run, new, label_source(tx, label_set)())
            done |= {one.metric: one for one in store_scores(tx, run, label_set, scores, weights)}
            if not scores.any_judged:
                notes.append(NOTHING_JUDGED)
    notes += [*coming.notes, *moved_notes(moved, run), *label_notes(label_set, is_new)]
    metrics_of_run = tuple(done[str(metric)] for metric in wanted)
    return IngestResult(
        run.name,
        run.id,
        dataset.name,
        outcome,
        run.n_groups,
        run.n_items,
        label_set.version,
        metrics_of_run,
        tuple(notes),
    )


def _settled_run(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    coming: _Coming,
    details: RunDetails,
    metrics: Sequence[Metric],
    replace: bool,
) -> tuple[RunRecord, str, list[str], Scores | None]:
    """Return the run that holds the content, how it came to be, the aliases that moved to it, and its scores.

    The scores are None for a run that is already stored.
    """
    existing = tx.runs.named(dataset.id, details.name)
    if existing is None:
        run, scores = _written(tx, dataset, coming, details, metrics)
        return run, "stored", [], scores
    if not replace:
        for _ in coming.blocks():
            pass
        if coming.digest != existing.digest:
            raise other_content(dataset, details)
        return existing, "already stored", [], None
    aside = f"{existing.name[:100]} {existing.digest}"  # until it is known whether the content is another
    tx.write.runs.rename(existing.id, aside)
    run, scores = _written(tx, dataset, coming, details, metrics)
    if run.digest == existing.digest:
        tx.write.runs.delete(run.id)
        return tx.write.runs.rename(existing.id, existing.name), "already stored", [], None
    moved = taken_aliases(tx, dataset, existing)
    tx.write.runs.delete(existing.id)
    for alias in moved:
        tx.write.aliases.set(dataset.id, alias, run.id)
    return run, "replaced", moved, scores


def _written(
    tx: WriteTransaction, dataset: DatasetRecord, coming: _Coming, details: RunDetails, metrics: Sequence[Metric]
) -> tuple[RunRecord, Scores]:
    """Store and score the blocks as they come."""
    run_id = begun_run(tx, dataset, details)
    scores = Scores(metrics)
    for ranking, labels in coming.blocks():
        scores.add(judged(ranking, labels))
        tx.write.runs.append(run_id, dataset.id, ranking)
    scores.add_missing(coming.labels.rest())
    scores.arrange(coming.labels.places)
    return tx.write.runs.finish(run_id, coming.digest, coming.n_groups, coming.n_items), scores
