"""Our kernel on data in memory: with and without the sorting and the join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel_entry import Work, kernel

if TYPE_CHECKING:
    from scenes import Scene


@kernel("ndcg_tracker, in order", "ndcg_tracker", "labels joined beforehand, rows in the order of their scores")
def _in_order(scene: Scene) -> Work:
    from ndcg_tracker.metrics.kernel.values import group_results
    from ndcg_tracker.rankings.join import judged

    both, metrics = judged(scene.table.ranking(), scene.table.labels()), scene.metrics()
    return lambda: scene.means(group_results(both, metrics))


@kernel(
    "ndcg_tracker, any order",
    "ndcg_tracker",
    "labels joined beforehand, rows in any order within their groups",
)
def _any_order(scene: Scene) -> Work:
    from ndcg_tracker.metrics.kernel.values import group_results
    from ndcg_tracker.rankings.join import judged

    both, metrics = judged(scene.unsorted_ranking(), scene.table.labels()), scene.metrics()
    return lambda: scene.means(group_results(both, metrics))


@kernel(
    "ndcg_tracker, in order, by ids",
    "ndcg_tracker",
    "run and labels joined by their ids, rows in the order of their scores",
)
def _in_order_by_ids(scene: Scene) -> Work:
    from dataclasses import replace

    from ndcg_tracker.metrics.kernel.values import group_results
    from ndcg_tracker.rankings.join import judged

    ranking, labels, metrics = scene.table.ranking(), scene.table.labels(), scene.metrics()
    # Fresh copies: what a table keeps once computed (its hashes) must not be there yet.
    return lambda: scene.means(group_results(judged(replace(ranking), replace(labels)), metrics))


@kernel(
    "ndcg_tracker, any order, by ids",
    "ndcg_tracker",
    "run and labels joined by their ids, rows in any order within their groups: all that pytrec_eval does",
)
def _any_order_by_ids(scene: Scene) -> Work:
    from dataclasses import replace

    from ndcg_tracker.metrics.kernel.values import group_results
    from ndcg_tracker.rankings.join import judged

    ranking, labels, metrics = scene.unsorted_ranking(), scene.table.labels(), scene.metrics()
    return lambda: scene.means(group_results(judged(replace(ranking), replace(labels)), metrics))
