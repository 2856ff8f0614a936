"""Check references without a foreign key, set by set, and record what a transaction has created."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, FromClause, Select

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.bulk.protocol import Bulk
from ndcg_tracker.storage.column_types import JsonText
from ndcg_tracker.storage.schema import (
    alias_moves,
    aliases,
    datasets,
    decisions,
    evaluations,
    group_results,
    groups,
    label_lists,
    label_sets,
    metadata,
    metrics,
    prunings,
    ranked_lists,
    runs,
    texts,
)

_STRAY = "without their owner or group"
NUMBERED = ("decisions", "suite_decisions", "designs", "alias_moves")
"""The tables whose rows the program never deletes: on SQLite they are numbered from 1 without a gap."""


def broken_references(
    connection: Connection,
    *,
    run_ids: Collection[int] | None = None,
    label_set_ids: Collection[int] | None = None,
    evaluation_ids: Collection[int] | None = None,
    text_dataset_ids: Collection[int] | None = None,
) -> list[str]:
    """Return one sentence per kind of damage in the rows of these owners (None: of all), none if all are intact.

    A list, group result or text is intact if its owner exists and its group is in the owner's dataset. A run and a
    label set must have as many lists as they record, a pruned run none, and an evaluation as many group results as it
    has packed.
    """
    chosen = {
        ranked_lists.c.run_id: run_ids,
        runs.c.id: run_ids,
        label_lists.c.label_set_id: label_set_ids,
        label_sets.c.id: label_set_ids,
        group_results.c.evaluation_id: evaluation_ids,
        evaluations.c.id: evaluation_ids,
        texts.c.dataset_id: text_dataset_ids,
    }
    damage = []
    for name, query, owner in _queries():
        owners = chosen[owner]
        if owners is None or owners:
            n_broken = connection.execute(query if owners is None else query.where(owner.in_(sorted(owners))))
            damage += [f"{n} {name}" for n in n_broken.scalars() if n]
    return damage


def differing_values(connection: Connection, bulk: Bulk) -> list[str]:
    """Return one sentence if the packed values of some evaluations differ from the rows in any bit, else nothing."""
    n_broken = 0
    for (evaluation_id,) in connection.execute(sa.select(evaluations.c.id)).all():
        ids, values = bulk.results(evaluation_id)
        row_ids, row_values = bulk.values(evaluation_id)
        same = np.array_equal(ids, row_ids) and np.array_equal(values.view(np.int64), row_values.view(np.int64))
        n_broken += not same
    return [f"{n_broken} evaluations whose packed values differ from their group results"] if n_broken else []


def malformed_objects(connection: Connection) -> list[str]:
    """Return one sentence per column in which some rows do not contain a JSON object."""
    damage = []
    for table in metadata.sorted_tables:
        for column in table.c:
            if not isinstance(column.type, JsonText):
                continue
            name = f"{table.name}.{column.name}"
            kind = f"CASE WHEN json_valid({name}) THEN json_type({name}) ELSE 'none' END"
            if connection.dialect.name != "sqlite":
                kind = f"jsonb_typeof({name})"
            query = f"SELECT count(*) FROM {table.name} WHERE {name} IS NOT NULL AND {kind} <> 'object'"
            n = connection.exec_driver_sql(query).scalar_one()
            if n:
                damage.append(f"{n} {table.name} whose {column.name} are not a JSON object")
    return damage


def lost_records(connection: Connection) -> list[str]:
    """Return signs that someone deleted records that the program never deletes, or moved an alias by hand.

    On SQLite such records have every number from 1 to the last one; on Postgres a transaction that was rolled back
    leaves a gap, too. So there only versions of labels show it.
    """
    losses = []
    if connection.dialect.name == "sqlite":
        given = dict(tuple(row) for row in connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence"))
        for table in map(metadata.tables.__getitem__, NUMBERED):
            query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.max(table.c.id), 0))
            n_rows, last_id = connection.execute(query).one()
            n_given = max(last_id, given.get(table.name, 0))
            if n_rows < n_given:
                losses.append(f"{n_given - n_rows} of {n_given} {table.name} are gone")
    versions = sa.select(sa.func.max(label_sets.c.version) - sa.func.count()).group_by(label_sets.c.dataset_id)
    n_gone = sum(connection.execute(versions).scalars())
    if n_gone:
        losses.append(f"{n_gone} versions of labels are gone")
    last = sa.select(sa.func.max(alias_moves.c.id)).group_by(alias_moves.c.dataset_id, alias_moves.c.alias)
    here = (aliases.c.dataset_id == alias_moves.c.dataset_id) & (aliases.c.name == alias_moves.c.alias)
    moved = (
        sa.select(sa.func.count())
        .select_from(alias_moves.outerjoin(aliases, here))
        .where(
            alias_moves.c.id.in_(last),
            alias_moves.c.run.is_not(None),
            aliases.c.run_id.is_distinct_from(alias_moves.c.run_id),
        )
    )
    n_moved = connection.execute(moved).scalar_one()
    if n_moved:
        losses.append(f"{n_moved} aliases that do not point where they were pointed last")
    return losses


def engine_damage(connection: Connection) -> list[str]:
    """Return the damage that the engine finds: SQLite reads the complete file; Postgres has no such check."""
    if connection.dialect.name != "sqlite":
        return []
    damage = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(10)") if row[0] != "ok"]
    strays = {str(row[0]) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")}
    return damage + [f"{table}: rows that refer to nothing" for table in sorted(strays)]


@dataclass(slots=True)
class Written:
    """Everything a transaction has created: content digests by the ids of runs and label sets, and other ids.

    ``text_dataset_ids``: of the datasets that got texts.
    """

    runs: dict[int, str] = field(default_factory=dict)
    label_sets: dict[int, str] = field(default_factory=dict)
    evaluation_ids: set[int] = field(default_factory=set)
    decision_ids: set[int] = field(default_factory=set)
    text_dataset_ids: set[int] = field(default_factory=set)

    @property
    def is_much(self) -> bool:
        """Whether large tables have grown."""
        return bool(self.runs or self.label_sets or self.evaluation_ids)

    def is_in(self, connection: Connection) -> bool | None:
        """Return whether the transaction was committed; None if it created nothing that shows it.

        A transaction is committed completely or not at all, so one row is enough. Rows with a content digest come
        first. The digest must be equal, because a server that took over may have given the id to other content.
        """
        for table, digests in ((runs, self.runs), (label_sets, self.label_sets)):
            if digests:
                rows = connection.execute(sa.select(table.c.id, table.c.digest).where(table.c.id.in_(sorted(digests))))
                return any(digests[key] == digest for key, digest in rows)
        for table, ids in ((evaluations, self.evaluation_ids), (decisions, self.decision_ids)):
            if ids:
                query = sa.select(table.c.id).where(table.c.id.in_(sorted(ids))).limit(1)
                return connection.execute(query).first() is not None
        return None


def check_written(connection: Connection, made: Written) -> None:
    """Raise if the data of this transaction is incomplete, before it is committed."""
    ranges: dict[tuple[int, int, int], int] = {}
    n_packed = sa.func.coalesce(sa.func.length(evaluations.c.packed_values), 0) // 8
    of_evaluations = sa.select(evaluations.c.id, runs.c.dataset_id, n_packed).join_from(evaluations, runs)
    doubtful = [
        _doubtful(connection, owners, owner, ids, ranges) if ids else []
        for owners, owner, ids in (
            (sa.select(runs.c.id, runs.c.dataset_id, runs.c.n_groups), ranked_lists.c.run_id, made.runs),
            (
                sa.select(label_sets.c.id, label_sets.c.dataset_id, label_sets.c.n_groups),
                label_lists.c.label_set_id,
                made.label_sets,
            ),
            (of_evaluations, group_results.c.evaluation_id, made.evaluation_ids),
        )
    ]
    run_ids, label_set_ids, evaluation_ids = doubtful
    broken = broken_references(
        connection,
        run_ids=run_ids,
        label_set_ids=label_set_ids,
        evaluation_ids=evaluation_ids,
        text_dataset_ids=made.text_dataset_ids,
    )
    if broken:
        raise DatabaseError(f"refused to store {'; '.join(broken)}: nothing was stored", advice="please report this")


def _doubtful(
    connection: Connection,
    owners: Select[Any],
    owner: sa.Column[Any],
    ids: Collection[int],
    ranges: dict[tuple[int, int, int], int],
) -> list[int]:
    """Return the owners whose lists cannot be shown to be complete by their first and last groups.

    An owner has at most one row per group. So it is complete if three counts agree: the rows that it records, the ids
    from its smallest group to its largest, and the groups of its dataset in this range. Then no row is looked up.
    Parameters: ``owners``: their id, dataset and number of rows. ``owner``: the column that names them. ``ranges``: how
    many groups of a dataset are between two ids, if known.
    """
    group = owner.table.c.group_id
    query = sa.select(owner, sa.func.count(), sa.func.min(group), sa.func.max(group)).where(owner.in_(sorted(ids)))
    ends = {row[0]: row[1:] for row in connection.execute(query.group_by(owner))}
    chosen = owners.where(owners.selected_columns[0].in_(sorted(ids)))
    whole = set()
    for owner_id, dataset_id, n_rows in connection.execute(chosen):
        n_found, first, last = ends.get(owner_id, (0, 0, -1))
        if not n_found == n_rows == last - first + 1:
            continue
        key = dataset_id, first, last
        if n_rows and key not in ranges:
            within = (groups.c.dataset_id == dataset_id, groups.c.id.between(first, last))
            ranges[key] = connection.execute(sa.select(sa.func.count()).select_from(groups).where(*within)).scalar_one()
        if not n_rows or ranges[key] == n_rows:
            whole.add(owner_id)
    return [each for each in ids if each not in whole]


@cache
def _queries() -> list[tuple[str, Select[Any], sa.Column[Any]]]:
    """Return each possible damage, the query that counts it, and the column that names its owner."""
    n_packed = sa.func.coalesce(sa.func.length(evaluations.c.packed_values), 0) // 8
    of_list, of_labels = runs.c.id == ranked_lists.c.run_id, label_sets.c.id == label_lists.c.label_set_id
    of_result = (
        (evaluations, evaluations.c.id == group_results.c.evaluation_id),
        (runs, runs.c.id == evaluations.c.run_id),
    )
    stray_texts = _strays(texts, texts.c.dataset_id).where(texts.c.group_id > 0)
    return [
        ("runs that name another dataset", _misnamed_runs(), runs.c.id),
        ("evaluations that name another run, metric or label set", _misnamed_evaluations(), evaluations.c.id),
        (f"ranked lists {_STRAY}", _strays(ranked_lists, runs.c.dataset_id, (runs, of_list)), ranked_lists.c.run_id),
        (
            f"label lists {_STRAY}",
            _strays(label_lists, label_sets.c.dataset_id, (label_sets, of_labels)),
            label_lists.c.label_set_id,
        ),
        (
            f"group results {_STRAY}",
            _strays(group_results, runs.c.dataset_id, *of_result),
            group_results.c.evaluation_id,
        ),
        (f"texts {_STRAY}", stray_texts, texts.c.dataset_id),
        (
            "runs without all their lists",
            _wrong_counts(runs, _n_lists(), ranked_lists.c.run_id),
            runs.c.id,
        ),
        (
            "label sets without all their lists",
            _wrong_counts(label_sets, label_sets.c.n_groups, label_lists.c.label_set_id),
            label_sets.c.id,
        ),
        (
            "evaluations without all their group results",
            _wrong_counts(evaluations, n_packed, group_results.c.evaluation_id),
            evaluations.c.id,
        ),
    ]


def _misnamed_runs() -> Select[Any]:
    joined = runs.join(datasets, datasets.c.id == runs.c.dataset_id)
    return sa.select(sa.func.count()).select_from(joined).where(runs.c.dataset != datasets.c.name)


def _misnamed_evaluations() -> Select[Any]:
    joined = (
        evaluations.join(runs, runs.c.id == evaluations.c.run_id)
        .join(metrics, metrics.c.id == evaluations.c.metric_id)
        .join(label_sets, label_sets.c.id == evaluations.c.label_set_id)
    )
    named = {
        evaluations.c.run: runs.c.name,
        evaluations.c.dataset_id: runs.c.dataset_id,
        evaluations.c.dataset: runs.c.dataset,
        evaluations.c.run_created_at_utc: runs.c.created_at_utc,
        evaluations.c.metric: metrics.c.text,
        evaluations.c.label_set_version: label_sets.c.version,
        evaluations.c.judge: label_sets.c.judge,
    }
    differs = sa.or_(*(name != truth for name, truth in named.items()))
    return sa.select(sa.func.count()).select_from(joined).where(differs)


def _strays(table: sa.Table, owner: sa.Column[Any], *between: tuple[sa.Table, ColumnElement[bool]]) -> Select[Any]:
    """Count the rows of a table whose group is not in the dataset of their owner.

    Parameters: ``owner``: the column of the dataset. ``between``: the tables that lead from the rows to it.
    """
    joined: FromClause = table
    for other, condition in between:
        joined = joined.outerjoin(other, condition)
    joined = joined.outerjoin(groups, (groups.c.id == table.c.group_id) & (groups.c.dataset_id == owner))
    return sa.select(sa.func.count()).select_from(joined).where(groups.c.id.is_(None))


def _n_lists() -> ColumnElement[int]:
    """Return how many lists a run must have: none if it is pruned, and those of its sample if it has one."""
    of_run = sa.select(prunings.c.run_id).where(prunings.c.run_id == runs.c.id)
    n_lists = sa.select(sa.func.count()).where(ranked_lists.c.run_id == runs.c.id).scalar_subquery()
    of_sample = sa.exists(of_run.where(prunings.c.kept_share > 0))
    return sa.case((of_sample, n_lists), (sa.exists(of_run), 0), else_=runs.c.n_groups)


def _wrong_counts(owners: sa.Table, expected: ColumnElement[int], owner_id: ColumnElement[int]) -> Select[Any]:
    n_rows = sa.select(sa.func.count()).where(owner_id == owners.c.id).scalar_subquery()
    return sa.select(sa.func.count()).select_from(owners).where(expected != n_rows)
