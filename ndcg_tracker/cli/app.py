"""The command line ``ndcg-track``: which commands there are, and how the program ends."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import Annotated

import typer

from ndcg_tracker import __version__
from ndcg_tracker.cli import (
    alias,
    compare,
    database,
    demo,
    doctor,
    evaluate,
    exchange,
    explain,
    gate,
    groups,
    history,
    ingest,
    labels,
    metrics,
    mlflow,
    rescore,
    runs,
    sql,
)
from ndcg_tracker.cli.options import discard, say, surroundings
from ndcg_tracker.errors import NdcgTrackerError, NotComparableError

INTERNAL_ERROR, BAD_INPUT, NOT_COMPARABLE = 1, 2, 5

app = typer.Typer(
    name="ndcg-track",
    help="Keeps every ranking run down to the single group in SQL, and says what changed between two of them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Stopped(BaseException):
    """A signal asked the program to stop; no transaction survives it half-way."""

    def __init__(self, number: int) -> None:
        self.number = number


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"ndcg-track {__version__}\n")
        raise typer.Exit


@app.callback()
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


app.command("ingest")(ingest.ingest)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("explain")(explain.explain)
app.command("gate")(gate.gate)
app.command("history")(history.history)
app.command("rescore")(rescore.rescore)
app.command("sql")(sql.sql)
app.command("export")(exchange.export_runs)
app.command("import")(exchange.import_runs)
app.command("demo")(demo.demo)
app.add_typer(runs.app, name="runs")
app.add_typer(alias.app, name="alias")
app.add_typer(labels.app, name="labels")
app.add_typer(groups.app, name="groups")
app.add_typer(metrics.app, name="metrics")
app.add_typer(database.app, name="db")
app.add_typer(doctor.app, name="doctor")
app.add_typer(mlflow.push_app, name="push")
app.add_typer(mlflow.pull_app, name="pull")


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors are told in one line on standard error.

    Raises: BrokenPipeError where nobody reads standard output any more.
    """
    try:
        app(list(arguments), prog_name="ndcg-track")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer makes an error of a reader that has seen enough
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except NdcgTrackerError as error:
        _say_traceback()
        say(f"error: {error}")
        return NOT_COMPARABLE if isinstance(error, NotComparableError) else BAD_INPUT
    except UnicodeEncodeError:
        _say_traceback()
        say("error: a name in this command is not valid UTF-8; give another one")
        return BAD_INPUT
    except Exception as error:
        _say_traceback()
        text = " ".join(str(error).split())
        advice = "report it" if surroundings.debug else "run again with ndcg-track --debug, and report it"
        say(f"error: unexpected {type(error).__name__}: {text}; {advice}")
        return INTERNAL_ERROR
    return 0


def _say_traceback() -> None:
    if surroundings.debug:
        for line in traceback.format_exc().splitlines():
            say(line)


def _stop(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)  # a second one ends the program at once, without a traceback
    raise Stopped(number)


def main() -> None:
    """Run the program: its arguments in, its exit code out."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sparkline is no failure
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except Stopped as stopped:
        say("stopped; nothing was left half-way")
        code = 128 + stopped.number
    except BrokenPipeError:
        discard(sys.stdout)
        code = 0
    sys.exit(code)
