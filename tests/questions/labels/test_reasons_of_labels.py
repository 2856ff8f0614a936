"""The reason of a label, its model and how several labels of one judge spread: read, kept, and shown where it is."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import CommandLine
from exchanged import other
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerWarning
from ndcg_tracker.questions.labels.say import labels_diff_said
from ndcg_tracker.rankings.ranking import Details, LabelDetail
from ndcg_tracker.runs.check import check_database

__all__ = ["other"]

ROWS: list[dict[str, Any]] = [
    {"query": "q1", "doc": "a", "label": 2, "Rationale": "it answers, in full"},
    {"query": "q1", "doc": "b", "label": 0, "Rationale": "about <b>shoes</b>\x1b[2J"},
    {"query": "q2", "doc": "a", "label": 1, "Rationale": None},
]
WHY = {("q1", "a"): "it answers, in full", ("q1", "b"): "about <b>shoes</b>\x1b[2J"}
NAMED = {"group": "query", "item": "doc"}
RUNS = {"old": {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0}}, "new": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}}


def details(tracker: nt.Tracker, version: int = 1, dataset: str = "default") -> Details:
    with tracker.store().read() as tx:
        sets = tx.labels.sets(tx.datasets.known(dataset).id, None)
        return tx.labels.details(sets[version - 1])


def reasons(tracker: nt.Tracker, version: int = 1, dataset: str = "default") -> dict[tuple[str, str], str]:
    return {pair: detail.reason for pair, detail in details(tracker, version, dataset).items()}


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def as_csv(rows: list[dict[str, Any]], folder: Path) -> str:
    return written(folder / "labels.csv", pd.DataFrame(rows).to_csv(index=False))


FORMS: dict[str, Callable[[list[dict[str, Any]], Path], object]] = {
    "csv": as_csv,
    "jsonl": lambda rows, folder: written(folder / "labels.jsonl", "\n".join(map(json.dumps, rows))),
    "json": lambda rows, folder: written(folder / "labels.json", json.dumps(rows)),
    "frame": lambda rows, _: pd.DataFrame(rows),
    "arrow": lambda rows, _: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "records": lambda rows, _: rows,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_named", [True, False])
def test_reasons_are_read_in_every_form(tracker: nt.Tracker, form: str, is_named: bool, tmp_path: Path) -> None:
    with nullcontext() if is_named else pytest.warns(NdcgTrackerWarning, match="items from 'doc', grades from 'label'"):
        tracker.add_labels(FORMS[form](ROWS, tmp_path), **(NAMED if is_named else {}))  # type: ignore[arg-type]
    assert reasons(tracker) == WHY
    assert tracker.label_versions()[0].n_labels == 3


@pytest.mark.parametrize("name", ["reason", "Reasoning", "explanation", "JUSTIFICATION"])
def test_other_names_of_the_column(tracker: nt.Tracker, name: str) -> None:
    rows = [{"group": "q", "item": "a", "label": 1, name: "why"}]
    assert tracker.add_labels(rows).n_reasons == (1, 0)
    assert reasons(tracker) == {("q", "a"): "why"}


def test_a_column_with_a_role_is_no_reason(tracker: nt.Tracker) -> None:
    tracker.add_labels([{"group": "q", "item": "a", "reason": 2, "rationale": "why"}], label="reason")
    assert reasons(tracker) == {("q", "a"): "why"}
    assert tracker.label_versions()[0].grades[0].grade == 2


def test_a_column_judge_that_holds_grades_is_read_as_these(tracker: nt.Tracker, tmp_path: Path) -> None:
    path = written(tmp_path / "grades.csv", "query,doc,judge\nq1,a,2\nq1,b,0\nq2,c,1\n")
    with pytest.warns(NdcgTrackerWarning, match="relevant ids from 'doc', grades from 'judge'"):
        tracker.add_labels(path)
    assert [of.n for of in tracker.label_versions()[0].grades] == [1, 1, 1]


def test_plain_labels_store_nothing_more(tracker: nt.Tracker) -> None:
    tracker.add_labels([{"group": "q", "item": "a", "label": 1, "model": "T"}, {"group": "q", "item": "b", "label": 0}])
    assert details(tracker) == {}
    assert tracker.label_versions()[0].model == ""


def test_a_text_that_no_database_keeps_is_refused(tracker: nt.Tracker, tmp_path: Path) -> None:
    rows = [{"group": "q", "item": item, "label": 1, "reason": why} for item, why in (("a", "fine"), ("b", "x\0y"))]
    path = FORMS["jsonl"](rows, tmp_path)
    told = refusal_of(InputError, tracker.add_labels, path)
    assert told == f"{path}:2: the reason has a NUL byte; write the file again without it"


def test_a_judge_and_a_model_come_along_where_the_columns_are_recognised(tracker: nt.Tracker, tmp_path: Path) -> None:
    rows = [row | {"judge": judge, "model": f"{judge}-1"} for judge in ("ann", "llama") for row in ROWS]
    with pytest.warns(NdcgTrackerWarning, match="items from 'doc'"):
        first = tracker.add_labels(as_csv(rows, tmp_path))
    assert [first.judge, *(of.judge for of in first.further)] == ["ann", "llama"]
    assert details(tracker, 2)["q1", "a"] == LabelDetail("it answers, in full", 1, 0.0, "llama", "llama-1")
    mixed = [row | {"model": str(place)} for place, row in enumerate(ROWS)]
    assert "the labels have the models '0', '1' and '2'; give each its own judge" in refusal_of(
        InputError, tracker.add_labels, mixed, **NAMED
    )


REPEATED = [ROWS[0] | {"label": grade, "Rationale": why} for grade, why in ((2, "full"), (1, "part"), (2, "full"))]


def test_repeats_of_a_judge_keep_their_spread_for_each_label(tracker: nt.Tracker) -> None:
    of_model = {"judge": "llama", "model": "L", "prompt": "v1"}
    with pytest.warns(NdcgTrackerWarning, match="standard deviation 0.5774"):
        tracker.add_labels([*REPEATED, *ROWS[1:]], allow="duplicates:mean", **of_model, **NAMED)
    found = details(tracker)
    assert found["q1", "a"] == LabelDetail("2: full; 1: part", 3, pytest.approx(1 / 3**0.5), "llama", "L", "v1")
    assert found["q1", "b"] == LabelDetail(WHY["q1", "b"], 1, 0.0, "llama", "L", "v1")
    (told,) = tracker.query("SELECT n_given, reason, model FROM label_details WHERE std_dev > 0").rows
    assert told == (3, "2: full; 1: part", "L")


@pytest.mark.parametrize(("way", "why"), [("first", "full"), ("best", "more")])
def test_the_reason_is_that_of_the_label_that_counts(tracker: nt.Tracker, way: str, why: str) -> None:
    rows = [ROWS[0] | {"label": grade, "Rationale": why} for grade, why in ((1, "full"), (3, "more"))]
    tracker.add_labels(rows, allow=f"duplicates:{way}", **NAMED)
    assert reasons(tracker) == {("q1", "a"): why}


def test_a_document_has_the_reason_of_its_best_chunk(tracker: nt.Tracker) -> None:
    rows = [{"group": "q", "item": f"d#{n}", "label": n, "reason": f"chunk {n}"} for n in (1, 2)]
    tracker.add_labels(rows, item_to_document="#.*")
    assert reasons(tracker) == {("q", "d"): "chunk 2"}


@pytest.mark.both_engines
def test_versions_that_extend_or_carry_have_the_reasons(tracker: nt.Tracker) -> None:
    tracker.add_labels(ROWS, judge="llama", model="L", **NAMED)
    more = [{"group": "q2", "item": "c", "label": 1, "reason": "new"}]
    added = tracker.add_labels(more, judge="llama", extend=True, added_by="ann", model="M")
    assert (added.version, added.n_reasons) == (2, (1, 0))
    assert details(tracker, 2)["q2", "c"] == LabelDetail("new", 1, 0.0, "ann", "M")
    assert details(tracker, 2)["q1", "a"].model == "L"
    tracker.carry_labels({"b": "B2", "c": "C"}, judge="llama")
    assert reasons(tracker, 3) == {**WHY, ("q2", "c"): "new"}
    tracker.add_labels([{"group": "q1", "item": "a", "label": 0}], judge="llama", replace=True)
    assert details(tracker, 4) == {}
    with tracker.store().read() as tx:
        label_set = tx.labels.sets(tx.datasets.known("default").id, None)[1]
        assert {*tx.labels.details(label_set, ["q2"])} == {("q2", "c")}


@pytest.mark.both_engines
def test_the_first_reason_of_what_is_extended_stays(tracker: nt.Tracker) -> None:
    tracker.add_labels(ROWS, **NAMED)
    later = [
        {"group": "q1", "item": "a", "label": 2, "reason": "later"},
        {"group": "q3", "item": "a", "label": 1, "reason": "new"},
    ]
    added = tracker.add_labels(later, extend=True, added_by="bob")
    assert (added.version, added.n_reasons) == (2, (1, 1))
    assert details(tracker, 2)["q1", "a"] == details(tracker, 1)["q1", "a"]
    assert reasons(tracker, 2) == {**WHY, ("q3", "a"): "new"}


def test_the_first_reason_of_a_version_stays(command: CommandLine, tmp_path: Path) -> None:
    plain = [{name: row[name] for name in ("query", "doc", "label")} for row in ROWS]
    assert command.said("labels", "add", as_csv(plain, tmp_path), "--group", "query", "--item", "doc").endswith(
        "stored as version 1 of dataset 'default': 3 labels\n"
    )
    add = ["labels", "add", "PATH", "--group", "query", "--item", "doc"]
    for rows, last in (
        (ROWS, ["already stored as version 1 of dataset 'default': 3 labels, 2 with a reason"]),
        (ROWS, ["already stored as version 1 of dataset 'default': 3 labels"]),
        (
            [ROWS[0] | {"Rationale": "other"}, *ROWS[1:]],
            [
                "already stored as version 1 of dataset 'default': 3 labels",
                "note: 1 label already has another reason, which stays; to keep both, add the file as labels of "
                "another judge with --judge NAME",
            ],
        ),
    ):
        add[2] = as_csv(rows, tmp_path)
        assert command.said(*add).splitlines() == [
            f"note: {add[2]}: read 'Rationale' as the reason of each label",
            *last,
        ]


def test_what_a_label_says_is_shown_where_it_is(command: CommandLine, tmp_path: Path) -> None:
    with nt.Tracker(command.url) as tracker:
        tracker.add_labels(ROWS, judge="llama", model="L-70B", prompt="v1", **NAMED)
        for name, run in RUNS.items():
            tracker.ingest(run, name=name)
        other = [ROWS[0] | {"label": 1, "Rationale": "only in part"}, ROWS[1] | {"label": 1}, ROWS[2]]
        tracker.add_labels(other, judge="ann", **NAMED)
        explained = command.rows("explain", "old", "new", "--group", "q1", "--judge", "llama")
        of_a = next(item for item in explained["items"] if item["item"] == "a")
        names = ("reason", "n_given", "given_by", "model", "prompt")
        assert [of_a[name] for name in names] == ["it answers, in full", 1, "llama", "L-70B", "v1"]
        assert explained["label_set"]["model"] == "L-70B"
        text = command.done("explain", "old", "new", "--group", "q1", "--judge", "llama")
        assert "\nreasons of llama (model L-70B, prompt v1)\na (grade 2): it answers, in full\n" in text
        table = command.done("explain", "old", "new", "--group", "q1", "--judge", "llama", "--format", "csv")
        assert next(csv.DictReader(table.splitlines()))["reason"] == "it answers, in full"
        assert "labels by      llama (model L-70B, prompt v1)" in command.done("show", "new")
        assert command.rows("show", "new")["label_set"]["prompt"] == "v1"
        pairs = str(tmp_path / "pairs.csv")
        text = command.done("labels", "agreement", "llama", "ann", "--export-pairs", pairs)
        assert "llama on q1, a (2): it answers, in full\nann on q1, a (1): only in part\n" in text
        assert "llama on q1, b (0): about <b>shoes</b>\\x1b[2J\n... and 1 more reason; JSON has all\n" in text
        change, _ = command.rows("labels", "diff", "1", "2")["changes"]
        assert [change[f"{of}_detail"]["reason"] for of in ("first", "second")] == [
            "it answers, in full",
            "only in part",
        ]
        first = next(csv.DictReader(Path(pairs).read_text("utf-8").splitlines()))
        assert (first["reason of llama"], first["reason of ann"]) == ("it answers, in full", "only in part")


def test_many_reasons_are_cut_and_counted(tracker: nt.Tracker) -> None:
    rows = [{"group": "q", "item": f"d{n}", "label": n % 2, "reason": f"why {n}"} for n in range(8)]
    tracker.add_labels(rows, judge="llama")
    tracker.add_labels([row | {"label": 1 - row["label"]} for row in rows], judge="ann")
    text = labels_diff_said(tracker.labels_diff(1, 2)).in_format("text")
    assert text.count("why") == 3
    assert "... and 13 more reasons; JSON has all" in text


@pytest.mark.both_engines
def test_an_export_of_runs_has_the_reasons(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    tracker.add_labels([{"group": "q0", "item": "z", "label": 1}], dataset="before")
    tracker.add_labels(ROWS, **NAMED)
    tracker.add_labels([{"group": "q3", "item": "c", "label": 1, "reason": "new"}], extend=True)
    tracker.ingest(RUNS["new"], name="new")
    tracker.export_runs(tmp_path / "out", ["new"])
    found = {**WHY, ("q3", "c"): "new"}
    for _ in range(2):
        other.import_runs(tmp_path / "out")
        assert reasons(other, 2) == found
    other.import_runs(tmp_path / "out", dataset="copy")
    assert reasons(other, 2, "copy") == found
    (tmp_path / "out" / "label_reasons.parquet").unlink()  # as exports of older versions are
    other.import_runs(tmp_path / "out", dataset="older")
    assert reasons(other, 2, "older") == {}


def test_an_import_brings_the_reasons_that_are_not_here(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    tracker.add_labels(ROWS, **NAMED)
    tracker.ingest(RUNS["new"], name="new")
    tracker.export_runs(tmp_path / "out", ["new"])
    other.add_labels([{**row, "Rationale": "mine" if row["doc"] == "b" else None} for row in ROWS], **NAMED)
    other.import_runs(tmp_path / "out")
    assert reasons(other) == {**WHY, ("q1", "b"): "mine"}


def test_reasons_are_kept_where_each_query_has_one_label(tracker: nt.Tracker, tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "doc": "d", "label": 1, "reason": f"why {n}"} for n in range(3)]
    with pytest.warns(NdcgTrackerWarning, match="read 3 queries from 'query'"):
        tracker.add_labels(written(tmp_path / "labels.json", json.dumps(rows)), relevant="doc")
    assert reasons(tracker) == {(f"q{n}", "d"): f"why {n}" for n in range(3)}


def test_reasons_in_a_list_are_refused(tracker: nt.Tracker) -> None:
    rows = [{"group": "q1", "item": ["1", "2"], "label": [1, 0], "reason": ["first", "second"]}]
    assert refusal_of(InputError, tracker.add_labels, rows) == (
        "row 1: the reasons of labels are in a list; give each label a row of its own, with its reason"
    )


def test_an_item_may_be_called_reason(tracker: nt.Tracker, tmp_path: Path) -> None:
    path = written(tmp_path / "labels.json", '{"q1": {"1": 1, "reason": 2}, "q2": {"3": 1}}')
    run = {"q1": {"1": 1.0, "reason": 2.0}, "q2": {"3": 1.0}}
    assert nt.evaluate(run, labels=path).mean.to_list() == [1.0]


@pytest.mark.both_engines
def test_a_split_takes_each_reason_to_its_part(
    tracker: nt.Tracker, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", str(tmp_path / "held.db"))
    rows = [{"group": f"q{n}", "item": "a", "label": 1, "reason": f"why {n}"} for n in range(20)]
    tracker.add_labels(rows)
    tracker.carry_labels({"a": "A"})
    tracker.split_dataset("default", seal=0.5, metric="ndcg@10", margin=0.01, seed="s")
    with closing(sqlite3.connect(tmp_path / "held.db")) as held:
        moved = dict(held.execute("SELECT group_key, reason FROM label_details").fetchall())
    left = {group: reason for (group, _), reason in reasons(tracker, 2).items()}
    assert left | moved == {f"q{n}": f"why {n}" for n in range(20)}
    assert len(left) + len(moved) == 20 > len(left) > 0
    assert check_database(database_url).damage == []
