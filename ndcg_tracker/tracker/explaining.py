"""Why two stored runs differ, from their stored items: for one group, or over all of them."""

from __future__ import annotations

import difflib
import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison import ItemMove, PairedResults, pair
from ndcg_tracker.comparison.change_totals import change_totals
from ndcg_tracker.comparison.explanation import GroupExplanation, RunExplanation, explained_items, moves_by_group
from ndcg_tracker.comparison.item_changes import item_changes, within_cutoff
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics import REASONS, Metric
from ndcg_tracker.metrics.aggregation import aligned_weights
from ndcg_tracker.metrics.contributions import ADDITIVE, Contributions, contributions
from ndcg_tracker.rankings import Keys, judged
from ndcg_tracker.rankings.join import places_of
from ndcg_tracker.tracker.comparing import paired_results
from ndcg_tracker.tracker.explained_parts import group_parts, run_parts
from ndcg_tracker.tracker.explained_runs import Side, Sides
from ndcg_tracker.tracker.scoring import stored_weights

if TYPE_CHECKING:
    from ndcg_tracker.rankings.keys import Index
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

_MANY_GROUPS = 50_000  # to look for similar keys among more would take seconds


def group_explanation(tx: ReadTransaction, sides: Sides, group: str) -> GroupExplanation:
    """Return what each item contributed to the delta of one group.

    Raises: ReferenceNotFoundError for a group that the dataset does not have; InputError for one that has no result in
    one of the runs.
    """
    keys = Keys.from_strings([group])
    ids = tx.group_ids(sides.dataset_id, keys)
    if ids[0] < 0:
        raise _unknown_group(tx, sides, group)
    both = [_contributions(tx, side, sides.metric, ids) for side in (sides.baseline, sides.candidate)]
    values = [
        _group_value(tx, side, found, group, int(ids[0]))
        for side, found in zip((sides.baseline, sides.candidate), both, strict=True)
    ]
    notes = [
        f"group {group!r} is not in run {side.run.name!r}: its value is {value:g}"
        for side, found, value in zip((sides.baseline, sides.candidate), both, values, strict=True)
        if found.values.n_items[0] < 0
    ]
    one, other = both
    axis = np.zeros(1, dtype=np.int64)
    return GroupExplanation(
        sides.subject(),
        group,
        values[0],
        values[1],
        explained_items(item_changes(one, other, axis, axis)),
        None if sides.is_same_labels else group_parts(sides, one, other, (values[0], values[1])),
        (*notes, *sides.notes),
    )


def run_explanation(tx: ReadTransaction, sides: Sides, *, top: int) -> RunExplanation:
    """Return what items, grades and ranks did to the mean; of runs under two label sets, what these did."""
    if not sides.is_same_labels:
        return run_parts(tx, sides)
    labels = tx.read_labels(sides.baseline.label_set.id)
    one = contributions(judged(tx.read_ranking(sides.baseline.run.id), labels), sides.metric)
    same_run = sides.baseline.run.id == sides.candidate.run.id
    other = one if same_run else contributions(judged(tx.read_ranking(sides.candidate.run.id), labels), sides.metric)
    ids = [tx.group_ids(sides.dataset_id, found.values.group_keys) for found in (one, other)]
    results = _paired(tx, sides, one, other, ids)
    paired = results.pairing
    if not paired.group_ids.size:
        raise InputError(
            f"no group has a result under {sides.metric} in both runs {sides.baseline.run.name!r} and "
            f"{sides.candidate.run.name!r}; see why with: ndcg-track sql 'SELECT * FROM run_summary'"
        )
    weights = np.ones(paired.group_ids.size) if results.weights is None else results.weights
    shares = weights / weights.sum() if weights.sum() > 0 else np.zeros(weights.size)
    means = results.means or (float((shares * paired.baseline).sum()), float((shares * paired.candidate).sum()))
    places = [_places(of_axis, paired.group_ids) for of_axis in ids]
    changes = item_changes(one, other, places[0], places[1], changed_only=True)
    lowest = int(np.argmin(paired.delta))
    worst = tx.group_keys(sides.dataset_id, paired.group_ids[lowest : lowest + 1])[0]
    return RunExplanation(
        sides.subject(),
        means[0],
        means[1],
        paired.group_ids.size,
        change_totals(
            changes,
            shares,
            means[1] - means[0],
            lambda places: tx.group_keys(sides.dataset_id, paired.group_ids[places]).to_list(),
            top=top,
        ),
        worst_group=worst if paired.delta[lowest] < 0 else None,
        notes=(
            *_alone(paired.only_in_baseline.size + paired.only_in_candidate.size),
            *_unjudged(one, other, places),
            *sides.notes,
        ),
    )


