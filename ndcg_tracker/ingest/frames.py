"""Frames in memory: pandas, Arrow (and what speaks its C interface), dicts of arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, IDS, LABEL_TABLE, RUN_TABLE, Columns, Wanted
from ndcg_tracker.ingest.list_columns import list_array
from ndcg_tracker.ingest.places import RowPlaces, shown
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.table import RankedTable, label_lists, ranked_table
from ndcg_tracker.rankings.ranking import LabelLists

_BATCH = 1 << 20  # rows converted at a time


def read_frame(frame: object, columns: Columns = DEFAULT_COLUMNS) -> RankedTable:
    """Return the run, labels and weights that a frame holds.

    Parameters: ``frame``, a pandas DataFrame, a pyarrow Table, anything else that speaks Arrow's C stream interface,
    or a dict of arrays; one row per (group, item). It is never changed. A null score means judged but not retrieved,
    a null label unjudged; in pandas and dicts NaN is null, in Arrow it is an error. Raises: InputError naming the
    row or the column.

    >>> table = read_frame({"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]})
    >>> table.ranking.item_keys.to_list(), table.labels
    (['b', 'a'], None)
    """
    places = RowPlaces()
    return ranked_table(_rows(frame, columns, RUN_TABLE, places), places)


def read_label_frame(frame: object, columns: Columns = DEFAULT_COLUMNS) -> LabelLists:
    """Return the labels that a frame holds, one row per (group, item); see ``read_frame``.

    >>> read_label_frame({"group": ["q"], "item": ["a"], "label": [3]}).grades.tolist()
    [3.0]
    """
    places = RowPlaces()
    return label_lists(_rows(frame, columns, LABEL_TABLE, places), places)


def _rows(frame: object, columns: Columns, wanted: Wanted, places: RowPlaces) -> Rows:
    import pyarrow as pa

    from ndcg_tracker.ingest.arrow_columns import Collected
    from ndcg_tracker.ingest.arrow_values import converted

    header, column, nan_is_null = _opened(frame)
    found = columns.positions(header, wanted, places.whole)
    arrays = {role: column(place, role in IDS) for role, place in found.items()}
    lengths = {columns.name_of(role): len(array) for role, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length ({listed}); give one value per row in each")
    collected = Collected(places, nan_is_null=nan_is_null)
    names = {role: columns.name_of(role) for role in arrays}
    table = pa.table(list(arrays.values()), names=list(arrays))
    for batch in table.to_batches(max_chunksize=_BATCH):
        parts = {role: batch.column(role) for role in arrays}
        collected.add(converted(parts, names, places, collected.n_rows))
    return collected.rows()


def _opened(frame: object) -> tuple[list[str], Callable[[int, bool], Any], bool]:
    """Return a frame's column names, a function from a column's place to its Arrow array, and whether NaN is null."""
    import pyarrow as pa

    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        header = [_name(column) for column in frame.columns]
        return header, lambda place, ids: _array(frame.iloc[:, place], header[place], ids), True
    if isinstance(frame, Mapping):
        names, values = [_name(key) for key in frame], list(frame.values())
        return names, lambda place, ids: _array(values[place], names[place], ids), True
    if not isinstance(frame, pa.Table) and not hasattr(frame, "__arrow_c_stream__"):
        kind = type(frame).__name__
        raise InputError(f"cannot read a {kind}; give a pandas DataFrame, a pyarrow Table or a dict of arrays")
    table: Any = pa.table(frame)
    return [str(name) for name in table.column_names], lambda place, ids: table.column(place), False


def _name(label: object) -> str:
    return label if isinstance(label, str) else repr(label)


def _array(values: Any, name: str, ids: bool) -> Any:
    """Return a pandas or Python column as an Arrow array, NaN as null."""
    import pyarrow as pa

    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise InputError(f"column {shown(name)} is a single {type(values).__name__}; give one value per row")
    try:
        lists = list_array(values)
        return pa.array(values, from_pandas=True) if lists is None else lists
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError) as error:
        if ids:
            return pa.array(_ids(values, name), type=pa.string())
        reason = " ".join(str(error).split())
        raise InputError(f"column {shown(name)} holds no plain numbers ({reason}); convert it") from None


def _ids(values: Any, name: str) -> list[str | None]:
    """Return ids of mixed types as text: strings as they are, whole numbers in decimal."""
    import numpy as np

    ids: list[str | None] = []
    for row, value in enumerate(values):
        if isinstance(value, (bytes, np.bytes_)):
            value = value.decode(errors="surrogateescape")
        if value is None or value != value or type(value).__name__ == "NAType":
            ids.append(None)
            continue
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            value = str(int(value))
        if not isinstance(value, str):
            kind = type(value).__name__
            raise InputError(f"row {row + 1}: {shown(name)} holds a {kind}; ids are text or whole numbers")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise InputError(f"row {row + 1}: {shown(name)} is no valid text; write ids as UTF-8") from None
        ids.append(str(value))
    return ids
