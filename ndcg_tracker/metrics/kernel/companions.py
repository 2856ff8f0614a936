"""The measures other than cumulated gain: ``_VALUES``, at the end, names the function of each.

They are the measures of ir_measures, with its names and values, and all measures of trec_eval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import MetricError
from ndcg_tracker.extensions import MEASURES as FROM_PACKAGES
from ndcg_tracker.extensions import loaded
from ndcg_tracker.metrics.kernel.cumulated import level_gains, sorted_ideal
from ndcg_tracker.metrics.kernel.graded_list import rank_weights
from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.ties import RankedGains, ranked_gains
from ndcg_tracker.metrics.language.axes import numbers_of
from ndcg_tracker.metrics.language.measures import CUMULATED, LEAST_OF_GEOMETRIC
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.sorting import group_columns

INFAP_EPSILON = 0.00001
"""The smoothing constant of infAP: trec_eval.h, INFAP_EPSILON."""

_RELEVANT, _NOT_RELEVANT = 2.0, 1.0


def companion(lists: Lists, metric: Metric) -> Floats:
    """Return a companion measure of every group of the group axis: float64, shape (n,).

    With r relevant items among the first k ranks, R in all, and n items in the list: ``P`` = r / k. ``R`` = r / R.
    ``AP`` = the sum over relevant items of the precision at their rank, / R. ``over`` names another divisor of these:
    k, min(k, R), r or min(k, n). ``F1`` = (b + 1) P R / (b P + R) = (b + 1) r / (b R + k). ``RR`` = 1 / the first
    relevant rank. ``Success`` = 1 if r > 0. ``AUC`` = pairs of a relevant and another item below it / (R x other items
    in the list). ``FallOut`` = (min(k, n) - r) / other items in the list. ``Judged`` = labelled items / min(k, n).
    ``RBP`` = (1 - p) x the sum of p**(i - 1) over relevant ranks i. ``ERR`` = the sum over ranks i of 1/i x s(i) x the
    product of 1 - s(j) over j < i, with s = (2**grade - 1) / 2**highest; ``PFound`` the same with p**(i - 1) in place
    of 1/i, and s = grade / highest. ``SetP`` = r / n; the other measures: see the functions that compute them. A ratio
    whose divisor is 0 is 0. Source: ir_measures 0.4, through trec_eval (P, R, AP, RR, Success, SetP), gdeval (ERR),
    cwl_eval (RBP) and its own Judged; ERR: Chapelle et al., CIKM 2009, eq. 4; RBP: Moffat and Zobel, TOIS 27(1), 2008;
    all others: trec_eval 9.0.8 and 10.0, the file ``m_*.c`` that each function names.
    """
    return _VALUES.get(metric.measure, _of_package)(lists, metric)


def worth_of_levels(lists: Lists, metric: Metric) -> Floats:
    """Return what an item of each grade is worth to a measure, which orders ties for the worst and best case.

    If the measure has gains: the gain. Else by default 1 from ``rel`` on, else 0. If it counts judgments: 1 for a
    judged item; if it counts missing judgments: -1. If judged nonrelevant items count against a list: 2 for a relevant
    item, 1 for a judged nonrelevant item, 0 below grade 0.
    """
    grades = lists.level_grades(metric)
    if metric.measure in _WITH_GAINS or metric["graded"] == "True":
        return level_gains(lists, metric, grades)
    if metric.measure == "Judged":
        return np.ones(grades.size)
    if metric.measure in ("Unjudged", "RBPResidual"):
        return np.where(grades >= 0, -1.0, 0.0)
    if metric.measure == "ERR":
        return np.exp2(np.clip(grades, 0, None)) - 1
    if metric.measure == "PFound":
        return np.clip(grades, 0, None)
    if metric.measure == "NumRet" and metric["rel"] == "any":
        return np.zeros(grades.size)
    if metric.measure == "NumQ":
        return np.ones(grades.size)
    relevant = grades >= metric.least_relevant
    if metric.measure == "FallOut":
        return np.where(relevant, -1.0, 0.0)
    if metric.measure in _AGAINST_JUDGED:
        return np.where(relevant, _RELEVANT, np.where(grades >= 0, _NOT_RELEVANT, 0.0))
    return relevant.astype(np.float64)


_OF_GAINS = ("G", "ndcg_rel", "Rndcg")
_WITH_GAINS = (*CUMULATED, *_OF_GAINS)
_AGAINST_JUDGED = ("Bpref", "GMBpref", "infAP")


def _sum_over_ranks(lists: Lists, metric: Metric) -> Floats:
    """Return P, R, F1, AUC, FallOut, Judged, Unjudged, RBP or RBPResidual: sums of a weight per rank over some items.

    ``P(relative=True)`` = r / min(k, R): m_rel_P.c. ``RBP(graded=True)`` sums the grade, divided by the highest grade
    of the group if that is above 1: m_rbp.c of trec_eval 10. ``Unjudged`` = items without a label of 0 or above among
    the first k / k: m_unjudged.c. ``RBPResidual`` = (1 - p) x the sum of p**(i - 1) over the ranks i that hold such an
    item, + p**n, or 0 if there is no such item: m_rbp_resid.c.
    """
    level_worth = worth_of_levels(lists, metric)
    ranked = ranked_gains(lists, metric, level_worth, every=metric.measure == "Judged")
    lengths = lists.graded(metric).lengths
    ranks = np.arange(int(lengths.max(initial=0)) + 1)
    within = (ranks > 0) & (ranks <= (ranks.size if metric.cutoff is None else metric.cutoff))
    weight_of_rank = within.astype(np.float64)
    if metric.measure in ("RBP", "RBPResidual"):
        persistence = float(metric["p"])
        weight_of_rank *= (1 - persistence) * persistence ** np.maximum(ranks - 1, 0).astype(np.float64)
    if metric.measure == "AUC":
        weight_of_rank *= ranks
    weights = ranked.weights(weight_of_rank)
    if metric["graded"] == "True":
        weights *= ranked.gains
    sums = group_sums(ranked.groups, weights, lengths.size)
    if metric.measure in ("P", "R"):
        return _divided(lists, metric, lists.of_axis(sums))
    if metric.measure == "F1":
        beta = float(metric["beta"])
        return (beta + 1.0) * lists.of_axis(sums) / (beta * _n_relevant(lists, metric) + float(metric.cutoff or 1))
    shown = lengths if metric.cutoff is None else np.minimum(lengths, metric.cutoff)
    if metric.measure == "AUC":
        found = lists.listed_sums(metric, level_worth)
        in_order = lists.of_axis(found * lengths - sums - found * (found - 1) / 2)
        return _ratio(in_order, _n_relevant(lists, metric) * lists.of_axis(lengths - found))
    if metric.measure == "FallOut":
        return _ratio(lists.of_axis(shown - sums), _n_other(lists, metric))
    if metric.measure == "Judged":
        sums = _ratio(sums, shown.astype(np.float64))
    elif metric.measure == "Unjudged":
        sums = (np.minimum(lengths, metric.cutoff or 1) - sums) / float(metric.cutoff or 1)
    elif metric.measure == "RBPResidual":
        of_all = 1 - persistence ** lengths.astype(np.float64)
        n_judged = -lists.listed_sums(metric, level_worth)
        sums = np.where(n_judged < lengths, of_all - sums + persistence ** lengths.astype(np.float64), 0.0)
    elif metric["graded"] == "True":
        return lists.of_axis(sums) / np.maximum(_highest(lists, metric, level_worth), 1.0)
    return lists.of_axis(sums)


def _divided(lists: Lists, metric: Metric, sums: Floats, found: Floats | None = None) -> Floats:
    """Return the sums of P, R or AP divided by what ``over`` and ``relative`` name, 0 if that is 0.

    Parameters: ``found``: the number of relevant items among the first ranks, for ``over=found``.
    """
    over = "achievable" if metric["relative"] == "True" else metric["over"]
    cutoff = np.inf if metric.cutoff is None else float(metric.cutoff)
    if over == "cutoff":
        return sums / cutoff
    if over == "list":
        return _ratio(sums, np.minimum(cutoff, lists.of_axis(lists.graded(metric).lengths.astype(np.float64))))
    if over == "found" and found is not None:
        return _ratio(sums, found)
    wanted = _n_relevant(lists, metric)
    return _ratio(sums, np.minimum(cutoff, wanted) if over == "achievable" else wanted)


def _of_counts(lists: Lists, metric: Metric) -> Floats:
    """Return a measure that ignores the order, from the numbers of items that are listed, relevant, and both.

    With r relevant items in the list, R in all, n items in the list: ``SetP`` = r / n (``relative=True``: r /
    min(n, R)), ``SetR`` = r / R, ``SetAP`` = r**2 / (n R), ``SetF`` = (b + 1) P R / (b P + R) with P = r / n, R = r /
    R: m_set_P.c, m_set_rel_P.c, m_set_recall.c, m_set_map.c, m_set_F.c. ``Utility`` = a r + b (n - r) + c (R - r) +
    d (N + r - n - R), N the size of the collection: m_utility.c. ``NumRet`` = n (with ``rel``: r), ``NumRel`` = R,
    ``NumQ`` = 1, ``NumNonrelJudgedRet`` = items of the list with a label from 0 on and below ``rel``: m_num_*.c.
    """
    grades = lists.level_grades(metric)
    n_groups = lists.judged.n_groups
    if metric.measure == "NumQ":
        return np.ones(n_groups)
    if metric.measure == "NumRel":
        return _n_relevant(lists, metric)
    listed = lists.of_axis(lists.graded(metric).lengths.astype(np.float64))
    if metric["rel"] == "any":
        return listed
    relevant = grades >= metric.least_relevant
    if metric.measure == "NumNonrelJudgedRet":
        return lists.of_axis(lists.listed_sums(metric, (~relevant & (grades >= 0)).astype(np.float64)))
    retrieved = lists.of_axis(lists.listed_sums(metric, relevant.astype(np.float64)))
    if metric.measure == "NumRet":
        return retrieved
    if metric.measure == "SetP" and metric["relative"] == "False":
        return _ratio(retrieved, listed)
    wanted = _n_relevant(lists, metric)
    if metric.measure == "SetP":
        return _ratio(retrieved, np.minimum(listed, wanted))
    if metric.measure == "SetR":
        return _ratio(retrieved, wanted)
    if metric.measure == "SetAP":
        return _ratio(retrieved * retrieved, listed * wanted)
    if metric.measure == "SetF":
        beta = float(metric["beta"])
        precision, recall = _ratio(retrieved, listed), _ratio(retrieved, wanted)
        return _ratio((beta + 1.0) * precision * recall, beta * precision + recall)
    hit, noise, miss, rest = numbers_of(metric["worth"])
    others = float(metric["collection"]) + retrieved - listed - wanted
    return hit * retrieved + noise * (listed - retrieved) + miss * (wanted - retrieved) + rest * others


@dataclass(frozen=True, slots=True)
class RelevantItems:
    """The relevant items of all lists, group by group and rank by rank.

    ``groups``: int64, the group of the run; ``ranks``: int64, from 1; ``nth``: int64, the number of relevant items up
    to and including the item; ``gains``: float64. ``n_found``: float64, shape (n_run_groups,), how many relevant items
    each list has.
    """

    groups: Index
    ranks: Index
    nth: Index
    gains: Floats
    n_found: Floats

    def sums(self, terms: Floats | None) -> Floats:
        """Return the sum of the terms of each list's items (None: their number): shape (n_run_groups,)."""
        return group_sums(self.groups, terms, self.n_found.size)

    @property
    def precision(self) -> Floats:
        """The precision at each item's rank."""
        return self.nth / self.ranks


