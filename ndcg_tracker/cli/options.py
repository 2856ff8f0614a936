"""The options that commands share, and the context of a command."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from ndcg_tracker import asked
from ndcg_tracker.asked import Option
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, ReadWarning, worded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.render.formats import Said
    from ndcg_tracker.render.report import Column, Detail, ListPaper, Paper


DEFAULT_COLUMNS = 100
"""The width of a report if standard output is not a terminal."""
WIDEST = 140
"""The largest width of prose: longer lines are hard to follow."""

OutputFormat = Literal["text", "json", "markdown", "csv"]
"""How results are printed."""


EVERYDAY = "everyday"
"""The panel of an option that ``-h`` shows."""
everyday = partial(typer.Option, rich_help_panel=EVERYDAY)


def metrics_asked_for(texts: list[str] | None) -> list[str] | None:
    """Return the metrics that ``--metric`` names, one text each, with a note on how a common name is read."""
    if not texts:
        return None
    from ndcg_tracker.metrics.language.text import metric_texts, read_as

    metrics = metric_texts(texts)
    for text in metrics:
        canonical = read_as(text)
        if canonical is not None:
            say(f"note: {text} is read as {canonical}")
    return metrics


def metric_asked_for(text: str | None) -> str | None:
    """Return the one metric that an option or an argument names (see ``metrics_asked_for``); MetricError if none."""
    if text is None:
        return None
    from ndcg_tracker.metrics.language.text import parse_metric

    parse_metric(text)
    return (metrics_asked_for([text]) or [text])[0]


def told(declared: Any, name: str = "", default: object = None) -> Any:
    """Return a declared argument (``Annotated[TYPE, Option(...)]``) as typer takes it.

    ``name``: of the argument. ``default``: the argument's default, which the help shows.
    """
    option: Option = declared.__metadata__[0]
    shown = option.default or (str(default) if default not in (None, "", False, (), asked.NOTHING) else False)
    if option.is_positional:
        return typer.Argument(metavar=option.metavar, help=option.help, show_default=option.default or False)
    return typer.Option(
        *(option.spelled or asked.spelling(name)),
        metavar=option.metavar,
        help=option.help,
        min=option.least,
        show_default=shown,
        rich_help_panel=EVERYDAY if option.everyday else None,
    )


Output = Annotated[OutputFormat, everyday("--format", help="How to print the result.")]
ExistingDataset = Annotated[str | None, told(asked.Dataset, "dataset")]
AnyDataset = Annotated[str | None, told(asked.AnyDataset, "dataset")]
OnlyTagged = Annotated[asked.Texts, told(asked.OnlyTagged, "tags")]
Run = Annotated[str, told(asked.Run)]
SomeRuns = Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="The runs.")]
EveryRun = Annotated[bool, Option("All runs (of --dataset, if given).")]
Allow = Annotated[asked.Texts, told(asked.Allow, "allow")]
Yes = Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")]
Judge = Annotated[str | None, told(asked.Judge, "judge")]
ASKS_FOR_WORDS = "_NDCG_TRACK_COMPLETE"
"""The variable by which a shell asks for completions instead of running a command."""


def or_the_only_one(dataset: str | None) -> str:
    """Return the dataset that an option names, or the default one."""
    return asked.DEFAULT_DATASET if dataset is None else dataset


@dataclass
class Surroundings:
    """The options that every command has, and what else surrounds it.

    ``n_asked``: the number of rows that it was asked for, 0 for none. ``in_memory``: the runs that it named, if they
    are files.
    """

    database: str | None = None
    debug: bool = False
    detail: Detail = "screen"
    n_asked: int = 0
    in_memory: Tracker | None = None


surroundings = Surroundings()


def tracker() -> Tracker:
    """Return the tracker on the requested database."""
    from ndcg_tracker.api.tracker import Tracker

    return surroundings.in_memory or Tracker(surroundings.database)


def show(text: str) -> None:
    """Print a result to standard output. No line of it can act as a command to the log of a build."""
    from ndcg_tracker.render.terminal import inert_lines

    sys.stdout.write(inert_lines(text if text.endswith("\n") or not text else text + "\n"))


def show_rows(
    format: OutputFormat, columns: Sequence[Column | str], rows: Iterable[Sequence[object]], cell_width: int = 0
) -> None:
    """Print rows in a format (see ``rows_as``)."""
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.text import CELL_WIDTH

    show(rows_as(format, columns, rows, cell_width=cell_width or CELL_WIDTH, **screen()))


def show_list(format: OutputFormat, columns: Sequence[Column | str], rows: Iterable[Sequence[object]]) -> None:
    """Print a list in a format: as many rows as a screen has, with -v all, with -q their number."""
    from ndcg_tracker.render.formats import rows_as

    show(rows_as(format, columns, rows, **list_screen()))


def show_fields(format: OutputFormat, names: Sequence[str], records: Iterable[object]) -> None:
    """Print a row of these attributes for each record, in a format."""
    from ndcg_tracker.render.report import read_by_people

    rows = [tuple(getattr(record, name) for name in names) for record in records]
    show_rows(format, read_by_people(*names), rows)


def in_typer(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with its declared arguments (``Annotated[TYPE, Option(...)]``) as typer reads them."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [
        one.replace(annotation=Annotated[one.annotation.__origin__, told(one.annotation, one.name, one.default)])
        if isinstance(next(iter(getattr(one.annotation, "__metadata__", ())), None), Option)
        else one
        for one in signature.parameters.values()
    ]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


class Group(typer.Typer):
    """Commands whose arguments are declared."""

    def command(self, *of: Any, **how: Any) -> Callable[..., Any]:
        added = super().command(*of, **how)
        return lambda command: added(in_typer(command))


def command_group(help: str) -> typer.Typer:
    """Return a command that has subcommands."""
    return Group(help=help, no_args_is_help=True, rich_markup_mode=None)


def show_answer(said: Said, format: str) -> None:
    """Print a result in a format."""
    show(answer_text(said, format))


def is_for_screen(format: str) -> bool:
    """Return whether a format shows no more than a screen, so that the rest need not be computed."""
    return format == "text" and surroundings.detail != "all"


def show_decision(text: str, code: int) -> None:
    """Print a decision and exit with its exit code."""
    try:
        show(text)
        sys.stdout.flush()
    except BrokenPipeError:  # a build that reads only the first line must still fail
        discard(sys.stdout)
    if code:
        raise typer.Exit(code)


def answer_text(said: Said, format: str) -> str:
    """Return a result in a format; text is as wide as the terminal, or as COLUMNS says."""
    width = min(shutil.get_terminal_size((DEFAULT_COLUMNS, 0)).columns, WIDEST)
    return said.in_format(
        format,
        detail=surroundings.detail,
        more="-v",
        color=wants_color(),
        width=width,
        is_terminal=sys.stdout.isatty(),
        n_asked=surroundings.n_asked,
    )


def show_sentences(*sentences: str) -> None:
    """Print sentences, one per line; on a terminal, each is wrapped to as many lines as it needs."""
    from ndcg_tracker.render.terminal import visible, wrapped

    width = screen()["width"]
    for sentence in map(visible, sentences):
        show("\n".join([sentence] if width is None else wrapped(sentence, width)) + "\n")


def list_screen(*, by_time: bool = False) -> ListPaper:
    """Return what standard output is written on, and how much of a list; ``by_time``: the last row is the latest."""
    return {**screen(), "detail": surroundings.detail, "n_asked": surroundings.n_asked, "by_time": by_time}


def screen() -> Paper:
    """Return what standard output is written on."""
    return {"color": wants_color(), "width": shutil.get_terminal_size().columns if sys.stdout.isatty() else None}


of_thread = threading.local()  # the warnings of a file that is read before its turn


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print our own warnings as notes, each once; pass other warnings through."""
    told = set()

    with warnings.catch_warnings():
        warnings.simplefilter("always", NdcgTrackerWarning)
        show = warnings.showwarning

        def spelled(name: str, value: str) -> str:
            return "--item ''" if (name, value) == ("item", "False") else as_option(name, value)

        def tell(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
            if not isinstance(message, NdcgTrackerWarning):
                show(message, category, *rest, **named)
            elif (kept := getattr(of_thread, "warnings", None)) is not None:
                kept.append(message)
            elif message.message not in told:
                told.add(message.message)
                line = f"note: {worded(message.message, spelled)}"
                _unsaid.append(line) if isinstance(message, ReadWarning) else say(line)

        warnings.showwarning = tell
        before, ReadWarning.is_said = ReadWarning.is_said, True
        try:
            yield
        except SystemExit:  # a command ends so
            say()
            raise
        finally:
            ReadWarning.is_said = before


_unsaid: list[str] = []  # what was read: an error leaves it out


def say(text: str = "") -> None:
    """Print a message to standard error, without control characters and commands to the log of a build.

    It is one line, or on a terminal as many as it needs. A command at its end is on its own line and is not wrapped.
    What was read comes before it, except before an error.
    """
    from ndcg_tracker.render.terminal import inert_lines, visible

    before = _unsaid[:]
    _unsaid.clear()
    for line in [] if text.startswith("error: ") else before:
        say(line)
    if not text:
        return
    try:
        lines = _on_terminal(visible(text)) if sys.stderr.isatty() else [visible(text)]
        sys.stderr.write(inert_lines("\n".join(lines)) + "\n")
    except BrokenPipeError:  # an error keeps its exit code even if nobody reads the message
        discard(sys.stderr)


def _on_terminal(text: str) -> list[str]:
    """Return the lines of a message on the terminal that standard error is."""
    from ndcg_tracker.render.terminal import display_width, wrapped

    width = min(os.get_terminal_size(sys.stderr.fileno()).columns, WIDEST) or DEFAULT_COLUMNS
    if display_width(text) <= width:
        return [text]
    sentence, colon, command = text.rpartition(": ndcg-track ")
    kind, _, rest = (sentence + ":" if colon else text).partition(": ")
    start = f"{kind}: " if kind in ("error", "note", "warning") and rest else ""
    lines = wrapped((sentence + ":" if colon else text).removeprefix(start), width, start)
    return [*lines, f"{' ' * len(start)}ndcg-track {command}"] if colon else lines


def say_notes(notes: Iterable[str], of: str = "") -> None:
    """Print notes to standard error; ``of``: the run that they are about."""
    for note in notes:
        say(f"note: {of}: {note}" if of else f"note: {note}")


def confirm_deletion(what: str, *, yes: bool) -> None:
    """Ask the person at the terminal, unless ``yes``; InputError without a terminal and for any other answer."""
    if not yes and sys.stdin.isatty():
        say(f"delete {what}? [y/N]")
        yes = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not yes:
        raise InputError(f"nothing deleted: {what}", advice="add --yes")


def as_option(name: str, value: str) -> str:
    """Return a Python argument as the command line writes it.

    >>> as_option("dry_run", "True"), as_option("metrics", "ndcg@10")
    ('--dry-run', '--metric ndcg@10')
    """
    option = asked.spelling(name)[0]
    return option if value in ("", "True") else f"{option} {shlex.quote(value)}"


def discard(stream: TextIO) -> None:
    """Let a stream whose reader is gone discard the remaining output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wants_color() -> bool:
    """Return whether results may be coloured: only on a terminal, and not if NO_COLOR is set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
