"""The output of ``--help``: a command in a sentence, an example, its options under headings; commands under headings.

typer's own help is a list without headings, which shows Python's types for values.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.render.terminal import wrapped

EXAMPLES: Mapping[str, str] = {
    "ingest": "ingest bm25.run dense.run --labels qrels.txt --dataset shop",
    "evaluate": "evaluate dense.run --labels qrels.txt -m ndcg@10 -m map",
    "compare": "compare @baseline dense --by product",
    "explain": "explain @baseline dense --group 'light tent'",
    "gate": "gate dense --baseline @baseline --margin 0.01",
    "history": "history -m ndcg@10 --since 2026-01-01",
    "leaderboard": "leaderboard -m ndcg@10 -m map --dataset shop",
    "suite": "suite create all shop books",
    "suite create": "suite create all shop books",
    "suite list": "suite list",
    "suite delete": "suite delete all",
    "suite show": "suite show all",
    "suite compare": "suite compare all bm25 dense",
    "suite gate": "suite gate all dense --baseline bm25 --margin 0.01",
    "suite report": "suite report all bm25 dense -o report.html",
    "diff": "diff bm25 dense --cutoff 20",
    "reproduce": "reproduce published.run mine --published 0.412",
    "report": "report @baseline dense -o report.html",
    "plot": "plot history -o history.svg",
    "plot compare": "plot compare bm25 dense -o compare.svg",
    "plot slices": "plot slices bm25 dense --by product -o slices.svg",
    "plot cutoffs": "plot cutoffs bm25 dense -o cutoffs.svg",
    "plot explain": "plot explain bm25 dense --group 'light tent' -o tent.svg",
    "plot history": "plot history -m ndcg@10 -o history.svg",
    "plot training": "plot training ranker -o training.svg",
    "plot runs": "plot runs latency_ms -o costs.svg",
    "plot suite": "plot suite all bm25 dense -o suite.svg",
    "ui": "ui --db ndcg-track.db",
    "mcp": "mcp --db ndcg-track.db",
    "show": "show dense --by product",
    "rescore": "rescore --all -m ndcg@20",
    "sql": 'sql "SELECT run, n_items, source FROM run_details"',
    "export": "export --all --output runs",
    "import": "import runs",
    "demo": "demo --folder shop",
    "runs": "runs list --top 10",
    "runs show": "runs show dense --by product",
    "runs list": "runs list -m ndcg@10 --sort mean --top 10",
    "runs rename": "runs rename dense dense-v2",
    "runs tag": "runs tag dense model=e5 --remove draft",
    "runs prune": "runs prune --older-than 90d --keep-tag release",
    "runs delete": "runs delete draft --yes",
    "alias": "alias set baseline bm25",
    "policy set": "policy set prod --margin .01 --budget .05 --looks 40",
    "policy show": "policy show prod",
    "policy history": "policy history prod",
    "alias set": "alias set baseline bm25",
    "alias list": "alias list",
    "alias delete": "alias delete baseline",
    "labels": "labels add qrels.txt --dataset shop --rescore",
    "labels add": "labels add qrels.txt --dataset shop --rescore",
    "labels list": "labels list",
    "labels diff": "labels diff 1 2",
    "labels agreement": "labels agreement gpt ann",
    "labels needed": "labels needed bm25 dense --budget 50 -o judge.csv",
    "labels sample": "labels sample bm25 dense --judge gpt --budget 200 -o ask.csv",
    "datasets": "datasets split shop --seal 0.5",
    "datasets split": "datasets split shop --seal 0.5",
    "datasets seal": "datasets seal held-out",
    "groups": "groups set groups.csv",
    "groups set": "groups set groups.csv --attribute product",
    "groups list": "groups list",
    "texts": "texts add queries.csv",
    "texts add": "texts add products.csv --title name --url link",
    "texts list": "texts list --group 'light tent'",
    "texts delete": "texts delete --group 'light tent'",
    "metrics": "metrics explain 'ndcg(gain=exp2)@10'",
    "metrics list": "metrics list",
    "metrics explain": "metrics explain xgboost:ndcg@10",
    "metrics sql": "metrics sql ndcg@10 --dialect duckdb",
    "db": "db upgrade",
    "db upgrade": "db upgrade",
    "db current": "db current",
    "db check": "db check",
    "db backup": "db backup copy.db",
    "db restore": "db restore copy.db",
    "db vacuum": "db vacuum",
    "db grant": "db grant --owner ops --writer ci --reader team",
    "doctor": "doctor",
    "doctor conventions": "doctor conventions dense",
    "push": "push mlflow dense",
    "push mlflow": "push mlflow dense --experiment ranking",
    "push wandb": "push wandb dense --project ranking",
    "pull": "pull mlflow 0a1b2c",
    "pull mlflow": "pull mlflow 0a1b2c --name dense",
}
"""An example of each command."""

_HEADINGS: Mapping[str, str] = {
    "What": "baseline metric metrics dataset labels labels_baseline labels_candidate judge check_with unanswered "
    "missing unjudged suite by_tag name tags tag parameters param branch commit since until last",
    "Files": "reader group item items score label weight columns scores item_to_document collapse sampled stream "
    "engine store_items jobs results summaries metadata",
    "Decision": "margin scope tolerance repeats aa budget looks max_harm limits acknowledge dry_run "
    "reason on_inconclusive",
    "Statistics": "test ci equivalence cluster tie_bounds unjudged_bounds",
    "Slices": "by slice_margin strict_slices dataset_margin strict_datasets",
    "Output": "format top details output junit github_summary metrics_json report width theme kind exit_code new_steps "
    "newest_first per_group",
}
_OF_OPTION = {name: heading for heading, names in _HEADINGS.items() for name in names.split()}
_MANY = 14
"""A command with more options than this, ``--db`` and ``--help`` included, has headings over them."""
_WORDS = {"int": "N", "integer": "N", "float": "X"}
_OF_NAMES = {
    "db": "DATABASE",
    "metric": "METRIC",
    "metrics": "METRIC",
    "dataset": "NAME",
    "name": "NAME",
    "reader": "FORMAT",
}
_OF_NAMES |= dict.fromkeys(("group", "item", "score", "label", "weight", "text", "title", "url", "attribute"), "COLUMN")
_OF_NAMES |= {"tags": "KEY=VALUE", "parameters": "KEY=VALUE", "tag": "KEY=VALUE", "param": "KEY=VALUE"}
_INDENT = "  "
_WIDEST, _NARROWEST = 100, 50
_FIRST_COLUMN = 30


def with_help(command: Any, words: str = "", headings: Mapping[str, Iterable[tuple[str, str]]] | None = None) -> None:
    """Give a command, and those of its group, this help.

    ``words``: the words that call it. ``headings``: the commands of a group and what they do, under headings.
    """
    command.get_help = partial(_help, command, words, headings)
    command.get_usage = partial(_usage_lines, command)
    for name, inner in getattr(command, "commands", {}).items():
        with_help(inner, f"{words} {name}".strip())


def _help(command: Any, words: str, headings: Mapping[str, Iterable[tuple[str, str]]] | None, context: Any) -> str:
    return "\n".join(_lines(command, words, headings, context, _width(context)))


def _width(context: Any) -> int:
    return max(context.terminal_width or min(shutil.get_terminal_size().columns, _WIDEST), _NARROWEST)


def _usage_lines(command: Any, context: Any) -> str:
    """Return how a command is called."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    pieces = ["[OPTIONS]", *map(_usage, arguments), *(["COMMAND [ARGS]..."] if hasattr(command, "commands") else [])]
    return "\n".join(wrapped(" ".join(pieces), _width(context), f"Usage: {context.command_path} "))


