"""The server of ``ui``: which address shows which page, who may see it, and on which port of this machine.

It answers GET requests, and POST requests from the forms of people who judge. For one person it answers only under the
names of this machine, because a web page could get in through another name that resolves to it, and only requests with
the token of the printed address, or with the cookie that it gave for the token. For a team it answers only requests
that a proxy sends, which proves itself by a secret and names the person (``Team``).
"""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import sys
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import DatabaseError, InputError, NdcgTrackerError, ReferenceNotFoundError, argument
from ndcg_tracker.ui import comparisons, pages, runs
from ndcg_tracker.ui.downloads import file_of
from ndcg_tracker.ui.faults import fault_page
from ndcg_tracker.ui.here import Answer, Next, Rows
from ndcg_tracker.ui.judging import Batch, Judging
from ndcg_tracker.ui.leaderboards import leaderboard
from ndcg_tracker.ui.rendering import ASSETS, Question, asset_of_pages
from ndcg_tracker.words.texts import about, in_a_row

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The names of this machine; pages are served only under these."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every response."""
PAGES: dict[str, Callable[..., Answer]] = {
    "/": pages.home,
    "/datasets": pages.datasets,
    "/runs": runs.runs,
    "/run": runs.run,
    "/leaderboard": leaderboard,
    "/history": pages.history,
    "/compare": comparisons.compare,
    "/compare/cutoffs": comparisons.compare_cutoffs,
    "/compare/lists": comparisons.compare_lists,
    "/groups": pages.groups,
    "/group": comparisons.group,
    "/labels": pages.labels,
    "/decisions": pages.decisions,
    "/words": pages.words,
}
KINDS = {"html": "text/html", "csv": "text/csv", "json": "application/json", "css": "text/css", "js": "text/javascript"}
"""The media types of files, by the ends of their names."""
JUDGING = {"/judge": Judging.page, "/judge/grades": Judging.grades}
"""The additional pages of the person who judges."""
FORMS = {
    "/judge/grade": Judging.give,
    "/judge/undo": Judging.undo,
    "/judge/again": Judging.again,
    "/judge/store": Judging.store,
    "/judge/evaluate": Judging.evaluate,
}
"""The addresses of the judging forms, the only ones that take POST."""
SENT = ("form", "number", "item", "grade")
"""The fields that a form sends in addition to the parameters of its page."""
MOST_BYTES = 1 << 20
"""The largest size of a form in bytes."""
TOKEN = "token"
SECRET = "X-Proxy-Secret"
USER = "X-Forwarded-User"
LEAST_SECRET = 32
_ONLY_READS = "403: you may read these pages; who may judge is said where the server is started"
_NO_ACCESS = (
    "403: this page is only for the person who started it. Open the full address that ndcg-track ui printed, with its "
    "token, in this browser."
)


