"""Metrics over Arrow batches sorted by group, in bounded memory; for Spark and Ray Data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.api.evaluation import Evaluation, parsed_metrics
from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.ingest.cells import Places
from ndcg_tracker.ingest.frames import part_of_labels, part_of_run
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.kernel.mean import GroupValues, aggregated
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import metric_texts
from ndcg_tracker.rankings.groups_share import in_share
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys, keys_of_arrow
from ndcg_tracker.rankings.ranking import NO_ITEMS, LabelLists
from ndcg_tracker.runs.labels import NO_LABELS
from ndcg_tracker.words.notes import Note, in_words
from ndcg_tracker.words.texts import shown

SIDE = "of_labels"
"""The column that marks rows of labels (true), as opposed to rows of the run, if both come in one stream."""
ANY_ITEM = "any_item"
"""The column that says whether any item of these groups has a label."""
OF_GROUPS = {
    "values": "float64",
    "dcg": "float64",
    "ideal_dcg": "float64",
    "reasons": "int8",
    "empty": "bool",
    "n_items": "int64",
    "labelled": "bool",
}
_BLOCK_ROWS = 1 << 19
_LONG_GROUP = 1 << 20  # rows of one group that are held before rows that no metric uses are dropped
_TO_THE_CUTOFF = frozenset({"cg", "dcg", "idcg", "ndcg", "P", "RR", "Success"})
_UP_TO_THE_CUTOFF = frozenset({"gain", "discount", "rel", "ties"})


def usable_metrics(metrics: str | Sequence[str]) -> list[Metric]:
    """Return the metrics that texts name. Raises: MetricError for a metric that depends on the order of rows."""
    parsed = parsed_metrics(metric_texts(metrics))
    for metric in parsed:
        if metric["ties"] == "input":
            raise MetricError(
                "rows of a distributed table have no order", where=metric.requested_as, advice="choose other ties="
            )
    return parsed


def per_group(batches: Iterable[Any], metrics: str | Sequence[str], by: str | None = None) -> Iterator[Any]:
    """Yield the values of metrics for every group, as Arrow batches with the columns [``by``,] group, metric, value.

    Parameters: ``batches``: Arrow record batches with the columns group, item, score and label. The rows of a group
    follow one another, all in the same stream. A null score means judged but not retrieved, a null label unjudged.
    With the column ``of_labels`` (Boolean), labels are in separate rows. ``by``: a column with one value per group.
    ``value`` (float64) is null if the metric is not defined for the group. Of a group with more than a million rows
    only the rows that metrics with cutoffs use are held. Raises: InputError, naming group and item; MetricError.

    >>> import pyarrow as pa
    >>> rows = {"group": ["q", "q", "r"], "item": ["a", "b", "a"], "score": [2.0, 1.0, 1.0], "label": [0, 1, 1]}
    >>> (found,) = per_group([pa.record_batch(rows)], ["ndcg@10", "RR"])
    >>> found.to_pydict()["group"], [round(value, 4) for value in found.to_pydict()["value"]]
    (['q', 'q', 'r', 'r'], [0.6309, 0.5, 1.0, 1.0])
    """
    shown_columns = [*([by] if by is not None else []), "group", "metric", "value"]
    for table in all_of_groups(batches, metrics, by):
        yield from table.select(shown_columns).to_batches()


def all_of_groups(batches: Iterable[Any], metrics: str | Sequence[str], by: str | None = None) -> Iterator[Any]:
    """Yield the tables of ``per_group`` with everything else that ``collected`` needs for an ``Evaluation``."""
    parsed, texts = usable_metrics(metrics), metric_texts(metrics)
    cutoff = _last_rank(parsed)
    for table in whole_groups(batches, lambda table: table if cutoff is None else _shortened(table, cutoff)):
        yield _values(table, parsed, texts, by)


def collected(table: Any, metrics: str | Sequence[str]) -> Evaluation:
    """Return the evaluation in an Arrow table of ``all_of_groups``: groups by id, means as from ``nt.evaluate``.

    Raises: InputError if no group of the run has labels.
    """
    import pyarrow.compute as pc

    texts = tuple(metric_texts(metrics))
    results = []
    for text, metric in zip(texts, usable_metrics(texts), strict=True):
        own = table.filter(pc.equal(table["metric"], text))
        own = own.set_column(own.schema.get_field_index("group"), "group", own["group"].cast("large_string"))
        own = own.sort_by("group").combine_chunks()
        keys = keys_of_arrow(own["group"].chunk(0)) if own.num_rows else Keys.from_bytes([])
        columns = {name: np.asarray(own[name]).astype(kind) for name, kind in OF_GROUPS.items()}
        results.append(aggregated(GroupValues(metric, keys, **columns)))
    if not table.num_rows or not pc.any(pc.and_(table["labelled"], pc.greater_equal(table["n_items"], 0))).as_py():
        raise InputError(
            "no group of the run has labels", advice="give labels of the same groups, with ids written the same way"
        )
    notes = [] if pc.any(table[ANY_ITEM]).as_py() else [Note("no_label")]
    return Evaluation(texts, tuple(results), in_words(notes))


def _last_rank(metrics: Sequence[Metric]) -> int | None:
    """Return the last rank that metrics use, None if one may use every item or its score."""
    last = 0
    for metric in metrics:
        others = {axis for axis, _ in metric.settings} - _UP_TO_THE_CUTOFF
        if metric.cutoff is None or metric.measure not in _TO_THE_CUTOFF or others:
            return None
        last = max(last, metric.cutoff)
    return last


def whole_groups(batches: Iterable[Any], shortened: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield tables of whole groups; the rows of an incomplete group are held back."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole: list[Any] = []
    held: list[Any] = []  # rows of the last group
    limit = _LONG_GROUP
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if not table.num_rows:
            continue
        groups = table["group"]
        if held and groups[0] != held[0]["group"][0]:
            whole, held, limit = [*whole, *held], [], _LONG_GROUP
        others = np.flatnonzero(pc.fill_null(pc.not_equal(groups, groups[-1]), True))
        if others.size:
            first = int(others[-1]) + 1
            whole, held, limit = [*whole, *held, table.slice(0, first)], [table.slice(first)], _LONG_GROUP
        else:
            held.append(table)
        if sum(part.num_rows for part in held) >= limit:
            held = [shortened(pa.concat_tables(held))]
            limit = 2 * held[0].num_rows + _LONG_GROUP
        if sum(part.num_rows for part in whole) >= _BLOCK_ROWS:
            yield pa.concat_tables(whole)
            whole = []
    if whole or held:
        yield pa.concat_tables([*whole, *held])


def in_blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tables of about half a million rows."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(part.num_rows for part in held) >= _BLOCK_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if any(part.num_rows for part in held):
        yield pa.Table.from_batches(held)


def of_share(batches: Iterable[Any], share: Fraction) -> Iterator[Any]:
    """Yield the rows of a share of the groups (see ``in_share``)."""
    import pyarrow as pa

    for batch in batches:
        ids = batch["group"].cast(pa.large_string()).fill_null("")
        yield batch.filter(pa.array(in_share(keys_of_arrow(ids), share)))


def _shortened(table: Any, cutoff: int) -> Any:
    """Return the rows of one group without those that are below the cutoff and have no label."""
    import pyarrow.compute as pc

    scores = np.asarray(pc.fill_null(table["score"].cast("float64"), -np.inf))
    if scores.size <= cutoff:
        return table
    ahead = scores >= np.partition(scores, scores.size - cutoff)[scores.size - cutoff]  # including ties
    kept = ahead | np.asarray(pc.is_valid(table["label"])) | np.isnan(scores)
    return table.filter(kept)


class _Rows(Places):
    """Rows identified by group and item."""

    def __init__(self, table: Any) -> None:
        super().__init__()
        self._table = table

    def place(self, row: int) -> str:
        """Return ``group G, item I``."""
        return ", ".join(f"{role} {shown(str(self._table[role][row]))}" for role in ("group", "item"))

    def mention(self, row: int) -> str:
        """Return how a message calls another row of the same group and item."""
        return "another row"


def run_and_labels(table: Any) -> tuple[RankedTable | None, LabelLists | None]:
    """Return the run and the labels in a table of whole groups, checked; None where it has no row of them."""
    import pyarrow.compute as pc

    if SIDE in table.column_names:
        run, labels = table.filter(pc.invert(table[SIDE])), table.filter(table[SIDE])
    else:
        numbers = [name for name in ("score", "label") if name in table.column_names]
        run, labels = (table.filter(pc.is_valid(table[name])) for name in (*numbers, *["score"] * (2 - len(numbers))))
        labels = labels if len(numbers) == 2 else labels.slice(0, 0)
    nan = np.isnan(np.asarray(run["score"].cast("float64")))
    if nan.any():
        advice = "fix the scores, or, if NaN means not retrieved, make them null"
        raise _Rows(run).error(int(np.argmax(nan)), "the score is nan", advice=advice)
    return (
        part_of_run(run.select(["group", "item", "score"]), _Rows(run)) if run.num_rows else None,
        part_of_labels(labels.select(["group", "item", "label"]), _Rows(labels)) if labels.num_rows else None,
    )


def _values(table: Any, metrics: Sequence[Metric], texts: Sequence[str], by: str | None) -> Any:
    import pyarrow as pa

    run, labels = run_and_labels(table)
    both = judged(NO_ITEMS if run is None else run.run, NO_LABELS if labels is None else labels)
    of_metrics = group_values(both, metrics)
    keys = pa.array(of_metrics[0].group_keys.to_list(), pa.string()).cast(table.schema.field("group").type)
    n_groups, n_metrics = len(keys), len(texts)
    columns = {
        "group": keys.take(pa.array(np.repeat(np.arange(n_groups), n_metrics))),
        "metric": pa.array(list(texts) * n_groups, pa.string()),
        "value": pa.array(_column(of_metrics, "values"), from_pandas=True),
        **{name: pa.array(_column(of_metrics, name).astype(kind)) for name, kind in OF_GROUPS.items()},
        ANY_ITEM: pa.array(np.full(n_groups * n_metrics, both.rows.size > 0)),
    }
    if by is not None:
        columns = {by: _of_groups(table, by, columns["group"]), **columns}
    return pa.table(columns)


def _column(of_metrics: Sequence[GroupValues], name: str) -> NDArray[Any]:
    """Return a column of the values of several metrics, group after group."""
    return np.column_stack([getattr(of_metric, name) for of_metric in of_metrics]).ravel()


def _of_groups(table: Any, by: str, groups: Any) -> Any:
    """Return the only value that a column has in each group."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ranges = pa.TableGroupBy(table.select(["group", by]), "group", use_threads=False).aggregate(
        [(by, "min"), (by, "max")]
    )
    low, high = ranges[f"{by}_min"], ranges[f"{by}_max"]
    for row, (least, greatest) in enumerate(zip(low.to_pylist(), high.to_pylist(), strict=True)):
        if least != greatest:
            group = shown(str(ranges["group"][row]))
            raise InputError(
                f"group {group} has {least!r} and {greatest!r} in column {shown(by)}", advice="give one value per group"
            )
    return low.take(pc.index_in(groups, ranges["group"].combine_chunks())).combine_chunks()
