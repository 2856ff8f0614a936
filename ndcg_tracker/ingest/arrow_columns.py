"""Arrow columns to the columns of a table, without a Python object per row."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from ndcg_tracker.ingest.places import Places
from ndcg_tracker.ingest.ranks import Ranks
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Bytes, Floats, Index


class Collected:
    """Grows a table chunk by chunk from Arrow arrays.

    ``places`` says what a wrong value's row is called; ``nan_is_null``: the roles in which NaN means null instead of
    being one of the wrong values.
    """

    def __init__(self, places: Places, *, nan_is_null: Container[str] = ()) -> None:
        self._places = places
        self._nan_is_null = nan_is_null
        self._groups = _GrowingKeys()
        self._items = _GrowingKeys()
        self._lengths: list[Index] = []
        self._numbers: dict[str, list[Floats]] = {}
        self._ranks: list[Ranks] = []
        self.n_rows = 0

    def add(self, columns: dict[str, Any]) -> None:
        """Add rows: per role an Arrow array of equal length, ids as string or binary, numbers as float64, ranks
        as int32.

        Groups may be in a dictionary. Raises: what ``places`` makes of an id that is null and of a number that is NaN
        or infinite.
        """
        groups = columns["group"]
        if not len(groups):
            return
        self._refuse_null_ids(groups, "group")
        if hasattr(groups, "dictionary"):
            codes = _view(groups.indices, np.int32)
            firsts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
            known = _GrowingKeys()
            known.add(groups.dictionary)
            self._groups.add_keys(known.keys().take(codes[firsts]))
            self._lengths.append(np.diff(firsts, append=codes.size))
        else:
            import pyarrow.compute as pc  # it takes a while, and CSV does without

            runs = pc.run_end_encode(groups)
            self._groups.add(runs.values)
            self._lengths.append(np.diff(_view(runs.run_ends, np.int32), prepend=0).astype(np.int64))
        if "item" in columns:
            self._refuse_null_ids(columns["item"], "item")
            self._items.add(columns["item"])
        for role in ("score", "label", "weight"):
            if role in columns:
                self._numbers.setdefault(role, []).append(self._finite(columns[role], role))
        if "rank" in columns:
            self._ranks.append(_view(columns["rank"], np.int32))
        self.n_rows += len(groups)

    def rows(self) -> Rows:
        """Return the table; the collection is empty afterwards, so that nothing is held twice."""
        lengths = np.concatenate(self._lengths) if self._lengths else np.zeros(0, dtype=np.int64)
        numbers = {role: np.concatenate(self._numbers.pop(role)) for role in list(self._numbers)}
        items = self._items.keys() if self._items.n_keys or not self.n_rows else None
        return Rows(
            self._groups.keys(),
            lengths,
            items,
            numbers.get("score"),
            numbers.get("label"),
            numbers.get("weight"),
            np.concatenate(self._ranks) if self._ranks else None,
        )

    def _refuse_null_ids(self, array: Any, role: str) -> None:
        if array.null_count:
            row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
            raise self._places.error(self.n_rows + row, f"the {role} id is empty; every row needs one")

    def _finite(self, array: Any, role: str) -> Floats:
        values: Floats = array.to_numpy(zero_copy_only=False) if array.null_count else _view(array, np.float64)
        wrong = np.isinf(values) if role in self._nan_is_null else ~np.isfinite(values)
        if array.null_count:
            wrong &= array.is_valid().to_numpy(zero_copy_only=False)
        if wrong.any():
            row = int(np.argmax(wrong))
            what = f"the {role} is {values[row]}; use a finite number, or null for none"
            raise self._places.error(self.n_rows + row, what)
        return values


class _GrowingKeys:
    """A column of ids that grows by Arrow arrays."""

    def __init__(self) -> None:
        self._data: list[Bytes] = []
        self._offsets: list[Index] = []
        self._n_bytes = 0
        self.n_keys = 0

    def add(self, array: Any) -> None:
        """Add the ids of a string, large_string, binary or large_binary array without nulls."""
        if not len(array):
            return
        wide = str(array.type).startswith("large_")
        _, offset_buffer, data_buffer = array.buffers()
        dtype = np.int64 if wide else np.int32
        every_offset = np.frombuffer(offset_buffer, dtype=dtype)
        offsets = every_offset[array.offset : array.offset + len(array) + 1].astype(np.int64)
        data = np.zeros(0, dtype=np.uint8) if data_buffer is None else np.frombuffer(data_buffer, dtype=np.uint8)
        self.add_keys(Keys(data, offsets))

    def add_keys(self, keys: Keys) -> None:
        """Add the ids of a column."""
        start, end = int(keys.offsets[0]), int(keys.offsets[-1])
        if end > start:
            self._data.append(keys.data[start:end])
        self._offsets.append(keys.offsets[1:] + (self._n_bytes - start))
        self._n_bytes += end - start
        self.n_keys += len(keys)

    def keys(self) -> Keys:
        """Return all ids as one column; nothing is left here."""
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), *self._offsets])
        self._offsets.clear()
        data = np.concatenate(self._data) if self._data else np.zeros(0, dtype=np.uint8)
        self._data.clear()
        return Keys(data, offsets)


def _view(array: Any, dtype: type[np.generic]) -> Any:
    """Return the values of a primitive array without nulls; unlike ``to_numpy`` this does not import pandas."""
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=array.offset + len(array))[array.offset :]
