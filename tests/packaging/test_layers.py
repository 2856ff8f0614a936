"""The walls that import-linter holds are complete: every part of the package is in one."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "ndcg_tracker"


@pytest.fixture(scope="module")
def contracts() -> dict[str, dict[str, Any]]:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["name"]: contract for contract in config["tool"]["importlinter"]["contracts"]}


def parts_of_the_package() -> set[str]:
    """Every module and package directly under ndcg_tracker."""
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    return modules | packages


def test_every_part_has_its_layer(contracts: dict[str, dict[str, Any]]) -> None:
    contract = contracts["The layers"]
    assert contract["exhaustive"] is True
    assert contract["containers"] == ["ndcg_tracker"]
    named = [part.strip() for layer in contract["layers"] for part in layer.split("|")]
    assert sorted(named) == sorted(parts_of_the_package())


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("Only storage speaks SQL", "storage"), ("Only the command line knows typer", "cli")],
)
def test_a_wall_around_one_part_names_all_others(contracts: dict[str, dict[str, Any]], name: str, allowed: str) -> None:
    held = {module.removeprefix("ndcg_tracker.") for module in contracts[name]["source_modules"]}
    assert held == parts_of_the_package() - {allowed}


def test_the_picture_in_contributing_is_the_one_that_is_enforced(contracts: dict[str, dict[str, Any]]) -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.split("```layers\n", 1)[1].split("```", 1)[0]
    drawn = [line.split("  ", 1)[0].strip() for line in picture.splitlines() if line.strip()]
    assert drawn == contracts["The layers"]["layers"]
