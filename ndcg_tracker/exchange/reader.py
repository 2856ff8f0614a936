"""Reads an export, each table from its first row to its last."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ndcg_tracker.arrow_ids import keys_of_arrow
from ndcg_tracker.errors import InputError
from ndcg_tracker.exchange.tables import LATER, OPTIONAL, TABLES, arrow_schema
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

_BATCH = 1 << 18  # rows


class ExportReader:
    """Reads the tables of an export, which ``ExportWriter`` wrote.

    Raises: InputError for a folder or file that is missing, broken, or has other columns than ``TABLES`` says.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._streams: dict[str, _Rows] = {}

    def __enter__(self) -> Self:
        if not self._folder.is_dir():
            raise InputError(f"{self._folder}: no such folder; give a folder written by ndcg-track export")
        try:
            for name in TABLES:
                path = self._folder / f"{name}.parquet"
                if name not in OPTIONAL or path.exists():
                    self._streams[name] = self._open.enter_context(_opened(path, name))
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return all rows of a small table, none of one that the export does not have: one dict per row."""
        if table not in self._streams:
            return []
        stream = self._streams[table]
        rows: list[dict[str, Any]] = stream.take(stream.n_left).to_pylist()
        return rows

    def part(self, table: str, n_rows: int, owner: Mapping[str, str | int]) -> Part:
        """Return the next rows of a table, which belong to ``owner``.

        Raises: InputError where there are fewer, or some are of another owner.
        """
        import pyarrow.compute as pc

        stream = self._streams[table]
        if n_rows < 0 or n_rows > stream.n_left:
            raise stream.error(f"has {stream.n_left} rows left, not the {n_rows} of {_named(owner)}")
        found = stream.take(n_rows)
        for name, value in owner.items():
            if n_rows and pc.unique(found[name]).to_pylist() != [value]:
                raise stream.error(
                    f"its rows are not in the order in which they were written: those of {_named(owner)}"
                )
        return Part(found, stream)

    def check_read(self) -> None:
        """Raise InputError if a table has rows without an owner."""
        for stream in self._streams.values():
            if stream.n_left:
                raise stream.error(f"has {stream.n_left} rows without an owner")

    def error(self, table: str, what: str) -> InputError:
        """Return the error for a broken table."""
        return self._streams[table].error(what)


class Part:
    """Some rows of a table, column by column."""

    def __init__(self, table: Any, stream: _Rows) -> None:
        self._table = table
        self._stream = stream

    def keys(self, column: str) -> Keys:
        """Return a column of ids; InputError for a null."""
        array = self._column(column)
        if array.null_count:
            raise self._stream.error(f"has a null in column {column!r}")
        return keys_of_arrow(array)

    def numbers(self, column: str) -> Floats:
        """Return a column of doubles, NaN where null; InputError for a NaN or infinity that is written."""
        array = self._column(column)
        values: Floats = array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        if not np.isfinite(values[array.is_valid().to_numpy(zero_copy_only=False)]).all():
            raise self._stream.error(f"has a number that is not finite in column {column!r}")
        return values

    def texts(self, column: str) -> list[str | None]:
        """Return a column of texts, None where null."""
        texts: list[str | None] = self._column(column).to_pylist()
        return texts

    def _column(self, name: str) -> Any:
        import pyarrow as pa

        chunks = self._table[name].combine_chunks()
        return pa.concat_arrays(chunks.chunks) if isinstance(chunks, pa.ChunkedArray) else chunks


class _Rows:
    """The rows of one file, read in order."""

    def __init__(self, path: Path, table: str, file: Any, names: list[str]) -> None:
        self._path = path
        self._batches = file.iter_batches(_BATCH)
        self._schema = arrow_schema(table)
        self.n_left = file.metadata.num_rows
        self._lacking = [name for name in LATER.get(table, ()) if name not in names]
        if names + self._lacking != self._schema.names:
            raise self.error(f"has other columns than {', '.join(self._schema.names)}")
        self._waiting = self._schema.empty_table()

    def take(self, n_rows: int) -> Any:
        """Return the next rows."""
        import pyarrow as pa

        parts = [self._waiting]
        n_found = self._waiting.num_rows
        with _readable(self):
            while n_found < n_rows:
                batch = pa.Table.from_batches([next(self._batches)])
                for name in self._lacking:
                    batch = batch.append_column(name, pa.nulls(batch.num_rows))
                batch = batch.cast(self._schema)
                batch.validate(full=True)
                parts.append(batch)
                n_found += batch.num_rows
        found = pa.concat_tables(parts)
        self._waiting = found.slice(n_rows)
        self.n_left -= n_rows
        return found.slice(0, n_rows)

    def error(self, what: str) -> InputError:
        """Return the error for this file."""
        return InputError(f"{self._path}: {what}; export the runs again")


@contextmanager
def _opened(path: Path, table: str) -> Iterator[_Rows]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for a writer and ignore signals
            raise InputError(f"{path}: is not a regular file; export the runs again")
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names = file.schema_arrow.names
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; export the runs again") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path}: no readable Parquet file ({reason}); export the runs again") from None
    with file:
        yield _Rows(path, table, file, names)


@contextmanager
def _readable(rows: _Rows) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except StopIteration:
        raise rows.error("ends before its last row") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise rows.error(f"cannot be read ({' '.join(str(error).split())[:100]})") from None


def _named(owner: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in owner.items())
