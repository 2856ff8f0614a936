"""Ties in a list: the order of the input breaks them wherever the input is a list per query, and stays with the run."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import CommandLine
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import NameTakenError, NdcgTrackerWarning
from ndcg_tracker.runs.check import check_database

LABELS = {"q1": {"a1": 1, "z9": 0}}
METRICS = [
    "P@1",
    "RR",
    "RR@10",
    "ndcg@10",
    "trec_eval:ndcg_cut_10",
    "ndcg(ties=pessimistic)@10",
    "RR(ties=item_desc)@10",
]
BY_INPUT = [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1 / 3]
BY_ID = [0.0, 1 / 3, 1.0, 0.5, 0.5, 0.5, 1 / 3]
TOLD = "items of equal score keep the order of the input"
HITS = [{"_index": "shop", "_id": item, "_score": 1.0} for item in ("a1", "b2", "z9")]
RESPONSE = {"took": 3, "hits": {"total": {"value": 3}, "hits": HITS}}
PAIRS = {"q1": [("a1", 1.0), ("b2", 1.0), ("z9", 1.0)]}
BY_ITEM = {"q1": {"a1": 1.0, "b2": 1.0, "z9": 1.0}}
ROWS = {"group": ["q1"] * 3, "item": ["a1", "b2", "z9"], "score": [1.0] * 3}
DOCUMENTS = [SimpleNamespace(id=item, score=1.0, metadata={}) for item in ("a1", "b2", "z9")]
OF_LISTS = {
    "a response": {"q1": RESPONSE},
    "pairs": PAIRS,
    "pairs in disorder": {"q1": [("x", 0.5), *PAIRS["q1"]]},
    "documents": {"q1": DOCUMENTS},
    "documents with scores": {"q1": [(document, 1.0) for document in DOCUMENTS]},
}
HERE = {"dataset": "shop", "labels": LABELS, "metrics": METRICS}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("form", OF_LISTS)
def test_the_order_of_a_list_breaks_its_ties(tracker: nt.Tracker, form: str) -> None:
    held = OF_LISTS[form]
    with pytest.warns(NdcgTrackerWarning, match=f"^the run: {TOLD}$"):
        assert nt.evaluate(held, METRICS, labels=LABELS).mean.tolist() == BY_INPUT
    stored = tracker.ingest(held, name="listed", **HERE)
    assert [metric.mean for metric in stored.metrics] == BY_INPUT
    assert TOLD in stored.notes
    assert tracker.sql("SELECT tie_order FROM run_details").to_numpy().tolist() == [["input"]]
    assert tracker.show("listed").tie_order == "input"
    again = tracker.ingest(held, name="listed", **HERE)
    assert (again.outcome, [metric.mean for metric in again.metrics]) == ("already stored", BY_INPUT)
    further = {"P@2": 0.5, "AP": 1.0, "ndcg(depth=1)": 1.0, "R@1": 1.0}
    rescored = tracker.rescore("listed", metrics=list(further), dataset="shop")
    assert {metric.metric: metric.mean for metric in rescored[0].metrics} == further


@pytest.mark.parametrize("rows", [BY_ITEM, ROWS], ids=["by item", "rows"])
def test_ids_break_the_ties_of_rows_and_dicts(tracker: nt.Tracker, rows: object) -> None:
    assert nt.evaluate(rows, METRICS, labels=LABELS, item="item").mean.tolist() == BY_ID
    stored = tracker.ingest(rows, name="rows", item="item", **HERE)
    assert [metric.mean for metric in stored.metrics] == BY_ID
    assert TOLD not in stored.notes
    assert tracker.show("rows").tie_order is None


def test_another_order_of_ties_is_other_content(tracker: nt.Tracker) -> None:
    tracker.ingest(PAIRS, name="listed", **HERE)
    turned = {"q1": PAIRS["q1"][::-1]}
    taken = "run 'listed' of dataset 'shop' is already stored with other content"
    for other in (turned, BY_ITEM):
        assert refusal_of(NameTakenError, tracker.ingest, other, name="listed", **HERE).startswith(taken)
    replaced = tracker.ingest(turned, name="listed", replace=True, **HERE)
    assert [metric.mean for metric in replaced.metrics][:2] == [0.0, 1 / 3]
    assert tracker.show("listed").tie_order == "input"


def test_lists_without_ties_are_the_same_content_in_any_form(tracker: nt.Tracker) -> None:
    untied = {item: -float(place) for place, item in enumerate(BY_ITEM["q1"])}
    first = tracker.ingest({"q1": untied}, name="one", **HERE)
    again = tracker.ingest({"q1": list(untied.items())}, name="one", **HERE)
    assert (again.outcome, again.run_id) == ("already stored", first.run_id)
    assert TOLD not in again.notes
    turned = {"q1": list(untied.items())[::-1]}
    assert tracker.ingest(turned, name="one", **HERE).outcome == "already stored"


def test_an_export_keeps_the_order_of_ties(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    tracker.ingest(PAIRS, name="listed", **HERE)
    tracker.export_runs(tmp_path / "out", ["listed"])
    other.import_runs(tmp_path / "out")  # it computes what it can, and refuses other values
    assert other.show("listed").tie_order == "input"
    assert other.show("listed").digest == tracker.show("listed").digest
    rescored = other.rescore("listed", metrics=["P@2", "Success@1"], dataset="shop")
    assert [metric.mean for metric in rescored[0].metrics] == [0.5, 1.0]
    assert other.ingest(PAIRS, name="listed", **HERE).outcome == "already stored"


def test_what_tells_of_ties_tells_their_order(tracker: nt.Tracker) -> None:
    tracker.ingest(PAIRS, name="listed", **HERE)
    tracker.ingest(BY_ITEM, name="rows", **HERE)
    of_both = f"in listed, {TOLD}; in rows, their ids decide"
    compared = tracker.compare("rows", "listed", dataset="shop", metrics="ndcg@10")
    assert of_both in compared.notes
    assert compared.to_dict()["metrics"][0]["delta"] == 0.5
    assert of_both in tracker.gate("listed", baseline="rows", dataset="shop", scope="set", metric="ndcg@10").notes
    assert f"in listed, {TOLD}" in tracker.compare("listed", "listed", dataset="shop", metrics="ndcg@10").notes
    untied = {"q1": {"a1": 3.0, "b2": 2.0, "z9": 1.0}}
    tracker.ingest({"q1": list(untied["q1"].items())}, name="untied list", **HERE)
    tracker.ingest({"q1": {"z9": 1.0}}, name="one item", **HERE)
    assert not [note for note in tracker.compare("one item", "untied list", dataset="shop").notes if TOLD in note]
    by_text = {convention.text: convention for convention in tracker.conventions("listed", dataset="shop")}
    assert (by_text["ndcg@10"].mean, by_text["ndcg@10"].tie_order) == (1.0, "input")
    assert by_text["trec_eval:ndcg_cut_10"].tie_order == "input"
    assert by_text["xgboost:ndcg@10"].tie_order is by_text["catboost:NDCG:top=10"].tie_order is None
    assert {convention.tie_order for convention in tracker.conventions("rows", dataset="shop")} == {None}


def test_items_are_explained_in_that_order(tracker: nt.Tracker) -> None:
    tracker.ingest(PAIRS, name="listed", **HERE)
    tracker.ingest(BY_ITEM, name="rows", **HERE)
    explained = tracker.explain("rows", "listed", group="q1", metric="ndcg@10", dataset="shop").to_dict()
    ranks = {item["item"]: (item["rank_baseline"], item["rank_candidate"]) for item in explained["items"]}
    assert ranks == {"a1": (3, 1), "b2": (2, 2), "z9": (1, 3)}
    assert (explained["baseline"], explained["candidate"], explained["delta"]) == (0.5, 1.0, 0.5)
    kept = tracker.sql("SELECT item_key FROM items WHERE run = 'listed' ORDER BY rank")
    assert kept["item_key"].tolist() == ["a1", "b2", "z9"]
    assert tracker.diff("rows", "listed", dataset="shop").to_dict()["tau"] == -1.0


def test_a_part_of_a_dataset_keeps_the_order(tracker: nt.Tracker, held: str) -> None:
    groups = [f"q{number}" for number in range(20)]
    labels = dict.fromkeys(groups, LABELS["q1"])
    tracker.add_labels(labels, dataset="shop")
    tracker.split_dataset("shop", seal=0.5, seed="1", metric="ndcg@10", margin=0.01)
    stored = tracker.ingest(dict.fromkeys(groups, PAIRS["q1"]), name="listed", dataset="shop", metrics="P@1")
    assert stored.metrics["P@1"].mean == 1.0
    assert tracker.show("listed", dataset="shop").tie_order == "input"


def test_the_order_is_checked_without_the_facts_of_a_run(sqlite_url: str) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        tracker.ingest(PAIRS, name="listed", **HERE)
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("UPDATE runs SET tags = '['")
    damage = check_database(sqlite_url).damage
    assert [line for line in damage if "digest" in line] == []
    assert "tags" in " ".join(damage)


# the command line


@pytest.fixture
def responses(folder: Path) -> None:
    """Files of one response, of lines, of Elasticsearch's _rank_eval, of rows; ids and labels."""
    (folder / "ids.txt").write_text("q1\n")
    (folder / "labels.csv").write_text("group,item,label\nq1,a1,1\nq1,z9,0\n")
    (folder / "one.json").write_text(json.dumps(RESPONSE))
    (folder / "lines.jsonl").write_text(json.dumps({"query": "q1"} | RESPONSE) + "\n")
    hits = [{"hit": hit, "rating": None} for hit in HITS]
    details = {"q1": {"metric_score": 1.0, "unrated_docs": [], "hits": hits}}
    (folder / "evaluated.json").write_text(json.dumps({"metric_score": 1.0, "details": details, "failures": {}}))
    (folder / "lists.json").write_text(json.dumps(PAIRS))
    (folder / "items.json").write_text(json.dumps(BY_ITEM))
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps({"group": "q1", "item": i, "score": 1}) + "\n" for i in BY_ITEM["q1"])
    )
    (folder / "rows.run").write_text("".join(f"q1 Q0 {item} {at} 1.0 t\n" for at, item in enumerate(BY_ITEM["q1"], 1)))


