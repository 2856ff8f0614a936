"""Items that have several ids: which ids are one, in labels and in runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.keys import KeyIndex, Keys, without_matches
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking


@dataclass(frozen=True)
class SameItems:
    """Which ids are one item: that with the id that the labels have.

    ``patterns``: what they match is removed from an id, the latest first. ``labelled_as``: for ids that are left
    then, the id in the labels.

    >>> same = SameItems(("^v2-",), {"b": "a"})
    >>> same.named(Keys.from_strings(["v2-b", "v2-c", "v2-"])).to_list()
    ['a', 'c', 'v2-']
    """

    patterns: tuple[str, ...] = ()
    labelled_as: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _renamed(self) -> tuple[KeyIndex, Keys]:
        return KeyIndex(Keys.from_strings(self.labelled_as)), Keys.from_strings(self.labelled_as.values())

    def as_json(self) -> dict[str, Any]:
        """Return the content as a JSON object."""
        return {"patterns": list(self.patterns), "labelled_as": dict(self.labelled_as)}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any] | None) -> SameItems | None:
        """Return what ``as_json`` returned, None for nothing."""
        return None if stored is None else cls(tuple(stored["patterns"]), stored["labelled_as"])

    def digest(self) -> str:
        """Return the digest of the content, which adds to that of labels (see ``GroupedItems.digest``)."""
        pairs = [(f"={item}", name) for item, name in self.labelled_as.items()]
        pairs += [(f"/{pattern}", str(place)) for place, pattern in enumerate(self.patterns)]
        ids, names = (Keys.from_strings([pair[side] for pair in pairs]) for side in (0, 1))
        return GroupedItems(ids, np.arange(len(ids) + 1), names, np.zeros(len(ids))).digest()

    def named(self, items: Keys) -> Keys:
        """Return the id that the labels have, or would have, of each item."""
        for pattern in self.patterns:
            items = without_matches(items, pattern)
        index, names = self._renamed
        places = index.places(items)
        if not (places >= 0).any():
            return items
        rows = np.arange(len(items))
        return Keys.joined([items, names]).take(np.where(places < 0, rows, len(items) + places))

    def in_labels(self, labels: LabelLists) -> LabelLists:
        """Return labels in which each item is there once, with its highest grade."""
        named = replace(labels, item_keys=self.named(labels.item_keys), same_items=self)
        if not named.has_duplicates():
            return named
        order = np.lexsort((-named.grades, named.pair_hashes))
        rows = np.sort(order[_is_first(named, order)])
        groups = named.group_keys.take(group_codes(named.offsets)[rows])
        once = LabelLists.from_rows(groups, named.item_keys.take(rows), named.grades[rows])
        return replace(once, by_row_number=labels.by_row_number, same_items=self)

    def in_run(self, ranking: Ranking) -> Ranking:
        """Return a run with the ids of the labels; in a list that has an item twice, the higher place has its id.

        The lower place keeps its own id, or has that of the higher place if its own is the one in the labels: no label
        has either, so it is without gain.
        """
        named = replace(ranking, item_keys=self.named(ranking.item_keys))
        if not named.has_duplicates():
            return named
        order = np.argsort(named.pair_hashes, kind="stable")
        is_first = _is_first(named, order)
        firsts = order[np.maximum.accumulate(np.where(is_first, np.arange(order.size), 0))]
        lower, higher = order[~is_first], firsts[~is_first]
        at = np.arange(order.size, 2 * order.size)
        at[lower] = np.where(named.item_keys.equal(lower, ranking.item_keys, lower), higher, lower)
        return replace(named, item_keys=Keys.joined([ranking.item_keys, named.item_keys]).take(at))


def _is_first(items: GroupedItems, order: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which rows, in an order that has equal rows side by side, are the first of their group and item."""
    hashes = items.pair_hashes[order]
    same = (hashes[1:] == hashes[:-1]) & items.item_keys.equal(order[1:], items.item_keys, order[:-1])
    return np.append(True, ~same)[: order.size]
