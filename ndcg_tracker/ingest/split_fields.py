"""The fields of a small file between blanks, found by NumPy: a table read without the cost of importing Arrow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ndcg_tracker.ingest.places import DoubtfulError
from ndcg_tracker.ingest.ranks import ranks_of
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Bytes, Floats, Index

_BLANK = 0x20
_NEWLINE = 0x0A
_OF_NUMBERS = b"0123456789+-.eE"


def split_rows(text: bytes, n_fields: int, columns: Mapping[str, int]) -> Rows:
    """Return the rows of lines of fields with one blank between them, as ``trec_lines`` makes them.

    Parameters: ``n_fields``: how many each line has. ``columns``: the place of each role: group, item, one of score
    and label, and rank if it is to be looked at. Raises: DoubtfulError for lines of another number of fields and for
    what is no finite number.

    >>> rows = split_rows(b"q1 0 d1 2\\nq1 0 d2 0\\n", 4, {"group": 0, "item": 2, "label": 3})
    >>> rows.run_keys.to_list(), rows.items.to_list(), rows.grades.tolist()
    (['q1'], ['d1', 'd2'], [2.0, 0.0])
    """
    if not text.endswith(b"\n"):
        text += b"\n"
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero((data == _BLANK) | (data == _NEWLINE))
    if ends.size % n_fields or not _is_between_fields(data[ends].reshape(-1, n_fields)):
        raise DoubtfulError("another number of fields")
    starts = np.append(0, ends[:-1] + 1)
    bounds = {role: (starts[at::n_fields], ends[at::n_fields]) for role, at in columns.items()}
    ranks = ranks_of(data, *bounds.pop("rank")) if "rank" in bounds else None
    fields = {role: _column(data, *found) for role, found in bounds.items()}
    groups, items = fields.pop("group"), fields.pop("item")
    later = np.arange(1, len(groups))
    firsts = np.flatnonzero(np.append(True, ~groups.equal(later, groups, later - 1)))
    numbers = {role: _numbers(found) for role, found in fields.items()}
    lengths = np.diff(firsts, append=len(groups))
    return Rows(groups.take(firsts), lengths, items, numbers.get("score"), numbers.get("label"), ranks=ranks)


def _is_between_fields(separators: Bytes) -> bool:
    """Return whether a newline stands behind the last field of each line, and a blank behind the others."""
    return bool((separators[:, :-1] == _BLANK).all() and (separators[:, -1] == _NEWLINE).all())


def _column(data: Bytes, starts: Index, ends: Index) -> Keys:
    """Return a column of fields, without what stands between them."""
    bounds = np.append(np.stack([starts, ends], axis=1).ravel(), ends[-1:])
    return Keys(data, bounds).take(np.arange(0, 2 * starts.size, 2))


def _numbers(texts: Keys) -> Floats:
    """Return the doubles of a column of texts of the strict grammar (see ``numbers``)."""
    if texts.data.tobytes().translate(None, _OF_NUMBERS):
        raise DoubtfulError("no number")
    try:
        found = np.array([float(text) for text in texts.to_bytes_list()])
    except ValueError:
        raise DoubtfulError("no number") from None
    if not np.isfinite(found).all():
        raise DoubtfulError("no finite number")
    return found
