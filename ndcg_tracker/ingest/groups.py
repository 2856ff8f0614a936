"""Attributes and weights of groups: files and frames with one row per group."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, nan
from typing import BinaryIO

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.columns import Refused, column_about
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import WrongValueError
from ndcg_tracker.ingest.records import (
    Records,
    cell_id,
    checked_text,
    frame_records,
    kind_of,
    opened_records,
    place_of,
)
from ndcg_tracker.ingest.source import Progress
from ndcg_tracker.ingest.table import no_row, too_heavy
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.rankings.weights import MAX_WEIGHT
from ndcg_tracker.words.quoting import shown

Attribute = str | int | float


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The names of the columns of a table of groups; None is the default.

    By default the groups stand in ``group`` or what a convention calls it, such as ``qid``, the weights in
    ``weight`` if there is such a column, and every further column is an attribute. ``attributes`` names those that
    are.
    """

    group: str | None = None
    weight: str | None = None
    attributes: tuple[str, ...] | None = None


DEFAULT_GROUP_COLUMNS = GroupColumns()


@dataclass(frozen=True, slots=True)
class GroupTable:
    """What is said of some groups.

    ``group_keys``: n ids, none twice. ``weights``: float64, shape (n,), finite and >= 0, NaN for a group that is to
    have none; None where nothing is said of weights. ``attributes``: by name, n values, None for a group that is to
    have none.
    """

    group_keys: Keys
    weights: Floats | None
    attributes: dict[str, list[Attribute | None]]


