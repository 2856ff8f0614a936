"""Reading: one part per kind of data, records of narrow tables and whole columns of wide ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select

from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.statistics.summary import PairedSums, Summary
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import BLOCK_ITEMS, LABEL_LISTS, RANKED_LISTS, Bulk, Lists, unpacked
from ndcg_tracker.storage.bulk.sqlite import ArrowChoice, SqliteBulk
from ndcg_tracker.storage.known_groups import KnownGroups
from ndcg_tracker.storage.locks import WriterLocks
from ndcg_tracker.storage.records import (
    UNNAMED_JUDGES,
    AliasMoveRecord,
    AliasRecord,
    CoverageRecord,
    DatasetCounts,
    DatasetRecord,
    DecisionRecord,
    EvaluationRecord,
    GroupResultColumns,
    GroupValueRecord,
    GroupWeightsById,
    HistoryRecord,
    LabelSetRecord,
    MetricUse,
    PairedSumsRecord,
    PruningRecord,
    RunRecord,
    RunSize,
    SuiteDecisionRecord,
    SuiteRecord,
    TextRecord,
)
from ndcg_tracker.storage.references import RunName, is_pattern, referenced_run, unknown_dataset
from ndcg_tracker.storage.upkeep.catalogue import catalogue, differing_things
from ndcg_tracker.storage.upkeep.integrity import (
    broken_references,
    differing_values,
    engine_damage,
    lost_records,
    malformed_objects,
)

FEW = 500
"""Up to this many groups are looked up one by one; for more, all groups of the dataset are read once."""

_BYTES_OF_LIST, _BYTES_OF_RESULT = 60, 80
"""About what a row of ``ranked_lists`` takes beside its lists, and a group result with its packed value."""
_IN_TIME = (schema.runs.c.created_at_utc, schema.runs.c.id)
"""The order of runs: by the time they were made, and by their ids where that is the same."""

Record = TypeVar("Record")
Answer = TypeVar("Answer")


class Session:
    """The connection of one transaction, for narrow tables and, as ``bulk``, for wide ones.

    ``locks``: those of a writer.
    """

    def __init__(self, connection: Connection, arrow: ArrowChoice, locks: WriterLocks | None = None) -> None:
        self.connection = connection
        self.locks = locks or WriterLocks()
        self.bulk = _bulk(connection, arrow)
        self._answers: dict[Hashable, Any] = {}
        self.named_runs: list[int] = []

    def once(self, question: Hashable, ask: Callable[[], Answer]) -> Answer:
        """Return the answer to a question that may have been asked before (see ``look_again``)."""
        if question not in self._answers:
            self._answers[question] = ask()
        found: Answer = self._answers[question]
        return found

    def look_again(self) -> None:
        """Forget all answers: this transaction has written, or others may have while it waited."""
        self._answers.clear()
        self.named_runs.clear()

    def keep_creators_out(self) -> bool:
        """Take the lock of who creates datasets, groups, labels and metrics; return whether to look again."""
        taken = self.locks.keep_creators_out()
        if taken:
            self.look_again()
        return taken

    def once_each(
        self, question: str, run_ids: Sequence[int], ask: Callable[[Sequence[int]], Mapping[int, Answer]]
    ) -> dict[int, Answer]:
        """Return what is known of each of some runs (see ``once``), left out where there is nothing.

        What is asked of one run that a reference named will be asked of the others: it is read of all of them.
        """
        if new := [one for one in run_ids if (question, one) not in self._answers]:
            more = [one for one in self.named_runs if one not in new and (question, one) not in self._answers]
            found = ask([*new, *more])
            self.keep(question, {one: found.get(one) for one in [*new, *more]})
        each = ((one, self._answers[question, one]) for one in run_ids)
        return {one: answer for one, answer in each if answer is not None}

    def keep(self, question: str, answers: Mapping[int, object]) -> None:
        """Keep what is known of some runs, None where there is nothing."""
        self._answers.update({(question, one): answer for one, answer in answers.items()})

    def records(self, kind: Callable[..., Record], query: Select[Any]) -> list[Record]:
        """Return a record per row, by column names; SQLAlchemy's row mapping takes twice as long."""
        try:
            found = self.connection.execute(query)
        except UnicodeEncodeError:
            return []  # the name has a lone surrogate, which no database can hold
        names = tuple(found.keys())
        return [kind(**dict(zip(names, row, strict=True))) for row in found.all()]

    def execute(self, statement: sa.Executable, values: Any = None) -> sa.CursorResult[Any]:
        """Run a statement, with the values of one row or of several."""
        self.look_again()
        return self.connection.execute(statement, values)

    def rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        """Return the rows of a query."""
        return self.connection.execute(query).all()

    def insert(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        """Insert a row and return its id."""
        self.look_again()
        return int(self.connection.execute(table.insert().returning(table.c.id), values).scalar_one())


def _bulk(connection: Connection, arrow: ArrowChoice) -> Bulk:
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        return SqliteBulk(driver, arrow)
    from ndcg_tracker.storage.bulk.postgres import PostgresBulk

    return PostgresBulk(cast("Any", driver))


class ReadTransaction:
    """One consistent state of the database."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.datasets = DatasetReads(session)
        self.groups = GroupReads(session)
        self.aliases = AliasReads(session)
        self.suites = SuiteReads(session)
        self.runs = RunReads(session, self.datasets, self.aliases, self.groups)
        self.labels = LabelReads(session, self.groups)
        self.evaluations = EvaluationReads(session, self.runs)
        self.decisions = DecisionReads(session)
        self.texts = TextReads(session)

    def look_again(self) -> None:
        """Read anew what was read before: a writer on Postgres sees what others have stored meanwhile."""
        self._session.look_again()

    def damage(self) -> list[str]:
        """Return one sentence per kind of damage in the whole database, none if it is intact."""
        connection = self._session.connection
        whole = (engine_damage, broken_references, malformed_objects, lost_records)
        found = [line for look in whole for line in look(connection)]
        return found or differing_values(connection, self._session.bulk)

    def schema_damage(self, expected: Mapping[str, object]) -> list[str]:
        """Return what of the tables, indexes, views and triggers is not as in an expected catalogue."""
        return differing_things(catalogue(self._session.connection), expected)


class DatasetReads:
    """Reads datasets."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self) -> list[DatasetRecord]:
        """Return all datasets in id order."""
        return self._session.records(DatasetRecord, sa.select(schema.datasets).order_by(schema.datasets.c.id))

    def counts(self) -> dict[int, DatasetCounts]:
        """Return how much each dataset holds, by its id."""
        each = [
            dict(tuple(row) for row in self._session.rows(_counted(table)))
            for table in (schema.runs, schema.groups, schema.label_sets)
        ]
        return {one.id: DatasetCounts(*(numbers.get(one.id, 0) for numbers in each)) for one in self.all()}

    def named(self, name: str) -> DatasetRecord | None:
        """Return the dataset of this name, None if it does not exist."""
        query = sa.select(schema.datasets).where(schema.datasets.c.name == name)
        found = self._session.once(("dataset", name), partial(self._session.records, DatasetRecord, query))
        return found[0] if found else None

    def with_id(self, dataset_id: int) -> DatasetRecord:
        """Return the dataset of this id."""
        query = sa.select(schema.datasets).where(schema.datasets.c.id == dataset_id)
        return self._session.once(("dataset", dataset_id), partial(self._session.records, DatasetRecord, query))[0]

    def known(self, name: str) -> DatasetRecord:
        """Return the dataset of this name; ReferenceNotFoundError, naming those there are, where there is none."""
        found = self.named(name)
        if found is None:
            raise unknown_dataset(name, [record.name for record in self.all()])
        return found


class AliasReads:
    """Reads aliases."""

    def __init__(self, session: Session) -> None:
        self._session = session

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

    def moves(self, dataset_id: int) -> list[AliasMoveRecord]:
        """Return where the aliases of a dataset were pointed, oldest first."""
        table = schema.alias_moves
        columns = (column for column in table.c if column is not table.c.id)
        query = sa.select(*columns).where(table.c.dataset_id == dataset_id).order_by(table.c.id)
        return self._session.records(AliasMoveRecord, query)

    def known(self, name: str, dataset: str | None) -> AliasRecord:
        """Return the alias of this name; ReferenceNotFoundError where there is none, or one in several datasets."""
        aliases = self.all(dataset)
        found = [alias for alias in aliases if alias.name == name]
        if not found:
            known = ", ".join(f"@{alias.name}" for alias in aliases) or "none"
            raise ReferenceNotFoundError(f"there is no alias @{name}; there is {known}")
        if len(found) > 1:
            names = ", ".join(alias.dataset for alias in found)
            raise ReferenceNotFoundError(
                f"alias @{name} is in several datasets ({names})", advice=f"give {argument('dataset')}"
            )
        return found[0]


class SuiteReads:
    """Reads suites."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self) -> list[SuiteRecord]:
        """Return the suites by name, each with its datasets in their order."""
        table = schema.suite_datasets
        query = (
            sa.select(table.c.suite, schema.datasets.c.name, table.c.created_at_utc)
            .join_from(table, schema.datasets)
            .order_by(table.c.suite, table.c.place)
        )
        found: dict[str, list[Any]] = {}
        for row in self._session.rows(query):
            found.setdefault(row.suite, []).append(row)
        return [
            SuiteRecord(name, tuple(row.name for row in rows), rows[0].created_at_utc) for name, rows in found.items()
        ]

    def known(self, name: str) -> SuiteRecord:
        """Return the suite of this name; ReferenceNotFoundError where there is none."""
        suites = self.all()
        found = next((suite for suite in suites if suite.name == name), None)
        if found is None:
            known = ", ".join(repr(suite.name) for suite in suites) or "none"
            raise ReferenceNotFoundError(
                f"there is no suite {name!r}; there is {known}",
                advice="make one with: ndcg-track suite create NAME DATASET...",
            )
        return found


class DecisionReads:
    """Reads the decisions of gates, on datasets and on suites."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, dataset_id: int) -> list[DecisionRecord]:
        """Return the decisions of gates on a dataset, oldest first."""
        table = schema.decisions
        query = sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.id)
        return self._session.records(DecisionRecord, query)

    def on_suite(self, suite: str | None) -> list[SuiteDecisionRecord]:
        """Return the decisions of gates on a suite (None: on all), oldest first."""
        table = schema.suite_decisions
        query = sa.select(table).order_by(table.c.id)
        return self._session.records(
            SuiteDecisionRecord, query if suite is None else query.where(table.c.suite == suite)
        )


