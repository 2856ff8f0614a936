"""Numbers as files may write them: a strict ASCII grammar for scores and grades, and ranks."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.ingest.rows import WrongValueError
from ndcg_tracker.rankings.types import Bytes, Index
from ndcg_tracker.words.quoting import shown

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_fits = _NUMBER.fullmatch
_INFINITY = float("inf")
Ranks = NDArray[np.int32]
NO_RANK = int(np.iinfo(np.int32).min)
_LARGEST = int(np.iinfo(np.int32).max)
_WHOLE = re.compile(rb"-?[0-9]{1,4000}")
_HEXADECIMAL = re.compile(rb"0[xX][0-9a-fA-F]{1,8}")  # Arrow takes it for a number, so every way of reading does
_MOST_DIGITS = 9  # so many always fit
_ZERO = 0x30
_NINE = 9


def number(text: bytes, role: str = "") -> float:
    """Return the double nearest to a decimal number; ``role``: what it is, for messages.

    Grammar: ``[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?``, ASCII only. Raises: WrongValueError for anything
    else, ``nan``, ``inf``, ``1_000`` and ``0x1`` included, and for numbers beyond the doubles.

    >>> number(b"-1.5e3"), number(b".5")
    (-1500.0, 0.5)
    """
    is_number = _fits(text) is not None
    value = float(text) if is_number else _INFINITY
    if -_INFINITY < value < _INFINITY:
        return value
    called = f"{role} {shown(text)}" if role else shown(text)
    if not is_number:
        raise WrongValueError(f"{called} is not a number", advice="write it like 0.5, -2 or 1e-3")
    raise WrongValueError(f"{called} is too large for a double", advice="use a finite number")


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
