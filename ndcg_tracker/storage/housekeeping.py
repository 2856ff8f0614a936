"""Renaming, tagging and deleting runs, aliases, and the decisions of gates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import ConflictError, ReferenceNotFoundError
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import Bulk
from ndcg_tracker.storage.evaluation_writes import EvaluationWriter
from ndcg_tracker.storage.json_objects import checked_object
from ndcg_tracker.storage.lost_answer import Written
from ndcg_tracker.storage.names import checked_name, utc_now
from ndcg_tracker.storage.records import AliasRecord, DecisionRecord, RunRecord


class WriteTransaction(EvaluationWriter):
    """The one writer: all that it wrote is stored at its end, or nothing."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection, bulk)
        self._decision_ids: set[int] = set()

    def written(self) -> Written:
        """Return what there is to be found of this transaction once it is committed."""
        return Written(
            dict(self._run_digests),
            dict(self._label_set_digests),
            frozenset(self._evaluation_ids),
            frozenset(self._decision_ids),
        )

    def rename_run(self, run_id: int, name: str) -> RunRecord:
        """Give a run another name and return its record; ConflictError where the name is taken."""
        run = self.run(run_id)
        if run.name == name:
            return run
        self.check_name_free(run.dataset_id, name)
        self._update_run(run_id, {"name": name})
        return self.run(run_id)

    def set_tags(self, run_id: int, tags: Mapping[str, Any]) -> RunRecord:
        """Give a run these tags in place of those it has and return its record."""
        self.run(run_id)
        self._update_run(run_id, {"tags": checked_object("tags", tags)})
        return self.run(run_id)

    def delete_run(self, run_id: int) -> RunRecord:
        """Delete a run with its items, evaluations, results and coverages, and return what it was.

        Decisions about it stay, with its name. Raises: ConflictError while an alias stands for it.
        """
        run = self.run(run_id)
        names = [f"@{alias.name}" for alias in self.aliases(run.dataset) if alias.run_id == run_id]
        if names:
            raise ConflictError(
                f"run {run.name!r} is what {', '.join(names)} stands for; first point the alias elsewhere with: "
                f"ndcg-track alias set {names[0][1:]} RUN"
            )
        of_run = sa.select(schema.evaluations.c.id).where(schema.evaluations.c.run_id == run_id)
        decisions = schema.decisions
        statements = [
            schema.group_results.delete().where(schema.group_results.c.evaluation_id.in_(of_run)),
            schema.evaluations.delete().where(schema.evaluations.c.run_id == run_id),
            schema.coverages.delete().where(schema.coverages.c.run_id == run_id),
            schema.ranked_lists.delete().where(schema.ranked_lists.c.run_id == run_id),
            decisions.update().where(decisions.c.baseline_run_id == run_id).values(baseline_run_id=None),
            decisions.update().where(decisions.c.candidate_run_id == run_id).values(candidate_run_id=None),
            schema.runs.delete().where(schema.runs.c.id == run_id),
        ]
        for statement in statements:
            self._connection.execute(statement)
        self._forget_run(run_id)
        return run

    def set_means(
        self, evaluation_id: int, mean: float | None, tie_bounds: tuple[float | None, float | None] = (None, None)
    ) -> None:
        """Give an evaluation another mean, and other means for ties that fell for the worst and the best.

        For weights of groups that have changed: the results of the groups stay. Parameters: None for no mean. Raises:
        ReferenceNotFoundError where there is no such evaluation.
        """
        table = schema.evaluations
        values = dict(zip(("mean", "worst_mean", "best_mean"), map(_finite_or_none, (mean, *tie_bounds)), strict=True))
        if not self._connection.execute(table.update().where(table.c.id == evaluation_id).values(values)).rowcount:
            raise ReferenceNotFoundError(
                f"no evaluation with id {evaluation_id}; see those of a run with: ndcg-track runs show RUN"
            )

    def set_alias(self, dataset_id: int, name: str, run_id: int) -> AliasRecord:
        """Point an alias, made if there is none, at a run of the same dataset and return its record."""
        checked_name("alias", name)
        run = self.run(run_id)
        if run.dataset_id != dataset_id:
            raise ConflictError(f"run {run.name!r} is of dataset {run.dataset!r}; an alias stays within its dataset")
        table, now = schema.aliases, utc_now()
        key = (table.c.dataset_id == dataset_id, table.c.name == name)
        changed = self._connection.execute(table.update().where(*key).values(run_id=run_id, updated_at_utc=now))
        if not changed.rowcount:
            row = {"dataset_id": dataset_id, "name": name, "run_id": run_id, "created_at_utc": now}
            self._connection.execute(table.insert(), {**row, "updated_at_utc": now})
        return next(alias for alias in self.aliases(run.dataset) if alias.name == name)

    def delete_alias(self, dataset_id: int, name: str) -> None:
        """Delete an alias (ReferenceNotFoundError if there is none)."""
        table = schema.aliases
        key = (table.c.dataset_id == dataset_id, table.c.name == name.removeprefix("@"))
        if not self._connection.execute(table.delete().where(*key)).rowcount:
            raise ReferenceNotFoundError(
                f"no alias {'@' + name.removeprefix('@')!r} in this dataset; see all with: ndcg-track alias list"
            )

    def insert_decision(
        self,
        dataset_id: int,
        baseline_run_id: int,
        candidate_run_id: int,
        *,
        metric: str,
        label_set_id: int,
        scope: str,
        decision: str,
        reason: str,
        baseline_alias: str | None = None,
        margin: float | None = None,
        delta: float | None = None,
        ci: tuple[float | None, float | None] = (None, None),
        alpha: float | None = None,
        acknowledged_reason: str | None = None,
        acknowledged_by: str | None = None,
    ) -> DecisionRecord:
        """Store what a gate decided (``pass``, ``fail`` or ``inconclusive``) and return its record."""
        numbers = {"margin": margin, "delta": delta, "ci_low": ci[0], "ci_high": ci[1], "alpha": alpha}
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "baseline_run_id": baseline_run_id,
            "candidate_run_id": candidate_run_id,
            "baseline_run": self.run(baseline_run_id).name,
            "candidate_run": self.run(candidate_run_id).name,
            "baseline_alias": baseline_alias,
            "metric": metric,
            "label_set_id": label_set_id,
            "scope": scope,
            **{name: _finite_or_none(number) for name, number in numbers.items()},
            "decision": decision,
            "reason": reason,
            "acknowledged_reason": acknowledged_reason,
            "acknowledged_by": acknowledged_by,
            "created_at_utc": utc_now(),
        }
        record = DecisionRecord(id=self._insert(schema.decisions, values), **values)
        self._decision_ids.add(record.id)
        return record

    def _update_run(self, run_id: int, values: Mapping[str, Any]) -> None:
        self._connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
