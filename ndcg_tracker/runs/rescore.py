"""Evaluate stored runs under more metrics or newer labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from ndcg_tracker.asked import EVERY_JUDGE, OwnName
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.metrics.language.metric import Metric, refuse_external
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.groups import set_texts
from ndcg_tracker.runs.judges import JudgeNames, chosen_judges, numbered_labels
from ndcg_tracker.runs.labels import (
    HELD_LABELS,
    KnownLabels,
    add_labels,
    held_labels,
    label_source,
    settled_lists,
    stored_version,
)
from ndcg_tracker.runs.parts import part_of
from ndcg_tracker.runs.scoring import (
    Scores,
    StoredMetric,
    StoredMetrics,
    store_scores,
    stored_scores,
    stored_weights,
)
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.runs.question import LabelsKept
    from ndcg_tracker.storage.records import LabelOrigin, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction

HELD_RESULTS = 1 << 20
"""Up to this many group results are computed before the write lock; the rest while others wait."""


@dataclass(frozen=True, slots=True)
class RescoredRun:
    """A run after rescoring: the label version that it was evaluated against, and the added metrics.

    ``pruned_at_utc``: None unless more metrics need items that were deleted then, or not stored. ``judge``: who gave
    the labels, "" for the unnamed judge.
    """

    run: str
    run_id: int
    dataset: str
    label_set_version: int
    metrics: StoredMetrics
    pruned_at_utc: str | None = None
    judge: str = ""


class LabelsAdded(tuple[int, bool]):
    """The version of the labels, and whether it is new.

    ``rescored``: the stored runs, if they were evaluated. ``extends``: the version that labels were added to, None for
    none. ``judge``: who gave them, "" for the unnamed judge. ``further``: the labels of other judges in the same file.
    ``n_left_out``: how many groups with labels belong to the other part of a split dataset. ``dataset``: its name.
    ``n_labels``: how many labels were given. ``n_reasons``: how many reasons of labels were stored, and
    of how many labels others are stored, which stay.
    """

    rescored: tuple[RescoredRun, ...] = ()
    extends: int | None = None
    judge: str = ""
    further: tuple[LabelsAdded, ...] = ()
    n_left_out: int = 0
    dataset: str = ""
    n_labels: int = 0
    n_reasons: tuple[int, int] = 0, 0

    def __new__(cls, version: int, is_new: bool, **facts: Any) -> LabelsAdded:
        """Return the pair, with these attributes."""
        added = super().__new__(cls, (version, is_new))
        added.__dict__.update(facts)
        return added

    def __getnewargs__(self) -> tuple[int, bool]:
        return self.version, self.is_new

    def beside(self, further: Sequence[LabelsAdded]) -> LabelsAdded:
        """Return a copy with the labels of other judges in its file."""
        return LabelsAdded(*self, **{**vars(self), "further": tuple(further)})

    @property
    def version(self) -> int:
        """The version of the dataset's labels."""
        return self[0]

    @property
    def is_new(self) -> bool:
        """Whether the labels became this version just now."""
        return self[1]


def rescore_stored(
    store: Store,
    references: Sequence[str],
    metrics: Sequence[Metric],
    *,
    dataset: str | None = None,
    version: int | None = None,
    judges: JudgeNames = None,
) -> list[RescoredRun]:
    """Evaluate stored runs (all if none is named; see ``rescore_runs``) in one transaction."""
    refuse_external(metrics)

    def given(tx: ReadTransaction, run: RunRecord) -> list[_GivenLabels]:
        return [
            _GivenLabels(tx.labels.lists(label_set.id), label_set.digest, label_set)
            for label_set in _label_sets(tx, run, version, judges)
            if label_set.n_labels <= HELD_LABELS
        ]

    with store.read() as rx:
        runs = rx.runs.chosen(references, dataset)
        if references:
            rx.runs.require("groups", *runs)
    ready = _scored_ahead(store, runs, metrics, given)
    with store.write("content") as tx:
        runs = tx.runs.chosen(references, dataset)
        return rescore_runs(tx, runs, metrics, version, judges, skip_pruned=not references, ready=ready)


def store_labels(
    store: Store, told: LabelsKept, lists: LabelLists, origin: LabelOrigin, texts: Mapping[str, str] | None = None
) -> LabelsAdded:
    """Make labels the latest version of a judge in one transaction (see ``add_labels``).

    All runs of the dataset are also evaluated under them if asked for, so that nobody sees the labels without the
    results. ``texts``: of items, as they were labelled.
    """
    dataset, extend, rescore = told.dataset, told.extend, told.rescore
    refuse("labels add", {"extend": extend, "replace": told.replace})
    ready: _Ready = {}
    with store.read() as rx:
        is_of_runs = isinstance(dataset, OwnName) and (rescore or bool(origin.judge))
        if (extend or is_of_runs) and rx.datasets.all():
            dataset = rx.datasets.known(dataset).name  # a dataset that does not exist has nothing to extend or rescore
        record = rx.datasets.named(dataset)
        part = None if record is None else part_of(rx, record)
    n_given, column = lists.n_groups, lists.group_column
    lists = lists if part is None else part.labels(lists) or lists
    if rescore:
        with store.read() as rx:
            record = rx.datasets.named(dataset)
            runs = [] if record is None else rx.runs.all(dataset)
            whole = lists if record is None else settled_lists(rx, record, lists, origin.judge, extend=extend)
            label_set = None if record is None else stored_version(rx, record, whole.digest(), origin.judge)
        given = _GivenLabels(whole, whole.digest(), label_set)
        ready = _scored_ahead(store, runs, (), lambda _tx, _run: [given])
    with store.write("content") as tx:
        added = add_labels(
            tx,
            tx.write.datasets.ensure(dataset, group_column=column),
            lists,
            origin,
            extend=extend,
            may_drop=told.replace,
        )
        version = added.label_set.version
        set_texts(tx, tx.datasets.known(dataset).id, texts or {})
        runs = tx.runs.all(dataset) if rescore else []
        rescored = rescore_runs(tx, runs, (), version, skip_pruned=True, ready=ready)
    facts: dict[str, Any] = {
        "rescored": tuple(rescored),
        "extends": added.extends,
        "judge": origin.judge,
        "dataset": str(dataset),
    }
    facts |= {"n_left_out": n_given - lists.n_groups, "n_labels": lists.n_items, "n_reasons": added.n_reasons}
    return LabelsAdded(version, added.is_new, **facts)


