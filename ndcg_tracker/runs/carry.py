"""Carry labels to new ids of their items: by a mapping, by a pattern, or by the items' texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings.keys import Keys, without_matches
from ndcg_tracker.rankings.same_items import SameItems
from ndcg_tracker.runs.labels import add_labels, numbered_labels
from ndcg_tracker.runs.rescore import RescoredRun, rescore_runs
from ndcg_tracker.storage.records import LabelOrigin

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import DatasetRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

ADVICE = "see what has labels with: ndcg-track labels list"
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

    ``n_items``: how many items have labels; ``n_carried``: how many of these have another id now. ``unclear``: items
    that were split or joined, whose labels stay where they are; ``n_unclear``: how many labelled items that concerns.
    ``n_alone``: how many labelled items have no other id. ``n_without_label``: how many rows of the mapping have no
    label. ``rescored``: the stored runs, if they were evaluated.
    """

    dataset: str
    version: int
    is_new: bool
    judge: str
    n_items: int
    n_carried: int
    unclear: tuple[UnclearItem, ...] = ()
    n_unclear: int = 0
    n_alone: int = 0
    n_without_label: int = 0
    rescored: tuple[RescoredRun, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """Which ids are one, and what is told about it (see ``CarriedLabels``)."""

    same: SameItems
    items: set[str]
    carried: set[str]
    unclear: Sequence[UnclearItem] = ()
    n_without_label: int = 0


def carry_labels(
    tx: WriteTransaction,
    dataset_name: str,
    mapping: Pairs | None = None,
    *,
    pattern: str | None = None,
    by_text: bool = False,
    judge: str | None = None,
    rescore: bool = False,
    source: str | None = None,
) -> CarriedLabels:
    """Store a version of a judge's latest labels in which the old and the new ids of an item are one.

    One of these says which ids are: ``mapping``: old and new ids. ``pattern``: what it matches is removed from every
    id. ``by_text``: texts that are equal, or of which one contains the other. ``rescore``: also evaluate all runs of
    the dataset under it. Raises: InputError for none or several of these, and if there is nothing to carry.
    """
    if [mapping is not None, pattern is not None, by_text].count(True) != 1:
        raise InputError(
            "labels are carried by one of: a mapping, a pattern, texts",
            advice=f"give a file of old and new ids, {argument('pattern', '^v2-')} or {argument('by_text', True)}",
        )
    dataset = tx.datasets.known(dataset_name)
    label_set = numbered_labels(tx, dataset.id, dataset.name, judge=judge)
    if label_set.by_row_number:
        what = f"the labels of dataset {dataset.name!r} identify items by row numbers"
        raise InputError(what, advice="add labels with item ids")
    labels = tx.labels.lists(label_set.id)
    if pattern is not None:
        found = _cut(tx, dataset, labels, pattern)
    else:
        pairs, unclear = _by_text(tx, dataset, labels) if mapping is None else (mapping, [])
        found = _joined(labels, pairs, unclear)
    if not found.carried and not found.unclear and pattern is None:
        raise InputError(_nothing(dataset.name, mapping), advice=ADVICE)
    in_doubt = {of for item in found.unclear for of in (item.item, *item.others)} & (found.items - found.carried)
    version, is_new = label_set.version, False
    if found.carried or pattern is not None:  # it counts for ids to come
        origin = LabelOrigin(source, label_set.judge, extends=label_set.version)
        added = add_labels(tx, dataset, found.same.in_labels(labels), origin)
        version, is_new = added.label_set.version, added.is_new
    return CarriedLabels(
        dataset.name,
        version,
        is_new,
        label_set.judge,
        len(found.items),
        len(found.carried),
        tuple(found.unclear),
        len(in_doubt),
        len(found.items - found.carried - in_doubt),
        found.n_without_label,
        tuple(rescore_runs(tx, tx.runs.all(dataset.name), (), version, skip_pruned=True)) if rescore else (),
    )


def _nothing(dataset: str, mapping: Pairs | None) -> str:
    """Return what is wrong if there is nothing to carry."""
    if mapping is None:
        return f"no labelled item of dataset {dataset!r} has the text of an item with another id"
    first = f", not even {mapping[0][0]!r} or {mapping[0][1]!r}" if mapping else ""
    return f"no id of the mapping has a label in dataset {dataset!r}{first}"


def _cut(tx: ReadTransaction, dataset: DatasetRecord, labels: LabelLists, pattern: str) -> _Found:
    """Return which ids are one if what a pattern matches is removed."""
    try:
        without_matches(Keys.from_strings([""]), pattern)
    except ValueError as error:
        what = f"{argument('pattern', pattern)} is not a valid pattern: {str(error).partition(': ')[2]}"
        raise InputError(
            what, advice="write a regular expression for what to remove from an id, such as ^v2-"
        ) from None
    before = labels.same_items or SameItems()
    alone = SameItems((pattern,))
    others = (
        alone.named(Keys.from_strings(side)).to_list() for side in (before.labelled_as, before.labelled_as.values())
    )
    pairs = {item: name for item, name in zip(*others, strict=True) if item != name}
    same = SameItems(tuple(dict.fromkeys([*before.patterns, pattern])), pairs)
    items = {*same.named(labels.item_keys).to_list()}
    known = {*labels.item_keys.to_list()}
    newest = [run for run in tx.runs.all(dataset.name) if "items" in tx.runs.holds(run.id)][-1:]
    for run in newest:
        for block in tx.runs.ranking_blocks(run):
            known.update(block.item_keys.to_list())
    ids = Keys.from_strings(sorted(known))
    named = zip(ids.to_list(), same.named(ids).to_list(), strict=True)
    return _Found(same, items, {name for item, name in named if item != name and name in items})


def _joined(labels: LabelLists, pairs: Pairs, unclear: Sequence[UnclearItem]) -> _Found:
    """Return which ids are one if those of each pair are; an id with several others is unclear."""
    before, items = labels.same_items or SameItems(), {*labels.item_keys.to_list()}
    named = [before.named(Keys.from_strings(pair[side] for pair in pairs)).to_list() for side in (0, 1)]
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

    for item, (other, *more) in others.items():
        if not more:
            first, second = sorted((found(item), found(other)), key=lambda of: (of not in items, of))
            one[second] = first
    carried |= items & one.keys()
    pairs_now = {item: found(name) for item, name in before.labelled_as.items()} | {
        item: found(item) for item in one if found(item) != item
    }
    several = [UnclearItem(item, tuple(of)) for item, of in others.items() if len(of) > 1]
    return _Found(SameItems(before.patterns, pairs_now), items, carried, [*several, *unclear], n_without_label)


def _by_text(
    tx: ReadTransaction, dataset: DatasetRecord, labels: LabelLists
) -> tuple[list[tuple[str, str]], list[UnclearItem]]:
    """Return pairs of an item and a labelled one whose texts are equal, or one contains the other; and what is unclear.

    A labelled item is unclear if several items contain it or are parts of it, if an item only shares words with it, and
    if an item contains several labelled ones.
    """
    labelled, before = {*labels.item_keys.to_list()}, labels.same_items or SameItems()
    records = [record for record in tx.texts.all(dataset.id) if not record.group_id and record.text]
    texts = {record.item_key: " ".join((record.text or "").split()) for record in records}
    names = before.named(Keys.from_strings(texts)).to_list()
    old = {item: texts[item] for item in sorted(labelled & texts.keys())}
    new = {item: text for (item, text), name in zip(texts.items(), names, strict=True) if name not in labelled}
    with_text: dict[str, list[str]] = defaultdict(list)
    for item, text in old.items():
        with_text[text].append(item)
    pairs = [(item, same) for item, text in new.items() for same in with_text.get(text, ())]
    met = {item for pair in pairs for item in pair}
    old, new = ({item: text for item, text in side.items() if item not in met} for side in (old, new))
    near: dict[str, list[str]] = defaultdict(list)
    for item, others in _sharing_words(old, new):
        for of in others:
            near[of].append(item)
    n_near = Counter(item for items in near.values() for item in items)
    n_whole = Counter(item for of, items in near.items() for item in items if old[of] in new[item])
    unclear = []
    for of, items in near.items():
        around = [item for item in items if old[of] in new[item]]
        is_whole = len(around) == 1 and n_whole[around[0]] == 1
        is_part = not around and len(items) == 1 and n_near[items[0]] == 1 and new[items[0]] in old[of]
        if is_whole or is_part:
            pairs.append(((around or items)[0], of))
        else:
            unclear.append(UnclearItem(of, tuple(items)))
    return pairs, unclear


def _sharing_words(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each new item with the old ones that have some words in a row in common with it.

    Of an old text every eighth run of words is looked up, so passages with fifteen words in common are always found.
    """
    places: dict[int, list[str]] = defaultdict(list)
    for item, text in old.items():
        for words in [*_runs(text)][::_WORDS]:
            places[words].append(item)
    for item, text in new.items():
        others = {of: None for words in _runs(text) if words in places for of in places[words]}
        if others:
            yield item, list(others)


def _runs(text: str) -> Iterator[int]:
    """Yield the hash of each run of words."""
    words = text.split()
    for first in range(len(words) - _WORDS + 1):
        yield hash(tuple(words[first : first + _WORDS]))
