"""Spans of documents in the place of items: the id of such an item names the span (see ``SameItems``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.records import Records, Row, cell_id
from ndcg_tracker.rankings.ranking import span_of

SPAN = ("document", "start", "end")


def are_spans(names: Iterable[object], columns: Columns) -> bool:
    """Return whether columns of these names have spans instead of items.

    >>> are_spans(["group", *SPAN], Columns()), are_spans(["group", *SPAN], Columns(item="document"))
    (True, False)
    """
    names_items = columns.item is not None or (columns.documents is not None and columns.documents.is_column)
    return not names_items and "item" not in (given := {*map(str, names)}) and {*SPAN} <= given


def with_items(records: Records) -> Records:
    """Return records of spans with one more column, item: the ids that name the spans.

    Raises: InputError in a row, naming it, for what is not a span.
    """
    n, at = len(records.header), list(map(records.header.index, SPAN))

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        others = [place for place in wanted if place < n]
        for row, cells in enumerate(records.rows([*others, *at])):
            try:
                of_place = {**dict(zip(others, cells, strict=False)), n: span_item(*cells[len(others) :])}
            except WrongValueError as error:
                raise error.at(records.places.place(row)) from None
            yield [of_place[place] for place in wanted]

    return replace(records, header=[*records.header, "item"], rows=rows)


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
