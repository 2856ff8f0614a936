"""Writes an export: its folder appears complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Any, Self

import numpy as np

from ndcg_tracker.arrow_ids import arrow_texts
from ndcg_tracker.errors import InputError
from ndcg_tracker.exchange.tables import OPTIONAL, TABLES, Kind, arrow_schema
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index

_ROWS_AT_ONCE = 1 << 17

Column = Keys | Floats | Index | Sequence[Any] | str | int | None
"""Ids, doubles (NaN is null), whole numbers, values of any kind (None is null), or one value for all rows."""


class ExportWriter:
    """Writes the tables of an export into a new folder, which appears when it is complete.

    ``optional``: those of ``OPTIONAL`` that it is to have. Raises: InputError if the folder already exists or cannot be
    created.
    """

    def __init__(self, folder: Path, optional: Sequence[str] = ()) -> None:
        self._folder = folder
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {name: [] for name in TABLES if name not in OPTIONAL or name in optional}

    def __enter__(self) -> Self:
        import pyarrow.parquet as pq

        if self._folder.exists():
            raise InputError(f"{self._folder}: already exists; give another folder")
        try:
            self._unfinished = Path(mkdtemp(prefix=f".{self._folder.name}-", dir=self._folder.absolute().parent))
        except OSError as error:
            raise InputError(f"{self._folder}: cannot be created ({error.strerror}); give another folder") from None
        with ExitStack() as opening:
            opening.callback(shutil.rmtree, self._unfinished, ignore_errors=True)
            for name in self._waiting:
                path = self._unfinished / f"{name}.parquet"
                dictionaries = [column for column, kind in TABLES[name].items() if kind is Kind.NAME]
                writer = pq.ParquetWriter(
                    path, arrow_schema(name), use_dictionary=dictionaries, compression="zstd", write_page_checksum=True
                )
                self._writers[name] = opening.enter_context(writer)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                for name, writer in self._writers.items():
                    self._flush(name)
                    writer.close()
                self._unfinished.chmod(0o777 & ~_umask())
                self._unfinished.rename(self._folder)
        except OSError as failure:
            raise self._unwritten(failure) from None
        finally:
            with suppress(OSError):
                self._open.close()  # removes the unfinished folder

    def add(self, table: str, columns: Mapping[str, Column], n_rows: int) -> None:
        """Add rows to a table: its columns by name, each of ``n_rows`` values, or one value for all rows."""
        import pyarrow as pa

        if not n_rows:
            return
        schema = arrow_schema(table)
        arrays = [_array(columns[field.name], field.type, n_rows) for field in schema]
        waiting = self._waiting[table]
        waiting.append(pa.Table.from_arrays(arrays, schema=schema))
        if sum(part.num_rows for part in waiting) >= _ROWS_AT_ONCE:
            self._flush(table)

    def _flush(self, table: str) -> None:
        """Write the pending rows as a row group."""
        import pyarrow as pa

        parts, self._waiting[table] = self._waiting[table], []
        try:
            if parts:
                self._writers[table].write_table(pa.concat_tables(parts))
        except OSError as failure:
            raise self._unwritten(failure) from None

    def _unwritten(self, failure: OSError) -> InputError:
        reason = os.strerror(failure.errno) if failure.errno else " ".join(str(failure).split())
        return InputError(f"{self._folder}: cannot be written ({reason}); is the disk full?")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _array(column: Column, kind: Any, n_rows: int) -> Any:
    import pyarrow as pa

    if isinstance(column, Keys):
        return arrow_texts(column.data, column.offsets)
    if isinstance(column, np.ndarray):
        missing = np.isnan(column) if column.dtype.kind == "f" else None
        return pa.array(column, type=kind, mask=missing)
    if column is None or isinstance(column, str | int):
        return pa.repeat(pa.scalar(column, type=kind), n_rows)
    return pa.array(column, type=kind)
