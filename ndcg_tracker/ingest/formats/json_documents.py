"""JSON documents, read at once: runs and labels from tools that write everything as one JSON value.

The keys of a document show what it holds. ``docs/formats.md`` lists the shapes, with an example of each.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.extensions import READERS, loaded
from ndcg_tracker.ingest.cells import ItemPlaces, Places, WrongValueError
from ndcg_tracker.ingest.columns import FRAME_AS_DICT, Columns, Wanted, is_frame_as_dict
from ndcg_tracker.ingest.formats.jsonl import JsonLines
from ndcg_tracker.ingest.formats.response_rows import document_rows
from ndcg_tracker.ingest.formats.response_shapes import is_by_group, is_response
from ndcg_tracker.ingest.formats.responses import is_lists, response_columns
from ndcg_tracker.ingest.plain import checked, id_bytes, json_integer, kind_of
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BOM, Source
from ndcg_tracker.rankings.ranking import BY_INPUT
from ndcg_tracker.words.texts import shown

_MODEL = "mteb_model_meta"
_MOST_LISTED = 10
_AS_LABELS = f"give it with {argument('labels', 'FILE')}"
_OF_LABELS = (
    ("requests", "ratings", ("id",), "_id"),  # a request of _rank_eval
    ("judgmentRatings", "ratings", ("query",), "docId"),  # OpenSearch
    ("queries", "relevant_documents", ("query", "query_text"), "doc_id"),  # Rated Ranking Evaluator
    ("queries", "ratings", ("query", "query_text"), "doc_id"),  # Quepid and RRE
    ("query_doc_pairs", "judgements", (), ""),  # a Quepid book
)
"""Documents of labels: the key of their array, a key in its first object, and the keys of its query and of an item."""

_Lists = Iterator[tuple[object, Sequence[object], Sequence[object]]]


def exact_rows(
    source: Source,
    reader: str,
    columns: Columns,
    wanted: Wanted,
    given: tuple[Any, Sequence[int]] | None = None,
) -> tuple[Rows, Places]:
    """Return the rows of a JSON document, or of what the reader of a package returns, and their places.

    Parameters: ``given``: see ``value_in``. ``reader``: json, yaml or another; ``json:NAME`` reads one of several runs
    or judgment lists, as the error lists them. ``columns``: for arrays of records; no other shape has named columns.
    Raises: InputError naming the line for invalid JSON, and naming the group and the item for a key that appears twice
    and for a value that is not a finite number.
    """
    reader, _, chosen = reader.partition(":")
    document, lines = value_in(source, reader) if given is None else given
    try:
        first = document[0] if isinstance(document, list) and document else document
        are_responses = _are_responses(document, first, columns, wanted)
        if chosen and (are_responses or isinstance(document, list)):
            what = "holds responses of a search" if are_responses else "is an array of records"
            raise _nothing_to_choose(what, chosen)
        if are_responses:
            as_responses = response_columns(first, columns, wanted) or columns
            return document_rows(source.name, document, as_responses, wanted)
        if isinstance(document, list):
            return JsonLines(columns, wanted).of_records(source, document, lines)
        role = "score" if "score" in wanted.roles else "label"
        named = columns.any_given()
        if named is not None and role == "score":
            raise WrongValueError("this JSON has no named columns", advice=f"drop {argument(named)}")
        rows, places = _rows_of_lists(_lists_of(document, role, chosen), source.name, role)
        return replace(rows, tie_order=BY_INPUT) if _is_rank_eval(document) else rows, places
    except RecursionError:
        raise source.error("JSON nested too deeply", advice="check that this is the right file") from None
    except WrongValueError as error:
        raise error.at(source.name) from None


def _are_responses(document: Any, first: object, columns: Columns, wanted: Wanted) -> bool:
    """Return whether a document is one response or several, or a list per group; ``first``: the first of them."""
    if columns.items or is_lists(document, columns):
        return True
    if isinstance(document, list):
        return response_columns(first, columns, wanted) is not None
    if is_by_group(document, columns.items):
        return True
    if not is_response(document):
        return False
    hits = document["hits"]["hits"] if _is_search_response(document) else []
    is_of_labels = "score" not in wanted.roles and not columns.given("label")
    sources = [hit.get("_source") for hit in hits if isinstance(hit, dict)]
    holds_judgments = any(isinstance(source, dict) and "judgmentRatings" in source for source in sources)
    return not holds_judgments and not (is_of_labels and _is_search_response(document))


# JSON itself, and the formats of packages


def value_in(source: Source, reader: str) -> tuple[Any, Sequence[int]]:
    """Return the value that a file of JSON or of the format of a package holds, and the lines of its records, if known.

    Raises: InputError, of the reader naming the line, and for a key that is there twice.
    """
    lines, value = array("q"), None
    try:
        if reader == "json":
            value = _json_value(source.content())
        else:
            with source.copy() as file:
                value = loaded(READERS, reader).read(file)
                if isinstance(value, Iterator):
                    pairs = list(value)
                    lines, value = array("q", [line for line, _ in pairs]), [record for _, record in pairs]
    except RecursionError:
        raise source.error("JSON nested too deeply", advice="check that this is the right file") from None
    except InputError as error:
        if error.where.isdecimal():
            raise source.error(**error.told, line=int(error.where)) from None
        raise error.at(source.name) from None
    except Exception as error:  # any code of another package
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise source.error(f"cannot be read as {reader} ({reason})", advice="correct the file") from None
    return value, lines


def is_table(value: object) -> bool:
    """Return whether the reader of a package returned a table, and not what JSON can hold."""
    return value is not None and not isinstance(value, dict | list | str | int | float)


def text_of(content: bytes) -> str:
    """Return the text of a file (InputError at the line of what is not UTF-8)."""
    try:
        return content.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise InputError(what, where=line, advice="save the file as UTF-8") from None


def _json_value(content: bytes) -> Any:
    doubled: list[tuple[dict[str, Any], str]] = []

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        json_object = dict(pairs)
        if len(json_object) != len(pairs):
            names = [name for name, _ in pairs]
            doubled.append((json_object, next(name for name in names if names.count(name) > 1)))
        return json_object

    try:
        # NaN and Infinity are accepted here and refused later, when group and item are known
        decoder = json.JSONDecoder(object_pairs_hook=as_dict, parse_int=json_integer)
        document = decoder.decode(text_of(content))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            advice = f"are these JSON lines? Then use {argument('reader', 'jsonl')}"
            what = "there is more text after the first JSON value"
            raise InputError(what, where=error.lineno, advice=advice) from None
        what = f"not valid JSON ({error.msg}, column {error.colno})"
        raise InputError(what, where=error.lineno, advice="correct the file") from None
    if doubled:
        record, key = doubled[0]
        what, where = f"key {shown(key)} is there twice", _where(document, record)
        raise WrongValueError(what, where=where, advice="keep one of the two")
    return document


def _where(document: Any, record: dict[str, Any]) -> str:
    """Return the place of an object in a document, "" for the document itself."""
    stack: list[tuple[Any, str]] = [(document, "")]
    while stack:
        value, path = stack.pop()
        if value is record:
            return f"in {path}" if path else ""
        if isinstance(value, dict):
            stack += [(inner, f"{path}, {shown(key)}" if path else shown(key)) for key, inner in value.items()]
        elif isinstance(value, list):
            stack += [(inner, f"{path}[{place}]") for place, inner in enumerate(value)]
    return ""


# What a document holds


def _lists_of(document: Any, role: str, chosen: str) -> _Lists:
    """Return a document's lists: group, items, values. Raises: WrongValueError for an unknown shape."""
    if not isinstance(document, dict):
        raise WrongValueError(f"this is {kind_of(document)}; runs and labels are objects or arrays of objects")
    is_rank_eval = _is_rank_eval(document)
    of_labels = next((kind for kind in _OF_LABELS if _holds_objects(document, *kind[:2])), None)
    if not is_rank_eval and of_labels is None:
        if _is_search_response(document):
            return _lists_of(_chosen(_judgment_lists(document), chosen, "judgment lists"), role, "")
        return _nested_lists(document, role, chosen)
    if chosen:
        raise _nothing_to_choose("holds only one thing", chosen)
    if is_rank_eval or of_labels is None:
        return _response_lists(document.get("rank_eval", document), role)
    if role == "score":
        raise WrongValueError("holds labels but no scores", advice=_AS_LABELS)
    key, _, group_keys, item_key = of_labels
    return _judged_lists(document[key], key, group_keys, item_key) if item_key else _book_lists(document[key])


