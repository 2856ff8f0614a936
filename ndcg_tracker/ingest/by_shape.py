"""Ask for the shape of a file or object of which the readers do not know the columns, and read it as a known one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sized
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import PurePath
from typing import Any, TypeVar

from ndcg_tracker.errors import InputError, warn
from ndcg_tracker.ingest.columns import (
    CONVENTIONS,
    JUDGE,
    LABEL_TABLE,
    OF_A_FILE,
    RUN_APART,
    Columns,
    ColumnWarning,
    reason_column,
)
from ndcg_tracker.ingest.detection import without_compression
from ndcg_tracker.ingest.formats.response_shapes import is_response
from ndcg_tracker.ingest.records import frame_records
from ndcg_tracker.ingest.shapes import Known, Recognised, Role, UnclearError, parsed, recognised
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.words.texts import counted, shown_name

T = TypeVar("T")
_MOST = 1 << 26  # bytes; golden sets and what retrievers return for them are small
_ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".md", ".markdown")


def known_or_recognised(
    read: Callable[[object, Columns, dict[str, Any]], T],
    given: object,
    wanted: Role,
    columns: Columns,
    ids_of: Callable[[object, Role], tuple[Collection[str], Collection[str]]],
) -> T:
    """Return what ``read`` returns for an input or, if it does not know its columns, for what is recognised in it.

    ``read``: gets the input, the names of its columns and further options of the readers. ``ids_of``: returns the ids
    of the items and groups of the run or the labels that belong to it. Raises: InputError, of reader or recogniser.
    """
    refusal: InputError | None = None
    if columns.relevant is None:
        try:
            return read(given, columns, {})
        except InputError as error:
            if columns.header is not None or any(map(columns.given, ("item", "score", "label", "weight"))):
                raise
            refusal = error
    try:
        name, value = _value(given)
        if refusal is not None and _is_known(value):
            raise refusal
        other: Role = "results" if wanted == "labels" else "labels"
        ids = ((), ()) if columns.beside is None else ids_of(columns.beside, other)
        known = frozenset(ids[0]), frozenset(ids[1])
        found = None
        if wanted == "labels" and (held := _without_judges(value)) is not value:
            with suppress(InputError):
                found = _found(held, name, wanted, columns, *known, are_judged=True)
        if found is None or not found.names:
            found = _found(value, name, wanted, columns, *known)
    except UnclearError:
        raise
    except InputError as error:
        raise refusal or error from None
    warn(ColumnWarning(str(found)))
    if wanted == "results" and columns.is_shared:  # the labels are in another file, which says it
        found = replace(found, without_answer=[])
    if columns.recognised is not None:
        columns.recognised.append(found)
    if found.names:  # its rows say more than a golden set holds
        return read(given, replace(columns, relevant=None, **dict[str, Any](found.names)), {})
    plain = replace(columns, group=None, items=None, relevant=None, grades={})
    is_one_table = wanted == "results" and bool(found.labels) and not columns.is_shared
    document: Any = (
        found.labels if wanted == "labels" else _one_table(found) if is_one_table else found.row_scores or found.results
    )
    if not isinstance(given, str):
        return read(
            {key: [row[key] for row in document] for key in document[0]} if is_one_table else document, plain, {}
        )
    text = "\n".join(map(json.dumps, document)) if is_one_table else json.dumps(document)
    return read("-", plain, {"reader": "jsonl" if is_one_table else "json", "stdin": BytesIO(text.encode())})


def _without_judges(value: object) -> object:
    """Return records without the columns that say who gave each label or why, and of which model; others unchanged."""
    rows = value if isinstance(value, list) and all(isinstance(row, Mapping) for row in value) else []
    header = list(dict.fromkeys(key for row in rows for key in row))
    told = {*{JUDGE}.intersection(header), *filter(None, [reason_column(header)])}
    left = {*header} - {*told, "model"}
    return [{key: row[key] for key in row if key in left} for row in rows] if told else value


def empty_lists(given: object, columns: Columns, queries: Collection[str] = ()) -> dict[str, list[str]]:
    """Return an empty list for each query for which the results of a retriever hold one, for readers skip these.

    ``queries``: names that help to recognise the results.
    """
    try:
        name, value = ("", given) if isinstance(given, Mapping) else _value(given)
        if isinstance(value, Mapping) and all(isinstance(items, Sized) for items in value.values()):  # a list by query
            return {str(query): [] for query, items in value.items() if not len(items)}
        found = _found(value, name, "results", columns, (), queries)
    except InputError:
        return {}
    return {query: items for query, items in found.results.items() if not items}


def _one_table(found: Recognised) -> list[dict[str, Any]]:
    """Return a row for each item of a query that has results or labels."""
    rows = []
    for query in dict.fromkeys([*found.results, *found.labels]):
        labels = found.labels.get(query, {})
        for rank, item in enumerate(found.results.get(query, []), 1):
            rows.append(
                {
                    "group": query,
                    "item": item,
                    "score": found.row_scores.get(query, {}).get(item, -rank),
                    "label": labels.get(item),
                }
            )
        rest = labels.keys() - set(found.results.get(query, []))
        rows += [{"group": query, "item": item, "score": None, "label": labels[item]} for item in sorted(rest)]
    return rows


def _value(given: object) -> tuple[str, object]:
    """Return the name and the content of a file, or of a table or object in memory, as plain objects."""
    if not isinstance(given, str):
        return "the table", plain_records(given)
    if given == "-" or not without_compression(given).lower().endswith(_ENDINGS):
        raise InputError("has no ending of a format with keys")
    with Source(given) as source:
        head = source.head(_MOST + 1)
        if len(head) > _MOST:
            raise InputError("is too large to be recognised")
        return source.name, parsed(head, without_compression(PurePath(given).name))


def plain_records(given: Any) -> list[dict[str, Any]]:
    """Return the records of a frame or of a list of them (InputError for anything else)."""
    if isinstance(given, Mapping):
        raise InputError("is not a list of records")
    records = frame_records(given)
    header = records.header
    return [dict(zip(header, row, strict=True)) for row in records.rows(range(len(header)))]


def _is_known(value: object) -> bool:
    """Return whether records have our own columns or those of a convention, so that a reader's word holds."""
    if isinstance(value, Mapping) and any(isinstance(one, Mapping) and "hits" in one for one in value.values()):
        return True
    if is_response(value) or (isinstance(value, list) and any(map(is_response, value))):
        return True
    first = value[0] if isinstance(value, list) and value else value
    keys = set(first) if isinstance(first, Mapping) else set()
    inner = first.values() if isinstance(first, Mapping) else ()
    keys |= {key for one in inner if isinstance(one, Mapping) for key in one}
    return any({group, item} <= keys for group, item in [("group", "item"), *((c.group, c.item) for c in CONVENTIONS)])


