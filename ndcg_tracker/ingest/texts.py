"""Texts of queries and items: files and frames with one row per group, per item, or per item of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.columns import Refused, absent_columns, column_about
from ndcg_tracker.ingest.places import WrongValueError
from ndcg_tracker.ingest.records import Records, cell_id, checked_text, frame_records, kind_of, opened_records, place_of
from ndcg_tracker.ingest.source import Progress
from ndcg_tracker.ingest.table import no_row
from ndcg_tracker.words.quoting import shown

IDS = ("group", "item")
TEXTS = ("text", "title", "url")


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The names of the columns of a table of texts; None: the role's own name, if there is such a column.

    Group and item may also have the name that a convention gives them, such as ``qid`` and ``docno``.

    ``header``: the names of all columns of a CSV or TSV file whose first line is a row.
    """

    group: str | None = None
    item: str | None = None
    text: str | None = None
    title: str | None = None
    url: str | None = None
    header: tuple[str, ...] | None = None


DEFAULT_TEXT_COLUMNS = TextColumns()


@dataclass(frozen=True, slots=True)
class TextTable:
    """What is told of groups and items, n rows, none twice.

    ``groups``: ids, None for an item in every group; ``items``: ids, None for the group itself. ``texts``: by name, of
    those of ``TEXTS`` that are told of, n texts, None for nothing.
    """

    groups: list[str | None]
    items: list[str | None]
    texts: dict[str, list[str | None]]


def read_texts(
    path: str,
    *,
    reader: str | None = None,
    columns: TextColumns = DEFAULT_TEXT_COLUMNS,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> TextTable:
    """Return the texts that a file gives to groups and items.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input; ``reader``: one of
    ``records.READERS``, None to tell from the file's name and content; ``columns``: see ``TextColumns``. A row has a
    group (its texts are the query's), an item (they are the item's, in every group), or both. An empty cell and null
    are no text. Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    with opened_records(path, "texts", reader=reader, header=columns.header, stdin=stdin, progress=progress) as records:
        return _table(records, columns)


def read_text_frame(frame: object, columns: TextColumns = DEFAULT_TEXT_COLUMNS) -> TextTable:
    """Return the texts that a frame gives to groups and items (see ``read_texts``).

    Parameters: ``frame``, a pandas DataFrame, a dict of columns, or what speaks Arrow's C stream interface; in pandas
    and dicts NaN is null. Raises: InputError naming the row or the column.

    >>> read_text_frame({"group": ["q1"], "text": ["light tent"]}).texts
    {'text': ['light tent']}
    """
    return _table(frame_records(frame), columns)


def _table(records: Records, columns: TextColumns) -> TextTable:
    chosen = _chosen(records.header, columns, records.refused)
    roles = list(chosen)
    found = TextTable([], [], {role: [] for role in TEXTS if role in chosen})
    first_row: dict[tuple[str | None, str | None], int] = {}
    for row, cells in enumerate(records.rows(list(chosen.values()))):
        cell_of = dict(zip(roles, cells, strict=True))
        try:
            group, item = (_id(cell_of.get(role), role) for role in IDS)
            if group is None and item is None:
                raise WrongValueError(
                    f"the row names no {' and no '.join(role for role in IDS if role in chosen)}", advice="add one"
                )
            for role, texts in found.texts.items():
                texts.append(_text(cell_of[role], role))
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
        if first_row.setdefault((group, item), row) != row:
            first = records.places.mention(first_row[group, item])
            named = " of ".join(f"{role} {shown(key)}" for role, key in (("item", item), ("group", group)) if key)
            raise records.places.error(row, f"{named} duplicates {first}", advice="keep one of the two")
        found.groups.append(group)
        found.items.append(item)
    if not first_row:
        raise no_row(records.places.whole)
    return found


def _chosen(header: Sequence[str], columns: TextColumns, refused: Refused) -> dict[str, int]:
    """Return the place of each role that there is a column of (what ``refused`` makes of a header without texts)."""
    found = {}
    for role in (*IDS, *TEXTS):
        given: str | None = getattr(columns, role)
        name = column_about(role, given, header, refused) if role in IDS else given
        if name is not None or role in header:
            found[role] = place_of(header, name or role, role, refused)
    if not any(role in found for role in IDS):
        raise absent_columns({"group": "group"}, header, refused, f", or that of the item with {argument('item')}")
    if not any(role in found for role in TEXTS):
        raise absent_columns({"text": "text"}, header, refused)
    taken: dict[int, str] = {}
    for role, place in found.items():
        if taken.setdefault(place, role) != role:
            raise refused(
                f"column {shown(header[place])} cannot be both the {taken[place]} and the {role}",
                advice=f"name another one with {argument(role)}",
            )
    return found


def _id(value: object, role: str) -> str | None:
    return None if value is None or value == "" else cell_id(value, role)


def _text(value: object, role: str) -> str | None:
    """Return the text of a cell, None for an empty one (WrongValueError for what is no text)."""
    if value is None or value == "":
        return None
    if type(value) is int:  # a title such as 1984, in a format that knows numbers
        return str(value)
    if not isinstance(value, str):
        raise WrongValueError(f"the {role} is {kind_of(value)}", advice="write text, or null for none")
    checked_text(value, f"the {role}")
    return value
