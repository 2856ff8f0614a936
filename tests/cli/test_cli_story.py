"""A planted story: of twenty runs one breaks a slice. History names it, compare the slice, explain the items."""

import csv
from pathlib import Path
from random import Random

import pytest
from command_line import CommandLine

BROKEN = 14
N_RUNS = 20
KINDS = ("tent", "lamp", "chair", "shoe")
N_QUERIES = 120
ITEMS = ["good", "fair", *(f"other-{number}" for number in range(8))]
GRADES = {"good": 3, "fair": 1}


def write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def write_run(folder: Path, number: int) -> str:
    """A ranker with a little noise of its own in every run; from ``BROKEN`` on it puts the good item of tents last."""
    random = Random(number)
    rows: list[list[object]] = []
    for query in range(N_QUERIES):
        for item in ITEMS:
            score = GRADES.get(item, 0) + random.gauss(0, 0.8)
            if number >= BROKEN and query % len(KINDS) == 0 and item == "good":
                score = -9.0
            rows.append([f"query {query}", item, score])
    write(folder / f"build-{number:02d}.csv", ["group", "item", "score"], rows)
    return f"build-{number:02d}.csv"


@pytest.fixture
def twenty(command: CommandLine, folder: Path) -> CommandLine:
    """Twenty stored runs with their commits and parameters, and the kind of every query."""
    write(folder / "labels.csv", ["group", "item", "label"],
          [[f"query {query}", item, GRADES.get(item, 0)] for query in range(N_QUERIES) for item in ITEMS])  # fmt: skip
    write(folder / "groups.csv", ["group", "kind"],
          [[f"query {query}", KINDS[query % len(KINDS)]] for query in range(N_QUERIES)])  # fmt: skip
    for number in range(1, N_RUNS + 1):
        stemmer = "off" if number >= BROKEN else "on"
        facts = ["--param", f"stemmer={stemmer}", "--git-commit", f"{number:02d}c0ffee", "--tag", "branch=main"]
        command.done("ingest", write_run(folder, number), "--labels", "labels.csv", *facts)
    command.said("groups", "set", "groups.csv")
    return command


def test_history_compare_explain_and_gate_tell_the_story(twenty: CommandLine) -> None:
    rows = twenty.rows("history", "--branch", "main")
    (step,) = [row for row in rows if row["step"]]
    assert (step["run"], step["git_commit"]) == (f"build-{BROKEN}", f"{BROKEN}c0ffee")
    assert step["step_parameters"] == {"stemmer": ["on", "off"]}
    assert step["step_ci"][1] < 0
    told = twenty.done("history", "--branch", "main")
    assert f"stepped down at build-{BROKEN} (run {BROKEN}, commit {BROKEN}c0ffe, stemmer on → off): -0." in told

    broken, before = f"build-{BROKEN}", step["step_before"]
    compared = twenty.rows("compare", before, broken, "--by", "kind")
    assert compared["metrics"][0]["verdict"] == "regressed"
    assert {one["value"]: one["verdict"] for one in compared["slices"]} == {
        "tent": "regressed",
        **dict.fromkeys(("lamp", "chair", "shoe"), "no_difference_detected"),
    }
    worst = compared["worst"]
    assert len(worst) == 10
    assert {int(one["group"].split()[1]) % len(KINDS) for one in worst} == {0}
    assert {one["moves"][0]["item"] for one in worst} == {"good"}

    explained = twenty.rows("explain", before, broken, "--group", worst[0]["group"])
    costliest = min(explained["items"], key=lambda item: item["contribution"])
    assert (costliest["item"], costliest["grade"], costliest["rank_candidate"]) == ("good", 3, 10)
    total = sum(item["contribution"] for item in explained["items"])
    assert total == pytest.approx(explained["delta"], abs=1e-12)
    over_all = twenty.rows("explain", before, broken)
    assert over_all["items"][0]["item"] == "good"

    gate = ["--baseline", before, "--margin", "0.02"]
    assert twenty("gate", broken, *gate).code == 3
    assert twenty("gate", f"build-{BROKEN - 1}", "--baseline", f"build-{BROKEN - 2}", "--margin", "0.05").code == 0