def _relevant_items(lists: Lists, metric: Metric) -> RelevantItems:
    """Return the items up to the cutoff that are worth something to a metric."""
    level_worth = worth_of_levels(lists, metric)
    ranked = ranked_gains(lists, metric, level_worth, every=False)
    if metric.cutoff is not None:
        ranked = _only(ranked, ranked.ranks <= metric.cutoff)
    starts = _starts(ranked.groups, lists.graded(metric).lengths.size)
    nth = np.arange(1, ranked.groups.size + 1) - starts[ranked.groups]
    return RelevantItems(ranked.groups, ranked.ranks, nth, ranked.gains, np.diff(starts).astype(np.float64))


def _starts(groups: Index, n_groups: int) -> Index:
    """Return where the items of each group begin, and finally where the last group ends."""
    return np.searchsorted(groups, np.arange(n_groups + 1))


def _only(ranked: RankedGains, kept: Mask) -> RankedGains:
    nothing: Index = np.zeros(0, dtype=np.int64)
    return RankedGains(ranked.gains[kept], ranked.groups[kept], ranked.ranks[kept], nothing, nothing, nothing)


def _average_precision(lists: Lists, metric: Metric) -> Floats:
    """Return AP, its logarithm, or its smoothed log-odds.

    ``GMAP`` = ln max(AP, 0.00001), which trec_eval sums: m_gm_map.c. ``yaap`` = ln((1 + s) / (1 + R - s)), s = AP x R:
    m_yaap.c; Robertson, ECIR 2012.
    """
    hits = _relevant_items(lists, metric)
    sums = lists.of_axis(hits.sums(hits.precision))
    if metric.measure == "AP":
        return _divided(lists, metric, sums, lists.of_axis(hits.n_found))
    wanted = _n_relevant(lists, metric)
    if metric.measure == "yaap":
        return np.asarray(np.log((1.0 + sums) / (1.0 + wanted - sums)))
    return _logarithm(_ratio(sums, wanted))


