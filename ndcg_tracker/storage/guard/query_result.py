"""The result of a user's query: column names and rows, the same on both engines."""

from __future__ import annotations

import datetime
import difflib
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from sys import getsizeof
from typing import Literal

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.views import VIEWS

PLAN = "plan"
"""The column of a plan: each row is a line of the engine's own text."""
MAX_RESULT_BYTES = 1 << 30
"""How much of this program's memory the rows of a result may take; a larger result is refused."""

_NORMAL = frozenset({type(None), int, float, str})
_FIRST_WORD = re.compile(r"(?:[\s(;\ufeff]|--[^\n]*|/\*.*?(?:\*/|\Z))*+([^\W\d_]*)(\S*)", re.DOTALL)


@dataclass(frozen=True)
class QueryResult:
    """The result of one query.

    ``columns``: their names in the query's order; a name may occur twice. ``rows``: one tuple per row, of None, int,
    float and str only (see ``normal_value``). ``truncated``: whether there were more rows than requested.
    """

    columns: list[str]
    rows: list[tuple[object, ...]]
    truncated: bool = False


class ResultBuilder:
    """Collects up to ``max_rows`` rows (None: all), normalises each value and enforces the limits."""

    def __init__(self, max_rows: int | None) -> None:
        self._max_rows = max_rows
        self._rows: list[tuple[object, ...]] = []
        self._n_bytes = 0
        self._truncated = False

    def wanted(self, chunk: int) -> int:
        """Return how many rows to fetch next: one more than the limit, to notice a cut; 0 at the end."""
        if self._truncated:
            return 0
        return chunk if self._max_rows is None else min(chunk, self._max_rows + 1 - len(self._rows))

    def add(self, row: tuple[object, ...]) -> None:
        """Add a row; InputError if the result outgrows MAX_RESULT_BYTES."""
        if self._max_rows is not None and len(self._rows) >= self._max_rows:
            self._truncated = True
            return
        values = row if _NORMAL.issuperset(map(type, row)) else tuple(map(normal_value, row))
        self._n_bytes += getsizeof(values) + sum(map(getsizeof, values))
        if self._n_bytes > MAX_RESULT_BYTES:
            what = f"the result outgrows {MAX_RESULT_BYTES >> 20} MiB"
            raise InputError(what, where="sql", advice="narrow the query with WHERE or LIMIT")
        self._rows.append(values)

    def result(self, columns: list[str]) -> QueryResult:
        """Return the collected result."""
        return QueryResult(columns, self._rows, self._truncated)


def normal_value(value: object) -> object:
    """Return a database value as None, int, float or str, the same for both engines.

    A truth value is 1 or 0; a Postgres `numeric` is an int if it has no decimal places (the sum of a
    bigint column), else a float; bytes are hexadecimal text; a JSON object is JSON text with sorted keys; an
    array is compact JSON text; a time with a zone is ISO 8601 in UTC, as the columns ``created_at_utc`` have it; dates,
    other times and everything else are their text.

    >>> [normal_value(value) for value in (True, b"\\x00\\xff", ["a", 1.5], {"b": 1, "a": None})]
    [1, '00ff', '["a",1.5]', '{"a": null, "b": 1}']
    """
    if type(value) in _NORMAL:
        return value
    match value:
        case bool():
            return int(value)
        case Decimal():
            exponent = value.as_tuple().exponent
            return int(value) if exponent == 0 else float(value)
        case bytes() | bytearray() | memoryview():
            return bytes(value).hex()
        case dict():
            return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
        case list():
            return json.dumps(_array_element(value), ensure_ascii=False, separators=(",", ":"))
        case datetime.datetime() if value.tzinfo is not None:
            utc = value.astimezone(datetime.UTC).replace(tzinfo=None)
            return f"{utc.isoformat(timespec='microseconds')}Z"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)


def _array_element(element: object) -> object:
    if isinstance(element, list):
        return [_array_element(inner) for inner in element]
    return normal_value(element)


def checked_text(query: str) -> str:
    """Return the query if it may be a reading query.

    This gives early and equal messages on both engines; the guards do not depend on it. Raises: InputError for a query
    that is empty, contains a character that no database accepts, or does not begin with SELECT, WITH, VALUES or TABLE.
    """
    if "\0" in query:
        raise InputError("the query holds a NUL character", where="sql", advice="remove it")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the query is not valid Unicode at character {error.start + 1}", where="sql") from error
    word, rest = _FIRST_WORD.match(query).groups()  # type: ignore[union-attr]  # it matches everything
    if not word + rest:
        advice = "try 'SELECT run, metric, mean FROM run_summary WHERE is_newest_labels'"
        raise InputError("the query is empty", where="sql", advice=advice)
    if word.lower() not in ("select", "with", "values", "table"):
        raise only_reads(f"it takes one SELECT, not {(word or rest)[:40]!r}")
    return query


def only_reads(detail: str) -> InputError:
    """Return the error for a query that would do more than read."""
    return InputError(f"sql only reads: {detail}")


def took_too_long(timeout_seconds: float) -> InputError:
    """Return the error for a query that was stopped."""
    advice = "narrow the query with WHERE or LIMIT, or allow it more time"
    return InputError(f"stopped after {timeout_seconds:g} s", where="sql", advice=advice)


def failed_on_rows(kind: str) -> InputError:
    """Return the error for a query that fails on values of rows, by its kind alone."""
    return InputError(kind, where="sql", advice="errors show no values of rows: select them to see which one it is")


def query_error(message: str, query: str = "", *, unknown: Literal["view", "column"] | None = None) -> InputError:
    """Return the database's own message as one printable line, with the existing names if a name is unknown."""
    text = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in " ".join(message.split())
    )
    named = [view for view in VIEWS if unknown == "column" and re.search(rf"\b{view}\b", query)]
    if unknown == "view":
        words = re.findall(r"\w+", text)
        near = [view for word in words for view in difflib.get_close_matches(word, list(VIEWS), n=1, cutoff=0.8)]
        if near:
            return InputError(text, where="sql", advice=f"did you mean {near[0]}?")
    if unknown is None and 'near "group"' in text:
        return InputError(text, where="sql", advice="the column of the group is group_key")
    columns = "; ".join(f"{view} has {', '.join(VIEWS[view])}" for view in named)
    return InputError(text, where="sql", advice=columns or (f"the views are {', '.join(VIEWS)}" if unknown else ""))
