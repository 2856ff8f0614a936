"""The columns of a table of texts, as people give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from ndcg_tracker.asked import GroupColumn, Header, Option

ItemOfText = Annotated[str | None, Option("Column of the item.", default="item")]
TextColumn = Annotated[str | None, Option("Column of the text.", default="text")]
TitleColumn = Annotated[str | None, Option("Column of the title.", default="title")]
UrlColumn = Annotated[str | None, Option("Column of the link.", default="url")]


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The names of the columns of a table of texts; None: the role's own name, if there is such a column.

    Group and item may also have a name from a convention, such as ``qid`` and ``docno``.

    ``columns``: the names of all columns of a CSV or TSV file whose first line is a row.
    """

    group: GroupColumn = None
    item: ItemOfText = None
    text: TextColumn = None
    title: TitleColumn = None
    url: UrlColumn = None
    columns: Header = None


class TextKeywords(TypedDict, total=False):
    """How people give ``TextColumns`` (generated)."""

    group: GroupColumn
    item: ItemOfText
    text: TextColumn
    title: TitleColumn
    url: UrlColumn
    columns: Header
