"""Parquet files, row group by row group."""

from __future__ import annotations

from ndcg_tracker.ingest.columns import IDS, Columns, Wanted
from ndcg_tracker.ingest.places import Places, RowPlaces
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.table import Rows

_BATCH = 1 << 18  # rows
_MOST_ROWS_PER_BYTE = 1000  # run-length encoding can promise any number of rows in a few bytes
_SURELY_FINE = 100_000_000  # rows


def exact_rows(source: Source, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of a Parquet file, counted from 1.

    Raises: InputError for a file that is broken or lacks a column, and naming the row for a NaN or infinite number.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ndcg_tracker.ingest.arrow_columns import Collected
    from ndcg_tracker.ingest.arrow_values import id_array, number_array

    places = RowPlaces(source.name)
    collected = Collected(places)
    input_ = source.file_path() or pa.BufferReader(source.content())
    try:
        with pq.ParquetFile(input_, page_checksum_verification=True) as file:
            _refuse_bomb(file.metadata.num_rows, source)
            found = columns.positions(file.schema_arrow.names, wanted, source.error)
            names = {role: columns.name_of(role) for role in found}
            for batch in file.iter_batches(_BATCH, columns=list(names.values())):
                arrays = {}
                for role, name in names.items():
                    array = batch.column(batch.schema.get_field_index(name))
                    if role in IDS:
                        arrays[role] = id_array(array, name, places, collected.n_rows)
                    else:
                        arrays[role] = number_array(array, name, role, places)
                collected.add(arrays)
                source.report(source.size * collected.n_rows // file.metadata.num_rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"no readable Parquet file ({reason}); write it again") from None
    return collected.rows(), places


def _refuse_bomb(n_rows: int, source: Source) -> None:
    if n_rows > max(_SURELY_FINE, _MOST_ROWS_PER_BYTE * source.size):
        raise source.error(f"promises {n_rows} rows in {source.size} bytes; write it again if it is right")
