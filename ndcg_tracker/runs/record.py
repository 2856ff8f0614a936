"""Export and import what people did with runs: aliases and their moves, decisions of gates, suites, designs.

None of it is content of a run or can be recomputed, so an import takes it unchanged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, MetricError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.runs.designs import GREATEST_GRADE, LARGEST_BUDGET, MOST_LOOKS
from ndcg_tracker.storage.checks import checked_time
from ndcg_tracker.storage.records import (
    AliasMoveRecord,
    AliasRecord,
    DecisionRecord,
    DesignRecord,
    DesignRunRecord,
)
from ndcg_tracker.words.notes import Fact, Note

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.runs.export_files import Column, ExportReader, ExportWriter, Row
    from ndcg_tracker.storage.records import (
        DatasetRecord,
        LabelSetRecord,
        RunRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction

_SIDES = ("baseline_run_id", "candidate_run_id")


_OF_ITEM = ("probability", "grade", "answered_at_utc")
_ItemFacts = tuple[float | None, float | None, str | None]


@dataclass(frozen=True, slots=True)
class _Design:
    """A design with its items by group and id: probability (None if stored separately), grade, and its time."""

    record: DesignRecord
    items: dict[tuple[str, str], _ItemFacts]

    def goes_on_from(self, other: _Design) -> bool:
        """Return whether it is the same design as another one, and has everything that the other has."""
        of, before = self.record, other.record
        if self._plan != other._plan or of.budget < before.budget or before.checked_by not in (None, of.checked_by):
            return False
        for pair, (probability, *answer) in other.items.items():
            now, *answer_now = self.items.get(pair, (0.0, None, None))
            if (probability or 0.0) > (now or 0.0) or (answer[0] is not None and answer != answer_now):
                return False
        return other.items.keys() <= self.items.keys()

    @property
    def _plan(self) -> tuple[object, ...]:
        of = self.record
        names = [run.run for run in of.runs]
        plan = of.label_set_id, of.metric, of.seed, of.created_at_utc, of.n_looks, of.not_tuned, of.greatest_grade
        return of.number, names, plan


def _go_on_from(designs: Sequence[_Design], others: Sequence[_Design]) -> bool:
    """Return whether the designs of a dataset are those of another database, perhaps continued."""
    is_longer = len(designs) >= len(others)
    return is_longer and all(design.goes_on_from(other) for design, other in zip(designs, others, strict=False))


def _designs_of(tx: ReadTransaction, dataset_id: int) -> list[_Design]:
    """Return the designs of a dataset by number."""
    designs = []
    for record in tx.designs.all(dataset_id):
        items, apart = tx.designs.items(record.id), tx.designs.kept_apart(record.id)
        ids = np.array([*(item.group_id for item in items), *(item.group_id for item in apart)], dtype=np.int64)
        names = [*(item.item_key for item in items), *(item.item_key for item in apart)]
        facts: list[_ItemFacts] = [(item.probability, item.grade, item.answered_at_utc) for item in items]
        facts += [(None, item.grade, item.answered_at_utc) for item in apart]
        pairs = zip(tx.groups.keys(dataset_id, ids).to_list(), names, strict=True)
        designs.append(_Design(record, dict(zip(pairs, facts, strict=True))))
    return designs


def _run_ids(decision: DecisionRecord) -> set[int | None]:
    """Return the runs that a decision is based on."""
    if decision.repeats is None:
        return {decision.baseline_run_id, decision.candidate_run_id}
    return {run_id for of_side in decision.repeats.values() for run_id in of_side}


class ExportedRecord:
    """The record of some runs: everything that concerns only these runs, and everything for complete datasets.

    ``label_set_ids``: the labels that its decisions are based on.
    """

    def __init__(self, tx: ReadTransaction, runs: Sequence[RunRecord], datasets: Sequence[DatasetRecord]) -> None:
        self._tx = tx
        self._names = {run.id: run.name for run in runs}
        self._whole = {dataset.id for dataset in datasets}
        named = {run.dataset_id: run.dataset for run in runs} | {dataset.id: dataset.name for dataset in datasets}
        self._datasets = [dataset for dataset in tx.datasets.all() if dataset.id in named]
        self._decisions = [
            decision
            for dataset in self._datasets
            for decision in tx.decisions.all(dataset.id)
            if dataset.id in self._whole or _run_ids(decision) <= self._names.keys()
        ]
        self.label_set_ids = {decision.label_set_id for decision in self._decisions}

    def write(self, writer: ExportWriter) -> None:
        """Write the record."""
        names = {dataset.id: dataset.name for dataset in self._datasets}
        whole = {dataset.name for dataset in self._datasets if dataset.id in self._whole}
        for dataset in self._datasets:
            writer.add("datasets", {"dataset": dataset.name}, records=[dataset])
        for dataset in self._datasets:
            self._write_aliases(dataset, writer)
        versions = {
            label_set.id: label_set.version
            for dataset_id in names
            for label_set in self._tx.labels.sets(dataset_id, None)
        }
        for decision in self._decisions:
            columns: dict[str, Column] = {
                "dataset": names[decision.dataset_id],
                "present_baseline": self._names.get(decision.baseline_run_id or 0),
                "present_candidate": self._names.get(decision.candidate_run_id or 0),
                "label_set_version": versions[decision.label_set_id],
                "repeats": [None if decision.repeats is None else self._named(decision.repeats)],
                "baseline_lists": [decision.baseline_lists],
            }
            writer.add("decisions", columns, records=[decision])
        times = {decision.id: decision.created_at_utc for decision in self._decisions}
        for reset in self._tx.decisions.resets():
            if reset.dataset_id in self._whole and (until := times.get(reset.after_decision_id)) is not None:
                of_reset: dict[str, Column] = {"dataset": names[reset.dataset_id], "covered_until_utc": until}
                writer.add("budget_resets", of_reset | {"baseline_lists": [reset.baseline_lists]}, records=[reset])
        for policy in self._tx.aliases.policies():
            if policy.dataset_id in self._whole:
                writer.add("policies", {"rules": [policy.rules]}, records=[policy])
        for suite in self._tx.suites.all():  # suites whose datasets are all exported completely
            if whole.issuperset(suite.datasets):
                places: dict[str, Column] = {"dataset": list(suite.datasets), "place": range(len(suite.datasets))}
                facts = {"suite": suite.name, "created_at_utc": suite.created_at_utc}
                writer.add("suites", places | facts, len(suite.datasets))
        for on_suite in self._tx.decisions.on_suite(None):
            if whole.issuperset(on_suite.runs):
                runs = {
                    dataset: of
                    | {side: self._names.get(of.get(side) or 0) for side in _SIDES}
                    | ({"repeats": self._named(of["repeats"])} if "repeats" in of else {})
                    for dataset, of in on_suite.runs.items()
                }
                writer.add("suite_decisions", {"runs": [runs]}, records=[on_suite])
        for dataset in self._datasets:  # the designs of a dataset are one history, so all or none
            for design in _designs_of(self._tx, dataset.id) if dataset.id in self._whole else ():
                self._write_design(dataset, design, writer)

    def _named(self, repeats: Mapping[str, Sequence[int]]) -> dict[str, list[str | None]]:
        """Return the names of the runs of arms by side, None for runs that are not exported."""
        return {side: [self._names.get(run_id) for run_id in repeats.get(side, ())] for side in _SIDES}

    def _write_design(self, dataset: DatasetRecord, design: _Design, writer: ExportWriter) -> None:
        of = design.record
        owner: dict[str, Column] = {"dataset": dataset.name, "design": of.number}
        sets = self._tx.labels.sets(dataset.id, None)
        runs_before = [run for run in self._tx.runs.all(dataset.name) if run.id <= (of.answered_after_run_id or 0)]
        sets_before = [one for one in sets if one.id <= (of.answered_after_label_set_id or 0)]
        is_answered = of.answered_after_run_id is not None
        columns: dict[str, Column] = {
            **owner,
            "label_set_version": next(one.version for one in sets if one.id == of.label_set_id),
            "n_runs_before": len(runs_before) if is_answered else None,
            "n_label_sets_before": len(sets_before) if is_answered else None,
        }
        writer.add("designs", columns, records=[of])
        for run in of.runs:
            writer.add("design_runs", {**owner, "present_run": self._names.get(run.run_id or 0)}, records=[run])
        groups, items = (Keys.from_strings(keys) for keys in zip(*design.items, strict=True))
        facts = dict(zip(_OF_ITEM, zip(*design.items.values(), strict=True), strict=True))
        writer.add("drawn_items", {**owner, "group_key": groups, "item_key": items, **facts}, len(design.items))

    def _write_aliases(self, dataset: DatasetRecord, writer: ExportWriter) -> None:
        aliases = [alias for alias in self._tx.aliases.all(dataset.name) if alias.run_id in self._names]
        names = [alias.name for alias in aliases]
        writer.add("aliases", {"alias": names, "budget": None, "looks": None}, len(aliases), aliases)
        for move in self._tx.aliases.moves(dataset.id):
            if dataset.id in self._whole or move.alias in names:
                present = self._names.get(move.run_id or 0)
                writer.add("alias_moves", {"dataset": dataset.name, "present_run": present}, records=[move])


class BroughtRecord:
    """The record in an export, to be added to the record here.

    ``datasets``: by their names in the export. ``label_set_of``: the label set that a row names. ``runs``: the runs of
    the export, in its order.
    """

    def __init__(
        self,
        tx: WriteTransaction,
        reader: ExportReader,
        datasets: dict[str, DatasetRecord],
        label_set_of: Callable[[Row], LabelSetRecord],
        runs: Sequence[Row],
    ) -> None:
        self._tx = tx
        self._reader = reader
        self._datasets = datasets
        self._label_set_of = label_set_of
        self._runs = runs

    def store(self) -> tuple[tuple[int, int, int], list[Note]]:
        """Store what is not here yet; return how many aliases, decisions and designs were stored, and notes."""
        n_aliases, notes = self._aliases()
        self._policies()
        n_decisions = self._decisions()
        notes += self._suites()
        n_designs, further = self._designs()
        return (n_aliases, n_decisions + self._suite_decisions(), n_designs), notes + further

    def _aliases(self) -> tuple[int, list[Note]]:
        """Store aliases and their moves; an alias with other moves here stays unchanged."""
        n_new, notes = 0, []
        rows, moves = self._rows("aliases"), self._rows("alias_moves")
        for name, dataset in self._datasets.items():
            here = {stored.name: stored for stored in self._tx.aliases.all(dataset.name)}
            moved_here = self._tx.aliases.moves(dataset.id)
            there = {row["alias"]: row for row in rows if row["dataset"] == name}
            moved_there = [self._move(row, dataset) for row in moves if row["dataset"] == name]
            for alias in dict.fromkeys([*there, *(move.alias for move in moved_there)]):
                before = [(move.run, move.created_at_utc) for move in moved_here if move.alias == alias]
                brought = [move for move in moved_there if move.alias == alias]
                came = [(move.run, move.created_at_utc) for move in brought]
                target = self._alias(there[alias], dataset) if alias in there else None
                present = here.get(alias)
                is_same = present is not None and target is not None and present.run_id == target.run_id
                is_ahead = bool(came) and len(before) > len(came) and before[: len(came)] == came
                if is_ahead or (before == came and (is_same or (present is None and target is None))):
                    continue
                is_behind = bool(before) and before != came and came[: len(before)] == before
                if is_behind or (present is None and not before):
                    self._tx.write.aliases.take_over(brought[len(before) :], target, (dataset.id, alias))
                    n_new += 1
                elif not is_same:
                    facts: dict[str, Fact] = {"alias": alias, "dataset": dataset.name}
                    facts |= {"here": None if present is None else present.run}
                    facts |= {"there": None if target is None else target.run}
                    notes.append(Note("alias_kept", facts))
        return n_new, notes

    def _move(self, row: Row, dataset: DatasetRecord) -> AliasMoveRecord:
        run_id = self._run_id(row["present_run"], dataset)
        return AliasMoveRecord(dataset.id, row["alias"], run_id, row["run"], row["created_at_utc"])

    def _alias(self, row: Row, dataset: DatasetRecord) -> AliasRecord:
        run_id = self._run_id(row["run"], dataset)
        if run_id is None:
            raise self._reader.error("aliases", f"points @{row['alias']} at run {row['run']!r}, which is not there")
        times = row["created_at_utc"], row["updated_at_utc"]
        return AliasRecord(dataset.id, dataset.name, row["alias"], run_id, row["run"], *times)

    def _policies(self) -> None:
        """Store the policies that are not here yet, and the budgets that aliases had in older versions."""
        here = {(policy.dataset_id, policy.alias, policy.set_at_utc) for policy in self._tx.aliases.policies()}
        brought = [(row, self._reader.facts("policies", row["rules"])) for row in self._rows("policies")]
        for row in self._rows("aliases"):
            if row["budget"] is not None:
                shared = {"budget": row["budget"]} | ({} if row["looks"] is None else {"looks": row["looks"]})
                brought.append((row | {"set_by": "unknown", "set_at_utc": row["updated_at_utc"]}, shared))
        for row, rules in brought:
            dataset = self._datasets[row["dataset"]]
            if (dataset.id, row["alias"], row["set_at_utc"]) not in here:
                self._tx.write.aliases.set_policy(dataset.id, row["alias"], rules, row["set_by"], row["set_at_utc"])

    def _decisions(self) -> int:
        keys = {
            (name, decision.created_at_utc, decision.baseline_run, decision.candidate_run, decision.metric)
            for name, dataset in self._datasets.items()
            for decision in self._tx.decisions.all(dataset.id)
        }
        key = ("dataset", "created_at_utc", "baseline_run", "candidate_run", "metric")
        for row in (new := self._new_decisions("decisions", key, keys)):
            dataset = self._datasets[row["dataset"]]
            ids = {
                "dataset_id": dataset.id,
                "baseline_run_id": self._run_id(row["present_baseline"], dataset),
                "candidate_run_id": self._run_id(row["present_candidate"], dataset),
                "label_set_id": self._label_set_of(row).id,
                "repeats": self._repeats("decisions", row["repeats"], dataset),
                "baseline_lists": self._lists_of_look(row),
            }
            there = ("dataset", "present_baseline", "present_candidate", "label_set_version")
            self._tx.write.decisions.take_over({name: row[name] for name in row if name not in there} | ids)
        self._resets()
        return len(new)

    def _resets(self) -> None:
        """Store resets of budgets; each covers the decisions up to the same time here."""
        here = {(reset.dataset_id, reset.created_at_utc) for reset in self._tx.decisions.resets()}
        for row in self._rows("budget_resets"):
            dataset = self._datasets[row["dataset"]]
            made, until = (self._time("budget_resets", row[name]) for name in ("created_at_utc", "covered_until_utc"))
            covered = [of.id for of in self._tx.decisions.all(dataset.id) if of.created_at_utc <= until]
            if (dataset.id, made) not in here and covered:
                facts = row["alias"], row["baseline_run"], row["reason"], row["reset_by"]
                self._tx.write.aliases.restart(dataset.id, *facts, created_at_utc=made, after=max(covered))

    def _suites(self) -> list[Note]:
        notes = []
        rows = self._rows("suites")
        for suite in dict.fromkeys(row["suite"] for row in rows):
            of_suite = sorted((row for row in rows if row["suite"] == suite), key=lambda row: int(row["place"] or 0))
            datasets = [self._datasets[row["dataset"]].name for row in of_suite]
            made = self._time("suites", of_suite[0]["created_at_utc"])
            try:
                self._tx.write.suites.create(suite, datasets, replace=False, created_at_utc=made)
            except ConflictError:
                notes.append(Note("suite_kept", {"suite": suite, "datasets": datasets}))
        return notes

    def _suite_decisions(self) -> int:
        decisions = self._tx.decisions.on_suite(None)
        keys = {
            (decision.created_at_utc, decision.baseline, decision.candidate, decision.metric) for decision in decisions
        }
        key = ("created_at_utc", "baseline", "candidate", "metric")
        for row in (new := self._new_decisions("suite_decisions", key, keys)):
            self._tx.write.decisions.insert_on_suite(
                **row | {"runs": self._runs_of_suite(row["runs"]), "judge": row["judge"] or ""}
            )
        return len(new)

    def _designs(self) -> tuple[int, list[Note]]:
        """Store designs, and further steps of designs here, if all designs of a dataset continue those here."""
        n_new, notes = 0, []
        designs_of = self._brought_designs()
        for name, dataset in self._datasets.items():
            here, there = _designs_of(self._tx, dataset.id), designs_of[name]
            if _go_on_from(here, there):
                continue
            if not _go_on_from(there, here):
                both = zip(here, there, strict=False)
                other = next(
                    (one.record.number for one, brought in both if not brought.goes_on_from(one)), len(there) + 1
                )
                notes.append(Note("designs_kept", {"design": other, "dataset": dataset.name}))
                continue
            for place, design in enumerate(there):
                if place >= len(here) or not here[place].goes_on_from(design):
                    keys = Keys.from_strings(group for group, _ in design.items)
                    ids = self._tx.write.groups.ensure(dataset.id, keys).tolist()
                    rows = [
                        {"group_id": group_id, "item_key": item, **dict(zip(_OF_ITEM, facts, strict=True))}
                        for group_id, ((_, item), facts) in zip(ids, design.items.items(), strict=True)
                    ]
                    self._tx.write.designs.take_over(design.record, rows)
                    n_new += 1
        return n_new, notes

    def _brought_designs(self) -> dict[str, list[_Design]]:
        """Return the designs of an export by dataset (InputError for an impossible one)."""
        designs: dict[str, list[_Design]] = {name: [] for name in self._datasets}
        rows, runs, items = (
            [(row["dataset"], row["design"], row) for row in self._rows(table)]
            for table in ("designs", "design_runs", "drawn_items")
        )
        runs_of: dict[tuple[str, int], list[DesignRunRecord]] = {(name, number): [] for name, number, _ in rows}
        items_of: dict[tuple[str, int], dict[tuple[str, str], _ItemFacts]] = {of: {} for of in runs_of}
        for table, owned in (("design_runs", runs), ("drawn_items", items)):
            lost = next((number for name, number, _ in owned if (name, number) not in runs_of), None)
            if lost is not None:
                raise self._reader.error(table, f"names design {lost}, which is not there")
        for name, number, row in runs:
            run_id = self._run_id(row["present_run"], self._datasets[name])
            runs_of[name, number].append(DesignRunRecord(run_id, row["run"]))
        for name, number, row in items:
            facts = tuple(row[column] for column in _OF_ITEM)
            if not _can_be(*facts) or (row["group_key"], row["item_key"]) in items_of[name, number]:
                raise self._reader.error("drawn_items", f"has an item of design {number} that cannot be")
            if facts[2] is not None:
                self._time("drawn_items", facts[2])
            items_of[name, number][row["group_key"], row["item_key"]] = facts
        for name, number, row in rows:
            design = self._design(row, runs_of[name, number])
            if number != len(designs[name]) + 1 or design is None:
                raise self._reader.error("designs", f"has a design {number} that cannot be")
            designs[name].append(_Design(design, items_of[name, number]))
        return designs

    def _design(self, row: Row, runs: Sequence[DesignRunRecord]) -> DesignRecord | None:
        """Return a design with its ids here, None for an impossible one."""
        dataset, metric = self._datasets[row["dataset"]], known_metric(self._reader, "designs", row["metric"])
        of_dataset = [run["run"] for run in self._runs if run["dataset"] == row["dataset"]]
        before = n_runs, n_sets = row["n_runs_before"], row["n_label_sets_before"]
        is_answered = row["checked_by"] is not None
        could_be = (
            1 <= row["look"] <= row["n_looks"] <= MOST_LOOKS,
            1 <= row["budget"] <= row["planned_budget"] <= LARGEST_BUDGET,
            row["greatest_grade"] is None or 0 < row["greatest_grade"] <= GREATEST_GRADE,
            len(runs) > 1 and str(metric) == row["metric"],
            all((number is not None) == is_answered for number in before),
        )
        if not all(could_be):
            return None
        first_run = first_labels = None
        if is_answered:
            if not (0 <= n_runs <= len(of_dataset) and n_sets >= 0):
                return None
            older = {self._run_id(run, dataset) for run in of_dataset[:n_runs]}
            sets = [row | {"label_set_version": version} for version in range(1, n_sets + 1)]
            first_run = _newest_of(older, (run.id for run in self._tx.runs.all(dataset.name)))
            every = (label_set.id for label_set in self._tx.labels.sets(dataset.id, None))
            first_labels = _newest_of({self._label_set_of(of).id for of in sets}, every)
        names = ("checked_by", "metric", "budget", "planned_budget", "seed", "n_looks", "look", "not_tuned")
        return DesignRecord(
            0,
            dataset.id,
            row["design"],
            self._label_set_of(row).id,
            runs=tuple(runs),
            created_at_utc=row["created_at_utc"],
            greatest_grade=row["greatest_grade"],
            answered_after_run_id=first_run,
            answered_after_label_set_id=first_labels,
            **{name: row[name] for name in names},
        )

    def _runs_of_suite(self, text: str) -> dict[str, Any]:
        """Return the runs of a decision by dataset, with their names and ids here."""
        runs_of = {}
        try:
            for name, of in json.loads(text).items():
                dataset = self._datasets[name]
                ids: dict[str, Any] = {side: self._run_id(of[side], dataset) for side in _SIDES}
                version = self._label_set_of({"dataset": name, "label_set_version": of["label_set_version"]}).version
                if "repeats" in of:
                    ids["repeats"] = self._repeated(of["repeats"], dataset)
                runs_of[dataset.name] = {"label_set_version": version, **ids}
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
            raise self._reader.error("suite_decisions", "holds runs that no decision has") from None
        return runs_of

    def _lists_of_look(self, row: Row) -> dict[str, Any] | None:
        """Return the lists of the baseline that a look of older versions stores, None for other decisions."""
        of_budget = [row[name] is not None for name in ("budget", "look")]
        is_look = (
            all(of_budget)
            and 0 < row["budget"] < 0.5
            and min(row["look"], 1 if row["looks"] is None else row["looks"]) >= 1
        )
        if not is_look and (any(of_budget) or row["looks"] is not None):
            raise self._reader.error("decisions", "has a look that no budget has")
        return None if row["baseline_lists"] is None else self._reader.facts("decisions", row["baseline_lists"])

    def _repeats(self, table: str, text: str | None, dataset: DatasetRecord) -> dict[str, list[int]] | None:
        """Return the ids here of the runs of arms by side, None if there are none."""
        try:
            return None if text is None else self._repeated(json.loads(text), dataset)
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
            raise self._reader.error(table, "holds runs that no decision has") from None

    def _repeated(self, named: Mapping[str, Sequence[str | None]], dataset: DatasetRecord) -> dict[str, list[int]]:
        if any(name is not None and not isinstance(name, str) for side in _SIDES for name in named[side]):
            raise TypeError("a name is text")
        ids = {side: [self._run_id(name, dataset) for name in named[side]] for side in _SIDES}
        return {side: [run_id for run_id in of_side if run_id is not None] for side, of_side in ids.items()}

    def _rows(self, table: str) -> list[Row]:
        """Return the rows of a table, checked so that all text and times can be stored (InputError)."""
        from ndcg_tracker.runs.export_files import TABLES, Kind

        rows = self._reader.rows(table)
        times = [name for name, kind in TABLES[table].columns.items() if kind is Kind.TIME]
        for row in rows:
            if any("\0" in value for value in row.values() if isinstance(value, str)):
                raise self._reader.error(table, "has a text with a NUL character, which no database keeps")
            if "dataset" in row and row["dataset"] not in self._datasets:
                raise self._reader.error(table, f"names dataset {row['dataset']!r}, but has nothing else of it")
            for name in times:
                self._time(table, row[name])
        return rows

    def _new_decisions(self, table: str, key: Sequence[str], stored_keys: Container[tuple[str, ...]]) -> list[Row]:
        """Return the decisions of a table that are not stored yet, each once (InputError for an impossible one)."""
        rows = self._rows(table)
        for row in rows:
            known_metric(self._reader, table, row["metric"] or "")
            names = ("reason", "scope", "baseline_run", "candidate_run")
            lacking = [name for name in names if row.get(name, "") is None]
            if lacking:
                raise self._reader.error(table, f"has a decision without {lacking[0]}")
            if not all(math.isfinite(value) for value in row.values() if isinstance(value, float)):
                raise self._reader.error(table, "has a number that is not finite")
            if row["decision"] not in ("pass", "fail", "inconclusive"):
                raise self._reader.error(table, f"has a decision {row['decision']!r}")
        by_key = {tuple(row[name] for name in key): row for row in rows}
        return [row for kept, row in by_key.items() if kept not in stored_keys]

    def _time(self, table: str, text: str | None) -> str:
        try:
            return checked_time(text or "")
        except InputError as error:
            raise self._reader.error(table, str(error)) from None

    def _run_id(self, name: str | None, dataset: DatasetRecord) -> int | None:
        run = None if name is None else self._tx.runs.named(dataset.id, name)
        return None if run is None else run.id


def _can_be(probability: float | None, grade: float | None, answered_at: str | None) -> bool:
    """Return whether a design can have drawn, or stored separately, an item with these facts."""
    is_known = grade is not None and abs(grade) <= GREATEST_GRADE
    if (grade is None) != (answered_at is None) or is_known == (grade is None):
        return False
    return is_known if probability is None else 0 < probability <= 1


def _newest_of(older: Collection[int | None], every: Iterable[int]) -> int:
    """Return the highest id up to which everything here is older than the first answer to a design."""
    others = [own for own in every if own not in older]
    return min(others) - 1 if others else max((own or 0 for own in older), default=0)


def known_metric(reader: ExportReader, table: str, text: str) -> Metric:
    """Return the metric that a table names (InputError for one that this program does not know)."""
    try:
        return parse_metric(text)
    except MetricError as error:
        raise reader.error(table, f"holds a metric that this program does not know ({error})") from None


def exported_metric(reader: ExportReader, text: str, requested_as: str | None) -> Metric:
    """Return the metric of an evaluation (InputError for a text that is not canonical, or that nobody can type)."""
    if not (requested_as or "").isprintable():
        raise reader.error(
            "evaluations", f"says that a metric was requested as {requested_as!r}, which nobody can type"
        )
    metric = known_metric(reader, "evaluations", text)
    if str(metric) != text:
        raise reader.error("evaluations", f"holds {text!r}, whose canonical form is {str(metric)!r}")
    return metric
