"""Our kernel on data in memory: with and without the sorting and the join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel_entry import TIES, Work, kernel
from processes import Means

if TYPE_CHECKING:
    from scenes import Scene


@kernel("ndcg_tracker, in order", "ndcg_tracker", "labels joined beforehand, rows in the order of their scores")
def _in_order(scene: Scene) -> Work:
    from ndcg_tracker.metrics import group_results
    from ndcg_tracker.rankings import judged

    both, metrics = judged(scene.table.ranking(), scene.table.labels()), scene.metrics()
    return lambda: scene.means(group_results(both, metrics))


@kernel(
    "ndcg_tracker, any order",
    "ndcg_tracker",
    "scores in any order with their labels beside them: sorted, then measured; no ids",
    tolerance=TIES,
    convention="ties in input order",
)
def _any_order(scene: Scene) -> Work:
    import numpy as np

    from ndcg_tracker.metrics import group_results
    from ndcg_tracker.rankings.join import JudgedRanking
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.rankings.sorting import descending_order

    before, label_of_row = scene.unsorted()
    keys, labels = before.ranking.item_keys, before.labels  # the keys are there, but no rank depends on them
    group_keys, offsets, scores = before.ranking.group_keys, before.ranking.offsets, before.ranking.scores
    metrics = scene.metrics(ties="input")

    def work() -> Means:
        order = descending_order(scores, offsets)
        found = label_of_row[order]
        if found.min() < 0:
            rows = np.flatnonzero(found >= 0)
            found = found[rows]
        else:
            rows = np.arange(found.size)
        ranking = Ranking(group_keys, offsets, keys, scores[order])
        both = JudgedRanking(ranking, labels, before.run_groups, before.label_groups, rows, found)
        return scene.means(group_results(both, metrics))

    return work


@kernel(
    "ndcg_tracker, in order, by ids",
    "ndcg_tracker",
    "run and labels joined by their ids, rows in the order of their scores",
)
def _in_order_by_ids(scene: Scene) -> Work:
    from dataclasses import replace

    from ndcg_tracker.metrics import group_results
    from ndcg_tracker.rankings import judged

    ranking, labels, metrics = scene.table.ranking(), scene.table.labels(), scene.metrics()
    # Fresh copies: what a table keeps once computed (its hashes) must not be there yet.
    return lambda: scene.means(group_results(judged(replace(ranking), replace(labels)), metrics))


@kernel(
    "ndcg_tracker, any order, by ids",
    "ndcg_tracker",
    "rows in any order sorted with their ids, then joined by ids: all that pytrec_eval does",
)
def _any_order_by_ids(scene: Scene) -> Work:
    from dataclasses import replace

    from ndcg_tracker.metrics import group_results
    from ndcg_tracker.rankings import Ranking, judged

    unsorted, labels, metrics = scene.table.shuffled(), scene.table.labels(), scene.metrics()
    return lambda: scene.means(group_results(judged(Ranking.from_groups(*unsorted), replace(labels)), metrics))
