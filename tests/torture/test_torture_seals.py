"""Every command, beside a sealed dataset: nothing of it is printed or written, with its names and without them."""

import inspect
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from all_commands import all_commands
from command_line import Printed
from rankings_of import Run, labels_of
from served import served
from stored_samples import add_run

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import InputError, NdcgTrackerError
from ndcg_tracker.storage.completion import names_to_complete
from ndcg_tracker.storage.store import Store
from ndcg_tracker.ui.server import PAGES

from .handshakes import COMMANDS, PREPARED, words_of, write_files
from .programs import here

MARK = "Zzqx"
HIDDEN: Run = {f"{MARK}-q{n}": {f"{MARK}-d{n}": 3.0, f"{MARK}-e{n}": 0.73519284} for n in range(4)}
LABELS: Run = {group: dict.fromkeys(items, 1.0) for group, items in HIDDEN.items()}
RUN, ALIAS, SEALED = f"{MARK}-run", f"{MARK}-alias", "held"
MARKS = re.compile(rf"{MARK}|73519284|{SEALED}")
ALLOWED = ("gate", "ingest", "datasets")
TEXT = {".csv", ".html", ".svg", ".json", ".md", ".xml", ".txt"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder of files, and a database with an open dataset and a sealed one; the id of the sealed run."""
    folder = tmp_path_factory.mktemp("sealed")
    write_files(folder)
    database = str(folder / "shared.db")
    for command in PREPARED:
        printed = here("--db", database, *words_of(command, folder))
        assert printed.code == 0, printed.err
    with Store.open(database) as store:
        with store.write() as tx:
            dataset = tx.write.datasets.ensure(SEALED)
            tx.write.labels.insert(dataset.id, labels_of(LABELS))
            tx.write.datasets.seal(SEALED, budget=0.05)
        with store.write(opens_seals=True) as tx:
            run = add_run(tx, RUN, HIDDEN, LABELS, SEALED)
            add_run(tx, f"{RUN}-2", {**HIDDEN, f"{MARK}-q9": {"x": 1.0}}, LABELS, SEALED)
            tx.write.aliases.set(run.dataset_id, ALIAS, run.id)
    return folder, str(run.id)


@pytest.fixture
def walked(prepared: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A copy of the folder to work in, and the id of the sealed run."""
    folder = tmp_path / "work"
    shutil.copytree(prepared[0], folder)
    monkeypatch.chdir(folder)
    return folder, prepared[1]


def shown(folder: Path, printed: Printed, *typed: str) -> str:
    """Return what was printed and written of text, without what was typed."""
    text = printed.out + printed.err
    text += "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.suffix in TEXT)
    for word in sorted(typed, key=len, reverse=True):
        text = text.replace(repr(word), "").replace(word, "")
    return text


def takes_dataset(command: str) -> bool:
    """Whether a command has the option --dataset."""
    found: Any = all_commands()
    for word in command.split():
        found = getattr(found, "commands", {}).get(word, found)
    return any("--dataset" in option.opts for option in found.params)


WALKED = [command for command in COMMANDS if not command.startswith("ui")]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("command", WALKED)
def test_without_its_name(walked: tuple[Path, str], command: str) -> None:
    folder, _ = walked
    printed = here("--db", str(folder / "shared.db"), *words_of(command, folder))
    done = (2,) if command.startswith(("datasets", "db grant", "db check", "export --all")) else (0, 3, 4)
    assert printed.code in done, printed.err
    assert not MARKS.search(shown(folder, printed)), printed
    for path in folder.rglob("*.parquet"):
        assert MARK.encode() not in path.read_bytes(), path


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("command", [one for one in WALKED if takes_dataset(one) and "--suite" not in one])
def test_with_the_name_of_the_dataset(walked: tuple[Path, str], command: str) -> None:
    folder, _ = walked
    printed = here("--db", str(folder / "shared.db"), *words_of(command, folder), "--dataset", SEALED)
    assert not MARKS.search(shown(folder, printed, SEALED)), printed
    if not command.startswith(ALLOWED):
        refused = f"error: dataset '{SEALED}' is sealed: only gate and ingest may use it; "
        assert (printed.code, printed.out) == (2, "")
        assert printed.err.startswith(refused)
        assert printed.err.count("\n") == 1


@pytest.mark.nightly(but=9)
@pytest.mark.parametrize("command", [command for command in WALKED if re.search(r" (bm25|dense|prod)\b", command)])
@pytest.mark.parametrize("how", ["name", "prefix", "id", "alias", "pattern"])
def test_with_the_names_of_its_run(walked: tuple[Path, str], command: str, how: str) -> None:
    folder, run_id = walked
    typed = {"name": RUN, "prefix": RUN[:6], "id": run_id, "alias": f"@{ALIAS}", "pattern": f"{RUN[:5]}*"}[how]
    named = ("bm25", "dense", *(["prod"] if command.startswith("alias delete") else []))
    words = [typed if word in named else word for word in words_of(command, folder)]
    printed = here("--db", str(folder / "shared.db"), *words)
    assert not MARKS.search(shown(folder, printed, typed, ALIAS)), printed
    assert printed.code in (2, 5), printed


def test_completion(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    database = str(folder / "shared.db")
    names = names_to_complete(database, ["runs", "aliases", "datasets", "metrics"])
    assert "bm25" in names
    assert not MARKS.search(" ".join(names))
    assert names_to_complete(database, ["runs", "aliases"], SEALED) == []


ELSEWHERE = {
    *("close", "store", "query", "sql", "ingest_stream", "ingest", "ingest_table", "gate", "gate_report"),
    "seal_dataset",
}
"""Methods that take no dataset, those that may, and those that the test of SQL walks."""


def test_every_method_refuses_its_name(walked: tuple[Path, str]) -> None:
    folder, _ = walked
    taken = set()
    with Tracker(folder / "shared.db") as tracker:
        for name, method in inspect.getmembers(tracker, callable):
            if name.startswith("_") or name in ELSEWHERE:
                continue
            parameters = inspect.signature(method).parameters
            if "dataset" not in parameters:
                continue
            positional = [
                "bm25"
                for parameter in parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind is not parameter.KEYWORD_ONLY
                and parameter.name != "dataset"
                and parameter.kind is not parameter.VAR_KEYWORD
            ]
            further = {
                parameter.name: 1
                for parameter in parameters.values()
                if parameter.default is parameter.empty and parameter.kind is parameter.KEYWORD_ONLY
            }
            further.pop("dataset", None)
            try:
                answer = method(*positional, dataset=SEALED, **further)
            except (NdcgTrackerError, TypeError, ValueError, AttributeError) as error:
                text = str(error)
                if isinstance(error, InputError) and "is sealed" in text:
                    taken.add(name)
            else:
                text = repr(answer)
            assert not MARKS.search(text.replace(SEALED, "")), name
    assert taken >= {"compare", "runs", "run", "history", "leaderboard", "aliases", "groups", "texts", "label_versions"}


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("page", [*PAGES, "/report"])
def test_no_page_shows_it(walked: tuple[Path, str], page: str) -> None:
    folder, run_id = walked
    asked = [
        {},
        {"dataset": SEALED},
        {"dataset": SEALED, "run": run_id},
        {"dataset": SEALED, "run": RUN, "group": f"{MARK}-q1"},
        {"dataset": "shop", "run": RUN, "group": f"{MARK}-q1"},
        {"baseline": run_id, "candidate": run_id, "metric": "ndcg@10"},
        {"dataset": SEALED, "baseline": RUN, "candidate": f"{RUN}-2", "metric": "ndcg@10"},
        {"q": MARK[:2]},
        {"dataset": SEALED, "format": "csv"},
        {"dataset": "shop", "format": "json", "run": run_id, "baseline": run_id, "group": f"{MARK}-q1"},
        {"dataset": SEALED, "judge": MARK, "labels": "1"},
    ]
    with served(str(folder / "shared.db")) as ui:
        for parameters in asked:
            answer = ui.get(f"{page}?{urlencode(parameters)}" if parameters else page)
            text = answer.text
            for typed in sorted(parameters.values(), key=len, reverse=True):
                text = text.replace(typed, "")
            assert not MARKS.search(text), (parameters, MARKS.search(text))
            assert answer.status < 500
