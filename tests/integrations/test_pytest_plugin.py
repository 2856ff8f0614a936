"""The fixture ``ndcg_gate`` in a pytest of its own: decisions, reports, JUnit properties, GitHub's summary."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ndcg_tracker as nt

GATES = """
def test_it_may_ship(ndcg_gate):
    found = ndcg_gate.check("same", margin=0.01)
    assert found.decision == "pass"

def test_it_is_worse(ndcg_gate):
    ndcg_gate.check("worse", metric="ndcg@10", margin=0.01)

def test_nobody_knows(ndcg_gate):
    ndcg_gate.check("noisy", margin=0.0001)

def test_nobody_knows_and_that_is_skipped(ndcg_gate):
    ndcg_gate.check("noisy", margin=0.00015, on_inconclusive="skip")

def test_nobody_knows_and_that_is_fine(ndcg_gate):
    assert ndcg_gate.check("noisy", margin=0.0002, on_inconclusive="pass").decision == "inconclusive"

def test_it_is_known(ndcg_gate):
    ndcg_gate.check("worse", margin=0.02, acknowledge="the labels are old")

def test_usage(ndcg_gate):
    ndcg_gate.check("worse", margin=0.01, on_inconclusive="perhaps")

def test_no_such_run(ndcg_gate):
    ndcg_gate.check("nope", margin=0.01)

def test_it_is_asked_for(ndcg_gate):
    assert ndcg_gate.check("same", margin=0.02, record=True).gated.decision_id is not None

def test_it_is_not_wanted(ndcg_gate):
    assert ndcg_gate.check("same", margin=0.03, record=False).gated.decision_id is None
"""
WITHOUT_OTHERS = [
    word for name in ("anyio", "hydra_pytest", "hypothesispytest", "platformdirs") for word in ("-p", f"no:{name}")
]
"""Plugins that other libraries bring and no test here uses; half a second of each start."""
AS_FORKED = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
STRICT = ("-W", "error", "-o", "junit_family=xunit2")


@dataclass
class Outcome:
    """What a pytest said and wrote."""

    code: int
    output: str
    junit: ElementTree.Element
    summary: str
    folder: Path


def run_of(seed: int, skill: float) -> dict[str, list[object]]:
    """400 queries with ten items of grades 0 to 3, ranked with some noise."""
    random, grades = np.random.default_rng(seed), np.random.default_rng(1).integers(0, 4, (400, 10))
    scores = skill * grades + random.normal(size=grades.shape)
    return {
        "group": [f"q{query}" for query in range(400) for _ in range(10)],
        "item": [f"i{item}" for _ in range(400) for item in range(10)],
        "score": scores.ravel().tolist(),
        "label": grades.ravel().tolist(),
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a baseline and three candidates, which each test copies."""
    path = tmp_path_factory.mktemp("gates") / "ndcg-track.db"
    with nt.Tracker(path) as tracker:
        for name, seed, skill in (("base", 1, 1.0), ("same", 1, 1.0), ("worse", 2, 0.2), ("noisy", 3, 1.0)):
            tracker.ingest(run_of(seed, skill), name=name)
        tracker.set_alias("baseline", "base")
    return path


