"""Rows from the responses of search systems: from JSON lines, if possible by Arrow's parser, and from documents."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.arrow import Collected
from ndcg_tracker.ingest.cells import (
    DoubtfulError,
    LinePlaces,
    NoPlaces,
    Places,
    RecordPlaces,
    WrongValueError,
    whole_ranks,
)
from ndcg_tracker.ingest.columns import Columns, Refused, Wanted
from ndcg_tracker.ingest.formats.jsonl import json_id, json_number, n_objects, refuse_odd_numbers
from ndcg_tracker.ingest.formats.response_shapes import BATCH, MAY_BE_A_PART, NOTHING, Steps, is_batch, json_response
from ndcg_tracker.ingest.formats.responses import Found, OfElement, OfRecord, Responses
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BLOCK, Lines, plain_lines
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.words.texts import shown

_NEWLINE = 0x0A
_BLOCK = 1 << 20  # bytes that Arrow parses at a time


class _Gathered:
    """The lists of responses, one after the other.

    ``unit``: what holds each of them, a line or a record; ``fractions``: see ``json_id``.
    """

    def __init__(self, name: str, unit: str, fractions: set[str], *, of_runs: bool) -> None:
        self._name = name
        self._unit = unit
        self._fractions = fractions
        self._of_runs = of_runs
        self._groups: list[bytes] = []
        self._lengths: list[int] = []
        self._items: list[bytes] = []
        self._scores = array("d")
        self._labels = array("d")
        self._weights = array("d")
        self._ranks = array("d")
        self._lines: list[int] = []
        self._first_line: dict[bytes, int] = {}
        self.in_order = False
        self._n_empty = self._n_failed = 0

    def add(self, line: int, found: Found) -> None:
        """Add the results of a response, which has this line or number (WrongValueError for a wrong value)."""
        if not found.items:
            self._n_failed += found.is_failed
            self._n_empty += not found.is_failed
            return
        group = json_id(found.group, "group", self._fractions)
        if found.scores is None and self._of_runs:
            self.in_order = True
            if group in self._first_line:
                first = f"{self._unit} {self._first_line[group]}"
                what = (
                    f"group {shown(group)} has a response in {first} already, and without scores the two have "
                    "no joint order"
                )
                raise WrongValueError(what, advice="keep one response per query")
            self._first_line[group] = line
            self._scores.extend(range(-1, -len(found.items) - 1, -1))
        self._groups.append(group)
        self._lengths.append(len(found.items))
        self._lines.append(line)
        self._items += [json_id(item, "item", self._fractions) for item in found.items]
        if found.scores is not None and self._of_runs:
            self._scores.extend([json_number(score, "score") for score in found.scores])
        if found.labels is not None:
            self._labels.extend([json_number(label, "label") for label in found.labels])
        elif not self._of_runs:
            self._labels.extend([1.0] * len(found.items))
        if found.ranks is not None:
            self._ranks.extend([json_number(rank, "rank") for rank in found.ranks])
        if found.weight is not NOTHING:
            self._weights.extend([json_number(found.weight, "weight")] * len(found.items))

    def rows(self, responses: Responses) -> tuple[Rows, LinePlaces]:
        """Return the rows of all responses, and their lines."""
        lengths: Index = np.array(self._lengths, dtype=np.int64)
        n_rows = len(self._items)

        def column(values: array[float]) -> Floats | None:
            return np.array(values) if len(values) == n_rows and n_rows else None

        rows = Rows(
            Keys.from_bytes(self._groups),
            lengths,
            Keys.from_bytes(self._items),
            column(self._scores) if self._of_runs else None,
            column(self._labels),
            column(self._weights),
            None if (ranks := column(self._ranks)) is None else whole_ranks(ranks),
            in_order=self.in_order,
            n_empty=0 if n_rows else self._n_empty,
            n_failed=self._n_failed,
        )
        rows = responses.in_asked_order(rows)
        return rows, LinePlaces(self._name, np.repeat(self._lines, lengths).tolist(), responses.if_twice)


class ResponseLines:
    """JSON lines with one response per line (see ``LineFormat``); Arrow's parser reads what is not in doubt.

    Values outside the requested paths have to be JSON, but are not checked further.
    """

    small = None

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._responses = Responses(columns, wanted)
        self._of_runs = "score" in wanted.roles
        self._last_line = 0
        self._blank = 0  # the first line without a response

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows and their lines (InputError naming the line and the path)."""
        gathered = _Gathered(lines.name, "line", self._responses.fractions, of_runs=self._of_runs)
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
                raise error.at(f"{lines.name}:{number}") from None
        return gathered.rows(self._responses)

    def fast(self, lines: Lines) -> Rows:
        """Return the rows, read by Arrow's parser."""
        first, parts, n_responses = lines.first_line, list[Rows](), 0
        for piece in lines.pieces(BLOCK):
            text = plain_lines(piece).rstrip(b"\n")
            if not text:
                raise DoubtfulError("blank lines")
            n_lines = n_objects(text)
            rows, n_found = self._piece_rows(text, first - 1)
            parts.append(rows)
            first += n_lines
            n_responses += n_found
        if not parts:
            raise DoubtfulError("no lines")
        self._last_line = max(self._last_line, first - 1)
        rows = Rows.joined(parts)
        if rows.in_order and np.unique(rows.span_keys.hashes()).size < n_responses:
            raise DoubtfulError("a group in two lines")
        return self._responses.in_asked_order(rows)

    def n_rows_of(self, line: bytes) -> int:
        """Return how many items a response holds."""
        return len(self._responses.found(json_response(line)).items) if line.strip(b"\r\n") else 0

    def finish(self, n_rows: int, refused: Refused) -> None:
        """Raise the error of ``refused`` for a file of ids that does not fit."""
        _finish(self._responses, self._last_line, refused)

    def _piece_rows(self, text: bytes, n_before: int) -> tuple[Rows, int]:
        """Return the rows of some lines, and how many lines have rows; ``n_before``: how many lines come before."""
        responses = self._responses
        try:
            found = (responses.found(json_response(line), n_before) for line in text.split(b"\n"))
            sample = next((one for one in found if one.items), None)
        except ValueError as error:
            raise DoubtfulError(str(error)) from None
        if sample is None or responses.record is None or responses.element is None:
            raise DoubtfulError("no response has found anything")
        if responses.record.shape is not None and MAY_BE_A_PART.search(text):
            raise DoubtfulError("perhaps a part of a response")
        ids = None if responses.ids is None else responses.ids[n_before:]
        return _arrow_rows(text, responses.record, responses.element, sample, ids, responses.number)


