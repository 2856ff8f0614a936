"""The same metrics on Spark: the kernel runs on the executors, on whole groups."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from ndcg_tracker.api.evaluation import Evaluation, NoLabelsError
from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.errors import DatabaseError, InputError, NdcgTrackerError, argument
from ndcg_tracker.ingest.columns import LABEL_TABLE, RUN_APART, RUN_TABLE, Columns, Wanted
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.batches import (
    ANY_ITEM,
    OF_GROUPS,
    SIDE,
    all_of_groups,
    collected,
    per_group,
    usable_metrics,
)
from ndcg_tracker.integrations.staging import Items, StagedPart, Staging, kept_share, logged, stage_groups
from ndcg_tracker.metrics.language.text import metric_texts
from ndcg_tracker.runs.ingest import IngestResult, RunDetails
from ndcg_tracker.words.texts import shown

_EXTRA = "spark"
_ROWS_AT_A_TIME = 1 << 18
_JOINT = Wanted(("group", "item", "score", "label"), ("group", "score"))
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double", "decimal", "boolean")


def evaluate(
    run: Any,
    metrics: str | Sequence[str],
    *,
    labels: Any | None = None,
    group: str | None = None,
    item: str | None = None,
    score: str | None = None,
    label: str | None = None,
    by: str | None = None,
) -> Any:
    """Return a Spark DataFrame with the value of every metric for every group: [``by``,] group, metric, value.

    ``run``: a Spark DataFrame with one row per (group, item), in any order, as ``nt.evaluate`` takes it; ids are text
    or whole numbers, and an item column is required. ``labels``: a second DataFrame, with the labels; the label column
    of ``run`` is then not read. ``group``, ``item``, ``score``, ``label``: names of columns; names of conventions such
    as ``qid`` and ``docno`` are known. ``by``: a column of ``run`` with one value per group, for slices. In the result,
    ``group`` keeps its type, ``metric`` is the text that was given, and ``value`` is a double, null if the metric is
    not defined.

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
    rows = _prepared(run, texts, labels, group, item, score, label, by)
    fields = [*([(by, rows.schema[by].dataType)] if by is not None else []), ("group", rows.schema["group"].dataType)]
    schema = ", ".join(f"`{name}` {kind.simpleString()}" for name, kind in fields) + ", metric string, value double"
    return rows.mapInArrow(partial(per_group, metrics=texts, by=by), schema)


def evaluation(
    run: Any,
    metrics: str | Sequence[str],
    *,
    labels: Any | None = None,
    group: str | None = None,
    item: str | None = None,
    score: str | None = None,
    label: str | None = None,
) -> Evaluation:
    """Return the metrics of a Spark DataFrame as ``nt.evaluate`` does, means included: see ``evaluate``.

    The values of all groups come to the driver, in the order of their ids.
    Raises: the errors of ``evaluate``, at once, and InputError if no group of the run has labels.
    """
    texts = list(metric_texts(metrics))
    rows = _prepared(run, texts, labels, group, item, score, label, None)
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


def log_run(
    run: Any,
    tracker: Tracker | str,
    *,
    name: str,
    metrics: str | Sequence[str] = DEFAULT_METRIC,
    labels: Any | None = None,
    dataset: str = DEFAULT_DATASET,
    items: Items = "none",
    sample: float = 0.01,
    group: str | None = None,
    item: str | None = None,
    score: str | None = None,
    label: str | None = None,
    tags: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    git_commit: str | None = None,
    created_at: str | datetime | None = None,
    source: str | None = None,
    labels_source: str | None = None,
    replace: bool = False,
    allow: str | Sequence[str] = (),
) -> IngestResult:
    """Store the run of a Spark DataFrame; the executors score it and write directly to Postgres.

    ``run`` and the columns: see ``evaluate``; without labels, the dataset's latest labels count. ``tracker``: a
    Tracker or a URL. ``items``: the groups whose items to store: ``none``, ``all``, or a ``sample``. A hash of their
    ids chooses the sample, so it is the same in every run; ``sample`` is its approximate share. Results of all groups
    and labels are always stored. The stored content equals, to the bit, that of ``Tracker.ingest`` for the same rows,
    without the items that are left out. The rest: see ``Tracker.ingest``.

    Each attempt of a task stages its part in its own transaction. The driver publishes, in one transaction, the
    attempts whose output Spark accepted; so tasks may fail, be retried, and run twice. Executors receive the URL with
    its secrets, which nothing prints. Returns: what was done. Raises: the errors of ``Tracker.ingest``; InputError for
    a database that is not on Postgres; Spark's own errors if tasks fail repeatedly.
    """
    texts = list(metric_texts(metrics))
    rows = _prepared(run, texts, labels, group, item, score, label, None, must_have_labels=False)
    with ExitStack() as stack:
        opened = tracker if isinstance(tracker, Tracker) else stack.enter_context(Tracker(tracker))
        return logged(
            opened.store(),
            lambda staging: _staged_parts(rows, staging),
            RunDetails.given(
                name,
                dataset,
                [] if source is None else [source],
                git_commit=git_commit,
                parameters=parameters,
                tags=tags,
                labels=labels_source,
                created_at=created_at,
                allow=allow,
            ),
            texts,
            labels="apart" if labels is not None else "with" if "label" in rows.columns else "stored",
            kept_share=kept_share(items, sample),
            replace=replace,
        )


