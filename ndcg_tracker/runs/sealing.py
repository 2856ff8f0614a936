"""Write the sealed part of a dataset to a database of its own, which is sealed as a whole, and delete it here."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.asked import SEALED_DATABASE
from ndcg_tracker.errors import ConflictError, DatabaseError, InputError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.rankings.keys import KeyIndex
from ndcg_tracker.runs.check import check_content
from ndcg_tracker.runs.parts import is_chosen
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.copying import COLUMNS, OF_RUNS
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.records import SealRecord
from ndcg_tracker.storage.store import Store
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Index, Mask
    from ndcg_tracker.storage.records import DatasetRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

BUDGET = 0.05
"""The chance, over all looks at a sealed database, that any candidate worse by the margin PASSes."""
_COPIED = (*OF_RUNS, "prunings", "decisions", "texts")
"""All tables that a sealed dataset has rows in, apart from its seal."""


@dataclass(frozen=True, slots=True)
class SplitDataset:
    """A split or moved dataset.

    ``sealed``: its sealed part; ``dataset``: the open part, "" of a moved one. ``n_open``, ``n_sealed``: how many
    groups with labels each has. ``done_before``: whether it was so before. ``n_runs``: how many runs moved.
    ``deleted``: the backups that held what moved.
    """

    dataset: str
    sealed: str
    n_open: int
    n_sealed: int
    done_before: bool = False
    n_runs: int = 0
    deleted: tuple[str, ...] = ()


_NEVER_REFUSED = frozenset({"rel", "p", "discount", "depth", "highest", "recall", "recalls", "recall_count", "round"})
"""Axes whose numbers never refuse a label; others, such as the gain of an unjudged item, may overflow."""


def check_telling(metric: Metric) -> None:
    """Refuse a metric of sealed data that may refuse some labels, because each such error would reveal labels."""
    for axis, value in metric.settings:
        is_listed = value in AXIS_OF[axis].values and axis not in ("arithmetic", "label_domain")
        if value.startswith("error") or not (is_listed or axis in _NEVER_REFUSED):
            raise InputError(
                f"{axis}={value} may refuse a run because of its labels, which would reveal sealed labels",
                where=metric.requested_as,
                advice=f"leave {axis} out",
            )


@contextmanager
def sealed_store(location: str) -> Iterator[Store]:
    """Yield the database of ``NDCG_TRACK_SEALED_DB``, created if it is a new file, for what comes from ``location``."""
    held = os.environ.get(SEALED_DATABASE)
    if not held:
        raise InputError(
            f"the sealed part needs a database of its own, which {SEALED_DATABASE} names",
            advice=f"set {SEALED_DATABASE} to a new file, or to a Postgres URL, that only CI can read",
        )
    one, other = parsed_location(held), parsed_location(location)
    if one == other or (one.path is not None and other.path is not None and one.path.resolve() == other.path.resolve()):
        raise InputError(f"{SEALED_DATABASE} names the open database itself", advice="name another one")
    with Store.open(held, create=True, opens="sealed") as store:
        yield store


def split_dataset(
    store: Store,
    dataset: str,
    held: Store,
    rules: Mapping[str, Any],
    share: float,
    cluster: str | None,
    seed: str | None,
) -> SplitDataset:
    """Move a share of the groups of a dataset, with their labels, to a sealed database (``Tracker.split_dataset``).

    The sealed part is stored first, and a split that was killed after that is completed with the key stored there.
    ``rules``: of all gates on the sealed part: metric, margin, looks and baseline_run of its seal.
    """
    if not 0 < share < 1:
        raise InputError(f"{argument('seal')} must be between 0 and 1, not {share:g}", advice="try 0.5")
    with store.write() as tx:
        record = tx.datasets.known(dataset)
        name, mark = f"{record.name}-sealed", tx.datasets.seal_of(record.id)
        if mark is None:
            tx.write.datasets.check_unseen(record)
        with held.write() as to:
            there = _there(to, held, name)
            known = mark or there
            if seed is None and known is not None and known.split is not None:
                key = known.split["key"]
            else:
                given = secrets.token_bytes(16) if seed is None else seed.encode()
                key = hashlib.blake2b(given, digest_size=16).hexdigest()
            facts: dict[str, Any] = {"key": key, "share": share, "cluster": cluster}
            ids, labelled = _groups(tx, record)
            chosen = np.zeros(ids.size, dtype=bool)
            if mark is None:
                chosen = _chosen(tx, record, ids, labelled, facts)
            elif there is None:
                raise _other(held, f"it does not have {name!r}, the sealed part of {record.name!r}")
            seal = SealRecord(0, True, BUDGET, split=facts | {"other_part": record.name}, created_at_utc="", **rules)
            if there is None:
                _copy(tx, to, record, name)
                _remove(to, record, ids[~chosen])
            n_sealed = int(_groups(to, _seal(to, held, seal, there))[1].sum())
        if mark is None:
            _remove(tx, record, ids[chosen])
            tx.write.datasets.mark(SealRecord(record.id, False, None, None, facts | {"other_part": name}, utc_now()))
        n_open = int((labelled & ~chosen).sum())
    return SplitDataset(record.name, name, n_open, n_sealed, done_before=mark is not None)


def move_sealed(location: str, dataset: str, held: Store, rules: Mapping[str, Any]) -> SplitDataset:
    """Move a dataset that an older version sealed next to open ones, with all it has (``Tracker.move_sealed``)."""
    with Store.open(location, opens="any") as store, store.write() as tx:
        here = next((record for record in tx.datasets.sealed() if record.name == dataset), None)
        with held.write() as to:
            there = _there(to, held, dataset)
            if here is None and there is None:
                raise ReferenceNotFoundError(f"there is no sealed dataset {dataset!r} to move")
            if here is not None and there is None:
                _copy(tx, to, here, dataset)
            seal = there if here is None else tx.datasets.seal_of(here.id)
            assert seal is not None
            record = _seal(to, held, replace(seal, **{key: of for key, of in rules.items() if of is not None}), there)
            n_sealed, n_runs = int(_groups(to, record)[1].sum()), len(to.runs.all())
        if here is not None:
            tx.write.copies.delete_dataset(here.id)
    return SplitDataset("", dataset, 0, n_sealed, n_runs=n_runs, done_before=here is None)


def _there(to: WriteTransaction, held: Store, name: str) -> SealRecord | None:
    """Return the seal of a dataset in its sealed database, None if that is empty; InputError for another dataset."""
    for record in to.datasets.all():
        seal = to.datasets.seal_of(record.id)
        if record.name != name or seal is None or not seal.is_sealed:
            raise _other(held, f"it has dataset {record.name!r}")
        return seal
    return None


def _other(held: Store, what: str) -> InputError:
    told = f"{what}, and a sealed database has one dataset"
    return InputError(told, where=held.display_url, advice=f"name another {SEALED_DATABASE}")


def _seal(to: WriteTransaction, held: Store, seal: SealRecord, there: SealRecord | None) -> DatasetRecord:
    """Seal the only dataset of a database after a check, or compare its seal with the one that it has."""
    (record,) = to.datasets.all()
    seal = replace(seal, dataset_id=record.id, created_at_utc=utc_now() if there is None else there.created_at_utc)
    if there is None:
        to.write.datasets.mark(seal)
        if damage := check_content(to, None).damage:
            raise DatabaseError(f"the copy differs: {damage[0]}; nothing was moved", where=held.display_url)
    elif seal != there:
        raise ConflictError(
            f"dataset {record.name!r} is sealed already, with other options",
            advice="the rules are fixed: split a dataset of fresh data",
        )
    return record


def _groups(tx: ReadTransaction, dataset: DatasetRecord) -> tuple[Index, Mask]:
    """Return the ids of all groups of a dataset, and which of them have labels."""
    ids, _ = tx.groups.all(dataset.id)
    labelled = [tx.labels.group_ids(label_set.id) for label_set in tx.labels.sets(dataset.id, None)]
    return ids, np.isin(ids, np.concatenate([*labelled, ids[:0]]))


def _chosen(tx: ReadTransaction, dataset: DatasetRecord, ids: Index, labelled: Mask, facts: Mapping[str, Any]) -> Mask:
    """Return which groups are sealed: by the hash of a group's own name, or that of its cluster."""
    names, cluster = tx.groups.keys(dataset.id, ids).to_list(), facts["cluster"]
    if cluster is not None:
        attributes = tx.groups.attributes(dataset.id)
        values = [attributes.get(group_id, {}).get(cluster) for group_id in ids.tolist()]
        if n_without := values.count(None):
            raise InputError(
                f"{n_without} of {len(values)} groups of dataset {dataset.name!r} have no attribute {cluster!r}",
                advice=f"give it with: ndcg-track groups set FILE --dataset {dataset.name}",
            )
        names = [str(value) for value in values]
    chosen = np.array([is_chosen(name, facts["key"], facts["share"]) for name in names], dtype=bool)
    if not (chosen & labelled).any() or not (~chosen & labelled).any():
        parts = {name for name, is_labelled in zip(names, labelled.tolist(), strict=True) if is_labelled}
        found = counted(len(parts), "group" if cluster is None else "cluster")
        raise InputError(
            f"dataset {dataset.name!r} has {found} with labels, which cannot form two parts",
            advice="split a larger dataset, or use another share",
        )
    return chosen


