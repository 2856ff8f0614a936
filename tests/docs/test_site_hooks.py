"""The site links the first use of a term to the glossary; landing pages lead to every page of their tab."""

import re
from collections.abc import Callable
from types import ModuleType

import pytest
import yaml
from console_blocks import REPOSITORY

DOCS = REPOSITORY / "docs"


@pytest.fixture(scope="module")
def hooks(docs_module: Callable[[str], ModuleType]) -> ModuleType:
    return docs_module("hooks")


def link(anchor: str, words: str) -> str:
    return f'<a class="term" href="../glossary/#{anchor}">{words}</a>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>A group, two groups.</p>", f"<p>A {link('group', 'group')}, two groups.</p>"),
        ("<p>Label sets have labels.</p>", f"<p>{link('label-set', 'Label sets')} have {link('label', 'labels')}.</p>"),
        ("<h2>Slices</h2><p>A slice</p>", f"<h2>Slices</h2><p>A {link('slice', 'slice')}</p>"),
        ("<p><code>delta</code> delta</p>", f"<p><code>delta</code> {link('delta', 'delta')}</p>"),
        (
            '<p><a href="x">the <b>margin</b></a><br/> margin</p>',
            f'<p><a href="x">the <b>margin</b></a><br/> {link("margin", "margin")}</p>',
        ),
        (
            "<!-- delta --><table><tr><th>arm</th><td>arm</td></tr></table>",
            f"<!-- delta --><table><tr><th>arm</th><td>{link('arm', 'arm')}</td></tr></table>",
        ),
        ("<p>@baseline regroup group-wise labels.csv</p>", "<p>@baseline regroup group-wise labels.csv</p>"),
    ],
)
def test_the_first_use_of_a_term_is_linked(hooks: ModuleType, html: str, expected: str) -> None:
    assert hooks.linked(html, "../glossary/") == expected


def test_every_linked_term_and_no_term_twice_is_in_the_glossary(hooks: ModuleType) -> None:
    anchors = re.findall(r"\*\*\{ #([\w-]+) \}$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(anchors) == len(set(anchors))
    assert set(hooks.TERMS) <= set(anchors)


def test_the_pages_that_the_hooks_name_are_there(hooks: ModuleType) -> None:
    assert [name for name in (hooks.HOME, *hooks.SEARCHED, *hooks.BOOSTS) if not (DOCS / name).exists()] == []


def test_the_words_of_readers_have_a_heading_each() -> None:
    page = (DOCS / "words.md").read_text(encoding="utf-8").lower()
    asked = ("golden set", "holdout", "hit@k", "noise floor", "a/b test", "reranker", "re-chunk", "quality gate")
    asked += ("regression test", "unanswerable", "query, user, session")
    assert [word for word in asked if f"\n## {word}\n" not in page] == []


def paths(entries: list[object]) -> list[str]:
    found = []
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += paths(value) if isinstance(value, list) else [str(value)]
    return found


@pytest.mark.parametrize("tab", ["Guides", "Reference", "Background"])
def test_a_landing_page_leads_to_every_page_of_its_tab(tab: str) -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_load(text[text.index("\nnav:") : text.index("\nmarkdown_extensions:")])["nav"]
    (entries,) = [entry[tab] for entry in nav if tab in entry]
    landing, *others = paths(entries)
    linked = re.findall(r"\]\(\.\./([^)#]+)\)", (DOCS / landing).read_text(encoding="utf-8"))
    of_dialects = [path for path in others if path.startswith("dialects/")]
    assert [path for path in others if path not in of_dialects[1:]] == linked
