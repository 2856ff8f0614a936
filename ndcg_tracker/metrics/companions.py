"""The measures that are read beside NDCG, under ir_measures' names and with its values."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.lists import Lists
from ndcg_tracker.metrics.ranked import RankedGains, ranked_gains
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats

ERR_GRADES = 4
"""ERR takes grade 4 for the best there is, as gdeval does."""


def companion(lists: Lists, metric: Metric) -> Floats:
    """Return a companion measure of every group of the group axis, 0 where the run lacks it: float64, shape (n,).

    With r relevant items among the first k ranks, R in all, and n items in the list: ``P`` = r / k. ``R`` = r / R.
    ``AP`` = the sum over relevant items of the precision at their rank, / R. ``RR`` = 1 / the first relevant rank.
    ``Success`` = 1 if r > 0. ``SetP`` = r / n. ``Judged`` = labelled items / min(k, n). ``RBP`` = (1 - p) x the sum
    of p**(i - 1) over relevant ranks i. ``ERR`` = the sum over ranks i of 1/i x s(i) x the product of 1 - s(j) over j
    < i, with s = (2**grade - 1) / 16. Source: ir_measures 0.4, through trec_eval (P, R, AP, RR, Success, SetP),
    gdeval (ERR), cwl_eval (RBP) and its own Judged; ERR: Chapelle et al., CIKM 2009, eq. 4; RBP: Moffat and Zobel,
    TOIS 27(1), 2008.
    """
    grades = lists.level_grades(metric)
    graded = lists.graded(metric)
    if metric.measure == "Judged":
        level_gains = np.ones(grades.size)
    elif metric.measure == "ERR":
        level_gains = np.exp2(np.clip(grades, 0, None)) - 1
    else:
        level_gains = (grades >= float(metric["rel"])).astype(np.float64)
    ranked = ranked_gains(lists, metric, level_gains, every=metric.measure == "Judged")
    lengths = graded.lengths
    n_groups = lengths.size
    shown = lengths if metric.cutoff is None else np.minimum(lengths, metric.cutoff)
    ranks = np.arange(int(lengths.max(initial=0)) + 1)
    within = (ranks > 0) & (ranks <= (ranks.size if metric.cutoff is None else metric.cutoff))
    if metric.measure in ("AP", "RR", "Success", "ERR"):
        kept = within[ranked.ranks]
        return _by_rank(lists, metric, _only(ranked, kept), level_gains, n_groups)
    weight_of_rank = within.astype(np.float64)
    if metric.measure == "RBP":
        persistence = float(metric["p"])
        weight_of_rank *= (1 - persistence) * persistence ** np.maximum(ranks - 1, 0).astype(np.float64)
    found = group_sums(ranked.groups, ranked.weights(weight_of_rank), n_groups)
    if metric.measure == "R":
        return _ratio(lists.of_axis(found), _n_relevant(lists, level_gains))
    if metric.measure == "P":
        return lists.of_axis(found) / float(metric.cutoff or 1)
    if metric.measure in ("SetP", "Judged"):
        found = _ratio(found, shown.astype(np.float64))
    return lists.of_axis(found)


def _only(ranked: RankedGains, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RankedGains:
    nothing: Index = np.zeros(0, dtype=np.int64)
    return RankedGains(ranked.gains[kept], ranked.groups[kept], ranked.ranks[kept], nothing, nothing, nothing)


def _by_rank(lists: Lists, metric: Metric, ranked: RankedGains, level_gains: Floats, n_groups: int) -> Floats:
    """Return a measure in which the items before an item matter; the items stand group by group, rank by rank."""
    groups, ranks = ranked.groups, ranked.ranks
    starts = np.searchsorted(groups, np.arange(n_groups))
    place = np.arange(groups.size) - starts[groups]  # how many found items stand before it
    if metric.measure == "AP":
        precision = (place + 1) / ranks
        return _ratio(lists.of_axis(group_sums(groups, precision, n_groups)), _n_relevant(lists, level_gains))
    first = place == 0
    if metric.measure == "RR":
        return lists.of_axis(group_sums(groups[first], 1.0 / ranks[first], n_groups))
    if metric.measure == "Success":
        return lists.of_axis(group_sums(groups[first], None, n_groups))
    satisfied = ranked.gains / 2.0**ERR_GRADES
    reached = np.ones(groups.size)  # the probability that a user is still looking: one factor per round, for all groups
    for round_ in range(1, int(place.max(initial=0)) + 1):
        at = np.flatnonzero(place == round_)
        reached[at] = reached[at - 1] * (1 - satisfied[at - 1])
    return lists.of_axis(group_sums(groups, reached * satisfied / ranks, n_groups))


def _n_relevant(lists: Lists, level_gains: Floats) -> Floats:
    labels = lists.judged.labels
    relevant = level_gains[lists.levels.codes] > 0
    before = np.concatenate([[0], np.cumsum(relevant)])
    return lists.of_labels(np.diff(before[labels.offsets]).astype(np.float64))


def _ratio(numbers: Floats, totals: Floats) -> Floats:
    return np.divide(numbers, totals, out=np.zeros(numbers.size), where=totals > 0)
