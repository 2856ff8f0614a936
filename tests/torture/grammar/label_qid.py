"""Label/qid files, ``label qid:ID feature:value ... # comment``, and the files next to them."""

from __future__ import annotations

from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import decimal_number, fields_of, label_number, lines_of, stripped


def scores_file(content: bytes, faults: Faults) -> list[float]:
    """Return the numbers of a file with one per line, blank lines aside."""
    found = []
    for line, text in lines_of(content, faults):
        number = decimal_number(stripped(text))
        if number is not None:
            found.append(number)
        elif stripped(text):
            faults.add(line, "no number")
    return found


def sizes_file(content: bytes, faults: Faults) -> list[int]:
    """Return the group sizes of a file with one per line: whole numbers from 1, of at most 15 digits."""
    found = []
    for line, text in lines_of(content, faults):
        digits = stripped(text)
        if digits and (any(byte not in b"0123456789" for byte in digits) or len(digits) > 15 or not int(digits)):
            faults.add(line, "no size")
        elif digits:
            found.append(int(digits))
    return found


def label_qid(content: bytes, role: Role, scores: bytes = b"", sizes: bytes | None = None) -> Table:
    """Return labels, or with scores a run: all rows have a qid, or none has and the group sizes are in a file.

    Features are ``digits:value``; they are not read. Items are known by their row's number within the group, from 1,
    and so are groups without qid.
    """
    faults = Faults()
    rows = []
    for line, text in lines_of(content, faults):
        fields = fields_of(text.partition(b"#")[0])
        if not fields:
            continue
        label = label_number(fields[0])
        has_group = len(fields) > 1 and fields[1].startswith(b"qid:")
        group = fields[1][len(b"qid:") :] if has_group else None
        features = fields[2:] if has_group else fields[1:]
        if label is None or group == b"" or not all(map(_is_feature, features)):
            faults.add(line, "no label/qid line")
            if not has_group and sizes is None:  # either may be told
                faults.add(None, "no group sizes")
        else:
            rows.append(Row(line, group, None, None, label))
    if any(row.group is None for row in rows):
        rows = _sized(rows, sizes, faults)
    numbers = scores_file(scores, faults) if role == RUN else [0.0] * len(rows)
    if len(numbers) != len(rows):
        faults.add(None, "another number of scores than rows")
    faults.check()
    scored = [
        Row(row.line, row.group, None, score if role == RUN else None, row.label)
        for row, score in zip(rows, numbers, strict=True)
    ]
    return table(scored, faults, RUN if role == RUN else LABELS, has_items=False)


def _sized(rows: list[Row], sizes: bytes | None, faults: Faults) -> list[Row]:
    """Return rows with the groups that the sizes tell."""
    firsts = [next((row.line for row in rows if (row.group is None) == kind), None) for kind in (True, False)]
    if None not in firsts:
        for row in rows:
            if (row.group is None) != (rows[0].group is None):
                faults.add(row.line, "rows with and without qid")
    if sizes is None:
        faults.add(None, "no group sizes")
        return rows
    lengths = sizes_file(sizes, faults)
    if sum(lengths) != len(rows):
        faults.add(None, "sizes that do not fit the rows")
        faults.check()
    ids = [b"%d" % group for group, length in enumerate(lengths, 1) for _ in range(length)]
    return [Row(row.line, group, None, None, row.label) for row, group in zip(rows, ids, strict=True)]


def _is_feature(field: bytes) -> bool:
    number, colon, value = field.partition(b":")
    digits = bool(number) and all(byte in b"0123456789" for byte in number)
    return digits and bool(colon) and bool(value) and b":" not in value
