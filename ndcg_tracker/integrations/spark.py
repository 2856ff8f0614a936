"""The same metrics on Spark: the kernel runs on the executors, on whole groups."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace as replace_fields
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from ndcg_tracker.api.evaluation import Evaluation, NoLabelsError
from ndcg_tracker.api.reading import Ingest, IngestKeywords, Reading, ReadingKeywords
from ndcg_tracker.api.storing import ingest_stream
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import asks, made
from ndcg_tracker.errors import InputError, NdcgTrackerError, argument
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, LABEL_TABLE, RUN_APART, RUN_TABLE, Columns, Wanted
from ndcg_tracker.ingest.table import no_row, none_in_share
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.batches import (
    ANY_ITEM,
    OF_GROUPS,
    SIDE,
    all_of_groups,
    collected,
    in_blocks,
    of_share,
    per_group,
    usable_metrics,
)
from ndcg_tracker.metrics.language.text import metric_texts
from ndcg_tracker.runs.ingest import IngestResult, RunDetails
from ndcg_tracker.words.texts import shown

_EXTRA = "spark"
_READ_ELSEWHERE = (
    *("weight", "items", "relevant", "reader", "columns", "scores", "item_to_document"),
    *("collapse", "stream"),
)
"""What says how files are read."""
_JOINT = Wanted(("group", "item", "score", "label"), ("group", "score"))
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double", "decimal", "boolean")


@asks(Reading, but=(*_READ_ELSEWHERE, "allow"))
def evaluate(
    run: Any,
    metrics: str | Sequence[str],
    *,
    labels: Any | None = None,
    by: str | None = None,
    **keywords: Unpack[ReadingKeywords],
) -> Any:
    """Return a Spark DataFrame with the value of every metric for every group: [``by``,] group, metric, value.

    ``run``: a Spark DataFrame with one row per (group, item), in any order, as ``nt.evaluate`` takes it; ids are text
    or whole numbers, and an item column is required. ``labels``: a second DataFrame, with the labels; the label column
    of ``run`` is then not read. ``group``, ``item``, ``score``, ``label``: names of columns; names of conventions such
    as ``qid`` and ``docno`` are known. ``by``: a column of ``run`` with one value per group, for slices.
    ``groups_share``: use only this share of the groups, such as "1/100", chosen by a hash of their ids, so the same in
    every run; executors drop the rows of other groups before they move any. In the result, ``group`` keeps its type,
    ``metric`` is the text that was given, and ``value`` is a double, null if the metric is not defined.

    Spark groups the rows once, together with the labels. Each executor holds half a million rows at a time. If all
    metrics have cutoffs, it holds only the rows of a longer group that they use and those with labels. Every value
    equals that of ``nt.evaluate`` to the last bit, except with ``ties=average``, whose last bit depends on the order of
    rows. Nothing is computed until Spark needs it. Raises: InputError for columns that cannot be read; MetricError for
    an unknown metric and for ``ties=input``, because rows have no order here. The executor that finds an error in a
    row raises it, naming group and item.

    Needs: ``pip install 'ndcg-tracker[spark]'`` on the driver and ndcg-tracker on the executors; Spark 3.5 or 4,
    classic or Connect.
    """
    texts = list(metric_texts(metrics))
    rows = _prepared(run, texts, labels, _columns(made(Reading, keywords)), by)
    fields = [*([(by, rows.schema[by].dataType)] if by is not None else []), ("group", rows.schema["group"].dataType)]
    schema = ", ".join(f"`{name}` {kind.simpleString()}" for name, kind in fields) + ", metric string, value double"
    return rows.mapInArrow(partial(per_group, metrics=texts, by=by), schema)


@asks(Reading, but=(*_READ_ELSEWHERE, "allow"))
def evaluation(
    run: Any, metrics: str | Sequence[str], *, labels: Any | None = None, **keywords: Unpack[ReadingKeywords]
) -> Evaluation:
    """Return the metrics of a Spark DataFrame as ``nt.evaluate`` does, means included: see ``evaluate``.

    The values of all groups come to the driver, in the order of their ids.
    Raises: the errors of ``evaluate``, at once, and InputError if no group of the run has labels.
    """
    return evaluated(made(Reading, keywords), run, labels, metrics)


def evaluated(reading: Reading, run: Any, labels: Any | None, metrics: str | Sequence[str]) -> Evaluation:
    """Return the metrics of a Spark DataFrame (see ``evaluation``)."""
    texts = list(metric_texts(metrics))
    rows = _prepared(run, texts, labels, _columns(reading))
    kinds = {"float64": "double", "int8": "tinyint", "int64": "bigint", "bool": "boolean"}
    of_groups = ", ".join(f"`{name}` {kinds[kind]}" for name, kind in OF_GROUPS.items())
    kind = rows.schema["group"].dataType.simpleString()
    schema = f"group {kind}, metric string, value double, {of_groups}, {ANY_ITEM} boolean, error binary"
    table = _as_arrow(rows.mapInArrow(partial(_all_or_error, metrics=texts), schema))
    for error in table["error"].drop_null().to_pylist()[:1]:
        raise pickle.loads(error)
    return collected(table, texts)


def _all_or_error(batches: Iterable[Any], metrics: Sequence[str]) -> Iterator[Any]:
    """Yield the results of ``all_of_groups``, and an error as a value: raised, it would end in an executor's trace."""
    import pyarrow as pa

    try:
        for table in all_of_groups(batches, metrics):
            yield from table.append_column("error", pa.nulls(table.num_rows, pa.binary())).to_batches()
    except NdcgTrackerError as error:
        none = [*("group", "metric", "value"), *OF_GROUPS, ANY_ITEM]
        yield pa.record_batch({**dict.fromkeys(none, pa.nulls(1)), "error": pa.array([pickle.dumps(error)])})


