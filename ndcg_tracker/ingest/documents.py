"""Chunks of documents: which document each item is a part of, and how the chunks' values become the document's."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import first_codes, places_in
from ndcg_tracker.rankings.keys import Keys, arrow_texts
from ndcg_tracker.rankings.sorting import descending_order
from ndcg_tracker.words.texts import shown

Collapse = Literal["max", "first", "sum"]

_COLUMN = re.compile(r"[\w.-]+")  # such a rule names a column; write it in parentheses to make it a pattern
_FILE = re.compile(r"(\.{1,2}|~)/.*|[^\\*+?()\[\]{}|^$#]+\.(csv|tsv|txt|jsonl?|ndjson|parquet)(\.gz)?")
_FIRST = 10


@dataclass(frozen=True, slots=True)
class Chunks:
    """How the chunks of some groups became documents.

    ``collapse``: how the score of a document follows from its chunks'. ``n_groups``: how many groups there are;
    ``n_documents``: how many documents are among their first ten chunks, over all groups; ``n_changed``: how many item
    ids changed.
    """

    collapse: Collapse
    n_groups: int
    n_documents: int
    n_changed: int

    def __add__(self, other: Chunks) -> Chunks:
        """Return the counts of both together."""
        return replace(
            self,
            n_groups=self.n_groups + other.n_groups,
            n_documents=self.n_documents + other.n_documents,
            n_changed=self.n_changed + other.n_changed,
        )


@dataclass(frozen=True, slots=True)
class Documents:
    """How items become documents.

    ``rule``: as it was given: a pattern that matches what to cut off from an item's id, or the name of a column of
    documents. ``collapse``: the score of a document is the highest of its chunks' scores, the first, or their sum; its
    label is always the highest. ``mapping``: from items to documents, instead of a rule. ``are_read``: whether the
    items are documents already, read from their column. ``texts``: None unless items are texts, with their
    digests as ids; then those that were read, by id.
    """

    rule: str
    collapse: Collapse = "max"
    mapping: Mapping[bytes, bytes] | None = None
    are_read: bool = False
    texts: dict[str, str] | None = None

    def for_column(self, name: str | None) -> Documents:
        """Return the rule for a table whose items are the column of this name."""
        return replace(self, are_read=True) if self.is_column and name == self.rule else self

    @property
    def is_column(self) -> bool:
        """Whether the rule is the name of a column."""
        return self.mapping is None and _COLUMN.fullmatch(self.rule) is not None

    @property
    def no_file(self) -> str:
        """More text for errors if the rule looks like the name of a file that does not exist."""
        return f", and there is no file {shown(self.rule)}" if _FILE.fullmatch(self.rule) else ""

    def of(self, items: Keys, refused: Callable[..., Exception], *, are_labels: bool = False) -> tuple[Keys, int]:
        """Return the document of every item, as numbers of distinct ids, and how many item ids changed.

        Raises: the error of ``refused`` for an item without a document. Labels may be of documents already.
        """
        codes, firsts = first_codes(items)
        names = items.take(firsts)
        given = names.to_bytes_list()
        if self.mapping is not None:
            found = [self._mapped(name, refused, are_labels=are_labels) for name in given]
        elif self.texts is not None:
            found = [b"text-" + hashlib.blake2b(name, digest_size=12).hexdigest().encode() for name in given]
            self.texts.update(zip(Keys.from_bytes(found).to_list(), names.to_list(), strict=True))
        elif self.are_read or self.is_column:
            found = given
        else:
            found = [self._cut(text.split("\0"), refused).encode() for text in marked(self.rule, names)]
        number_of: dict[bytes, int] = {}
        numbers = np.array([number_of.setdefault(name, len(number_of)) for name in found], dtype=np.int64)
        n_changed = sum(before != after for before, after in zip(given, found, strict=True))
        return Keys.from_numbers(numbers[codes], Keys.from_bytes(list(number_of))), n_changed

    def _mapped(self, item: bytes, refused: Callable[..., Exception], *, are_labels: bool) -> bytes:
        mapped = (self.mapping or {}).get(item, item if are_labels else None)
        if mapped is None:
            raise refused(f"item {shown(item)} has no document in {shown(self.rule)}", advice="add it there")
        return mapped

    def _cut(self, parts: list[str], refused: Callable[..., Exception]) -> str:
        """Return the document of an item; ``parts``: its id, in which every second part is a match of the rule."""
        item, document, cut = "".join(parts), "".join(parts[::2]), [part for part in parts[1::2] if part]
        if not cut or (document and len(cut) == 1 and item in (document + cut[0], cut[0] + document)):
            return document
        given = argument("item_to_document", self.rule)
        if len(cut) > 1:
            raise refused(
                f"{given} matches {len(cut)} times in item {shown(item)}: {shown(cut[0])} and {shown(cut[1])}",
                advice=f"to match only the last, end it with $: {argument('item_to_document', f'({self.rule})$')}",
            )
        if document:
            raise refused(
                f"{given} turns item {shown(item)} into document {shown(document)}",
                advice=f"match everything after the document's id, such as {shown(f'{self.rule}.*')}",
            )
        raise refused(
            f"{given} cuts off all of item {shown(item)}", advice="match only what comes after the document's id"
        )

    def collapsed(
        self, offsets: Index, documents: Keys, values: Floats, collapse: Collapse
    ) -> tuple[Index, Keys, Floats]:
        """Return the documents of every group, each once at the place of its first item, and their values.

        Parameters: ``offsets``: int64, shape (n_groups + 1,). ``documents``: as ``of`` returns them, n_items.
        ``values``: float64, shape (n_items,).

        >>> chunks, rule = Keys.from_strings(["a#1", "b#1", "a#2"]), Documents("#.*")
        >>> documents, _ = rule.of(chunks, ValueError)
        >>> offsets, documents, scores = rule.collapsed(np.array([0, 3]), documents, np.array([1.0, 2.0, 4.0]), "sum")
        >>> offsets.tolist(), documents.to_list(), scores.tolist()
        ([0, 2], ['a', 'b'], [5.0, 2.0])
        """
        pairs = _pairs(offsets, documents)
        order = np.argsort(pairs, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(pairs[order]) != 0)[: order.size])
        firsts = order[starts]
        if firsts.size == pairs.size:
            return offsets, documents, values
        if collapse == "first":
            of_documents = values[firsts]
        else:
            reduce = np.maximum if collapse == "max" else np.add
            of_documents = reduce.reduceat(values[order], starts)
        in_order = np.argsort(firsts)
        rows = firsts[in_order]
        return np.searchsorted(rows, offsets), documents.take(rows), of_documents[in_order]

    def chunks(self, offsets: Index, documents: Keys, scores: Floats, n_changed: int) -> Chunks:
        """Return how the chunks of a run became documents (see ``collapsed``)."""
        order = descending_order(scores, offsets)
        pairs = _pairs(offsets, documents)[order[places_in(np.diff(offsets)) <= _FIRST]]
        return Chunks(self.collapse, offsets.size - 1, np.unique(pairs).size, n_changed + self.are_read)


def texts_read(documents: Documents | None, otherwise: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return the texts of items that are texts, which come while these are read; of other items, the given ones."""
    return otherwise or {} if documents is None or documents.texts is None else documents.texts


