"""``examples/datasette.yaml`` in the real Datasette: every view opens with its descriptions, every query answers."""

import asyncio
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from schema_page import views_of_the_page
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.storage.schema import VERSION_TABLE, metadata
from ndcg_tracker.storage.views import VIEWS

REPOSITORY = Path(__file__).resolve().parents[2]
METADATA = yaml.safe_load((REPOSITORY / "examples" / "datasette.yaml").read_text("utf-8"))
SHOWN = METADATA["databases"]["ndcg-track"]
QUERIES = SHOWN["queries"]

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
        tracker.set_policy("baseline", margin=0.5, budget=0.05)
        tracker.gate("dense", baseline="@baseline")
        tracker.reset_gate("@baseline", reason="other queries")
        tracker.create_suite("all", [EVIL])
        tracker.gate("dense", suite="all", baseline="bm25", margin=0.5)
        tracker.labels_sample("bm25", "dense", judge="", budget=100, dataset=EVIL)
    return path


@pytest.fixture(scope="module")
def get(database: Path) -> Iterator[Callable[..., Any]]:
    """Asks a Datasette on that file, opened with the metadata and the setting that the docs name."""
    from datasette.app import Datasette

    named = {"databases": {database.stem: SHOWN}}
    shown = Datasette([str(database)], metadata=named, settings={"suggest_facets": False})

    def answer(path: str, **values: str) -> Any:
        found = asyncio.run(shown.client.get(path + ("?" + urlencode(values) if values else "")))
        assert found.status_code == 200, found.text
        return found.json() if path.endswith(".json") else found.text

    yield answer
    shown.executor.shutdown()
    for one in shown.databases.values():
        one.close()


@pytest.fixture(scope="module")
def route(get: Callable[..., Any]) -> str:
    """The path of the database."""
    (found,) = get("/-/databases.json")
    assert found["name"] == "our shop.v2"
    return "/" + found["route"].replace(" ", "~20").replace(".", "~2E")


@pytest.mark.nightly
def test_the_tables_are_hidden_and_the_views_are_not(get: Callable[..., Any], route: str) -> None:
    shown = get(f"{route}.json")
    assert [table["name"] for table in shown["tables"] if not table["hidden"]] == []
    assert {view["name"] for view in shown["views"]} == set(VIEWS)
    assert {query["name"] for query in shown["queries"]} == set(QUERIES)
    assert "down to the single group" in get(route)


@pytest.mark.nightly(but=5)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_with_its_descriptions(view: str, get: Callable[..., Any], route: str) -> None:
    page = html.unescape(get(f"{route}/{view}"))
    assert SHOWN["tables"][view]["description"] in page
    for name, sentence in SHOWN["tables"][view]["columns"].items():
        assert sentence in page, name
    rows = get(f"{route}/{view}.json", _shape="array", _size="max")
    assert tuple(rows[0]) == VIEWS[view]
    assert EVIL not in get(f"{route}/{view}")


def test_newest_rows_stand_first(get: Callable[..., Any], route: str) -> None:
    for view in ("run_summary", "run_details"):
        assert [row["run"] for row in get(f"{route}/{view}.json", _shape="array")] == ["later", "bm25", "dense"]


@pytest.mark.parametrize("given", [True, False], ids=["all given", "none given"])
@pytest.mark.parametrize("name", QUERIES)
def test_every_query_answers_what_sql_answers(
    name: str, given: bool, get: Callable[..., Any], route: str, database: Path
) -> None:
    query = QUERIES[name]
    values = {one: VALUES.get(one, "") if given else "" for one in query["params"]}
    literals = {one: "'" + value.replace("'", "''") + "'" for one, value in values.items()}
    with nt.Tracker(database) as tracker:
        found = tracker.query(re.sub(r"(?<!:):([a-z_]+)", lambda found: literals[found[1]], query["sql"]))
    rows = get(f"{route}/{name}.json", _shape="array", **values)
    assert [tuple(row.values()) for row in rows] == [tuple(row) for row in found.rows]
    needs_a_group = "group_key" in values and not given
    assert bool(rows) is not needs_a_group
    page = get(f"{route}/{name}", **values)
    assert query["title"] in page
    assert query["description"] in html.unescape(page)
    for one in values:
        assert f'name="{one}"' in page
    assert EVIL not in page


def test_it_describes_the_views_as_they_are_and_hides_every_table() -> None:
    described = {name: table for name, table in SHOWN["tables"].items() if "hidden" not in table}
    assert {name: tuple(table["columns"]) for name, table in described.items()} == VIEWS
    assert {name: (table["description"], table["columns"]) for name, table in described.items()} == views_of_the_page()
    assert set(SHOWN["tables"]) - set(described) == {*metadata.tables, VERSION_TABLE, "sqlite_sequence"}
    for query in QUERIES.values():
        assert query["params"] == list(dict.fromkeys(re.findall(r"(?<!:):([a-z_]+)", query["sql"])))