def _staged_parts(rows: Any, staging: Staging) -> list[StagedPart]:
    """Let the executors stage a run, and return the report of each accepted attempt, one per partition."""
    kinds = {"int": "bigint", "str": "string", "bool": "boolean"}
    columns = ", ".join(f"`{field.name}` {kinds[str(field.type)]}" for field in fields(StagedPart))
    table = _as_arrow(rows.mapInArrow(partial(_part_or_error, staging=staging), f"{columns}, error binary"))
    for error in table["error"].drop_null().to_pylist()[:1]:
        raise pickle.loads(error)
    return [StagedPart(**row) for row in table.drop_columns(["error"]).to_pylist()]


def _part_or_error(batches: Iterable[Any], staging: Staging) -> Iterator[Any]:
    """Yield a row with what was staged, or with an error in the rows; other failures are raised.

    Spark then retries the task.
    """
    import pyarrow as pa

    context = library("pyspark", _EXTRA).TaskContext.get()
    assert context is not None
    row: dict[str, object] = dict.fromkeys([*(field.name for field in fields(StagedPart)), "error"])
    try:
        row |= asdict(stage_groups(batches, staging, context.partitionId()))
    except DatabaseError:
        raise
    except NdcgTrackerError as error:
        row["error"] = pickle.dumps(error)
    kinds = {"int": pa.int64(), "str": pa.string(), "bool": pa.bool_()}
    columns = [(field.name, kinds[str(field.type)]) for field in fields(StagedPart)]
    yield pa.RecordBatch.from_pylist([row], schema=pa.schema([*columns, ("error", pa.binary())]))


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


def staged(frame: Any, columns: Columns, path: str, *, labels_apart: bool = False, is_labels: bool = False) -> None:
    """Write a Spark DataFrame as one Parquet file that ``ingest`` can stream: the rows of a group are contiguous.

    ``frame``: a run (with its labels, unless they are separate), or labels. ``columns``: the names of its columns.
    ``path``: of the file. Executors write the parts into a folder next to it until they are joined, so all executors
    have to share it. Raises: InputError for columns that cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = LABEL_TABLE if is_labels else RUN_APART if labels_apart else RUN_TABLE
    parts = f"{path}.parts"
    rows = _table(frame, columns, wanted, must_have_labels=False)
    rows.repartition("group").sortWithinPartitions("group").write.parquet(parts)
    with ExitStack() as stack:
        writer = None
        for part in sorted(Path(parts).glob("part-*.parquet")):
            for batch in pq.ParquetFile(part).iter_batches(_ROWS_AT_A_TIME):
                if writer is None:
                    writer = stack.enter_context(pq.ParquetWriter(path, batch.schema))
                writer.write_table(pa.Table.from_batches([batch]))
    shutil.rmtree(parts)
    if writer is None:
        raise InputError("there are no rows", advice="give at least one")


def _as_arrow(frame: Any) -> Any:
    import pyarrow as pa

    return frame.toArrow() if hasattr(frame, "toArrow") else pa.Table.from_pandas(frame.toPandas())  # Spark 3.5


def _prepared(
    run: Any,
    metrics: Sequence[str],
    labels: Any | None,
    group: str | None,
    item: str | None,
    score: str | None,
    label: str | None,
    by: str | None,
    *,
    must_have_labels: bool = True,
) -> Any:
    """Return the rows of a run and its labels, the rows of each group contiguous and in one partition."""
    library("pyspark.sql", _EXTRA)
    usable_metrics(metrics)
    if labels is None:
        columns = Columns(group=group, item=item, score=score, label=label)
        rows = _table(run, columns, _JOINT, by, must_have_labels=must_have_labels)
    else:
        of_run = _table(run, Columns(group=group, item=item, score=score), RUN_APART, by)
        rows = _with_labels(of_run, _table(labels, Columns(group=group, item=item, label=label), LABEL_TABLE), by)
    return rows.repartition("group").sortWithinPartitions("group")


def _table(
    frame: Any, columns: Columns, wanted: Wanted, by: str | None = None, *, must_have_labels: bool = True
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
    return frame.select(*chosen)


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
