"""Labels whose rows say more than group, item and label: who gave each, or the gold span of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum

from ndcg_tracker.errors import argument, warn
from ndcg_tracker.ingest.cells import PartPlaces, WrongValueError
from ndcg_tracker.ingest.columns import EACH_ROW, LABEL_TABLE, Columns, ColumnWarning
from ndcg_tracker.ingest.plain import cell_number, checked, id_bytes, unfolded, warn_of_fractions
from ndcg_tracker.ingest.records import Records, place_of
from ndcg_tracker.ingest.spans import are_spans, with_items
from ndcg_tracker.ingest.table import label_lists
from ndcg_tracker.rankings.ranking import SPANS, LabelLists
from ndcg_tracker.words.texts import counted, in_a_row, shown

JUDGE = "judge"
"""The column of a table of labels that says who gave each."""
_OF_A_MODEL = ("model", "prompt")
_NULL = float("nan")
_Label = tuple[int, bytes, bytes, float | None]


def judged_labels(
    records: Records, columns: Columns, where: Mapping[str, str], *, unsure: bool = False
) -> dict[str, LabelLists]:
    """Return the labels of a table by judge, "" for a row without one.

    Parameters: ``where``: only the rows with these values in these columns. ``unsure``: whether people had to fill them
    in, so that the word unsure means no label. Gold spans without a column of labels have the grade 1. Where that is
    allowed, rows whose label is not a number are left out, and of a judge's several labels of an item the mean counts;
    ``columns.origins`` takes how many there were, and the model and the prompt that columns name.
    """
    spans, refused = are_spans(records.header, columns), records.refused
    records = with_items(records) if spans else records
    header = records.header
    if spans and columns.label is None and "label" not in header:
        columns = replace(columns, label=EACH_ROW)
    absent = next((column for column in where if column not in header), None)
    if absent is not None:
        what = f"there is no column {shown(absent)}"
        raise records.places.whole(what, advice=f"choose one of {', '.join(map(shown, header))}")
    names = columns.names(header, LABEL_TABLE, refused)
    in_rows = {role: place_of(header, name, role, refused) for role, name in names.items()}
    said_in = [name for name in (JUDGE, *_OF_A_MODEL) if name in header and JUDGE in header]
    chosen = [*where, *said_in]
    n_roles, of_judge = len(in_rows), dict[str, list[_Label]]()
    fractions: set[str] = set()
    of_models: dict[str, dict[str, dict[str, None]]] = {}
    bad: list[str] = []
    called = {role: names.get(role, role) for role in LABEL_TABLE.roles}
    for row, cells in enumerate(records.rows([*in_rows.values(), *map(header.index, chosen)])):
        texts = ["" if cell is None else str(cell) for cell in cells[n_roles:]]
        if texts[: len(where)] != list(where.values()):
            continue
        said = dict(zip(said_in, texts[len(where) :], strict=True))
        judge = said.get(JUDGE, "")
        gathered = of_judge.setdefault(judge, [])
        for name in _OF_A_MODEL:
            if said.get(name):
                of_models.setdefault(judge, {}).setdefault(name, {})[said[name]] = None
        held = dict(zip(in_rows, cells, strict=False))
        try:
            group = id_bytes(held["group"], "group", fractions)
            cells = (group, *map(held.get, ("item", "label")))
            for _, (_, item, label) in unfolded([(row, cells)], called, records.places.place):
                item_id = id_bytes(item, "item", fractions)
                is_unsure = unsure and isinstance(label, str) and label.strip().lower() == "unsure"
                try:
                    grade = 1.0 if "label" not in names else _NULL if is_unsure else _grade(label, columns.grades)
                except WrongValueError:
                    if "bad-grades" not in columns.allow:
                        raise
                    bad.append(f"{shown(str(label))} in {records.places.mention(row)}")
                    continue
                if item_id or grade == grade:  # else it is a query without a labelled item
                    gathered.append((row, group, item_id, grade if grade == grade else None))
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
    warn_of_fractions(fractions)
    if not of_judge:
        asked = " and ".join(f"{column}={value}" for column, value in where.items())
        raise records.places.whole(f"no row has {asked}" if asked else "there are no rows", advice="check the values")
    found = {}
    if bad:
        n_rows = row + 1
        what = f"{counted(len(bad), 'label')} of {n_rows:,} {'is' if len(bad) == 1 else 'are'} not a number"
        warn(ColumnWarning(f"{what} and left out, first {bad[0]}"))
    for judge, gathered in of_judge.items():
        origin = columns.origins.setdefault(judge, {})
        for name, values in of_models.get(judge, {}).items():
            if len(values) > 1:
                some = in_a_row([shown(value) for value in [*values][:5]])
                advice = f"give each its own judge, such as {argument('where', f'{name}={next(iter(values))}')} with "
                advice += f"{argument('judge', 'NAME')}"
                raise records.places.whole(f"the labels of judge {judge!r} have the {name}s {some}", advice=advice)
            origin[name] = [*values]
        origin |= {"left_out": [counted(len(bad), "bad grade")]} if bad else {}
        if "duplicates:mean" in columns.allow:
            gathered, spread = _means(gathered)
            origin |= {"repeats": [spread]} if spread else {}
            if spread:
                whose = f"judge {judge!r} gave" if judge else "there are"
                warn(ColumnWarning(f"{whose} several labels of one item, and their mean counts: {spread}"))
        places = PartPlaces(records.places, [row for row, *_ in gathered])
        rows = checked({role: [cells[at] for cells in gathered] for at, role in enumerate(called, 1)}, places)
        labels = label_lists(rows.as_asked(columns), places, are_answers=unsure)
        found[judge] = replace(labels, same_items=SPANS) if spans else labels
    return found


def _means(gathered: Sequence[_Label]) -> tuple[list[_Label], str]:
    """Return one label for each item of a group, the mean of its labels, and how far these spread, "" for no repeats.

    >>> _means([(0, b"q", b"a", 1.0), (1, b"q", b"a", 2.0), (2, b"q", b"b", 1.0)])[0]
    [(0, b'q', b'a', 1.5), (2, b'q', b'b', 1.0)]
    """
    of_pair: dict[tuple[bytes, bytes], list[_Label]] = {}
    for label in gathered:
        of_pair.setdefault(label[1:3], []).append(label)
    means, squares, n_labels, n_differ, n_again = list[_Label](), 0.0, 0, 0, 0
    for pair, labels in of_pair.items():
        grades = [grade for *_, grade in labels if grade is not None]
        mean = fsum(grades) / len(grades) if grades else None
        means.append((labels[0][0], *pair, mean))
        if len(grades) > 1 and mean is not None:
            squares += fsum((grade - mean) ** 2 for grade in grades)
            n_labels, n_differ, n_again = n_labels + len(grades), n_differ + (len({*grades}) > 1), n_again + 1
    if not n_again:
        return means, ""
    deviation = (squares / max(n_labels - n_again, 1)) ** 0.5
    spread = f"{n_again:,} of {counted(len(means), 'item')}, {n_differ:,} with different labels"
    return means, f"{spread}, standard deviation {deviation:.4g}"


def _grade(cell: object, grades: Mapping[str, float]) -> float:
    """Return the grade that a cell holds, or that its word has among ``grades``; NaN for none."""
    if (word := str(cell).strip().lower()) in grades:
        return grades[word]
    if grades and word.isalpha():
        what = f"label {shown(str(cell))} is not among the words of {argument('grades')}"
        raise WrongValueError(what, advice="add it there")
    return cell_number(cell, "label")
