"""Objects of other libraries, detected by structure, without imports: a list of hits per query, data sets, tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from math import nan
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import ItemPlaces, Places, Ranks, whole_ranks
from ndcg_tracker.ingest.columns import (
    CONVENTIONS,
    LABEL_TABLE,
    RANK,
    Columns,
    Wanted,
    looks_like_columns,
    warn_of_repeats,
)
from ndcg_tracker.ingest.shapes import each_once
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.words.texts import in_a_row, shown

Path = tuple[str, ...]

_ID_TYPES = (str, bytes, int, np.integer, UUID)
_NUMBER_TYPES = (int, float, np.number, Decimal)
_ITEM_PATHS: tuple[Path, ...] = (
    ("item",),
    *dict.fromkeys((convention.item,) for convention in CONVENTIONS),
    ("corpus_id",),  # sentence-transformers
    ("_id",),  # Elasticsearch, MongoDB
    ("id",),  # Haystack, LangChain, Qdrant, Pinecone
    ("node", "node_id"),  # LlamaIndex
    ("node_id",),
    ("metadata", "id"),
    ("meta", "id"),
)
_PATHS: dict[str, tuple[Path, ...]] = {
    "item": _ITEM_PATHS,
    "score": (("score",), ("_score",), ("relevance_score",)),
    "label": (("label",), ("relevance",), ("rel",), ("rating",), ("grade",)),
}
_RANK_PATH: Path = (RANK,)
_OF_HITS = ("metadata", "meta", "node", "page_content", "score")  # an object with one of these is a search result
_HELD_IN = ("metadata", "meta")
_TRECTOOLS = {"TrecRun": ("run_data", "score", "score"), "TrecQrel": ("qrels_data", "rel", "label")}


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of items for each group.

    ``items``: their ids, list after list; ``numbers``: the score or the grade of each, None if there are none.
    ``are_found``: whether they are objects that a search returned, the best first. ``are_documents``: whether the ids
    are of the documents that the objects are chunks of. ``ranks``: the rank that each object states, None if there are
    none.
    """

    groups: Sequence[object]
    lengths: Index
    items: list[object]
    numbers: list[object] | None
    places: ItemPlaces
    are_found: bool
    are_documents: bool
    ranks: Ranks | None = None


def lists_of(frame: object, columns: Columns, wanted: Wanted) -> Lists | None:
    """Return the lists that a frame holds, None for one that does not hold a list per group.

    Parameters: ``frame``: ``{group: list}``, or only lists, whose groups are their positions, from 0. A list holds
    ids, pairs of an id or an object and a number, or objects or dicts with an id and optionally a number. ``columns``:
    its ``item``, ``score`` and ``label`` say where in an object these are, such as ``metadata.source``; the score ""
    makes the order decide. Raises: InputError for a set if a ranking is wanted, and, naming group and place, for an
    object without an id and for an object without a number if others have one.

    >>> found = lists_of({"q": ["b", "a"]}, Columns(), LABEL_TABLE)
    >>> found.items, found.numbers
    (['b', 'a'], None)
    >>> found = lists_of([[{"corpus_id": 7, "score": 0.5}]], Columns(), LABEL_TABLE)
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: group '0', place 1: this is a hit with a score, not a label; give {group: {item: \
grade}}, or the ids alone
    """
    found = _by_group(frame, columns)
    if found is None:
        return None
    groups, lists = found
    lengths = np.array([len(entry) for entry in lists], dtype=np.int64)
    entries = list(chain.from_iterable(lists))
    first = next((entry for entry in entries if entry is not None), None)
    if first is None and not isinstance(frame, Mapping):
        return None
    reader = _Reader(
        columns, wanted, ItemPlaces("", groups, np.cumsum(lengths), if_twice=columns.if_twice(wanted)), entries
    )
    if first is None or _is_id(first) or isinstance(first, float):
        if not _are_ids(entries, may_be_mixed=isinstance(frame, Mapping)):
            if isinstance(frame, Mapping) and isinstance(first, str):  # no column has text and something else
                row = next(row for row, entry in enumerate(entries) if not (entry is None or _is_id(entry)))
                what = f"a {type(entries[row]).__name__} is among the ids"
                raise reader.places.error(row, what, advice="give ids alone (text or whole numbers), or (id, score)")
            return None
        items, numbers = entries, None
    elif _is_pair(first):
        items, numbers = reader.of_pairs()
    elif reader.is_hit(first):
        items, numbers = reader.of_hits()
    else:
        return None
    at = next((at for at, entry in enumerate(lists) if isinstance(entry, Set)), None)
    if at is not None and wanted is not LABEL_TABLE:
        kind = type(lists[at]).__name__
        raise InputError(
            f"a {kind} of items has no order",
            where=f"group {shown(str(groups[at]))}",
            advice="give a list, the best item first, or {item: score}",
        )
    are_found = numbers is not None and not _is_id(first[0] if isinstance(first, tuple | list) else first)
    ranks = reader.ranks() if items is not entries else None
    if items is entries and wanted is not LABEL_TABLE:
        items = list(chain.from_iterable(map(each_once, lists)))
        warn_of_repeats(sum(one is not other for one, other in zip(items, entries, strict=True)))
    return Lists(groups, lengths, items, numbers, reader.places, are_found, reader.are_documents, ranks)