@asks(Ingest, but=(*_READ_ELSEWHERE, "text", "item_is_text", "sampled", "metadata", "judge"))
def log_run(
    run: Any,
    tracker: Tracker | str,
    *,
    name: str,
    labels: Any | None = None,
    source: str | None = None,
    labels_source: str | None = None,
    **keywords: Unpack[IngestKeywords],
) -> IngestResult:
    """Store the run of a Spark DataFrame, in any database, as ``Tracker.ingest`` stores the same rows: to the bit.

    ``run``, the columns and ``groups_share``: see ``evaluate``; without labels, the dataset's latest labels count.
    ``tracker``: a Tracker or a URL. ``source``, ``labels_source``: what to store as the names of their files. The
    rest: see ``Tracker.ingest``.

    Executors bring the rows of groups together; tasks may fail and run again. The driver receives them as a Parquet
    file in its temporary folder and stores that in one transaction. So a driver that ends stores everything or
    nothing, and storing the same run again is safe. Returns: what was done. Raises: the errors of ``evaluate`` and of
    ``Tracker.ingest``; Spark's own errors if tasks fail repeatedly.
    """
    told = made(Ingest, keywords, name=name)
    usable_metrics(told.metrics)
    sources = [] if source is None else [source]
    details = RunDetails.given(told, sources, labels=labels_source, groups_share=told.groups_share, allow=told.allow)
    with ExitStack() as stack:
        opened = tracker if isinstance(tracker, Tracker) else stack.enter_context(Tracker(tracker))
        of_labels = _columns(told)
        columns = of_labels if labels is None else replace_fields(of_labels, label=None)
        (path,), beside = stack.enter_context(as_parquet([run], labels, columns, replace_fields(of_labels, score=None)))
        store = partial(ingest_stream, opened, details=details, metrics=told.metrics)
        reading = Reading()
        return reading.used_by(path, reading.labels_given(beside), store)


