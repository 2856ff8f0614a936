"""Requests travel whole: a function inside the package takes at most seven parameters."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "ndcg_tracker"
MOST = 7
PUBLIC = {
    "api/in_memory.py: plan",
    "api/storing.py: split_dataset",
    "questions/plan/__init__.py: plan",
    "integrations/training.py: __init__",
}
"""Functions that users call with keywords, which they look up one by one."""


def many_parameters(source: str) -> list[str]:
    """Return the functions of a module that take more than seven parameters, ``self`` not counted."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len([name for name in names if name not in ("self", "cls")]) > MOST:
                found.append(node.name)
    return found


def test_inner_functions_take_at_most_seven_parameters() -> None:
    found = {
        f"{path.relative_to(PACKAGE).as_posix()}: {name}"
        for path in PACKAGE.rglob("*.py")
        for name in many_parameters(path.read_text(encoding="utf-8"))
    }
    assert found == PUBLIC


def test_more_are_found() -> None:
    assert many_parameters("def f(self, a, b, c, *, d, e, f, g): ...\nasync def g(a, b, c, d, e, f, g, h): ...") == [
        "g"
    ]
