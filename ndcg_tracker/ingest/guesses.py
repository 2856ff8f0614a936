"""What the columns of files may mean that have no known name: guesses for a command, which nobody takes unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from ndcg_tracker.errors import ColumnsError, InputError, argument
from ndcg_tracker.ingest.ambiguous import are_times
from ndcg_tracker.ingest.columns import (
    EACH_ROW,
    EXCHANGED,
    IDS,
    LABEL_TABLE,
    RANK_NAMES,
    RUN_APART,
    RUN_TABLE,
    Columns,
    Wanted,
    often_called,
)
from ndcg_tracker.ingest.records import opened_records
from ndcg_tracker.words.texts import in_a_row, shown, shown_name

_MOST_ROWS = 1000
_HIGHEST_GRADE = 20
_ROLES = ("group", "item", "score", "label")
UNKNOWN = "COLUMN"
"""Stands for a column of which there is no guess."""


@dataclass(frozen=True)
class Given:
    """A path, the names of its columns that a caller gave, and its reader, None if its content decides."""

    path: str
    columns: Columns
    reader: str | None = None


@dataclass
class _Table:
    """The columns of a file with a known role, those roles that are absent, and a guess for each, if there is one."""

    name: str
    header: Sequence[str]
    known: Mapping[str, str]
    absent: list[str]
    guessed: dict[str, str] = field(default_factory=dict)

    def of(self, role: str) -> str:
        return self.known.get(role) or self.guessed.get(role) or UNKNOWN

    def __str__(self) -> str:
        plural = "s" if len(self.absent) > 1 else ""
        has = ", ".join(map(shown, self.header[:20])) + (" and more" if len(self.header) > 20 else "")
        return f"{self.name} has no column{plural} {in_a_row(list(map(shown, self.absent)))} (it has {has})"


@contextmanager
def all_columns(run: Given | None, labels: Given | None) -> Iterator[None]:
    """Let the error for a column without a known name tell of all such columns, with guesses (ColumnsError)."""
    try:
        yield
    except ColumnsError as error:
        if error.guesses or EXCHANGED in error.advice or "columns" in error.arguments:
            raise
        wanted = RUN_TABLE if labels is None else RUN_APART
        of_run = None if run is None else _table(run, wanted)
        of_labels = None if labels is None else _table(labels, LABEL_TABLE)
        tables = [table for table in (of_run, of_labels) if table is not None and table.absent]
        if not any(table.guessed for table in tables):
            raise
        roles = [role for role in _ROLES if any(role in (*of.absent, *of.guessed) for of in tables)]
        guesses = {role: _both(role, of_run, of_labels) for role in roles}
        told = list(map(str, tables))
        if of_labels is not None and of_labels.absent == ["label"]:
            told.append(f"if each row of {of_labels.name} is a relevant item, give {argument('label', EACH_ROW)}")
        raise ColumnsError("; ".join(told)).with_guesses(guesses) from None


def _both(role: str, of_run: _Table | None, of_labels: _Table | None) -> str:
    """Return the column of a role: its name in the run and in the labels, if these differ."""
    has_role = [
        of for of in (of_run, of_labels) if of is not None and (role in IDS or role in (*of.absent, *of.guessed))
    ]
    return ",".join(dict.fromkeys(of.of(role) for of in has_role))


def _table(given: Given, wanted: Wanted) -> _Table | None:
    """Return the columns of a file and what they may be, None if it has none or holds lists."""
    try:
        with opened_records(given.path, "columns", reader=given.reader, header=given.columns.header) as records:
            header = list(records.header)
            asked = {role: given.columns.asked(role, header, wanted) for role in wanted.roles}
            wrong = {role: None for role, name in asked.items() if name and name not in header and name != EACH_ROW}
            columns = replace(given.columns, **wrong, found={})  # type: ignore[arg-type]
            known = columns.likely_names(header, wanted, InputError)
            rows = list(islice(records.rows(range(len(header))), _MOST_ROWS))
    except InputError:
        return None
    if any(isinstance(cell, list | dict) for row in rows for cell in row) or any(_numbers([name]) for name in header):
        return None  # lists, or a file without a header
    is_told = columns.each_is_relevant(header, wanted) or columns.are_relevant(known, header, wanted)
    sought = [role for role in _ROLES if role in wanted.required or role == "item"]
    absent = [role for role in sought if role not in known and not (role == "label" and is_told)]
    table = _Table(shown_name(given.path), header, known, absent)
    cells = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    left = {name: cells.get(name, ()) for name in header if name not in known.values()}
    further = ["label"] if wanted is RUN_TABLE and "label" not in known else []
    for role in (role for role in ("score", "label") if role in (*absent, *further)):
        name = _number_column(role, left)
        if name is not None:
            table.guessed[role] = f"-{name}" if role == "score" and name in RANK_NAMES else name
            del left[name]
    table.guessed.update(_id_columns([role for role in IDS if role in absent], left))
    return table


def _number_column(role: str, columns: Mapping[str, Sequence[object]]) -> str | None:
    """Return the column of scores or labels, None if it is not clear: it has the name, or is the only one of its kind.

    >>> columns = {"who": ["u1", "u2"], "out": ["0.5", "0.25"], "stars": ["1", "0"]}
    >>> _number_column("score", columns), _number_column("label", columns)
    ('out', 'stars')
    """
    numbers = {name: of for name, cells in columns.items() if (of := _numbers(cells)) and not are_times(of)}
    small = [name for name, of in numbers.items() if _are_whole(of) and max(map(abs, of)) <= _HIGHEST_GRADE]
    large = [name for name in numbers if name not in small]
    ranks = [name for name in numbers if name in RANK_NAMES]
    parts = [name for name in large if not _are_whole(numbers[name])]
    kinds: list[list[str]] = [ranks, parts, large] if role == "score" else [small]
    for names in [often_called(role, numbers), *kinds, list(numbers)]:
        if len(names) == 1:
            return names[0]
    return None


def _are_whole(numbers: Sequence[float]) -> bool:
    return all(number.is_integer() for number in numbers)


def _numbers(cells: Sequence[object]) -> list[float]:
    """Return the numbers of a column, none if one of its cells is another."""
    try:
        return [float(cell) for cell in cells if cell not in (None, "")]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []


def _id_columns(roles: Sequence[str], columns: Mapping[str, Sequence[object]]) -> dict[str, str]:
    """Return the columns of ids, texts if there are enough: items have the most values, groups come first.

    >>> _id_columns(["group", "item"], {"who": ["u1", "u1", "u2"], "what": ["a", "b", "a"], "split": ["x", "x", "x"]})
    {'group': 'who', 'item': 'what'}
    """
    left = [name for name, cells in columns.items() if not _numbers(cells)]
    if len(left) < len(roles):
        left = [name for name, cells in columns.items() if _are_whole(_numbers(cells))]
    found = {role: names[0] for role in roles if len(names := often_called(role, left)) == 1}
    left = [name for name in left if name not in found.values()]
    if "item" in roles and "item" not in found and len(left) > ("group" in roles and "group" not in found):
        found["item"] = max(reversed(left), key=lambda name: len({*columns[name]}))
        left.remove(found["item"])
    if "group" in roles and "group" not in found and left:
        found["group"] = left[0]
    return {role: found[role] for role in roles if role in found}
