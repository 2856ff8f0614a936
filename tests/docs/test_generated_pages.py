"""Every generated page is current, is in the menu, shows each text of a dialect, and lists its traps."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from console_blocks import REPOSITORY

from ndcg_tracker.cli.app import COMMANDS
from ndcg_tracker.metrics.language.dialects import DIALECTS

DOCS = REPOSITORY / "docs"
GENERATED = [
    "schema.md",
    "commands.md",
    "images/layers.svg",
    "metrics.md",
    "dialects/index.md",
    *(f"dialects/{name}.md" for name in DIALECTS),
    *(f"commands/{name}.md" for of_heading in COMMANDS.values() for name in of_heading),
]


@pytest.fixture(scope="module")
def generate(docs_module: Callable[[str], ModuleType]) -> ModuleType:
    return docs_module("generate")


@pytest.fixture(scope="module")
def pages(generate: ModuleType) -> dict[Path, str]:
    found: dict[Path, str] = generate.pages()
    return found


def test_these_pages_are_generated(pages: dict[Path, str]) -> None:
    assert {path.relative_to(DOCS).as_posix() for path in pages} == set(GENERATED)


@pytest.mark.parametrize("name", GENERATED)
def test_the_generated_page_is_up_to_date(pages: dict[Path, str], name: str) -> None:
    path = DOCS / name
    assert path.read_text(encoding="utf-8") == pages[path], "run python docs/generate.py"


@pytest.mark.parametrize("folder", ["dialects", "commands"])
def test_no_page_is_left_over_from_what_is_gone(folder: str) -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in (DOCS / folder).iterdir()}
    assert pages == {name for name in GENERATED if name.startswith(f"{folder}/")}


@pytest.mark.parametrize("name", [name for name in GENERATED if re.fullmatch(r"(dialects/)?[^/]+\.md", name)])
def test_the_menu_has_the_page(name: str) -> None:
    assert f": {name}\n" in (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")


def test_the_menu_gets_the_pages_of_the_commands(docs_module: Callable[[str], ModuleType]) -> None:
    listed: list[object] = [{"All commands": "commands.md"}]
    config = SimpleNamespace(docs_dir=str(DOCS), nav=[{"Start": []}, {"Reference": ["x.md", {"Commands": listed}]}])
    docs_module("hooks").on_config(config)
    assert {"gate": "commands/gate.md"} in listed
    assert len(listed) == 1 + sum(map(len, COMMANDS.values()))


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.name)
def test_the_page_says_all_that_is_declared(dialect) -> None:
    page = (DOCS / "dialects" / f"{dialect.name}.md").read_text(encoding="utf-8")
    for text in dialect.examples:
        assert f"\n{text}\n" in page
    shown = html.unescape(re.sub(r"\\([\\`*_\[\]|#])", r"\1", page))
    for words in (dialect.tool, dialect.agreement):
        assert words in shown


@pytest.mark.parametrize("name", DIALECTS)
def test_the_page_lists_traps(name: str) -> None:
    page = (DOCS / "dialects" / f"{name}.md").read_text(encoding="utf-8")
    assert "\n## Traps\n\n- " in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b = 1", "a_b = 1"),
        ("_b_ *c* [d] `e` \\", r"\_b\_ \*c\* \[d\] \`e\` " + "\\\\"),
        ("a | b", r"a \| b"),
        ("l > 0 & l < 2", "l &gt; 0 &amp; l &lt; 2"),
    ],
)
def test_what_markdown_would_eat_is_escaped(generate: ModuleType, text: str, shown: str) -> None:
    assert generate._prose(text) == shown


def test_code_may_contain_backticks(generate: ModuleType) -> None:
    assert (generate._code("a"), generate._code("a`b")) == ("`a`", "`` a`b ``")