def _first_relevant(lists: Lists, metric: Metric) -> Floats:
    """Return RR or Success."""
    hits = _relevant_items(lists, metric)
    first = hits.nth == 1
    terms = 1.0 / hits.ranks[first] if metric.measure == "RR" else None
    return lists.of_axis(group_sums(hits.groups[first], terms, hits.n_found.size))


def _err(lists: Lists, metric: Metric) -> Floats:
    """Return ERR or PFound: every item with a gain may end the search."""
    hits = _relevant_items(lists, metric)
    if metric["unjudged"] not in ("zero", "drop"):
        hits = _with_unjudged(hits, lists, metric)
    is_found, highest = metric.measure == "PFound", float(metric["highest"])
    satisfied = hits.gains / (highest if is_found else 2.0**highest)
    discount = float(metric["p"]) ** (hits.ranks - 1.0) if is_found else 1 / hits.ranks
    reached = np.ones(hits.ranks.size)  # the probability that a user is still looking: one factor per round, for all
    for nth in range(2, int(hits.nth.max(initial=0)) + 1):
        at = np.flatnonzero(hits.nth == nth)
        reached[at] = reached[at - 1] * (1 - satisfied[at - 1])
    return lists.of_axis(hits.sums(reached * satisfied * discount))


def _with_unjudged(hits: RelevantItems, lists: Lists, metric: Metric) -> RelevantItems:
    """Return the items with a gain, and the items without a label, which gain what ``unjudged`` says."""
    lengths = lists.graded(metric).lengths
    if metric.cutoff is not None:
        lengths = np.minimum(lengths, metric.cutoff)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    gains = np.full(int(begins[-1]), float(metric["unjudged"]))
    labelled = ranked_gains(lists, metric, worth_of_levels(lists, metric), every=True)
    labelled = _only(labelled, labelled.ranks <= lengths[labelled.groups])
    gains[begins[labelled.groups] + labelled.ranks - 1] = labelled.gains
    groups = np.repeat(np.arange(lengths.size), lengths)
    ranks = np.arange(gains.size) - begins[groups] + 1
    return RelevantItems(groups, ranks, ranks, gains, lengths.astype(np.float64))


