"""Items for people to judge, the labels needed next or a drawn sample: for people, and as files to fill in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ndcg_tracker.compare.say_tables import labels_text, whose
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.labels.decide import ItemToGrade, LabelsSample, NeededLabels
from ndcg_tracker.render.csv import csv_text, safe_cell
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, Report, Table, kinds
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import counted, in_a_row, units

NeededFormat = Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"]
_LEGEND = "could move: by how much the grade of this item alone could move the mean difference"
_FIRST_BATCH = "a first batch: the first ranks of every group, rank by rank; what a label could move is shown later"


def needed_said(needed: NeededLabels) -> Said:
    """Return the output for the labels to give next (see ``_to_fill``)."""
    return _to_fill(needed, lambda: [_report(needed)], ["could_move"])


def sample_said(sample: LabelsSample) -> Said:
    """Return the output for drawn items without an answer (see ``_to_fill``)."""
    return _to_fill(sample, lambda: [_sample_report(sample)], [])


def _to_fill(asked: NeededLabels | LabelsSample, reports: Callable[[], list[Report]], further: list[str]) -> Said:
    """Return the output for items that somebody is to grade, with the stored texts; ``further``: more columns.

    CSV has an empty column ``label``, Quepid's CSV an empty ``rating``, and Elasticsearch's requests of ``_rank_eval``
    have a ``rating`` of null. If it is filled in, ``labels add`` reads a label. Raises: InputError for CSV with an id
    that a spreadsheet would take for a formula or that has control characters, because it would not be read back
    unchanged.
    """
    texts = _texts_there(asked.items)
    names, of_quepid = [*further, *texts], ["query_text" if name == "query" else name for name in texts]

    def cells(item: ItemToGrade, names: Sequence[str]) -> list[object]:
        return [None, *(getattr(item, name) for name in names)]

    return Said(
        asked,
        reports,
        lambda: Table.of(tuple(map(Column, ("group", "item", *names))), asked.items),
        {
            "csv": lambda: csv_to_fill(asked.items, ["label", *names], lambda item: cells(item, names)),
            "quepid": lambda: csv_to_fill(
                asked.items, ["rating", *of_quepid], lambda item: cells(item, texts), ("query", "docid")
            ),
            "elasticsearch": lambda: json_text(_requests(asked.dataset, asked.items)),
        },
    )


def _texts_there(items: Sequence[ItemToGrade]) -> list[str]:
    """Return which texts some of the items have: the query text, and title, text and URL of the item."""
    return [name for name in ("query", "title", "text", "url") if any(getattr(item, name) for item in items)]


def csv_to_fill(
    items: Sequence[ItemToGrade],
    further: Sequence[str],
    cells: Callable[[ItemToGrade], Sequence[object]],
    ids: tuple[str, str] = ("group", "item"),
) -> str:
    """Return CSV of items to judge, with ``further`` columns, which can be read back unchanged (InputError if not)."""
    for item in items:
        for what, key in (("group", item.group), ("item", item.item)):
            if safe_cell(key) != key:
                raise InputError(
                    f"{what} {key!r} cannot be read back from CSV that is safe to open",
                    advice=f"use {argument('format', 'elasticsearch')}",
                )
    return csv_text([*ids, *further], [[item.group, item.item, *cells(item)] for item in items])


def _requests(dataset: str, items: Sequence[ItemToGrade]) -> dict[str, object]:
    """Return the requests of ``_rank_eval``, one per group; the index has the dataset's name."""
    requests: dict[str, dict[str, Any]] = {}
    for item in items:
        texts = {name: getattr(item, name) for name in _texts_there([item])}
        query = {"query": texts.pop("query")} if "query" in texts else {}
        request = requests.setdefault(item.group, {"id": item.group, **query, "ratings": []})
        request["ratings"].append({"_index": dataset, "_id": item.item, "rating": None, **texts})
    return {"requests": list(requests.values())}


def _report(needed: NeededLabels) -> Report:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    what = f"{in_a_row([run.name for run in needed.candidates])} against {needed.baseline.name} on {needed.dataset}"
    metric, of_all = familiar_name(needed.metric), counted(needed.n_unjudged, "unjudged item")
    title = f"{what}: judge these {len(needed.items):,} of {of_all} next for {metric}"
    if not needed.items:
        title = f"{what}: no label could move {metric}"
    legend = [_FIRST_BATCH if needed.is_first_batch else _LEGEND]
    table = Table.of(kinds("group id, item id, could_move mean could move"), needed.items, legend=legend)
    facts = [
        ("labels", f"none{whose(needed.label_set)} yet" if needed.is_first_batch else labels_text(needed.label_set))
    ]
    return Report(title, tables=[table] if needed.items else [], facts=facts, notes=list(map(told, needed.notes)))


def _sample_report(sample: LabelsSample) -> Report:
    table = Table.of(kinds("group id, item id"), sample.items)
    facts = [("labels", labels_text(sample.label_set)), ("budget", f"{sample.budget:,}")]
    title = f"{sample.candidate.name} against {sample.baseline.name} on {sample.dataset}: design {sample.design}"
    return Report(
        title,
        sentences=[sample_words(sample)],
        tables=[table] if sample.items else [],
        facts=facts,
        notes=[told(note) for note in sample.notes],
    )


def sample_words(sample: LabelsSample) -> str:
    """Return how many queries and items a sample has, and what they will be able to say."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # as in ``_report``

    words = (
        f"{sample.n_drawn:,} of {sample.n_open:,} {units('query')} with open items, {counted(sample.n_items, 'item')}"
    )
    words += f", {sample.n_answered:,} of them graded already" if sample.n_answered else ""
    n_needed, n_items = sample.needed
    if sample.n_drawn < n_needed:
        return f"{words}; a verdict needs {n_needed:,} {units('query')} with {n_items:,} items"
    if sample.half_width is None:
        return words
    return f"{words}; {familiar_name(sample.metric)} to about ±{sample.half_width:.2g} or better"