class RunReads:
    """Reads runs and their ranked items."""

    def __init__(self, session: Session, datasets: DatasetReads, aliases: AliasReads, groups: GroupReads) -> None:
        self._session = session
        self._datasets = datasets
        self._aliases = aliases
        self._groups = groups
        self._dataset_of: dict[int, int] = {}

    def all(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the runs of a dataset (None: of all), oldest first."""
        query = sa.select(schema.runs).order_by(*_IN_TIME)
        chosen = query if dataset is None else query.where(schema.runs.c.dataset == dataset)
        return self._session.records(RunRecord, chosen)

    def without_facts(self) -> list[RunRecord]:
        """Return all runs by id, without their tags and parameters, which may be damaged."""
        columns = (column for column in schema.runs.c if column.name not in ("parameters", "tags"))
        query = sa.select(*columns).order_by(schema.runs.c.id)
        return self._session.records(partial(RunRecord, parameters={}, tags={}), query)

    def with_id(self, run_id: int) -> RunRecord:
        """Return the run of this id (ReferenceNotFoundError if it does not exist)."""
        found = self._session.once_each("run", [run_id], self._records)
        if not found:
            raise ReferenceNotFoundError(f"no run with id {run_id}", advice="list all with: ndcg-track runs list")
        return found[run_id]

    def _records(self, run_ids: Sequence[int]) -> dict[int, RunRecord]:
        """Return some runs by id, and keep what is gone of each, which comes with them."""
        runs, gone = schema.runs, _prunings()
        query = sa.select(runs, *_apart(gone)).join_from(runs, gone, gone.c.run_id == runs.c.id, isouter=True)
        found: dict[int, RunRecord] = {}
        prunings: dict[int, PruningRecord | None] = {}
        rows: list[dict[str, Any]] = self._session.records(dict, query.where(runs.c.id.in_(run_ids)))
        for row in rows:
            of_pruning = _taken_apart(row)
            run = found[row["id"]] = RunRecord(**row)
            self._dataset_of[run.id] = run.dataset_id
            prunings[run.id] = None if of_pruning["run_id"] is None else PruningRecord(**of_pruning)
        self._session.keep("pruning", prunings)
        return found

    def resolve(self, reference: str, dataset: str | None = None) -> RunRecord:
        """Return the run that a reference names: exact name, id, ``@alias``, ``latest~N`` or unique prefix.

        Parameters: ``dataset`` narrows the search. Raises: ReferenceNotFoundError for an unknown or ambiguous
        reference or an unknown dataset, with the candidates.
        """
        return self.with_id(self._referenced(reference, dataset))

    def resolve_all(self, references: Sequence[str], dataset: str | None = None) -> list[RunRecord]:
        """Return the run that each reference names (see ``resolve``), read together."""
        ids = [self._referenced(reference, dataset) for reference in references]
        return [self.with_id(run_id) for run_id in ids]

    def _referenced(self, reference: str, dataset: str | None) -> int:
        if dataset is not None:
            self._datasets.known(dataset)
        names = self._session.once(("names of runs", dataset), partial(self._names, dataset))
        run_id = referenced_run(reference, names, partial(self._aliases.all, dataset), dataset)
        self._session.named_runs.append(run_id)
        return run_id

    def _names(self, dataset: str | None) -> list[RunName]:
        """Return the names of all runs, oldest first, and keep their aliases, which come with them."""
        runs, aliases = schema.runs, schema.aliases
        query = (
            sa.select(runs.c.id, runs.c.name, runs.c.dataset, *_apart(aliases))
            .join_from(runs, aliases, aliases.c.run_id == runs.c.id, isouter=True)
            .order_by(*_IN_TIME, aliases.c.name)
        )
        chosen = query if dataset is None else query.where(runs.c.dataset == dataset)
        names: dict[RunName, None] = {}
        found: list[AliasRecord] = []
        rows: list[dict[str, Any]] = self._session.records(dict, chosen)
        for row in rows:
            of_alias = _taken_apart(row)
            names[RunName(**row)] = None
            if of_alias["name"] is not None:
                found.append(AliasRecord(**of_alias, dataset=row["dataset"], run=row["name"]))
        found.sort(key=lambda alias: (alias.dataset_id, alias.name))
        self._session.once(("aliases", dataset), lambda: found)
        return list(names)

    def chosen(self, references: Sequence[str], dataset: str | None) -> list[RunRecord]:
        """Return the runs with these references or patterns, all (of a dataset) where none is named.

        A pattern has ``*``, ``?`` or ``[...]`` and names every run that fits it, oldest first. Raises:
        ReferenceNotFoundError for one that fits none, and what ``resolve`` raises.
        """
        if dataset is not None:
            self._datasets.known(dataset)
        return [run for one in references for run in self.matching(one, dataset)] or self.all(dataset)

    def matching(self, reference: str, dataset: str | None) -> list[RunRecord]:
        """Return the run of a reference, or all that fit a pattern (see ``chosen``)."""
        if not is_pattern(reference):
            return [self.resolve(reference, dataset)]
        every = self.all(dataset)
        found = [run for run in every if run.name == reference] or [
            run for run in every if fnmatchcase(run.name, reference)
        ]
        if not found:
            raise ReferenceNotFoundError(f"no run fits {reference!r}", advice="list all with: ndcg-track runs list")
        return found

    def named(self, dataset_id: int, name: str) -> RunRecord | None:
        """Return the run of exactly this name, None if it does not exist."""
        chosen = (schema.runs.c.dataset_id == dataset_id, schema.runs.c.name == name)
        found = self._session.records(RunRecord, sa.select(schema.runs).where(*chosen))
        return found[0] if found else None

    def with_digest(self, dataset_id: int, digest: str) -> list[RunRecord]:
        """Return the runs with this content, in id order."""
        chosen = (schema.runs.c.dataset_id == dataset_id, schema.runs.c.digest == digest)
        return self._session.records(RunRecord, sa.select(schema.runs).where(*chosen).order_by(schema.runs.c.id))

    def group_ids(self, run_id: int) -> Index:
        """Return the ids, ascending, of the groups that a run has."""
        table, runs = schema.prunings, schema.runs
        query = sa.select(table.c.packed_group_ids, runs.c.n_groups).join_from(table, runs)
        for row in self._session.rows(query.where(table.c.run_id == run_id)):
            if not row.packed_group_ids:
                return np.empty(0, dtype=np.int64)
            return unpacked(row.packed_group_ids, bytes(8 * row.n_groups))[0]
        return self._session.bulk.list_group_ids(RANKED_LISTS, run_id)

    def kept_group_ids(self, run_id: int) -> Index:
        """Return the ids, ascending, of the groups of which a run has items."""
        return self._session.bulk.list_group_ids(RANKED_LISTS, run_id)

    def ranking(self, run_id: int, group_ids: Index | None = None) -> Ranking:
        """Return the items of a run as they were stored, scores to the bit, of some groups or all, by ascending id.

        Raises: InputError for a run that was pruned, or that has not the items of these groups.
        """
        found = self._session.bulk.lists(RANKED_LISTS, run_id, group_ids)
        pruning = self.prunings(run_id).get(run_id)
        if pruning is not None:
            wanted = of_run = self.group_ids(run_id)
            if group_ids is not None:
                wanted = np.intersect1d(group_ids, of_run)
            if not found.group_ids.size or found.group_ids.size < wanted.size:
                raise pruned_error(self.with_id(run_id).name, pruning)
        return Ranking(*self._groups.keyed(found, self._dataset_of.get(run_id)))

    def prunings(self, *run_ids: int) -> dict[int, PruningRecord]:
        """Return what is gone of pruned runs (of all, or of these), by the id of the run."""
        table = _prunings()
        query = sa.select(table).order_by(table.c.run_id)

        def read(chosen: Select[Any]) -> dict[int, PruningRecord]:
            return {one.run_id: one for one in self._session.records(PruningRecord, chosen)}

        if not run_ids:
            return self._session.once("prunings", partial(read, query))
        return self._session.once_each("pruning", run_ids, lambda ids: read(query.where(table.c.run_id.in_(ids))))

    def refuse_pruned(self, run_id: int, *, results: bool = False) -> None:
        """Raise InputError for a run whose items, or group results if ``results`` says so, were pruned."""
        found = self.prunings(run_id).get(run_id)
        if found is not None and (found.summaries_only or not results):
            raise pruned_error(self.with_id(run_id).name, found)

    def used_ids(self, *, once: bool) -> set[int]:
        """Return the runs that an alias points to (``once``: or pointed to), or that a gate decided on."""
        columns = [schema.aliases.c.run_id, schema.decisions.c.baseline_run_id, schema.decisions.c.candidate_run_id]
        columns += [schema.alias_moves.c.run_id] if once else []
        found = {row[0] for column in columns for row in self._session.rows(sa.select(column).distinct()) if row[0]}
        for row in self._session.rows(sa.select(schema.suite_decisions.c.runs)):
            found |= {of[side] for of in row.runs.values() for side in ("baseline_run_id", "candidate_run_id")}
        return found

    def sizes(self, run_ids: Sequence[int], *, results: bool) -> dict[int, RunSize]:
        """Return what some runs hold that can be pruned; group results only if ``results`` says so."""
        lists, evaluations = schema.ranked_lists, schema.evaluations
        is_sqlite = self._session.connection.dialect.name == "sqlite"
        length = sa.func.length if is_sqlite else sa.func.pg_column_size
        of_lists = sa.func.sum(length(lists.c.item_keys) + length(lists.c.scores) + _BYTES_OF_LIST).label("total")
        n_results = sa.func.sum(sa.func.length(evaluations.c.packed_values) / 8).label("total")
        found: dict[int, RunSize] = {}
        for first in range(0, len(run_ids), FEW):
            some = run_ids[first : first + FEW]
            in_lists = sa.select(lists.c.run_id, of_lists).where(lists.c.run_id.in_(some)).group_by(lists.c.run_id)
            n_bytes = {row.run_id: int(row.total or 0) for row in self._session.rows(in_lists)}
            in_runs = sa.select(schema.runs.c.id, schema.runs.c.n_items).where(schema.runs.c.id.in_(some))
            of_runs = sa.select(evaluations.c.run_id, n_results).where(evaluations.c.run_id.in_(some))
            counted = self._session.rows(of_runs.group_by(evaluations.c.run_id)) if results else ()
            n_of_run = {row.run_id: int(row.total or 0) for row in counted}
            for row in self._session.rows(in_runs):
                n_here, of_items = n_of_run.get(row.id, 0), n_bytes.get(row.id)
                n_items = 0 if of_items is None else row.n_items
                found[row.id] = RunSize(n_items, n_here, (of_items or 0) + n_here * _BYTES_OF_RESULT)
        return found

    def ranking_blocks(self, run: RunRecord) -> Iterator[Ranking]:
        """Yield the items of a run in blocks of about ``BLOCK_ITEMS`` items (see ``ranking``)."""
        if run.n_items <= BLOCK_ITEMS:
            yield self.ranking(run.id)
            return
        ids = self.group_ids(run.id)
        n_groups = max(1, BLOCK_ITEMS * run.n_groups // run.n_items)
        for first in range(0, ids.size, n_groups):
            yield self.ranking(run.id, ids[first : first + n_groups])


class LabelReads:
    """Reads label sets and their labels."""

    def __init__(self, session: Session, groups: GroupReads) -> None:
        self._session = session
        self._groups = groups
        self._dataset_of: dict[int, int] = {}

    def sets(self, dataset_id: int, judge: str | None = "") -> list[LabelSetRecord]:
        """Return the label sets of a judge of a dataset by version; ``judge``: None for those of all."""
        table = schema.label_sets
        query = sa.select(table).where(table.c.dataset_id == dataset_id).order_by(table.c.version)
        every = self._session.once(("label sets", dataset_id), partial(self._session.records, LabelSetRecord, query))
        self._dataset_of.update((one.id, dataset_id) for one in every)
        return [one for one in every if judge is None or one.judge == judge]

    def newest(self, dataset_id: int, judge: str | None = "") -> LabelSetRecord | None:
        """Return the label set with the highest version, None if there are no labels (see ``sets``)."""
        sets = self.sets(dataset_id, judge)
        return sets[-1] if sets else None

    def lists(self, label_set_id: int, group_ids: Index | None = None) -> LabelLists:
        """Return the labels of a label set, of some groups or all, groups by ascending id."""
        found = self._session.bulk.lists(LABEL_LISTS, label_set_id, group_ids)
        return LabelLists(*self._groups.keyed(found, self._dataset_of.get(label_set_id)))

    def has_judged_zero(self, label_set_id: int) -> bool:
        """Return whether any label says that an item is not relevant: grade 0 or below.

        Of 700,000 positive labels it takes 0.09 s; the first other one ends it.
        """
        return self._session.bulk.has_grade_up_to(label_set_id, 0.0)

    def group_ids(self, label_set_id: int) -> Index:
        """Return the ids, ascending, of the groups that a label set has labels for."""
        return self._session.bulk.list_group_ids(LABEL_LISTS, label_set_id)


class EvaluationReads:
    """Reads evaluations, the results or sums of their groups, and how much of a run is judged."""

    def __init__(self, session: Session, runs: RunReads) -> None:
        self._session = session
        self._runs = runs

    def of_run(self, run_id: int) -> list[EvaluationRecord]:
        """Return the evaluations of a run in the order in which they were stored."""
        table = schema.evaluations

        def read(run_ids: Sequence[int]) -> dict[int, list[EvaluationRecord]]:
            found: dict[int, list[EvaluationRecord]] = {}
            query = _evaluations().where(table.c.run_id.in_(run_ids)).order_by(table.c.id)
            for one in self._session.records(EvaluationRecord, query):
                found.setdefault(one.run_id, []).append(one)
            return found

        return self._session.once_each("evaluations", [run_id], read).get(run_id, [])

    def history(self, dataset_id: int, metric: str, label_set_id: int | None = None) -> list[HistoryRecord]:
        """Return the evaluations of all runs of a dataset under a metric, by run and label set version.

        Parameters: ``metric``, its canonical text. ``label_set_id``: one label set; by default all of no named judge,
        and the one of results of other engines.
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
            .order_by(*_IN_TIME, label_sets.c.version)
        )
        chosen = (
            label_sets.c.judge.in_(UNNAMED_JUDGES)
            if label_set_id is None
            else evaluations.c.label_set_id == label_set_id
        )
        return self._session.records(HistoryRecord, query.where(chosen))

    def external(self, dataset_id: int, name: str) -> str | None:
        """Return the text of the metric of another engine that has a name in a dataset, None where none has it."""
        table = schema.evaluations
        query = sa.select(table.c.metric).where(
            table.c.dataset_id == dataset_id, table.c.metric.startswith(f"{name}(", autoescape=True)
        )
        return next((str(text) for (text,) in self._session.rows(query.distinct())), None)

    def metrics(self, dataset_id: int) -> list[MetricUse]:
        """Return the metrics that runs of a dataset have under labels of no named judge, in the order of first use.

        Those of other engines are among them.
        """
        table, metrics = schema.evaluations, schema.metrics
        query = (
            sa.select(
                metrics.c.text.label("metric"),
                sa.func.max(_requested_as().element).label("requested_as"),
                sa.func.count(table.c.run_id.distinct()).label("n_runs"),
            )
            .join_from(table, metrics)
            .join(schema.runs, schema.runs.c.id == table.c.run_id)
            .join(schema.label_sets, schema.label_sets.c.id == table.c.label_set_id)
            .where(schema.runs.c.dataset_id == dataset_id, schema.label_sets.c.judge.in_(UNNAMED_JUDGES))
            .group_by(metrics.c.id, metrics.c.text)
            .order_by(sa.func.min(table.c.id))
        )
        return self._session.records(MetricUse, query)

    def runs_by_label_set(self, dataset_id: int) -> dict[int, int]:
        """Return how many runs of a dataset are evaluated under each label set, by its id."""
        table = schema.evaluations
        query = sa.select(table.c.label_set_id, sa.func.count(table.c.run_id.distinct())).join_from(table, schema.runs)
        query = query.where(schema.runs.c.dataset_id == dataset_id).group_by(table.c.label_set_id)
        return dict(tuple(row) for row in self._session.rows(query))

    def of_group(self, dataset_id: int, metric: str, group_id: int) -> list[GroupValueRecord]:
        """Return one group in every run of a dataset that has a metric, by run and label set version of no named judge.

        The value is looked up by its primary key in each evaluation, whatever the number of groups.
        """
        runs, table, results = schema.runs, schema.evaluations, schema.group_results
        of_group = (results.c.evaluation_id == table.c.id) & (results.c.group_id == group_id)
        query = (
            sa.select(
                runs.c.id.label("run_id"),
                runs.c.name.label("run"),
                runs.c.created_at_utc,
                schema.label_sets.c.version.label("label_set_version"),
                results.c.value,
                table.c.mean,
            )
            .join_from(runs, table, table.c.run_id == runs.c.id)
            .join(schema.metrics, schema.metrics.c.id == table.c.metric_id)
            .join(schema.label_sets, schema.label_sets.c.id == table.c.label_set_id)
            .outerjoin(results, of_group)
            .where(
                runs.c.dataset_id == dataset_id,
                schema.metrics.c.text == metric,
                schema.label_sets.c.judge.in_(UNNAMED_JUDGES),
            )
            .order_by(*_IN_TIME, schema.label_sets.c.version)
        )
        return self._session.records(GroupValueRecord, query)

    def coverages_under(self, label_set_id: int) -> list[CoverageRecord]:
        """Return how much of each run has a label of one label set, by run, newest first."""
        table = schema.coverages
        query = sa.select(table.c.run_id, table.c.cutoff, table.c.judged_share)
        query = query.where(table.c.label_set_id == label_set_id).order_by(table.c.run_id.desc(), table.c.cutoff)
        return [
            CoverageRecord(row.run_id, label_set_id, row.cutoff or None, row.judged_share)
            for row in self._session.rows(query)
        ]

    def coverages(self, run_id: int, label_set_id: int) -> list[CoverageRecord]:
        """Return how much of a run has a label, by cutoff; the whole list last."""
        table = schema.coverages
        columns = (table.c.run_id, table.c.label_set_id, table.c.cutoff, table.c.judged_share)

        def read(run_ids: Sequence[int]) -> dict[int, list[CoverageRecord]]:
            found: dict[int, list[CoverageRecord]] = {}
            for row in self._session.rows(sa.select(*columns).where(table.c.run_id.in_(run_ids))):
                one = CoverageRecord(row.run_id, row.label_set_id, row.cutoff or None, row.judged_share)
                found.setdefault(row.run_id, []).append(one)
            return found

        found = self._session.once_each("coverages", [run_id], read).get(run_id, [])
        of_labels = (one for one in found if one.label_set_id == label_set_id)
        return sorted(of_labels, key=lambda one: (one.cutoff is None, one.cutoff))

    def results(self, evaluation_id: int, *, components: bool = False) -> GroupResultColumns:
        """Return the group results of an evaluation as columns; ``components``: with dcg and ideal_dcg."""
        bulk = self._session.bulk
        ids, values = bulk.results(evaluation_id)
        if not ids.size:
            self._refuse_pruned(evaluation_id)
        undefined = np.flatnonzero(np.isnan(values))
        reasons = bulk.reasons(evaluation_id) if undefined.size else []
        columns = GroupResultColumns(ids, values, undefined, reasons)
        if not components:
            return columns
        _, dcg, ideal_dcg = bulk.components(evaluation_id)
        return replace(columns, dcg=dcg, ideal_dcg=ideal_dcg)

    def results_of(self, evaluation_ids: Sequence[int]) -> list[tuple[Index, Floats]]:
        """Return ids and values (NaN: undefined) of the groups of each evaluation; equal ids share one array.

        The values are read-only: they are the bytes that the database returned. Of a run that was pruned to its means
        there are none.
        """
        table = schema.evaluations
        query = sa.select(table.c.id, table.c.packed_group_ids, table.c.packed_values)
        known: dict[tuple[bytes, int], Index] = {}
        found: dict[int, tuple[Index, Floats]] = {}
        for first in range(0, len(evaluation_ids), FEW):
            wanted = table.c.id.in_(evaluation_ids[first : first + FEW])
            for evaluation_id, ids, packed_values in self._session.connection.execute(query.where(wanted)):
                values = np.frombuffer(packed_values or b"", dtype="<f8").astype(np.float64, copy=False)
                key = (bytes(ids or b""), values.size)
                if key not in known:
                    known[key], _ = unpacked(ids or b"", packed_values or b"")
                found[evaluation_id] = known[key], values
        return [found[evaluation_id] for evaluation_id in evaluation_ids]

    def _refuse_pruned(self, evaluation_id: int) -> None:
        """Raise InputError for an evaluation whose group results were pruned, or were never stored."""
        table = schema.evaluations
        for row in self._session.rows(sa.select(table.c.run_id, table.c.run).where(table.c.id == evaluation_id)):
            found = self._runs.prunings(row.run_id).get(row.run_id)
            if found is not None and found.summaries_only:
                raise pruned_error(row.run, found)

    def all_sums(self, evaluation_id: int) -> list[tuple[PairedSumsRecord, str]]:
        """Return the sums of an evaluation's differences to each baseline, and when they were stored."""
        table = schema.paired_sums
        query = sa.select(table.c.baseline_run_id, table.c.created_at_utc).where(table.c.evaluation_id == evaluation_id)
        rows = self._session.rows(query.order_by(table.c.baseline_run_id))
        found = ((self.sums(evaluation_id, row.baseline_run_id), row.created_at_utc) for row in rows)
        return [(record, at) for record, at in found if record is not None]

    def sums(self, evaluation_id: int, baseline_run_id: int) -> PairedSumsRecord | None:
        """Return the sums of an evaluation's differences to a baseline, None where there are none."""
        table = schema.paired_sums
        key = (table.c.evaluation_id == evaluation_id, table.c.baseline_run_id == baseline_run_id)
        for row in self._session.rows(sa.select(table).where(*key)):
            of_groups = Summary(row.n_groups, row.delta, row.m2, row.m3, row.wins, row.losses)
            counts = row.only_in_baseline, row.only_in_candidate, row.n_undefined
            clusters = row.details["clusters"]
            known = None if clusters is None else {one["n_groups"]: Summary.from_dict(one) for one in clusters}
            return PairedSumsRecord(
                baseline_run_id,
                PairedSums(of_groups, row.baseline_mean, *counts, known),
                row.details["attribute"],
                {one["slice"]: PairedSums.from_dict(one) for one in row.details["slices"]},
                row.details["cluster"],
            )
        return None

    def partners(self, run_id: int) -> list[str]:
        """Return the names of the runs with which a run was paired when sums were stored."""
        table, evaluations, runs = schema.paired_sums, schema.evaluations, schema.runs
        joined = table.join(evaluations, evaluations.c.id == table.c.evaluation_id)
        one = sa.select(table.c.baseline_run_id).select_from(joined).where(evaluations.c.run_id == run_id)
        other = sa.select(evaluations.c.run_id).select_from(joined).where(table.c.baseline_run_id == run_id)
        chosen = runs.c.id.in_(one) | runs.c.id.in_(other)
        return [row.name for row in self._session.rows(sa.select(runs.c.name).where(chosen).order_by(runs.c.name))]


