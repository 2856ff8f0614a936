"""JSON lines: one object per row, or per group with lists of its items; a key that is absent or null is null."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import LinePlaces, WrongValueError
from ndcg_tracker.ingest.columns import FOUND_IN, IDS, LABEL_TABLE, Columns, Refused, Wanted
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.plain import gathered, json_integer, json_of, keys_once, kind_of, unfolded, warn_of_fractions
from ndcg_tracker.ingest.rows import COLUMN_OF, Rows, in_asked_order
from ndcg_tracker.ingest.source import Lines
from ndcg_tracker.words.texts import in_a_row, shown

_DEEPEST = 3  # objects in objects
_AT_ONCE = 1000  # lines


class JsonLines(LineFormat):
    """A JSON lines file (see ``LineFormat``).

    The set of columns is only known at the end. Until then a column that no row had is absent; if it appears later, the
    rows before it lack it. The first row decides which names of a convention apply.
    """

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._columns = columns
        self._wanted = wanted
        self._names = {role: columns.name_of(role) for role in wanted.roles}
        if columns.by_row_number:
            del self._names["item"]
        self._has_names = False
        self._seen: dict[str, None] = {}
        self._lists: list[str] = []
        self._lacking: dict[str, int] = {}
        self._fractions: set[str] = set()

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows and their lines.

        Ids are text or whole numbers; scores, labels and weights are finite numbers. Raises: InputError naming the line
        for anything but a JSON object, for NaN, Infinity and duplicate keys, and for a value of a wrong type.
        """
        rows, places = self._gathered(json_lines(lines), lines)
        if rows.n_rows:
            if self._names["group"] not in self._seen and not lines.is_last:
                self.finish(0, lines.error)  # without a group no block can be cut, so do not wait for the end
            late = self._late_column(places.lines[0])
            if late is not None:
                what = f"the {late}{' id' if late in IDS else ''} is empty; every row needs one"
                raise lines.error(what, self._lacking[late])
        return rows, places

    def of_records(self, source: Lines, records: Sequence[object], lines: Sequence[int]) -> tuple[Rows, LinePlaces]:
        """Return the rows of an array of records, perhaps with known lines (InputError: see ``finish``, ``exact``)."""
        unit = "line" if lines else "record"

        def objects() -> Iterator[tuple[int, dict[str, Any]]]:
            for place, record in zip(lines or count(1), records, strict=False):
                if not isinstance(record, dict):
                    what = f"this is {kind_of(record)}"
                    where = LinePlaces(source.name, [place], unit=unit).place(0)
                    raise InputError(what, where=where, advice="write one object per row")
                yield place, record

        table = self._gathered(objects(), source, unit)
        if records:
            self.finish(0, source.error)
        return table

    def _gathered(
        self, records: Iterator[tuple[int, dict[str, Any]]], lines: Lines, unit: str = "line"
    ) -> tuple[Rows, LinePlaces]:
        mark = ":" if unit == "line" else f": {unit} "
        first = next(records, None)
        if first is not None and not self._has_names:
            self._take_names(first[1], partial(InputError, where=f"{lines.name}{mark}{first[0]}"))
        names: dict[str, Any] = {**self._names, "rank": self._names.get("rank")}
        seen = self._seen
        keys = [*names.values()]

        def cells() -> Iterator[tuple[int, list[object]]]:
            for line, record in records if first is None else chain([first], records):
                if not record.keys() <= seen.keys():
                    seen.update(dict.fromkeys(record))
                yield line, [record.get(key) for key in keys]

        rows, places = gathered(
            unfolded(cells(), names, lambda line: f"{lines.name}{mark}{line}"),
            [*names],
            lines.name,
            unit=unit,
            fractions=self._fractions,
        )
        absent: dict[str, Any] = {column: None for role, column in COLUMN_OF.items() if names.get(role) not in seen}
        return in_asked_order(replace(rows, **absent), self._columns, self._names), places

    def finish(self, n_rows: int, refused: Refused) -> None:
        """Raise the error of ``refused`` for an absent column, and for one whose name the first row does not show."""
        warn_of_fractions(self._fractions)
        self._refuse_lists(refused)
        for role, name in self._columns.names(list(self._seen), self._wanted, refused).items():
            if self._names.get(role, name) != name:
                raise refused(
                    f"the first row lacks column {shown(name)}, which has the {role}s by convention",
                    advice="write it in every row, with null where there is none",
                )

    def _refuse_lists(self, refused: Refused) -> None:
        """Raise the error of ``refused`` for rows without an item that hold a list, which may be the results."""
        there = {role for role, name in self._names.items() if name in self._seen}
        is_needed = "item" in self._wanted.required or "score" not in there
        if self._wanted is LABEL_TABLE and FOUND_IN & {path.partition(".")[0] for path in self._lists}:
            return  # the column names show that these are not labels
        if self._lists and is_needed and "item" in self._names and "item" not in there:
            raise unnamed_lists(self._names["item"], self._lists, refused)

    def _take_names(self, record: Mapping[str, object], refused: Refused) -> None:
        """Take the names of the columns from the first row, which may lack some of those that were given."""
        given = self._columns.asked_beside(record, self._wanted)
        self._names |= self._columns.likely_names([*record, *given], self._wanted, refused)
        self._has_names = True
        self._lists = paths_of_lists(record)

    def _late_column(self, first_line: int) -> str | None:
        """Return a role whose column is there now but was not before; ``first_line``: the line of the first row now."""
        for role in ("item", "weight"):
            if role in self._names and self._names[role] not in self._seen:
                self._lacking.setdefault(role, first_line)
            elif role in self._lacking:
                return role
        return None


