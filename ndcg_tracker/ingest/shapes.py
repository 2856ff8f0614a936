"""Recognise golden sets and results of retrievers by rules about the words of their keys and about their values.

A container becomes lists of flat records, and each key of a list a column. Which column is the query, the relevant
items or the results follows from its words and values. Where these leave a doubt, the file is refused by naming its
keys: a wrong reading is far worse than none. Only the standard library is imported, because ``check`` must start fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from statistics import median
from typing import Any, Literal

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.words.texts import counted, in_a_row, shown

Role = Literal["labels", "results"]


def _words(words: str) -> re.Pattern[str]:
    """Return the pattern of words that begin with one of these; one with a dot counts only whole or in the plural."""
    return re.compile("|".join(f"{word[:-1]}s?$" if word[-1] == "." else word for word in words.split()))


_QUERIES = ("query", "queries", "question", "q.", "prompt", "input", "topic.", "text.")  # the first names a text best
_QUERY = _words(" ".join(_QUERIES))
_RELEVANT = _words("relevant relevance expect gold truth reference target. positive correct qrel judg gt.")
_ID = _words("id. uid. uuid. qid. did. pid. docid docno")
_ITEM = _words(
    "id. uid. uuid. did. pid. doc chunk passage path. file. filename filepath source url. uri. article item product "
    "sku. asin."
)
_RESULTS = _words(
    "retriev result hit. context output match response search ranked ranking rerank return predict point."
)
_NEVER = _words(
    "answer contain text snippet negative mode count score distractor forbid exclu irrelevan not. non. no. wrong "
    "unexpected unrelated avoid hard haystack candidate pool min. max. num. number index indices idx position rank. "
    "distance similarity"
)
_FINER = _words("page line. span section paragraph offset start end. quote range sentence")
_TIER = _words(  # of a list that may be a second part of the labels
    "must should require optional primary secondary partial accept alternat additional support related perfect highly "
    "marginal nice best other extra also fallback main maybe"
)
_GRADE = _words("gain grade rating relevance relevant label. judg")
_MAYBE_GRADE = _words("score weight importance value confidence similarity level points")
_FILLER = _words("ground list. set. all. context the of for is in ref. retrieval human score.")  # beside a role's words
_CASE = _words("case test example record row entry sample")
_LOCATOR = _words("id. uid. docid path. file source url. uri.")  # what may have blanks and still be an id
_FEW = 4  # blanks in a text that is no id
_OFTEN = 0.3  # the share of queries whose labels must occur in results to admit a key by that alone
_NO_ANSWER = re.compile(r"(un|not[ _-]?)answerable|no[ _-]?answer|negative|out[ _-]of[ _-]scope|impossible")
_ANSWERED = re.compile(r"(is[ _-]?)?answerable|has[ _-]?answer")
_KIND = _words("type category kind class tag answerab")
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")
_KEY, _VALUES = "(its keys)", "(its values)"


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

    def __str__(self) -> str:
        return f"{self.name}: {'; '.join(self.facts)}"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides a file: the keys that the caller named, and the ids in the file that it belongs to."""

    group: str | None = None
    relevant: str | None = None
    items: str | None = None
    item_ids: Collection[str] = frozenset()
    queries: Collection[str] = frozenset()


def recognised(content: bytes | object, name: str, wanted: Role, known: Known = Known()) -> Recognised:
    """Return what a golden set or results hold, from the bytes of a file or from objects of Python.

    ``name``: of the file, for messages, and for its format. Raises: InputError, which names the keys that may be meant
    and the argument to choose one with.
    """
    value = parsed(content, name) if isinstance(content, bytes) else content
    found, refusals = [], []
    for path, records in _record_lists(value):
        try:
            found.append((path, _Table(name, path, records, known).read(wanted), _VALUES in records[0]))
        except _Refusal as refusal:
            refusals.append(refusal)
    found = [one for one in found if not one[2]] or found  # lists without a word of what they hold come last
    if len(found) == 1:
        return found[0][1]
    if found:
        paths = [path for path, *_ in found]
        what = f"there are queries under {_listed(paths)}"
        raise InputError(what, where=name, advice="give one list of queries, in a file of its own")
    if not refusals:
        raise InputError("there is no list of queries", where=name, advice="give one record for each query")
    raise max(refusals, key=lambda refusal: refusal.weight)


