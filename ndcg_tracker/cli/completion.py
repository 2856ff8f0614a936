"""Shell completion for commands, options, and names from the database.

The shell's script passes the line and the cursor position in variables, and offers the printed words, one per line.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndcg_tracker.cli.options import ASKS_FOR_WORDS
from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from ndcg_tracker.storage.completion import What

_BASH = f"""_ndcg_track() {{
    local IFS=$'\\n'
    COMPREPLY=( $({ASKS_FOR_WORDS}=bash COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" \\
        COMP_BREAKS="$COMP_WORDBREAKS" "$1" 2>/dev/null) )
}}
complete -o default -o nosort -F _ndcg_track ndcg-track
"""
_ZSH = f"""#compdef ndcg-track
_ndcg_track() {{
    local typed="${{words[1,CURRENT-1]}} $PREFIX"
    local -a found
    found=("${{(@f)$({ASKS_FOR_WORDS}=zsh COMP_LINE="$typed$SUFFIX ${{words[CURRENT+1,-1]}}" COMP_POINT=${{#typed}} \\
        "${{words[1]}}" 2>/dev/null)}}")
    if [[ -n "$found" ]]; then
        compadd -V ndcg-track -- "${{found[@]}}"
    else
        _files
    fi
}}
if [[ "$funcstack[1]" = "_ndcg-track" ]]; then
    _ndcg_track "$@"
else
    compdef _ndcg_track ndcg-track
fi
"""
_FISH = f"""function __ndcg_track
    set -lx {ASKS_FOR_WORDS} fish
    set -lx COMP_LINE (commandline -p | string collect)
    set -lx COMP_POINT (commandline -cp | string collect | string length)
    ndcg-track 2>/dev/null
end
complete -c ndcg-track -k -a '(__ndcg_track)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The completion script of each shell."""

_NAMES: dict[str, tuple[What, ...]] = {
    "run": ("runs", "aliases"),
    "runs": ("runs", "aliases"),
    "reference": ("runs", "aliases"),
    "references": ("runs", "aliases"),
    "baseline": ("aliases", "runs"),
    "candidate": ("runs", "aliases"),
    "candidates": ("runs", "aliases"),
    "repeat": ("runs",),
    "alias": ("aliases",),
    "dataset": ("datasets",),
    "metric": ("metrics",),
    "metrics": ("metrics",),
    "by": ("attributes",),
    "cluster": ("attributes",),
    "group": ("groups",),
    "judge": ("judges",),
    "check_with": ("answerers", "judges"),
    "names": ("judges",),
}
"""The kinds of names to offer for a parameter of this name, in every command."""
_REFERENCES = ("latest",)