def table(name: str) -> Any:
    """Return the Spark DataFrame of a path or a table, read by the session of Spark's own configuration.

    ``name``: a path (or address) of Parquet or ORC files, by its suffix; a folder of Delta Lake (with ``_delta_log``);
    a folder of Parquet files; else the name of a table, as in a catalog such as Iceberg's. Raises: InputError if Spark
    cannot find or read it.

    >>> table("runs/dense.parquet")    # doctest: +SKIP
    """
    sql = library("pyspark.sql", _EXTRA)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.appName("ndcg-track").getOrCreate()
    path = name.rstrip("/")
    try:
        if (Path(path) / "_delta_log").is_dir():
            return session.read.format("delta").load(path)
        if path.endswith(".orc"):
            return session.read.orc(path)
        if path.endswith(".parquet") or "/" in path or Path(path).exists():
            return session.read.parquet(path)
        return session.table(name)
    except library("pyspark.errors", _EXTRA).PySparkException as error:
        reason = str(error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass())
        raise InputError(
            f"Spark cannot read it ({reason})", where=name, advice="give a path of Parquet, ORC or Delta, or a table"
        ) from None


@contextmanager
def as_parquet(
    runs: Sequence[Any],
    labels: Any | None = None,
    run_columns: Columns = DEFAULT_COLUMNS,
    label_columns: Columns = DEFAULT_COLUMNS,
) -> Iterator[tuple[list[str], str | None]]:
    """Give a Parquet file for each run and one for the labels, as ``ingest`` reads them; they are deleted afterwards.

    The files are on the driver, in its temporary folder; the rows of a group are contiguous. ``runs`` and ``labels``:
    Spark DataFrames; ``run_columns`` and ``label_columns``: the names of their columns, and the share of the groups to
    keep. Raises: InputError for columns that cannot be read, and for a table without rows.
    """
    wanted = RUN_TABLE if labels is None else RUN_APART
    with TemporaryDirectory(prefix="ndcg-track-") as folder:
        beside = None if labels is None else str(Path(folder) / "labels.parquet")
        if beside is not None:
            _write(_table(labels, label_columns, LABEL_TABLE), beside, label_columns)
        paths = [str(Path(folder) / f"{number}.parquet") for number in range(len(runs))]
        for run, path in zip(runs, paths, strict=True):
            _write(_table(run, run_columns, wanted, must_have_labels=False), path, run_columns)
        yield paths, beside


