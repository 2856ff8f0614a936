"""The columnar ranking, labels and weights, which readers create and everything else uses."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import MetricError, NdcgTrackerWarning, warn
from ndcg_tracker.rankings import Floats, Hash, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes, group_ranges, grouped, is_descending, places_in, segment_rows
from ndcg_tracker.rankings.keys import BLOCK, KeyIndex, Keys, joined_digest, mixed, without_matches
from ndcg_tracker.rankings.sorting import descending_order, repeats_before, repeats_within_groups
from ndcg_tracker.words.texts import counted

BY_INPUT = "input"
"""The ``tie_order`` of a run whose own order breaks ties in scores; None: the item id does, descending."""


@dataclass(frozen=True)
class GroupedItems:
    """Items of many groups, group by group, with one number each.

    ``group_keys``: n_groups ids. ``offsets``: int64, shape (n_groups + 1,), group ``g`` owns the rows
    ``offsets[g]:offsets[g + 1]``. ``item_keys``: n_items ids, unique within a group. ``numbers``: float64, shape
    (n_items,), finite.
    """

    group_keys: Keys
    offsets: Index
    item_keys: Keys
    numbers: Floats

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.group_keys)

    @property
    def n_items(self) -> int:
        """How many rows there are."""
        return len(self.item_keys)

    def of_groups(self, places: Index) -> Self:
        """Return the items of some groups, in the order of ``places``: int64, each the number of a group.

        Neighbouring groups in their order take no copy.

        >>> keys = Keys.from_strings
        >>> ranking = Ranking.from_rows(keys("qqr"), keys("abc"), np.array([2.0, 1.0, 1.0]))
        >>> ranking.of_groups(np.array([1])).item_keys.to_list()
        ['c']
        """
        if places.size and int(places[-1]) - int(places[0]) == places.size - 1 and (np.diff(places) == 1).all():
            first, last = int(places[0]), int(places[-1]) + 1
            low, high = int(self.offsets[first]), int(self.offsets[last])
            keys, items = self.group_keys.slice(first, last), self.item_keys.slice(low, high)
            offsets, numbers = self.offsets[first : last + 1] - low, self.numbers[low:high]
        else:
            lengths = np.diff(self.offsets)[places]
            rows = segment_rows(self.offsets[:-1][places], lengths)
            keys, items = self.group_keys.take(places), self.item_keys.take(rows)
            offsets, numbers = np.concatenate([[0], np.cumsum(lengths)]), self.numbers[rows]
        return replace(self, group_keys=keys, offsets=offsets, item_keys=items, numbers=numbers)

    def keys_of(self, rows: Index) -> tuple[Keys, Keys]:
        """Return the group and the item of some rows."""
        return self.group_keys.take(group_codes(self.offsets)[rows]), self.item_keys.take(rows)

    @cached_property
    def pair_hashes(self) -> Hash:
        """A 64-bit hash of each row's (group, item): uint64, shape (n_items,)."""
        return self._pair_hashes(0)

    def _pair_hashes(self, seed: int) -> Hash:
        groups = mixed(self.group_keys.hashes(~seed))
        hashes = self.item_keys.hashes(seed)
        lengths = np.diff(self.offsets)
        for first, last in group_ranges(self.offsets):
            block = hashes[self.offsets[first] : self.offsets[last]]
            block += np.repeat(groups[first:last], lengths[first:last])
        return hashes

    def has_duplicates(self) -> bool:
        """Return whether any (group, item) appears in two rows."""
        codes = self.item_keys.single_words() if self.item_keys.numbers is None else self.item_keys.numbers
        if codes is not None:
            return repeats_within_groups(codes, self.offsets)
        if not repeats_within_groups(self.pair_hashes, self.offsets):
            return False
        order = np.argsort(self.pair_hashes, kind="stable")
        hashes = self.pair_hashes[order]
        again = np.flatnonzero(hashes[1:] == hashes[:-1])
        rows, others = order[again], order[again + 1]
        same_group = np.searchsorted(self.offsets, rows, "right") == np.searchsorted(self.offsets, others, "right")
        return bool((same_group & self.item_keys.equal(rows, self.item_keys, others)).any())

    def sample_digest(self) -> str:
        """Return the digest of the items without scores: equal for runs that rank the same items in each group."""
        return GroupedItems(self.group_keys, self.offsets, self.item_keys, np.zeros(self.n_items)).digest()

    def digest(self) -> str:
        """Return the content digest: 32 hexadecimal digits that depend on (group, item, number), not on the order.

        Each row is hashed to two 64-bit words, and the words are added modulo 2**64, so rows and groups may be in
        any order. Of a ranking whose order breaks ties, the place of a row among tied ones counts, too. The digest
        recognises equal content; it does not protect against forgery.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        bits = (self.numbers + 0.0).view(np.uint64)  # -0.0 and 0.0 are the same number
        words, places = [], self._places_in_ties()
        for seed in (0, 1):
            pairs = self.pair_hashes if seed == 0 else self._pair_hashes(seed)
            total = 0
            for first in range(0, bits.size, BLOCK):
                block = slice(first, first + BLOCK)
                rows = pairs[block] ^ mixed(bits[block] + np.uint64(seed))
                rows = mixed(rows if places is None else rows + places[block])
                total += int(rows.sum(dtype=np.uint64))
            words.append(total % 2**64)
        return f"{words[0]:016x}{words[1]:016x}"

    def _places_in_ties(self) -> Hash | None:
        """Return the place of each row among the rows of its score, from 0, where these places are content."""
        return None


@dataclass(frozen=True)
class Ranking(GroupedItems):
    """One run: the retrieved items of each group, best first.

    ``numbers`` are the scores. Within a group they never increase, and items of equal score keep their input
    order. A metric's ``ties`` decides which of them ranks first. ``input_places``: int64, shape (n_items,),
    the place of each row in the grouped input, None if the input was in this order. ``tie_order``: ``BY_INPUT`` if
    items of equal score are ranked in the order of the rows by metrics that name no rule of their own.

    >>> ranking = Ranking.from_rows(Keys.from_strings(["q", "q"]), Keys.from_strings(["a", "b"]), np.array([1.0, 2.0]))
    >>> ranking.item_keys.to_list(), ranking.scores.tolist()
    (['b', 'a'], [2.0, 1.0])
    """

    input_places: Index | None = None
    tie_order: str | None = None

    def _places_in_ties(self) -> Hash | None:
        if self.tie_order is None:
            return None
        rows = np.arange(self.n_items, dtype=np.uint64)
        firsts = np.where(repeats_before(self.scores, self.offsets), np.uint64(0), rows)
        return rows - np.maximum.accumulate(firsts)

    @property
    def scores(self) -> Floats:
        """The score of each item."""
        return self.numbers

    @classmethod
    def from_rows(cls, group_keys: Keys, item_keys: Keys | None, scores: Floats) -> Ranking:
        """Return the ranking of a table with one row per (group, item), in any order.

        Parameters: ``group_keys`` and ``item_keys``: n ids, or None for items identified by the row's number
        within its group, from 1. ``scores``: float64, shape (n,), finite.
        """
        return cls.from_groups(*_by_group(group_keys, item_keys, scores))

    def of_groups(self, places: Index) -> Self:
        """Return the ranking of some groups (see ``GroupedItems.of_groups``)."""
        return replace(super().of_groups(places), input_places=None)

    @classmethod
    def from_groups(cls, group_keys: Keys, offsets: Index, item_keys: Keys, scores: Floats) -> Ranking:
        """Return the ranking of rows that are grouped, in any order within a group (see ``from_rows``)."""
        if is_descending(scores, offsets):
            return cls(group_keys, offsets, item_keys, scores)
        order = descending_order(scores, offsets)
        return cls(group_keys, offsets, item_keys.take(order), scores[order], order)


@dataclass(frozen=True, slots=True)
class LabelDetail:
    """What is known of a label besides its grade.

    ``reason``: why it was given, "" where not said. ``n_given``: how many labels the judge gave to the item, whose mean
    is the grade. ``std_dev``: their standard deviation, 0 for one. ``given_by``, ``model`` and ``prompt``: who gave it,
    as the version says that brought it.
    """

    reason: str = ""
    n_given: int = 1
    std_dev: float = 0.0
    given_by: str = ""
    model: str = ""
    prompt: str = ""


Details = Mapping[tuple[str, str], LabelDetail]
"""What is known of some labels besides their grades, by group and item."""


@dataclass(frozen=True)
class LabelLists(GroupedItems):
    """The labels of a dataset: the judged items of each group and their grades (``numbers``), in no particular order.

    ``by_row_number``: whether items have no ids and are identified by the row's number within the group; None if
    unknown. ``same_items``: further ids of the items, None for none. ``group_column``: the column that had the ids of
    the groups, "" if it is not known. ``details``: of some labels; it may name labels that are not here.
    """

    by_row_number: bool | None = False
    same_items: SameItems | None = None
    group_column: str = ""
    details: Details = field(default_factory=dict, compare=False, repr=False)

    def digest(self) -> str:
        """Return the digest of the labels and of the further ids of their items (see ``GroupedItems``)."""
        own = super().digest()
        return own if self.same_items is None else joined_digest([own, self.same_items.digest()])

    @property
    def grades(self) -> Floats:
        """The grade of each judged item."""
        return self.numbers

    def with_rows(self, further: LabelLists, rows: Index) -> LabelLists:
        """Return these labels and some rows of others, none of which is here."""
        sides = self.keys_of(np.arange(self.n_items)), further.keys_of(rows)
        groups, items = (Keys.joined(of_both) for of_both in zip(*sides, strict=True))
        return LabelLists.from_rows(groups, items, np.append(self.grades, further.grades[rows]))

    @classmethod
    def from_rows(cls, group_keys: Keys, item_keys: Keys | None, grades: Floats) -> LabelLists:
        """Return the labels of a table with one row per (group, item), in any order (see ``Ranking.from_rows``)."""
        return cls(*_by_group(group_keys, item_keys, grades))


@dataclass(frozen=True)
class SameItems:
    """Which ids are one item: that with the id that the labels have.

    ``patterns``: what they match is removed from an id, the latest first. ``labelled_as``: for ids that are left
    then, the id in the labels. ``spans``: whether the labels are of spans of documents, ``DOCUMENT#START-END``, so that
    an item of a run whose id is of this form is the labelled span that it overlaps (see ``in_run``).

    >>> same = SameItems(("^v2-",), {"b": "a"})
    >>> same.named(Keys.from_strings(["v2-b", "v2-c", "v2-"])).to_list()
    ['a', 'c', 'v2-']
    """

    patterns: tuple[str, ...] = ()
    labelled_as: Mapping[str, str] = field(default_factory=dict)
    spans: bool = False

    @cached_property
    def _renamed(self) -> tuple[KeyIndex, Keys]:
        return KeyIndex(Keys.from_strings(self.labelled_as)), Keys.from_strings(self.labelled_as.values())

    def as_json(self) -> dict[str, Any]:
        """Return the content as a JSON object."""
        spans = {"spans": True} if self.spans else {}
        return {"patterns": list(self.patterns), "labelled_as": dict(self.labelled_as), **spans}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any] | None) -> SameItems | None:
        """Return what ``as_json`` returned, None for nothing."""
        if stored is None:
            return None
        return cls(tuple(stored["patterns"]), stored["labelled_as"], stored.get("spans", False))

    def digest(self) -> str:
        """Return the digest of the content, which adds to that of labels (see ``GroupedItems.digest``)."""
        pairs = [(f"={item}", name) for item, name in self.labelled_as.items()]
        pairs += [(f"/{pattern}", str(place)) for place, pattern in enumerate(self.patterns)]
        pairs += [("#", "")] * self.spans
        ids, names = (Keys.from_strings([pair[side] for pair in pairs]) for side in (0, 1))
        return GroupedItems(ids, np.arange(len(ids) + 1), names, np.zeros(len(ids))).digest()

    def named(self, items: Keys) -> Keys:
        """Return the id that the labels have, or would have, of each item."""
        for pattern in self.patterns:
            items = without_matches(items, pattern)
        index, names = self._renamed
        places = index.places(items)
        if not (places >= 0).any():
            return items
        rows = np.arange(len(items))
        return Keys.joined([items, names]).take(np.where(places < 0, rows, len(items) + places))

    def in_labels(self, labels: LabelLists) -> LabelLists:
        """Return labels in which each item is there once, with its highest grade."""
        named = replace(labels, item_keys=self.named(labels.item_keys), same_items=self)
        if not named.has_duplicates():
            return named
        order = np.lexsort((-named.grades, named.pair_hashes))
        rows = np.sort(order[_is_first(named, order)])
        groups = named.group_keys.take(group_codes(named.offsets)[rows])
        once = LabelLists.from_rows(groups, named.item_keys.take(rows), named.grades[rows])
        return replace(once, by_row_number=labels.by_row_number, same_items=self)

    def n_beside(self, ranking: Ranking, labels: LabelLists) -> int:
        """Return how many relevant spans are in items of a run that count for another span, and count nowhere."""
        named = replace(ranking, item_keys=self.named(ranking.item_keys))
        return _spans_of_labels(named, labels)[1] if self.spans else 0

    def in_run(self, ranking: Ranking, labels: LabelLists) -> Ranking:
        """Return a run with the ids of the labels; in a list that has an item twice, the higher place has its id.

        The lower place keeps its own id, or has that of the higher place if its own is the one in the labels: no label
        has either, so it is without gain. An item that is a span has the id of one labelled span of its group that it
        overlaps by at least half of the shorter of both: of those that no place above has, the one of highest grade.
        """
        named = replace(ranking, item_keys=self.named(ranking.item_keys))
        if self.spans:
            named = replace(named, item_keys=_spans_of_labels(named, labels)[0])
        if not named.has_duplicates():
            return named
        order = np.argsort(named.pair_hashes, kind="stable")
        is_first = _is_first(named, order)
        firsts = order[np.maximum.accumulate(np.where(is_first, np.arange(order.size), 0))]
        lower, higher = order[~is_first], firsts[~is_first]
        at = np.arange(order.size, 2 * order.size)
        at[lower] = np.where(named.item_keys.equal(lower, ranking.item_keys, lower), higher, lower)
        return replace(named, item_keys=Keys.joined([ranking.item_keys, named.item_keys]).take(at))


SPANS = SameItems(spans=True)
"""Labels of spans, each with one id."""


def span_of(item: str) -> tuple[str, int, int] | None:
    """Return the document, the start and the end (exclusive) that an id names, None for other ids.

    >>> span_of("guide#2#10-50"), span_of("guide#2"), span_of("guide#50-10")
    (('guide#2', 10, 50), None, None)
    """
    document, _, span = item.rpartition("#")
    start, _, end = span.partition("-")
    are_numbers = start.isdecimal() and end.isdecimal() and int(start) < int(end)
    return (document, int(start), int(end)) if document and are_numbers else None


def _spans_of_labels(run: Ranking, labels: LabelLists) -> tuple[Keys, int]:
    """Return the ids of a run, with those of labelled spans for items that overlap them (see ``SameItems.in_run``).

    Beside them: how many relevant spans are in items that count for another one.
    """
    items, labelled = run.item_keys.to_list(), labels.item_keys.to_list()
    n_beside, at, places = 0, np.arange(run.n_items), KeyIndex(labels.group_keys).places(run.group_keys)
    for group in np.flatnonzero(places >= 0).tolist():
        first, last = labels.offsets[places[group] : places[group] + 2].tolist()
        spans: dict[str, list[tuple[int, int, int]]] = {}
        for row in sorted(range(first, last), key=lambda row: -labels.grades[row]):
            if (span := span_of(labelled[row])) is not None:
                spans.setdefault(span[0], []).append((row, *span[1:]))
        taken, beside = set[int](), set[int]()
        for row in range(run.offsets[group], run.offsets[group + 1]) if spans else ():
            document, start, end = span_of(items[row]) or ("", 0, 0)
            found = [
                of
                for of, begins, ends in spans.get(document, ())
                if 2 * (min(end, ends) - max(start, begins)) >= min(end - start, ends - begins)
            ]
            if found:
                of = min(found, key=lambda of: (of in taken, labelled[of] != items[row]))
                at[row] = run.n_items + of
                taken.add(of)
                beside |= {of for of in found if labels.grades[of] > 0}
        n_beside += len(beside - taken)
    return Keys.joined([run.item_keys, labels.item_keys]).take(at), n_beside


def _is_first(items: GroupedItems, order: Index) -> Mask:
    """Return which rows, in an order that has equal rows side by side, are the first of their group and item."""
    hashes = items.pair_hashes[order]
    same = (hashes[1:] == hashes[:-1]) & items.item_keys.equal(order[1:], items.item_keys, order[:-1])
    return np.append(True, ~same)[: order.size]


def _by_group(group_keys: Keys, item_keys: Keys | None, numbers: Floats) -> tuple[Keys, Index, Keys, Floats]:
    """Return group keys, offsets, item keys and numbers of a table's rows, grouped."""
    grouping = grouped(group_keys)
    rows = grouping.rows
    if item_keys is None:
        within = places_in(np.diff(grouping.offsets)) - 1
        item_keys = Keys.from_numbers(within + 1)
    elif rows is not None:
        item_keys = item_keys.take(rows)
    return grouping.keys, grouping.offsets, item_keys, numbers if rows is None else numbers[rows]


