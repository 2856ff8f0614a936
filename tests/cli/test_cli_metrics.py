"""``ndcg-track metrics``: no database takes part."""

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine

from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.text import parse_metric


@pytest.fixture
def metrics(capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on a database that is none, for none is opened."""
    return CommandLine(str(folder), capsys)


def test_list(metrics: CommandLine) -> None:
    rows = metrics.rows("metrics", "list")
    assert list(rows[0]) == ["name", "value", "default", "meaning", "measures"]
    names = [row["name"] for row in rows]
    assert names[: len(MEASURES)] == list(MEASURES)
    assert {axis.name for axis in AXES} | set(DIALECTS) == set(names[len(MEASURES) :])
    assert all(row["meaning"] for row in rows)
    defaults = {row["name"]: row["value"] for row in rows if row["default"]}
    assert defaults["gain"] == "linear"
    table = list(csv.DictReader(io.StringIO(metrics.done("metrics", "list", "--format", "csv"))))
    assert [row["name"] for row in table] == names
    assert len(metrics.done("metrics", "list").splitlines()) == len(rows) + 5  # three tables, blank lines between
    assert metrics.done("metrics", "list", "--format", "markdown").startswith("| measure | meaning |")


def test_every_listed_value_can_be_asked_for(metrics: CommandLine) -> None:
    examples = {(axis.name, axis.pattern_example) for axis in AXES}
    for row in metrics.rows("metrics", "list"):
        if row["measures"] and (row["name"], row["value"]) not in examples:
            measure = MEASURES["AP" if row["value"] == "found" else row["measures"].split()[0]]
            at = "@10" if measure.cutoff != "none" else "@1" if measure.axis_at not in (None, row["name"]) else ""
            text = f"{measure.name}({row['name']}={row['value']}){at}"
            assert metrics.rows("metrics", "explain", text)["metric"] == str(parse_metric(text))
        elif row["value"] and not row["measures"]:
            assert metrics.rows("metrics", "explain", row["value"])["metric"] == str(parse_metric(row["value"]))


def test_explain(metrics: CommandLine) -> None:
    found = metrics.rows("metrics", "explain", "ndcg(gain=exp2, ties=input)@10")
    assert {"metric", "formula", "axes"} <= set(found)
    assert found["metric"] == str(parse_metric("ndcg(gain=exp2, ties=input)@10"))
    changed = {axis["axis"]: axis["value"] for axis in found["axes"] if axis["value"] != axis["default"]}
    assert changed == {"gain": "exp2", "ties": "input"}
    text = metrics.done("metrics", "explain", "ndcg(gain=exp2, ties=input)@10")
    assert text.startswith(found["metric"])
    assert text.splitlines()[1] == found["formula"]
    table = list(csv.DictReader(io.StringIO(metrics.done("metrics", "explain", found["metric"], "--format", "csv"))))
    assert {row["axis"]: row["value"] for row in table} == changed
    markdown = metrics.done("metrics", "explain", found["metric"], "--format", "markdown")
    assert "| gain | exp2 |" in markdown
    assert metrics.rows("metrics", "explain", "catboost:NDCG:top=10;type=Exp")["metric"] == str(
        parse_metric("catboost:NDCG:top=10;type=Exp")
    )


def test_a_text_that_is_no_metric(metrics: CommandLine) -> None:
    assert metrics.refused("metrics", "explain", "ndgc@10") == "ndgc is not a metric; did you mean ndcg@10?"
    assert metrics.refused("metrics", "explain", "xyz").startswith("xyz is not a metric; it is one of ")


def test_what_the_tools_of_a_work_call_a_metric(metrics: CommandLine) -> None:
    rows = metrics.rows("metrics", "list", "--for", "recommendations")
    assert {"measure": "AP", "tool": "ml_metrics", "theirs": "mapk(k=10)", "ours": "AP(over=achievable)@10"} in rows
    assert {"measure": "ndcg", "tool": "rectools", "theirs": "NDCG(k=10)", "ours": "rectools:NDCG(k=10)"} in rows
    table = metrics.done("metrics", "list", "--for", "search").splitlines()
    assert table[0].split() == ["measure", "tool", "theirs", "ours"]
    assert len(table) == len(metrics.rows("metrics", "list", "--for", "search")) + 1


def test_a_metric_that_depends_on_the_sort_of_its_tool_says_so(metrics: CommandLine) -> None:
    said = (
        "This metric depends on the sort of ranx, which may put equal scores in any order in lists of 16 items or "
        "more. Its values for such lists may differ from those here."
    )
    assert said in metrics.done("metrics", "explain", "ranx:map@10")
    assert metrics.rows("metrics", "explain", "ranx:map@10")["unstable_from"] == 16
    for text in ("AP@10", "beir:MAP@10"):
        assert "depends on the sort" not in metrics.done("metrics", "explain", text)
        assert metrics.rows("metrics", "explain", text)["unstable_from"] is None
