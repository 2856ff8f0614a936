"""JSON lines: one object per row, or per group with lists of its items; a key that is absent or null is null."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ndcg_tracker.errors import argument, warn
from ndcg_tracker.ingest.arrow import Collected, has_lists, list_rows, unfolded
from ndcg_tracker.ingest.cells import YES_OR_NO, DoubtfulError, LinePlaces, NoPlaces, WrongValueError
from ndcg_tracker.ingest.columns import FOUND_IN, IDS, LABEL_TABLE, NUMBERS, Columns, ColumnWarning, Refused, Wanted
from ndcg_tracker.ingest.rows import GatheredRows, Rows, in_asked_order
from ndcg_tracker.ingest.source import BLOCK, Lines, plain_lines
from ndcg_tracker.words.texts import in_a_row, shown

_MOST_DIGITS = 400  # the largest double has 309
_NULL = float("nan")
_INFINITY = float("inf")
_SKIPS = 2.0**53  # from here on doubles skip whole numbers
_KINDS = {
    str: "string",
    bool: "true or false",
    int: "number",
    float: "fraction",
    list: "array",
    dict: "object",
}
_DEEPEST = 3  # objects in objects
_BRACE = 0x7B
_NEWLINE = 0x0A


class JsonLines:
    """A JSON lines file (see ``LineFormat``).

    Arrow's parser reads everything that is not in doubt: it takes 0.2 s for 500,000 rows, the exact reader 2.2 s
    (``benchmarks/tricks.py``).

    The set of columns is only known at the end. Until then a column that no row had is absent; if it appears later, the
    rows before it lack it. The first row decides which names of a convention apply.
    """

    small = None

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._columns = columns
        self._wanted = wanted
        self._names = {role: columns.name_of(role) for role in wanted.roles}
        if columns.by_row_number:
            del self._names["item"]
        self._number_roles = [*(role for role in NUMBERS if role in self._names), "rank"]
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
        gathered = GatheredRows(self._number_roles)
        for line_number, line in lines.lines():
            if not line.strip(b" \t"):
                continue
            try:
                self._add(gathered, line_number, json_record(line), partial(lines.error, line=line_number))
            except WrongValueError as error:
                raise error.at(f"{lines.name}:{line_number}") from None
        rows, places = gathered.rows(lines.name, without=self._unseen())
        if len(gathered):
            if self._names["group"] not in self._seen and not lines.is_last:
                self.finish(0, lines.error)  # without a group no block can be cut, so do not wait for the end
            late = self._late_column(places.line_of(0))
            if late is not None:
                what = f"the {late}{' id' if late in IDS else ''} is empty; every row needs one"
                raise lines.error(what, self._lacking[late])
        return self._with_scores(rows), places

    def of_records(self, source: Lines, records: Sequence[object]) -> tuple[Rows, LinePlaces]:
        """Return the rows of an array of records.

        Raises: WrongValueError naming the record, InputError (see ``finish``).
        """
        gathered = GatheredRows(self._number_roles)
        for place, record in enumerate(records, 1):
            try:
                if not isinstance(record, dict):
                    raise WrongValueError(f"this is a JSON {json_kind(record)}", advice="write one object per row")
                self._add(gathered, place, record, source.error)
            except WrongValueError as error:
                raise error.at(f"record {place}") from None
        if records:
            self.finish(0, source.error)
        rows, places = gathered.rows(source.name, without=self._unseen())
        return self._with_scores(rows), places.of_records()

    def _add(self, gathered: GatheredRows, line: int, record: dict[str, Any], refused: Refused) -> None:
        """Add the row of a record, or its rows: one per element of its lists."""
        if not self._has_names:
            self._take_names(record, refused)
        names, seen = self._names, self._seen
        if not record.keys() <= seen.keys():
            seen.update(dict.fromkeys(record))
        group = json_id(record.get(names["group"]), "group", self._fractions)
        roles = [*(["item"] if "item" in names else []), *self._number_roles]
        values = [record.get(names[role]) if role in names else None for role in roles]
        rows: Iterable[Sequence[object]] = [values]
        has_lists = list in map(type, values[:-1])
        if isinstance(values[-1], list) is not has_lists:
            values[-1] = None  # another column with this name
        if has_lists:
            rows = list_rows(dict(zip(roles, values, strict=True)), names, group)
        for row in rows:
            numbers = row[-len(self._number_roles) :]
            item = json_id(row[0], "item", self._fractions) if "item" in names else None
            doubles = [json_number(value, role) for value, role in zip(numbers, self._number_roles, strict=True)]
            gathered.add(line, group, item, doubles)

    def _unseen(self) -> set[str]:
        return {"rank"} - self._names.keys() | {role for role, name in self._names.items() if name not in self._seen}

    def fast(self, lines: Lines) -> Rows:
        """Return the rows, read by Arrow's parser."""
        parts = [self._piece_rows(text, lines.first_line) for text in lines.pieces(BLOCK)]
        if not parts:
            raise DoubtfulError("no lines")
        return Rows.joined(parts)

    def _piece_rows(self, text: bytes, first_line: int) -> Rows:

        try:
            first_record = json_record(text.partition(b"\n")[0])
        except ValueError:
            raise DoubtfulError("the first line is not a plain JSON object") from None
        if not self._has_names:
            self._take_names(first_record, NoPlaces().whole)
        if "label" in self._wanted.required and self._names["label"] not in first_record:
            raise DoubtfulError("rows without label")
        rows, seen = json_rows(text, self._names, first_record, self._seen)
        self._seen.update(dict.fromkeys(seen))
        if self._late_column(first_line) is not None:
            raise DoubtfulError("a column that earlier rows lack")
        return self._with_scores(rows)

    def n_rows_of(self, line: bytes) -> int:
        """Return how many rows a line holds: more than one, or none, where it has lists."""
        if not line.strip(b"\r\n"):
            return 0
        if b"[" not in line:
            return 1
        record = json_record(line)
        values = [record.get(name) for name in self._names.values()]
        return next((len(value) for value in values if isinstance(value, list)), 1)

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

    def _with_scores(self, rows: Rows) -> Rows:
        return in_asked_order(rows, self._columns, self._names)

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


