"""A TCP proxy before the unix socket of a Postgres server, which does something at one point of the byte stream."""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Direction = Literal["to server", "to client"]
Place = Literal["before", "within", "sent", "unanswered", "half answered"]
PLACES: tuple[Place, ...] = ("before", "within", "sent", "unanswered", "half answered")
_CHUNK = 65536


@dataclass(frozen=True)
class AtByte:
    """The point when so many bytes have passed in one direction, over all connections."""

    direction: Direction
    n_bytes: int


@dataclass(frozen=True)
class AtCommit:
    """A point around the n-th COMMIT that a client sends, counted from 1 over all connections.

    ``place``: "before" it passes, "within" its bytes, when it is "sent" and its answer is not waited for, "unanswered"
    when the answer is there but nothing of it has passed, "half answered" when three bytes of the answer have.
    """

    ordinal: int
    place: Place


@dataclass(frozen=True)
class Fault:
    """What happens at a point, once.

    ``act``: called when everything before the point has passed. ``cuts``: the connection is closed then. ``resets``:
    and the client sees a reset, not an end. ``refuses``: no connection is accepted afterwards.
    """

    point: AtByte | AtCommit
    act: Callable[[], None] = lambda: None
    cuts: bool = True
    resets: bool = False
    refuses: bool = False


class Commits:
    """Finds the COMMIT messages in what one client sends; ``n_bytes``: how much that was."""

    def __init__(self) -> None:
        self.n_bytes = 0
        self._unread = b""
        self._offset = 0
        self._header = 0  # the first message of a connection has no letter before its length

    def found(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the begin and end of each COMMIT that this data ends, as offsets into all data."""
        self.n_bytes += len(data)
        self._unread += data
        while len(self._unread) >= self._header + 4:
            (length,) = struct.unpack_from("!I", self._unread, self._header)
            size = self._header + length
            if len(self._unread) < size:
                return
            message, self._unread = self._unread[:size], self._unread[size:]
            begin, self._offset = self._offset, self._offset + size
            if self._header and message[:1] in b"QP" and b"COMMIT\0" in message:
                yield begin, self._offset
            self._header = 1


class Proxy:
    """Passes bytes between TCP clients and a unix socket; use it in a ``with`` statement.

    ``port``: where clients connect on 127.0.0.1. ``passed``: how many bytes have passed in each direction.
    ``commits``: how many had when each COMMIT was sent. ``happened``: set once the fault has.
    """

    def __init__(self, target: Path, fault: Fault | None = None) -> None:
        self.passed: dict[Direction, int] = {"to server": 0, "to client": 0}
        self.commits: list[dict[Direction, int]] = []
        self.happened = threading.Event()
        self._target = target
        self._fault = fault
        self._lock = threading.Lock()
        self._answer_due = False
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])

    def __enter__(self) -> Proxy:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        _close(self._listener)
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # its thread closes it
        for thread in list(self._threads):
            thread.join(timeout=60)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    server.connect(str(self._target))
                except OSError:  # no server is there
                    server.close()
                    _reset(client)
                    continue
                self._sockets += [client, server]
                self._start(self._serve, client, server)

    def _serve(self, client: socket.socket, server: socket.socket) -> None:
        commits = Commits()
        try:
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if server in ready and not self._passed_on(server.recv(_CHUNK), client, server, None):
                    return
                if client in ready and not self._passed_on(client.recv(_CHUNK), client, server, commits):
                    return
        except (OSError, ValueError):  # either is closed
            with suppress(OSError):
                while data := server.recv(_CHUNK):  # its last words
                    client.sendall(data)
        finally:
            _close(client, server)

    def _passed_on(self, data: bytes, client: socket.socket, server: socket.socket, commits: Commits | None) -> bool:
        """Pass data on, with the fault where it comes within; return whether the connection goes on."""
        way: Direction = "to client" if commits is None else "to server"
        sink = client if commits is None else server
        with self._lock:
            n_before = self._n_before_fault(way, data, commits)
            if n_before is not None:
                self.happened.set()
            self.passed[way] += len(data)
        if n_before is None or self._fault is None:
            sink.sendall(data)
            return bool(data)
        sink.sendall(data[:n_before])
        if self._fault.refuses:
            _close(self._listener)
        if self._fault.cuts:
            (_reset if self._fault.resets else _close)(client)
            _close(server)
        self._fault.act()
        if self._fault.cuts:
            return False
        sink.sendall(data[n_before:])
        return True

    def _n_before_fault(self, way: Direction, data: bytes, commits: Commits | None) -> int | None:
        """Return how many bytes of this data come before the fault, None if it does not come within them."""
        point = None if self._fault is None or self.happened.is_set() else self._fault.point
        if isinstance(point, AtByte):
            rest = point.n_bytes - self.passed[way]
            wanted = rest if point.direction == way and rest <= len(data) else None
        else:
            wanted = None
        if commits is None:
            if isinstance(point, AtCommit) and self._answer_due:
                return 0 if point.place == "unanswered" else min(3, len(data))
            return wanted
        first = commits.n_bytes
        for begin, end in commits.found(data):
            self.commits.append(dict(self.passed))
            if isinstance(point, AtCommit) and point.ordinal == len(self.commits):
                self._answer_due = point.place in ("unanswered", "half answered")
                place = {"before": begin, "within": (begin + end) // 2, "sent": end}.get(point.place)
                wanted = None if place is None else max(0, place - first)
        return wanted


def _close(*sockets: socket.socket) -> None:
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()


def _reset(one: socket.socket) -> None:
    with suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()
