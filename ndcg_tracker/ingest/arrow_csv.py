"""Arrow's CSV parser for blocks of lines whose columns are known: the fast path of TREC, CSV and TSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ndcg_tracker.concurrency.workers import mapped
from ndcg_tracker.ingest.arrow import Collected
from ndcg_tracker.ingest.columns import IDS
from ndcg_tracker.ingest.numbers import rank_of
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BOM


class ArrowCsv:
    """Turns blocks of lines into rows.

    Parameters: ``delimiter``, one byte. ``n_columns``: how many each line has. ``columns``: the place of each role.
    ``quoting``: whether cells may stand in quotes and empty cells mean null. ``checked``: what makes a block fit for
    Arrow, raising DoubtfulError where it is not. It has to close the gaps between Arrow's grammar and the exact one
    (see ``blocks``): Arrow takes a carriage return for a line end, skips a BOM, and does not mind what follows a
    closing quote.
    """

    def __init__(
        self,
        delimiter: bytes,
        n_columns: int,
        columns: Mapping[str, int],
        *,
        quoting: bool,
        checked: Callable[[bytes], bytes],
    ) -> None:
        import pyarrow as pa
        import pyarrow.csv as csv

        self._checked = checked
        self._columns = {role: str(place) for role, place in columns.items()}
        types = {name: pa.string() if role in IDS else pa.float64() for role, name in self._columns.items()}
        self._rank = self._columns.get("rank")
        if self._rank is not None:
            types[self._rank] = pa.int32()
        types[self._columns["group"]] = pa.dictionary(pa.int32(), pa.string())  # most lines repeat the one before
        # no threads of Arrow's own: blocks are parsed side by side
        self._reading = csv.ReadOptions(column_names=[str(place) for place in range(n_columns)], use_threads=False)
        self._parsing = csv.ParseOptions(delimiter=delimiter.decode(), quote_char='"' if quoting else False)
        self._converting = self._conversion(types, quoting=quoting)
        self._as_it_stands = self._rank and self._conversion({**types, self._rank: pa.string()}, quoting=quoting)

    def rows(self, blocks: Iterable[bytes]) -> Rows:
        """Return the rows of blocks of lines.

        Raises: DoubtfulError for lines of another number of columns and for what is not a finite number.
        """
        collected = Collected(NoPlaces())
        for table in mapped(self._table, blocks):
            for batch in () if table is None else table.to_batches():
                collected.add({role: batch.column(name) for role, name in self._columns.items()})
        return collected.rows()

    def _table(self, block: bytes) -> Any:
        """Return the Arrow table of a block, None if it has no rows."""
        import pyarrow as pa
        import pyarrow.csv as csv

        text = self._checked(block)
        if text[:1] in (b"", b"\n") and not text.strip(b"\n"):
            return None
        if text.startswith(BOM):
            raise DoubtfulError("a BOM inside the file")
        try:
            return csv.read_csv(pa.BufferReader(text), self._reading, self._parsing, self._converting)
        except pa.ArrowInvalid as error:
            if self._rank is None:
                raise DoubtfulError(str(error)) from None
        try:  # perhaps it is a rank that is not a number, which is no error
            table = csv.read_csv(pa.BufferReader(text), self._reading, self._parsing, self._as_it_stands)
        except pa.ArrowInvalid as error:
            raise DoubtfulError(str(error)) from None
        ranks = pa.array([rank_of(text.encode()) for text in table.column(self._rank).to_pylist()], type=pa.int32())
        return table.set_column(table.column_names.index(self._rank), self._rank, ranks)

    def _conversion(self, types: Mapping[str, Any], *, quoting: bool) -> Any:
        import pyarrow.csv as csv

        return csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""] if quoting else [],
            strings_can_be_null=False,
            check_utf8=False,
        )
