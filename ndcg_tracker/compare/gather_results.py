"""The stored results of two arms, paired group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.decide import PairedResults
from ndcg_tracker.compare.options import Missing
from ndcg_tracker.compare.pair import Pairing, pair, places_of_ids, without_partner
from ndcg_tracker.compare.results import About, NotComparable, TieBounds, TieEffect
from ndcg_tracker.compare.run_pair import RunPair, Side, no_group_of_labels
from ndcg_tracker.compare.shares import Evaluated, results_in, weights_for
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.kernel.mean import plain_mean, summary_of
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import judged_shares
from ndcg_tracker.rankings.grouping import group_codes, group_sums
from ndcg_tracker.rankings.join import JudgedRanking, judged, matching_rows, places_of
from ndcg_tracker.words.notes import Note, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ndcg_tracker.compare.slices import Slicing
    from ndcg_tracker.rankings import Floats, Index, Mask
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.storage.records import EvaluationRecord, GroupWeightsById, HistoryRecord
    from ndcg_tracker.storage.store import ReadTransaction


NO_INFERENCE = Note("means_weigh_groups")


def with_same_lists(
    tx: ReadTransaction, both: RunPair, results: PairedResults, by: Slicing | None = None
) -> PairedResults:
    """Return the results with which groups have the same lists, where all groups, or all of a slice, are equal."""
    delta = results.every.delta
    if delta.any() and (by is None or group_sums(by.codes, delta != 0, len(by.names)).all()):
        return results
    return replace(results, every=replace(results.every, same=_same_lists(tx, both, results.pairing.group_ids)))


def _same_lists(tx: ReadTransaction, both: RunPair, ids: Index) -> Mask:
    """Return where all runs list the same items in the same order, with ties at the same ranks; False if unknown."""
    runs = {side.run.id: side.run for side in both.sides}
    if len(runs) == 1:
        return np.ones(ids.size, dtype=np.bool_)
    if not both.metric.is_external and len({run.digest for run in runs.values()}) == 1:
        return np.ones(ids.size, dtype=np.bool_)
    if both.metric.is_external or not all("items" in tx.runs.holds(run_id) for run_id in runs):
        return np.zeros(ids.size, dtype=np.bool_)
    first, *others = (tx.runs.ranking(run_id) for run_id in runs)
    keys = tx.groups.keys(both.dataset_id, ids)
    same = np.ones(ids.size, dtype=np.bool_)
    for other in others:
        rows, other_rows = matching_rows(first, other)
        (ranks, tied), (other_ranks, other_tied) = (_ranks(ranking) for ranking in (first, other))
        is_alike = (ranks[rows] == other_ranks[other_rows]) & (tied[rows] == other_tied[other_rows])
        n_alike = np.bincount(group_codes(first.offsets)[rows][is_alike], minlength=len(first.group_keys))
        places = [places_of(keys, ranking.group_keys) for ranking in (first, other)]
        alike, n, n_other = (
            np.append(counts, 0)[of_run]
            for counts, of_run in zip(
                (n_alike, np.diff(first.offsets), np.diff(other.offsets)), (places[0], *places), strict=True
            )
        )
        same &= (alike == n) & (n == n_other)
    return same


def _ranks(ranking: Ranking) -> tuple[Index, Index]:
    """Return the rank of each item from 0, and how it is tied with the one above it: 0 for not."""
    starts = np.repeat(ranking.offsets[:-1], np.diff(ranking.offsets))
    ranks = np.arange(ranking.n_items) - starts
    return ranks, ((ranks > 0) & (np.diff(ranking.scores, prepend=np.nan) == 0)) * (2 if ranking.tie_order else 1)


def paired_results(
    tx: ReadTransaction, both: RunPair, metric: Metric, missing: Missing, *, keeps_counted: bool = False
) -> PairedResults:
    """Return the stored results of two arms under a metric, paired by group; an arm has the means over its runs.

    ``keeps_counted``: leave out no group that a run lacks but that the metric counts, whatever ``missing`` says.
    Raises: InputError for groups with a result in one run only, unless ``missing`` says what becomes of them; and for
    a mean that is known of all groups only.
    """
    text = str(metric)
    weights_of = weights_for(tx, both.dataset_id, metric)
    baseline, candidate = arms = [_ArmResults.of(tx, sides, metric, missing, weights_of) for sides in both.sides_of]
    records = [side.record for arm in arms for side in arm.sides]
    pairing = pair(
        *(baseline.group_ids, baseline.values.mean(axis=0), candidate.group_ids, candidate.values.mean(axis=0)),
        missing=missing,
        groups_of_runs=[] if keeps_counted else groups_of_runs(tx, metric, baseline.group_ids, records),
        metric=text,
    )
    ids = pairing.group_ids
    weights = None if weights_of is None or not ids.size else weights_of.weights_of(ids)
    means = _means(metric, pairing, arms)
    no_inference = None if means is None else NO_INFERENCE
    if metric.shown_only is not None:
        no_inference = Note(metric.shown_only)
    n_left_out = pairing.in_neither.size if missing == "skip" else 0
    n_missing = [_n_missing(tx, arm) - n_left_out if metric.counts_missing else 0 for arm in arms]
    repeats = baseline.at(ids), candidate.at(ids)
    bounds = [_tie_bounds(arm, values, weights) for arm, values in zip(arms, repeats, strict=True)]
    every = replace(
        pairing.sample,
        direction=metric.direction,
        weights=weights,
        repeats=repeats if both.is_repeated else None,
        limits=limits_of_delta(metric, (pairing.baseline, pairing.candidate)),
    )
    about = About(
        metric=text,
        groups=replace(pairing.groups, missing_in_baseline=n_missing[0], missing_in_candidate=n_missing[1]),
        tie_effect=None if bounds[0] is None or bounds[1] is None else TieEffect(bounds[0], bounds[1]),
        shown_only=metric.shown_only,
    )
    return PairedResults(about, pairing, every, means, no_inference)


@dataclass(frozen=True, slots=True)
class _ArmResults:
    """The results of an arm's runs: ``values`` (runs by groups), NaN where undefined in all of them."""

    sides: Sequence[Evaluated]
    group_ids: Index
    values: Floats

    @classmethod
    def of(
        cls,
        tx: ReadTransaction,
        arm: Sequence[Side],
        metric: Metric,
        missing: Missing,
        weights_of: GroupWeightsById | None,
    ) -> _ArmResults:
        """Return the stored results of an arm."""
        text = str(metric)
        records = [side.evaluations[text] for side in arm]
        stored = [results_in(tx, side.run, record, side.share) for side, record in zip(arm, records, strict=True)]
        sides = [Evaluated.of(record, of_run, weights_of) for record, of_run in zip(records, stored, strict=True)]
        if len(arm) == 1:
            return cls(sides, stored[0].group_ids, stored[0].values[None])
        ids = np.unique(np.concatenate([of_run.group_ids for of_run in stored]))
        values = np.full((len(arm), ids.size), np.nan)
        for row, of_run in zip(values, stored, strict=True):
            row[places_of_ids(ids, of_run.group_ids)] = of_run.values
        defined = ~np.isnan(values)
        partly = defined.any(axis=0) & ~defined.all(axis=0)
        if partly.any() and missing == "error":
            such_as = tx.groups.keys(arm[0].run.dataset_id, ids[partly][:1]).to_list()[0]
            raise without_partner(int(partly.sum()), f"some runs of an arm only (such as {such_as!r})", text)
        values[:, partly] = np.nan_to_num(values[:, partly]) if missing == "zero" else np.nan
        return cls(sides, ids, values)

    def at(self, group_ids: Index) -> Floats:
        """Return the results of each run for these groups, 0 where there is none."""
        places = places_of_ids(self.group_ids, group_ids)
        return np.asarray(np.where(places >= 0, np.nan_to_num(self.values[:, places]), 0.0))


