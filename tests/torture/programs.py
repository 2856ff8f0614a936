"""The program in processes of its own, started from cold or forked, and in this process."""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from command_line import Printed, Program

from ndcg_tracker.cli.app import run

from .forked import CONTEXT, Forked

Process = Forked | subprocess.Popen[bytes]


def cold(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the program as a user does."""
    return Program(folder).start(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def at_once(folder: Path, commands: list[list[str]]) -> list[Printed]:
    """Run commands in processes of their own that all begin at the same moment, and return what each printed."""
    begin = CONTEXT.Barrier(len(commands))
    return [ended(process) for process in [Forked(folder, *command, begin=begin) for command in commands]]


def ended(process: Process) -> Printed:
    """Wait for a process and return what it printed."""
    out, err = process.communicate()
    code = process.returncode
    if code is None:
        raise RuntimeError("a process that has ended has no exit code")
    return Printed(code, out.decode(), err.decode())


def here(*arguments: str) -> Printed:
    """Run the same command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    texts = [bytes(stream.buffer.getbuffer()).decode() for stream in (out, err)]  # type: ignore[attr-defined]
    return Printed(code, *texts)


def outcome(printed: Printed) -> str:
    """Return what an ``ingest --format json`` of one file says became of it, "" where it failed."""
    if printed.code != 0:
        return ""
    return str(json.loads(printed.out)[0]["outcome"])


def checked(printed: Printed) -> Printed:
    """Return what a command printed, or raise where it failed: it only prepares what is tested."""
    if printed.code != 0:
        raise RuntimeError(f"exit code {printed.code}: {printed.out}{printed.err}")
    return printed
