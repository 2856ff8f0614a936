"""Writing: one part per kind of data; a transaction stores all of it at its end, or nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
import sqlalchemy as sa

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError, argument
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.statistics.summary import sample_std_dev
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import LABEL_LISTS, RANKED_LISTS, Lists, ResultRows, packed
from ndcg_tracker.storage.checks import (
    check_group_keys,
    checked_commit,
    checked_name,
    checked_object,
    checked_time,
    has_nul,
    utc_now,
)
from ndcg_tracker.storage.read import ReadTransaction, Session
from ndcg_tracker.storage.records import (
    AliasMoveRecord,
    AliasRecord,
    DatasetRecord,
    DecisionRecord,
    LabelSetRecord,
    PairedSumsRecord,
    PruningRecord,
    RunRecord,
    SuiteDecisionRecord,
    SuiteRecord,
    TextRecord,
)
from ndcg_tracker.storage.staging import StagedWrites
from ndcg_tracker.storage.upkeep.integrity import Written, check_written

_TEXT_COLUMNS = ("text", "title", "url")
_TEXTS_AT_ONCE = 10_000


class RunDetails(TypedDict, total=False):
    """The facts about a run besides its items; ``created_at_utc``: now, if None."""

    source: str | None
    git_commit: str | None
    parameters: Mapping[str, Any] | None
    tags: Mapping[str, Any] | None
    created_at_utc: str | None


class WriteTransaction(ReadTransaction):
    """A writer: it sees its own writes, and writes by the parts in ``write``."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.write = Writes(session, self)

    def keep_creators_out(self) -> bool:
        """Keep others from creating datasets, groups, labels, metrics and weights until the end.

        Return whether they may have done so until now: then look again at what is there.
        """
        return self._session.keep_creators_out()

    def keep_marks(self) -> None:
        """Keep others from setting tags and aliases and from recording decisions until the end."""
        self._session.locks.keep_marks()
        self._session.look_again()

    def check(self) -> None:
        """Raise DatabaseError if written data is incomplete; called before the commit."""
        check_written(self._session.connection, self.write.made)


class Writes:
    """The parts that write; ``made`` is what they have created so far."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        self.made = Written()
        self.datasets = DatasetWrites(session, read)
        self.groups = GroupWrites(session, read)
        self.labels = LabelWrites(session, read, self.groups, self.made)
        self.runs = RunWrites(session, read, self.groups, self.made)
        self.evaluations = EvaluationWrites(session, self.made)
        self.aliases = AliasWrites(session, read)
        self.suites = SuiteWrites(session, read)
        self.decisions = DecisionWrites(session, read, self.made)
        self.texts = TextWrites(session, self.made)
        self.staged = StagedWrites(session.connection)


class DatasetWrites:
    """Writes datasets."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        self._session = session
        self._read = read

    def ensure(self, name: str, created_at_utc: str | None = None) -> DatasetRecord:
        """Return the dataset of this name, created if it does not exist; ``created_at_utc``: then, now if None."""
        found = self._read.datasets.named(checked_name("dataset", name))
        if found is None and self._session.keep_creators_out():
            found = self._read.datasets.named(name)
        if found is not None:
            return found
        values = {"name": name, "created_at_utc": checked_time(created_at_utc)}
        return DatasetRecord(id=self._session.insert(schema.datasets, values), **values)


