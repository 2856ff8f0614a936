"""What must be true of each row of a database: one table of rules, for rows that are imported and for a check."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import BY_INPUT, MAX_WEIGHT
from ndcg_tracker.runs.designs import GREATEST_GRADE, LARGEST_BUDGET, MOST_LOOKS, Scale
from ndcg_tracker.runs.samples import is_sample
from ndcg_tracker.storage.checks import check_group_keys, checked_commit, checked_name, checked_object, checked_time
from ndcg_tracker.storage.copying import COLUMNS, kind_of

if TYPE_CHECKING:
    from ndcg_tracker.storage.copying import Row
    from ndcg_tracker.storage.store import ReadTransaction

_SIDES = ("baseline_run_id", "candidate_run_id")
_DECISIONS = ("pass", "fail", "inconclusive")
_ANSWERED = ("checked_by", "answered_after_run_id", "answered_after_label_set_id")


class Rules:
    """The rules for rows, given table by table in the order of ``COLUMNS``.

    ``tx``: the database that has the labels and items of the rows by the time their designs are looked at.
    """

    def __init__(self, tx: ReadTransaction) -> None:
        self._tx = tx
        self._rows: dict[str, dict[Any, Row]] = defaultdict(dict)
        self._scales: dict[int, Scale] = {}
        self._items: dict[tuple[int, int], set[str]] = {}

    def broken(self, name: str, row: Row) -> str | None:
        """Return in words which rule a row breaks, None if it breaks none."""
        columns = COLUMNS[name]
        for column in columns.values():
            value: Any = row[column.name]
            if value is None:
                if not column.nullable:
                    return f"has no {column.name}"
                continue
            kind = kind_of(column)
            if type(value) is not kind:
                return f"has the {column.name} {str(value)[:40]!r}, which is not {_KINDS[kind]}"
            if kind is float and not math.isfinite(value):
                return f"has a number that is not finite in {column.name}"
            if kind is str and "\0" in value:
                return f"has a text with a NUL character in {column.name}, which no database keeps"
            if column.name.startswith("n_") and value < 0:
                return f"has the {column.name} {value}, which is below 0"
            try:
                _check(name, column.name, value)
            except (InputError, MetricError) as error:
                return f"has a wrong {column.name}: {error}"
            for named in column.foreign_keys:
                if value not in self._rows[named.column.table.name]:
                    return f"names {column.name} {value}, which is not there"
        told = next((what for holds, what in _RULES.get(name, ()) if not holds(self, row)), None)
        key = tuple(row[column] for column in columns if columns[column].primary_key)
        unique = key[0] if len(key) == 1 else key
        if told is None and unique in self._rows[name]:
            told = "is there twice"
        self._rows[name][unique] = row if name in _REMEMBERED else {}
        return told

    def runs_of(self, design: int) -> list[int | None]:
        """Return the runs of a design."""
        return [row["run_id"] for (of, _), row in self._rows["design_runs"].items() if of == design]

    def is_next(self, design: Row) -> bool:
        """Return whether a design has the next number of its dataset."""
        of_dataset = (of["dataset_id"] == design["dataset_id"] for of in self._rows["designs"].values())
        return bool(design["number"] == sum(of_dataset) + 1)

    def has_group(self, group_id: int) -> bool:
        """Return whether a group is there, or it is 0 for every group."""
        return group_id == 0 or group_id in self._rows["groups"]

    def has_its_groups(self, pruning: Row) -> bool:
        """Return whether a pruned run has its groups, or only sums and no group."""
        n_groups = len(pruning["packed_group_ids"]) / 8
        return n_groups in (0, 1, self._rows["runs"][pruning["run_id"]]["n_groups"])  # 1: the first of consecutive ids

    def is_on_scale(self, item: Row) -> bool:
        """Return whether the grade of a drawn item is one that people may give."""
        design = self._rows["designs"][item["design_id"]]
        number = design["id"]
        if item["grade"] is None:
            return True
        if number not in self._scales:
            judge = self._rows["label_sets"][design["label_set_id"]]["judge"]
            grades = self._tx.labels.lists(design["label_set_id"]).grades
            try:
                self._scales[number] = Scale.of(judge, grades if grades.size else np.zeros(1), design["greatest_grade"])
            except InputError:
                return False
        return self._scales[number].holds(item["grade"])

    def is_of_a_run(self, item: Row) -> bool:
        """Return whether a drawn item is in a list of the design's runs; of runs without items nobody knows."""
        runs = self.runs_of(item["design_id"])
        if item["probability"] is None or None in runs or not self._tx.runs.without("items").isdisjoint(runs):
            return True
        for run_id in runs:
            key = run_id or 0, item["group_id"]
            if key not in self._items:
                items = self._tx.runs.ranking(key[0], np.array([key[1]], dtype=np.int64)).item_keys
                self._items[key] = set(items.to_list())
        return any(item["item_key"] in self._items[run_id or 0, item["group_id"]] for run_id in runs)


_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", bytes: "bytes",
          dict: "a JSON object"}  # fmt: skip
_REMEMBERED = ("label_sets", "runs", "designs", "design_runs")
_NAMES = ("name", "alias", "suite", "judge", "added_by", "checked_by")