def check_pattern(pattern: str, given: str, advice: str) -> None:
    """Raise an InputError for a pattern that RE2 does not take; ``given``: how the caller gave it."""
    try:
        marked(pattern, Keys.from_strings([""]))
    except ValueError as error:
        what = f"{given} is not a valid pattern: {str(error).partition(': ')[2]}"
        raise InputError(what, advice=advice) from None


def marked(pattern: str, names: Keys) -> list[str]:
    """Return ids with a NUL before and after every match of a pattern (ValueError for one that RE2 does not take).

    Arrow matches with RE2, in a time that grows with the length of the id alone; ``re`` may take years, and ignores
    signals meanwhile.

    >>> marked("#.*", Keys.from_strings(["a#1", "b"]))
    ['a\\x00#1\\x00', 'b']
    """
    import pyarrow.compute as pc

    texts = arrow_texts(names.data, names.offsets)
    return list(pc.replace_substring_regex(texts, pattern=pattern, replacement="\0\\0\0").to_pylist())


def _pairs(offsets: Index, documents: Keys) -> Index:
    """Return a number for every pair of group and document."""
    assert documents.numbers is not None
    groups = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return np.asarray(groups * (int(documents.numbers.max(initial=0)) + 1) + documents.numbers, dtype=np.int64)
