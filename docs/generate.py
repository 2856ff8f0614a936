"""Write the generated parts of the docs: commands, the schema, the axes on the metrics page, dialects, layers.

python docs/generate.py            # writes them
python docs/generate.py --check    # writes nothing; exit code 1 if a page is out of date
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Column, Table
from sqlalchemy.dialects import postgresql, sqlite

from ndcg_tracker.cli.app import command_line
from ndcg_tracker.cli.options import as_option
from ndcg_tracker.errors import worded
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.dialects.dialect import Dialect
from ndcg_tracker.metrics.language.measures import MEASURES, Work
from ndcg_tracker.metrics.language.metric import Setting, formula, settings
from ndcg_tracker.metrics.language.other_names import other_names
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import RULES, spelled
from ndcg_tracker.storage.schema import metadata

DOCS = Path(__file__).resolve().parent
DIALECT_PAGES = DOCS / "dialects"
BEGIN, END = "<!-- generated: axes -->\n", "<!-- end of generated: axes -->\n"
PLAIN_CUTOFF = 10
_KEYS = {"ndcg-track gate": ("gate", "complete gate")}
"""The names of a command's rules, if not its own."""
_OF_PYTHON = ("frame",)
"""What only callers in Python can give."""
TRAPS = "## Traps"
"""The heading of the part of a dialect's page that is written by hand; it is the last."""
_WIDTH, _FLOOR = 900, 50
SCHEMA_PICTURE = """\
## How the tables are related

```text
datasets ──< groups
datasets ──< label_sets ··< label_lists >·· groups
datasets ──< runs ··< ranked_lists >·· groups
             runs ──< evaluations >── label_sets, metrics
                      evaluations ··< group_results >·· groups
             runs ──< coverages >── label_sets
datasets ──< aliases >── runs
datasets ──< decisions >── runs, label_sets
datasets ──< designs >── label_sets
             designs ──< design_runs >── runs
             designs ──< drawn_items >── groups
datasets ──< texts >·· groups

──<  one to many, by a foreign key      ··<  one to many, checked once per transaction
```

Label lists, ranked lists and group results have one row per group. To check a foreign key for each of millions of rows
would take most of the time of storing a run. So the program checks these references set by set before the commit, and
`ndcg-track db check` checks them again.
"""


def pages() -> dict[Path, str]:
    """Return every generated page with its text."""
    metrics = DOCS / "metrics.md"
    before, _, rest = metrics.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return {
        DOCS / "schema.md": schema_page(),
        DOCS / "commands.md": commands_page(),
        DOCS / "images" / "layers.svg": layers_picture(),
        metrics: before + BEGIN + "\n" + _page(axes_table()) + "\n" + END + after,
        DIALECT_PAGES / "index.md": _page(dialect_index()),
        **{DIALECT_PAGES / f"{dialect.name}.md": _page(dialect_page(dialect)) for dialect in DIALECTS.values()},
    }


def commands_page() -> str:
    """Return the page as Markdown: the help of every command."""
    parts = ["# Commands\n\nWhat `ndcg-track COMMAND --help` prints. `--db` and `--debug` go with every command.\n"]
    for name, text in _helps(command_line(), "ndcg-track"):
        parts.append(f"{'##' if name.count(' ') < 2 else '###'} {name}\n\n```text\n{text}\n```\n")
        if rules := [line for key in _KEYS.get(name, (name.removeprefix("ndcg-track "),)) for line in _rules_of(key)]:
            parts.append("\n".join(["What does not go together:", "", *sorted(rules), ""]))
    return "\n".join(parts)


def _rules_of(command: str) -> Iterator[str]:
    """Yield a line on each option of a command that does not go with others, or needs one."""

    def as_code(name: str, value: str) -> str:
        return f"`{as_option(name, value)}`"

    for rule in (rule for rule in RULES.get(command, ()) if rule.other not in _OF_PYTHON):
        others = " or ".join(spelled(rule.other))
        for one in spelled(rule.given):
            what, advice = rule.sentence(one, others)
            yield f"- {worded(what, as_code)}; {worded(advice, as_code)}."