def _by_group(frame: object, columns: Columns) -> tuple[list[object], list[Collection[object]]] | None:
    """Return the groups of a frame and their lists, None if it does not hold a list per group."""
    if isinstance(frame, Mapping):
        groups, held = list(frame), list(frame.values())
        sizes = {_size(entry) for entry in held}
        if looks_like_columns(groups, columns, may_be=len(sizes) == 1):
            return None
    else:
        held = list(frame) if isinstance(frame, Iterable) else []
        groups = list(range(len(held)))
        if held and _is_row(held[0]):
            return None
    if not held or _list_in(held[0]) is None:
        return None
    lists = [entry for entry in map(_list_in, held) if entry is not None]
    return (groups, lists) if len(lists) == len(held) else None


def _size(entry: Any) -> int:
    try:
        return len(entry)
    except TypeError:
        return -1


def _list_in(entry: Any) -> Collection[Any] | None:
    """Return an object that is a list, else None; an empty dict counts as an empty set, because people write {}."""
    if isinstance(entry, list | tuple | Set):
        return entry
    if getattr(entry, "ndim", 0) == 1 and hasattr(entry, "tolist"):
        return list(entry.tolist())
    return () if isinstance(entry, Mapping) and not entry else None


def numbers_by_order(lists: Any, number: str) -> Any:
    """Return lists of numbers for lists of items: falling scores, or the grade 1 for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), dtype=np.int64)
    numbers = 0.0 - places_in(lengths) if number == "score" else np.ones(int(lengths.sum()))
    offsets = pa.array(np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]))
    return pa.LargeListArray.from_arrays(offsets, pa.array(numbers))


class OneListEach:
    """Checks that each group of a table has one list: several without scores have no joint order."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._row_of: dict[object, int] = {}
        self._n_rows = 0

    def check(self, groups: Any) -> None:
        """Raise the error of the places for a group of the next rows that was there before."""
        for row, group in enumerate(groups.to_pylist(), self._n_rows):
            first = self._row_of.setdefault(group, row)
            if first != row:
                what = f"group {shown(str(group))} has a list in {self._places.mention(first)} already"
                raise self._places.error(row, what, advice="give one list per group, or scores")
        self._n_rows += len(groups)


def refuse_no_lists(frame: Mapping[Any, object], columns: Columns) -> None:
    """Refuse a dict that has lists for some groups and dicts for others, or a single item for one."""
    if looks_like_columns(frame.keys(), columns):
        return
    if any(held is not None for held in frame.values()):
        for group in (group for group, held in frame.items() if held is None):
            what = "None instead of a list of results"
            raise InputError(what, where=f"group {shown(str(group))}", advice="give an empty list, or omit it")
    dicts = [group for group, held in frame.items() if isinstance(held, Mapping) and held][:1]
    lists = [group for group, held in frame.items() if not isinstance(held, Mapping) and _list_in(held)][:1]
    if dicts and lists:
        what = f"group {shown(str(dicts[0]))} has a dict and group {shown(str(lists[0]))} a list"
        raise InputError(what, advice="give {group: {item: number}} or {group: list} for all groups")
    for group, held in frame.items():
        if _is_id(held):
            what = f"a single {type(held).__name__} instead of a list"
            raise InputError(what, where=f"group {shown(str(group))}", advice="give {group: [item]}")


