"""What must be true of each row of a database: one table of rules, for rows that are imported and for a check."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.groups_share import stored_share
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import MAX_WEIGHT
from ndcg_tracker.runs.designs import LARGEST_BUDGET, Scale
from ndcg_tracker.runs.samples import checked_sample
from ndcg_tracker.storage.checks import check_group_keys, checked_commit, checked_name, checked_object, checked_time
from ndcg_tracker.storage.copying import COLUMNS, Conditions, kind_of

if TYPE_CHECKING:
    from ndcg_tracker.storage.copying import Row
    from ndcg_tracker.storage.store import ReadTransaction


class Rules:
    """The rules for rows, given table by table in the order of ``COLUMNS``.

    ``tx``: the database that has the labels and items of the rows by the time their designs are looked at.
    """

    def __init__(self, tx: ReadTransaction) -> None:
        self._tx = tx
        self._rows: dict[str, dict[Any, Row]] = defaultdict(dict)
        self._conditions = Conditions(_CONDITIONS)
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
            try:
                _check(name, column.name, value)
            except (InputError, MetricError) as error:
                return f"has a wrong {column.name}: {error}"
            for named in column.foreign_keys:
                if value not in self._rows[named.column.table.name]:
                    return f"names {column.name} {value}, which is not there"
        key = tuple(row[column] for column in columns if columns[column].primary_key)
        unique = key[0] if len(key) == 1 else key
        told = "is there twice" if unique in self._rows[name] else self._conditions.broken(name, row)
        told = told or next((what for holds, what in _OTHER_ROWS.get(name, ()) if not holds(self, row)), None)
        self._rows[name][unique] = row if name in _REMEMBERED else {}
        return told

    def _is_next(self, design: Row) -> bool:
        of_dataset = (of["dataset_id"] == design["dataset_id"] for of in self._rows["designs"].values())
        return bool(design["number"] == sum(of_dataset) + 1)

    def _has_order(self, design: Row) -> bool:
        """Return whether a design has the seed of the first one of its dataset, as those of whole queries do."""
        of_dataset = [of for of in self._rows["designs"].values() if of["dataset_id"] == design["dataset_id"]]
        return design["kind"] == "items" or not of_dataset or of_dataset[0]["seed"] == design["seed"]

    def _was_stored(self, item: Row) -> bool:
        """Return whether a grade of a design of whole queries says after which run it was stored."""
        design = self._rows["designs"][item["design_id"]]
        is_told = item["answered_after_run_id"] is not None
        return (
            is_told == (item["grade"] is not None)
            if design["kind"] != "items"
            else not is_told or item["grade"] is not None
        )

    def _has_group(self, text: Row) -> bool:
        return text["group_id"] == 0 or text["group_id"] in self._rows["groups"]

    def _has_its_groups(self, pruning: Row) -> bool:
        """Return whether a pruned run has its groups, or only sums and no group."""
        n_groups = len(pruning["packed_group_ids"]) / 8
        return n_groups in (0, 1, self._rows["runs"][pruning["run_id"]]["n_groups"])  # 1: the first of consecutive ids

    def _is_on_scale(self, item: Row) -> bool:
        """Return whether the grade of a drawn item is one that people may give."""
        design = self._rows["designs"][item["design_id"]]
        if item["grade"] is None:
            return True
        if design["id"] not in self._scales:
            self._scales[design["id"]] = Scale.of_design(
                self._tx, design["label_set_id"], design["kind"], design["greatest_grade"]
            )
        return self._scales[design["id"]].holds(item["grade"])

    def _is_of_a_run(self, item: Row) -> bool:
        """Return whether a drawn item is in a list of the design's runs; of runs without items nobody knows."""
        runs = [row["run_id"] for (of, _), row in self._rows["design_runs"].items() if of == item["design_id"]]
        if item["probability"] is None or None in runs or not self._tx.runs.without("items").isdisjoint(runs):
            return len(runs) > 1
        for key in [(run_id, item["group_id"]) for run_id in runs]:
            if key not in self._items:
                items = self._tx.runs.ranking(key[0], np.array([key[1]], dtype=np.int64)).item_keys
                self._items[key] = set(items.to_list())
        return len(runs) > 1 and any(item["item_key"] in self._items[run_id, item["group_id"]] for run_id in runs)


_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", bytes: "bytes",
          dict: "a JSON object"}  # fmt: skip
_REMEMBERED = ("label_sets", "runs", "designs", "design_runs")
_FORMS: dict[str, Callable[[str], str | None]] = {"sampled": checked_sample, "groups_share": stored_share}
_NAMES = ("name", "alias", "suite", "judge", "added_by", "checked_by")
_MAY_BE_EMPTY = ("judge", "checked_by")


