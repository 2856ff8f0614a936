"""Two runs by drawn answers: which queries are known, drawn or left out, and the check of who gave the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.contributions import items_with, matched_items, weights_of_rows
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import SUMS
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.join import JudgedRanking, matching_rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists
from ndcg_tracker.statistics.drawn_queries import MOST_LEFT_OUT, DrawnMean, DrawnQueries, draw_order, stakes_of
from ndcg_tracker.statistics.t_test import TTest

Aim = Literal["judge", "holes"]
"""What answers do: check a judge, or fill the holes of people's labels."""
NO_ANSWER, OLD, NEW = -1, 0, 1
"""An item without an answer, with one that is older than the later of both runs, and with a newer one."""


def why_not_drawn(metric: Metric) -> str | None:
    """Return why answers cannot give the exact value of a query under a metric, None if they can.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [why_not_drawn(parse_metric(text)) for text in ("R@10", "ndcg")]
    [None, 'it has no cutoff']
    """
    if metric.is_external or metric.shown_only or metric.direction == "lower" or metric.summary != "mean":
        return "its values are not those of labelled lists"
    if metric.cutoff is None:
        return "it has no cutoff"
    settings = dict(metric.settings)
    deeper = {"unjudged": "zero", "own": "keep", "depth": "all", "ideal": "judged", "weights": "none"}
    for axis, usual in deeper.items():
        if settings.get(axis, usual) != usual:
            return f"{axis}={settings[axis]} looks deeper than its cutoff"
    if settings.get("ties") in ("pessimistic", "optimistic"):
        return f"ties={settings['ties']} depends on the grades"
    return None


def check_drawable(metric: Metric) -> None:
    """Refuse a metric that answers to whole queries do not give (InputError)."""
    why = why_not_drawn(metric)
    if why is not None:
        advice = f"use {argument('metric', f'{metric.measure}@10' if metric.cutoff is None else 'ndcg@10')}"
        raise InputError(f"whole queries are not drawn for it: {why}", where=metric.requested_as, advice=advice)


@dataclass(frozen=True)
class Pool:
    """The items in the first ranks of two runs, in some groups.

    ``keys``: the groups. ``groups``: int64, ascending, the place of each item's group. ``items``: the ids. ``before``,
    ``after``: float64, the weight of its rank in baseline and candidate, 0 outside the first ranks.
    """

    keys: Keys
    groups: Index
    items: Keys
    before: Floats
    after: Floats

    @classmethod
    def of(cls, baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, keys: Keys) -> Pool:
        """Return the items in the first ranks that a metric looks at."""
        shared = {name: value for name, value in metric.settings if name in ("ties", "score_type")}
        weigh = Metric.of("dcg", cutoff=metric.cutoff, **shared)
        sides = [items_with(weights_of_rows(side, weigh)[1], side, keys) for side in (baseline, candidate)]
        groups, (before, after), items = matched_items(sides[0], sides[1])
        return cls(keys, groups, items, before, after)

    @cached_property
    def offsets(self) -> Index:
        """Which items each group has: int64, shape (n_groups + 1,)."""
        return np.searchsorted(self.groups, np.arange(len(self.keys) + 1))

    def count(self, which: Mask) -> Index:
        """Return how many of some items each group has: int64, shape (n_groups,)."""
        return np.bincount(self.groups[which], minlength=len(self.keys))

    def same_lists(self) -> Mask:
        """Return where both runs have the same items at the same ranks: bool, shape (n_groups,)."""
        return np.asarray(self.count(self.before != self.after) == 0)

    def numbers(self, lists: LabelLists, none: float = np.nan) -> Floats:
        """Return the number that labels have for each item: float64, shape (n,), ``none`` without a label."""
        found = np.full(self.groups.size, none)
        rows, label_rows = self._rows_in(lists)
        found[rows] = lists.grades[label_rows]
        return found

    def _rows_in(self, lists: LabelLists) -> tuple[Index, Index]:
        """Return the items that have a label, and the rows of these labels."""
        return matching_rows(GroupedItems(self.keys, self.offsets, self.items, self.before), lists)

    def labels(self, grades: Floats, base: LabelLists | None = None) -> LabelLists:
        """Return grades of the items (NaN: none) as labels; ``base``: labels of further items, which stay."""
        has = np.flatnonzero(~np.isnan(grades))
        own = LabelLists.from_rows(self.keys.take(self.groups[has]), self.items.take(has), grades[has])
        return own if base is None else own.with_rows(base, np.delete(np.arange(base.n_items), self._rows_in(base)[1]))


