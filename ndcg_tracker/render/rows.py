"""Typed rows as plain Python values, for JSON, CSV and frames: one walk over the dataclasses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from ndcg_tracker.words.notes import Note, note_text

_PLAIN = frozenset([str, int, float, bool, type(None)])  # nearly all that there is
_shapes: dict[type, Callable[[Any], Mapping[str, object]]] = {}

Row = TypeVar("Row")
Shape = Callable[[Row], Mapping[str, object]]


def shape_of(kind: type[Row]) -> Callable[[Shape[Row]], Shape[Row]]:
    """Return what makes a function say which keys the JSON object of a class has that is not just its fields."""

    def registered(shape: Shape[Row]) -> Shape[Row]:
        _shapes[kind] = shape
        return shape

    return registered


def fields_of(row: object, *hidden: str) -> dict[str, object]:
    """Return the fields of a dataclass by name, but for hidden ones."""
    return {one.name: getattr(row, one.name) for one in fields(row) if one.name not in hidden}  # type: ignore[arg-type]


def as_object(value: Any) -> Any:
    """Return a typed row, and all that is in it, as plain Python values: dicts, lists, texts, numbers and None.

    A dataclass becomes a dict of its fields, or of what ``shape_of`` says; a note becomes its sentence.

    >>> from ndcg_tracker.compare.results import ItemMove
    >>> as_object((ItemMove("sku-1", 3.0, 1, None, 0.5, 0.0, -0.5),))[0]["rank_baseline"]
    1
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Note):
        return note_text(value)
    if is_dataclass(value):
        shape = _shapes.get(type(value), fields_of)
        return {key: as_object(item) for key, item in shape(value).items()}
    if isinstance(value, Mapping):
        return {key: as_object(item) for key, item in value.items()}
    return [as_object(item) for item in value] if isinstance(value, tuple | list) else value


def paths(text: str) -> dict[str, str]:
    """Return columns and where each stands in a row (see ``picked``); without "=" under its own name.

    >>> paths("metric ci_low=ci.0")
    {'metric': 'metric', 'ci_low': 'ci.0'}
    """
    pairs = (word.partition("=") for word in text.split())
    return {name: path or name for name, _, path in pairs}


def picked(columns: Mapping[str, str], row: object) -> dict[str, Any]:
    """Return cells by column; where each stands in a row is said by keys, attributes and places, with dots between.

    >>> picked(paths("metric ci_low=ci.0 run=of.name"), {"metric": "AP", "ci": None, "of": {"name": "a"}})
    {'metric': 'AP', 'ci_low': None, 'run': 'a'}
    """
    return {name: _at(row, path) for name, path in columns.items()}


def _at(row: Any, path: str) -> Any:
    for step in path.split("."):
        if row is None:
            return None
        if isinstance(row, list | tuple):
            row = row[int(step)]
        else:
            row = row.get(step) if isinstance(row, Mapping) else getattr(row, step)
    return row
