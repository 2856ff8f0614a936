"""Parquet files as a random source makes them, and what they mean by the values that they were made from."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .grammar import RUN, RefusedError, Table
from .grammar.table import Faults, Role, Row, table

Columns = Mapping[str, Sequence[Any]]

_IDS = (pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.int64(), pa.uint8())
_NUMBERS = (pa.float64(), pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.decimal128(12, 3), pa.float16())
_WRONG_IDS = (pa.float64(), pa.bool_(), pa.timestamp("us"), pa.list_(pa.int64()))
_WRONG_NUMBERS = (pa.string(), pa.timestamp("us"), pa.list_(pa.float64()), pa.bool_())
_ROLES = {"run": ("group", "item", "score", "label", "weight"), "labels": ("group", "item", "label")}


def parquet_file(random: Random, role: Role) -> bytes:
    """Return a Parquet file of a run or of labels, now and then with a column or a value that is wrong."""
    number = "score" if role == RUN else "label"
    names = [name for name in ("item", "score", "label", "weight", "text") if name == number or random.random() < 0.6]
    names = ["group", *names]
    if random.random() < 0.03:
        names.remove(random.choice(("group", number)))
    random.shuffle(names)
    n_rows = random.choice((0, 1, 2, 3, 5, 8))
    arrays = [_array(random, name, n_rows) for name in names]
    buffer = io.BytesIO()
    pq.write_table(
        pa.table(dict(zip(names, arrays, strict=True))),
        buffer,
        row_group_size=random.choice((1, 2, 1000)),
        compression=random.choice(("none", "snappy", "zstd", "gzip")),
        write_page_checksum=random.random() < 0.5,
        data_page_version=random.choice(("1.0", "2.0")),
        use_dictionary=random.random() < 0.5,
    )
    return buffer.getvalue()


def parquet_table(content: bytes, role: Role) -> Table:
    """Return what a Parquet file means. Raises: RefusedError; what pyarrow raises for a file it cannot read."""
    with pq.ParquetFile(io.BytesIO(content), page_checksum_verification=True) as file:
        names = file.schema_arrow.names
        kept = [name for name in _ROLES[role] if name in names]
        if any(names.count(name) > 1 for name in kept) or not {"group", _ROLES[role][2]} <= set(kept):
            raise RefusedError([None], "a column is missing or stands twice")
        found = file.read(columns=kept)
        n_promised = file.metadata.num_rows
    faults = Faults()
    if found.num_rows != n_promised:
        faults.add(None, f"{found.num_rows} rows, {n_promised} promised")
    columns = {name: _values(found.column(name), name, faults) for name in kept}
    if not all(len(values) == found.num_rows for values in columns.values()):
        faults.check()
    rows = [
        Row(number, *(columns[name][number - 1] if name in columns else None for name in _ROLES["run"]))
        for number in range(1, found.num_rows + 1)
    ]
    for row in rows:
        for value in (row.score, row.label, row.weight):
            if value is not None and not -float("inf") < value < float("inf"):
                faults.add(row.line, "no finite number")
    return table(rows, faults, role, has_items="item" in columns, has_weights="weight" in columns)


def _array(random: Random, name: str, n_rows: int) -> pa.Array:
    if name in ("group", "item", "text"):
        kind = random.choice(_IDS if random.random() < 0.97 else _WRONG_IDS)
    else:
        kind = random.choice(_NUMBERS if random.random() < 0.97 else _WRONG_NUMBERS)
        if name == "label" and random.random() < 0.1:
            kind = random.choice((pa.bool_(), pa.null()))
    values = [_value(random, kind, name, place) for place in range(n_rows)]
    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, kind)


def _value(random: Random, kind: Any, name: str, place: int) -> Any:
    is_number = name not in ("group", "item", "text")
    if pa.types.is_null(kind) or random.random() < (0.1 if name in ("score", "label") else 0.01):
        return None
    if pa.types.is_boolean(kind):
        return random.random() < 0.5
    if pa.types.is_timestamp(kind) or pa.types.is_integer(kind):
        return abs(place // 2 if name == "group" else place + random.choice((0, 0, 0, 1)))
    if pa.types.is_list(kind):
        return [1]
    if pa.types.is_decimal(kind):
        return Decimal(random.randint(0, 9999)) / 1000
    if is_number and pa.types.is_floating(kind):
        wrong = random.random() < 0.02
        value = random.choice((float("nan"), float("inf"), -1e39, 1e300)) if wrong else random.uniform(0, 9)
        return _half(value) if pa.types.is_float16(kind) else value
    if pa.types.is_floating(kind):
        return float(place)
    text = f"{'q' if name == 'group' else 'é'}{place // 2 if name == 'group' else place}"
    if random.random() < 0.02:
        text = random.choice(("", "a\0b", "x" * 2001, "\u2028", "q0"))
    if pa.types.is_binary(kind):
        return b"\xff" if random.random() < 0.02 else text.encode()
    return text


def _half(value: float) -> Any:
    import numpy as np

    return np.float16(min(max(value, -60000.0), 60000.0))


def _values(column: Any, name: str, faults: Faults) -> list[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if name in ("group", "item"):
        return _ids(column, kind, faults)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_type(kind) for is_type in numbers) and not (pa.types.is_boolean(kind) and name == "label"):
        faults.add(None, f"{name} is {kind}")
        return []
    return [None if value is None else float(value) for value in column.to_pylist()]


def _ids(column: Any, kind: Any, faults: Faults) -> list[bytes | None]:
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if not (is_text or is_bytes or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        faults.add(None, f"an id of {kind}")
        return []
    found: list[bytes | None] = []
    values = column.cast(pa.large_binary()).to_pylist() if is_text else column.to_pylist()
    for row, value in enumerate(values, 1):
        text = value if isinstance(value, bytes | None) else str(value).encode()
        try:
            _ = text is None or text.decode("utf-8", "strict")
        except UnicodeDecodeError:
            faults.add(row, "no UTF-8")
        found.append(text)
    return found
