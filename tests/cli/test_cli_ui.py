"""``ndcg-track ui``: the real program says where its page is, serves it, and ends when it is told to."""

import http.client
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

ADDRESS = re.compile(r"the page is at http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43})\n")


def test_the_page_is_served_until_the_program_is_told_to_end(sqlite_command: CommandLine, files: None) -> None:
    sqlite_command.done("ingest", "bm25.csv", "--labels", "labels.csv", "--dataset", "shop")
    before = Path(sqlite_command.url.removeprefix("sqlite:///")).read_bytes()
    program_text = "from ndcg_tracker.cli.app import main; main()"
    words = [sys.executable, "-c", program_text, "--db", sqlite_command.url, "ui", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        assert program.stdout is not None
        found = ADDRESS.fullmatch(program.stderr.readline())
        assert found is not None
        assert "only this machine can open it" in program.stderr.readline()
        port, token = int(found[1]), found[2]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/?token={token}")
        answer = connection.getresponse()
        answer.read()
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        connection.request("GET", "/runs?dataset=shop", headers={"Cookie": cookie})
        assert b">bm25<" in connection.getresponse().read()
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 130
        assert program.stderr.read() == "stopped; nothing is half done\n"
        assert program.stdout.read() == ""
        connection.close()
    assert Path(sqlite_command.url.removeprefix("sqlite:///")).read_bytes() == before


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_other_hosts_are_refused_in_a_line(shop: CommandLine, host: str) -> None:
    assert shop.refused("ui", "--host", host) == (
        f"--host {host} is not this machine alone; give 127.0.0.1, localhost or ::1, "
        "or serve a team with --proxy-secret FILE and --allowed-host NAME"
    )


def test_a_team_needs_a_secret_and_a_name(shop: CommandLine, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    pair = ("--proxy-secret", str(secret)), ("--allowed-host", "ndcg.example.org")
    for (one, value), (other, _) in (pair, pair[::-1]):
        assert shop.refused("ui", one, value) == (
            f"{one} needs {other}: a proxy has a secret, and the page a name there; give {other}, or leave out {one}"
        )
    both = ("ui", "--host", "0.0.0.0", "--proxy-secret", str(secret), "--allowed-host", "ndcg.example.org")
    assert shop.refused(*both) == f"{secret}: no such file or directory; give a file with the secret"
    secret.write_text("short\n")
    assert shop.refused(*both) == (
        f"{secret}: needs a secret of at least 32 characters; write one with: openssl rand -hex 32 > {secret}"
    )


def test_a_database_that_is_not_there_is_refused_before_anything_is_served(sqlite_command: CommandLine) -> None:
    assert "the database does not exist" in sqlite_command.refused("ui", "--no-browser")


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_a_missing_extra_is_one_line(
    sqlite_command: CommandLine, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    for name in [*(name for name in sys.modules if name.partition(".")[0] == library), library]:
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    assert sqlite_command.refused("ui") == (
        f"{library} is not installed; install it with: pip install 'ndcg-tracker[ui]'"
    )
