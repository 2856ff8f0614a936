"""Facts about groups and items: attributes and weights of groups, and the texts of queries and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from math import isfinite
from typing import BinaryIO

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.columns import IDS, Refused, absent_columns, header_of
from ndcg_tracker.ingest.plain import cell_number, kind_of
from ndcg_tracker.ingest.records import (
    Records,
    Row,
    cell_id,
    checked_text,
    opened_records,
    place_of,
    roles_in,
)
from ndcg_tracker.ingest.table import no_row, too_heavy
from ndcg_tracker.ingest.text_columns import TextColumns
from ndcg_tracker.rankings import Floats, Mask
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import MAX_WEIGHT
from ndcg_tracker.words.texts import shown

Attribute = str | int | float


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The names of the columns of a table of groups; None is the default.

    By default the groups are in ``group`` or in the column of a convention, such as ``qid``. The weights are in
    ``weight`` if there is such a column. Every other column is an attribute, unless ``attributes`` names those that
    are.
    """

    group: str | None = None
    weight: str | None = None
    attributes: tuple[str, ...] | None = None


DEFAULT_GROUP_COLUMNS = GroupColumns()


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Attributes and weights of some groups.

    ``group_keys``: n ids, none twice. ``weights``: float64, shape (n,), finite and >= 0, NaN for a group that gets
    none; None if no weights are given. ``attributes``: by name, n values, None for a group that gets none.
    """

    group_keys: Keys
    weights: Floats | None
    attributes: dict[str, list[Attribute | None]]

    def of(self, kept: Mask) -> GroupTable:
        """Return the table of some of its groups only."""
        attributes = {name: list(compress(values, kept)) for name, values in self.attributes.items()}
        weights = None if self.weights is None else self.weights[kept]
        return GroupTable(self.group_keys.take(np.flatnonzero(kept)), weights, attributes)


NO_GROUPS = GroupTable(Keys.from_strings([]), None, {})


def read_groups(
    given: object,
    *,
    reader: str | None = None,
    columns: GroupColumns = DEFAULT_GROUP_COLUMNS,
    value: str | None = None,
    stdin: BinaryIO | None = None,
) -> GroupTable:
    """Return the attributes and weights that a file or a table gives to groups.

    Parameters: ``given``, a path or a table, and ``reader``: see ``opened_records``; ``columns``: see
    ``GroupColumns``. ``value``: the attribute that a value per group is. In CSV and TSV every attribute is text.
    Elsewhere it is text or a number; true and false become text. An empty cell or null removes the attribute or weight,
    and so does an absent key. Raises: InputError, one line, ``FILE:LINE: what; what to do``.

    >>> read_groups({"group": ["q1", "q2"], "device": ["phone", None]}).attributes
    {'device': ['phone', None]}
    """
    value = value or next(iter(columns.attributes or ()), columns.weight)
    with opened_records(given, "groups", reader=reader, stdin=stdin, asked=(columns.group, value)) as records:
        return _table(records, columns)


def _table(records: Records, columns: GroupColumns) -> GroupTable:
    roles, attributes = _chosen(records.header, columns, records.refused)
    weights: list[float] = []

    def facts(cells: Row) -> tuple[str, list[Attribute | None]]:
        group = cell_id(cells[0], "group")
        if "weight" in roles:
            weights.append(group_weight(cells[1]))
        return group, [attribute(cell, name) for name, cell in zip(attributes, cells[len(roles) :], strict=True)]

    found = records.by_key([*roles.values(), *attributes.values()], facts, lambda key: f"group {shown(key)}")
    if not found:
        raise no_row(records.places.whole)
    values = list(map(list, zip(*found.values(), strict=True)))
    return GroupTable(
        Keys.from_strings(found),
        np.array(weights, dtype=np.float64) if "weight" in roles else None,
        dict(zip(attributes, values, strict=True)),
    )


def _chosen(header: list[str], columns: GroupColumns, refused: Refused) -> tuple[dict[str, int], dict[str, int]]:
    """Return where group and weight are, and where each attribute is (the error of ``refused`` for a wrong one)."""
    asked = {"group": columns.group, "weight": columns.weight}
    if columns.weight is None and "weight" in (columns.group, *(columns.attributes or ())):
        del asked["weight"]
    roles = roles_in(header, asked, refused, ("group",))
    taken = {header[place]: role for role, place in roles.items()}
    named = columns.attributes
    attributes = {}
    for name in dict.fromkeys([name for name in header if name not in taken] if named is None else named):
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
            raise refused(**error.told) from None
    if len(roles) + len(attributes) == 1:
        raise refused("there is no column except the group", advice="add one per attribute, or one with weights")
    return roles, attributes


def group_weight(cell: object) -> float:
    """Return the weight that a cell holds, NaN for none.

    Raises: WrongValueError for anything but a number from 0 to ``MAX_WEIGHT``.

    >>> group_weight(3), group_weight(" 2.5 "), group_weight(None)
    (3.0, 2.5, nan)
    """
    weight = cell_number(cell, "weight")
    if weight < 0:
        raise WrongValueError("the weight is negative; weights are 0 or more")
    if weight > MAX_WEIGHT:
        raise too_heavy(WrongValueError)
    return abs(weight)  # no -0.0


def attribute(value: object, name: str) -> Attribute | None:
    """Return the text or number that an attribute has for a group, None for an empty one.

    True and false become the texts ``true`` and ``false``. Raises: WrongValueError for anything but
    text or a finite number.

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


