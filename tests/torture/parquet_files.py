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
_REQUIRED = {"run": {"group", "score"}, "labels": {"group", "item", "label"}}


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
    if random.random() < 0.3:
        arrays = _folded(random, names, arrays)
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
        number = _has_only_lists(file.schema_arrow, role)
        if any(names.count(name) > 1 for name in kept) or not _REQUIRED[role] <= {*kept, number}:
            raise RefusedError([None], "a column is missing or stands twice")
        found = file.read(columns=kept)
        n_promised = file.metadata.num_rows
    faults = Faults()
    if found.num_rows != n_promised:
        faults.add(None, f"{found.num_rows} rows, {n_promised} promised")
    if number is not None:
        found = _with_numbers(found, number, faults)
        kept.append(number)
    found, row_numbers = _unfolded(found, faults)
    columns = {name: _values(found.column(name), name, faults, row_numbers) for name in kept}
    if not all(len(values) == found.num_rows for values in columns.values()):
        faults.check()
    rows = [
        Row(number, *(columns[name][place] if name in columns else None for name in _ROLES["run"]))
        for place, number in enumerate(row_numbers)
    ]
    for row in rows:
        for value in (row.score, row.label, row.weight):
            if value is not None and not -float("inf") < value < float("inf"):
                faults.add(row.line, "no finite number")
    return table(rows, faults, role, has_items="item" in columns, has_weights="weight" in columns)


def _has_only_lists(schema: Any, role: Role) -> str | None:
    """Return the role of the numbers that lists of items come without, None if there are numbers or no lists."""
    if not {"group", "item"} <= {*schema.names} or not pa.types.is_list(schema.field("item").type):
        return None
    number = "score" if role == RUN else "label"
    return None if {number, "score"} & {*schema.names} else number


def _with_numbers(found: Any, number: str, faults: Faults) -> Any:
    """Return a table of lists with their numbers: the order of a run's only list per group, or 1 per relevant item."""
    if number == "score":
        groups = found.column("group").to_pylist()
        for row, group in enumerate(groups):
            if group in groups[:row]:
                faults.add(row + 1, "two lists without scores")
    lists = [range(len(items or [])) for items in found.column("item").to_pylist()]
    numbers = [[-float(place) if number == "score" else 1.0 for place in places] for places in lists]
    return found.append_column(number, pa.array(numbers, pa.list_(pa.float64())))


def _unfolded(found: Any, faults: Faults) -> tuple[Any, list[int]]:
    """Return a table with one row per element of its lists, and the row, from 1, that each element stood in."""
    lists = [name for name in found.column_names if pa.types.is_list(found.schema.field(name).type)]
    if not lists:
        return found, list(range(1, found.num_rows + 1))
    alone = [name for name in found.column_names if name not in (*lists, "group", "weight")]
    if "group" in lists or any(found.column(name).null_count < found.num_rows for name in alone):
        raise RefusedError([None, *range(1, found.num_rows + 1)], "a single value beside lists")
    flat: dict[str, list[Any]] = {name: [] for name in found.column_names}
    numbers: list[int] = []
    for number, row in enumerate(found.to_pylist(), 1):
        lengths = {len(row[name]) for name in lists if row[name] is not None}
        if row["group"] is None:
            faults.add(number, "no group")
        if isinstance(row["group"], bytes) and b"\xff" in row["group"]:
            faults.add(number, "no UTF-8")
        if len(lengths) > 1 or (any(lengths) and "item" in lists and row["item"] is None):
            faults.add(number, "lists of unequal lengths")
            continue
        length = max(lengths, default=0)
        numbers += [number] * length
        for name, value in row.items():
            flat[name] += value if name in lists and value is not None else [value] * length
    kinds = {name: found.schema.field(name).type for name in found.column_names}
    kinds |= {name: kinds[name].value_type for name in lists}
    return pa.table({name: _of_kind(values, kinds[name]) for name, values in flat.items()}), numbers


def _folded(random: Random, names: Sequence[str], arrays: Sequence[Any]) -> list[Any]:
    """Return the arrays with most of them as lists of one length per row, but for a few that are too short or null."""
    n_rows = len(arrays[0])
    lengths = [random.choice((0, 1, 1, 2, 3)) for _ in range(n_rows)]
    folded = []
    for name, array in zip(names, arrays, strict=True):
        if name in ("group", "text") or random.random() < (0.7 if name == "weight" else 0.02):
            folded.append(array)
            continue
        lists = []
        for place, length in enumerate(lengths):
            value = array[place].as_py()
            others = [_another(value, place) for place in range(1, length)]
            wrong = random.random() < 0.01
            lists.append(None if random.random() < 0.02 else [value, *others][: length + wrong])
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        folded.append(pa.array(lists, pa.list_(kind)))
    return folded


def _another(value: Any, place: int) -> Any:
    if isinstance(value, str):
        return f"{value}{place}"
    return 10 * place if type(value) is int else value


def _of_kind(values: Sequence[Any], kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type)
    return pa.array(values, kind)


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


def _values(column: Any, name: str, faults: Faults, row_numbers: Sequence[int]) -> list[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if name in ("group", "item"):
        return _ids(column, kind, faults, row_numbers)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    is_null = pa.types.is_string(kind) and column.null_count == len(
        column
    )  # text may be yes or no, which is not made here
    if not any(is_type(kind) for is_type in numbers) and not (
        name == "label" and (pa.types.is_boolean(kind) or is_null)
    ):
        faults.add(None, f"{name} is {kind}")
        return []
    found = [None if value is None else float(value) for value in column.to_pylist()]
    return [None if name == "score" and value == -float("inf") else value for value in found]  # which is not retrieved


def _ids(column: Any, kind: Any, faults: Faults, row_numbers: Sequence[int]) -> list[bytes | None]:
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    is_whole = pa.types.is_floating(kind)  # as whole numbers are after a join with nulls
    if not (is_text or is_bytes or is_whole or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        for row in (None, *row_numbers):  # whose own fault may be found first
            faults.add(row, f"an id of {kind}")
        return []
    found: list[bytes | None] = []
    values = column.cast(pa.large_binary()).to_pylist() if is_text else column.to_pylist()
    for row, value in zip(row_numbers, values, strict=True):
        if isinstance(value, float):
            if not value.is_integer() or abs(value) >= 2**53:
                faults.add(row, "an id that is no whole number")
                continue
            value = int(value)
        text = value if isinstance(value, bytes | None) else str(value).encode()
        try:
            _ = text is None or text.decode("utf-8", "strict")
        except UnicodeDecodeError:
            faults.add(row, "no UTF-8")
        found.append(text)
    return found
