"""Read and write runs, their ranked items, and records of what was pruned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Select

from ndcg_tracker.errors import ConflictError, ReferenceNotFoundError
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.ranking import Ranking
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import (
    BLOCK_ITEMS,
    RANKED_LISTS,
    packed,
    unpacked,
)
from ndcg_tracker.storage.checks import (
    checked_commit,
    checked_name,
    checked_object,
    checked_time,
    utc_now,
)
from ndcg_tracker.storage.datasets import DatasetReads, GroupReads, GroupWrites
from ndcg_tracker.storage.records import (
    AliasRecord,
    Holds,
    Part,
    PruningRecord,
    RunRecord,
)
from ndcg_tracker.storage.references import BEFORE, RunName, is_pattern, referenced_run
from ndcg_tracker.storage.session import FEW, TransactionPart
from ndcg_tracker.words.texts import DatasetName, now_about

_BYTES_OF_LIST, BYTES_OF_RESULT = 60, 80
"""About how many bytes a row of ``ranked_lists`` takes besides its lists, and a group result with its packed value."""


IN_TIME = (schema.runs.c.created_at_utc, schema.runs.c.id)
"""The order of runs: by creation time, and by id if that is the same."""


class RankedFacts(TypedDict, total=False):
    """What a run ranks, known once all of it has arrived: a sample, documents instead of chunks; what breaks ties."""

    sample_digest: str | None
    collapsed: str | None
    documents_in_ten: float | None
    tie_order: str | None


class RunDetails(RankedFacts, total=False):
    """The facts about a run besides its items; ``created_at_utc``: now, if None."""

    source: str | None
    git_commit: str | None
    parameters: Mapping[str, Any] | None
    tags: Mapping[str, Any] | None
    created_at_utc: str | None
    sampled: str | None
    groups_share: str | None


class RunReads(TransactionPart):
    """Reads runs and their ranked items."""

    def all(self, dataset: str | None = None) -> list[RunRecord]:
        """Return the runs of a dataset (None: of all), oldest first."""
        query = _runs().order_by(*IN_TIME)
        chosen = query if dataset is None else query.where(schema.runs.c.dataset == dataset)
        return list(self._session.once(("runs", dataset), lambda: self._session.records(_run, chosen)))

    def without_facts(self) -> list[RunRecord]:
        """Return all runs by id, without their tags and parameters, which may be damaged."""
        columns = (column for column in schema.runs.c if column.name not in ("parameters", "tags"))
        query = sa.select(*columns).order_by(schema.runs.c.id)
        return self._session.records(partial(RunRecord, parameters={}, tags={}), query)

    def with_id(self, run_id: int) -> RunRecord:
        """Return the run of this id (ReferenceNotFoundError if it does not exist)."""
        by_id = self._session.once_each("run", [run_id], self._records)
        if not by_id:
            raise ReferenceNotFoundError(f"no run with id {run_id}", advice="list all with: ndcg-track runs list")
        now_about(by_id[run_id].dataset)
        return by_id[run_id]

    def _records(self, run_ids: Sequence[int]) -> dict[int, RunRecord]:
        """Return some runs by id."""
        runs = self._session.records(_run, _runs().where(schema.runs.c.id.in_(run_ids)))
        self._session.dataset_of.update((("run", run.id), run.dataset_id) for run in runs)
        self._session.keep("tie order", {run.id: run.tie_order for run in runs})
        return {run.id: run for run in runs}

    def resolve(self, reference: str, dataset: str | None = None) -> RunRecord:
        """Return the run that a reference names (see ``referenced_run``).

        Parameters: ``dataset`` limits the search. Raises: ReferenceNotFoundError for an unknown or ambiguous reference
        or an unknown dataset, with the candidates.
        """
        return self.with_id(self._referenced(reference, dataset))

    def resolve_all(self, references: Sequence[str], dataset: str | None = None) -> list[RunRecord]:
        """Return the run that each reference names (see ``resolve``), read together."""
        ids = [self._referenced(reference, dataset) for reference in references]
        return [self.with_id(run_id) for run_id in ids]

    def _referenced(self, reference: str, dataset: str | None) -> int:
        if dataset is not None:
            DatasetReads(self._session).known(dataset)
        names = self._session.once(("names of runs", dataset), partial(self.names, dataset))
        if reference.startswith(("latest", BEFORE)):  # the checkpoints of a training come before its final run
            checkpoints = {run.id for run in self.all(dataset) if run.is_checkpoint and run.name != reference}
            names = [run for run in names if run.id not in checkpoints] or names
        run_id = referenced_run(reference, names, partial(self._aliases, dataset), dataset)
        self._session.named_runs.append(run_id)
        return run_id

    def _aliases(self, dataset: str | None) -> list[AliasRecord]:
        from ndcg_tracker.storage.marks import AliasReads

        return AliasReads(self._session).all(dataset)

    def names(self, dataset: str | None = None) -> list[RunName]:
        """Return the names of all runs, oldest first."""
        runs = schema.runs
        query = sa.select(runs.c.id, runs.c.name, runs.c.dataset, runs.c.created_at_utc).order_by(*IN_TIME)
        return self._session.records(RunName, query if dataset is None else query.where(runs.c.dataset == dataset))

    def chosen(self, references: Sequence[str], dataset: str | None) -> list[RunRecord]:
        """Return the runs with these references or patterns; all runs (of a dataset) if there are none.

        A pattern has ``*``, ``?`` or ``[...]`` and names every run that matches it, oldest first. Raises:
        ReferenceNotFoundError for a pattern without a match, and what ``resolve`` raises.
        """
        if dataset is not None:
            DatasetReads(self._session).known(dataset)
        return [run for reference in references for run in self.matching(reference, dataset)] or self.all(dataset)

    def matching(self, reference: str, dataset: str | None) -> list[RunRecord]:
        """Return the run of a reference, or all that match a pattern (see ``chosen``)."""
        if not is_pattern(reference):
            return [self.resolve(reference, dataset)]
        every = self.all(dataset)
        fitting = [run for run in every if run.name == reference] or [
            run for run in every if fnmatchcase(run.name, reference)
        ]
        if not fitting:
            raise ReferenceNotFoundError(f"no run matches {reference!r}", advice="list all with: ndcg-track runs list")
        return fitting

    def named(self, dataset_id: int, name: str) -> RunRecord | None:
        """Return the run of exactly this name, None if it does not exist."""
        chosen = (schema.runs.c.dataset_id == dataset_id, schema.runs.c.name == name)
        records = self._session.records(_run, _runs().where(*chosen))
        return records[0] if records else None

    def with_digest(self, dataset_id: int, digest: str) -> list[RunRecord]:
        """Return the runs with this content, in id order."""
        chosen = (schema.runs.c.dataset_id == dataset_id, schema.runs.c.digest == digest)
        return self._session.records(_run, _runs().where(*chosen).order_by(schema.runs.c.id))

    def group_ids(self, run_id: int) -> Index:
        """Return the ids, ascending, of the groups that a run has."""
        table, runs = schema.prunings, schema.runs
        query = sa.select(table.c.packed_group_ids, runs.c.n_groups).join_from(table, runs)
        for row in self._session.rows(query.where(table.c.run_id == run_id)):
            if not row.packed_group_ids:
                return np.empty(0, dtype=np.int64)
            return unpacked(row.packed_group_ids, bytes(8 * row.n_groups))[0]
        return self._session.bulk.list_group_ids(RANKED_LISTS, run_id)

    def ranking(self, run_id: int, group_ids: Index | None = None) -> Ranking:
        """Return the items of a run as stored, scores to the bit, of some or all groups, by ascending id.

        Raises: InputError for a run that was pruned, or that lacks the items of these groups.
        """
        lists = self._session.bulk.lists(RANKED_LISTS, run_id, group_ids)
        pruning = self.pruning(run_id)
        if pruning is not None:
            wanted = of_run = self.group_ids(run_id)
            if group_ids is not None:
                wanted = np.intersect1d(group_ids, of_run)
            if not lists.group_ids.size or lists.group_ids.size < wanted.size:
                raise pruning.refusal(self.with_id(run_id).name)
        query = sa.select(schema.runs.c.tie_order).where(schema.runs.c.id == run_id)
        tie_order = self._session.once(("tie order", run_id), lambda: self._session.rows(query)[0].tie_order)
        dataset_id = self._session.dataset_of.get(("run", run_id))
        return Ranking(*GroupReads(self._session).keyed(lists, dataset_id), tie_order=tie_order)

    def prunings(self, *run_ids: int) -> dict[int, PruningRecord]:
        """Return the pruning records of incomplete runs (of all runs, or of these), by run id."""
        table = _prunings()
        query = sa.select(table).order_by(table.c.run_id)

        def read(chosen: Select[Any]) -> dict[int, PruningRecord]:
            return {record.run_id: record for record in self._session.records(PruningRecord, chosen)}

        if not run_ids:
            return self._session.once("prunings", partial(read, query))
        return self._session.once_each("pruning", run_ids, lambda ids: read(query.where(table.c.run_id.in_(ids))))

    def pruning(self, run_id: int) -> PruningRecord | None:
        """Return the pruning record of an incomplete run, None for a complete one."""
        return self.prunings(run_id).get(run_id)

    def holds(self, run_id: int) -> Holds:
        """Return the parts of a run that are stored."""
        pruning = self.pruning(run_id)
        return Holds.WHOLE if pruning is None else pruning.holds

    def without(self, part: Part) -> set[int]:
        """Return the ids of all runs that lack this part."""
        return {run_id for run_id, pruning in self.prunings().items() if part not in pruning.holds}

    def require(self, part: Part, *runs: RunRecord) -> None:
        """Raise InputError for the first of some runs that lacks this part."""
        for run in runs:
            pruning = self.pruning(run.id)
            if pruning is not None and part not in pruning.holds:
                raise pruning.refusal(run.name)

    def used_ids(self, *, once: bool) -> set[int]:
        """Return the runs of an alias (``once``: or its earlier ones), of a decision of a gate, or of a design."""
        of_sides = [schema.decisions.c[f"{side}_run_id"] for side in _SIDES]
        columns = [schema.aliases.c.run_id, *of_sides, schema.design_runs.c.run_id]
        columns += [schema.alias_moves.c.run_id] if once else []
        used = {row[0] for column in columns for row in self._session.rows(sa.select(column).distinct()) if row[0]}
        for row in self._session.rows(sa.select(schema.suite_decisions.c.runs)):
            used |= {of[side] for of in row.runs.values() for side in ("baseline_run_id", "candidate_run_id")}
            used |= {run_id for of in row.runs.values() for ids in of.get("repeats", {}).values() for run_id in ids}
        query = sa.select(schema.decisions.c.repeats).where(schema.decisions.c.repeats.is_not(None))
        for row in self._session.rows(query):
            used |= {run_id for ids in row.repeats.values() for run_id in ids}
        return used

    def sizes(self, runs: Sequence[RunRecord], *, results: bool) -> dict[int, tuple[int, int, int]]:
        """Return how many items and group results can be pruned of some runs, and about how many bytes these take.

        ``results``: whether group results are pruned, too.
        """
        lists, evaluations = schema.ranked_lists, schema.evaluations
        length = sa.func.length if self._session.is_sqlite else sa.func.pg_column_size
        of_lists = length(lists.c.item_keys) + length(lists.c.scores) + _BYTES_OF_LIST
        n_bytes = self._sums(lists.c.run_id, of_lists, runs)
        of_results = sa.func.length(evaluations.c.packed_values) / 8
        n_results = self._sums(evaluations.c.run_id, of_results, runs if results else ())
        sizes = {}
        for run in runs:
            n_here = n_results.get(run.id, 0)
            n_items = run.n_items if run.id in n_bytes else 0
            sizes[run.id] = n_items, n_here, n_bytes.get(run.id, 0) + n_here * BYTES_OF_RESULT
        return sizes

    def _sums(self, run_id: sa.Column[Any], number: sa.ColumnElement[Any], runs: Sequence[RunRecord]) -> dict[int, int]:
        """Return the sum of a number over the rows of each run, without the runs that have no row."""
        query = sa.select(run_id, sa.func.sum(number).label("total")).group_by(run_id)
        parts = ([run.id for run in runs[first : first + FEW]] for first in range(0, len(runs), FEW))
        rows = (row for part in parts for row in self._session.rows(query.where(run_id.in_(part))))
        return {row.run_id: int(row.total or 0) for row in rows}

    def ranking_blocks(self, run: RunRecord) -> Iterator[Ranking]:
        """Yield the items of a run in blocks of about ``BLOCK_ITEMS`` items (see ``ranking``)."""
        if run.n_items <= BLOCK_ITEMS:
            yield self.ranking(run.id)
            return
        ids = self.group_ids(run.id)
        n_groups = max(1, BLOCK_ITEMS * run.n_groups // run.n_items)
        for first in range(0, ids.size, n_groups):
            yield self.ranking(run.id, ids[first : first + n_groups])

    def kept_blocks(self, run: RunRecord, *, is_whole: bool) -> Iterator[Ranking]:
        """Yield the stored items of a run, in blocks if all items are stored."""
        if is_whole:
            yield from self.ranking_blocks(run)
        elif (kept := self._session.bulk.list_group_ids(RANKED_LISTS, run.id)).size:
            yield self.ranking(run.id, kept)


class RunWrites(RunReads):
    """Writes runs, at once or block by block; renames, tags and deletes them."""

    def insert(self, dataset_id: int, name: str, ranking: Ranking, **details: Unpack[RunDetails]) -> RunRecord:
        """Store a run with all its items and return its record; ConflictError if the name is taken."""
        run_id = self.begin(dataset_id, name, **details)
        self.append(run_id, dataset_id, ranking)
        return self.finish(run_id, ranking.digest(), ranking.n_groups, ranking.n_items)

    def begin(self, dataset_id: int, name: str, **details: Unpack[RunDetails]) -> int:
        """Create a run, still without items, and return its id (see ``insert``)."""
        self.check_name_free(dataset_id, name)
        values: dict[str, Any] = {
            **{name: details.get(name) for name in RunDetails.__annotations__},
            "dataset_id": dataset_id,
            "dataset": DatasetReads(self._session).with_id(dataset_id).name,
            "name": name,
            "digest": "",
            "created_at_utc": checked_time(details.get("created_at_utc")),
            "git_commit": checked_commit(details.get("git_commit")),
            "parameters": checked_object("parameters", details.get("parameters") or {}),
            "tags": checked_object("tags", details.get("tags") or {}),
            "n_groups": 0,
            "n_items": 0,
            "stored_by": self.storer(),
        }
        run_id = self._session.insert(schema.runs, values)
        self._session.made.runs[run_id] = ""
        if details.get("created_at_utc") is None:
            self._session.undated.add(run_id)
        return run_id

    def storer(self) -> str | None:
        """Return the role of Postgres that stores runs now, None on SQLite."""
        return None if self._session.is_sqlite else self._session.connection.scalar(sa.text("SELECT session_user"))

    def append(self, run_id: int, dataset_id: int, ranking: Ranking) -> None:
        """Add the items of groups that an unfinished run does not have yet."""
        lists = GroupWrites(self._session).lists(dataset_id, ranking, "score")
        self._session.bulk.insert_lists(RANKED_LISTS, run_id, lists)

    def append_missing(self, run_id: int, dataset_id: int, ranking: Ranking) -> None:
        """Add the items of groups that a pruned run has without items; some groups of a sample have theirs."""
        kept = self._session.bulk.list_group_ids(RANKED_LISTS, run_id)
        if kept.size:
            lacks = ~np.isin(GroupWrites(self._session).ensure(dataset_id, ranking.group_keys), kept)
            ranking = ranking.of_groups(np.flatnonzero(lacks))
        self.append(run_id, dataset_id, ranking)

    def finish(
        self,
        run_id: int,
        digest: str,
        n_groups: int,
        n_items: int,
        **ranked: Unpack[RankedFacts],
    ) -> RunRecord:
        """Finish a run: store its counts and digest, and return its record.

        A run without a date gets the present one: if two runs are stored side by side, the one that finishes later is
        the later run.
        """
        self._session.made.runs[run_id] = digest
        values: dict[str, Any] = {"digest": digest, "n_groups": n_groups, "n_items": n_items, **ranked}
        if run_id in self._session.undated:
            values["created_at_utc"] = utc_now()
        return self._updated(run_id, values)

    def check_name_free(self, dataset_id: int, name: str) -> None:
        """Raise ConflictError if another run of the dataset has this name, InputError if the name is not valid."""
        checked_name("run", name)
        taken = self.named(dataset_id, name)
        if taken is not None:
            raise ConflictError(
                f"run {name!r} exists already in dataset {taken.dataset!r} (id {taken.id})",
                advice="choose another name",
            )

    def mark_sampled(self, run_id: int, sampled: str, sample_digest: str | None) -> RunRecord:
        """Store the sample that a run's items are from, and return its record."""
        return self._updated(run_id, {"sampled": sampled, "sample_digest": sample_digest})

    def rename(self, run_id: int, name: str) -> RunRecord:
        """Rename a run and return its record; ConflictError if the name is taken."""
        run = self.with_id(run_id)
        if run.name == name:
            return run
        self.check_name_free(run.dataset_id, name)
        evaluations = schema.evaluations
        self._session.execute(evaluations.update().where(evaluations.c.run_id == run_id).values(run=name))
        sets = schema.label_sets
        query = sa.select(sets.c.id, sets.c.from_runs).where(sets.c.dataset_id == run.dataset_id)
        for row in self._session.rows(query.where(sets.c.from_runs.is_not(None))):
            named = {"runs": [name if known == run.name else known for known in row.from_runs.get("runs", ())]}
            values = {"from_runs": {**row.from_runs, **named}}
            self._session.execute(sets.update().where(sets.c.id == row.id).values(values))
        return self._updated(run_id, {"name": name})

    def set_tags(self, run_id: int, tags: Mapping[str, Any]) -> RunRecord:
        """Replace the tags of a run and return its record."""
        self.with_id(run_id)
        return self._updated(run_id, {"tags": checked_object("tags", tags)})

    def delete(self, run_id: int) -> RunRecord:
        """Delete a run with its items, evaluations, results and coverages, and return its former record.

        What may do without the run, such as decisions and designs about it, stays, and keeps its name. Raises:
        ConflictError while an alias points to it.
        """
        run = self.with_id(run_id)
        names = [f"@{alias.name}" for alias in self._aliases(run.dataset) if alias.run_id == run_id]
        if names:
            raise ConflictError(
                f"run {run.name!r} has the alias {', '.join(names)}",
                advice=f"point the alias to another run first, with: ndcg-track alias set {names[0][1:]} RUN",
            )
        evaluations, lists = schema.evaluations, schema.ranked_lists
        of_run = sa.select(evaluations.c.id).where(evaluations.c.run_id == run_id)
        for table in (schema.group_results, schema.paired_sums):
            self._session.execute(table.delete().where(table.c.evaluation_id.in_(of_run)))
        self._session.execute(lists.delete().where(lists.c.run_id == run_id))
        for table in schema.metadata.sorted_tables:
            for column in (of for of in table.c if of.references(schema.runs.c.id)):
                statement = table.update().values({column.name: None}) if column.nullable else table.delete()
                self._session.execute(statement.where(column == run_id))
        self._session.execute(schema.runs.delete().where(schema.runs.c.id == run_id))
        self._session.made.runs.pop(run_id, None)
        return run

    def redo(self, run_id: int) -> bool:
        """Delete a run that is to be replaced and return True, if this role may delete no other (Postgres).

        Raises: ConflictError if it did not store the run, or if an alias, a gate or a design names it.
        """
        connection = self._session.connection
        if self._session.is_sqlite or connection.scalar(sa.select(sa.func.has_table_privilege("runs", "DELETE"))):
            return False
        if not connection.scalar(sa.select(sa.func.ndcg_tracker_redo(run_id))):
            name = self.with_id(run_id).name
            raise ConflictError(
                f"this role did not store run {name!r}, or an alias, a gate or a design names it",
                advice="choose another name, or ask the owner of the database to replace it",
            )
        return True

    def prune(self, run_id: int, *, summaries_only: bool) -> None:
        """Delete the items of a run and, with ``summaries_only``, its group results; its means and groups stay."""
        lists, results, evaluations = schema.ranked_lists, schema.group_results, schema.evaluations
        group_ids = self.group_ids(run_id)
        row = {
            "run_id": run_id,
            "created_at_utc": utc_now(),
            "summaries_only": summaries_only or "results" not in self.holds(run_id),
            "packed_group_ids": packed(group_ids, np.zeros(group_ids.size))[0],
        }
        self._session.execute(schema.prunings.delete().where(schema.prunings.c.run_id == run_id))
        self._session.execute(schema.prunings.insert(), row)
        self._session.execute(lists.delete().where(lists.c.run_id == run_id))
        if summaries_only:
            of_run = evaluations.c.run_id == run_id
            ids_of_run = sa.select(evaluations.c.id).where(of_run)
            self._session.execute(results.delete().where(results.c.evaluation_id.in_(ids_of_run)))
            emptied = evaluations.update().where(of_run).values(packed_group_ids=b"", packed_values=b"")
            self._session.execute(emptied)

    def restored(self, run_id: int, digest: str) -> None:
        """Record that a pruned run has its items again, so that its group results must be complete at the end."""
        self._session.execute(schema.prunings.delete().where(schema.prunings.c.run_id == run_id))
        self._session.made.runs[run_id] = digest

    def _updated(self, run_id: int, values: Mapping[str, Any]) -> RunRecord:
        self._session.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))
        return self.with_id(run_id)


_SIDES = ("baseline", "candidate")


def _runs() -> Select[Any]:
    """Return the query of runs, each with the word for the groups of its dataset (see ``_run``)."""
    runs, datasets = schema.runs, schema.datasets
    return sa.select(runs, datasets.c.word).join_from(runs, datasets, datasets.c.id == runs.c.dataset_id, isouter=True)


def _run(*, dataset: str, word: str | None, **row: Any) -> RunRecord:
    """Return the record of a row, in which the name of the dataset has the word for its groups."""
    return RunRecord(**row, dataset=DatasetName(dataset, word))


def _prunings() -> sa.Subquery:
    of = schema.prunings.c
    return sa.select(of.run_id, of.created_at_utc, of.summaries_only, of.kept_share).subquery()