def _write(rows: Any, path: str, columns: Columns) -> None:
    """Write rows as one Parquet file, group after group; the driver holds the rows of two partitions at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    packed = rows.repartition("group").sortWithinPartitions("group").mapInArrow(_packed, "block binary")
    with ExitStack() as stack:
        writer = None
        for row in packed.toLocalIterator(prefetchPartitions=True):
            with pa.ipc.open_stream(row["block"]) as stream:
                block = stream.read_all()
            writer = writer or stack.enter_context(pq.ParquetWriter(path, block.schema))
            writer.write_table(block)
    if writer is None:
        share = columns.groups_share
        raise no_row(InputError) if share is None else none_in_share(share, InputError)


def _packed(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tables of half a million rows, each as the bytes of an Arrow stream in one row."""
    import pyarrow as pa

    for table in in_blocks(batches):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
            stream.write_table(table)
        yield pa.record_batch({"block": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def _as_arrow(frame: Any) -> Any:
    import pyarrow as pa

    return frame.toArrow() if hasattr(frame, "toArrow") else pa.Table.from_pandas(frame.toPandas())  # Spark 3.5


def _columns(told: Reading) -> Columns:
    return told.names("group", "item", "score", "label")


def _prepared(
    run: Any,
    metrics: Sequence[str],
    labels: Any | None,
    columns: Columns,
    by: str | None = None,
) -> Any:
    """Return the rows of a run and its labels, the rows of each group contiguous and in one partition."""
    library("pyspark.sql", _EXTRA)
    usable_metrics(metrics)
    if labels is None:
        rows = _table(run, columns, _JOINT, by)
    else:
        of_run = _table(run, replace_fields(columns, label=None), RUN_APART, by)
        of_labels = _table(labels, replace_fields(columns, score=None), LABEL_TABLE)
        rows = _with_labels(of_run, of_labels, by)
    return rows.repartition("group").sortWithinPartitions("group")


def _table(
    frame: Any,
    columns: Columns,
    wanted: Wanted,
    by: str | None = None,
    *,
    must_have_labels: bool = True,
) -> Any:
    """Return the columns of a frame under the names of their roles: ids, numbers as doubles, ``by`` unchanged."""
    functions = library("pyspark.sql.functions", _EXTRA)
    if not hasattr(frame, "mapInArrow"):
        raise InputError(
            f"a {type(frame).__name__} is not a Spark DataFrame", advice="give it to ndcg_tracker.evaluate"
        )
    names = columns.names(frame.columns, wanted, InputError)
    if names.pop("rank", None) is not None and columns.deciding(names) == "ranks":
        raise InputError(
            "the column 'rank' would decide if scores contradict it, but Spark does not check that",
            advice=f"say which decides: {argument('score', names['score'])} or {argument('score', '-rank')}",
        )
    if "item" not in names:
        raise InputError(
            "there is no item column, and rows of a distributed table have no numbers",
            advice=f"name the item column with {argument('item')}",
        )
    are_relevant = columns.are_relevant(names, frame.columns, wanted)
    if must_have_labels and "label" in wanted.roles and "label" not in names and not are_relevant:
        raise NoLabelsError
    chosen = [functions.lit(1.0).alias("label")] if are_relevant else []
    for role in ("group", "item", "score", "label", "weight"):
        if role not in names:
            continue
        kind = frame.schema[names[role]].dataType.simpleString()
        is_id, name = role in ("group", "item"), shown(names[role])
        if is_id and kind not in ("string", *_WHOLE):
            raise InputError(f"column {name} holds {kind}; ids are text or whole numbers", advice="cast it to string")
        if not is_id and kind.partition("(")[0] not in _NUMBERS:
            raise InputError(f"column {name} holds {kind}, not numbers", advice="cast it to double")
        value = functions.col(f"`{names[role]}`")
        if role == "score" and columns.are_ranks(names):
            value = -value
        chosen.append((value if is_id else value.cast("double")).alias(role))
    if by is not None:
        others = [name for name in frame.columns if name not in names.values()]
        if by not in others:
            has = f"the others are {', '.join(others)}" if others else "there are only columns of ids and numbers"
            raise InputError(f"{argument('by', by)} is not another column of the run", advice=has)
        chosen.append(functions.col(f"`{by}`"))
    rows, share = frame.select(*chosen), columns.groups_share
    return rows if share is None else rows.mapInArrow(partial(of_share, share=share), rows.schema)


def _with_labels(run: Any, labels: Any, by: str | None) -> Any:
    """Return the rows of a run and of its labels in one table; our own join matches them by group."""
    functions = library("pyspark.sql.functions", _EXTRA)
    for role in ("group", "item"):
        kinds = [frame.schema[role].dataType.simpleString() for frame in (run, labels)]
        if kinds[0] != kinds[1]:  # text and numbers: compare as text, so that 7 is "7" and never "007"
            run, labels = (frame.withColumn(role, functions.col(role).cast("string")) for frame in (run, labels))
    null = functions.lit(None).cast("double")
    of_run = run.withColumn("label", null).withColumn(SIDE, functions.lit(False))
    of_labels = labels.withColumn("score", null).withColumn(SIDE, functions.lit(True))
    if by is not None:
        of_labels = of_labels.withColumn(by, functions.lit(None).cast(run.schema[by].dataType))
    return of_run.unionByName(of_labels)
