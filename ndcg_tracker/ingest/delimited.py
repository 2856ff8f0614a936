"""CSV and TSV with a header: RFC 4180 quoting, empty cells are null, ids are the cells as they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ndcg_tracker.ingest.columns import NUMBERS, Columns, Wanted
from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces, Places
from ndcg_tracker.ingest.sources import BLOCK, LONGEST_LINE, Source
from ndcg_tracker.ingest.table import Rows

_NULL = float("nan")
_QUOTE = b'"'


def exact_rows(source: Source, delimiter: bytes, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of a delimited file, read record by record, and their lines.

    Raises: InputError naming the line for a wrong number of cells, a quote out of place and a text that is no number.
    """
    records = _records(source, delimiter)
    header_line, header = next(records, (1, []))
    found = columns.positions(_names(header), wanted, lambda what: source.error(what, header_line))
    number_places = [(role, found[role]) for role in NUMBERS if role in found]
    group_place, item_place = found["group"], found.get("item")
    gathered = GatheredRows([role for role, _ in number_places])
    for line, cells in records:
        if len(cells) != len(header):
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            raise source.error(f"{count} where the header has {len(header)}; correct the line", line)
        numbers = []
        for role, place in number_places:
            cell = cells[place].strip(b" \t")
            try:
                numbers.append(number(cell) if cell else _NULL)
            except ValueError as error:
                raise source.error(f"{role} {error}", line) from None
        gathered.add(line, cells[group_place], None if item_place is None else cells[item_place], numbers)
    return gathered.rows(source.name)


def fast_rows(source: Source, delimiter: bytes, columns: Columns, wanted: Wanted, block_size: int = BLOCK) -> Rows:
    """Return the same rows as ``exact_rows``, read by Arrow's parser block by block.

    Raises: DoubtfulError for whatever the exact path has to judge, and InputError as ``source`` does.
    """
    from ndcg_tracker.ingest.arrow_csv import ArrowCsv
    from ndcg_tracker.ingest.blocks import plain_lines, quotes_are_simple

    parser: ArrowCsv | None = None
    for block in source.blocks(block_size):
        text = plain_lines(block)
        while parser is None and text:
            line, _, text = text.partition(b"\n")
            if line.strip(b" "):
                header = _header(line, delimiter)
                found = columns.positions(_names(header), wanted, NoPlaces().whole)
                parser = ArrowCsv(delimiter, len(header), found, quoting=True)
        if parser is not None:
            if not quotes_are_simple(text, delimiter):
                raise DoubtfulError("a quote inside a cell, or a cell of several lines")
            parser.add(text)
    if parser is None:
        raise DoubtfulError("no header")
    return parser.rows()


def _names(header: list[bytes]) -> list[str]:
    return [name.decode() for name in header]


def _records(source: Source, delimiter: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the first line and the cells of every record; blank lines are left out."""
    lines = source.lines()

    def next_line() -> bytes:
        try:
            return next(lines)[1]
        except StopIteration:
            raise ValueError("a quote that is never closed; close it or double it") from None

    for first_line, line in lines:
        if _QUOTE not in line:
            if line.strip(b" "):
                yield first_line, line.split(delimiter)
            continue
        try:
            cells = _cells(line, delimiter, next_line)
        except ValueError as error:
            raise source.error(str(error), first_line) from None
        yield first_line, cells


def _header(line: bytes, delimiter: bytes) -> list[bytes]:
    """Return the cells of a header that ends with its line."""

    def no_next_line() -> bytes:
        raise ValueError("a header of several lines")

    try:
        return _cells(line, delimiter, no_next_line)
    except ValueError as error:
        raise DoubtfulError(str(error)) from None


def _cells(line: bytes, delimiter: bytes, next_line: Callable[[], bytes]) -> list[bytes]:
    """Return the cells of a record; ``next_line`` gives the line after, where a quoted cell spans several.

    Raises: ValueError (message without a place) for a quote out of place and a record without end.
    """
    cells = []
    at = length = 0
    while True:
        if not line.startswith(_QUOTE, at):
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            cells.append(line[at:end])
        else:
            parts = []
            at += 1
            while True:
                end = line.find(_QUOTE, at)
                if end < 0:
                    parts += [line[at:], b"\n"]
                    length += len(line)
                    if length > LONGEST_LINE:
                        raise ValueError(f"a record longer than {LONGEST_LINE >> 20} MiB; is a quote never closed?")
                    line, at = next_line(), 0
                    continue
                parts.append(line[at:end])
                at = end + 1
                if not line.startswith(_QUOTE, at):
                    break
                parts.append(_QUOTE)
                at += 1
            cells.append(b"".join(parts))
            end = at
            if end < len(line) and not line.startswith(delimiter, end):
                raise ValueError("text after a closing quote; double the quotes inside a cell")
        if end >= len(line):
            return cells
        at = end + 1
