"""The command line ``ndcg-track``: its table of commands, and how the program begins and ends.

Only the command that is called is imported, as all would take 0.03 s (``benchmarks/tricks.py``). ``--db`` may come
before or after the command: every command and group of commands gets the option here.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from copy import copy
from importlib import import_module
from inspect import Parameter
from io import BufferedIOBase, TextIOWrapper
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from ndcg_tracker import __version__
from ndcg_tracker.cli.file_runs import with_guesses
from ndcg_tracker.cli.help import missing, with_help
from ndcg_tracker.cli.options import (
    ASKS_FOR_WORDS,
    as_option,
    discard,
    everyday,
    in_typer,
    say,
    show,
    surroundings,
    warnings_as_notes,
)
from ndcg_tracker.cli.parameters import with_parameters
from ndcg_tracker.errors import ColumnsError, InputError, NdcgTrackerError, NotComparableError, full_disk, worded
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.texts import about

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Everyday": {
        "demo": ("cli.demo:demo", "Try it out: track four runs of a small, made-up shop search."),
        "ingest": ("cli.ingest:ingest", "Store runs and their metrics, overall and per group."),
        "compare": ("compare.command:compare", "Compare runs group by group, with tests and intervals."),
        "explain": ("questions.explain.command:explain", "Explain why two runs differ, item by item."),
        "check": ("questions.check.command:check", "Check results on a golden set against the baseline in git."),
        "gate": ("questions.gate.command:gate", "Decide whether a candidate may replace the baseline."),
        "history": ("questions.history.command:history", "Show a metric from run to run, and where its mean stepped."),
        "leaderboard": (
            "questions.leaderboard.command:leaderboard",
            "Rank runs by their means, and test which differences are real.",
        ),
        "report": ("questions.report.command:report", "Write a comparison as a web page."),
        "ui": ("cli.database:ui", "Browse the database on a local web page."),
    },
    "Store": {
        "labels": ("questions.labels.command:app", "Manage labels: add, carry, list, diff, agreement, needed, sample."),
        "groups": ("cli.runs:groups", "Manage attributes (for slices) and weights of groups: set, list."),
        "texts": ("cli.runs:texts", "Manage query texts, item titles and links: add, list, delete."),
        "datasets": ("cli.runs:datasets", "Seal a share of a dataset, so that only gates read it: split."),
        "import": ("cli.exchange:import_runs", "Import a copy of a database, or exported runs."),
        "pull": ("cli.trackers:pulls", "Fetch runs from other trackers."),
    },
    "Decide": {
        "evaluate": ("cli.evaluate:evaluate", "Compute metrics of runs without storing anything."),
        "plan": ("questions.plan.command:plan", "Plan how many queries, and how many labels, a promise needs."),
        "show": ("questions.show.command:show", "Show one run: its metrics, origin and hardest groups."),
        "diff": ("questions.diff.command:diff", "Show how the lists of two runs differ, without labels."),
        "reproduce": ("questions.reproduce.command:reproduce", "Check whether a run reproduces a published one."),
        "plot": ("questions.plot.command:app", "Draw comparisons, lists and histories."),
        "suite": ("questions.suite.command:app", "Manage suites of datasets, for --suite: create, list, delete."),
        "policy": ("questions.gate.command:policies", "Manage policies, the rules of an alias."),
        "alias": ("cli.runs:aliases", "Manage aliases, names that move between runs: set, list, delete."),
        "mcp": ("cli.database:mcp", "Serve an agent over the Model Context Protocol."),
    },
    "Maintain": {
        "runs": ("cli.runs:app", "Manage stored runs: list, show, rename, tag, prune, delete."),
        "rescore": ("cli.runs:rescore", "Evaluate stored runs under newer labels or more metrics."),
        "metrics": ("cli.evaluate:metrics", "Look up metrics: list, explain, sql."),
        "sql": ("cli.database:sql", "Run a read-only query on the public views."),
        "db": ("cli.database:app", "Manage the database: upgrade, check, back up, restore, grant."),
        "doctor": ("cli.database:doctor", "Check a database; with conventions, show why NDCG values differ."),
        "export": ("cli.exchange:export_runs", "Export runs, or the whole database, as Parquet files."),
        "push": ("cli.trackers:pushes", "Send runs to other trackers."),
    },
}
"""The commands by what they are for, those of every day first. Each has its module below the package with the function
or group of commands in it, and its line in the help. The help imports no command; a test compares the lines."""
_PLACE_OF = {name: place for of_heading in COMMANDS.values() for name, (place, _) in of_heading.items()}


class _Commands(TyperGroup):
    """The group of all commands; it imports a command when that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(_PLACE_OF)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; for an unknown name, import all commands that it may mean and return None."""
        named = {option.name: option for option in self.params}
        for name in [cmd_name] if cmd_name in _PLACE_OF else _PLACE_OF:
            if name not in self.commands:
                self.commands[name] = _imported(name, named)
        return self.commands.get(cmd_name)


def command_line() -> Any:
    """Return the command line, which imports a command only when it is called.

    >>> command_line().get_command(None, "runs").name
    'runs'
    """
    app = typer.Typer(
        cls=_Commands,
        name="ndcg-track",
        help="Keep every ranking run in SQL, group by group, and report what changed between two runs. A group is a "
        "query, a user or a session.\n\n"
        "For help on a command, run ndcg-track COMMAND -h. It shows the options of every day; --help shows all.\n\n"
        "Example: ndcg-track demo",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help"]},
    )
    app.callback()(_before_command)
    command: Any = typer.main.get_command(app)
    told = {heading: [(name, line) for name, (_, line) in of.items()] for heading, of in COMMANDS.items()}
    with_help(command, headings=told)
    return command


def _imported(name: str, of_program: Mapping[str, Any]) -> Any:
    module, attribute = _PLACE_OF[name].split(":")
    answers = getattr(import_module(f"ndcg_tracker.{module}"), attribute)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(answers, typer.Typer):
        app.add_typer(answers, name=name)
        command: Any = typer.main.get_group(app).commands[name]
    else:
        app.command(name)(in_typer(answers))
        command = typer.main.get_command(app)
    quiet, verbose = (of_program["quiet"], _detail_after), (of_program["verbose"], _detail_after)
    for path, one in _with_inner(name, command):
        db, brief = (of_program["db"], _database_after), (of_program["brief"], of_program["brief"].callback)
        for option, callback in (db, brief, *((quiet, verbose) if path in _ANSWERS else ())):
            added = copy(option)
            added.expose_value, added.callback = False, callback
            one.params.append(added)
        _refuse_in_words(one)
    with_help(command)
    return command


_GONE = {
    "--details": "-v shows everything",
    "--summaries": "a run keeps groups, all or a share of them; store a share with --groups-share 1/100",
    "--agent": "sealed data are in a database of their own; give an agent the role of --reader or --writer",
    **dict.fromkeys(
        ("--alpha-budget", "gate --budget", "gate --looks", "alias set --budget", "alias set --looks"),
        "a budget belongs to the policy of an alias: ndcg-track policy set ALIAS --margin X --budget A --looks N",
    ),
    "gate --tolerance": "--margin is the allowed drop in --scope set, too",
    "gate --aa": "name the repeats by their tag: --repeat tag:aa=NAME",
    "gate --top": "-v shows the worst and best groups",
    **dict.fromkeys(
        ("gate --github-summary", "check --github-summary"),
        "in GitHub Actions, the report is appended to the job's summary without it",
    ),
    **dict.fromkeys(
        ("gate --metrics-json", "ingest --metrics-json"), "evaluate --metrics-json FILE writes the means of a run"
    ),
    "gate --on-inconclusive": "exit code 4 means INCONCLUSIVE; a script that lets it pass ends in: || [ $? -eq 4 ]",
    "--strict-slices": "a slice that regressed prevents PASS without it; a smaller --slice-margin is stricter",
    "gate --reason": "a budget is restarted with: ndcg-track policy reset ALIAS --reason REASON",
    "labels agreement --by": "labels agreement --export-pairs FILE writes both grades of each item",
    "--sealed": "the sealed part is called NAME-sealed",
    "--unjudged-bounds": "compare shows the range of what unjudged items may be worth; judge them with labels needed",
    "--store-items": "a run from Spark keeps all its items; store a share of its groups with --groups-share 1/100",
}
"""Options of earlier versions, and the way that remains."""
_OF_PYTHON = "Value error, "  # the prefix of messages from a converter of values


def _refuse_in_words(command: Any) -> None:
    """Make a command refuse all missing values at once, and an option given twice.

    The parser alone would silently take the last of two values, and name only the first missing one.

    """
    parsed = command.parse_args

    def parse_args(context: Any, words: list[str]) -> list[str]:
        for spelled in (word.partition("=")[0] for word in words):
            of_command = f"{context.command_path.partition(' ')[2]} {spelled}"
            if told := _GONE.get(spelled, _GONE.get(of_command)):
                raise InputError(f"{spelled} is gone: {told}")
        if not context.resilient_parsing:  # as for completion
            values, _, given = command.make_parser(context).parse_args(list(words))
            once = [
                option
                for option in given
                if option.param_type_name == "option" and not (option.multiple or option.is_flag)
            ]
            for option in once:
                if once.count(option) > 1:
                    raise InputError(f"{max(option.opts, key=len)} is given twice", advice="give it once")
        try:
            return list(parsed(context, words))
        except Exception as error:
            if type(error).__name__ == "MissingParameter":
                raise missing(command, context.command_path, values) from None
            if str(getattr(error, "message", "")).startswith(_OF_PYTHON):
                error.message = error.message.removeprefix(_OF_PYTHON)  # type: ignore[attr-defined]
            raise

    command.parse_args = parse_args


def _with_inner(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and, if it is a group, those in it, each with the words that call it."""
    yield path, command
    for inner in getattr(command, "commands", {}).values():
        yield from _with_inner(f"{path} {inner.name}", inner)


