"""A run whose parts tasks of a cluster score and stage, and which the driver publishes as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import uuid4

from ndcg_tracker import __version__
from ndcg_tracker.api.evaluation import NoLabelsError
from ndcg_tracker.errors import DatabaseError, InputError, argument
from ndcg_tracker.ingest.table import RankedTable, no_score
from ndcg_tracker.integrations.batches import run_and_labels, usable_metrics, whole_groups
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.rankings.ranking import NO_ITEMS
from ndcg_tracker.runs.ingest import IngestResult, RunDetails, StagedRun, publish_run
from ndcg_tracker.runs.labels import NO_LABELS, StoredLabels, group_keys_of, newest_for_run, union_of_labels
from ndcg_tracker.runs.parts import refuse_of_both_parts
from ndcg_tracker.runs.scoring import scored
from ndcg_tracker.runs.staged import StagedGroups, to_bytes
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord
from ndcg_tracker.storage.staging import Attempt, attempt, staged_run
from ndcg_tracker.storage.store import Store

Items = Literal["none", "sample", "all"]


def kept_share(items: Items, sample: float) -> float | None:
    """Return the share of groups whose items to store, None for all. Raises: InputError for an invalid choice."""
    if items == "all":
        return None
    if items == "none":
        return 0.0
    if items != "sample":
        raise InputError(f"{argument('items', items)} is unknown", advice="give none, sample or all")
    if not 0 < sample < 1:
        raise InputError(f"{argument('sample', sample)} is not a share", advice="give a number between 0 and 1")
    return sample


@dataclass(frozen=True)
class Staging:
    """What an executor needs to stage groups of a run; ``repr`` leaves out the location, which has secrets.

    ``label_set`` and ``dataset``: stored labels that groups are evaluated against, together with the labels in the run;
    None if only the latter count. ``kept_share``: the share of groups whose items to store, None for all. ``version``:
    the version of ndcg-tracker on the driver.
    """

    location: Location = field(repr=False)
    staged_id: int
    metrics: tuple[str, ...]
    dataset: DatasetRecord | None
    label_set: LabelSetRecord | None
    kept_share: float | None
    version: str = __version__


@dataclass(frozen=True, slots=True)
class StagedPart:
    """What an attempt of a task has staged and committed; the digests are of its items and their labels."""

    partition: int
    attempt: str
    n_batches: int
    n_groups: int
    n_items: int
    digest: str
    labels_digest: str
    has_labels: bool


def stage_groups(batches: Iterable[Any], staging: Staging, partition: int) -> StagedPart:
    """Score the groups of a partition, stage them in the database in one transaction, and commit it.

    ``batches``: see ``per_group``; without a label column, or with nulls in it, items have no labels. At most half a
    million rows and one whole group are held at a time. Raises: InputError, naming group and item; MetricError;
    ConflictError for a label that contradicts a stored one; DatabaseError.
    """
    if staging.version != __version__:
        raise InputError(
            f"this executor has ndcg-tracker {__version__}, but the driver has {staging.version}",
            advice="install the same version on both",
        )
    metrics = list(dict.fromkeys(usable_metrics(staging.metrics)))
    part = StagedPart(partition, uuid4().hex, 0, 0, 0, joined_digest([]), joined_digest([]), has_labels=False)
    with ExitStack() as stack:
        stored: StoredLabels | None = None
        if staging.label_set is not None:
            store = stack.enter_context(Store.at(staging.location))
            stored = StoredLabels(stack.enter_context(store.read()), staging.label_set)
        stage = stack.enter_context(attempt(staging.location, staging.staged_id, part.attempt, partition))
        for table in whole_groups(batches, lambda table: table):
            run, labels = run_and_labels(table)
            ranked = RankedTable(NO_ITEMS, labels, None) if run is None else replace(run, labels=labels)
            held = NO_LABELS if labels is None else labels
            if stored is not None and staging.dataset is not None:
                of_groups = stored.of(group_keys_of(ranked))
                held = of_groups if labels is None else union_of_labels(of_groups, labels, staging.dataset)
            groups = StagedGroups.of(ranked, held, scored(judged(ranked.ranking, held), metrics), staging.kept_share)
            stage(ranked.run.n_groups, to_bytes(groups))
            part = replace(
                part,
                n_batches=part.n_batches + 1,
                n_groups=part.n_groups + ranked.run.n_groups,
                n_items=part.n_items + groups.n_items,
                digest=joined_digest([part.digest, groups.digest]),
                labels_digest=joined_digest([part.labels_digest, *([] if labels is None else [labels.digest()])]),
                has_labels=part.has_labels or labels is not None,
            )
    return part


def logged(
    store: Store,
    staged_by: Callable[[Staging], Sequence[StagedPart]],
    details: RunDetails,
    metrics: Sequence[str],
    *,
    labels: Literal["with", "apart", "stored"],
    kept_share: float | None,
    replace: bool = False,
) -> IngestResult:
    """Publish a run that ``staged_by`` lets tasks stage; it returns the report of one accepted attempt per partition.

    ``labels``: whether the labels come with the run, or the dataset's latest labels count. See ``spark.log_run``.
    """
    parsed = usable_metrics(metrics)
    with staged_run(store.location, details.dataset, details.name) as staged_id:
        label_set = None
        with store.read() as tx:
            dataset = tx.datasets.named(details.dataset)
            if dataset is not None:  # before executors work for hours
                refuse_of_both_parts(tx, dataset, "a run that was staged")
            if labels != "apart" and dataset is not None:
                label_set = newest_for_run(tx, dataset, has_labels=labels == "with")
        if labels == "stored" and label_set is None:
            raise NoLabelsError
        staging = Staging(store.location, staged_id, tuple(metrics), dataset, label_set, kept_share)
        parts = staged_by(staging)
        if sorted(part.partition for part in parts) != list(range(len(parts))):
            raise DatabaseError("a partition has no output, or two; nothing was stored", advice="please report this")
        if not any(part.n_items for part in parts):
            raise no_score(InputError)
        staged = StagedRun(
            staged_id,
            [Attempt(part.attempt, part.partition, part.n_batches, part.n_groups) for part in parts],
            joined_digest(part.digest for part in parts),
            joined_digest(part.labels_digest for part in parts) if labels == "apart" else None,
            label_set,
            any(part.has_labels for part in parts),
            kept_share,
        )
        return publish_run(store, staged, details, parsed, replace=replace)
