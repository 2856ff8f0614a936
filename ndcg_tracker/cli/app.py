"""The command line ``ndcg-track``: how the program begins and ends."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import NoReturn

from ndcg_tracker.cli.commands import command_line
from ndcg_tracker.cli.options import ASKS_FOR_WORDS, as_option, discard, say, surroundings
from ndcg_tracker.errors import NdcgTrackerError, NotComparableError, worded

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
    try:
        command_line()(list(arguments), prog_name="ndcg-track")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer turns a closed pipe into an error
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except NdcgTrackerError as error:
        _say_traceback()
        say(f"error: {worded(error.message, as_option)}")
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
    """Stop, once: a signal that came together with this one says nothing new, and a later one ends the program at once.

    Python complains of a signal that has come and whose handler is the system's when Python looks: so those that have
    come are taken first, which sending one more makes it do.
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
    """End the process as it is: taking the interpreter apart takes 0.1 s after a comparison.

    Everything is closed by now, and what libraries registered for the end is called; ``atexit`` has no public way to do
    that. ``benchmarks/tricks.py`` measures it.
    """
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that the caller closed is none
        stream.flush()
    os._exit(code)
