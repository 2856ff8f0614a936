"""Who may see the pages, and what every answer says to the browser."""

import re

import pytest
from served import Served

from ndcg_tracker.ui.server import HEADERS, Access

ANSWERS = [
    ("/", {}, 200),
    ("/runs?dataset=shop", {}, 200),
    ("/compare/lists?run=1&run=2&group=q1", {}, 200),
    ("/static/vega.js", {}, 200),
    ("/nothing", {}, 404),
    ("/static/nothing.js", {}, 404),
    ("/static/..%2fapp.py", {}, 404),
    ("/run?run=999", {}, 404),
    ("/run?run=x", {}, 400),
    ("/", {"cookie": None}, 403),
    ("/", {"Host": "evil.example"}, 400),
    ("/", {"method": "POST"}, 405),
]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(("path", "sent", "status"), ANSWERS)
def test_every_answer_has_the_headers(shop_pages: Served, path: str, sent: dict[str, str | None], status: int) -> None:
    answer = shop_pages.get(path, **sent)  # type: ignore[arg-type]
    assert answer.status == status
    assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    assert "server" not in answer.headers or answer.headers["server"] == "uvicorn"


def test_the_policy_lets_nothing_in() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert HEADERS["Referrer-Policy"] == "no-referrer"
    assert HEADERS["Cache-Control"] == "no-store"
    assert HEADERS["X-Content-Type-Options"] == "nosniff"


def test_the_printed_address_gives_a_cookie_and_an_address_without_the_token(shop_pages: Served) -> None:
    token = shop_pages.access.token
    answer = shop_pages.get(f"/runs?dataset=a%26b&token={token}&q=%C3%A9", cookie=None)
    assert answer.status == 303
    assert answer.headers["location"] == "/runs?dataset=a%26b&q=%C3%A9"
    cookie, *words = answer.headers["set-cookie"].split("; ")
    assert {word.lower() for word in words} == {"httponly", "samesite=strict", "path=/"}
    assert cookie == shop_pages.cookie
    assert token not in cookie
    assert shop_pages.get("/", cookie=cookie).status == 200


def test_the_redirect_stays_on_this_machine(shop_pages: Served) -> None:
    answer = shop_pages.get(f"//evil.example/?token={shop_pages.access.token}", cookie=None)
    assert answer.status in (303, 400)
    assert not answer.headers.get("location", "/").startswith(("//", "http"))


def test_without_the_cookie_the_page_says_what_to_do(shop_pages: Served) -> None:
    name = shop_pages.access.cookie
    for cookie in (None, f"{name}=", f"{name}={shop_pages.access.token}", f"{name}=\u00e9", "other=1"):
        answer = shop_pages.get("/runs?dataset=shop", cookie=cookie)
        assert answer.status == 403
        assert "Open the full address that ndcg-track ui printed" in answer.text
        assert "shop" not in answer.text
    for token in ("", "x", shop_pages.access.session, "%F0%9F%92%A5"):
        assert shop_pages.get(f"/?token={token}", cookie=None).status == 403


def test_the_address_that_opens_the_browser_serves_once() -> None:
    access = Access(8000)
    once = access.once
    assert [access.is_token(one) for one in (once, once, "", access.token, access.token)] == [
        *(True, False, False),
        *(True, True),
    ]


def test_tokens_differ_from_server_to_server_and_are_long() -> None:
    made = [word for access in (Access(1), Access(1)) for word in (access.token, access.session, access.once)]
    assert len(set(made)) == 6
    assert all(re.fullmatch(r"[\w-]{43}", word) for word in made)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_has_three_names(shop_pages: Served, name: str) -> None:
    assert shop_pages.get("/", Host=f"{name}:{shop_pages.access.port}").status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"),
        *("evil.example:{port}", "localhost:{port}.evil.example", "127.0.0.2:{port}", "0.0.0.0:{port}"),
    ],
)
def test_other_names_are_refused_whoever_asks(shop_pages: Served, host: str) -> None:
    host = host.format(port=shop_pages.access.port)
    for path in ("/", f"/?token={shop_pages.access.token}"):
        answer = shop_pages.get(path, Host=host)
        assert answer.status == 400
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_pages_are_only_read(shop_pages: Served, method: str) -> None:
    answer = shop_pages.get("/runs?dataset=shop", method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET")
