"""What one cell of a table of groups says: a group id, a weight, or an attribute."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite, isnan, nan

import numpy as np

from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import shown
from ndcg_tracker.ingest.table import LONGEST_ID, TOO_HEAVY
from ndcg_tracker.rankings.weights import MAX_WEIGHT

Attribute = str | int | float

_KINDS = {bool: "true or false", float: "a fraction", str: "text", list: "an array", dict: "an object"}


def group_id(value: object) -> str:
    """Return the group id that a cell holds; whole numbers become their decimal text.

    Raises: ValueError, its message without a place, for an id that is empty, too long, or none.

    >>> group_id("007"), group_id(7)
    ('007', '7')
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"byte 0x{value[error.start]:02x} is not UTF-8; write ids as UTF-8") from None
    if type(value) is int:
        value = str(value)
    if value is None or value == "":
        raise ValueError("the group id is empty; every row needs one")
    if not isinstance(value, str):
        raise ValueError(f"the group id is {_kind(value)}; ids are text or whole numbers")
    n_bytes = len(checked_text(value, "the group id"))
    if n_bytes > LONGEST_ID:
        raise ValueError(f"the group id has {n_bytes} bytes; shorten it to {LONGEST_ID} or fewer")
    return value


def text_weight(cell: str) -> float:
    """Return the weight that a cell of a text file holds, NaN for an empty one (ValueError: see ``group_weight``).

    >>> text_weight(" 2.5 "), text_weight("")
    (2.5, nan)
    """
    stripped = cell.strip(" \t")
    if not stripped:
        return nan
    try:
        weight = number(stripped.encode())
    except ValueError as error:
        raise ValueError(f"weight {error}") from None
    return group_weight(weight)


def group_weight(value: object) -> float:
    """Return the weight that a value is, NaN for None.

    Raises: ValueError, its message without a place, for what is no number from 0 to ``MAX_WEIGHT``.

    >>> group_weight(3), group_weight(None)
    (3.0, nan)
    """
    if value is None:
        return nan
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"the weight is {_kind(value)}; write a number, or null for none")
    try:
        weight = float(value)
    except OverflowError:
        raise ValueError("the weight is too large for a double; use a finite number") from None
    if not isfinite(weight):
        raise ValueError(f"the weight is {weight}; use a finite number, or null for none")
    if weight < 0:
        raise ValueError("the weight is negative; weights are 0 or more")
    if weight > MAX_WEIGHT:
        raise ValueError(TOO_HEAVY)
    return abs(weight)  # no -0.0


def attribute(value: object, name: str) -> Attribute | None:
    """Return the text or number that an attribute has for a group, None for an empty one.

    True and false become the texts ``true`` and ``false``. Raises: ValueError, its message without a place, for what
    is neither text nor a finite number.

    >>> attribute("de", "country"), attribute("", "country"), attribute(True, "is_mobile"), attribute(3, "n_words")
    ('de', None, 'true', 3)
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        checked_text(value, shown(name))
        return value
    if isinstance(value, int):
        return value
    if not isinstance(value, float | Decimal):
        raise ValueError(f"{shown(name)} is {_kind(value)}; attributes are text or numbers")
    if not isfinite(value):
        raise ValueError(f"{shown(name)} is {float(value)}; use a finite number, or null for none")
    return float(value)


def checked_text(text: str, what: str) -> bytes:
    """Return the UTF-8 bytes of a text (ValueError where a database cannot keep it)."""
    if "\0" in text:
        raise ValueError(f"{what} has a NUL byte; write the file again without it")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has half a character; write the file as UTF-8") from None


def plain(value: object, *, nan_is_null: bool) -> object:
    """Return a value of a frame as Python's own type; None for what is null there.

    >>> plain(np.int64(3), nan_is_null=True), plain(nan, nan_is_null=True)
    (3, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if nan_is_null and isinstance(value, float) and isnan(value) else value


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")
