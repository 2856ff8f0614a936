"""JSON lines: one object per row, or per group with lists of its items; a key that is absent or null is null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ndcg_tracker.ingest.columns import IDS, NUMBERS, Columns, Wanted
from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.group_blocks import fast_table_rows
from ndcg_tracker.ingest.json_record import json_id, json_kind, json_number, json_record
from ndcg_tracker.ingest.list_columns import list_rows
from ndcg_tracker.ingest.places import DoubtfulError, LinePlaces, NoPlaces, RecordPlaces
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.sources import BLOCK, Source
from ndcg_tracker.ingest.text_blocks import Lines, TextBlock


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
    columns.positions(table.columns, wanted, NoPlaces().whole)
    return rows


class JsonTable:
    """The rows of a JSON lines file block by block (see ``TextTable``).

    Which columns there are is known when all is read. Until then a column that no row had is absent, and where it
    turns up later, the rows before it lack it.
    """

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._columns = columns
        self._wanted = wanted
        self._names = {role: columns.name_of(role) for role in wanted.roles}
        self._number_roles = [role for role in NUMBERS if role in self._names]
        self._seen: dict[str, None] = {}
        self._lacking: dict[str, int] = {}

    def exact(self, block: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows of a block, read line by line."""
        gathered = GatheredRows(self._number_roles)
        for line_number, line in block.lines():
            if not line.strip(b" \t"):
                continue
            try:
                self._add(gathered, line_number, json_record(line))
            except ValueError as error:
                raise block.error(str(error), line_number) from None
        rows, places = gathered.rows(block.name, without=self._unseen())
        if len(gathered):
            if self._names["group"] not in self._seen and not block.is_last:
                self.finish(block)  # no group, so no place to cut: the end is too far away
            late = self._late_column(places.line_of(0))
            if late is not None:
                what = f"the {late}{' id' if late in IDS else ''} is empty; every row needs one"
                raise block.error(what, self._lacking[late])
        return rows, places

    def of_records(self, source: Lines, records: Sequence[object]) -> tuple[Rows, RecordPlaces]:
        """Return the rows of an array of records. Raises: ValueError naming the record, InputError (see ``finish``)."""
        gathered = GatheredRows(self._number_roles)
        for place, record in enumerate(records, 1):
            try:
                if not isinstance(record, dict):
                    raise ValueError(f"a JSON {json_kind(record)}; write one object per row")
                self._add(gathered, place, record)
            except ValueError as error:
                raise ValueError(f"record {place}: {error}") from None
        if records:
            self.finish(source)
        rows, places = gathered.rows(source.name, without=self._unseen())
        return rows, RecordPlaces(source.name, places)

    def _add(self, gathered: GatheredRows, line: int, record: dict[str, Any]) -> None:
        """Add the row of a record, or its rows: one per element of its lists."""
        names, seen = self._names, self._seen
        if not record.keys() <= seen.keys():
            seen.update(dict.fromkeys(record))
        group = json_id(record.get(names["group"]), "group")
        item = record.get(names["item"])
        values = [record.get(names[role]) for role in self._number_roles]
        if list not in map(type, (item, *values)):
            numbers = [json_number(value, role) for value, role in zip(values, self._number_roles, strict=True)]
            gathered.add(line, group, json_id(item, "item"), numbers)
            return
        of_roles = dict(zip(("item", *self._number_roles), (item, *values), strict=True))
        for item, *values in list_rows(of_roles, names, group):
            numbers = [json_number(value, role) for value, role in zip(values, self._number_roles, strict=True)]
            gathered.add(line, group, json_id(item, "item"), numbers)

    def _unseen(self) -> set[str]:
        return {role for role, name in self._names.items() if name not in self._seen}

    def fast(self, block: TextBlock) -> Rows:
        """Return the rows of a block, read by Arrow's parser."""
        return Rows.joined([self._piece_rows(text, block.first_line) for text in block.pieces(BLOCK)])

    def _piece_rows(self, text: bytes, first_line: int) -> Rows:
        from ndcg_tracker.ingest.arrow_json import json_rows

        try:
            first_record = json_record(text.partition(b"\n")[0])
        except ValueError:
            raise DoubtfulError("the first line is no plain JSON object") from None
        rows, seen = json_rows(text, self._names, first_record, self._seen)
        self._seen.update(dict.fromkeys(seen))
        if self._late_column(first_line) is not None:
            raise DoubtfulError("a column that earlier rows lack")
        return rows

    def n_rows_of(self, line: bytes) -> int:
        """Return how many rows a line holds: more than one, or none, where it has lists."""
        if not line.strip(b"\r\n"):
            return 0
        if b"[" not in line:
            return 1
        record = json_record(line)
        found = [record.get(name) for name in self._names.values()]
        return next((len(value) for value in found if isinstance(value, list)), 1)

    def finish(self, source: Lines, n_rows: int = 0) -> None:
        """Refuse a file in which no row has a column that is needed or was named."""
        self._columns.positions(self.columns, self._wanted, source.error)

    @property
    def columns(self) -> list[str]:
        """The columns so far."""
        return list(self._seen)

    def _late_column(self, first_line: int) -> str | None:
        """Return a role whose column is there now, but was not before; ``first_line`` has the first row now."""
        for role in ("item", "weight"):
            if role in self._names and self._names[role] not in self._seen:
                self._lacking.setdefault(role, first_line)
            elif role in self._lacking:
                return role
        return None