def json_record(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line of UTF-8.

    Raises: WrongValueError for anything else, including NaN, Infinity and duplicate keys.

    >>> json_record(b'{"group": "007", "weight": 2}')
    {'group': '007', 'weight': 2}
    """
    try:
        record = _DECODER.decode(line.decode())
    except json.JSONDecodeError as error:
        raise WrongValueError(
            f"not valid JSON ({error.msg}, column {error.colno})", advice="write one object per line"
        ) from None
    except RecursionError:
        raise WrongValueError("JSON nested too deeply", advice="write one flat object per line") from None
    if not isinstance(record, dict):
        raise WrongValueError("not a JSON object", advice="write one {...} per line")
    return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongValueError(f"key {shown(twice)} is there twice", advice="keep one of the two")
    return record


def json_integer(text: str) -> int:
    """Return a whole number from its digits. Raises: WrongValueError for more digits than are ever needed."""
    if len(text) > _MOST_DIGITS:
        raise WrongValueError(
            f"a whole number of {len(text)} digits is too large", advice="use a smaller one, or text for an id"
        )
    return int(text)


def json_id(value: object, role: str, fractions: set[str] | None = None) -> bytes:
    """Return an id as bytes, empty for null. Raises: WrongValueError for anything but text or a whole number.

    ``fractions``: collects the role if the id is a whole number written as a fraction, as after a join in pandas.

    >>> json_id("d7", "item"), json_id(7, "item"), json_id(None, "item"), json_id(7.0, "item", set())
    (b'd7', b'7', b'', b'7')
    """
    if type(value) is str:
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise WrongValueError(
                f"the {role} id {shown(value)} has an incomplete character", advice="write ids as UTF-8"
            ) from None
    if value is None:
        return b""
    if type(value) is float and fractions is not None and value.is_integer() and abs(value) < _SKIPS:
        fractions.add(role)
        value = int(value)
    if type(value) is int:
        return b"%d" % value
    raise WrongValueError(f"the {role} id is a JSON {json_kind(value)}; ids are text or whole numbers")


def warn_of_fractions(roles: set[str]) -> None:
    """Warn of ids that were whole numbers written as fractions, and forget them."""
    for role in sorted(roles):
        what = f"the ids of the {role}s came as fractions and are all whole numbers: 7.0 is read as 7"
        warn(ColumnWarning(what, advice="write them as whole numbers or text"))
    roles.clear()


def json_number(value: object, role: str) -> float:
    """Return a finite number as a double, NaN for null (else WrongValueError); labels may be Booleans, ranks anything.

    >>> json_number(3, "score"), json_number(True, "label"), json_number(None, "score"), json_number("a", "rank")
    (3.0, 1.0, nan, nan)
    """
    if value is None or (role == "rank" and not _is_whole(value)):
        return _NULL
    if role == "label" and isinstance(value, str):
        value = YES_OR_NO.get(value.encode(errors="replace").lower(), value)
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and role != "label"):
        raise WrongValueError(f"the {role} is a JSON {json_kind(value)}", advice="write a number, or null for none")
    try:
        number = float(value)
    except OverflowError:
        number = _INFINITY
    if number != number:
        raise WrongValueError(f"the {role} is NaN", advice="use a finite number, or null for none")
    if number == -_INFINITY and role == "score":
        return _NULL
    if number in (_INFINITY, -_INFINITY):
        raise WrongValueError(f"the {role} is too large for a double", advice="use a finite number")
    return number


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def json_kind(value: object) -> str:
    """Return JSON's name for the type of a value."""
    return _KINDS.get(type(value), "null")


def _refused_constant(text: str) -> float:
    if text == "-Infinity":
        return -_INFINITY
    raise WrongValueError(f"{text} is not a JSON number", advice="use a finite number, or null for none")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=json_integer, parse_constant=_refused_constant)


