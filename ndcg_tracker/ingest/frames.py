"""Runs and labels in memory: frames of any library, dicts of arrays or of lists, nested dicts, named tuples."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, cast

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.arrow import list_array
from ndcg_tracker.ingest.cells import ItemPlaces, Places, WrongValueError
from ndcg_tracker.ingest.columns import (
    DEFAULT_COLUMNS,
    FRAME_AS_DICT,
    IDS,
    LABEL_TABLE,
    RUN_APART,
    RUN_TABLE,
    Columns,
    Deciding,
    Wanted,
    column_name,
    is_frame_as_dict,
    refuse_single,
)
from ndcg_tracker.ingest.formats.jsonl import paths_of_lists, unnamed_lists
from ndcg_tracker.ingest.formats.response_rows import document_rows
from ndcg_tracker.ingest.formats.response_shapes import plain
from ndcg_tracker.ingest.formats.responses import holds_responses
from ndcg_tracker.ingest.objects import (
    Lists,
    OneListEach,
    array_of,
    lists_of,
    numbers_by_order,
    numbers_of,
    refuse_no_lists,
    refuse_no_numbers,
    refuse_one_list,
    table_in,
)
from ndcg_tracker.ingest.plain import checked, id_bytes, warn_of_fractions
from ndcg_tracker.ingest.records import Records, plain_cell, records_of
from ndcg_tracker.ingest.rows import Rows, in_asked_order, in_order_of_lists
from ndcg_tracker.ingest.spans import are_spans, with_items
from ndcg_tracker.ingest.table import RankedTable, label_lists, ranked_blocks, ranked_table
from ndcg_tracker.ingest.tables import NOT_SCORES, Table, lazy_advice, table_of, unreadable
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.rankings.ranking import BY_INPUT, LabelLists
from ndcg_tracker.words.texts import shown

NullScores = Literal["error", "not_retrieved"]
"""What a NaN score means: an error, or an item that was judged but not retrieved."""

_BATCH = 1 << 20  # rows converted at a time


def read_frame(
    frame: object,
    columns: Columns = DEFAULT_COLUMNS,
    *,
    labels_apart: bool = False,
    null_scores: NullScores = "error",
) -> RankedTable:
    """Return the run, labels and weights that a frame holds.

    Parameters: ``frame``, one row per (group, item), never changed. It is a pandas DataFrame, a table that speaks
    Arrow's C stream interface (pyarrow, polars, DuckDB) or the DataFrame interchange protocol, or a dict of arrays.
    It may also be a nested dict ``{group: {item: score}}`` (pytrec_eval, BEIR), a ranx ``Run``, an iterable of named
    tuples or dicts (ir_measures), or a list per group (see ``lists_of``). ``labels_apart``: whether the labels are in
    another table, so that none are read here and items need ids. ``null_scores``: what a NaN score means. A null score
    means judged but not retrieved, a null label means unjudged. None is null; in pandas and Python a NaN label is null
    too. Raises: InputError naming the row or the column.

    >>> table = read_frame({"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]})
    >>> table.ranking.item_keys.to_list(), table.labels
    (['b', 'a'], None)
    >>> read_frame({"q": {"a": 1.0, "b": 2.0}}).ranking.item_keys.to_list()
    ['b', 'a']
    """
    return ranked_table(*_run_rows(frame, columns, labels_apart=labels_apart, null_scores=null_scores))


def frame_blocks(
    frame: object, columns: Columns, *, labels_apart: bool, null_scores: NullScores
) -> Iterator[RankedTable]:
    """Return the result of ``read_frame`` in blocks of whole groups.

    Raises: the errors of ``read_frame``, at once for a table of one block and at any block for a larger one.
    """
    blocks = ranked_blocks(*_run_rows(frame, columns, labels_apart=labels_apart, null_scores=null_scores))
    return chain([next(blocks)], blocks)


def _run_rows(frame: object, columns: Columns, *, labels_apart: bool, null_scores: NullScores) -> tuple[Rows, Places]:
    if null_scores not in ("error", "not_retrieved"):
        raise InputError(
            f"{argument('null_scores', null_scores)} is unknown",
            advice=f"give {argument('null_scores', 'error')} or {argument('null_scores', 'not_retrieved')}",
        )
    wanted = RUN_APART if labels_apart else RUN_TABLE
    frame = plain(frame)
    if holds_responses(frame, columns):
        rows, places = document_rows(None, frame, columns, wanted)
        return rows.as_asked(columns), places
    opened = _opened(frame, columns, wanted)
    if are_spans(opened.header, columns):
        opened = _with_items(opened)
    return _rows(opened, columns, wanted, null_scores).as_asked(columns), opened.places


def rows_of_table(table: object, columns: Columns, wanted: Wanted, places: Places) -> tuple[Rows, Places]:
    """Return the rows of a table that the reader of a package returned, and their places."""
    try:
        opened = replace(_opened(table, columns, wanted), places=places)
    except InputError as error:
        raise cast("InputError", places.whole(**error.told)) from None
    return _rows(opened, columns, wanted), places


def rows_of_spans(records: Records, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of a run in a file whose items are spans (see ``are_spans``), and their places."""
    records = with_items(records)
    names = columns.names(records.header, wanted, records.refused)
    cells = list(records.rows(list(map(records.header.index, names.values()))))
    of_roles = {role: [row[at] for row in cells] for at, role in enumerate(names)}
    for role in of_roles.keys() - IDS:  # a number may be written as text
        of_roles[role] = [of.encode(errors="replace") if isinstance(of, str) else of for of in of_roles[role]]
    return in_asked_order(checked(of_roles, records.places), columns, names), records.places


def _with_items(frame: Table) -> Table:
    """Return a frame of spans with their ids as its last column."""
    records, n = with_items(records_of(frame)), len(frame.header)

    def column(place: int, role: str) -> Any:
        return frame.column(place, role) if place < n else [item for (item,) in records.rows([n])]

    return replace(frame, header=records.header, column=column)


def label_records(frame: object, columns: Columns) -> Records:
    """Return the records of labels in memory, whose cells may be anything."""
    return records_of(_opened(plain(frame), columns, LABEL_TABLE))


def read_label_frame(frame: object, columns: Columns = DEFAULT_COLUMNS, *, are_answers: bool = False) -> LabelLists:
    """Return the labels of a frame with one row per (group, item); see ``read_frame``. Errors begin with "labels:".

    ``are_answers``: whether people had to fill them in.

    >>> read_label_frame({"group": ["q"], "item": ["a"], "label": [3]}).grades.tolist()
    [3.0]
    """
    try:
        frame = plain(frame)
        if holds_responses(frame, columns):
            rows, places = document_rows(None, frame, columns, LABEL_TABLE)
            return label_lists(rows.as_asked(columns), places, are_answers=are_answers)
        opened = _opened(frame, columns, LABEL_TABLE)
        rows = _rows(opened, columns, LABEL_TABLE).as_asked(columns)
        if rows.in_order and are_answers:
            raise InputError("the answers are items without grades", advice="give {group: {item: grade}}")
        return label_lists(rows, opened.places, are_answers=are_answers)
    except InputError as error:
        raise error.at("labels") from None


def part_of_run(table: Any, places: Places) -> RankedTable:
    """Return a part of a run: whole groups, in an Arrow table with the columns group, item and score."""
    return ranked_table(
        _rows(replace(table_of(table), places=places), DEFAULT_COLUMNS, RUN_APART), places, is_part=True
    )


def part_of_labels(table: Any, places: Places) -> LabelLists:
    """Return a part of the labels: whole groups, in an Arrow table with the columns group, item and label."""
    return label_lists(_rows(replace(table_of(table), places=places), DEFAULT_COLUMNS, LABEL_TABLE), places)


_IF_NAN = f"fix the scores, or, if NaN means not retrieved, give {argument('null_scores', 'not_retrieved')}"
_OBJECT = np.dtype(object)
_HOLDERS = (list, tuple, dict)
_OF_TABLES = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
_PLAIN_NUMBERS = {int, float, bool, type(None), np.float64, np.float32, np.int64}
_RELEVANT = "relevant"  # the role of items without grades; their order does not matter


def _rows(frame: Table, columns: Columns, wanted: Wanted, null_scores: NullScores = "error") -> Rows:
    import pyarrow as pa

    from ndcg_tracker.ingest.arrow import Collected, are_fractions, converted, has_lists, values_of_lists

    places, asked = frame.places, columns
    columns = DEFAULT_COLUMNS if frame.is_plain else columns
    arrays: dict[str, Any] = {}

    def fetch(name: str, role: str, kind: str = "") -> Any:
        if role not in arrays:
            arrays[role] = _array(frame.column(frame.header.index(name), kind or role), name, kind or role)
        return arrays[role]

    number, of_items = ("label", _RELEVANT) if wanted is LABEL_TABLE else ("score", "item")
    names, in_order = columns.names_or_order(
        frame.header, wanted, places.whole, lambda name: has_lists([fetch(name, "item", of_items).type])
    )
    for role, name in names.items():
        try:
            fetch(name, role)
        except InputError:
            if role != "rank":  # it may be another column with this name
                raise
    if in_order:
        names[number], arrays[number] = number, numbers_by_order(arrays["item"], number)
        if number == "score":
            OneListEach(places).check(arrays["group"])
    elif has_lists(array.type for array in arrays.values()):
        arrays = values_of_lists(arrays)
    _refuse_lengths(names, arrays, places)
    nan_is_null = frame.nan_is_null | ({"score"} if null_scores == "not_retrieved" else frozenset())
    table = pa.table(list(arrays.values()), names=list(arrays)).unify_dictionaries()
    of_lists = has_lists(table.schema.types)
    are_distinct = frame.dictionaries_are_distinct and not of_lists
    collected = Collected(places, nan_is_null=nan_is_null, dictionaries_are_distinct=are_distinct, if_nan=_IF_NAN)
    for batch in table.to_batches(max_chunksize=_BATCH if of_lists else None):
        parts = {role: batch.column(role) for role in arrays}
        collected.add(converted(parts, names, places, collected.n_rows))
    warn_of_fractions({role for role in IDS if role in arrays and are_fractions(arrays[role].type)})
    rows = replace(collected.rows(), in_order=in_order)
    lists = frame.lists
    if lists is None:
        return in_asked_order(rows, columns, names)
    deciding: Deciding = "ranks" if asked.by_rank and asked.score is None else "scores"
    rows = replace(rows, tie_order=BY_INPUT, in_order=lists.numbers is None, ranks=lists.ranks, deciding=deciding)
    if asked.documents is not None and lists.are_documents:
        rows = replace(rows, documents=asked.documents.for_column(asked.documents.rule))
    return in_order_of_lists(rows, asked, are_found=lists.are_found)


def _refuse_lengths(names: Mapping[str, str], arrays: Mapping[str, Any], places: Places) -> None:
    """Refuse columns of different lengths, and say so if the group column holds the sizes of the groups."""
    lengths = {role: len(array) for role, array in arrays.items()}
    others = {length for role, length in lengths.items() if role != "group"}
    if len({*others, lengths["group"]}) == 1:
        return
    group = shown(names["group"])
    if len(others) == 1 and str(arrays["group"].type).lstrip("u").startswith("int"):
        sizes = arrays["group"].to_pylist()
        n_rows = others.pop()
        if all(size is not None and size > 0 for size in sizes) and sum(sizes) == n_rows:
            raise places.whole(
                f"column {group} holds the sizes of {len(sizes)} groups, which add up to the {n_rows} rows",
                advice="give one id per row, such as numpy.repeat(numpy.arange(len(sizes)), sizes)",
            )
    listed = ", ".join(f"{shown(names[role])} {length}" for role, length in lengths.items())
    raise places.whole(f"the columns differ in length ({listed})", advice="give one value per row in each")


def _opened(frame: Any, columns: Columns, wanted: Wanted) -> Table:
    """Return a frame as a table: one of a library, or the lists of the groups."""
    if type(frame).__module__.partition(".")[0] == "ranx" and hasattr(frame, "to_dict"):
        frame = frame.to_dict()  # a Run or Qrels: its own dict is a numba dict, slow to iterate over
    if type(frame).__name__ == "LazyFrame":
        raise _unreadable(frame)
    pandas: Any = sys.modules.get("pandas")
    is_series = pandas is not None and isinstance(frame, pandas.Series)
    frame = _lists_by_group(frame) if is_series else table_in(frame)
    if isinstance(frame, Mapping):
        values = list(frame.values())
        if any(isinstance(value, Mapping) and value for value in values):
            values = [{} if isinstance(value, list | tuple | Set) and not value else value for value in values]
        if values and all(isinstance(value, Mapping) for value in values):
            return _opened_nested([*frame], values, "label" if wanted is LABEL_TABLE else "score")
        lists = lists_of(frame, columns, wanted)
        if lists is not None:
            return _opened_lists(lists, wanted)
        refuse_no_lists(frame, columns)
        return table_of(frame)
    if any(hasattr(frame, name) for name in _OF_TABLES):
        return table_of(frame, columns)
    if not isinstance(frame, Iterable) or isinstance(frame, str | bytes) or lazy_advice(frame) is not None:
        raise _unreadable(frame)
    records = list(frame)
    if not records:
        raise InputError("there are no rows", advice="give at least one")
    if isinstance(records[0], Mapping) and all(isinstance(record, Mapping) for record in records):
        _refuse_unnamed_lists(records[0], columns, wanted)
    elif not hasattr(records[0], "_fields"):
        lists = lists_of(records, columns, wanted)
        if lists is not None:
            return _opened_lists(lists, wanted)
        refuse_one_list(records)
        raise _unreadable(frame)
    return table_of(records)


def _lists_by_group(series: Any) -> Any:
    """Return a pandas Series of lists as a dict by the ids of its index, any other Series unchanged."""
    if series.index.nlevels > 1:
        what = "a Series with an index of several levels is not a table"
        raise InputError(what, advice="call .reset_index() on it, and name its column with score=")
    values = series.tolist()
    if not values or not isinstance(values[0], list | tuple | Set | np.ndarray):
        raise _unreadable(series)
    if not series.index.is_unique:
        group = series.index[series.index.duplicated()][0]
        raise InputError(f"group {shown(str(group))} is in the index twice", advice="give one list per group")
    return dict(zip(series.index.tolist(), values, strict=True))


def _opened_nested(groups: Sequence[object], lists: Sequence[Mapping[object, object]], number: str) -> Table:
    """Return a dict of dicts as a table of group, item and ``number``."""
    if is_frame_as_dict(groups, [*lists[0]]):
        raise InputError(FRAME_AS_DICT, advice="give the frame itself, or its to_dict('list')")
    items: list[object] = list(chain.from_iterable(lists))
    numbers: list[object] = list(chain.from_iterable(held.values() for held in lists))
    if not {type(next(iter(held.values()), None)) for held in lists} <= _PLAIN_NUMBERS:
        refuse_no_numbers(groups, lists)
    lengths = np.array([len(held) for held in lists], dtype=np.int64)
    places = ItemPlaces("", groups, np.cumsum(lengths), items.__getitem__)
    return _table_of_lists(groups, lengths, {"item": items, number: numbers}, places)


def _opened_lists(lists: Lists, wanted: Wanted) -> Table:
    """Return lists as a table of group, item and number; without numbers, the order gives scores, presence grades.

    >>> frame = {"q": [("a", 0.5), ("b", 0.7)]}
    >>> _rows(_opened(frame, DEFAULT_COLUMNS, RUN_APART), DEFAULT_COLUMNS, RUN_APART).scores.tolist()
    [0.5, 0.7]
    """
    is_labels = wanted is LABEL_TABLE
    numbers = cast("Any", lists.numbers)
    if numbers is None:
        numbers = np.ones(len(lists.items)) if is_labels else 0.0 - places_in(lists.lengths)
    of_items = {"item": lists.items, "label" if is_labels else "score": numbers}
    return replace(_table_of_lists(lists.groups, lists.lengths, of_items, lists.places), lists=lists)


def _table_of_lists(groups: Sequence[object], lengths: Index, of_items: Mapping[str, Any], places: ItemPlaces) -> Table:
    """Return a table of the group of each list, and of what its items have."""
    import pyarrow as pa

    def column(place: int, role: str) -> Any:
        if place:
            return [*of_items.values()][place - 1]
        codes = pa.array(np.repeat(np.arange(len(groups), dtype=np.int32), lengths))
        return pa.DictionaryArray.from_arrays(codes, _array(groups, "group", "group"))

    return Table(["group", *of_items], column, NOT_SCORES, places, is_plain=True)


def _refuse_unnamed_lists(record: Mapping[Any, object], columns: Columns, wanted: Wanted) -> None:
    """Refuse records without an item and a score that have a list, which may be the list of results."""
    lists = paths_of_lists(record)
    if not lists or columns.by_row_number or {"score", "rank"} & record.keys():
        return
    header = list(map(column_name, record))
    names = columns.likely_names([*header, *columns.asked_beside(header, wanted)], wanted, InputError)
    item = names.get("item", "item")
    if item not in header:
        raise unnamed_lists(item, lists, InputError)


def _unreadable(frame: object) -> InputError:
    taken = "a path, a frame (pandas, polars, Arrow and others), a dict of arrays, {query: {document: number}} or "
    return unreadable(frame, f"{taken}{{query: [documents]}}")


def _array(values: Any, name: str, role: str) -> Any:
    """Return a pandas or Python column as an Arrow array, NaN as null except in scores."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    refuse_single(values, name)
    values = array_of(values, f"column {shown(name)}")
    if role == _RELEVANT:
        values = [list(value) if isinstance(value, Set) else value for value in values]
    if isinstance(values, Set):
        raise InputError(f"column {shown(name)} is a {type(values).__name__}, which has no order", advice="give a list")
    _refuse_kinds(values, name, role)
    try:
        lists = list_array(values)
        return pa.array(values, from_pandas=role != "score") if lists is None else lists
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError) as error:
        if role in IDS:
            return pa.array(_ids(values, name), type=pa.string())
        plain = numbers_of(values)
        if plain is not None:
            return _array(plain, name, role)
        reason = " ".join(str(error).split())
        raise InputError(f"column {shown(name)} does not hold plain numbers ({reason})", advice="convert it") from None


def _refuse_kinds(values: Any, name: str, role: str) -> None:
    """Refuse Python objects that Arrow would misread, or that would crash the process by their nesting."""
    if getattr(values, "dtype", _OBJECT) != _OBJECT:
        return
    kinds = set(map(type, values))
    inner = kinds.intersection(_HOLDERS)
    if inner:
        holders = [value for value in values if type(value) in inner]
        within = set(map(type, chain.from_iterable(x.values() if isinstance(x, dict) else x for x in holders)))
        if within.intersection(_HOLDERS):
            advice = "give one value, or one list of values, per row"
            raise InputError(f"column {shown(name)} holds nested values", advice=advice)
        kinds |= within
    unordered = next((kind for kind in kinds if issubclass(kind, Set)), None)
    if unordered is not None and role != _RELEVANT:
        what = f"column {shown(name)} holds a {unordered.__name__}, which has no order"
        raise InputError(what, advice="give lists")
    if role in ("score", "weight") and kinds.intersection((bool, np.bool_)):
        what = f"column {shown(name)} holds bool; the {role} column needs numbers"
        raise InputError(what, advice="convert it", joint=": ")


def _ids(values: Any, name: str) -> list[str | None]:
    """Return ids of mixed types as text: strings as they are, whole numbers in decimal."""
    ids: list[str | None] = []
    for row, value in enumerate(values):
        cell = plain_cell(value, nan_is_null=True)
        try:
            ids.append(None if cell is None else id_bytes(cell, name).decode())
        except WrongValueError as error:
            raise error.at(f"row {row + 1}") from None
    return ids
