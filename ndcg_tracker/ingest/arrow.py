"""Arrow columns of any type, and Arrow's CSV parser, to the columns of a table, without a Python object per row."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.ingest.cells import (
    YES_OR_NO,
    DoubtfulError,
    NoPlaces,
    Places,
    Ranks,
    RowPlaces,
    rank_of,
    whole_ranks,
)
from ndcg_tracker.ingest.columns import IDS
from ndcg_tracker.ingest.plain import ONE_FOR_ALL, no_list, unequal
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BOM
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import first_codes
from ndcg_tracker.rankings.keys import BLOCK, Keys, keys_of_arrow
from ndcg_tracker.words.texts import shown

_LISTS = (list, tuple, np.ndarray)
_OBJECT = np.dtype(object)
_FINITE = "use a finite number, or null for none"
_ASCII = 127
_MOST_VALUES = 8  # per row: a dictionary with more is decoded, because checking it costs more than checking the rows
Number = TypeVar("Number", bound=np.generic)


class Collected:
    """Grows a table chunk by chunk from Arrow arrays.

    ``places`` names the row of a wrong value in errors; ``nan_is_null``: the roles in which NaN means null; in all
    other roles NaN is an error. ``dictionaries_are_distinct``: whether the values of Arrow dictionaries are known to
    be distinct, so that this need not be checked. ``if_nan``: what to do about a score that is NaN.
    """

    def __init__(
        self,
        places: Places,
        *,
        nan_is_null: Container[str] = (),
        dictionaries_are_distinct: bool = False,
        if_nan: str = _FINITE,
    ) -> None:
        self._places = places
        self._nan_is_null, self._if_nan = nan_is_null, if_nan
        self._keys_of = partial(_keys_of, dictionary_is_distinct=dictionaries_are_distinct)
        self._groups: list[Keys] = []
        self._items: list[Keys] = []
        self._lengths: list[Index] = []
        self._numbers: dict[str, list[Floats]] = {}
        self._ranks: list[Ranks] = []
        self.n_rows = 0

    def add(self, columns: dict[str, Any]) -> None:
        """Add rows: per role an Arrow array of equal length, ids as string, binary or int64 or in a dictionary, numbers
        as float64 or int64, ranks of any of these types.

        Raises: the error of ``places`` for an id that is null and for a number that is NaN or infinite.
        """
        groups = columns["group"]
        if not len(groups):
            return
        self._refuse_null_ids(groups, "group")
        keys, lengths = _text_spans(groups) if _is_text(groups) else _spans(self._keys_of(groups))
        self._groups.append(keys)
        self._lengths.append(lengths)
        if "item" in columns:
            self._refuse_null_ids(columns["item"], "item")
            self._items.append(self._keys_of(columns["item"]))
        for role in ("score", "label", "weight"):
            if role in columns:
                self._numbers.setdefault(role, []).append(self._finite(columns[role], role))
        if "rank" in columns:
            self._ranks.append(_ranks(columns["rank"]))
        self.n_rows += len(groups)

    def rows(self) -> Rows:
        """Return the table; this empties the collection, so that nothing is held twice."""
        lengths = _joined(self._lengths) if self._lengths else np.zeros(0, dtype=np.int64)
        numbers = {role: _joined(self._numbers.pop(role)) for role in list(self._numbers)}
        return Rows(
            _joined_keys(self._groups),
            lengths,
            _joined_keys(self._items) if self._items or not self.n_rows else None,
            numbers.get("score"),
            numbers.get("label"),
            numbers.get("weight"),
            _joined(self._ranks) if self._ranks else None,
        )

    def _refuse_null_ids(self, array: Any, role: str) -> None:
        if array.null_count:
            row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
            raise self._places.error(self.n_rows + row, f"the {role} id is empty; every row needs one")

    def _finite(self, array: Any, role: str) -> Any:
        if str(array.type) == "int64" and not array.null_count:
            return _view(array, np.int64)
        values: Floats = array.to_numpy(zero_copy_only=False) if array.null_count else _view(array, np.float64)
        wrong = np.isinf(values) if role in self._nan_is_null else ~np.isfinite(values)
        if array.null_count:
            wrong &= array.is_valid().to_numpy(zero_copy_only=False)
        if wrong.any() and role == "score":
            masked = np.isneginf(values)  # an item that was not retrieved
            values, wrong = np.where(masked, np.nan, values), wrong & ~masked
        if wrong.any():
            row = int(np.argmax(wrong))
            advice = self._if_nan if role == "score" and values[row] != values[row] else _FINITE
            raise self._places.error(self.n_rows + row, f"the {role} is {values[row]}", advice=advice)
        return values


def _ranks(array: Any) -> Ranks:
    """Return the ranks of an Arrow array of numbers, ``NO_RANK`` where a value is not a whole number."""
    if str(array.type) == "int32" and not array.null_count:
        return cast("Ranks", _view(array, np.int32))
    return whole_ranks(array.to_numpy(zero_copy_only=False).astype(np.float64))


def _joined(parts: list[NDArray[Number]]) -> NDArray[Number]:
    """Return the parts of a column as one array and empty the list; a single part is not copied."""
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    parts.clear()
    return whole


def _joined_keys(parts: list[Keys]) -> Keys:
    """Return the parts of a column of ids in one (see ``_joined``)."""
    whole = parts[0] if len(parts) == 1 else Keys.joined(parts)
    parts.clear()
    return whole


def _is_text(array: Any) -> bool:
    return str(array.type).endswith(("string", "binary"))


def _text_spans(array: Any) -> tuple[Keys, Index]:
    """Return the result of ``_spans`` for an Arrow array of text; unsorted values go into a dictionary."""
    import pyarrow.compute as pc  # slow to import, and CSV does without it

    n_rows = len(array)
    some = array[: min(n_rows, BLOCK)]
    if 2 * len(pc.run_end_encode(some).values) > len(some) and n_rows > len(some):
        coded = array.dictionary_encode()
        keys = Keys.from_numbers(_view(coded.indices, np.int32), keys_of_arrow(coded.dictionary))
        return keys, np.broadcast_to(np.int64(1), n_rows)
    runs = pc.run_end_encode(array)
    lengths = np.diff(_view(runs.run_ends, np.int32), prepend=0).astype(np.int64)
    return keys_of_arrow(runs.values), lengths


def _spans(keys: Keys) -> tuple[Keys, Index]:
    """Return the ids of a column, spans of equal ids once, and how long each span is."""
    numbers, n_rows = keys.numbers, len(keys)
    if numbers is None:
        later = np.arange(1, n_rows)
        starts = np.append(True, ~keys.equal(later, keys, later - 1))
    else:
        starts = np.append(True, numbers[1:] != numbers[:-1])
    if 2 * np.count_nonzero(starts) > n_rows:  # unsorted: each row is a span, which takes no memory
        return keys, np.broadcast_to(np.int64(1), n_rows)
    firsts = np.flatnonzero(starts)
    return keys.take(firsts), np.diff(firsts, append=n_rows)


def _keys_of(array: Any, *, dictionary_is_distinct: bool) -> Keys:
    """Return the ids of an Arrow array without nulls, as ``id_array`` gives it."""
    if hasattr(array, "dictionary"):
        import pyarrow as pa

        keys = keys_of_arrow(array.dictionary)
        codes = _view(array.indices.cast(pa.int32()), np.int32)
        if dictionary_is_distinct or first_codes(keys)[1].size == len(keys):
            return Keys.from_numbers(codes, keys)
        return keys.take(codes)
    return Keys.from_numbers(_view(array, np.int64)) if str(array.type) == "int64" else keys_of_arrow(array)


def _view(array: Any, dtype: type[np.generic]) -> Any:
    """Return the values of a primitive array without nulls; unlike ``to_numpy`` this does not import pandas."""
    return np.frombuffer(array.buffers()[1], dtype=dtype, count=array.offset + len(array))[array.offset :]


def converted(arrays: Mapping[str, Any], names: Mapping[str, str], places: Places, n_before: int) -> dict[str, Any]:
    """Return the next columns of a table as ``Collected`` takes them: one value per item, ids as text, doubles.

    Parameters: ``arrays``: an Arrow array per role, of any type or of lists of it; ``names``: their columns; ``places``
    of the table's rows, which records the lengths of lists; ``n_before``: how many rows came before. Raises: see
    ``id_array``, ``number_array`` and ``ndcg_tracker.ingest.arrow.unfolded``.
    """
    columns = dict(arrays)
    if "rank" in columns and has_lists(array.type for role, array in arrays.items() if role != "rank") is not has_lists(
        [columns["rank"].type]
    ):
        del columns["rank"]  # another column with this name
    if isinstance(places, RowPlaces) and has_lists(array.type for array in columns.values()):
        of_lists = places.of_lists()
        columns["group"] = id_array(arrays["group"], names["group"], of_lists, 0)
        columns, lengths = unfolded(columns, names, of_lists)
        places.unfold(lengths)
    else:
        columns["group"] = id_array(arrays["group"], names["group"], places, n_before)
    for role in columns.keys() - {"group"}:
        if role == "item":
            columns[role] = id_array(columns[role], names[role], places, n_before)
        elif role == "rank":
            if not _is_number(columns[role].type):
                del columns[role]  # another column with this name
        else:
            columns[role] = number_array(columns[role], names[role], role, places)
    return columns


def id_array(array: Any, name: str, places: Places, first_row: int) -> Any:
    """Return an Arrow array of ids as valid UTF-8 strings, alone or in a dictionary, or as 64-bit whole numbers.

    Parameters: ``array``, an Arrow array; ``name``, its column's name; ``first_row``, the row of its first value.
    Raises: the error of ``places`` for a type that cannot hold ids and for bytes that are not UTF-8.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        values = array.dictionary
        if str(values.type).endswith("string") and not values.null_count and len(values) <= _MOST_VALUES * len(array):
            data = values.buffers()[2]
            if data is None or not (np.frombuffer(data, dtype=np.uint8) > _ASCII).any():
                return array
        array = _decoded(array)
    kind = array.type
    if pa.types.is_integer(kind):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:
            return array.cast(pa.string())
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_floating(kind):
        return _whole_numbers(array, name, places, first_row)
    if str(kind) == "extension<arrow.uuid>":
        return _uuid_texts(array.storage)
    if kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        text = array
    elif str(kind) in ("string_view", "binary_view") or pa.types.is_fixed_size_binary(kind):
        text = array.cast(pa.large_binary())
    else:
        what = f"column {shown(name)} holds {kind}; ids are text or whole numbers"
        raise places.whole(what, advice="write them as text", joint=": ")
    data = text.buffers()[2]
    if data is not None and (np.frombuffer(data, dtype=np.uint8) > _ASCII).any():
        _check_utf8(text, places, first_row)
    return text


