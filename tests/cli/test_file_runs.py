"""Files in the place of runs: the numbers of stored runs, and nothing stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine

BOTH = ("bm25.csv", "dense.run")
LABELLED = (*BOTH, "--labels", "qrels.txt")
STORE_THEM = (
    "note: the runs are files, so nothing is recorded; to name them in other commands, store them: ndcg-track ingest"
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def unstored(sqlite_command: CommandLine, files: None, folder: Path) -> CommandLine:
    """The command line on a database that must not be created."""
    return sqlite_command


@pytest.fixture
def stored(sqlite_command: CommandLine, files: None, folder: Path) -> CommandLine:
    """The command line on a database with both runs."""
    sqlite_command("ingest", *LABELLED, "--metric", "ndcg@10", "--metric", "map")
    return sqlite_command


def without_ids(found: Any) -> Any:
    """Return what JSON says, but for the order of storing."""
    if isinstance(found, dict):
        return {key: without_ids(value) for key, value in found.items() if key != "run_id"}
    return [without_ids(one) for one in found] if isinstance(found, list) else found


DOORS = {
    "compare": (("compare", *BOTH), ("compare", "bm25", "dense", "-m", "ndcg@10")),
    "further metrics": (
        ("compare", *BOTH, "-m", "map", "-m", "ndcg@10"),
        ("compare", "bm25", "dense", "-m", "map", "-m", "ndcg@10"),
    ),
    "leaderboard": (("leaderboard", *BOTH), ("leaderboard", "bm25", "dense")),
    "explain": (("explain", *BOTH, "--group", "q1"), ("explain", "bm25", "dense", "--group", "q1")),
    "diff": (("diff", *BOTH), ("diff", "bm25", "dense")),
    "show": (("show", "dense.run", "-m", "map"), ("show", "dense", "-m", "map")),
    "gate": (
        ("gate", "dense.run", "--baseline", "bm25.csv", "--margin", ".9", "--scope", "set"),
        ("gate", "dense", "--baseline", "bm25", "--margin", ".9", "--scope", "set", "--dry-run"),
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_files_give_the_numbers_of_stored_runs_and_nothing_is_stored(
    stored: CommandLine, folder: Path, door: str
) -> None:
    of_files, of_stored = DOORS[door]
    wanted = stored.rows(*of_stored)
    before = contents(folder)
    labels = () if door == "diff" else ("--labels", "qrels.txt")
    found = stored.rows(*of_files, *labels)
    if door == "show":
        wanted["evaluations"] = [of for of in wanted["evaluations"] if of["metric"] == "AP"]
        assert found.pop("created_at_utc") > wanted.pop("created_at_utc")
        assert found.pop("coverages") == wanted.pop("coverages")[1:]
    if door == "leaderboard":  # they have commands, which name the files
        assert len(found.pop("notes")) == len(wanted.pop("notes"))
    assert without_ids(found) == without_ids(wanted)
    assert contents(folder) == before


def test_a_gate_on_files_says_that_it_is_not_recorded(unstored: CommandLine, folder: Path) -> None:
    before = sorted(folder.iterdir())
    printed = unstored("gate", "dense.run", "--baseline", "bm25.csv", "--labels", "qrels.txt", "--margin", ".5")
    assert printed.err == f"{STORE_THEM} dense.run bm25.csv --labels qrels.txt\n"
    assert "\n  not recorded " in printed.out
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (("report", *LABELLED, "-o", "page.html"), "page.html"),
        (("plot", "compare", *LABELLED, "-o", "chart.html"), "chart.html"),
        (("plot", "slices", *LABELLED, "-o", "chart.html", "--by", "none"), None),
        (("plot", "cutoffs", *LABELLED, "-o", "chart.html"), "chart.html"),
        (("plot", "explain", *LABELLED, "--group", "q1", "-o", "chart.html"), "chart.html"),
    ],
)
def test_pictures_of_files_write_only_themselves(
    unstored: CommandLine, folder: Path, arguments: tuple[str, ...], file: str | None
) -> None:
    before = sorted(folder.iterdir())
    printed = unstored(*arguments)
    assert printed.err.startswith(f"{STORE_THEM} bm25.csv dense.run --labels qrels.txt\n")
    assert sorted(folder.iterdir()) == sorted([*before, *([folder / file] if file else [])])
    assert printed.code == (0 if file else 2)


def test_labels_may_be_in_the_files_of_the_runs(unstored: CommandLine, folder: Path) -> None:
    for name, scores in (("old", "21"), ("new", "12")):
        rows = [f"q1,a,{scores[0]},1", f"q1,b,{scores[1]},0"]
        (folder / f"{name}.csv").write_text("\n".join(["group,item,score,label", *rows]) + "\n")
    found = unstored.rows("compare", "old.csv", "new.csv", "-m", "P@1")["metrics"][0]
    assert (found["baseline"], found["candidate"]) == (1.0, 0.0)


def test_two_files_of_one_name_are_called_by_their_paths(unstored: CommandLine, folder: Path) -> None:
    (folder / "old").mkdir()
    (folder / "old" / "dense.run").write_text((folder / "dense.run").read_text())
    found = unstored.rows("compare", "old/dense.run", "dense.run", "bm25.csv", "--labels", "qrels.txt")
    assert found["baseline"]["name"] == "old/dense.run"
    assert [found["candidate"]["name"], found["further"][0]["candidate"]["name"]] == ["dense.run", "bm25"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "bm25.csv", "dens.run", "--labels", "qrels.txt"),
         "dens.run: no such file, and no run of this name; check the path"),
        (("compare", "bm25.csv", "x" * 300), f"{'x' * 300}: no such file, and no run of this name; check the path"),
        (("compare", *BOTH), "dataset 'default' has no labels yet; give them with --labels FILE"),
        (("compare", *BOTH, "--labels", "2"), "2: no such file; check the path"),
        (("gate", "dense.run", "--baseline", "@prod", "--margin", ".1"),
         "'@prod' is an alias of a stored run, and 'dense.run' is a file; store it first: ndcg-track ingest dense.run"),
        (("gate", *BOTH[:1], "--baseline", "dense.run", "--margin", "auto", "--repeat", "tag:aa=x"),
         "'tag:aa=x' is an arm of stored runs, and 'bm25.csv' is a file; store it first: ndcg-track ingest bm25.csv"),
        (("compare", "tag:seed=1", "dense.run"),
         "'tag:seed=1' is an arm of stored runs, and 'dense.run' is a file; store it first: ndcg-track ingest "
         "dense.run"),
        (("show", *BOTH[:1], "--dataset", "shop"),
         "--dataset does not go with files in the place of runs: it is about what is stored; leave one out"),
        (("leaderboard", *BOTH, "--tag", "a=b"),
         "--tag does not go with files in the place of runs: it is about what is stored; leave one out"),
        (("gate", "dense.run", "--baseline", "bm25.csv", "--acknowledge", "known"),
         "--acknowledge does not go with files in the place of runs: it is about what is stored; leave one out"),
        (("compare", *BOTH, "--check-with", "people"),
         "--check-with does not go with files in the place of runs: it is about what is stored; leave one out"),
    ],
)  # fmt: skip
def test_what_needs_stored_runs_is_refused_beside_files(
    unstored: CommandLine, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = sorted(folder.iterdir())
    assert unstored.refused(*arguments) == said
    assert sorted(folder.iterdir()) == before


@pytest.mark.both_engines
def test_the_name_of_a_stored_run_wins_over_a_file(command: CommandLine, files: None, folder: Path) -> None:
    command("ingest", "bm25.csv", "--labels", "qrels.txt", "--name", "dense.run")
    command("ingest", "dense.run", "--labels", "qrels.txt")
    printed = command("compare", "dense.run", "dense", "-q")
    assert printed.out.startswith("dense against dense.run on default (5 queries)")
    assert printed.err == "note: 'dense.run' is the stored run; the file of this name is ./dense.run\n"
    assert command.refused("compare", "./dense.run", "dense") == (
        "'dense' is a stored run, and './dense.run' is a file; store it first: ndcg-track ingest ./dense.run"
    )
    printed = command("compare", "./dense.run", "bm25.csv", "--labels", "qrels.txt", "-q")
    assert printed.out.startswith("bm25 against dense on default (5 queries)")
    assert [run["run"] for run in command.rows("runs", "list")] == ["dense.run", "dense"]


def test_labels_of_stored_runs_are_a_version(stored: CommandLine) -> None:
    assert stored.refused("compare", "bm25", "dense", "--labels", "qrels.txt") == (
        "--labels is a version of the labels if the runs are stored, and 'qrels.txt' is a file; store it first: "
        "ndcg-track labels add qrels.txt --rescore"
    )
    assert stored.refused("show", "bm25", "--labels", "qrels.txt") == (
        "--labels needs files in the place of runs: a stored run has its own; give files in the place of runs, or "
        "leave out --labels"
    )
    assert stored.refused("compare", "bm25", "dense", "--read", "item=doc") == (
        "--read needs files in the place of runs: stored runs have been read; give files in the place of runs, or "
        "leave out --read"
    )


def test_read_says_how_files_are_read(unstored: CommandLine, folder: Path) -> None:
    for name, scores in (("old", "21"), ("new", "12")):
        rows = [f"q1,a,{scores[0]},5", f"q1,b,{scores[1]},5"]
        (folder / f"{name}.txt").write_text("\n".join(["q,d,s,doc", *rows]) + "\n")
    (folder / "grades.txt").write_text("q,d,g\nq1,a,1\n")
    read = "group=q item=d score=s label=g reader=csv,csv"
    of_files = ("compare", "old.txt", "new.txt", "--labels", "grades.txt", "-m", "RR")
    found = unstored.rows(*of_files, "--read", read)["metrics"][0]
    assert (found["baseline"], found["candidate"]) == (1.0, 0.5)
    told, _, typed = unstored.refused(*of_files, "--read", "reader=csv,csv").partition(f" --db {unstored.url} ")
    assert told == (
        "old.txt has no columns 'group', 'item' and 'score' (it has 'q', 'd', 's', 'doc'); grades.txt has no columns "
        "'group', 'item' and 'label' (it has 'q', 'd', 'g'); if these guesses are right: ndcg-track"
    )
    assert typed == (
        "compare old.txt new.txt --labels grades.txt -m RR --read 'reader=csv,csv group=q item=d score=COLUMN label=g'"
    )
    said = unstored.refused(*of_files, "--read", "colour=red")
    assert said.startswith("--read does not know 'colour'; give one of group, item, score, label, ")


def test_commands_in_the_answer_are_typed_with_the_files(unstored: CommandLine, folder: Path) -> None:
    shown = unstored("leaderboard", *BOTH, "--labels", "qrels.txt", "--read", "allow=no-overlap").out
    assert (
        "ndcg-track compare bm25.csv dense.run --metric ndcg@10 --labels qrels.txt --read allow=no-overlap"
        in " ".join(shown.split())
    )
    assert unstored("report", *LABELLED).code == 0
    page = (folder / "report.html").read_text()
    assert "ndcg-track report bm25.csv dense.run --metric ndcg@10 --output report.html --labels qrels.txt" in page


def test_a_golden_set_and_results_of_a_retriever_are_read(unstored: CommandLine, folder: Path) -> None:
    golden = [{"question": f"how {n}", "expected_ids": [f"kb-{n}"], "kind": "ab"[n % 2]} for n in range(4)]
    (folder / "golden.json").write_text(json.dumps(golden))
    for name, first in (("base", 0), ("two", 2)):
        results = [{"question": f"how {n}", "retrieved_ids": sorted({"kb-0", f"kb-{n}"})[:: -1 if n < first else 1]}
                   for n in range(4)]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, results)))
    found = unstored("compare", "base.jsonl", "two.jsonl", "--labels", "golden.json", "-m", "RR@10", "--by", "kind")
    assert found.err.splitlines()[:2] == [
        "note: golden.json: read 4 queries from 'question' (its text is the id); relevant ids from 'expected_ids'; "
        "attribute kind",
        "note: base.jsonl: read 4 queries from 'question' (its text is the id); ranked ids from 'retrieved_ids'",
    ]
    assert "RR@10 by kind" in found.out