class _Refusal(InputError):
    """Why one list of records is not read; the heaviest of several is told."""

    weight = 0


def parsed(content: bytes, name: str) -> object:
    """Return the value that a file of JSON, JSON lines, CSV, TSV, YAML, TOML or Markdown holds."""
    ending = PurePath(name).suffix.lower()
    try:
        text = content.decode("utf-8-sig")
        if ending in (".yaml", ".yml"):
            import yaml

            return yaml.safe_load(text)
        if ending == ".toml":
            import tomllib

            return tomllib.loads(text)
        if ending in (".md", ".markdown") or re.match(r"\s*\|", text):
            return _markdown_rows(text)
        if text.lstrip().startswith(("{", "[")):
            return _json(text)
        return _delimited_rows(text, "\t" if ending == ".tsv" or "\t" in text.partition("\n")[0] else ",")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8", where=name, advice="save it as UTF-8") from None
    except InputError as error:
        raise error.at(name) from None
    except Exception as error:  # the parsers raise many kinds
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read ({reason})", where=name, advice="correct the file") from None


def _json(text: str) -> object:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(held := dict(pairs)) < len(pairs):
            twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
            raise InputError(f"an object has the key {shown(twice)} twice", advice="keep one")
        return held

    try:
        return json.loads(text, object_pairs_hook=once)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise
        return [json.loads(line, object_pairs_hook=once) for line in lines]


def _delimited_rows(text: str, delimiter: str) -> object:
    import csv

    rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True) if row]
    return _rows(rows[0] if rows else [], rows[1:])