def _whole_numbers(array: Any, name: str, places: Places, first_row: int) -> Any:
    """Return ids that came as doubles (such as whole numbers after a join with nulls) as 64-bit whole numbers."""
    import pyarrow as pa

    is_there = array.is_valid().to_numpy(zero_copy_only=False)
    values = array.fill_null(0).to_numpy(zero_copy_only=False)
    gap = 2.0 ** (np.finfo(values.dtype).nmant + 1)  # from here on doubles skip whole numbers
    wrong = is_there & ~((values == np.floor(values)) & (np.abs(values) < gap))
    if not wrong.any():
        return pa.array(values.astype(np.int64), mask=~is_there)
    row = int(np.argmax(wrong))
    value = float(values[row])
    if value.is_integer():
        why, advice = f", and from {gap:.0f} on {array.type} skips whole numbers", "give whole numbers or text"
    else:
        why, advice = "; ids are text or whole numbers", "convert it"
    raise places.error(first_row + row, f"{shown(name)} holds {value!r}{why}", advice=advice)


def are_fractions(kind: Any) -> bool:
    """Return whether an Arrow type is one of floating-point numbers, alone or in lists or a dictionary."""
    return str(getattr(kind, "value_type", kind)) in ("halffloat", "float", "double")


_DASHES = (8, 12, 16, 20)  # the digits before which there is a dash
_UUID_BYTES = 16


