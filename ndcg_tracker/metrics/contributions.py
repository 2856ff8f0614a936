"""The contribution of every item of a run to the value of its group, and to the difference between two runs.

This computes the metric a second time, in the simplest way: item by item, the terms that cg, dcg and ndcg sum. The
tests compare it with the kernel, which does not keep single items apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.graded_list import GradeLevels, rank_weights, typed_grades, worth_of_grades
from ndcg_tracker.metrics.kernel.mean import GroupValues, mean_values
from ndcg_tracker.metrics.kernel.ties import tie_key
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask, join
from ndcg_tracker.rankings.grouping import group_codes, group_sums
from ndcg_tracker.rankings.join import Judged, JudgedRanking, matching_rows, own_rows, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, Ranking

ADDITIVE = ("cg", "dcg", "ndcg")
"""The measures that are a sum of gain x discount over the items of a list."""


@dataclass(frozen=True)
class Contributions:
    """The contribution of every item of a run to the value of its group.

    ``judged``: the run with its labels. ``values``: the values of its groups as the kernel computes them. ``groups``:
    int64, shape (n_items,), the place of each row of the ranking on the group axis. ``ranks``: int64, shape
    (n_items,), the rank from 1 under the metric's ``ties``, 0 for an item that the metric removes from the list. Under
    ``ties=average``, items of equal score share the first rank that they may have. ``grades``: float64, shape
    (n_items,), NaN for an unjudged item. ``contributions``: float64, shape (n_items,), gain x discount, for ndcg
    divided by the ideal of the group. ``listed`` and ``within``: float64, shape (n_items,), the share of the repeats
    that list the item, and that rank it within the cutoff: of a single run 1, and 0 or 1.
    """

    judged: JudgedRanking
    values: GroupValues
    groups: Index
    ranks: Index | Floats
    grades: Floats
    contributions: Floats
    listed: Floats
    within: Floats

    @property
    def metric(self) -> Metric:
        """The metric whose values are the sums of the contributions."""
        return self.values.metric


def refuse_what_is_not_split(metric: Metric) -> None:
    """Raise MetricError, with a metric to use instead, for a metric that cannot be split into items."""
    if metric.is_external:
        raise MetricError(
            f"another engine computed {metric}, so the contribution of each item is unknown",
            advice=f"explain ndcg@{metric.cutoff or 10} instead",
        )
    if metric.measure not in ADDITIVE:
        raise MetricError(
            f"{metric} cannot be split into items; only {', '.join(ADDITIVE[:-1])} and {ADDITIVE[-1]} can, because "
            "they sum gain x discount",
            advice=f"explain ndcg@{metric.cutoff or 10} instead",
        )


def contributions(judged: Judged, metric: Metric) -> Contributions:
    """Return the contribution of every item of a run to the value of its group under cg, dcg or ndcg.

    contribution = gain x discount(rank) / ideal, for cg and dcg without the division; 0 beyond the cutoff and in
    groups with nothing to find. Under ``ties=average``, the discount is the mean over the ranks that items of equal
    score share.

    Parameters: ``judged``, a run with its labels; ``metric``, on any axes. Raises: MetricError for a measure
    that is not a sum over items, and for a label or a group that an axis refuses. Agrees with: the kernel (a group's
    contributions sum to its value: tests/metrics/test_contributions.py).

    >>> from ndcg_tracker.rankings.join import judged

    >>> from ndcg_tracker.rankings.keys import Keys

    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group, items = Keys.from_strings("qqq"), Keys.from_strings("abc")
    >>> run = Ranking.from_rows(group, items, np.array([3.0, 2.0, 1.0]))
    >>> labels = LabelLists.from_rows(group, items, np.array([0.0, 1.0, 2.0]))
    >>> found = contributions(judged(run, labels), Metric.of("dcg", discount="position"))
    >>> found.contributions.round(4).tolist(), found.ranks.tolist()
    ([0.0, 0.5, 0.6667], [1, 2, 3])
    """
    refuse_what_is_not_split(metric)
    judged = judged.in_order
    from ndcg_tracker.metrics.kernel.values import group_values

    (values,) = group_values(judged, [metric])
    ranking = judged.ranking
    grades = np.full(ranking.n_items, np.nan)
    grades[judged.rows] = judged.labels.grades[judged.label_rows]
    worth = _gains(judged, metric)
    kept = _kept(judged, metric, grades)
    ranks = np.zeros(ranking.n_items, dtype=np.int64)
    weights = np.zeros(ranking.n_items)
    longest = int(np.diff(judged.ranking.offsets).max(initial=0))
    ranks[kept], weights[kept] = ranks_and_weights(judged, metric, kept, worth, rank_weights(metric, longest))
    groups = _places_on_axis(judged)[group_codes(ranking.offsets)]
    terms = worth * weights
    if metric.measure == "ndcg":
        has_ideal = ~values.empty & (values.ideal_dcg != 0)
        ideal = np.where(has_ideal, values.ideal_dcg, 1.0)
        terms = np.where(has_ideal[groups], terms / ideal[groups], 0.0)
    within = (ranks > 0) & (ranks <= (longest if metric.cutoff is None else metric.cutoff))
    return Contributions(judged, values, groups, ranks, grades, terms, np.ones(ranks.size), within.astype(np.float64))


def mean_contributions(parts: Sequence[Contributions]) -> Contributions:
    """Return the mean contributions of the items over repeats of one system under the same labels.

    An item adds nothing in a repeat that does not list it. Its rank is the mean over those that rank it: float64.

    >>> from ndcg_tracker.rankings.ranking import LabelLists
    >>> group, metric = Keys.from_strings("qq"), Metric.of("dcg", discount="position")
    >>> labels = LabelLists.from_rows(group, Keys.from_strings("ab"), np.array([1.0, 0.0]))
    >>> runs = [Ranking.from_rows(group, Keys.from_strings(items), np.array([2.0, 1.0])) for items in ("ab", "ca")]
    >>> found = mean_contributions([contributions(join.judged(run, labels), metric) for run in runs])
    >>> sorted(zip(found.judged.ranking.item_keys.to_list(), found.ranks.tolist(), found.contributions.tolist()))
    [('a', 1.5, 0.75), ('b', 2.0, 0.0), ('c', 1.0, 0.0)]
    """
    if len(parts) == 1:
        return parts[0]
    rankings = [part.judged.ranking for part in parts]
    hashes, firsts, codes = np.unique(
        np.concatenate([ranking.pair_hashes for ranking in rankings]), return_index=True, return_inverse=True
    )
    keys = zip(*(ranking.keys_of(np.arange(ranking.n_items)) for ranking in rankings), strict=True)
    groups, items = (Keys.joined(column).take(firsts) for column in keys)
    whole = join.judged(Ranking.from_rows(groups, items, np.zeros(firsts.size)), parts[0].judged.labels)
    values = mean_values([part.values for part in parts])
    order = np.searchsorted(hashes, whole.ranking.pair_hashes)

    def total(column: Sequence[Floats | Index | Mask]) -> Floats:
        return group_sums(codes, np.concatenate(column), hashes.size)[order]

    ranks = total([part.ranks for part in parts]) / np.maximum(total([part.ranks > 0 for part in parts]), 1)
    grades = np.concatenate([part.grades for part in parts])[firsts][order]
    of_groups = places_of(whole.ranking.group_keys, values.group_keys)[group_codes(whole.ranking.offsets)]
    means = [
        total([getattr(part, column) for part in parts]) / len(parts)
        for column in ("contributions", "listed", "within")
    ]
    return Contributions(whole, values, of_groups, ranks, grades, *means)


def _gains(judged: JudgedRanking, metric: Metric) -> Floats:
    """Return the gain of the item in each row of the ranking: float64, shape (n_items,)."""
    levels = GradeLevels.of(judged.labels.grades)
    of_level = gains_of(metric, levels.levels)
    gained = np.full(judged.ranking.n_items, metric.unjudged_gain)
    gained[judged.rows] = of_level[levels.codes[judged.label_rows]]
    return gained


def gains_of(metric: Metric, grades: Floats) -> Floats:
    """Return the gain of an item of each grade, for P and RBP whether it is relevant: float64, shape of ``grades``."""
    if metric.measure not in ADDITIVE:
        return (grades >= metric.least_relevant).astype(np.float64)
    return worth_of_grades(metric, typed_grades(metric, grades))


def _kept(judged: JudgedRanking, metric: Metric, grades: Floats) -> Index:
    """Return the rows of the ranking that the metric keeps in their lists."""
    kept = ~np.isnan(grades) if metric["unjudged"] == "drop" else np.ones(grades.size, dtype=np.bool_)
    if metric["own"] == "drop":
        kept[own_rows(judged.ranking)] = False
    if metric["negative"] == "drop":
        kept &= ~(grades < 0)
    return np.flatnonzero(kept)


def ranks_and_weights(
    judged: JudgedRanking, metric: Metric, kept: Index, worth: Floats, weight_of_rank: Floats
) -> tuple[Index, Floats]:
    """Return rank and weight of each row that a metric keeps: int64 and float64, shape of ``kept``.

    Parameters: ``kept``: int64, ascending rows of the ranking. ``worth``: float64, shape (n_items,), the key that
    breaks ties for the worst and the best case. ``weight_of_rank``: float64, entry r for rank r; ranks beyond the
    cutoff have weight 0.
    """
    ranking = judged.ranking
    with np.errstate(over="ignore"):  # a number too large for single precision becomes infinite, as in the kernel
        scores = ranking.scores.astype(np.float32) if metric["score_type"] == "f32" else ranking.scores
    scores, groups = scores[kept], group_codes(ranking.offsets)[kept]
    list_start = np.searchsorted(kept, ranking.offsets)
    ranks = np.arange(kept.size) - list_start[groups] + 1
    starts = np.ones(kept.size, dtype=np.bool_)
    starts[1:] = (scores[1:] != scores[:-1]) | (groups[1:] != groups[:-1])
    begins = np.flatnonzero(starts)
    lengths = np.diff(np.append(begins, kept.size))
    span = np.cumsum(starts) - 1
    tied = np.flatnonzero(lengths[span] > 1)
    if metric.cutoff is not None:
        weight_of_rank = weight_of_rank.copy()
        weight_of_rank[metric.cutoff + 1 :] = 0.0
    if metric["ties"] == "average":
        first = ranks[begins]
        sums = np.cumsum(weight_of_rank)
        weights = weight_of_rank[ranks]
        weights[tied] = ((sums[first + lengths - 1] - sums[first - 1]) / lengths)[span[tied]]
        return first[span], weights
    if tied.size:
        order = np.lexsort((tie_key(judged, metric, kept[tied], worth), span[tied]))
        ranks[tied[order]] = ranks[tied].copy()
    return ranks, weight_of_rank[ranks]


def _places_on_axis(judged: JudgedRanking) -> Index:
    """Return the place of each group of the run on the group axis."""
    places = np.zeros(judged.ranking.n_groups, dtype=np.int64)
    present = np.flatnonzero(judged.run_groups >= 0)
    places[judged.run_groups[present]] = present
    return places


def weight_of_rank(metric: Metric, n_ranks: int, *, of_ideal: bool = False) -> Floats:
    """Return the weight of each rank: float64, shape (n_ranks + 1,), entry r for rank r; entry 0 is 0."""
    if metric.measure in ("cg", "dcg", "ndcg"):
        return rank_weights(metric, n_ranks)
    ranks = np.arange(n_ranks + 1, dtype=np.float64)
    weights = (ranks > 0).astype(np.float64)
    if metric.measure == "P":
        weights /= float(metric.cutoff or 1)
    elif metric.measure == "RBP":
        weights *= (1 - float(metric["p"])) * float(metric["p"]) ** np.maximum(ranks - 1, 0)
    elif metric.measure == "RR":
        weights[1:] /= ranks[1:]
    if metric.cutoff is not None and not of_ideal:
        weights[metric.cutoff + 1 :] = 0.0
    return weights


def weights_of_rows(judged: JudgedRanking, metric: Metric) -> tuple[Index, Floats]:
    """Return the rank of each row of a run and its weight, 0 beyond the cutoff: int64 and float64, shape (n_items,)."""
    every = np.arange(judged.ranking.n_items)
    longest = int(np.diff(judged.ranking.offsets).max(initial=0))
    return ranks_and_weights(judged, metric, every, np.zeros(every.size), weight_of_rank(metric, longest))


def items_with(numbers: Floats, judged: JudgedRanking, groups: Keys) -> tuple[GroupedItems, Index]:
    """Return the items of a run in some groups whose number is not 0, and the place of each group of the run."""
    ranking = judged.ranking
    places = places_of(ranking.group_keys, groups)
    rows = np.flatnonzero(numbers)
    rows = rows[places[np.searchsorted(ranking.offsets, rows, "right") - 1] >= 0]
    offsets = np.searchsorted(rows, ranking.offsets)
    return GroupedItems(ranking.group_keys, offsets, ranking.item_keys.take(rows), numbers[rows]), places


def matched_items(
    of_baseline: tuple[GroupedItems, Index], of_candidate: tuple[GroupedItems, Index]
) -> tuple[Index, tuple[Floats, Floats], Keys]:
    """Return the items that are in either run, each once: groups in ascending order, weights and ids."""
    (items, places), (others, other_places) = of_baseline, of_candidate
    rows, other_rows = matching_rows(items, others)
    alone = np.ones(others.n_items, dtype=np.bool_)
    alone[other_rows] = False
    further = np.flatnonzero(alone)
    groups = np.concatenate([places[group_codes(items.offsets)], other_places[group_codes(others.offsets)[further]]])
    baseline = np.concatenate([items.numbers, np.zeros(further.size)])
    candidate = np.concatenate([np.zeros(items.n_items), others.numbers[further]])
    candidate[rows] = others.numbers[other_rows]
    order = np.argsort(groups, kind="stable")
    keys = Keys.joined([items.item_keys, others.item_keys.take(further)]).take(order)
    return groups[order], (baseline[order], candidate[order]), keys
