"""Read and write evaluations, the results of their groups, and the judged share of runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Required, TypedDict, Unpack

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Select

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.t_test import sample_std_dev
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import (
    ResultRows,
    unpacked,
)
from ndcg_tracker.storage.checks import finite_or_none, utc_now
from ndcg_tracker.storage.records import (
    NO_LABELS_HERE,
    CoverageRecord,
    EvaluationRecord,
    GroupResultColumns,
    GroupValueRecord,
    HistoryRecord,
    MetricUse,
)
from ndcg_tracker.storage.runs import IN_TIME, RunReads
from ndcg_tracker.storage.session import FEW, TransactionPart


class EvaluationReads(TransactionPart):
    """Reads evaluations, the results of their groups, and the judged share of runs."""

    def of_run(self, run_id: int) -> list[EvaluationRecord]:
        """Return the evaluations of a run in the order in which they were stored."""
        table = schema.evaluations

        def read(run_ids: Sequence[int]) -> dict[int, list[EvaluationRecord]]:
            by_run: dict[int, list[EvaluationRecord]] = {}
            query = _evaluations().where(table.c.run_id.in_(run_ids)).order_by(table.c.id)
            for evaluation in self._session.records(EvaluationRecord, query):
                by_run.setdefault(evaluation.run_id, []).append(evaluation)
            return by_run

        return self._session.once_each("evaluations", [run_id], read).get(run_id, [])

    def history(
        self, dataset_id: int, metric: str, label_set_id: int | None = None, judge: str = ""
    ) -> list[HistoryRecord]:
        """Return the evaluations of all runs of a dataset under a metric, by run and label set version.

        Parameters: ``metric``, its canonical text. ``label_set_id``: one label set. By default all of ``judge``, and
        the label sets without labels, which results of other engines have.
        """
        table = schema.evaluations
        of_run = (schema.runs.c[name] for name in ("git_commit", "sampled", "sample_digest", "groups_share"))
        names = ("label_set_id", "mean", "std_dev", "n_groups", "n_missing", "n_undefined")
        own = (table.c.id.label("evaluation_id"), *(table.c[name] for name in names), _requested_as())
        query = _in_time(dataset_id, metric, *of_run, *own)
        chosen = _of_judge(judge) if label_set_id is None else table.c.label_set_id == label_set_id
        return self._session.records(HistoryRecord, query.where(chosen))

    def external(self, dataset_id: int, name: str) -> str | None:
        """Return the text of the other engine's metric with this name in a dataset, None if there is none."""
        table = schema.evaluations
        query = sa.select(table.c.metric).where(
            table.c.dataset_id == dataset_id, table.c.metric.startswith(f"{name}(", autoescape=True)
        )
        return next((str(text) for (text,) in self._session.rows(query.distinct())), None)

    def metrics(self, dataset_id: int, judge: str = "") -> list[MetricUse]:
        """Return the metrics that runs of a dataset have under labels of a judge, in the order of first use.

        Metrics of other engines are included.
        """
        table = schema.evaluations
        names = sa.func.max(_requested_as().element).label("requested_as")
        n_runs = sa.func.count(table.c.run_id.distinct()).label("n_runs")
        query = sa.select(table.c.metric, names, n_runs).join_from(table, schema.runs)
        query = query.where(schema.runs.c.dataset_id == dataset_id, _of_judge(judge)).group_by(table.c.metric)
        return self._session.records(MetricUse, query.order_by(sa.func.min(table.c.id)))

    def runs_by_label_set(self, dataset_id: int) -> dict[int, int]:
        """Return how many runs of a dataset are evaluated under each label set, by its id."""
        table = schema.evaluations
        query = sa.select(table.c.label_set_id, sa.func.count(table.c.run_id.distinct())).join_from(table, schema.runs)
        query = query.where(schema.runs.c.dataset_id == dataset_id).group_by(table.c.label_set_id)
        return dict(tuple(row) for row in self._session.rows(query))

    def of_group(self, dataset_id: int, metric: str, group_id: int, judge: str = "") -> list[GroupValueRecord]:
        """Return one group in every run of a dataset that has a metric, by run and label set version of a judge.

        The value is looked up by its primary key in each evaluation, whatever the number of groups.
        """
        table, results = schema.evaluations, schema.group_results
        of_group = (results.c.evaluation_id == table.c.id) & (results.c.group_id == group_id)
        query = _in_time(dataset_id, metric, results.c.value, table.c.mean).outerjoin(results, of_group)
        return self._session.records(GroupValueRecord, query.where(_of_judge(judge)))

    def of_old_labels(self) -> dict[int, dict[int, int]]:
        """Return how many results each evaluation under old labels has, by run and evaluation.

        A version of a judge's labels is old for a metric if every run that has the metric under it has the metric under
        a later version, too. So any two runs that were comparable before still are.
        """
        table = schema.evaluations
        names = ("id", "run_id", "judge", "metric_id", "label_set_id", "label_set_version")
        n_results = (sa.func.length(table.c.packed_values) // 8).label("n_results")
        rows = self._session.rows(sa.select(*(table.c[name] for name in names), n_results))
        newest: dict[tuple[int, str, int], int] = {}
        for row in rows:
            of_run = (row.run_id, row.judge, row.metric_id)
            newest[of_run] = max(newest.get(of_run, 0), row.label_set_version)
        needed = {
            (row.label_set_id, row.metric_id)
            for row in rows
            if row.label_set_version == newest[row.run_id, row.judge, row.metric_id]
        }
        old: dict[int, dict[int, int]] = {}
        for row in rows:
            if (row.label_set_id, row.metric_id) not in needed:
                old.setdefault(row.run_id, {})[row.id] = row.n_results
        return old

    def coverages_under(self, label_set_id: int) -> list[CoverageRecord]:
        """Return how much of each run has a label in one label set, by run, latest first."""
        of_labels = schema.coverages.c.label_set_id == label_set_id
        return sorted(self._coverages(of_labels), key=lambda of: (-of.run_id, of.cutoff or 0))

    def coverages(self, run_id: int, label_set_id: int) -> list[CoverageRecord]:
        """Return how much of a run has a label, by cutoff; the complete list comes last."""

        def read(run_ids: Sequence[int]) -> dict[int, list[CoverageRecord]]:
            by_run: dict[int, list[CoverageRecord]] = {}
            for coverage in self._coverages(schema.coverages.c.run_id.in_(run_ids)):
                by_run.setdefault(coverage.run_id, []).append(coverage)
            return by_run

        coverages = self._session.once_each("coverages", [run_id], read).get(run_id, [])
        of_labels = (coverage for coverage in coverages if coverage.label_set_id == label_set_id)
        return sorted(of_labels, key=lambda coverage: (coverage.cutoff is None, coverage.cutoff))

    def _coverages(self, chosen: sa.ColumnElement[bool]) -> list[CoverageRecord]:
        rows = self._session.rows(sa.select(schema.coverages).where(chosen))
        return [CoverageRecord(row.run_id, row.label_set_id, row.cutoff or None, row.judged_share) for row in rows]

    def results(self, evaluation_id: int, *, components: bool = False) -> GroupResultColumns:
        """Return the group results of an evaluation as columns; ``components``: with dcg and ideal_dcg."""
        bulk = self._session.bulk
        ids, values = bulk.results(evaluation_id)
        if not ids.size:
            of_evaluation = sa.select(schema.evaluations.c.run_id).where(schema.evaluations.c.id == evaluation_id)
            rows = self._session.rows(of_evaluation)
            runs = RunReads(self._session)
            runs.require("results", *(runs.with_id(row.run_id) for row in rows))
        undefined = np.flatnonzero(np.isnan(values))
        reasons = bulk.reasons(evaluation_id) if undefined.size else []
        columns = GroupResultColumns(ids, values, undefined, reasons)
        if not components:
            return columns
        _, (dcg, ideal_dcg) = bulk.result_columns(evaluation_id, "dcg", "ideal_dcg")
        return replace(columns, dcg=dcg, ideal_dcg=ideal_dcg)

    def results_of(self, evaluation_ids: Sequence[int]) -> list[tuple[Index, Floats]]:
        """Return ids and values (NaN: undefined) of the groups of each evaluation; equal ids share one array.

        The values are read-only, because they are the bytes that the database returned. A run that was pruned to its
        means has none.
        """
        table = schema.evaluations
        query = sa.select(table.c.id, table.c.packed_group_ids, table.c.packed_values)
        shared_ids: dict[tuple[bytes, int], Index] = {}
        results: dict[int, tuple[Index, Floats]] = {}
        for first in range(0, len(evaluation_ids), FEW):
            wanted = table.c.id.in_(evaluation_ids[first : first + FEW])
            for evaluation_id, ids, packed_values in self._session.connection.execute(query.where(wanted)):
                values = np.frombuffer(packed_values or b"", dtype="<f8").astype(np.float64, copy=False)
                key = (bytes(ids or b""), values.size)
                if key not in shared_ids:
                    shared_ids[key], _ = unpacked(ids or b"", packed_values or b"")
                results[evaluation_id] = shared_ids[key], values
        return [results[evaluation_id] for evaluation_id in evaluation_ids]


class GroupValues(TypedDict, total=False):
    """The results of the groups of an evaluation (see ``EvaluationWrites.insert``)."""

    group_ids: Required[Index]
    values: Required[Floats]
    dcg: Floats | None
    ideal_dcg: Floats | None
    reasons: Sequence[str | None] | None


class NewEvaluation(GroupValues, total=False):
    """An evaluation to store, with the results of its groups (see ``EvaluationWrites.insert``)."""

    mean: Required[float | None]
    tie_bounds: tuple[float | None, float | None]
    n_groups: Required[int]
    n_missing: Required[int]
    n_undefined: Required[int]
    requested_as: str | None


class EvaluationWrites(TransactionPart):
    """Writes evaluations (the mean of a metric and the result of every group) and the judged share of runs."""

    def insert(self, run_id: int, label_set_id: int, metric: str, **given: Unpack[NewEvaluation]) -> int:
        """Store a run's results under a label set and a metric and return the evaluation's id.

        Parameters: ``metric``, its canonical text. ``mean``: None (or NaN) where no group has a value. ``tie_bounds``:
        the mean with all ties broken in the worst order, and in the best order. ``group_ids``: int64, shape (n,),
        distinct. ``values``, ``dcg``, ``ideal_dcg``: float64, shape (n,), NaN where undefined. ``reasons``: shape (n,),
        why the value of each undefined group is undefined; None for the others. ``requested_as``: the text that the
        metric was requested as, if not its canonical one. Raises: ConflictError if the evaluation exists, InputError
        for an undefined value without a reason or an infinite one.
        """
        metric_id = self.metric_id(metric)
        table = schema.evaluations
        key = (table.c.run_id == run_id, table.c.label_set_id == label_set_id, table.c.metric_id == metric_id)
        if self._session.rows(sa.select(table.c.id).where(*key)):
            raise ConflictError(f"run {run_id} has {metric} under label set {label_set_id} already")
        mean, requested_as = given["mean"], given.get("requested_as")
        if mean is not None and math.isinf(mean):
            raise InputError(f"{metric} of run {run_id} has an infinite value; only finite numbers are stored")
        rows = _result_rows(f"{metric} of run {run_id}", given)
        row = {
            "run_id": run_id,
            "label_set_id": label_set_id,
            "metric_id": metric_id,
            "mean": None if mean is None or math.isnan(mean) else float(mean),
            **dict(zip(("worst_mean", "best_mean"), given.get("tie_bounds", (None, None)), strict=True)),
            "std_dev": sample_std_dev(rows.values[~np.isnan(rows.values)]),
            "n_groups": given["n_groups"],
            "n_missing": given["n_missing"],
            "n_undefined": given["n_undefined"],
            "created_at_utc": utc_now(),
            "requested_as": None if requested_as == metric else requested_as,
            "metric": metric,
            **self.names(run_id, label_set_id),
        }
        evaluation_id = self._session.insert(table, row)
        self._session.made.evaluation_ids.add(evaluation_id)
        self._session.bulk.insert_results(evaluation_id, rows)
        return evaluation_id

    def delete(self, evaluation_id: int) -> None:
        """Delete an evaluation with the results of its groups."""
        sums = schema.paired_sums.c.evaluation_id
        for column in (schema.group_results.c.evaluation_id, sums, schema.evaluations.c.id):
            self._session.execute(column.table.delete().where(column == evaluation_id))
        self._session.made.evaluation_ids.discard(evaluation_id)

    def delete_old(self, old: Mapping[int, Iterable[int]], run_ids: Collection[int]) -> None:
        """Delete the old evaluations of some runs, and their judged shares under labels that they no longer have."""
        shares, table = schema.coverages, schema.evaluations
        used = sa.exists().where(table.c.run_id == shares.c.run_id, table.c.label_set_id == shares.c.label_set_id)
        for run_id in run_ids:
            for evaluation_id in old[run_id]:
                self.delete(evaluation_id)
            self._session.execute(shares.delete().where(shares.c.run_id == run_id, ~used))

    def refill(self, evaluation_id: int, **given: Unpack[GroupValues]) -> None:
        """Restore the group results of a pruned evaluation (see ``insert``); its mean stays."""
        rows = _result_rows(f"evaluation {evaluation_id}", given)
        self._session.made.evaluation_ids.add(evaluation_id)
        self._session.bulk.insert_results(evaluation_id, rows)

    def insert_coverage(self, run_id: int, label_set_id: int, cutoff: int | None, judged_share: float) -> None:
        """Store the judged share of a run's top ``cutoff`` (None or 0: of all items), replacing a stored one."""
        statement = sa.text(
            "INSERT INTO coverages (run_id, label_set_id, cutoff, judged_share) VALUES (:run, :labels, :cutoff, "
            ":share) ON CONFLICT (run_id, label_set_id, cutoff) DO UPDATE SET judged_share = excluded.judged_share"
        )
        values = {"run": run_id, "labels": label_set_id, "cutoff": cutoff or 0, "share": float(judged_share)}
        self._session.execute(statement, values)

    def set_means(
        self, evaluation_id: int, mean: float | None, tie_bounds: tuple[float | None, float | None] = (None, None)
    ) -> None:
        """Replace the mean of an evaluation, and its means with ties in the worst and the best order.

        This is for changed weights of groups; the results of the groups stay. Parameters: None for no mean. Raises:
        ReferenceNotFoundError if the evaluation does not exist.
        """
        table = schema.evaluations
        values = dict(zip(("mean", "worst_mean", "best_mean"), map(finite_or_none, (mean, *tie_bounds)), strict=True))
        changed = self._session.execute(table.update().where(table.c.id == evaluation_id).values(values))
        if not changed.rowcount:
            raise ReferenceNotFoundError(
                f"no evaluation with id {evaluation_id}", advice="list those of a run with: ndcg-track runs show RUN"
            )

    def names(self, run_id: int, label_set_id: int) -> dict[str, Any]:
        """Return what an evaluation repeats from its run and label set, so that views need no other table."""
        runs, label_sets = schema.runs, schema.label_sets
        query = (
            sa.select(
                runs.c.name.label("run"),
                runs.c.dataset_id,
                runs.c.dataset,
                runs.c.created_at_utc.label("run_created_at_utc"),
                label_sets.c.version.label("label_set_version"),
                label_sets.c.judge,
            )
            .join_from(runs, label_sets, label_sets.c.dataset_id == runs.c.dataset_id)
            .where(runs.c.id == run_id, label_sets.c.id == label_set_id)
        )
        return dict(self._session.execute(query).one()._mapping)

    def metric_id(self, text: str) -> int:
        """Return the id of a metric, stored if it is new."""
        table = schema.metrics
        query = sa.select(table.c.id).where(table.c.text == text)
        rows = self._session.rows(query)
        if not rows and self._session.keep_creators_out():
            rows = self._session.rows(query)
        return int(rows[0][0]) if rows else self._session.insert(table, {"text": text})


def _result_rows(what: str, given: GroupValues) -> ResultRows:
    """Return group results in the order of their groups (InputError for values that cannot be stored)."""
    group_ids, reasons = given["group_ids"], given.get("reasons")
    order = np.argsort(group_ids, kind="stable")
    nothing, columns = np.full(group_ids.size, np.nan), (given["values"], given.get("dcg"), given.get("ideal_dcg"))
    value, gain, ideal = ((nothing if column is None else column)[order] for column in columns)
    if any(np.isinf(column).any() for column in (value, gain, ideal)):
        raise InputError(f"{what} has an infinite value; only finite numbers are stored")
    undefined = order[np.isnan(value)].tolist()
    why = [reasons[row] if reasons is not None else None for row in undefined]
    told = [reason for reason in why if reason]
    if len(told) != len(why):
        raise InputError(f"{what} has an undefined value without a reason")
    return ResultRows(group_ids[order], value, gain, ideal, told)


def _in_time(dataset_id: int, metric: str, *columns: sa.ColumnElement[Any]) -> Select[Any]:
    """Return the query for the evaluations of a dataset's runs under a metric, by run and label set version."""
    runs, table = schema.runs, schema.evaluations
    which = runs.c.id.label("run_id"), runs.c.name.label("run"), runs.c.created_at_utc
    return (
        sa.select(*which, table.c.label_set_version, *columns)
        .join_from(runs, table, table.c.run_id == runs.c.id)
        .where(runs.c.dataset_id == dataset_id, table.c.metric == metric)
        .order_by(*IN_TIME, table.c.label_set_version)
    )


def _of_judge(judge: str) -> sa.ColumnElement[bool]:
    """Return the condition that labels are of a judge, or not in this database."""
    return schema.evaluations.c.judge.in_((judge, *NO_LABELS_HERE))


def _evaluations() -> Select[Any]:
    names = (of.name for of in fields(EvaluationRecord) if of.name != "requested_as")
    return sa.select(*(schema.evaluations.c[name] for name in names), _requested_as())


def _requested_as() -> sa.Label[str]:
    return sa.func.coalesce(schema.evaluations.c.requested_as, schema.evaluations.c.metric).label("requested_as")
