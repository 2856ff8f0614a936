"""Read and write aliases, their moves, and the decisions of gates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from ndcg_tracker.errors import ConflictError, ReferenceNotFoundError, argument
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.checks import (
    checked_name,
    utc_now,
)
from ndcg_tracker.storage.datasets import DatasetReads
from ndcg_tracker.storage.records import (
    AliasRecord,
    BudgetResetRecord,
    DecisionRecord,
    RunRecord,
    SuiteDecisionRecord,
)
from ndcg_tracker.storage.session import Session
from ndcg_tracker.storage.upkeep.integrity import (
    Written,
)


class AliasReads:
    """Reads aliases."""

    def __init__(self, session: Session, datasets: DatasetReads) -> None:
        self._session = session
        self._datasets = datasets

    def all(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases of a dataset (None: of all), by dataset and name."""
        return self._session.once(("aliases", dataset), partial(self._all, dataset))

    def _all(self, dataset: str | None) -> list[AliasRecord]:
        query = (
            sa.select(schema.aliases, schema.datasets.c.name.label("dataset"), schema.runs.c.name.label("run"))
            .join_from(schema.aliases, schema.datasets)
            .join(schema.runs, schema.runs.c.id == schema.aliases.c.run_id)
            .order_by(schema.aliases.c.dataset_id, schema.aliases.c.name)
        )
        chosen = query if dataset is None else query.where(schema.datasets.c.name == dataset)
        return self._session.records(AliasRecord, chosen)

    def known(self, name: str, dataset: str | None) -> AliasRecord:
        """Return the alias of this name; ReferenceNotFoundError if no dataset or several datasets have it."""
        aliases = self.all(dataset)
        named = [alias for alias in aliases if alias.name == name]
        if not named:
            listed = ", ".join(f"@{alias.name}" for alias in aliases) or "none"
            raise ReferenceNotFoundError(f"there is no alias @{name}; there is {listed}")
        if len(named) > 1:
            names = ", ".join(alias.dataset for alias in named)
            raise ReferenceNotFoundError(
                f"alias @{name} is in several datasets ({names})", advice=f"give {argument('dataset')}"
            )
        return named[0]


class AliasWrites:
    """Writes aliases; ``run_of``: returns the run of an id."""

    def __init__(self, session: Session, aliases: AliasReads, run_of: Callable[[int], RunRecord]) -> None:
        self._session = session
        self._aliases = aliases
        self._run_of = run_of

    def set(
        self, dataset_id: int, name: str, run_id: int, budget: tuple[float, int | None] | None = None
    ) -> AliasRecord:
        """Point an alias, created if missing, at a run of the same dataset and return its record.

        ``budget``: of the gates against it, and how many looks share it; None for no change.
        """
        checked_name("alias", name)
        run = self._run_of(run_id)
        if run.dataset_id != dataset_id:
            raise ConflictError(f"run {run.name!r} is in dataset {run.dataset!r}; an alias stays within its dataset")
        table, now = schema.aliases, utc_now()
        key = (table.c.dataset_id == dataset_id, table.c.name == name)
        before = self._session.execute(sa.select(table.c.run_id).where(*key)).scalar()
        shared = {} if budget is None else dict(zip(("budget", "looks"), budget, strict=True))
        changed = self._session.execute(table.update().where(*key).values(run_id=run_id, updated_at_utc=now, **shared))
        if not changed.rowcount:
            row = {"dataset_id": dataset_id, "name": name, "run_id": run_id, "created_at_utc": now}
            self._session.execute(table.insert(), {**row, "updated_at_utc": now, **shared})
        if before != run_id:
            self._moved(dataset_id, name, run_id, run.name)
        return next(alias for alias in self._aliases.all(run.dataset) if alias.name == name)

    def delete(self, dataset_id: int, name: str) -> None:
        """Delete an alias (ReferenceNotFoundError if it does not exist)."""
        table = schema.aliases
        alias = name.removeprefix("@")
        key = (table.c.dataset_id == dataset_id, table.c.name == alias)
        if not self._session.execute(table.delete().where(*key)).rowcount:
            raise ReferenceNotFoundError(
                f"no alias {'@' + alias!r} in this dataset",
                advice="list all with: ndcg-track alias list",
            )
        self._moved(dataset_id, alias, None, None)

    def _moved(self, dataset_id: int, alias: str, run_id: int | None, run: str | None) -> None:
        row = {"dataset_id": dataset_id, "alias": alias, "run_id": run_id, "run": run, "created_at_utc": utc_now()}
        self._session.execute(schema.alias_moves.insert(), row)