_Ready = dict[tuple[int, str, str, frozenset[Metric]], Scores]
"""The scores of runs, by the id and the digest of a run, the digest of the labels, and the metrics."""


@dataclass(frozen=True, slots=True)
class _GivenLabels:
    """Labels that runs are scored under; ``label_set``: their version, None if they will become one."""

    lists: LabelLists
    digest: str
    label_set: LabelSetRecord | None


def _scored_ahead(
    store: Store,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric],
    labels_of: Callable[[ReadTransaction, RunRecord], list[_GivenLabels]],
) -> _Ready:
    """Return the scores of runs, up to the limit on results, while others can write.

    Each run is read in its own transaction, because with SQLite's rollback journal a reader keeps others from
    committing. ``labels_of``: the labels of a run's dataset that are not too many to hold in memory.
    """
    ready: _Ready = {}
    n_free = HELD_RESULTS
    for dataset_id in dict.fromkeys(run.dataset_id for run in runs):
        of_dataset = [run for run in runs if run.dataset_id == dataset_id]
        with store.read() as tx:
            every = labels_of(tx, of_dataset[0])
        for run, labels in product(of_dataset, every):
            with suppress(NdcgTrackerError), store.read() as tx:  # the write transaction raises it again
                if tx.runs.with_id(run.id).digest != run.digest:
                    continue
                new = _missing_metrics(tx, run, metrics, labels.label_set)
                n_results = len(new) * (run.n_groups + labels.lists.n_groups)
                if n_results > n_free:
                    return ready
                if new:
                    scores = stored_scores(tx, run, new, held_labels(labels.lists))
                    ready[run.id, run.digest, labels.digest, frozenset(new)] = scores
                    n_free -= n_results
    return ready


def _missing_metrics(
    tx: ReadTransaction, run: RunRecord, metrics: Sequence[Metric], label_set: LabelSetRecord | None
) -> list[Metric]:
    """Return which of these metrics (by default those it has under any labels) a run lacks under a label set."""
    evaluations = tx.evaluations.of_run(run.id)
    done = {record.metric for record in evaluations if label_set is not None and record.label_set_id == label_set.id}
    wanted = list(metrics) or [
        replace(parse_metric(record.metric), requested_as=record.requested_as)
        for record in evaluations
        if record.judge not in NO_LABELS_HERE
    ]
    return [metric for metric in dict.fromkeys(wanted) if str(metric) not in done]


def rescore_runs(
    tx: WriteTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric],
    version: int | None = None,
    judges: JudgeNames = None,
    *,
    skip_pruned: bool = False,
    ready: _Ready | None = None,
) -> list[RescoredRun]:
    """Evaluate stored runs under a version of their dataset's labels, from their stored items.

    ``metrics``: none for those that each run has under any labels. ``version``: None for the latest of each of
    ``judges`` (see ``chosen_judges``). ``skip_pruned``: leave out metrics that need the items of pruned runs, instead
    of raising InputError. ``ready``: scores that are used if content, labels and lacking metrics are still the same.
    """
    refuse_external(metrics)
    if not skip_pruned:
        tx.runs.require("groups", *runs)
    pruned = tx.runs.prunings()
    of_dataset: dict[int, tuple[list[tuple[LabelSetRecord, Callable[[], KnownLabels]]], GroupWeights | None]] = {}
    rescored = []
    for run in runs:
        if run.dataset_id not in of_dataset:
            sets = _label_sets(tx, run, version, judges)
            sources = [(label_set, label_source(tx, label_set)) for label_set in sets]
            of_dataset[run.dataset_id] = sources, stored_weights(tx, run.dataset_id)
        sources, weights = of_dataset[run.dataset_id]
        for label_set, labels in sources:
            new = _missing_metrics(tx, run, metrics, label_set)
            stored: list[StoredMetric] = []
            why = pruned.get(run.id) if new and skip_pruned else None
            pruned_at = None if why is None else why.created_at_utc
            if new and why is None:
                scores = (ready or {}).get((run.id, run.digest, label_set.digest, frozenset(new)))
                scores = scores or stored_scores(tx, run, new, labels())
                stored = store_scores(tx, run, label_set, scores, weights)
            of_run = (run.name, run.id, run.dataset, label_set.version, StoredMetrics(stored))
            rescored.append(RescoredRun(*of_run, pruned_at, label_set.judge))
    return rescored


def _label_sets(tx: ReadTransaction, run: RunRecord, version: int | None, judges: JudgeNames) -> list[LabelSetRecord]:
    """Return the requested labels of a run's dataset: a version, or the latest of each judge."""
    numbered = partial(numbered_labels, tx, run.dataset_id, run.dataset, version)
    if version is not None:
        given = [judges] if isinstance(judges, str) else list(judges or ())
        refuse("complete rescore", {"labels": version, "several_judges": len(given) > 1 or EVERY_JUDGE in given})
        return [numbered(given[0] if given else None)]
    names: list[str | None] = [*chosen_judges(tx, run.dataset_id, run.dataset, judges)]
    return [numbered(judge) for judge in names or [None]]
