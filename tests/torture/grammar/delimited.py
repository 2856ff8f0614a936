"""CSV and TSV with a header, quoted as RFC 4180 has it; an empty cell is null."""

from __future__ import annotations

from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import decimal_number, label_number, lines_of, stripped

_ROLES = {
    RUN: (("group", "item", "score", "label", "weight"), ("group", "score")),
    LABELS: (("group", "item", "label"), ("group", "item", "label")),
}
_QUOTE = '"'


def delimited(content: bytes, role: Role, delimiter: str) -> Table:
    """Return a run or labels: columns named in the header, in any order; other columns are not read.

    A quoted cell may hold delimiters, doubled quotes and line ends, which are read as LF; elsewhere a quote is an
    ordinary character, but for the first of a cell. Lines that are empty, or blanks only, mean nothing.
    """
    faults = Faults()
    records = _records(lines_of(content, faults), delimiter, faults)
    if not records:
        faults.add(1, "no header")  # said of the first line
        faults.add(None, "no header")
    header_line, header = records[0] if records else (1, [])
    place, faulty = _columns(header, role)
    if faulty:
        faults.add(header_line, "a column is missing or stands twice")
        faults.check()
    rows = []
    for line, cells in records[1:]:
        if len(cells) != len(header):
            faults.add(line, f"{len(cells)} cells")
            continue
        numbers = {}
        for name in ("score", "label", "weight"):
            text = stripped(cells[place[name]].encode()) if name in place else b""
            if name == "score" and text.lower() in (b"-inf", b"-infinity"):
                text = b""
            numbers[name] = (label_number if name == "label" else decimal_number)(text) if text else None
            if text and numbers[name] is None:
                faults.add(line, f"{name} is not a number")
        item = cells[place["item"]].encode() if "item" in place else None
        rows.append(Row(line, cells[place["group"]].encode(), item, **numbers))
    return table(rows, faults, role, has_items="item" in place, has_weights="weight" in place)


def _columns(header: list[str], role: Role) -> tuple[dict[str, int], bool]:
    wanted, required = _ROLES[role]
    place = {name: header.index(name) for name in wanted if name in header}
    twice = any(header.count(name) > 1 for name in wanted)
    return place, twice or not set(required) <= set(place)


def _records(lines: list[tuple[int, bytes]], delimiter: str, faults: Faults) -> list[tuple[int, list[str]]]:
    """Return the first line and the cells of each record up to a quote out of place: what follows, nobody knows."""
    records: list[tuple[int, list[str]]] = []
    at = 0
    while at < len(lines):
        number, line = lines[at]
        at += 1
        if not line.strip(b" "):
            continue
        text = line.decode()
        while (cells := _cells(text, delimiter)) is None:
            if at == len(lines):
                faults.add(number, "a quote is never closed")
                return records
            if lines[at][0] != lines[at - 1][0] + 1:  # a line between them is no text, and that is a fault by itself
                return records
            text += "\n" + lines[at][1].decode()
            at += 1
        if not cells:
            faults.add(number, "text after a closing quote")
            return records
        records.append((number, cells))
    return records


def _cells(text: str, delimiter: str) -> list[str] | None:
    """Return the cells of a record, None where a quote is open at its end, no cells where a quote is out of place."""
    cells = [""]
    state = "start"
    for character in text:
        if state == "quoted":
            if character == _QUOTE:
                state = "closed"
            else:
                cells[-1] += character
        elif character == delimiter:
            cells.append("")
            state = "start"
        elif state == "start" and character == _QUOTE:
            state = "quoted"
        elif state == "closed":
            if character != _QUOTE:
                return []
            cells[-1] += character
            state = "quoted"
        else:
            cells[-1] += character
            state = "plain"
    return None if state == "quoted" else cells
