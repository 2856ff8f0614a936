"""Export and import of runs, with their labels and results, as a folder of Parquet files."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys, arrow_texts, keys_of_arrow
from ndcg_tracker.render.whole_file import told_of_place
from ndcg_tracker.storage.copying import COLUMNS, OF_RUNS, kind_of
from ndcg_tracker.unpacking import BrokenFileError, GrowsError, parquet_batches

if TYPE_CHECKING:
    from ndcg_tracker.storage.copying import Row

_ROWS_AT_ONCE = 1 << 17
Column = Keys | Floats | Index | Sequence[Any] | str | int | None
"""Ids, doubles (NaN is null), whole numbers, values of any kind (None is null), or one value for all rows."""
_BATCH = 1 << 18  # rows
ADVICE = "export the runs again"


_KEY, _NUMBER = "large_string", "float64"
_ARROW_OF = {int: "int64", float: _NUMBER, bool: "bool", bytes: "binary", str: "string", dict: "string"}
"""The Arrow types of the columns of a table of the database; JSON objects are text."""
_OF_RUN = {"dataset": "string", "run": "string"}
_OF_GROUP = {"metric": "string", "group_key": _KEY, "value": _NUMBER, "dcg": _NUMBER, "ideal_dcg": _NUMBER}
_VERSION = {"label_set_version": "int64"}
LARGE = {
    "items": _OF_RUN | {"group_key": _KEY, "rank": "int64", "item_key": _KEY, "score": _NUMBER},
    "labels": {"dataset": "string"} | _VERSION | {"group_key": _KEY, "item_key": _KEY, "grade": _NUMBER},
    "group_results": _OF_RUN | _VERSION | _OF_GROUP | {"undefined_reason": "string"},
}
"""The tables with a row per item, label and result of a group, with names in place of numbers: their Arrow types."""
N_ROWS = "n_rows"
"""The further column of runs, label sets and evaluations: how many rows of the large tables each has.

