"""Spans of documents in the place of items: the id of such an item names the span (see ``SameItems``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ndcg_tracker.ingest.cells import WrongValueError, number
from ndcg_tracker.ingest.columns import LABEL_TABLE, Columns
from ndcg_tracker.ingest.records import Records, cell_id, place_of
from ndcg_tracker.ingest.rows import GatheredRows
from ndcg_tracker.ingest.table import label_lists
from ndcg_tracker.rankings.ranking import SPANS, LabelLists, span_of

SPAN = ("document", "start", "end")


def are_spans(names: Iterable[object], columns: Columns) -> bool:
    """Return whether columns of these names have spans instead of items.

    >>> are_spans(["group", *SPAN], Columns()), are_spans(["group", *SPAN], Columns(item="document"))
    (True, False)
    """
    names_items = columns.item is not None or (columns.documents is not None and columns.documents.is_column)
    return not names_items and "item" not in (given := {*map(str, names)}) and {*SPAN} <= given


def span_item(document: object, start: object, end: object) -> str:
    """Return the id of the item that is a span. Raises: WrongValueError for what is not a span.

    >>> span_item("guide", 120, "180")
    'guide#120-180'
    """
    item = f"{cell_id(document, 'document')}#{start}-{end}"
    if span_of(item) is None:
        what = f"{start}-{end} is not a span: two whole numbers, the second larger"
        raise WrongValueError(what, advice="give where it starts, and where the text after it starts")
    return item


def span_labels(records: Records, columns: Columns) -> LabelLists:
    """Return the labels of a table of gold spans; without a column of labels, each has the grade 1."""
    group, label = columns.asked("group", records.header, LABEL_TABLE) or "group", columns.name_of("label")
    names = [group, *SPAN, *([label] if columns.label or label in records.header else [])]
    wanted = [place_of(records.header, name, "group" if name == group else name, records.refused) for name in names]
    gathered = GatheredRows(["label"])
    for row, (of_group, document, start, end, *grade) in enumerate(records.rows(wanted)):
        try:
            item = span_item(document, start, end)
            grades = [1.0 if not grade else float("nan") if grade[0] in (None, "") else number(f"{grade[0]}".encode())]
            gathered.add(row, cell_id(of_group, "group").encode(), item.encode(), grades)
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
    return replace(label_lists(gathered.rows("")[0], records.places), same_items=SPANS)