def _check(table: str, column: str, value: Any) -> None:
    """Raise for a value that a column cannot have."""
    if column.endswith("_utc"):
        checked_time(value)
    elif column in _NAMES and (value or column not in _MAY_BE_EMPTY):
        checked_name(table[:-1] if column == "name" else column, value)
    elif isinstance(value, dict):
        checked_object(column, value)
    elif column in ("git_commit", "requested_as"):
        checked_commit(value)
    elif column == "key":
        check_group_keys(Keys.from_strings([value]))
    elif column in _FORMS and (canonical := _FORMS[column](value)) != value:
        raise InputError(f"the canonical form of {value!r} is {canonical!r}")
    elif column == "metric" or (table == "metrics" and column == "text"):
        metric = parse_metric(value)
        if str(metric) != value and table in ("metrics", "designs"):
            raise InputError(f"the canonical form of {value!r} is {str(metric)!r}")


_BUDGET = {
    "CASE WHEN budget IS NULL THEN looks IS NULL ELSE budget > 0 AND budget < 0.5 AND coalesce(looks, 1) >= 1 END":
        "has a budget or looks that cannot be"
}  # fmt: skip
_ARE_REPEATS = (
    "(json_type({0}, '$.baseline_run_id') IS 'array' AND json_type({0}, '$.candidate_run_id') IS 'array' AND "
    "NOT EXISTS (SELECT 1 FROM json_tree({0}) WHERE path <> '$' AND type <> 'integer'))"
)
_LISTS = {
    "coalesce(baseline_lists, '{}') = '{}' OR (json_type(baseline_lists, '$.digest') IS 'text' AND "
    "json_type(baseline_lists, '$.lists') IS 'object' AND "
    "NOT EXISTS (SELECT 1 FROM json_each(baseline_lists, '$.lists') WHERE type <> 'text'))":
        "has baseline_lists that no baseline has"
}  # fmt: skip
_CONDITIONS: dict[str, dict[str, str]] = {
    "groups": {f"weight BETWEEN 0 AND {MAX_WEIGHT}": f"has a weight that is not from 0 to {MAX_WEIGHT:g}"},
    "runs": {"tie_order = 'input'": "has a tie_order that is not 'input'"},
    "prunings": {"kept_share >= 0 AND kept_share < 1": "has a kept_share that is not from 0 to 1"},
    "seals": _BUDGET,
    "decisions": _BUDGET | _LISTS | {
        "CASE WHEN budget IS NULL THEN look IS NULL ELSE coalesce(look >= 1 AND "
        "(look <= coalesce(looks, look) OR decision = 'inconclusive'), 1) END":  # nothing is decided after the last
            "has a look that cannot be",
        f"repeats IS NULL OR {_ARE_REPEATS.format('repeats')}": "has repeats that no decision has",
    },
    "budget_resets": _LISTS,
    "suite_decisions": {
        "NOT EXISTS (SELECT 1 FROM json_each(runs) AS o WHERE CASE WHEN o.type <> 'object' THEN 1 ELSE NOT ("
        "json_type(o.value, '$.label_set_version') IS 'integer' AND "
        "coalesce(json_type(o.value, '$.baseline_run_id'), 'null') IN ('null', 'integer') AND "
        "coalesce(json_type(o.value, '$.candidate_run_id'), 'null') IN ('null', 'integer') AND "
        "CASE WHEN json_type(o.value, '$.repeats') IS NULL THEN 1 ELSE "
        + _ARE_REPEATS.format("json_extract(o.value, '$.repeats')") + " END) END)": "has runs that no decision has",
    },
    "designs": {
        f"n_looks <= 100 AND planned_budget <= {LARGEST_BUDGET}": "has too many looks or items",
        "greatest_grade > 0": "has a greatest_grade that cannot be",
        "kind IN ('items', 'judge', 'holes')": "has a kind that no design has",
        "kind = 'items' OR (n_looks = 1 AND planned_budget = budget AND NOT not_tuned AND greatest_grade IS NULL)":
            "is of whole queries, but has a plan as if it were not",
        "(checked_by IS NULL) = (answered_after_run_id IS NULL) AND "
        "(checked_by IS NULL) = (answered_after_label_set_id IS NULL)": "has one of who, after which run, and after "
        "which labels it was answered, but not all",
    },
}  # fmt: skip
"""By table: SQL conditions of each row, beyond the checks of the schema, and what a row does that is against them."""
_OTHER_ROWS: dict[str, Sequence[tuple[Callable[[Rules, Any], bool], str]]] = {
    "prunings": [(Rules._has_its_groups, "has another number of groups than its run")],
    "texts": [(Rules._has_group, "names a group that is not there")],
    "designs": [
        (Rules._is_next, "does not follow the design before it"),
        (Rules._has_order, "has another seed than the first design of its dataset"),
    ],
    "drawn_items": [
        (Rules._is_on_scale, "has a grade off the scale of its design"),
        (Rules._is_of_a_run, "is an item that no run of its design ranks"),
        (Rules._was_stored, "does not say after which run its grade was stored"),
    ],
}
"""By table: what must be true of a row among other rows, and what a row does that does not keep it."""