class GroupWrites:
    """Writes the groups of datasets."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        self._session = session
        self._read = read

    def ensure(self, dataset_id: int, keys: Keys) -> Index:
        """Return the ids of groups, in the order of ``keys``; missing groups are created: int64, shape (n,).

        Raises: InputError for an id that no database can hold (a NUL, or too long).
        """
        check_group_keys(keys)
        ids = self._read.groups.ids(dataset_id, keys)
        missing = np.flatnonzero(ids < 0)
        if missing.size and self._session.keep_creators_out():
            self._read.groups.look_again(dataset_id)
            ids = self._read.groups.ids(dataset_id, keys)
            missing = np.flatnonzero(ids < 0)
        if not missing.size:
            return ids
        ids = ids.copy()
        ids[missing] = self._new_groups(dataset_id, keys if missing.size == len(keys) else keys.take(missing))
        return ids

    def _new_groups(self, dataset_id: int, keys: Keys) -> Index:
        """Insert groups, each once even if given several times, and return their ids."""
        last_id = self._session.execute(sa.select(sa.func.coalesce(sa.func.max(schema.groups.c.id), 0))).scalar_one()
        ids = np.arange(last_id + 1, last_id + 1 + len(keys))
        new_ids, new_keys = ids, keys
        hashes = np.sort(keys.hashes())
        if (hashes[1:] == hashes[:-1]).any():
            id_of: dict[bytes, int] = {}
            places = [id_of.setdefault(key, len(id_of)) for key in keys.to_bytes_list()]
            ids, new_ids, new_keys = ids[places], ids[: len(id_of)], Keys.from_bytes(list(id_of))
        self._session.bulk.insert_groups(dataset_id, new_ids, new_keys)
        self._read.groups.add(dataset_id, new_ids, new_keys)
        return ids

    def set_weights(self, dataset_id: int, ids: Index, weights: Floats) -> None:
        """Give groups of a dataset weights (finite, >= 0); NaN removes the weight."""
        if np.isinf(weights).any() or (weights < 0).any():
            raise InputError("a group weight is negative or infinite; weights are finite and at least 0")
        self._read.groups.keys(dataset_id, ids)
        self._session.bulk.set_group_weights(ids, weights)

    def set_attributes(self, dataset_id: int, attributes: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Give groups of a dataset, by id, new attributes in place of their old ones; None removes them."""
        self._read.groups.keys(dataset_id, np.array(list(attributes), dtype=np.int64))
        table = schema.groups
        statement = table.update().where(table.c.id == sa.bindparam("group"))
        statement = statement.values(attributes=sa.bindparam("new", type_=table.c.attributes.type))
        rows = [{"group": key, "new": checked_object("attributes", given)} for key, given in attributes.items()]
        if rows:
            self._session.execute(statement, rows)


class LabelWrites:
    """Writes label sets, each whole or block after block."""

    def __init__(self, session: Session, read: ReadTransaction, groups: GroupWrites, made: Written) -> None:
        self._session = session
        self._read = read
        self._groups = groups
        self._made = made

    def insert(
        self,
        dataset_id: int,
        labels: LabelLists,
        source: str | None = None,
        *,
        judge: str = "",
        created_at_utc: str | None = None,
    ) -> LabelSetRecord:
        """Store labels of a judge as the next version of a dataset's labels and return its record."""
        label_set_id = self.begin(
            dataset_id, source, by_row_number=labels.by_row_number, judge=judge, created_at_utc=created_at_utc
        )
        self.append(label_set_id, dataset_id, labels)
        return self.finish(label_set_id, labels.digest(), labels.n_groups, labels.n_items)

    def begin(
        self,
        dataset_id: int,
        source: str | None = None,
        *,
        by_row_number: bool | None = False,
        judge: str = "",
        created_at_utc: str | None = None,
    ) -> int:
        """Create the next version of a dataset's labels, still empty, and return the id of the label set."""
        self._session.keep_creators_out()
        newest = self._read.labels.newest(dataset_id, None)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "version": 1 if newest is None else newest.version + 1,
            "digest": "",
            "n_groups": 0,
            "n_labels": 0,
            "source": source,
            "by_row_number": by_row_number,
            "judge": judge and checked_name("judge", judge),
            "created_at_utc": checked_time(created_at_utc),
        }
        label_set_id = self._session.insert(schema.label_sets, values)
        self._made.label_sets[label_set_id] = ""
        return label_set_id

    def append(self, label_set_id: int, dataset_id: int, labels: LabelLists) -> None:
        """Add the labels of groups that an unfinished label set does not have yet."""
        self._session.bulk.insert_lists(LABEL_LISTS, label_set_id, _lists(self._groups, dataset_id, labels, "grade"))

    def append_from(self, label_set_id: int, other_id: int) -> None:
        """Copy from another label set the labels of the groups that an unfinished one lacks."""
        table = schema.label_lists
        own = sa.select(table.c.group_id).where(table.c.label_set_id == label_set_id)
        others = sa.select(sa.literal(label_set_id), table.c.group_id, table.c.item_keys, table.c.grades).where(
            table.c.label_set_id == other_id, table.c.group_id.not_in(own)
        )
        names = ["label_set_id", "group_id", "item_keys", "grades"]
        self._session.execute(table.insert().from_select(names, others))

    def finish(self, label_set_id: int, digest: str, n_groups: int, n_labels: int) -> LabelSetRecord:
        """Finish a label set: store its counts and digest, and return its record."""
        table = schema.label_sets
        values = {"digest": digest, "n_groups": n_groups, "n_labels": n_labels}
        self._session.execute(table.update().where(table.c.id == label_set_id).values(values))
        self._made.label_sets[label_set_id] = digest
        return self._session.records(LabelSetRecord, sa.select(table).where(table.c.id == label_set_id))[0]

    def discard(self, label_set_id: int) -> None:
        """Discard an unfinished label set."""
        for table, owner in ((schema.label_lists, "label_set_id"), (schema.label_sets, "id")):
            self._session.execute(table.delete().where(table.c[owner] == label_set_id))
        self._made.label_sets.pop(label_set_id, None)


