"""Write the generated parts of the docs: commands, the schema, the axes on the metrics page, dialects, layers.

python docs/generate.py            # writes them
python docs/generate.py --check    # writes nothing; exit code 1 if a page is out of date
"""

import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Table

from ndcg_tracker.cli.app import COMMANDS, command_line
from ndcg_tracker.cli.help import meaning_of, spelling_of
from ndcg_tracker.cli.options import EVERYDAY, as_option
from ndcg_tracker.errors import worded
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.dialects.dialect import Dialect
from ndcg_tracker.metrics.language.measures import Work
from ndcg_tracker.metrics.language.metric import Setting, formula, settings
from ndcg_tracker.metrics.language.other_names import other_names
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import RULES, spelled
from ndcg_tracker.storage.schema import metadata

DOCS = Path(__file__).resolve().parent
DIALECT_PAGES = DOCS / "dialects"
BEGIN, END = "<!-- generated: axes -->\n", "<!-- end of generated: axes -->\n"
PLAIN_CUTOFF = 10
COMMAND_PAGES = DOCS / "commands"
_SHARED = ("db", "debug", "brief", "quiet", "verbose", "help")
_FORMAT = "--format text|json|markdown|csv"
"""The options that mean the same everywhere."""
_FEW = 10
"""With more options than this, those of every day come first."""
_MANY = 3
"""What this many pages would say is on the page of all commands."""
_OF_MANY, _ANCHOR = "Options of several commands", "options-of-several-commands"
_EXAMPLE = "Example: "
_GUIDES = {
    "alias": {"gate.md": "The gate"},
    "check": {"golden-sets.md": "Golden sets"},
    "compare": {"compare.md": "Compare two runs"},
    "datasets": {"sealed.md": "Sealed data"},
    "db": {"database.md": "Maintain a database"},
    "demo": {"getting-started.md": "Getting started"},
    "diff": {"diff.md": "Compare lists without labels"},
    "doctor": {"answers.md": "Questions and answers"},
    "evaluate": {"metrics.md": "Metrics"},
    "explain": {"explain.md": "Explain a change"},
    "export": {"database.md": "Maintain a database"},
    "gate": {"gate.md": "The gate"},
    "groups": {"groups.md": "Attributes and weights of groups"},
    "history": {"history.md": "History"},
    "import": {"database.md": "Maintain a database"},
    "ingest": {"formats.md": "Formats"},
    "labels": {"labels.md": "Labels", "judges.md": "Model judges"},
    "leaderboard": {"leaderboard.md": "Leaderboards"},
    "mcp": {"agents.md": "Agents"},
    "metrics": {"metrics.md": "Metrics"},
    "plan": {"plan.md": "Plan"},
    "plot": {"pictures.md": "Reports and plots"},
    "policy": {"gate.md": "The gate"},
    "pull": {"mlflow.md": "MLflow"},
    "push": {"mlflow.md": "MLflow"},
    "report": {"pictures.md": "Reports and plots"},
    "reproduce": {"reproduce.md": "Reproduce a published run"},
    "rescore": {"labels.md": "Labels"},
    "sql": {"sql.md": "SQL"},
    "suite": {"suites.md": "Suites"},
    "texts": {"texts.md": "Query texts, titles and links"},
    "ui": {"ui.md": "The web UI"},
}
"""The guides to a command, by page."""
TRAPS = "## Traps"
"""The heading of the part of a dialect's page that is written by hand; it is the last."""
_WIDTH, _FLOOR = 900, 50
_OF_DIALECTS = (
    *(
        "label_type",
        "label_domain",
        "size1",
        "clip",
        "empty_weight",
        "weight_type",
        "score_type",
        "arithmetic",
        "round",
    ),
    *("round_of", "all_skipped", "recall_count", "empty_when", "collection"),
)
"""Axes that are there for the numbers of other tools."""
SCHEMA_PICTURE = """\
## How the tables are related

```text
datasets ──< groups
datasets ──< label_sets ··< label_lists >·· groups
             label_sets ──< label_reasons >── groups
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


_OF_TABLES = "`ndcg_tracker/storage/schema.py` says what each column means and which type it has."


def pages() -> dict[Path, str]:
    """Return every generated page with its text."""
    metrics = DOCS / "metrics.md"
    before, _, rest = metrics.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return {
        DOCS / "schema.md": schema_page(),
        **command_pages(),
        DOCS / "images" / "layers.svg": layers_picture(),
        metrics: before + BEGIN + "\n" + _page(axes_table()) + "\n" + END + after,
        DIALECT_PAGES / "index.md": _page(dialect_index()),
        **{DIALECT_PAGES / f"{dialect.name}.md": _page(dialect_page(dialect)) for dialect in DIALECTS.values()},
    }


def command_pages() -> dict[Path, str]:
    """Return the page that lists the commands, and a page for each; what several pages would say is on the first."""
    program = command_line()
    commands = {name: program.get_command(None, name) for name in program.list_commands(None)}
    of_pages = [
        {_option(one) for of in (command, *getattr(command, "commands", {}).values()) for one in _rare(of)}
        for command in commands.values()
    ]
    common = {one for one, n in Counter(one for of in of_pages for one in of).items() if n >= _MANY}
    found = {COMMAND_PAGES / f"{name}.md": _page(_command_page(name, of, common)) for name, of in commands.items()}
    return {DOCS / "commands.md": _page(_commands_index(program, common)), **found}


def _commands_index(program: Any, common: set[str]) -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "Which commands there are, each with a page of its examples and options. `ndcg-track COMMAND -h` prints the"
    yield "options of every day, and `--help` all of them. A command says which options do not go together, and why."
    for heading, commands in COMMANDS.items():
        yield from ("", f"## {heading}", "")
        for name, (_, line) in commands.items():
            yield f"- [`{name}`](commands/{name}.md): {_prose(line)}"
    yield from ("", f"## {_OF_MANY}", "", "These mean the same wherever they are taken; all commands take `--db`:", "")
    evaluate = program.get_command(None, "evaluate")
    yield from (_option(one) for one in program.params if one.name in _SHARED)
    yield from (_option(one) for one in evaluate.params if spelling_of(one) == _FORMAT)
    yield from ("", "Several pages name these without saying again what they mean:", "", *sorted(common))


def _command_page(name: str, command: Any, common: set[str]) -> Iterator[str]:
    yield f"# ndcg-track {name}"
    yield ""
    inner = getattr(command, "commands", {})
    guides = [f"[{title}](../{page})" for page, title in _GUIDES.get(name, {}).items() if (DOCS / page).exists()]
    yield " ".join([_told_as_prose(_told(command)[0]), *(["Guide:", f"{', '.join(guides)}."] if guides else [])])
    above: set[str] = set()
    for below, of_group in inner.items():
        yield from ("", f"## ndcg-track {name} {below}", "", _told_as_prose(_told(of_group)[0]))
        yield from _command_body(f"{name} {below}", of_group, common, above)
    if not inner or command.invoke_without_command:
        yield from _command_body(name, command, common, above)


def _command_body(name: str, command: Any, common: set[str], above: set[str]) -> Iterator[str]:
    """Yield what a command does, its arguments, and, folded, its rare options.

    ``above``: what the page has said already, which grows.
    """
    _, *told = _told(command)
    yield from ("", "```sh", *(text.removeprefix(_EXAMPLE) for text in told if text.startswith(_EXAMPLE)), "```")
    for text in told:
        if not text.startswith(_EXAMPLE):
            yield from ("", _told_as_prose(text))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    first = [_option(one) for one in [*arguments, *(one for one in _own(command) if one not in _rare(command))]]
    rare = [_option(one) for one in _rare(command)]
    yield from _list("", [line for line in first if line not in above])
    yield from _list("All other options", [line for line in rare if line not in above | common])
    said = [_name(line) for line in [*first, *rare] if line in above]
    shared = [_name(line) for line in rare if line in common - above]
    yield from ["", f"As above: `{' '.join(said)}`."] if said else []
    yield from ["", f"As in [several commands](../commands.md#{_ANCHOR}): `{' '.join(shared)}`."] if shared else []
    yield from _list("What does not go together, and what is needed", [*_combinations(name)][1:])
    above.update((*first, *rare))


def _combinations(command: str) -> Iterator[str]:
    """Yield what does not go with an option, and what options need, from the rules of a command."""
    apart, needed = defaultdict[str, dict[str, None]](dict), defaultdict[str, dict[str, None]](dict)
    for rule in (*RULES.get(command, ()), *RULES.get(f"complete {command}", ())):
        if rule.other == "in_memory" or rule.given == "read":  # not on the command line, or said by the option itself
            continue
        given, other = ([*map(_as_option, side.split())] for side in (rule.given, rule.other))
        if rule.needs:
            for one in given or ["The command"]:
                needed[one][" or ".join(other)] = None
        else:
            for one in other:
                apart[one].update(dict.fromkeys(given))
    for title, rows, verb in (("Not together", apart, ":"), ("Needed", needed, " needs")):
        lines = [f"- {one}{verb} {', '.join(others)}" for one, others in rows.items()]
        yield from ("", f"{title}:", "", *lines) if lines else ()


def _as_option(part: str) -> str:
    """Return a name of a rule as an option, with the values for which the rule does not hold."""
    text = worded(spelled(part)[0], as_option)
    allowed = part.partition("!=")[2].replace("|", " or ")
    return f"{_code(text) if text.startswith('-') else text}{f' but {allowed}' if allowed else ''}"


def _list(folded: str, lines: list[str]) -> Iterator[str]:
    """Yield the lines of a list, folded below a summary if there is one."""
    if lines:
        yield from ["", f'<details markdown="1"><summary>{folded}</summary>'] if folded else []
        yield from ("", *lines, *(["", "</details>"] if folded else []))


def _told(command: Any) -> list[str]:
    return [" ".join(part.split()) for part in (command.help or "").split("\n\n")]


def _told_as_prose(text: str) -> str:
    """Return a text of a command with its options in code style."""
    return re.sub(r"(?<![\w`-])(--?[a-z][a-z-]*)", r"`\1`", _prose(text))


def _own(command: Any) -> list[Any]:
    """Return the options of a command that do not mean the same everywhere."""
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return [one for one in options if one.name not in _SHARED and spelling_of(one) != _FORMAT]


def _rare(command: Any) -> list[Any]:
    options = _own(command)
    rare = [one for one in options if one.rich_help_panel != EVERYDAY and not one.required]
    return rare if len(options) > _FEW else []


def _name(line: str) -> str:
    """Return the name of the option or argument that a line is about.

    >>> _name("- `-o, --output FILE`: File of the picture.")
    '--output'
    """
    words = line[3:].partition("`")[0].replace(",", "").split()
    return next((word for word in words if word.startswith("--")), words[0])


def _option(parameter: Any) -> str:
    return f"- {_code(spelling_of(parameter))}: {_told_as_prose(meaning_of(parameter))}"


def schema_page() -> str:
    """Return the page as Markdown: the views, a diagram of the tables, and every table with its comment.

    People write what the page says of the views.
    """
    page = (DOCS / "schema.md").read_text(encoding="utf-8")
    views, _, _ = page.partition(f"\n{SCHEMA_PICTURE.splitlines()[0]}\n")
    tables = "\n".join(map(_schema_table, metadata.tables.values()))
    parts = [views, SCHEMA_PICTURE, f"## Tables\n\n{_OF_TABLES}", tables]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _schema_table(table: Table) -> str:
    return f"- **{table.name}**: {table.comment}"


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
    """Yield the lines of the table of axes."""
    rows = []
    for axis in (axis for axis in AXES if axis.name not in _OF_DIALECTS):
        values = [f"{_code(value)}: {_prose(meaning)}" for value, meaning in axis.values.items()]
        if axis.pattern_example:
            values.append(f"others like {_code(axis.pattern_example)}")
        rows.append([_code(axis.name), _prose(axis.meaning), "; ".join(values)])
    yield from _table(["axis", "meaning", "values (the first is the default)"], rows)


def dialect_index() -> Iterator[str]:
    """Yield the lines of the page that lists the dialects."""
    yield "# Dialects"
    yield ""
    yield "How to get the numbers of another tool under the names of that tool, if my number differs from trec_eval,"
    yield "LightGBM, scikit-learn or another tool below. Wherever you can give a metric, write the name of the dialect,"
    yield "a colon, and the text that the tool prints or takes: `--metric 'lightgbm:ndcg@10'`. The page of each dialect"
    yield "shows what differs for its plain NDCG, and lists the traps."
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
    yield "The page of each dialect lists the names of its tool, which you write after the dialect. The names below"
    yield "are written otherwise here. `ndcg-track metrics list --for search` prints all names; so do"
    yield "`recommendations`, `rankers` and `trec`. Catalogue coverage, diversity (ERR-IA, alpha-nDCG), novelty and"
    yield "nAUC are not computed here: store the values of other tools ([examples](../beyond-accuracy.md))."
    yield ""
    names = {name: None for work in get_args(Work) for name in other_names(work) if not name.ours.endswith(name.theirs)}
    rows = ([_prose(name.tool), _code(name.theirs), _code(name.ours)] for name in names)
    yield from _table(["tool", "its name", "write here"], rows)


def dialect_page(dialect: Dialect) -> Iterator[str]:
    """Yield the lines of the page of one dialect."""
    plain = parse_metric(dialect.text(PLAIN_CUTOFF))
    yield f"# {_prose(dialect.name)}"
    yield ""
    yield f"How to write the metrics of {_prose(dialect.tool)} under their own names, and how they differ from ours."
    yield ""
    yield f"- **Write** {_code(dialect.name + ':')} and then the tool's own text: {_code(dialect.text(10))}."
    bracketed = next((text for text in dialect.examples if text.startswith(f"{dialect.name}(")), None)
    if bracketed is not None:
        yield f"  Options of the tool go in brackets before the colon: {_code(bracketed)}."
    yield f"- **Agreement** ([meaning](index.md)): {_prose(dialect.agreement)}."
    if dialect.unstable_from is not None:
        yield f"- **Depends on the sort**: values with equal scores in lists of {dialect.unstable_from} or more items."
    yield ""
    yield "## Examples"
    yield ""
    yield "`ndcg-track metrics explain TEXT` prints the canonical form of each, and its formula."
    yield ""
    yield from ("```text", *dialect.examples, "```", "")
    yield "## What differs from the default"
    yield ""
    yield "```text"
    yield formula(plain)
    yield "```"
    yield ""
    differing = [setting for setting in settings(plain) if not setting.is_default]
    if differing:
        yield f"{_code(dialect.text(PLAIN_CUTOFF))} differs from {_code(f'{plain.measure}@{plain.cutoff}')}:"
        yield ""
        yield from (f"- {_set(one)} instead of {_code(one.default)}" for one in differing)
    else:
        yield f"{_code(dialect.text(PLAIN_CUTOFF))} does not differ from {_code(f'{plain.measure}@{plain.cutoff}')}."
    yield ""
    if others := list(_other_settings(dialect, set(plain.settings))):
        yield "Other metrics of the dialect also set:"
        yield ""
        yield from others
        yield ""
    if dialect.refused:
        yield "Not computed here:"
        yield ""
        for name, (why, nearest) in dialect.refused.items():
            yield f"- {_code(name)}: {_prose(f'it {why}')}; the nearest is {_code(nearest)}"
        yield ""
    yield TRAPS
    yield ""
    yield from _written_traps(dialect)


def _written_traps(dialect: Dialect) -> list[str]:
    """Return the lines of a dialect's traps, which people write on its page; none where it has no page yet."""
    path = DIALECT_PAGES / f"{dialect.name}.md"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    return page.partition(f"{TRAPS}\n\n")[2].splitlines()


def _set(setting: Setting) -> str:
    return f"{_code(f'{setting.axis}={setting.value}')} ({_prose(setting.meaning)})"


def _other_settings(dialect: Dialect, known: set[tuple[str, str]]) -> Iterator[str]:
    """Yield settings of the examples that plain NDCG does not have, each with the first example that has it."""
    for text in dialect.examples:
        for setting in settings(parse_metric(text)):
            pair = (setting.axis, setting.value)
            if not setting.is_default and pair not in known:
                known.add(pair)
                yield f"- {_set(setting)} in {_code(text)}"


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
    orphans = [path for of in (DIALECT_PAGES, COMMAND_PAGES) for path in of.glob("*.md") if path not in wanted]
    if arguments == ["--check"]:
        for path in [*stale, *orphans]:
            sys.stderr.write(f"docs/{path.relative_to(DOCS)} is out of date: python docs/generate.py\n")
        return int(bool(stale or orphans))
    for folder in (DIALECT_PAGES, COMMAND_PAGES):
        folder.mkdir(exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in orphans:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
