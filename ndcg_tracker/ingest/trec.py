"""TREC runs and qrels: fields between blanks or tabs, no header, no quoting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import LinePlaces
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.sources import BLOCK, Source
from ndcg_tracker.ingest.split_fields import split_rows
from ndcg_tracker.ingest.text_blocks import Lines, TextBlock


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one kind of TREC file; only group, item and number are read."""

    kind: str
    fields: tuple[str, ...]
    item: int
    number: int
    role: str

    @property
    def columns(self) -> dict[str, int]:
        """The place of each role."""
        return {"group": 0, "item": self.item, self.role: self.number}


RUN = Layout("run", ("group", "Q0", "item", "rank", "score", "tag"), 2, 4, "score")
QRELS = Layout("labels", ("group", "iteration", "item", "grade"), 2, 3, "label")


def exact_rows(source: Lines, layout: Layout) -> tuple[Rows, LinePlaces]:
    """Return the rows of a TREC file, or a part of it, read line by line, and their lines.

    Raises: InputError naming the line for a wrong number of fields and for a text that is no number.
    """
    n_fields, item_field, number_field = len(layout.fields), layout.item, layout.number
    gathered = GatheredRows([layout.role])
    for line_number, line in source.lines():
        fields = line.split(b" ")
        if len(fields) != n_fields or b"" in fields or b"\t" in line:
            fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
            if not fields:
                continue
            if len(fields) != n_fields:
                raise source.error(_wrong_fields(len(fields), layout), line_number)
        try:
            value = number(fields[number_field])
        except ValueError as error:
            raise source.error(f"{layout.role} {error}", line_number) from None
        gathered.add(line_number, fields[0], fields[item_field], (value,))
    return gathered.rows(source.name)


def fast_rows(source: Source, layout: Layout, block_size: int = BLOCK) -> Rows:
    """Return the same rows as ``exact_rows``, read by Arrow's parser block by block.

    Raises: DoubtfulError for whatever the exact path has to judge, and InputError as ``source`` does.
    """
    return _parsed(source.blocks(block_size), layout)


def small_rows(source: Source, layout: Layout) -> Rows:
    """Return the same rows as ``exact_rows``, all lines split at once (errors: see ``fast_rows``)."""
    return split_rows(b"".join(source.blocks()), len(layout.fields), layout.columns)


class TrecTable:
    """The rows of a TREC file block by block (see ``TextTable``)."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def exact(self, block: TextBlock) -> tuple[Rows, LinePlaces]:
        """Return the rows of a block, read line by line."""
        return exact_rows(block, self._layout)

    def fast(self, block: TextBlock) -> Rows:
        """Return the rows of a block, read by Arrow's parser."""
        return _parsed(block.pieces(BLOCK), self._layout)

    def n_rows_of(self, line: bytes) -> int:
        """Return whether a line is not blank."""
        return bool(line.strip(b" \t\r\n"))

    def finish(self, source: Source, n_rows: int) -> None:
        """Do nothing: all that can be wrong shows in some line."""


def _parsed(blocks: Iterable[bytes], layout: Layout) -> Rows:
    from ndcg_tracker.ingest.arrow_csv import ArrowCsv
    from ndcg_tracker.ingest.blocks import single_blanks

    return ArrowCsv(b" ", len(layout.fields), layout.columns, quoting=False, checked=single_blanks).rows(blocks)


def _wrong_fields(found: int, layout: Layout) -> str:
    count = "1 field" if found == 1 else f"{found} fields"
    other = next((one for one in (RUN, QRELS) if one is not layout and len(one.fields) == found), None)
    hint = f"correct the line or name another {argument('reader')}"
    if other is not None:
        hint = f"is this a {other.kind} file? Else correct the line or name another {argument('reader')}"
    return f"{count} where a TREC {layout.kind} line has {len(layout.fields)} ({' '.join(layout.fields)}); {hint}"
