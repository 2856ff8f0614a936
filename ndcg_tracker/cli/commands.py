"""Which commands there are; only the one that is called is imported and made ready.

``--db`` stands before the command or after it: every command and group of commands gets the option here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from importlib import import_module
from typing import Annotated, Any

import typer

from ndcg_tracker import __version__
from ndcg_tracker.cli.options import say, surroundings

COMMANDS = {
    "ingest": "ingest:ingest",
    "evaluate": "evaluate:evaluate",
    "compare": "compare:compare",
    "explain": "explain:explain",
    "gate": "gate:gate",
    "history": "history:history",
    "rescore": "rescore:rescore",
    "sql": "sql:sql",
    "export": "exchange:export_runs",
    "import": "exchange:import_runs",
    "demo": "demo:demo",
    "runs": "runs:app",
    "alias": "alias:app",
    "labels": "labels:app",
    "groups": "groups:app",
    "metrics": "metrics:app",
    "db": "database:app",
    "doctor": "doctor:app",
    "push": "mlflow:push_app",
    "pull": "mlflow:pull_app",
}
"""The module of this package that holds each command, and the function or the group of commands in it."""

ASKS_FOR_WORDS = "_NDCG_TRACK_COMPLETE"
"""The variable by which a shell asks for the words that may come next, in the place of running a command."""


def command_line(arguments: Sequence[str] = ()) -> Any:
    """Return the command line for some arguments: with the command they call, or with all where they call none.

    >>> command_line(["--db", "ndcg.db", "runs", "list"]).commands.keys()
    dict_keys(['runs'])
    """
    called = _called(arguments)
    app = typer.Typer(
        name="ndcg-track",
        help="Keeps every ranking run down to the single group in SQL, and says what changed between two of them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_before_command)
    for name in COMMANDS if called is None else [called]:
        found = _found(COMMANDS[name])
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    made: Any = typer.main.get_command(app)
    database = next(one for one in made.params if one.name == "db")
    for command in made.commands.values():
        _take_database_too(command, database)
    return made


def _take_database_too(command: Any, option: Any) -> None:
    """Give a command, and those of its group, the option that stands before the command, too."""
    added = copy(option)
    added.expose_value, added.callback = False, _database_after
    command.params.append(added)
    for inner in getattr(command, "commands", {}).values():
        _take_database_too(inner, option)


def _database_after(context: Any, option: Any, value: str | None) -> None:
    if value is not None:
        surroundings.database = value


def _called(arguments: Sequence[str]) -> str | None:
    """Return the command that is surely called, None where typer has to say what the arguments mean."""
    rest = iter(arguments)
    for argument in rest:
        if argument in COMMANDS:
            return argument
        if argument == "--db":
            next(rest, None)
        elif argument != "--debug" and not argument.startswith("--db="):
            return None
    return None


def _found(place: str) -> Any:
    module, attribute = place.split(":")
    return getattr(import_module(f"ndcg_tracker.cli.{module}"), attribute)


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"ndcg-track {__version__}\n")
        raise typer.Exit


def _install_completion(asked: bool) -> None:
    if asked:
        from ndcg_tracker.cli.completion import install, shell_in_use

        for line in install(shell_in_use()):
            say(line)
        raise typer.Exit


def _show_completion(asked: bool) -> None:
    if asked:
        from ndcg_tracker.cli.completion import SCRIPTS, shell_in_use

        sys.stdout.write(SCRIPTS[shell_in_use()])
        raise typer.Exit


def _before_command(
    db: Annotated[
        str | None,
        typer.Option(help="Database: a path or URL. Else NDCG_TRACK_DB, else ./ndcg-track.db.", show_default=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion", callback=_install_completion, is_eager=True, help="Let this shell complete words."
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option("--show-completion", callback=_show_completion, is_eager=True, help="Show the script for that."),
    ] = False,
) -> None:
    surroundings.database, surroundings.debug = db, debug
