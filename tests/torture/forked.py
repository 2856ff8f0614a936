"""The program in a process forked from one that has its imports done, which spares each process half a second."""

from __future__ import annotations

import itertools
import multiprocessing.forkserver
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.context import ForkServerContext
from multiprocessing.synchronize import Barrier
from pathlib import Path

from ndcg_tracker.cli.app import main

_START_TIMEOUT = 120
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["whole_program", __name__])
_numbers = itertools.count(1)


def context() -> ForkServerContext:
    """Return the context whose processes are forked from one that has its imports done.

    Python hands that one no ``sys.path`` (3.11 to 3.13) and passes over what it cannot import.
    """
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return CONTEXT


class Forked:
    """``ndcg-track ARGUMENTS`` in a process forked from one that has done the imports; used like a ``Popen``.

    ``begin``: it waits there before it begins. ``largest_file``: no file may get larger (RLIMIT_FSIZE), in bytes.
    """

    def __init__(
        self, folder: Path, *arguments: str, begin: Barrier | None = None, largest_file: int | None = None
    ) -> None:
        number = next(_numbers)
        self._out, self._err = (folder / f"{name} {os.getpid()}-{number}" for name in ("out", "err"))
        for path in (self._out, self._err):
            path.touch()
        place = (str(folder), str(self._out), str(self._err))
        self._process = context().Process(target=_program, args=(place, arguments, begin, largest_file))
        self._process.start()

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal, None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; subprocess.TimeoutExpired where it still runs."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("ndcg-track", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self._process.exitcode is None and self._process.pid is not None:
            with suppress(ProcessLookupError):  # it may have ended since
                os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Send it SIGKILL, if it still runs."""
        self.send_signal(signal.SIGKILL)

    def communicate(self) -> tuple[bytes, bytes]:
        """Wait for its end and return what it printed."""
        self._process.join()
        printed = self._out.read_bytes(), self._err.read_bytes()
        self._out.unlink()
        self._err.unlink()
        return printed


def _program(
    place: tuple[str, str, str], arguments: tuple[str, ...], begin: Barrier | None, largest_file: int | None
) -> None:
    folder, out, err = place
    if "whole_program" not in sys.modules:
        raise RuntimeError("the process to fork from has not imported the program")
    os.chdir(folder)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.argv = ["ndcg-track", *arguments]
    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does at its start
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    if begin is not None:
        begin.wait(_START_TIMEOUT)
    main()
