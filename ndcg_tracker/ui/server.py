"""The server of ``ui``: a port of this machine, the addresses that open the page, and the browser."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from urllib.parse import urlencode

import uvicorn

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ui.app import LOOPBACK, TOKEN, Access, application


def serve(
    tracker: Tracker, say: Callable[[str], None], *, host: str = "127.0.0.1", port: int = 0, browser: bool
) -> None:
    """Serve the pages until the process is told to end.

    Parameters: ``tracker``: opened for reading only. ``say``: prints a line. ``port``: 0 for any that is free.
    ``browser``: open one if there is a display. Raises: InputError for a host that is not this machine and for a port
    that is taken; DatabaseError for a database that cannot be read.
    """
    with listener(host, port) as listening:
        tracker.store()  # what is wrong with it is said before anything is served
        access = Access(listening.getsockname()[1])
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{access.port}/?"
        config = uvicorn.Config(
            application(tracker, access),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
        )
        server = uvicorn.Server(config)
        say(f"the page is at {address}{urlencode({TOKEN: access.token})}")
        say("only this machine can open it, and only with that address; it reads and never writes; Ctrl-C ends it")
        if browser and has_display():
            # a connection that comes before the server runs waits for it
            threading.Thread(
                target=_open_browser, args=(address + urlencode({TOKEN: access.once}),), daemon=True
            ).start()
        server.run(sockets=[listening])


def listener(host: str, port: int) -> socket.socket:
    """Return a listening socket of this machine alone.

    >>> listener("example.org", 0)
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: host='example.org' is not this machine alone; give 127.0.0.1, localhost or ::1
    """
    if host not in LOOPBACK:
        known = f"{', '.join(LOOPBACK[:-1])} or {LOOPBACK[-1]}"
        raise InputError(f"{argument('host', host)} is not this machine alone", advice=f"give {known}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server(("127.0.0.1" if host == "localhost" else host, port), family=family)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(
            f"{argument('port', str(port))} cannot be used: {why}", advice="leave it out for any free one"
        ) from None


def has_display() -> bool:
    """Return whether a browser would have a window to open."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
