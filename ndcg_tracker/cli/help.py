"""The output of ``--help``: a command in a sentence, an example, its options under headings; commands under headings.

typer's own help is a list without headings, which shows Python's types for values.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ndcg_tracker.cli.options import EVERYDAY
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.terminal import wrapped

_EXAMPLE = "Example: "  # begins the last paragraph of what a command says about itself

_HEADINGS: Mapping[str, str] = {
    "What": "baseline metric metrics dataset labels read labels_baseline labels_candidate judge check_with unanswered "
    "missing unjudged ids_are_stable suite by_tag name tags tag parameters param branch commit since until last",
    "Files": "reader group item items score label weight columns scores item_to_document collapse groups_share "
    "sampled stream engine jobs results metadata",
    "Decision": "margin scope tolerance repeats aa budget looks max_harm limits acknowledge dry_run reason",
    "Statistics": "test ci equivalence cluster tie_bounds",
    "Slices": "by slice_margin",
    "Output": "format quiet verbose top output junit github_summary metrics_json report width theme kind exit_code "
    "new_steps newest_first per_group",
}
_OF_OPTION = {name: heading for heading, names in _HEADINGS.items() for name in names.split()}
_FEW = 11
"""A command with more options than this shows those of every day in the help of one screen."""
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


_Headings = Mapping[str, Iterable[tuple[str, str]]]


def with_help(command: Any, headings: _Headings | None = None) -> None:
    """Give a command, and those of its group, this help.

    ``headings``: the commands of a group and what they do, under headings.
    """
    is_group = hasattr(command, "commands")
    if is_group and headings is None:
        headings = {"Commands": [(name, _told_by(inner)[0]) for name, inner in command.commands.items()]}
    command.get_help = partial(_text, _lines, command, headings or {})
    command.get_brief_help = partial(_text, _brief_lines, command, headings or {})
    command.get_usage = partial(_usage_lines, command)
    for inner in getattr(command, "commands", {}).values():
        with_help(inner)


def _text(lines: Callable[..., Iterator[str]], command: Any, headings: _Headings, context: Any) -> str:
    return "\n".join(lines(command, headings, context, _width(context)))


def _brief_lines(command: Any, headings: _Headings, context: Any, width: int) -> Iterator[str]:
    """Yield the help of one screen: what a command does, its options of every day, a line each, and an example."""
    told = _told_by(command)
    yield from (_usage_lines(command, context), "", *wrapped(told[0], width, _INDENT))
    for heading, of_commands in [*headings.items()][:1]:
        yield from _definitions(heading, of_commands, width)
    if not headings:
        options = [one for one in _options(command) if one.name != "brief"]
        if len(options) > _FEW:
            options = [one for one in options if one.rich_help_panel == EVERYDAY]
        names = [re.sub(r"(.{,26}\|)\w+\|.*", r"\1...", spelling_of(one)) for one in options]
        room = width - max(map(len, names)) - 2 * len(_INDENT)
        yield from _definitions("Options", zip(names, (_in_a_line(one, room) for one in options), strict=True), width)
    all_of_it = "All commands and options" if headings else "All options"
    yield from ("", told[-1], f"{all_of_it}: {context.command_path} --help")


def _in_a_line(option: Any, room: int) -> str:
    """Return what an option means, with its default, or as much of it as fits in a line, at least its first clause."""
    clauses = [option.help[: mark.start()] + "." for mark in re.finditer(r"[;:,] | \(", option.help)]
    told = [*clauses[:1], *clauses, option.help, meaning_of(option)]
    return str(next((text for text in reversed(told) if len(text) <= room), told[0]))


def _width(context: Any) -> int:
    return max(context.terminal_width or min(shutil.get_terminal_size().columns, _WIDEST), _NARROWEST)


def _usage_lines(command: Any, context: Any) -> str:
    """Return how a command is called."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    pieces = ["[OPTIONS]", *map(usage_of, arguments), *(["COMMAND [ARGS]..."] if hasattr(command, "commands") else [])]
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
    example = _told_by(command)[-1]
    advice = f"for {example[0].lower()}{example[1:]}" if example.startswith(_EXAMPLE) else f"see: {path} --help"
    return InputError(f"missing: {', '.join(lacking)}", advice=advice)


def _options(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "option" and not one.hidden]


def _lines(command: Any, headings: _Headings, context: Any, width: int) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    yield _usage_lines(command, context)
    for paragraph in _told_by(command):
        yield ""
        yield from [paragraph] if paragraph.startswith(_EXAMPLE) else wrapped(paragraph, width, _INDENT)
    for heading, of_commands in headings.items():
        yield from _definitions(heading, of_commands, width)
    yield from _definitions("Arguments", [(spelling_of(one), meaning_of(one)) for one in arguments], width)
    options = [*_options(command), command.get_help_option(context)]
    by_heading: dict[str, list[tuple[str, str]]] = {}
    for option in options:
        heading = _OF_OPTION.get(option.name, "Options") if len(options) > _MANY else "Options"
        by_heading.setdefault(heading, []).append((spelling_of(option), meaning_of(option)))
    for heading in (*_HEADINGS, "Options"):
        yield from _definitions(heading, by_heading.get(heading, ()), width)


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


def _told_by(command: Any) -> list[str]:
    """Return the paragraphs that a command says about itself, the last an example; a group has that of a command."""
    told = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    if not told[-1].startswith(_EXAMPLE):
        told += [_told_by(inner)[-1] for inner in getattr(command, "commands", {}).values()][-1:]
    return told


def usage_of(argument: Any) -> str:
    """Return an argument as the usage of its command shows it."""
    word = _word(argument)
    if argument.nargs != 1 and not word.endswith("..."):
        word += "..."
    return word if argument.required or word.startswith("[") else f"[{word}]"


def spelling_of(parameter: Any) -> str:
    """Return the names of an option with the word for its value, or the word of an argument."""
    if parameter.param_type_name == "argument":
        return _word(parameter)
    names = sorted(parameter.opts, key=len) + list(parameter.secondary_opts)
    return ", ".join(names) + ("" if parameter.is_flag else f" {_word(parameter)}")


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


def meaning_of(parameter: Any) -> str:
    """Return what a parameter means, and its default."""
    shown = parameter.show_default
    default = parameter.default
    if not isinstance(shown, str):
        shown = str(default) if shown and default not in (None, False, (), []) and not callable(default) else ""
        shown = shown if not getattr(parameter, "is_flag", False) else ""
    beside = "required" if parameter.required else f"default: {shown}" if shown else ""
    return f"{parameter.help or ''} ({beside})" if beside else parameter.help or ""
