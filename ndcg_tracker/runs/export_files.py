"""Export and import of runs, with their labels and results, as a folder of Parquet files."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys, arrow_texts, keys_of_arrow
from ndcg_tracker.rankings.ranking import BY_INPUT
from ndcg_tracker.render.whole_file import told_of_place
from ndcg_tracker.runs.samples import is_sample
from ndcg_tracker.unpacking import BrokenFileError, GrowsError, parquet_batches

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    from ndcg_tracker.storage.runs import RunDetails

_ROWS_AT_ONCE = 1 << 17
Column = Keys | Floats | Index | Sequence[Any] | str | int | None
"""Ids, doubles (NaN is null), whole numbers, values of any kind (None is null), or one value for all rows."""
Row = dict[str, Any]
_BATCH = 1 << 18  # rows


class Kind(StrEnum):
    """The kinds of columns; names and ids may not be null."""

    NAME = "name"
    """Text that many rows share: stored as a dictionary."""
    TEXT = "text"
    TIME = "time"
    """Text that the reader of a record checks to be a time."""
    JSON = "json"
    """An object, as text."""
    KEY = "key"
    """The id of a group or item."""
    COUNT = "count"
    FLAG = "flag"
    """0 or 1."""
    NUMBER = "number"


_ARROW = {Kind.KEY: "large_string", Kind.COUNT: "int64", Kind.FLAG: "int64", Kind.NUMBER: "float64"}
"""The Arrow types of the kinds that are not plain text."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an export.

    ``columns``: all, in their order; the last ones are ``later``: exports of older versions lack them, and they are
    read as null. ``part``: the part of an export that the table belongs to, "" for tables in every export.
    ``counted_by``: the column of the owners' table that says how many of its rows an owner has. ``needed``: columns
    that no row may lack, in addition to names and ids.
    """

    columns: Mapping[str, Kind]
    later: tuple[str, ...] = ()
    part: str = ""
    counted_by: str = ""
    needed: tuple[str, ...] = ()

    @property
    def never_null(self) -> list[str]:
        """The columns that no row may lack."""
        return [name for name, kind in self.columns.items() if kind in (Kind.NAME, Kind.KEY) or name in self.needed]


def _columns(**names: str) -> dict[str, Kind]:
    """Return columns by their kinds, the names of a kind with spaces between them."""
    return {name: Kind(kind) for kind, of_kind in names.items() for name in of_kind.split()}


_EVALUATED = _columns(name="dataset run", count="label_set_version")
_DECIDED = _columns(
    number="delta ci_low ci_high alpha",
    text="decision reason acknowledged_reason acknowledged_by",
    time="created_at_utc",
)
_BUDGETS = ("planned_budget", "budget")
_OPEN = _columns(text="unjudged", number="delta_low delta_high")
TABLES = {
    "runs": Table(
        _columns(
            name="dataset run",
            text="digest created_at_utc git_commit source",
            json="parameters tags",
            count="n_groups n_items",
        )
        | _columns(text="sampled sample_digest collapsed", number="documents_in_ten")
        | _columns(text="tie_order"),
        later=("sampled", "sample_digest", "collapsed", "documents_in_ten", "tie_order"),
        needed=("digest", "created_at_utc", "parameters", "tags", "n_groups", "n_items"),
    ),
    "items": Table(
        _columns(name="dataset run", key="group_key") | _columns(count="rank", key="item_key", number="score"),
        counted_by="n_items",
    ),
    "label_sets": Table(
        _columns(name="dataset", count="label_set_version", text="digest source")
        | _columns(count="n_labels", flag="by_row_number", text="judge created_at_utc")
        | _columns(count="extends", text="added_by", json="from_runs"),
        later=("by_row_number", "judge", "created_at_utc", "extends", "added_by", "from_runs"),
        needed=("label_set_version", "digest", "n_labels"),
    ),
    "labels": Table(
        _columns(name="dataset", count="label_set_version", key="group_key item_key", number="grade"),
        counted_by="n_labels",
    ),
    "evaluations": Table(
        _EVALUATED
        | _columns(text="metric", number="mean worst_mean best_mean", count="n_groups n_missing n_undefined n_results")
        | _columns(text="requested_as", number="std_dev")
        | _columns(text="created_at_utc"),
        later=("requested_as", "std_dev", "created_at_utc"),
        needed=("label_set_version", "metric", "n_results"),
    ),
    "group_results": Table(
        _EVALUATED | _columns(name="metric", key="group_key", number="value dcg ideal_dcg", text="undefined_reason"),
        counted_by="n_results",
    ),
    "label_coverage": Table(_EVALUATED | _columns(count="cutoff", number="judged_share")),
    "groups": Table(_columns(name="dataset", key="group_key", number="weight", json="attributes")),
    "texts": Table(_columns(name="dataset", text="group_key item_key text title url"), part="texts"),
    "datasets": Table(_columns(name="dataset", text="created_at_utc"), part="record"),
    "aliases": Table(
        _columns(name="dataset alias run", time="created_at_utc updated_at_utc", number="budget", count="looks"),
        part="record",
        later=("budget", "looks"),
    ),
    "alias_moves": Table(_columns(name="dataset alias", text="run present_run", time="created_at_utc"), part="record"),
    "decisions": Table(
        _columns(name="dataset", text="baseline_run present_baseline candidate_run present_candidate baseline_alias")
        | _columns(text="metric", count="label_set_version")
        | _columns(text="scope", number="margin")
        | _DECIDED
        | _columns(json="repeats")
        | _OPEN
        | _columns(text="checked_by", number="budget", count="looks look", json="baseline_lists"),
        part="record",
        later=("repeats", *_OPEN, "checked_by", "budget", "looks", "look", "baseline_lists"),
    ),
    "policies": Table(
        _columns(name="dataset alias", json="rules", text="set_by", time="set_at_utc"),
        part="record",
        needed=("rules", "set_by", "set_at_utc"),
    ),
    "budget_resets": Table(
        _columns(name="dataset baseline_run", json="baseline_lists", text="reason reset_by")
        | _columns(time="covered_until_utc created_at_utc", text="alias"),
        part="record",
        later=("alias",),
        needed=("reason", "reset_by", "covered_until_utc"),
    ),
    "designs": Table(
        _columns(name="dataset", count="design label_set_version", text="metric seed", flag="not_tuned")
        | _columns(count="n_looks look planned_budget budget", number="greatest_grade", time="created_at_utc")
        | _columns(text="checked_by", count="n_runs_before n_label_sets_before"),
        part="record",
        needed=("design", "label_set_version", "metric", "seed", "not_tuned", "n_looks", "look", *_BUDGETS),
    ),
    "design_runs": Table(
        _columns(name="dataset", count="design", text="run present_run"), part="record", needed=("design", "run")
    ),
    "drawn_items": Table(
        _columns(name="dataset", count="design", key="group_key item_key")
        | _columns(number="probability grade", text="answered_at_utc"),
        part="record",
        needed=("design",),
    ),
    "suites": Table(_columns(name="suite dataset", count="place", text="created_at_utc"), part="record"),
    "suite_decisions": Table(
        _columns(name="suite", text="baseline candidate by_tag", json="runs")
        | _columns(text="metric", number="margin dataset_margin")
        | _DECIDED
        | _OPEN
        | _columns(text="judge"),
        part="record",
        later=(*_OPEN, "judge"),
    ),
    "prunings": Table(
        _columns(name="dataset run", text="created_at_utc", flag="summaries_only", number="kept_share")
        | _columns(count="n_groups n_kept_items"),
        part="pruned",
    ),
    "pruned_groups": Table(_columns(name="dataset run", key="group_key"), part="pruned", counted_by="n_groups"),
    "paired_sums": Table(
        _EVALUATED | _columns(text="metric baseline", json="sums") | _columns(text="created_at_utc"), part="pruned"
    ),
}
"""All tables. Rows are in the order of ``runs``, ``label_sets`` and ``evaluations``, whose counts say how many rows of
``items``, ``labels`` and ``group_results`` belong to each. For a run in ``prunings``, that table has the counts of
``items`` and ``pruned_groups``. The record (what people did with the runs) has the names of runs at that time and
their names now. For a design with answers, ``n_runs_before`` and ``n_label_sets_before`` say how many of the dataset's
runs and versions of labels were stored before the first answer."""


def arrow_schema(table: str) -> Any:
    """Return the columns of a table as an Arrow schema."""
    import pyarrow as pa

    columns = TABLES[table].columns.items()
    return pa.schema([(name, pa.type_for_alias(_ARROW.get(kind, "string"))) for name, kind in columns])


class ExportWriter:
    """Writes the tables of an export into a new folder, which appears when it is complete.

    ``parts``: which parts to write. ``n_rows``: how many rows each table has. Raises: InputError if the folder
    already exists or cannot be created.
    """

    def __init__(self, folder: Path, parts: Sequence[str] = ()) -> None:
        self._folder = folder
        self._writable = partial(told_of_place, str(folder))
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[Any]] = {name: [] for name, table in TABLES.items() if table.part in ("", *parts)}
        self.n_rows = dict.fromkeys(TABLES, 0)

    def __enter__(self) -> Self:
        import pyarrow.parquet as pq

        if self._folder.exists():
            raise InputError("already exists", where=self._folder, advice="give another folder")
        with self._writable():
            self._unfinished = Path(mkdtemp(prefix=f".{self._folder.name}-", dir=self._folder.absolute().parent))
        with ExitStack() as opening, self._writable():  # the first bytes are written here
            opening.callback(shutil.rmtree, self._unfinished, ignore_errors=True)
            for name in self._waiting:
                writer = pq.ParquetWriter(
                    self._unfinished / f"{name}.parquet",
                    arrow_schema(name),
                    use_dictionary=[column for column, kind in TABLES[name].columns.items() if kind is Kind.NAME],
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
                    self._unfinished.chmod(0o777 & ~_umask())
                    self._unfinished.rename(self._folder)
        finally:
            with suppress(OSError):
                self._open.close()  # removes the unfinished folder

    def add(self, table: str, given: Mapping[str, Column], n_rows: int = 1, records: Sequence[object] = ()) -> None:
        """Add rows to a table: its columns by name, each of ``n_rows`` values, or one value for all rows.

        Columns that are not given come from the records, one per row, which have attributes of these names.
        """
        import pyarrow as pa

        if not n_rows:
            return
        kinds = TABLES[table].columns
        columns: dict[str, Column] = {
            name: [getattr(record, name) for record in records] for name in kinds.keys() - given
        }
        columns |= given
        schema = arrow_schema(table)
        arrays = [_array(columns[field.name], kinds[field.name], field.type, n_rows) for field in schema]
        self.n_rows[table] += n_rows
        waiting = self._waiting[table]
        waiting.append(pa.Table.from_arrays(arrays, schema=schema))
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
                f"{table}.parquet has {n_rows} rows of {self.n_rows[table]}", where=self._folder, advice="export again"
            )


def _json(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _array(column: Column, kind: Kind, arrow_type: Any, n_rows: int) -> Any:
    import pyarrow as pa

    if isinstance(column, Keys):
        return arrow_texts(column.data, column.offsets)
    if isinstance(column, np.ndarray):
        missing = np.isnan(column) if column.dtype.kind == "f" else None
        return pa.array(column, type=arrow_type, mask=missing)
    if column is None or isinstance(column, str | int):
        return pa.repeat(pa.scalar(column, type=arrow_type), n_rows)
    if kind in _STORED:
        column = [None if value is None else _STORED[kind](value) for value in column]
    return pa.array(column, type=arrow_type)


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
        with ExitStack() as opening:
            for name, table in TABLES.items():
                path = self._folder / f"{name}.parquet"
                if not table.part or path.exists():
                    self._streams[name] = _Rows(path, name, opening)
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def rows(self, table: str) -> list[Row]:
        """Return all rows of a small table, one dict per row; none if the export lacks the table."""
        if table not in self._streams:
            return []
        stream = self._streams[table]
        taken = stream.take(stream.n_left)
        for name in TABLES[table].never_null:
            if taken[name].null_count:
                raise stream.error(f"has a row without {name}")
        rows: list[Row] = taken.to_pylist()
        for name in (name for name, kind in TABLES[table].columns.items() if kind is Kind.FLAG):
            rows = [row | {name: None if row[name] is None else bool(row[name])} for row in rows]
        return rows

    def rows_by(self, table: str, *columns: str) -> dict[tuple[Any, ...], list[Row]]:
        """Return all rows of a small table by their values in some columns."""
        rows_of: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for row in self.rows(table):
            rows_of[tuple(row[name] for name in columns)].append(row)
        return rows_of

    def part(self, table: str, row: Row) -> Iterator[Any]:
        """Take the next rows of a table, as many as their owner's row says, and yield their own columns.

        Ids come as ``Keys``, numbers as floats (NaN for null), and texts as a list, in the order of the columns.
        Raises: InputError if there are fewer rows, or rows of another owner; while columns are read, for a null id and
        for a number that is infinite or NaN.
        """
        import pyarrow.compute as pc

        stream, columns = self._streams[table], TABLES[table].columns
        n_rows, owner = row[TABLES[table].counted_by], {name: row[name] for name in columns if name in row}
        named = ", ".join(f"{name} {value!r}" for name, value in owner.items())
        if n_rows < 0 or n_rows > stream.n_left:
            raise stream.error(f"has {stream.n_left} rows left, not the {n_rows} of {named}")
        taken = stream.take(n_rows)
        for name, value in owner.items():
            if n_rows and pc.unique(taken[name]).to_pylist() != [value]:
                raise stream.error(f"its rows are not in the order in which they were written: those of {named}")
        about = [(name, kind) for name, kind in columns.items() if name not in owner and kind in _READ]
        return (_READ[kind](_whole(taken[name]), name, stream) for name, kind in about)

    def check_read(self, left_out: str = "none") -> None:
        """Raise InputError if a table, other than those of the part that is left out, has rows without an owner."""
        for name, stream in self._streams.items():
            if stream.n_left and TABLES[name].part != left_out:
                raise stream.error(f"has {stream.n_left} rows without an owner")

    def check_whole(self, table: str, what: str, items: LabelLists | Ranking, digest: str) -> None:
        """Raise InputError if the rows of something differ from what was exported."""
        if items.has_duplicates() or items.digest() != digest:
            raise self.error(table, f"the content of {what} differs from what was exported")

    def facts(self, table: str, text: str) -> dict[str, Any]:
        """Return the JSON object that a text of a table holds (InputError for anything else)."""
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise self.error(table, "holds facts that are not a JSON object")
        return facts

    def details(self, row: Row) -> RunDetails:
        """Return the facts about a run in a row of the runs (InputError for facts that no export has)."""
        if not is_sample(row["sampled"]):
            raise self.error("runs", f"says of run {row['run']!r} that it is sampled {row['sampled']!r}")
        if row["tie_order"] not in (None, BY_INPUT):
            raise self.error("runs", f"says of run {row['run']!r} that {row['tie_order']!r} breaks its ties")
        return {
            "source": row["source"],
            "git_commit": row["git_commit"],
            "parameters": self.facts("runs", row["parameters"]),
            "tags": self.facts("runs", row["tags"]),
            "created_at_utc": row["created_at_utc"],
            "sampled": row["sampled"],
            "sample_digest": row["sample_digest"],
            "collapsed": row["collapsed"],
            "documents_in_ten": row["documents_in_ten"],
            "tie_order": row["tie_order"],
        }

    def error(self, table: str, what: str) -> InputError:
        """Return the error for a broken table."""
        return self._streams[table].error(what)


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


_STORED: dict[Kind, Callable[[Any], str | int]] = {Kind.JSON: _json, Kind.FLAG: int}
"""How to convert single values for writing."""
_READ: dict[Kind, Callable[[Any, str, _Rows], Any]] = {
    Kind.KEY: _keys, Kind.NUMBER: _numbers, Kind.TEXT: lambda array, *_: array.to_pylist()
}  # fmt: skip
"""How to convert the columns of large tables after reading."""


class _Rows:
    """The rows of one file, read in order; ``opening``: what closes the file."""

    def __init__(self, path: Path, table: str, opening: ExitStack) -> None:
        import pyarrow.parquet as pq

        self._path = path
        with self._readable("not a readable Parquet file"):
            if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block and ignore signals
                raise self.error("is not a regular file")
            file = opening.enter_context(pq.ParquetFile(path, page_checksum_verification=True))
            names = file.schema_arrow.names
        self._batches = parquet_batches(file, path, None, _BATCH)
        self._schema = arrow_schema(table)
        self.n_left = file.metadata.num_rows
        self._lacking = [name for name in TABLES[table].later if name not in names]
        if names != [name for name in self._schema.names if name not in self._lacking]:
            raise self.error(f"has columns other than {', '.join(self._schema.names)}")
        self._waiting = self._schema.empty_table()

    def take(self, n_rows: int) -> Any:
        """Return the next rows."""
        import pyarrow as pa

        parts = [self._waiting]
        n_found = self._waiting.num_rows
        with self._readable("cannot be read"):
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
        return InputError(what, where=self._path, advice="export the runs again")

    @contextmanager
    def _readable(self, what: str) -> Iterator[None]:
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