def refuse_no_numbers(groups: Sequence[object], lists: Sequence[Mapping[Any, object]]) -> None:
    """Refuse a nested dict that has a list or an object instead of a number."""
    for group, held in zip(groups, lists, strict=True):
        for key, value in held.items():
            if not (isinstance(value, list | tuple | Mapping) or _looks_found(value)):
                continue
            advice = "give {group: {item: number}}"
            if isinstance(value, list | tuple):
                advice = f"if these are the results, name them with {argument('items', key)}, or {advice}"
            what = f"{shown(str(key))} is a {type(value).__name__}, not a number"
            raise InputError(what, where=f"group {shown(str(group))}", advice=advice)


def refuse_one_list(frame: Sequence[object]) -> None:
    """Refuse the list of one query, and say how to give the lists of several queries."""
    first = frame[0]
    if isinstance(first, Mapping) or not (_is_pair(first) or _looks_found(first)):
        return
    of = type(first[0] if isinstance(first, tuple) and not _is_id(first[0]) else first).__name__
    what = f"this is the list of a single query (its first entry is a {of}), without the query's id"
    raise InputError(what, advice="give {query id: list}")


def _is_id(value: object) -> bool:
    return isinstance(value, _ID_TYPES) and not isinstance(value, bool)


def _are_ids(values: Collection[object], *, may_be_mixed: bool) -> bool:
    """Return whether all values may be ids, whole numbers as floats among them; ``may_be_mixed``: text and numbers."""
    kinds = set(map(type, values)) - {type(None)}
    if not all(issubclass(kind, (*_ID_TYPES, float)) and kind is not bool for kind in kinds):
        return False
    if not may_be_mixed and any(issubclass(kind, str) for kind in kinds) and len(kinds) > 1:
        return False
    return float not in kinds or all(value.is_integer() for value in values if isinstance(value, float))


def _is_pair(value: object) -> bool:
    """Return whether this is an item with its number."""
    if not isinstance(value, tuple | list) or len(value) != 2 or hasattr(value, "_fields"):
        return False
    item, number = value
    is_number = isinstance(number, _NUMBER_TYPES) or getattr(number, "ndim", None) == 0
    return is_number and not isinstance(number, bool) and (_is_id(item) or _looks_found(item))


def _looks_found(value: object) -> bool:
    """Return whether an object is like those that a search returns."""
    if isinstance(value, (*_ID_TYPES, float, tuple, list, type)):
        return False
    return isinstance(value, Mapping) or any(hasattr(value, name) for name in _OF_HITS)


def _is_row(values: Any) -> bool:
    """Return whether this is a pair or a tuple without hits, and so not the list of a query."""
    if isinstance(values, tuple):
        return _is_pair(values) or not values or not (_is_pair(values[0]) or _looks_found(values[0]))
    return _is_pair(values) and not _is_id(values[0])


