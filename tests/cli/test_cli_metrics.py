"""``ndcg-track metrics``: no database takes part."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_line import CommandLine

from ndcg_tracker.metrics import parse_metric
from ndcg_tracker.metrics.axes import AXES
from ndcg_tracker.metrics.measures import MEASURES


@pytest.fixture
def metrics(capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on a database that is none, for none is opened."""
    return CommandLine(str(folder), capsys)


def test_list(metrics: CommandLine) -> None:
    rows = metrics.rows("metrics", "list")
    assert list(rows[0]) == ["name", "value", "default", "meaning", "measures"]
    names = [row["name"] for row in rows]
    assert names[: len(MEASURES)] == list(MEASURES)
    assert {axis.name for axis in AXES} == set(names[len(MEASURES) :])
    assert all(row["meaning"] for row in rows)
    defaults = {row["name"]: row["value"] for row in rows if row["default"]}
    assert defaults["gain"] == "linear"
    table = list(csv.DictReader(io.StringIO(metrics.done("metrics", "list", "--format", "csv"))))
    assert [row["name"] for row in table] == names
    assert len(metrics.done("metrics", "list").splitlines()) == len(rows) + 1
    assert metrics.done("metrics", "list", "--format", "markdown").startswith("| name | value |")


def test_every_listed_value_can_be_asked_for(metrics: CommandLine) -> None:
    for row in metrics.rows("metrics", "list"):
        if row["value"] and "any " not in row["meaning"]:
            text = f"{row['measures'].split()[0]}({row['name']}={row['value']})"
            assert metrics.rows("metrics", "explain", text)["metric"] == str(parse_metric(text))


def test_explain(metrics: CommandLine) -> None:
    found = metrics.rows("metrics", "explain", "ndcg(gain=exp2, ties=input)@10")
    assert list(found) == ["metric", "formula", "axes"]
    assert found["metric"] == str(parse_metric("ndcg(gain=exp2, ties=input)@10"))
    changed = {axis["axis"]: axis["value"] for axis in found["axes"] if axis["value"] != axis["default"]}
    assert changed == {"gain": "exp2", "ties": "input"}
    text = metrics.done("metrics", "explain", "ndcg(gain=exp2, ties=input)@10").splitlines()
    assert text[0] == found["metric"]
    assert text[1] == found["formula"]
    assert text[3].split()[:3] == ["axis", "value", "meaning"]
    table = list(csv.DictReader(io.StringIO(metrics.done("metrics", "explain", "ndcg@10", "--format", "csv"))))
    assert [row["axis"] for row in table] == [axis["axis"] for axis in found["axes"]]
    assert metrics.done("metrics", "explain", "ndcg@10", "--format", "markdown").startswith("ndcg@10\n")
    assert json.loads(metrics.done("metrics", "explain", "ndcg@10", "--format", "json"))["metric"] == "ndcg@10"


def test_a_text_that_is_no_metric(metrics: CommandLine) -> None:
    assert metrics.refused("metrics", "explain", "ndgc@10").startswith("ndgc is no metric; it is one of ")