def _uuid_texts(array: Any) -> Any:
    """Return UUIDs, 16 bytes each, as text."""
    import pyarrow as pa

    n = len(array)
    first = array.offset * _UUID_BYTES
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8, count=first + n * _UUID_BYTES)[first:]
    digits = np.frombuffer(data.tobytes().hex().encode(), dtype=np.uint8).reshape(n, 2 * _UUID_BYTES)
    letters = np.insert(digits, _DASHES, ord("-"), axis=1)
    ends = np.arange(n + 1, dtype=np.int64) * letters.shape[1]
    texts = pa.LargeStringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(letters))
    if not array.null_count:
        return texts
    return pa.array(texts.to_pylist(), pa.large_string(), mask=array.is_null().to_numpy(zero_copy_only=False))


def number_array(array: Any, name: str, role: str, places: Places) -> Any:
    """Return an Arrow array of numbers as float64, or as int64 if it already is.

    Raises: the error of ``places`` for a type that cannot hold numbers. Labels may be true or false.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = _decoded(array)
    kind = array.type
    if pa.types.is_boolean(kind) and role == "label":
        return array.cast(pa.int8()).cast(pa.float64())
    if role == "label" and str(kind) in ("string", "large_string", "string_view"):
        answers = [None if text is None else YES_OR_NO.get(text.lower().encode()) for text in array.to_pylist()]
        if answers.count(None) == array.null_count:
            return pa.array(answers, pa.float64())
    if not (_is_number(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
        raise places.whole(
            f"column {shown(name)} holds {kind}; the {role} column needs numbers", advice="convert it", joint=": "
        )
    if pa.types.is_decimal(kind):
        array = array.cast(pa.string())  # Arrow's own cast may miss the nearest double
    if kind == pa.int64() and not array.null_count and role != "weight":
        return array  # converted to doubles block by block
    return array.cast(pa.float64(), safe=False)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _decoded(array: Any) -> Any:
    """Return the values of a dictionary array: pandas' categories, polars' Categorical and Enum."""
    import pyarrow as pa

    values = array.dictionary
    if str(values.type) in ("string_view", "binary_view"):  # Arrow cannot take rows of these
        plain = pa.large_string() if str(values.type) == "string_view" else pa.large_binary()
        array = pa.DictionaryArray.from_arrays(array.indices, values.cast(plain))
    return array.dictionary_decode()


def _check_utf8(array: Any, places: Places, first_row: int) -> None:
    import pyarrow as pa

    for row, value in enumerate(array.cast(pa.large_binary()).to_pylist()):
        try:
            _ = value is not None and value.decode()
        except UnicodeDecodeError as error:
            byte = value[error.start]
            raise places.error(
                first_row + row, f"byte 0x{byte:02x} is not UTF-8", advice="write ids as UTF-8"
            ) from None


def list_array(values: Any) -> Any | None:
    """Return a column of Python lists or NumPy arrays as an Arrow array of lists, None for any other column.

    Values that are not lists become null; NaN inside a list stays. Raises: pyarrow's errors for mixed types.
    """
    import pyarrow as pa

    if getattr(values, "dtype", _OBJECT) != _OBJECT:
        if getattr(values, "ndim", 1) == 1:
            return None
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] and values.dtype.kind in "iuf":
            return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
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


def values_of_lists(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns with each list replaced by its only value, where every list has one: shape (n, 1)."""
    import pyarrow.compute as pc

    of_lists = {role: array for role, array in arrays.items() if role != "rank" and _is_list(array.type)}
    for array in of_lists.values():
        if (
            not len(array)
            or array.null_count
            or pc.min_max(pc.list_value_length(array)).as_py() != {"min": 1, "max": 1}
        ):
            return dict(arrays)
    return {**arrays, **{role: pc.list_flatten(array) for role, array in of_lists.items()}}