These rows are in the order of their owners."""
OWNERS = {"runs": "items", "label_sets": "labels", "evaluations": "group_results"}
"""The tables whose rows own rows of a large table, and which."""
_SINCE_0032 = "label_reasons"
"""The table that exports before revision 0032 do not have."""


def arrow_schema(table: str) -> Any:
    """Return the columns of a table as an Arrow schema: those of a large one, or those of a table of the database."""
    import pyarrow as pa

    types = LARGE.get(table) or {name: _ARROW_OF[kind_of(column)] for name, column in COLUMNS[table].items()}
    types |= {N_ROWS: "int64"} if table in OWNERS else {}
    return pa.schema([(name, pa.type_for_alias(of_name)) for name, of_name in types.items()])


class ExportWriter:
    """Writes the tables of an export into a new folder, which appears when it is complete.

    ``tables``: which tables of the database to write. ``n_rows``: how many rows each table has. Raises: InputError if
    the folder already exists or cannot be created.
    """

    def __init__(self, folder: Path, tables: Iterable[str]) -> None:
        self.folder = folder
        self._writable = partial(told_of_place, str(folder))
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {name: [] for name in (*tables, *LARGE)}
        self.n_rows = dict.fromkeys(self._waiting, 0)

    def __enter__(self) -> Self:
        import pyarrow.parquet as pq

        if self.folder.exists():
            raise InputError("already exists", where=self.folder, advice="give another folder")
        with self._writable():
            self._unfinished = self.folder.absolute().with_name(f".{self.folder.name}-{token_hex(8)}")
            self._unfinished.mkdir()
        with ExitStack() as opening, self._writable():  # the first bytes are written here
            opening.callback(shutil.rmtree, self._unfinished, ignore_errors=True)
            for name in self._waiting:
                writer = pq.ParquetWriter(
                    self._unfinished / f"{name}.parquet",
                    arrow_schema(name),
                    use_dictionary=[column for column, kind in LARGE.get(name, {}).items() if kind == "string"],
                    compression="zstd",
                    write_page_checksum=True,
                )
                self._writers[name] = opening.enter_context(writer)
            self._open = opening.pop_all()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is None:
                with self._writable():
                    for name, writer in self._writers.items():
                        self._flush(name)
                        writer.close()
                        self._check(name)
                    self._unfinished.rename(self.folder)
        finally:
            with suppress(OSError):
                self._open.close()  # removes the unfinished folder

    def add(self, table: str, columns: Mapping[str, Column], n_rows: int) -> None:
        """Add rows to a large table: its columns by name, each of ``n_rows`` values, or one value for all rows."""
        import pyarrow as pa

        schema = arrow_schema(table)
        if n_rows:
            arrays = [_array(columns[field.name], field.type, n_rows) for field in schema]
            self._add(table, pa.Table.from_arrays(arrays, schema=schema))

    def add_rows(self, table: str, rows: list[Row]) -> None:
        """Add rows to a table of the database, as they are there."""
        import pyarrow as pa

        texts = [
            {name: _json(value) if isinstance(value, dict) else value for name, value in row.items()} for row in rows
        ]
        self._add(table, pa.Table.from_pylist(texts, arrow_schema(table)))

    def _add(self, table: str, rows: Any) -> None:
        self.n_rows[table] += rows.num_rows
        waiting = self._waiting[table]
        waiting.append(rows)
        if sum(part.num_rows for part in waiting) >= _ROWS_AT_ONCE:
            with self._writable():
                self._flush(table)

    def _flush(self, table: str) -> None:
        """Write the pending rows as a row group."""
        import pyarrow as pa

        parts, self._waiting[table] = self._waiting[table], []
        if parts:
            self._writers[table].write_table(pa.concat_tables(parts))

    def _check(self, table: str) -> None:
        """Raise InputError unless a finished file reports all rows that it was given."""
        import pyarrow.parquet as pq

        n_rows = pq.read_metadata(self._unfinished / f"{table}.parquet").num_rows
        if n_rows != self.n_rows[table]:
            raise InputError(
                f"{table}.parquet has {n_rows} rows of {self.n_rows[table]}", where=self.folder, advice="export again"
            )


def _json(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True)


def _array(column: Column, arrow_type: Any, n_rows: int) -> Any:
    import pyarrow as pa

    if isinstance(column, Keys):
        return arrow_texts(column.data, column.offsets)
    if isinstance(column, np.ndarray):
        missing = np.isnan(column) if column.dtype.kind == "f" else None
        return pa.array(column, type=arrow_type, mask=missing)
    if column is None or isinstance(column, str | int):
        return pa.repeat(pa.scalar(column, type=arrow_type), n_rows)
    return pa.array(column, type=arrow_type)


class ExportReader:
    """Reads the tables of an export, which ``ExportWriter`` of this or an older version wrote.

    ``is_older``: whether versions 0.1.0 or 0.2.0 wrote it (see ``older_exports``). ``is_whole``: whether it is a copy
    of a whole database. Raises: InputError for a folder or file that is missing or broken, or has other columns.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self._streams: dict[str, _Rows] = {}
        self.is_older = (folder / "label_coverage.parquet").exists()
        self.is_whole = (folder / "decisions.parquet").exists()

    def __enter__(self) -> Self:
        if not self.folder.is_dir():
            raise InputError("no such folder", where=self.folder, advice="give a folder written by ndcg-track export")
        needed = ("runs", "label_sets", "evaluations") if self.is_older else {*OF_RUNS} - {_SINCE_0032}
        with ExitStack() as opening:
            for name in dict.fromkeys((*LARGE, *needed, *(path.stem for path in self.folder.glob("*.parquet")))):
                if name in LARGE or name in COLUMNS or self.is_older:
                    self._streams[name] = _Rows(self.folder / f"{name}.parquet", name, opening, self.is_older)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def rows(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table of the database, without those of the large tables; none if there is no file."""
        stream = self._streams.get(table)
        number = 0
        while stream is not None and stream.n_left:
            for row in stream.take(min(stream.n_left, _BATCH)).to_pylist():
                number += 1
                yield {name: self._value(table, number, name, value) for name, value in row.items()}

    def _value(self, table: str, number: int, name: str, value: Any) -> Any:
        column = COLUMNS.get(table, {}).get(name)
        if value is None or column is None or kind_of(column) is not dict:
            return value
        try:
            facts = json.loads(value)
        except (ValueError, RecursionError, TypeError):
            facts = None
        if not isinstance(facts, dict):
            raise self.error(table, f"row {number} has {name} that are not a JSON object")
        return facts

    def part(self, table: str, n_rows: Any, owner: Mapping[str, Any]) -> list[Any]:
        """Take the next rows of a large table, which belong to an owner, and return their own columns.

        Ids come as ``Keys``, numbers as floats (NaN for null), and texts as a list, in the order of the columns.
        Raises: InputError if there are fewer rows, or rows of another owner; for a null id, and for a number that is
        infinite or NaN.
        """
        import pyarrow.compute as pc

        stream = self._streams[table]
        named = ", ".join(f"{name} {value!r}" for name, value in owner.items())
        if type(n_rows) is not int or not 0 <= n_rows <= stream.n_left:
            raise stream.error(f"has {stream.n_left} rows left, not the {n_rows} of {named}")
        taken = stream.take(n_rows)
        for name, value in owner.items():
            if n_rows and pc.unique(taken[name]).to_pylist() != [value]:
                raise stream.error(f"its rows are not in the order in which they were written: those of {named}")
        about = [(name, _READ[kind]) for name, kind in LARGE[table].items() if name not in owner and kind in _READ]
        return [read(_whole(taken[name]), name, stream) for name, read in about]

    def groups_of(self, table: str) -> list[tuple[Any, Any]]:
        """Return dataset and key of all groups of a large table, in the order in which they come first."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, names = self.folder / f"{table}.parquet", ["dataset", "group_key"]
        found: dict[tuple[Any, Any], None] = {}
        with self._streams[table].readable("cannot be read"), pq.ParquetFile(path) as file:
            for batch in parquet_batches(file, path, names, _BATCH):
                once = pa.table(batch).group_by(names, use_threads=False).aggregate([])
                found |= dict.fromkeys(zip(*(once[name].to_pylist() for name in names), strict=True))
        return list(found)

    def check_read(self) -> None:
        """Raise InputError if a large table has rows without an owner."""
        for name in LARGE:
            if self._streams[name].n_left:
                raise self.error(name, f"has {self._streams[name].n_left} rows without an owner")

    def error(self, table: str, what: str) -> InputError:
        """Return the error for a broken table."""
        return InputError(what, where=self.folder / f"{table}.parquet", advice=ADVICE)


def _whole(column: Any) -> Any:
    """Return a column of a table as one array."""
    import pyarrow as pa

    chunks = column.combine_chunks()
    return pa.concat_arrays(chunks.chunks) if isinstance(chunks, pa.ChunkedArray) else chunks


def _keys(array: Any, column: str, stream: _Rows) -> Keys:
    if array.null_count:
        raise stream.error(f"has a null in column {column!r}")
    return keys_of_arrow(array)


def _numbers(array: Any, column: str, stream: _Rows) -> Floats:
    values: Floats = array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if not np.isfinite(values[array.is_valid().to_numpy(zero_copy_only=False)]).all():
        raise stream.error(f"has a number that is not finite in column {column!r}")
    return values


_READ: dict[str, Callable[[Any, str, _Rows], Any]] = {
    _KEY: _keys, _NUMBER: _numbers, "string": lambda array, *_: array.to_pylist()
}  # fmt: skip
"""How to convert the columns of large tables after reading."""


class _Rows:
    """The rows of one file, read in order; ``opening``: what closes the file."""

    def __init__(self, path: Path, table: str, opening: ExitStack, is_older: bool) -> None:
        import pyarrow.parquet as pq

        self._path = path
        with self.readable("not a readable Parquet file"):
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block and ignore signals
                raise self.error("is not a regular file")
            file = opening.enter_context(pq.ParquetFile(path, page_checksum_verification=True))
            names = file.schema_arrow.names
        self._batches = parquet_batches(file, path, None, _BATCH)
        self.n_left = file.metadata.num_rows
        is_known = table in LARGE or not is_older
        self._schema = arrow_schema(table) if is_known else file.schema_arrow.remove_metadata()
        optional = {name for name, column in COLUMNS.get(table, {}).items() if column.nullable}
        self._lacking = [name for name in self._schema.names if name not in names]
        if not optional.issuperset(self._lacking) or not set(self._schema.names).issuperset(names):
            raise self.error(f"has columns other than {', '.join(self._schema.names)}")
        self._waiting = self._schema.empty_table()

    def take(self, n_rows: int) -> Any:
        """Return the next rows."""
        import pyarrow as pa

        parts = [self._waiting]
        n_found = self._waiting.num_rows
        with self.readable("cannot be read"):
            while n_found < n_rows:
                batch = pa.Table.from_batches([next(self._batches)])
                for name in self._lacking:
                    batch = batch.append_column(name, pa.nulls(batch.num_rows))
                batch = batch.select(self._schema.names).cast(self._schema)
                batch.validate(full=True)
                parts.append(batch)
                n_found += batch.num_rows
        joined = pa.concat_tables(parts)
        self._waiting = joined.slice(n_rows)
        self.n_left -= n_rows
        return joined.slice(0, n_rows)

    def error(self, what: str) -> InputError:
        """Return the error for this file."""
        return InputError(what, where=self._path, advice=ADVICE)

    @contextmanager
    def readable(self, what: str) -> Iterator[None]:
        """Raise InputError, which says what it is, for whatever reading a broken file raises."""
        import pyarrow as pa

        try:
            yield
        except StopIteration:
            raise self.error("ends before its last row") from None
        except GrowsError as error:
            raise self.error(error.what) from None
        except FileNotFoundError:
            raise self.error("no such file") from None
        except (pa.ArrowException, BrokenFileError, OSError, UnicodeDecodeError) as error:
            raise self.error(f"{what} ({' '.join(str(error).split())[:100]})") from None
