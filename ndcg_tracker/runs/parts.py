"""Split datasets: an open part and a sealed part, and which groups of runs and labels belong to each."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.axes import AXIS_OF
from ndcg_tracker.rankings.keys import KeyIndex, Keys
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists, labels_of_groups
from ndcg_tracker.storage.records import LabelOrigin
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Mask
    from ndcg_tracker.storage.records import DatasetRecord, SealRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction


def is_chosen(name: str, key: str, share: float) -> bool:
    """Return whether a group, or a cluster of groups, is sealed: by a keyed hash of its name.

    >>> sum(is_chosen(f"q{place}", "00ff", 0.25) for place in range(1000))
    241
    """
    hashed = hashlib.blake2b(name.encode(), key=bytes.fromhex(key), digest_size=8)
    return int.from_bytes(hashed.digest(), "big") < share * 2**64


_NEVER_REFUSED = frozenset({"rel", "p", "discount", "depth", "highest", "recall", "recalls", "recall_count", "round"})
"""Axes whose numbers never refuse a label; others, such as the gain of an unjudged item, may overflow."""


class LabelsOfSealedError(InputError):
    """Labels in a run for a sealed dataset: they are the caller's own, so refusing them reveals nothing."""


@dataclass
class Part:
    """A sealed dataset, or a part of a split dataset: it keeps only its own groups.

    ``known``: the groups of the part if clusters were kept together, None if the hash decides for each group.
    ``n_left_out``: how many groups of runs and labels were left out so far.
    """

    dataset: str
    seal: SealRecord
    known: KeyIndex | None
    n_left_out: int = field(default=0)

    @property
    def is_sealed(self) -> bool:
        """Whether only gates read it."""
        return self.seal.is_sealed

    def blocks(self, blocks: Iterable[RankedTable]) -> Iterator[RankedTable]:
        """Yield the blocks of a run without the groups of the other part. Raises: InputError for sealed labels."""
        for block in blocks:
            labels = self.labels(block.labels)
            kept = np.flatnonzero(self.keeps(block.ranking.group_keys))
            self.n_left_out += block.ranking.n_groups - kept.size
            weights = block.weights
            if weights is not None:
                own = np.flatnonzero(self.keeps(weights.group_keys))
                single = None if weights.single_means is None else weights.single_means[own]
                arrays = weights.values[own], weights.varies[own], single
                weights = GroupWeights(weights.group_keys.take(own), *arrays)
            yield replace(block, run=block.ranking.of_groups(kept), labels=labels, weights=weights)

    def labels(self, labels: LabelLists | None) -> LabelLists | None:
        """Return labels without those of the other part. Raises: InputError if the dataset is sealed."""
        if labels is None:
            return None
        if self.is_sealed:
            raise LabelsOfSealedError(
                f"dataset {self.dataset!r} is sealed, and so are its labels: a run cannot bring any",
                advice=f"leave out {argument('labels')} and any column of labels",
            )
        return labels_of_groups(labels, np.flatnonzero(self.keeps(labels.group_keys)))

    def check_metrics(self, metrics: Iterable[Metric]) -> None:
        """Refuse metrics that may refuse some labels: on sealed data each such error would reveal labels."""
        for metric in metrics if self.is_sealed else ():
            for axis, value in metric.settings:
                is_listed = value in AXIS_OF[axis].values and axis not in ("arithmetic", "label_domain")
                if value.startswith("error") or not (is_listed or axis in _NEVER_REFUSED):
                    raise InputError(
                        f"{axis}={value} may refuse a run because of its labels, which would reveal labels of "
                        f"sealed dataset {self.dataset!r}",
                        where=metric.requested_as,
                        advice=f"leave {axis} out",
                    )

    def notes(self) -> tuple[str, ...]:
        """Return in words that groups were left out, nothing if none were."""
        if not self.n_left_out:
            return ()
        groups = counted(self.n_left_out, "group")
        return (f"{groups} that are not in this part of the split dataset were left out",)

    def keeps(self, keys: Keys) -> Mask:
        """Return which groups are of this part."""
        if self.seal.split is None:
            return np.ones(len(keys), dtype=bool)
        if self.known is not None:
            return self.known.places(keys) >= 0
        key, share = self.seal.split["key"], self.seal.split["share"]
        return np.array([is_chosen(name, key, share) == self.is_sealed for name in keys.to_list()], dtype=bool)


def part_of(tx: ReadTransaction, dataset: DatasetRecord) -> Part | None:
    """Return which part of a split dataset this is, or that it is sealed; None for any other dataset."""
    seal = tx.datasets.seal_of(dataset.id)
    if seal is None:
        return None
    of_clusters = seal.split is not None and seal.split["cluster"] is not None
    return Part(dataset.name, seal, KeyIndex(tx.groups.all(dataset.id)[1]) if of_clusters else None)


def refuse_of_both_parts(tx: ReadTransaction, dataset: DatasetRecord, what: str) -> None:
    """Refuse, for a part of a split dataset, content that may hold groups of the other part and is not filtered."""
    if tx.datasets.seal_of(dataset.id) is not None:
        raise InputError(
            f"dataset {dataset.name!r} is the open part of a split dataset, and {what} may hold groups of the "
            "sealed part",
            advice="ingest the run's own file; only the groups of this part are stored",
        )


@dataclass(frozen=True, slots=True)
class SplitDataset:
    """A split dataset: the names of both parts, and how many groups each has."""

    dataset: str
    sealed: str
    n_open: int
    n_sealed: int


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """How to split a dataset.

    ``share``: the share of the groups (or clusters) that is sealed, in (0, 1). ``cluster``: the attribute whose values
    are kept together. ``sealed``: the name of the sealed part. ``budget``, ``looks``: of its seal. ``seed``: for the
    key of the hash, None for a random key.
    """

    share: float
    cluster: str | None
    sealed: str
    budget: float
    looks: int | None
    seed: str | None = None


