"""The rank column of a TREC run, held against the scores."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.ingest.places import shown
from ndcg_tracker.rankings.keys import BLOCK, Keys
from ndcg_tracker.rankings.sorting import descending_order
from ndcg_tracker.rankings.types import Bytes, Floats, Index

Ranks = NDArray[np.int32]

NO_RANK = int(np.iinfo(np.int32).min)
_LARGEST = int(np.iinfo(np.int32).max)
_WHOLE = re.compile(rb"-?[0-9]{1,4000}")
_HEXADECIMAL = re.compile(rb"0[xX][0-9a-fA-F]{1,8}")  # Arrow takes it for a number, so every way of reading does
_MOST_DIGITS = 9  # so many always fit
_ZERO = 0x30
_NINE = 9


@dataclass(frozen=True, slots=True)
class RankConflict:
    """In how many groups a better rank goes with a lower score, and the id of the first of them."""

    n_groups: int
    first: str

    def __str__(self) -> str:
        where = "a group" if self.n_groups == 1 else f"{self.n_groups} groups"
        named = f"{where} ({shown(self.first)})" if self.n_groups == 1 else f"{where} (the first: {shown(self.first)})"
        return (
            f"the rank column contradicts the scores in {named}; the scores decide, as in trec_eval: "
            "if lower scores are better here, negate them"
        )


@dataclass(frozen=True, slots=True)
class NoScores:
    """How many rows have no score: no news in a table that has labels too, where such items are judged alone."""

    n_rows: int

    def __str__(self) -> str:
        rows = "1 row has" if self.n_rows == 1 else f"{self.n_rows:,} rows have"
        return f"{rows} no score, and the items count as not retrieved; if a model failed on them, mend the scores"


RunFact = RankConflict | NoScores
"""What a reader has found in a run that one should know."""


def joined_notes(notes: Iterable[RunFact], *, has_labels: bool = False) -> tuple[RunFact, ...]:
    """Return what was found in the parts of a run as what is to be said of all of it.

    ``has_labels``: whether labels came with the run, in the same table.

    >>> joined_notes([RankConflict(2, "q1"), NoScores(1), RankConflict(1, "q7"), NoScores(2)])
    (RankConflict(n_groups=3, first='q1'), NoScores(n_rows=3))
    """
    every = list(notes)
    conflicts = [one for one in every if isinstance(one, RankConflict)]
    n_rows = 0 if has_labels else sum(one.n_rows for one in every if isinstance(one, NoScores))
    joined: list[RunFact] = []
    if conflicts:
        joined.append(RankConflict(sum(one.n_groups for one in conflicts), conflicts[0].first))
    return (*joined, NoScores(n_rows)) if n_rows else tuple(joined)


def rank_of(text: bytes) -> int:
    """Return the rank that a field holds, ``NO_RANK`` where it holds none.

    >>> rank_of(b"12"), rank_of(b"-") == rank_of(b"1.5") == NO_RANK
    (12, True)
    """
    if text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    if _WHOLE.fullmatch(text):
        rank = int(text)
        return rank if -_LARGEST <= rank <= _LARGEST else NO_RANK
    if _HEXADECIMAL.fullmatch(text):
        rank = int(text, 16)
        return rank if rank <= _LARGEST else rank - 2 * (_LARGEST + 1)
    return NO_RANK


def ranks_of(data: Bytes, starts: Index, ends: Index) -> Ranks:
    """Return the rank that each field of a column holds (see ``rank_of``), none of them empty.

    >>> ranks_of(np.frombuffer(b"7 12 -", dtype=np.uint8), np.array([0, 2]), np.array([1, 4])).tolist()
    [7, 12]
    """
    width = int((ends - starts).max(initial=0))
    ranks = np.zeros(starts.size, dtype=np.int32)
    for place in range(width if width <= _MOST_DIGITS else 0):
        at = ends - (place + 1)
        digits = data[at] - np.uint8(_ZERO)
        if place:
            digits[at < starts] = 0
        if int(digits.max()) > _NINE:
            break
        ranks += digits.astype(np.int32) * 10**place
    else:
        if width <= _MOST_DIGITS:
            return ranks
    text = data.tobytes()
    return np.array([rank_of(text[start:end]) for start, end in zip(starts, ends, strict=True)], dtype=np.int32)


def rank_conflict(
    group_keys: Keys, offsets: Index, ranks: Ranks, scores: Floats, *, is_descending: bool = False
) -> RankConflict | None:
    """Return where a better rank goes with a lower score in the same group, None where that is nowhere.

    Parameters: ``ranks``: int32, one per row, ``NO_RANK`` for none. ``scores``: float64, one per row, finite;
    ``is_descending``: whether they are known to be so in each group.

    >>> keys, offsets = Keys.from_strings(["q", "r"]), np.array([0, 2, 4])
    >>> rank_conflict(keys, offsets, np.array([1, 2, 1, 2], dtype=np.int32), np.array([2.0, 1.0, 0.5, 0.6]))
    RankConflict(n_groups=1, first='r')
    """
    if not _falls(ranks, offsets) and (is_descending or not _falls(-scores, offsets)):
        return None
    suspect = ranks[1:] < ranks[:-1]
    suspect |= scores[1:] > scores[:-1]
    suspect[offsets[1:-1] - 1] = False
    groups = np.unique(np.searchsorted(offsets, np.flatnonzero(suspect), "right") - 1)
    lengths = np.diff(offsets)[groups]
    rows = np.repeat(offsets[groups] - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    rows = rows[ranks[rows] != NO_RANK]
    owners = np.searchsorted(offsets, rows, "right") - 1
    bounds = np.append(np.searchsorted(owners, groups), rows.size)
    order = rows[descending_order(-ranks[rows].astype(np.float64), bounds)]
    # the lowest score of one rank may not lie below the highest of the next
    firsts = np.flatnonzero(np.append(True, (np.diff(ranks[order]) != 0) | (np.diff(owners) != 0))[: order.size])
    if not firsts.size:
        return None
    lowest, highest = np.minimum.reduceat(scores[order], firsts), np.maximum.reduceat(scores[order], firsts)
    owner = owners[firsts]
    wrong = np.unique(owner[1:][(owner[1:] == owner[:-1]) & (highest[1:] > lowest[:-1])])
    return RankConflict(int(wrong.size), group_keys[int(wrong[0])]) if wrong.size else None


def _falls(values: Ranks | Floats, offsets: Index) -> bool:
    """Return whether a value is lower than the one before it in its group."""
    n_falls = 0
    for first in range(0, values.size, BLOCK):
        block = values[first : first + BLOCK + 1]
        n_falls += int(np.count_nonzero(block[1:] < block[:-1]))
    starts = offsets[1:-1]
    return bool(n_falls > np.count_nonzero(values[starts] < values[starts - 1]))
