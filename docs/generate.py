"""Writes the generated parts of the docs: the schema page, the axes on the metrics page, a page per dialect.

python docs/generate.py            # writes them
python docs/generate.py --check    # writes nothing; exit code 1 where one is out of date
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DIALECTS, Dialect
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.language.words import Setting, formula, settings
from ndcg_tracker.storage.upkeep.schema_page import schema_page

DOCS = Path(__file__).resolve().parent
DIALECT_PAGES = DOCS / "dialects"
BEGIN, END = "<!-- generated: axes -->\n", "<!-- end of generated: axes -->\n"
PLAIN_CUTOFF = 10


def pages() -> dict[Path, str]:
    """Return every generated page with what it should hold."""
    metrics = DOCS / "metrics.md"
    before, _, rest = metrics.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return {
        DOCS / "schema.md": schema_page(),
        metrics: before + BEGIN + "\n" + _page(axes_table()) + "\n" + END + after,
        DIALECT_PAGES / "index.md": _page(dialect_index()),
        **{DIALECT_PAGES / f"{dialect.name}.md": _page(dialect_page(dialect)) for dialect in DIALECTS.values()},
    }


def axes_table() -> Iterator[str]:
    """Yield the lines of the tables of measures and axes."""
    yield from _table(["measure", "meaning"], ([_code(name), _prose(meaning)] for name, meaning in MEASURES.items()))
    yield ""
    rows = []
    for axis in AXES:
        values = [f"{_code(value)}: {_prose(meaning)}" for value, meaning in axis.values.items()]
        if axis.pattern_example:
            values.append(f"any of the form {_code(axis.pattern_example)}")
        rows.append([_code(axis.name), _prose(axis.meaning), "; ".join(values)])
    yield from _table(["axis", "says", "values (the first is the default)"], rows)


def dialect_index() -> Iterator[str]:
    """Yield the lines of the page that lists the dialects."""
    yield "# Dialects"
    yield ""
    yield "Paste what another tool prints or takes, with the name of its dialect and a colon before it, wherever a"
    yield "metric is expected: `--metric 'lightgbm:ndcg@10'`. It is read into the canonical form, which is what is"
    yield "stored and shown, and which gives that tool's numbers. `ndcg-track metrics explain TEXT` prints the"
    yield "formula and what differs from the default; the page of each dialect says the same for its plain NDCG, and"
    yield "what surprises people."
    yield ""
    rows = []
    for dialect in DIALECTS.values():
        link = f"[{_prose(dialect.name)}]({dialect.name}.md)"
        rows.append([link, _code(dialect.examples[0]), _prose(dialect.agreement)])
    yield from _table(["dialect", "example", "agreement"], rows)
    yield ""
    yield "Agreement is how far a group's value here and there may differ; tests compare it with values that the"
    yield "tools themselves returned. What the axes mean is on the page [Metrics](../metrics.md)."


def dialect_page(dialect: Dialect) -> Iterator[str]:
    """Yield the lines of the page of one dialect."""
    plain = parse_metric(dialect.text(PLAIN_CUTOFF))
    yield f"# {_prose(dialect.name)}"
    yield ""
    yield f"What {_prose(dialect.tool)} computes, under its own spelling."
    yield ""
    yield f"- **Write it** {_code(dialect.name + ':')} and behind that the tool's own text: {_code(dialect.text(10))}."
    bracketed = next((text for text in dialect.examples if text.startswith(f"{dialect.name}(")), None)
    if bracketed is not None:
        yield f"  Options of the tool go in brackets before the colon: {_code(bracketed)}."
    yield f"- **Agreement promised**: {_prose(dialect.agreement)}."
    yield ""
    yield "## Examples"
    yield ""
    rows = ([_code(text), _code(str(parse_metric(text)))] for text in dialect.examples)
    yield from _table(["text", "canonical form"], rows)
    yield ""
    yield "## What differs from the default"
    yield ""
    yield f"{_code(dialect.text(PLAIN_CUTOFF))} is {_code(str(plain))}:"
    yield ""
    yield "```text"
    yield formula(plain)
    yield "```"
    yield ""
    differing = [setting for setting in settings(plain) if not setting.is_default]
    if differing:
        yield f"Where it differs from {_code(f'{plain.measure}@{plain.cutoff}')}:"
        yield ""
        yield from _table(["axis", "value", "means", "instead of"], map(_differing, differing))
    else:
        yield f"It differs from {_code(f'{plain.measure}@{plain.cutoff}')} nowhere."
    yield ""
    others = list(_other_settings(dialect, set(plain.settings)))
    if others:
        yield "Other texts of the dialect also set:"
        yield ""
        yield from _table(["axis", "value", "means", "for example in"], others)
        yield ""
    yield "## Traps"
    yield ""
    for trap in dialect.traps:
        yield f"- {_prose(trap)}"


def _differing(setting: Setting) -> list[str]:
    default = next(axis for axis in AXES if axis.name == setting.axis).meaning_of(setting.default)
    instead = f"{_code(setting.default)}: {_prose(default)}"
    return [_code(setting.axis), _code(setting.value), _prose(setting.meaning), instead]


def _other_settings(dialect: Dialect, known: set[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield the settings of the examples that the plain text does not have, each with the first example that has it."""
    for text in dialect.examples:
        for setting in settings(parse_metric(text)):
            pair = (setting.axis, setting.value)
            if not setting.is_default and pair not in known:
                known.add(pair)
                yield [_code(setting.axis), _code(setting.value), _prose(setting.meaning), _code(text)]


def _page(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _table(headings: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _prose(text: str) -> str:
    """Return a text with the characters escaped that Markdown and its tables would take for marks."""
    text = re.sub(r"([\\`*\[\]|#]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: str) -> str:
    """Return a text in code style, as it is: the fence is longer than any row of backticks in it."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check compare them; return the exit code."""
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    orphans = [path for path in DIALECT_PAGES.glob("*.md") if path not in wanted]
    if arguments == ["--check"]:
        for path in [*stale, *orphans]:
            sys.stderr.write(f"docs/{path.relative_to(DOCS)} is out of date: python docs/generate.py\n")
        return int(bool(stale or orphans))
    DIALECT_PAGES.mkdir(exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in orphans:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
