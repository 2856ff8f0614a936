"""Export and import of runs, with their labels and results, as a folder of Parquet files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ndcg_tracker.arrow_ids import arrow_texts, keys_of_arrow
from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.unpacking.limits import GrowsError
from ndcg_tracker.unpacking.parquet import BrokenFileError, parquet_batches

if TYPE_CHECKING:
    from collections.abc import Iterator


LATER = {
    "evaluations": ("requested_as", "std_dev", "created_at_utc"),
    "label_sets": ("by_row_number", "judge", "created_at_utc"),
}
"""The columns of each table that exports of older versions lack: they are read as null."""
RECORD = ("datasets", "aliases", "alias_moves", "decisions", "suites", "suite_decisions")
"""Tables of what people did with the runs."""
LACKING = ("prunings", "pruned_groups", "paired_sums")
"""Tables of runs that are without their items."""
OPTIONAL = ("texts", *RECORD, *LACKING)
"""Tables that an export has only if it was asked for them, or if there is something in them."""
_ROWS_AT_ONCE = 1 << 17
Column = Keys | Floats | Index | Sequence[Any] | str | int | None
"""Ids, doubles (NaN is null), whole numbers, values of any kind (None is null), or one value for all rows."""
_BATCH = 1 << 18  # rows


class Kind(StrEnum):
    """The kinds of columns; only the nullable ones may have nulls."""

    NAME = "name"
    """Text that many rows share: stored as a dictionary."""
    TEXT = "text"
    """Text, possibly null."""
    KEY = "key"
    """The id of a group or item."""
    COUNT = "count"
    """A whole number, possibly null."""
    NUMBER = "number"
    """A double, possibly null."""


_RUN = {"dataset": Kind.NAME, "run": Kind.NAME}
_LABEL_SET = {"label_set_version": Kind.COUNT}

_DECIDED = {
    **dict.fromkeys(("delta", "ci_low", "ci_high", "alpha"), Kind.NUMBER),
    **dict.fromkeys(("decision", "reason", "acknowledged_reason", "acknowledged_by", "created_at_utc"), Kind.TEXT),
}

TABLES: dict[str, dict[str, Kind]] = {
    "runs": _RUN
    | {
        "digest": Kind.TEXT,
        "created_at_utc": Kind.TEXT,
        "git_commit": Kind.TEXT,
        "source": Kind.TEXT,
        "parameters": Kind.TEXT,
        "tags": Kind.TEXT,
        "n_groups": Kind.COUNT,
        "n_items": Kind.COUNT,
    },
    "items": _RUN | {"group_key": Kind.KEY, "rank": Kind.COUNT, "item_key": Kind.KEY, "score": Kind.NUMBER},
    "label_sets": {"dataset": Kind.NAME}
    | _LABEL_SET
    | {
        "digest": Kind.TEXT,
        "source": Kind.TEXT,
        "n_labels": Kind.COUNT,
        "by_row_number": Kind.COUNT,
        "judge": Kind.TEXT,
        "created_at_utc": Kind.TEXT,
    },
    "labels": {"dataset": Kind.NAME} | _LABEL_SET | {"group_key": Kind.KEY, "item_key": Kind.KEY, "grade": Kind.NUMBER},
    "evaluations": _RUN
    | _LABEL_SET
    | {
        "metric": Kind.TEXT,
        "mean": Kind.NUMBER,
        "worst_mean": Kind.NUMBER,
        "best_mean": Kind.NUMBER,
        "n_groups": Kind.COUNT,
        "n_missing": Kind.COUNT,
        "n_undefined": Kind.COUNT,
        "n_results": Kind.COUNT,
        "requested_as": Kind.TEXT,
        "std_dev": Kind.NUMBER,
        "created_at_utc": Kind.TEXT,
    },
    "group_results": _RUN
    | _LABEL_SET
    | {
        "metric": Kind.NAME,
        "group_key": Kind.KEY,
        "value": Kind.NUMBER,
        "dcg": Kind.NUMBER,
        "ideal_dcg": Kind.NUMBER,
        "undefined_reason": Kind.TEXT,
    },
    "label_coverage": _RUN | _LABEL_SET | {"cutoff": Kind.COUNT, "judged_share": Kind.NUMBER},
    "groups": {"dataset": Kind.NAME, "group_key": Kind.KEY, "weight": Kind.NUMBER, "attributes": Kind.TEXT},
    "texts": {
        "dataset": Kind.NAME,
        "group_key": Kind.TEXT,
        "item_key": Kind.TEXT,
        "text": Kind.TEXT,
        "title": Kind.TEXT,
        "url": Kind.TEXT,
    },
    "datasets": {"dataset": Kind.NAME, "created_at_utc": Kind.TEXT},
    "aliases": {
        "dataset": Kind.NAME,
        "alias": Kind.NAME,
        "run": Kind.NAME,
        "created_at_utc": Kind.TEXT,
        "updated_at_utc": Kind.TEXT,
    },
    "alias_moves": {
        "dataset": Kind.NAME,
        "alias": Kind.NAME,
        "run": Kind.TEXT,
        "present_run": Kind.TEXT,
        "created_at_utc": Kind.TEXT,
    },
    "decisions": {
        "dataset": Kind.NAME,
        "baseline_run": Kind.TEXT,
        "present_baseline": Kind.TEXT,
        "candidate_run": Kind.TEXT,
        "present_candidate": Kind.TEXT,
        "baseline_alias": Kind.TEXT,
        "metric": Kind.TEXT,
    }
    | _LABEL_SET
    | {"scope": Kind.TEXT, "margin": Kind.NUMBER}
    | _DECIDED,
    "suites": {"suite": Kind.NAME, "dataset": Kind.NAME, "place": Kind.COUNT, "created_at_utc": Kind.TEXT},
    "suite_decisions": {
        "suite": Kind.NAME,
        "baseline": Kind.TEXT,
        "candidate": Kind.TEXT,
        "by_tag": Kind.TEXT,
        "runs": Kind.TEXT,
        "metric": Kind.TEXT,
        "margin": Kind.NUMBER,
        "dataset_margin": Kind.NUMBER,
    }
    | _DECIDED,
    "prunings": _RUN
    | {
        "created_at_utc": Kind.TEXT,
        "summaries_only": Kind.COUNT,
        "kept_share": Kind.NUMBER,
        "n_groups": Kind.COUNT,
        "n_kept_items": Kind.COUNT,
    },
    "pruned_groups": _RUN | {"group_key": Kind.KEY},
    "paired_sums": _RUN
    | _LABEL_SET
    | {"metric": Kind.TEXT, "baseline": Kind.TEXT, "sums": Kind.TEXT, "created_at_utc": Kind.TEXT},
}
"""The columns of each table. Rows are in the order of ``runs``, ``label_sets`` and ``evaluations``, whose counts say
how many rows of ``items``, ``labels`` and ``group_results`` belong to each; of a run in ``prunings``, that says so of
``items`` and ``pruned_groups``. The record has the names of runs at that time, and those that they have now."""


def arrow_schema(table: str) -> Any:
    """Return the columns of a table as an Arrow schema."""
    import pyarrow as pa

    types = {
        Kind.NAME: pa.string(),
        Kind.TEXT: pa.string(),
        Kind.KEY: pa.large_string(),
        Kind.COUNT: pa.int64(),
        Kind.NUMBER: pa.float64(),
    }
    return pa.schema([(name, types[kind]) for name, kind in TABLES[table].items()])


class ExportWriter:
    """Writes the tables of an export into a new folder, which appears when it is complete.

    ``optional``: those of ``OPTIONAL`` that it is to have. Raises: InputError if the folder already exists or cannot be
    created.
    """

    def __init__(self, folder: Path, optional: Sequence[str] = ()) -> None:
        self._folder = folder
        self._writers: dict[str, Any] = {}
        self._n_rows: dict[str, int] = dict.fromkeys(TABLES, 0)
        self._waiting: dict[str, list[Any]] = {name: [] for name in TABLES if name not in OPTIONAL or name in optional}

    def __enter__(self) -> Self:
        import pyarrow.parquet as pq

        if self._folder.exists():
            raise InputError("already exists", where=self._folder, advice="give another folder")
        try:
            self._unfinished = Path(mkdtemp(prefix=f".{self._folder.name}-", dir=self._folder.absolute().parent))
        except OSError as error:
            raise InputError(
                f"cannot be created ({error.strerror})", where=self._folder, advice="give another folder"
            ) from None
        with ExitStack() as opening:
            opening.callback(shutil.rmtree, self._unfinished, ignore_errors=True)
            for name in self._waiting:
                path = self._unfinished / f"{name}.parquet"
                dictionaries = [column for column, kind in TABLES[name].items() if kind is Kind.NAME]
                try:  # the first bytes are written here
                    writer = pq.ParquetWriter(
                        path,
                        arrow_schema(name),
                        use_dictionary=dictionaries,
                        compression="zstd",
                        write_page_checksum=True,
                    )
                except OSError as failure:
                    raise self._unwritten(failure) from None
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
                    self._check(name)
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
        self._n_rows[table] += n_rows
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

    def _check(self, table: str) -> None:
        """Raise InputError unless a finished file says that it has all rows that it was given."""
        import pyarrow.parquet as pq

        n_rows = pq.read_metadata(self._unfinished / f"{table}.parquet").num_rows
        if n_rows != self._n_rows[table]:
            raise InputError(
                f"{table}.parquet has {n_rows} rows of {self._n_rows[table]}", where=self._folder, advice="export again"
            )

    def _unwritten(self, failure: OSError) -> InputError:
        reason = os.strerror(failure.errno) if failure.errno else " ".join(str(failure).split())
        return InputError(f"cannot be written ({reason})", where=self._folder, advice="is the disk full?")


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
            raise InputError("no such folder", where=self._folder, advice="give a folder written by ndcg-track export")
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

    def check_read(self, left_out: Sequence[str] = ()) -> None:
        """Raise InputError if a table, other than those that are left out, has rows without an owner."""
        for name, stream in self._streams.items():
            if stream.n_left and name not in left_out:
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
        self._batches = parquet_batches(file, path, None, _BATCH)
        self._schema = arrow_schema(table)
        self.n_left = file.metadata.num_rows
        self._lacking = [name for name in LATER.get(table, ()) if name not in names]
        if names != [name for name in self._schema.names if name not in self._lacking]:
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
                batch = batch.select(self._schema.names).cast(self._schema)
                batch.validate(full=True)
                parts.append(batch)
                n_found += batch.num_rows
        found = pa.concat_tables(parts)
        self._waiting = found.slice(n_rows)
        self.n_left -= n_rows
        return found.slice(0, n_rows)

    def error(self, what: str) -> InputError:
        """Return the error for this file."""
        return InputError(what, where=self._path, advice="export the runs again")


@contextmanager
def _opened(path: Path, table: str) -> Iterator[_Rows]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for a writer and ignore signals
            raise InputError("is not a regular file", where=path, advice="export the runs again")
        file = pq.ParquetFile(path, page_checksum_verification=True)
        names = file.schema_arrow.names
    except FileNotFoundError:
        raise InputError("no such file", where=path, advice="export the runs again") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"no readable Parquet file ({reason})", where=path, advice="export the runs again") from None
    with file:
        yield _Rows(path, table, file, names)


@contextmanager
def _readable(rows: _Rows) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except StopIteration:
        raise rows.error("ends before its last row") from None
    except GrowsError as error:
        raise rows.error(error.what) from None
    except (pa.ArrowException, BrokenFileError, OSError, UnicodeDecodeError) as error:
        raise rows.error(f"cannot be read ({' '.join(str(error).split())[:100]})") from None


def _named(owner: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in owner.items())