@dataclass(frozen=True)
class UnsortedRanking(GroupedItems):
    """One run whose rows are grouped, in any order within a group; ``numbers`` are the scores.

    >>> import numpy as np
    >>> keys = Keys.from_strings
    >>> run = UnsortedRanking(keys("q"), np.array([0, 2]), keys("ab"), np.array([1.0, 2.0]))
    >>> run.item_keys.to_list(), run.in_order.item_keys.to_list()
    (['a', 'b'], ['b', 'a'])
    """

    tie_order: str | None = None

    @property
    def scores(self) -> Floats:
        """The score of each item."""
        return self.numbers

    @cached_property
    def in_order(self) -> Ranking:
        """The run with the items of each group best first, and items of equal score in their current order."""
        ranking = Ranking.from_groups(self.group_keys, self.offsets, self.item_keys, self.numbers)
        ranking = replace(ranking, tie_order=self.tie_order)
        hashes = vars(self).get("pair_hashes")
        if hashes is not None:  # moving them is faster than computing them again
            places = ranking.input_places
            vars(ranking)["pair_hashes"] = hashes if places is None else hashes[places]
        return ranking


Run = Ranking | UnsortedRanking
"""A run, sorted or not."""


def run_of_groups(group_keys: Keys, offsets: Index, item_keys: Keys, scores: Floats) -> Run:
    """Return the run of grouped rows in their current order (see ``Ranking.from_groups``, which sorts them).

    >>> import numpy as np
    >>> keys = Keys.from_strings
    >>> type(run_of_groups(keys("q"), np.array([0, 2]), keys("ab"), np.array([1.0, 2.0]))).__name__
    'UnsortedRanking'
    """
    kind = Ranking if is_descending(scores, offsets) else UnsortedRanking
    return kind(group_keys, offsets, item_keys, scores)