class RunWrites:
    """Writes runs, each whole or block after block; renames, tags and deletes them."""

    def __init__(self, session: Session, read: ReadTransaction, groups: GroupWrites, made: Written) -> None:
        self._session = session
        self._read = read
        self._groups = groups
        self._made = made
        self._undated: set[int] = set()

    def insert(self, dataset_id: int, name: str, ranking: Ranking, **details: Unpack[RunDetails]) -> RunRecord:
        """Store a run with all its items and return its record; ConflictError where the name is taken."""
        run_id = self.begin(dataset_id, name, **details)
        self.append(run_id, dataset_id, ranking)
        return self.finish(run_id, ranking.digest(), ranking.n_groups, ranking.n_items)

    def begin(self, dataset_id: int, name: str, **details: Unpack[RunDetails]) -> int:
        """Create a run, still without items, and return its id (see ``insert``)."""
        self.check_name_free(dataset_id, name)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "dataset": self._read.datasets.with_id(dataset_id).name,
            "name": name,
            "digest": "",
            "created_at_utc": checked_time(details.get("created_at_utc")),
            "source": details.get("source"),
            "git_commit": checked_commit(details.get("git_commit")),
            "parameters": checked_object("parameters", details.get("parameters") or {}),
            "tags": checked_object("tags", details.get("tags") or {}),
            "n_groups": 0,
            "n_items": 0,
        }
        run_id = self._session.insert(schema.runs, values)
        self._made.runs[run_id] = ""
        if details.get("created_at_utc") is None:
            self._undated.add(run_id)
        return run_id

    def append(self, run_id: int, dataset_id: int, ranking: Ranking) -> None:
        """Add the items of groups that an unfinished run does not have yet."""
        self._session.bulk.insert_lists(RANKED_LISTS, run_id, _lists(self._groups, dataset_id, ranking, "score"))

    def append_missing(self, run_id: int, dataset_id: int, ranking: Ranking) -> None:
        """Add the items of groups that a pruned run has without items; of a sample some have theirs."""
        kept = self._session.bulk.list_group_ids(RANKED_LISTS, run_id)
        if kept.size:
            lacks = ~np.isin(self._groups.ensure(dataset_id, ranking.group_keys), kept)
            ranking = ranking.of_groups(np.flatnonzero(lacks))
        self.append(run_id, dataset_id, ranking)

    def keep_share(self, run_id: int, group_ids: Index, share: float) -> None:
        """Take note that a run has the items of a share of its groups alone; ``group_ids``: of all, ascending."""
        groups, _ = packed(group_ids, np.zeros(group_ids.size))
        row = {"run_id": run_id, "created_at_utc": utc_now(), "summaries_only": False, "packed_group_ids": groups}
        self._session.execute(schema.prunings.insert().values(row | {"kept_share": share}))

    def keep_sums(self, run_id: int) -> None:
        """Take note that of a run sums are stored alone, and nothing of its groups."""
        row = {"run_id": run_id, "created_at_utc": utc_now(), "summaries_only": True, "packed_group_ids": b""}
        self._session.execute(schema.prunings.insert().values(row | {"kept_share": 0.0}))

    def keep_pruning(self, run_id: int, group_ids: Index, pruning: PruningRecord) -> None:
        """Take note that a run came without its items, as another database has it; ``group_ids``: of all, ascending."""
        groups, _ = packed(group_ids, np.zeros(group_ids.size))
        row = {
            "run_id": run_id,
            "created_at_utc": checked_time(pruning.created_at_utc),
            "summaries_only": pruning.summaries_only,
            "packed_group_ids": groups,
            "kept_share": pruning.kept_share,
        }
        self._session.execute(schema.prunings.insert().values(row))

    def finish(self, run_id: int, digest: str, n_groups: int, n_items: int) -> RunRecord:
        """Finish a run: store its counts and digest, and return its record.

        A run without a date has that of now: of two that are stored side by side, the later one is the one that ends
        later.
        """
        self._made.runs[run_id] = digest
        values: dict[str, Any] = {"digest": digest, "n_groups": n_groups, "n_items": n_items}
        if run_id in self._undated:
            values["created_at_utc"] = utc_now()
        return self._updated(run_id, values)

    def check_name_free(self, dataset_id: int, name: str) -> None:
        """Raise ConflictError if another run of the dataset has this name, InputError if the name is not valid."""
        checked_name("run", name)
        taken = self._read.runs.named(dataset_id, name)
        if taken is not None:
            raise ConflictError(
                f"run {name!r} exists already in dataset {taken.dataset!r} (id {taken.id})",
                advice="choose another name",
            )

    def rename(self, run_id: int, name: str) -> RunRecord:
        """Rename a run and return its record; ConflictError if the name is taken."""
        run = self._read.runs.with_id(run_id)
        if run.name == name:
            return run
        self.check_name_free(run.dataset_id, name)
        evaluations = schema.evaluations
        self._session.execute(evaluations.update().where(evaluations.c.run_id == run_id).values(run=name))
        return self._updated(run_id, {"name": name})

    def set_tags(self, run_id: int, tags: Mapping[str, Any]) -> RunRecord:
        """Replace the tags of a run and return its record."""
        self._read.runs.with_id(run_id)
        return self._updated(run_id, {"tags": checked_object("tags", tags)})

    def delete(self, run_id: int) -> RunRecord:
        """Delete a run with its items, evaluations, results and coverages, and return what it was.

        Decisions about it stay, with its name. Raises: ConflictError while an alias points to it.
        """
        run = self._read.runs.with_id(run_id)
        names = [f"@{alias.name}" for alias in self._read.aliases.all(run.dataset) if alias.run_id == run_id]
        if names:
            raise ConflictError(
                f"run {run.name!r} has the alias {', '.join(names)}",
                advice=f"point the alias to another run first, with: ndcg-track alias set {names[0][1:]} RUN",
            )
        of_run = sa.select(schema.evaluations.c.id).where(schema.evaluations.c.run_id == run_id)
        decisions, moves, sums = schema.decisions, schema.alias_moves, schema.paired_sums
        statements = [
            schema.group_results.delete().where(schema.group_results.c.evaluation_id.in_(of_run)),
            sums.delete().where(sums.c.evaluation_id.in_(of_run) | (sums.c.baseline_run_id == run_id)),
            schema.evaluations.delete().where(schema.evaluations.c.run_id == run_id),
            schema.coverages.delete().where(schema.coverages.c.run_id == run_id),
            schema.ranked_lists.delete().where(schema.ranked_lists.c.run_id == run_id),
            schema.prunings.delete().where(schema.prunings.c.run_id == run_id),
            decisions.update().where(decisions.c.baseline_run_id == run_id).values(baseline_run_id=None),
            decisions.update().where(decisions.c.candidate_run_id == run_id).values(candidate_run_id=None),
            moves.update().where(moves.c.run_id == run_id).values(run_id=None),
            schema.runs.delete().where(schema.runs.c.id == run_id),
        ]
        for statement in statements:
            self._session.execute(statement)
        self._made.runs.pop(run_id, None)
        return run

    def prune(self, run_id: int, *, summaries_only: bool) -> None:
        """Delete the items of a run and, with ``summaries_only``, its group results; its means and groups stay."""
        lists, results, evaluations = schema.ranked_lists, schema.group_results, schema.evaluations
        groups, _ = packed(ids := self._read.runs.group_ids(run_id), np.zeros(ids.size))
        before = self._read.runs.prunings(run_id).get(run_id)
        of_run = evaluations.c.run_id == run_id
        row = {
            "run_id": run_id,
            "created_at_utc": utc_now(),
            "summaries_only": summaries_only or (before is not None and before.summaries_only),
            "packed_group_ids": groups,
        }
        statements: list[Any] = [
            schema.prunings.delete().where(schema.prunings.c.run_id == run_id),
            schema.prunings.insert().values(row),
            lists.delete().where(lists.c.run_id == run_id),
        ]
        if summaries_only:
            ids_of_run = sa.select(evaluations.c.id).where(of_run)
            statements += [
                results.delete().where(results.c.evaluation_id.in_(ids_of_run)),
                evaluations.update().where(of_run).values(packed_group_ids=b"", packed_values=b""),
            ]
        for statement in statements:
            self._session.execute(statement)

    def restored(self, run_id: int, digest: str) -> None:
        """Take note that a pruned run has its items again, and that its group results are to be complete at the end."""
        self._session.execute(schema.prunings.delete().where(schema.prunings.c.run_id == run_id))
        self._made.runs[run_id] = digest

    def _updated(self, run_id: int, values: Mapping[str, Any]) -> RunRecord:
        self._session.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))
        return self._read.runs.with_id(run_id)