def _bin_g(lists: Lists, metric: Metric) -> Floats:
    """Return binG: the sum over relevant items of 1 / log2(2 + items before it that are not relevant), / R.

    Source: m_binG.c.
    """
    hits = _relevant_items(lists, metric)
    terms = 1.0 / np.log2(2.0 + (hits.ranks - hits.nth))
    return _ratio(lists.of_axis(hits.sums(terms)), _n_relevant(lists, metric))


def _r_precision(lists: Lists, metric: Metric) -> Floats:
    """Return Rprec: the relevant items among the first c ranks / c, with c = R, or mult x R + 0.9 rounded down.

    Source: m_Rprec.c, m_Rprec_mult.c.
    """
    hits = _relevant_items(lists, metric)
    n_ranks = _count_of(float(metric["mult"]), _n_relevant(lists, metric))
    within = hits.ranks <= lists.of_run(n_ranks)[hits.groups]
    return _ratio(lists.of_axis(hits.sums(within.astype(np.float64))), n_ranks)


def _interpolated_precision(lists: Lists, metric: Metric) -> Floats:
    """Return IPrec, or IPrecAvg, its mean over some recall levels.

    IPrec is the highest precision at a relevant item, from the item that reaches the recall on; 0 if none reaches it. A
    recall x means x R relevant items: plus 0.9 and rounded down (trec_eval 9), or rounded (trec_eval 10). Source:
    m_iprec_at_recall.c, m_11pt_avg.c.
    """
    hits = _relevant_items(lists, metric)
    wanted = _n_relevant(lists, metric)
    recalls = [float(metric["recall"])] if metric.measure == "IPrec" else numbers_of(metric["recalls"])
    precision = np.append(hits.precision, 0.0)
    starts = _starts(hits.groups, hits.n_found.size)
    total = np.zeros(hits.n_found.size)
    for recall in recalls[::-1]:
        reached_at = _count_of(recall, wanted) if metric["recall_count"] == "up" else np.floor(recall * wanted + 0.5)
        nth = np.maximum(lists.of_run(reached_at), 1.0)
        some = np.flatnonzero(nth <= hits.n_found)
        if some.size:
            begins, ends = starts[some] + nth[some].astype(np.int64) - 1, starts[some + 1]
            total[some] += np.maximum.reduceat(precision, np.stack([begins, ends], axis=1).ravel())[::2]
    return lists.of_axis(total) / len(recalls)


