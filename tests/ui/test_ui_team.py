"""Pages for a team: only what the proxy sends is answered, the proxy says who asks, and people share the work."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served, served

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.ui.server import Team

SECRET = "0123456789abcdef" * 4
HOST = "ndcg.example.org"
TASK = "/judge?dataset=shop&baseline=1&run=2"
PROXY = {"Host": HOST, "X_Proxy_Secret": SECRET, "X_Forwarded_User": "ann"}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two runs with forty items that nobody judged, served to ann, ben, and others who only read."""
    folder = tmp_path_factory.mktemp("team")
    url = f"sqlite:///{folder / 'runs.db'}"
    with Tracker(url) as tracker:
        labels = {"q1": {"a": 1}, "q2": {"a": 0}}
        for name, base in (("bm25", 0), ("dense", 20)):
            run = {query: {f"d{base + n}": 1 / (1 + n) for n in range(20)} for query in ("q1", "q2")}
            tracker.ingest(run, labels=labels, name=name, dataset="shop", metrics=["ndcg@20"])
    (folder / "secret").write_text(SECRET + "\n")
    with served(url, "ann,ben", Team.of(str(folder / "secret"), [HOST, "other.example.org"])) as found:
        yield found


def form_of(page: str) -> dict[str, str]:
    """Return the hidden fields of the form of a page."""
    return dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page))


def test_the_proxy_gets_the_pages(team: Served) -> None:
    assert team.get("/runs?dataset=shop", cookie=None, **PROXY).status == 200
    assert team.get("/runs?dataset=shop", cookie=None, **{**PROXY, "Host": "OTHER.example.org"}).status == 200
    assert "set-cookie" not in team.get("/", cookie=None, **PROXY).headers


@pytest.mark.parametrize(
    ("differs", "status", "told"),
    [
        ({"X_Proxy_Secret": None}, 403, "403: only the proxy may ask for this page"),
        ({"X_Proxy_Secret": SECRET[:-1] + "0"}, 403, "403: only the proxy may ask for this page"),
        ({"X_Proxy_Secret": ""}, 403, "403: only the proxy may ask for this page"),
        ({"X_Forwarded_User": None}, 403, "403: the proxy must send who asks, once, as X-Forwarded-User"),
        ({"X_Forwarded_User": " "}, 403, "403: the proxy must send who asks, once, as X-Forwarded-User"),
        ({"Host": "127.0.0.1"}, 400, "400: open this page under the name that your team uses"),
        ({"Host": "evil.example"}, 400, "400: open this page under the name that your team uses"),
    ],
)
def test_all_else_is_refused(team: Served, differs: dict[str, str | None], status: int, told: str) -> None:
    sent = {name: value for name, value in {**PROXY, **differs}.items() if value is not None}
    for path in ("/runs?dataset=shop", TASK, "/static/vega.js", "/nothing"):
        answer = team.get(path, cookie=None, **sent)
        assert (answer.status, answer.text) == (status, told)


def test_the_token_and_cookie_of_one_person_open_nothing(team: Served) -> None:
    assert team.get(f"/?token={team.access.token}", Host=HOST).status == 403


@pytest.mark.parametrize("name", ["X-Forwarded-User", "X-Proxy-Secret"])
def test_a_header_that_comes_twice_is_refused(team: Served, name: str) -> None:
    """A browser's own value beside the proxy's is a person, or a secret, that somebody forged."""
    connection = http.client.HTTPConnection("127.0.0.1", team.access.port, timeout=60)
    connection.putrequest("GET", "/", skip_host=True)
    for header, value in (("Host", HOST), ("X-Proxy-Secret", SECRET), ("X-Forwarded-User", "ben")):
        for given in ["ann", value] if header == name else [value]:
            connection.putheader(header, given)
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


def test_who_is_not_named_reads_and_cannot_judge(team: Served) -> None:
    eve = {**PROXY, "X_Forwarded_User": "eve"}
    assert team.get("/runs?dataset=shop", cookie=None, **eve).status == 200
    told = "403: you may read these pages; who may judge is said where the server is started"
    assert team.get(TASK, cookie=None, **eve).text == told
    fields = {**form_of(team.get(TASK, cookie=None, **PROXY).text), "grade": "1"}
    answer = team.send("/judge/grade", fields, cookie=None, **eve)
    assert (answer.status, answer.text) == (403, told)


@pytest.mark.parametrize(
    "sent",
    [
        {"Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Origin": "https://other.example"},
    ],
)
def test_another_site_sends_no_grade(team: Served, sent: dict[str, str]) -> None:
    fields = {**form_of(team.get(TASK, cookie=None, **PROXY).text), "grade": "1"}
    answer = team.send("/judge/grade", fields, cookie=None, **{**PROXY, **sent})
    assert (answer.status, answer.text) == (403, "403: only these pages may send this")


def test_the_form_of_one_person_is_not_that_of_another(team: Served) -> None:
    fields = {**form_of(team.get(TASK, cookie=None, **PROXY).text), "grade": "1"}
    answer = team.send("/judge/grade", fields, cookie=None, **{**PROXY, "X_Forwarded_User": "ben"})
    assert (answer.status, answer.text) == (403, "403: this form does not come from these pages; load the page again")


def test_each_item_is_asked_of_one_person(team: Served) -> None:
    asked: dict[str, list[str]] = {"ann": [], "ben": []}
    for person, items in asked.items():
        sent = {**PROXY, "X_Forwarded_User": person}
        while (page := team.get(TASK, cookie=None, **sent).text) and "item" in (fields := form_of(page)):
            items.append(fields["item"])
            https = {**sent, "Origin": f"https://{HOST}"}
            assert team.send("/judge/grade", {**fields, "grade": "0"}, cookie=None, **https).status == 303
    assert asked["ann"]
    assert asked["ben"]
    assert len(set(asked["ann"] + asked["ben"])) == len(asked["ann"]) + len(asked["ben"]) == 80


def test_a_secret_is_a_file_with_text(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"  {SECRET}\n")
    assert Team.of(str(tmp_path / "secret"), ["A.example"]) == Team(SECRET, frozenset({"a.example"}))
