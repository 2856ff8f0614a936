"""Writing what a metric says of a run: its mean and the result of every group."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import ConflictError, InputError
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import Bulk, ResultRows
from ndcg_tracker.storage.integrity import check_written
from ndcg_tracker.storage.list_writes import ListWriter
from ndcg_tracker.storage.names import utc_now

_SAFE_TO_SQUARE = 1e150


class EvaluationWriter(ListWriter):
    """Writes evaluations and coverages."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection, bulk)
        self._evaluation_ids: set[int] = set()

    def check(self) -> None:
        """Raise DatabaseError where something written is not whole; called before the commit."""
        check_written(self._connection, set(self._run_digests), set(self._label_set_digests), self._evaluation_ids)

    def insert_evaluation(
        self,
        run_id: int,
        label_set_id: int,
        metric: str,
        *,
        mean: float | None,
        tie_bounds: tuple[float | None, float | None] = (None, None),
        n_groups: int,
        n_missing: int,
        n_undefined: int,
        group_ids: Index,
        values: Floats,
        dcg: Floats | None = None,
        ideal_dcg: Floats | None = None,
        reasons: Sequence[str | None] | None = None,
        requested_as: str | None = None,
    ) -> int:
        """Store a run's results under a label set and a metric and return the evaluation's id.

        Parameters: ``metric``, its canonical text. ``mean``: None (or NaN) where no group has a value.
        ``tie_bounds``: the mean if all ties fell for the worst, and for the best. ``group_ids``: int64, shape (n,),
        distinct. ``values``, ``dcg``, ``ideal_dcg``: float64, shape (n,), NaN where undefined. ``reasons``: shape
        (n,), why the value of each undefined group is; None for the others. ``requested_as``: the text that the metric
        was asked for by, if not its canonical one. Raises: ConflictError where the evaluation exists, InputError for an
        undefined value without a reason or an infinite one.
        """
        metric_id = self._metric_id(metric)
        table = schema.evaluations
        key = (table.c.run_id == run_id, table.c.label_set_id == label_set_id, table.c.metric_id == metric_id)
        if self._rows(sa.select(table.c.id).where(*key)):
            raise ConflictError(f"run {run_id} has {metric} under label set {label_set_id} already")
        order = np.argsort(group_ids, kind="stable")
        nothing = np.full(values.size, np.nan)
        value, gain, ideal = ((nothing if one is None else one)[order] for one in (values, dcg, ideal_dcg))
        if any(np.isinf(one).any() for one in (value, gain, ideal)) or (mean is not None and math.isinf(mean)):
            raise InputError(f"{metric} of run {run_id} has an infinite value; only finite numbers are stored")
        undefined = order[np.isnan(value)].tolist()
        why = [reasons[row] if reasons is not None else None for row in undefined]
        known = [reason for reason in why if reason]
        if len(known) != len(why):
            raise InputError(f"{metric} of run {run_id} has an undefined value without a reason")
        defined = value[~np.isnan(value)]
        row = {
            "run_id": run_id,
            "label_set_id": label_set_id,
            "metric_id": metric_id,
            "mean": None if mean is None or math.isnan(mean) else float(mean),
            "worst_mean": tie_bounds[0],
            "best_mean": tie_bounds[1],
            "std_dev": _std_dev(defined),
            "n_groups": n_groups,
            "n_missing": n_missing,
            "n_undefined": n_undefined,
            "created_at_utc": utc_now(),
            "requested_as": None if requested_as == metric else requested_as,
        }
        evaluation_id = self._insert(table, row)
        self._evaluation_ids.add(evaluation_id)
        self._bulk.insert_results(evaluation_id, ResultRows(group_ids[order], value, gain, ideal, known))
        return evaluation_id

    def insert_coverage(self, run_id: int, label_set_id: int, cutoff: int | None, judged_share: float) -> None:
        """Store which share of a run's top ``cutoff`` (None or 0: of all) has a label; a stored one is replaced."""
        table = schema.coverages
        key = {"run_id": run_id, "label_set_id": label_set_id, "cutoff": cutoff or 0}
        self._connection.execute(table.delete().where(*(table.c[name] == value for name, value in key.items())))
        self._connection.execute(table.insert(), {**key, "judged_share": float(judged_share)})

    def _metric_id(self, text: str) -> int:
        table = schema.metrics
        found = self._rows(sa.select(table.c.id).where(table.c.text == text))
        return int(found[0][0]) if found else self._insert(table, {"text": text})


def _std_dev(values: Floats) -> float | None:
    """Return the sample standard deviation, None below two values."""
    if values.size < 2:
        return None
    largest = float(np.abs(values).max())
    scale = largest if largest > _SAFE_TO_SQUARE else 1.0
    return float(np.std(values / scale, ddof=1)) * scale
