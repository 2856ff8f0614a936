"""What to judge next: for people, and as files that judges fill in and ``labels add`` reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.labels.decide_needed import NeededLabel, NeededLabels
from ndcg_tracker.render.csv import csv_text, safe_cell
from ndcg_tracker.render.formats import reports_as
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import WIDTH, Format, Report, Table, columns
from ndcg_tracker.render.rows import as_object
from ndcg_tracker.words.numbers import counted, points

NeededFormat = Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"]
_LEGEND = "could move: by how much the grade of this item alone could move the mean difference"


def needed_as(format: NeededFormat, needed: NeededLabels, *, color: bool = False, width: int = WIDTH) -> str:
    """Return what to judge next in a format, with a line end.

    CSV has an empty column ``label``, Quepid's CSV an empty ``rating``, Elasticsearch's requests of ``_rank_eval`` have
    a ``rating`` of null: where it is filled in, ``labels add`` reads a label. Raises: InputError for CSV of an id that
    a spreadsheet would take for a formula, or with control characters: it would not be read back as it is.
    """
    if format == "json":
        return json_text(as_object(needed))
    if format == "csv":
        return _csv(needed, ["group", "item", "label", "could_move"], lambda one: (None, one.could_move))
    if format == "quepid":
        return _csv(needed, ["query", "docid", "rating"], lambda _: (None,))
    if format == "elasticsearch":
        return json_text(_requests(needed))
    return reports_as(cast("Format", format), [_report(needed)], color=color, width=width)


def _csv(needed: NeededLabels, names: list[str], further: Callable[[NeededLabel], tuple[object, ...]]) -> str:
    for one in needed.items:
        for what, key in (("group", one.group), ("item", one.item)):
            if safe_cell(key) != key:
                raise InputError(
                    f"{what} {key!r} cannot be read back from CSV that is safe to open",
                    advice=f"use {argument('format', 'elasticsearch')}",
                )
    return csv_text(names, [[one.group, one.item, *further(one)] for one in needed.items])


def _requests(needed: NeededLabels) -> dict[str, object]:
    """Return the requests of ``_rank_eval``, a group each; the index is that of the dataset's name."""
    ratings: dict[str, list[object]] = {}
    for one in needed.items:
        ratings.setdefault(one.group, []).append({"_index": needed.dataset, "_id": one.item, "rating": None})
    return {"requests": [{"id": group, "ratings": found} for group, found in ratings.items()]}


def _report(needed: NeededLabels) -> Report:
    from ndcg_tracker.metrics.language.agreement import familiar_name  # NumPy is not for those who only print a table

    candidates = " and ".join(
        filter(None, [", ".join(run.name for run in needed.candidates[:-1]), needed.candidates[-1].name])
    )
    what = f"{candidates} against {needed.baseline.name} on {needed.dataset}"
    if not needed.items:
        title = f"{what}: no label could move {familiar_name(needed.metric)}"
    else:
        of_all = counted(needed.n_unjudged, "unjudged item")
        title = f"{what}: judge these {len(needed.items):,} of {of_all} next, for {familiar_name(needed.metric)}"
    rows = [[one.group, one.item, points(one.could_move)] for one in needed.items]
    table = Table(columns("group", "item", ">could move"), rows, names=(0, 1), legend=[_LEGEND])
    facts = [("labels", f"version {needed.label_set.version}, digest {needed.label_set.digest[:12]}")]
    return Report(title, tables=[table] if rows else [], facts=facts)