def _nothing_to_choose(what: str, chosen: str) -> WrongValueError:
    return WrongValueError(f"{what}, so there is nothing to choose from", advice=f"leave out {shown(chosen)}")


def _holds_objects(document: Mapping[str, Any], key: str, inner: str) -> bool:
    """Return whether a key holds an array of objects, the first of which has a key ``inner``."""
    value = document.get(key)
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and inner in value[0]


def _is_rank_eval(document: Mapping[str, Any]) -> bool:
    response = document.get("rank_eval", document)  # its name before version 7
    details = response.get("details") if isinstance(response, dict) else None
    inner = list(details.values()) if isinstance(details, dict) else []
    return bool(inner) and all(isinstance(detail, dict) and isinstance(detail.get("hits"), list) for detail in inner)


def _is_search_response(document: Mapping[str, Any]) -> bool:
    hits = document.get("hits")
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


def _response_lists(document: Mapping[str, Any], role: str) -> _Lists:
    """Yield the hits of a response of Elasticsearch's or OpenSearch's ``_rank_eval``."""
    if role == "label":
        what = "a _rank_eval response only has ratings of documents that were found, so the ideal DCG would be too low"
        raise WrongValueError(what, advice="give the request, which has all ratings")
    failures = document.get("failures")
    if isinstance(failures, dict) and failures:
        what = f"{len(failures)} of its searches failed, the first one being {shown(next(iter(failures)))}"
        raise WrongValueError(what, advice="run these searches again")
    for group, detail in document["details"].items():
        where = f"details.{shown(group)}.hits"
        hits = [_field(hit, "hit", f"{where}[{place}]") for place, hit in _objects(detail["hits"], where)]
        scores = []
        for place, hit in _objects(hits, where):
            scores.append(_field(hit, "_score", f"{where}[{place}]"))
            if scores[-1] is None:
                what = f"{where}[{place}] has no _score, as happens when hits are sorted by a field"
                raise WrongValueError(what, advice='search with "track_scores": true')
        yield group, [_field(hit, "_id", f"{where}[{place}]") for place, hit in enumerate(hits)], scores