def _finish(responses: Responses, n_responses: int, refused: Refused) -> None:
    try:
        responses.finish(n_responses)
    except WrongValueError as error:
        raise refused(error.what, advice=error.advice) from None


def _arrow_rows(
    text: bytes, record: OfRecord, element: OfElement, sample: Found, ids: Sequence[str] | None, number: str
) -> tuple[Rows, int]:
    """Return the rows of lines of JSON and how many lines have rows.

    ``sample``: the results in one of them. ``number``: the role of the numbers, score or label.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    of_runs = number == "score"
    kinds = {
        role: pa.int64() if type(one) is int else pa.string()
        for role, one in (("group", sample.group), ("item", sample.items[0]))
    }
    score = element.score if of_runs else None
    inner = {"item": element.item, "score": score, "label": element.label, "rank": element.rank}
    in_element = {role: steps for role, steps in inner.items() if steps}
    of_element = kinds["item"]
    if element.item is not None:
        of_element = pa.struct(_fields(in_element, {role: kinds.get(role, pa.float64()) for role in in_element}))
    beside = (number,) if element.item is None else None  # a list of numbers may be next to a list of ids
    paths = {"group": record.group, "items": record.items, "weight": record.weight, "beside": beside}
    in_record = {role: steps for role, steps in paths.items() if steps}
    lists = {"items": pa.list_(of_element), "beside": pa.list_(pa.float64())}
    schema = pa.schema(_fields(in_record, {**lists, "weight": pa.float64(), "group": kinds["group"]}))
    collected, n_responses, n_before, in_order = Collected(NoPlaces()), 0, 0, []
    for batch in _parsed(text, schema).to_batches():
        held = _column(batch, record.items)
        if held.null_count or (beside is not None and _column(batch, beside).null_count < len(held)):
            raise DoubtfulError("a response without a list, or with a list of numbers")
        counts = pc.list_value_length(held).to_numpy(zero_copy_only=False).astype(np.int64)
        elements = held.flatten()
        codes = pa.array(np.repeat(np.arange(counts.size), counts), pa.int32())
        groups = (
            pa.array(ids[n_before : n_before + counts.size]) if ids is not None else _column(batch, record.group or ())
        )
        has_group = groups.is_valid().to_numpy(zero_copy_only=False)
        if len(groups) < counts.size or counts[~has_group].any() or elements.null_count:
            raise DoubtfulError("a response without a group, or an element that is null")
        is_text = groups.type == pa.string()
        groups = groups.fill_null("" if is_text else 0)  # for empty lists
        columns = {"group": pa.DictionaryArray.from_arrays(codes, groups) if is_text else groups.take(codes)}
        columns["item"] = elements if element.item is None else _column(elements, element.item)
        for role in in_element.keys() - {"item"}:
            columns[role] = _column(elements, in_element[role])
        if record.weight is not None:
            columns["weight"] = _column(batch, record.weight).take(codes)
        scores = columns.get("score")
        if scores is not None and scores.null_count != (0 if element.has_scores else len(scores)):
            raise DoubtfulError("a score that others do not have")
        if not element.has_scores and of_runs:
            columns.pop("score", None)
            in_order.append(0.0 - places_in(counts))
        for role in columns.keys() & {"score", "label", "weight", "rank"}:
            refuse_odd_numbers(columns[role])
        collected.add(columns)
        n_responses += int(np.count_nonzero(counts))
        n_before += counts.size
    rows = collected.rows()
    if element.item is None and not of_runs:
        return replace(rows, grades=np.ones(rows.n_rows)), n_responses
    return replace(rows, scores=np.concatenate(in_order), in_order=True) if in_order else rows, n_responses


def _fields(paths: Mapping[str, Steps], kinds: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields of a struct in which the given paths lead to values of the given types."""
    import pyarrow as pa

    fields: dict[str, dict[str, Steps]] = {}
    for role, steps in paths.items():
        fields.setdefault(steps[0], {})[role] = steps[1:]
    if any(len(inner) > 1 and not all(inner.values()) for inner in fields.values()):
        raise DoubtfulError("a path that goes on where another one ends")
    return [
        (name, kinds[next(iter(inner))] if not all(inner.values()) else pa.struct(_fields(inner, kinds)))
        for name, inner in fields.items()
    ]


