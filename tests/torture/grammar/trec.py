"""TREC runs, ``group Q0 item rank score tag``, and qrels, ``group iteration item grade``."""

from __future__ import annotations

from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import decimal_number, fields_of, lines_of


def trec_run(content: bytes) -> Table:
    """Return a run: six fields between blanks or tabs, no header; blank lines mean nothing; the rank is not read."""
    return _recognised(content, RUN, 6, 4)


def trec_qrels(content: bytes) -> Table:
    """Return labels: four fields between blanks or tabs; the iteration is not read."""
    return _recognised(content, LABELS, 4, 3)


def _recognised(content: bytes, role: Role, n_fields: int, number_field: int) -> Table:
    faults = Faults()
    rows = []
    for line_number, line in lines_of(content, faults):
        fields = fields_of(line)
        if not fields:
            continue
        if len(fields) != n_fields:
            faults.add(line_number, f"{len(fields)} fields")
            continue
        number = decimal_number(fields[number_field])
        if number is None:
            faults.add(line_number, "no number")
            continue
        score, label = (number, None) if role == RUN else (None, number)
        rows.append(Row(line_number, fields[0], fields[2], score, label))
    return table(rows, faults, role, has_items=True)
