"""``ndcg-track`` without its start: a process that has imported the program forks one child per command.

The documents call the program some two hundred times, and most of each call is Python's and the libraries' start. The
program `ndcg-track` that ``Preloaded`` puts into a folder hands its arguments, environment, folder and standard streams
to the process that waits, and ends with the exit code of the child. Each command is a process of its own, as ever; what
is not tried here is the start itself, which README's commands and tests/cli/test_cli_process.py try for real.
"""

import array
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

_CLIENT = """#!{python} -IS
import _socket, array, os, pickle, sys
link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
link.connect({address!r})
said = pickle.dumps((sys.argv[1:], os.getcwd(), dict(os.environ)))
streams = array.array("i", [0, 1, 2])
link.sendmsg([len(said).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
while said:
    said = said[link.send(said):]
os._exit(int(link.recv(8) or b"70"))
"""


class Preloaded:
    """The waiting process; ``folder`` gets the program ``ndcg-track`` (use it in a ``with`` statement)."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "socket")
        program = folder / "ndcg-track"
        program.write_text(_CLIENT.format(python=sys.executable, address=address), encoding="utf-8")
        program.chmod(0o755)
        self._process = subprocess.Popen(
            [sys.executable, __file__, address], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        stream = self._process.stdout
        assert stream is not None
        assert stream.readline() == b"ready\n"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.communicate()


def _serve(address: str) -> NoReturn:
    _import_the_program()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks for the children that answer a call
    print("ready", flush=True)
    while True:
        link, _ = listening.accept()
        if not os.fork():
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(link)
        link.close()


def _import_the_program() -> None:
    from importlib import import_module

    for name in (
        *("alembic.command", "numpy", "pandas", "psycopg", "pyarrow.csv", "pyarrow.parquet", "scipy.stats"),
        *("sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.sqlite", "typer"),
    ):
        import_module(name)
    from ndcg_tracker.cli import commands

    commands.command_line().get_command(None, "")
    for module in (Path(commands.__file__).parents[1]).rglob("*.py"):
        relative = module.relative_to(Path(commands.__file__).parents[2]).with_suffix("")
        if relative.parts[1] != "integrations" and relative.name != "__init__":
            import_module(".".join(relative.parts))


def _answer(link: socket.socket) -> NoReturn:
    """Run the command that a client asks for in a process of its own, and tell its exit code."""
    streams = array.array("i")
    size, ancillary, _, _ = link.recvmsg(8, socket.CMSG_LEN(3 * streams.itemsize))
    streams.frombytes(ancillary[0][2])
    said = b""
    while len(said) < int.from_bytes(size, "big"):
        said += link.recv(1 << 16)
    child = os.fork()
    if child:
        link.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF).encode())
        os._exit(0)
    link.close()
    arguments, folder, environment = pickle.loads(said)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encoding="utf-8", errors="surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), encoding="utf-8")
    error = io.BufferedWriter(io.FileIO(2, "w"))
    sys.stderr = io.TextIOWrapper(error, encoding="utf-8", errors="backslashreplace", line_buffering=True)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = ["ndcg-track", *arguments]
    from ndcg_tracker.cli.app import main

    try:
        main()
    finally:
        os._exit(1)


if __name__ == "__main__":
    _serve(sys.argv[1])
