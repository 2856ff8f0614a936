"""Why the means of two stored runs differ, from their stored items: by item, grade, rank and what happened to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.change_totals import change_totals
from ndcg_tracker.comparison.compare import PairedResults
from ndcg_tracker.comparison.explanation import RunExplanation
from ndcg_tracker.comparison.item_changes import ItemChanges, item_changes, joined_changes, within_cutoff
from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.comparison.pairing import pair
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.contributions import Contributions, contributions
from ndcg_tracker.metrics.kernel.mean import aligned_weights
from ndcg_tracker.metrics.kernel.results import GroupValues
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.overlap.workers import mapped
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.tracker.comparing import paired_results
from ndcg_tracker.tracker.explained_blocks import SideBlock, side_blocks
from ndcg_tracker.tracker.explained_parts import run_parts
from ndcg_tracker.tracker.explained_runs import Sides, unjudged_note
from ndcg_tracker.tracker.scoring import GatheredValues, stored_weights

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.rankings.weights import GroupWeights
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class _SomeGroups:
    """What is kept of some groups of a run: places in the dataset, values, unjudged items within the cutoff."""

    places: Index
    values: GroupValues
    n_unjudged: Index

    @classmethod
    def of(cls, found: Contributions, block: SideBlock) -> _SomeGroups:
        """Return what is kept of a run's contributions."""
        unjudged = found.groups[within_cutoff(found) & np.isnan(found.grades)]
        return cls(
            block.first + places_of(found.values.group_keys, block.group_keys),
            found.values,
            np.bincount(unjudged, minlength=found.judged.n_groups),
        )


class _Groups:
    """What is kept of one run, group by group of the dataset."""

    def __init__(self, n_groups: int, weights: GroupWeights | None) -> None:
        self._given = weights
        self._gathered = GatheredValues()
        self.values = np.full(n_groups, np.nan)
        self.weights: Floats | None = None
        self.n_unjudged = np.zeros(n_groups, dtype=np.int64)

    def add(self, some: _SomeGroups) -> None:
        """Take some groups."""
        self._gathered.add([some.values])
        self.values[some.places] = some.values.values
        self.n_unjudged[some.places] = some.n_unjudged
        weights = aligned_weights(some.values, self._given)
        if weights is not None:
            self.weights = np.ones(self.values.size) if self.weights is None else self.weights
            self.weights[some.places] = weights

    def mean(self) -> tuple[float | None, int]:
        """Return the mean as the metric has it, and how many groups it runs over."""
        results = self._gathered.results(self._given)[0]
        return results.mean, results.n_groups


def run_explanation(tx: ReadTransaction, sides: Sides, *, top: int | None) -> RunExplanation:
    """Return what items, grades and ranks did to the mean; of runs under two label sets, what these did.

    The runs are read some groups at a time; of all their items only those are kept that contribute another amount.
    Raises: InputError where no group has a result in both runs.
    """
    if not sides.is_same_labels:
        return run_parts(tx, sides)
    ids, keys = tx.groups(sides.dataset_id)
    weights = stored_weights(tx, sides.dataset_id)
    one, other = _Groups(ids.size, weights), _Groups(ids.size, weights)
    parts = []
    for some, of_other, changes in mapped(partial(_explained, metric=sides.metric), side_blocks(tx, sides)):
        one.add(some)
        other.add(of_other)
        parts.append(changes)
    results = _paired(tx, sides, one, other, ids)
    paired = results.pairing
    if not paired.group_ids.size:
        raise InputError(
            f"no group has a result under {sides.metric} in both runs {sides.baseline.run.name!r} and "
            f"{sides.candidate.run.name!r}; see why with: ndcg-track sql 'SELECT * FROM run_summary'"
        )
    shares = np.ones(paired.group_ids.size) if results.weights is None else results.weights
    shares = shares / shares.sum() if shares.sum() > 0 else np.zeros(shares.size)
    means = results.means or (float((shares * paired.baseline).sum()), float((shares * paired.candidate).sum()))
    places = np.searchsorted(ids, paired.group_ids)
    lowest = int(np.argmin(paired.delta))
    return RunExplanation(
        sides.subject(),
        means[0],
        means[1],
        paired.group_ids.size,
        change_totals(
            joined_changes(parts).within(places, ids.size),
            shares,
            means[1] - means[0],
            lambda groups: keys.take(places[groups]).to_list(),
            top=top,
        ),
        worst_group=keys[int(places[lowest])] if paired.delta[lowest] < 0 else None,
        notes=(
            *_alone(paired.only_in_baseline.size + paired.only_in_candidate.size),
            *unjudged_note(sides.metric, [int(groups.n_unjudged[places].sum()) for groups in (one, other)]),
            *sides.notes,
        ),
    )


def _explained(block: SideBlock, metric: Metric) -> tuple[_SomeGroups, _SomeGroups, ItemChanges]:
    """Return what is kept of some groups, and their items that contribute another amount."""
    one = other = contributions(judged(block.baseline, block.baseline_labels), metric)
    if block.candidate is not block.baseline:
        other = contributions(judged(block.candidate, block.candidate_labels), metric)
    some, of_other = _SomeGroups.of(one, block), _SomeGroups.of(other, block)
    return some, of_other, item_changes(one, other, some.places, of_other.places, changed_only=True)


def _paired(tx: ReadTransaction, sides: Sides, one: _Groups, other: _Groups, ids: Index) -> PairedResults:
    """Return the results of both runs, group by group: the stored ones if there are any, else computed ones."""
    stored, other_stored = sides.baseline.evaluation, sides.candidate.evaluation
    if stored is not None and other_stored is not None:
        return paired_results(tx, stored, other_stored, sides.dataset_id, "intersect")
    pairing = pair(ids, one.values, ids, other.values, missing="intersect")
    n_groups = pairing.group_ids.size
    (mean, n_of_mean), (other_mean, n_of_other) = one.mean(), other.mean()
    means = None
    if mean is not None and other_mean is not None and n_of_mean == n_of_other == n_groups:
        means = (mean, other_mean)
    weights = None if one.weights is None else one.weights[np.searchsorted(ids, pairing.group_ids)]
    return PairedResults(str(sides.metric), pairing, weights=weights, means=means)


def _alone(n_groups: int) -> list[Note]:
    return [Note("in_one_run_only", {"n": n_groups})] if n_groups else []
