"""A workload in memory in the forms that the tools of ``kernels`` ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import workloads
from numpy.typing import NDArray

from ndcg_tracker.metrics.kernel.mean import GroupResults
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.ranking import LabelLists, Run, UnsortedRanking

METRICS = ("ndcg@10", "ndcg@100", "ndcg")


@dataclass
class Scene:
    """A workload of grouped rows, in any order within a group, with the gain of each row."""

    table: workloads.Table

    @classmethod
    def of(cls, name: str) -> Scene:
        """Return the scene of a workload."""
        return cls(workloads.table(name))

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.table.groups.size)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows each group has."""
        return np.diff(self.table.offsets)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The number of each row's group."""
        return np.repeat(np.arange(self.n_groups), self.lengths)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The row of the table that each row of the scene is."""
        random = np.random.default_rng(0).random(self.table.items.size)  # the order of Table.shuffled
        return np.lexsort((random, self.groups))

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row."""
        return self.table.scores[self.order]

    @cached_property
    def _gains_in_order(self) -> NDArray[np.float64]:
        both = judged(self.table.ranking(), self.table.labels())
        gains = np.zeros(self.table.items.size)
        gains[both.rows] = both.labels.grades[both.label_rows]
        return gains

    @cached_property
    def gains(self) -> NDArray[np.float64]:
        """The grade of each row, 0 where it has no label."""
        return self._gains_in_order[self.order]

    def references(self) -> dict[str, dict[str, float]]:
        """Return our means in the conventions of the tools: the ideal of the labels, and that of the rows alone."""
        ranking = self.table.ranking()
        of_rows = LabelLists(ranking.group_keys, ranking.offsets, ranking.item_keys, self._gains_in_order)
        return {
            "labels": self.means(group_results(judged(ranking, self.table.labels()), self.metrics())),
            "rows": self.means(group_results(judged(ranking, of_rows), self.metrics())),
            "rows, empty=1": self.means(group_results(judged(ranking, of_rows), self.metrics(empty="1"))),
        }

    def unsorted_ranking(self) -> UnsortedRanking:
        """Return the run with the rows of each group in any order."""
        return UnsortedRanking(*self.table.shuffled())

    def metrics(self, **settings: str) -> list[Metric]:
        """Return the three metrics, with these settings of axes."""
        inside = ", ".join(f"{axis}={value}" for axis, value in settings.items())
        return [parse_metric(text.replace("ndcg", f"ndcg({inside})") if inside else text) for text in METRICS]

    def means(self, results: Sequence[GroupResults]) -> dict[str, float]:
        """Return the means of our results."""
        return {text: float(found.mean or 0.0) for text, found in zip(METRICS, results, strict=True)}

    def nested(self, lists: Run | LabelLists, kind: type) -> dict[str, dict[str, float]]:
        """Return a run or labels as a dictionary of dictionaries, by group and item."""
        items, numbers = lists.item_keys.to_list(), lists.numbers.astype(kind).tolist()
        bounds = zip(lists.group_keys.to_list(), lists.offsets[:-1].tolist(), lists.offsets[1:].tolist(), strict=True)
        return {group: dict(zip(items[low:high], numbers[low:high], strict=True)) for group, low, high in bounds}