def _helps(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Yield the name and the help of a command and its subcommands."""
    context = command.context_class(command, info_name=name.rpartition(" ")[2], parent=parent)
    context.max_content_width = context.terminal_width = 100
    yield name, "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    if hasattr(command, "list_commands"):
        for below in command.list_commands(context):
            yield from _helps(command.get_command(context, below), f"{name} {below}", context)


def schema_page() -> str:
    """Return the page as Markdown: the views, a diagram of the tables, and every table and column with its comment.

    People write what the page says of the views.
    """
    page = (DOCS / "schema.md").read_text(encoding="utf-8")
    views, _, _ = page.partition(f"\n{SCHEMA_PICTURE.splitlines()[0]}\n")
    parts = [views, SCHEMA_PICTURE, "## Tables", *(_schema_table(table) for table in metadata.tables.values())]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _schema_table(table: Table) -> str:
    rows = [f"| `{column.name}` | {_column_types(column)} | {_column_notes(column)} |" for column in table.columns]
    head = ["| column | SQLite / Postgres | |", "|---|---|---|"]
    return "\n".join([f"### {table.name}", "", table.comment or "", "", *head, *rows, ""])


def _column_types(column: Column[object]) -> str:
    spelled = [column.type.compile(dialect=engine.dialect()) for engine in (sqlite, postgresql)]
    return " / ".join(dict.fromkeys(text.replace(' COLLATE "C"', "") for text in spelled))


def _column_notes(column: Column[object]) -> str:
    key = ["Key."] if column.primary_key else []
    references = [f"References `{key.target_fullname}`." for key in column.foreign_keys]
    null = ["May be NULL."] if column.nullable and "NULL" not in (column.comment or "") else []
    return " ".join([column.comment or "", *key, *references, *null])


def layers_picture() -> str:
    """Return an SVG of the layers of the program, as import-linter enforces and CONTRIBUTING.md describes them."""
    repository = DOCS.parent
    contracts = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    floors = next(one["layers"] for one in contracts["contracts"] if one["type"] == "layers")
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```layers\n", 1)[1].split("```", 1)[0]
    said = dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in text.splitlines() if line.strip())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {len(floors) * _FLOOR}" role="img">',
        "<title>The layers of the program: a higher layer may import a lower one</title>",
        "<style>rect{fill:#e8eef7;stroke:#5b7bb0}text{font:14px sans-serif;fill:#1c2733}.what{font-size:11px}"
        "@media(prefers-color-scheme:dark){rect{fill:#22304a}text{fill:#e6edf5}}</style>",
    ]
    for floor, layer in enumerate(floors):
        parts = [part.strip() for part in layer.split("|")]
        width, each = _WIDTH / len(parts), said[layer].split("; ") if len(parts) > 1 else [said[layer]]
        for place, (part, what) in enumerate(zip(parts, each, strict=True)):
            x, y = place * width + 2, floor * _FLOOR + 2
            lines.append(f'<rect x="{x:.0f}" y="{y}" width="{width - 4:.0f}" height="{_FLOOR - 4}" rx="4"/>')
            lines.append(f'<text x="{x + 10:.0f}" y="{y + 19}">{part}</text>')
            lines.append(f'<text class="what" x="{x + 10:.0f}" y="{y + 36}">{what}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def axes_table() -> Iterator[str]:
    """Yield the lines of the tables of measures and axes."""
    yield from _table(["measure", "meaning"], ([_code(one.name), _prose(one.meaning)] for one in MEASURES.values()))
    yield ""
    rows = []
    for axis in AXES:
        values = [f"{_code(value)}: {_prose(meaning)}" for value, meaning in axis.values.items()]
        if axis.pattern_example:
            values.append(f"others like {_code(axis.pattern_example)}")
        rows.append([_code(axis.name), _prose(axis.meaning), "; ".join(values)])
    yield from _table(["axis", "meaning", "values (the first is the default)"], rows)


def dialect_index() -> Iterator[str]:
    """Yield the lines of the page that lists the dialects."""
    yield "# Dialects"
    yield ""
    yield "How to get the numbers of another tool under the names of that tool, and what your tool's metrics are called"
    yield "here. For everyone who compares values with trec_eval, LightGBM, scikit-learn or another tool below."
    yield ""
    yield "Wherever you can give a metric, write the name of the dialect, a colon, and the text that the tool prints"
    yield "or takes: `--metric 'lightgbm:ndcg@10'`. The program stores and shows its canonical form, which gives the"
    yield "numbers of that tool. `ndcg-track metrics explain TEXT` prints the formula and what differs from the"
    yield "default. The page of each dialect shows this for its plain NDCG, and lists the traps."
    yield ""
    rows = []
    for dialect in DIALECTS.values():
        link = f"[{_prose(dialect.name)}]({dialect.name}.md)"
        rows.append([link, _code(dialect.examples[0]), _prose(dialect.agreement)])
    yield from _table(["dialect", "example", "agreement"], rows)
    yield ""
    yield "Agreement is how far the values of a group may differ between the tool and ndcg_tracker. Tests compare them"
    yield "with values that the tools returned, or, for search engines, with the numbers of their own unit tests"
    yield "(`pytest tests/metrics/test_conformance.py tests/metrics/test_search_engines.py`). [Metrics](../metrics.md)"
    yield "explains the axes."
    yield ""
    yield "## What your tool calls it"
    yield ""
    yield "`ndcg-track metrics list --for recommendations` prints one of these tables; `search`, `rankers` and `trec`"
    yield "print the others. ndcg_tracker does not compute catalogue coverage, diversity (ERR-IA, alpha-nDCG), novelty"
    yield "or nAUC. Store the values of other tools with `ndcg-track ingest --results`"
    yield "([examples](../beyond-accuracy.md))."
    for work in get_args(Work):
        yield ""
        yield f"### {'TREC' if work == 'trec' else work.capitalize()}"
        yield ""
        names = ([name.measure, _prose(name.tool), _code(name.theirs), _code(name.ours)] for name in other_names(work))
        yield from _table(["metric", "tool", "its name", "write here"], names)


def dialect_page(dialect: Dialect) -> Iterator[str]:
    """Yield the lines of the page of one dialect."""
    plain = parse_metric(dialect.text(PLAIN_CUTOFF))
    yield f"# {_prose(dialect.name)}"
    yield ""
    yield f"How to write the metrics of {_prose(dialect.tool)} under their own names, and how they differ from"
    yield "ndcg_tracker's default. For everyone who compares values with that tool."
    yield ""
    yield f"- **Write** {_code(dialect.name + ':')} and then the tool's own text: {_code(dialect.text(10))}."
    bracketed = next((text for text in dialect.examples if text.startswith(f"{dialect.name}(")), None)
    if bracketed is not None:
        yield f"  Put options of the tool in brackets before the colon: {_code(bracketed)}."
    yield f"- **Agreement** ([meaning](index.md)): {_prose(dialect.agreement)}."
    if dialect.unstable_from is not None:
        yield f"- **Depends on the sort**: values with equal scores in lists of {dialect.unstable_from} or more items."
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
        yield f"It differs from {_code(f'{plain.measure}@{plain.cutoff}')} on these axes:"
        yield ""
        yield from _table(["axis", "value", "meaning", "instead of"], map(_differing, differing))
    else:
        yield f"It does not differ from {_code(f'{plain.measure}@{plain.cutoff}')}."
    yield ""
    others = list(_other_settings(dialect, set(plain.settings)))
    if others:
        yield "Other metrics of the dialect also set:"
        yield ""
        yield from _table(["axis", "value", "meaning", "for example in"], others)
        yield ""
    if dialect.refused:
        yield "Not computed here:"
        yield ""
        rows = ([_code(name), _prose(f"it {why}"), _code(nearest)] for name, (why, nearest) in dialect.refused.items())
        yield from _table(["metric", "why", "the nearest here"], rows)
        yield ""
    yield TRAPS
    yield ""
    yield from _written_traps(dialect)


def _written_traps(dialect: Dialect) -> list[str]:
    """Return the lines of a dialect's traps, which people write on its page; none where it has no page yet."""
    path = DIALECT_PAGES / f"{dialect.name}.md"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    return page.partition(f"{TRAPS}\n\n")[2].splitlines()


def _differing(setting: Setting) -> list[str]:
    default = next(axis for axis in AXES if axis.name == setting.axis).meaning_of(setting.default)
    instead = f"{_code(setting.default)}: {_prose(default)}"
    return [_code(setting.axis), _code(setting.value), _prose(setting.meaning), instead]


def _other_settings(dialect: Dialect, known: set[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield settings of the examples that plain NDCG does not have, each with the first example that has it."""
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
    """Return a text in which characters with a meaning in Markdown and its tables are escaped."""
    text = re.sub(r"([\\`*\[\]|#]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: str) -> str:
    """Return a text in code style, unchanged: the fence is longer than any row of backticks in it."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them with --check; return the exit code."""
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