def _copy(tx: ReadTransaction, to: WriteTransaction, dataset: DatasetRecord, name: str) -> None:
    """Copy a dataset under a name, every row with its number; decisions, which have no gaps, are numbered anew."""
    runs = {run.id: run for run in tx.runs.all(dataset.name)}
    label_sets = {label_set.id for label_set in tx.labels.sets(dataset.id, None)}
    chosen = {"dataset_id": {dataset.id}, "run_id": set(runs), "label_set_id": label_sets}
    without, write, n_decisions = tx.runs.without("items"), to.write, 0
    for table in (table for table in COLUMNS if table in _COPIED):
        for row in (row for rows in tx.copies.rows(table, chosen) for row in rows):
            if table == "datasets":
                row["name"] = name
            elif table == "decisions":
                n_decisions += 1
                row["id"] = n_decisions
            write.copies.insert(table, [row])
            if table == "label_sets":
                labels = tx.labels.lists(row["id"])
                write.labels.append(row["id"], dataset.id, labels)
                write.labels.finish(row["id"], row["digest"], labels.n_groups, row["n_labels"])
            elif table == "runs":
                for items in tx.runs.kept_blocks(runs[row["id"]], is_whole=row["id"] not in without):
                    write.runs.append(row["id"], dataset.id, items)
            elif table == "evaluations" and tx.evaluations.results_of([row["id"]])[0][0].size:
                of = tx.evaluations.results(row["id"], components=True)
                parts = {"dcg": of.dcg, "ideal_dcg": of.ideal_dcg}
                reasons = of.reasons_by_row().tolist()
                write.evaluations.refill(row["id"], group_ids=of.group_ids, values=of.values, reasons=reasons, **parts)
    write.copies.count_on({})


