"""Rows from the responses of search systems: from JSON lines and from documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.cells import LinePlaces, Places, WrongValueError
from ndcg_tracker.ingest.columns import Columns, Refused, Wanted, warn_of_repeats
from ndcg_tracker.ingest.formats.response_shapes import BATCH, NOTHING, is_batch, json_response
from ndcg_tracker.ingest.formats.responses import Found, Responses
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.plain import checked, id_bytes
from ndcg_tracker.ingest.rows import COLUMN_OF, Rows
from ndcg_tracker.ingest.shapes import each_once
from ndcg_tracker.ingest.source import Lines
from ndcg_tracker.rankings import Index
from ndcg_tracker.words.texts import shown


class _Gathered:
    """The lists of responses, one after the other.

    ``unit``: what holds each of them, a line or a record.
    """

    def __init__(self, name: str, unit: str, responses: Responses) -> None:
        self._name = name
        self._unit = unit
        self._responses = responses
        self._fractions = responses.fractions
        self._of_runs = responses.number == "score"
        self._cells: dict[str, list[object]] = {"group": [], "item": [], **{role: [] for role in COLUMN_OF}}
        self._lengths: list[int] = []
        self._lines: list[int] = []
        self._first_line: dict[bytes, int] = {}
        self.in_order = False
        self._n_empty = self._n_failed = self._n_again = 0

    def add(self, line: int, found: Found) -> None:
        """Add the results of a response, which has this line or number (WrongValueError for a wrong group)."""
        if not found.items:
            self._n_failed += found.is_failed
            self._n_empty += not found.is_failed
            return
        group, n_items = id_bytes(found.group, "group", self._fractions), len(found.items)
        scores, labels, items = found.scores, found.labels, list(found.items)
        if scores is None and self._of_runs:
            self.in_order = True
            if group in self._first_line:
                first = f"{self._unit} {self._first_line[group]}"
                what = (
                    f"group {shown(group)} has a response in {first} already, and without scores the two have "
                    "no joint order"
                )
                raise WrongValueError(what, advice="keep one response per query")
            self._first_line[group] = line
            scores = range(-1, -n_items - 1, -1)
            if found.are_ids:
                items = each_once(items)
                self._n_again += sum(one is not other for one, other in zip(items, found.items, strict=True))
        if labels is None and not self._of_runs:
            labels = [1.0] * n_items
        weights = None if found.weight is NOTHING else [found.weight] * n_items
        given = {"item": items, "score": scores if self._of_runs else None, "label": labels, "weight": weights}
        for role, values in {**given, "rank": found.ranks}.items():
            self._cells[role] += values or ()
        self._cells["group"].append(group)
        self._lengths.append(n_items)
        self._lines.append(line)

    def rows(self) -> tuple[Rows, LinePlaces]:
        """Return the rows of all responses, and their lines (InputError naming the line of a wrong value)."""
        lengths: Index = np.array(self._lengths, dtype=np.int64)
        n_rows = len(self._cells["item"])
        held = {role: cells for role, cells in self._cells.items() if len(cells) == n_rows or role == "group"}
        places = LinePlaces(self._name, np.repeat(self._lines, lengths).tolist(), self._responses.if_twice, self._unit)
        rows = replace(
            checked(held if n_rows else {"group": [], "item": []}, places, lengths, self._fractions),
            in_order=self.in_order,
            n_empty=0 if n_rows else self._n_empty,
            n_failed=self._n_failed,
        )
        warn_of_repeats(self._n_again)
        return self._responses.in_asked_order(rows), places


class ResponseLines(LineFormat):
    """JSON lines with one response per line (see ``LineFormat``).

    Arrow's parser would save a quarter of the time. Values outside the requested paths have to be JSON whose objects
    have each key once, but are not checked further.
    """

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._responses = Responses(columns, wanted)
        self._last_line = 0
        self._blank = 0  # the first line without a response

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows and their lines (InputError naming the line and the path)."""
        gathered = _Gathered(lines.name, "line", self._responses)
        for number, line in lines.lines():
            if not line.strip(b" \t"):
                self._blank = self._blank or number
                continue
            self._last_line = max(self._last_line, number)
            try:
                if self._blank and self._responses.ids is not None:
                    what = f"line {self._blank} is blank, so from there on the ids would belong to other lines"
                    raise WrongValueError(what, advice="remove the blank line")
                response = json_response(line)
                if isinstance(response, dict) and is_batch(response):
                    what = "this line holds the responses to several searches"
                    raise WrongValueError(what, advice=f"read the file with {argument('reader', 'json')}")
                gathered.add(number, self._responses.found(response, number - 1))
            except WrongValueError as error:
                gathered.rows()  # refuses a wrong value above
                raise error.at(f"{lines.name}:{number}") from None
        return gathered.rows()

    def finish(self, n_rows: int, refused: Refused) -> None:
        """Raise the error of ``refused`` for a file of ids that does not fit."""
        _finish(self._responses, self._last_line, refused)


def _finish(responses: Responses, n_responses: int, refused: Refused) -> None:
    try:
        responses.finish(n_responses)
    except WrongValueError as error:
        raise refused(**error.told) from None


# JSON documents


def document_rows(name: str | None, document: object, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of one response, of an array of them, of those to a batch of searches, or of lists by group.

    Parameters: ``name``: of the file, None for objects in memory. ``document``: a value as ``json`` reads it.
    Raises: WrongValueError naming the record and the path.
    """
    responses = Responses(columns, wanted)
    gathered = _Gathered(name or "", "record", responses)
    n_responses = 0
    for number, (where, found) in enumerate(_of_document(responses, document, is_file=bool(name)), 1):
        n_responses = number
        try:
            gathered.add(number, found())
        except WrongValueError as error:
            gathered.rows()  # refuses a wrong value above
            raise error.at(where) from None
    _finish(responses, n_responses, WrongValueError)
    return gathered.rows()


def _of_document(responses: Responses, document: object, *, is_file: bool) -> Iterator[tuple[str, Callable[[], Found]]]:
    """Yield the place of each response of a document, and a function that returns its results."""
    if isinstance(document, list):
        for place, response in enumerate(document):
            yield f"record {place + 1}", partial(responses.found, response, place)
    elif isinstance(document, dict) and is_batch(document):
        for place, response in enumerate(document[BATCH]):
            yield "", partial(responses.found, response, place, f"{BATCH}[{place}].")
    elif isinstance(document, dict) and responses.are_lists(document):
        if responses.ids is not None:
            raise WrongValueError(
                "its lists have the ids of their groups as keys",
                advice=f"leave out the file of {argument('group')}",
            )
        for group, held in document.items():
            yield "", partial(responses.of_list, held, group, f"group {shown(group)}: ")
    elif isinstance(document, dict) and responses.are_by_group(document):
        for place, (group, response) in enumerate(document.items()):
            yield "", partial(responses.found, response, place, f"group {shown(str(group))}: ")
    else:
        responses.is_a_file = is_file
        yield "", partial(responses.found, document)
