"""``examples/slack_webhook.py`` against a real server of the tests' own."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from ranked_runs import frame_of_ranks, labels_of_ranks

import ndcg_tracker as nt

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "slack_webhook.py"
N_GROUPS = 240
GOOD, BAD = [1, 2] * (N_GROUPS // 2), [2, 3] * (N_GROUPS // 2)


class Hook(HTTPServer):
    """Keeps what is posted; answers 500 from then on that ``is_broken``."""

    posted: list[tuple[str, object]]
    is_broken = False


class Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.headers["Content-Type"], json.loads(body)))
        self.send_response(500 if self.server.is_broken else 200)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook(("127.0.0.1", 0), Handler)
    server.posted = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.nightly
def test_what_is_posted(tmp_path: Path, hook: Hook, preloaded_programs: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ndcg-track.db'}"
    with nt.Tracker(url) as tracker:
        for night in range(1, 4):
            ranks = BAD if night == 3 else GOOD
            labels = labels_of_ranks(N_GROUPS) if night == 1 else None
            name = "<!channel> & night3" if night == 3 else f"night{night}"
            tracker.ingest(frame_of_ranks(ranks), name=name, labels=labels, item="item", git_commit="abc1234def")

    def ended(*words: str, always: bool = False) -> tuple[int, str, str]:
        program = [str(preloaded_programs / "ndcg-track"), "--db", url, *words]
        done = subprocess.run(
            [preloaded_programs / "preloaded-python", str(SCRIPT), *(["--always"] if always else []), *program],
            env={"SLACK_WEBHOOK_URL": f"http://127.0.0.1:{hook.server_port}/services/T0/B0/x", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    code, out, _ = ended("gate", "latest", "--baseline", "night1", "--margin", "0.01")
    assert (code, json.loads(out)["decision"]) == (3, "fail")
    ((kind, message),) = hook.posted
    assert kind == "application/json"
    assert isinstance(message, dict)
    first, second, *_ = message["text"].split("\n")
    assert first == "*FAIL*: &lt;!channel&gt; &amp; night3 against night1 on default"
    assert second.startswith("delta -0.2500; the data allow ")
    assert ended("gate", "night2", "--baseline", "night1", "--margin", "0.01")[0] == 0
    assert len(hook.posted) == 1
    assert ended("history", "--new-steps", "--exit-code")[0] == 6
    assert hook.posted[1][1] == {
        "text": "ndcg@10 stepped down by 0.2500 at &lt;!channel&gt; &amp; night3 (commit abc1234)"
    }
    assert ended("history", "--new-steps", "--exit-code", "--last", "1", always=True)[0] == 0
    assert hook.posted[2][1] == {"text": "no new step"}
    code, out, error = ended("gate", "nobody", "--baseline", "night1", "--margin", "0.01")
    assert (code, out) == (2, "")
    known = error.strip().replace("<!channel> &", "&lt;!channel&gt; &amp;")
    assert hook.posted[3][1] == {"text": f"ndcg-track ended with exit code 2\n{known}"}
    hook.is_broken = True
    code, _, error = ended("gate", "night2", "--baseline", "night1", "--margin", "0.01", always=True)
    assert (code, error.splitlines()[-1]) == (1, "not posted: HTTP Error 500: Internal Server Error")
    assert ended("gate", "latest", "--baseline", "night1", "--margin", "0.01")[0] == 3
