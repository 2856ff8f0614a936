"""The metadata for Datasette, in the real Datasette: every view opens with its descriptions, every query answers."""

import asyncio
import html
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.integrations.datasette import SAVED_QUERIES, datasette_metadata
from ndcg_tracker.storage.database import upgrade
from ndcg_tracker.storage.views import VIEWS

EVIL = 'it\'s <b>"100%"</b> & #1?'
VALUES = {"dataset": EVIL, "metric": "ndcg@10", "group_key": EVIL, "candidate": "dense", "baseline": "@baseline"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with two runs, one group of which has an id that is markup, and something in every view."""
    path = tmp_path_factory.mktemp("shown") / "our shop.v2.db"
    named = [{EVIL if group == "q1" else group: items for group, items in run.items()} for run in (BM25, DENSE)]
    labels = {**labels_frame(), "group": [EVIL if group == "q1" else group for group in labels_frame()["group"]]}
    with nt.Tracker(path) as tracker:
        for name, run in zip(("dense", "bm25"), named[::-1], strict=True):
            tracker.ingest(
                frame_of(run), labels=labels, name=name, dataset=EVIL, tags={"branch": "main"}, parameters={"k1": "0.9"}
            )
        tracker.ingest(frame_of(named[1]), name="later", dataset=EVIL)
        tracker.set_alias("baseline", "bm25", dataset=EVIL)
        tracker.set_groups({"group": ["q2"], "device": ["tv"]}, dataset=EVIL)
        tracker.gate("dense", baseline="@baseline", margin=0.5)
        tracker.create_suite("all", [EVIL])
        tracker.gate_suite("all", "dense", baseline="bm25", margin=0.5)
    return path


@pytest.fixture
def get(database: Path) -> Iterator[Callable[..., Any]]:
    """Asks a Datasette on that file, opened with the metadata and the setting that the docs name."""
    from datasette.app import Datasette

    shown = Datasette([str(database)], metadata=datasette_metadata(database), settings={"suggest_facets": False})

    def answer(path: str, **values: str) -> Any:
        found = asyncio.run(shown.client.get(path + ("?" + urlencode(values) if values else "")))
        assert found.status_code == 200, found.text
        return found.json() if path.endswith(".json") else found.text

    yield answer
    shown.executor.shutdown()
    for one in shown.databases.values():
        one.close()


@pytest.fixture
def route(get: Callable[..., Any]) -> str:
    """The path of the database."""
    (found,) = get("/-/databases.json")
    assert found["name"] == "our shop.v2"
    return "/" + found["route"].replace(" ", "~20").replace(".", "~2E")


def test_the_tables_are_hidden_and_the_views_are_not(get: Callable[..., Any], route: str) -> None:
    shown = get(f"{route}.json")
    assert [table["name"] for table in shown["tables"] if not table["hidden"]] == []
    assert {view["name"] for view in shown["views"]} == {view.name for view in VIEWS}
    assert {query["name"] for query in shown["queries"]} == {query.name for query in SAVED_QUERIES}
    assert "down to the single group" in get(route)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_opens_with_its_descriptions(view: Any, get: Callable[..., Any], route: str) -> None:
    page = html.unescape(get(f"{route}/{view.name}"))
    assert view.sentence in page
    for name, sentence in view.columns.items():
        assert sentence in page, name
    rows = get(f"{route}/{view.name}.json", _shape="array", _size="max")
    assert list(rows[0]) == list(view.columns)
    assert EVIL not in get(f"{route}/{view.name}")


def test_newest_rows_stand_first(get: Callable[..., Any], route: str) -> None:
    for view in ("run_summary", "run_details"):
        assert [row["run"] for row in get(f"{route}/{view}.json", _shape="array")] == ["later", "bm25", "dense"]


@pytest.mark.parametrize("given", [True, False], ids=["all given", "none given"])
@pytest.mark.parametrize("query", SAVED_QUERIES, ids=lambda query: query.name)
def test_every_query_answers_what_sql_answers(
    query: Any, given: bool, get: Callable[..., Any], route: str, database: Path
) -> None:
    values = {name: VALUES.get(name, "") if given else "" for name in query.parameters}
    literals = {name: "'" + value.replace("'", "''") + "'" for name, value in values.items()}
    with nt.Tracker(database) as tracker:
        found = tracker.query(re.sub(r"(?<!:):([a-z_]+)", lambda found: literals[found[1]], query.sql))
    rows = get(f"{route}/{query.name}.json", _shape="array", **values)
    assert [tuple(row.values()) for row in rows] == [tuple(row) for row in found.rows]
    needs_a_group = "group_key" in values and not given
    assert bool(rows) is not needs_a_group
    page = get(f"{route}/{query.name}", **values)
    assert query.title in page
    assert query.description in html.unescape(page)
    for name in values:
        assert f'name="{name}"' in page
    assert EVIL not in page


def test_the_file_that_the_command_writes_is_taken_by_the_program(database: Path, tmp_path: Path) -> None:
    written = tmp_path / "metadata.json"
    program = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()", "--db", str(database)]
    done = subprocess.run([*program, "db", "datasette", "-o", str(written)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert json.loads(written.read_text(encoding="utf-8")) == datasette_metadata(database)
    asked = [sys.executable, "-m", "datasette", str(database), "-m", str(written), "--setting", "suggest_facets", "off"]
    page = subprocess.run([*asked, "--get", "/our~20shop~2Ev2/run_tags"], capture_output=True, text=True, check=True)
    assert "One row per tag of a run; tags may change." in page.stdout


def test_a_database_that_datasette_cannot_open_is_refused(
    postgres_schema: None, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(postgres_url)
    with pytest.raises(InputError) as caught:
        datasette_metadata(postgres_url)
    assert str(caught.value).endswith(
        ": Datasette opens SQLite files, not Postgres; copy the runs into one with ndcg-track export --all -o FOLDER "
        "and ndcg-track --db copy.db import FOLDER"
    )
    with pytest.raises(DatabaseError):
        datasette_metadata(tmp_path / "nothing.db")
    monkeypatch.setenv("NDCG_TRACK_DB", str(tmp_path / "nothing.db"))
    with pytest.raises(DatabaseError):
        datasette_metadata()
