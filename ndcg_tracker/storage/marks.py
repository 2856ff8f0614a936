"""Read and write aliases, their moves, and the decisions of gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa

from ndcg_tracker.errors import ConflictError
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.checks import (
    checked_name,
    finite_or_none,
    utc_now,
)
from ndcg_tracker.storage.datasets import DatasetReads
from ndcg_tracker.storage.records import AliasRecord, RunRecord
from ndcg_tracker.storage.references import named_alias
from ndcg_tracker.storage.session import Session, TransactionPart

OVERRIDE = ("acknowledged_reason", "acknowledged_by")
"""The columns of who overrode a decision, and why."""


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """The rules of the gates against an alias, without the @: by option, as texts, numbers and lists of texts."""

    id: int
    dataset_id: int
    dataset: str
    alias: str
    rules: Mapping[str, Any]
    set_by: str
    set_at_utc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What every decision of a gate has on record."""

    id: int
    metric: str
    margin: float | None
    delta: float | None
    ci_low: float | None
    ci_high: float | None
    alpha: float | None
    decision: str
    reason: str
    acknowledged_reason: str | None
    acknowledged_by: str | None
    created_at_utc: str
    unjudged: str | None = None
    delta_low: float | None = None
    delta_high: float | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRecord(Decided):
    """A decision of a gate. The run ids are None for deleted runs and for arms; their names stay.

    ``repeats``: the ids of the runs of both sides if one is an arm of several runs, None for two runs.
    """

    dataset_id: int
    baseline_run_id: int | None
    candidate_run_id: int | None
    baseline_run: str
    candidate_run: str
    baseline_alias: str | None
    label_set_id: int
    scope: str
    repeats: Mapping[str, Sequence[int]] | None = None
    checked_by: str | None = None
    budget: float | None = None
    looks: int | None = None
    look: int | None = None
    baseline_lists: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDecisionRecord(Decided):
    """A decision of a gate on a suite; ``runs``: the labels and the ids of both runs, by dataset."""

    suite: str
    baseline: str
    candidate: str
    by_tag: str | None
    runs: Mapping[str, Any]
    dataset_margin: float | None
    judge: str = ""


@dataclass(frozen=True, slots=True)
class BudgetResetRecord:
    """Looks at an alias that no longer count: those up to the decision ``after_decision_id``.

    ``alias``: None of older resets, which named the lists of a baseline.
    """

    id: int
    dataset_id: int
    baseline_run: str
    baseline_lists: Mapping[str, Any]
    reason: str
    reset_by: str
    after_decision_id: int
    created_at_utc: str
    alias: str | None = None