def group_moves(
    tx: ReadTransaction,
    baseline: RunRecord,
    candidate: RunRecord,
    label_set_id: int,
    metric: Metric,
    groups: Sequence[str],
    *,
    top: int = 3,
) -> list[tuple[ItemMove, ...] | None]:
    """Return for each of some groups the items that changed its value most, None under a metric that is no sum.

    Only the lists of these groups are read. Parameters: ``groups``: keys of the dataset; ``top``: how many items each.
    """
    if metric.measure not in ADDITIVE or not groups:
        return [None] * len(groups)
    keys = Keys.from_strings(groups)
    ids = np.unique(tx.group_ids(baseline.dataset_id, keys))
    labels = tx.read_labels(label_set_id, ids)
    one, other = (contributions(judged(tx.read_ranking(run.id, ids), labels), metric) for run in (baseline, candidate))
    places = [places_of(found.values.group_keys, keys) for found in (one, other)]
    changes = item_changes(one, other, places[0], places[1], changed_only=True)
    return list(moves_by_group(changes, np.arange(len(groups)), top=top))


def _contributions(tx: ReadTransaction, side: Side, metric: Metric, ids: Index) -> Contributions:
    return contributions(judged(tx.read_ranking(side.run.id, ids), tx.read_labels(side.label_set.id, ids)), metric)


def _group_value(tx: ReadTransaction, side: Side, found: Contributions, group: str, group_id: int) -> float:
    """Return the value of one group: the stored one if there is one."""
    place = int(places_of(Keys.from_strings([group]), found.values.group_keys)[0])
    if place < 0:
        raise InputError(
            f"group {group!r} is neither in run {side.run.name!r} nor in version {side.label_set.version} of the "
            "labels; explain another group"
        )
    value = float(found.values.values[place])
    if side.evaluation is not None:
        stored = tx.group_results(side.evaluation.id)
        at = int(np.searchsorted(stored.group_ids, group_id))
        if at < stored.group_ids.size and stored.group_ids[at] == group_id:
            value = float(stored.values[at])
    if math.isnan(value):
        reason = REASONS[int(found.values.reasons[place])] or "undefined"
        raise InputError(
            f"group {group!r} has no result under {found.metric} in run {side.run.name!r} ({reason}), so there is no "
            "difference to explain; explain another group"
        )
    return value


def _unknown_group(tx: ReadTransaction, sides: Sides, group: str) -> ReferenceNotFoundError:
    dataset = sides.baseline.run.dataset
    _, keys = tx.groups(sides.dataset_id)
    known = keys.to_list() if len(keys) <= _MANY_GROUPS else []
    close = difflib.get_close_matches(group, known, n=3, cutoff=0.6)
    if close:
        advice = f"did you mean {' or '.join(map(repr, close))}?"
    else:
        advice = f"see all with: {shlex.join(['ndcg-track', 'groups', 'list', '--dataset', dataset])}"
    return ReferenceNotFoundError(f"no group {group!r} in dataset {dataset!r}; {advice}")


def _paired(
    tx: ReadTransaction, sides: Sides, one: Contributions, other: Contributions, ids: Sequence[Index]
) -> PairedResults:
    """Return the results of both runs, group by group: the stored ones if there are any, else computed ones."""
    stored, other_stored = sides.baseline.evaluation, sides.candidate.evaluation
    if stored is not None and other_stored is not None:
        return paired_results(tx, stored, other_stored, sides.dataset_id, "intersect")
    order, other_order = (np.argsort(of_axis) for of_axis in ids)
    pairing = pair(
        ids[0][order],
        one.values.values[order],
        ids[1][other_order],
        other.values.values[other_order],
        missing="intersect",
    )
    of_groups = aligned_weights(one.values, stored_weights(tx, sides.dataset_id))
    weights = None if of_groups is None else of_groups[order][np.searchsorted(ids[0][order], pairing.group_ids)]
    return PairedResults(str(sides.metric), pairing, weights=weights)


def _places(ids: Index, wanted: Index) -> Index:
    """Return where each id stands among ascending ones, -1 where it does not."""
    places = np.minimum(np.searchsorted(wanted, ids), wanted.size - 1)
    return np.where(wanted[places] == ids, places, -1)


def _alone(n_groups: int) -> list[str]:
    if not n_groups:
        return []
    have = "group has" if n_groups == 1 else "groups have"
    return [f"{n_groups} {have} a result in one run only: left out"]


def _unjudged(one: Contributions, other: Contributions, places: Sequence[Index]) -> list[str]:
    """Return a note on the unjudged items that take the first ranks from others."""
    counts = [
        int(np.count_nonzero(within_cutoff(found) & np.isnan(found.grades) & (of_axis[found.groups] >= 0)))
        for found, of_axis in zip((one, other), places, strict=True)
    ]
    if not any(counts):
        return []
    where = "in the lists" if one.metric.cutoff is None else f"among the first {one.metric.cutoff}"
    return [f"unjudged items {where}: {counts[0]:,} in the baseline, {counts[1]:,} in the candidate"]
