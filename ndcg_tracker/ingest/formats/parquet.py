"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

from ndcg_tracker.ingest.arrow import has_lists
from ndcg_tracker.ingest.columns import Columns, Wanted
from ndcg_tracker.ingest.group_blocks import GroupBlock
from ndcg_tracker.ingest.places import Places, RowPlaces, shown_name
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Source

_BATCH = 1 << 18  # rows
_MOST_ROWS_PER_BYTE = 1000  # run-length encoding can promise any number of rows in a few bytes
_SURELY_FINE = 100_000_000  # rows
_VALUES_PER_LIST = 256
_READ_AT_ONCE = 1 << 20  # bytes of a column


def exact_rows(source: Source, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of a Parquet file, counted from 1.

    Raises: InputError for a file that is broken or lacks a column, and naming the row for a NaN or infinite number.
    """
    import pyarrow as pa

    from ndcg_tracker.ingest.arrow import Collected

    places = RowPlaces(source.name)
    collected = Collected(places)
    file = source.file_path() or pa.BufferReader(source.content())
    for arrays in _batches(file, source, columns, wanted, places, _BATCH, {}):
        collected.add(arrays)
    return collected.rows(), places


def group_blocks(source: Source, columns: Columns, wanted: Wanted, n_rows: int) -> Iterator[GroupBlock]:
    """Yield the rows of a Parquet file in blocks of whole groups, of about ``n_rows`` rows or one larger group each.

    A file that is compressed once more, or comes through a pipe, is first copied to a temporary one, because a
    Parquet file is read from its end. Raises: see ``exact_rows``.
    """
    path = source.file_path()
    if path is not None:
        yield from _group_blocks(path, source, columns, wanted, n_rows)
        return
    with source.copy() as copy:
        yield from _group_blocks(copy, source, columns, wanted, n_rows)


def _group_blocks(
    file: str | IO[bytes], source: Source, columns: Columns, wanted: Wanted, n_rows: int
) -> Iterator[GroupBlock]:
    from ndcg_tracker.ingest.arrow import Collected

    parts: list[Rows] = []
    n_read = n_done = 0
    places = RowPlaces(source.name)
    # without these two a whole row group is fetched before its first row comes
    for arrays in _batches(
        file, source, columns, wanted, places, min(_BATCH, n_rows), {"pre_buffer": False, "buffer_size": _READ_AT_ONCE}
    ):
        collected = Collected(places.after(n_read))
        collected.add(arrays)
        parts.append(collected.rows())
        n_read += parts[-1].n_rows
        if n_read - n_done >= n_rows and _begins_a_group(parts):
            rows = Rows.joined(parts)
            n_kept = len(rows.run_keys) - 1
            parts = [Rows.joined([rows.runs(n_kept, n_kept + 1)])]
            yield GroupBlock(rows.runs(0, n_kept), places.after(n_done))
            n_done = n_read - parts[0].n_rows
            del rows
    if parts:
        yield GroupBlock(Rows.joined(parts), places.after(n_done))


def _begins_a_group(parts: list[Rows]) -> bool:
    """Return whether the last part has rows of another group than the part before it ends with."""
    keys = parts[-1].run_keys
    if len(keys) > 1 or len(parts) == 1:
        return len(keys) > 1
    before = parts[-2].run_keys
    return keys.bytes_at(0) != before.bytes_at(len(before) - 1)


def _batches(
    file: Any,
    source: Source,
    columns: Columns,
    wanted: Wanted,
    places: RowPlaces,
    n_rows: int,
    options: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """Yield per role an Arrow array of the next rows, about ``n_rows`` of them; ``places`` takes notice of lists."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ndcg_tracker.ingest.arrow import converted, scores_of_ranks

    n_done = n_values = 0
    try:
        with pq.ParquetFile(file, page_checksum_verification=True, **options) as opened:
            n_bytes = source.n_bytes_read
            n_all = opened.metadata.num_rows
            if n_all > max(_SURELY_FINE, _MOST_ROWS_PER_BYTE * n_bytes):
                raise source.error(f"promises {n_all} rows in {n_bytes} bytes; write it again if it is right")
            found = columns.positions(opened.schema_arrow.names, wanted, source.error)
            names = {role: opened.schema_arrow.names[place] for role, place in found.items()}
            are_ranks = columns.are_ranks(names)
            if has_lists(opened.schema_arrow.field(name).type for name in names.values()):
                n_rows = max(1, n_rows // _VALUES_PER_LIST)
            for batch in opened.iter_batches(n_rows, columns=list(names.values())):
                arrays = {role: batch.column(batch.schema.get_field_index(name)) for role, name in names.items()}
                n_done += batch.num_rows
                arrays = converted(arrays, names, places, n_values)
                if are_ranks:
                    arrays["score"] = scores_of_ranks(arrays["score"])
                n_values += len(arrays["group"])
                if len(arrays["group"]):  # rows whose lists are empty have none
                    yield arrays
                source.report(n_bytes * n_done // n_all)
            if n_done != n_all:  # the shortest column ends the batches, without a word
                raise source.error(f"has {n_done} of the {n_all} rows that it promises; write it again")
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = shown_name(" ".join(str(error).split())[:100])
        raise source.error(f"no readable Parquet file ({reason}); write it again") from None
