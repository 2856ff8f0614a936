"""The tracker: every run of a team in one database, and the methods that answer questions about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Self, Unpack

from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    SEALED_DATABASE,
    SQL_TIMEOUT_SECONDS,
    AnyDataset,
    Option,
    Plan,
    Query,
    Timeout,
    asks,
    database_location,
    made,
)
from ndcg_tracker.compare.options import Baseline, Candidates, CompareKeywords, CompareOptions, LabelView, ViewKeywords

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.chart import ComparisonChart
    from ndcg_tracker.compare.gather import ComparisonResult
    from ndcg_tracker.compare.report_facts import PairReports
    from ndcg_tracker.errors import NdcgTrackerError
    from ndcg_tracker.questions.show.gather import Convention
    from ndcg_tracker.runs.exchange import Exported
    from ndcg_tracker.runs.groups import GroupRecord, StoredText
    from ndcg_tracker.runs.prune import Pruned
    from ndcg_tracker.storage.guard.query_result import QueryResult
    from ndcg_tracker.storage.records import AliasRecord, EvaluationRecord, RunRecord
    from ndcg_tracker.storage.store import Store

if not TYPE_CHECKING:
    # Modules are imported where a method needs them, because most of a small command's time is its start.

    class _Method:
        """A function of a module as a method of the tracker; the module is imported when the method is asked for."""

        def __init__(self, module, name):
            self.module, self.name = module, name

        def __get__(self, tracker, owner):
            function = getattr(import_module(f"ndcg_tracker.{self.module}"), self.name)
            setattr(owner, self.name, function)
            return getattr(owner if tracker is None else tracker, self.name)

    class _Room:
        """A module whose functions are methods of the tracker; type checkers see the module."""

        def __init__(self, module):
            self._module = module

        def __getattr__(self, name):
            return _Method(self._module, name)

    storing, of_carry = _Room("api.storing"), _Room("questions.labels.carry")
    of_diff, of_explain, of_gate = _Room("questions.diff"), _Room("questions.explain"), _Room("questions.gate")
    of_history, of_labels, of_report = _Room("questions.history"), _Room("questions.labels"), _Room("questions.report")
    of_leaderboard, of_reproduce = _Room("questions.leaderboard"), _Room("questions.reproduce")
    of_plan = _Room("questions.plan")
    of_show, of_suite = _Room("questions.show"), _Room("questions.suite")

else:  # the last branch, because mypy reads that one
    from ndcg_tracker.api import storing
    from ndcg_tracker.questions import diff as of_diff
    from ndcg_tracker.questions import explain as of_explain
    from ndcg_tracker.questions import gate as of_gate
    from ndcg_tracker.questions import history as of_history
    from ndcg_tracker.questions import labels as of_labels
    from ndcg_tracker.questions import leaderboard as of_leaderboard
    from ndcg_tracker.questions import plan as of_plan
    from ndcg_tracker.questions import report as of_report
    from ndcg_tracker.questions import reproduce as of_reproduce
    from ndcg_tracker.questions import show as of_show
    from ndcg_tracker.questions import suite as of_suite
    from ndcg_tracker.questions.labels import carry as of_carry


OlderThan = Annotated[
    str | timedelta | None, Option("Age of the runs to prune: 90d, 12w, or a date such as 2026-01-31.", metavar="AGE")
]
KeepTags = Annotated[str | Sequence[str], Option("Keep runs with this tag; repeatable.", metavar="KEY[=VALUE]")]
KeepAlias = Annotated[bool, Option("Also keep runs that an alias once pointed to.")]
SummariesOnly = Annotated[bool, Option("Delete the group results, too: only means stay.")]
ResultsOfOldLabels = Annotated[bool, Option("Instead, delete the results that later labels replace.")]
Apply = Annotated[bool, Option("Delete; without this option, nothing is deleted.")]


class Tracker:
    """Runs, labels, metrics and group results in one database.

    ``location``: a SQLAlchemy URL (``sqlite:///...``, ``postgresql+psycopg://...``) or the path of a SQLite file; by
    default ``NDCG_TRACK_DB``, else ``ndcg-track.db`` in the current folder. ``read_only``: nothing can be stored or
    changed.

    The first ``ingest`` creates a SQLite file; on Postgres, ``ndcg-track db upgrade`` creates the schema. The database
    is opened at its first use; close it, or use the tracker in a ``with`` statement. If you do not name a ``dataset``
    and there is none called ``default``, a method takes the only dataset there is; methods that create datasets
    (``ingest``, ``add_labels`` without ``extend``) create ``default``. Every method raises DatabaseError for a database
    that cannot be used.

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
        self._sealed: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self, quietly: type[suppress] = suppress) -> None:  # at the very end, names of modules are gone
        with quietly(Exception):
            self.close()

    def close(self) -> None:
        """Close the database; the tracker opens it again at its next use."""
        for store in (self._store, self._sealed):
            if store is not None:
                store.close()
        self._store = self._sealed = None

    def store(self, *, create: bool = False, dataset: str | None = None) -> Store:
        """Return the open store; ``create`` creates the SQLite file if it does not exist.

        ``dataset``: if the database of ``NDCG_TRACK_SEALED_DB`` has it, return that store; None for no sealed dataset.
        """
        from ndcg_tracker.storage.database_url import parsed_location
        from ndcg_tracker.storage.store import Store

        held = os.environ.get(SEALED_DATABASE) if dataset is not None else None
        if held and ((path := parsed_location(held).path) is None or path.exists()):
            if self._sealed is None:
                self._sealed = Store.open(held, read_only=self._read_only, opens="sealed")
            with self._sealed.read() as tx:
                if dataset in [sealed.name for sealed in tx.datasets.sealed()]:
                    return self._sealed
        if self._store is None:
            self._store = Store.open(self.location, create=create, read_only=self._read_only)
        return self._store

    def query(
        self, query: Query, *, timeout_seconds: Timeout = SQL_TIMEOUT_SECONDS, explain: Plan = False
    ) -> QueryResult:
        """Run a read-only SQL query on the public views (see ``sql``) and return columns and rows.

        ``explain``: return the engine's plan, one line per row, without running the query.
        """
        return self.store().query(query, timeout_seconds=timeout_seconds, explain=explain)

    def sql(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> pd.DataFrame:
        """Run a read-only SQL query on the public views: run_summary, group_history, group_diff, items, labels, ...

        Raises: InputError for a query that is invalid, writes, or exceeds the time limit.
        """
        import pandas as pd

        result = self.query(query, timeout_seconds=timeout_seconds)
        return pd.DataFrame(result.rows, columns=result.columns)

    # Each method below is a function of the module for its question; those that store are in ``storing``.

    ingest = storing.ingest
    ingest_stream = storing.ingest_stream
    log_results = storing.log_results
    rescore = storing.rescore
    add_labels = storing.add_labels
    add_answers = storing.add_answers
    set_groups = storing.set_groups
    add_texts = storing.add_texts
    import_runs = storing.import_runs
    split_dataset = storing.split_dataset

    carry_labels = of_carry.carry_labels
    change_of_labels = of_labels.change_of_labels
    labels_needed = of_labels.labels_needed
    labels_sample = of_labels.labels_sample
    label_versions = of_labels.label_versions
    labels_diff = of_labels.labels_diff
    labels_agreement = of_labels.labels_agreement
    compare_versions = of_labels.compare_versions
    report = of_report.report
    explain = of_explain.explain
    gate = of_gate.gate
    gate_report = of_gate.gate_report
    gate_sealed = of_gate.gate_sealed
    reset_gate = of_gate.reset_gate
    set_policy = of_gate.set_policy
    policies = of_gate.policies
    policy_history = of_gate.policy_history
    history = of_history.history
    history_report = of_history.history_report
    history_digest = of_history.history_digest
    leaderboard = of_leaderboard.leaderboard
    diff = of_diff.diff
    plan = of_plan.plan
    create_suite = of_suite.create_suite
    suites = of_suite.suites
    delete_suite = of_suite.delete_suite
    reproduce = of_reproduce.reproduce
    best = of_leaderboard.best
    ranked_runs = of_leaderboard.ranked_runs
    show = of_show.show

    @asks(CompareOptions)
    def compare(
        self, baseline: Baseline, *candidates: Candidates, **keywords: Unpack[CompareKeywords]
    ) -> ComparisonResult:
        """Compare a baseline with one or more candidates, group by group, under the latest labels that they share.

        Parameters: ``baseline`` and ``candidates``: run references (name, id, ``@alias``, ``latest``, ``latest~2``,
        unique prefix), the candidates one by one or in lists. ``tag:KEY=VALUE`` instead of a run is an arm: all runs
        with that tag, as repeats of one system. ``metrics``: text forms; by default all that both have. ``missing``:
        what to do with groups that only one run has. "error" counts them as the metric does, and refuses them if it
        gives them no result; "zero" counts them as 0; "intersect" leaves them out, also under a metric that counts them
        as 0; "skip" also leaves out labelled groups that neither run has. ``top``:
        how many worst and best groups to keep. ``tie_bounds``: list the groups whose result depends on the order of
        tied scores. ``ids_are_stable``: compare runs although labelled items of one occur nowhere in the other, and new
        ids are in their places. ``test``: the source of p-values: "t"
        (paired t-test), "permutation" (sign flips) or "wilcoxon" (tests symmetry, not the mean). ``ci``: the source of
        the 95% intervals: "t", "bootstrap" or "betting". ``equivalence``: a margin; test whether delta is within it
        (two one-sided t-tests). ``by``: a group attribute (``set_groups``): also compare slice by slice. ``cluster``: a
        group attribute whose values mark groups that depend on each other, such as those of one user or session.
        ``suite``: compare on every dataset of this suite, and on all together: the verdict is about the macro mean of
        the differences, for other groups of these datasets. ``baseline`` and ``candidates`` are then names of runs;
        ``@alias`` and ``tag:KEY=VALUE`` are resolved on each dataset. ``by_tag``: the tag whose value names a system.
        ``labels``: a version of the labels, or "newest" (see also ``compare_versions``). ``judge``: whose labels, by
        default the unnamed judge's, else those of the only judge. ``check_with``: who answered a sample of whole
        queries (``labels_sample``, ``add_answers``). The verdict is then by these answers, however good the judge is.
        Without a judge, answers to the holes of people's labels count by themselves. ``fresh``: leave out the queries
        that were answered before the later run was stored. Raises: ReferenceNotFoundError; InputError for
        methods that do not apply and an unknown attribute; NotComparableError, with the command that fixes it.
        """
        return self.compared(baseline, candidates, made(CompareOptions, keywords))

    def compared(
        self, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions
    ) -> ComparisonResult:
        """Return what ``compare`` returns, for its options as one object."""
        from ndcg_tracker.compare.gather import ComparisonResult, compared

        with self.store().read() as tx:
            comparisons = tuple(pair.comparison for pair in compared(tx, baseline, candidates, options))
        return ComparisonResult(comparisons, partial(self._pair_reports, baseline, candidates, options))

    def _pair_reports(
        self, baseline: str, candidates: Sequence[str | Sequence[str]], options: CompareOptions, kind: ComparisonChart
    ) -> PairReports:
        """Return the data for a chart of a comparison."""
        from ndcg_tracker.compare.gather import compared
        from ndcg_tracker.questions.report.gather import pair_reports

        with self.store().read() as tx:
            pairs = compared(tx, baseline, candidates, options)
            return pair_reports(
                tx, pairs, n_lists=0, with_cutoffs=kind == "cutoffs", texts=kind in ("every", "scatter")
            )

    @asks(LabelView)
    def conventions(
        self, reference: str, *, cutoff: int = 10, dataset: str | None = None, **view: Unpack[ViewKeywords]
    ) -> list[Convention]:
        """Return a run's NDCG as each tool computes it, with the axes that change the value.

        ``labels``, ``judge``: see ``compare``.
        """
        from ndcg_tracker.questions.show.gather import conventions

        with self.store().read() as tx:
            return conventions(tx, tx.runs.resolve(reference, dataset), cutoff, made(LabelView, view))

    def runs(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the stored runs, oldest first."""
        with self.store().read() as tx:
            return tx.runs.chosen((), dataset)

    def runs_named(self, references: Sequence[str], dataset: str | None = None) -> list[RunRecord]:
        """Return the runs of these references, and all that match a pattern such as ``"bm25*"``; by default all."""
        with self.store().read() as tx:
            return tx.runs.chosen(references, dataset)

    @asks(
        CompareOptions,
        but=("suite", "by_tag", "ids_are_stable", "test", "ci", "equivalence", "by", "tie_bounds", "top"),
    )
    def comparable_others(
        self, reference: str, **keywords: Unpack[CompareKeywords]
    ) -> tuple[list[RunRecord], list[tuple[RunRecord, NdcgTrackerError]]]:
        """Return the other runs of a run's dataset that ``compare`` accepts, oldest first, and why it refuses the rest.

        Parameters and raises: see ``compare``.
        """
        from ndcg_tracker.compare.gather import comparable_others

        options = made(CompareOptions, keywords, top=0)
        with self.store().read() as tx:
            return comparable_others(tx, reference, options)

    def run(self, reference: str, dataset: str | None = None) -> tuple[RunRecord, list[EvaluationRecord]]:
        """Return one run and its evaluations."""
        with self.store().read() as tx:
            run = tx.runs.resolve(reference, dataset)
            return run, tx.evaluations.of_run(run.id)

    def rename_run(self, reference: str, name: str, dataset: str | None = None) -> RunRecord:
        """Rename a run and return it as it was before."""
        with self.store().write() as tx:
            run = tx.runs.resolve(reference, dataset)
            tx.write.runs.rename(run.id, name)
            return run

    def tag_run(
        self, reference: str, tags: Mapping[str, str], *, remove: Sequence[str] = (), dataset: str | None = None
    ) -> dict[str, str]:
        """Add tags to a run, remove others, and return all its tags."""
        with self.store().write("marks") as tx:
            run = tx.runs.resolve(reference, dataset)
            kept = {key: value for key, value in {**run.tags, **tags}.items() if key not in remove}
            tx.write.runs.set_tags(run.id, kept)
            return kept

    def delete_run(self, reference: str | int, dataset: str | None = None) -> RunRecord:
        """Delete a run (an int is its id) with its items, evaluations and group results, and return it."""
        return self.delete_runs([reference], dataset)[0]

    def delete_runs(self, references: Sequence[str | int], dataset: str | None = None) -> list[RunRecord]:
        """Delete runs, all or none (see ``delete_run``), and return each of them once."""
        with self.store().write() as tx:
            records = [
                tx.runs.with_id(reference) if isinstance(reference, int) else tx.runs.resolve(reference, dataset)
                for reference in references
            ]
            runs = list({run.id: run for run in records}.values())
            for run in runs:
                tx.write.runs.delete(run.id)
            return runs

    def prune(
        self,
        older_than: OlderThan = None,
        *,
        keep_tags: KeepTags = (),
        keep_alias: KeepAlias = False,
        summaries_only: SummariesOnly = False,
        results_of_old_labels: ResultsOfOldLabels = False,
        dataset: AnyDataset = None,
        apply: Apply = False,
    ) -> Pruned:
        """Delete the items of old runs, or the results under old labels; without items, means and group results stay.

        Runs that an alias points to, that a gate decided on, or that belong to a design are never pruned. Methods that
        need the items of a pruned run, such as ``rescore`` and ``explain``, say so. To restore the items, ingest the
        file again under the same name.

        Labels are old for a metric if every run that was evaluated with them has the metric under later labels of the
        same judge, too. The results under them are then needed by nothing: labels, decisions, and what is compared
        under the latest labels stay. ``rescore`` with their version computes them again.

        Parameters: ``older_than``: an age, such as "90d" or "12w", or a date. ``keep_tags``: keep runs with one of
        these tags, a key or KEY=VALUE. ``keep_alias``: keep runs that an alias once pointed to. ``summaries_only``:
        delete the results of groups too. ``results_of_old_labels``: delete these instead. ``apply``: do it, in one
        transaction; by default nothing is written. Returns: the runs, and what is deleted of each. Raises:
        InputError; ReferenceNotFoundError for an unknown dataset.
        """
        from ndcg_tracker.runs.prune import PruneQuestion, moment_asked_for, runs_to_prune

        tags = (keep_tags,) if isinstance(keep_tags, str) else tuple(keep_tags)
        before_utc = moment_asked_for(older_than, results_of_old_labels)
        question = PruneQuestion(before_utc, dataset, tags, keep_alias, summaries_only)
        if not apply:
            with self.store().read() as tx:
                return runs_to_prune(tx, question)
        with self.store().write() as tx:
            found = runs_to_prune(tx, question)
            if before_utc is None:
                tx.write.evaluations.delete_old(tx.evaluations.of_old_labels(), {run.run_id for run in found.runs})
                return replace(found, is_applied=True)
            for run in found.runs:
                tx.write.runs.prune(run.run_id, summaries_only=summaries_only)
            return replace(found, is_applied=True)

    def aliases(self, dataset: str | None = None) -> list[AliasRecord]:
        """Return the aliases."""
        with self.store().read() as tx:
            if dataset is not None:
                tx.datasets.known(dataset)
            return tx.aliases.all(dataset)

    def set_alias(
        self, alias: str, reference: str, dataset: str | None = None, *, set_by: str = "unknown"
    ) -> RunRecord:
        """Point an alias, given with or without @, at a run and return the run.

        ``set_by``: who moves it, which goes on the record of an alias with a policy (``policy_history``).
        """
        with self.store().write("marks") as tx:
            run = tx.runs.resolve(reference, dataset)
            tx.write.aliases.set(run.dataset_id, alias.removeprefix("@"), run.id, set_by)
            return run

    def delete_alias(self, alias: str, dataset: str | None = None, *, deleted_by: str = "unknown") -> AliasRecord:
        """Delete an alias and return it; ``deleted_by``: see ``set_alias``."""
        with self.store().write("marks") as tx:
            found = tx.aliases.known(alias.removeprefix("@"), dataset)
            tx.write.aliases.delete(found.dataset_id, found.name, deleted_by)
            return found

    def is_sealed(self, dataset: str) -> bool:
        """Return whether the database of ``NDCG_TRACK_SEALED_DB`` has a dataset of this name."""
        return self.store(dataset=dataset) is self._sealed

    def groups(self, dataset: str = DEFAULT_DATASET) -> list[GroupRecord]:
        """Return the groups of a dataset with their weights and attributes."""
        from ndcg_tracker.runs.groups import group_records

        with self.store().read() as tx:
            return group_records(tx, dataset)

    def texts(self, dataset: str = DEFAULT_DATASET, *, group: str | None = None) -> list[StoredText]:
        """Return the texts of a dataset (see ``add_texts``), or only those of one of its groups."""
        from ndcg_tracker.runs.groups import stored_texts

        with self.store().read() as tx:
            return stored_texts(tx, dataset, group)

    def delete_texts(self, dataset: str = DEFAULT_DATASET, *, group: str | None = None) -> int:
        """Delete the texts of a dataset, or only those of one of its groups, and return how many there were."""
        from ndcg_tracker.runs.groups import delete_texts

        with self.store().write("content") as tx:
            return delete_texts(tx, dataset, group)

    def export_runs(
        self,
        folder: str | os.PathLike[str],
        references: Sequence[str] = (),
        *,
        dataset: str | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Exported:
        """Write a copy of the whole database, or named runs with their labels, as Parquet files.

        ``folder``: it must not exist yet. ``references``: the runs, with their labels and the weights and attributes of
        their groups; none: those of ``dataset``, or without it the whole database with everything in it. ``progress``:
        called with how many runs are written, and how many there are. Returns: how much was written, and a note on
        what belongs to the datasets of named runs and was left out. Raises: ReferenceNotFoundError; InputError if it
        cannot be written and for a named run that was pruned.
        """
        from ndcg_tracker.runs.exchange import export

        with self.store().read() as tx:
            runs = tx.runs.chosen(references, dataset) if references or dataset is not None else None
            tx.runs.require("items", *(runs or ()))
            return export(tx, runs, os.fspath(folder), progress=progress)