class GroupReads:
    """Reads the groups of datasets."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[int, KnownGroups] = {}

    def all(self, dataset_id: int) -> tuple[Index, Keys]:
        """Return the ids, ascending, and keys of all groups of a dataset."""
        return self._session.bulk.group_rows(dataset_id)

    def containing(self, dataset_id: int, text: str, n: int, skip: int = 0) -> list[tuple[int, str]]:
        """Return ids and keys of groups whose key contains a text, in id order: at most ``n``, after ``skip`` others.

        Case does not count for the letters that the engine folds: ASCII's on SQLite.
        """
        table = schema.groups
        query = sa.select(table.c.id, table.c.key).where(table.c.dataset_id == dataset_id)
        if text:
            query = query.where(sa.func.lower(table.c.key).contains(sa.func.lower(_escaped(text)), escape="\\"))
        rows = self._session.rows(query.order_by(table.c.id).limit(n).offset(skip))
        return [(row.id, row.key) for row in rows]

    def keys(self, dataset_id: int, ids: Index) -> Keys:
        """Return the keys of groups of a dataset, in the order of ``ids`` (ReferenceNotFoundError for a wrong id)."""
        if ids.size <= FEW:
            found = self._session.bulk.group_keys(dataset_id, ids.tolist())
            keys = [key for key in found if key is not None]
            if len(keys) == len(found):
                return Keys.from_bytes(keys)
            raise ReferenceNotFoundError(f"no group with id {ids[found.index(None)]} in dataset {dataset_id}")
        try:
            return self._all_known(dataset_id).keys_of(ids)
        except KeyError as unknown:
            raise ReferenceNotFoundError(f"no group with id {unknown.args[0]} in dataset {dataset_id}") from None

    def ids(self, dataset_id: int, keys: Keys) -> Index:
        """Return the id of each group, -1 for one that the dataset does not have: int64, shape (n,)."""
        if len(keys) <= FEW and dataset_id not in self._known:
            return np.array(self._session.bulk.group_ids(dataset_id, keys.to_bytes_list()), dtype=np.int64)
        return self._all_known(dataset_id).ids_of(keys)

    def add(self, dataset_id: int, ids: Index, keys: Keys) -> None:
        """Take note of groups that this transaction has created."""
        if dataset_id in self._known:
            self._known[dataset_id].add(ids, keys)

    def look_again(self, dataset_id: int) -> None:
        """Forget which groups a dataset has: another writer may have created some."""
        self._known.pop(dataset_id, None)

    def _all_known(self, dataset_id: int) -> KnownGroups:
        """Return all groups of a dataset, which are read once."""
        if dataset_id not in self._known:
            self._known[dataset_id] = KnownGroups(*self.all(dataset_id))
        return self._known[dataset_id]

    def weights(self, dataset_id: int) -> tuple[Index, Floats]:
        """Return the ids, ascending, and weights of the groups of a dataset that have one."""
        return self._session.bulk.group_weights(dataset_id)

    def weights_by_id(self, dataset_id: int) -> GroupWeightsById:
        """Return the weights of the groups of a dataset."""
        ids, weights = self.weights(dataset_id)
        known = ~np.isnan(weights)
        return GroupWeightsById(ids[known], weights[known])

    def attributes(self, dataset_id: int) -> dict[int, dict[str, Any]]:
        """Return the attributes of the groups that have some, by group id."""
        table = schema.groups
        chosen = (table.c.dataset_id == dataset_id, table.c.attributes.is_not(None))
        query = sa.select(table.c.id, table.c.attributes).where(*chosen).order_by(table.c.id)
        return {row.id: row.attributes for row in self._session.rows(query)}

    def keyed(self, lists: Lists, dataset_id: int | None = None) -> tuple[Keys, Index, Keys, Floats]:
        """Return lists with the keys of their groups in place of the ids; ``dataset_id``: of the groups, if known."""
        if not lists.group_ids.size:
            return Keys.from_bytes([]), lists.offsets, lists.item_keys, lists.numbers
        if dataset_id is None:
            query = sa.select(schema.groups.c.dataset_id).where(schema.groups.c.id == int(lists.group_ids[0]))
            dataset_id = self._session.connection.execute(query).scalar()
        if dataset_id is None:
            raise ReferenceNotFoundError(f"no group with id {lists.group_ids[0]}")
        return self.keys(dataset_id, lists.group_ids), lists.offsets, lists.item_keys, lists.numbers


class TextReads:
    """Reads the texts of groups and items."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, dataset_id: int, group_id: int | None = None) -> list[TextRecord]:
        """Return the texts of a dataset, or those of one of its groups alone, by group and item."""
        query = self._query(dataset_id)
        return self._records(query if group_id is None else query.where(schema.texts.c.group_id == group_id))

    def of_groups(self, dataset_id: int, group_ids: Sequence[int]) -> list[TextRecord]:
        """Return the texts of some groups themselves."""
        return self._in_parts(dataset_id, schema.texts.c.group_id, group_ids, schema.texts.c.item_key == "")

    def of_pairs(self, dataset_id: int, group_ids: Sequence[int]) -> list[TextRecord]:
        """Return the texts that items have in one of some groups."""
        return self._in_parts(dataset_id, schema.texts.c.group_id, group_ids, schema.texts.c.item_key != "")

    def of_items(self, dataset_id: int, item_keys: Sequence[str]) -> list[TextRecord]:
        """Return the texts that some items have in every group."""
        return self._in_parts(dataset_id, schema.texts.c.item_key, item_keys, schema.texts.c.group_id == 0)

    def any(self, dataset_id: int) -> bool:
        """Return whether a dataset has texts."""
        table = schema.texts
        query = sa.select(table.c.dataset_id).where(table.c.dataset_id == dataset_id).limit(1)
        return bool(self._session.rows(query))

    def _query(self, dataset_id: int) -> Select[Any]:
        table = schema.texts
        columns = (table.c[name] for name in ("group_id", "item_key", "text", "title", "url"))
        query = sa.select(*columns).where(table.c.dataset_id == dataset_id)
        return query.order_by(table.c.group_id, table.c.item_key)

    def _records(self, query: Select[Any]) -> list[TextRecord]:
        return self._session.records(TextRecord, query)

    def _in_parts(
        self, dataset_id: int, column: sa.Column[Any], values: Sequence[Any], condition: sa.ColumnElement[bool]
    ) -> list[TextRecord]:
        """Return the texts with one of these values in a column, as many at once as a statement takes parameters."""
        query = self._query(dataset_id).where(condition)
        parts = (values[first : first + FEW] for first in range(0, len(values), FEW))
        return [record for part in parts for record in self._records(query.where(column.in_(part)))]