def _judged_lists(entries: object, where: str, group_keys: Sequence[str], item_key: str) -> _Lists:
    """Yield the ratings of an array of one object per query, in the shapes of several tools.

    Ratings are an array of objects, or an object that holds, under each item's id, its rating or its ``gain``.
    """
    for place, entry in _objects(entries, where):
        here = f"{where}[{place}]"
        if "placeholders" in entry and "relevant_documents" in entry:  # Rated Ranking Evaluator
            group: object = _field(_object(entry["placeholders"], f"{here}.placeholders"), "$query", here)
            ratings = entry["relevant_documents"]
        else:
            group = _field(entry, next((key for key in group_keys if key in entry), group_keys[0]), here)
            ratings = _field(entry, "ratings", here)
        if isinstance(ratings, dict):
            values = [
                value["gain"] if isinstance(value, dict) and "gain" in value else value for value in ratings.values()
            ]
            yield group, list(ratings), values
            continue
        rated = list(_objects(ratings, f"{here}.ratings"))
        items = [_field(rating, item_key, f"{here}.ratings[{at}]") for at, rating in rated]
        yield group, items, [_from_text(_field(rating, "rating", f"{here}.ratings[{at}]")) for at, rating in rated]


def _book_lists(pairs: object) -> _Lists:
    """Yield the judgements of a Quepid book; pairs that no one could judge are unjudged."""
    for place, pair in _objects(pairs, "query_doc_pairs"):
        where = f"query_doc_pairs[{place}]"
        given = _objects(_field(pair, "judgements", where), f"{where}.judgements")
        ratings = [
            judgement["rating"]
            for _, judgement in given
            if judgement.get("rating") is not None and not judgement.get("unrateable")
        ]
        if len(ratings) > 1:
            what = f"{where} has {len(ratings)} judgements, but needs one label"
            raise WrongValueError(what, advice=f"export the book as CSV and name a judge with {argument('label')}")
        yield _field(pair, "query_text", where), [_field(pair, "doc_id", where)], ratings or [None]


