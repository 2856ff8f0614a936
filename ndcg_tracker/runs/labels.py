"""The labels of a dataset: their versions, the labels that a run brings, and sources of the labels of groups."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ndcg_tracker.asked import EVERY_JUDGE
from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.rankings.join import matching_rows, places_of
from ndcg_tracker.rankings.keys import KeyIndex, KeyPlaces, Keys, joined_digest
from ndcg_tracker.rankings.ranking import SPANS, Details, LabelLists
from ndcg_tracker.runs.judges import JudgeNames, chosen_judges, judge_option, numbered_labels
from ndcg_tracker.runs.spelling import SHOWN, Doubts
from ndcg_tracker.storage.records import NO_LABELS_HERE, LabelOrigin
from ndcg_tracker.words.notes import Fact, Note
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.rankings import Index
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


GROUPS_AT_ONCE = 1 << 16
"""How many of the groups that were not requested are looked up at a time."""

HELD_LABELS = 1 << 22
"""Up to this many stored labels are read at once and held in memory; more are read for some groups at a time."""


NO_LABELS = LabelLists(Keys.from_bytes([]), np.zeros(1, dtype=np.int64), Keys.from_bytes([]), np.empty(0))

_DATASETS_NAMED = 5
_MOST_CHANGED = 0.1
"""New labels may contradict this share of the grades they replace, or leave this share of the groups without any."""


def _some(keys: Keys, most: int = SHOWN) -> list[str]:
    return keys.slice(0, min(len(keys), most)).to_list()


class OrderedLabels(Protocol):
    """A source of the labels of groups that a run does not have, and of the order of all labels."""

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that were not requested."""

    def places(self, keys: Keys) -> Index:
        """Return numbers that sort groups like the labels: int64, -1 for an unknown group."""