@pytest.fixture
def database(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with a baseline and three candidates."""
    return str(shutil.copy(filled, tmp_path_factory.mktemp("gates")))


@pytest.fixture
def gates(tmp_path: Path, database: str, preloaded_programs: Path) -> Callable[..., Outcome]:
    """Runs tests in a process of its own, which finds the plugin by the entry point of the installed package.

    It is forked; tests/examples/test_example_pytest.py starts one as a user does.
    """

    def run(*arguments: str, **variables: str) -> Outcome:
        (tmp_path / "test_gates.py").write_text(GATES, encoding="utf-8")
        summary = tmp_path / "summary.md"
        others = ("NDCG_TRACK", "PYTEST", "CI")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        repository = str(Path(nt.__file__).parents[1])
        forked = [preloaded_programs / "preloaded-python", "-c", "import sys, pytest; sys.exit(pytest.main())"]
        done = subprocess.run(
            [
                *forked,
                "-p", "no:cacheprovider", *WITHOUT_OTHERS, "-rs", "--junitxml=reports/report.xml",
                "-o", "junit_family=xunit1", "test_gates.py", *arguments, *AS_FORKED,
            ],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": repository, "GITHUB_STEP_SUMMARY": str(summary), **variables},
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        junit = ElementTree.parse(tmp_path / "reports" / "report.xml").getroot()
        return Outcome(
            done.returncode, done.stdout, junit, summary.read_text("utf-8") if summary.exists() else "", tmp_path
        )

    return run


def test_three_answers(gates: Callable[..., Outcome], database: str) -> None:
    found = gates("-k", "not asked and not wanted", NDCG_TRACK_DB=database, CI="true")
    assert found.code == 1
    assert "4 failed, 3 passed, 1 skipped" in found.output
    assert "FAIL: worse must not replace base on default" in found.output
    assert "INCONCLUSIVE: noisy may or may not replace base on default" in found.output
    assert "ValueError: on_inconclusive is 'perhaps'; choose fail, skip or pass" in found.output
    assert found.output.count("\nno run 'nope'") == 1
    assert "During handling" not in found.output
    assert "\n6 decisions of a gate recorded\n" in found.output
    assert "not recorded" not in found.output
    assert "PASS needs the lower end above -0.0001" in found.output
    assert found.summary.count("PASS") >= 1
    assert found.summary.count("FAIL") >= 2
    properties = {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in found.junit.iter("testcase")
    }
    known = properties["test_it_is_worse"]
    assert known["ndcg_tracker.decision"] == "fail"
    assert float(known["ndcg_tracker.delta"] or 0) < -0.1
    assert (known["ndcg_tracker.baseline"], known["ndcg_tracker.candidate"]) == ("base", "worse")
    assert properties["test_it_may_ship"]["ndcg_tracker.decision"] == "pass"
    page = Path(known["ndcg_tracker.report"] or "")
    assert page.name == "report-test_gates.py_test_it_is_worse.html"
    assert "<title>Is worse better than base?</title>" in (found.folder / "reports" / page.name).read_text("utf-8")
    assert "ndcg_tracker.report" not in properties["test_it_may_ship"]
    with nt.Tracker(database) as tracker:
        decided = tracker.sql(
            "SELECT candidate, decision, acknowledged_reason FROM gate_decisions ORDER BY decision_id"
        )
    assert list(decided["decision"]) == ["pass", "fail", *["inconclusive"] * 3, "fail"]
    assert decided["acknowledged_reason"][5] == "the labels are old"


def test_the_database_may_be_an_option(gates: Callable[..., Outcome], database: str) -> None:
    found = gates("--ndcg-track-db", database, "-k", "may_ship")
    assert (found.code, "1 passed" in found.output) == (0, True)
    missing = gates("-k", "may_ship")
    assert missing.code == 1
    assert "ndcg-track.db: the database does not exist" in missing.output


def test_the_plugin_costs_nothing_that_no_test_asks_for() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import ndcg_tracker.integrations.pytest_plugin; "
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('ndcg_tracker')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def n_decisions(database: str) -> int:
    with nt.Tracker(database) as tracker:
        return len(tracker.sql("SELECT decision_id FROM gate_decisions"))


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize(
    ("arguments", "variables", "n_recorded"),
    [
        ([], {}, 1),
        ([], {"CI": "false"}, 1),
        ([], {"CI": "1"}, 3),
        (["--ndcg-track-record", "always"], {}, 3),
        (["-o", "ndcg_track_record=always"], {}, 3),
        (["--ndcg-track-record", "never"], {"CI": "1"}, 1),
        (["--ndcg-track-record", "auto", "-o", "ndcg_track_record=always"], {}, 1),
    ],
)
def test_decisions_are_recorded_in_ci_and_where_it_is_asked_for(
    gates: Callable[..., Outcome], database: str, arguments: list[str], variables: dict[str, str], n_recorded: int
) -> None:
    before = n_decisions(database)
    chosen = ("-k", "may_ship or known or asked or wanted")
    found = gates(*STRICT, *chosen, *arguments, NDCG_TRACK_DB=database, **variables)
    assert (found.code, "4 passed" in found.output) == (0, True)
    assert n_decisions(database) - before == n_recorded
    others = (
        f"{4 - n_recorded} decision{'s' if n_recorded < 3 else ''} of a gate not recorded; they are recorded in CI and "
        "with --ndcg-track-record always\n"
    )
    assert f"\n{n_recorded} decision{'s' if n_recorded > 1 else ''} of a gate recorded\n{others}" in found.output
    told = [one.get("value") for one in found.junit.iter("property") if one.get("name") == "ndcg_tracker.recorded"]
    assert told.count("True") == n_recorded


def test_the_setting_must_be_one_there_is(gates: Callable[..., Outcome], database: str) -> None:
    found = gates("-k", "may_ship", "-o", "ndcg_track_record=yes", NDCG_TRACK_DB=database)
    assert "ndcg_track_record is 'yes'; choose auto, always or never" in found.output
    assert found.code != 0


def test_an_override_passes_where_nothing_is_recorded(gates: Callable[..., Outcome], database: str) -> None:
    before = n_decisions(database)
    found = gates("-rP", "-k", "known", NDCG_TRACK_DB=database)
    assert (found.code, n_decisions(database)) == (0, before)