def _database_after(context: Any, option: Any, value: str | None) -> None:
    if value is not None:
        surroundings.database = value


_ANSWERS = (
    *("compare", "explain", "leaderboard", "history", "diff", "reproduce", "show", "gate", "check", "plan"),
    *("labels agreement", "labels carry", "labels diff", "labels needed", "labels sample", "labels list", "runs show"),
    *("runs list", "alias list", "groups list", "texts list", "suite list"),
)
"""The commands that print a report or a list."""


def _detail_after(context: Any, option: Any, is_given: bool) -> None:
    if is_given:
        _choose_detail(quiet=option.name == "quiet", verbose=option.name == "verbose")


def _choose_detail(*, quiet: bool, verbose: bool) -> None:
    detail = surroundings.detail
    refuse("", {"quiet": quiet or detail == "line", "verbose": verbose or detail == "all"})
    if quiet or verbose:
        surroundings.detail = "line" if quiet else "all"


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"ndcg-track {__version__}\n")
        raise typer.Exit


def _completion(option: typer.CallbackParam, asked: bool) -> None:
    if asked:
        from ndcg_tracker.cli.completion import SCRIPTS, install, shell_in_use

        if option.name == "show_completion":
            sys.stdout.write(SCRIPTS[shell_in_use()])
        else:
            for line in install(shell_in_use()):
                say(line)
        raise typer.Exit