@dataclass(slots=True)
class Access:
    """Who may see the pages on a port.

    ``token``: the token of the printed address. ``once``: the token of the address that opens a browser; other users
    of the machine may see it in the arguments, so it works once. ``session``: the token of the cookie.
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    once: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """The name of the cookie; the port is in it, because cookies of one host go to all its ports."""
        return f"ndcg_track_ui_{self.port}"

    def is_token(self, given: str) -> bool:
        """Return whether a token opens the pages; compared in constant time."""
        is_once = bool(self.once) and _same(given, self.once)
        if is_once:
            self.once = ""
        return _same(given, self.token) or is_once

    hosts_told: ClassVar[str] = "open this page under 127.0.0.1, as it was printed"

    def is_host(self, host: str) -> bool:
        """Return whether a Host header names this machine and this port."""
        names = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
        hosts = {f"{name}:{self.port}" for name in names} | (set(names) if self.port == 80 else set())
        return host.lower() in hosts

    def person(self, headers: Headers, judges: Sequence[str]) -> str:
        """Return who asks: the one person who judges, if there is one."""
        return judges[0] if judges else ""

    def refusal(self, request: Request, *, is_form: bool) -> Response | None:
        """Return the response to who may not see a page, or to who opens the printed address."""
        given = None if is_form else request.query_params.get(TOKEN)
        if given is not None and self.is_token(given):
            further = [(name, value) for name, value in request.query_params.multi_items() if name != TOKEN]
            path = "/" + request.scope["path"].lstrip("/\\")  # "//host" would lead to another machine
            answer = RedirectResponse(path + ("?" + urlencode(further) if further else ""), 303)
            answer.set_cookie(self.cookie, self.session, httponly=True, samesite="strict", path="/")
            return answer
        if not _same(request.cookies.get(self.cookie, ""), self.session):
            return PlainTextResponse(_NO_ACCESS, 403)
        return None


@dataclass(frozen=True, slots=True)
class Team:
    """Who may see the pages behind a proxy that authenticates people.

    ``secret``: what the proxy sends as ``X-Proxy-Secret``. ``hosts``: the names under which people open the pages. The
    proxy names the person in ``X-Forwarded-User``. Each header must be there exactly once, so that a value from the
    person's browser next to the proxy's own is refused.
    """

    secret: str
    hosts: frozenset[str]
    hosts_told: ClassVar[str] = "open this page under the name that your team uses"

    @classmethod
    def of(cls, secret_file: str, hosts: Sequence[str]) -> Team:
        """Return the team of a file with the secret (InputError for a file without one that is long enough)."""
        try:
            secret = Path(secret_file).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            what = (getattr(error, "strerror", None) or "is not text").lower()
            raise InputError(what, where=secret_file, advice="give a file with the secret") from None
        if len(secret) < LEAST_SECRET:
            advice = f"write one with: openssl rand -hex 32 > {shlex.quote(secret_file)}"
            raise InputError(f"needs a secret of at least {LEAST_SECRET} characters", where=secret_file, advice=advice)
        return cls(secret, frozenset(host.lower() for host in hosts))

    def is_host(self, host: str) -> bool:
        """Return whether a Host header has one of the allowed names."""
        return host.lower() in self.hosts

    def person(self, headers: Headers, judges: Sequence[str]) -> str:
        """Return who asks, as the proxy says."""
        return headers[USER]

    def refusal(self, request: Request, *, is_form: bool) -> Response | None:
        """Return the response to a request that the proxy did not send, or in which it names nobody."""
        secrets_sent, people = request.headers.getlist(SECRET), request.headers.getlist(USER)
        if len(secrets_sent) != 1 or not _same(secrets_sent[0], self.secret):
            return PlainTextResponse("403: only the proxy may ask for this page", 403)
        if len(people) != 1 or not people[0].strip():
            return PlainTextResponse(f"403: the proxy must send who asks, once, as {USER}", 403)
        return None


def _same(given: str, expected: str) -> bool:
    return compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass"))


def application(tracker: Tracker, access: Access | Team, judges: Sequence[Judging] = ()) -> ASGIApp:
    """Return the application over a tracker opened for reading only; ``judges``: one for each person who may judge."""

    tracker.store()  # opened now, because requests come at the same time
    named = {judging.person: judging for judging in judges}

    def judge_of(request: Request) -> Judging | None:
        return named.get(access.person(request.headers, tuple(named)))

    def answering(path: str, page: Callable[..., Answer]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            judging = judge_of(request)
            if path in JUDGING and judging is None:
                return PlainTextResponse(_ONLY_READS, 403)
            shown = partial(page, judging) if path in JUDGING else page
            question = Question(request.query_params.multi_items(), "" if judging is None else judging.person)
            return _answer(tracker, path, partial(_read, tracker, path, shown, question), question)

        return answer

    def taking(form: Callable[..., Next]) -> Callable[[Request], Awaitable[Response]]:
        async def take(request: Request) -> Response:
            judging = judge_of(request)
            if judging is None:
                return PlainTextResponse(_ONLY_READS, 403)
            given = await _form_of(request)
            if isinstance(given, Response):
                return given
            if not _same(dict(given).get("form", ""), judging.form):
                return PlainTextResponse("403: this form does not come from these pages; load the page again", 403)
            question = Question(given, judging.person)
            content_of = partial(form, judging, tracker.store(), question)
            return await run_in_threadpool(_answer, tracker, "/judge", content_of, question.without(*SENT))

        return take

    def not_found(request: Request, error: Exception) -> Response:
        judging = judge_of(request)
        question = Question([], "" if judging is None else judging.person)
        return _fault(tracker, "/runs", question, ReferenceNotFoundError("there is no such page"))

    routes = [Route(path, answering(path, page), methods=["GET"]) for path, page in PAGES.items()]
    if judges:
        routes += [Route(path, answering(path, page), methods=["GET"]) for path, page in JUDGING.items()]
        routes += [Route(path, taking(form), methods=["POST"]) for path, form in FORMS.items()]
    routes.append(Route("/static/{name}", _asset, methods=["GET"]))
    app = Starlette(routes=routes, exception_handlers={404: not_found})
    return guarded(app, access, frozenset(FORMS) if judges else frozenset())


def _read(tracker: Tracker, path: str, page: Callable[..., Answer], question: Question) -> Answer:
    with tracker.store().read() as tx:
        return file_of(tx, path, question, page) if question.has("format") else page(tx, question)


def _answer(tracker: Tracker, path: str, content_of: Callable[[], Answer], question: Question) -> Response:
    try:
        with about():  # the page reads its dataset
            content = content_of()
    except NdcgTrackerError as error:
        return _fault(tracker, path, question, error)
    except Exception as error:
        what = " ".join(str(error).split())
        unexpected = NdcgTrackerError(f"unexpected {type(error).__name__}: {what}", advice="report it")
        return _fault(tracker, path, question, unexpected, 500)
    return _response(content)


def _response(content: Answer) -> Response:
    if isinstance(content, Next):
        return RedirectResponse(content, 303)
    if isinstance(content, Rows):
        headers = {"Content-Disposition": f'attachment; filename="{content.name}"'}
        return PlainTextResponse(content.text, media_type=_kind(content.name), headers=headers)
    return HTMLResponse(content) if isinstance(content, str) else JSONResponse(content)


def _fault(
    tracker: Tracker, path: str, question: Question, error: NdcgTrackerError, status: int | None = None
) -> Response:
    """Return the page of an error, with links to other pages as far as the database can be read."""
    status = status or (
        404 if isinstance(error, ReferenceNotFoundError) else 503 if isinstance(error, DatabaseError) else 400
    )
    try:
        with tracker.store().read() as tx:
            return HTMLResponse(fault_page(tx, question, path, status, error), status)
    except Exception:  # a second error must not hide the first
        return HTMLResponse(fault_page(None, question, path, status, error), status)


async def _form_of(request: Request) -> list[tuple[str, str]] | Response:
    """Return the fields that a form sends, or the response to anything else."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        return PlainTextResponse("415: this is not a form", 415)
    body = bytearray()
    async for some in request.stream():
        body += some
        if len(body) > MOST_BYTES:
            return PlainTextResponse("413: this form is too long", 413)
    try:
        return parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=1000)
    except ValueError:
        return PlainTextResponse("400: this form cannot be read", 400)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    return Response(asset_of_pages(name), media_type=_kind(name))


