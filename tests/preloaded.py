"""``ndcg-track`` and Python without their start: a process that has imported the program forks one child per call.

The tests call the program some hundreds of times, and most of each call is Python's and the libraries' start. The
programs that ``Preloaded`` puts into a folder hand their arguments, environment, folder and standard streams to the
process that waits, pass SIGINT and SIGTERM on, and end as the child does. Each command is a process of its own, as
ever; what is not tried here is the start itself, and the end of Python: README's commands,
tests/cli/test_cli_process.py and every test that asks for ``Program.cold`` try them for real.
"""

import array
import io
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType, TracebackType
from typing import NoReturn, Self

PROGRAMS = ("ndcg-track", "preloaded-python")  # the documents find no other `python` there
_CLIENT = """#!{python} -IS
import _signal, _socket, array, marshal, os, sys
link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
link.connect({address!r})
said = marshal.dumps(({program!r}, sys.argv[1:], os.getcwd(), dict(os.environ)))
streams = array.array("i", [0, 1, 2])
link.sendmsg([len(said).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
while said:
    said = said[link.send(said):]
child = int(link.recv(8) or b"0")
for number in (_signal.SIGINT, _signal.SIGTERM) if child else ():
    _signal.signal(number, lambda number, frame: os.kill(child, number))
code = int(link.recv(8) or b"70")
if code < 0:
    _signal.signal(-code, _signal.SIG_DFL) if code != -9 else None
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class Preloaded:
    """The waiting process; ``folder`` gets the programs (use it in a ``with`` statement)."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "socket")
        for name in PROGRAMS:
            text = _CLIENT.format(python=sys.executable, address=address, program=name)
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
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
    import whole_program  # noqa: F401

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    own = {listening, woken, wakes}
    children: dict[socket.socket, int] = {}
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listening, woken, *children], [], [])
        if woken in ready:
            woken.recv(1 << 16)
            _tell_ends(children)
        for link in children.keys() & ready:
            os.kill(children[link], signal.SIGKILL)  # the client is gone: somebody has killed it
            os.waitpid(children.pop(link), 0)
            link.close()
        if listening in ready:
            link, _ = listening.accept()
            if (child := _begun(link, own | children.keys())) is not None:
                children[link] = child


def _tell_ends(children: dict[socket.socket, int]) -> None:
    """Tell the client of each child that has ended its exit code."""
    for link, child in list(children.items()):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            del children[link]
            _tell(link, os.waitstatus_to_exitcode(status))
            link.close()


def _begun(link: socket.socket, others: set[socket.socket]) -> int | None:
    """Run what a client asks for in a process of its own, and tell its number; None where the client is gone."""
    streams = array.array("i")
    size, ancillary, _, _ = link.recvmsg(8, socket.CMSG_LEN(3 * streams.itemsize))
    if not ancillary:
        link.close()
        return None
    streams.frombytes(ancillary[0][2])
    said = b""
    while len(said) < int.from_bytes(size, "big") and (part := link.recv(1 << 16)):
        said += part
    program, arguments, folder, environment = marshal.loads(said)
    if "mlflow" in arguments or "MLFLOW_TRACKING_URI" in environment:
        _import_mlflow()
    if "mcp" in arguments:
        import ndcg_tracker.integrations.mcp  # noqa: F401
    child = os.fork()
    if not child:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in (link, *others):
            other.close()
        _answer(program, arguments, folder, environment, streams)
    for stream in streams:
        os.close(stream)  # else whoever waits for their end waits for this process
    _tell(link, child)
    return child


def _import_mlflow() -> None:
    """Import what push, pull and scripts need, which takes two seconds: once."""
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # it begins, or not, with the import
    import mlflow
    import mlflow.store.tracking.sqlalchemy_store  # noqa: F401


def _answer(
    program: str, arguments: list[str], folder: str, environment: dict[str, str], streams: Sequence[int]
) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    _open_standard_streams()
    code = 1
    try:
        _ndcg_track(arguments) if program == "ndcg-track" else _python(arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(code)


def _tell(link: socket.socket, number: int) -> None:
    with suppress(OSError):  # the client is gone
        link.sendall(str(number).encode().ljust(8))


def _open_standard_streams() -> None:
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0)), encoding="utf-8", errors="surrogateescape")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), encoding="utf-8")
    error = io.BufferedWriter(io.FileIO(2, "w"))
    sys.stderr = io.TextIOWrapper(error, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def _ndcg_track(arguments: list[str]) -> None:
    sys.argv = ["ndcg-track", *arguments]
    from ndcg_tracker.cli.app import main

    main()


def _python(arguments: list[str]) -> None:
    """Run ``preloaded-python [-W error] (-c SCRIPT | FILE) ARGUMENTS``."""
    if arguments[:2] == ["-W", "error"]:
        warnings.simplefilter("error")
        arguments = arguments[2:]
    main = ModuleType("__main__")
    if arguments[0] == "-c":
        script, name, folder = arguments.pop(1), "<string>", ""
    else:
        name = main.__file__ = arguments[0]
        script, folder = Path(name).read_text(encoding="utf-8"), str(Path(name).resolve().parent)
    sys.argv = arguments
    sys.path[:0] = [folder, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.modules["__main__"] = main
    exec(compile(script, name, "exec"), main.__dict__)


if __name__ == "__main__":
    _serve(sys.argv[1])