def _markdown_rows(text: str) -> object:
    lines = [line.strip() for line in text.splitlines()]
    rows = [[_bare(cell) for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines if line[:1] == "|"]
    rules = [place for place, row in enumerate(rows) if all(re.fullmatch(":?-+:?", cell) for cell in row)]
    if len(rules) != 1:
        raise InputError(f"there are {len(rules)} tables", advice="give a file with one table")
    return _rows(rows[0], rows[2:])


def _rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(header) or len(set(header)) < len(header):
            raise InputError(f"row {number} has {len(row)} cells, and the header {len(header)}", advice="correct it")
    return [dict(zip(header, row, strict=True)) for row in rows]


def _bare(text: str) -> str:
    """Return a text without blanks, backticks and quotes around it."""
    text = text.strip()
    is_held = len(text) > 1 and text[0] == text[-1] and text[0] in "`\"'" and text.count(text[0]) == 2
    return text[1:-1] if is_held else text


def _record_lists(value: Any, path: str = "") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each reading of a container as a list of records, with its path."""
    if isinstance(value, list) and value and all(isinstance(record, dict) for record in value):
        yield path, value
    if not isinstance(value, dict) or not value:
        return
    yield path, [value]
    if all(isinstance(record, dict) for record in value.values()):
        yield path, _keyed(value)
    is_told = not path or _Column(path, [], Known()).has(_RELEVANT) or _Column(path, [], Known()).has(_RESULTS)
    if is_told and all(isinstance(held, (list, dict)) for held in value.values()):
        yield path, _keyed({key: {_VALUES: held} for key, held in value.items()})
    lists = {key: held for key, held in value.items() if isinstance(held, list)}
    if len(lists) > 1 and len({len(held) for held in lists.values()}) == 1:
        yield path, [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    tables = {name: held for name, held in value.items() if isinstance(held, dict) and held}
    keys = [key for held in tables.values() for key in held]
    joined = {key: {name: held.get(key) for name, held in tables.items()} for key in keys if keys.count(key) > 1}
    if joined:
        yield path, _keyed(joined)
    for name, held in value.items():
        yield from _record_lists(held, f"{path}.{name}" if path else name)


def _keyed(records: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with their keys, unless these are positions."""
    if list(records) == [str(number) for number in range(len(records))]:
        return list(records.values())
    return [{_KEY: key, **record} for key, record in records.items()]


def _maps(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the path and the keys of each object, in an object, that holds only numbers."""
    for name, held in value.items():
        key = f"{path}.{name}" if path else name
        if isinstance(held, dict) and held:
            if all(isinstance(number, (int, float)) for number in held.values()):
                yield key, tuple(held)
            yield from _maps(held, key)


def _flat(value: Mapping[str, Any], maps: Collection[str], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a record with their dotted keys; a list of objects becomes a list for each of their keys."""
    for name, held in value.items():
        key = f"{path}.{name}" if path else name
        if isinstance(held, dict) and held and key not in maps:
            yield from _flat(held, maps, key)
        elif isinstance(held, list) and held and all(isinstance(part, dict) for part in held):
            parts = [dict(_flat(part, maps, key)) for part in held]
            yield from (
                (inner, [part.get(inner) for part in parts]) for inner in dict.fromkeys(k for p in parts for k in p)
            )
        else:
            yield key, held


def _id(value: object) -> str:
    """Return a value as an id (ValueError if it is none)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)) or not str(value).strip():
        raise ValueError
    return _bare(str(value))


class _Column:
    """The values of one key in all records.

    ``words``: of the key. ``lists``: the ids of each record, None if it has no value. ``why``: why these cannot be read
    as ids, "" if they can. ``numbers``: the grades of the ids of an object {id: number}.
    """

    def __init__(self, key: str, cells: list[Any], known: Known) -> None:
        self.key, self.cells = key, [None if cell in ("", None) or cell != cell else cell for cell in cells]
        self.parts = [re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", part) for part in key.split(".")]
        self.words = [word.lower() for part in self.parts for word in part]
        self.is_scalar = not any(isinstance(cell, (list, dict)) for cell in self.cells)
        self.is_named = key in (known.relevant, known.items)
        self.why, self.doubt, self.numbers = "", "", [cell if isinstance(cell, dict) else {} for cell in self.cells]
        try:
            self.lists = [None if cell is None else self._ids(cell) for cell in self._split(known.item_ids)]
        except ValueError as error:
            self.lists, self.why = [], str(error) or "holds no ids"
            return
        blanks = [one.count(" ") for ids in self.lists for one in ids or ()]
        if blanks and median(blanks) >= (_FEW if self.has(_LOCATOR) else 1) and not self.is_named:
            self.why = "holds texts"
        distinct = {tuple(ids) for ids in self.lists if ids}
        n = sum(map(bool, self.lists))
        if n > 2 and (len(distinct) == 1 or (self.is_scalar and "source" in self.words and len(distinct) <= n / 2)):
            self.doubt = "hardly differs between queries"

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a word of the key is one of these."""
        return any(map(pattern.match, self.words))

    def only(self, *patterns: re.Pattern[str]) -> bool:
        """Return whether the parts of the key with any of the first words consist of these and of fillers alone."""
        parts = [[word.lower() for word in part] for part in self.parts]
        told = [part for part in parts if any(p.match(word) for word in part for p in patterns)]
        return all(any(p.match(word) for p in (*patterns, _FILLER)) for part in told for word in part)

    @property
    def is_filled(self) -> bool:
        """Whether there are ids."""
        return not self.why and any(self.lists)

    def sibling(self, other: _Column) -> bool:
        """Return whether another column stands beside this one, in the same objects or records."""
        return self is not other and self.key.rpartition(".")[0] == other.key.rpartition(".")[0]

    def reached(self, ids: Collection[str]) -> float:
        """Return the share of the records with ids of which one is among some."""
        held = [found for found in self.lists if found]
        return sum(any(one in ids for one in found) for found in held) / max(len(held), 1)

    def _split(self, ids: Collection[str]) -> list[Any]:
        """Return the cells, with a list for each text that holds several ids."""
        texts = [cell for cell in self.cells if isinstance(cell, str)]
        if any(re.match(r"\s*\[", text) for text in texts):
            return [_listed_in(cell) if isinstance(cell, str) else cell for cell in self.cells]
        separators = [mark for mark in "|;,\n" if any(mark in text for text in texts)]
        if not separators or not self.is_scalar:
            return self.cells
        split = {text: [_bare(piece) for piece in text.split(separators[0]) if piece.strip()] for text in texts}
        if any(" " in piece for pieces in split.values() for piece in pieces):
            return self.cells
        is_one = self.words[-1:] and not self.words[-1].endswith("s")
        if (is_one or len(separators) > 1) and not self.is_named:
            whole, parts = any(text in ids for text in split), any(p in ids for ps in split.values() for p in ps)
            if whole == parts:
                self.doubt = "may hold one id or several in a cell"
            if whole:
                return self.cells
        return [split.get(cell, cell) if isinstance(cell, str) else cell for cell in self.cells]

    def _ids(self, cell: Any) -> list[str]:
        if isinstance(cell, list) and any(isinstance(part, list) for part in cell):
            if not all(isinstance(part, list) for part in cell) or not (
                self.is_named or len(cell) == 1 or all(len(part) < 2 for part in cell)
            ):
                raise ValueError("holds lists of lists")
            cell = [one for part in cell for one in part]
        if isinstance(cell, list) and None in cell:
            raise ValueError("is missing in some entries of its lists")
        return [_id(one) for one in cell] if isinstance(cell, (list, dict)) else [_id(cell)]


def _listed_in(text: str) -> object:
    """Return the list that a cell holds as JSON or as Python writes it."""
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError("holds lists that cannot be read") from None


class _Table:
    """Records of queries, by column."""

    def __init__(self, name: str, path: str, records: Sequence[Mapping[str, Any]], known: Known) -> None:
        self.name, self.path, self.known = name, path, known
        found = [dict(_maps(record)) for record in records]
        maps = {key for keys in found for key in keys}
        told = {key: [keys[key] for keys in found if key in keys] for key in maps}
        maps = {key for key in maps if len(told[key]) == 1 or len(set(told[key])) > 1 or key == known.relevant}
        flat = [dict(_flat(record, maps)) for record in records]
        keys = dict.fromkeys(key for record in flat for key in record)
        self.columns = {key: _Column(key, [record.get(key) for record in flat], known) for key in keys}
        self.n, self.weight = len(records), 0
        self.facts: list[str] = []

    def refused(self, what: str, advice: str) -> _Refusal:
        """Return the error about these records."""
        refusal = _Refusal(what, where=self.name, advice=advice)
        refusal.weight = self.weight
        return refusal

    def read(self, wanted: Role) -> Recognised:
        """Return what the records hold: of the wanted role at least, of the other if it is there too."""
        queries, query, text = self._queries()
        self.weight += 2
        found = Recognised(self.name)
        others = [column for column in self.columns.values() if column not in (query, text)]
        chosen = {}
        for role, choose in (("labels", self._relevant), ("results", self._results)):
            try:
                chosen[role] = choose([c for c in others if c not in chosen.values()], is_wanted=role == wanted)
            except _Refusal:
                if role == wanted:
                    raise
        of_text = "" if text is None else f", their text from {shown(text.key)}"
        of_text = " (its text is the id)" if text is query else of_text
        n_queries = len(set(queries))
        found.facts.append(f"read {n_queries} {'query' if n_queries == 1 else 'queries'} from {_key(query)}{of_text}")
        if text is not None:
            for key, cell in zip(queries, text.cells, strict=True):
                if found.texts.setdefault(key, str(cell)) != str(cell):
                    found.texts.clear()  # a text of something else
                    break
        used = [query, text, *chosen.values()]
        if "labels" in chosen:
            used += self._take_labels(found, queries, chosen["labels"])
        if "results" in chosen:
            self._take_results(found, queries, chosen["results"])
        self._take_attributes(found, queries, [column for column in others if column not in used])
        for n, words in (
            (len(found.without_answer), "without an answer"),
            (len(found.not_labelled), "not labelled, left out"),
        ):
            found.facts.extend([f"{n} {words}"] if n else [])
        return found

    def _queries(self) -> tuple[list[str], _Column, _Column | None]:
        """Return the query of each record, its column, and the column of its text."""
        scalars = [column for column in self.columns.values() if column.is_scalar and None not in column.cells]
        texts = [c for c in scalars if c.has(_QUERY) and not c.has(_ID) and c.only(_QUERY, _words("user search"))]
        texts = [c for c in texts if all(isinstance(cell, (str, int)) for cell in c.cells)]
        texts.sort(key=lambda c: (min(n for n, word in enumerate(_QUERIES) if c.has(_words(word))), len(c.words)))
        named = self.columns.get(self.known.group or "")
        ids = [
            c
            for c in scalars
            if c.has(_ID) and not c.why and c.only(_QUERY, _ID) and (c.has(_QUERY) or "qid" in c.words)
        ]
        ids += [c for c in scalars if c.key == _KEY]
        bare = [c for c in scalars if not c.why and c.words in (["id"], ["uid"], ["uuid"])]
        bare = bare or [c for c in scalars if not c.why and len(c.words) == 2 and c.words[1] == "id" and c.has(_CASE)]
        choices = [*ids, *bare, *texts]
        if self.known.group is not None:
            choices = [named] if named is not None and None not in named.cells else []
        if self.known.queries and choices:
            reached = [sum(str(cell) in self.known.queries for cell in c.cells) for c in choices]
            choices.insert(0, choices[reached.index(max(reached))])
        if not choices:
            raise self.refused(
                f"no key holds the query of every record; the keys are {_listed(self.columns)}",
                f"name it with {argument('group', 'KEY')}",
            )
        query, text = choices[0], next(iter(texts), None)
        queries = [_bare(str(cell)) for cell in query.cells]
        if text and query in bare and self.known.group is None and len(set(map(str, text.cells))) < len(set(queries)):
            raise self.refused(
                f"{shown(text.key)} comes again under another {shown(query.key)}, so either may be the query",
                f"name it with {argument('group', query.key)} or {argument('group', text.key)}",
            )
        return queries, query, text

    def _relevant(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of relevant items."""
        named = self.known.relevant
        if named is not None:
            return self._named(columns, named, "relevant")
        ids = self.known.item_ids
        lists = [c for c in columns if c.is_filled and (any(c.numbers) or not c.has(_NEVER))]
        lists = [c for c in lists if c.has(_RELEVANT) or not c.has(_RESULTS) or c.is_scalar]
        sure = [c for c in lists if c.has(_RELEVANT) and c.has(_ITEM) and c.only(_RELEVANT, _ITEM, _RESULTS)]
        sure += [
            c for c in lists if c.has(_RELEVANT) and any(c.numbers) and c not in sure and c.only(_RELEVANT, _GRADE)
        ]
        sure += [c for c in lists if c.has(_ITEM) and c not in sure and self._is_row_of_label(c)]
        sure += [c for c in lists if is_wanted and c.key == _VALUES]
        sure = self._distinct([c for c in sure if not c.doubt])
        tiers = [c for c in lists if c.has(_TIER) and (c.has(_RELEVANT) or c.has(_ITEM))]
        plausible = self._distinct([*sure, *tiers])
        reached = self._distinct([c for c in columns if c.is_filled and not c.has(_RESULTS) or c in lists])
        reached = [c for c in reached if c.is_filled and c.reached(ids) >= _OFTEN]
        if len(reached) == 1 and len(plausible) == len(sure) != 1 and reached[0] in lists:
            if reached[0].has(_RELEVANT) or reached[0].has(_ITEM):
                sure = plausible = reached
        elif sure and reached and not any(c in reached for c in sure):
            plausible = self._distinct([*sure, *reached])
        if len(sure) != 1 or len(plausible) != 1:
            raise self._unclear(plausible, columns, "relevant")
        [chosen] = sure
        finer = [c for c in columns if c is not chosen and c.has(_FINER) and not c.has(_ID) and any(c.cells)]
        finer = [c for c in finer if c.has(_RELEVANT) or ("." in c.key and c.sibling(chosen))]
        if finer:
            raise self.refused(
                f"{shown(finer[0].key)} makes the labels of {shown(chosen.key)} finer than an item",
                f"to label whole items, give {argument('relevant', chosen.key)}",
            )
        doubtful = [c for c in columns if c.has(_MAYBE_GRADE) and "." in c.key and c.sibling(chosen)]
        if doubtful and chosen.parts[:-1] and not self._grades(chosen):
            raise self.refused(
                f"{shown(doubtful[0].key)} may be a grade or not",
                f"to read each item as relevant, give {argument('relevant', chosen.key)}",
            )
        return chosen

    def _results(self, columns: Sequence[_Column], *, is_wanted: bool) -> _Column:
        """Return the column of ranked items."""
        if self.known.items is not None:
            return self._named(columns, self.known.items, "items")
        lists = [c for c in columns if c.is_filled and not c.has(_NEVER) and not c.has(_RELEVANT) and not c.doubt]
        lists = [c for c in lists if any(len(found or ()) > 1 for found in c.lists) or not c.is_scalar]
        sure = [c for c in lists if c.has(_RESULTS) and (c.has(_ITEM) or self._is_of_texts(c))]
        sure = sure or [c for c in lists if is_wanted and (c.has(_ITEM) or c.key == _VALUES)]
        sure = self._distinct(sure)
        reached = [c for c in sure if c.reached(self.known.item_ids) > 0]
        if len(reached) == 1:
            sure = reached
        if len(sure) != 1:
            raise self._unclear(sure, columns, "items")
        beside = [c for c in self.columns.values() if "." in c.key and c.sibling(sure[0])]
        for column in beside:
            if column.words[-1] in ("score", "distance", "rank", "similarity") and not _is_in_order(column):
                raise self.refused(
                    f"the lists of {shown(sure[0].key)} are not in the order of {shown(column.key)}",
                    f"if their order is the ranking, give {argument('items', sure[0].key)}",
                )
        return sure[0]

    def _named(self, columns: Sequence[_Column], key: str, role: str) -> _Column:
        """Return the column that the caller named, or that is the only one of ids in the objects that he named."""
        inside = [c for c in columns if c.key.startswith(f"{key}.") and c.is_filled and _ITEM.match(c.words[-1])]
        found = [c for c in columns if c.key == key] or inside
        if len(found) != 1:
            what = f"no key {shown(key)}" if not found else f"{shown(key)} has several ids in its objects"
            choices = [c.key for c in found] or self.columns
            raise self.refused(f"{what}; choose one of {_listed(choices)}", f"name it with {argument(role, 'KEY')}")
        if not found[0].is_filled:
            raise self.refused(f"{shown(found[0].key)} {found[0].why or 'is empty'}", "name another key")
        return found[0]

    def _unclear(self, plausible: Sequence[_Column], columns: Sequence[_Column], role: str) -> _Refusal:
        """Return the error that names the keys that may be meant."""
        other = _RESULTS if role == "items" else _RELEVANT
        near = plausible or [c for c in columns if c.has(other) or c.has(_ITEM)]
        near = [c for c in near if (c.why or c.is_filled) and not c.has(_NEVER) and (c.has(_ITEM) or not c.is_scalar)]
        readable = [c for c in near if not c.why]
        self.weight += len(readable)
        meant = "ids of the relevant items" if role == "relevant" else "ranked ids of the results"
        if not near:
            return self.refused(
                f"no key holds {meant}; the keys are {_listed(self.columns)}", f"name it with {argument(role, 'KEY')}"
            )
        told = [f"{shown(c.key)} {c.why or c.doubt or 'may hold'}" for c in near[:5]]
        key = min(readable, key=lambda c: bool(c.doubt)).key if readable else "KEY"
        return self.refused(
            f"which key holds the {meant} is not clear: {', '.join(told)}", f"name it with {argument(role, key)}"
        )

    def _distinct(self, columns: Sequence[_Column]) -> list[_Column]:
        """Return columns, of those with the same ids one, with grades if one has them."""
        kept: list[_Column] = []
        for column in sorted(dict.fromkeys(columns), key=lambda c: not self._grades(c)):
            if all(_sets(column) != _sets(other) for other in kept):
                kept.append(column)
        return kept

    def _is_row_of_label(self, column: _Column) -> bool:
        """Return whether each record, or each object of a list, has an id and its grade."""
        grades = self._grades(column)
        if column.is_scalar:
            return grades is not None
        return grades is not None and "." in column.key

    def _grades(self, column: _Column) -> _Column | None:
        """Return the column that holds the grades of another's ids."""
        if any(column.numbers):
            return column
        found = [
            c for c in self.columns.values() if c.sibling(column) and _is_grade(c) and c.is_scalar == column.is_scalar
        ]
        found = [c for c in found if all(_n(a) == _n(b) for a, b in zip(c.cells, column.lists, strict=True))]
        return found[0] if len(found) == 1 else None

    @staticmethod
    def _is_of_texts(column: _Column) -> bool:
        """Return whether each list holds different texts, and not flags or numbers."""
        cells = [cell for cell in column.cells if cell]
        return all(
            isinstance(c, list) and len(set(map(str, c))) == len(c) and all(isinstance(one, str) for one in c)
            for c in cells
        )

    def _take_labels(self, found: Recognised, queries: Sequence[str], column: _Column) -> list[_Column]:
        """Add the labels that a column holds; return the other columns that were read."""
        graded = self._grades(column)
        says = [
            c for c in self.columns.values() if c.is_scalar and c is not column and _says_no_answer(c.words, c.cells)
        ]
        n_again = 0
        for place, (query, ids) in enumerate(zip(queries, column.lists, strict=True)):
            grades = list(column.numbers[place].values()) or (_listed_numbers(graded.cells[place]) if graded else [])
            held: dict[str, float] = {}
            for one, grade in zip(ids or (), grades or [1] * len(ids or ()), strict=True):
                n_again += one in held
                if held.setdefault(one, float(grade)) != grade:
                    raise self.refused(f"query {shown(query)} has {shown(one)} with two grades", "keep one")
            said = any(_says_no_answer(c.words, [c.cells[place]]) for c in says)
            if said and held and self.known.relevant is None:
                raise self.refused(
                    f"query {shown(query)} has no answer according to its record, and has relevant items",
                    f"to read these, give {argument('relevant', column.key)}",
                )
            before = found.labels.get(query)
            if before is not None and before != held and not column.is_scalar:
                raise self.refused(f"query {shown(query)} is there twice, with other relevant items", "keep one")
            if any(before.get(one, grade) != grade for one, grade in held.items()) if before else False:
                raise self.refused(f"query {shown(query)} has an item with two grades", "keep one")
            if held:
                found.labels.setdefault(query, {}).update(held)
            elif before is None:
                (found.without_answer if said else found.not_labelled).append(query)
        found.facts.append(f"relevant ids from {_key(column)}" + (f", grades from {_key(graded)}" if graded else ""))
        found.facts.extend([f"{counted(n_again, 'id')} again in a list, counted once"] if n_again else [])
        return says + ([graded] if graded else [])

    def _take_results(self, found: Recognised, queries: Sequence[str], column: _Column) -> None:
        """Add the ranked items that a column holds."""
        n_again = n_absent = 0
        for query, ids in zip(queries, column.lists, strict=True):
            if ids is None:
                n_absent += 1
                continue
            if query in found.results:
                raise self.refused(f"query {shown(query)} is there twice", "keep one")
            ranked = [None if one in ids[:place] else one for place, one in enumerate(ids)]
            n_again += ranked.count(None)
            found.results[query] = ranked
        found.facts.append(f"ranked ids from {_key(column)}")
        found.facts.extend([f"{n_absent} without a list, left out"] if n_absent else [])
        found.facts.extend([f"{counted(n_again, 'item')} again in a list: the first place counts"] if n_again else [])

    @staticmethod
    def _take_attributes(found: Recognised, queries: Sequence[str], columns: Sequence[_Column]) -> None:
        """Add the short values by which the queries can be told apart into parts."""
        names = []
        for column in columns:
            values = {str(cell) for cell in column.cells if cell is not None}
            if (
                column.is_scalar
                and 1 < len(values) < len(set(queries))
                and not column.has(_NEVER)
                and not column.has(_RELEVANT)
            ):
                names.append(column.key)
                for query, cell in zip(queries, column.cells, strict=True):
                    if cell is not None:
                        found.attributes.setdefault(query, {})[column.key] = str(cell)
        if names:
            found.facts.append(f"{'attribute' if len(names) == 1 else 'attributes'} {', '.join(names)}")


def _sets(column: _Column) -> list[frozenset[str]]:
    """Return the ids of each record, of graded ones those above 0."""
    return [
        frozenset(one for one in ids or () if numbers.get(one, 1) > 0)
        for ids, numbers in zip(column.lists, column.numbers, strict=True)
    ]


def _listed_numbers(cell: Any) -> list[float]:
    return [float(number) for number in (cell if isinstance(cell, list) else [] if cell is None else [cell])]


def _n(cell: Any) -> int:
    return len(cell) if isinstance(cell, list) else cell is not None


def _is_grade(column: _Column) -> bool:
    """Return whether a column holds a number for each item."""
    words = [word.lower() for word in column.parts[-1]] if column.parts else []
    if not any(map(_GRADE.match, words)) or not all(_GRADE.match(word) or _FILLER.match(word) for word in words):
        return False
    try:
        return any([_listed_numbers(cell) for cell in column.cells])
    except (TypeError, ValueError):
        return False


def _is_in_order(column: _Column) -> bool:
    """Return whether the scores, distances or ranks of each list go one way."""
    rising = column.words[-1] in ("distance", "rank")
    for cell in column.cells:
        numbers = (
            [number for number in cell or () if isinstance(number, (int, float))] if isinstance(cell, list) else []
        )
        if numbers != sorted(numbers, reverse=not rising):
            return False
    return True


def _says_no_answer(words: Sequence[str], cells: Iterable[Any]) -> bool:
    """Return whether a key and one of its values say that a query has no answer."""
    key = "_".join(words)
    for cell in cells:
        text = str(cell).strip().lower()
        if _ANSWERED.fullmatch(key) and text in _NO or _NO_ANSWER.search(key) and text in _YES:
            return True
        if any(map(_KIND.match, words)) and _NO_ANSWER.fullmatch(text):
            return True
    return False


def _key(column: _Column) -> str:
    return column.key.strip("()") if column.key in (_KEY, _VALUES) else shown(column.key)


def _listed(keys: Iterable[str]) -> str:
    return in_a_row([shown(key) for key in list(keys)[:8]])