class EvaluationWrites:
    """Writes evaluations: the mean of a metric and the result of every group; and how much of a run is judged."""

    def __init__(self, session: Session, made: Written) -> None:
        self._session = session
        self._made = made

    def insert(
        self,
        run_id: int,
        label_set_id: int,
        metric: str,
        *,
        mean: float | None,
        tie_bounds: tuple[float | None, float | None] = (None, None),
        n_groups: int,
        n_missing: int,
        n_undefined: int,
        group_ids: Index,
        values: Floats,
        dcg: Floats | None = None,
        ideal_dcg: Floats | None = None,
        reasons: Sequence[str | None] | None = None,
        requested_as: str | None = None,
        std_dev: float | None = None,
        created_at_utc: str | None = None,
    ) -> int:
        """Store a run's results under a label set and a metric and return the evaluation's id.

        Parameters: ``metric``, its canonical text. ``mean``: None (or NaN) where no group has a value.
        ``tie_bounds``: the mean with all ties broken for the worst, and for the best. ``group_ids``: int64, shape (n,),
        distinct. ``values``, ``dcg``, ``ideal_dcg``: float64, shape (n,), NaN where undefined. ``reasons``: shape
        (n,), why the value of each undefined group is undefined; None for the others. ``requested_as``: the text that
        the metric was requested as, if not its canonical one. ``std_dev``: of the values, where these are not given.
        ``created_at_utc``: when they were first stored, None for now.
        Raises: ConflictError if the evaluation exists, InputError for an undefined value without a reason or an
        infinite one.
        """
        metric_id = self._metric_id(metric)
        table = schema.evaluations
        key = (table.c.run_id == run_id, table.c.label_set_id == label_set_id, table.c.metric_id == metric_id)
        if self._session.rows(sa.select(table.c.id).where(*key)):
            raise ConflictError(f"run {run_id} has {metric} under label set {label_set_id} already")
        if mean is not None and math.isinf(mean):
            raise InputError(f"{metric} of run {run_id} has an infinite value; only finite numbers are stored")
        rows = _result_rows(f"{metric} of run {run_id}", group_ids, values, dcg, ideal_dcg, reasons)
        row = {
            "run_id": run_id,
            "label_set_id": label_set_id,
            "metric_id": metric_id,
            "mean": None if mean is None or math.isnan(mean) else float(mean),
            "worst_mean": tie_bounds[0],
            "best_mean": tie_bounds[1],
            "std_dev": sample_std_dev(rows.values[~np.isnan(rows.values)]) if std_dev is None else std_dev,
            "n_groups": n_groups,
            "n_missing": n_missing,
            "n_undefined": n_undefined,
            "created_at_utc": checked_time(created_at_utc),
            "requested_as": None if requested_as == metric else requested_as,
            "metric": metric,
            **self._names(run_id, label_set_id),
        }
        evaluation_id = self._session.insert(table, row)
        self._made.evaluation_ids.add(evaluation_id)
        self._session.bulk.insert_results(evaluation_id, rows)
        return evaluation_id

    def delete(self, evaluation_id: int) -> None:
        """Delete an evaluation with the results of its groups."""
        sums = schema.paired_sums.c.evaluation_id
        for column in (schema.group_results.c.evaluation_id, sums, schema.evaluations.c.id):
            self._session.execute(column.table.delete().where(column == evaluation_id))
        self._made.evaluation_ids.discard(evaluation_id)

    def insert_sums(self, evaluation_id: int, record: PairedSumsRecord, created_at_utc: str | None = None) -> None:
        """Store the sums of the differences of an evaluation's groups to a baseline."""
        whole = record.whole
        slices = [{"slice": value, **sums.to_dict()} for value, sums in record.slices.items()]
        details = {
            "attribute": record.attribute,
            "slices": slices,
            "cluster": record.cluster,
            "clusters": whole.to_dict()["clusters"],
        }
        row = {
            "evaluation_id": evaluation_id,
            "baseline_run_id": record.baseline_run_id,
            "n_groups": whole.differences.n,
            "baseline_mean": whole.baseline_mean,
            "delta": whole.differences.mean,
            "m2": whole.differences.m2,
            "m3": whole.differences.m3,
            "wins": whole.differences.wins,
            "losses": whole.differences.losses,
            "only_in_baseline": whole.only_in_baseline,
            "only_in_candidate": whole.only_in_candidate,
            "n_undefined": whole.undefined,
            "details": checked_object("sums", details),
            "created_at_utc": checked_time(created_at_utc),
        }
        self._session.execute(schema.paired_sums.insert(), row)

    def refill(
        self,
        evaluation_id: int,
        *,
        group_ids: Index,
        values: Floats,
        dcg: Floats | None = None,
        ideal_dcg: Floats | None = None,
        reasons: Sequence[str | None] | None = None,
    ) -> None:
        """Give an evaluation whose group results were pruned its results again (see ``insert``); its mean stays."""
        rows = _result_rows(f"evaluation {evaluation_id}", group_ids, values, dcg, ideal_dcg, reasons)
        self._made.evaluation_ids.add(evaluation_id)
        self._session.bulk.insert_results(evaluation_id, rows)

    def insert_coverage(self, run_id: int, label_set_id: int, cutoff: int | None, judged_share: float) -> None:
        """Store which share of a run's top ``cutoff`` (None or 0: of all) has a label; a stored one is replaced."""
        statement = sa.text(
            "INSERT INTO coverages (run_id, label_set_id, cutoff, judged_share) VALUES (:run, :labels, :cutoff, "
            ":share) ON CONFLICT (run_id, label_set_id, cutoff) DO UPDATE SET judged_share = excluded.judged_share"
        )
        values = {"run": run_id, "labels": label_set_id, "cutoff": cutoff or 0, "share": float(judged_share)}
        self._session.execute(statement, values)

    def set_means(
        self, evaluation_id: int, mean: float | None, tie_bounds: tuple[float | None, float | None] = (None, None)
    ) -> None:
        """Replace the mean of an evaluation, and its means with ties broken for the worst and the best.

        For changed weights of groups; the results of the groups stay. Parameters: None for no mean. Raises:
        ReferenceNotFoundError if the evaluation does not exist.
        """
        table = schema.evaluations
        values = dict(zip(("mean", "worst_mean", "best_mean"), map(_finite_or_none, (mean, *tie_bounds)), strict=True))
        changed = self._session.execute(table.update().where(table.c.id == evaluation_id).values(values))
        if not changed.rowcount:
            raise ReferenceNotFoundError(
                f"no evaluation with id {evaluation_id}", advice="list those of a run with: ndcg-track runs show RUN"
            )

    def _names(self, run_id: int, label_set_id: int) -> dict[str, Any]:
        """Return what an evaluation repeats of its run and its label set, so that the views need no other table."""
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

    def _metric_id(self, text: str) -> int:
        table = schema.metrics
        query = sa.select(table.c.id).where(table.c.text == text)
        found = self._session.rows(query)
        if not found and self._session.keep_creators_out():
            found = self._session.rows(query)
        return int(found[0][0]) if found else self._session.insert(table, {"text": text})


