"""Metrics as people type them, wherever the command line asks for one: understood, told once, and kept."""

import csv
import io

import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS


def mean(metric: str) -> float:
    """Return what bm25 has."""
    found = results(metric, BM25, LABELS).mean
    assert found is not None
    return found


def test_ingest_says_once_how_it_reads_a_name(command: CommandLine, files: None) -> None:
    arguments = [
        "ingest",
        "bm25.csv",
        "dense.run",
        "--labels",
        "labels.csv",
        "--metric",
        "map,P_1,2",
        "--metric",
        "MRR",
    ]
    printed = command(*arguments)
    assert printed.err.splitlines() == [
        "note: map is read as AP",
        "note: P_1 is read as P@1",
        "note: P_2 is read as P@2",
        "note: MRR is read as RR",
    ]
    assert [line.split() for line in printed.out.splitlines()[:3]] == [
        ["run", "id", "dataset", "outcome", "groups", "items", "labels", "metric", "mean", "missing", "undefined",
         "requested", "as"],
        ["bm25", "1", "default", "stored", "5", "11", "1", "AP", f"{mean('AP'):.4f}", "0", "0", "map"],
        ["bm25", "1", "default", "stored", "5", "11", "1", "P@1", f"{mean('P@1'):.4f}", "0", "0", "P_1"],
    ]  # fmt: skip
    again = list(csv.DictReader(io.StringIO(command.done("ingest", "bm25.csv", "--metric", "AP", "--format", "csv"))))
    assert [(row["metric"], row["requested_as"]) for row in again] == [("AP", "map")]


def test_a_list_does_not_break_what_holds_commas(command: CommandLine, files: None) -> None:
    text = "ndcg(gain={1:3.5, 2:9}, ties=average)@10,lightgbm(label_gain=0,1,3,7):ndcg@2,catboost:NDCG:top=2;type=Exp"
    printed = command("ingest", "bm25.csv", "--labels", "labels.csv", "--metric", text, "--format", "json")
    assert printed.err == ""
    asked = [row["requested_as"] for row in command.rows("ingest", "bm25.csv", "--metric", text)]
    assert asked == [
        "ndcg(gain={1:3.5, 2:9}, ties=average)@10",
        "lightgbm(label_gain=0,1,3,7):ndcg@2",
        "catboost:NDCG:top=2;type=Exp",
    ]


@pytest.fixture
def asked(command: CommandLine, files: None) -> CommandLine:
    """Two runs with AP, requested as map, and LightGBM's NDCG."""
    command("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv", "--metric", "map,lightgbm:ndcg@2")
    return command


def test_evaluate_has_the_names_that_were_given(command: CommandLine, files: None) -> None:
    printed = command("evaluate", "bm25.csv", "--labels", "labels.csv", "--metric", "map,NDCG@2", "--per-group")
    assert printed.err.splitlines() == ["note: map is read as AP", "note: NDCG@2 is read as ndcg@2"]
    assert printed.out.splitlines()[0].split() == ["run", "group", "map", "NDCG@2"]


def test_reports_say_what_was_asked_for(asked: CommandLine) -> None:
    compared = asked("compare", "bm25", "dense", "--metric", "map,lightgbm:ndcg@2", "--missing", "zero", "-v")
    assert compared.err == "note: map is read as AP\n"
    assert "asked for  AP as map" in compared.out
    assert "metric     lightgbm:ndcg@2 = ndcg(" in compared.out
    found = asked.rows("compare", "bm25", "dense", "--metric", "lightgbm:ndcg@2")
    assert found["metrics"][0]["requested_as"] == "lightgbm:ndcg@2"
    shown = asked("history", "--metric", "MAP")
    assert (shown.err, shown.out.splitlines()[0].split("  ")[-1]) == ("note: MAP is read as AP\n", "(requested as map)")
    assert [row["requested_as"] for row in asked.rows("history", "--metric", "AP")] == ["map", "map"]
    assert (
        asked.done("history", "--metric", "AP", "--format", "markdown").splitlines()[0].endswith("(requested as map)")
    )
    gated = asked("gate", "dense", "--baseline", "bm25", "--metric", "map", "--scope", "set", "--dry-run", "-v")
    assert "asked for  AP as map" in gated.out
    assert [row["requested_as"] for row in asked.rows("runs", "show", "bm25")["evaluations"]] == [
        "map",
        "lightgbm:ndcg@2",
    ]


def test_a_report_of_what_says_itself_what_it_is_is_as_before(command: CommandLine, files: None) -> None:
    command.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv", "--metric", "AP,RR")
    for arguments in (["compare", "bm25", "dense"], ["history", "--metric", "AP"], ["runs", "show", "bm25"]):
        printed = command(*arguments)
        assert "asked for" not in printed.out
        assert "read as" not in printed.err


def test_what_was_asked_for_is_found_by_sql(asked: CommandLine) -> None:
    rows = asked.rows("sql", "SELECT run FROM run_summary WHERE requested_as = 'lightgbm:ndcg@2' ORDER BY run")
    assert [row["run"] for row in rows] == ["bm25", "dense"]


def test_commands_that_take_one_metric(asked: CommandLine) -> None:
    for arguments in (
        ["gate", "dense", "--baseline", "bm25", "--margin", "0.1"],
        ["history"],
        ["explain", "bm25", "dense"],
    ):
        refused = asked.refused(*arguments, "--metric", "map,ndcg@2")
        assert refused == "'map,ndcg@2' names 2 metrics (map and ndcg@2); give one of them"
    assert asked.refused("metrics", "explain", "P_5,10") == "'P_5,10' names 2 metrics (P_5 and P_10); give one of them"


def test_explain_understands_a_name(command: CommandLine, files: None) -> None:
    command.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv")
    printed = command("explain", "bm25", "dense", "--metric", "ndcg_cut_10", "--group", "q1")
    assert printed.err == "note: ndcg_cut_10 is read as ndcg@10\n"
    assert printed.code == 0
    assert results("ndcg@10", DENSE, LABELS).mean is not None


def test_explain_a_name(command: CommandLine) -> None:
    printed = command("metrics", "explain", "recip_rank")
    assert printed.err == "note: recip_rank is read as RR\n"
    assert printed.out.startswith("RR: reciprocal rank")
    assert command.rows("metrics", "explain", "trec_eval:map")["requested_as"] == "trec_eval:map"
