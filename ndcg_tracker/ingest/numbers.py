"""Numbers as files may write them: a strict ASCII grammar, narrower than Python's float()."""

from __future__ import annotations

import re

from ndcg_tracker.ingest.places import shown

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_fits = _NUMBER.fullmatch
_INFINITY = float("inf")


def number(text: bytes) -> float:
    """Return the double nearest to a decimal number.

    Grammar: ``[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?``, ASCII only. Raises: ValueError (message without
    a place) for anything else, ``nan``, ``inf``, ``1_000`` and ``0x1`` included, and for numbers beyond the doubles.

    >>> number(b"-1.5e3"), number(b".5")
    (-1500.0, 0.5)
    """
    if _fits(text) is None:
        raise ValueError(not_a_number(text))
    value = float(text)
    if value in (_INFINITY, -_INFINITY):
        raise ValueError(f"{shown(text)} is too large for a double; use a finite number")
    return value


def not_a_number(text: bytes | str) -> str:
    """Return the message for a text that is not a number."""
    return f"{shown(text)} is not a number; write it like 0.5, -2 or 1e-3"
