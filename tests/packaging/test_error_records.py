"""Errors say apart what is wrong, where, and what to do: no advice and no place hides in ``what``."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ndcg_tracker as nt

PACKAGE = Path(nt.__file__).parent
MAKERS = re.compile(r"error|whole|refused|(?!(?:Value|Type|Usage)Error)\w*(?:Error|Warning)")
"""What makes an error of a text: its class, or a function of whoever knows the place."""
VERBS = (
    "add|ask|call|check|choose|close|compress|compute|convert|copy|correct|create|decompress|did you mean|double|drop|"
    "evaluate|explain|export|fetch|fix|give|import|ingest|install|keep|leave|list|name|narrow|or give|pass|pip install|"
    "please|point|put|read|remove|rename|repeat|report|restore|retry|return|run|save|say|see|select|set|shorten|sort|"
    "store|swap|try|type|unpack|use|write"
)
ADVICE = re.compile(rf"[;:] (?:{VERBS})\b")
PLACE = re.compile(r"(?:\{\}:?)+: ")


def text_of(node: ast.expr) -> str:
    """Return a text as it is written, ``{}`` for what is put in; "" for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def hidden(source: str) -> Iterator[str]:
    """Yield where an error, or a variable ``what``, has advice behind what is wrong, or an error a place before it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and MAKERS.fullmatch(
            getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        ):
            yield from (text for text in map(text_of, node.args) if ADVICE.search(text) or PLACE.match(text))
        elif isinstance(node, ast.Assign) and any(getattr(target, "id", None) == "what" for target in node.targets):
            yield from (text for text in [text_of(node.value)] if ADVICE.search(text))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_is_wrong_holds_neither_place_nor_advice(path: Path) -> None:
    assert list(hidden(path.read_text(encoding="utf-8"))) == [], "give where= and advice= (docs/extending.md)"


@pytest.mark.parametrize(
    "source",
    [
        'raise InputError("no such file; check the path")',
        "raise InputError(f'unknown test {name!r}: choose t')",
        'raise source.error(f"{path} is empty; give another", line)',
        'raise InputError(f"{path}: no such file")',
        'raise InputError(f"{path}:{line}: no number")',
        'what = "it is damaged; restore a backup"',
    ],
)
def test_what_hides_is_found(source: str) -> None:
    assert list(hidden(source))


def test_two_facts_are_no_advice() -> None:
    source = 'raise InputError(f"{name} is not known; it is ndcg", where=path, advice="give ndcg; see the docs")'
    assert not list(hidden(source))
