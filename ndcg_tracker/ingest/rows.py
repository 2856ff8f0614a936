"""A table with one row per (group, item), as readers make it and before anything is grouped or ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.ingest.cells import Ranks
from ndcg_tracker.ingest.columns import RANK_NAMES, Columns, Deciding
from ndcg_tracker.ingest.documents import Documents
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.rankings.keys import Keys

Number = TypeVar("Number", np.float64, np.int32)
COLUMN_OF = {"item": "items", "score": "scores", "label": "grades", "weight": "weights", "rank": "ranks"}
"""The name of the column of each role in ``Rows``."""
_NUMBERS = ("scores", "grades", "weights", "ranks")


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with one row per (group, item), in the order of its source.

    ``span_keys`` and ``span_lengths``: the group ids, each span of equal ids once, and the number of rows in each.
    ``items``: one id per row, None for items known by their row's number within its group. ``scores``, ``grades``,
    ``weights``: float64, of frames perhaps int64, one per row, finite, NaN for null; None for an absent column.
    ``ranks``: int32, one per row, ``NO_RANK`` for none; None where they are not looked at. ``deciding``: what decides
    if they contradict the scores. It is "format" for the scores, in a format without a choice. "order" means the
    scores, if the ranks are the places of rows. "lists" means the ranks, if there is also the order of lists.
    ``documents``: what the items are chunks of, None if they are not chunks. ``in_order``: whether some scores come
    from the order of their rows, because there were none. ``tie_order``: what breaks ties (see ``Ranking``).
    ``are_ranks``: whether the scores are ranks with a minus. ``by_position``: whether ranks are positions in the list,
    as the tool of the metrics reads them, and not only an order.
    ``n_empty``: how many lists there are if all are empty. ``n_failed``: how many failed responses were left out.
    ``groups_share``: the share of the groups that is kept. ``group_column``: the column of the group ids, "" if it is
    not known. ``duplicates``: which of several rows of an item counts: "first", "best" or, if they are equal, "same";
    None to refuse them.
    """

    span_keys: Keys
    span_lengths: Index
    items: Keys | None
    scores: Floats | None = None
    grades: Floats | None = None
    weights: Floats | None = None
    ranks: Ranks | None = None
    deciding: Deciding | Literal["format", "order", "lists"] = "format"
    documents: Documents | None = None
    in_order: bool = False
    tie_order: str | None = None
    are_ranks: bool = False
    by_position: bool = False
    n_empty: int = 0
    n_failed: int = 0
    groups_share: Fraction | None = None
    group_column: str = ""
    duplicates: str | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.span_lengths.sum())

    @property
    def span_starts(self) -> Index:
        """The first row of each span: int64, shape (n_spans,)."""
        return np.cumsum(self.span_lengths) - self.span_lengths

    def spans(self, first: int, last: int) -> Rows:
        """Return the spans ``first`` to ``last`` (exclusive) of the table, without copying their items."""
        start = int(self.span_lengths[:first].sum())
        rows = slice(start, start + int(self.span_lengths[first:last].sum()))
        columns = {name: getattr(self, name) for name in _NUMBERS}
        numbers: dict[str, Any] = {name: None if held is None else held[rows] for name, held in columns.items()}
        return replace(
            self,
            n_failed=self.n_failed if first == 0 else 0,
            span_keys=self.span_keys.slice(first, last),
            span_lengths=self.span_lengths[first:last],
            items=None if self.items is None else self.items.slice(rows.start, rows.stop),
            **numbers,
        )

    def as_asked(self, columns: Columns) -> Rows:
        """Return the table with what the caller wants of it, and a rule for its documents unless its format has one."""
        documents = columns.documents if self.documents is None else self.documents
        ways = [name.partition(":")[2] for name in sorted(columns.allow - {"duplicates:mean"}) if ":" in name]
        return replace(
            self,
            documents=documents,
            groups_share=columns.groups_share,
            group_column=columns.found.pop("group", ""),
            duplicates=ways[0] if ways else None,
        )

    def merged(self) -> Rows:
        """Return the table with neighbouring spans of one group joined, because reading in parts may split them.

        >>> rows = Rows(Keys.from_strings(["q", "q", "r"]), np.array([2, 1, 4]), None).merged()
        >>> rows.span_keys.to_list(), rows.span_lengths.tolist()
        (['q', 'r'], [3, 4])
        """
        later = np.arange(1, len(self.span_keys))
        again = self.span_keys.equal(later, self.span_keys, later - 1)
        if not again.any():
            return self
        firsts = np.flatnonzero(np.insert(~again, 0, True))
        lengths = np.add.reduceat(self.span_lengths, firsts)
        return replace(self, span_keys=self.span_keys.take(firsts), span_lengths=lengths)

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Return the rows of one or more tables with the same columns as one table; everything is copied."""
        items = [part.items for part in parts if part.items is not None and len(part.items)]
        numbers: dict[str, Any] = {name: _joined([getattr(part, name) for part in parts]) for name in _NUMBERS}
        return replace(
            parts[0],
            span_keys=Keys.joined([part.span_keys for part in parts]),
            span_lengths=np.concatenate([part.span_lengths for part in parts]),
            items=Keys.joined(items) if items else None,
            in_order=any(part.in_order for part in parts),
            n_failed=sum(part.n_failed for part in parts),
            **numbers,
        ).merged()


def in_asked_order(rows: Rows, columns: Columns, names: Mapping[str, str]) -> Rows:
    """Return a table with scores in the order that was asked for; ranks, from 1 for the best, become scores.

    Parameters: ``names``: the column of each role.

    >>> ranked = Rows(Keys.from_strings("q"), np.array([2]), None, np.array([1.0, 2.0]))
    >>> in_asked_order(ranked, Columns(score="-place"), {"score": "place"}).scores.tolist()
    [-1.0, -2.0]
    """
    if columns.documents is not None:
        rows = replace(rows, documents=columns.documents.for_column(names.get("item")))
    rows = replace(rows, by_position=columns.by_rank)
    if columns.are_ranks(names):
        are_ranks = names["score"] in RANK_NAMES
        return rows if rows.scores is None else replace(rows, scores=0.0 - rows.scores, are_ranks=are_ranks)
    return rows if rows.ranks is None else replace(rows, deciding=columns.deciding(names))


def in_order_of_lists(rows: Rows, columns: Columns, *, are_found: bool) -> Rows:
    """Return the rows of ranked lists: the ranks that they state may contradict their order, and this their scores.

    ``are_found``: whether a search wrote the lists, and so put the best item first.
    """
    if rows.ranks is not None:
        return replace(rows, deciding="lists") if rows.in_order else rows
    if not are_found or rows.in_order or rows.scores is None:
        return rows
    ranks = places_in(rows.merged().span_lengths).astype(np.int32)
    return replace(rows, ranks=ranks, deciding="ranks" if columns.by_rank and columns.score is None else "order")


def _joined(columns: Sequence[NDArray[Number] | None]) -> NDArray[Number] | None:
    numbers = [column for column in columns if column is not None]
    return np.concatenate(numbers) if numbers else None