def shell_in_use() -> str:
    """Return the user's shell from ``SHELL``. Raises: InputError for a shell without a completion script."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SCRIPTS:
        shells = ", ".join(SCRIPTS)
        raise InputError(f"there is no completion for SHELL {name!r}", advice=f"set SHELL to one of {shells}")
    return name


def install(shell: str) -> list[str]:
    """Write the script where the shell finds it and return what was done, line by line. Running this again is safe."""
    home = Path.home()
    script, startup, line = {
        "bash": (home / ".bash_completions" / "ndcg-track.sh", home / ".bashrc", "source '{}'"),
        "zsh": (
            home / ".zfunc" / "_ndcg-track",
            home / ".zshrc",
            "fpath+=(~/.zfunc); autoload -Uz compinit && compinit",
        ),
        "fish": (home / ".config" / "fish" / "completions" / "ndcg-track.fish", None, ""),
    }[shell]
    said = [f"wrote {script}"]
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(SCRIPTS[shell], encoding="utf-8")
        if startup is not None:
            line = line.format(script)
            before = startup.read_text(encoding="utf-8") if startup.exists() else ""
            if line not in before.splitlines():
                with startup.open("a", encoding="utf-8") as file:
                    file.write(("" if before.endswith("\n") or not before else "\n") + line + "\n")
                said.append(f"added to {startup}: {line}")
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", where=error.filename, advice="see --show-completion"
        ) from None
    return [*said, "start a new shell to use it"]


def complete(command: Any, variables: Mapping[str, str]) -> int:
    """Print the words that fit at the cursor and return 0; if anything fails, print nothing."""
    with suppress(Exception):
        line, shell = variables["COMP_LINE"], variables[ASKS_FOR_WORDS]
        before = line[: int(variables.get("COMP_POINT", len(line)))]
        words = list(answers(command, before, line))
        if shell == "bash":
            words = as_bash_inserts(words, _split(before)[-1], variables.get("COMP_BREAKS", ""))
        sys.stdout.write("".join(f"{word}\n" for word in words if word.isprintable()))
    return 0


def answers(command: Any, before: str, line: str) -> Iterator[str]:
    """Yield the words that fit at the cursor, given the command line, the line before the cursor and the whole line.

    >>> from ndcg_tracker.cli.app import command_line
    >>> list(answers(command_line(), "ndcg-track runs re", "ndcg-track runs re"))
    ['rename']
    """
    *words, incomplete = _split(before)[1:]
    words = words[1:] if words[:1] == ["help"] else words
    for name in set(words).intersection(command.list_commands(None)):
        command.get_command(None, name)  # imports it
    database, dataset = _value(line, "--db"), _value(line, "--dataset")
    _offer_names(command, database, dataset)
    package = next(base.__module__ for base in type(command).__mro__ if base.__module__.endswith("click.core"))
    completion = import_module(package.removesuffix("core") + "shell_completion")
    asked: Any = completion.ShellComplete
    unused = dict.fromkeys(getattr(asked, "__abstractmethods__", ()))  # this module reads and prints the words itself
    completions = type("Words", (asked,), unused)(command, {}, "ndcg-track", ASKS_FOR_WORDS).get_completions(
        words, incomplete
    )
    return (item.value for item in completions if item.type == "plain" and item.value.startswith(incomplete))


def as_bash_inserts(words: Sequence[str], incomplete: str, breaks: str) -> list[str]:
    """Return words as bash inserts them: escaped, and without the part before its last break in the word.

    >>> as_bash_inserts(["@baseline", "@best one"], "@b", " @:=")
    ['baseline', 'best\\\\ one']
    """
    kept = max((incomplete.rfind(mark) for mark in breaks if mark in "@:="), default=-1) + 1
    return [re.sub(r"([^\w@%+=:,./~^-])", r"\\\1", word[kept:]) for word in words]


def _offer_names(command: Any, database: str | None, dataset: str | None) -> None:
    """Complete the parameters of commands that are names from the database."""

    def offered(what: tuple[What, ...]) -> Any:
        def names(context: Any, parameter: Any, incomplete: str) -> list[str]:
            from ndcg_tracker.asked import database_location
            from ndcg_tracker.storage.completion import names_to_complete

            stored = names_to_complete(database_location(database), what, dataset, incomplete)
            further = _REFERENCES if "runs" in what else ()
            return [name for name in (*stored, *further) if name.startswith(incomplete)]

        return names

    for parameter in command.params:
        what = _NAMES.get(parameter.name)
        is_column = parameter.name == "group" and parameter.metavar != "KEY"  # a column of a file
        if what is not None and not is_column:
            parameter._custom_shell_complete = offered(what)
    for inner in getattr(command, "commands", {}).values():
        _offer_names(inner, database, dataset)


def _value(line: str, option: str) -> str | None:
    """Return the value that a line gives an option, at any position."""
    words = _split(line)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == option and following:
            return following
        if word.startswith(f"{option}="):
            return word.removeprefix(f"{option}=")
    return None


def _split(line: str) -> list[str]:
    """Return the words of a line typed so far; the last is "" if a new one begins."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quote that is still open
        words.append(lexer.token)
        return words
    return words if line[-1:].strip() and words else [*words, ""]
