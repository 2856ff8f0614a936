"""Ids as Arrow arrays of text and back, without a copy and without importing pandas.

``pyarrow.array`` and ``pyarrow.scalar`` check their input for pandas objects and so import pandas, which takes longer
than all of Arrow's work here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ndcg_tracker.rankings import Bytes, Index
from ndcg_tracker.rankings.keys import Keys


def arrow_texts(data: Bytes | bytes, offsets: Index, *, binary: bool = False) -> Any:
    """Return texts as Arrow's large strings: text ``i`` is ``data[offsets[i]:offsets[i + 1]]`` in UTF-8.

    Parameters: ``offsets``: int64, shape (n_texts + 1,). ``binary``: as large binary values, which need not be UTF-8.

    >>> arrow_texts(b"abc", np.array([0, 1, 3])).to_pylist()
    ['a', 'bc']
    """
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary() if binary else pa.large_string(), offsets.size - 1, buffers)


def keys_of_arrow(array: Any) -> Keys:
    """Return the ids of an Arrow array of (large) strings or (large) binary values without nulls.

    >>> keys_of_arrow(arrow_texts(b"abc", np.array([0, 1, 3])).slice(1)).to_list()
    ['bc']
    """
    _, offset_buffer, data_buffer = array.buffers()
    if not len(array):
        return Keys.from_bytes([])
    dtype = np.int64 if str(array.type).startswith("large_") else np.int32
    offsets = np.frombuffer(offset_buffer, dtype=dtype)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = np.zeros(0, dtype=np.uint8) if data_buffer is None else np.frombuffer(data_buffer, dtype=np.uint8)
    start = int(offsets[0])
    return Keys(data[start : offsets[-1]], offsets - start if start else offsets)