class SuiteWrites:
    """Writes suites."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        self._session = session
        self._read = read

    def create(
        self, name: str, datasets: Sequence[str], *, replace: bool, created_at_utc: str | None = None
    ) -> SuiteRecord:
        """Make a suite of datasets (ConflictError where its name has other ones, unless ``replace``)."""
        checked_name("suite", name)
        known = {suite.name: suite for suite in self._read.suites.all()}.get(name)
        if known is not None:
            if known.datasets == tuple(datasets):
                return known
            if not replace:
                raise ConflictError(
                    f"suite {name!r} has other datasets: {', '.join(known.datasets)}",
                    advice=f"give {argument('replace', True)} for these ones instead",
                )
            self.delete(name)
        ids = [self._read.datasets.known(dataset).id for dataset in datasets]
        table, now = schema.suite_datasets, checked_time(created_at_utc)
        rows = [
            {"suite": name, "dataset_id": dataset_id, "place": place, "created_at_utc": now}
            for place, dataset_id in enumerate(ids)
        ]
        self._session.execute(table.insert(), rows)
        return SuiteRecord(name, tuple(datasets), now)

    def delete(self, name: str) -> SuiteRecord:
        """Delete a suite and return what it was (ReferenceNotFoundError if there is none); its datasets stay."""
        found = self._read.suites.known(name)
        table = schema.suite_datasets
        self._session.execute(table.delete().where(table.c.suite == name))
        return found


class AliasWrites:
    """Writes aliases."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        self._session = session
        self._read = read

    def set(self, dataset_id: int, name: str, run_id: int) -> AliasRecord:
        """Point an alias, created if missing, at a run of the same dataset and return its record."""
        checked_name("alias", name)
        run = self._read.runs.with_id(run_id)
        if run.dataset_id != dataset_id:
            raise ConflictError(f"run {run.name!r} is of dataset {run.dataset!r}; an alias stays within its dataset")
        table, now = schema.aliases, utc_now()
        key = (table.c.dataset_id == dataset_id, table.c.name == name)
        before = self._session.execute(sa.select(table.c.run_id).where(*key)).scalar()
        changed = self._session.execute(table.update().where(*key).values(run_id=run_id, updated_at_utc=now))
        if not changed.rowcount:
            row = {"dataset_id": dataset_id, "name": name, "run_id": run_id, "created_at_utc": now}
            self._session.execute(table.insert(), {**row, "updated_at_utc": now})
        if before != run_id:
            self._moved(dataset_id, name, run_id, run.name)
        return next(alias for alias in self._read.aliases.all(run.dataset) if alias.name == name)

    def take_over(self, moves: Sequence[AliasMoveRecord], alias: AliasRecord | None, named: tuple[int, str]) -> None:
        """Store moves of an alias, and where it stands after them, as another database has them; None: it is deleted.

        Parameters: ``named``: its dataset and its name.
        """
        table, history = schema.aliases, schema.alias_moves
        for one in moves:
            row = {"dataset_id": one.dataset_id, "alias": checked_name("alias", one.alias), "run_id": one.run_id}
            self._session.execute(
                history.insert(), row | {"run": one.run, "created_at_utc": checked_time(one.created_at_utc)}
            )
        key = (table.c.dataset_id == named[0], table.c.name == named[1])
        self._session.execute(table.delete().where(*key))
        if alias is not None:
            row = {"dataset_id": alias.dataset_id, "name": checked_name("alias", alias.name), "run_id": alias.run_id}
            times = {name: checked_time(getattr(alias, name)) for name in ("created_at_utc", "updated_at_utc")}
            self._session.execute(table.insert(), row | times)

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


