"""Recognise golden sets and results of retrievers by rules about the words of their keys and about their values.

A container becomes lists of flat records, and each key of a list a column. Which column is the query, the relevant
items or the results follows from its words and values. Where these leave a doubt, the file is refused by naming its
keys: a wrong reading is far worse than none. Only the standard library is imported, because ``check`` must start fast.
"""

from __future__ import annotations

import ast
import csv
import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import isfinite
from pathlib import PurePath
from statistics import median
from typing import Any, Literal

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.words.texts import in_a_row, shown

Role = Literal["labels", "results"]

# Words of a key: each counts by how it begins, and with a dot only whole or in the plural. tier: of one of several
# lists of labels; finer: than an item; filler: next to the words of a role; place: of ids that may have blanks.
_WORDS = """
query query queries question q. prompt input text.
asked user search
relevant relevant relevance expect gold truth reference target. positive correct qrel judg gt.
id id. uid. uuid. qid. did. pid. docid docno
item id. uid. uuid. did. pid. doc chunk passage path. file. filename filepath source url. uri. article item product sku.
item asin.
results retriev result hit. context ctx output match response search ranked ranking rerank return predict point.
never answer contain text snippet negative mode count score distractor forbid exclu irrelevan not. non. no. wrong
never unexpected unrelated avoid hard haystack candidate pool min. max. num. number index indices idx position rank.
never distance similarity
finer page line. span section paragraph offset start end. quote range sentence index idx
tier must should require optional primary secondary partial accept alternat additional support related perfect highly
tier marginal nice best other extra also fallback main maybe
grade gain grade rating relevance relevant label. judg click
number score weight importance value confidence points
filler ground list. set. all. context ctx the of for is in ref. retrieval human
case case test example record row entry sample
place id. uid. docid path. file. filename filepath source url. uri.
kind type category kind class tag answerab
rising distance rank position. pos. rk.
falling score similarity
rank rank. position. pos. top. place. no. number. #
"""
_LISTED: dict[str, list[str]] = {}
for _name, *_list in map(str.split, _WORDS.strip().splitlines()):
    _LISTED.setdefault(_name, []).extend(f"{word[:-1]}s?$" if word[-1] == "." else word for word in _list)
_BEGINS = {name: re.compile("|".join(words)) for name, words in _LISTED.items()}
_WORD = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_OF_A_LIST = re.compile("(top|ranked|retrieved|result|hit|item|product|doc|document|passage|chunk|id)s?")
"""The words before the number of a place in a list."""
BASELINE = "ndcg-track check"
"""The first key of the first line of a baseline, which the lines of its queries follow."""
_FEW = 4  # blanks in a text that is not an id
_OFTEN = 0.3  # the share of queries with labels in the results that admits a key without a word of relevance
_NO_ANSWER = re.compile(r"(un|not[ _-]?)answerable|no[ _-]?answer|negative|out[ _-]of[ _-]scope|impossible")
_ANSWERED = re.compile(r"(is[ _-]?)?answerable|has[ _-]?answer")
_IN_A_CELL = "may hold one id or several in a cell"
_KEYS, _VALUES = "(its keys)", "(its values)"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides a file: the keys that the caller named, and the ids in the file that it belongs to.

    ``bare``: whether a dict of lists may be what is wanted, without a word that says so. ``grades``: the numbers that
    words mean as labels. ``are_judged``: whether each label may have a row of its own, and an item several labels.
    """

    group: str | None = None
    relevant: str | None = None
    items: str | None = None
    bare: bool = True
    item_ids: Collection[str] = frozenset()
    queries: Collection[str] = frozenset()
    grades: Mapping[str, float] = field(default_factory=dict)
    are_judged: bool = False


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a golden set or the results of a retriever hold; a query is known by its id, or by its text if it has none.

    ``labels``: the grades of the items of each labelled query. ``without_answer``: the queries of which the records say
    that nothing answers them. ``not_labelled``: those without labels of which they do not. ``results``: the ranked
    items of each query; an item that comes again has another name, so that it counts once and the ranks stay.
    ``row_scores``: of these items, where each has a row with its score, which ranks it, and none comes again;
    ``list_scores``: of those in lists, which are in order.
    ``texts`` and ``attributes``: of the queries. ``facts``: what was read from where, in clauses. ``names``: of the
    columns of group, item and label, where each label has a row.
    """

    name: str
    facts: list[str]
    labels: dict[str, dict[str, float]] = field(default_factory=dict)
    without_answer: list[str] = field(default_factory=list)
    not_labelled: list[str] = field(default_factory=list)
    results: dict[str, list[str]] = field(default_factory=dict)
    row_scores: dict[str, dict[str, float]] = field(default_factory=dict)
    list_scores: dict[str, dict[str, float]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(filter(None, self.facts))}"


