"""The pages of the ui, served on a port of this machine while a test runs, and asked for as a browser would."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import uvicorn

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.ui.judging import Batch, Judging
from ndcg_tracker.ui.server import Access, Team, application

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e'\"&#"
"""A name that wants to be obeyed."""


Fields = Mapping[str, str] | Sequence[tuple[str, str]]
"""What a form sends; a field may come twice."""


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        """Return what a script was told."""
        return json.loads(self.text)


@dataclass
class Served:
    """A server, and who asks it; ``cookie``: what a browser that opened the printed address sends."""

    access: Access
    judging: Judging | None = None
    cookie: str = field(init=False)

    def __post_init__(self) -> None:
        self.cookie = f"{self.access.cookie}={self.access.session}"

    @property
    def address(self) -> str:
        """The address of the first page, with the token."""
        return f"http://127.0.0.1:{self.access.port}/?token={self.access.token}"

    def get(self, path: str, *, method: str = "GET", cookie: str | None = "", **headers: str) -> Answered:
        """Ask for a path; ``cookie`` "": the one that opens the pages, None: none."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie is not None:
            sent["Cookie"] = cookie or self.cookie
        connection = http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=60)
        try:
            connection.request(method, path, headers=sent)
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def send(self, path: str, fields: Fields, *, cookie: str | None = "", **headers: str) -> Answered:
        """Send a form as a browser does, and follow nothing; ``headers``: those that differ."""
        sent = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Sec-Fetch-Site": "same-origin",
            "Origin": "null",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        if cookie is not None:
            sent["Cookie"] = cookie or self.cookie
        connection = http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=60)
        try:
            connection.request("POST", path, body=urlencode(fields), headers=sent)
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def page(self, path: str) -> str:
        """Return a page that is there."""
        answer = self.get(path)
        assert answer.status == 200, f"{path}: {answer.status} {answer.text}"
        return answer.text


@contextmanager
def served(url: str, judge: str | None = None, team: Team | None = None) -> Iterator[Served]:
    """Yield the server over a database; ``judge``: who may grade items there, of a team with commas between them."""
    listening = socket.create_server(("127.0.0.1", 0))
    access = Access(listening.getsockname()[1])
    with Tracker(url, read_only=True) as tracker:
        people = [] if judge is None else judge.split(",")
        judges = [Judging(name, url, Batch(place, len(people))) for place, name in enumerate(people)]
        app = application(tracker, team or access, judges)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Served(access, judges[0] if judges else None)
        finally:
            server.should_exit = True
            thread.join()
            listening.close()