class DecisionWrites:
    """Writes the decisions of gates."""

    def __init__(self, session: Session, read: ReadTransaction, made: Written) -> None:
        self._session = session
        self._read = read
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
    ) -> DecisionRecord:
        """Store the decision of a gate (``pass``, ``fail`` or ``inconclusive``) and return its record."""
        numbers = {"margin": margin, "delta": delta, "ci_low": ci[0], "ci_high": ci[1], "alpha": alpha}
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "baseline_run_id": baseline_run_id,
            "candidate_run_id": candidate_run_id,
            "baseline_run": self._read.runs.with_id(baseline_run_id).name,
            "candidate_run": self._read.runs.with_id(candidate_run_id).name,
            "baseline_alias": baseline_alias,
            "metric": metric,
            "label_set_id": label_set_id,
            "scope": scope,
            **{name: _finite_or_none(number) for name, number in numbers.items()},
            "decision": decision,
            "reason": reason,
            "acknowledged_reason": acknowledged_reason,
            "acknowledged_by": acknowledged_by,
            "created_at_utc": utc_now(),
        }
        record = DecisionRecord(id=self._session.insert(schema.decisions, values), **values)
        self._made.decision_ids.add(record.id)
        return record

    def take_over(self, values: Mapping[str, Any]) -> None:
        """Store a decision that another database has, given by columns."""
        self._made.decision_ids.add(self._session.insert(schema.decisions, values))

    def insert_on_suite(self, *, created_at_utc: str | None = None, **values: Any) -> SuiteDecisionRecord:
        """Store the decision of a gate on a suite, given by columns, and return its record."""
        numbers = {name: _finite_or_none(values[name]) for name in ("delta", "ci_low", "ci_high", "alpha")}
        row = {**values, **numbers, "created_at_utc": checked_time(created_at_utc)}
        return SuiteDecisionRecord(id=self._session.insert(schema.suite_decisions, row), **row)