class KnownLabels:
    """A source of the labels of a run's groups.

    ``numbers``: returns the number of each group, by which the labels are sorted, -1 for an unknown group. ``every``:
    returns the numbers of all groups with labels. ``lists``: returns the labels of the groups with some numbers.
    """

    def __init__(
        self, numbers: Callable[[Keys], Index], every: Callable[[], Index], lists: Callable[[Index], LabelLists]
    ) -> None:
        self._numbers, self._every, self._lists = numbers, every, lists
        self._seen = [np.empty(0, dtype=np.int64)]

    def of(self, keys: Keys) -> LabelLists:
        """Return the labels of some groups, none of which was requested before."""
        numbers = self._numbers(keys)
        self._seen.append(numbers[numbers >= 0])
        return self._lists(self._seen[-1])

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that were not requested."""
        every = self._every()
        left = every[np.isin(every, np.concatenate(self._seen), invert=True)]
        for first in range(0, left.size, GROUPS_AT_ONCE):
            yield self._lists(left[first : first + GROUPS_AT_ONCE])

    def places(self, keys: Keys) -> Index:
        """Return the number of each group, -1 for a group without labels."""
        numbers = self._numbers(keys)
        return np.where(np.isin(numbers, self._every()), numbers, -1)


def held_labels(lists: LabelLists) -> KnownLabels:
    """Return a source of labels that are in memory.

    >>> keys = Keys.from_strings
    >>> held = held_labels(LabelLists.from_rows(keys(["q", "r"]), keys(["a", "b"]), np.ones(2)))
    >>> held.of(keys(["r", "x"])).group_keys.to_list(), [lists.group_keys.to_list() for lists in held.rest()]
    (['r'], [['q']])
    """

    def of_groups(places: Index) -> LabelLists:
        return lists if places.size == lists.n_groups else lists.of_groups(places)

    return KnownLabels(KeyPlaces(lists.group_keys).of, lambda: np.arange(lists.n_groups), of_groups)


def label_source(tx: ReadTransaction, label_set: LabelSetRecord) -> Callable[[], KnownLabels]:
    """Return a function that opens the labels of a label set for one run each.

    Few labels are read once and held; many stay in the database and are read for some groups at a time.
    """
    if label_set.n_labels > HELD_LABELS:
        numbers, every = partial(tx.groups.ids, label_set.dataset_id), partial(tx.labels.group_ids, label_set.id)
        return lambda: KnownLabels(numbers, every, lambda ids: tx.labels.lists(label_set.id, np.sort(ids)))
    lists = cache(lambda: tx.labels.lists(label_set.id))
    return lambda: held_labels(lists())


class RunLabels:
    """The labels that a run of a dataset is evaluated against, settled and stored while its blocks come.

    Labels that are ``given`` become the latest version, unless a version equals them; then labels in the blocks are not
    read. Without given labels the latest version counts, and the labels in the blocks must not contradict it. If they
    have new pairs, the union of both becomes a new version: lists that grow are written as they come, and all others
    are copied at the end. The first labels of a dataset are a union with nothing. ``judges``: whose labels count. By
    default, for a run without labels, that is ``counting_judge``; labels in a run are the unnamed judge's. ``further``:
    the judges after the first, whose labels the run is also evaluated by. ``extend``: given labels are of some groups
    only, and join the latest version. Raises: ConflictError for a grade that
    contradicts the latest version, and if one side identifies items by row numbers and the other by ids; InputError
    for labels in a run together with several judges, and for a judge without labels; see also ``notes``.
    """

    def __init__(
        self,
        tx: WriteTransaction,
        dataset: DatasetRecord,
        given: LabelLists | None,
        source: str | None,
        judges: JudgeNames,
        doubts: Doubts,
        *,
        extend: bool = False,
    ) -> None:
        self._doubts = doubts
        self._given = given
        self._before: LabelSetRecord | None = None
        self._n_shared, self._keys = 0, list[str]()
        self._judges = [judges] if isinstance(judges, str) else list(judges or ())
        self._judge = ""
        self.further: list[str] = []
        self._tx = tx
        self._dataset = dataset
        self._source = source
        self._may_grow = given is None
        self._is_new = False
        self._version: LabelSetRecord | None = None
        self._labels: KnownLabels = held_labels(NO_LABELS if given is None else given)
        if given is not None:
            self._before = tx.labels.newest(dataset.id, self._only_judge())
            added = add_labels(tx, dataset, given, LabelOrigin(source, self._only_judge()), extend=extend)
            self._version = added.label_set
            self._is_new = added.is_new
            if extend or tx.labels.same_items(self._version.id) is not None:
                self._labels = label_source(tx, self._version)()
            return
        self._n_blocks = 0
        self._begun: int | None = None

    def _only_judge(self) -> str:
        """Return the only judge of labels in a run (InputError for several)."""
        if len(set(self._judges)) > 1 or EVERY_JUDGE in self._judges:
            every = f"{argument('judge', EVERY_JUDGE)} means every judge"
            raise InputError(
                "the labels in a run belong to one judge, but "
                f"{every if EVERY_JUDGE in self._judges else f'{len(self._judges)} are named'}",
                advice="name one, and add the labels of others with ndcg-track labels add FILE --judge NAME",
            )
        return self._judges[0] if self._judges else ""

    def _settle(self, block: RankedTable) -> None:
        """Decide whose labels count, by whether the first block has labels."""
        if block.labels is not None:
            self._judge = self._only_judge()
        else:
            judges = chosen_judges(self._tx, self._dataset.id, self._dataset.name, self._judges)
            if self._judges:
                for judge in judges or [""]:
                    numbered_labels(self._tx, self._dataset.id, self._dataset.name, judge=judge)
            self._judge, *self.further = judges or [""]
        newest = self._version = self._before = self._tx.labels.newest(self._dataset.id, self._judge)
        self._n_shared, self._digest, self._n_groups, self._n_labels = 0, joined_digest([]), 0, 0
        if newest is not None:
            self._labels = label_source(self._tx, newest)()
            self._digest, self._n_groups, self._n_labels = newest.digest, newest.n_groups, newest.n_labels

    def of(self, block: RankedTable) -> LabelLists:
        """Return the labels of a block's groups, both stored ones and those in the block (ConflictError)."""
        if not self._may_grow:
            return self._labels.of(block.ranking.group_keys)
        if not self._n_blocks:
            self._settle(block)
        if (
            block.labels is not None or not block.by_row_number
        ):  # else the run may have no labels, which is another error
            refuse_other_items(self._version, block.by_row_number, self._dataset)
        self._n_blocks += 1
        stored = self._labels.of(group_keys_of(block))
        self._n_shared += stored.n_groups
        if block.labels is None:
            return stored
        self._keys += _some(block.labels.group_keys, SHOWN - len(self._keys))
        both = union_of_labels(stored, block.labels, self._dataset, self._judge or None)
        if both is not stored:
            newest = self._tx.labels.newest
            if self._tx.keep_creators_out() and newest(self._dataset.id, self._judge) != self._version:
                if self._n_blocks > 1:
                    raise ConflictError(
                        f"dataset {self._dataset.name!r} got new labels while this run with its own labels was read",
                        advice="run the same command again",
                    )
                self._n_blocks = 0  # begin again with the labels that another process has stored since
                return self.of(block)
            self._append(stored, both)
        return both

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that no block had."""
        return self._labels.rest()

    def places(self, keys: Keys) -> Index:
        """Return numbers that sort groups like the labels, new groups after all others: int64."""
        places = self._labels.places(keys)
        return np.where(places < 0, np.iinfo(np.int64).max, places)

    def settled(self) -> tuple[LabelSetRecord, bool]:
        """Return the version of the labels and whether it is new; call it once, at the end.

        Raises: InputError if the dataset has no labels.
        """
        if not self._may_grow or self._begun is None:
            if self._version is None:
                others = [other.name for other in self._tx.datasets.all() if other.id != self._dataset.id][
                    :_DATASETS_NAMED
                ]
                named = f", or name another with {argument('dataset')}: {', '.join(others)}" if others else ""
                advice = f"give them with {argument('labels', 'FILE')}{named}"
                raise InputError(f"dataset {self._dataset.name!r} has no labels yet", advice=advice)
            return self._version, self._is_new
        existing = stored_version(self._tx, self._dataset, self._digest, self._judge)
        if existing is not None:
            self._tx.write.labels.discard(self._begun)
            return existing, False
        if self._version is not None:
            self._tx.write.labels.append_from(self._begun, self._version.id)
        self._is_new = True
        return self._tx.write.labels.finish(self._begun, self._digest, self._n_groups, self._n_labels), True

    def notes(self) -> list[Note]:
        """Return notes on labels that are new, once they are settled; refuse those that fit the version before badly.

        Raises: InputError for no group in common, unless that is allowed; ConflictError for given labels that
        contradict more than a tenth.
        """
        before, n_shared, keys = self._before, self._n_shared, self._keys
        if before is None or not self._is_new:
            return []
        if self._given is not None:
            stored = label_source(self._tx, before)().of(self._given.group_keys)
            n_shared, keys = stored.n_groups, _some(self._given.group_keys)
            rows, stored_rows = matching_rows(self._given, stored)
            new, old = self._given.grades[rows], stored.grades[stored_rows]
            if (new != old).sum() > _MOST_CHANGED * rows.size:
                spans = [
                    "-".join(dict.fromkeys(f"{of:g}" for of in (min(grades), max(grades)))) for grades in (old, new)
                ]
                correct = shlex.join(_add_command(self._source, self._dataset.name, before.judge))
                raise ConflictError(
                    f"{(new != old).mean():.0%} of grades differ, {' became '.join(spans)}",
                    advice=f"another judge ({argument('judge', 'clicks')}), another {argument('dataset')}, or a "
                    f"correction ({correct})?",
                    joint=": ",
                )
        if n_shared:
            return []
        known = self._tx.groups.keys(self._dataset.id, self._tx.labels.group_ids(before.id)[:SHOWN]).to_list()
        facts: dict[str, Fact] = {"of_labels": keys, "known": known, "version": before.version}
        advice = f"write the ids the same way, or use another {argument('dataset')}"
        return [self._doubts.passed(Note("labels_elsewhere", facts), "no-overlap", advice)]

    def _append(self, stored: LabelLists, both: LabelLists) -> None:
        """Write the lists of ``both`` that are longer than those in ``stored``."""
        if self._begun is None:
            by_row_number = both.by_row_number if self._version is None else self._version.by_row_number
            extends = None if self._version is None else self._version.version
            origin = LabelOrigin(self._source, self._judge, extends=extends)
            same_items = None if self._version is None else self._tx.labels.same_items(self._version.id)
            self._begun = self._tx.write.labels.begin(self._dataset.id, origin, same_items, by_row_number=by_row_number)
        grown = both
        if stored.n_items:
            places = KeyIndex(stored.group_keys).places(both.group_keys)
            before = np.append(np.diff(stored.offsets), 0)[places]
            grown = both.of_groups(np.flatnonzero(np.diff(both.offsets) > before))
        self._tx.write.labels.append(self._begun, self._dataset.id, grown)
        self._digest = joined_digest([self._digest, both.digest()], without=[stored.digest()])
        self._n_groups += both.n_groups - stored.n_groups
        self._n_labels += both.n_items - stored.n_items


@dataclass(frozen=True, slots=True)
class AddedLabels:
    """The version that holds some labels; ``is_new``: whether it was stored just now.

    ``extends``: the version that they were added to, None for none. ``n_reasons``: how many reasons
    of labels were stored, and of how many labels others are stored, which stay.
    """

    label_set: LabelSetRecord
    is_new: bool
    extends: int | None = None
    n_reasons: tuple[int, int] = 0, 0


def add_labels(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    lists: LabelLists,
    origin: LabelOrigin,
    *,
    extend: bool = False,
    may_drop: bool = True,
) -> AddedLabels:
    """Return the version that equals labels of a judge; if there is none, store them as the judge's latest.

    ``extend``: join them with that judge's latest version. ``may_drop``: whether more than a tenth of the groups of
    that version may have no labels afterwards. Raises: ConflictError if they have none and may not, and for a grade
    that contradicts the latest version when they are joined.
    """
    whole = settled_lists(tx, dataset, lists, origin.judge, extend=extend)
    existing = stored_version(tx, dataset, whole.digest(), origin.judge)
    if existing is not None:
        n_reasons = tx.write.labels.tell_details(existing, _details_here(lists))
        return AddedLabels(tx.write.labels.tell_origin(existing, origin), is_new=False, n_reasons=n_reasons)
    if tx.keep_creators_out():  # another process may have stored them just now
        return add_labels(tx, dataset, lists, origin, extend=extend, may_drop=may_drop)
    before = tx.labels.newest(dataset.id, origin.judge)
    if before is not None and extend:
        origin = replace(origin, extends=before.version)
    elif before is not None and not may_drop:
        old = tx.groups.keys(dataset.id, tx.labels.group_ids(before.id))
        n_gone = int((places_of(old, whole.group_keys) < 0).sum())
        if n_gone > _MOST_CHANGED * len(old):
            raise ConflictError(
                f"{n_gone:,} of the {counted(len(old), 'group')} of version {before.version} would have no labels left",
                advice=f"add to that version with {argument('extend', True)}, or replace it with "
                f"{argument('replace', True)}",
            )
    added = tx.write.labels.insert(dataset.id, whole, origin)
    n_reasons = tx.write.labels.tell_details(added, _details_here(lists))
    return AddedLabels(added, is_new=True, extends=added.extends, n_reasons=n_reasons)


def _details_here(labels: LabelLists) -> Details:
    """Return the details of the labels that are here: those of other groups may have come along."""
    if not labels.details:
        return {}
    keys = (of.to_list() for of in labels.keys_of(np.arange(labels.n_items)))
    here = {*zip(*keys, strict=True)}
    return {pair: detail for pair, detail in labels.details.items() if pair in here}


def settled_lists(
    tx: ReadTransaction, dataset: DatasetRecord, lists: LabelLists, judge: str, *, extend: bool
) -> LabelLists:
    """Return the labels of a judge, joined with the judge's latest version if ``extend`` (ConflictError).

    Ids that are one item in that version are one in these labels, too, unless the labels say themselves which are.
    """
    earlier = [label_set for label_set in tx.labels.sets(dataset.id, None) if label_set.by_row_number is not None]
    refuse_other_items(earlier[-1] if earlier else None, lists.by_row_number, dataset)
    newest = tx.labels.newest(dataset.id, judge)
    if newest is None:
        return lists
    if extend:
        return union_of_labels(tx.labels.lists(newest.id), lists, dataset, judge)
    same = tx.labels.same_items(newest.id)
    if same is None or lists.same_items not in (None, SPANS):
        return lists
    return replace(same, spans=same.spans or lists.same_items == SPANS).in_labels(lists)


def change_of_labels(tx: ReadTransaction, dataset: str, version: int, *, extends: bool = False) -> list[Note]:
    """Return notes on labels that a version lacks from the same judge's previous version, and on its new groups.

    ``extends``: whether it should extend the judge's previous version; a note says if there is none.
    """
    record = tx.datasets.named(dataset)
    every = [] if record is None else tx.labels.sets(record.id, None)
    own = next((label_set for label_set in every if label_set.version == version), None)
    if own is None:
        return []
    others = [of for of in every if of.version < version and of.judge not in NO_LABELS_HERE]
    before = [of for of in others if of.judge == own.judge]
    if not before:
        if not extends or not others:
            return []
        facts: dict[str, Fact] = {"judge": own.judge, "other": others[-1].judge, "version": others[-1].version}
        return [Note("nothing_to_extend", facts, _add_command(own.source, dataset, others[-1].judge, "--extend"))]
    old, new = tx.labels.lists(before[-1].id), tx.labels.lists(own.id)
    n_gone = int((places_of(old.group_keys, new.group_keys) < 0).sum())
    n_new = int((places_of(new.group_keys, old.group_keys) < 0).sum())
    rows, new_rows = matching_rows(old, new)
    n_labels = old.n_items - rows.size
    facts = {"n_groups": n_gone, "n_labels": n_labels, "version": before[-1].version}
    command = _add_command(before[-1].source, dataset, own.judge, "--extend")
    if (old.grades[rows] != new.grades[new_rows]).any():  # these could not be joined
        facts["may_extend"], command = False, ()
    gone = [Note("labels_gone", facts, command)] if n_labels else []
    *earlier, given = [
        {name: told[0] for name, told in (of.from_runs or {}).items() if name in ("model", "prompt")}
        for of in (*before, own)
    ]
    for name, now in given.items():
        was = [of[name] for of in earlier if name in of]
        if was and was[-1] != now:
            other: dict[str, Fact] = {"judge": own.judge, "what": name, "now": now, "was": was[-1]}
            gone.append(Note("other_model", other, _add_command(own.source, dataset, "NAME")))
    return [*gone, *([Note("new_groups", {"n": n_new, "n_groups": new.n_groups})] if n_new else [])]


def _add_command(source: str | None, dataset: str, judge: str, *options: str) -> tuple[str, ...]:
    """Return the command that adds the labels of a file, whose name is left open for a pipe or a frame."""
    file = "FILE" if source in (None, "-") else str(source)
    return ("ndcg-track", "labels", "add", file, *options, "--dataset", dataset, *judge_option(judge))


def stored_version(tx: ReadTransaction, dataset: DatasetRecord, digest: str, judge: str = "") -> LabelSetRecord | None:
    """Return the version of a judge's labels that has this content, None if there is none."""
    return next((label_set for label_set in tx.labels.sets(dataset.id, judge) if label_set.digest == digest), None)


