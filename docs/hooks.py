"""Hooks of the site: each page links the first use of a term to the glossary, and a search finds guides first."""

import re
from pathlib import Path
from typing import Any

HOME, GLOSSARY = "index.md", "glossary.md"
LANDING = ("guides/", "reference/", "background/")
TERMS = {
    **{word: f"{word}s?" for word in ("arm", "baseline", "cutoff", "delta", "dialect", "grade", "group", "label")},
    **{word: f"{word}s?" for word in ("margin", "slice", "suite")},
    **{word: word for word in ("bootstrap", "unjudged")},
    "alias": "alias(?:es)?",
    "betting-bound": "betting (?:bound|interval)s?",
    "confidence-interval": "confidence intervals?",
    "detectable-difference": "detectable difference",
    "label-set": "label sets?",
    "low-information": "low information",
    "q": "false discovery rate",
    "sealed-data": "sealed data",
}
"""What a newcomer has to look up, by the anchor of its entry. Words with a second meaning (cluster) are absent."""

BOOSTS = dict.fromkeys(("schema.md", "commands.md", "commands/", "python.md", "python/", "dialects/", GLOSSARY), 0.02)
BOOSTS |= dict.fromkeys(LANDING, 0.2) | {"sql.md": 1.3, "plan.md": 2, "words.md": 2}
"""How much search prefers a page, or the pages of a folder, to the guides, which have 1."""

SEARCHED = {
    "answers.md": ["sklearn", "differs", "number"],
    "compare.md": [
        "bootstrap",
        "slices",
        "confidence interval",
        "significance",
        "compare",
        "effect",
        "holm",
        "p",
        "real",
    ],
    "database.md": ["delete", "export", "sqlite", "vacuum", "databases"],
    "explain.md": ["explain", "worse"],
    "gate.md": ["exit"],
    "github-actions.md": ["CI"],
    "golden-sets.md": ["golden", "git"],
    "groups.md": ["weights"],
    "judges.md": ["judge"],
    "labels.md": ["changed"],
    "leaderboard.md": ["best"],
    "metrics.md": ["metric"],
    "pictures.md": ["share"],
    "plan.md": ["queries", "need"],
    "reliability.md": ["leaves"],
    "sql.md": ["SQL"],
    "start-trec.md": ["trec_eval"],
    "words.md": ["B"],
}
"""What people search for that the title of a guide lacks. A word here beats every title, so it has to be a rare one: a
search also finds words that begin as its own do ("in" would find "inconclusive")."""

_ENTRIES = sorted(TERMS.items(), key=lambda term: -len(term[1]))  # "label set" before "label"
_WORDS = "|".join(f"(?P<{anchor.replace('-', '_')}>{words})" for anchor, words in _ENTRIES)
_TERM = re.compile(rf"(?<![\w.@/-])(?:{_WORDS})(?![\w/-]|\.\w)", re.IGNORECASE)
_TAG = re.compile(r"(<!--.*?-->|<[^>]+>)", re.DOTALL)
_LEFT_ALONE = re.compile(r"(?:a|code|pre|h[1-6]|th|summary|script|style|svg|button|label)$")


def on_config(config: Any) -> Any:
    """Put the pages of the commands below their list, so that a new command needs no line in the menu."""
    pages = sorted(page.name for page in Path(config.docs_dir, "commands").glob("*.md"))
    reference = next(tab["Reference"] for tab in config.nav if "Reference" in tab)
    commands = next(entry["Commands"] for entry in reference if isinstance(entry, dict) and "Commands" in entry)
    commands += [{name.removesuffix(".md"): f"commands/{name}"} for name in pages]
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Set how search finds a page, and give the home page all of the width."""
    path = page.file.src_uri
    page.meta["search"] = {"boost": next((boost for of, boost in BOOSTS.items() if path.startswith(of)), 1)}
    page.meta["tags"] = SEARCHED.get(path, [])
    if path == HOME:
        page.meta["hide"] = ["navigation", "toc"]
    return markdown


def on_page_content(html: str, *, page: Any, files: Any, **_: Any) -> str:
    """Link the first use of each term in the prose of a page."""
    if page.file.src_uri.startswith((HOME, GLOSSARY, *LANDING)):
        return html
    return linked(html, files.get_file_from_path(GLOSSARY).page.file.url_relative_to(page.file))


def linked(html: str, glossary: str) -> str:
    """Return HTML with links to the glossary; headings, code and links stay as they are."""
    unseen, depth, parts = set(TERMS), 0, []

    def link(found: re.Match[str]) -> str:
        anchor = str(found.lastgroup).replace("_", "-")
        if anchor not in unseen:
            return found[0]
        unseen.remove(anchor)
        return f'<a class="term" href="{glossary}#{anchor}">{found[0]}</a>'

    for part in _TAG.split(html):
        if tag := re.match(r"<(/?)(\w+)", part):
            if _LEFT_ALONE.match(tag[2]) and not part.endswith("/>"):
                depth += -1 if tag[1] else 1
        elif not depth and not part.startswith("<"):
            part = _TERM.sub(link, part)
        parts.append(part)
    return "".join(parts)
