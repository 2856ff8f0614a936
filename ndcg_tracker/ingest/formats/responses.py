"""Responses of search systems: one record per query with the list of its results, the best first.

Dotted paths say where a record has its query and its list, and where an element of the list has its item, score and
label: ``hits.hits``, ``document.id``, ``results.0``. For the tools in ``SHAPES`` the paths are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ndcg_tracker.errors import InputError, argument, warn
from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.columns import (
    OF_A_FILE,
    RANK,
    RELEVANT_LISTS,
    Columns,
    ColumnWarning,
    Wanted,
    conventional_names,
    is_frame_as_dict,
    often_called,
)
from ndcg_tracker.ingest.formats.response_shapes import (
    NOTHING,
    SHAPES,
    Shape,
    Steps,
    failure_in,
    found_nothing,
    has_key,
    is_by_group,
    is_response,
    json_response,
    known_shape,
    known_shapes,
    steps_of,
    value_at,
)
from ndcg_tracker.ingest.plain import kind_of, warn_of_fractions
from ndcg_tracker.ingest.rows import Rows, in_asked_order, in_order_of_lists
from ndcg_tracker.ingest.source import BOM, LONGEST_LINE, Source
from ndcg_tracker.rankings.ranking import BY_INPUT
from ndcg_tracker.words.texts import counted, in_a_row, shown, shown_name

_HEADS = (1 << 16, 1 << 21, LONGEST_LINE)  # numbers of bytes in which to look for the end of the first line
_OF_PAIR: Steps = ("0",)  # the place of the id in a list of an id and a score
_MOST_LISTED = 10
_LONGEST_NAME = 255  # of a file, in bytes
_ONE_OF_MANY = "; each file is one run, so join several into one, for example with jq -c . q*.json > all.jsonl"
_GROUP_ADVICE = (
    f"name the path of the query's id with {argument('group', 'PATH')}, or give a file of ids, one per line in the "
    f"order of the responses, with {argument('group', '@FILE')}"
)


def holds_responses(held: object, columns: Columns) -> bool:
    """Return whether a Python object is a response, a list of them, or one for each query.

    Raises: InputError for a path into anything else.

    >>> holds_responses([{"q": 1, "found": []}], Columns(items="found")), holds_responses({"q": {"a": 1}}, Columns())
    (True, False)
    """
    if columns.items and not isinstance(held, dict | list):
        what = f"{argument('items')} is for responses in JSON, but this is a {type(held).__name__}"
        raise InputError(what, advice="leave it out")
    if is_by_group(held, columns.items):
        return True
    return bool(columns.items) or is_response(held[0] if isinstance(held, list) and held else held)


def response_columns(record: object, columns: Columns, wanted: Wanted) -> Columns | None:
    """Return the columns of records that are responses, None if they are rows; ``record`` is the first one.

    A row with a list of ids and without scores is a response too, and so is a list if a file has the groups.
    """
    group = columns.asked("group", (), wanted) or ""
    if columns.items or is_response(record) or (group.startswith(OF_A_FILE) and isinstance(record, dict)):
        return columns
    if isinstance(record, list):
        return columns if group.startswith(OF_A_FILE) or has_key(record, "corpus_id") else None
    if not isinstance(record, dict) or columns.by_row_number:
        return None
    try:
        names = columns.likely_names([*record, *columns.asked_beside(record, wanted)], wanted, WrongValueError)
    except WrongValueError:
        return None
    held = record.get(names.get("item", ""))
    is_list = isinstance(held, list) and not any(isinstance(one, dict | list) for one in held)
    has_numbers = {"score", "label"} & {*names, *record}
    return replace(columns, items=names["item"]) if is_list and not has_numbers and "group" in names else None


def is_lists(document: object, columns: Columns) -> bool:
    """Return whether a document is ``{group: [item, ...]}`` with items that are ids or objects with a known id.

    >>> is_lists({"q": ["a", "b"], "r": []}, Columns()), is_lists({"q": [{"id": "a"}]}, Columns())
    (True, False)
    """
    if not isinstance(document, dict) or not all(isinstance(held, list) for held in document.values()):
        return False
    first = next((held[0] for held in document.values() if held), None)
    is_known = (
        not isinstance(first, dict)
        or columns.item
        or first.keys() & {"item", "corpus_id"}
        or conventional_names("item", first)
    )
    return first is not None and bool(is_known) and not is_frame_as_dict(document, ())


def first_record(source: Source) -> object:
    """Return the JSON value in the first line of a source that is not blank, None if it is not JSON."""
    for n_bytes in _HEADS:
        head = source.head(n_bytes)
        line, newline, _ = head.removeprefix(BOM).lstrip(b" \t\r\n").partition(b"\n")
        if newline or len(head) < n_bytes:
            break
    try:
        return json_response(line)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a response: its group, and per item the id, the score, the label and the rank.

    None means that the response does not have this value. ``are_ids``: whether the list holds nothing but ids.
    """

    group: object
    items: Sequence[object]
    scores: Sequence[object] | None
    labels: Sequence[object] | None
    weight: object = NOTHING
    ranks: Sequence[object] | None = None
    is_failed: bool = False
    are_ids: bool = False


