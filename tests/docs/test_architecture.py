"""The pages about the code name files and names that exist."""

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(?:python )?([\w./]+)(?::(\w+))?(?: [^`]*)?`")
PAGES = ("docs/architecture.md", "docs/extending.md", "CONTRIBUTING.md")


def top_names(path: Path) -> set[str]:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def missing(page: str) -> list[str]:
    """Return what a page names that is not there; a name without a folder is of the folder named before it."""
    found, folder = [], REPOSITORY / "ndcg_tracker"
    for match in NAMED.finditer(page):
        place, name = match.groups()
        if not place.endswith(".py") and "/" not in place:
            continue
        roots = (REPOSITORY / "ndcg_tracker", REPOSITORY) if "/" in place else (REPOSITORY / "ndcg_tracker", folder)
        path = next((root / place for root in roots if (root / place).exists()), None)
        if path is None or (name is not None and name not in top_names(path)):
            found.append(match[0])
        elif path.suffix == ".py":
            folder = path.parent
    return found


@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_names_is_there(page: str) -> None:
    assert missing((REPOSITORY / page).read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_found() -> None:
    assert missing("`questions/gate/command.py:gate` `questions/gate/command.py:nothing` `cli/no.py` `gather.py`") == [
        "`questions/gate/command.py:nothing`",
        "`cli/no.py`",
    ]
