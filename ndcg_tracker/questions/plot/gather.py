"""Both lists of a group as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.report.gather import lists_of
from ndcg_tracker.render.chart import Chart
from ndcg_tracker.runs.groups import group_id, texts_of

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.storage.store import ReadTransaction


def group_chart(tx: ReadTransaction, both: RunPair, group: str) -> Chart:
    """Return the chart of both lists of a group, with a line for each item.

    Raises: ReferenceNotFoundError for a group that the dataset does not have.
    """
    number = group_id(tx, both.dataset_id, both.baseline.run.dataset, group)
    (lists,) = lists_of(tx, both, np.array([number]))
    texts = texts_of(tx, both.dataset_id, {number: [item.item for item in lists.items]}).get(number)
    names = [side.run.name for side in both.sides]
    return Chart(rank_moves(lists, *names, metric=familiar_name(str(both.metric)), texts=texts))