def pruned_error(run: str, pruning: PruningRecord) -> InputError:
    """Return the error for a question that needs what is gone of a run, or what never came."""
    if pruning.is_of_sums:
        return InputError(
            f"run {run!r} was stored as sums over its groups: the groups themselves are not here",
            advice="ask where its rows are, or store the results of groups with: ndcg-track ingest",
        )
    if pruning.kept_share is not None and not pruning.summaries_only:
        kept = f"the items of {pruning.kept_share:.3g} of its groups alone" if pruning.kept_share else "no items"
        return InputError(
            f"run {run!r} was stored with {kept}", advice="to add them, ingest all its rows under the same name"
        )
    gone = "its items and group results are gone" if pruning.summaries_only else "its items are gone"
    return InputError(
        f"run {run!r} was pruned at {pruning.created_at_utc}: {gone}",
        advice="to restore them, ingest its file again under the same name",
    )


def _counted(table: sa.Table) -> Select[Any]:
    return sa.select(table.c.dataset_id, sa.func.count()).group_by(table.c.dataset_id)


_APART = "of_other_"


def _apart(table: sa.FromClause) -> list[sa.Label[Any]]:
    """Return the columns of a joined table under names of their own."""
    return [column.label(f"{_APART}{column.name}") for column in table.c]


