"""Limit the size of unpacked files: a few bytes may become gigabytes, and Parquet's pages say how many.

The footer may be wrong, so this reads the headers of all pages, a few bytes each: Arrow allocates what they say. It
does not use pyarrow for this, because pyarrow crashes the process on a damaged page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST_RATIO = 100  # rankings shrink to a fifth or a tenth; deflate ends at 1032
SURELY_FINE = 1 << 28  # unpacked bytes below which the ratio does not matter


class GrowsError(Exception):
    """Data that would grow far beyond its size; ``advice``: what to do if you trust it."""

    def __init__(self, data: str, advice: str) -> None:
        self.what = f"{data} grows to more than {LARGEST_RATIO} times its size"
        self.advice = advice
        super().__init__(self.what)


def largest(n_bytes: int) -> int:
    """Return the largest unpacked size of a file of some size, in bytes.

    >>> largest(1), largest(10_000_000)
    (268435456, 1000000000)
    """
    return max(SURELY_FINE, LARGEST_RATIO * n_bytes)


_DEEPEST = 32
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _STRUCT = 1, 2, 3, 7, 8, 9, 12
_INTEGERS = (4, 5, 6)

Struct = dict[int, Any]
"""Values by the numbers of their fields."""


def struct_at(data: bytes, place: int, depth: int = 0) -> tuple[Struct, int]:
    """Return the struct that begins at a place, and where it ends. Raises: ValueError, IndexError if there is none.

    >>> struct_at(bytes([0x15, 0x04, 0x18, 0x02, 0x61, 0x62, 0x00]), 0)
    ({1: 2, 2: b'ab'}, 7)
    """
    values: Struct = {}
    number = 0
    while (head := data[place]) != 0:
        place += 1
        if head >> 4:
            number += head >> 4
        else:
            number, place = _integer(data, place)
        kind = head & 15
        if kind in (_TRUE, _FALSE):
            values[number] = kind == _TRUE
        else:
            values[number], place = _value(data, place, kind, depth)
    return values, place + 1


def _value(data: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > _DEEPEST:
        raise ValueError("values are nested too deeply")
    if kind in _INTEGERS:
        return _integer(data, place)
    if kind == _STRUCT:
        return struct_at(data, place, depth + 1)
    if kind == _LIST:
        return _list(data, place, depth)
    if kind == _BINARY:
        length, place = _whole(data, place)
    elif kind in (_TRUE, _FALSE, _BYTE):  # truth values take a byte in lists
        length = 1
    elif kind == _DOUBLE:
        length = 8
    else:  # Parquet has no sets, maps and UUIDs
        raise ValueError(f"there is no type {kind}")
    if place + length > len(data):
        raise IndexError("a value goes on after the end")
    return data[place : place + length], place + length


def _list(data: bytes, place: int, depth: int) -> tuple[list[Any], int]:
    head = data[place]
    length, place = (head >> 4, place + 1) if head >> 4 != 15 else _whole(data, place + 1)
    values = []
    for _ in range(length):
        value, place = _value(data, place, head & 15, depth + 1)
        values.append(value)
    return values, place


def _whole(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _integer(data: bytes, place: int) -> tuple[int, int]:
    number, place = _whole(data, place)
    return (number >> 1) ^ -(number & 1), place


_AT_ONCE = 1 << 16  # rows whose texts are measured at a time
_TEXT, _FIXED = 6, 7
_WIDTHS = {0: 1 / 8, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8}
"""Bytes of a value, by physical type."""
_MAGIC = b"PAR1"
_HEADER = 256  # bytes at first; statistics make longer ones
_LONGEST_HEADER = 1 << 24
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_DELTA_TEXT = 7
"""The encoding in which a text repeats the beginning of the one before it."""


class BrokenFileError(Exception):
    """A file that is not a Parquet file, or is damaged."""


@dataclass(slots=True)
class _Chunk:
    """The content of the pages of a column in a row group: decompressed bytes, and values of some width."""

    row_group: int
    path: str
    physical_type: int
    n_bytes: int = 0
    n_values: int = 0
    n_dictionary_bytes: int = 0
    width: float = 0
    longest_delta_page: int = 0

    @property
    def is_coded_text(self) -> bool:
        """Whether texts are in a dictionary, so that few bytes can become many texts."""
        return self.physical_type == _TEXT and self.n_dictionary_bytes > 0


def parquet_batches(opened: Any, file: Any, columns: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
    """Yield Arrow's batches of a Parquet file, none if they would be too large.

    It checks the sizes in the page headers first, then a bound from the longest text of each dictionary, or, if that is
    too large, the length of every text; last, the batches as they arrive. Parameters: ``opened``: pyarrow's
    ParquetFile. ``file``: its path, or the open file. ``columns``: the wanted columns, None for all. ``n_rows``: the
    most rows of a batch. Raises: GrowsError; BrokenFileError; what pyarrow raises.
    """
    with ExitStack() as stack:
        read = stack.enter_context(Path(file).open("rb")) if isinstance(file, (str, Path)) else file
        limit = largest(read.seek(0, os.SEEK_END))
        chunks = _chunks(read, columns)
    promised = sum(max(chunk.n_bytes, chunk.n_values * chunk.width) for chunk in chunks)
    coded = [chunk for chunk in chunks if chunk.is_coded_text]
    if promised > limit or _n_text_bytes(file, coded, limit) > limit:
        raise _grows()
    longest = max((chunk.longest_delta_page for chunk in chunks), default=0)
    n_done = 0
    for batch in opened.iter_batches(min(n_rows, max(1, limit // longest)) if longest else n_rows, columns=columns):
        n_done += batch.nbytes
        if n_done > limit:
            raise _grows()
        yield batch


def _grows() -> GrowsError:
    return GrowsError("the Parquet data", "write it again without compression and dictionaries if you trust it")


def _chunks(file: Any, columns: Sequence[str] | None) -> list[_Chunk]:
    """Return the content of the wanted columns, row group by row group."""
    end = file.seek(0, os.SEEK_END)
    tail = _read(file, end - 8, 8)
    n_bytes = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or n_bytes > end - 8:
        raise BrokenFileError("the file has no footer")
    chunks = []
    try:
        footer, _ = struct_at(_read(file, end - 8 - n_bytes, n_bytes), 0)
        for number, row_group in enumerate(footer[4]):
            for column in row_group[1] if row_group[3] else ():  # without rows there need be no pages
                facts = column[3]
                names = [name.decode() for name in facts[3]]
                if columns is None or names[0] in columns:
                    chunks.append(_with_pages(file, facts, _Chunk(number, ".".join(names), facts[1])))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BrokenFileError(f"the footer or a page is damaged: {error}") from None
    return chunks


def _with_pages(file: Any, facts: Struct, chunk: _Chunk) -> _Chunk:
    """Add up the pages of a chunk by their headers."""
    place = min(facts[9], facts.get(11) or facts[9])  # some write 0 for no dictionary
    end = place + facts[7]
    chunk.width = _WIDTHS.get(chunk.physical_type, 0)
    while place < end:
        header, n_header = _header_at(file, place)
        if header[2] < 0 or header[3] < 0:
            raise ValueError("a page has no size")
        chunk.n_bytes += header[2]
        kind = header[1]
        if kind == _DICTIONARY:
            chunk.n_dictionary_bytes += header[2]
            if chunk.physical_type == _FIXED:
                chunk.width = max(chunk.width, header[2] / max(1, header[7][1]))
        elif kind in (_DATA, _DATA_2):
            values = header[5] if kind == _DATA else header[8]
            chunk.n_values += values[1]
            if values[2 if kind == _DATA else 4] == _DELTA_TEXT:
                chunk.longest_delta_page = max(chunk.longest_delta_page, header[2])
        place += n_header + header[3]
    return chunk


def _header_at(file: Any, place: int) -> tuple[Struct, int]:
    n_bytes = _HEADER
    while True:
        data = _read(file, place, n_bytes)
        try:
            return struct_at(data, 0)
        except IndexError:
            if len(data) < n_bytes or n_bytes >= _LONGEST_HEADER:
                raise
        n_bytes *= 8


def _read(file: Any, place: int, n_bytes: int) -> bytes:
    file.seek(max(place, 0))
    data: bytes = file.read(n_bytes)
    return data


def _n_text_bytes(file: Any, chunks: Sequence[_Chunk], limit: int) -> int:
    """Return the bytes of all texts in dictionaries, or an upper bound if that is within the limit."""
    import pyarrow.parquet as pq

    bound = sum(chunk.n_values * chunk.n_dictionary_bytes for chunk in chunks)
    if bound <= limit:
        return bound
    names = sorted({chunk.path for chunk in chunks})
    options: dict[str, Any] = {"pre_buffer": False, "page_checksum_verification": True}
    with pq.ParquetFile(file, read_dictionary=names, **options) as coded:
        bound = sum(chunk.n_values * _longest(coded, chunk) for chunk in chunks)
        if bound <= limit:
            return bound
        n_bytes = 0
        for batch in coded.iter_batches(_AT_ONCE, columns=names):
            n_bytes += sum(_n_bytes_of(array) for column in batch.columns for array in _dictionaries(column))
            if n_bytes > limit:
                break
        return n_bytes


def _longest(coded: Any, chunk: _Chunk) -> int:
    """Return the length of the longest text in the dictionary of a chunk: the first row loads all of it."""
    batch = next(coded.iter_batches(1, row_groups=[chunk.row_group], columns=[chunk.path]), None)
    arrays = () if batch is None else _dictionaries(batch.column(0))
    return max((int(_lengths(array.dictionary).max(initial=0)) for array in arrays), default=0)


def _dictionaries(array: Any) -> Iterator[Any]:
    """Yield the dictionary-encoded text arrays that an array is, or contains."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_dictionary(kind):
        yield array
    elif pa.types.is_map(kind):
        yield from _dictionaries(array.keys)
        yield from _dictionaries(array.items)
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            yield from _dictionaries(part)
    elif pa.types.is_nested(kind):
        yield from _dictionaries(array.flatten())


def _n_bytes_of(array: Any) -> int:
    places = array.indices.drop_null().to_numpy(zero_copy_only=False)
    return int(_lengths(array.dictionary)[places].sum())


def _lengths(texts: Any) -> Any:
    import pyarrow.compute as pc

    return pc.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False).astype("int64")
