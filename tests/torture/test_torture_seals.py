"""Every command, method, page, view and completion on a sealed database: refused in one line, with no number of it."""

import inspect
import re
import shutil
from pathlib import Path

import pytest
from command_line import Printed
from rankings_of import Run

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import NdcgTrackerError, SealedError
from ndcg_tracker.storage.completion import names_to_complete
from ndcg_tracker.storage.store import Store

from .handshakes import COMMANDS, words_of, write_files
from .programs import here

MARK = "Zzqx"
HIDDEN: Run = {f"{MARK}-q{n}": {f"{MARK}-d{n}": 3.0, f"{MARK}-e{n}": 0.73519284} for n in range(8)}
LABELS: Run = {group: dict.fromkeys(items, 1.0) for group, items in HIDDEN.items()}
SEALED = "shop-sealed"
MARKS = re.compile(rf"{MARK}|73519284")
REFUSED = (
    ": the database is sealed: only ingest, gate and db may use it; for ingest and gate, name it with "
    "NDCG_TRACK_SEALED_DB, and an open one with --db"
)
STRUCTURE = ("db upgrade", "db current", "db check", "db backup", "db vacuum")
TEXT = {".csv", ".html", ".svg", ".json", ".md", ".xml", ".txt"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, and a sealed database with two runs."""
    folder = tmp_path_factory.mktemp("sealed")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patched, Tracker(folder / "open.db") as tracker:
        patched.setenv("NDCG_TRACK_SEALED_DB", str(folder / "sealed.db"))
        tracker.add_labels(LABELS, dataset="shop")
        tracker.split_dataset("shop", seal=0.5, metric="ndcg@10", margin=0.01, seed="1")
        for name, run in (("bm25", HIDDEN), ("dense", {**HIDDEN, f"{MARK}-q9": {"x": 1.0}})):
            tracker.ingest(run, name=name, dataset=SEALED)
    return folder


@pytest.fixture
def walked(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder to work in."""
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    return folder


def shown(folder: Path, printed: Printed) -> str:
    """Return what was printed and written of text."""
    text = printed.out + printed.err
    return text + "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.suffix in TEXT)


@pytest.mark.nightly(but=18)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(walked: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", str(walked / "another.db"))
    words = words_of(command, walked)
    printed = here("--db", str(walked / "sealed.db"), *words)
    assert not MARKS.search(shown(walked, printed)), printed
    for path in walked.rglob("*.parquet"):
        assert MARK.encode() not in path.read_bytes(), path
    if command.startswith(STRUCTURE) or command == "doctor":
        assert printed.code == 0, printed
        return
    assert (printed.code, printed.err.count("\n")) == (2, 1), printed
    if not command.startswith("db grant"):
        assert (printed.out, printed.err) == ("", f"error: {walked / 'sealed.db'}{REFUSED}\n")


def test_completion(walked: Path) -> None:
    names = names_to_complete(str(walked / "sealed.db"), ["runs", "aliases", "datasets", "metrics", "groups"])
    assert names == []


def test_every_method(walked: Path) -> None:
    refused = set()
    with Tracker(walked / "sealed.db") as tracker:
        for name, method in inspect.getmembers(tracker, callable):
            if name.startswith("_") or name in ("close", "store", "ingest_stream"):
                continue
            parameters = [of for of in inspect.signature(method).parameters.values() if of.default is of.empty]
            positional = ["bm25" for of in parameters if of.kind not in (of.KEYWORD_ONLY, of.VAR_KEYWORD)]
            further = {of.name: 1 for of in parameters if of.kind is of.KEYWORD_ONLY}
            further |= {"dataset": SEALED} if "dataset" in inspect.signature(method).parameters else {}
            try:
                answer = method(*positional, **further)
            except SealedError as error:
                text = str(error)
                refused.add(name)
            except (NdcgTrackerError, TypeError, ValueError, AttributeError) as error:
                text = str(error)
            else:
                text = repr(answer)
            assert not MARKS.search(text), name
    reads = {"compare", "runs", "run", "history", "leaderboard", "aliases", "groups", "texts", "label_versions"}
    assert refused >= reads | {"query", "sql", "suites", "show", "explain", "diff", "rescore", "export_runs"}


def test_nothing_opens_it(walked: Path) -> None:
    """Neither SQL nor the pages: the server opens its database before it begins."""
    with pytest.raises(SealedError, match="the database is sealed"):
        Store.open(str(walked / "sealed.db"))
    printed = here("--db", str(walked / "sealed.db"), "ui", "--no-browser")
    assert (printed.code, printed.out, printed.err) == (2, "", f"error: {walked / 'sealed.db'}{REFUSED}\n")