def json_rows(
    block: bytes, names: Mapping[str, str], first_record: Mapping[str, object], earlier: Container[str]
) -> tuple[Rows, list[str]]:
    """Return the rows of a block of JSON lines, and the names of the columns there are.

    Parameters: ``names``, the column of each role; ``first_record``, the record in the first line; ``earlier``, the
    columns that earlier rows have. Items and weights that are neither there nor named in any line are left out. Raises:
    DoubtfulError for anything that is not certainly correct.

    By default Arrow's parser skips unknown keys without looking at their values, reads NaN and Infinity as numbers,
    and accepts two objects in one line and one object in two lines. So this function gives it all keys of the first
    line, requires finite numbers, and requires that every line begins with a brace and yields one row.
    """
    text = plain_lines(block).rstrip(b"\n")
    types = _types(names, first_record)
    table = _parsed(text, types)
    if table.num_rows != n_objects(text):
        raise DoubtfulError("not one object per line")
    for name in types.keys() - set(names.values()):
        refuse_odd_numbers(table.column(name))
    seen = list(first_record)
    seen += [name for name in names.values() if name not in seen and _is_there(text, name, table.column(name))]
    held = {
        role: name for role, name in names.items() if name in seen or name in earlier or role not in ("item", "weight")
    }
    collected = Collected(NoPlaces())
    for batch in table.to_batches():
        columns = {role: batch.column(batch.schema.get_field_index(name)) for role, name in held.items()}
        if has_lists(column.type for column in columns.values()):
            _refuse_rows_without_lists(columns)
            columns, _ = unfolded(columns, names, NoPlaces())
        for role, column in columns.items():
            if role not in IDS:
                refuse_odd_numbers(column)
        collected.add(columns)
    return collected.rows(), seen


def _types(names: Mapping[str, str], first_record: Mapping[str, object]) -> dict[str, Any]:
    """Return the Arrow type of every column."""
    import pyarrow as pa

    if len(set(names.values())) < len(names):
        raise DoubtfulError("one column of two roles")
    types: dict[str, Any] = {}
    for name, value in first_record.items():
        if isinstance(value, bool):
            types[name] = pa.bool_()
        elif isinstance(value, (int, float)):
            types[name] = pa.float64()
        elif value is None or isinstance(value, str):
            types[name] = pa.string()
        elif name not in names.values():
            raise DoubtfulError("a nested value")
    for role, name in names.items():
        kind = pa.string() if role in IDS else pa.float64()
        types[name] = pa.list_(kind) if isinstance(first_record.get(name), list) else kind
    return types


def _parsed(text: bytes, types: Mapping[str, Any]) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        schema = pa.schema(list(types.items()))
        parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
        return arrow_json.read_json(pa.BufferReader(text), parse_options=parsing)
    except (pa.ArrowException, UnicodeError) as error:
        raise DoubtfulError(str(error)) from None


def n_objects(text: bytes) -> int:
    """Return how many lines there are. Raises: DoubtfulError for one that does not begin with a brace."""
    data = np.frombuffer(text, dtype=np.uint8)
    starts = np.insert(np.flatnonzero(data == _NEWLINE) + 1, 0, 0)
    if (data[starts] != _BRACE).any():
        raise DoubtfulError("a line that does not begin with an object")
    return starts.size


def refuse_odd_numbers(column: Any) -> None:
    """Refuse NaN and infinity, which are not JSON, and -0, which as a whole number has no sign."""
    import pyarrow as pa

    if column.type != pa.float64():
        return
    for array in getattr(column, "chunks", [column]):
        values = np.frombuffer(array.buffers()[1], dtype=np.float64)[array.offset : array.offset + len(array)]
        valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else True
        if (~(np.isfinite(values) & ((values != 0) | ~np.signbit(values))) & valid).any():
            raise DoubtfulError("a number that is not a JSON number, or -0")


def _refuse_rows_without_lists(columns: Mapping[str, Any]) -> None:
    """Refuse a line without the lists that others have: it is a row, unlike a line whose lists are null."""
    listed = [column for column in columns.values() if has_lists([column.type])]
    if np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in listed]).any():
        raise DoubtfulError("a line without lists")


def _is_there(text: bytes, name: str, column: Any) -> bool:
    """Return whether some line names a column, even with null."""
    if column.null_count < len(column):
        return True
    literal = json.dumps(name, ensure_ascii=False).encode()
    if b"\\" in text or b"\\" in literal:
        raise DoubtfulError("a column without values, and escapes")
    return re.search(re.escape(literal) + rb"[ \t]*:", text) is not None