def _parsed(text: bytes, schema: Any) -> Any:
    """Return the Arrow table of lines of JSON with the fields of the schema (else DoubtfulError)."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    parsing = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    starts = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _NEWLINE)
    longest = int(np.diff(starts, prepend=-1, append=len(text)).max())
    reading = arrow_json.ReadOptions(block_size=max(_BLOCK, 2 * longest))
    try:
        table = arrow_json.read_json(pa.BufferReader(text), reading, parsing)
    except (pa.ArrowException, UnicodeError) as error:
        raise DoubtfulError(str(error)) from None
    if table.num_rows != starts.size + 1:
        raise DoubtfulError("not one object per line")
    return table


def _column(held: Any, steps: Steps) -> Any:
    """Return the Arrow array to which a path leads in a batch or in an array of structs."""
    import pyarrow.compute as pc

    for step in steps:
        if hasattr(held, "schema"):
            held = held.column(held.schema.get_field_index(step))
        else:
            held = pc.struct_field(held, [held.type.get_field_index(step)])
    return held


# JSON documents


def document_rows(name: str | None, document: object, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of one response, of an array of them, of those to a batch of searches, or of lists by group.

    Parameters: ``name``: of the file, None for objects in memory. ``document``: a value as ``json`` reads it.
    Raises: WrongValueError naming the record and the path.
    """
    responses = Responses(columns, wanted)
    gathered = _Gathered(name or "", "record", responses.fractions, of_runs="score" in wanted.roles)
    n_responses = 0
    for number, (where, found) in enumerate(_of_document(responses, document, is_file=bool(name)), 1):
        n_responses = number
        try:
            gathered.add(number, found())
        except WrongValueError as error:
            raise error.at(where) from None
    _finish(responses, n_responses, WrongValueError)
    rows, lines = gathered.rows(responses)
    return rows, RecordPlaces(name or "", lines)


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
        responses.are_of(document)
        for place, (group, response) in enumerate(document.items()):
            yield "", partial(responses.found, response, place, f"group {shown(str(group))}: ")
    else:
        responses.is_a_file = is_file
        yield "", partial(responses.found, document)