_FAILED = Found(None, [], None, None, is_failed=True)
"""What a failed response has found, where it may pass."""


@dataclass(slots=True)
class OfRecord:
    """The paths in a record; ``group`` is None if a file has the ids."""

    group: Steps | None
    items: Steps
    weight: Steps | None
    shape: Shape | None


@dataclass(slots=True)
class OfElement:
    """The paths in an element of a list; ``item`` is None if the element is the id itself.

    ``has_scores``: whether there is a score; if there is none, or it is not wanted, the ranking is the order, or the
    values under ``rank``.
    """

    item: Steps | None
    score: Steps
    label: Steps | None
    has_scores: bool
    rank: Steps | None = None


class Responses:
    """The responses in one source: the paths are taken from the first response and its first item.

    Parameters: ``columns``: the paths, ``items`` being that of the list; a known tool needs none of them.
    """

    def __init__(self, columns: Columns, wanted: Wanted) -> None:
        self._columns = columns
        self._wanted = wanted
        self._of_runs = "score" in wanted.roles
        self.number = "score" if self._of_runs else "label"
        self._record: OfRecord | None = None
        self._element: OfElement | None = None
        self._names: dict[str, str] = {}
        self.fractions: set[str] = set()
        self.is_a_file = False
        """Whether a file holds only one response, so that there may be a file for every query."""

    @cached_property
    def ids(self) -> list[str] | None:
        """The ids of the groups in the order of their responses, None if each response has its own."""
        group = self._columns.asked("group", (), self._wanted)
        if group is None or not group.startswith(OF_A_FILE):
            return None
        with Source(group.removeprefix(OF_A_FILE)) as source:
            return [line.decode().partition("\t")[0].strip() for _, line in source.lines() if line.strip()]

    def are_by_group(self, document: Mapping[str, object]) -> bool:
        """Return whether a document has a response per query under its id, which is nowhere else."""
        given = self._columns.asked("group", (), self._wanted)
        if given is None and is_by_group(document, self._columns.items):
            self.ids = list(document)
            return True
        return False

    def are_lists(self, document: Mapping[str, object]) -> bool:
        """Return whether a document is a list per group, and not one response."""
        return not self._columns.items and known_shape(document) is None and is_lists(document, self._columns)

    def _name_of_ids(self) -> str:
        return shown_name(str(self._columns.asked("group", (), self._wanted)).removeprefix(OF_A_FILE))

    @property
    def if_twice(self) -> str:
        """What to do about an item that was found twice."""
        return self._columns.if_twice(self._wanted)

    def in_asked_order(self, rows: Rows) -> Rows:
        """Return the rows of responses with scores in the order that was asked for; ranks may contradict scores."""
        columns = self._columns
        rows = replace(in_asked_order(rows, columns, self._names), tie_order=BY_INPUT)
        is_of_pairs = self._element is not None and self._element.item == _OF_PAIR  # these were not written by a search
        if is_of_pairs and columns.score is None and _all_rise(rows):
            what = "in every list of ids and numbers the numbers rise, so they may be distances"
            advice = f"if the lowest is the best, give {argument('score', '-1')}; if not, {argument('score', '1')}"
            raise WrongValueError(what, advice=advice)
        return in_order_of_lists(rows, columns, are_found=not is_of_pairs)

    def found(self, response: object, place: int = 0, path: str = "") -> Found:
        """Return the results of a response.

        Parameters: ``response``: a record as JSON has it. ``place``: how many responses come before it. ``path``: the
        prefix of its paths in errors. Raises: WrongValueError naming the path.
        """
        if isinstance(response, list) and self.ids is not None:
            return self.of_list(response, self._id_at(place), path)
        if isinstance(response, list):
            raise WrongValueError("the response does not say which query it belongs to", advice=self._group_advice())
        if not isinstance(response, dict):
            raise WrongValueError(f"{self._called(path)} is {kind_of(response)}", advice="write an object")
        if self._record is None:
            if not self._columns.items and known_shape(response) is None and self._has_failed(response, path):
                return _FAILED
            self._record = self._record_of(response)
        record, where = self._record, path + shown_name(".".join(self._record.items))
        held = value_at(response, record.items)
        if held is NOTHING:
            if self._has_failed(response, path):
                return _FAILED
            if record.shape is None or not found_nothing(value_at(response, record.items[:-1])):
                what = f"{self._called(path)} has no {_missing(response, record.items)}"
                raise WrongValueError(what, advice=f"name its list with {argument('items', 'PATH')}")
        held = [] if held is NOTHING or held is None else held
        if not isinstance(held, list):
            what = f"{where} is {kind_of(held)}"
            raise WrongValueError(what, advice=f"name a list with {argument('items', 'PATH')}")
        if record.shape is not None and self._is_part(response, record, held, path):
            return _FAILED
        group = self._group_of(response, place, path) if held else None  # an empty list does not need one
        is_first = self._element is None
        found = self.of_list(held, group, where, self._weight_of(response))
        if found.items and self._element is not None and self._element.item is None:
            self._refuse_numbers_beside(response, where, is_first=is_first)
        return found

    def of_list(self, held: list[Any], group: object, where: str, weight: object = NOTHING) -> Found:
        """Return the content of a list: ids, or objects with an item, a score and a label each."""
        if not held:
            return Found(group, [], [], [], weight)
        element = self._element = self._element or self._element_of(held, where)
        if element.item is None:
            for place, item in enumerate(held):
                if isinstance(item, dict | list):
                    what = f"{where}[{place}] is {kind_of(item)}, but the elements before it are ids"
                    raise WrongValueError(what, advice="write only ids or only objects")
            return Found(group, held, None, None, weight, are_ids=True)
        items = self._values(held, element.item, where, "item")
        scores = self._values(held, element.score, where, "score") if element.has_scores else None
        if not element.has_scores and self._of_runs:
            for place, item in enumerate(held):
                if isinstance(value_at(item, element.score), int | float):
                    what = f"{where}[{place}] has a {shown('.'.join(element.score))}, but the items before it have none"
                    raise WrongValueError(what, advice="write one for every item, or for none")
        labels = None if element.label is None else [value_at(item, element.label) for item in held]
        ranks = None if element.rank is None else [value_at(item, element.rank) for item in held]
        labels, ranks = (values and [None if at is NOTHING else at for at in values] for values in (labels, ranks))
        return Found(group, items, scores, labels, weight, ranks)

    def _values(self, held: list[Any], steps: Steps, where: str, role: str) -> list[object]:
        """Return the value of each element under a path (WrongValueError for an element without one)."""
        values = [value_at(element, steps) for element in held]
        for place, value in enumerate(values):
            if role == "item" and isinstance(value, dict):
                what = f"the item id in {where}[{place}] is an object"
                raise WrongValueError(what, advice=_advice_below("item", steps, value))
            if value is NOTHING or value is None:
                what = f"{where}[{place}] has no {shown('.'.join(steps))}"
                if role == "score":
                    advice = "write one for every item, or for none"
                    raise WrongValueError(f"{what}, but others have one", advice=advice)
                advice = f"name the path of its item with {argument('item', 'PATH')}"
                raise WrongValueError(f"{where}[{place}] has no {_missing(held[place], steps)}", advice=advice)
        return values

    def _record_of(self, record: dict[str, Any]) -> OfRecord:
        known, columns = known_shape(record), self._columns
        path = columns.items or (known[1] if known else None)
        shape = known[0] if known and path == known[1] else None
        if shape is None and path is not None:
            shape = next((one for one in SHAPES[:3] if path == one.items or path.endswith(f".{one.items}")), None)
        if path is None:
            what = f"the response has no list where known tools have it; {_keys(record)}"
            raise WrongValueError(what, advice=f"name its list with {argument('items', 'PATH')}")
        group = None if self.ids is not None else self._group_steps(record, shape, path)
        if columns.items is None and known is not None and known[1] != known[0].items:
            paths = list(dict.fromkeys(path for _, path in known_shapes(record)))
            if len(paths) > 1:  # the responses of several searches
                what = f"there are several lists: {in_a_row(list(map(shown, paths[:_MOST_LISTED])))}"
                raise WrongValueError(what, advice=f"name one, such as {argument('items', paths[0])}")
        weight = columns.given("weight") or (
            "weight" if "weight" in record and "weight" in self._wanted.roles else None
        )
        return OfRecord(
            group,
            steps_of(record, path),
            None if weight is None else steps_of(record, weight),
            shape,
        )

    def _group_steps(self, record: dict[str, Any], shape: Shape | None, path: str) -> Steps:
        given = self._columns.asked("group", record, self._wanted)
        if given is not None:
            return steps_of(record, given)
        names = Columns().likely_names(list(record), Wanted(("group",), ("group",)), WrongValueError)
        if "group" in names:
            return (names["group"],)
        if shape is not None and shape.group is not None:
            before = path.removesuffix(shape.items)
            steps = steps_of(record, before + shape.group)
            if value_at(record, steps) is not NOTHING:
                what = f"queries are identified by {shown('.'.join(steps))}, the text that was searched for"
                path, file = argument("group", "PATH"), argument("group", "@FILE")
                advice = (
                    f"if the labels use other ids, give their path with {path}, or a file with one id per line with"
                )
                warn(ColumnWarning(what, advice=f"{advice} {file}"))
                return steps
        what = f"the response does not say which query it belongs to; {_keys(record)}"
        raise WrongValueError(what, advice=self._group_advice(often_called("group", record)))

    def _group_advice(self, likely: Sequence[str] = ()) -> str:
        """Return how to name the path of the query's id; a name without its mark may be meant as a file of ids."""
        given = self._columns.asked("group", (), self._wanted)
        if given and not given.startswith(OF_A_FILE) and _is_file(given):
            return (
                "to give a file with one id per line, in the order of the responses, write "
                f"{argument('group', OF_A_FILE + given)}"
            )
        return _GROUP_ADVICE.replace("PATH", likely[0] if len(likely) == 1 else "PATH", 1) + (
            _ONE_OF_MANY if self.is_a_file else ""
        )

    def _group_of(self, response: dict[str, Any], place: int, path: str) -> object:
        record = self._record
        if record is None or record.group is None:
            return self._id_at(place)
        group = value_at(response, record.group)
        if group is NOTHING or group is None:
            what = f"{self._called(path)} has no {_missing(response, record.group)}"
            raise WrongValueError(what, advice=self._group_advice())
        if isinstance(group, dict):
            what = f"the group id of {self._called(path)} is an object"
            raise WrongValueError(what, advice=_advice_below("group", record.group, group))
        return group

    def _id_at(self, place: int) -> str:
        ids = self.ids or []
        if place >= len(ids):
            file = self._name_of_ids()
            what = f"there are more responses than the {counted(len(ids), 'id')} in {file}"
            raise WrongValueError(what, advice="write one id per line, in the order of the responses")
        return ids[place]

    def _weight_of(self, response: dict[str, Any]) -> object:
        steps = None if self._record is None else self._record.weight
        value = NOTHING if steps is None else value_at(response, steps)
        if steps is not None and value is NOTHING:
            what = f"the response has no {_missing(response, steps)}"
            raise WrongValueError(what, advice=f"name the path of its weight with {argument('weight', 'PATH')}")
        return value

    def _element_of(self, held: list[Any], where: str) -> OfElement:
        """Return the paths in the elements of a list, from the first list with elements."""
        first, columns = held[0], self._columns
        shape = None if self._record is None else self._record.shape
        shape = shape or (SHAPES[-1] if has_key(held, SHAPES[-1].item) else None)
        item = columns.asked("item", (), self._wanted)
        documents = columns.documents
        if (
            documents is not None
            and documents.is_column
            and value_at(first, steps_of(first, documents.rule)) is not NOTHING
        ):
            item = self._names["item"] = documents.rule
        if not isinstance(first, dict | list):
            if item is not None and item != columns.items and not columns.is_shared:
                what = f"{where}[0] is {kind_of(first)}, which has no {shown(item)}"
                raise WrongValueError(what, advice=f"if the elements are ids, leave out {argument('item')}")
            self._refuse_names_of_ids(where, columns.items)
            return OfElement(None, (), None, has_scores=False)
        if item is None and isinstance(first, list):
            [item] = _OF_PAIR
        if item is None and shape is not None and value_at(first, (shape.item,)) is not NOTHING:
            item = shape.item
        if item is None:
            item = Columns().likely_names(list(first), Wanted(("item",), ()), WrongValueError).get("item")
        if item is None:
            likely = next((key for key in ("id", "_id", "corpus_id") if key in first), "PATH")
            what = f"{where}[0] has no 'item'; {_keys(first)}"
            raise WrongValueError(what, advice=f"name the path of its item with {argument('item', likely)}")
        asked = columns.asked("score", (), self._wanted) if self._of_runs else None
        score = asked or (shape.score if shape is not None else "1" if isinstance(first, list) else "score")
        score_steps = steps_of(first, score)
        self._names["score"] = score
        has_scores = self._of_runs and any(value_at(one, score_steps) not in (None, NOTHING) for one in held)
        if columns.score == "":  # the order is the ranking, even if there are scores
            score_steps, has_scores = (), False
        if asked is not None and not has_scores:
            what = f"{where}[0] has no {_missing(first, score_steps)}"
            raise WrongValueError(what, advice=f"name the path of its score with {argument('score', 'PATH')}")
        label = columns.asked("label", (), self._wanted) if "label" in self._wanted.roles else None
        if label is None and "label" in self._wanted.roles and isinstance(first, dict) and "label" in first:
            label = "label"
        if label is None and not self._of_runs:
            what = f"{where}[0] has no 'label'; {_keys(first)}"
            raise WrongValueError(what, advice=f"name the path of its label with {argument('label', 'PATH')}")
        has_ranks = self._of_runs and columns.score != "" and isinstance(first, dict) and RANK in first
        return OfElement(
            steps_of(first, item),
            score_steps,
            None if label is None else steps_of(first, label),
            has_scores,
            (RANK,) if has_ranks and RANK not in (item, score, label) else None,
        )

    def _refuse_names_of_ids(self, where: str, items: str | None) -> None:
        """Refuse a name of scores or labels if the elements of lists are ids, which have none."""
        number = self._columns.asked(self.number, (), self._wanted)
        if number:
            what = f"{where} holds only ids, which have no {shown(number)}"
            beside = f"{argument('item', items or 'PATH')} and {argument(self.number, number)}"
            advice = f"leave out {argument(self.number)}; if that is a list next to the ids, give {beside}"
            raise WrongValueError(what, advice=advice)

    def _called(self, path: str) -> str:
        return path.removesuffix(": ").removesuffix(".") or "the response"

    def _refuse_numbers_beside(self, response: Mapping[str, Any], where: str, *, is_first: bool) -> None:
        """Refuse a list of scores or labels next to a list of ids, because that is a row with lists.

        ``is_first``: whether no earlier response had ids; then a list counts if its name is frequent for such numbers.
        """
        names = [self.number, *(often_called(self.number, response) if is_first else ())]
        beside = next((name for name in names if isinstance(response.get(name), list)), None)
        if beside is not None:
            what = f"{where} holds only ids, and {shown(beside)} is another list"
            items = ".".join(self._record.items) if self._record is not None else ""
            given = argument(self.number, *([beside] if beside != self.number else []))
            advice = f"name both lists in every line, with {argument('item', items)} and {given}"
            raise WrongValueError(what, advice=advice)

    def _may_fail(self, what: str) -> bool:
        """Return True for a response that failed, if it may pass; else refuse it."""
        if "failed" in self._columns.allow:
            return True
        or_leave_out = f", or leave out what failed with {argument('allow', 'failed')}" if self._of_runs else ""
        raise WrongValueError(what, advice=f"run the search again{or_leave_out}")

    def _has_failed(self, response: Mapping[str, Any], path: str) -> bool:
        """Return whether a response reports an error, if it may pass."""
        error = response.get("error") or failure_in(response)
        if error is None:
            return False
        reason = error.get("reason", error.get("msg", error.get("type"))) if isinstance(error, dict) else error
        told = f" ({shown(str(reason))})" if reason else ""
        return self._may_fail(f"{self._called(path)} is an error{told}")

    def _is_part(self, response: Mapping[str, Any], record: OfRecord, held: list[Any], path: str) -> bool:
        """Return whether a response lacks the results of some shards or timed out, if it may pass.

        Raises: WrongValueError for grouped documents.
        """
        before = record.items[:-2]
        whole, root = value_at(response, before), value_at(response, record.items[:-1])
        whole, root = (value if isinstance(value, dict) else {} for value in (whole, root))
        shards, errors = whole.get("_shards"), root.get("errors")
        failed = shards.get("failed") if isinstance(shards, dict) else 0
        if failed or whole.get("timed_out") is True:
            what = f"{failed} of its shards failed" if failed else "it timed out"
            return self._may_fail(f"{self._called(path)} is incomplete: {what}")
        if record.shape is SHAPES[2] and errors:
            reason = value_at(errors, ("0", "summary"))
            told = f" ({shown(reason)})" if isinstance(reason, str) else ""
            return self._may_fail(f"{self._called(path)} has errors{told}")
        ids = [value_at(one, ("id",)) for one in held] if record.shape is SHAPES[2] else []
        for place, id_ in enumerate(ids):
            if isinstance(id_, str) and id_.startswith("group:root"):
                what = f"{path}{shown_name('.'.join(record.items))}[{place}] is a group of documents, not a document"
                raise WrongValueError(what, advice="search without grouping")
        return False

    def finish(self, n_responses: int) -> None:
        """Refuse a file with more ids than there are responses, and warn how labels are read."""
        if not self._of_runs and self._element is not None and self._element.item is None:
            warn(ColumnWarning(RELEVANT_LISTS))
        self._columns.warn_of_ranks()
        warn_of_fractions(self.fractions)
        if self.ids is not None and n_responses < len(self.ids):
            n_ids, file = counted(len(self.ids), "id"), self._name_of_ids()
            what = f"it has {counted(n_responses, 'response')}, but {file} has {n_ids}"
            advice = "write one id per line, in the order of the responses"
            raise WrongValueError(what, advice=advice + (_ONE_OF_MANY if n_responses == 1 else ""))