def read_groups(
    path: str,
    *,
    reader: str | None = None,
    columns: GroupColumns = DEFAULT_GROUP_COLUMNS,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> GroupTable:
    """Return the attributes and weights that a file gives to groups.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input; ``reader``: one of ``READERS``,
    None to tell from the file's name and content; ``columns``: see ``GroupColumns``. In CSV and TSV every attribute is
    text, in JSON lines and Parquet text or a number, true and false becoming text; an empty cell, null, and in JSON
    lines an absent key take the attribute or weight away. Raises: InputError, one line,
    ``FILE:LINE: what; what to do``.
    """
    with opened_records(path, "groups", reader=reader, stdin=stdin, progress=progress) as records:
        return _table(records, columns)


def read_group_frame(frame: object, columns: GroupColumns = DEFAULT_GROUP_COLUMNS) -> GroupTable:
    """Return the attributes and weights that a frame gives to groups, one row per group.

    Parameters: ``frame``, a pandas DataFrame, a dict of columns, or what speaks Arrow's C stream interface; in pandas
    and dicts NaN is null. Raises: InputError naming the row or the column.

    >>> read_group_frame({"group": ["q1", "q2"], "device": ["phone", None]}).attributes
    {'device': ['phone', None]}
    """
    return _table(frame_records(frame), columns)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The places in a header of the group, of the weight (None: nowhere), and of each attribute."""

    group: int
    weight: int | None
    attributes: dict[str, int]


def _table(records: Records, columns: GroupColumns) -> GroupTable:
    chosen = _chosen(records.header, columns, records.refused)
    places = records.places
    names = list(chosen.attributes)
    wanted = [chosen.group, *([] if chosen.weight is None else [chosen.weight]), *chosen.attributes.values()]
    first_row: dict[str, int] = {}
    weights: list[float] = []
    values: list[list[Attribute | None]] = [[] for _ in names]
    for row, cells in enumerate(records.rows(wanted)):
        rest = iter(cells)
        try:
            key = cell_id(next(rest), "group")
            if chosen.weight is not None:
                cell = next(rest)
                weights.append(text_weight(cell) if records.is_text and isinstance(cell, str) else group_weight(cell))
            for name, of_attribute, cell in zip(names, values, rest, strict=True):
                of_attribute.append(attribute(cell, name))
        except WrongValueError as error:
            raise error.at(places.place(row)) from None
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} is in {first} already", advice="keep one of the two")
    if not first_row:
        raise no_row(places.whole)
    return GroupTable(
        Keys.from_strings(first_row),
        None if chosen.weight is None else np.array(weights, dtype=np.float64),
        dict(zip(names, values, strict=True)),
    )


def _chosen(header: list[str], columns: GroupColumns, refused: Refused) -> _Chosen:
    """Return where the columns are (what ``refused`` makes of one that is absent, stands twice or has no name)."""
    group = column_about("group", columns.group, header, refused) or "group"
    at_group = place_of(header, group, "group", refused)
    named = None if columns.attributes is None else list(dict.fromkeys(columns.attributes))
    weight = columns.weight
    if weight is None and "weight" in header and group != "weight" and "weight" not in (named or ()):
        weight = "weight"
    taken = {group: "group", **({} if weight is None else {weight: "weight"})}
    if weight == group:
        raise refused(
            f"column {shown(group)} cannot be both the group and the weight",
            advice=f"name another one with {argument('weight')}",
        )
    if named is None:
        named = list(dict.fromkeys(name for name in header if name not in taken))
    attributes = {}
    for name in named:
        if name in taken:
            raise refused(
                f"column {shown(name)} is the {taken[name]} column", advice=f"leave it out of {argument('attributes')}"
            )
        attributes[name] = place_of(header, name, "attribute", refused)
        if not name.strip():
            raise refused(
                f"column {attributes[name] + 1} has no name",
                advice=f"name it, or choose others with {argument('attributes')}",
            )
        try:
            checked_text(name, "a column's name")
        except WrongValueError as error:
            raise refused(error.what, advice=error.advice) from None
    at_weight = None if weight is None else place_of(header, weight, "weight", refused)
    if at_weight is None and not attributes:
        raise refused("there is no column beside the group", advice="add one per attribute, or one with weights")
    return _Chosen(at_group, at_weight, attributes)


def text_weight(cell: str) -> float:
    """Return the weight that a cell of a text file holds, NaN for an empty one (WrongValueError: see ``group_weight``).

    >>> text_weight(" 2.5 "), text_weight("")
    (2.5, nan)
    """
    stripped = cell.strip(" \t")
    if not stripped:
        return nan
    return group_weight(number(stripped.encode(), "weight"))


def group_weight(value: object) -> float:
    """Return the weight that a value is, NaN for None.

    Raises: WrongValueError for what is not a number from 0 to ``MAX_WEIGHT``.

    >>> group_weight(3), group_weight(None)
    (3.0, nan)
    """
    if value is None:
        return nan
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise WrongValueError(f"the weight is {kind_of(value)}", advice="write a number, or null for none")
    try:
        weight = float(value)
    except OverflowError:
        raise WrongValueError("the weight is too large for a double", advice="use a finite number") from None
    if not isfinite(weight):
        raise WrongValueError(f"the weight is {weight}", advice="use a finite number, or null for none")
    if weight < 0:
        raise WrongValueError("the weight is negative; weights are 0 or more")
    if weight > MAX_WEIGHT:
        raise too_heavy(WrongValueError)
    return abs(weight)  # no -0.0


def attribute(value: object, name: str) -> Attribute | None:
    """Return the text or number that an attribute has for a group, None for an empty one.

    True and false become the texts ``true`` and ``false``. Raises: WrongValueError for what is neither
    text nor a finite number.

    >>> attribute("de", "country"), attribute("", "country"), attribute(True, "is_mobile"), attribute(3, "n_words")
    ('de', None, 'true', 3)
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        checked_text(value, shown(name))
        return value
    if isinstance(value, int):
        return value
    if not isinstance(value, float | Decimal):
        raise WrongValueError(f"{shown(name)} is {kind_of(value)}; attributes are text or numbers")
    if not isfinite(value):
        raise WrongValueError(f"{shown(name)} is {float(value)}", advice="use a finite number, or null for none")
    return float(value)