def split_dataset(store: Store, dataset: str, options: SplitOptions, held: Store | None = None) -> SplitDataset:
    """Move a share of the groups of a dataset, with their labels, to a sealed one (see ``Tracker.split_dataset``).

    ``held``: the database of the sealed part, None for the same one.
    """
    if not 0 < options.share < 1:
        raise InputError(f"{argument('seal')} must be between 0 and 1, not {options.share:g}", advice="try 0.5")
    with ExitStack() as stack:
        tx = stack.enter_context(store.write())
        to = tx if held is None else stack.enter_context(held.write())
        record = tx.datasets.known(dataset)
        tx.write.datasets.check_unseen(record)
        ids, keys = tx.groups.all(record.id)
        label_sets = tx.labels.sets(record.id, None)
        labelled = np.isin(ids, np.concatenate([tx.labels.group_ids(of.id) for of in label_sets] or [ids[:0]]))
        seed = secrets.token_bytes(16) if options.seed is None else options.seed.encode()
        key = hashlib.blake2b(seed, digest_size=16).hexdigest()
        names = _clusters(tx, record, ids, keys, options.cluster)
        chosen = np.array([is_chosen(name, key, options.share) for name in names], dtype=bool)
        parts = {name for name, is_labelled in zip(names, labelled.tolist(), strict=True) if is_labelled}
        if not (chosen & labelled).any() or not (~chosen & labelled).any():
            parts_found = counted(len(parts), "cluster" if options.cluster is not None else "group")
            raise InputError(
                f"dataset {dataset!r} has {parts_found} with labels, which cannot form two parts",
                advice="split a larger dataset, or use another share",
            )
        if to.datasets.is_sealed(options.sealed) or any(of.name == options.sealed for of in to.datasets.all()):
            raise ConflictError(
                f"there already is a dataset {options.sealed!r}",
                advice=f"name another one with {argument('sealed', 'NAME')}",
            )
        split = {"key": key, "share": options.share, "cluster": options.cluster}
        _move(tx, to, record, options.sealed, ids[chosen])
        tx.write.datasets.seal(dataset, budget=None, is_sealed=False, split=split | {"other_part": options.sealed})
        of_seal: dict[str, Any] = {"budget": options.budget, "looks": options.looks}
        to.write.datasets.seal(options.sealed, **of_seal, split=split | {"other_part": dataset})
        n_sealed = int((chosen & labelled).sum())
    return SplitDataset(dataset, options.sealed, int(labelled.sum()) - n_sealed, n_sealed)


def _clusters(tx: ReadTransaction, dataset: DatasetRecord, ids: Any, keys: Keys, cluster: str | None) -> list[str]:
    """Return the name that decides the part of each group: its own, or that of its cluster."""
    if cluster is None:
        return keys.to_list()
    attributes = tx.groups.attributes(dataset.id)
    values = [attributes.get(group_id, {}).get(cluster) for group_id in ids.tolist()]
    n_without = sum(value is None for value in values)
    if n_without:
        raise InputError(
            f"{n_without} of {len(values)} groups of dataset {dataset.name!r} have no attribute {cluster!r}",
            advice=f"give it with: ndcg-track groups set FILE --dataset {dataset.name}",
        )
    return [str(value) for value in values]


def _move(tx: WriteTransaction, to: WriteTransaction, dataset: DatasetRecord, sealed: str, ids: Any) -> None:
    """Move groups with their labels, weights, attributes and texts to a dataset that does not exist yet."""
    lists = [(of, tx.labels.lists(of.id)) for of in tx.labels.sets(dataset.id, None)]
    weights, attributes = tx.groups.weights(dataset.id), tx.groups.attributes(dataset.id)
    texts = tx.texts.all(dataset.id)
    keys, target = tx.groups.keys(dataset.id, ids), to.write.datasets.ensure(sealed, dataset.created_at_utc)
    new_ids = dict(zip(ids.tolist(), to.write.groups.ensure(target.id, keys).tolist(), strict=True))
    is_moved = KeyIndex(keys)
    for of, _ in lists:
        tx.write.labels.discard(of.id)
    for of, labels in lists:
        moved = is_moved.places(labels.group_keys) >= 0
        origin = LabelOrigin(of.source, of.judge, of.created_at_utc, of.extends, of.added_by, of.from_runs)
        for writer, owner, places in ((tx, dataset, ~moved), (to, target, moved)):
            begun = writer.write.labels.begin(owner.id, origin, by_row_number=of.by_row_number)
            own = labels_of_groups(labels, np.flatnonzero(places))
            if own.n_groups:
                writer.write.labels.append(begun, owner.id, own)
            writer.write.labels.finish(begun, own.digest(), own.n_groups, own.n_items)
    weighted = np.flatnonzero(np.isin(weights.ids, ids))
    if weighted.size:
        of_moved = np.array([new_ids[group_id] for group_id in weights.ids[weighted].tolist()], dtype=np.int64)
        to.write.groups.set_weights(target.id, of_moved, weights.weights[weighted])
    if weights.unweighted.default is not None:
        to.write.groups.set_default_weight(target.id, weights.unweighted.default)
    to.write.groups.set_attributes(target.id, {new_ids[of]: facts for of, facts in attributes.items() if of in new_ids})
    shared = [text for text in texts if not text.group_id or text.group_id in new_ids]
    to.write.texts.add(target.id, [replace(text, group_id=new_ids.get(text.group_id, 0)) for text in shared])
    for group_id in {text.group_id for text in texts} & new_ids.keys():
        tx.write.texts.delete(dataset.id, group_id)
    tx.write.groups.delete(dataset.id, ids)
