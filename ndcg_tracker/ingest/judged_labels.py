"""Labels whose rows say more than group, item and label: who gave each, or the gold span of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ndcg_tracker.ingest.cells import Places, WrongValueError, number
from ndcg_tracker.ingest.columns import LABEL_TABLE, Columns
from ndcg_tracker.ingest.plain import checked, json_number, unfolded, warn_of_fractions
from ndcg_tracker.ingest.records import Records, id_bytes, number_in, place_of
from ndcg_tracker.ingest.spans import SPAN, are_spans, span_item
from ndcg_tracker.ingest.table import label_lists
from ndcg_tracker.rankings.ranking import SPANS, LabelLists
from ndcg_tracker.words.texts import shown

JUDGE = "judge"
"""The column of a table of labels that says who gave each."""
_NULL = float("nan")


def judged_labels(
    records: Records, columns: Columns, where: Mapping[str, str], *, unsure: bool = False
) -> dict[str, LabelLists]:
    """Return the labels of a table by judge, "" for a row without one.

    Parameters: ``where``: only the rows with these values in these columns. ``unsure``: whether people had to fill them
    in, so that the word unsure means no label. Gold spans without a column of labels have the grade 1.
    """
    header, refused = records.header, records.refused
    absent = next((column for column in where if column not in header), None)
    if absent is not None:
        what = f"there is no column {shown(absent)}"
        raise records.places.whole(what, advice=f"choose one of {', '.join(map(shown, header))}")
    spans = are_spans(header, columns)
    names = _span_names(header, columns) if spans else columns.names(header, LABEL_TABLE, refused)
    in_rows = {role: place_of(header, name, role, refused) for role, name in names.items()}
    chosen = {**where, **({JUDGE: ""} if JUDGE in header else {})}
    n_roles, of_judge = len(in_rows), dict[str, list[tuple[int, bytes, bytes, float | None]]]()
    fractions: set[str] = set()
    called = {role: names.get(role, role) for role in LABEL_TABLE.roles}
    for row, cells in enumerate(records.rows([*in_rows.values(), *map(header.index, chosen)])):
        texts = ["" if cell is None else str(cell) for cell in cells[n_roles:]]
        if texts[: len(where)] != list(where.values()):
            continue
        gathered = of_judge.setdefault(texts[-1] if JUDGE in header else "", [])
        values = dict(zip(in_rows, cells, strict=False))
        try:
            group = id_bytes(values["group"], "group", fractions)
            cells = (group, *map(values.get, ("item", "label")))
            for _, (_, item, label) in unfolded([(row, cells)], called, records.places.place):
                item_id = (
                    span_item(*(values[name] for name in SPAN)).encode() if spans else id_bytes(item, "item", fractions)
                )
                is_unsure = unsure and isinstance(label, str) and label.strip().lower() == "unsure"
                grade = 1.0 if "label" not in names else _NULL if is_unsure else _grade(label)
                if item_id or grade == grade:  # else it is a query without a labelled item
                    gathered.append((row, group, item_id, grade if grade == grade else None))
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
    warn_of_fractions(fractions)
    if not of_judge:
        asked = " and ".join(f"{column}={value}" for column, value in where.items())
        raise records.places.whole(f"no row has {asked}" if asked else "there are no rows", advice="check the values")
    found = {}
    for judge, gathered in of_judge.items():
        places = _PartPlaces(records.places, [row for row, *_ in gathered])
        rows = checked({role: [cells[at] for cells in gathered] for at, role in enumerate(called, 1)}, places)
        labels = label_lists(rows.as_asked(columns), places, are_answers=unsure)
        found[judge] = replace(labels, same_items=SPANS) if spans else labels
    return found


def _span_names(header: Sequence[str], columns: Columns) -> dict[str, str]:
    names = {"group": columns.asked("group", header, LABEL_TABLE) or "group", **{name: name for name in SPAN}}
    label = columns.name_of("label")
    return {**names, **({"label": label} if columns.label or label in header else {})}


def _grade(cell: object) -> float:
    """Return the grade that a cell holds, NaN for none."""
    if not isinstance(cell, str):
        return json_number(number_in(cell), "label")
    text = cell.strip(" \t").encode()
    return number(text, "label") if text else _NULL


class _PartPlaces:
    """Some rows of a table, at their places in it."""

    def __init__(self, places: Places, rows: Sequence[int]) -> None:
        self.if_twice = places.if_twice
        self._places, self._rows = places, rows

    def error(self, row: int, what: str, **parts: str) -> Exception:
        """Return the table's error for the row."""
        return self._places.error(self._rows[row], what, **parts)

    def whole(self, what: str, **parts: str) -> Exception:
        """Return the table's error for all of it."""
        return self._places.whole(what, **parts)

    def mention(self, row: int) -> str:
        """Return how the table calls the row."""
        return self._places.mention(self._rows[row])
