"""The command line for tests: run in this process, or as the real program."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from ndcg_tracker.cli.app import run

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass
class Printed:
    """What one command came to."""

    code: int
    out: str
    err: str


class CommandLine:
    """Runs ``ndcg-track --db URL ...`` in this process."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url = url
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Printed:
        """Run one command and return what it printed."""
        self._capsys.readouterr()
        code = run(["--db", self.url, *arguments])
        return Printed(code, *self._capsys.readouterr())

    def done(self, *arguments: str) -> str:
        """Run a command that succeeds without a word on standard error, and return its standard output."""
        printed = self(*arguments)
        assert (printed.code, printed.err) == (0, "")
        return printed.out

    def said(self, *arguments: str) -> str:
        """Run a command that succeeds without any data, and return its messages."""
        printed = self(*arguments)
        assert (printed.code, printed.out) == (0, "")
        return printed.err

    def rows(self, *arguments: str) -> Any:
        """Run a command that succeeds and return what its JSON says."""
        printed = self(*arguments, "--format", "json")
        assert printed.code == 0, printed.err
        return json.loads(printed.out)

    def refused(self, *arguments: str, code: int = 2) -> str:
        """Run a command that fails with one line on standard error, and return that line without its ``error: ``."""
        printed = self(*arguments)
        assert (printed.code, printed.out) == (code, "")
        assert printed.err.startswith("error: ")
        assert printed.err.endswith("\n")
        assert printed.err.count("\n") == 1
        return printed.err.removeprefix("error: ").removesuffix("\n")


@dataclass
class Program:
    """Starts the real program in a process of its own; with ``programs``, one that need not start (``preloaded``)."""

    folder: Path
    programs: Path | None = None

    @property
    def cold(self) -> Self:
        """The same, started as a user does."""
        return type(self)(self.folder)

    @property
    def python(self) -> str:
        """What runs ``-c SCRIPT``."""
        return sys.executable if self.programs is None else str(self.programs / "preloaded-python")

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the variables that the program runs under."""
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
        path = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "", "TERM": "xterm", **variables}

    def words(self, *arguments: str) -> list[str]:
        """Return the command line of the process."""
        if self.programs is not None:
            return [str(self.programs / "ndcg-track"), *arguments]
        return [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()", *arguments]

    def start(
        self, *arguments: str, variables: dict[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start the program and return its process."""
        environment = self.environment(**(variables or {}))
        return subprocess.Popen(self.words(*arguments), cwd=self.folder, env=environment, **options)

    def __call__(self, *arguments: str, given: bytes = b"", variables: dict[str, str] | None = None) -> Printed:
        """Run the program to its end and return what it printed."""
        pipe = subprocess.PIPE
        process = self.start(*arguments, variables=variables, stdin=pipe, stdout=pipe, stderr=pipe)
        out, err = process.communicate(given)
        return Printed(process.returncode, out.decode(), err.decode())