def _count_of(share: float, wanted: Floats) -> Floats:
    """Return the number of relevant items for a share of them, rounded as in trec_eval 9."""
    return np.trunc(share * wanted + 0.9)


def _preference(lists: Lists, metric: Metric) -> Floats:
    """Return Bpref, its logarithm, or infAP: measures in which an unjudged item is not the same as grade 0.

    ``Bpref`` = the sum over relevant items of 1 - min(b, R) / min(N, R), divided by R. Here b is the number of judged
    nonrelevant items before the item, and N the number of all judged nonrelevant items: m_bpref.c; Buckley and
    Voorhees, SIGIR 2004. ``GMBpref`` = ln max(Bpref, 0.00001): m_gm_bpref.c. ``infAP`` = the sum over relevant items at
    rank i of 1/i + (i - 1)/i x (pooled items before it)/(i - 1) x (a + e) / (a + b + 2 e), divided by R. Here a is the
    number of relevant items before the item, and e = 0.00001; a label below 0 means pooled but not judged: m_infap.c;
    Yilmaz and Aslam, CIKM 2006.
    """
    level_worth = worth_of_levels(lists, metric)
    ranked = ranked_gains(lists, metric, level_worth, every=True)
    n_groups = lists.graded(metric).lengths.size
    starts = _starts(ranked.groups, n_groups)[ranked.groups]
    relevant, noise = ranked.gains == _RELEVANT, ranked.gains == _NOT_RELEVANT
    before = [np.concatenate([[0], np.cumsum(kind)]) for kind in (relevant, noise)]
    n_relevant, n_noise = (counts[:-1] - counts[starts] for counts in before)
    at = np.flatnonzero(relevant)
    groups, wanted = ranked.groups[at], _n_relevant(lists, metric)
    better, worse = n_relevant[at].astype(np.float64), n_noise[at].astype(np.float64)
    if metric.measure == "infAP":
        pooled = (at - starts[at]).astype(np.float64)
        rank = ranked.ranks[at].astype(np.float64)
        precision = (better + INFAP_EPSILON) / (better + worse + 2 * INFAP_EPSILON)
        terms = 1.0 / rank + np.where(rank > 1, pooled / rank * precision, 0.0)
    else:
        all_noise = lists.of_labels(lists.label_sums(metric, (level_worth == _NOT_RELEVANT).astype(np.float64)))
        of_group = lists.of_run(wanted)[groups]
        most = np.minimum(lists.of_run(all_noise)[groups], of_group)
        terms = 1.0 - _ratio(np.minimum(worse, of_group), most)
    values = _ratio(lists.of_axis(group_sums(groups, terms, n_groups)), wanted)
    return _logarithm(values) if metric.measure == "GMBpref" else values