class AliasReads(TransactionPart):
    """Reads aliases."""

    def all(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases of a dataset (None: of all), by dataset and name."""
        return self._session.once(("aliases", dataset), partial(self._all, dataset))

    def _all(self, dataset: str | None) -> list[AliasRecord]:
        query = (
            sa.select(schema.aliases, schema.runs.c.dataset, schema.runs.c.name.label("run"))
            .join_from(schema.aliases, schema.runs)
            .order_by(schema.aliases.c.dataset_id, schema.aliases.c.name)
        )
        chosen = query if dataset is None else query.where(schema.runs.c.dataset == dataset)
        return self._session.records(AliasRecord, chosen)

    def policies(self, dataset: str | None = None) -> list[PolicyRecord]:
        """Return every policy that an alias of a dataset (None: of all) ever had, oldest first."""
        if dataset is not None:
            DatasetReads(self._session).known(dataset)  # refuses a sealed one
        names = schema.datasets.c.name.label("dataset")
        query = sa.select(schema.policies, names).join_from(schema.policies, schema.datasets)
        every = partial(self._session.records, PolicyRecord, query.order_by(schema.policies.c.id))
        return [of for of in self._session.once("policies", every) if dataset in (None, of.dataset)]

    def policy(self, dataset_id: int, alias: str) -> PolicyRecord | None:
        """Return the policy of an alias that is in force, None without one."""
        of_alias = [of for of in self.policies() if (of.dataset_id, of.alias) == (dataset_id, alias)]
        return of_alias[-1] if of_alias else None

    def known(self, name: str, dataset: str | None) -> AliasRecord:
        """Return the alias of this name; ReferenceNotFoundError if no dataset or several datasets have it."""
        return named_alias(name, self.all(dataset), dataset)


class AliasWrites(AliasReads):
    """Writes aliases; ``run_of``: returns the run of an id."""

    def __init__(self, session: Session, run_of: Callable[[int], RunRecord]) -> None:
        super().__init__(session)
        self._run_of = run_of

    def set(self, dataset_id: int, name: str, run_id: int, by: str = "unknown") -> AliasRecord:
        """Point an alias, created if missing, at a run of the same dataset and return its record.

        If it has a policy, its budget starts again, and ``by`` goes on the record.
        """
        checked_name("alias", name)
        run = self._run_of(run_id)
        if run.dataset_id != dataset_id:
            raise ConflictError(f"run {run.name!r} is in dataset {run.dataset!r}; an alias stays within its dataset")
        table, now = schema.aliases, utc_now()
        key = (table.c.dataset_id == dataset_id, table.c.name == name)
        before = self._session.execute(sa.select(table.c.run_id).where(*key)).scalar()
        changed = self._session.execute(table.update().where(*key).values(run_id=run_id, updated_at_utc=now))
        if not changed.rowcount:
            row = {"dataset_id": dataset_id, "name": name, "run_id": run_id, "created_at_utc": now}
            self._session.execute(table.insert(), {**row, "updated_at_utc": now})
        if before != run_id:
            self._moved(dataset_id, name, run_id, run.name, by)
        return next(alias for alias in self.all(run.dataset) if alias.name == name)

    def delete(self, dataset_id: int, name: str, by: str = "unknown") -> None:
        """Delete an alias; ``by``: see ``set``."""
        table = schema.aliases
        alias = name.removeprefix("@")
        key = (table.c.dataset_id == dataset_id, table.c.name == alias)
        self._session.execute(table.delete().where(*key))
        self._moved(dataset_id, alias, None, None, by)

    def _moved(self, dataset_id: int, alias: str, run_id: int | None, run: str | None, by: str) -> None:
        row = {"dataset_id": dataset_id, "alias": alias, "run_id": run_id, "run": run, "created_at_utc": utc_now()}
        self._session.execute(schema.alias_moves.insert(), row)
        if self.policy(dataset_id, alias) is not None:
            self.restart(dataset_id, alias, run or "", "deleted" if run is None else f"moved to {run}", by)

    def set_policy(self, dataset_id: int, alias: str, rules: Mapping[str, Any], by: str) -> None:
        """Store the rules of the gates against an alias."""
        row = {"dataset_id": dataset_id, "alias": checked_name("alias", alias), "rules": rules, "set_by": by}
        self._session.insert(schema.policies, row | {"set_at_utc": utc_now()})

    def restart(self, dataset_id: int, alias: str, run: str, reason: str, by: str) -> None:
        """Record that the looks at an alias so far no longer count."""
        after = self._session.execute(sa.select(sa.func.max(schema.decisions.c.id))).scalar() or 0
        row: dict[str, Any] = {"dataset_id": dataset_id, "alias": alias, "baseline_run": run, "baseline_lists": {}}
        row |= {"reason": reason, "reset_by": by, "created_at_utc": utc_now()}
        self._session.insert(schema.budget_resets, row | {"after_decision_id": after})


class DecisionReads(TransactionPart):
    """Reads the decisions of gates, on datasets and on suites."""

    def all(self, dataset_id: int) -> list[DecisionRecord]:
        """Return the decisions of gates on a dataset, oldest first."""
        table = schema.decisions
        query = sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.id)
        return self._session.records(DecisionRecord, query)

    def resets(self) -> list[BudgetResetRecord]:
        """Return every restart of a budget, on all datasets, oldest first."""
        table = schema.budget_resets
        return self._session.records(BudgetResetRecord, sa.select(table).order_by(table.c.id))

    def on_suite(self, suite: str) -> list[SuiteDecisionRecord]:
        """Return the decisions of gates on a suite, oldest first."""
        table = schema.suite_decisions
        query = sa.select(table).where(table.c.suite == suite).order_by(table.c.id)
        return self._session.records(SuiteDecisionRecord, query)


class DecisionWrites(TransactionPart):
    """Writes the decisions of gates; ``run_of``: returns the run of an id."""

    def __init__(self, session: Session, run_of: Callable[[int], RunRecord]) -> None:
        super().__init__(session)
        self._run_of = run_of

    def insert(
        self,
        dataset_id: int,
        baseline_run_id: int,
        candidate_run_id: int,
        *,
        arms: Sequence[tuple[str, Sequence[int]]] = (),
        **values: Any,
    ) -> DecisionRecord:
        """Store the decision of a gate, given by columns, and return its record.

        ``arms``: the names of both sides and the ids of their runs, if one may be an arm of several runs.
        """
        names = [self._run_of(run_id).name for run_id in (baseline_run_id, candidate_run_id)]
        sides = arms or ((names[0], [baseline_run_id]), (names[1], [candidate_run_id]))
        runs = dict(zip(("baseline_run", "candidate_run"), sides, strict=True))
        row: dict[str, Any] = dict.fromkeys(column.name for column in schema.decisions.c if not column.primary_key)
        row |= _finite(values) | {"dataset_id": dataset_id, "created_at_utc": utc_now()}
        for side, (name, ids) in runs.items():
            row |= {side: name, f"{side}_id": ids[0] if len(ids) == 1 else None}
        if any(len(ids) > 1 for _, ids in sides):
            row["repeats"] = {f"{side}_id": list(ids) for side, (_, ids) in runs.items()}
        record = DecisionRecord(id=self._session.insert(schema.decisions, _without_override(row)), **row)
        self._session.made.decision_ids.add(record.id)
        return record

    def acknowledge(self, decision_id: int, reason: str, by: str, *, on_suite: bool = False) -> None:
        """Record who overrode a decision, and why."""
        table = schema.suite_decisions if on_suite else schema.decisions
        values = {"acknowledged_reason": reason, "acknowledged_by": by}
        self._session.execute(table.update().where(table.c.id == decision_id).values(values))

    def insert_on_suite(self, **values: Any) -> SuiteDecisionRecord:
        """Store the decision of a gate on a suite, given by columns, and return its record."""
        row = _finite(values) | {"created_at_utc": utc_now()}
        return SuiteDecisionRecord(id=self._session.insert(schema.suite_decisions, _without_override(row)), **row)


def _without_override(row: dict[str, Any]) -> dict[str, Any]:
    """Return a decision without empty columns of an override, into which only the owner of the database writes."""
    return {name: value for name, value in row.items() if value is not None or name not in OVERRIDE}


def _finite(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: finite_or_none(value) if isinstance(value, float) else value for name, value in row.items()}