def missing(command: Any, path: str, values: Mapping[str, Any]) -> InputError:
    """Return the error for a command that lacks required values, with its example.

    ``path``: the words that call it. ``values``: of the parameters that were given, by their names.
    """
    lacking = [
        _word(one) if one.param_type_name == "argument" else max(one.opts, key=len)
        for one in command.params
        if one.required and not (isinstance(given := values.get(one.name), str | list | tuple) and given)
    ]
    words = path.partition(" ")[2]
    example = f"for example: ndcg-track {EXAMPLES[words]}" if words in EXAMPLES else f"see: {path} --help"
    return InputError(f"missing: {', '.join(lacking)}", advice=example)


def _lines(
    command: Any, words: str, headings: Mapping[str, Iterable[tuple[str, str]]] | None, context: Any, width: int
) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    is_group = hasattr(command, "commands")
    yield _usage_lines(command, context)
    for paragraph in filter(None, (" ".join(part.split()) for part in (command.help or "").split("\n\n"))):
        yield ""
        yield from wrapped(paragraph, width, _INDENT)
    if words in EXAMPLES:
        yield ""
        yield f"Example: ndcg-track {EXAMPLES[words]}"
    yield from _definitions("Arguments", [(_word(one), _told(one)) for one in arguments], width)
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    options = [*options, command.get_help_option(context)]
    by_heading: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        heading = _OF_OPTION.get(option.name, "Options") if len(options) > _MANY else "Options"
        by_heading.setdefault(heading, []).append((_spelled(option), _told(option)))
    for heading in (*_HEADINGS, "Options"):
        yield from _definitions(heading, by_heading.get(heading, ()), width)
    if is_group and headings is None:
        headings = {"Commands": [(name, _short(inner)) for name, inner in command.commands.items()]}
    for heading, of_commands in (headings or {}).items():
        yield from _definitions(heading, list(of_commands), width)


