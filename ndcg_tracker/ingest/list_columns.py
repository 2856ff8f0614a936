"""List columns: one row per group, with arrays of its items, scores or labels, made one row per item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from ndcg_tracker.ingest.columns import IDS
from ndcg_tracker.ingest.places import Places, shown
from ndcg_tracker.rankings.types import Index

_LISTS = (list, tuple, np.ndarray)
_OBJECT = np.dtype(object)
_ONE_FOR_ALL = ("group", "weight")


def list_rows(values: Mapping[str, object], names: Mapping[str, str], group: bytes) -> Iterator[tuple[object, ...]]:
    """Return the rows of one record with lists: its values in the order of ``values``, of which None is null.

    Parameters: ``values``: by role, some of them lists; a weight may be one for all. ``names``: the columns' names.
    Raises: ValueError naming the group for lists of unequal lengths.

    >>> list(list_rows({"item": ["a", "b"], "score": [2, 1]}, {"item": "docs", "score": "scores"}, b"q"))
    [('a', 2), ('b', 1)]
    """
    lists = {role: value for role, value in values.items() if isinstance(value, list)}
    lengths = {role: len(value) for role, value in lists.items()}
    length = next(iter(lengths.values()))
    if set(lengths.values()) != {length}:
        raise ValueError(_unequal(lengths, names, group))
    columns = []
    for role, value in values.items():
        if role in lists:
            columns.append(iter(lists[role]))
        elif value is None or role in _ONE_FOR_ALL:
            columns.append(repeat(value, length))
        else:
            raise ValueError(_no_list(role, next(iter(lists)), names))
    return zip(*columns, strict=True)


def list_array(values: Any) -> Any | None:
    """Return a column of Python lists or NumPy arrays as an Arrow array of lists, None if it is no such column.

    Null for what is no list; NaN among the numbers of a list stays. Raises: what pyarrow does of mixed types.
    """
    import pyarrow as pa

    if getattr(values, "ndim", 1) == 1 and getattr(values, "dtype", _OBJECT) != _OBJECT:
        return None
    first = next((value for value in values if isinstance(value, _LISTS) or not _is_null(value)), None)
    if not isinstance(first, _LISTS) or not all(isinstance(value, _LISTS) or _is_null(value) for value in values):
        return None
    lists = [value if isinstance(value, _LISTS) else None for value in values]
    try:
        return pa.array(lists, from_pandas=False)
    except (
        pa.ArrowInvalid,
        pa.ArrowNotImplementedError,
    ):  # an empty NumPy array is one of doubles, though the others are of text
        return pa.array([value.tolist() if isinstance(value, np.ndarray) else value for value in lists])


def _is_null(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def has_lists(kinds: Iterable[Any]) -> bool:
    """Return whether some of the Arrow types is one of lists."""
    return any(_is_list(kind) for kind in kinds)


def unfolded(arrays: Mapping[str, Any], names: Mapping[str, str], places: Places) -> tuple[dict[str, Any], Index]:
    """Return Arrow arrays of one value per item, made of arrays that hold lists, and each row's number of items.

    Parameters: ``arrays``: by role, of equal length, some with lists; ``group`` holds ids as text. A list of numbers
    that is null is as many nulls. The groups come back in a dictionary. Raises: what ``places`` makes of a row whose
    lists are not of one length, naming its group, and of a column that cannot be unfolded.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_lists = {role: array for role, array in arrays.items() if _is_list(array.type)}
    first = next(iter(of_lists))
    for role in arrays.keys() - of_lists.keys() - set(_ONE_FOR_ALL):
        if arrays[role].null_count < len(arrays[role]):
            raise places.whole(_no_list(role, first, names))
    groups = arrays["group"]
    if groups.null_count:
        row = int(np.argmax(groups.is_null().to_numpy(zero_copy_only=False)))
        raise places.error(row, "the group id is empty; every row needs one")
    given = {
        role: pc.list_value_length(array).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        for role, array in of_lists.items()
    }
    lengths = np.maximum.reduce([np.zeros(len(groups), dtype=np.int64), *given.values()])
    for role, found in given.items():
        wrong = (found != lengths) & ((found >= 0) | (role in IDS))
        wrong &= lengths > 0
        if wrong.any():
            row = int(np.argmax(wrong))
            held = {role: int(found[row]) for role, found in given.items()}
            raise places.error(row, _unequal(held, names, groups[row].as_py()))
    rows = np.repeat(np.arange(len(groups)), lengths)
    codes = pa.array(rows, pa.int32())
    found_arrays: dict[str, Any] = {}
    for role, array in arrays.items():
        if role == "group":
            found_arrays[role] = pa.DictionaryArray.from_arrays(codes, array)
        elif role in of_lists:
            found_arrays[role] = _elements(array, given[role], rows)
        else:
            found_arrays[role] = array.take(codes)
    return found_arrays, lengths


def _elements(array: Any, lengths: Index, rows: Index) -> Any:
    """Return the elements of lists, nulls in the place of a list that is null."""
    import pyarrow as pa

    values = array.flatten()
    missing = lengths[rows] < 0
    if not missing.any():
        return values
    places = np.cumsum(~missing) - 1
    return values.take(pa.array(np.maximum(places, 0), mask=missing))


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)) or str(
        kind
    ).startswith(("list_view<", "large_list_view<"))


def _unequal(lengths: Mapping[str, int], names: Mapping[str, str], group: str | bytes) -> str:
    listed = ", ".join(f"{shown(names[role])} {length if length >= 0 else 'null'}" for role, length in lengths.items())
    return f"the lists of group {shown(group)} differ in length ({listed}); give one value per item in each"


def _no_list(role: str, listed: str, names: Mapping[str, str]) -> str:
    return f"{shown(names[role])} holds single values beside the lists of {shown(names[listed])}; give lists in both"
