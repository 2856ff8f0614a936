"""The shapes of responses of known search systems, and where paths lead in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ndcg_tracker.ingest.plain import json_integer, json_of, keys_once

Steps = tuple[str, ...]

NOTHING = object()
_MOST_KEYS = 50  # of a record of a log; a nested dict has more and is not searched
BATCH = "responses"  # of _msearch: a response per search


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of the responses of some tools: the paths of their list, of an element's item and score, and, if a
    response repeats its query, of the query."""

    tools: str
    items: str
    item: str
    score: str
    group: str | None = None


SHAPES = (
    Shape("Elasticsearch and OpenSearch", "hits.hits", "_id", "_score"),
    Shape("Solr", "response.docs", "id", "score", "responseHeader.params.q"),
    Shape("Vespa", "root.children", "id", "relevance"),
    Shape("sentence-transformers", "results", "corpus_id", "score"),
)


def known_shape(record: object) -> tuple[Shape, str] | None:
    """Return the shape of a record that is a response, and the path of its list, None if the shape is unknown.

    A record may hold the response under a key, next to the id of the query.

    >>> known_shape({"qid": "q", "response": {"hits": {"hits": []}}})[1], known_shape({"results": ["a"]})
    ('response.hits.hits', None)
    """
    return next(known_shapes(record), None)


def known_shapes(record: object) -> Iterator[tuple[Shape, str]]:
    """Yield the result of ``known_shape`` for a record, and then for the values under its keys."""
    if not isinstance(record, dict):
        return
    held_in = record.items() if len(record) <= _MOST_KEYS else ()
    for prefix, inner in (("", record), *((f"{key}.", value) for key, value in held_in if type(value) is dict)):
        for shape in SHAPES:
            held = value_at(inner, tuple(shape.items.split(".")))
            if isinstance(held, list) and (shape.items != "results" or has_key(held, shape.item)):
                yield shape, prefix + shape.items
        root = inner.get("root")
        if isinstance(root, dict) and "relevance" in root and isinstance(root.get("fields"), dict):
            yield SHAPES[2], prefix + SHAPES[2].items  # it has no children if nothing was found


def is_response(record: object) -> bool:
    """Return whether a record is a response of a known tool, even an error, or the responses to a batch."""
    if not isinstance(record, dict):
        return False
    return known_shape(record) is not None or is_batch(record) or failure_in(record) is not None


def is_batch(record: Mapping[str, Any]) -> bool:
    """Return whether a record holds several responses of a known tool, as from ``_msearch``."""
    given = record.get(BATCH)
    return isinstance(given, list) and any(map(is_response, given))


def plain(held: Any) -> Any:
    """Return responses that a client holds in its own objects as dicts, everything else unchanged.

    These are ``ObjectApiResponse`` of Elasticsearch, ``VespaQueryResponse``, and ``Results`` of pysolr.
    """
    if isinstance(held, list):
        return list(map(_body, held)) if held and _body(held[0]) is not held[0] else held
    if not isinstance(held, dict):
        return _body(held)
    if isinstance(given := held.get(BATCH), list):
        return {**held, BATCH: plain(given)}
    first = next((value for value in held.values() if value is not None), None)
    return {key: _body(value) for key, value in held.items()} if _body(first) is not first else held


def _body(response: Any) -> Any:
    if response is None or isinstance(response, (dict, list, str, int, float)):
        return response
    bodies = (getattr(response, name, None) for name in ("body", "json", "raw_response"))
    return next((body for body in bodies if isinstance(body, dict)), response)


def failure_in(record: Mapping[str, Any]) -> Any | None:
    """Return the error that a response of a known tool reports, also if the response is under a key, else None.

    >>> failure_in({"qid": "q", "found": {"error": {"reason": "no index"}, "status": 404}})
    {'reason': 'no index'}
    """
    of_inner = (_failure(inner) for inner in (record, *record.values()) if type(inner) is dict)
    return next((error for error in of_inner if error is not None), None)


def _failure(response: Mapping[str, Any]) -> Any | None:
    error = response.get("error")
    told = error.keys() & {"reason", "msg", "root_cause"} if isinstance(error, dict) else ()
    return error if told and (isinstance(response.get("status"), int) or "responseHeader" in response) else None


def is_by_group(document: object, items: str | None) -> bool:
    """Return whether a document has a response per query, under its id; ``items``: the path of its list, if given.

    >>> is_by_group({"q1": {"hits": {"hits": []}}, "q2": None}, None), is_by_group({"hits": {"hits": []}}, None)
    (True, False)
    """
    if not isinstance(document, dict) or not document:
        return False
    if _is_whole(document, items):
        return False
    held = [value for value in document.values() if value is not None]
    return bool(held) and all(isinstance(value, dict) and _is_whole(value, items) for value in held)


def _is_whole(response: dict[str, Any], items: str | None) -> bool:
    """Return whether this is a response itself, not a record that holds one under a key."""
    if items:
        return isinstance(value_at(response, steps_of(response, items)), list)
    known = known_shape(response)
    return known[1] == known[0].items if known else _failure(response) is not None


def has_key(held: Sequence[object], key: str) -> bool:
    """Return whether the first element of a list is an object with a key."""
    return bool(held) and isinstance(held[0], dict) and key in held[0]


def steps_of(sample: object, path: str) -> Steps:
    """Return the keys of a dotted path; if the sample has a key with dots, it is one of them.

    >>> steps_of({"a": {"b.c": 1}}, "a.b.c"), steps_of({}, "a.b")
    (('a', 'b.c'), ('a', 'b'))
    """
    head, dot, rest = path.partition(".")
    if not dot or (isinstance(sample, dict) and path in sample):
        return (path,)
    return head, *steps_of(value_at(sample, (head,)), rest)


def value_at(value: object, steps: Steps) -> object:
    """Return the value under some keys (in an array, places from 0), or the mark ``NOTHING`` if there is none."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step, NOTHING)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return NOTHING
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=keys_once, parse_int=json_integer)


def json_response(line: bytes) -> Any:
    """Return the JSON value in a line of UTF-8 (WrongValueError for none, and for a key that is there twice)."""
    return json_of(line, _DECODER, "write one response per line")


def found_nothing(held: object) -> bool:
    """Return whether the value that holds a known tool's list says that there is none, because nothing was found."""
    if not isinstance(held, dict):
        return False
    total = held.get("total")
    n_found = held.get("numFound", total.get("value") if isinstance(total, dict) else total)
    return n_found == 0 or ("relevance" in held and isinstance(held.get("fields"), dict))