def _remove(tx: WriteTransaction, dataset: DatasetRecord, ids: Index) -> None:
    """Delete groups with their labels, weights, attributes and texts."""
    lists = [(of, tx.labels.lists(of.id)) for of in tx.labels.sets(dataset.id, None)]
    removed = KeyIndex(tx.groups.keys(dataset.id, ids))
    reasons = {
        of.id: [row for rows in tx.copies.rows("label_reasons", {"label_set_id": {of.id}}) for row in rows]
        for of, _ in lists
    }
    for of, _ in lists:
        tx.write.labels.discard(of.id)
    gone = {*ids.tolist()}
    for of, labels in lists:
        begun = tx.write.labels.begin(dataset.id, of, labels.same_items, by_row_number=of.by_row_number)
        own = labels.of_groups(np.flatnonzero(removed.places(labels.group_keys) < 0))
        if own.n_groups:
            tx.write.labels.append(begun, dataset.id, own)
        tx.write.labels.finish(begun, own.digest(), own.n_groups, own.n_items)
        kept = [row | {"label_set_id": begun} for row in reasons[of.id] if row["group_id"] not in gone]
        if kept:
            tx.write.copies.insert("label_reasons", kept)
    for group_id in gone.intersection(text.group_id for text in tx.texts.all(dataset.id)):
        tx.write.texts.delete(dataset.id, group_id)
    tx.write.groups.delete(dataset.id, ids)
