"""The benchmark command on tiny data: it runs, its tables say what was measured, and its means agree."""

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = REPOSITORY / "benchmarks"
SITE, RESULTS = REPOSITORY / "docs" / "performance.md", BENCHMARKS / "RESULTS.md"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of the benchmarks, which are programs side by side and no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    return imported


def run(folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Run the command, with its data in a folder of the test, and return its figures and tables."""
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--quick", "--json", "run.json", *options]
    surroundings = os.environ | {"BENCHMARK_DATA": str(folder / "data"), "TREC_EVAL": ""}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "run.json").read_text(encoding="utf-8")), done.stdout


def rows(results: dict[str, Any], section: str) -> dict[str, dict[str, Any]]:
    (phase,) = [phase for phase in results["phases"] if phase["section"] == section]
    return {row["name"]: row for row in phase["rows"]}


@pytest.mark.nightly
def test_frames_of_several_forms_stand_in_one_table(tmp_path: Path) -> None:
    results, printed = run(tmp_path, "--sections", "frames", "--only", "ndcg_tracker", "polars", "pytrec_eval")
    checks = {
        phase["title"]: {row["name"]: row["check"] for row in phase["rows"] if "check" in row}
        for phase in results["phases"]
    }
    assert checks == {
        "TINY, categories, shuffled": {"ndcg_tracker": "same", "polars": "ties in input order"},
        "TINY, two frames, ordered": {"ndcg_tracker": "same", "polars": "ties in input order"},
        "TINY, nested dicts, shuffled": {"ndcg_tracker": "same", "pytrec_eval": "same"},
    }
    first = results["phases"][0]["rows"][0]
    assert first["frame_mb"] > 0
    assert all(f"| {title} |" in printed for title in checks)


@pytest.mark.nightly
def test_tools_find_the_same_means_and_stand_in_the_tables(tmp_path: Path) -> None:
    options = ("--sections", "files", "kernel", "--only", "evaluate", "ingest, SQLite", "pytrec_eval", "trec_eval")
    results, printed = run(tmp_path, *options, "--chart", "chart.svg")
    files, kernel = rows(results, "files"), rows(results, "kernel")
    for name in ("evaluate", "evaluate --per-group", "ingest, SQLite", "pytrec_eval"):
        assert files[name]["check"] == "same"
        assert files[name]["seconds"] > 0
        assert files[name]["peak_mb"] > 0
        assert f"| {name} |" in printed
    assert files["ingest, SQLite"]["database_mb"] > 0
    assert files["trec_eval"]["left_out"] == "no --trec-eval PATH was given"
    assert "Left out: trec_eval (no --trec-eval PATH was given)." in printed
    assert kernel["pytrec_eval"]["check"] == "same"
    assert kernel["ndcg_tracker, any order"]["check"] == "same"
    names = {text.text for text in ElementTree.parse(tmp_path / "chart.svg").iter("{http://www.w3.org/2000/svg}text")}
    assert {"ndcg-track evaluate", "ndcg-track ingest, SQLite", "pytrec_eval"} <= names
    assert list((tmp_path / "data").glob("bench-*")) == []


@pytest.mark.nightly
def test_our_own_commands_are_measured(tmp_path: Path) -> None:
    only = ("delete a run", "compare, 7,000 groups", "permutation")
    results, _ = run(tmp_path, "--sections", "commands", "housekeeping", "--only", *only)
    commands = rows(results, "commands")
    assert commands["compare, 7,000 groups"]["seconds"] > 0
    assert commands["permutation"]["check"] == commands["permutation: scipy"]["check"] == "same"
    assert rows(results, "housekeeping")["delete a run"]["seconds"] > 0
    assert results["phases"][1]["figures"]["further_run_mb"] > 0


@pytest.mark.nightly
def test_a_fleet_is_ingested_and_rescored(tmp_path: Path) -> None:
    results, printed = run(tmp_path, "--sections", "fleet", "--only", "ingest, SQLite", "ingest --jobs 1, S", "rescore")
    found = rows(results, "fleet")
    assert set(found) == {"ingest, SQLite", "ingest --jobs 1, SQLite", "rescore 400 runs"}
    assert all(row["seconds"] > 0 for row in found.values())
    one = found["ingest, SQLite"]
    assert one["seconds_a_file"] == pytest.approx(one["seconds"] / 3)
    assert "## Many runs at once" in printed
    assert list((tmp_path / "data").glob("bench-*")) == []


@pytest.mark.nightly
def test_every_trick_is_measured_with_and_without_it(module: Any, tmp_path: Path) -> None:
    results, printed = run(tmp_path, "--sections", "tricks")
    tricks, found = module("tricks"), rows(results, "tricks")
    assert set(found) == {name + way for name in (*tricks.WITHIN, *tricks.WHOLE) for way in ("", ": without")}
    assert {name: row["left_out"] for name, row in found.items() if "left_out" in row} == {}
    for name in ("hash join", "process ended as it is"):
        assert found[name]["seconds"] > 0
        assert f"| {name} |" in printed
    assert list((tmp_path / "data").glob("bench-*")) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [
        "CSV by Arrow", "hash join", "JSON lists by Arrow", "packed results", "sorting keys", "few labels compared",
        "rows by group",
    ],
)  # fmt: skip
def test_work_without_a_trick_finds_the_same(module: Any, tmp_path: Path, name: str) -> None:
    program = "import sys, pickle, tricks; sys.stdout.buffer.write(pickle.dumps(tricks.work_of(sys.argv[1], 1000, "
    program += "has_trick=sys.argv[2] == 'with')()))"
    surroundings = os.environ | {"BENCHMARK_DATA": str(tmp_path), "PYTHONPATH": str(BENCHMARKS)}
    found = [
        subprocess.run([sys.executable, "-c", program, name, way], env=surroundings, capture_output=True, check=True)
        for way in ("with", "without")
    ]
    one, other = (pickle.loads(done.stdout) for done in found)
    if name == "CSV by Arrow":
        one, other = ((rows.items.to_list(), rows.scores) for rows in (one, other[0]))
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_mean_that_is_off_ends_the_command(tmp_path: Path) -> None:
    kept = {
        "machine": {
            "date": "", "processor": "", "cores": 1, "memory_gb": 1, "system": "", "python": "", "postgres": "",
            "tools": {},
        },
        "rounds": 1,
        "quick": False,
        "phases": [
            {
                "section": "kernel", "workload": "w1", "title": "W1, in memory", "figures": {},
                "rows": [
                    {"name": "odd", "what": "", "seconds": 1.0, "means": {"ndcg@10": 0.5}, "check": "OFF BY 0.1"}
                ],
            }
        ],
    }  # fmt: skip
    (tmp_path / "kept.json").write_text(json.dumps(kept), encoding="utf-8")
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--from", "kept.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "means that do not agree: W1, in memory: odd OFF BY 0.1\n"


def results_with(section: str, workload: str, *rows: dict[str, Any]) -> dict[str, Any]:
    phase = {"section": section, "workload": workload, "title": "", "figures": {}, "rows": list(rows)}
    return {"phases": [phase], "quick": False}


@pytest.mark.parametrize(("seconds", "met", "figure"), [(1.0, True, "6.00x (1.00 s)"), (2.0, False, "3.00x (2.00 s)")])
def test_a_goal_is_met_or_not(module: Any, seconds: float, met: bool, figure: str) -> None:
    results = results_with(
        "files", "w1", {"name": "evaluate --per-group", "seconds": seconds}, {"name": "trec_eval", "seconds": 6.0}
    )
    found = {(goal.about, goal.text): goal for goal in module("goals").goals(results)}
    goal = found["`evaluate`, W1", ">= 5x trec_eval"]
    assert (goal.met, goal.figure) == (met, figure)


def test_a_goal_whose_row_is_left_out_is_not_measured(module: Any) -> None:
    results = results_with(
        "files", "w1", {"name": "evaluate --per-group", "seconds": 1.0}, {"name": "trec_eval", "left_out": "no path"}
    )
    found = {goal.about: goal for goal in module("goals").goals(results)}
    assert found["`evaluate`, W1"].met is None
    assert found["`evaluate`, W1"].figure == "not measured: trec_eval: no path"
    assert found["`compare`, 6,980 groups"].figure == "not measured: compare, 7,000 groups"


def test_only_what_stands_between_the_marks_of_a_page_is_rewritten(module: Any, tmp_path: Path) -> None:
    tables, page = module("tables"), tmp_path / "page.md"
    mark = "<!-- benchmark: kernel w1 -->"
    page.write_text(f"before\n\n{mark}\n\nold\n\n<!-- /benchmark -->\n\nafter\n", encoding="utf-8")
    row = {"name": "tool", "what": "does it", "seconds": 0.5, "means": {"ndcg@10": 0.25}, "check": "same"}
    machine = dict.fromkeys(("date", "processor", "cores", "memory_gb", "system", "python", "postgres"), "")
    results = results_with("kernel", "w1", row) | {"machine": machine | {"tools": {}}, "rounds": 3}
    tables.rewrite(page, results)
    once = page.read_text(encoding="utf-8")
    assert once.startswith(f"before\n\n{mark}\n\n| contender |")
    assert "| tool | 0.50 s | 0.2500 | same | does it |" in once
    assert once.endswith("|\n\n<!-- /benchmark -->\n\nafter\n")
    tables.rewrite(page, results)
    assert page.read_text(encoding="utf-8") == once


def test_the_pages_have_a_place_for_every_part_of_a_run() -> None:
    parts = [f"files w{number}" for number in (1, 2, 3, 4)] + [f"kernel w{number}" for number in (1, 2, 4)]
    parts += ["machine", "goals", "frames", "commands", "fleet", "growth", "housekeeping", "tricks"]
    for page, expected in ((SITE, ["machine", "summary"]), (RESULTS, parts)):
        text = page.read_text(encoding="utf-8")
        assert sorted(re.findall(r"<!-- benchmark: (.*) -->", text)) == sorted(expected)
        assert text.count("<!-- /benchmark -->") == len(expected)


def test_the_summary_has_the_times_of_others_as_ratios(module: Any) -> None:
    names = {"evaluate --per-group": 1.0, "trec_eval": 5.0, "polars": 1.25, "ranx": 9.0}
    rows = [{"name": name, "seconds": seconds, "peak_mb": 391.0} for name, seconds in names.items()]
    text = module("tables").summary_table(results_with("files", "w1", *rows))
    (line,) = text.splitlines()[2:]
    assert line.endswith("| W1 | 1.00 s | trec_eval 5.00x, polars 1.25x | 391 MB |")


def test_the_page_shows_every_job_of_the_summary(module: Any) -> None:
    shown = re.findall(r"^\| (.*?) \| (.*?) \| [\d.]+ m?s \|", SITE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == [job[:2] for job in module("tables")._SUMMARY]


def test_repeated_files_have_groups_of_their_own(module: Any, tmp_path: Path) -> None:
    environment = os.environ | {"BENCHMARK_DATA": str(tmp_path)}
    program = [sys.executable, str(BENCHMARKS / "workloads.py"), "tinyx3"]
    subprocess.run(program, env=environment, check=True, capture_output=True)
    one, three = (
        [line.split() for line in (tmp_path / f"{name}.run").read_text(encoding="utf-8").splitlines()]
        for name in ("tiny", "tinyx3")
    )
    assert len(three) == 3 * len(one)
    assert len({line[0] for line in three}) == 3 * len({line[0] for line in one})
    assert [line[2] for line in three] == 3 * [line[2] for line in one]
