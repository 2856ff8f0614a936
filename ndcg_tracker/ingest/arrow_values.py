"""Arrow columns of any type to ids as text and numbers as doubles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ndcg_tracker.ingest.list_columns import has_lists, unfolded
from ndcg_tracker.ingest.places import Places, RowPlaces, shown


def converted(arrays: Mapping[str, Any], names: Mapping[str, str], places: RowPlaces, n_before: int) -> dict[str, Any]:
    """Return the next columns of a table as ``Collected`` takes them: one value per item, ids as text, doubles.

    Parameters: ``arrays``: an Arrow array per role, of any type or of lists of it; ``names``: their columns; ``places``
    of the table's rows, which takes notice of lists; ``n_before``: how many rows came before. Raises: see ``id_array``,
    ``number_array`` and ``ndcg_tracker.ingest.list_columns.unfolded``.
    """
    found = dict(arrays)
    if has_lists(array.type for array in arrays.values()):
        of_lists = places.of_lists()
        found["group"] = id_array(arrays["group"], names["group"], of_lists, 0)
        found, lengths = unfolded(found, names, of_lists)
        places.unfold(lengths)
    else:
        found["group"] = id_array(arrays["group"], names["group"], places, n_before)
    for role in found.keys() - {"group"}:
        if role == "item":
            found[role] = id_array(found[role], names[role], places, n_before)
        else:
            found[role] = number_array(found[role], names[role], role, places)
    return found


def id_array(array: Any, name: str, places: Places, first_row: int) -> Any:
    """Return an Arrow array of ids as valid UTF-8 strings; whole numbers become their decimal text.

    Parameters: ``array``, an Arrow array; ``name``, its column's name; ``first_row``, the row its first value stands
    in. Raises: what ``places`` makes of a type that holds no ids and of bytes that are no UTF-8.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    if kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        text = array
    elif str(kind) in ("string_view", "binary_view") or pa.types.is_fixed_size_binary(kind):
        text = array.cast(pa.large_binary())
    else:
        what = "write them as text" if not pa.types.is_floating(kind) else "convert it to whole numbers or text"
        raise places.whole(f"column {shown(name)} holds {kind}; ids are text or whole numbers: {what}")
    data = text.buffers()[2]
    if data is not None and (np.frombuffer(data, dtype=np.uint8) > 127).any():
        _check_utf8(text, places, first_row)
    return text


def number_array(array: Any, name: str, role: str, places: Places) -> Any:
    """Return an Arrow array of numbers as float64.

    Raises: what ``places`` makes of a type that holds no numbers. Labels may be true or false.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_boolean(kind) and role == "label":
        return array.cast(pa.int8()).cast(pa.float64())
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_type(kind) for is_type in numeric):
        raise places.whole(f"column {shown(name)} holds {kind}; the {role} column needs numbers: convert it")
    if pa.types.is_decimal(kind):
        array = array.cast(pa.string())  # Arrow's own way to double may miss the nearest one
    return array.cast(pa.float64(), safe=False)


def _check_utf8(array: Any, places: Places, first_row: int) -> None:
    import pyarrow as pa

    for row, value in enumerate(array.cast(pa.large_binary()).to_pylist()):
        try:
            _ = value is not None and value.decode()
        except UnicodeDecodeError as error:
            byte = value[error.start]
            raise places.error(first_row + row, f"byte 0x{byte:02x} is not UTF-8; write ids as UTF-8") from None