TEXTS = ("text", "title", "url")


DEFAULT_TEXT_COLUMNS = TextColumns()


@dataclass(frozen=True, slots=True)
class TextTable:
    """The texts of groups and items, in n rows, none twice.

    ``groups``: ids, None for an item in every group; ``items``: ids, None for the group itself. ``texts``: for each
    name in ``TEXTS`` that is given, n texts, None for none.
    """

    groups: list[str | None]
    items: list[str | None]
    texts: dict[str, list[str | None]]


def read_texts(
    given: object,
    *,
    reader: str | None = None,
    columns: TextColumns = DEFAULT_TEXT_COLUMNS,
    stdin: BinaryIO | None = None,
) -> TextTable:
    """Return the texts that a file or a table gives to groups and items.

    Parameters: ``given``, a path or a table, and ``reader``: see ``opened_records``; ``columns``: see ``TextColumns``.
    A row has a group (its texts are the query's), an item (they are the item's, in every group), or both. An empty cell
    and null mean no text. Raises: InputError, one line, ``FILE:LINE: what; what to do``.

    >>> read_texts({"group": ["q1"], "text": ["light tent"]}).texts
    {'text': ['light tent']}
    """
    key = columns.group or columns.item
    with opened_records(
        given,
        "texts",
        reader=reader,
        header=header_of(columns.columns),
        stdin=stdin,
        asked=(key, columns.text or "text"),
    ) as records:
        return _table_of_texts(records, columns)


def _table_of_texts(records: Records, columns: TextColumns) -> TextTable:
    chosen = _columns_of_texts(records.header, columns, records.refused)
    ids, given = [role for role in IDS if role in chosen], [role for role in TEXTS if role in chosen]

    def texts(cells: Row) -> tuple[tuple[str | None, str | None], list[str | None]]:
        cell_of = dict(zip(chosen, cells, strict=True))
        group, item = (_id(cell_of.get(role), role) for role in IDS)
        if group is None and item is None:
            raise WrongValueError(f"the row has no {' and no '.join(ids)}", advice="add one")
        return (group, item), [_text(cell_of[role], role) for role in given]

    def called(pair: tuple[str | None, str | None]) -> str:
        group, item = pair
        return " of ".join(f"{role} {shown(key)}" for role, key in (("item", item), ("group", group)) if key)

    found = records.by_key(list(chosen.values()), texts, called)
    if not found:
        raise no_row(records.places.whole)
    groups, items = map(list, zip(*found, strict=True))
    of_roles = map(list, zip(*found.values(), strict=True))
    return TextTable(groups, items, dict(zip(given, of_roles, strict=True)))


def _columns_of_texts(header: Sequence[str], columns: TextColumns, refused: Refused) -> dict[str, int]:
    """Return the place of each role that has a column (the error of ``refused`` for a header without texts)."""
    places = roles_in(header, {role: getattr(columns, role) for role in (*IDS, *TEXTS)}, refused)
    if not any(role in places for role in IDS):
        raise absent_columns({"group": "group"}, header, refused, f", or that of the item with {argument('item')}")
    if not any(role in places for role in TEXTS):
        raise absent_columns({"text": "text"}, header, refused)
    return places


def _id(value: object, role: str) -> str | None:
    return None if value is None or value == "" else cell_id(value, role)


def _text(value: object, role: str) -> str | None:
    """Return the text of a cell, None for an empty one (WrongValueError for anything else)."""
    if value is None or value == "":
        return None
    if type(value) is int:  # a title such as 1984, in a format that knows numbers
        return str(value)
    if not isinstance(value, str):
        raise WrongValueError(f"the {role} is {kind_of(value)}", advice="write text, or null for none")
    checked_text(value, f"the {role}")
    return value