def _taken_apart(row: dict[str, Any]) -> dict[str, Any]:
    """Take what ``_apart`` has named out of a row, and return it; all None where the join found nothing."""
    return {name.removeprefix(_APART): row.pop(name) for name in list(row) if name.startswith(_APART)}


def _prunings() -> sa.Subquery:
    table = schema.prunings
    of_sums = sa.and_(table.c.summaries_only, table.c.kept_share == 0, sa.func.length(table.c.packed_group_ids) == 0)
    is_of_sums = sa.func.coalesce(of_sums, sa.false()).label("is_of_sums")
    columns = (table.c.run_id, table.c.created_at_utc, table.c.summaries_only, table.c.kept_share)
    return sa.select(*columns, is_of_sums).subquery()


def _escaped(text: str) -> str:
    """Return a text with what LIKE reads as a pattern taken literally."""
    return "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in text)


def _evaluations() -> Select[Any]:
    table = schema.evaluations
    counts = ("n_groups", "n_missing", "n_undefined")
    names = ("id", "run_id", "label_set_id", "mean", "worst_mean", "best_mean", "std_dev", *counts)
    return (
        sa.select(
            *(table.c[name] for name in names),
            table.c.created_at_utc,
            schema.metrics.c.text.label("metric"),
            _requested_as(),
            schema.label_sets.c.version.label("label_set_version"),
            schema.label_sets.c.judge,
        )
        .join_from(table, schema.metrics)
        .join(schema.label_sets, schema.label_sets.c.id == table.c.label_set_id)
    )


def _requested_as() -> sa.Label[str]:
    return sa.func.coalesce(schema.evaluations.c.requested_as, schema.metrics.c.text).label("requested_as")
