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
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from statistics import median
from typing import Any, Literal

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.words.texts import in_a_row, shown

Role = Literal["labels", "results"]

# Words of a key: each counts by how it begins, and with a dot only whole or in the plural. ``tier``: of one of several
# lists of labels. ``finer``: than an item. ``filler``: beside the words of a role. ``place``: of ids that may have blanks.
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
finer page line. span section paragraph offset start end. quote range sentence
tier must should require optional primary secondary partial accept alternat additional support related perfect highly
tier marginal nice best other extra also fallback main maybe
grade gain grade rating relevance relevant label. judg
number score weight importance value confidence points
filler ground list. set. all. context ctx the of for is in ref. retrieval human
case case test example record row entry sample
place id. uid. docid path. file. filename filepath source url. uri.
kind type category kind class tag answerab
rising distance rank
falling score similarity
"""
_LISTED: dict[str, list[str]] = {}
for _name, *_list in map(str.split, _WORDS.strip().splitlines()):
    _LISTED.setdefault(_name, []).extend(f"{word[:-1]}s?$" if word[-1] == "." else word for word in _list)
_BEGINS = {name: re.compile("|".join(words)) for name, words in _LISTED.items()}
_WORD = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_FEW = 4  # blanks in a text that is no id
_OFTEN = 0.3  # the share of queries with labels in the results that admits a key without a word of relevance
_NO_ANSWER = re.compile(r"(un|not[ _-]?)answerable|no[ _-]?answer|negative|out[ _-]of[ _-]scope|impossible")
_ANSWERED = re.compile(r"(is[ _-]?)?answerable|has[ _-]?answer")
_IN_A_CELL = "may hold one id or several in a cell"
_KEYS, _VALUES = "(its keys)", "(its values)"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides a file: the keys that the caller named, and the ids in the file that it belongs to."""

    group: str | None = None
    relevant: str | None = None
    items: str | None = None
    item_ids: Collection[str] = frozenset()
    queries: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a golden set or the results of a retriever hold; a query is known by its id, or by its text if it has none.

    ``labels``: the grades of the items of each labelled query. ``without_answer``: the queries of which the records say
    that nothing answers them. ``not_labelled``: those without labels of which they do not. ``results``: the ranked
    items of each query; an item that comes again is None, so that the ranks stay. ``texts`` and ``attributes``: of the
    queries. ``facts``: what was read from where, in clauses.
    """

    name: str
    labels: dict[str, dict[str, float]] = field(default_factory=dict)
    without_answer: list[str] = field(default_factory=list)
    not_labelled: list[str] = field(default_factory=list)
    results: dict[str, list[str | None]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)

    @property
    def ranked(self) -> dict[str, list[str]]:
        """The results, in which an item that comes again is named so that it keeps its rank and is no labelled one."""
        return {
            query: [f"(again, rank {rank})" if item is None else item for rank, item in enumerate(items, 1)]
            for query, items in self.results.items()
        }

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(self.facts)}"


class UnclearError(InputError):
    """A file holds queries, but it is not clear which of its keys hold what."""


def recognised(content: object, name: str, wanted: Role, known: Known = Known()) -> Recognised:
    """Return what a golden set or results hold, from the bytes of a file or from objects of Python.

    ``name``: of the file, for messages and for its format. ``wanted``: the role that it must have; the other is read
    too if it is there. Raises: InputError, which names the keys that may be meant and the argument to choose one with.
    """
    value = parsed(content, name) if isinstance(content, bytes) else content
    found: list[tuple[str, Recognised]] = []
    bare: list[tuple[str, Recognised]] = []  # lists without a word about what they hold count if nothing else is there
    refusals: list[tuple[int, InputError]] = []
    for path, records in _record_lists(value):
        try:
            table = _Table(name, records, known)
            (bare if _VALUES in records[0] else found).append((path, table.read(wanted)))
        except RecursionError:
            raise InputError("is nested too deeply", where=name, advice="give flat records") from None
        except InputError as refusal:
            refusals.append((table.weight, refusal))
    found = found or bare
    if len(found) == 1:
        return found[0][1]
    if found:
        what, advice = f"there are queries under {_listed(path for path, _ in found)}", "give each in its own file"
        raise InputError(what, where=name, advice=advice)
    if not refusals:
        raise InputError("there is no list of queries", where=name, advice="give one record for each query")
    raise max(refusals, key=lambda one: one[0])[1]


def parsed(content: bytes, name: str) -> object:
    """Return the value that a file of JSON, JSON lines, CSV, TSV, YAML, TOML or Markdown holds."""
    ending = PurePath(name).suffix.lower()
    try:
        text = content.decode("utf-8-sig")
        if ending in (".yaml", ".yml"):
            import yaml  # type: ignore[import-untyped]

            return yaml.safe_load(text)
        if ending == ".toml":
            import tomllib

            return tomllib.loads(text)
        if ending in (".md", ".markdown"):
            return _rows(_table_of_markdown(text))
        if text.lstrip().startswith(("{", "[")):
            return _json(text)
        delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
        return _rows(
            [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True) if row]
        )
    except Exception as error:  # the parsers raise many kinds
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read: {reason}", where=name, advice="correct the file") from None


def _json(text: str) -> object:
    """Return the value of JSON or of JSON lines."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            keys = [key for key, _ in pairs]
            raise InputError(f"an object has the key {shown(max(keys, key=keys.count))} twice")
        return dict(pairs)

    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("{") and lines[0].rstrip().endswith("}"):
        return [json.loads(line, object_pairs_hook=once) for line in lines]
    return json.loads(text, object_pairs_hook=once)