def _brief(context: typer.Context, asked: bool) -> None:
    command: Any = context.command
    if asked:
        show(command.get_brief_help(context))
        raise typer.Exit


def _before_command(
    db: Annotated[
        str | None,
        typer.Option(help="Path or URL of the database.", show_default="$NDCG_TRACK_DB, else ./ndcg-track.db"),
    ] = None,
    quiet: Annotated[bool, everyday("-q", "--quiet", help="Print the first line of a report.")] = False,
    verbose: Annotated[bool, everyday("-v", "--verbose", help="Print all of a report.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback if an error occurs.")] = False,
    **done: bool,
) -> None:
    surroundings.database, surroundings.debug, surroundings.detail = db, debug, "screen"
    surroundings.n_asked, surroundings.in_memory = 0, None
    _choose_detail(quiet=quiet, verbose=verbose)


_AT_ONCE: Mapping[str, tuple[str, Callable[..., None], str]] = {
    "brief": ("-h", _brief, "Show the everyday options."),
    "version": ("--version", _version, "Show the version."),
    "install_completion": ("--install-completion", _completion, "Install completion for the current shell."),
    "show_completion": ("--show-completion", _completion, "Print the completion script."),
}
"""The options that do something and end the program."""


with_parameters(
    _before_command,
    [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[bool, typer.Option(spelled, callback=callback, is_eager=True, help=help)],
        )
        for name, (spelled, callback, help) in _AT_ONCE.items()
    ],
)