class UnclearError(InputError):
    """A file holds queries, but it is not clear which of its keys hold what."""


def recognised(content: object, name: str, wanted: Role, known: Known = Known()) -> Recognised:
    """Return what a golden set or results hold, from the bytes of a file or from objects of Python.

    ``name``: of the file, for messages and for its format. ``wanted``: the role that it must have; the other is read
    too if it is there. Raises: InputError, which names the keys that may be meant and the argument to choose one with.
    """
    found: dict[bool, list[tuple[str, Recognised]]] = {False: [], True: []}
    refusals: list[tuple[int, InputError]] = []
    try:
        for path, records in _record_lists(parsed(content, name) if isinstance(content, bytes) else content):
            if not (known.bare or path) and _VALUES in records[0]:
                continue
            table = _Table(name, records, known)
            try:
                found[_VALUES in records[0]].append((path, table.read(wanted)))
            except InputError as refusal:
                refusals.append((table.weight, refusal))
    except RecursionError:
        raise InputError("is nested too deeply", where=name, advice="give flat records") from None
    among = found[False] or found[True]  # lists without a word about what they hold count if nothing else is there
    if len(among) > 1:  # a file is one record only if no list in it is one of queries
        among = [(path, of) for path, of in among if path or len({*of.labels, *of.results}) > 1]
    if len(among) == 1:
        return among[0][1]
    if among:
        what = f"there are queries under {_listed(path for path, _ in among)}"
        raise InputError(what, where=name, advice="give each in its own file")
    nothing = InputError("there is no list of queries", where=name, advice="give one record for each query")
    raise max(refusals, key=lambda one: one[0], default=(0, nothing))[1]


def parsed(content: bytes, name: str) -> object:
    """Return the value that a file of JSON, JSON lines, CSV, TSV, YAML, TOML or Markdown holds."""
    ending = PurePath(name).suffix.lower()
    try:
        text = content.decode("utf-8-sig")
        lines = [line for line in text.split("\n") if line.strip()]  # U+2028 ends no line
        if ending in (".yaml", ".yml"):
            import yaml  # type: ignore[import-untyped]

            return yaml.safe_load(text)
        if ending == ".toml":
            return tomllib.loads(text)
        if ending in (".md", ".markdown"):
            cells = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines if line.lstrip()[0] == "|"]
            rules = [place for place, row in enumerate(cells) if all(re.fullmatch(" *:?-+:? *", cell) for cell in row)]
            if rules != [1]:
                raise InputError(f"there are {len(rules)} tables, where one is wanted")
            return _records([[_bare(cell) for cell in row] for row in [cells[0], *cells[2:]]])
        if len(lines) > 1 and lines[0].startswith("{") and lines[0].rstrip().endswith("}"):
            first = int(lines[0].startswith(f'{{"{BASELINE}"'))
            return [json.loads(line, object_pairs_hook=_once) for line in lines[first:]]
        if text.lstrip().startswith(("{", "[")):
            return json.loads(text, object_pairs_hook=_once)
        delimiter = "\t" if "\t" in lines[0] else ","
        return _records([*filter(None, csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True))])
    except Exception as error:  # the parsers raise many kinds
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read: {reason}", where=name, advice="correct the file") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON (InputError if a key comes twice)."""
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise InputError(f"an object has the key {shown(max(keys, key=keys.count))} twice")
    return dict(pairs)


