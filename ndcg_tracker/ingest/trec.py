"""TREC runs and qrels: fields between blanks or tabs, no header, no quoting."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import Places
from ndcg_tracker.ingest.sources import BLOCK, Source
from ndcg_tracker.ingest.table import Rows


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one kind of TREC file; only group, item and number are read."""

    kind: str
    fields: tuple[str, ...]
    item: int
    number: int
    role: str


RUN = Layout("run", ("group", "Q0", "item", "rank", "score", "tag"), 2, 4, "score")
QRELS = Layout("labels", ("group", "iteration", "item", "grade"), 2, 3, "label")


def exact_rows(source: Source, layout: Layout) -> tuple[Rows, Places]:
    """Return the rows of a TREC file, read line by line, and their lines.

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
    from ndcg_tracker.ingest.arrow_csv import ArrowCsv
    from ndcg_tracker.ingest.blocks import plain_lines, single_blanks

    columns = {"group": 0, "item": layout.item, layout.role: layout.number}
    parser = ArrowCsv(b" ", len(layout.fields), columns, quoting=False)
    for block in source.blocks(block_size):
        parser.add(single_blanks(plain_lines(block)))
    return parser.rows()


def _wrong_fields(found: int, layout: Layout) -> str:
    count = "1 field" if found == 1 else f"{found} fields"
    other = next((one for one in (RUN, QRELS) if one is not layout and len(one.fields) == found), None)
    hint = "correct the line or name another --reader"
    if other is not None:
        hint = f"is this a {other.kind} file? Else correct the line or name another --reader"
    return f"{count} where a TREC {layout.kind} line has {len(layout.fields)} ({' '.join(layout.fields)}); {hint}"