def _n_missing(tx: ReadTransaction, arm: _ArmResults) -> int:
    """Return how many labelled groups some run of an arm lacks."""
    if len(arm.sides) == 1:
        return arm.sides[0].record.n_missing
    absent = [
        np.setdiff1d(arm.group_ids, tx.runs.group_ids(side.record.run_id), assume_unique=True)
        for side in arm.sides
        if side.record.n_missing
    ]
    return np.unique(np.concatenate(absent)).size if absent else 0


def _means(metric: Metric, pairing: Pairing, arms: Sequence[_ArmResults]) -> tuple[float, float] | None:
    """Return the means of both arms if they are not the (weighted) means of the paired results, else None."""
    sides = [side for arm in arms for side in arm.sides]
    if len(sides) == len(arms):
        if metric.summary == "mean":
            return _other_means(pairing, sides)
        return _summaries(metric, pairing, sides[0].record, sides[1].record)
    if metric.summary == "mean" and all(side.is_mean_of_groups for side in sides):
        return None
    baseline, candidate = (float(np.mean([side.record.mean or 0.0 for side in arm.sides])) for arm in arms)
    return baseline, candidate


def _other_means(pairing: Pairing, sides: Sequence[Evaluated]) -> tuple[float, float] | None:
    """Return the stored means if they are not the (weighted) means of the paired results, else None.

    They differ if items carried the weights, which are not stored, or if groups without relevant items were added
    unweighted. Raises: InputError if such a mean is needed over other groups than it was computed for.
    """
    baseline, candidate = (side.record for side in sides)
    if all(side.is_mean_of_groups for side in sides) or baseline.mean is None or candidate.mean is None:
        return None
    if {baseline.n_groups, candidate.n_groups} != {pairing.group_ids.size}:
        if not pairing.group_ids.size:
            return None
        is_option = pairing.missing in ("intersect", "skip")
        without = f", without {argument('missing', pairing.missing)}" if is_option else ""
        raise InputError(
            f"{sentence(NO_INFERENCE)}, and no mean over {pairing.group_ids.size:,} of the groups is known",
            where=baseline.metric,
            advice=f"compare runs of the same groups{without}",
        )
    return baseline.mean, candidate.mean