class TextWrites:
    """Writes the texts of groups and items."""

    def __init__(self, session: Session, made: Written) -> None:
        self._session = session
        self._made = made

    def set(self, dataset_id: int, texts: Sequence[TextRecord], columns: Sequence[str]) -> None:
        """Give groups and items of a dataset texts; what the records do not name stays.

        Parameters: ``columns``: which of text, title and url to set; None takes one away.
        """
        named = ", ".join(f"{name} = excluded.{name}" for name in columns)
        self._insert(dataset_id, texts, f"DO UPDATE SET {named}")
        table = schema.texts
        nothing = (table.c[name].is_(None) for name in _TEXT_COLUMNS)
        self._session.execute(table.delete().where(table.c.dataset_id == dataset_id, *nothing))

    def add(self, dataset_id: int, texts: Sequence[TextRecord]) -> None:
        """Store texts; groups and items that have some already keep theirs."""
        self._insert(dataset_id, texts, "DO NOTHING")

    def delete(self, dataset_id: int, group_id: int | None = None) -> int:
        """Delete the texts of a dataset, or those of one of its groups alone, and return how many there were."""
        table = schema.texts
        chosen = () if group_id is None else (table.c.group_id == group_id,)
        return self._session.execute(table.delete().where(table.c.dataset_id == dataset_id, *chosen)).rowcount

    def _insert(self, dataset_id: int, texts: Sequence[TextRecord], on_conflict: str) -> None:
        check_group_keys(Keys.from_strings(one.item_key for one in texts), "item")
        if any("\0" in (getattr(one, name) or "") for one in texts for name in _TEXT_COLUMNS):
            raise InputError("a text contains a NUL character, which no database keeps", advice="remove it")
        names = ("dataset_id", "group_id", "item_key", *_TEXT_COLUMNS)
        values = ", ".join(f":{name}" for name in names)
        statement = sa.text(
            f"INSERT INTO texts ({', '.join(names)}) VALUES ({values}) "
            f"ON CONFLICT (dataset_id, group_id, item_key) {on_conflict}"
        )
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[first : first + _TEXTS_AT_ONCE]
            rows = [{name: getattr(one, name) for name in names[1:]} | {"dataset_id": dataset_id} for one in some]
            self._session.execute(statement, rows)
        if texts:
            self._made.text_dataset_ids.add(dataset_id)