def _records(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return the records of a table whose first row is its header."""
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or len(set(rows[0])) < len(row):
            raise InputError(f"row {number} has {len(row)} cells, and the header {len(set(rows[0]))} different names")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _bare(text: str) -> str:
    """Return a text without blanks, backticks and quotes around it."""
    return re.sub(r"""^(?:`([^`]+)`|"([^"]+)"|'([^']+)')$""", r"\1\2\3", text.strip())


def _record_lists(value: Any, path: str = "") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each reading of a container as a list of records, with its path."""
    if isinstance(value, list) and value and all(isinstance(record, dict) for record in value):
        yield path, value
    if not isinstance(value, dict) or not value:
        return
    if not path:
        yield path, [value]
    if len(value) > 1 and all(isinstance(record, dict) for record in value.values()):
        yield path, _keyed(value)
    if (not path or _has(_words(path), "relevant results")) and not any(map(_is_scalar, value.values())):
        yield path, _keyed({key: {_VALUES: held} for key, held in value.items()})
    lists = {key: held for key, held in value.items() if isinstance(held, list)}
    if len(lists) > 1 and len(set(map(len, lists.values()))) == 1:  # columns
        yield path, [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    tables = {name: held for name, held in value.items() if isinstance(held, dict) and held}
    keys = Counter(key for held in tables.values() for key in held)
    joined = {key: {name: held.get(key) for name, held in tables.items()} for key, n in keys.items() if n > 1}
    if joined:
        yield path, _keyed(joined)
    for name, held in value.items():
        yield from _record_lists(held, f"{path}.{name}" if path else str(name))


def _keyed(records: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with their keys, unless these are positions."""
    are_positions = [str(key) for key in records] == [str(number) for number in range(len(records))]
    return list(records.values()) if are_positions else [{_KEYS: key, **record} for key, record in records.items()]


def _flat(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a record by dotted keys: objects of numbers also whole, lists of objects for each key."""
    for name, held in value.items():
        key = f"{path}.{name}" if path else str(name)
        if isinstance(held, list) and held and all(isinstance(part, dict) for part in held):
            parts = [dict(_flat(part, key)) for part in held]
            yield from ((k, [part.get(k) for part in parts]) for k in dict.fromkeys(k for part in parts for k in part))
        elif not isinstance(held, dict) or not held or all(isinstance(one, (int, float)) for one in held.values()):
            yield key, held
        if isinstance(held, dict):
            yield from _flat(held, key)


def _numbered(keys: Collection[str]) -> dict[str, list[str]]:
    """Return the keys of the places of a list in order, by the name before their numbers, if there is no other list.

    >>> _numbered(["query", "Result 2", "Result 1"]), _numbered(["query", "docs", "output_1", "output_2", "0", "1"])
    ({'Result': ['Result 1', 'Result 2']}, {})
    """
    places: dict[str, dict[int, str]] = {}
    for key in keys:
        match = re.fullmatch(r"(.*?)[ _.#-]*([0-9]{1,4})", key)
        if match and all(map(_OF_A_LIST.fullmatch, words := _words(match[1]))) and words:
            places.setdefault(match[1], {})[int(match[2])] = key
    if len(places) != 1:
        return {}
    [(name, of)] = places.items()
    others = [_words(key) for key in keys if key not in of.values()]
    if any(_has(words, "results item relevant never") for words in others) or name in keys:
        return {}
    are_places = len(of) > 1 and {*of} in ({*range(len(of))}, {*range(1, len(of) + 1)})
    return {name: [of[place] for place in sorted(of)]} if are_places else {}


def _words(key: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(key)]


def _has(words: Iterable[str], kinds: str) -> bool:
    """Return whether there is a word of some kinds, named with blanks between them."""
    return any(_BEGINS[kind].match(word) for word in words for kind in kinds.split())


def _only(words: Iterable[str], kinds: str) -> bool:
    return all(_has([word], kinds) for word in words)


def _is_scalar(cell: object) -> bool:
    return not isinstance(cell, (list, dict))


class _Column:
    """The values of one key in all records.

    ``lists``: the ids of each record, None for no value. ``why``: why it has no ids, "" if it has. ``doubt``: why
    it is not read unless it is named. ``grades``: of the ids, None if there are none; ``graded_by``: the key of these.
    """

    def __init__(self, key: str, cells: list[Any], known: Known) -> None:
        self.key, self.parent = key, key.rpartition(".")[0]
        self.cells = [None if cell == "" or cell != cell else cell for cell in cells]
        *above, self.last = map(_words, key.split("."))
        self.words = _words(key)
        self.is_scalar, self.is_one = all(map(_is_scalar, self.cells)), not self.last or self.last[-1][-1] != "s"
        self.is_named = key in (known.relevant, known.items)
        self.is_relevant, self.is_item = _has(self.words, "relevant"), _has(self.last, "item")
        self.is_never, self.is_result = _has(self.words, "never"), _has(self.words, "results") and not self.is_relevant
        told = [*(part for part in above if _has(part, "relevant")), self.last]
        self.is_sure = self.is_relevant and self.is_item and _only(chain(*told), "relevant item results filler")
        self.why, self.doubt, self.grade_doubt, self.graded_by = "", "", "", ""
        self.grades: list[list[float]] | None = None
        try:
            self.lists = [None if cell is None else self._ids(cell) for cell in self._split(known.item_ids)]
        except (ValueError, SyntaxError) as error:
            self.lists, self.why = list[list[str] | None](), error.args[0] if len(error.args) == 1 else "holds no ids"
        maps = [list(map(float, cell.values())) if isinstance(cell, dict) else [] for cell in self.cells]
        if any(maps) and list(map(len, maps)) != [len(ids or ()) for ids in self.lists]:
            self.why = self.why or "holds ids, and ids with grades"
        elif any(maps):
            self.grades, self.graded_by, self.is_never = maps, key, False
            told_by = self.is_relevant and _only(self.words, "grade relevant number")
            self.is_sure = self.is_sure or (told_by and (_has(self.words, "grade") or self.words == ["qrels"]))
        self.held = [ids for ids in self.lists if ids]
        blanks = [one.count(" ") for ids in self.held for one in ids]
        most = len(self.held) / 2 if self.is_scalar and "source" in self.last else 1
        if blanks and median(blanks) >= (_FEW if _has(self.last, "place") else 1):
            self.why = self.why if self.is_named else "holds texts"
        elif any("*" in one for ids in self.held for one in ids):
            self.why = "holds patterns"
        elif self.is_scalar and any(blanks) and not self.is_one:
            self.doubt = _IN_A_CELL
        elif len(self.held) > 2 - any(maps) and len(set(map(tuple, self.held))) <= most:
            self.doubt = "hardly differs between queries"
        self.is_filled = bool(self.held) and not self.why

    @property
    def sets(self) -> list[set[str]]:
        """The ids of each record, of graded ones those above 0."""
        if self.grades is None:
            return [set(ids or ()) for ids in self.lists]
        pairs = [zip(ids or (), grades, strict=True) for ids, grades in zip(self.lists, self.grades, strict=True)]
        return [{one for one, grade in pair if grade > 0} for pair in pairs]

    def reaches(self, ids: Collection[str]) -> float:
        """Return the share of the records with ids of which one is among some."""
        return sum(any(one in ids for one in held) for held in self.held) / max(len(self.held), 1)

    def _split(self, ids: Collection[str]) -> list[Any]:
        """Return the cells, with a list for each text that holds several ids."""
        texts = [cell for cell in self.cells if isinstance(cell, str)]
        if any(text.lstrip().startswith("[") for text in texts):
            return [ast.literal_eval(cell) if isinstance(cell, str) else cell for cell in self.cells]
        marks = [mark for mark in "|;,\n" if any(mark in text for text in texts)] if self.is_scalar else []
        split = {text: [*filter(None, map(_bare, text.split(marks[0])))] for text in texts if marks}
        pieces = [piece for parts in split.values() for piece in parts]
        if any(" " in piece for piece in pieces):
            return self.cells
        if len(marks) > 1 or (self.is_one and marks == ["|"]):
            whole = any(text in ids for text in split)
            self.doubt = "" if whole != any(piece in ids for piece in pieces) else _IN_A_CELL
            split = {} if whole else split
        return [split.get(cell, cell) if isinstance(cell, str) else cell for cell in self.cells]

    def _ids(self, cell: Any) -> list[str]:
        if isinstance(cell, list) and any(isinstance(part, list) for part in cell):
            if not (self.is_named or len(cell) == 1 or all(not isinstance(p, list) or len(p) < 2 for p in cell)):
                raise ValueError("holds lists of lists")
            cell = [one for part in cell for one in (part if isinstance(part, list) else [None])]
        if isinstance(cell, list) and None in cell:
            raise ValueError("is missing in some entries of its lists")
        return [_id(one) for one in ([cell] if _is_scalar(cell) else cell)]


def _id(value: object) -> str:
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not str(value).strip():
        raise ValueError("holds no ids")
    return _bare(str(value))


class _Table:
    """Records of queries, by column; ``weight``: how near they are to what is wanted; the nearest is refused."""

    def __init__(self, name: str, records: Sequence[Mapping[str, Any]], known: Known) -> None:
        self.name, self.known, self.weight, self.is_told = name, known, 0, False
        flat = [dict(_flat(record)) for record in records]
        keys = dict.fromkeys(key for record in flat for key in record)
        for record in flat:  # an empty list of objects has none of their keys
            for key in [key for key, cell in record.items() if cell == []]:
                record.update({inner: [] for inner in keys if inner.startswith(f"{key}.")})
        are_scalar = all(_is_scalar(cell) for record in flat for cell in record.values())
        for name, numbered in _numbered(keys).items() if are_scalar else ():
            self._take_list(flat, name, numbered)
            keys = {key: None for key in [*keys, name] if key not in numbered}
        self.columns = [_Column(key, [record.get(key) for record in flat], known) for key in keys]

    def _take_list(self, flat: Sequence[dict[str, Any]], name: str, numbered: Sequence[str]) -> None:
        """Give each record a list in the place of its numbered keys, which may only be empty after the last item."""
        for place, record in enumerate(flat):
            cells = [record.pop(key, None) for key in numbered]
            held = [cell for cell in cells if cell not in (None, "") and cell == cell]
            if cells[: len(held)] != held:
                empty = next(key for key, cell in zip(numbered, cells, strict=True) if cell not in held)
                what = f"record {place + 1} has nothing in {_key(empty)}, but an item after it"
                raise UnclearError(what, where=self.name, advice="move the items after it up, or fill it in")
            record[name] = held

    def refusal(self, what: str, role: str, key: str = "KEY") -> InputError:
        """Return the error about these records, which says how to choose a key."""
        advice = f"name the key with {argument(role, key)}"
        return (UnclearError if self.is_told else InputError)(what, where=self.name, advice=advice)

    def read(self, wanted: Role) -> Recognised:
        """Return what the records hold."""
        query, text, ids = self._query()
        self.is_told = query.key != _KEYS
        self.weight = int(self.is_told)
        queries = [_bare(str(cell)) for cell in query.cells]
        n, self.has_rows = len(set(queries)), len(set(queries)) < len(queries)
        others = [column for column in self.columns if column not in (query, text, *ids)]
        for column in others:
            self._grade(column)
        chosen: dict[str, _Column] = {}
        roles = [("labels", self._relevant), ("results", self._results)]
        for role, choose in reversed(roles) if wanted == "results" and self.has_rows else roles:
            try:
                chosen[role] = choose([c for c in others if c not in chosen.values()], is_wanted=role == wanted)
            except InputError:
                if role == wanted:
                    raise
        of_text = "" if text is None else f", their text from {_key(text.key)}"
        of_text = " (its text is the id)" if text is query else of_text
        found = Recognised(self.name, [f"read {n} {'query' if n == 1 else 'queries'} from {_key(query.key)}{of_text}"])
        texts = dict(zip(queries, map(str, text.cells), strict=True)) if text else {}
        if text and all(texts[key] == str(cell) for key, cell in zip(queries, text.cells, strict=True)):
            found.texts.update(texts)
        says = [c for c in others if c.is_scalar and any(_says_no_answer(c.words, cell) for cell in c.cells)]
        of = chosen.get("labels")
        has_rows = self.has_rows or (of is not None and all(len(ids or ()) == 1 for ids in of.lists))
        if self.known.are_judged and of is not None and has_rows and of.is_scalar and of.graded_by:
            found.names.update(group=query.key, item=of.key, label=of.graded_by)
            found.facts.append(f"items from {_key(of.key)}, grades from {_key(of.graded_by)}")
        elif of is not None:
            self._take_labels(found, queries, of, says)
        if "results" in chosen:
            self._take_results(found, queries, chosen["results"])
        used = [*(c.key for c in says), *(key for c in chosen.values() for key in (c.key, c.graded_by))]
        names = []
        for column in (c for c in others if c.is_scalar and not (c.key in used or c.is_never or c.is_relevant)):
            values = {key: str(cell) for key, cell in zip(queries, column.cells, strict=True) if cell is not None}
            if 1 < len(set(values.values())) < n:
                names.append(column.key)
                for key, value in values.items():
                    found.attributes.setdefault(key, {})[column.key] = value
        found.without_answer[:] = [query for query in found.without_answer if query not in found.labels]
        found.not_labelled[:] = [query for query in found.not_labelled if query not in found.labels]
        found.facts.append(f"attribute{'s' * (len(names) > 1)} {', '.join(names)}" if names else "")
        found.facts.append(_n(len(found.without_answer), "without an answer"))
        found.facts.append(_n(len(found.not_labelled), "not labelled, left out"))
        return found

    def _query(self) -> tuple[_Column, _Column | None, list[_Column]]:
        """Return the columns of the query of each record and of its text, and all that may be its id."""
        whole = [c for c in self.columns if c.is_scalar and None not in c.cells]
        texts = [c for c in whole if _has(c.last, "query") and _only(c.last, "query asked")]
        order = [re.compile(word) for word in _LISTED["query"]]
        texts.sort(key=lambda c: (min(n for n, word in enumerate(order) if word.match(c.last[-1])), len(c.words)))
        ids = [c for c in whole if not c.why and _has(c.last, "id") and _only(c.last, "query id case")]
        told = [c for c in ids if _has(c.words, "query") or "qid" in c.last]
        bare = [c for c in ids if not c.parent and c not in told and (c.last == ["id"] or not told)]
        bare.sort(key=lambda c: len(c.last))
        choices = [*told, *(c for c in whole if c.key == _KEYS), *bare, *texts]
        choices = [c for c in choices if len(set(map(str, c.cells))) > 1] or choices
        if self.known.group is not None:
            choices = [c for c in whole if c.key == self.known.group]
        if not choices:
            what = f"no key holds the query of every record; the keys are {_listed(c.key for c in self.columns)}"
            raise self.refusal(what, "group")
        query, text = max(choices, key=lambda c: sum(str(cell) in self.known.queries for cell in c.cells)), None
        text = texts[0] if texts else None
        if text and query in bare and self.known.group is None and len(set(text.cells)) < len(set(query.cells)):
            what = f"{_key(text.key)} comes again under another {_key(query.key)}, so either may be the query"
            raise self.refusal(what, "group", text.key)
        return query, text, [*told, *bare]

    def _grade(self, column: _Column) -> None:
        """Find the numbers that belong to the ids of a column, in the same objects or records."""
        beside = [c for c in self.columns if c.parent == column.parent and c.is_scalar == column.is_scalar]
        graded = [c for c in beside if _has(c.last, "grade") and _only(c.last, "grade number filler")]
        is_row = bool(column.parent or self.has_rows)
        others = graded or [c for c in beside if is_row and c.last and _only(c.last, "number")]
        if column.why or column.grades is not None or not others or column in others:
            return
        truth: dict[Any, Any] = {"true": 1, "false": 0, **self.known.grades}
        try:
            cells: list[list[Any]] = [
                c if isinstance(c, list) else [c] if c is not None else [] for c in others[0].cells
            ]
            grades = [[float(truth.get(str(one).strip().lower(), one)) for one in cell] for cell in cells]
        except (TypeError, ValueError):
            grades = []
        if list(map(len, grades)) != [len(ids or ()) for ids in column.lists] or not all(map(isfinite, chain(*grades))):
            column.grade_doubt = f"has no number in each {_key(others[0].key)}" if is_row else ""
        elif len(graded) > 1:
            column.grade_doubt = f"has no number in each, but several: {_listed(c.key for c in graded)}"
        elif not graded and not all(map(float.is_integer, chain(*grades))):
            column.grade_doubt = f"has numbers in {_key(others[0].key)} that may be grades or not"
        else:
            column.grades, column.graded_by = grades, others[0].key

    def _relevant(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of relevant items."""
        if self.known.relevant is not None:
            return self._named(columns, self.known.relevant, "relevant")
        lists = [c for c in columns if c.is_filled and not c.is_never and (c.is_scalar or not c.is_result)]
        rows = [c for c in lists if c.grades is not None and c.is_item and (c.parent or self.has_rows)]
        sure = [c for c in lists if c.is_sure or c in rows or (c.key == _VALUES and is_wanted)]
        both = [c for c in lists if c.is_relevant and c.is_item]
        more = [c for c in both if not c.is_scalar or _has(c.last[-1:], "id") or c.last[-1].isdigit()]
        tiers = [c for c in lists if _has(c.words, "tier") and (c.is_relevant or c.is_item)]
        clear = _distinct(c for c in sure if not c.doubt)
        plausible = _distinct([*(c for c in sure if not c.doubt), *tiers, *more])
        open_to = [c for c in columns if c.is_filled and (c.is_scalar or not c.is_result)]
        reached = _distinct(c for c in open_to if is_wanted and c.reaches(self.known.item_ids) >= _OFTEN)
        if len(reached) == 1 and reached[0] in lists and (reached[0].is_relevant or reached[0].is_item) and not tiers:
            plausible = clear = reached
        elif reached and not set(reached) & set(clear):
            plausible = _distinct([*plausible, *reached])
        if len(clear) != 1 or len(plausible) != 1:
            raise self._unclear(plausible, columns, "relevant")
        [chosen] = clear
        finer = [c for c in columns if _has(c.last, "finer") and any(c.cells) and c is not chosen and c not in more]
        finer = [c for c in finer if c.is_relevant or (c.parent and c.parent == chosen.parent)]
        what = f"{_key(finer[0].key)} makes the labels in {_key(chosen.key)} finer than an item" if finer else ""
        if what or chosen.grade_doubt:
            raise self.refusal(what or f"{_key(chosen.key)} {chosen.grade_doubt}", "relevant", chosen.key)
        return chosen

    def _results(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of ranked items."""
        if self.known.items is not None:
            return self._named(columns, self.known.items, "items")
        orders = [c for c in self.columns if not c.is_scalar and _has(c.last, "rising falling")]
        lists = [c for c in columns if c.is_filled and not (c.is_never or c.is_relevant or c.doubt)]
        are_rows = is_wanted and self.has_rows
        rows = [c for c in lists if are_rows and c.is_scalar and c.is_item and self._ranks(c)]
        lists = [c for c in lists if not c.is_scalar or any(len(ids) > 1 for ids in c.held) or c in rows]
        lists = [c for c in lists if c.parent != _VALUES or any(o.parent == _VALUES for o in orders)]
        told = [c for c in lists if c.is_result and (c.is_item or _are_texts(c.cells))]
        hollow = [c for c in columns if c.is_result and c.cells and all(cell == [] for cell in c.cells)]
        if is_wanted and not lists and len(hollow) == 1:
            return hollow[0]
        items = [c for c in lists if is_wanted and (c.is_item or c.key == _VALUES) and not _is_label(c)]
        sure = _distinct(told or items, ranked=True)
        reached = [c for c in sure if c.reaches(self.known.item_ids) > 0]
        if len(sure) != 1 and len(reached) != 1:
            raise self._unclear(sure, columns, "items")
        [chosen] = sure if len(sure) == 1 else reached
        for column in (c for c in (*orders, chosen) if c.parent == chosen.parent):
            cells = [[*cell.values()] if isinstance(cell, dict) else cell or [] for cell in column.cells]
            numbers = [[one for one in cell if isinstance(one, (int, float))] for cell in cells]
            is_score = _has(column.last, "falling") or any(isinstance(cell, dict) for cell in column.cells)
            is_ordered = is_score or _has(column.last, "rising")
            if is_ordered and any(one != sorted(one, reverse=is_score) for one in numbers):
                what = f"the lists in {_key(chosen.key)} are not in the order of {_key(column.key)}"
                raise self.refusal(what, "items", chosen.key)
        return chosen

    def _ranks(self, items: _Column) -> dict[str, list[float]]:
        """Return the ranks of the items of the rows by key; of scores, the highest is the first."""
        found = {}
        for column in (c for c in self.columns if c.is_scalar and _has(c.last, "rising falling")):
            pairs: Iterator[tuple[Any, Any]] = zip(column.cells, items.lists, strict=True)
            try:
                ranks = [0.0 if ids is None else float(cell) for cell, ids in pairs]
            except (TypeError, ValueError):
                continue
            found[column.key] = [-one for one in ranks] if _has(column.last, "falling") else ranks
        return found

    def _list_scores(self, items: _Column) -> list[list[float]]:
        """Return the scores next to the items of each list, none where they are not numbers."""
        for column in self.columns:
            if column.parent == items.parent and not column.is_scalar and _has(column.last, "falling"):
                held = [cell if isinstance(cell, list) else [] for cell in column.cells]
                return [cell if all(type(one) in (int, float) for one in cell) else [] for cell in held]
        return [[] for _ in items.lists]

    def _named(self, columns: Sequence[_Column], key: str, role: str) -> _Column:
        """Return the column that the caller named, or the one of ids in the objects that he named."""
        inside = [c for c in columns if c.parent == key and c.is_item and c.is_filled]
        found = inside or [c for c in columns if c.key == key]
        if len(found) == 1 and found[0].is_filled and found[0].doubt != _IN_A_CELL:
            if role == "relevant" and "no number" in found[0].grade_doubt:
                raise self.refusal(f"{shown(key)} {found[0].grade_doubt}", role)
            return found[0]
        why = "is not the key of one list of ids" if len(found) != 1 else found[0].why or found[0].doubt or "is empty"
        self.is_told = role == "relevant"
        raise self.refusal(f"{shown(key)} {why}; the keys are {_listed(c.key for c in inside or columns)}", role)

    def _unclear(self, plausible: Sequence[_Column], columns: Sequence[_Column], role: str) -> InputError:
        """Return the error that names the keys that may be meant."""
        is_label = role == "relevant"
        near = [c for c in columns if (c.is_relevant if is_label else c.is_result and not _is_label(c)) or c.is_item]
        near = [c for c in near if (c.why or c.is_filled) and not c.is_never and (c.is_item or not c.is_scalar)]
        near = [*dict.fromkeys([*plausible, *(c for c in near if is_label or not _is_label(c))])]
        best = min(near, key=lambda c: (bool(c.why), bool(c.doubt), not c.is_item), default=None)
        meant = "ids of the relevant items" if is_label else "ranked ids of the results"
        if best is None:
            self.is_told = self.is_told and is_label and any(c.held and not c.is_scalar for c in columns)
            return self.refusal(f"no key holds the {meant}; the keys are {_listed(c.key for c in columns)}", role)
        self.weight += sum(not c.why for c in near) * self.is_told
        may = in_a_row([f"{_key(c.key)} {c.why or c.doubt or 'may'}" for c in near[:5]])
        what = f"it is not clear which key holds the {meant}: {may}"
        return self.refusal(what, role, "KEY" if best.why else best.key)

    def _take_labels(self, found: Recognised, queries: Sequence[str], column: _Column, says: Sequence[_Column]) -> None:
        """Add the labels that a column holds; ``says``: the columns that say which queries have no answer."""
        n_again = 0
        for place, (query, ids) in enumerate(zip(queries, column.lists, strict=True)):
            said = any(_says_no_answer(c.words, c.cells[place]) for c in says)
            if said and ids and self.known.relevant is None:
                what = f"query {shown(query)} has relevant items, and no answer according to its record"
                raise self.refusal(what, "relevant", column.key)
            held: dict[str, float] = {}
            before = found.labels.get(query, held)
            grades = column.grades[place] if column.grades else [1.0] * len(ids or ())
            for one, grade in zip(ids or (), grades, strict=True):
                n_again += one in held
                if held.setdefault(one, grade) != grade or before.get(one, grade) != grade:
                    raise self.refusal(f"query {shown(query)} has item {shown(one)} with two grades", "relevant")
            if before and before != held and not column.is_scalar:
                raise self.refusal(f"query {shown(query)} comes twice, with other relevant items", "group")
            if held:
                found.labels.setdefault(query, {}).update(held)
            elif query not in found.without_answer + found.not_labelled:
                (found.without_answer if said else found.not_labelled).append(query)
        by = f", grades from {_key(column.graded_by)}" if column.grades else ""
        by = ", with grades" if column.graded_by == column.key else by
        found.facts.extend([f"relevant ids from {_key(column.key)}{by}", _n(n_again, "times an id again in a list")])

    def _take_results(self, found: Recognised, queries: Sequence[str], column: _Column) -> None:
        """Add the ranked items that a column holds."""
        n_again, by, lists = 0, "", [*zip(queries, column.lists, strict=True)]
        if column.is_scalar and self.has_rows:  # a row for each item, in order if no column ranks them
            by_key, rows = self._ranks(column), dict[str, list[str]]()
            key, first = next(iter(by_key.items()), ("", [0.0] * len(lists)))
            order = sorted(range(len(lists)), key=lambda place: (queries[place], first[place]))
            for other, others in by_key.items():
                if any(queries[a] == queries[b] and others[a] > others[b] for a, b in pairwise(order)):
                    what = f"{_key(other)} gives the items of a query another order than {_key(key)}"
                    raise UnclearError(what, where=self.name, advice="give one of both")
            by = f", by {_key(key)}" if by_key else ""
            are_scores = any(c.key == key and _has(c.last, "falling") for c in self.columns)
            for place in order:
                query, ids = lists[place]
                rows.setdefault(query, []).extend(ids or ())
                if are_scores:
                    found.row_scores.setdefault(query, {}).update(dict.fromkeys(ids or (), -first[place]))
            lists = [*rows.items()]
        else:
            for (query, ids), scores in zip(lists, self._list_scores(column), strict=True):
                if ids and len(scores) == len(ids):
                    found.list_scores[query] = dict(zip(each_once(ids), scores, strict=True))
        for query, ids in lists:
            if query in found.results:
                raise self.refusal(f"query {shown(query)} comes twice", "group")
            if ids is not None:
                n_again += len(ids) - len(set(ids))
                found.results[query] = each_once(ids)
        if n_again:
            found.row_scores.clear()
        n_absent = column.lists.count(None)
        found.facts.extend([f"ranked ids from {_key(column.key)}{by}", _n(n_absent, "without a list, left out")])
        found.facts.append(_n(n_again, "times an item again in a list: its first place counts"))


def _distinct(columns: Iterable[_Column], *, ranked: bool = False) -> list[_Column]:
    """Return columns, of those with the same ids one, with grades if one has them."""
    kept: list[_Column] = []
    for column in sorted(dict.fromkeys(columns), key=lambda c: c.grades is None):
        if not any(column.lists == other.lists if ranked else column.sets == other.sets for other in kept):
            kept.append(column)
    return kept


def _is_label(column: _Column) -> bool:
    """Return whether the ids have numbers with a name that scores do not have."""
    return column.grades is not None and _has(_words(column.graded_by), "grade")


def _are_texts(cells: Iterable[Any]) -> bool:
    """Return whether each list holds different texts, not flags or numbers."""
    lists = [list(map(str, cell)) for cell in cells if isinstance(cell, list)]
    texts = [cell for cell in cells if isinstance(cell, list) and all(isinstance(one, str) for one in cell)]
    return len(texts) == len(lists) and all(len(set(held)) == len(held) for held in lists)


def _says_no_answer(words: Sequence[str], cell: object) -> bool:
    """Return whether a key and its value say that a query has no answer."""
    key, text = "_".join(words), str(cell).strip().lower()
    if text in ("true", "yes", "1"):
        return _NO_ANSWER.search(key) is not None
    if text in ("false", "no", "0"):
        return _ANSWERED.fullmatch(key) is not None
    return _has(words, "kind") and _NO_ANSWER.fullmatch(text) is not None


def each_once(ids: Collection[Any]) -> list[Any]:
    """Return the ids of a ranked list; one that comes again has another name, so that it counts once and ranks stay.

    None stays, because it is not an id.

    >>> each_once(["a", "b", "a"])
    ['a', 'b', '(again, rank 3)']
    """
    first = {str(one): place for place, one in reversed([*enumerate(ids)])}
    again = [first[str(one)] != place and one is not None for place, one in enumerate(ids)]
    return [f"(again, rank {place + 1})" if again[place] else one for place, one in enumerate(ids)]


def _n(n: int, what: str) -> str:
    return f"{n} {what}" if n else ""


def _key(key: str) -> str:
    return key.strip("()") if key in (_KEYS, _VALUES) else shown(key)


def _listed(keys: Iterable[str]) -> str:
    return in_a_row([_key(key) for key in list(keys)[:8]] or ["none"])
