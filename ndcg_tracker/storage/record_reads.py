"""What can be read of the tables with few rows: one record per row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select

from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.records import (
    AliasRecord,
    CoverageRecord,
    DatasetRecord,
    DecisionRecord,
    EvaluationRecord,
    HistoryRecord,
    LabelSetRecord,
    RunRecord,
)
from ndcg_tracker.storage.references import RunName, referenced_run, unknown_dataset

Record = TypeVar("Record")


class RecordReader:
    """Reads datasets, runs, aliases, label sets, evaluations, coverages and decisions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def datasets(self) -> list[DatasetRecord]:
        """Return all datasets in id order."""
        return self._records(DatasetRecord, sa.select(schema.datasets).order_by(schema.datasets.c.id))

    def dataset(self, name: str) -> DatasetRecord | None:
        """Return the dataset of this name, None if there is none."""
        found = self._records(DatasetRecord, sa.select(schema.datasets).where(schema.datasets.c.name == name))
        return found[0] if found else None

    def runs(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the runs of a dataset (None: of all) in id order."""
        query = _runs().order_by(schema.runs.c.id)
        return self._records(RunRecord, query if dataset is None else query.where(schema.datasets.c.name == dataset))

    def run(self, run_id: int) -> RunRecord:
        """Return the run of this id (ReferenceNotFoundError if there is none)."""
        records = self._records(RunRecord, _runs().where(schema.runs.c.id == run_id))
        if not records:
            raise ReferenceNotFoundError(f"no run with id {run_id}; see all with: ndcg-track runs list")
        return records[0]

    def resolve_run(self, reference: str, dataset: str | None = None) -> RunRecord:
        """Return the run that a reference names: exact name, id, ``@alias``, ``latest~N`` or unique prefix.

        Parameters: ``dataset`` narrows the search. Raises: ReferenceNotFoundError for an unknown or ambiguous
        reference or an unknown dataset, with the candidates.
        """
        if dataset is not None and self.dataset(dataset) is None:
            raise unknown_dataset(dataset, [one.name for one in self.datasets()])
        query = sa.select(schema.runs.c.id, schema.runs.c.name, schema.datasets.c.name.label("dataset"))
        query = query.join_from(schema.runs, schema.datasets).order_by(schema.runs.c.id)
        if dataset is not None:
            query = query.where(schema.datasets.c.name == dataset)
        names = [RunName(row.id, row.name, row.dataset) for row in self._rows(query)]
        return self.run(referenced_run(reference, names, self.aliases(dataset), dataset))

    def find_run(self, dataset_id: int, name: str) -> RunRecord | None:
        """Return the run of exactly this name, None if there is none."""
        found = self._records(
            RunRecord, _runs().where(schema.runs.c.dataset_id == dataset_id, schema.runs.c.name == name)
        )
        return found[0] if found else None

    def runs_with_digest(self, dataset_id: int, digest: str) -> list[RunRecord]:
        """Return the runs with this content, in id order."""
        chosen = (schema.runs.c.dataset_id == dataset_id, schema.runs.c.digest == digest)
        return self._records(RunRecord, _runs().where(*chosen).order_by(schema.runs.c.id))

    def aliases(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases of a dataset (None: of all), by dataset and name."""
        query = (
            sa.select(schema.aliases, schema.datasets.c.name.label("dataset"), schema.runs.c.name.label("run"))
            .join_from(schema.aliases, schema.datasets)
            .join(schema.runs, schema.runs.c.id == schema.aliases.c.run_id)
            .order_by(schema.aliases.c.dataset_id, schema.aliases.c.name)
        )
        return self._records(AliasRecord, query if dataset is None else query.where(schema.datasets.c.name == dataset))

    def label_sets(self, dataset_id: int) -> list[LabelSetRecord]:
        """Return the label sets of a dataset by version."""
        table = schema.label_sets
        return self._records(
            LabelSetRecord, sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.version)
        )

    def newest_label_set(self, dataset_id: int) -> LabelSetRecord | None:
        """Return the label set with the highest version, None if the dataset has no labels."""
        sets = self.label_sets(dataset_id)
        return sets[-1] if sets else None

    def evaluations(self, run_id: int) -> list[EvaluationRecord]:
        """Return the evaluations of a run in the order in which they were stored."""
        table = schema.evaluations
        return self._records(EvaluationRecord, _evaluations().where(table.c.run_id == run_id).order_by(table.c.id))

    def history(self, dataset_id: int, metric: str, label_set_id: int | None = None) -> list[HistoryRecord]:
        """Return the evaluations of all runs of a dataset under a metric, by run and label set version.

        Parameters: ``metric``, its canonical text. ``label_set_id`` narrows to one label set.
        """
        runs, evaluations, label_sets = schema.runs, schema.evaluations, schema.label_sets
        query = (
            sa.select(
                runs.c.id.label("run_id"),
                runs.c.name.label("run"),
                runs.c.created_at_utc,
                runs.c.git_commit,
                evaluations.c.id.label("evaluation_id"),
                evaluations.c.label_set_id,
                label_sets.c.version.label("label_set_version"),
                *(evaluations.c[name] for name in ("mean", "std_dev", "n_groups", "n_missing", "n_undefined")),
                _requested_as(),
            )
            .join_from(runs, evaluations, evaluations.c.run_id == runs.c.id)
            .join(schema.metrics, schema.metrics.c.id == evaluations.c.metric_id)
            .join(label_sets, label_sets.c.id == evaluations.c.label_set_id)
            .where(runs.c.dataset_id == dataset_id, schema.metrics.c.text == metric)
            .order_by(runs.c.id, label_sets.c.version)
        )
        if label_set_id is not None:
            query = query.where(evaluations.c.label_set_id == label_set_id)
        return self._records(HistoryRecord, query)

    def coverages(self, run_id: int, label_set_id: int) -> list[CoverageRecord]:
        """Return how much of a run has a label, by cutoff; the whole list last."""
        table = schema.coverages
        chosen = (table.c.run_id == run_id, table.c.label_set_id == label_set_id)
        rows = self._rows(sa.select(table.c.cutoff, table.c.judged_share).where(*chosen).order_by(table.c.cutoff))
        cutoffs = [CoverageRecord(run_id, label_set_id, row.cutoff or None, row.judged_share) for row in rows]
        return sorted(cutoffs, key=lambda record: record.cutoff is None)

    def decisions(self, dataset_id: int) -> list[DecisionRecord]:
        """Return the decisions of gates on a dataset, oldest first."""
        table = schema.decisions
        return self._records(
            DecisionRecord, sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.id)
        )

    def _records(self, kind: Callable[..., Record], query: Select[Any]) -> list[Record]:
        """Return a record per row, by the names of its columns; a row's own mapping takes twice as long."""
        try:
            found = self._connection.execute(query)
        except UnicodeEncodeError:
            return []  # what was asked for is half a character, which no database has anywhere
        names = tuple(found.keys())
        return [kind(**dict(zip(names, row, strict=True))) for row in found.all()]

    def _rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        return self._connection.execute(query).all()


def _runs() -> Select[Any]:
    query = sa.select(schema.runs, schema.datasets.c.name.label("dataset"))
    return query.join_from(schema.runs, schema.datasets)


def _evaluations() -> Select[Any]:
    table = schema.evaluations
    names = (
        "id",
        "run_id",
        "label_set_id",
        "mean",
        "worst_mean",
        "best_mean",
        "std_dev",
        "n_groups",
        "n_missing",
        "n_undefined",
    )
    return (
        sa.select(
            *(table.c[name] for name in names),
            table.c.created_at_utc,
            schema.metrics.c.text.label("metric"),
            _requested_as(),
            schema.label_sets.c.version.label("label_set_version"),
        )
        .join_from(table, schema.metrics)
        .join(schema.label_sets, schema.label_sets.c.id == table.c.label_set_id)
    )


def _requested_as() -> sa.Label[str]:
    return sa.func.coalesce(schema.evaluations.c.requested_as, schema.metrics.c.text).label("requested_as")
