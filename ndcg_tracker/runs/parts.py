"""Split datasets: an open part and a sealed part, and which groups of runs and labels belong to each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import InputError, SealedError, argument
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.rankings.keys import KeyIndex
from ndcg_tracker.rankings.ranking import GroupWeights, LabelLists
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Mask
    from ndcg_tracker.rankings.keys import Keys
    from ndcg_tracker.storage.records import DatasetRecord, SealRecord
    from ndcg_tracker.storage.store import ReadTransaction


def is_chosen(name: str, key: str, share: float) -> bool:
    """Return whether a group, or a cluster of groups, is sealed: by a keyed hash of its name.

    >>> sum(is_chosen(f"q{place}", "00ff", 0.25) for place in range(1000))
    241
    """
    hashed = hashlib.blake2b(name.encode(), key=bytes.fromhex(key), digest_size=8)
    return int.from_bytes(hashed.digest(), "big") < share * 2**64


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
            raise SealedError(
                f"dataset {self.dataset!r} is sealed, and so are its labels: a run cannot bring any",
                advice=f"leave out {argument('labels')} and any column of labels",
            )
        return labels.of_groups(np.flatnonzero(self.keeps(labels.group_keys)))

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