def _tie_bounds(arm: _ArmResults, values: Floats, weights: Floats | None) -> TieBounds | None:
    """Return the bounds of an arm's mean over ties; over fewer groups than were evaluated they may be too wide.

    ``values``: of its runs, one row each, for the groups that are paired.
    """
    worst, best = list[float](), list[float]()
    for side, of_run in zip(arm.sides, values, strict=True):
        stored = side.record
        if stored.mean is None or stored.worst_mean is None or stored.best_mean is None:
            return None
        low, high = stored.worst_mean, stored.best_mean
        total = float(of_run.size if weights is None else weights.sum())
        if stored.n_groups != of_run.size and side.is_mean_of_groups and total:
            mean, share = float(np.average(of_run, weights=weights)), side.weight / total
            low, high = mean - share * (stored.mean - low), mean + share * (high - stored.mean)
        worst.append(low)
        best.append(high)
    return TieBounds(sum(worst) / len(worst), sum(best) / len(best))


def limits_of_delta(metric: Metric, values: tuple[Floats, Floats]) -> tuple[float, float] | None:
    """Return the limits of a difference of two values, None where they are not known."""
    if metric.limits is None:
        return None
    low, high = metric.limits
    if metric.is_external:  # no value lies outside
        return low - high, high - low
    if any(side.size and (side.min() < low or side.max() > high) for side in values):
        return None
    return low - high, high - low


def groups_of_runs(
    tx: ReadTransaction, metric: Metric, group_ids: Index, records: Sequence[EvaluationRecord | HistoryRecord]
) -> list[Index]:
    """Return which groups each run has, if the metric counts groups that some run lacks; else nothing.

    ``group_ids``: those with labels. ``records``: the evaluations of the runs.
    """
    if not metric.counts_missing or not any(record.n_missing for record in records):
        return []
    return [tx.runs.group_ids(record.run_id) if record.n_missing else group_ids for record in records]


def _summaries(
    metric: Metric, pairing: Pairing, baseline: EvaluationRecord, candidate: EvaluationRecord
) -> tuple[float, float] | None:
    """Return the summaries of a metric that are not means: the stored ones where they are of the paired groups."""
    if baseline.mean is None or candidate.mean is None:
        return None
    if {baseline.n_groups, candidate.n_groups} == {pairing.group_ids.size}:
        return baseline.mean, candidate.mean
    if pairing.missing == "zero":
        filled = MEASURES[metric.measure].of_nothing or 0.0
        sides = (
            np.where(np.isin(pairing.group_ids, pairing.only_in_candidate), filled, pairing.baseline),
            np.where(np.isin(pairing.group_ids, pairing.only_in_baseline), filled, pairing.candidate),
        )
    else:
        sides = (pairing.baseline, pairing.candidate)
    summaries = [summary_of(metric, values) for values in sides]
    return summaries[0], summaries[1]


