"""Why one group differs between two stored runs, from its stored items, and which of them moved it most."""

from __future__ import annotations

import difflib
import math
import shlex
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.explanation import GroupExplanation, explained_items, moves_by_group
from ndcg_tracker.comparison.item_changes import item_changes, within_cutoff
from ndcg_tracker.comparison.moves import ItemMove
from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.metrics.contributions import ADDITIVE, Contributions, contributions
from ndcg_tracker.metrics.kernel.results import REASONS
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.tracker.explained_parts import group_parts
from ndcg_tracker.tracker.explained_runs import Side, Sides, unjudged_note

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index
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
        Note("group_not_in_run", {"group": group, "run": side.run.name, "value": value})
        for side, found, value in zip((sides.baseline, sides.candidate), both, values, strict=True)
        if found.values.n_items[0] < 0
    ]
    one, other = both
    axis = np.zeros(1, dtype=np.int64)
    n_unjudged = [int(np.count_nonzero(within_cutoff(found) & np.isnan(found.grades))) for found in both]
    return GroupExplanation(
        sides.subject(),
        group,
        values[0],
        values[1],
        explained_items(item_changes(one, other, axis, axis)),
        None if sides.is_same_labels else group_parts(sides, one, other, (values[0], values[1])),
        (*notes, *unjudged_note(sides.metric, n_unjudged), *sides.notes),
    )


def item_moves(tx: ReadTransaction, sides: Sides, group_ids: Index, n: int = 3) -> dict[int, tuple[ItemMove, ...]]:
    """Return for each of some groups the items that changed its value most, the largest contribution first.

    Only the lists of these groups are read. Parameters: ``sides``: two runs under a metric, each with its labels
    (``evaluation`` is not looked at). ``group_ids``: int64, distinct ids of groups of the dataset. ``n``: how many
    items of each at most; those that contribute the same to both runs are not among them. Returns: one entry per id,
    none at all under a metric that is no sum over items. Raises: MetricError for a label or a group that an axis of the
    metric refuses.
    """
    if sides.metric.measure not in ADDITIVE or not group_ids.size:
        return {}
    keys = tx.group_keys(sides.dataset_id, group_ids)
    wanted = np.sort(group_ids)
    both = [_contributions(tx, side, sides.metric, wanted) for side in (sides.baseline, sides.candidate)]
    places = [places_of(found.values.group_keys, keys) for found in both]
    changes = item_changes(both[0], both[1], places[0], places[1], changed_only=True)
    moves = moves_by_group(changes, np.arange(group_ids.size), top=n)
    return dict(zip(group_ids.tolist(), moves, strict=True))


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
