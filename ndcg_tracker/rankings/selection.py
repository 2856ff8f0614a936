"""Some groups of many."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.grouping import segment_rows
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import LabelLists


def labels_of_groups(labels: LabelLists, places: Index) -> LabelLists:
    """Return the labels of some groups, in the order of ``places``: int64, each the number of a group of ``labels``.

    >>> from ndcg_tracker.rankings import Keys
    >>> labels = LabelLists.from_rows(Keys.from_strings("qqr"), Keys.from_strings("abc"), np.array([1.0, 0.0, 2.0]))
    >>> labels_of_groups(labels, np.array([1])).item_keys.to_list()
    ['c']
    """
    if places.size and int(places[-1]) - int(places[0]) == places.size - 1 and (np.diff(places) == 1).all():
        return _neighbours(labels, int(places[0]), int(places[-1]) + 1)
    lengths = np.diff(labels.offsets)[places]
    rows = segment_rows(labels.offsets[:-1][places], lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return LabelLists(labels.group_keys.take(places), offsets, labels.item_keys.take(rows), labels.numbers[rows])


def _neighbours(labels: LabelLists, first: int, last: int) -> LabelLists:
    """Return the labels of neighbouring groups without copying a label."""
    low, high = int(labels.offsets[first]), int(labels.offsets[last])
    return LabelLists(
        labels.group_keys.slice(first, last),
        labels.offsets[first : last + 1] - low,
        labels.item_keys.slice(low, high),
        labels.numbers[low:high],
    )
