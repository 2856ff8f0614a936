"""TREC runs, ``group Q0 item rank score tag``, and qrels, ``group iteration item grade``."""

from __future__ import annotations

import re

from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import decimal_number, fields_of, label_number, lines_of


def trec_run(content: bytes) -> Table:
    """Return a run: six fields between blanks or tabs, no header; blank lines and ``#`` lines mean nothing.

    Words may follow where the rank is a whole number and they hold no second row; else the rank is not read.
    """
    return _recognised(content, RUN, 6, 4)


def trec_qrels(content: bytes) -> Table:
    """Return labels: four fields between blanks or tabs; the iteration is not read."""
    return _recognised(content, LABELS, 4, 3)


def _recognised(content: bytes, role: Role, n_fields: int, number_field: int) -> Table:
    faults = Faults()
    rows = []
    for line_number, line in lines_of(content, faults):
        fields = fields_of(line)
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) != n_fields and not (role == RUN and _has_words(line, fields)):
            faults.add(line_number, f"{len(fields)} fields")
            continue
        number = (decimal_number if role == RUN else label_number)(fields[number_field])
        if number is None:
            faults.add(line_number, "no number")
            continue
        score, label = (number, None) if role == RUN else (None, number)
        rows.append(Row(line_number, fields[0], fields[2], score, label))
    return table(rows, faults, role, has_items=True)


def _has_words(line: bytes, fields: list[bytes]) -> bool:
    if len(fields) <= 6 or not _is_rank(fields[3]) or b"\r" in line:
        return False
    return not any(
        fields[at] == fields[1] and _is_rank(fields[at + 2]) and decimal_number(fields[at + 3]) is not None
        for at in range(6, len(fields) - 3)
    )


def _is_rank(field: bytes) -> bool:
    if re.fullmatch(b"0[xX][0-9a-fA-F]{1,8}", field):
        return True
    return re.fullmatch(b"-?[0-9]+", field) is not None and abs(int(field)) < 2**31
