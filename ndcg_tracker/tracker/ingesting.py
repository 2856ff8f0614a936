"""Runs and labels into the database, and the metrics of what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.text import parse_metrics
from ndcg_tracker.tracker.housekeeping import Housekeeping
from ndcg_tracker.tracker.opened import DEFAULT_DATASET, DEFAULT_METRIC, GROUP, LABEL, SCORE

if TYPE_CHECKING:
    import os

    from ndcg_tracker.ingest.frames import NullScores
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.tracker.ingest import IngestResult, RunDetails
    from ndcg_tracker.tracker.rescoring import RescoredRun


class Ingesting(Housekeeping):
    """What brings runs, labels and metrics into a database; what it takes is imported with the first call."""

    def ingest(
        self,
        frame: object,
        *,
        name: str | None = None,
        labels: object | None = None,
        dataset: str = DEFAULT_DATASET,
        metrics: str | Sequence[str] = DEFAULT_METRIC,
        group: str = GROUP,
        item: str | Literal[False] | None = None,
        score: str = SCORE,
        label: str = LABEL,
        weight: str | None = None,
        null_scores: NullScores = "error",
        reader: str | None = None,
        columns: str | Sequence[str] | None = None,
        scores: str | os.PathLike[str] | None = None,
        tags: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        git_commit: str | None = None,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run, with its labels, metrics and the result of every group, in one transaction.

        Parameters: ``frame`` (a path or a table), ``labels``, the columns, ``null_scores``, ``reader``,
        ``columns`` and ``scores``: see ``evaluate``. ``name``: unique within ``dataset``; by default that of the file.
        ``metrics``: one text form or several. ``tags`` and ``parameters``: kept with the run. ``replace``: take the
        place of other content under this name. Returns: what became of it. Raises: InputError for a frame that cannot
        be taken; ConflictError where the name is taken by other content or a label contradicts a stored one.
        """
        from ndcg_tracker.ingest.detection import default_run_name
        from ndcg_tracker.storage.names import checked_name
        from ndcg_tracker.tracker.evaluation import Input, Names, path_of
        from ndcg_tracker.tracker.ingest import RunDetails, source_name

        path = path_of(frame)
        if name is None:
            if path is None:
                raise InputError(f"a {type(frame).__name__} has no name; name the run with {argument('name')}")
            name = default_run_name(path)
        checked_name("run", name)
        checked_name("dataset", dataset)
        source = None if path is None else source_name(path)
        details = RunDetails(name, dataset, source, git_commit, dict(parameters or {}), dict(tags or {}))
        given = Input(
            frame,
            labels,
            Names(group, item, score, label, weight),
            null_scores,
            reader=reader,
            columns=columns,
            scores=scores,
        )
        return given.used_by(partial(self.ingest_stream, details=details, metrics=metrics, replace=replace))

    def ingest_stream(
        self,
        blocks: Iterable[RankedTable],
        labels: LabelLists | None,
        details: RunDetails,
        metrics: str | Sequence[str],
        *,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run that a reader has read whole, as one block, or reads block by block (see ``ingest``)."""
        from ndcg_tracker.overlap.ahead import reading_ahead
        from ndcg_tracker.tracker.evaluation import fitting, parsed_metrics
        from ndcg_tracker.tracker.ingest import digested, store_run

        parsed = parsed_metrics(metrics)
        coming = fitting(blocks, labels)
        if isinstance(blocks, list):  # a run that was read whole is refused before a database is created for it
            coming = iter(list(coming))
        with reading_ahead(digested(coming)) as read:  # the first blocks are read while the store opens
            return store_run(self.store(create=True), read, labels, details, parsed, replace=replace)

    def ingest_table(
        self,
        table: RankedTable,
        labels: LabelLists | None,
        details: RunDetails,
        metrics: str | Sequence[str],
        *,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run that a reader has read whole: a stream of one block (see ``ingest``)."""
        return self.ingest_stream([table], labels, details, metrics, replace=replace)

    def rescore(
        self, references: Sequence[str] = (), *, metrics: str | Sequence[str] = (), dataset: str | None = None
    ) -> list[RescoredRun]:
        """Evaluate stored runs (none named: all) under the newest labels, from their stored items.

        ``metrics``: text forms; by default the metrics that each run has.
        """
        from ndcg_tracker.tracker.datasets import known_dataset
        from ndcg_tracker.tracker.rescoring import rescore_runs

        parsed = parse_metrics(metrics)
        with self.store().write() as tx:
            if dataset is not None:
                known_dataset(tx, dataset)
            runs = [tx.resolve_run(reference, dataset) for reference in references] or tx.runs(dataset)
            return rescore_runs(tx, runs, parsed)

    def add_labels(
        self, labels: LabelLists, *, dataset: str = DEFAULT_DATASET, source: str | None = None
    ) -> tuple[int, bool]:
        """Make labels the newest version of a dataset; return the version and whether it is new."""
        from ndcg_tracker.tracker.rescoring import add_label_version

        with self.store(create=True).write() as tx:
            return add_label_version(tx, dataset, labels, source)