def _definitions(heading: str, pairs: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield names and their meanings side by side, with the meaning below a name that is too long."""
    pairs = list(pairs)
    if not pairs:
        return
    column = min(max(len(name) for name, _ in pairs), _FIRST_COLUMN)
    yield ""
    yield f"{heading}:"
    for name, told in pairs:
        start = f"{_INDENT}{name:{column}}  "
        if len(name) > column:
            yield _INDENT + name
            start = " " * (len(_INDENT) + column + 2)
        yield from (line.rstrip() for line in wrapped(told, width, start))


def _short(command: Any) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split())


def _usage(argument: Any) -> str:
    word = _word(argument)
    if argument.nargs != 1 and not word.endswith("..."):
        word += "..."
    return word if argument.required or word.startswith("[") else f"[{word}]"


def _spelled(option: Any) -> str:
    names = sorted(option.opts, key=len) + list(option.secondary_opts)
    return ", ".join(names) + ("" if option.is_flag else f" {_word(option)}")


def _word(parameter: Any) -> str:
    """Return the word that stands for a value."""
    if parameter.metavar:
        return str(parameter.metavar)
    described = getattr(parameter, "type_descriptor", None) or parameter.type
    choices = getattr(described, "choices", None)
    if choices:
        return "|".join(map(str, choices))
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    annotation = getattr(described, "annotation", None)
    kind = getattr(annotation, "__name__", "") or getattr(described, "name", "")
    return _OF_NAMES.get(parameter.name) or _WORDS.get(kind.split(" ")[0], "TEXT")


def _told(parameter: Any) -> str:
    """Return what a parameter means, and its default."""
    shown = parameter.show_default
    default = parameter.default
    if not isinstance(shown, str):
        shown = str(default) if shown and default not in (None, False, (), []) and not callable(default) else ""
        shown = shown if not getattr(parameter, "is_flag", False) else ""
    beside = "required" if parameter.required else f"default: {shown}" if shown else ""
    return f"{parameter.help or ''} ({beside})" if beside else parameter.help or ""