def refuse_other_groups(both: RunPair) -> None:
    """Raise NotComparableError where some runs have no group of the labels: all of them would count as missing."""
    lists = [side for side in both.sides if side.run.n_groups]  # without any, all of them are empty
    without = [side for side in lists if any(_has_no_group(side, metric) for metric in both.metrics)]
    if 0 < len(without) < len(both.sides):
        raise no_group_of_labels(without[0].run, without[0].label_set)


def _has_no_group(side: Side, metric: Metric) -> bool:
    return not metric.is_external and side.evaluations[str(metric)].n_missing >= side.label_set.n_groups > 0


def shares_of_sides(tx: ReadTransaction, both: RunPair) -> list[dict[int | None, float]]:
    """Return the judged shares of each run by cutoff; where one of two runs lacks groups, over the shared ones."""
    ids, stored, is_missing = list[int](), list[dict[int | None, float]](), False
    for side in both.sides:
        ids.append(side.run.id)
        stored.append({of.cutoff: of.judged_share for of in tx.evaluations.coverages(side.run.id, side.label_set.id)})
        is_missing |= side.share is not None or any(of.n_missing for of in side.evaluations.values())
    if both.is_repeated or not is_missing or any("items" not in tx.runs.holds(run_id) for run_id in ids):
        return stored
    if np.array_equal(tx.runs.group_ids(ids[0]), tx.runs.group_ids(ids[1])):
        return stored
    lists = [tx.runs.ranking(run_id) for run_id in ids]
    labels = tx.labels.lists(both.baseline.label_set.id)
    of_sides = []
    for own, other, shares in zip(lists, lists[::-1], stored, strict=True):
        shared = own.of_groups(np.flatnonzero(places_of(own.group_keys, other.group_keys) >= 0))
        of_cutoffs = {cutoff: judged_shares(judged(shared, labels), cutoff) for cutoff in shares}
        of_sides.append({cutoff: plain_mean(of_groups) for cutoff, of_groups in of_cutoffs.items() if of_groups.size})
    return of_sides


def mean_share(of_arm: Sequence[dict[int | None, float]], cutoff: int | None) -> float | None:
    """Return the mean judged share of an arm's runs down to a cutoff, None where none has one."""
    shares = [share[cutoff] for share in of_arm if share.get(cutoff) is not None]
    return sum(shares) / len(shares) if shares else None


def not_judged(
    tx: ReadTransaction, both: RunPair, metric: Metric, shares: Sequence[Mapping[int | None, float]]
) -> NotComparable | None:
    """Return which arms have no judged item that the metric counts in any of their runs, None if both have some.

    A single such arm does not count if unjudged items may be worth something.
    """
    of_run = dict(zip((side.run.id for side in both.sides), shares, strict=True))
    baseline, candidate = (
        all(has_nothing_judged(tx, side, metric, of_run[side.run.id]) for side in sides) for sides in both.sides_of
    )
    if baseline and candidate:
        return "nothing_judged"
    if metric["unjudged"] not in ("zero", "drop"):
        return None
    return "baseline_not_judged" if baseline else "candidate_not_judged" if candidate else None


def has_nothing_judged(tx: ReadTransaction, side: Side, metric: Metric, shares: Mapping[int | None, float]) -> bool:
    """Return whether a run has no judged item that the metric counts; ``shares``: the judged share by cutoff.

    False for a pruned run where only its items could tell.
    """
    if metric.is_external:
        return False
    if _has_no_group(side, metric):
        return True
    if shares.get(metric.cutoff) != 0:
        if metric["depth"] == "all" or "items" not in tx.runs.holds(side.run.id):
            return False
        return not judged_shares(_judged(tx, side), int(metric["depth"])).any()
    if metric["unjudged"] != "drop" or metric.cutoff is None:
        return True
    # what is dropped makes room for items below the cutoff
    return "items" in tx.runs.holds(side.run.id) and not _judged(tx, side).rows.size


def _judged(tx: ReadTransaction, side: Side) -> JudgedRanking:
    return judged(tx.runs.ranking(side.run.id), tx.labels.lists(side.label_set.id))
