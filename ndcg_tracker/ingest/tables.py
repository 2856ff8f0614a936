"""Tables in memory of any library: the names of their columns, and the values of each, as the library holds them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import Places, RowPlaces
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, IDS, NUMBERS, Columns, column_name, conventional_names
from ndcg_tracker.ingest.objects import Lists
from ndcg_tracker.words.texts import in_a_row, shown

NOT_SCORES = frozenset(NUMBERS) - {"score"}
_TAKEN = "a path, a frame (pandas, polars, Arrow and others) or a dict of arrays"


@dataclass(frozen=True, slots=True)
class Table:
    """A table in memory: ``column`` returns the values of a place, for a role.

    ``nan_is_null``: the roles in which NaN is null. ``is_plain``: whether the columns have our own names, so that no
    convention applies. ``dictionaries_are_distinct``: whether dictionaries in the columns are known to have distinct
    values. ``lists``: the lists that the table was, if it was lists.
    """

    header: list[str]
    column: Callable[[int, str], Any]
    nan_is_null: frozenset[str] = frozenset()
    places: Places = field(default_factory=RowPlaces)
    is_plain: bool = False
    dictionaries_are_distinct: bool = False
    lists: Lists | None = None


def table_of(frame: Any, columns: Columns = DEFAULT_COLUMNS) -> Table:
    """Return a frame of any library, a dict of columns, or a list of dicts or named tuples (InputError for others)."""
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        held: Any = frame
        header = [column_name(column) for column in held.columns]
        levels = [str(level) for level in held.index.names if level is not None and level not in header]
        if held.columns.nlevels > 1:
            what = "the columns of the frame have several levels"
            raise InputError(what, advice="give it columns of one level, for example with .stack()")
        if {*levels} & {*IDS, *map(columns.given, IDS)} or any(conventional_names(role, levels) for role in IDS):
            what = f"{in_a_row([shown(level) for level in levels])} {'is' if len(levels) == 1 else 'are'} the index"
            raise InputError(f"{what} of the frame", advice="call .reset_index() on it")
        return Table(header, lambda place, _: held.iloc[:, place], NOT_SCORES, dictionaries_are_distinct=True)
    if isinstance(frame, Mapping):
        values = list(frame.values())
        if pandas is not None:
            _refuse_other_indexes([value for value in values if isinstance(value, pandas.Series)])
        return Table(list(map(column_name, frame)), lambda place, _: values[place], NOT_SCORES)
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return _of_arrow(frame)
    if hasattr(frame, "__dataframe__"):
        return _of_interchange(frame.__dataframe__())
    first: Any = frame[0] if isinstance(frame, list) and frame else None
    if isinstance(first, Mapping) and all(isinstance(row, Mapping) for row in frame):
        return table_of({key: [row.get(key) for row in frame] for key in dict.fromkeys(chain.from_iterable(frame))})
    if hasattr(first, "_fields"):
        other = next((row for row, record in enumerate(frame) if type(record) is not type(first)), None)
        if other is not None:
            kinds = f"a {type(first).__name__} and row {other + 1} a {type(frame[other]).__name__}"
            raise InputError(f"row 1 is {kinds}", advice="give rows of one kind")
        return table_of(dict(zip(first._fields, zip(*frame, strict=True), strict=True)))
    raise unreadable(frame)


def _refuse_other_indexes(columns: Sequence[Any]) -> None:
    """Refuse pandas Series that pandas itself would not join by position."""
    if any(not column.index.equals(columns[0].index) for column in columns):
        raise InputError(
            "the columns are pandas Series with different indexes", advice="give a DataFrame, which aligns them"
        )


def _of_arrow(frame: object) -> Table:
    import pyarrow as pa

    try:
        table: Any = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"cannot read a {type(frame).__name__} as a table ({reason})", advice=f"give {_TAKEN}"
        ) from None
    return Table([str(name) for name in table.column_names], lambda place, _: table.column(place))


def _of_interchange(frame: Any) -> Table:
    """Return a frame that speaks the DataFrame interchange protocol, which may write null as NaN."""
    from pyarrow import ArrowException
    from pyarrow.interchange import from_dataframe

    header = [str(name) for name in frame.column_names()]
    written_as_nan = 1

    def column(place: int, role: str) -> Any:
        try:
            array = from_dataframe(frame.select_columns([place])).column(0)
        except (ArrowException, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"column {shown(header[place])} cannot be read ({reason})", advice="convert it") from None
        if role == "score" and frame.get_column(place).describe_null[0] == written_as_nan:
            return array.fill_null(float("nan"))
        return array

    return Table(header, column, NOT_SCORES)


def lazy_advice(frame: object) -> str | None:
    """Return how to turn a lazy frame into one with rows, None for a frame that is not lazy."""
    if type(frame).__name__ == "LazyFrame":
        return ".collect()"
    return next((f".{name}()" for name in ("toPandas", "to_pandas", "compute") if hasattr(frame, name)), None)


def unreadable(frame: object, taken: str = _TAKEN) -> InputError:
    """Return the error for an object that holds no table; ``taken``: what does."""
    kind, advice = type(frame).__name__, lazy_advice(frame)
    if advice is not None:
        return InputError(f"a {kind} has not loaded its rows", advice=f"call its {advice} first")
    return InputError(f"cannot read a {kind}", advice=f"give {taken}")
