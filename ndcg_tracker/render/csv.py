"""CSV with the quoting of RFC 4180 and plain line ends, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import islice
from typing import TypeGuard

from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.terminal import visible


def are_plain(column: Sequence[object]) -> TypeGuard[Sequence[str]]:
    """Return whether a column is text that needs no change: printable ASCII without a command for a build's log.

    >>> are_plain(["q1", "a b"]), are_plain(["q\\n"]), are_plain(["q", None])
    (True, False, False)
    """
    if set(map(type, column)) != {str}:
        return False
    joined = "".join(column)  # type: ignore[arg-type]
    return joined.isascii() and joined.isprintable() and "##" not in joined


def _has_negative_zero(column: Sequence[object]) -> bool:
    """Return whether a zero is negative: it equals 0 but looks different."""
    return any(array("d", [value for value in column if value == 0]).tobytes())


_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # spreadsheets also accept the full-width signs
_FIRST_LETTERS = frozenset((*_FORMULA_SIGNS, " "))
_COMMAND_CELL = re.compile(r'^[^\S\n]*::[^,"\n]*(?=[,\n])', re.MULTILINE)
_ROWS_AT_ONCE = 1 << 16


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV with a header: full double precision, an empty cell for undefined values.

    Control characters in text are escaped. Text that a spreadsheet would take for a formula gets a ' in front; a plain
    number does not count as a formula. A first cell that the log of a build would take for a command is quoted.

    >>> print(csv_text(["group", "delta"], [["=1+1", -0.5], ["-7", None], ["::error::x", 0.5]]), end="")
    group,delta
    '=1+1,-0.5
    -7,
    "::error::x",0.5
    """
    coming = iter(rows)
    parts = iter(lambda: list(islice(coming, _ROWS_AT_ONCE)), [])
    return _csv(names, (tuple(zip(*part, strict=True)) for part in parts))


def csv_of_columns(names: Sequence[str], columns: Sequence[Sequence[object]]) -> str:
    """Return columns as CSV (see ``csv_text``).

    >>> csv_of_columns(["group", "value"], [["q", "r"], [0.5, None]])
    'group,value\\nq,0.5\\nr,\\n'
    """
    blocks = range(0, len(columns[0]), _ROWS_AT_ONCE)
    return _csv(names, ([column[first : first + _ROWS_AT_ONCE] for column in columns] for first in blocks))


def _csv(names: Sequence[str], blocks: Iterable[Sequence[Sequence[object]]]) -> str:
    """Return blocks of columns as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in names])
    for columns in blocks:
        safe = list(map(_safe_column, columns))
        rows = zip(*(cells for cells, _ in safe), strict=True)
        if len(safe) > 1 and all(is_bare for _, is_bare in safe):  # the writer checks every letter
            buffer.writelines(",".join(cells) + "\n" for cells in rows)
        else:
            writer.writerows(rows)
    text = buffer.getvalue()
    return _COMMAND_CELL.sub(r'"\g<0>"', text) if "::" in text else text


def _safe_column(column: Sequence[object]) -> tuple[Sequence[str], bool]:
    """Return ``safe_cell`` of each value of a column, and whether it is certain that none needs quotes."""
    if are_plain(column) and _FIRST_LETTERS.isdisjoint({text[:1] for text in column}):
        joined = "".join(column)
        return column, "," not in joined and '"' not in joined
    kinds, distinct = set(map(type, column)), set[object]()
    if kinds <= {float, type(None)} and not _has_negative_zero(column):  # equal values have equal texts
        distinct = set(column)
    if 0 < 2 * len(distinct) < len(column):
        text_of = {value: safe_cell(value) for value in distinct}
        return [text_of[value] for value in column], kinds == {float}
    return list(map(safe_cell, column)), kinds == {float}


def safe_cell(value: object) -> str:
    """Return the text of a value in a form that no spreadsheet runs and no terminal obeys."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return repr(float(value)) if math.isfinite(value) else ""
    text = visible(value if isinstance(value, str) else json_text(value, indent=None).rstrip("\n").strip('"'))
    is_formula = text.lstrip().startswith(_FORMULA_SIGNS) and not _NUMBER.fullmatch(text)
    return "'" + text if is_formula else text
