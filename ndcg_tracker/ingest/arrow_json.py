"""Arrow's JSON parser for blocks of lines: the fast path of JSON lines, held to the exact one's grammar.

Left alone the parser skips keys that it was not told of without a look at their values, takes NaN and Infinity for
numbers, and minds neither two objects in a line nor one object in two lines. So all keys are told to it, as they
stand in the first line, numbers have to be finite, and every line has to begin with a brace and to give one row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from ndcg_tracker.ingest.arrow_columns import Collected
from ndcg_tracker.ingest.blocks import plain_lines
from ndcg_tracker.ingest.columns import IDS
from ndcg_tracker.ingest.list_columns import has_lists, unfolded
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces
from ndcg_tracker.ingest.rows import Rows

_BRACE = 0x7B
_NEWLINE = 0x0A


def json_rows(
    block: bytes, names: Mapping[str, str], first_record: Mapping[str, object], known: Container[str]
) -> tuple[Rows, list[str]]:
    """Return the rows of a block of JSON lines, and the names of the columns there are.

    Parameters: ``names``, the column of each role; ``first_record``, what the first line holds; ``known``, columns
    that earlier rows have. Items and weights that are neither known nor named in any line are left out. Raises:
    DoubtfulError for whatever is not surely fine.
    """
    text = plain_lines(block).rstrip(b"\n")
    types = _types(names, first_record)
    table = _parsed(text, types)
    if table.num_rows != _n_objects(text):
        raise DoubtfulError("not one object per line")
    for name in types.keys() - set(names.values()):
        _refuse_odd_numbers(table.column(name))
    seen = list(first_record)
    seen += [name for name in names.values() if name not in seen and _is_there(text, name, table.column(name))]
    held = {
        role: name for role, name in names.items() if name in seen or name in known or role not in ("item", "weight")
    }
    collected = Collected(NoPlaces())
    for batch in table.to_batches():
        columns = {role: batch.column(batch.schema.get_field_index(name)) for role, name in held.items()}
        if has_lists(column.type for column in columns.values()):
            _refuse_rows_without_lists(columns)
            columns, _ = unfolded(columns, names, NoPlaces())
        for role, column in columns.items():
            if role not in IDS:
                _refuse_odd_numbers(column)
        collected.add(columns)
    return collected.rows(), seen


def _types(names: Mapping[str, str], first_record: Mapping[str, object]) -> dict[str, Any]:
    """Return the Arrow type of every column."""
    import pyarrow as pa

    if len(set(names.values())) < len(names):
        raise DoubtfulError("one column of two roles")
    types: dict[str, Any] = {}
    for name, value in first_record.items():
        if isinstance(value, bool):
            types[name] = pa.bool_()
        elif isinstance(value, (int, float)):
            types[name] = pa.float64()
        elif value is None or isinstance(value, str):
            types[name] = pa.string()
        elif name not in names.values():
            raise DoubtfulError("a nested value")
    for role, name in names.items():
        kind = pa.string() if role in IDS else pa.float64()
        types[name] = pa.list_(kind) if isinstance(first_record.get(name), list) else kind
    return types


def _parsed(text: bytes, types: Mapping[str, Any]) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        schema = pa.schema(list(types.items()))
        parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
        return arrow_json.read_json(pa.BufferReader(text), parse_options=parsing)
    except (pa.ArrowException, UnicodeError) as error:
        raise DoubtfulError(str(error)) from None


def _n_objects(text: bytes) -> int:
    """Return how many lines there are. Raises: DoubtfulError for one that does not begin with a brace."""
    data = np.frombuffer(text, dtype=np.uint8)
    starts = np.insert(np.flatnonzero(data == _NEWLINE) + 1, 0, 0)
    if (data[starts] != _BRACE).any():
        raise DoubtfulError("a line that does not begin with an object")
    return starts.size


def _refuse_odd_numbers(column: Any) -> None:
    """Refuse NaN and infinity, which are no JSON, and -0, which is a whole number and as such has no sign."""
    import pyarrow as pa

    if column.type != pa.float64():
        return
    for array in getattr(column, "chunks", [column]):
        values = np.frombuffer(array.buffers()[1], dtype=np.float64)[array.offset : array.offset + len(array)]
        valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else True
        if (~(np.isfinite(values) & ((values != 0) | ~np.signbit(values))) & valid).any():
            raise DoubtfulError("a number that is no JSON number, or -0")


def _refuse_rows_without_lists(columns: Mapping[str, Any]) -> None:
    """Refuse a line that has none of the lists that others have: it is a row, which a row of null lists is not."""
    listed = [column for column in columns.values() if has_lists([column.type])]
    if np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in listed]).any():
        raise DoubtfulError("a line without lists")


def _is_there(text: bytes, name: str, column: Any) -> bool:
    """Return whether some line names a column, be it with null."""
    if column.null_count < len(column):
        return True
    literal = json.dumps(name, ensure_ascii=False).encode()
    if b"\\" in text or b"\\" in literal:
        raise DoubtfulError("a column without values, and escapes")
    return re.search(re.escape(literal) + rb"[ \t]*:", text) is not None