def _kind(name: str) -> str:
    return KINDS[name.rpartition(".")[2]]


def guarded(app: ASGIApp, access: Access | Team, forms: Collection[str] = ()) -> ASGIApp:
    """Return an application that lets in only people who may see the pages, with the headers of every response."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http":
            await (_refusal(scope, access, forms) or app)(scope, receive, with_headers)

    return answer


def _refusal(scope: Scope, access: Access | Team, forms: Collection[str]) -> Response | None:
    """Return the response that replaces a page, None if the page may be seen."""
    hosts = Headers(scope=scope).getlist("host")
    if len(hosts) != 1 or not access.is_host(hosts[0]):
        return PlainTextResponse(f"400: {access.hosts_told}", 400)
    is_form = scope["path"] in forms
    if scope["method"] != ("POST" if is_form else "GET"):
        only = "405: this address takes a form" if is_form else "405: these pages are read-only"
        return PlainTextResponse(only, 405, {"Allow": "POST" if is_form else "GET"})
    request = Request(scope)
    if is_form and not _is_own(request.headers, hosts[0]):
        return PlainTextResponse("403: only these pages may send this", 403)
    return access.refusal(request, is_form=is_form)


def _is_own(headers: Headers, host: str) -> bool:
    """Return whether a page of this server sent a form, according to the browser.

    Pages that send no referrer send forms with the origin "null". The secret in the form is checked in any case.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    return site in (None, "same-origin") and origin in (None, "null", f"http://{host}", f"https://{host}")


def serve(
    tracker: Tracker,
    say: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool,
    judge: str | None = None,
    team: Team | None = None,
) -> None:
    """Serve the pages until the process ends.

    Parameters: ``tracker``: opened for reading only. ``say``: prints a line. ``port``: 0 for any free port.
    ``browser``: open one if there is a display. ``judge``: who may grade items there, None for nobody; of a team,
    several names with commas between them. ``team``: who else than this machine may see the pages. Raises: InputError
    for a host that is not this machine, a port that is taken and a judge without a name; DatabaseError for a database
    that cannot be read, or cannot be written to although somebody judges.
    """
    with listener(host, port, team) as listening:
        tracker.store()  # report errors before serving anything
        people = [] if judge is None else [judge] if team is None else [name.strip() for name in judge.split(",")]
        judges = [Judging(name, tracker.location, Batch(place, len(people))) for place, name in enumerate(people)]
        port = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        access = Access(port) if team is None else team
        config = uvicorn.Config(
            application(tracker, access, judges),
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
        )
        server = uvicorn.Server(config)
        does, verb = "reads and never writes", "stores" if len(people) == 1 else "store"
        if people:
            does = f"writes only the grades that {in_a_row(people)} {verb}, and means under them"
        if isinstance(access, Team):
            say(
                f"the proxy reaches the page at http://{shown}:{port}/, under the name {in_a_row(sorted(access.hosts))}"
            )
            say(f"only requests with the proxy's secret are answered; it {does}; Ctrl-C ends it")
        else:
            address = f"http://{shown}:{port}/?"
            say(f"the page is at {address}{urlencode({TOKEN: access.token})}")
            say(f"only this machine can open it, and only with that address; it {does}; Ctrl-C ends it")
            if browser and has_display():
                # a connection that comes before the server runs waits for it
                once = address + urlencode({TOKEN: access.once})
                threading.Thread(target=webbrowser.open, args=(once,), daemon=True).start()
        server.run(sockets=[listening])


def listener(host: str, port: int, team: Team | None = None) -> socket.socket:
    """Return a listening socket, which only this machine can reach unless a proxy serves a team.

    >>> listener("example.org", 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ndcg_tracker.errors.InputError: host='example.org' is not this machine alone; give 127.0.0.1, localhost or ::1...
    """
    if host not in LOOPBACK and team is None:
        team_needs = f"{argument('proxy_secret', 'FILE')} and {argument('allowed_host', 'NAME')}"
        raise InputError(
            f"{argument('host', host)} is not this machine alone",
            advice=f"give {', '.join(LOOPBACK[:-1])} or {LOOPBACK[-1]}, or serve a team with {team_needs}",
        )
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
