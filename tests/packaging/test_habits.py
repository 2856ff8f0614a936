"""What those who carry the project on use: workflows, hooks, forms and the citation agree with the project."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in read(workflow)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_do_no_more_than_it_must_and_ends(workflow: Path) -> None:
    found = read(workflow)
    assert found["permissions"] == {"contents": "read"}
    assert "concurrency" in found
    assert all("timeout-minutes" in job for job in found["jobs"].values())
    for job in found["jobs"].values():  # what a job asks for replaces the whole, and a checkout must read
        if any(step.get("uses", "").startswith("actions/checkout@") for step in job["steps"]):
            assert job.get("permissions", {"contents": "read"})["contents"] == "read"
    assert all(re.search(r"@(v\d+|release/v1)$", step["uses"]) for step in steps(workflow) if "uses" in step)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_names_is_there(workflow: Path) -> None:
    words = [word for step in steps(workflow) for word in shlex.split(step.get("run", ""))]
    names = [word for word in words if re.match(r"(\.ci|tests|docs|migrations)/", word)]
    assert [name for name in names if not (REPOSITORY / name).exists()] == []
    extras = {extra for word in words for found in re.findall(r"\.\[(.+)\]$", word) for extra in found.split(",")}
    assert extras <= set(PROJECT["optional-dependencies"])


def test_the_pythons_are_those_of_the_classifiers_and_the_next_one() -> None:
    (tests,) = (read(path) for path in WORKFLOWS if path.name == "tests.yml")
    listed = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert tests["jobs"]["everywhere"]["strategy"]["matrix"]["python"] == [*listed, "3.14"]


def test_the_citation_is_of_this_version() -> None:
    citation = read(REPOSITORY / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_hooks_are_what_the_gate_runs() -> None:
    hooks = [
        hook["entry"].split()[0]
        for one in read(REPOSITORY / ".pre-commit-config.yaml")["repos"]
        for hook in one["hooks"]
    ]
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert [tool for tool in hooks if tool not in ("python", "git") and f".venv/bin/{tool}" not in gate] == []


@pytest.mark.parametrize("form", ["bug.yml", "wrong_number.yml"])
def test_a_form_asks_for_what_is_needed(form: str) -> None:
    found = read(REPOSITORY / ".github" / "ISSUE_TEMPLATE" / form)
    ids = [field["id"] for field in found["body"]]
    assert len(ids) == len(set(ids))
    assert any(field.get("validations", {}).get("required") for field in found["body"])


def test_the_nightly_takes_every_folder_of_tests() -> None:
    """All cases of rankings are in the suite."""
    nightly = (REPOSITORY / ".ci" / "nightly").read_text(encoding="utf-8")
    folders = {path.relative_to(REPOSITORY / "tests").parts[0] for path in REPOSITORY.glob("tests/*/**/test_*.py")}
    assert {folder for folder in folders if f"tests/{folder}" not in nightly} == {"rankings"}