WAYS = [
    ("one.json", ("--group", "@ids.txt"), 1.0),
    ("lines.jsonl", ("--group", "query,group"), 1.0),
    ("lines.jsonl", ("--group", "query,group", "--stream"), 1.0),
    ("evaluated.json", (), 1.0),
    ("lists.json", (), 1.0),
    ("items.json", (), 0.0),
    ("rows.jsonl", (), 0.0),
    ("rows.run", (), 0.0),
    ("rows.run", ("--stream",), 0.0),
]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(("file", "options", "value"), WAYS)
def test_files(command: CommandLine, responses: None, file: str, options: tuple[str, ...], value: float) -> None:
    told = command("ingest", file, "--labels", "labels.csv", "--metric", "P@1", "--name", "run", *options)
    assert (told.code, TOLD in told.out + told.err) == (0, value == 1.0)
    assert command.rows("sql", "SELECT mean FROM run_summary") == [{"mean": value}]
    if "--stream" not in options:
        (evaluated,) = command.rows("evaluate", file, "--labels", "labels.csv", "--metric", "P@1", *options)
        assert evaluated["mean"] == value


def test_files_read_side_by_side(command: CommandLine, responses: None) -> None:
    files = ("lists.json", "items.json", "evaluated.json", "rows.run")
    assert command("ingest", *files, "--labels", "labels.csv", "--metric", "P@1", "--jobs", "2").code == 0
    found = command.rows("sql", "SELECT run, mean FROM run_summary ORDER BY run")
    assert {row["run"]: row["mean"] for row in found} == {"lists": 1.0, "items": 0.0, "evaluated": 1.0, "rows": 0.0}
    shown = command.done("doctor", "conventions", "lists", "--cutoff", "1")
    (ours,) = (line for line in shown.splitlines() if line.startswith("ndcg@1 "))
    assert ours.endswith("ties in the order of the run's input")
    assert "tie_order  input" in command.done("runs", "show", "lists", "-v")