def unfolded(arrays: Mapping[str, Any], names: Mapping[str, str], places: Places) -> tuple[dict[str, Any], Index]:
    """Return Arrow arrays of one value per item, unfolded from arrays of lists, and each row's number of items.

    Parameters: ``arrays``: by role, of equal length, some with lists; ``group`` holds ids as ``id_array`` gives them. A
    list of numbers that is null is as many nulls. Groups of text come back in a dictionary. Raises: the error of
    ``places`` for a row whose lists differ in length, naming its group, and for a column that cannot be unfolded.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_lists = {role: array for role, array in arrays.items() if _is_list(array.type)}
    first = next(iter(of_lists))
    for role in arrays.keys() - of_lists.keys() - set(ONE_FOR_ALL):
        if arrays[role].null_count < len(arrays[role]):
            raise no_list(role, first, names, places.whole)
    groups = arrays["group"]
    if groups.null_count:
        row = int(np.argmax(groups.is_null().to_numpy(zero_copy_only=False)))
        raise places.error(row, "the group id is empty; every row needs one")
    given = {
        role: pc.list_value_length(array).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        for role, array in of_lists.items()
    }
    lengths = np.maximum.reduce([np.zeros(len(groups), dtype=np.int64), *given.values()])
    for role, counts in given.items():
        wrong = (counts != lengths) & ((counts >= 0) | (role in IDS))
        wrong &= lengths > 0
        if wrong.any():
            row = int(np.argmax(wrong))
            held = {role: int(counts[row]) for role, counts in given.items()}
            raise unequal(held, names, groups[row].as_py(), partial(places.error, row))
    rows = np.repeat(np.arange(len(groups)), lengths)
    codes = pa.array(rows, pa.int32())
    per_item: dict[str, Any] = {}
    for role, array in arrays.items():
        if role == "group":
            per_item[role] = pa.DictionaryArray.from_arrays(codes, array) if _is_text(array) else array.take(codes)
        elif role in of_lists:
            per_item[role] = _elements(array, given[role], rows)
        else:
            per_item[role] = array.take(codes)
    return per_item, lengths


def _elements(array: Any, lengths: Index, rows: Index) -> Any:
    """Return the elements of lists, and nulls for a list that is null."""
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


class ArrowCsv:
    """Turns blocks of lines into rows.

    Parameters: ``delimiter``, one byte. ``n_columns``: how many each line has. ``columns``: the place of each role.
    ``quoting``: whether cells may be quoted and empty cells mean null. ``checked``: prepares a block for Arrow and
    raises DoubtfulError where it cannot. It has to close the gaps between Arrow's grammar and the exact one (see
    ``blocks``): Arrow takes a carriage return for a line end, skips a BOM, and ignores what follows a closing quote.
    """

    def __init__(
        self,
        delimiter: bytes,
        n_columns: int,
        columns: Mapping[str, int],
        *,
        quoting: bool,
        checked: Callable[[bytes], bytes],
    ) -> None:
        import pyarrow as pa
        import pyarrow.csv as csv

        self._checked = checked
        self._columns = {role: str(place) for role, place in columns.items()}
        types = {name: pa.string() if role in IDS else pa.float64() for role, name in self._columns.items()}
        self._rank = self._columns.get("rank")
        if self._rank is not None:
            types[self._rank] = pa.int32()
        types[self._columns["group"]] = pa.dictionary(pa.int32(), pa.string())  # most lines repeat the one before
        # no threads of Arrow's own: blocks are parsed side by side
        self._reading = csv.ReadOptions(column_names=[str(place) for place in range(n_columns)], use_threads=False)
        self._parsing = csv.ParseOptions(delimiter=delimiter.decode(), quote_char='"' if quoting else False)
        self._converting = self._conversion(types, quoting=quoting)
        self._as_it_stands = self._rank and self._conversion({**types, self._rank: pa.string()}, quoting=quoting)

    def rows(self, blocks: Iterable[bytes]) -> Rows:
        """Return the rows of blocks of lines.

        Raises: DoubtfulError for lines of another number of columns and for what is not a finite number.
        """
        collected = Collected(NoPlaces(), dictionaries_are_distinct=True)
        for table in mapped(self._table, blocks):
            for batch in () if table is None else table.to_batches():
                collected.add({role: batch.column(name) for role, name in self._columns.items()})
        return collected.rows()

    def _table(self, block: bytes) -> Any:
        """Return the Arrow table of a block, None if it has no rows."""
        import pyarrow as pa
        import pyarrow.csv as csv

        text = self._checked(block)
        if text[:1] in (b"", b"\n") and not text.strip(b"\n"):
            return None
        if text.startswith(BOM):
            raise DoubtfulError("a BOM inside the file")
        try:
            return csv.read_csv(pa.BufferReader(text), self._reading, self._parsing, self._converting)
        except pa.ArrowInvalid as error:
            if self._rank is None:
                raise DoubtfulError(str(error)) from None
        try:  # it may be a rank that is not a number, which is allowed
            table = csv.read_csv(pa.BufferReader(text), self._reading, self._parsing, self._as_it_stands)
        except pa.ArrowInvalid as error:
            raise DoubtfulError(str(error)) from None
        point = (
            b".0" if self._parsing.quote_char else b""
        )  # what pandas writes after them in a column with an empty cell
        texts = table.column(self._rank).to_pylist()
        ranks = pa.array([rank_of((text or "").encode().removesuffix(point)) for text in texts], type=pa.int32())
        return table.set_column(table.column_names.index(self._rank), self._rank, ranks)

    def _conversion(self, types: Mapping[str, Any], *, quoting: bool) -> Any:
        import pyarrow.csv as csv

        return csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=[""] if quoting else [],
            strings_can_be_null=False,
            check_utf8=False,
        )
