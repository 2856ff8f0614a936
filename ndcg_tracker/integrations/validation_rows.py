"""The validation data of a training without its features: the group, item, label and weight of every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import InputError
from ndcg_tracker.tracker.evaluation import evaluate


class ValidationRows:
    """The facts about each row besides its features; with the scores of a model they make a ranking.

    ``labels``: one grade per row, NaN where unjudged. ``group``: one group id per row, or ``group_sizes``: how many
    rows each group has, one after the other (the groups are then known by their numbers, from 1). ``item``: one item
    id per row; by default an item is identified by its row's number within the group. ``weight``: one weight per row.
    Raises: InputError if the columns do not fit together.

    >>> rows = ValidationRows([1, 0, 2], group_sizes=[2, 1])
    >>> rows.ranked([0.5, 0.1, 0.7])["group"].tolist()
    [1, 1, 2]
    """

    def __init__(
        self, labels: Any, *, group: Any = None, group_sizes: Any = None, item: Any = None, weight: Any = None
    ) -> None:
        if (group is None) == (group_sizes is None):
            raise InputError("the validation rows need their groups; give group (an id per row) or group_sizes")
        self.n_rows = len(labels)
        group = groups_of_sizes(group_sizes, self.n_rows) if group is None else group
        columns = {"group": group, "item": item, "label": labels, "weight": weight}
        self._columns = {name: column for name, column in columns.items() if column is not None}

    def check(self, metrics: Sequence[str]) -> None:
        """Raise InputError or MetricError if metrics cannot be computed on these rows, whatever the scores."""
        evaluate(self.ranked(np.zeros(self.n_rows)), metrics)

    def ranked(self, scores: Any) -> dict[str, Any]:
        """Return the rows with the scores of a model, as columns that ``Tracker.ingest`` takes."""
        return {**self._columns, "score": checked_scores(scores, self.n_rows)}


def groups_of_sizes(sizes: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the number of each row's group, from 1, for consecutive groups of these sizes.

    >>> groups_of_sizes([2, 1], 3).tolist()
    [1, 1, 2]
    """
    counts = np.asarray(sizes)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise InputError("group_sizes holds no sizes; give one whole number from 1 per group")
    if counts.sum() != n_rows:
        raise InputError(f"group_sizes adds up to {counts.sum()} rows, but there are {n_rows} labels; they must agree")
    return np.repeat(np.arange(1, len(counts) + 1, dtype=np.int64), counts)


def checked_scores(scores: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the scores that a model gave the rows; raise InputError if they do not give a ranking.

    >>> checked_scores([0.5, float("nan")], 2)
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: the model gives row 2 the score nan; a ranking needs finite scores
    """
    found = np.asarray(scores)
    if found.ndim != 1:
        raise InputError(
            f"the model gives scores of shape {found.shape}; a ranking needs one score per row, from a ranking, "
            "regression or binary objective"
        )
    if len(found) != n_rows:
        raise InputError(f"the model gives {len(found)} scores, but there are {n_rows} labels; use the same rows")
    numbers = found.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        others = f" ({bad.size} rows are not finite)" if bad.size > 1 else ""
        raise InputError(
            f"the model gives row {bad[0] + 1} the score {numbers[bad[0]]}{others}; a ranking needs finite scores"
        )
    return numbers
