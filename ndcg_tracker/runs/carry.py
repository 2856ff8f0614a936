"""Carry labels to new ids of their items: by a mapping, by a pattern, or by the items' texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.documents import check_pattern
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import SameItems
from ndcg_tracker.runs.judges import numbered_labels
from ndcg_tracker.runs.labels import add_labels
from ndcg_tracker.runs.rescore import RescoredRun, rescore_runs
from ndcg_tracker.storage.records import LabelOrigin

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.runs.question import CarryTold
    from ndcg_tracker.storage.records import DatasetRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

Pairs = Sequence[tuple[str, str]]
"""Two ids each that are one item."""
_WORDS = 8
"""Passages that share so many words in a row may contain each other."""


@dataclass(frozen=True, slots=True)
class UnclearItem:
    """An item that may be several others, so that nobody can tell which of them has its label."""

    item: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CarriedLabels:
    """The version of the labels in which old and new ids are one; ``is_new``: whether it was stored just now.

    ``n_carried``: how many labelled items have another id now. ``unclear``: items that were split or joined, whose
    labels stay where they are; ``n_unclear``: how many labelled items that concerns. ``n_alone``: how many labelled
    items have no other id. ``n_without_label``: how many rows of the mapping have no label. ``rescored``: the stored
    runs, if they were evaluated.
    """

    dataset: str
    version: int
    is_new: bool
    n_carried: int
    unclear: tuple[UnclearItem, ...]
    n_unclear: int
    n_alone: int
    n_without_label: int
    rescored: tuple[RescoredRun, ...]


_Found = tuple[SameItems, set[str], set[str], Sequence[UnclearItem], int]
"""Which ids are one, all labelled items, those carried, what is unclear, and how many rows have no label."""


def carry_labels(
    tx: WriteTransaction, told: CarryTold, mapping: Pairs | None = None, source: str | None = None
) -> CarriedLabels:
    """Store a version of a judge's latest labels in which the old and the new ids of an item are one.

    A mapping of old and new ids, the pattern or the texts say which ids are. Raises: InputError for none or several of
    these, and if there is nothing to carry.
    """
    pattern, by_text = told.pattern, told.by_text
    if [mapping is not None, pattern is not None, by_text].count(True) != 1:
        given = f"a file of old and new ids, {argument('pattern', '^v2-')} or {argument('by_text', True)}"
        raise InputError("labels are carried by one of: a mapping, a pattern, texts", advice=f"give {given}")
    dataset = tx.datasets.known(told.dataset)
    label_set = numbered_labels(tx, dataset.id, dataset.name, judge=told.judge)
    labels = tx.labels.lists(label_set.id)
    if pattern is not None:
        same, items, carried, several, n_without_label = _cut(tx, dataset, labels, pattern)
    else:
        found = _joined(labels, *(_by_text(tx, dataset.id, labels) if mapping is None else (mapping, [])))
        same, items, carried, several, n_without_label = found
        if not carried and not several:
            how = "no id of the mapping has a label" if mapping else "no labelled item has the text of another id"
            raise InputError(f"{how} in dataset {dataset.name!r}", advice="see some with: ndcg-track labels list")
    version, is_new = label_set.version, False
    if carried or pattern is not None:  # a pattern counts for ids to come
        origin = LabelOrigin(source, label_set.judge, extends=label_set.version)
        added = add_labels(tx, dataset, same.in_labels(labels), origin)
        version, is_new = added.label_set.version, added.is_new
    rest = items - carried
    unclear = rest & {of for item in several for of in (item.item, *item.others)}
    counts = len(carried), tuple(several), len(unclear), len(rest - unclear), n_without_label
    runs = tx.runs.all(dataset.name) if told.rescore else []
    rescored = rescore_runs(tx, runs, (), version, skip_pruned=True)
    return CarriedLabels(dataset.name, version, is_new, *counts, tuple(rescored))


def _cut(tx: ReadTransaction, dataset: DatasetRecord, labels: LabelLists, pattern: str) -> _Found:
    """Return which ids are one if what a pattern matches is removed."""
    advice = "write a regular expression for what to remove from an id, such as ^v2-"
    check_pattern(pattern, argument("pattern", pattern), advice)
    before, cut = labels.same_items or SameItems(), SameItems((pattern,))
    ids, names = (cut.named(Keys.from_strings(side)).to_list() for side in _sides(before.labelled_as.items()))
    pairs = {item: name for item, name in zip(ids, names, strict=True) if item != name}
    same = SameItems(tuple(dict.fromkeys([pattern, *before.patterns])), pairs, before.spans)
    items, known = {*same.named(labels.item_keys).to_list()}, labels.item_keys
    for run in [run for run in tx.runs.all(dataset.name) if "items" in tx.runs.holds(run.id)][-1:]:
        known = Keys.joined([known, tx.runs.ranking(run.id).item_keys])
    named = zip(known.to_list(), same.named(known).to_list(), strict=True)
    return same, items, {name for item, name in named if item != name and name in items}, (), 0


def _sides(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def _joined(labels: LabelLists, pairs: Pairs, unclear: Sequence[UnclearItem]) -> _Found:
    """Return which ids are one if those of each pair are; an id with several others, or old and new, is unclear."""
    before, items = labels.same_items or SameItems(), {*labels.item_keys.to_list()}
    named = [before.named(Keys.from_strings(side)).to_list() for side in _sides(pairs)]
    others: dict[str, dict[str, None]] = defaultdict(dict)
    n_without_label, carried = 0, set[str]()
    for first, second in zip(*named, strict=True):
        if first not in items and second not in items:
            n_without_label += 1
        elif first == second:
            carried.add(first)  # as they are already
        else:
            others[first][second] = None
    one: dict[str, str] = {}  # each id leads to another one of its item, or to itself

    def found(item: str) -> str:
        while one.setdefault(item, item) != item:
            item = one[item]
        return item

    reused = others.keys() & {other for of in others.values() for other in of}  # by another item: old ids that are new
    several = []
    for item, of in others.items():
        if len(of) > 1 or not reused.isdisjoint((item, *of)):
            several.append(UnclearItem(item, tuple(of)))
            continue
        first, second = sorted((found(item), *map(found, of)), key=lambda one: (one not in items, one))
        one[second] = first
    carried |= items & one.keys()
    named_as = {item: found(name) for item, name in {**before.labelled_as, **one}.items() if found(name) != item}
    return SameItems(before.patterns, named_as, before.spans), items, carried, [*several, *unclear], n_without_label


def _by_text(tx: ReadTransaction, dataset_id: int, labels: LabelLists) -> tuple[Pairs, list[UnclearItem]]:
    """Return pairs of an item and a labelled one whose texts are equal, or one contains the other; and what is unclear.

    A labelled item is unclear if several items contain it or are parts of it, if an item only shares words with it, and
    if an item contains several labelled ones.
    """
    labelled = {*labels.item_keys.to_list()}
    records = [record for record in tx.texts.all(dataset_id) if not record.group_id and record.text]
    texts = {record.item_key: " ".join((record.text or "").split()) for record in records}
    with_text: dict[str, list[str]] = defaultdict(list)
    for item in sorted(labelled & texts.keys()):
        with_text[texts[item]].append(item)
    pairs = [(item, of) for item, text in texts.items() if item not in labelled for of in with_text.get(text, ())]
    met = {item for pair in pairs for item in pair}
    old = {item: texts[item] for items in with_text.values() for item in items if item not in met}
    new = {item: text for item, text in texts.items() if item not in labelled and item not in met}
    near = _sharing_words(old, new)
    held = Counter(i for of, items in near.items() for i in items if old[of] in new[i] or new[i] in old[of])
    unclear = []
    for of, items in near.items():
        item, *others = [item for item in items if old[of] in new[item]] or items
        if not others and held[item] == 1 and (old[of] in new[item] or new[item] in old[of]):
            pairs.append((item, of))
        else:
            unclear.append(UnclearItem(of, tuple(items)))
    return pairs, unclear


def _sharing_words(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, list[str]]:
    """Return for old items the new ones that have some words in a row in common with them.

    Of an old text every eighth run of words is looked up, so passages with fifteen words in common are always found.
    """
    places: dict[int, list[str]] = defaultdict(list)
    for item, text in old.items():
        for words in [*_runs(text)][::_WORDS]:
            places[words].append(item)
    near: dict[str, list[str]] = defaultdict(list)
    for item, text in new.items():
        for of in {of: None for words in _runs(text) for of in places.get(words, ())}:
            near[of].append(item)
    return near


def _runs(text: str) -> Iterator[int]:
    """Return the hash of each run of words."""
    words = text.split()
    return (hash(tuple(words[first : first + _WORDS])) for first in range(len(words) - _WORDS + 1))