def unnamed_lists(item: str, paths: Sequence[str], refused: Refused) -> Exception:
    """Return the error of ``refused`` for records without an item that have lists, which may be the results."""
    what = f"no column {shown(item)}, but a list under {in_a_row(list(map(shown, paths)))}"
    return refused(what, advice=f"if these are the results, name them with {argument('items', paths[0])}")


def paths_of_lists(record: Mapping[str, object], before: str = "") -> list[str]:
    """Return the paths of lists in a record, those of objects first.

    >>> paths_of_lists({"q": 1, "ids": ["a"], "answer": {"hits": [{"id": "a"}]}, "vector": [0.5]})
    ['answer.hits', 'ids']
    """
    objects, ids = list[str](), list[str]()
    for key, value in record.items():
        if isinstance(value, dict) and before.count(".") < _DEEPEST:
            objects += paths_of_lists(value, f"{before}{key}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict | str):
            (objects if isinstance(value[0], dict) else ids).append(f"{before}{key}")
    return [*objects, *ids]


def json_lines(source: Lines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not blank.

    Lines are read together, if that shows no key twice and an object in each. Raises: InputError naming the line for
    anything but a JSON object, for NaN and Infinity, and for a key that is there twice.
    """
    waiting: list[tuple[int, bytes]] = []
    failed: InputError | None = None
    lines = source.lines()
    while True:
        try:
            line = next(lines, None)
        except InputError as error:
            line, failed = None, error
        if line is not None and line[1].strip(b" \t"):
            waiting.append(line)
        if line is None or len(waiting) == _AT_ONCE:
            yield from zip((number for number, _ in waiting), _objects(source, waiting), strict=True)
            waiting = []
        if failed is not None:
            raise failed
        if line is None:
            return


def _objects(source: Lines, lines: Sequence[tuple[int, bytes]]) -> Iterable[dict[str, Any]]:
    """Return the object of each line; together only if each line begins its object and no text has a colon."""
    text = b",\n".join(line for _, line in lines)
    try:
        records: list[dict[str, Any]] = _SIMPLE.decode(f"[{text.decode()}]")
    except (ValueError, RecursionError):
        records = []
    n_starts = text.startswith(b"{") + text.count(b"\n{")
    if (
        set(map(type, records)) == {dict}
        and n_starts == text.count(b"{") == len(records) == len(lines)
        and text.count(b":") == sum(map(len, records))
    ):
        return records
    return (_object_in(source, *line) for line in lines)


def _object_in(source: Lines, number: int, line: bytes) -> dict[str, Any]:
    try:
        return json_record(line)
    except WrongValueError as error:
        raise error.at(f"{source.name}:{number}") from None


def json_record(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line of UTF-8.

    Raises: WrongValueError for anything else, including NaN, Infinity and duplicate keys.

    >>> json_record(b'{"group": "007", "weight": 2}')
    {'group': '007', 'weight': 2}
    """
    record: Any = json_of(line, _DECODER, "write one object per line")
    if not isinstance(record, dict):
        raise WrongValueError("not a JSON object", advice="write one {...} per line")
    return record


def _refused_constant(text: str) -> float:
    if text == "-Infinity":
        return float(text)
    raise WrongValueError(f"{text} is not a JSON number", advice="use a finite number, or null for none")


_SIMPLE = json.JSONDecoder(parse_int=json_integer, parse_constant=_refused_constant)
_DECODER = json.JSONDecoder(object_pairs_hook=keys_once, parse_int=json_integer, parse_constant=_refused_constant)
