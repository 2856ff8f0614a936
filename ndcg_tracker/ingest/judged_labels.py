"""Labels whose rows say more than group, item and label: who gave each, or the gold span of a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import NamedTuple

import numpy as np

from ndcg_tracker.errors import ReadWarning, argument, warn
from ndcg_tracker.ingest.cells import PartPlaces, Places, WrongValueError
from ndcg_tracker.ingest.columns import EACH_ROW, JUDGE, LABEL_TABLE, Columns, ColumnWarning, reason_column
from ndcg_tracker.ingest.plain import cell_number, checked, id_bytes, unfolded, warn_of_fractions
from ndcg_tracker.ingest.records import Records, checked_text, place_of
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.spans import are_spans, with_items
from ndcg_tracker.ingest.table import label_lists
from ndcg_tracker.rankings.ranking import SPANS, Details, LabelDetail, LabelLists
from ndcg_tracker.words.texts import counted, in_a_row, shown

_OF_A_MODEL = ("model", "prompt")
_NULL = float("nan")


class _Label(NamedTuple):
    row: int
    group: bytes
    item: bytes
    grade: float | None
    detail: LabelDetail = LabelDetail()


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
    wanted = [place_of(header, name, role, refused) for role, name in names.items()]
    reason = None if unsure else reason_column(header, [*names.values()])
    if reason:
        warn(ReadWarning(f"read {shown(reason)} as the reason of each label", where=records.places.name))
    others = {*header} - {*names.values()} if reason or JUDGE in header else set[str]()
    said_in = [name for name in (JUDGE, *_OF_A_MODEL) if name in others]
    said_in += [reason] if reason else []
    wanted += map(header.index, [*where, *said_in])
    told = dict.fromkeys(said_in, "")  # in the row that is being read

    def chosen_rows() -> Iterator[tuple[int, Sequence[object]]]:
        for row, cells in enumerate(records.rows(wanted)):
            if reason and isinstance(cells[-1], list):
                told_of = "the reasons of labels are in a list"
                advice = "give each label a row of its own, with its reason"
                raise WrongValueError(told_of, advice=advice).at(records.places.place(row))
            texts = ["" if cell is None else str(cell) for cell in cells[len(names) :]]
            if texts[: len(where)] == [*where.values()]:
                told.update(zip(said_in, texts[len(where) :], strict=True))
                yield row, cells[: len(names)]

    of_judge = dict[str, list[_Label]]()
    fractions: set[str] = set()
    of_models: dict[str, dict[str, dict[str, None]]] = {}
    bad: list[tuple[str, str]] = []  # the judge, and the cell with its place
    for row, (group, item, *label) in unfolded(chosen_rows(), names, records.places.place):
        judge = told.get(JUDGE, "")
        gathered = of_judge.setdefault(judge, [])
        for name in _OF_A_MODEL:
            if told.get(name):
                of_models.setdefault(judge, {}).setdefault(name, {})[told[name]] = None
        try:
            detail = LabelDetail(checked_text(told.get(reason or "", "").strip(), "the reason").decode())
            group_id, item_id = id_bytes(group, "group", fractions), id_bytes(item, "item", fractions)
            try:
                grade = _grade(label[0], columns.grades, unsure=unsure) if label else 1.0
            except WrongValueError:
                if "bad-grades" not in columns.allow:
                    raise
                bad.append((judge, f"{shown(str(label[0]))} in {records.places.mention(row)}"))
                continue
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
        if item_id or grade == grade:  # else it is a query without a labelled item
            gathered.append(_Label(row, group_id, item_id, grade if grade == grade else None, detail))
    warn_of_fractions(fractions)
    if not of_judge:
        asked = " and ".join(f"{column}={value}" for column, value in where.items())
        raise records.places.whole(f"no row has {asked}" if asked else "there are no rows", advice="check the values")
    found = {}
    if bad:
        n_labels = len(bad) + sum(map(len, of_judge.values()))
        are = "is not a number and is" if len(bad) == 1 else "are not numbers and are"
        warn(ColumnWarning(f"{counted(len(bad), 'label')} of {n_labels:,} {are} left out, first {bad[0][1]}"))
    for judge, gathered in of_judge.items():
        origin = columns.origins.setdefault(judge, {})
        for name, values in of_models.get(judge, {}).items():
            if len(values) > 1:
                some = in_a_row([shown(value) for value in [*values][:5]])
                advice = f"give each its own judge, such as {argument('where', f'{name}={next(iter(values))}')} with "
                advice += f"{argument('judge', 'NAME')}"
                whose = f" of judge {judge!r}" if judge else ""
                raise records.places.whole(f"the labels{whose} have the {name}s {some}", advice=advice)
            origin[name] = [*values]
        n_bad = sum(of == judge for of, _ in bad)
        origin |= {"left_out": [counted(n_bad, "bad grade")]} if n_bad else {}
        if "duplicates:mean" in columns.allow:
            gathered = _means(gathered)
            spread = _spread([label.detail for label in gathered])
            origin |= {"repeats": [spread]} if spread else {}
            if spread:
                whose = f"judge {judge!r} gave" if judge else "there are"
                warn(ColumnWarning(f"{whose} several labels of one item, and their mean counts: {spread}"))
        places = PartPlaces(records.places, [label.row for label in gathered])
        rows = checked(
            {role: [cells[at] for cells in gathered] for at, role in enumerate(LABEL_TABLE.roles, 1)}, places
        )
        rows = rows.as_asked(columns)
        labels = label_lists(rows, places, are_answers=unsure)
        labels = replace(labels, details=_details(gathered, labels, rows, places))
        found[judge] = replace(labels, same_items=SPANS) if spans else labels
    return found


def _means(gathered: Sequence[_Label]) -> list[_Label]:
    """Return one label for each item of a group, the mean of its labels.

    >>> labels = [_Label(0, b"q", b"a", 1.0), _Label(1, b"q", b"a", 2.0), _Label(2, b"q", b"b", 1.0)]
    >>> [(label.item, label.grade, label.detail.n_given) for label in _means(labels)]
    [(b'a', 1.5, 2), (b'b', 1.0, 1)]
    """
    of_pair: dict[tuple[bytes, bytes], list[_Label]] = {}
    for label in gathered:
        of_pair.setdefault((label.group, label.item), []).append(label)
    return [_mean(labels) for labels in of_pair.values()]


def _mean(labels: Sequence[_Label]) -> _Label:
    """Return the mean of labels of one item; its reason has the grades, where these differ.

    >>> first, second = (_Label(row, b"q", b"a", row + 1.0, LabelDetail(reason)) for row, reason in enumerate("xy"))
    >>> _mean([first, second])[3:]
    (1.5, LabelDetail(reason='1: x; 2: y', n_given=2, std_dev=0.7071067811865476, given_by='', model='', prompt=''))
    """
    given = [(label.grade, label.detail.reason) for label in labels if label.grade is not None]
    grades = [grade for grade, _ in given]
    if len(grades) < 2:
        return next((label for label in labels if label.grade is not None), labels[0])
    mean = fsum(grades) / len(grades)
    differ = len({*grades}) > 1
    reasons = [f"{grade:g}: {reason}" if differ else reason for grade, reason in given if reason]
    std_dev = (fsum((grade - mean) ** 2 for grade in grades) / (len(grades) - 1)) ** 0.5
    detail = LabelDetail("; ".join(dict.fromkeys(reasons)), len(grades), std_dev)
    return labels[0]._replace(grade=mean, detail=detail)


def _spread(details: Sequence[LabelDetail]) -> str:
    """Return in words how far a judge's several labels of an item spread, "" where there are none.

    >>> _spread([LabelDetail(), LabelDetail(n_given=2, std_dev=0.5)])
    '1 of 2 items, 1 with different labels, standard deviation 0.5'
    """
    again = [detail for detail in details if detail.n_given > 1]
    if not again:
        return ""
    squares = fsum(detail.std_dev**2 * (detail.n_given - 1) for detail in again)
    deviation = (squares / sum(detail.n_given - 1 for detail in again)) ** 0.5
    n_differ = sum(detail.std_dev > 0 for detail in again)
    spread = f"{len(again):,} of {counted(len(details), 'item')}, {n_differ:,} with different labels"
    return f"{spread}, standard deviation {deviation:.4g}"


def _details(gathered: Sequence[_Label], labels: LabelLists, rows: Rows, places: Places) -> Details:
    """Return what rows say besides the grade that counts of their item, by group and item."""
    if rows.items is None or all(label.detail == LabelDetail() for label in gathered):
        return {}
    items = rows.items if rows.documents is None else rows.documents.of(rows.items, places.whole, are_labels=True)[0]
    keys = (of.to_list() for of in labels.keys_of(np.arange(labels.n_items)))
    grades = dict(zip(zip(*keys, strict=True), labels.grades.tolist(), strict=True))
    found: dict[tuple[str, str], LabelDetail] = {}
    for label, item in zip(gathered, items.to_list(), strict=True):
        pair = label.group.decode(), item
        if label.detail != LabelDetail() and grades.get(pair) == label.grade:
            found.setdefault(pair, label.detail)
    return found


def _grade(cell: object, grades: Mapping[str, float], *, unsure: bool) -> float:
    """Return the grade that a cell holds, or that its word has among ``grades``; NaN for none or unsure."""
    if (word := str(cell).strip().lower()) in grades or (unsure and word == "unsure"):
        return grades.get(word, _NULL)
    if grades and word.isalpha():
        what = f"label {shown(str(cell))} is not among the words of {argument('grades')}"
        raise WrongValueError(what, advice="add it there")
    return cell_number(cell, "label")
