"""The groups of two stored runs that ties in scores leave most open, from the stored items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.tie_effect import GroupTieBounds
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.tie_bounds import tie_bounds
from ndcg_tracker.rankings.join import judged

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.rankings.weights import GroupWeights
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import RunRecord

_ROUNDING = 1e-12


def open_groups(
    tx: ReadTransaction,
    runs: tuple[RunRecord, RunRecord],
    labels: LabelLists,
    metric: Metric,
    weights: GroupWeights | None,
    top: int,
) -> tuple[tuple[GroupTieBounds, ...], int]:
    """Return the groups of baseline and candidate whose value ties leave open, and how many there are.

    The widest come first, ``top`` at most; a group that is open in both runs counts twice.
    """
    found: list[GroupTieBounds] = []
    n_open = 0
    for role, run in zip(("baseline", "candidate"), runs, strict=True):
        both = judged(tx.runs.ranking(run.id), labels)
        ((worst, best),) = tie_bounds(both, [metric], weights)
        values = group_results(both, [metric], weights)[0].values
        spread = np.nan_to_num(best.values - worst.values)
        places = np.flatnonzero(spread > _ROUNDING)
        n_open += places.size
        places = places[np.argsort(-spread[places], kind="stable")][:top]
        found += [
            GroupTieBounds(key, role, float(worst.values[place]), float(values[place]), float(best.values[place]))
            for key, place in zip(both.group_keys.take(places).to_list(), places.tolist(), strict=True)
        ]
    return tuple(sorted(found, key=lambda group: group.worst - group.best)[:top]), n_open