def _with_ids(value: object, path: str) -> list[dict[str, Any]]:
    """Return a record for each response, with the id of its query from a file that lists them in their order.

    The responses are lines, a list, or lists of one key or of several (as Chroma returns them). Raises: InputError
    unless there are as many as ids.
    """
    with Source(path) as source:
        ids = [line.decode().partition("\t")[0].strip() for _, line in source.lines() if line.strip()]
    inner = value if isinstance(value, Mapping) else {}
    columns = {key: held for key, held in inner.items() if isinstance(held, list) and len(held) == len(ids)}
    if isinstance(value, list):
        each: list[Any] = value
    elif columns and all(isinstance(one, list) for held in columns.values() for one in held):
        each = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    else:
        each = next(iter(columns.values())) if len(columns) == 1 and len(ids) > 1 else [value]
    if len(each) != len(ids):
        what = f"there are {counted(len(each), 'response')}, but {counted(len(ids), 'id')} in {shown_name(path)}"
        raise UnclearError(what, advice="write one id per line, in the order of the responses")
    return [{"query_id": of, "results": one} for of, one in zip(ids, each, strict=True)]


def _found(
    value: object,
    name: str,
    wanted: Role,
    columns: Columns,
    item_ids: Collection[str],
    groups: Collection[str],
    *,
    are_judged: bool = False,
) -> Recognised:
    group = columns.asked("group", (), LABEL_TABLE if wanted == "labels" else RUN_APART)
    items = columns.items if wanted == "results" else None
    if group is not None and group.startswith(OF_A_FILE):
        if wanted == "labels":
            group = None
        else:
            value, group = _with_ids(value, group.removeprefix(OF_A_FILE)), "query_id"
    known = Known(group, columns.relevant, items, False, item_ids, groups, columns.grades, are_judged)
    try:
        return recognised(value, name, wanted, known)
    except InputError:
        if group is None or not columns.is_shared:
            raise
        return recognised(value, name, wanted, replace(known, group=None))