def _judgment_lists(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judgment lists that a search in their OpenSearch index found, by name."""
    contents = {}
    for place, hit in _objects(document["hits"]["hits"], "hits.hits"):
        content = hit.get("_source")
        if not isinstance(content, dict) or not _holds_objects(content, "judgmentRatings", "ratings"):
            raise WrongValueError(f"hits.hits[{place}] holds no judgmentRatings", advice="give a response that does")
        name = str(content.get("name") or place)
        contents[f"{name} ({hit.get('_id', place)})" if name in contents else name] = content
    return contents


def _nested_lists(document: Mapping[str, Any], role: str, chosen: str) -> _Lists:
    """Yield the lists of ``{group: {item: number}}``; MTEB has one such object per subset and split."""
    runs = {key: value for key, value in document.items() if key != _MODEL}
    n_levels = _n_levels(runs)
    if _MODEL in document and n_levels not in (0, 4):
        what = "these are MTEB's predictions for a task without rankings"
        raise WrongValueError(
            what, advice="give those of a retrieval task, {subset: {split: {query: {document: score}}}}"
        )
    if {"task_name", "scores"} <= document.keys():
        what = "these are MTEB's results of a task, which are means and not rankings"
        raise WrongValueError(what, advice="write the predictions with mteb.evaluate(..., prediction_folder=FOLDER)")
    if n_levels == 1 and is_frame_as_dict(document, ()):
        raise WrongValueError(FRAME_AS_DICT, advice="write it with to_json(orient='records')")
    if n_levels == 1 and is_lists(document, Columns(item="id")):
        first = next(held[0] for held in document.values() if held)
        what = f"the items of its lists are objects without 'item'; their keys are {', '.join(map(shown, first))}"
        raise WrongValueError(what, advice=f"name the path of the item with {argument('item', 'PATH')}")
    if n_levels == 1:
        keys = ", ".join(map(shown, list(document)[:_MOST_LISTED]))
        raise WrongValueError(
            f"JSON of an unknown shape, an object with the keys {keys}", advice="write {group: {item: number}}"
        )
    held: dict[str, Any] = {"": runs}
    for level in range(n_levels - 2):
        paths = [
            (f"{path}/{key}" if level else key, inner)
            for path, value in held.items()
            for key, inner in (value.items() if isinstance(value, dict) else ())
        ]
        held = dict(paths)
        if len(held) < len(paths):
            raise WrongValueError("holds the same name twice", advice="write the one you mean to its own file")
    if n_levels > 2 and not (_MODEL in document and len(held) == 1 and not chosen):
        content = _chosen(held, chosen, "runs" if role == "score" else "sets of labels", is_sure=False)
    elif chosen:
        raise _nothing_to_choose("holds only one thing", chosen)
    else:
        chosen, content = next(iter(held.items()))
    groups = _object(content, shown(chosen))
    if is_frame_as_dict(groups, next(iter(groups.values()), ())):
        raise WrongValueError(FRAME_AS_DICT, advice="write it with to_json(orient='records')")
    for group, items in groups.items():
        if not isinstance(items, dict):
            raise WrongValueError(f"group {shown(group)} is {kind_of(items)}", advice="write an object, {item: number}")
        yield group, list(items), list(items.values())


def _n_levels(value: object) -> int:
    """Return how many objects enclose the first value that is not an object, 0 if there is no such value."""
    if not isinstance(value, dict):
        return 0
    for inner in value.values():
        if not isinstance(inner, dict):
            return 1
        below = _n_levels(inner)
        if below:
            return below + 1
    return 0


def _chosen(held: Mapping[str, Any], chosen: str, what: str, *, is_sure: bool = True) -> Any:
    """Return the one that was chosen, or the only one if there is no doubt."""
    if chosen in held:
        return held[chosen]
    if len(held) == 1 and is_sure and not chosen:
        return next(iter(held.values()))
    names = [*held]
    listed = ", ".join(map(shown, names[:_MOST_LISTED]))
    if len(names) > _MOST_LISTED:
        listed += f" and {len(names) - _MOST_LISTED} more"
    if chosen:
        raise WrongValueError(f"holds no {shown(chosen)}; there are {listed}")
    example = argument("reader", f"json:{names[0]}" if names else "json:NAME")
    what = f"holds {what} under {listed or 'no name'}"
    raise WrongValueError(what, advice=f"choose with {example}, or write the one you mean to its own file")


def _objects(value: object, where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of an array and their places."""
    if not isinstance(value, list):
        raise WrongValueError(f"{where} is {kind_of(value)}", advice="write an array of objects")
    for place, element in enumerate(value):
        yield place, _object(element, f"{where}[{place}]")


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError(f"{where} is {kind_of(value)}", advice="write an object")
    return value


def _field(record: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in record:
        raise WrongValueError(f"{where} has no {shown(key)}", advice="write it again with one")
    return record[key]


def _from_text(value: object) -> object:
    """Return a rating as OpenSearch writes it, as text, so that it is read as a number; anything else is unchanged."""
    return value.encode(errors="replace") if isinstance(value, str) else value


# Lists to rows


def _rows_of_lists(lists: _Lists, name: str, role: str) -> tuple[Rows, Places]:
    """Return all lists as one table; ``role``: of their values (InputError naming group and item)."""
    groups, lengths, items, numbers = list[bytes](), list[int](), list[object](), list[object]()

    def rows() -> tuple[Rows, Places]:
        ends = np.cumsum(lengths)
        places = ItemPlaces(name, [group.decode() for group in groups], ends, items.__getitem__)
        return checked(
            {"group": groups, "item": items, role: numbers}, places, np.array(lengths, dtype=np.int64)
        ), places

    try:
        for group, names, values in lists:
            if names:
                groups.append(id_bytes(group, "group"))
                lengths.append(len(names))
                items += names
                numbers += values
    except WrongValueError:
        rows()  # refuses a wrong value above
        raise
    return rows()