def _result_rows(
    what: str,
    group_ids: Index,
    values: Floats,
    dcg: Floats | None,
    ideal_dcg: Floats | None,
    reasons: Sequence[str | None] | None,
) -> ResultRows:
    """Return group results in the order of their groups (InputError for what cannot be stored)."""
    order = np.argsort(group_ids, kind="stable")
    nothing = np.full(values.size, np.nan)
    value, gain, ideal = ((nothing if one is None else one)[order] for one in (values, dcg, ideal_dcg))
    if any(np.isinf(one).any() for one in (value, gain, ideal)):
        raise InputError(f"{what} has an infinite value; only finite numbers are stored")
    undefined = order[np.isnan(value)].tolist()
    why = [reasons[row] if reasons is not None else None for row in undefined]
    known = [reason for reason in why if reason]
    if len(known) != len(why):
        raise InputError(f"{what} has an undefined value without a reason")
    return ResultRows(group_ids[order], value, gain, ideal, known)


def _lists(groups: GroupWrites, dataset_id: int, items: GroupedItems, number: str) -> Lists:
    if not np.isfinite(items.numbers).all():
        raise InputError(f"a {number} is not a finite number; only finite numbers are stored")
    if has_nul(items.item_keys):
        raise InputError("an item id contains a NUL character, which no database keeps", advice="remove it")
    return Lists(groups.ensure(dataset_id, items.group_keys), items.offsets, items.item_keys, items.numbers)


def _finite_or_none(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
