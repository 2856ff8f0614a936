"""Row 22: exports that someone changed by hand: refused in one line, and nothing of them is stored."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from small_shop import BM25, DENSE, LABELS, frame_of
from stored_rows import row_counts

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import NdcgTrackerError

from .databases import database, engine_name
from .report import Outcome, Setting

GOAL = "every one refused in one line, nothing stored"
METRICS = ("ndcg@3", "AP", "lightgbm:ndcg@5", "ndcg(missing=skip)@3", "ndcg(weights=group)@3")
Row = dict[str, Any]
_DEEP = "[" * 100_000


@dataclass(frozen=True)
class Forgery:
    """A change of an export by hand.

    ``table``: the file that is changed. ``change``: what becomes of its rows. ``says``: part of the line that refuses
    it.
    """

    kind: str
    table: str
    change: Callable[[list[Row]], object]
    says: str

    def apply(self, folder: Path) -> None:
        """Change the file in an export."""
        path = folder / f"{self.table}.parquet"
        table = pq.read_table(path)
        rows = table.to_pylist()
        changed = self.change(rows)
        if changed is None:
            changed = rows
        if isinstance(changed, bytes):
            path.write_bytes(changed)
        else:
            pq.write_table(
                changed if isinstance(changed, pa.Table) else pa.Table.from_pylist(changed, table.schema), path
            )


def _set(column: str, value: Any, place: int = 0, **where: Any) -> Callable[[list[Row]], None]:
    """Return what sets a column of the row at a place among those with some values; a function is given the old one."""

    def change(rows: list[Row]) -> None:
        row = [one for one in rows if all(one[name] == wanted for name, wanted in where.items())][place]
        row[column] = value(row[column]) if callable(value) else value

    return change


def _both(*changes: Callable[[list[Row]], object]) -> Callable[[list[Row]], None]:
    def change(rows: list[Row]) -> None:
        for one in changes:
            one(rows)

    return change


def _swap(column: str, one: int, other: int) -> Callable[[list[Row]], None]:
    def change(rows: list[Row]) -> None:
        rows[one][column], rows[other][column] = rows[other][column], rows[one][column]

    return change


def _bm25(column: str, value: Any, metric: str = "ndcg@3", **where: Any) -> Callable[[list[Row]], None]:
    return _set(column, value, run="bm25", metric=metric, **where)


def _as_text(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([row | {"score": "high"} for row in rows])


_IN_GROUPS = "of group 'q1' is stated, but its items and labels give "
_GIVE = "is stated, but its items and labels give "
_EXTERNAL = "external:latency(direction=lower, range=0..100)"
_CONTENT = "of dataset 'default': its items do not match its digest"
_LABELS = "labels version 1 of dataset 'default': its labels do not match its digest"
FORGERIES = [
    Forgery("value above what the metric can be", "group_results", _bm25("value", 5.0), f"value 5.0 {_IN_GROUPS}"),
    Forgery("value a little higher", "group_results", _bm25("value", lambda value: value + 1e-9), _IN_GROUPS),
    Forgery("value taken away", "group_results", _both(
        _bm25("undefined_reason", "no label"), _bm25("value", None)), f"value none {_IN_GROUPS}"),
    Forgery("values of two groups exchanged", "group_results", _swap("value", 0, 1), _GIVE),
    Forgery("keys of two groups exchanged", "group_results", _swap("group_key", 0, 1), _GIVE),
    Forgery("result of an unknown group", "group_results", _bm25("group_key", "q9"), f"result none {_IN_GROUPS}"),
    Forgery("result of a group twice", "group_results", _bm25("group_key", "q2"),
        "has a group twice in ndcg@3 of run 'bm25'"),
    Forgery("result without a group", "group_results", _bm25("group_key", None), "has a null in column 'group_key'"),
    Forgery("result left out", "group_results", lambda rows: rows[1:], "its rows are not in the order"),
    Forgery("result too many", "group_results", lambda rows: rows + rows[-1:], "has 1 rows without an owner"),
    Forgery("value that is no number", "group_results", _bm25("value", float("nan")), "a number that is not finite"),
    Forgery("dcg", "group_results", _bm25("dcg", 9.0), f"dcg 9.0 {_IN_GROUPS}"),
    Forgery("ideal dcg", "group_results", _bm25("ideal_dcg", 9.0), f"ideal_dcg 9.0 {_IN_GROUPS}"),
    Forgery("reason for no value", "group_results", _set(
        "undefined_reason", "no label", undefined_reason="missing from the run"), "reason no label of group 'q6' "),
    Forgery("mean", "evaluations", _bm25("mean", 0.999), f"ndcg@3 under labels version 1: mean 0.999 {_GIVE}"),
    Forgery("mean a little higher", "evaluations", _bm25("mean", lambda mean: mean + 1e-9), _GIVE),
    Forgery("no mean", "evaluations", _bm25("mean", None), f"mean none {_GIVE}"),
    Forgery("mean of weighted groups", "evaluations", _bm25(
        "mean", 1.5, metric="ndcg(weights=group)@3"), f"mean 1.5 {_GIVE}"),
    Forgery("mean if ties fell worst", "evaluations", _bm25("worst_mean", 0.1), f"worst_mean 0.1 {_GIVE}"),
    Forgery("mean if ties fell best", "evaluations", _bm25("best_mean", 1.0), f"best_mean 1.0 {_GIVE}"),
    Forgery("number of groups", "evaluations", _bm25("n_groups", 10**9), f"n_groups 1000000000 {_GIVE}"),
    Forgery("number of missing groups", "evaluations", _bm25("n_missing", 3), f"n_missing 3 {_GIVE}"),
    Forgery("number of undefined groups", "evaluations", _bm25("n_undefined", -1),
        "row 1 breaks the rule: n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0"),
    Forgery("number of results", "evaluations", _bm25("n_rows", 4), "its rows are not in the order"),
    Forgery("number of results below 0", "evaluations", _bm25("n_rows", -4), "rows left, not the -4 of"),
    Forgery("another cutoff for the same results", "evaluations", _bm25("metric", "ndcg@1"), "its rows are not in "),
    Forgery("metric that is unknown", "evaluations", _bm25("metric", "ndcg@@"), "has a wrong metric: "),
    Forgery("metric of another spelling", "evaluations", _bm25("metric", "ndcg@03"), "its rows are not in the order"),
    Forgery("name with control characters", "evaluations", _bm25("requested_as", "\x1b[2J"), "cannot be printed"),
    Forgery("evaluation twice", "evaluations", lambda rows: rows[:1] + rows, "row 2 is there twice"),
    Forgery("evaluation of no run", "evaluations", _set("run_id", 9, place=-1), "names run_id 9, which is not there"),
    Forgery("evaluation under no labels", "evaluations", _bm25("label_set_version", 7), "its rows are not in the"),
    Forgery("judged share", "coverages", _set("judged_share", 0.5), f"judged_share 0.5 {_GIVE}"),
    Forgery("judged share above 1", "coverages", _set("judged_share", 7.0), "breaks the rule: judged_share >= 0"),
    Forgery("judged share below the first item", "coverages", _set("cutoff", -3),
        "breaks the rule: cutoff >= 0"),
    Forgery("score", "items", _set("score", 9.0), f"run 'bm25' {_CONTENT}"),
    Forgery("score that is not finite", "items", _set("score", float("inf")), "has a number that is not finite"),
    Forgery("scores of two items exchanged", "items", _swap("score", 0, 2), f"run 'bm25' {_CONTENT}"),
    Forgery("score as text", "items", _as_text, "cannot be read"),
    Forgery("item", "items", _set("item_key", "z"), f"run 'bm25' {_CONTENT}"),
    Forgery("item twice", "items", _set("item_key", "b"),
        "run 'bm25' of dataset 'default': some list has an item twice"),
    Forgery("item moved to another group", "items", _set("group_key", "q2"), f"run 'bm25' {_CONTENT}"),
    Forgery("item left out", "items", lambda rows: rows[1:], "its rows are not in the order"),
    Forgery("items of two runs exchanged", "items", lambda rows: rows[::-1], "its rows are not in the order"),
    Forgery("digest of a run", "runs", _set("digest", "0" * 32), f"run 'bm25' {_CONTENT}"),
    Forgery("number of items", "runs", _set("n_items", 10**12), "but says 1000000000000 in 5"),
    Forgery("run twice", "runs", lambda rows: rows[:1] + rows, "row 2 is there twice"),
    Forgery("run of no dataset", "runs", _set("dataset_id", 9), "row 1 names dataset_id 9, which is not there"),
    Forgery("run with control characters", "runs", _set("name", "\x1b[2J"), "control characters"),
    Forgery("date that is none", "runs", _set("created_at_utc", "yesterday"), "'yesterday' is not a time"),
    Forgery("tags that are no object", "runs", _set("tags", "[1]"), "that are not a JSON object"),
    Forgery("tags cut short", "runs", _set("tags", "[["), "that are not a JSON object"),
    Forgery("tags nested deeply", "runs", _set("tags", _DEEP), "that are not a JSON object"),
    Forgery("tags nested in an object", "runs", _set("tags", '{"a":' * 500 + "1" + "}" * 500), "tags are nested more "),
    Forgery("parameters with a NUL", "runs", _set("parameters", '{"a": "\\u0000"}'), "contain a NUL character"),
    Forgery("commit with control characters", "runs", _set("git_commit", "\x1b[2J"), "cannot be printed"),
    Forgery("grade", "labels", _set("grade", 9.0), _LABELS),
    Forgery("judged item", "labels", _set("item_key", "z"), _LABELS),
    Forgery("label left out", "labels", lambda rows: rows[1:], "rows left, not the"),
    Forgery("digest of labels", "label_sets", _set("digest", "0" * 32), _LABELS),
    Forgery("labels twice", "label_sets", lambda rows: rows + rows, "row 3 is there twice"),
    Forgery("labels that nobody computes from", "label_sets", _set("judge", "\x1b[2J"), "control characters"),
    Forgery("weight of a group", "groups", _set("weight", 50.0), "mean "),
    Forgery("weight below 0", "groups", _set("weight", -1.0), "has a weight that is not from 0"),
    Forgery(
        "attributes that are no object", "groups", _set("attributes", "7"), "that are not a JSON object"),
    Forgery("value of another engine out of its range", "group_results", _set(
        "value", 900.0, metric=_EXTERNAL), "value 900.0 is stated, which the metric cannot have"),
    Forgery("mean of another engine", "evaluations", _set(
        "mean", 1.0, metric=_EXTERNAL), "mean 1.0 is stated, but the results of the groups give 12.0"),
    Forgery("alias of no run", "aliases", _set("run_id", 9), "row 1 names run_id 9, which is not there"),
    Forgery("alias with control characters", "aliases", _set("name", "\x1b[2J"), "control characters"),
    Forgery("move of an alias at no time", "alias_moves", _set("created_at_utc", "soon"), "'soon' is not a time"),
    Forgery("decision that is none", "decisions", _set("decision", "maybe"),
        "breaks the rule: decision IN ("),
    Forgery("decision without a reason", "decisions", _set("reason", None), "row 1 has no reason"),
    Forgery("decision under no labels", "decisions", _set("label_set_id", 7),
        "row 1 names label_set_id 7, which is not there"),
    Forgery("loss that is no number", "decisions", _set("delta", float("inf")), "has a number that is not finite"),
    Forgery("dataset of no rows", "aliases", _set("dataset_id", 9), "row 1 names dataset_id 9, which is not there"),
    Forgery("file cut short", "items", lambda rows: b"PAR1", "not a readable Parquet file"),
    Forgery("file of another table", "items", lambda rows: pa.table({"a": [1]}), "has columns other than"),
]  # fmt: skip


def fill(tracker: Tracker) -> None:
    """Store two runs with weights, attributes and undefined results, and one of another engine."""
    tracker.ingest(
        frame_of(BM25), labels=frame_of({**LABELS, "q6": {"z": 1}}, "label"), name="bm25", metrics=METRICS,
        git_commit="abc", tags={"branch": "main"},
    )  # fmt: skip
    tracker.set_groups({"group": ["q1", "q2"], "weight": [2.0, 0.5], "locale": ["de", "en"]}, default_weight=1.0)
    tracker.ingest(frame_of(DENSE), name="dense", metrics=METRICS, git_commit="")
    tracker.set_alias("baseline", "bm25")
    tracker.gate("dense", baseline="@baseline", metric="ndcg(missing=skip)@3", margin=0.5, missing="zero")
    tracker.log_results({"q1": 10.0, "q2": 14.0}, name="dense", metric="latency", direction="lower", range=(0, 100))


def fault_of(forgery: Forgery, export: Path, folder: Path, tracker: Tracker, url: str) -> str:
    """Return what is wrong with how a forged export was taken, "" if it was refused as it should be."""
    shutil.copytree(export, folder)
    before = row_counts(url)
    try:
        forgery.apply(folder)
        tracker.import_runs(folder)
    except NdcgTrackerError as error:
        if "\n" in str(error) or forgery.says not in str(error):
            return f"{forgery.kind}: {error}"
    except Exception as error:
        return f"{forgery.kind}: {type(error).__name__}: {error}"
    else:
        return f"{forgery.kind}: it was imported"
    finally:
        shutil.rmtree(folder)
    return "" if row_counts(url) == before else f"{forgery.kind}: something was stored"


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield, per engine, how many forged exports are refused; the quick size takes every third."""
    chosen = FORGERIES if setting.size == "full" else FORGERIES[::3]
    for engine in setting.engines:
        with database(setting, engine) as source, database(setting, engine) as target:
            export = setting.folder / f"export-{engine}"
            with Tracker(source) as tracker:
                fill(tracker)
                tracker.export_runs(export)
            with Tracker(target) as tracker:
                folder = setting.folder / f"forged-{engine}"
                faults = [fault_of(one, export, folder, tracker, target) for one in chosen]
                whole = tracker.import_runs(export)
            shutil.rmtree(export)
        told = [one for one in faults if one]
        unverified = whole.n_not_verifiable
        figure = f"{len(chosen) - len(told)} of {len(chosen)} refused in one line, nothing stored"
        met = not told and [run.outcome for run in whole.runs] == ["stored", "stored"] and unverified == 1
        what = (
            "forged exports: results, means, counts, items, labels, digests, weights, facts, aliases, decisions, files"
        )
        yield Outcome(22, what, engine_name(engine), GOAL, figure, met, "; ".join(told))