class _Reader:
    """Takes ids and numbers out of the entries of lists."""

    def __init__(self, columns: Columns, wanted: Wanted, places: ItemPlaces, entries: list[Any]) -> None:
        self.places = places
        self._entries = entries
        self._is_labels = wanted is LABEL_TABLE
        self._number = "label" if self._is_labels else "score"
        asked = {role: columns.asked(role, (), wanted) for role in ("item", self._number)}
        self._asked = {role: tuple(name.split(".")) for role, name in asked.items() if name}
        self._paths = _PATHS | {role: (path,) for role, path in self._asked.items()}
        self._given = None if self._is_labels else columns.score
        documents = columns.documents
        self._document = tuple(documents.rule.split(".")) if documents is not None and documents.is_column else None
        self.are_documents = False

    def is_hit(self, entry: object) -> bool:
        """Return whether an entry is an object with an id, or one that should have one."""
        return _looks_found(entry) or any(_at(entry, path) is not None for path in self._paths["item"])

    def of_pairs(self) -> tuple[list[object], list[object] | None]:
        """Return ids and numbers of pairs."""
        for row, entry in enumerate(self._entries):
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                kind = "None" if entry is None else f"a {type(entry).__name__}"
                raise self.places.error(row, f"{kind} is among the pairs", advice="give (item, number) for each item")
        items, numbers = ([entry[side] for entry in self._entries] for side in range(2))
        are_ids = set(map(type, items)) - {type(None)}
        if not all(issubclass(kind, _ID_TYPES) for kind in are_ids):
            self._entries = items
            items = self._ids()
        return items, self._as_asked(numbers)

    def of_hits(self) -> tuple[list[object], list[object] | None]:
        """Return ids of objects, and their numbers, None if there are none."""
        items = self._ids()
        numbers = self._numbers(self._number)
        if numbers is None and self._is_labels and self._numbers("score") is not None:
            what = "this is a hit with a score, not a label"
            raise self.places.error(0, what, advice="give {group: {item: grade}}, or the ids alone")
        return items, numbers if numbers is None else self._as_asked(numbers)

    def ranks(self) -> Ranks | None:
        """Return the rank that each object states, None if the first has none or ranks are not wanted."""
        if self._is_labels or self._given == "" or _RANK_PATH in self._asked.values():
            return None
        if not isinstance(_at(self._entries[0], _RANK_PATH), int | float):
            return None
        told = _all_at(self._entries, _RANK_PATH)
        return whole_ranks(np.array([rank if isinstance(rank, int | float) else nan for rank in told]))

    def _as_asked(self, numbers: list[Any]) -> list[object] | None:
        """Return numbers of which the highest is the best, None if the order decides."""
        if self._given == "":
            return None
        return [-number for number in numbers] if self._given and self._given.startswith("-") else numbers

    def _path(self, role: str) -> Path | None:
        """Return where the entries have a role, from the first entry that has it."""
        for entry in self._entries:
            path = next((path for path in self._paths[role] if _at(entry, path) is not None), None)
            if path is not None or role == "item":
                return path
        return None

    def _ids(self) -> list[object]:
        given, role = self._asked.get("item"), "item"
        if (of := self._document) is not None and (
            not self._is_labels or any(_at(entry, of) is not None for entry in self._entries)
        ):
            given, role, self.are_documents = of, "item_to_document", True
        path = self._path("item") if role == "item" else given
        ids = [None] * len(self._entries) if path is None else _all_at(self._entries, path)
        row = next((row for row, value in enumerate(ids) if value is None), None)
        if row is None and path is not None and isinstance(ids[0], Mapping):
            at, below = ".".join(path), {f"{'.'.join(path)}.{key}": value for key, value in ids[0].items()}
            what = f"the value at {at} is a {type(ids[0]).__name__}, not an id"
            raise self.places.error(0, what, advice=_where_ids_may_be(below, role))
        if row is None:
            return ids
        entry = self._entries[row]
        kind = "None" if entry is None else f"a {type(entry).__name__}"
        what = f"{kind} has no id" if given is None else f"{kind} has no {'.'.join(given)}"
        raise self.places.error(row, what, advice=_where_ids_may_be(entry, role))

    def _numbers(self, role: str) -> list[Any] | None:
        path = self._path(role)
        if path is None:
            if role in self._asked:
                what = f"a {type(self._entries[0]).__name__} has no {'.'.join(self._asked[role])}"
                raise self.places.error(0, what, advice=f"say where the {role} is with {argument(role)}")
            return None
        numbers = _all_at(self._entries, path)
        row = next((row for row, number in enumerate(numbers) if number is None), None)
        if row is None:
            return numbers
        kind = type(self._entries[row]).__name__
        raise self.places.error(
            row, f"this {kind} has no {role}, but others have one", advice=f"give all of them a {role}, or none"
        )


