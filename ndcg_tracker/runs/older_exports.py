"""Exports of versions 0.1.0 and 0.2.0, which have names in place of numbers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.runs.export_files import N_ROWS
from ndcg_tracker.storage.bulk.protocol import packed
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.copying import COLUMNS, kind_of

if TYPE_CHECKING:
    from ndcg_tracker.runs.export_files import ExportReader
    from ndcg_tracker.storage.copying import Row

FILES = {"coverages": "label_coverage", "suite_datasets": "suites"}
"""The files of tables that had other names."""
_RENAMED = {
    "datasets": {"name": "dataset"},
    "groups": {"key": "group_key"},
    "metrics": {"text": "metric"},
    "label_sets": {"version": "label_set_version", N_ROWS: "n_labels"},
    "runs": {"name": "run", N_ROWS: "n_items"},
    "evaluations": {N_ROWS: "n_results"},
    "aliases": {"name": "alias"},
    "designs": {"number": "design"},
}
"""The columns that had other names."""
_NAMED = {
    "dataset_id": ("datasets", ("dataset",)),
    "group_id": ("groups", ("dataset", "group_key")),
    "metric_id": ("metrics", ("metric",)),
    "label_set_id": ("label_sets", ("dataset", "label_set_version")),
    "baseline_run_id": ("runs", ("dataset", "present_baseline")),
    "candidate_run_id": ("runs", ("dataset", "present_candidate")),
    "run_id": ("runs", ("dataset", "present_run")),
    "design_id": ("designs", ("dataset", "design")),
    "evaluation_id": ("evaluations", ("dataset", "run", "label_set_version", "metric")),
}
"""The columns that are numbers: of which table, and the columns that were its name (last, for a table, its own)."""
_MADE = {
    "datasets": ("runs", "label_sets", "texts"),
    "groups": ("pruned_groups", "texts", "drawn_items"),
    "metrics": ("evaluations",),
}
"""The tables with further rows, for what rows of other files name."""
_RUN, _SIDES = ("dataset", "run"), ("baseline_run_id", "candidate_run_id")
_DEFAULTS = {
    "judge": "",
    "cutoff": 0,
    "item_key": "",
    "group_id": 0,
    "n_groups": 0,
    "packed_group_ids": b"",
    "kind": "items",
}
"""What null was, and what older programs did not say, in columns that have no null today."""

_Key = tuple[Any, ...]


class OlderExport:
    """The rows of an older export, as the tables of a database have them, with numbers of its own.

    A name of something that the export lacks becomes the number 0, which the rules for rows refuse.
    """

    def __init__(self, reader: ExportReader) -> None:
        self._files = {
            name: [
                {"present_run": row.get("run"), "present_baseline": row.get("baseline")} | row
                for row in reader.rows(FILES.get(name, name))
            ]
            for name in (*COLUMNS, "pruned_groups")
        }
        self._files["policies"] = [  # the budget of an alias belongs to its policy today
            row | {"rules": _rules(row), "set_by": "unknown", "set_at_utc": row["updated_at_utc"]}
            for row in self._files["aliases"]
            if row.get("budget") is not None
        ]
        of_groups = {(row["dataset"], row["group_key"]): row for row in self._files["groups"]}
        # designs draw by the order of groups, which is that of labels and items
        numbered = dict.fromkeys([*reader.groups_of("labels"), *reader.groups_of("items")])
        named = [of_groups.pop(key, {"dataset": key[0], "group_key": key[1]}) for key in numbered]
        self._files["groups"] = [*named, *of_groups.values()]
        self._ids: dict[str, dict[_Key, int]] = defaultdict(dict)
        self._by_id: dict[tuple[str, Any], Row] = {}
        self.rows: dict[str, list[Row]] = defaultdict(list)
        now = utc_now()
        for name, names in dict(_NAMED.values()).items():
            ids = self._ids[name]
            for row in self._files[name]:
                ids.setdefault(_key(row, names), len(ids) + 1)
            for key in [_key(row, names) for file in _MADE.get(name, ()) for row in self._files[file]]:
                if None not in key and key not in ids:
                    ids[key] = len(ids) + 1
                    self._files[name].append(dict(zip(names, key, strict=True)))
        for name, columns in COLUMNS.items():
            for place, old in enumerate(self._files[name], 1):
                self.rows[name].append(self._row(name, old, place))
                for column, of in columns.items():
                    value = self.rows[name][-1][column]
                    if value is None and not of.nullable:
                        value = now if column.endswith("_utc") else _DEFAULTS.get(column)
                    self.rows[name][-1][column] = value if value is None or kind_of(of) is not bool else bool(value)

    def _number(self, column: str, row: Row) -> int | None:
        """Return the number of what a row names, None if it names nothing."""
        table, columns = _NAMED[column]
        key = _key(row, columns)
        return None if None in key else self._ids[table].get(key, 0)

    def _row(self, name: str, old: Row, place: int) -> Row:
        """Return a row as a table has it today."""
        renamed = {column: column for column in (*COLUMNS[name], N_ROWS)} | _RENAMED.get(name, {})
        row = {column: old.get(before) for column, before in renamed.items()}
        row |= {column: self._number(column, old) for column in COLUMNS[name] if column in _NAMED}
        own = dict(_NAMED.values()).get(name)
        row["id"] = self._ids[name][_key(old, own)] if own else place
        self._by_id[name, row["id"]] = row
        of_run = [one for one in self._files["prunings"] if name == "runs" and _key(one, _RUN) == _key(old, _RUN)]
        if of_run:
            row[N_ROWS] = of_run[0]["n_kept_items"]
        elif name == "prunings":
            groups = [one for one in self._files["pruned_groups"] if _key(one, _RUN) == _key(old, _RUN)]
            group_ids = np.unique([self._number("group_id", one) or 0 for one in groups]).astype(np.int64)
            row["packed_group_ids"] = packed(group_ids, group_ids.astype(np.float64))[0]
        elif name == "evaluations":
            row["judge"] = self._by_id.get(("label_sets", row["label_set_id"]), {}).get("judge")
            row["run_created_at_utc"] = self._by_id.get(("runs", row["run_id"]), {}).get("created_at_utc")
        elif name == "paired_sums":
            row |= _sums(old["sums"])
        elif name == "decisions":
            row["repeats"] = self._repeats(old.get("repeats"), old["dataset"])
        elif name == "budget_resets":
            before = [one["id"] for one in self.rows["decisions"] if one["created_at_utc"] <= old["covered_until_utc"]]
            row["after_decision_id"] = max(before, default=0)
        elif name == "suite_decisions" and isinstance(old["runs"], dict):
            row["runs"] = {dataset: self._of_suite(of, dataset) for dataset, of in old["runs"].items()}
        elif name == "designs":  # before its first answer, the first runs and labels of its dataset were stored
            for table in ("runs", "label_sets"):
                ids = [number for (dataset, _), number in self._ids[table].items() if dataset == old["dataset"]]
                n_before = old[f"n_{table}_before"]
                is_given = n_before is not None and 0 <= n_before <= len(ids)
                row[f"answered_after_{table[:-1]}_id"] = max(ids[:n_before], default=0) if is_given else None
        elif name == "design_runs":
            row["place"] = sum(one["design_id"] == row["design_id"] for one in self.rows["design_runs"])
        return row

    def _of_suite(self, of: Any, dataset: str) -> Any:
        """Return what a decision on a suite says of a dataset, with the numbers of runs."""
        if not isinstance(of, dict):
            return of
        sides = {side: self._ids["runs"].get((dataset, of[side])) for side in _SIDES if side in of}
        return of | sides | ({"repeats": self._repeats(of["repeats"], dataset)} if "repeats" in of else {})

    def _repeats(self, repeats: Any, dataset: str) -> Any:
        """Return the numbers of the runs of arms, of those that are there."""
        ids = self._ids["runs"]
        if not isinstance(repeats, dict) or not all(isinstance(names, list) for names in repeats.values()):
            return repeats
        return {side: [ids[dataset, of] for of in names if (dataset, of) in ids] for side, names in repeats.items()}


def _rules(alias: Row) -> Row:
    return {"budget": alias["budget"]} | ({} if alias["looks"] is None else {"looks": alias["looks"]})


def _key(row: Row, columns: Sequence[str]) -> _Key:
    return tuple(row.get(column) for column in columns)


def _sums(text: str) -> Row:
    """Return the columns of the sums of a run's differences, nothing if they cannot be."""
    try:
        facts = json.loads(text)
        whole, renamed = facts["whole"], {"n": "n_groups", "mean": "delta"}
        details = {name: facts[name] for name in ("attribute", "cluster", "slices")} | {"clusters": whole["clusters"]}
        row = {renamed.get(name, name): value for name, value in whole["differences"].items()}
        row |= {name: whole[name] for name in ("baseline_mean", "only_in_baseline", "only_in_candidate")}
        return row | {"n_undefined": whole["undefined"], "details": details}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}  # the rules refuse the row