@dataclass(frozen=True)
class Standing:
    """Which groups are known for two runs, and which are drawn, in the permanent order.

    ``is_open``: bool, by item of the pool: nobody had graded it before the later run. ``known``: bool, shape
    (n_groups,): no item is open, or older answers tell all. ``has_old``: the same, where some answer is older.
    ``order``: the places of the other groups, which are drawn in this order. ``full``: bool, of each of these, whether
    all of its open items have answers. ``to_ask``: bool, by item.
    """

    is_open: Mask
    known: Mask
    has_old: Mask
    order: Index
    full: Mask
    to_ask: Mask

    @classmethod
    def of(cls, pool: Pool, metric: Metric, aim: Aim, seed: str, has_label: Mask, answers: Index) -> Standing:
        """Return it; ``has_label``: bool, and ``answers``: ``NO_ANSWER``, ``OLD`` or ``NEW``, by item of the pool."""
        is_open = (answers == NEW) | ((answers == NO_ANSWER) & ~has_label)
        if aim == "holes" and metric.measure in (*SUMS, "ndcg", "R"):  # an item at one rank moves only the ideal
            is_open &= pool.before != pool.after
        to_ask = is_open & (answers == NO_ANSWER)
        has_old = pool.count(answers == OLD) > 0
        known = pool.same_lists() | (pool.count(is_open) == 0) | (has_old & (pool.count(to_ask) == 0))
        rest = np.flatnonzero(~known & ~has_old)
        order = rest[draw_order(seed, pool.keys.take(rest).to_bytes_list())]
        return cls(is_open, known, has_old, order, pool.count(to_ask)[order] == 0, to_ask)

    @property
    def n_drawn(self) -> int:
        """How many groups of the order are drawn: up to the last one that is fully answered."""
        full = np.flatnonzero(self.full)
        return int(full[-1]) + 1 if full.size else 0


@dataclass(frozen=True)
class DrawnDeltas:
    """The differences of the paired groups: exact where ``known`` or ``drawn`` says so, else without asking.

    ``control``, ``values``, ``costs``: float64, shape (n,), the difference without asking, the baseline's value, and
    what open items could cost (``drawn_queries.without_asking``). ``exact``: the baseline's exact values. ``known``,
    ``drawn``, ``left_out``: bool, shape (n,).
    """

    delta: Floats
    control: Floats
    values: Floats
    costs: Floats
    exact: Floats
    known: Mask
    drawn: Mask
    left_out: Mask

    def of(self, places: Index | Mask) -> DrawnDeltas:
        """Return the same for some of the groups."""
        return DrawnDeltas(*(getattr(self, name)[places] for name in self.__dataclass_fields__))

    def queries(self, clusters: Index | None = None) -> DrawnQueries:
        """Return what is known of the mean."""
        rest = ~self.known
        stakes = stakes_of(self.values[rest], self.costs[rest], self.exact[self.drawn])
        return DrawnQueries(
            self.delta[self.drawn],
            self.control[self.drawn],
            self.control[rest & ~self.drawn],
            stakes,
            self.delta[self.known],
            stakes[self.left_out[rest]],
            None if clusters is None else np.bincount(clusters),
        )

    def favour(self, clusters: Index | None = None) -> tuple[float, float] | None:
        """Return the interval at 95% of how far the control errs on average, None if it is not known."""
        error, zeros = self.control - self.delta, np.zeros(self.delta.size)
        apart = DrawnDeltas(error, zeros, zeros, zeros, zeros, self.known, self.drawn, self.left_out)
        return apart.queries(clusters).mean().interval

    def test(self, clusters: Index | None, least_apart: int = 0) -> TTest:
        """Return the test of the mean; without an inference where too few groups are answered."""
        if not self.delta.size:
            return TTest(0, None, None)
        queries = self.queries(clusters)
        found, decides = queries.mean(), queries.decides(least_apart=least_apart)
        if not decides or (p_value := found.p_value()) is None:
            return TTest(self.delta.size, found.estimate, None)
        t = max(abs(found.estimate) - found.allowance, 0.0) / found.error
        inferred = p_value, found.interval, found.error, float(found.df), found.allowance
        return TTest(self.delta.size, found.estimate, None, float(np.copysign(t, found.estimate)), *inferred)


@dataclass(frozen=True, slots=True)
class DrawnCheck:
    """What drawn answers say, in addition to the difference that decides.

    ``checked_by``: who answered ``designs``, "" for people without a name. ``n_groups``: all groups; ``n_known`` of
    them had nothing open, ``n_answered`` were drawn and are fully answered, ``n_left_out`` were drawn before the last
    of these and are not, some by name in ``left_out``. ``n_missing``: how many more answered groups a verdict needs.
    ``n_open``: how many items were open, ``n_graded`` of them in drawn groups. ``decides``: whether there is a verdict.
    ``is_complete``: whether all groups are known or answered, so that the ordinary test decides. ``mean``: what
    decides, None if complete.
    """

    aim: Aim
    checked_by: str
    designs: tuple[int, ...]
    n_groups: int
    n_known: int
    n_answered: int
    n_left_out: int
    left_out: tuple[str, ...]
    n_missing: int
    n_open: int
    n_graded: int
    decides: bool
    is_complete: bool
    mean: DrawnMean | None = field(default=None, metadata={"only_in_python": True})

    @property
    def are_many_left_out(self) -> bool:
        """Whether more than one in eight of the drawn groups are not fully answered."""
        return self.n_missing == 0 and self.n_left_out > MOST_LEFT_OUT * (self.n_answered + self.n_left_out)

    @property
    def n_needed(self) -> int:
        """How many answered groups a verdict needs."""
        return self.n_answered + self.n_missing

    def p_value(self, p_value: float | None, n_tests: int) -> float | None:
        """Return the p-value for Holm's correction over so many tests."""
        return p_value if p_value is None or self.mean is None else self.mean.p_value(max(n_tests, 1))


def named(keys: Sequence[str], most: int = 3) -> str:
    """Return some groups by name.

    >>> named(["a", "b", "c", "d"])
    "'a', 'b', 'c' and 1 more"
    """
    more = f" and {len(keys) - most:,} more" if len(keys) > most else ""
    return ", ".join(map(repr, keys[:most])) + more
