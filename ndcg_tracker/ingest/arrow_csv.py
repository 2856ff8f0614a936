"""Arrow's CSV parser for blocks of lines whose columns are known: the fast path of TREC, CSV and TSV."""

from __future__ import annotations

from collections.abc import Mapping

from ndcg_tracker.ingest.arrow_columns import Collected
from ndcg_tracker.ingest.columns import IDS
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces
from ndcg_tracker.ingest.sources import BOM
from ndcg_tracker.ingest.table import Rows


class ArrowCsv:
    """Collects the rows of a file block by block.

    Parameters: ``delimiter``, one byte. ``n_columns``: how many each line has. ``columns``: the place of each role.
    ``quoting``: whether cells may stand in quotes and empty cells mean null. The blocks must have gone through the
    checks of ``blocks``, which close the gaps between Arrow's grammar and the exact one: Arrow takes a carriage
    return for a line end, skips a BOM, and does not mind what follows a closing quote.
    """

    def __init__(self, delimiter: bytes, n_columns: int, columns: Mapping[str, int], *, quoting: bool) -> None:
        import pyarrow as pa
        import pyarrow.csv as csv

        self._columns = {role: str(place) for role, place in columns.items()}
        types = {name: pa.string() if role in IDS else pa.float64() for role, name in self._columns.items()}
        self._reading = csv.ReadOptions(column_names=[str(place) for place in range(n_columns)])
        self._parsing = csv.ParseOptions(delimiter=delimiter.decode(), quote_char='"' if quoting else False)
        self._converting = csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""] if quoting else [],
            strings_can_be_null=False,
            check_utf8=False,
        )
        self._collected = Collected(NoPlaces())

    def add(self, text: bytes) -> None:
        """Add the rows of a block of lines.

        Raises: DoubtfulError for lines of another number of columns and for what is no finite number.
        """
        import pyarrow as pa
        import pyarrow.csv as csv

        if not text.strip(b"\n"):
            return
        if text.startswith(BOM):
            raise DoubtfulError("a BOM inside the file")
        try:
            table = csv.read_csv(pa.BufferReader(text), self._reading, self._parsing, self._converting)
        except pa.ArrowInvalid as error:
            raise DoubtfulError(str(error)) from None
        for batch in table.to_batches():
            self._collected.add({role: batch.column(name) for role, name in self._columns.items()})

    def rows(self) -> Rows:
        """Return the table."""
        return self._collected.rows()