def _all_rise(rows: Rows) -> bool:
    """Return whether the scores of every list rise, and some list has more than two."""
    lengths = rows.merged().span_lengths
    rises = np.diff(rows.scores if rows.scores is not None else np.empty(0)) > 0
    rises[np.cumsum(lengths)[:-1] - 1] = True
    return bool(rises.all()) and bool((lengths > 2).any())


def _is_file(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and Path(name).is_file()


def _missing(value: object, steps: Steps) -> str:
    """Return the path that does not exist, and the keys that exist as far as the path leads."""
    reached = next((n for n in range(len(steps)) if value_at(value, steps[: n + 1]) is NOTHING), len(steps) - 1)
    return f"{shown('.'.join(steps))}; {_keys(value_at(value, steps[:reached]), '.'.join(steps[:reached]))}"


def _advice_below(role: str, steps: Steps, held: Mapping[str, object]) -> str:
    """Return advice with the paths to an id inside an object that is there instead of the id."""
    below = [".".join((*steps, key)) for key, value in held.items() if type(value) in (str, int)]
    likely = sorted(below, key=lambda path: "id" not in path.rpartition(".")[2].lower())
    others = f"; choose one of {in_a_row([shown(path) for path in likely[:_MOST_LISTED]])}" if len(likely) > 1 else ""
    return f"name the id in it, such as {argument(role, likely[0] if likely else 'PATH')}{others}"


def _keys(value: object, of: str = "") -> str:
    """Return the keys of an object that was read, or of the object under a path."""
    if not isinstance(value, dict):
        return f"{shown(of) if of else 'it'} is {kind_of(value)}"
    whose = f"the keys of {shown(of)} are" if of else "its keys are"
    names = [shown(key) for key in list(value)[:_MOST_LISTED]]
    more = f" and {len(value) - _MOST_LISTED} more" if len(value) > _MOST_LISTED else ""
    if not names:
        return f"{shown(of) if of else 'it'} has no keys"
    return f"{whose} {', '.join(names) if more else in_a_row(names)}{more}"