def refuse_other_items(newest: LabelSetRecord | None, by_row_number: bool | None, dataset: DatasetRecord) -> None:
    """Refuse row numbers if a dataset's latest labels have item ids, and ids if those have row numbers."""
    if newest is None or None in (newest.by_row_number, by_row_number) or newest.by_row_number == by_row_number:
        return
    if by_row_number:
        raise ConflictError(
            f"the labels of dataset {dataset.name!r} have item ids, but here items are identified by row numbers, "
            "which are valid only inside one table",
            advice=f"name the item column with {argument('item')}, or use another {argument('dataset')}",
        )
    raise ConflictError(
        f"the labels of dataset {dataset.name!r} identify items by row numbers, but here items have ids",
        advice=f"use another {argument('dataset')}, with labels that have item ids",
    )


def _changing(dataset: DatasetRecord, judge: str | None) -> str:
    """Return the advice for labels that contradict stored ones; ``judge``: see ``union_of_labels``."""
    if judge is None:
        return "to change labels, make a new version with ndcg-track labels add FILE"
    replace, keep = (shlex.join(_add_command(None, dataset.name, whose)) for whose in (judge, "NAME"))
    return f"to replace those, make a new version with: {replace}; to keep both, as labels of another judge: {keep}"


def union_of_labels(
    stored: LabelLists, further: LabelLists, dataset: DatasetRecord, judge: str | None = None
) -> LabelLists:
    """Return the union of both, which is ``stored`` itself if ``further`` has no new pair.

    ``judge``: whose labels are extended ("" for the unnamed judge), None if they come with a run. Raises: ConflictError
    for a grade of ``further`` that contradicts a stored one, and for row numbers that meet other items of their group.
    """
    if further.same_items is not None and stored.n_items:
        stored = replace(stored, same_items=replace(stored.same_items or SPANS, spans=True))
    if stored.same_items is not None:
        further = stored.same_items.in_labels(further)
    if not stored.n_items:
        return further
    rows, stored_rows = matching_rows(further, stored)
    differs = further.grades[rows] != stored.grades[stored_rows]
    if differs.any():
        at = int(np.argmax(differs))
        group, item = (keys[0] for keys in further.keys_of(rows[at : at + 1]))
        whose = f" of judge {judge!r}" if judge else ""
        raise ConflictError(
            f"item {item!r} of group {group!r} has the label {further.grades[rows[at]]:g} here "
            f"but {stored.grades[stored_rows[at]]:g} in the latest labels{whose} of dataset {dataset.name!r}",
            advice=_changing(dataset, judge),
        )
    new = np.delete(np.arange(further.n_items), rows)
    if not new.size:
        return stored
    if further.by_row_number:
        _refuse_further_rows(stored, further, new, dataset)
    both = stored.with_rows(further, new)
    return replace(both, by_row_number=stored.by_row_number, same_items=stored.same_items)


def _refuse_further_rows(stored: LabelLists, further: LabelLists, new: Index, dataset: DatasetRecord) -> None:
    """Refuse row numbers that would join the stored items of a group, because they number rows of another table."""
    groups, _ = further.keys_of(new)
    is_stored = KeyIndex(stored.group_keys).places(groups) >= 0
    if is_stored.any():
        group = groups[int(np.argmax(is_stored))]
        raise ConflictError(
            f"group {group!r} has labels of other items in dataset {dataset.name!r}, but here items are identified by "
            "row numbers, which are valid only inside one table",
            advice=f"name the item column with {argument('item')}, or use another {argument('dataset')}",
        )


def group_keys_of(block: RankedTable) -> Keys:
    """Return the groups of a block: those with items, then those with only labels."""
    keys = block.ranking.group_keys
    if block.labels is None:
        return keys
    only = np.flatnonzero(KeyIndex(keys).places(block.labels.group_keys) < 0)
    return Keys.joined([keys, block.labels.group_keys.take(only)]) if only.size else keys
