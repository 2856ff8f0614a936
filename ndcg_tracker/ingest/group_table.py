"""Attributes and weights of groups: files and frames with one row per group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.columns import Refused, absent_column
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.group_records import Records, delimited_records, frame_records, json_records, parquet_records
from ndcg_tracker.ingest.group_values import Attribute, attribute, checked_text, group_id, group_weight, text_weight
from ndcg_tracker.ingest.places import shown
from ndcg_tracker.ingest.sources import Progress, Source
from ndcg_tracker.ingest.table import NO_ROW
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats

GROUP_READERS = ("csv", "tsv", "jsonl", "parquet")

_HEAD = 1 << 16  # bytes that tell the format


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The names of the columns of a table of groups; None is the default.

    By default the groups stand in ``group``, the weights in ``weight`` if there is such a column, and every further
    column is an attribute. ``attributes`` names those that are.
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

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input; ``reader``: one of ``GROUP_READERS``,
    None to tell from the file's name and content; ``columns``: see ``GroupColumns``. In CSV and TSV every attribute is
    text, in JSON lines and Parquet text or a number, true and false becoming text; an empty cell, null, and in JSON
    lines an absent key take the attribute or weight away. Raises: InputError, one line,
    ``FILE:LINE: what; what to do``.
    """
    if reader is not None and reader not in GROUP_READERS:
        raise InputError(f"no reader {shown(reader)} for groups; choose one of {' '.join(GROUP_READERS)}")
    with Source(path, stdin=stdin, progress=progress) as source:
        head = source.head(_HEAD)
        if not head:
            raise source.error("is empty; give a file that has rows")
        name = reader or detect_reader(path, head)
        if name == "jsonl":
            return _table(json_records(source), columns)
        if name == "parquet":
            return _table(parquet_records(source), columns)
        if name not in GROUP_READERS:
            choice = " ".join(GROUP_READERS)
            raise source.error(
                f"this is read as {name}, which has no columns for groups; name another with "
                f"{argument('reader')} ({choice})"
            )
        return _table(delimited_records(source, "," if name == "csv" else "\t"), columns)


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
            key = group_id(next(rest))
            if chosen.weight is not None:
                cell = next(rest)
                weights.append(text_weight(cell) if records.is_text and isinstance(cell, str) else group_weight(cell))
            for name, of_attribute, cell in zip(names, values, rest, strict=True):
                of_attribute.append(attribute(cell, name))
        except ValueError as error:
            raise places.error(row, str(error)) from None
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} stands in {first} already; keep one of the two")
    if not first_row:
        raise places.whole(NO_ROW)
    return GroupTable(
        Keys.from_strings(first_row),
        None if chosen.weight is None else np.array(weights, dtype=np.float64),
        dict(zip(names, values, strict=True)),
    )


def _chosen(header: list[str], columns: GroupColumns, refused: Refused) -> _Chosen:
    """Return where the columns are (what ``refused`` makes of one that is absent, stands twice or has no name)."""
    group = columns.group or "group"
    at_group = _place(header, group, "group", refused)
    named = None if columns.attributes is None else list(dict.fromkeys(columns.attributes))
    weight = columns.weight
    if weight is None and "weight" in header and group != "weight" and "weight" not in (named or ()):
        weight = "weight"
    taken = {group: "group", **({} if weight is None else {weight: "weight"})}
    if weight == group:
        raise refused(
            f"column {shown(group)} cannot be both the group and the weight; name another one with {argument('weight')}"
        )
    if named is None:
        named = list(dict.fromkeys(name for name in header if name not in taken))
    attributes = {}
    for name in named:
        if name in taken:
            raise refused(f"column {shown(name)} is the {taken[name]} column; leave it out of {argument('attributes')}")
        attributes[name] = _place(header, name, "attribute", refused)
        if not name.strip():
            raise refused(
                f"column {attributes[name] + 1} has no name; name it, or choose others with {argument('attributes')}"
            )
        try:
            checked_text(name, "a column's name")
        except ValueError as error:
            raise refused(str(error)) from None
    at_weight = None if weight is None else _place(header, weight, "weight", refused)
    if at_weight is None and not attributes:
        raise refused("there is no column beside the group; add one per attribute, or one with weights")
    return _Chosen(at_group, at_weight, attributes)


def _place(header: Sequence[str], name: str, role: str, refused: Refused) -> int:
    count = header.count(name)
    if count > 1:
        raise refused(f"column {shown(name)} stands {count} times; rename all but one")
    if not count:
        raise refused(absent_column(name, role, header))
    return header.index(name)