@dataclass(frozen=True, slots=True)
class Ideal:
    """The positive gains of the labels in ideal order, label group by label group.

    ``starts``: int64, shape (n_label_groups + 1,), where each group begins; ``groups``, ``ranks``: int64, the
    group and the rank (from 1) of each; ``gains``: float64. ``of_run``: int64, the label group of each run group.
    """

    starts: Index
    groups: Index
    ranks: Index
    gains: Floats
    of_run: Index

    @classmethod
    def of(cls, lists: Lists, metric: Metric, level_worth: Floats) -> Ideal:
        """Return the ideal order of a metric's labels."""
        codes, offsets = lists.label_codes(metric)
        order = sorted_ideal(codes, offsets, np.maximum(level_worth, 0.0), None)
        of_run = lists.of_run(lists.judged.label_groups)
        return cls(_starts(order.groups, offsets.size - 1), order.groups, order.ranks, order.gains, of_run)

    @property
    def n_gains(self) -> Index:
        """How many items of each label group have a gain."""
        return np.diff(self.starts)

    def up_to(self, running: Floats, groups: Index, ranks: Index) -> Floats:
        """Return the running sums over the ideal order at some ranks of some run groups, 0 before the first."""
        of_labels = self.of_run[groups]
        n_items = np.minimum(ranks, np.append(self.n_gains, 0)[of_labels])
        return np.where(n_items > 0, np.append(running, 0.0)[self.starts[of_labels] + n_items - 1], 0.0)


