"""CSV with the quoting of RFC 4180 and plain line ends, which a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from ndcg_tracker.reporting.json import json_text
from ndcg_tracker.reporting.terminal import visible

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_FORMULA_SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # a spreadsheet takes the full-width ones too


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV with a header: full double precision, nothing for what is undefined.

    Text is written with control characters escaped, and with a ' in front where a spreadsheet would take it for a
    formula; a text that is a plain number is none.

    >>> csv_text(["group", "delta"], [["=1+1", -0.5], ["-7", None]])
    "group,delta\\n'=1+1,-0.5\\n-7,\\n"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in names])
    writer.writerows([safe_cell(value) for value in row] for row in rows)
    return buffer.getvalue()


def safe_cell(value: object) -> str:
    """Return what one value is written as, which no spreadsheet runs and no terminal obeys."""
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
