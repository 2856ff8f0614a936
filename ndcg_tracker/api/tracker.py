"""The tracker: every run of a team in one database, and the questions one asks of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from ndcg_tracker.defaults import (
    DEFAULT_DATASET,
    DEFAULT_METRIC,
    GROUP,
    LABEL,
    REPRO_EVAL_P,
    SCORE,
    SQL_TIMEOUT_SECONDS,
    database_location,
)
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.text import parse_metric, parse_metrics

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    import pandas as pd

    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.compare.gather import CompareOptions, ComparisonResult
    from ndcg_tracker.compare.gather_suite import SuiteComparisonResult
    from ndcg_tracker.compare.inference import CiMethod, TestName
    from ndcg_tracker.compare.pair import Missing
    from ndcg_tracker.compare.report_facts import PairReports
    from ndcg_tracker.compare.run_pair import RunPair, Version
    from ndcg_tracker.errors import NdcgTrackerError
    from ndcg_tracker.ingest.frames import NullScores
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.metrics.language.metric import Direction
    from ndcg_tracker.questions.conventions import Convention
    from ndcg_tracker.questions.diff.gather import DiffResult
    from ndcg_tracker.questions.explain.gather import ExplanationResult
    from ndcg_tracker.questions.gate.decide import Scope
    from ndcg_tracker.questions.gate.gather import GateResult
    from ndcg_tracker.questions.gate.gather_suite import SuiteGateResult
    from ndcg_tracker.questions.gate.question import Margin
    from ndcg_tracker.questions.history.gather import History, HistoryFilter, HistoryResult
    from ndcg_tracker.questions.labels.decide import JudgesAgreement, LabelsDiff, LabelVersion
    from ndcg_tracker.questions.labels.gather import LabelsNeededResult, VersionsResult
    from ndcg_tracker.questions.leaderboard.decide import LeaderboardTest
    from ndcg_tracker.questions.leaderboard.gather import LeaderboardResult
    from ndcg_tracker.questions.leaderboard.gather_suite import SuiteResult
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.questions.reproduce.gather import ReproductionResult
    from ndcg_tracker.questions.show.decide import ShownRun
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.render.charts.chart import Chart
    from ndcg_tracker.runs.exchange import Exported, Imported
    from ndcg_tracker.runs.groups import GroupRecord, GroupsSet, StoredText, TextsAdded
    from ndcg_tracker.runs.ingest import IngestResult, RunDetails
    from ndcg_tracker.runs.prune import Pruned
    from ndcg_tracker.runs.rescore import LabelsAdded, RescoredRun
    from ndcg_tracker.runs.scoring import Scores
    from ndcg_tracker.statistics.summary import SliceSummary
    from ndcg_tracker.storage.guard.query_result import QueryResult
    from ndcg_tracker.storage.records import AliasRecord, EvaluationRecord, RunRecord, SuiteRecord
    from ndcg_tracker.storage.store import Store

# What answers a question is imported where it is asked: most of a small command's time is its start.


class Tracker:
    """Runs, labels, metrics and group results in one database.

    ``location``: a SQLAlchemy URL (``sqlite:///...``, ``postgresql+psycopg://...``) or the path of a SQLite file; by
    default ``NDCG_TRACK_DB``, else ``ndcg-track.db`` in the current folder. The first ``ingest`` creates
    a SQLite file; on Postgres, ``ndcg-track db upgrade`` makes the schema. Opened when first used; close it, or
    use it in a ``with`` statement. ``read_only``: nothing can be stored or changed. Every method raises DatabaseError
    for a database that cannot be used as it is.

    >>> import tempfile, ndcg_tracker as nt
    >>> shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    >>> with tempfile.TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     tracker.ingest(shop, name="bm25").outcome
    ...     tracker.sql("SELECT run, metric, n_groups FROM run_summary WHERE is_newest_labels").to_dict("records")
    'stored'
    [{'run': 'bm25', 'metric': 'ndcg@10', 'n_groups': 1}]
    """

    def __init__(self, location: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> None:
        self.location: str = database_location(location)
        self._read_only = read_only
        self._store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the database; the tracker opens it again when it is used again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def store(self, *, create: bool = False) -> Store:
        """Return the open store; ``create`` makes a SQLite file that is not there yet."""
        if self._store is None:
            from ndcg_tracker.storage.store import Store

            self._store = Store.open(self.location, create=create, read_only=self._read_only)
        return self._store

    def query(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS, explain: bool = False) -> QueryResult:
        """Run a read-only SQL query on the public views (see ``sql``) and return columns and rows.

        ``explain``: return the engine's plan instead, one line per row, and do not run the query.
        """
        return self.store().query(query, timeout_seconds=timeout_seconds, explain=explain)

    def sql(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> pd.DataFrame:
        """Run a read-only SQL query on the public views: run_summary, group_history, group_diff, items, labels, ...

        Raises: InputError for a query that is wrong, writes, or runs out of time.
        """
        import pandas as pd

        result = self.query(query, timeout_seconds=timeout_seconds)
        return pd.DataFrame(result.rows, columns=result.columns)

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
        created_at: str | datetime | None = None,
        metadata: str | os.PathLike[str] | None = None,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run, with its labels, metrics and the result of every group, in one transaction.

        Parameters: ``frame`` (a path or a table), ``labels``, the columns, ``null_scores``, ``reader``,
        ``columns`` and ``scores``: see ``evaluate``. ``name``: unique within ``dataset``; by default that of the file.
        ``metrics``: one text form or several. ``tags`` and ``parameters``: kept with the run; of a file the
        entries of an ir_metadata header are tags, too, and those of ``metadata``, a file of ir_metadata beside the
        run, as tirex-tracker writes it. ``created_at``: when the run was made, by default now: a
        datetime, or ISO 8601 text; UTC where it names no zone. ``replace``: take the place of other content under this
        name. Returns: what became of it. Raises: InputError for a frame that
        cannot be taken; ConflictError where the name is taken by other content or a label contradicts a stored one.
        """
        from ndcg_tracker.api.evaluation import Input, Names, path_of
        from ndcg_tracker.ingest.detection import default_run_name
        from ndcg_tracker.ingest.ir_metadata import run_metadata, side_metadata
        from ndcg_tracker.runs.ingest import RunDetails

        path = path_of(frame)
        if name is None:
            if path is None:
                raise InputError(
                    f"a {type(frame).__name__} has no name", advice=f"name the run with {argument('name')}"
                )
            name = default_run_name(path)
        beside = {} if metadata is None else side_metadata(os.fspath(metadata))
        details = RunDetails.given(
            name,
            dataset,
            [] if path is None else [path],
            git_commit=git_commit,
            parameters=parameters,
            tags={**({} if path is None else run_metadata(path)), **beside, **(tags or {})},
            labels=path_of(labels),
            created_at=created_at,
        )
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

    def log_results(
        self,
        results: object,
        *,
        metric: str,
        direction: Direction,
        range: tuple[float, float],
        name: str | None = None,
        dataset: str = DEFAULT_DATASET,
        group: str | None = None,
        value: str | None = None,
        measure: str | None = None,
        reader: str | None = None,
        tags: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        git_commit: str | None = None,
        created_at: str | datetime | None = None,
        replace: bool = False,
    ) -> IngestResult:
        """Store results of groups that another engine computed, to compare, gate and plot them like others.

        They are paired with results of the same name only, whatever labels there are, and cannot be computed again or
        explained. Parameters: ``results``: a dict of a value per group; a table with a row per group, such as
        PyTerrier's ``perquery``; or a file (CSV, TSV, JSON lines, Parquet, or what ``trec_eval -q`` prints).
        ``metric``: its name, such as "latency"; the metric is then ``external:latency``. ``direction``: "higher" or
        "lower", whichever is better. ``range``: between which numbers all values lie; a side may be infinite.
        ``name``: of the run, a stored one or a new one. ``group``, ``value``: the columns. ``measure``: which one to
        take where there are several. ``replace``: other results of this run and name. The rest as ``ingest``. Raises:
        InputError for what is no such table; ConflictError where run or dataset know the name otherwise.

        >>> import tempfile, ndcg_tracker as nt
        >>> with tempfile.TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
        ...     for run, values in (("old", [120.0, 80.0, 95.0]), ("new", [100.0, 71.0, 80.0])):
        ...         of_groups = dict(zip(("q1", "q2", "q3"), values))
        ...         _ = tracker.log_results(of_groups, metric="latency", direction="lower", range=(0, 1e6), name=run)
        ...     found = tracker.compare("old", "new").to_dict()["metrics"][0]
        >>> found["metric"], round(found["delta"], 2), found["wins"], found["verdict"]
        ('external:latency(direction=lower, range=0..1000000)', -14.67, 3, 'improved')
        """
        from ndcg_tracker.api.evaluation import path_of
        from ndcg_tracker.ingest.detection import default_run_name
        from ndcg_tracker.ingest.results import ResultColumns, read_results, result_frame
        from ndcg_tracker.metrics.language.metric import named_external
        from ndcg_tracker.runs.external import store_results
        from ndcg_tracker.runs.ingest import RunDetails

        parsed = named_external(metric, direction, *map(str, range))
        columns, path = ResultColumns(group, value, measure), path_of(results)
        if name is None:
            if path is None:
                raise InputError("results have no name", advice=f"name their run with {argument('name')}")
            name = default_run_name(path)
        details = RunDetails.given(
            name,
            dataset,
            [] if path is None else [path],
            git_commit=git_commit,
            parameters=parameters,
            tags=tags,
            created_at=created_at,
        )
        limits = parsed.limits or (0.0, 0.0)
        if path is None:
            table = result_frame(results, limits, columns)
        else:
            table = read_results(path, limits, reader=reader, columns=columns)
        with self.store(create=True).write() as tx:
            return store_results(tx, table, parsed, details, replace=replace)

    def log_summaries(
        self,
        summaries: str | os.PathLike[str] | Sequence[SliceSummary] | Sequence[str | os.PathLike[str]],
        *,
        name: str | None = None,
        baseline: str | None = None,
        disjoint_clusters: bool = False,
        dataset: str = DEFAULT_DATASET,
        tags: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        git_commit: str | None = None,
        created_at: str | datetime | None = None,
        replace: bool = False,
    ) -> IngestResult:
        """Store a run of which only sums over its groups are known, as ``integrations.spark.summarize`` returns them.

        ``compare``, ``gate``, ``history`` and lists of runs then answer from the sums; what needs groups says so.
        Parameters: ``summaries``: the sums, a file of ``write_summaries``, or several files, such as those of several
        days, which are merged: each group in one of them. ``baseline``: the stored run that the differences are to; a
        run may be stored again with another one. ``disjoint_clusters``: the promise that no cluster has groups in
        several files. The rest as ``ingest``. Raises: InputError for what are no sums, or cannot be merged;
        NameTakenError for a run with other content.
        """
        from ndcg_tracker.ingest.detection import default_run_name
        from ndcg_tracker.ingest.results import merged_summaries, read_summaries
        from ndcg_tracker.runs.external import store_sums
        from ndcg_tracker.runs.ingest import RunDetails
        from ndcg_tracker.statistics.summary import SliceSummary

        given = [summaries] if isinstance(summaries, str | os.PathLike) else list(summaries)
        sums = [one for one in given if isinstance(one, SliceSummary)]
        paths = [os.fspath(one) for one in given if not isinstance(one, SliceSummary)]
        if not given or bool(sums) == bool(paths):
            raise InputError("there are no sums", advice="give what summarize returned, or files of it")
        if name is None and not paths:
            raise InputError("sums have no name", advice=f"name their run with {argument('name')}")
        parts = [sums] if sums else [read_summaries(path) for path in paths]
        merged = merged_summaries(parts, disjoint_clusters=disjoint_clusters)
        details = RunDetails.given(
            default_run_name(paths[0]) if name is None else name,
            dataset,
            paths,
            git_commit=git_commit,
            parameters=parameters,
            tags=tags,
            created_at=created_at,
        )
        with self.store(create=True).write() as tx:
            return store_sums(tx, merged, details, baseline, replace=replace)

    def ingest_stream(
        self,
        blocks: Iterable[RankedTable],
        labels: LabelLists | None,
        details: RunDetails,
        metrics: str | Sequence[str],
        *,
        replace: bool = False,
        scores: Scores | None = None,
    ) -> IngestResult:
        """Store a run that a reader has read whole, as one block, or reads block by block (see ``ingest``).

        ``scores``: what is known of it (see ``tracker.ingest.store_run``).
        """
        from ndcg_tracker.api.evaluation import fitting, parsed_metrics
        from ndcg_tracker.concurrency import reading_ahead
        from ndcg_tracker.runs.ingest import digested, ready_run, store_run

        parsed = parsed_metrics(metrics)
        coming = fitting(blocks, labels)
        if isinstance(blocks, list):  # a run that was read whole is refused before a database is created for it
            whole = list(coming)
            coming = iter(whole)
            if scores is None and len(whole) == 1:  # and it is scored before others have to wait for it
                scores = ready_run(whole[0], labels, parsed).scores
        with reading_ahead(digested(coming)) as read:  # the first blocks are read while the store opens
            return store_run(self.store(create=True), read, labels, details, parsed, replace=replace, scores=scores)

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
        self,
        references: Sequence[str] = (),
        *,
        metrics: str | Sequence[str] = (),
        dataset: str | None = None,
        labels: int | None = None,
        judge: str | None = None,
    ) -> list[RescoredRun]:
        """Evaluate stored runs (none named: all) under the newest labels, from their stored items.

        ``metrics``: text forms; by default the metrics that each run has. ``labels``: another version of the labels.
        ``judge``: the newest labels of a named judge. Raises: ReferenceNotFoundError for a run or a version that is not
        there; InputError for a judge without labels, and for a named run that was pruned (of all runs, those are left
        out, with the time in ``pruned_at_utc``).
        """
        from ndcg_tracker.runs.rescore import rescore_stored

        parsed = parse_metrics(metrics)
        return rescore_stored(self.store(), references, parsed, dataset=dataset, version=labels, judge=judge)

    def add_labels(
        self,
        labels: object,
        *,
        dataset: str = DEFAULT_DATASET,
        group: str | None = None,
        item: str | None = None,
        label: str | None = None,
        source: str | None = None,
        judge: str = "",
        extend: bool = False,
        rescore: bool = False,
    ) -> LabelsAdded:
        """Make labels the newest version of a dataset; return the version and whether it is new.

        ``labels``: a path, a table or a nested dict, as ``evaluate`` takes them; ``group``, ``item`` and ``label``:
        names of its columns. ``source``: where they come from, by default the path. ``judge``: who gave them, such as a
        model's name; labels of a named judge count only where it is named. ``extend``: they are added to those of the
        judge's newest version, instead of taking their place. ``rescore``: evaluate the dataset's stored runs under
        them in the same transaction; what became of each is ``rescored`` of what is returned, and pruned runs are left
        out.
        """
        from ndcg_tracker.api.evaluation import labels_given, path_of
        from ndcg_tracker.ingest.columns import Columns
        from ndcg_tracker.runs.ingest import source_name
        from ndcg_tracker.runs.rescore import store_labels

        given = labels_given(labels, Columns(group=group, item=item, label=label))
        path = path_of(labels)
        source = source_name(path) if source is None and path is not None else source
        store = self.store(create=True)
        return store_labels(store, dataset, given, source, judge, extend=extend, rescore=rescore)

    def change_of_labels(
        self, version: int, *, dataset: str = DEFAULT_DATASET, extends: bool = False
    ) -> tuple[str, ...]:
        """Return what a version of the labels lacks of the one before, and how many groups are new, in words.

        ``extends``: whether it was to extend that one; a note tells where the judge had none.
        """
        from ndcg_tracker.runs.labels import change_of_labels
        from ndcg_tracker.words.notes import in_words

        with self.store().read() as tx:
            return in_words(change_of_labels(tx, dataset, version, extends=extends))

    def labels_needed(
        self,
        baseline: str,
        *candidates: str | Sequence[str],
        budget: int = 100,
        metric: str | None = None,
        dataset: str | None = None,
        judge: str | None = None,
    ) -> LabelsNeededResult:
        """Return which unjudged items to judge next, those first that could move a difference most.

        Items without a label in the newest version, among the first ranks of a run, each with the range of the mean
        difference over its grades, all others being as they are. Of several candidates, each is compared with the
        baseline, and an item counts by the difference that it could move most.

        Parameters: ``baseline`` and ``candidates``: run references (see ``compare``). ``budget``: how many items at
        most. ``metric``: by default the first that all runs have and that has such ranges. ``judge``: whose labels, by
        default those of no named judge. Returns: the items; ``save`` writes them for judges, ``add_labels`` with
        ``extend`` takes the answers. Raises: ReferenceNotFoundError; InputError for a metric without such ranges and a
        budget below 1; NotComparableError.
        """
        from ndcg_tracker.compare.arms import named_runs
        from ndcg_tracker.metrics.language.text import parse_metric
        from ndcg_tracker.questions.labels.gather import LabelsNeededResult, labels_needed

        asked = None if metric is None else parse_metric(metric)
        with self.store().read() as tx:
            names = named_runs(tx, candidates, dataset, baseline)
            run, *others = tx.runs.resolve_all([baseline, *names], dataset)
            return LabelsNeededResult(labels_needed(tx, run, others, asked, budget, judge))

    def label_versions(self, dataset: str = DEFAULT_DATASET, *, judge: str | None = None) -> list[LabelVersion]:
        """Return the versions of a dataset's labels, oldest first, with what they hold and how many runs they score.

        ``judge``: only those of one judge ("": of no named one).
        """
        from ndcg_tracker.questions.labels.gather import label_versions

        with self.store().read() as tx:
            return label_versions(tx, dataset, judge)

    def labels_diff(
        self, first: int, second: int | None = None, *, dataset: str = DEFAULT_DATASET, top: int = 10
    ) -> LabelsDiff:
        """Return what differs between two versions of a dataset's labels; by default the second is the newest.

        ``top``: how many labels to keep of those whose grade changed. Raises: ReferenceNotFoundError for a dataset or
        version that is not there.
        """
        from ndcg_tracker.questions.labels.gather import label_sets_diff

        with self.store().read() as tx:
            return label_sets_diff(tx, dataset, first, second, top=top)

    def labels_agreement(
        self,
        *judges: str,
        dataset: str = DEFAULT_DATASET,
        metric: str = DEFAULT_METRIC,
        top: int = 10,
    ) -> JudgesAgreement:
        """Return how far two judges agree, by their newest labels, and what becomes of the runs under each.

        Parameters: ``judges``: two; one is held against the unnamed judge; none: the only named one. ``metric``: by
        which runs are ordered and compared. ``top``: how many labels to keep of those whose grades differ. Raises:
        InputError where it is not clear which two are meant, or one has no labels.
        """
        from ndcg_tracker.questions.labels.gather import judges_agreement

        parsed = parse_metric(metric)
        with self.store().read() as tx:
            return judges_agreement(tx, dataset, judges, parsed, top=top)

    def compare(
        self,
        baseline: str,
        *candidates: str | Sequence[str],
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        top: int = 10,
        tie_bounds: bool = False,
        unjudged_bounds: bool = False,
        test: TestName = "t",
        ci: CiMethod = "t",
        equivalence: float | None = None,
        by: str | None = None,
        cluster: str | None = None,
        labels: Version = None,
        judge: str | None = None,
    ) -> ComparisonResult:
        """Compare a baseline with one candidate or several, group by group, under the newest labels that they share.

        Parameters: ``baseline`` and ``candidates``: run references (name, id, ``@alias``, ``latest``, ``latest~2``,
        unique prefix), the candidates one by one or in lists. ``metrics``: text forms; by default all that both have.
        ``missing``: what to do with groups that have a result in one run only: "error" refuses, "zero" counts 0 there,
        "intersect" leaves them out, "skip" leaves out labelled groups that neither run has as well. ``top``: how many
        worst and best groups to keep. ``tie_bounds``: list the groups that ties in scores leave open.
        ``unjudged_bounds``: find the least and the greatest difference over all grades of the unjudged items in the
        first ranks of either run, and the difference without them. ``test``: where p-values come from, "t" (paired
        t-test), "permutation" (sign flips) or "wilcoxon" (tests symmetry, not the mean). ``ci``: where the 95%
        intervals come from, "t", "bootstrap" or "betting". ``equivalence``: a margin, within which delta is to be
        shown to lie (two one-sided t-tests). ``by``: a group attribute (``set_groups``): compare slice by slice as
        well. ``cluster``: a group attribute whose values mark groups that depend on each other, such as those of one
        user or session. ``tag:KEY=VALUE`` in the place of a run is an arm: all runs with that tag, as repeats of one
        system. ``labels``: a version of the labels, or "newest" (see also ``compare_versions``). ``judge``: whose
        labels, by default those of no named judge. Raises: ReferenceNotFoundError; InputError for methods that do not
        apply and an unknown attribute; NotComparableError, with the command that fixes it.
        """
        from ndcg_tracker.compare.gather import CompareOptions, ComparisonResult, compared
        from ndcg_tracker.compare.inference import Methods

        options = CompareOptions(
            metrics=tuple(parse_metrics(metrics)),
            dataset=dataset,
            missing=missing,
            top=top,
            tie_bounds=tie_bounds,
            methods=Methods(test, ci, equivalence),
            by=by,
            cluster=cluster,
            labels=labels,
            judge=judge,
            unjudged_bounds=unjudged_bounds,
        )
        with self.store().read() as tx:
            found = tuple(pair.comparison for pair in compared(tx, baseline, candidates, options))
        return ComparisonResult(found, partial(self._pair_reports, baseline, candidates, options))

    def compare_versions(
        self,
        baseline: str,
        *candidates: str | Sequence[str],
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        test: TestName = "t",
        ci: CiMethod = "t",
        equivalence: float | None = None,
        judge: str | None = None,
        cluster: str | None = None,
    ) -> VersionsResult:
        """Compare a baseline with its candidates under every version of the labels: does the conclusion change?

        Parameters and raises: see ``compare``; the versions are those of ``judge``. Versions under which one of the
        runs lacks the metrics are named, with the command that adds them.
        """
        from ndcg_tracker.compare.gather import CompareOptions
        from ndcg_tracker.compare.inference import Methods
        from ndcg_tracker.questions.labels.gather import VersionsResult, compared_versions

        methods = Methods(test, ci, equivalence)
        options = CompareOptions(
            tuple(parse_metrics(metrics)), dataset, missing, top=0, methods=methods, judge=judge, cluster=cluster
        )
        with self.store().read() as tx:
            return VersionsResult(compared_versions(tx, baseline, candidates, options))

    def _pair_reports(
        self,
        baseline: str,
        candidates: Sequence[str | Sequence[str]],
        options: CompareOptions,
        kind: ComparisonChart,
    ) -> PairReports:
        """Return what a chart of a comparison shows."""
        from ndcg_tracker.compare.gather import compared
        from ndcg_tracker.questions.report.gather import pair_reports

        with self.store().read() as tx:
            found = compared(tx, baseline, candidates, options)
            return pair_reports(tx, found, n_lists=0, with_cutoffs=kind == "cutoffs")

    def report(
        self,
        baseline: str,
        *candidates: str | Sequence[str],
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        test: TestName = "t",
        ci: CiMethod = "t",
        cluster: str | None = None,
        labels: Version = None,
        output: str = "report.html",
        texts: bool = False,
    ) -> ReportResult:
        """Draw a comparison: one page of HTML with every group, both lists of those that changed most, and the history.

        Parameters: ``baseline``, ``candidates``, ``dataset``, ``metrics``, ``missing``, ``test``, ``ci``, ``cluster``
        and ``labels``: see ``compare``; the first metric is drawn group by group. ``output``: the file that the page's
        own command names. ``texts``: whether the page shows what ``add_texts`` stored. Returns: the page, which is
        saved with ``save``. Raises: what ``compare`` raises.
        """
        from ndcg_tracker.compare.gather import CompareOptions
        from ndcg_tracker.compare.inference import Methods
        from ndcg_tracker.questions.report.gather import ReportResult, runs_report

        options = CompareOptions(
            tuple(parse_metrics(metrics)), dataset, missing, methods=Methods(test, ci), cluster=cluster, labels=labels
        )
        with self.store().read() as tx:
            return ReportResult(runs_report(tx, baseline, candidates, options, output, texts=texts))

    def explain(
        self,
        baseline: str,
        candidate: str,
        *,
        group: str | int | None = None,
        metric: str | None = None,
        dataset: str | None = None,
        labels_baseline: int | None = None,
        labels_candidate: int | None = None,
        top: int | None = 10,
        by: str | None = None,
    ) -> ExplanationResult:
        """Say which items, grades, ranks or labels the difference of two runs comes from.

        Parameters: ``baseline`` and ``candidate``: run references. ``group``: its difference is split by item; by
        default that of the means is added up over all groups by item, by grade, by rank and by what happened.
        ``metric``: a cg, dcg or ndcg; by default ndcg@10 if both runs have it, else the first that they share.
        ``labels_baseline`` and ``labels_candidate``: versions of the labels for each run; by default the newest under
        which both have the metric. Under two versions the change is also split into what the ranking, the grades and
        the coverage of the labels did. ``top``: how many items to keep at either end over all groups, None for all.
        ``by``: a group attribute, to say what each slice of all groups did as well.
        Raises: ReferenceNotFoundError; MetricError for a metric that is not split into items; InputError for a group
        without a result; NotComparableError, with the command that fixes it.
        """
        from ndcg_tracker.questions.explain.gather import (
            ExplanationResult,
            explained_pair,
            group_explanation,
            run_explanation,
        )

        if by is not None and group is not None:
            raise InputError(f"{argument('by')} slices all groups", advice=f"leave out {argument('group')}, or it")
        parsed = None if metric is None else parse_metric(metric)
        with self.store().read() as tx:
            one, other = tx.runs.resolve_all([baseline, candidate], dataset)
            both = explained_pair(tx, one, other, parsed, (labels_baseline, labels_candidate))
            if group is None:
                return ExplanationResult(run_explanation(tx, both, top=top, by=by))
            key = str(group)  # an id that was a whole number is stored as text
            explanation = group_explanation(tx, both, key)
        return ExplanationResult(explanation, partial(self._group_chart, both, key))

    def _group_chart(self, both: RunPair, group: str) -> Chart:
        from ndcg_tracker.questions.plot.gather import group_chart

        with self.store().read() as tx:
            return group_chart(tx, both, group)

    def plot_training(self, name: str, metric: str = DEFAULT_METRIC, *, dataset: str = DEFAULT_DATASET) -> Chart:
        """Draw a metric over the stored iterations of a training (``TrainingRuns``), with its 95% intervals.

        Raises: ReferenceNotFoundError where no iteration of it is stored, or none has the metric.
        """
        from ndcg_tracker.questions.plot.gather import training_chart

        with self.store().read() as tx:
            return training_chart(tx, name, dataset, metric)

    def plot_runs(
        self,
        parameter: str,
        metric: str = DEFAULT_METRIC,
        *,
        dataset: str = DEFAULT_DATASET,
        tags: Mapping[str, str] | None = None,
    ) -> Chart:
        """Draw a metric of runs against a number that they cost, such as ``latency_ms``, with the Pareto front.

        Parameters: ``parameter``: a parameter, or a tag, whose values are numbers; less is better. ``tags``: only runs
        that have them. Raises: ReferenceNotFoundError where no run has the metric; InputError where none has such a
        number.
        """
        from ndcg_tracker.questions.plot.gather import quality_chart

        with self.store().read() as tx:
            return quality_chart(tx, parameter, dataset, metric, tags or {})

    def gate(
        self,
        candidate: str,
        *,
        baseline: str,
        metric: str = DEFAULT_METRIC,
        margin: Margin = None,
        scope: Scope = "population",
        tolerance: float | None = None,
        repeats: Sequence[str] = (),
        aa: str | None = None,
        alpha_budget: float | None = None,
        missing: Missing = "error",
        dataset: str | None = None,
        acknowledge: str | None = None,
        acknowledged_by: str | None = None,
        dry_run: bool = False,
        top: int = 10,
        cluster: str | None = None,
        by: str | None = None,
        slice_margin: float | None = None,
        strict_slices: bool = False,
        limits: Mapping[str, str] | Sequence[str] = (),
        labels: Version = None,
    ) -> GateResult:
        """Decide whether a candidate may replace a baseline, and record the decision.

        Parameters: ``candidate``, ``baseline``: run references; a baseline given as ``@alias`` is pinned. ``margin``:
        the drop that is allowed in scope "population", or "auto" to learn it from ``repeats`` (run references) or from
        the runs with the tag ``aa=NAME``, by default the baseline's. ``scope``: "population" (three-way
        non-inferiority) or "set" (exact arithmetic against ``tolerance``, by default 0). ``alpha_budget``: the
        probability of a false FAIL over all decisions of this gate, in the place of 1% for each. ``acknowledge``: why a
        FAIL or INCONCLUSIVE is overridden, ``acknowledged_by`` by whom. ``dry_run``: record nothing. ``missing``,
        ``top``, ``cluster``, ``labels``: see ``compare``. ``by``: a group attribute: FAIL where one of its slices, of
        25 groups or more, is shown to have dropped by more than ``slice_margin`` (Holm); ``strict_slices``: no PASS
        either where one is not shown to have dropped by less. ``limits``: on measures of the runs, which are tags with
        numbers: ``{"latency_ms": "+10%"}`` FAILs a candidate whose latency is more than a tenth higher, ``"-5"`` one
        whose number is more than 5 lower. Raises: InputError for what does not go together; ReferenceNotFoundError;
        NotComparableError, with the command that fixes it.
        """
        from ndcg_tracker.compare.limits import Limit
        from ndcg_tracker.questions.gate.gather import GateResult, gated
        from ndcg_tracker.questions.gate.question import GateQuestion, acknowledged

        question = GateQuestion(
            candidate,
            baseline,
            parse_metric(metric),
            margin=margin,
            scope=scope,
            tolerance=tolerance,
            repeats=tuple(repeats),
            aa=aa,
            alpha_budget=alpha_budget,
            missing=missing,
            dataset=dataset,
            top=top,
            cluster=cluster,
            by=by,
            slice_margin=slice_margin,
            strict_slices=strict_slices,
            limits=Limit.all_of(limits),
            labels=labels,
        )
        override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
        return GateResult(gated(self.store(), question, override, dry_run=dry_run))

    def gate_report(self, result: GateResult, *, output: str = "report.html") -> ReportResult:
        """Draw what a gate decided on: ``report`` for its runs, its metric and its labels."""
        from ndcg_tracker.storage.records import NO_LABELS_HERE

        comparison = result.gated.comparison
        metrics = [metric.metric for metric in comparison.metrics]
        clusters = result.gated.metric.clusters
        found = self.report(
            comparison.baseline.name,
            comparison.candidate.name,
            dataset=comparison.dataset,
            metrics=metrics,
            missing=comparison.groups.missing,
            cluster=None if clusters is None else clusters.attribute,
            labels=None if comparison.label_set.judge in NO_LABELS_HERE else comparison.label_set.version,
            output=output,
        )
        return found.with_notes(comparison.notes)

    def history(
        self,
        metric: str = DEFAULT_METRIC,
        *,
        dataset: str = DEFAULT_DATASET,
        tags: Mapping[str, str] | None = None,
        branch: str | None = None,
        commit: str = "",
        since: str | None = None,
        until: str | None = None,
        last: int | None = None,
        new_steps: bool = False,
    ) -> pd.DataFrame:
        """Return a metric over the runs of a dataset, oldest first: one row per run, with its 95% interval.

        ``step`` is true at the first run after the mean stepped, ``delta`` the paired difference to the run before;
        ``drift_change`` is set at the last run of a slow drift, over the runs ``drift_between``.
        Parameters: ``tags``, ``branch`` (the tag of this name), ``commit`` (its beginning), ``since``, ``until`` (ISO
        8601, UTC) and ``last`` choose runs; steps are looked for among these. ``new_steps``: only the rows of steps
        that the newest of these runs has brought to light. Raises: InputError for a date that is none;
        ReferenceNotFoundError for an unknown dataset.
        """
        from ndcg_tracker.questions.history.gather import HistoryFilter

        wanted = {**(tags or {}), **({} if branch is None else {"branch": branch})}
        chosen = HistoryFilter(wanted, commit, since, until, last)
        return self.history_report(metric, dataset=dataset, wanted=chosen, new_steps=new_steps).to_frame()

    def history_report(
        self,
        metric: str,
        *,
        dataset: str = DEFAULT_DATASET,
        wanted: HistoryFilter | None = None,
        new_steps: bool = False,
    ) -> HistoryResult:
        """Return the history as plain rows with its notes (see ``history``); with ``new_steps`` which steps are new."""
        from ndcg_tracker.questions.history.gather import HistoryFilter, HistoryResult, history_of, new_steps_of

        chosen = wanted or HistoryFilter()
        with self.store().read() as tx:
            found = history_of(tx, dataset, metric, chosen)

            def without_newest() -> History:
                return history_of(tx, dataset, metric, chosen, without_run_id=found.rows[-1]["run_id"])

            new = new_steps_of(found, without_newest) if new_steps else None
        return HistoryResult(found, new)

    def history_of_suite(
        self,
        name: str,
        metric: str = DEFAULT_METRIC,
        *,
        by_tag: str | None = None,
        wanted: HistoryFilter | None = None,
        new_steps: bool = False,
    ) -> HistoryResult:
        """Return the macro means of a suite's systems, the oldest first, with their steps.

        A system counts from the time when it has a run on every dataset; it is named as in ``suite``, by ``by_tag`` or
        by its runs' name. ``wanted``, ``new_steps``: see ``history_report``. Raises: ReferenceNotFoundError.
        """
        from ndcg_tracker.questions.history.gather import HistoryFilter, HistoryResult, new_steps_of
        from ndcg_tracker.questions.history.gather_suite import history_on_suite

        chosen = wanted or HistoryFilter()
        with self.store().read() as tx:
            found = history_on_suite(tx, name, metric, chosen, by_tag)

            def without_newest() -> History:
                return history_on_suite(tx, name, metric, chosen, by_tag, without=found.rows[-1]["run"])

            new = new_steps_of(found, without_newest) if new_steps else None
        return HistoryResult(found, new)

    def leaderboard(
        self,
        *runs: str,
        metrics: str | Sequence[str] = DEFAULT_METRIC,
        dataset: str | None = None,
        tags: Mapping[str, str] | None = None,
        test: LeaderboardTest = "t",
        by: str | None = None,
        missing: Missing = "error",
        measures: Sequence[str] = (),
        labels: Version = None,
    ) -> LeaderboardResult:
        """Rank runs by their means, with intervals of means and ranks, and tests of all pairs.

        Parameters: ``runs``: references or patterns such as ``"bm25*"``, none for all of ``dataset`` (which need not be
        named where there is one). ``tags``: only runs with these. ``metrics``: text forms; the first orders the runs.
        ``test``: "t" (paired t, Holm over all pairs) or "permutation" (sign flips, corrected by the largest t). ``by``:
        a group attribute, for the first metric by slices. ``missing``: groups that some runs have no result for:
        "error", "zero" or "intersect"; "skip" leaves out those that no run has. ``measures``: numbers of whole runs to
        show beside, such as latency, by the name of their tag or parameter. ``labels``: a version of the labels, or
        "newest"; by default the newest that most runs share. Raises: ReferenceNotFoundError; NotComparableError, with
        the command that fixes it; InputError for what does not go together.
        """
        from ndcg_tracker.questions.leaderboard.gather import LeaderboardQuestion, LeaderboardResult, leaderboard_of

        question = LeaderboardQuestion(
            runs,
            tuple(parse_metrics(metrics)),
            dataset,
            dict(tags or {}),
            test=test,
            missing=missing,
            by=by,
            measures=measures,
            labels=labels,
        )
        with self.store().read() as tx:
            return LeaderboardResult(leaderboard_of(tx, question))

    def diff(
        self, a: str, b: str, *, dataset: str | None = None, cutoff: int = 10, rbo_p: float = 0.9, top: int = 10
    ) -> DiffResult:
        """Show how the lists of two runs differ, without labels: overlap, rank-biased overlap, Kendall's tau.

        Parameters: ``cutoff``: how many first items overlap is about. ``rbo_p``: how much a rank counts beside the one
        before it, in (0, 1). ``top``: how many groups to list, the most changed first. Raises:
        ReferenceNotFoundError; InputError for runs whose items were pruned; NotComparableError for two datasets.
        """
        from ndcg_tracker.questions.diff.gather import DiffResult, runs_diff

        with self.store().read() as tx:
            one, other = tx.runs.resolve_all([a, b], dataset)
            return DiffResult(runs_diff(tx, one, other, depth=cutoff, rbo_p=rbo_p, top=top))

    def create_suite(self, name: str, datasets: Sequence[str], *, replace: bool = False) -> SuiteRecord:
        """Name datasets that are looked at together, and return the suite.

        Parameters: ``datasets``: names or patterns such as ``"beir-*"``. ``replace``: give a suite that
        exists these datasets. Raises: ConflictError where the name has other datasets; ReferenceNotFoundError.
        """
        from ndcg_tracker.questions.suite.gather import created_suite

        with self.store().write("marks") as tx:
            return tx.write.suites.create(name, created_suite(tx, datasets), replace=replace)

    def suites(self) -> list[SuiteRecord]:
        """Return the suites by name."""
        with self.store().read() as tx:
            return tx.suites.all()

    def delete_suite(self, name: str) -> SuiteRecord:
        """Delete a suite and return what it was; its datasets and their runs stay."""
        with self.store().write("marks") as tx:
            return tx.write.suites.delete(name)

    def suite(
        self,
        name: str,
        *systems: str,
        metric: str | Sequence[str] = DEFAULT_METRIC,
        by_tag: str | None = None,
        missing: Missing = "error",
        tags: Mapping[str, str] | None = None,
        labels: Version = None,
    ) -> SuiteResult:
        """Return the means of systems on every dataset of a suite, the best macro mean first.

        macro = mean of the datasets' means, micro = mean of all groups. Runs of one name are one system; one without a
        run on some dataset has no mean over the suite. The others have a place by all pairs of t-tests of the macro
        mean, Holm-corrected, as in ``leaderboard``. Parameters: ``systems``: names or patterns, none for all.
        ``metric``: one or several, a table for each. ``by_tag``: runs of one system share the value of this tag, not
        their name. ``missing``, ``tags``, ``labels``: see ``leaderboard``. Raises: ReferenceNotFoundError;
        NotComparableError, with the command that fixes it.
        """
        from ndcg_tracker.questions.leaderboard.gather import LeaderboardQuestion
        from ndcg_tracker.questions.leaderboard.gather_suite import SuiteResult, suite_tables

        question = LeaderboardQuestion(
            systems,
            parse_metrics(metric),
            tags=tags or {},
            missing=missing,
            labels=labels,
            suite=name,
            by_tag=by_tag,
        )
        with self.store().read() as tx:
            table, *further = suite_tables(tx, question)
        return SuiteResult(table, tuple(further))

    def compare_suite(
        self,
        name: str,
        baseline: str,
        candidate: str,
        *further: str,
        metric: str | Sequence[str] = DEFAULT_METRIC,
        by_tag: str | None = None,
        missing: Missing = "error",
        top: int = 0,
        tie_bounds: bool = False,
        unjudged_bounds: bool = False,
        test: TestName = "t",
        ci: CiMethod = "t",
        equivalence: float | None = None,
        by: str | None = None,
        cluster: str | None = None,
        labels: Version = None,
        judge: str | None = None,
    ) -> SuiteComparisonResult:
        """Compare systems on every dataset of a suite, as ``compare`` does, and on all together.

        The verdict is that of the macro mean of the differences, for other groups of these datasets. Parameters:
        ``baseline``, ``candidate``, ``further``: names of runs; ``@alias`` and ``tag:KEY=VALUE`` stand for what they
        are on each dataset. ``metric``: one or several, none for all that the runs share. ``by_tag``: see ``suite``.
        The others: see ``compare``; they are asked on each dataset. Raises: ReferenceNotFoundError; NotComparableError,
        with the command that fixes it.
        """
        from ndcg_tracker.compare.gather import CompareOptions
        from ndcg_tracker.compare.gather_suite import SuiteComparisonResult, compared_on_suite
        from ndcg_tracker.compare.inference import Methods

        options = CompareOptions(
            tuple(parse_metrics(metric)),
            missing=missing,
            top=top,
            tie_bounds=tie_bounds,
            methods=Methods(test, ci, equivalence),
            by=by,
            cluster=cluster,
            labels=labels,
            judge=judge,
            unjudged_bounds=unjudged_bounds,
        )
        with self.store().read() as tx:
            (first, *others), on_datasets = compared_on_suite(
                tx, name, baseline, (candidate, *further), options, by_tag
            )
        return SuiteComparisonResult(first, tuple(others), on_datasets)

    def suite_page(
        self,
        found: SuiteComparisonResult,
        *,
        by_tag: str | None = None,
        missing: Missing = "error",
        labels: Version = None,
    ) -> str:
        """Return a page of HTML: two systems on a suite as a picture and in numbers, then all its systems."""
        from ndcg_tracker.compare.say_suite import suite_comparison_reports
        from ndcg_tracker.questions.leaderboard.say_suite import suite_table_report
        from ndcg_tracker.render.pages.page import chart_page

        comparison = found.comparison
        metrics = list(dict.fromkeys(one.metric for one in found.comparisons))
        table = self.suite(comparison.suite, metric=metrics, by_tag=by_tag, missing=missing, labels=labels)
        reports = [*suite_comparison_reports(*found.comparisons), *map(suite_table_report, table.tables)]
        return chart_page(found.plot().spec, reports)

    def gate_suite_page(self, found: SuiteGateResult, *, by_tag: str | None = None) -> str:
        """Return a page of HTML: what a gate on a suite decided on, then all systems of the suite."""
        from ndcg_tracker.compare.gather_suite import SuiteComparisonResult

        asked = found.gated.comparison
        missing = asked.deltas[0].metric.groups.missing
        return self.suite_page(SuiteComparisonResult(asked), by_tag=by_tag, missing=missing)

    def gate_suite(
        self,
        name: str,
        candidate: str,
        *,
        baseline: str,
        margin: float,
        metric: str = DEFAULT_METRIC,
        dataset_margin: float | None = None,
        strict_datasets: bool = False,
        alpha_budget: float | None = None,
        by_tag: str | None = None,
        missing: Missing = "error",
        cluster: str | None = None,
        labels: Version = None,
        limits: Mapping[str, str] | Sequence[str] = (),
        acknowledge: str | None = None,
        acknowledged_by: str | None = None,
        dry_run: bool = False,
    ) -> SuiteGateResult:
        """Decide whether a system may replace another on every dataset of a suite, and record the decision.

        PASS, FAIL and INCONCLUSIVE are those of ``gate`` on the macro mean of the differences, for other groups of
        these datasets. Parameters: ``margin``: the drop that it is allowed. ``dataset_margin``: FAIL where a dataset,
        of 25 groups or more, is shown to have dropped by more than this (Holm); ``strict_datasets``: no PASS either
        where one is not shown to have dropped by less. The others: see ``gate`` and ``compare_suite``. Raises:
        InputError for what does not go together; ReferenceNotFoundError; NotComparableError where a system has no run
        on some dataset.
        """
        from ndcg_tracker.compare.limits import Limit
        from ndcg_tracker.questions.gate.gather_suite import SuiteGateResult, gated_suite
        from ndcg_tracker.questions.gate.question import SuiteGateQuestion, acknowledged

        question = SuiteGateQuestion(
            name,
            candidate,
            baseline,
            parse_metric(metric),
            margin,
            dataset_margin=dataset_margin,
            strict_datasets=strict_datasets,
            alpha_budget=alpha_budget,
            by_tag=by_tag,
            missing=missing,
            cluster=cluster,
            labels=labels,
            limits=Limit.all_of(limits),
        )
        override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
        return SuiteGateResult(gated_suite(self.store(), question, override, dry_run=dry_run))

    def reproduce(
        self,
        original: str,
        reproduced: str | None = None,
        metrics: str | Sequence[str] = (),
        *,
        baseline_original: str | None = None,
        baseline_reproduced: str | None = None,
        published: float | None = None,
        dataset: str | None = None,
        missing: Missing = "error",
        cutoffs: Sequence[int] = (),
        rbo_p: float = REPRO_EVAL_P,
    ) -> ReproductionResult:
        """Say whether a run is the published one: the measures of repro_eval (KTU, RBO, RMSE, p-value, ER, DeltaRI).

        Parameters: ``original``, ``reproduced``: the published run and the one that reproduces it, both stored.
        ``metrics``: none for all that they share. ``baseline_original``, ``baseline_reproduced``: the runs that each is
        an improvement over, for ER and DeltaRI. ``published``: the published mean where its run is not at hand; then
        the only run is the one that reproduces it, under one metric, by default its first. ``missing``: see
        ``compare``. ``cutoffs``: how many first items KTU and RBO are about, by default 10, 100 and 1000 as far as
        lists go. ``rbo_p``: how much a rank counts beside the one before it, in (0, 1). Raises: ReferenceNotFoundError;
        InputError for half of what belongs together, a number that the metric cannot have, and groups in one run alone;
        NotComparableError, with the command that fixes it.
        """
        from ndcg_tracker.questions.reproduce.gather import (
            ReproduceOptions,
            ReproductionResult,
            beside_published,
            reproduction,
        )

        parsed, baselines = tuple(parse_metrics(metrics)), (baseline_original, baseline_reproduced)
        both = f"{argument('baseline_original')} and {argument('baseline_reproduced')}"
        if published is None and reproduced is None:
            raise InputError("there is nothing to reproduce", advice="give a second run, or a published mean")
        if (baseline_original is None) != (baseline_reproduced is None):
            raise InputError("one baseline makes no effect to compare", advice=f"give {both}, or none")
        if published is not None and reproduced is not None:
            what = "a published mean stands in the place of the original run"
            raise InputError(what, advice="leave one of them out")
        if published is not None and baseline_original is not None:
            raise InputError("a published mean has no baseline", advice=f"leave out {both}")
        if published is not None and len(parsed) > 1:
            raise InputError(f"a published mean is of one metric, not {len(parsed)}", advice="name one")
        with self.store().read() as tx:
            run = tx.runs.resolve(original, dataset)
            if published is not None:
                return ReproductionResult(beside_published(tx, run, parsed[0] if parsed else None, published))
            other, *effects = (tx.runs.resolve(one, dataset) for one in (reproduced, *baselines) if one is not None)
            options = ReproduceOptions(parsed, missing, tuple(cutoffs), rbo_p)
            of_both = (effects[0], effects[1]) if effects else None
            return ReproductionResult(reproduction(tx, run, other, of_both, options))

    def best(
        self, metric: str = DEFAULT_METRIC, *, dataset: str | None = None, tags: Mapping[str, str] | None = None
    ) -> RunRecord:
        """Return the run with the best mean; ``leaderboard`` says whether chance may have put it there.

        Parameters and raises: see ``leaderboard``.
        """
        return self.runs_by_mean(metric, dataset=dataset, tags=tags)[0][0]

    def runs_by_mean(
        self, metric: str = DEFAULT_METRIC, *, dataset: str | None = None, tags: Mapping[str, str] | None = None
    ) -> list[tuple[RunRecord, float | None]]:
        """Return the runs with their means under the newest labels that most of them have, the best first.

        Runs that lack the metric under these labels come last, with None. Parameters and raises: see ``leaderboard``.
        """
        from ndcg_tracker.questions.leaderboard.gather import LeaderboardQuestion, by_mean

        with self.store().read() as tx:
            return by_mean(tx, LeaderboardQuestion((), (parse_metric(metric),), dataset, dict(tags or {})))

    def conventions(self, reference: str, *, cutoff: int = 10, dataset: str | None = None) -> list[Convention]:
        """Return a run's NDCG as every tool computes it, each with the axes that move it."""
        from ndcg_tracker.questions.conventions import conventions

        with self.store().read() as tx:
            return conventions(tx, tx.runs.resolve(reference, dataset), cutoff)

    def runs(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the stored runs, oldest first."""
        with self.store().read() as tx:
            return tx.runs.chosen((), dataset)

    def runs_named(self, references: Sequence[str], dataset: str | None = None) -> list[RunRecord]:
        """Return the runs of these references, and all that fit a pattern such as ``"bm25*"``; without any, all."""
        with self.store().read() as tx:
            return tx.runs.chosen(references, dataset)

    def comparable_others(
        self,
        reference: str,
        *,
        dataset: str | None = None,
        metrics: str | Sequence[str] = (),
        missing: Missing = "error",
        cluster: str | None = None,
        labels: Version = None,
    ) -> tuple[list[RunRecord], list[tuple[RunRecord, NdcgTrackerError]]]:
        """Return the other runs of a run's dataset that ``compare`` takes, oldest first, and why it refuses the rest.

        Parameters and raises: see ``compare``.
        """
        from ndcg_tracker.compare.gather import CompareOptions, comparable_others

        options = CompareOptions(tuple(parse_metrics(metrics)), dataset, missing, top=0, cluster=cluster, labels=labels)
        with self.store().read() as tx:
            return comparable_others(tx, reference, options)

    def run(self, reference: str, dataset: str | None = None) -> tuple[RunRecord, list[EvaluationRecord]]:
        """Return one run and its evaluations."""
        with self.store().read() as tx:
            run = tx.runs.resolve(reference, dataset)
            return run, tx.evaluations.of_run(run.id)

    def show(
        self,
        reference: str,
        *,
        dataset: str | None = None,
        metric: str | None = None,
        by: str | None = None,
        top: int = 5,
    ) -> ShownRun:
        """Return one run with its means and their intervals, how much of it is judged, and its hardest groups.

        Parameters: ``metric``: whose groups and slices, by default the first that the run has. ``by``: a group
        attribute, for the means of slices. ``top``: how many groups. Raises: ReferenceNotFoundError; InputError for a
        metric that the run does not have and an unknown attribute.
        """
        from ndcg_tracker.questions.show.gather import shown_run

        with self.store().read() as tx:
            asked = None if metric is None else parse_metric(metric)
            return shown_run(tx, tx.runs.resolve(reference, dataset), asked, by, top)

    def rename_run(self, reference: str, name: str, dataset: str | None = None) -> RunRecord:
        """Give a run another name and return it as it was before."""
        with self.store().write() as tx:
            run = tx.runs.resolve(reference, dataset)
            tx.write.runs.rename(run.id, name)
            return run

    def tag_run(
        self, reference: str, tags: Mapping[str, str], *, remove: Sequence[str] = (), dataset: str | None = None
    ) -> dict[str, str]:
        """Add tags to a run, remove others, and return all it has."""
        with self.store().write("marks") as tx:
            run = tx.runs.resolve(reference, dataset)
            kept = {key: value for key, value in {**run.tags, **tags}.items() if key not in remove}
            tx.write.runs.set_tags(run.id, kept)
            return kept

    def delete_run(self, reference: str | int, dataset: str | None = None) -> RunRecord:
        """Delete a run (an int is its id) with its items, evaluations and group results, and return what it was."""
        return self.delete_runs([reference], dataset)[0]

    def delete_runs(self, references: Sequence[str | int], dataset: str | None = None) -> list[RunRecord]:
        """Delete runs, all or none (see ``delete_run``), and return what they were, each once."""
        with self.store().write() as tx:
            found = [
                tx.runs.with_id(one) if isinstance(one, int) else tx.runs.resolve(one, dataset) for one in references
            ]
            runs = list({run.id: run for run in found}.values())
            for run in runs:
                tx.write.runs.delete(run.id)
            return runs

    def prune(
        self,
        older_than: str | timedelta,
        *,
        keep_tags: str | Sequence[str] = (),
        keep_alias: bool = False,
        summaries_only: bool = False,
        dataset: str | None = None,
        apply: bool = False,
    ) -> Pruned:
        """Delete the items of old runs; their means and the results of their groups stay.

        Runs that an alias points to or that a gate decided on are always kept whole. What needs the items of a pruned
        run, such as ``rescore`` and ``explain``, says so; to restore them, ingest the file again under the same name.

        Parameters: ``older_than``: an age, such as "90d" or "12w", or a date. ``keep_tags``: keep runs with one of
        these tags, a key or KEY=VALUE. ``keep_alias``: keep runs that an alias once pointed to. ``summaries_only``: the
        results of groups go, too. ``apply``: do it, in one transaction; by default nothing is written. Returns: the
        runs, and what of each goes. Raises: InputError; ReferenceNotFoundError for an unknown dataset.
        """
        from ndcg_tracker.runs.prune import PruneQuestion, moment_before, runs_to_prune

        tags = (keep_tags,) if isinstance(keep_tags, str) else tuple(keep_tags)
        question = PruneQuestion(moment_before(older_than), dataset, tags, keep_alias, summaries_only)
        if not apply:
            with self.store().read() as tx:
                return runs_to_prune(tx, question)
        with self.store().write() as tx:
            found = runs_to_prune(tx, question)
            for run in found.runs:
                tx.write.runs.prune(run.run_id, summaries_only=summaries_only)
            return replace(found, is_applied=True)

    def pruned_at(self, run: RunRecord) -> str | None:
        """Return when a run was pruned last, None if it has its items."""
        with self.store().read() as tx:
            found = tx.runs.prunings(run.id).get(run.id)
            return None if found is None else found.created_at_utc

    def aliases(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases."""
        with self.store().read() as tx:
            if dataset is not None:
                tx.datasets.known(dataset)
            return tx.aliases.all(dataset)

    def set_alias(self, alias: str, reference: str, dataset: str | None = None) -> RunRecord:
        """Point an alias, given with or without @, at a run and return the run."""
        with self.store().write("marks") as tx:
            run = tx.runs.resolve(reference, dataset)
            tx.write.aliases.set(run.dataset_id, alias.removeprefix("@"), run.id)
            return run

    def delete_alias(self, alias: str, dataset: str | None = None) -> AliasRecord:
        """Delete an alias and return what it was."""
        with self.store().write("marks") as tx:
            found = tx.aliases.known(alias.removeprefix("@"), dataset)
            tx.write.aliases.delete(found.dataset_id, found.name)
            return found

    def groups(self, dataset: str = "default") -> list[GroupRecord]:
        """Return the groups of a dataset with their weights and attributes."""
        from ndcg_tracker.runs.groups import group_records

        with self.store().read() as tx:
            return group_records(tx, dataset)

    def set_groups(
        self,
        frame: object,
        *,
        dataset: str = "default",
        group: str | None = None,
        weight: str | None = None,
        attributes: Sequence[str] | None = None,
    ) -> GroupsSet:
        """Give groups of a dataset attributes and weights, from a frame with one row per group, in one transaction.

        Parameters: ``frame``: a pandas DataFrame, a pyarrow Table, a dict of columns, or the table that a reader made
        (``ndcg_tracker.ingest.read_groups``). ``group``, ``weight``: names of columns, by default ``group`` and, if
        there is one, ``weight``. ``attributes``: names of columns, by default all others. A null takes the attribute or
        the weight away; what the frame does not name stays. Means that rest on a weight that changes are computed
        again. Raises: InputError for a frame that cannot be taken, and where the dataset has none of its groups.
        """
        from ndcg_tracker.ingest.groups import GroupColumns, GroupTable, read_group_frame
        from ndcg_tracker.runs.groups import store_group_facts

        columns = GroupColumns(group, weight, None if attributes is None else tuple(attributes))
        table = frame if isinstance(frame, GroupTable) else read_group_frame(frame, columns)
        with self.store().write("content") as tx:
            return store_group_facts(tx, dataset, table)

    def add_texts(
        self,
        frame: object,
        *,
        dataset: str = DEFAULT_DATASET,
        group: str | None = None,
        item: str | None = None,
        text: str | None = None,
        title: str | None = None,
        url: str | None = None,
    ) -> TextsAdded:
        """Give groups and items of a dataset what people read where ids stand, in one transaction.

        A row with a group is about the query, one with an item about the item in every group, one with both about the
        item in this group. Parameters: ``frame``: a pandas DataFrame, a pyarrow Table, a dict of columns, or the table
        that a reader made (``ndcg_tracker.ingest.read_texts``). ``group``, ``item``, ``text``, ``title``, ``url``:
        names of columns, by default these, as far as they are there. A null takes a text away; what the frame does not
        name stays. Raises: InputError for a frame that cannot be taken, and where the dataset has none of its groups.
        """
        from ndcg_tracker.ingest.groups import TextColumns, TextTable, read_text_frame
        from ndcg_tracker.runs.groups import store_texts

        columns = TextColumns(group, item, text, title, url)
        table = frame if isinstance(frame, TextTable) else read_text_frame(frame, columns)
        with self.store().write("content") as tx:
            return store_texts(tx, dataset, table)

    def texts(self, dataset: str = DEFAULT_DATASET, *, group: str | None = None) -> list[StoredText]:
        """Return the texts of a dataset (see ``add_texts``), or those of one of its groups alone."""
        from ndcg_tracker.runs.groups import stored_texts

        with self.store().read() as tx:
            return stored_texts(tx, dataset, group)

    def delete_texts(self, dataset: str = DEFAULT_DATASET, *, group: str | None = None) -> int:
        """Delete the texts of a dataset, or those of one of its groups alone, and return how many there were."""
        from ndcg_tracker.runs.groups import delete_texts

        with self.store().write("content") as tx:
            return delete_texts(tx, dataset, group)

    def export_runs(
        self,
        folder: str | os.PathLike[str],
        references: Sequence[str] = (),
        *,
        dataset: str | None = None,
        texts: bool = False,
        record: bool = True,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Exported:
        """Write runs (none named: all, of ``dataset`` if given) with all that belongs to them as Parquet files.

        ``texts``: also what ``add_texts`` stored for their datasets. ``record``: also aliases with where they pointed,
        decisions of gates and suites, as far as they concern these runs alone. ``progress``: called with how many runs
        are written, and how many there are. The folder must not be there yet; what was written is counted. Raises:
        ReferenceNotFoundError; InputError where it cannot be written, and for a named run that was pruned (of all runs,
        those are written as they are).
        """
        from ndcg_tracker.runs.exchange import export

        with self.store().read() as tx:
            runs = tx.runs.chosen(references, dataset)
            for run in runs if references else ():
                tx.runs.refuse_pruned(run.id)
            datasets = () if references else [one for one in tx.datasets.all() if dataset in (None, one.name)]
            return export(tx, runs, os.fspath(folder), datasets=datasets, texts=texts, record=record, progress=progress)

    def import_runs(
        self,
        folder: str | os.PathLike[str],
        *,
        dataset: str | None = None,
        record: bool = True,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Imported:
        """Store what ``export_runs`` wrote, all of it or nothing; what is stored already stays as it is.

        ``dataset``: another name for the dataset of an export that holds one. ``record``: also aliases, decisions of
        gates and suites; an alias that went another way here stays, with a note. ``progress``: called with how many
        runs are stored, and how many there are. Raises: InputError, ConflictError.
        """
        from ndcg_tracker.runs.exchange import import_all
        from ndcg_tracker.runs.export_files import ExportReader

        with ExportReader(Path(folder)) as reader, self.store(create=True).write("content") as tx:
            return import_all(tx, reader, dataset, record=record, progress=progress)