def _with_gains(lists: Lists, metric: Metric) -> Floats:
    """Return G, ndcg_rel or Rndcg.

    ``G`` = the sum over items of gain / log2(2 + c(i) - g(i)), divided by the sum of all gains. Here g(i) is the gain
    of the list up to the item's rank i, and c(i) the sum of max(ideal gain, 1) over as many ranks: m_G.c.
    ``ndcg_rel`` = the mean, over the labelled items with a gain, of DCG / IDCG at the rank of the item, or at the end
    of the list if the item is not retrieved: m_ndcg_rel.c. ``Rndcg`` = the mean of DCG / IDCG at the ranks where the
    ideal order continues with a lower gain, and at the end of a list that is longer than the ideal order by at least 2
    ranks; 0 without a relevant item: m_Rndcg.c.
    """
    level_worth = worth_of_levels(lists, metric)
    hits = _relevant_items(lists, metric)
    ideal = Ideal.of(lists, metric, level_worth)
    lengths = lists.graded(metric).lengths
    if metric.measure == "G":
        extra = _running_sums(np.maximum(ideal.gains - 1.0, 0.0), ideal.starts)
        gained = _running_sums(hits.gains, _starts(hits.groups, lengths.size))
        cost = hits.ranks + ideal.up_to(extra, hits.groups, hits.ranks)
        sums = lists.of_axis(hits.sums(hits.gains / np.log2(2.0 + cost - gained)))
        return _ratio(sums, lists.of_labels(group_sums(ideal.groups, ideal.gains, ideal.n_gains.size)))
    weight_of_rank = rank_weights(metric, max(int(lengths.max(initial=0)), int(ideal.n_gains.max(initial=0))))
    starts = _starts(hits.groups, lengths.size)
    dcg = np.append(_running_sums(hits.gains * weight_of_rank[hits.ranks], starts), 0.0)
    idcg = _running_sums(ideal.gains * weight_of_rank[ideal.ranks], ideal.starts)
    everything = np.full(lengths.size, np.iinfo(np.int64).max)
    runs = np.arange(lengths.size)
    last_dcg = np.where(np.diff(starts) > 0, dcg[starts[1:] - 1], 0.0)
    last_ratio = _ratio(last_dcg, ideal.up_to(idcg, runs, everything))
    n_gains = lists.of_run(lists.of_labels(ideal.n_gains.astype(np.float64)))
    if metric.measure == "ndcg_rel":
        counts = hits.gains > 0
        at_items = np.where(counts, _ratio(dcg[:-1], ideal.up_to(idcg, hits.groups, hits.ranks)), 0.0)
        sums = hits.sums(at_items) + (n_gains - hits.sums(counts.astype(np.float64))) * last_ratio
        return lists.of_axis(_ratio(np.maximum(sums, 0.0), n_gains))
    goes_on = (np.diff(ideal.groups, append=-1) != 0) | (np.diff(ideal.gains, append=-1.0) != 0)
    points = np.flatnonzero(goes_on)
    run_of, both = np.full(ideal.n_gains.size, -1), ~lists.missing & ~lists.extra
    run_of[lists.judged.label_groups[both]] = lists.judged.run_groups[both]
    points = points[run_of[ideal.groups[points]] >= 0]
    groups, ranks = run_of[ideal.groups[points]], ideal.ranks[points]
    width = weight_of_rank.size
    place = np.searchsorted(hits.groups * width + hits.ranks, groups * width + ranks, "right")
    at_points = np.where(place > starts[groups], dcg[place - 1], 0.0) / idcg[points]
    longer = (lengths > n_gains + 1) & (n_gains > 0)
    sums = group_sums(groups, at_points, lengths.size) + np.where(longer, last_ratio, 0.0)
    values = lists.of_axis(_ratio(sums, group_sums(groups, None, lengths.size) + longer))
    return np.where(_n_relevant(lists, metric) > 0, values, 0.0)


def _running_sums(numbers: Floats, starts: Index) -> Floats:
    """Return the running sums of the numbers within each group, added one after the other.

    Parameters: ``starts``: int64, shape (n_groups + 1,), where the numbers of each group begin.
    """
    running = np.empty(numbers.size)
    for block in group_columns(np.diff(starts)):
        begins = starts[block.groups]
        sums = np.cumsum(block.taken(numbers, begins), axis=0)
        inside = np.arange(block.width)[:, None] < block.lengths
        running[(begins + np.arange(block.width)[:, None])[inside]] = sums[inside]
    return running


