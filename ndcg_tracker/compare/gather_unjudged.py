"""What the items that nobody judged leave open between two stored runs: their lists, joined with their labels."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.decide import PairedResults, UnjudgedDeltas, compare_metrics
from ndcg_tracker.compare.results import EarlierBounds, MetricComparison
from ndcg_tracker.compare.run_pair import RunPair, Side
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import extreme_deltas, unjudged_items, what_stops
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of
from ndcg_tracker.rankings.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ndcg_tracker.compare.inference import Methods
    from ndcg_tracker.rankings.types import Floats
    from ndcg_tracker.storage.store import ReadTransaction


def with_unjudged(
    tx: ReadTransaction,
    both: RunPair,
    results: Sequence[PairedResults],
    results_of: Callable[[RunPair], Sequence[PairedResults]],
    methods: Methods,
) -> list[PairedResults]:
    """Return the results of every metric of two runs with what unjudged items leave open; reads all their items.

    ``results_of``: gives the results under older labels. Also with what unjudged items left open under the version of
    the labels before, if both runs were evaluated under one.
    """
    found = _under_one_version(tx, both, results)
    earlier = _before(tx, both)
    if earlier is None:
        return found
    with suppress(InputError):  # of groups that only one run had then
        older = results_of(earlier)
        pairs = zip(results, older, strict=True)
        if any(not np.array_equal(one.pairing.group_ids, other.pairing.group_ids) for one, other in pairs):
            return found  # bounds of the means over other groups
        known = compare_metrics(_under_one_version(tx, earlier, older), methods)
        version = earlier.baseline.label_set.version
        return [
            one
            if one.unjudged is None
            else replace(one, unjudged=replace(one.unjudged, earlier=_told(version, metric)))
            for one, metric in zip(found, known, strict=True)
        ]
    return found


def _before(tx: ReadTransaction, both: RunPair) -> RunPair | None:
    """Return the same runs and metrics under the next older version of the labels that both were evaluated under."""
    evaluations = [tx.evaluations.of_run(side.run.id) for side in both.sides]
    for label_set in reversed(tx.labels.sets(both.dataset_id, both.baseline.label_set.judge)):
        if label_set.version >= both.baseline.label_set.version:
            continue
        one, other = (
            Side.of(side.run, label_set, of_run) for side, of_run in zip(both.sides, evaluations, strict=True)
        )
        if all(str(metric) in side.evaluations for metric in both.metrics for side in (one, other)):
            return RunPair.of(one, other, both.metrics, both.newest_version, are_labels_named=True)
    return None


def _told(version: int, metric: MetricComparison) -> EarlierBounds | None:
    bounds = metric.unjudged_bounds
    if bounds is None or bounds.least is None or bounds.greatest is None:
        return None
    return EarlierBounds(version, metric.ci, bounds.least.delta, bounds.greatest.delta)


def _under_one_version(tx: ReadTransaction, both: RunPair, results: Sequence[PairedResults]) -> list[PairedResults]:
    labels = tx.labels.lists(both.baseline.label_set.id)
    baseline, candidate = (judged(tx.runs.ranking(side.run.id), labels) for side in both.sides)
    grades = np.unique(labels.grades)
    return [
        one
        if metric.shown_only or metric.is_external
        else replace(
            one,
            unjudged=_unjudged_deltas(
                baseline, candidate, metric, one, grades, tx.groups.keys(both.dataset_id, one.pairing.group_ids)
            ),
        )
        for metric, one in zip(both.metrics, results, strict=True)
    ]


def _unjudged_deltas(
    baseline: JudgedRanking,
    candidate: JudgedRanking,
    metric: Metric,
    results: PairedResults,
    grades: Floats,
    keys: Keys,
) -> UnjudgedDeltas:
    """Return the extreme results of some groups; ``grades``: those in use; ``keys``: the ids of the groups."""
    if results.means is not None:  # of weights that no bound of a group covers
        axis = "empty_weight" if metric["empty_weight"] == "one" else "weights"
        return UnjudgedDeltas(0, 0, not_supported=f"{axis}={metric[axis]}")
    pairing = results.pairing
    values = [_condensed(side, metric, keys) for side in (baseline, candidate)]
    if pairing.missing == "zero":
        values = [np.where(np.isnan(one) & ~np.isnan(other), 0.0, one) for one, other in (values, values[::-1])]
    condensed = values[0], values[1]
    stop = what_stops(metric, grades, len(keys))
    if stop is not None:
        return UnjudgedDeltas(0, 0, condensed=condensed, not_supported=stop)
    items = unjudged_items(baseline, candidate, metric, keys)
    least, greatest = extreme_deltas(items, pairing.baseline, pairing.candidate)
    return UnjudgedDeltas(items.groups.size, np.unique(items.groups).size, least, greatest, condensed)


def _condensed(side: JudgedRanking, metric: Metric, keys: Keys) -> Floats:
    """Return the values of some groups without unjudged items, NaN where undefined: float64."""
    (found,) = group_values(side, [metric.with_axes(unjudged="drop")])
    return np.append(found.values, np.nan)[places_of(keys, found.group_keys)]
