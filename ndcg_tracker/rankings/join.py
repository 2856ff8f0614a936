"""Which item of a run is which item of the labels: the one join that every metric shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.keys import Hash, Index, Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """A run with its labels joined, over the groups of both.

    The group axis has all groups of the labels in their order, then the groups of the run that have no label.
    ``run_groups`` and ``label_groups``: int64, shape (n_groups,): each group's number in ``ranking`` and in
    ``labels``, -1 where it is absent. ``rows``: int64, ascending, the rows of ``ranking`` that carry a label;
    ``label_rows``: the row of ``labels`` that each of them carries.
    """

    ranking: Ranking
    labels: LabelLists
    run_groups: Index
    label_groups: Index
    rows: Index
    label_rows: Index

    @property
    def n_groups(self) -> int:
        """How many groups the run and the labels have together."""
        return self.run_groups.size

    @property
    def group_keys(self) -> Keys:
        """The ids of the group axis."""
        extra = self.run_groups[self.labels.n_groups :]
        if not extra.size:
            return self.labels.group_keys
        return Keys.from_bytes(
            self.labels.group_keys.to_bytes_list() + self.ranking.group_keys.take(extra).to_bytes_list()
        )


def judged(ranking: Ranking, labels: LabelLists) -> JudgedRanking:
    """Return the run joined with the labels on (group, item).

    >>> keys = Keys.from_strings
    >>> run = Ranking.from_rows(keys(["q", "q"]), keys(["a", "b"]), np.array([2.0, 1.0]))
    >>> both = judged(run, LabelLists.from_rows(keys(["q", "r"]), keys(["b", "c"]), np.array([1.0, 1.0])))
    >>> both.rows.tolist(), both.label_rows.tolist(), both.run_groups.tolist()
    ([1], [0], [0, -1])
    """
    run_group_of_label = places_of(labels.group_keys, ranking.group_keys)
    label_group_of_run = np.full(ranking.n_groups, -1, dtype=np.int64)
    present = run_group_of_label >= 0
    label_group_of_run[run_group_of_label[present]] = np.flatnonzero(present)
    extra = np.flatnonzero(label_group_of_run < 0)
    rows, label_rows = matching_rows(ranking, labels)
    return JudgedRanking(
        ranking,
        labels,
        np.concatenate([run_group_of_label, extra]),
        np.concatenate([np.arange(labels.n_groups), np.full(extra.size, -1)]),
        rows,
        label_rows,
    )


def places_of(wanted: Keys, keys: Keys) -> Index:
    """Return where each wanted id stands among distinct ids, -1 where it does not: int64, shape of ``wanted``.

    >>> places_of(Keys.from_strings(["b", "x"]), Keys.from_strings(["a", "b"])).tolist()
    [1, -1]
    """
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    hashes = keys.hashes()
    order = np.argsort(hashes)
    found = order[np.minimum(np.searchsorted(hashes[order], wanted.hashes()), order.size - 1)]
    return np.where(keys.equal(found, wanted, np.arange(len(wanted))), found, -1)


def matching_rows(items: GroupedItems, others: GroupedItems) -> tuple[Index, Index]:
    """Return the rows of both sides that are the same (group, item), ascending for ``items``: int64, shape (m,)."""
    hashes, other_hashes = items.pair_hashes, others.pair_hashes
    candidates = _possible(hashes, other_hashes)
    if not candidates.size or not other_hashes.size:
        return candidates[:0], candidates[:0]
    hashes = hashes[candidates]
    order = np.argsort(other_hashes)
    sorted_hashes = other_hashes[order]
    by_hash = np.argsort(hashes)  # sorted look-ups walk through the cache instead of jumping
    found = np.empty(hashes.size, dtype=np.int64)
    found[by_hash] = np.searchsorted(sorted_hashes, hashes[by_hash])
    found = np.minimum(found, sorted_hashes.size - 1)
    hit = sorted_hashes[found] == hashes
    rows, other_rows = candidates[hit], order[found[hit]]
    group_in_others = places_of(items.group_keys, others.group_keys)[group_codes(items.offsets)[rows]]
    same = group_in_others == group_codes(others.offsets)[other_rows]
    same &= items.item_keys.equal(rows, others.item_keys, other_rows)
    return rows[same], other_rows[same]


def _possible(hashes: Hash, wanted: Hash) -> Index:
    """Return the rows whose hash may be among the wanted ones: a bit table rules nearly all others out."""
    if wanted.size * 4 > hashes.size:
        return np.arange(hashes.size)
    bits = max(int(wanted.size).bit_length() + 5, 10)
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, dtype=np.bool_)
    table[wanted >> shift] = True
    return np.flatnonzero(table[hashes >> shift])