def _of_package(lists: Lists, metric: Metric) -> Floats:
    """Return a measure of an installed package, which gets the grades of one list at a time, NaN where unlabelled."""
    measure, judged = loaded(FROM_PACKAGES, metric.measure), lists.judged
    level_grades, graded = lists.level_grades(metric), lists.graded(metric)
    ranked = ranked_gains(lists, metric, level_grades, every=True)
    in_order = np.full(int(graded.offsets[-1]), np.nan)
    in_order[graded.offsets[ranked.groups] + ranked.ranks - 1] = ranked.gains
    codes, bounds = lists.label_codes(metric)
    values = np.zeros(judged.n_groups)
    for at in np.flatnonzero(~lists.missing & ~lists.extra).tolist():
        run, labels = int(judged.run_groups[at]), int(judged.label_groups[at])
        found = in_order[graded.offsets[run] : graded.offsets[run + 1]][: metric.cutoff]
        wanted = level_grades[codes[bounds[labels] : bounds[labels + 1]]]
        values[at] = value = float(measure.value(found, wanted, metric.cutoff))
        if not np.isfinite(value):
            what = f"{metric.measure} of group {judged.group_keys[at]!r} is {value}"
            raise MetricError(what, where=metric.requested_as, advice="correct the package of the measure")
    return values


def has_nothing_to_find(lists: Lists, metric: Metric) -> Mask:
    """Return which groups of the group axis have no relevant item, for the axis ``empty``: bool, shape (n,).

    For ``FallOut``: no other item in the list.
    """
    return np.asarray((_n_other if metric.measure == "FallOut" else _n_relevant)(lists, metric) == 0)


def _n_other(lists: Lists, metric: Metric) -> Floats:
    """Return how many items of each list are not relevant: float64, over the group axis."""
    relevant = (lists.level_grades(metric) >= metric.least_relevant).astype(np.float64)
    return lists.of_axis(lists.graded(metric).lengths - lists.listed_sums(metric, relevant))


def _n_relevant(lists: Lists, metric: Metric) -> Floats:
    """Return how many relevant items each group of the group axis has, in its labels or its list (axis ``ideal``)."""
    relevant = (lists.level_grades(metric) >= metric.least_relevant).astype(np.float64)
    if metric["ideal"] == "retrieved":
        return lists.of_axis(lists.listed_sums(metric, relevant))
    return lists.of_labels(lists.label_sums(metric, relevant))


def _highest(lists: Lists, metric: Metric, level_worth: Floats) -> Floats:
    """Return the worth of the best label of each group of the group axis, 0 for a group without labels."""
    codes, offsets = lists.label_codes(metric)
    some = np.flatnonzero(np.diff(offsets))
    highest = np.zeros(offsets.size - 1)
    if some.size:
        highest[some] = np.maximum.reduceat(level_worth[codes], offsets[some])
    return lists.of_labels(highest)


def _logarithm(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(values, LEAST_OF_GEOMETRIC)))


def _ratio(numbers: Floats, totals: Floats | NDArray[np.float64]) -> Floats:
    return np.divide(numbers, totals, out=np.zeros(numbers.size), where=totals > 0)


_VALUES: dict[str, Callable[[Lists, Metric], Floats]] = {
    **dict.fromkeys(("P", "R", "F1", "AUC", "FallOut", "Judged", "Unjudged", "RBP", "RBPResidual"), _sum_over_ranks),
    **dict.fromkeys(("SetP", "SetR", "SetAP", "SetF", "Utility"), _of_counts),
    **dict.fromkeys(("NumQ", "NumRet", "NumRel", "NumNonrelJudgedRet"), _of_counts),
    **dict.fromkeys(("AP", "GMAP", "yaap"), _average_precision),
    **dict.fromkeys(("RR", "Success"), _first_relevant),
    **dict.fromkeys(("IPrec", "IPrecAvg"), _interpolated_precision),
    **dict.fromkeys(("Bpref", "GMBpref", "infAP"), _preference),
    **dict.fromkeys(_OF_GAINS, _with_gains),
    **dict.fromkeys(("ERR", "PFound"), _err),
    "Rprec": _r_precision,
    "binG": _bin_g,
}