MAX_WEIGHT = 1e30
"""The largest weight. With it, any possible sum fits single precision, in which some metrics sum weights."""


MOST_UNWEIGHTED = 0.01
"""The largest share of the groups, and of the total weight, that groups without a weight may have."""


@dataclass(frozen=True, slots=True)
class Unweighted:
    """What groups without a weight count where others have one.

    ``dataset``: its name, "" for groups that are not stored. ``default``: the weight that was set for them; None if
    none was: then each counts 1, but only as long as they are few.
    """

    dataset: str = ""
    default: float | None = None

    @property
    def weight(self) -> float:
        """The weight of a group that has none."""
        return 1.0 if self.default is None else self.default

    def check(self, weights: Floats, lacking: Mask) -> None:
        """Warn of groups of a result that count 1 for want of a weight. Raises: MetricError if these are too many.

        Parameters: ``weights``: of the groups that the result uses; ``lacking``: which of them have none.
        """
        n = int(lacking.sum())
        if not n or self.default is not None:
            return
        what = f"{n:,} of {counted(lacking.size, 'group')} {'has' if n == 1 else 'have'} no weight"
        share = n / float(weights.sum())
        if max(n / lacking.size, share) <= MOST_UNWEIGHTED:
            warn(NdcgTrackerWarning(f"{what}, and {'counts' if n == 1 else 'count'} 1"))
            return
        of_dataset = shlex.join(["--dataset", self.dataset])
        raise MetricError(
            f"{what}; counted as 1, that would be {share:.1%} of the total weight",
            advice=f"set them with: ndcg-track groups set FILE {of_dataset}; or give all of them one with: "
            f"ndcg-track groups set --default-weight W {of_dataset}"
            if self.dataset
            else "add them to the run with a weight, or leave them out with missing=skip in the metric",
        )