_NOW = {
    "datasets seal": "datasets split NAME --seal SHARE --metric METRIC --margin X",
    "suite show": "leaderboard --suite NAME",
    "suite compare": "compare --suite NAME",
    "suite gate": "gate --suite NAME",
    "suite report": "report --suite NAME",
    "plot suite": "plot compare --suite NAME",
    "plot training": "plot history --tag training=NAME --tag stage=iteration",
    "plot runs": "leaderboard --measure PARAMETER",
}
"""The commands that went, and the ones that do the same."""
INTERNAL_ERROR, BAD_INPUT, NOT_COMPARABLE = 1, 2, 5
_OBJECTS_BETWEEN_COLLECTIONS = 200_000  # imports create many, none garbage; scanning them takes a comparison 0.04 s


class Stopped(BaseException):
    """A signal asked the program to stop; the open transaction is rolled back."""

    def __init__(self, number: int) -> None:
        self.number = number


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; an error is one line on standard error.

    Raises: BrokenPipeError if standard output is no longer read.
    """
    words = list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    try:
        try:
            former = " ".join(words[:2])
            if former in _NOW:
                raise InputError(f"there is no command {former!r}", advice=f"use: ndcg-track {_NOW[former]}")
            with about(), warnings_as_notes():
                copy_context().run(command_line(), words, prog_name="ndcg-track")
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer turns a closed pipe into an error
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except NdcgTrackerError as error:
        _say_traceback()
        if isinstance(error, ColumnsError) and error.guesses:
            error = error.with_command(shlex.join(["ndcg-track", *with_guesses(words, error.guesses)]))
        say(f"error: {worded(error.message, as_option)}")
        return NOT_COMPARABLE if isinstance(error, NotComparableError) else BAD_INPUT
    except UnicodeEncodeError:
        _say_traceback()
        say("error: a name in this command is not valid UTF-8; give another one")
        return BAD_INPUT
    except Exception as error:
        _say_traceback()
        if getattr(error, "errno", None) == errno.ENOSPC:
            discard(sys.stdout)  # it may be what is on that disk
            say(f"error: {full_disk()}")
            return BAD_INPUT
        text = " ".join(str(error).split())
        advice = "report it" if surroundings.debug else "run it again with ndcg-track --debug, and report it"
        say(f"error: unexpected {type(error).__name__}: {text}; {advice}")
        return INTERNAL_ERROR
    return 0


def _say_traceback() -> None:
    if surroundings.debug:
        for line in traceback.format_exc().splitlines():
            say(line)


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop once. A signal that came together with this one says nothing new; a later one ends the program at once.

    Python complains about a pending signal if the system's handler is set when Python looks. So this function takes
    pending signals first, by sending one more.
    """
    both = (signal.SIGINT, signal.SIGTERM)
    for each in both:
        signal.signal(each, _taken)
    signal.raise_signal(number)
    for each in both:
        signal.signal(each, signal.SIG_DFL)  # without a traceback
    raise Stopped(number)


def _taken(number: int, frame: FrameType | None) -> None:
    """Do nothing for a signal."""


def main() -> None:
    """Run the program: its arguments in, its exit code out."""
    if sys.stdout is None:  # the caller closed it
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    if isinstance(sys.stdout, TextIOWrapper):
        if not isinstance(sys.stdout.buffer, BufferedIOBase):  # PYTHONUNBUFFERED: a full disk would cut it in silence
            sys.stdout = os.fdopen(sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False)
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a sparkline must not fail
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # JSON and CSV are UTF-8
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads take 0.1 s to start and do not help
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    try:
        code = run(sys.argv[1:]) if ASKS_FOR_WORDS not in os.environ else _complete()
        sys.stdout.flush()
    except Stopped as stopped:
        say("stopped; nothing is half done")
        code = 128 + stopped.number
    except BrokenPipeError:
        discard(sys.stdout)
        code = 0
    _end(code)


def _complete() -> int:
    from ndcg_tracker.cli.completion import complete

    return complete(command_line(), os.environ)


def _end(code: int) -> NoReturn:
    """End the process at once, because taking the interpreter apart takes 0.1 s after a comparison.

    Everything is closed by now, and the functions that libraries registered for the end are called; ``atexit`` has no
    public way to do that. ``benchmarks/tricks.py`` measures it.
    """
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that the caller closed is None
        stream.flush()
    os._exit(code)
