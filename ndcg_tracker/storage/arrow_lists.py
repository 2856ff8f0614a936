"""Arrow's view of columns of text and of numbers, made without a copy and without importing pandas.

``pyarrow.array`` and ``pyarrow.scalar`` look for pandas objects in what they are given and so import pandas, which
takes longer than all that Arrow does here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ndcg_tracker.rankings.types import Bytes, Floats, Index


def text_column(data: Bytes | bytes, offsets: Index) -> Any:
    """Return texts as Arrow's large strings: text ``i`` is ``data[offsets[i]:offsets[i + 1]]`` in UTF-8.

    >>> text_column(b"abc", np.array([0, 1, 3])).to_pylist()
    ['a', 'bc']
    """
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)


def number_column(values: Floats) -> Any:
    """Return doubles as Arrow's.

    >>> number_column(np.array([0.5, -0.0])).to_pylist()
    [0.5, -0.0]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def text_of_doubles(values: Floats) -> Any:
    """Return the shortest decimal of each finite double that gives back the same double, as Arrow's large strings.

    >>> text_of_doubles(np.array([0.1, -0.0, 1e22, 5e-324])).to_pylist()
    ['0.1', '-0', '1e+22', '5e-324']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(number_column(values), pa.large_string())


def parsed_doubles(texts: Any) -> Floats:
    """Return the double nearest to each decimal: the inverse of ``text_of_doubles``.

    >>> parsed_doubles(text_of_doubles(np.array([0.1, -0.0]))).tolist()
    [0.1, -0.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    doubles = pc.cast(texts, pa.float64())
    return np.frombuffer(doubles.buffers()[1], dtype=np.float64, count=len(doubles))


def split_text(text: bytes, separator: str) -> Any:
    """Return the parts of a text in UTF-8 as Arrow's large strings.

    >>> split_text(b"a,bc", ",").to_pylist()
    ['a', 'bc']
    """
    import pyarrow.compute as pc

    return pc.split_pattern(text_column(text, np.array([0, len(text)])), separator).flatten()


def joined_texts(texts: Any, offsets: Index, edges: tuple[bytes, bytes, bytes]) -> list[str]:
    """Return the texts of each list in one text: what stands before, between and after them is given by ``edges``.

    Parameters: ``texts``, Arrow's large strings. ``offsets``: int64, shape (n_lists + 1,), from 0, where each list
    begins.

    >>> joined_texts(text_column(b"abc", np.arange(4)), np.array([0, 2, 3]), (b"[", b",", b"]"))
    ['[a,b]', '[c]']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = np.cumsum([0, *(len(edge) for edge in (*edges, b""))])
    before, between, after, nothing = text_column(b"".join(edges), ends)
    starts = pa.Array.from_buffers(pa.int64(), offsets.size, [None, pa.py_buffer(np.ascontiguousarray(offsets))])
    joined = pc.binary_join(pa.LargeListArray.from_arrays(starts, texts), between)
    whole: list[str] = pc.binary_join_element_wise(before, joined, after, nothing).to_pylist()
    return whole