@dataclass(frozen=True, slots=True)
class GroupWeights:
    """One weight per group.

    ``group_keys``: n ids. ``values``: float64, shape (n,), 0 to ``MAX_WEIGHT``: the mean weight of the group's rows.
    ``varies``: bool, shape (n,): whether the rows of the group have different weights (then they are item weights,
    and only their mean is stored). ``single_means``: float32, shape (n,): the mean as single-precision code computes
    it, None if the rows are unknown. ``unweighted``: what other groups count.
    """

    group_keys: Keys
    values: Floats
    varies: Mask
    single_means: NDArray[np.float32] | None = None
    unweighted: Unweighted = Unweighted()


def joined_weights(parts: Sequence[GroupWeights]) -> GroupWeights:
    """Return the weights of several disjoint sets of groups.

    >>> one, other = (GroupWeights(Keys.from_strings([key]), np.ones(1), np.zeros(1, dtype=np.bool_)) for key in "qr")
    >>> joined_weights([one, other]).group_keys.to_list()
    ['q', 'r']
    """
    singles = [part.single_means for part in parts if part.single_means is not None]
    return GroupWeights(
        Keys.joined([part.group_keys for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.varies for part in parts]),
        np.concatenate(singles) if len(singles) == len(parts) else None,
    )


def single_means(weights: Floats, offsets: Index) -> NDArray[np.float32]:
    """Return the mean weight of each group, summed row after row in single precision.

    Parameters: ``weights``: float64, shape (n_rows,); ``offsets``: int64, shape (n_groups + 1,). Returns: float32,
    shape (n_groups,), 0 for a group without rows. Source: LightGBM 4.7, ``Metadata::CalculateQueryWeights``.

    >>> bool(single_means(np.full(7, 0.1), np.array([0, 7]))[0] == np.float32(0.1))
    False
    """
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    sizes = lengths[longest_first]
    starts = offsets[:-1][longest_first]
    single = weights.astype(np.float32)
    sums = np.zeros(lengths.size, dtype=np.float32)
    for place in range(int(sizes.max(initial=0))):
        n_long = int(np.searchsorted(-sizes, -place, "left"))
        sums[:n_long] += single[starts[:n_long] + place]
    means = np.zeros(lengths.size, dtype=np.float32)
    means[longest_first] = sums / np.maximum(sizes, 1).astype(np.float32)
    return means


_N_FIRST = 64


def are_whole(numbers: Floats) -> bool:
    """Return whether all numbers are whole; the first ones usually decide.

    >>> are_whole(np.array([1.0, 2.0])), are_whole(np.array([1.0, 2.5]))
    (True, False)
    """
    return all(bool((some == np.rint(some)).all()) for some in (numbers[:_N_FIRST], numbers))


NO_ITEMS = Ranking(Keys.from_bytes([]), np.zeros(1, dtype=np.int64), Keys.from_bytes([]), np.empty(0))
"""A run that ranks nothing."""


def may_be_grades(scores: Floats) -> bool:
    """Return whether scores look like grades: whole numbers from 0, unlike scores from ranks, which are negative.

    >>> may_be_grades(np.array([2.0, 0.0])), may_be_grades(np.array([-1.0, -2.0]))
    (True, False)
    """
    return are_whole(scores) and bool(scores.min(initial=0.0) >= 0.0)