class DecisionReads:
    """Reads the decisions of gates, on datasets and on suites."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, dataset_id: int) -> list[DecisionRecord]:
        """Return the decisions of gates on a dataset, oldest first."""
        table = schema.decisions
        query = sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.id)
        return self._session.records(DecisionRecord, query)

    def under_budget(self, after: int = 0) -> list[DecisionRecord]:
        """Return the decisions under a budget, on all datasets, after a number, oldest first."""
        table = schema.decisions
        chosen = sa.select(table).where(table.c.look.is_not(None), table.c.id > after)
        return self._session.records(DecisionRecord, chosen.order_by(table.c.id))

    def resets(self) -> list[BudgetResetRecord]:
        """Return every restart of a budget, on all datasets, oldest first."""
        table = schema.budget_resets
        return self._session.records(BudgetResetRecord, sa.select(table).order_by(table.c.id))

    def on_suite(self, suite: str) -> list[SuiteDecisionRecord]:
        """Return the decisions of gates on a suite, oldest first."""
        table = schema.suite_decisions
        query = sa.select(table).where(table.c.suite == suite).order_by(table.c.id)
        return self._session.records(SuiteDecisionRecord, query)


class DecisionWrites:
    """Writes the decisions of gates; ``run_of``: returns the run of an id."""

    def __init__(self, session: Session, run_of: Callable[[int], RunRecord], made: Written) -> None:
        self._session = session
        self._run_of = run_of
        self._made = made

    def insert(
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
        arms: tuple[tuple[str, Sequence[int]], tuple[str, Sequence[int]]] | None = None,
        unjudged: str | None = None,
        open_delta: tuple[float | None, float | None] = (None, None),
        checked_by: str | None = None,
        budget: tuple[float, int | None, int, Mapping[str, Any] | None] | None = None,
        question: str | None = None,
    ) -> DecisionRecord:
        """Store the decision of a gate (``pass``, ``fail`` or ``inconclusive``) and return its record.

        ``arms``: if one side is an arm of several runs, the names of both sides and the ids of their runs.
        ``unjudged``: what an unjudged item was worth; ``open_delta``: the least and the greatest delta that such items
        left open. ``checked_by``: who graded the sample that checks the judge. ``budget``: the budget that the looks
        share, how many there are, the number of this look, and a JSON object that identifies the baseline's lists (None
        for sealed data). ``question``: the digest of what was asked.
        """
        names = [self._run_of(run_id).name for run_id in (baseline_run_id, candidate_run_id)]
        sides = arms or ((names[0], [baseline_run_id]), (names[1], [candidate_run_id]))
        runs = dict(zip(("baseline_run", "candidate_run"), sides, strict=True))
        numbers = {"margin": margin, "delta": delta, "ci_low": ci[0], "ci_high": ci[1], "alpha": alpha}
        numbers |= {"delta_low": open_delta[0], "delta_high": open_delta[1]}
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            **{f"{side}_id": ids[0] if len(ids) == 1 else None for side, (_, ids) in runs.items()},
            **{side: name for side, (name, _) in runs.items()},
            "baseline_alias": baseline_alias,
            "metric": metric,
            "label_set_id": label_set_id,
            "scope": scope,
            **{name: finite_or_none(number) for name, number in numbers.items()},
            "decision": decision,
            "reason": reason,
            "acknowledged_reason": acknowledged_reason,
            "acknowledged_by": acknowledged_by,
            "created_at_utc": utc_now(),
            "repeats": None if arms is None else {f"{side}_id": list(ids) for side, (_, ids) in runs.items()},
            "unjudged": unjudged,
            "checked_by": checked_by,
            "question": question,
            **dict(zip(("budget", "looks", "look", "baseline_lists"), budget or [None] * 4, strict=True)),
        }
        record = DecisionRecord(id=self._session.insert(schema.decisions, values), **values)
        self._made.decision_ids.add(record.id)
        return record

    def reset(
        self,
        dataset_id: int,
        baseline_run: str,
        baseline_lists: Mapping[str, Any],
        *,
        reason: str,
        reset_by: str,
        after: int,
    ) -> None:
        """Record that the looks at a baseline's lists, up to the decision ``after``, no longer count."""
        of_baseline = {"dataset_id": dataset_id, "baseline_run": baseline_run, "baseline_lists": baseline_lists}
        said = {"reason": reason, "reset_by": reset_by, "created_at_utc": utc_now()}
        self._session.insert(schema.budget_resets, of_baseline | said | {"after_decision_id": after})

    def acknowledge(self, decision_id: int, reason: str, by: str, *, on_suite: bool = False) -> None:
        """Record who overrode a decision, and why."""
        table = schema.suite_decisions if on_suite else schema.decisions
        values = {"acknowledged_reason": reason, "acknowledged_by": by}
        self._session.execute(table.update().where(table.c.id == decision_id).values(values))

    def insert_on_suite(self, **values: Any) -> SuiteDecisionRecord:
        """Store the decision of a gate on a suite, given by columns, and return its record."""
        named = ("delta", "ci_low", "ci_high", "alpha", "delta_low", "delta_high")
        numbers = {name: finite_or_none(values[name]) for name in named}
        row = {**values, **numbers, "created_at_utc": utc_now()}
        return SuiteDecisionRecord(id=self._session.insert(schema.suite_decisions, row), **row)


def finite_or_none(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