def _check(table: str, column: str, value: Any) -> None:
    """Raise for a value that a column cannot have."""
    if column.endswith("_utc"):
        checked_time(value)
    elif column in _NAMES and (value or column != "judge"):
        checked_name(table[:-1] if column == "name" else column, value)
    elif isinstance(value, dict):
        checked_object(column, value)
    elif column in ("git_commit", "requested_as"):
        checked_commit(value)
    elif column == "key":
        check_group_keys(Keys.from_strings([value]))
    elif column == "metric" or (table == "metrics" and column == "text"):
        metric = parse_metric(value)
        if str(metric) != value and table in ("metrics", "designs"):
            raise InputError(f"the canonical form of {value!r} is {str(metric)!r}")


def _is_budget(row: Row) -> bool:
    budget, looks, look = row["budget"], row["looks"], row.get("look")
    if budget is None:
        return looks is None and look is None
    return 0 < budget < 0.5 and (looks is None or looks >= 1) and (look is None or 1 <= look <= (looks or look))


def _are_lists(row: Row) -> bool:
    given = row["baseline_lists"]
    lists = given or {"lists": {}, "digest": ""}
    of_groups = lists.get("lists")
    return isinstance(of_groups, dict) and all(isinstance(of, str) for of in [lists.get("digest"), *of_groups.values()])


def _are_repeats(repeats: Any) -> bool:
    sides = [repeats.get(side) for side in _SIDES] if isinstance(repeats, Mapping) else [None]
    return all(isinstance(side, list) and all(type(run_id) is int for run_id in side) for side in sides)


def _are_runs(runs: Mapping[str, Any]) -> bool:
    return all(
        isinstance(of, dict)
        and type(of.get("label_set_version")) is int
        and all(type(of.get(side, 0)) in (int, type(None)) for side in _SIDES)
        and ("repeats" not in of or _are_repeats(of["repeats"]))
        for of in runs.values()
    )


def _can_be_design(row: Row) -> bool:
    is_answered = [row[name] is not None for name in _ANSWERED]
    greatest = row["greatest_grade"]
    return (
        1 <= row["look"] <= row["n_looks"] <= MOST_LOOKS
        and 1 <= row["budget"] <= row["planned_budget"] <= LARGEST_BUDGET
        and (greatest is None or 0 < greatest <= GREATEST_GRADE)
        and (all(is_answered) or not any(is_answered))
    )


def _can_be_item(row: Row) -> bool:
    probability, grade = row["probability"], row["grade"]
    is_answered = row["answered_at_utc"] is not None
    return (grade is not None) == is_answered and (is_answered if probability is None else 0 < probability <= 1)


_Rule = tuple[Callable[[Rules, Any], bool], str]
_BUDGET: _Rule = lambda _, row: _is_budget(row), "has a budget or a look that cannot be"
_DECISION: _Rule = lambda _, row: row["decision"] in _DECISIONS, "has a decision that is not pass, fail or inconclusive"
_LISTS: _Rule = lambda _, row: _are_lists(row), "has baseline_lists that no baseline has"
_RULES: dict[str, Sequence[_Rule]] = {
    "groups": [(lambda _, row: 0 <= (row["weight"] or 0) <= MAX_WEIGHT,
                f"has a weight that is not from 0 to {MAX_WEIGHT:g}")],
    "label_sets": [(lambda _, row: row["version"] >= 1, "has a version below 1")],
    "runs": [
        (lambda _, row: is_sample(row["sampled"]), "has a sample that cannot be"),
        (lambda _, row: row["tie_order"] in (None, BY_INPUT), "has a tie_order that is not 'input'"),
    ],
    "prunings": [
        (lambda _, row: 0 <= (row["kept_share"] or 0) < 1, "has a kept_share that is not from 0 to 1"),
        (lambda rules, row: rules.has_its_groups(row), "has another number of groups than its run"),
    ],
    "coverages": [
        (lambda _, row: row["cutoff"] >= 0 and 0 <= row["judged_share"] <= 1, "has a share or a cutoff that cannot be")
    ],
    "decisions": [
        _DECISION, _BUDGET, _LISTS,
        (lambda _, row: row["repeats"] is None or _are_repeats(row["repeats"]), "has repeats that no decision has"),
    ],
    "budget_resets": [_LISTS],
    "seals": [_BUDGET],
    "texts": [
        (lambda _, row: row["group_id"] > 0 or bool(row["item_key"]), "is of no group and no item"),
        (lambda rules, row: rules.has_group(row["group_id"]), "names a group that is not there"),
    ],
    "suite_decisions": [_DECISION, (lambda _, row: _are_runs(row["runs"]), "has runs that no decision has")],
    "designs": [
        (lambda _, row: _can_be_design(row), "has looks, a budget, a scale or answers that cannot be"),
        (lambda rules, row: rules.is_next(row), "does not follow the design before it"),
    ],
    "drawn_items": [
        (lambda _, row: _can_be_item(row), "has a probability, a grade or a time that cannot be"),
        (lambda rules, row: len(rules.runs_of(row["design_id"])) > 1, "is of a design with fewer than two runs"),
        (lambda rules, row: rules.is_on_scale(row), "has a grade off the scale of its design"),
        (lambda rules, row: rules.is_of_a_run(row), "is an item that no run of its design ranks"),
    ],
}  # fmt: skip
"""By table: what a row must satisfy beyond the types and the keys of its columns, and what a row does that does not."""
