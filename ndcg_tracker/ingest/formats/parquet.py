"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

from ndcg_tracker.ingest.arrow import Collected, are_fractions, converted, has_lists
from ndcg_tracker.ingest.cells import RowPlaces
from ndcg_tracker.ingest.columns import IDS, LABEL_TABLE, Columns, Wanted
from ndcg_tracker.ingest.group_blocks import GroupBlock
from ndcg_tracker.ingest.objects import OneListEach, numbers_by_order
from ndcg_tracker.ingest.plain import warn_of_fractions
from ndcg_tracker.ingest.rows import Rows, in_asked_order
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.unpacking import BrokenFileError, GrowsError, parquet_batches
from ndcg_tracker.words.texts import shown_name

_BATCH = 1 << 18  # rows
_MOST_ROWS_PER_BYTE = 1000  # run-length encoding can claim any number of rows in a few bytes
_SURELY_FINE = 100_000_000  # rows
_VALUES_PER_LIST = 256
_READ_AT_ONCE = 1 << 20  # bytes of a column


def parquet_blocks(source: Source, columns: Columns, wanted: Wanted, n_rows: int | None) -> Iterator[GroupBlock]:
    """Yield the rows of a Parquet file in blocks of whole groups, of about ``n_rows`` rows or one larger group each.

    ``n_rows``: None for one block of all rows. A file that is compressed once more, or comes through a pipe, is first
    copied to a temporary one, because a Parquet file is read from its end. Raises: InputError for a file that is
    broken or lacks a column, and naming the row, from 1, for a NaN or infinite number.
    """
    path = source.file_path()
    if path is not None:
        yield from _blocks(path, source, columns, wanted, n_rows)
        return
    with source.copy() as copy:
        yield from _blocks(copy, source, columns, wanted, n_rows)


@contextmanager
def opened_parquet(file: Any, source: Source, **options: Any) -> Iterator[Any]:
    """Yield a file opened by pyarrow; errors that show that it is broken become InputError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file, page_checksum_verification=True, **options) as opened:
            yield opened
    except GrowsError as error:
        raise source.error(error.what, advice=error.advice) from None
    except (pa.ArrowException, BrokenFileError, OSError, UnicodeDecodeError) as error:
        reason = shown_name(" ".join(str(error).split())[:100])
        raise source.error(f"not a readable Parquet file ({reason})", advice="write the file again") from None


def _blocks(
    file: str | IO[bytes], source: Source, columns: Columns, wanted: Wanted, n_rows: int | None
) -> Iterator[GroupBlock]:
    places = RowPlaces(source.name)
    # without these two, a whole row group is fetched before its first row
    options: dict[str, Any] = {} if n_rows is None else {"pre_buffer": False, "buffer_size": _READ_AT_ONCE}
    with opened_parquet(file, source, **options) as opened:
        header = opened.schema_arrow.names
        names, is_by_order = columns.names_or_order(
            header, wanted, source.error, lambda name: has_lists([opened.schema_arrow.field(name).type])
        )
        # the role of the numbers that come from the order of lists
        in_order = None if not is_by_order else "label" if wanted is LABEL_TABLE else "score"
        batches = _batches(opened, file, names, source, places, n_rows or _BATCH, in_order)
        for rows, n_before in [_whole(batches, places)] if n_rows is None else _parts(batches, places, n_rows):
            ordered = in_asked_order(replace(rows, in_order=True) if in_order else rows, columns, names)
            yield GroupBlock(ordered, places.after(n_before))
            del rows, ordered
        types = {role: opened.schema_arrow.field(name).type for role, name in names.items() if role in IDS}
        warn_of_fractions({role for role, kind in types.items() if are_fractions(kind)})


def _whole(batches: Iterable[dict[str, Any]], places: RowPlaces) -> tuple[Rows, int]:
    collected = Collected(places)
    for arrays in batches:
        collected.add(arrays)
    return collected.rows(), 0


def _parts(batches: Iterable[dict[str, Any]], places: RowPlaces, n_rows: int) -> Iterator[tuple[Rows, int]]:
    """Yield the rows of whole groups, about ``n_rows`` at a time, and how many rows came before them."""
    parts: list[Rows] = []
    n_read = n_done = 0
    for arrays in batches:
        collected = Collected(places.after(n_read))
        collected.add(arrays)
        parts.append(collected.rows())
        n_read += parts[-1].n_rows
        if n_read - n_done >= n_rows and _begins_a_group(parts):
            rows = Rows.joined(parts)
            n_kept = len(rows.span_keys) - 1
            parts = [Rows.joined([rows.spans(n_kept, n_kept + 1)])]
            yield rows.spans(0, n_kept), n_done
            n_done = n_read - parts[0].n_rows
            del rows
    if parts:
        yield Rows.joined(parts), n_done


def _begins_a_group(parts: list[Rows]) -> bool:
    """Return whether the last part has rows of another group than the last group of the part before."""
    keys = parts[-1].span_keys
    if len(keys) > 1 or len(parts) == 1:
        return len(keys) > 1
    before = parts[-2].span_keys
    return keys.bytes_at(0) != before.bytes_at(len(before) - 1)


def _batches(
    opened: Any,
    file: Any,
    names: dict[str, str],
    source: Source,
    places: RowPlaces,
    n_rows: int,
    in_order: str | None,
) -> Iterator[dict[str, Any]]:
    """Yield per role an Arrow array of the next rows, at most ``n_rows``; ``places`` records the lengths of lists.

    ``in_order``: the role of the numbers that come from the order of lists, None for a file with numbers.
    """
    n_done = n_values = 0
    once = OneListEach(RowPlaces(source.name))
    n_bytes = source.n_bytes_read
    n_all = opened.metadata.num_rows
    if n_all > max(_SURELY_FINE, _MOST_ROWS_PER_BYTE * n_bytes):
        raise source.error(f"promises {n_all} rows in {n_bytes} bytes", advice="write the file again if that is right")
    n_rows = min(_BATCH, n_rows)
    if has_lists(opened.schema_arrow.field(name).type for name in names.values()):
        n_rows = max(1, n_rows // _VALUES_PER_LIST)
    for batch in parquet_batches(opened, file, list(names.values()), n_rows):
        arrays = {role: batch.column(batch.schema.get_field_index(name)) for role, name in names.items()}
        n_done += batch.num_rows
        if in_order is not None:
            arrays[in_order] = numbers_by_order(arrays["item"], in_order)
            names = {**names, in_order: in_order}
            if in_order == "score":
                once.check(arrays["group"])
        arrays = converted(arrays, names, places, n_values)
        n_values += len(arrays["group"])
        if len(arrays["group"]):  # rows whose lists are empty have none
            yield arrays
        source.report(n_bytes * n_done // n_all)
    if n_done != n_all:  # the shortest column ends the batches, without an error
        raise source.error(f"has {n_done} of the {n_all} rows that it promises", advice="write the file again")
