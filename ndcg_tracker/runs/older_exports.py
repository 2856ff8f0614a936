"""Exports of versions 0.1.0 and 0.2.0, which have names in place of numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.runs.export_files import N_ROWS
from ndcg_tracker.storage.bulk.protocol import packed
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.copying import BESIDE_RUNS, COLUMNS, kind_of

if TYPE_CHECKING:
    from ndcg_tracker.runs.export_files import ExportReader
    from ndcg_tracker.storage.copying import Row

FILES = {"coverages": "label_coverage", "suite_datasets": "suites"}
"""The files of tables that had other names."""
_SIDES = {"baseline_run_id": "present_baseline", "candidate_run_id": "present_candidate"}


class OlderExport:
    """The rows of an older export, as the tables of a database have them, with numbers of its own.

    A name of something that the export lacks becomes the number 0, which the rules for rows refuse.
    """

    def __init__(self, reader: ExportReader) -> None:
        self._files: dict[str, list[Row]] = defaultdict(list)
        for name in ("datasets", "groups", "prunings", "pruned_groups"):
            self._files[name] = list(reader.rows(name))
        self._ids: dict[str, dict[Any, int]] = defaultdict(dict)
        self._made: dict[str, dict[Any, Row]] = defaultdict(dict)
        for key in [*reader.groups_of("labels"), *reader.groups_of("items")]:
            self._id("groups", key)
        for row in self._files["groups"]:
            self._id("groups", (row["dataset"], row["group_key"]))
        made: dict[str, Callable[[Row], Row]] = {
            "label_sets": self._label_set,
            "runs": self._run,
            "prunings": self._pruning,
            "evaluations": self._evaluation,
            "coverages": lambda row: self._of_run(row) | {"cutoff": row["cutoff"] or 0},
            "texts": lambda row: self._of_group(row) | {"item_key": row["item_key"] or ""},
            "aliases": lambda row: self._of(row) | {"name": row["alias"], "run_id": self._run_id(row, "run")},
            "alias_moves": lambda row: self._of(row) | {"run_id": self._run_id(row, "present_run")},
            "decisions": self._decision,
            "budget_resets": self._reset,
            "suite_datasets": self._of,
            "suite_decisions": self._suite_decision,
            "designs": self._design,
            "design_runs": lambda row: self._of(row) | {"run_id": self._run_id(row, "present_run")},
            "drawn_items": self._of_group,
        }
        self.rows: dict[str, list[Row]] = {}
        for name, of_file in made.items():
            self._files[name] += list(reader.rows(FILES.get(name, name)))
            self.rows[name] = [{"id": place, **of_file(row)} for place, row in enumerate(self._files[name], 1)]
        for row in self.rows["design_runs"]:
            row["place"] = self._id(f"runs of {row['design_id']}", row["id"]) - 1
        self.rows |= {"groups": self._groups(), "datasets": self._datasets()}
        self.rows["metrics"] = [{"id": number, "text": text} for text, number in self._ids["metrics"].items()]
        for name, rows in self.rows.items():
            flags = [column for column, of in COLUMNS[name].items() if kind_of(of) is bool]
            for row in rows:
                row.update({flag: bool(row[flag]) for flag in flags if row.get(flag) is not None})

    def n_beside_runs(self) -> dict[str, int]:
        """Return how many rows there are that do not belong to runs (see ``CopyReads.n_beside_runs``), if any."""
        found = {name: len(self.rows[name]) for name in BESIDE_RUNS}
        found["answers"] = sum(row["grade"] is not None for row in self.rows["drawn_items"])
        return found if any(found.values()) else {}

    def _id(self, table: str, key: Any) -> int:
        """Return the number of what has a name: a new one, the first time."""
        return self._ids[table].setdefault(key, len(self._ids[table]) + 1)

    def _of(self, row: Row) -> Row:
        """Return a row with the numbers of its dataset, its labels and its design."""
        found = dict(row)
        if "dataset" in row:
            found["dataset_id"] = self._id("datasets", row["dataset"])
        for column, table in (("label_set_version", "label_sets"), ("design", "designs")):
            if column in row:
                found[f"{table[:-1]}_id"] = self._ids[table].get((row["dataset"], row[column]), 0)
        return found

    def _of_group(self, row: Row) -> Row:
        key = row["dataset"], row["group_key"]
        return self._of(row) | {"group_id": self._id("groups", key) if row["group_key"] else 0}

    def _run_id(self, row: Row, column: str) -> int | None:
        return None if row[column] is None else self._ids["runs"].get((row["dataset"], row[column]), 0)

    def _of_run(self, row: Row) -> Row:
        return self._of(row) | {"run_id": self._run_id(row, "run")}

    def _label_set(self, row: Row) -> Row:
        key = row["dataset"], row["label_set_version"]
        own = {"id": self._id("label_sets", key), "version": key[1], "n_groups": 0, N_ROWS: row["n_labels"]}
        own |= {"judge": row.get("judge") or "", "created_at_utc": row.get("created_at_utc") or utc_now()}
        self._made["label_sets"][key] = self._of(row) | own
        return self._made["label_sets"][key]

    def _run(self, row: Row) -> Row:
        key = row["dataset"], row["run"]
        kept = [one["n_kept_items"] for one in self._files["prunings"] if (one["dataset"], one["run"]) == key]
        own = {"id": self._id("runs", key), "name": row["run"], N_ROWS: kept[0] if kept else row["n_items"]}
        self._made["runs"][key] = self._of(row) | own
        return self._made["runs"][key]

    def _pruning(self, row: Row) -> Row:
        """Return the row of a pruned run, with its groups."""
        key = row["dataset"], row["run"]
        groups = [one for one in self._files["pruned_groups"] if (one["dataset"], one["run"]) == key]
        ids = np.unique([self._of_group(one)["group_id"] for one in groups]).astype(np.int64)
        return self._of_run(row) | {"packed_group_ids": packed(ids, ids.astype(np.float64))[0]}

    def _evaluation(self, row: Row) -> Row:
        """Return the row of an evaluation, with what it repeats of its run and its labels."""
        run = self._made["runs"].get((row["dataset"], row["run"]), {})
        labels = self._made["label_sets"].get((row["dataset"], row["label_set_version"]), {})
        return self._of_run(row) | {
            "metric_id": self._id("metrics", row["metric"]),
            "judge": labels.get("judge", ""),
            "run_created_at_utc": run.get("created_at_utc"),
            "created_at_utc": row.get("created_at_utc") or utc_now(),
            N_ROWS: row["n_results"],
        }

    def _decision(self, row: Row) -> Row:
        ids = {side: self._run_id(row, present) for side, present in _SIDES.items()}
        repeats = None if row.get("repeats") is None else self._repeats(row["repeats"], row["dataset"])
        return self._of(row) | ids | {"repeats": repeats}

    def _repeats(self, repeats: Any, dataset: str) -> Any:
        """Return the numbers of the runs of arms, of those that are there."""
        ids = self._ids["runs"]
        if not isinstance(repeats, dict) or not all(isinstance(names, list) for names in repeats.values()):
            return repeats
        return {side: [ids[dataset, of] for of in names if (dataset, of) in ids] for side, names in repeats.items()}

    def _reset(self, row: Row) -> Row:
        """Return the row of a reset, which covers the decisions up to a time."""
        until = str(row["covered_until_utc"])
        before = [one["id"] for one in self.rows["decisions"] if str(one["created_at_utc"]) <= until]
        return self._of(row) | {"after_decision_id": max(before, default=0)}

    def _suite_decision(self, row: Row) -> Row:
        runs: Row = {}
        for dataset, of in row["runs"].items() if isinstance(row["runs"], dict) else ():
            runs[dataset] = of
            if isinstance(of, dict):
                ids = {side: self._ids["runs"].get((dataset, of[side])) for side in _SIDES if side in of}
                more = {"repeats": self._repeats(of["repeats"], dataset)} if "repeats" in of else {}
                runs[dataset] = of | ids | more
        return dict(row) | {"runs": runs, "judge": row.get("judge") or ""}

    def _design(self, row: Row) -> Row:
        """Return the row of a design; before its first answer, the first runs and labels of its dataset were stored."""
        before: Row = {}
        for table in ("runs", "label_sets"):
            ids = [number for (dataset, _), number in self._ids[table].items() if dataset == row["dataset"]]
            n_before = row[f"n_{table}_before"]
            is_possible = type(n_before) is int and 0 <= n_before <= len(ids)
            before[f"answered_after_{table[:-1]}_id"] = max(ids[:n_before], default=0) if is_possible else None
        key = row["dataset"], row["design"]
        return self._of(row) | {"id": self._id("designs", key), "number": row["design"]} | before

    def _groups(self) -> list[Row]:
        facts = {(row["dataset"], row["group_key"]): row for row in self._files["groups"]}
        return [
            {name: facts.get(key, {}).get(name) for name in ("weight", "attributes")}
            | {"id": number, "dataset_id": self._id("datasets", key[0]), "key": key[1]}
            for key, number in self._ids["groups"].items()
        ]

    def _datasets(self) -> list[Row]:
        made = {row["dataset"]: row["created_at_utc"] for row in self._files["datasets"]}
        return [
            {"id": number, "name": name, "created_at_utc": made.get(name) or utc_now()}
            for name, number in self._ids["datasets"].items()
        ]
