"""JSON lines: one object per row; a key that is absent or null is null."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ndcg_tracker.ingest.columns import IDS, NUMBERS, Columns, Refused, Wanted
from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.group_blocks import fast_table_rows
from ndcg_tracker.ingest.json_record import json_record
from ndcg_tracker.ingest.places import DoubtfulError, LinePlaces, NoPlaces, shown
from ndcg_tracker.ingest.rows import Rows, with_ranks_as_scores
from ndcg_tracker.ingest.sources import BLOCK, Source
from ndcg_tracker.ingest.text_blocks import Lines, TextBlock

_NULL = float("nan")
_INFINITY = float("inf")


def exact_rows(source: Source, columns: Columns, wanted: Wanted) -> tuple[Rows, LinePlaces]:
    """Return the rows of a JSON lines file and their lines.

    Raises: InputError naming the line for what is no JSON object (NaN, Infinity and keys that stand twice included)
    and for a value of another type: ids are text or whole numbers, scores, labels and weights finite numbers.
    """
    table = JsonTable(columns, wanted)
    rows = table.exact(source)
    table.finish(source)
    return rows


def fast_rows(source: Source, columns: Columns, wanted: Wanted, block_size: int = BLOCK) -> Rows:
    """Return the same rows as ``exact_rows``, read by Arrow's parser block by block.

    Raises: DoubtfulError for whatever the exact path has to judge, and InputError as ``source`` does.
    """
    table = JsonTable(columns, wanted)
    rows = fast_table_rows(source, table, block_size)
    table.check_columns(NoPlaces().whole)
    return rows


class JsonTable:
    """The rows of a JSON lines file block by block (see ``TextTable``).

    Which columns there are is known when all is read. Until then a column that no row had is absent, and where it
    turns up later, the rows before it lack it. What a convention calls a column is taken from the first row.
    """

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._columns = columns
        self._wanted = wanted
        self._names = {role: columns.name_of(role) for role in wanted.roles}
        if columns.by_row_number:
            del self._names["item"]
        self._number_roles = [role for role in NUMBERS if role in self._names]
        self._has_names = False
        self._seen: dict[str, None] = {}
        self._lacking: dict[str, int] = {}

    def exact(self, block: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows of a block, read line by line."""
        names, seen = self._names, self._seen
        gathered = GatheredRows(self._number_roles)
        for line_number, line in block.lines():
            if not line.strip(b" \t"):
                continue
            try:
                record = json_record(line)
                if not self._has_names:
                    self._take_names(record, partial(block.error, line=line_number))
                if not record.keys() <= seen.keys():
                    seen.update(dict.fromkeys(record))
                group = _id(record.get(names["group"]), "group")
                item = _id(record.get(names["item"]), "item") if "item" in names else None
                numbers = [_number(record.get(names[role]), role) for role in self._number_roles]
            except ValueError as error:
                raise block.error(str(error), line_number) from None
            gathered.add(line_number, group, item, numbers)
        rows, places = gathered.rows(block.name, without={role for role in names if names[role] not in seen})
        if len(gathered):
            if names["group"] not in seen and not block.is_last:
                self.finish(block)  # no group, so no place to cut: the end is too far away
            late = self._late_column(places.line_of(0))
            if late is not None:
                what = f"the {late}{' id' if late in IDS else ''} is empty; every row needs one"
                raise block.error(what, self._lacking[late])
        return self._with_scores(rows), places

    def fast(self, block: TextBlock) -> Rows:
        """Return the rows of a block, read by Arrow's parser."""
        return Rows.joined([self._piece_rows(text, block.first_line) for text in block.pieces(BLOCK)])

    def _piece_rows(self, text: bytes, first_line: int) -> Rows:
        from ndcg_tracker.ingest.arrow_json import json_rows

        try:
            first_record = json_record(text.partition(b"\n")[0])
        except ValueError:
            raise DoubtfulError("the first line is no plain JSON object") from None
        if not self._has_names:
            self._take_names(first_record, NoPlaces().whole)
        rows, seen = json_rows(text, self._names, first_record, self._seen)
        self._seen.update(dict.fromkeys(seen))
        if self._late_column(first_line) is not None:
            raise DoubtfulError("a column that earlier rows lack")
        return self._with_scores(rows)

    def is_row(self, line: bytes) -> bool:
        """Return whether a line is not blank."""
        return bool(line.strip(b"\r\n"))

    def finish(self, source: Lines, n_rows: int = 0) -> None:
        """Refuse a file in which no row has a column that is needed or was named (see ``check_columns``)."""
        self.check_columns(source.error)

    def check_columns(self, refused: Refused) -> None:
        """Raise what ``refused`` makes of an absent column, and of one whose name the first row does not tell."""
        for role, name in self._columns.names(list(self._seen), self._wanted, refused).items():
            if self._names[role] != name:
                raise refused(
                    f"the first row lacks column {shown(name)}, which has the {role}s by convention; write it in "
                    "every row, with null where there is none"
                )

    def _take_names(self, record: Mapping[str, object], refused: Refused) -> None:
        """Take the names of the columns from the first row, which may lack some of those that were given."""
        given = [name for role in self._wanted.roles if (name := self._columns.given(role)) and name not in record]
        self._names |= self._columns.likely_names([*record, *given], self._wanted, refused)
        self._has_names = True

    def _with_scores(self, rows: Rows) -> Rows:
        return with_ranks_as_scores(rows) if self._columns.are_ranks(self._names) else rows

    def _late_column(self, first_line: int) -> str | None:
        """Return a role whose column is there now, but was not before; ``first_line`` has the first row now."""
        for role in ("item", "weight"):
            if role in self._names and self._names[role] not in self._seen:
                self._lacking.setdefault(role, first_line)
            elif role in self._lacking:
                return role
        return None


def _id(value: object, role: str) -> bytes:
    if type(value) is str:
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the {role} id {shown(value)} is half a character; write ids as UTF-8") from None
    if value is None:
        return b""
    if type(value) is int:
        return b"%d" % value
    raise ValueError(f"the {role} id is a JSON {_kind(value)}; ids are text or whole numbers")


def _number(value: object, role: str) -> float:
    if value is None:
        return _NULL
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and role != "label"):
        raise ValueError(f"the {role} is a JSON {_kind(value)}; write a number, or null for none")
    try:
        number = float(value)
    except OverflowError:
        number = _INFINITY
    if number in (_INFINITY, -_INFINITY):
        raise ValueError(f"the {role} is too large for a double; use a finite number")
    return number


def _kind(value: object) -> str:
    return {str: "string", bool: "true or false", float: "fraction", list: "array", dict: "object"}.get(
        type(value), "?"
    )
