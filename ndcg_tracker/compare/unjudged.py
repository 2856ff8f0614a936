"""What labels leave open: the differences for both extremes of unjudged items, and who labelled what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.results import JudgedShare, OpenDeltas, OpenStop, ShareByHand, Worth, most_open
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.unjudged_bounds import (
    extreme_deltas,
    unjudged_items,
    unjudged_range,
    what_stops,
    what_stops_range,
)
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import JudgedRanking, judged, matching_rows, places_of

if TYPE_CHECKING:
    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.rankings.keys import Keys
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.records import LabelSetRecord
    from ndcg_tracker.storage.store import ReadTransaction

HAND_GAP = 0.1
"""If the shares that one judge labelled differ by more than this, the judges may have made the difference."""
MOST_GROUPS = 20_000
"""With more groups, a comparison reads the items only on request."""


def open_deltas(
    tx: ReadTransaction,
    both: RunPair,
    results: Sequence[PairedResults],
    coverage: Sequence[JudgedShare],
    worth: Worth | None = None,
) -> list[OpenDeltas | None]:
    """Return what the labels of two runs or arms leave open in each metric, None if they leave nothing open.

    ``worth``: None for "range" if it may matter: up to 20,000 groups, and less than 95% judged, or clearly more judged
    in one run. Items are read once, and only if they are needed. With arms, each run is compared with each, and the
    ends are the means over these pairs.
    """
    sides = _Sides(tx, both, next((of.graded for of in results if of.graded is not None), None))
    pairs = zip(both.metrics, results, strict=True)
    return [_open(sides, metric, of_metric, coverage, worth) for metric, of_metric in pairs]


def _open(
    sides: _Sides, metric: Metric, results: PairedResults, coverage: Sequence[JudgedShare], worth: Worth | None
) -> OpenDeltas | None:
    share = next((share for share in coverage if share.cutoff == metric.cutoff), None)
    if share is None or metric.is_external or metric.shown_only or results.not_judged is not None:
        return None
    if worth is None and results.pairing.group_ids.size > MOST_GROUPS:
        return OpenDeltas("range", share, stop="size") if share.is_open else None
    hands = sides.hand_shares(metric.cutoff) if sides.hands is not None and sides.has_items else ()
    left = OpenDeltas(worth or "range", share, hands=hands)
    if not (share.is_open if worth is None else share.baseline != 1.0 or share.candidate != 1.0):
        return replace(left, stop="hands") if hands else None
    stop = sides.stop(metric, results, left.worth)
    if stop is not None:
        return replace(left, stop=stop, shown_runs=sides.shown_runs if stop == "logs" else ())
    keys = sides.tx.groups.keys(sides.both.dataset_id, results.pairing.group_ids)
    ends = [_ends(baseline, candidate, metric, keys, left.worth) for baseline, candidate in product(*sides.judged)]
    low = results.pairing.delta + np.mean([down for down, _, _ in ends], axis=0)
    high = results.pairing.delta + np.mean([up for _, up, _ in ends], axis=0)
    low, high = (np.clip(end, *(results.limits or (-np.inf, np.inf))) for end in (low, high))
    return replace(left, n_items=max(n_items for _, _, n_items in ends), low=low, high=high)


class _Sides:
    """The items of all runs of two arms with their labels, read when they are wanted."""

    def __init__(self, tx: ReadTransaction, both: RunPair, graded: LabelLists | None = None) -> None:
        self.tx = tx
        self.both = both
        self._graded = graded
        every = {label_set.version: label_set for label_set in tx.labels.sets(both.dataset_id, None)}
        self._chain = [both.baseline.label_set]
        while (before := every.get(self._chain[-1].extends or 0)) is not None:
            self._chain.append(before)

    @cached_property
    def has_items(self) -> bool:
        """Whether the items of all runs are stored."""
        return all("items" in self.tx.runs.holds(side.run.id) for sides in self.both.sides_of for side in sides)

    @cached_property
    def labels(self) -> LabelLists:
        """The labels of both, with the answers that count as labels."""
        return self._graded or self.tx.labels.lists(self.both.baseline.label_set.id)

    @cached_property
    def judged(self) -> list[list[JudgedRanking]]:
        """The runs of both arms with their labels."""
        return [
            [judged(self.tx.runs.ranking(side.run.id), self.labels) for side in of_arm] for of_arm in self.both.sides_of
        ]

    @cached_property
    def shown_runs(self) -> tuple[str, ...]:
        """The runs whose logs the labels come from, where a side is not among them."""
        shown = dict.fromkeys(name for label_set in self._chain for name in (label_set.from_runs or {}).get("runs", ()))
        names = {side.run.name for sides in self.both.sides_of for side in sides}
        return () if names <= shown.keys() else tuple(shown)

    def stop(self, metric: Metric, results: PairedResults, worth: Worth) -> OpenStop | None:
        """Return why no end of the differences is known, None where both are."""
        if not self.has_items:
            return "items"
        if results.means is not None:
            return "measure"
        grades = np.unique(self.labels.grades)
        if worth == "bounds":
            return what_stops(metric, grades, results.pairing.group_ids.size)
        if grades.size and grades[0] > 0:
            return "logs" if self.shown_runs else "positives"
        return what_stops_range(metric, grades)

    @cached_property
    def hands(self) -> tuple[list[str], Index] | None:
        """Who labelled, and who gave each label; None if one judge gave all."""
        names = list(dict.fromkeys(label_set.hand for label_set in self._chain))
        if len(names) == 1:
            return None
        of_label = np.full(self.labels.n_items, names.index(self._chain[0].hand), dtype=np.int64)
        last: LabelSetRecord = self._chain[0]
        for label_set in self._chain[1:]:
            if label_set.hand != last.hand:  # the latest version by this judge has all labels that it gave
                rows, _ = matching_rows(self.labels, self.tx.labels.lists(label_set.id))
                of_label[rows] = names.index(label_set.hand)
            last = label_set
        return names, of_label

    def hand_shares(self, cutoff: int | None) -> tuple[ShareByHand, ...]:
        """Return the judges whose shares of the judged first ranks are over 10 points apart, most different first."""
        assert self.hands is not None
        names, of_label = self.hands
        shares = [
            np.mean([_shares_by_hand(run, of_label, len(names), cutoff) for run in of_arm], axis=0)
            for of_arm in self.judged
        ]
        apart = [ShareByHand(name, *map(float, both)) for name, *both in zip(names, *shares, strict=True)]
        apart = [share for share in apart if abs(share.candidate - share.baseline) > HAND_GAP]
        own = self.both.baseline.label_set.judge  # another judge comes first: it can be asked to label everything

        def place(share: ShareByHand) -> tuple[bool, float, float]:
            gap = share.candidate - share.baseline
            return share.hand == own, -round(abs(gap), 9), -gap

        return tuple(sorted(apart, key=place))


def _shares_by_hand(run: JudgedRanking, of_label: Index, n_hands: int, cutoff: int | None) -> Floats:
    offsets = run.ranking.offsets
    ranks = run.rows - offsets[group_codes(offsets)[run.rows]]
    first = run.label_rows if cutoff is None else run.label_rows[ranks < cutoff]
    return np.bincount(of_label[first], minlength=n_hands) / max(first.size, 1)


def joined_deltas(lefts: Iterable[OpenDeltas | None]) -> OpenDeltas | None:
    """Return what several datasets leave open together, without differences; None where none does.

    The judged share is the mean over the datasets that leave something open.
    """
    opened = [left for left in lefts if left is not None]
    if not opened:
        return None
    baseline, candidate = (
        None if None in shares else sum(filter(None, shares)) / len(shares)
        for shares in zip(*((left.share.baseline, left.share.candidate) for left in opened), strict=True)
    )
    share = JudgedShare(opened[0].share.cutoff, baseline, candidate)
    stopped = most_open(opened)
    return replace(stopped, share=share, n_items=sum(left.n_items for left in opened), low=None, high=None)


def _ends(
    baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, keys: Keys, worth: Worth
) -> tuple[Floats, Floats, int]:
    """Return how far down and up the difference of each group may move, and how many items are unjudged."""
    if worth == "range":
        moved = unjudged_range(baseline, candidate, metric, keys)
        return moved.low, moved.high, moved.n_items
    items = unjudged_items(baseline, candidate, metric, keys)
    values = [_values(side, metric, keys) for side in (baseline, candidate)]
    least, greatest = extreme_deltas(items, *values)
    delta = values[1] - values[0]
    return least - delta, greatest - delta, items.groups.size


def _values(side: JudgedRanking, metric: Metric, keys: Keys) -> Floats:
    (values,) = group_values(side, [metric])
    of_keys = np.append(values.values, 0.0)[places_of(keys, values.group_keys)]
    return np.where(np.isnan(of_keys), 0.0, of_keys)