def _table_of_markdown(text: str) -> list[list[str]]:
    lines = [line.strip().strip("|") for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[_bare(cell) for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    rules = [place for place, row in enumerate(rows) if all(re.fullmatch(":?-+:?", cell) for cell in row)]
    if rules != [1]:
        raise InputError(f"there are {len(rules)} tables, where one is wanted")
    return [rows[0], *rows[2:]]


def _rows(rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return the records of a table whose first row is its header."""
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]) or len(set(rows[0])) < len(row):
            raise InputError(f"row {number} has {len(row)} cells, and the header {len(set(rows[0]))} different names")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _bare(text: str) -> str:
    """Return a text without blanks, backticks and quotes around it."""
    text = text.strip()
    return text[1:-1] if re.fullmatch(r"""`[^`]+`|"[^"]+"|'[^']+'""", text) else text


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
    if (not path or _has(_words(path), "relevant", "results")) and not any(_is_scalar(held) for held in value.values()):
        yield path, _keyed({key: {_VALUES: held} for key, held in value.items()})
    lists = {key: held for key, held in value.items() if isinstance(held, list)}
    if len(lists) > 1 and len({len(held) for held in lists.values()}) == 1:  # columns
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
    """Yield the values of a record by dotted keys: an object of numbers also whole, and of a list of objects each key."""
    for name, held in value.items():
        key = f"{path}.{name}" if path else str(name)
        if isinstance(held, dict) and held:
            if all(isinstance(number, (int, float)) for number in held.values()):
                yield key, held
            yield from _flat(held, key)
        elif isinstance(held, list) and held and all(isinstance(part, dict) for part in held):
            parts = [dict(_flat(part, key)) for part in held]
            yield from ((inner, [part.get(inner) for part in parts]) for part in parts for inner in part)
        else:
            yield key, held


def _words(key: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(key)]


def _has(words: Iterable[str], *kinds: str) -> bool:
    return any(_BEGINS[kind].match(word) for word in words for kind in kinds)


def _only(words: Iterable[str], *kinds: str) -> bool:
    return all(_has([word], *kinds) for word in words)


def _is_scalar(cell: object) -> bool:
    return not isinstance(cell, (list, dict))


class _Column:
    """The values of one key in all records.

    ``lists``: the ids of each record, None for no value. ``why``: why these are no ids, "" if they are. ``doubt``: why
    it is not read unless it is named. ``grades``: of the ids, None if there are none; ``graded_by``: the key of these.
    """

    def __init__(self, key: str, cells: list[Any], known: Known) -> None:
        self.key, self.cells = key, [None if cell == "" or cell != cell else cell for cell in cells]
        self.parent, _, last = key.rpartition(".")
        self.words, self.last = _words(key), _words(last)
        self.is_scalar = all(map(_is_scalar, self.cells))
        self.is_whole = self.is_scalar and None not in self.cells
        self.is_one = not self.last or self.last[-1][-1] != "s"
        self.is_named = key in (known.relevant, known.items)
        self.is_relevant, self.is_item = _has(self.words, "relevant"), _has(self.last, "item")
        self.is_never, self.is_result = _has(self.words, "never"), _has(self.words, "results") and not self.is_relevant
        self.why, self.doubt, self.grade_doubt, self.graded_by = "", "", "", ""
        self.lists: list[list[str] | None] = []
        self.grades: list[list[float]] | None = None
        self.is_graded = False  # by a word that scores do not have
        try:
            self.lists = [None if cell is None else self._ids(cell) for cell in self._split(known.item_ids)]
        except ValueError as error:
            self.why = str(error) or "holds no ids"
        maps = [list(map(float, cell.values())) if isinstance(cell, dict) else [] for cell in self.cells]
        if any(maps):
            self.grades, self.graded_by, self.is_never = maps, key, False
        blanks = [one.count(" ") for ids in self.lists for one in ids or ()]
        held = [tuple(ids) for ids in self.lists if ids]
        if blanks and median(blanks) >= (_FEW if _has(self.last, "place") else 1):
            self.why = self.why if self.is_named else "holds texts"
        elif self.is_scalar and any(blanks) and not self.is_one:
            self.doubt = _IN_A_CELL
        elif len(held) > (1 if any(maps) else 2) and len(set(held)) <= (
            len(held) / 2 if "source" in self.last and self.is_scalar else 1
        ):
            self.doubt = "hardly differs between queries"
        self.is_filled = bool(held) and not self.why

    @property
    def sets(self) -> list[frozenset[str]]:
        """The ids of each record, of graded ones those above 0."""
        grades = self.grades or [[]] * len(self.lists)
        pairs = [zip(ids or (), given or [1] * len(ids or ())) for ids, given in zip(self.lists, grades, strict=True)]
        return [frozenset(one for one, grade in pair if grade > 0) for pair in pairs]

    def reaches(self, ids: Collection[str]) -> float:
        """Return the share of the records with ids of which one is among some."""
        held = [found for found in self.lists if found]
        return sum(any(one in ids for one in found) for found in held) / max(len(held), 1)

    def _split(self, ids: Collection[str]) -> list[Any]:
        """Return the cells, with a list for each text that holds several ids."""
        texts = [cell for cell in self.cells if isinstance(cell, str)]
        if any(text.lstrip().startswith("[") for text in texts):
            return [ast.literal_eval(cell) if isinstance(cell, str) else cell for cell in self.cells]
        marks = [mark for mark in "|;,\n" if any(mark in text for text in texts)] if self.is_scalar else []
        split = {
            text: [_bare(piece) for piece in text.split(mark) if piece.strip()] for mark in marks[:1] for text in texts
        }
        if any(" " in piece for pieces in split.values() for piece in pieces):
            return self.cells
        if len(marks) > 1 or (self.is_one and marks == ["|"]):
            whole = any(text in ids for text in split)
            is_split = any(piece in ids for pieces in split.values() for piece in pieces)
            self.doubt, split = "" if whole != is_split else _IN_A_CELL, {} if whole else split
        return [split.get(cell, cell) if isinstance(cell, str) else cell for cell in self.cells]

    def _ids(self, cell: Any) -> list[str]:
        if isinstance(cell, list) and any(isinstance(part, list) for part in cell):
            if not all(isinstance(part, list) for part in cell):
                raise ValueError
            if not (self.is_named or len(cell) == 1 or all(len(part) < 2 for part in cell)):
                raise ValueError("holds lists of lists")
            cell = [one for part in cell for one in part]
        if isinstance(cell, list) and None in cell:
            raise ValueError("is missing in some entries of its lists")
        return [_id(one) for one in ([cell] if _is_scalar(cell) else cell)]


def _id(value: object) -> str:
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not str(value).strip():
        raise ValueError
    return _bare(str(value))


class _Table:
    """Records of queries, by column; ``weight``: how near they are to what is wanted, for which refusal is told."""

    def __init__(self, name: str, records: Sequence[Mapping[str, Any]], known: Known) -> None:
        self.name, self.known, self.weight, self.is_told = name, known, 0, False
        flat = [dict(_flat(record)) for record in records]
        keys = dict.fromkeys(key for record in flat for key in record)
        cells = {key: [record.get(key) for record in flat] for key in keys}
        for key in keys:  # an empty list of objects has none of their keys
            for place in (place for place, cell in enumerate(cells[key]) if cell == []):
                for inner in (inner for inner in keys if inner.startswith(f"{key}.")):
                    cells[inner][place] = []
        self.columns = [_Column(key, cells[key], known) for key in keys]

    def refusal(self, what: str, role: str, key: str = "KEY") -> InputError:
        """Return the error about these records, which says how to choose a key."""
        return (UnclearError if self.is_told else InputError)(
            what, where=self.name, advice=f"name the key with {argument(role, key)}"
        )

    def read(self, wanted: Role) -> Recognised:
        """Return what the records hold."""
        query, text = self._query()
        self.is_told = query.key != _KEYS
        self.weight = int(self.is_told)
        queries = [_bare(str(cell)) for cell in query.cells]
        self.has_rows = len(set(queries)) < len(queries)
        others = [column for column in self.columns if column not in (query, text) and column not in self.ids]
        for column in others:
            self._grade(column)
        chosen: dict[str, _Column] = {}
        for role, choose in (("labels", self._relevant), ("results", self._results)):
            try:
                chosen[role] = choose([c for c in others if c not in chosen.values()], is_wanted=role == wanted)
            except InputError:
                if role == wanted:
                    raise
        found = Recognised(self.name)
        of_text = (
            " (its text is the id)" if text is query else "" if text is None else f", their text from {_key(text.key)}"
        )
        n = len(set(queries))
        found.facts.append(f"read {n} {'query' if n == 1 else 'queries'} from {_key(query.key)}{of_text}")
        texts = dict(zip(queries, map(str, text.cells), strict=True)) if text else {}
        if text and all(texts[key] == str(cell) for key, cell in zip(queries, text.cells, strict=True)):
            found.texts.update(texts)
        says = [c for c in others if c.is_scalar and any(_says_no_answer(c.words, cell) for cell in c.cells)]
        if "labels" in chosen:
            self._take_labels(found, queries, chosen["labels"], says)
        if "results" in chosen:
            self._take_results(found, queries, chosen["results"])
        used = [*says, *chosen.values()]
        names = []
        for column in (c for c in others if c.is_scalar and c not in used and not c.is_never and not c.is_relevant):
            if 1 < len(set(map(str, column.cells)) - {"None"}) < n and column.key not in [c.graded_by for c in used]:
                names.append(column.key)
                for key, cell in zip(queries, column.cells, strict=True):
                    found.attributes.setdefault(key, {}).update({} if cell is None else {column.key: str(cell)})
        told = [f"{'attribute' if len(names) == 1 else 'attributes'} {', '.join(names)}"] if names else []
        told += [f"{len(found.without_answer)} without an answer"] if found.without_answer else []
        told += [f"{len(found.not_labelled)} not labelled, left out"] if found.not_labelled else []
        found.facts.extend(told)
        return found

    def _query(self) -> tuple[_Column, _Column | None]:
        """Return the columns of the query of each record and of its text."""
        whole = [c for c in self.columns if c.is_whole]
        texts = [c for c in whole if _has(c.last, "query") and _only(c.last, "query", "asked")]
        order = _LISTED["query"]
        texts.sort(key=lambda c: (min(n for n, word in enumerate(order) if re.match(word, c.last[-1])), len(c.words)))
        ids = [c for c in whole if not c.why and _has(c.last, "id") and _only(c.last, "query", "id", "case")]
        told = [c for c in ids if _has(c.words, "query") or "qid" in c.last]
        bare = [c for c in ids if not c.parent and c not in told and (c.last == ["id"] or not told)]
        bare.sort(key=lambda c: len(c.last))
        self.ids = ids = [*told, *bare]
        choices = [*told, *(c for c in whole if c.key == _KEYS), *bare, *texts]
        if self.known.group is not None:
            choices = [c for c in whole if c.key == self.known.group]
        if not choices:
            what = f"no key holds the query of every record; the keys are {_listed(c.key for c in self.columns)}"
            raise self.refusal(what, "group")
        query, text = (
            max(choices, key=lambda c: sum(str(cell) in self.known.queries for cell in c.cells)),
            [*texts, None][0],
        )
        if text and query in bare and self.known.group is None and len(set(text.cells)) < len(set(query.cells)):
            what = f"{_key(text.key)} comes again under another {_key(query.key)}, so either may be the query"
            raise self.refusal(what, "group", text.key)
        return query, text

    def _grade(self, column: _Column) -> None:
        """Find the numbers that stand beside the ids of a column, in the same objects or records."""
        beside = [
            c for c in self.columns if c.parent == column.parent and c.is_scalar == column.is_scalar and c is not column
        ]
        graded = [c for c in beside if _has(c.last, "grade") and _only(c.last, "grade", "number", "filler")]
        maybe = [
            c for c in beside if _has(c.last, "number") and _only(c.last, "number") and (c.parent or self.has_rows)
        ]
        if column.why or column.grades is not None or len(graded) > 1 or not (graded or maybe):
            return
        [other, *_] = graded or maybe
        try:
            grades = [
                [float(one) for one in ([] if cell is None else [cell] if _is_scalar(cell) else cell)]
                for cell in other.cells
            ]
        except (TypeError, ValueError):
            grades = []
        if [len(one) for one in grades] != [len(one or ()) for one in column.lists]:
            column.grade_doubt = f"has no number in each {_key(other.key)}" if column.parent or self.has_rows else ""
        elif not graded and not all(grade.is_integer() for one in grades for grade in one):
            column.grade_doubt = f"has numbers in {_key(other.key)} that may be grades or not"
        else:
            column.grades, column.graded_by, column.is_graded = grades, other.key, bool(graded)

    def _relevant(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of relevant items."""
        if self.known.relevant is not None:
            return self._named(columns, self.known.relevant, "relevant")
        lists = [c for c in columns if c.is_filled and not c.is_never and (c.is_scalar or not c.is_result)]
        roles = ("relevant", "item", "results", "filler")
        parts = {
            c: [part for part in map(_words, c.key.split(".")) if _has(part, "relevant") or part == c.last]
            for c in lists
        }
        sure = [
            c
            for c in lists
            if (c.is_relevant and c.is_item and all(_only(part, *roles) for part in parts[c]))
            or (
                c.graded_by == c.key
                and c.is_relevant
                and _only(c.words, "grade", "relevant", "number")
                and (_has(c.words, "grade") or c.words == ["qrels"])
            )
            or (c.grades is not None and c.is_item and (c.parent or self.has_rows))
            or (c.key == _VALUES and is_wanted)
        ]
        tiers = [c for c in lists if _has(c.words, "tier") and (c.is_relevant or c.is_item)]
        more = [
            c
            for c in lists
            if c.is_relevant and c.is_item and (not c.is_scalar or _has(c.last[-1:], "id") or c.last[-1].isdigit())
        ]
        sure = [c for c in sure if not c.doubt]
        rivals, plausible = _distinct(sure), _distinct([*sure, *tiers, *more])
        near = [
            c
            for c in columns
            if c.is_filled and c.reaches(self.known.item_ids) >= _OFTEN and (c.is_scalar or not c.is_result)
        ]
        reached = _distinct(near)
        if len(reached) == 1 and reached[0] in lists and (reached[0].is_relevant or reached[0].is_item) and not tiers:
            plausible = rivals = reached
        elif reached and not set(reached) & set(rivals):
            plausible = _distinct([*plausible, *reached])
        if len(rivals) != 1 or len(plausible) != 1:
            raise self._unclear(plausible, columns, "relevant")
        [chosen] = rivals
        if chosen.grade_doubt:
            raise self.refusal(f"{_key(chosen.key)} {chosen.grade_doubt}", "relevant", chosen.key)
        finer = [c for c in columns if _has(c.last, "finer") and any(c.cells) and c is not chosen and c not in more]
        finer = [c for c in finer if c.is_relevant or (c.parent and c.parent == chosen.parent)]
        if finer:
            what = f"{_key(finer[0].key)} makes the labels in {_key(chosen.key)} finer than an item"
            raise self.refusal(what, "relevant", chosen.key)
        return chosen

    def _results(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of ranked items."""
        if self.known.items is not None:
            return self._named(columns, self.known.items, "items")
        lists = [c for c in columns if c.is_filled and not c.is_never and not c.is_relevant and not c.doubt]
        lists = [c for c in lists if not c.is_scalar or any(len(ids or ()) > 1 for ids in c.lists)]
        orders = [c for c in self.columns if c.parent and _has(c.last, "rising", "falling")]
        lists = [c for c in lists if c.parent != _VALUES or any(o.parent == _VALUES for o in orders)]
        told = [c for c in lists if c.is_result and (c.is_item or _are_texts(c.cells))]
        sure = _distinct(
            told or [c for c in lists if is_wanted and (c.is_item or c.key == _VALUES) and not c.is_graded], ranked=True
        )
        reached = [c for c in sure if c.reaches(self.known.item_ids) > 0]
        if len(sure if len(reached) != 1 else reached) != 1:
            raise self._unclear(sure, columns, "items")
        [chosen] = sure if len(reached) != 1 else reached
        for column in (c for c in orders if c.parent == chosen.parent):
            for cell in column.cells:
                numbers = [one for one in cell or () if isinstance(one, (int, float))]
                if numbers != sorted(numbers, reverse=_has(column.last, "falling")):
                    what = f"the lists in {_key(chosen.key)} are not in the order of {_key(column.key)}"
                    raise self.refusal(what, "items", chosen.key)
        return chosen

    def _named(self, columns: Sequence[_Column], key: str, role: str) -> _Column:
        """Return the column that the caller named, or the one of ids in the objects that he named."""
        inside = [c for c in columns if c.parent == key and c.is_item and c.is_filled]
        found = [c for c in columns if c.key == key and not (c.cells == [] or inside)] or inside
        if len(found) == 1 and found[0].is_filled and found[0].doubt != _IN_A_CELL:
            return found[0]
        only = found[0] if len(found) == 1 else None
        why = "is not the key of one list of ids" if only is None else only.why or only.doubt or "is empty"
        what, self.is_told = f"{shown(key)} {why}", role == "relevant"
        raise self.refusal(f"{what}; the keys are {_listed(c.key for c in found[1:] and found or columns)}", role)

    def _unclear(self, plausible: Sequence[_Column], columns: Sequence[_Column], role: str) -> InputError:
        """Return the error that names the keys that may be meant."""
        told = [c for c in columns if (c.is_result if role == "items" else c.is_relevant) or c.is_item]
        told = [c for c in told if (c.why or c.is_filled) and not c.is_never and (c.is_item or not c.is_scalar)]
        told = [c for c in told if role == "relevant" or not c.is_graded]
        near = list(dict.fromkeys([*plausible, *told]))
        readable = sorted((c for c in near if not c.why), key=lambda c: (bool(c.doubt), not c.is_item))
        self.weight += len(readable) * self.is_told
        meant = "ids of the relevant items" if role == "relevant" else "ranked ids of the results"
        if not near:
            self.is_told = self.is_told and role == "relevant" and any(c.lists and not c.is_scalar for c in columns)
            return self.refusal(f"no key holds the {meant}; the keys are {_listed(c.key for c in columns)}", role)
        may = in_a_row([f"{_key(c.key)} {c.why or c.doubt or 'may'}" for c in near[:5]])
        return self.refusal(
            f"it is not clear which key holds the {meant}: {may}",
            role,
            [*readable, near[0]][0].key if readable else "KEY",
        )

    def _take_labels(self, found: Recognised, queries: Sequence[str], column: _Column, says: Sequence[_Column]) -> None:
        """Add the labels that a column holds; ``says``: the columns that say of some queries that they have no answer."""
        n_again = 0
        for place, (query, ids) in enumerate(zip(queries, column.lists, strict=True)):
            said = any(_says_no_answer(c.words, c.cells[place]) for c in says)
            if said and ids and self.known.relevant is None:
                what = f"query {shown(query)} has relevant items, and no answer according to its record"
                raise self.refusal(what, "relevant", column.key)
            held: dict[str, float] = {}
            before = found.labels.get(query, held)
            for one, grade in zip(
                ids or (), column.grades[place] if column.grades else [1.0] * len(ids or ()), strict=True
            ):
                n_again += one in held
                if held.setdefault(one, grade) != grade or before.get(one, grade) != grade:
                    raise self.refusal(f"query {shown(query)} has item {shown(one)} with two grades", "relevant")
            if before and not column.is_scalar and before != held:
                raise self.refusal(f"query {shown(query)} comes twice, with other relevant items", "group")
            if held:
                found.labels.setdefault(query, {}).update(held)
            elif query not in found.without_answer + found.not_labelled:
                (found.without_answer if said else found.not_labelled).append(query)
        by = (
            ""
            if column.grades is None
            else ", with grades"
            if column.graded_by == column.key
            else f", grades from {_key(column.graded_by)}"
        )
        found.facts.append(f"relevant ids from {_key(column.key)}{by}")
        found.facts.extend([f"ids again in a list: {n_again}, counted once"] if n_again else [])

    def _take_results(self, found: Recognised, queries: Sequence[str], column: _Column) -> None:
        """Add the ranked items that a column holds."""
        for query, ids in zip(queries, column.lists, strict=True):
            if query in found.results:
                raise self.refusal(f"query {shown(query)} comes twice", "group")
            if ids is not None:
                found.results[query] = [None if one in ids[:place] else one for place, one in enumerate(ids)]
        n_again = sum(ranked.count(None) for ranked in found.results.values())
        found.facts.append(f"ranked ids from {_key(column.key)}")
        found.facts.extend([f"{column.lists.count(None)} without a list, left out"] if None in column.lists else [])
        found.facts.extend([f"items again in a list: {n_again}, the first place counts"] if n_again else [])


def _distinct(columns: Iterable[_Column], *, ranked: bool = False) -> list[_Column]:
    """Return columns, of those with the same ids one, with grades if one has them."""
    kept: list[_Column] = []
    for column in sorted(dict.fromkeys(columns), key=lambda c: c.grades is None):
        if not any(column.lists == other.lists if ranked else column.sets == other.sets for other in kept):
            kept.append(column)
    return kept


def _are_texts(cells: Iterable[Any]) -> bool:
    """Return whether each list holds different texts, not flags or numbers."""
    lists = [cell for cell in cells if isinstance(cell, list)]
    return all(len(set(map(str, cell))) == len(cell) and all(isinstance(one, str) for one in cell) for cell in lists)


def _says_no_answer(words: Sequence[str], cell: object) -> bool:
    """Return whether a key and its value say that a query has no answer."""
    key, text = "_".join(words), str(cell).strip().lower()
    if _has(words, "kind") and _NO_ANSWER.fullmatch(text):
        return True
    is_no, is_yes = text in ("false", "no", "0"), text in ("true", "yes", "1")
    return bool((is_no and _ANSWERED.fullmatch(key)) or (is_yes and _NO_ANSWER.search(key)))


def _key(key: str) -> str:
    return key.strip("()") if key in (_KEYS, _VALUES) else shown(key)


def _listed(keys: Iterable[str]) -> str:
    return in_a_row([_key(key) for key in list(keys)[:8]] or ["none"])