def _where_ids_may_be(entry: object, role: str) -> str:
    """Return advice on how to name the place of the id of an object or of its document."""
    held = [name for name in _HELD_IN if isinstance(_at(entry, (name,)), Mapping)]
    paths = [f"{name}.{key}" for name in held for key, value in _at(entry, (name,)).items() if _is_id(value)]
    if isinstance(entry, Mapping):
        paths += [str(key) for key, value in entry.items() if _is_id(value) and (key,) not in _PATHS["score"]]
    if not paths:
        return f"say where its id is with {argument(role)}, or give ids"
    likely = [path for path in paths if path.rpartition(".")[2] in ("source", "doc_id", "document_id", "file_name")]
    chosen = [*likely, *paths][0]
    others = f"; choose one of {in_a_row(paths)}" if len(paths) > 1 else ""
    return f"say where its id is, such as {argument(role, chosen)}{others}"


def _at(entry: Any, path: Path) -> Any:
    """Return the value at a path of attributes and keys, None if there is none."""
    for name in path:
        entry = entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)
    return entry


def _all_at(entries: list[Any], path: Path) -> list[Any]:
    """Return the value at a path in each entry, None if there is none."""
    try:
        if not isinstance(entries[0], Mapping):
            return list(map(attrgetter(".".join(path)), entries))
        if len(path) == 1:
            return list(map(itemgetter(path[0]), entries))
    except (AttributeError, KeyError, TypeError):  # only some have it
        pass
    return [_at(entry, path) for entry in entries]


def table_in(frame: Any) -> Any:
    """Return the table inside an object of Hugging Face's datasets or of trectools, else the frame itself.

    Raises: InputError for a dict of data sets.
    """
    if isinstance(frame, Mapping):
        splits = list(frame) if type(frame).__name__.endswith("DatasetDict") else []
        if splits:
            what = f"a {type(frame).__name__} has splits ({', '.join(map(shown, splits))})"
            raise InputError(what, advice=f"give one split, such as data[{splits[0]!r}]")
        return frame
    if all(hasattr(frame, name) for name in ("with_format", "features", "__getitem__", "__len__")):
        return frame.with_format("arrow")[:]  # its rows in order, also for a selection
    name, of_number, number = _TRECTOOLS.get(type(frame).__name__, ("", "", ""))
    if not hasattr(frame, name):
        return frame
    table = getattr(frame, name)
    return {"group": table["query"], "item": table["docid"], number: table[of_number]}


_OF_ARROW = ("numpy", "pandas", "polars", "pyarrow")


def array_of(values: Any, name: str) -> Any:
    """Return a tensor of any library with ``__array__`` as a NumPy array; everything else unchanged.

    Raises: InputError for a tensor that has to be converted to NumPy first.
    """
    kind = type(values)
    if kind in (list, tuple) or not hasattr(values, "__array__") or kind.__module__.partition(".")[0] in _OF_ARROW:
        return values
    try:
        return np.asarray(values)
    except (RuntimeError, TypeError, ValueError) as error:
        calls = ".detach().cpu()" if hasattr(values, "detach") else ".get()" if hasattr(values, "get") else ""
        if "bfloat16" in str(getattr(values, "dtype", "")).lower():
            calls = f"{calls}.float()"
        reason = " ".join(str(error).split())
        raise InputError(
            f"{name} is a {kind.__name__} that NumPy cannot read ({reason})",
            advice=f"call its {calls} first" if calls else "convert it to a NumPy array first",
        ) from None


def numbers_of(values: Any) -> list[Any] | None:
    """Return values with tensors of one value as numbers, None if there are none, or other tensors."""
    are_tensors = [hasattr(value, "__array__") and hasattr(value, "item") for value in values]
    if not any(are_tensors):
        return None
    try:
        return [value.item() if is_one else value for value, is_one in zip(values, are_tensors, strict=True)]
    except (RuntimeError, ValueError):  # a tensor of several values
        return None
