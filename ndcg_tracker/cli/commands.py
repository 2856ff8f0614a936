"""Which commands there are; only the one that is called is imported and made ready."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from ndcg_tracker import __version__
from ndcg_tracker.cli.options import surroundings

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


def command_line(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line for some arguments: with the command they call, or with all where they call none.

    >>> [group.name for group in command_line(["--db", "ndcg.db", "runs", "list"]).registered_groups]
    ['runs']
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
    return app


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


def _before_command(
    db: Annotated[
        str | None,
        typer.Option(help="Database: a path or URL. Else NDCG_TRACK_DB, else ./ndcg-track.db.", show_default=False),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    surroundings.database, surroundings.debug = db, debug
