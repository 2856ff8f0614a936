"""The queries of README and the docs that join items with labels: one row per item, whatever became of the labels."""

import re
from pathlib import Path

import pytest

import ndcg_tracker as nt
from ndcg_tracker.storage import database

REPOSITORY = Path(__file__).resolve().parents[2]
QUERY = re.compile(r'^\$ ndcg-track sql "([^"]*JOIN labels[^"]*)"', re.MULTILINE)
SCORES = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
GROUPS = ("light bike light", "red bike light")


def queries() -> list[tuple[str, str]]:
    """Return the pages and their queries on labels."""
    pages = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    return [(page.name, query) for page in pages for query in QUERY.findall(page.read_text(encoding="utf-8"))]


def rows(name: str, of: dict[str, float]) -> dict[str, list[object]]:
    """Return the same items for every group, with a number each."""
    pairs = [(group, item, number) for group in GROUPS for item, number in of.items()]
    return dict(zip(("group", "item", name), map(list, zip(*pairs, strict=True)), strict=True))


def test_the_page_has_one() -> None:
    assert [name for name, _ in queries()] == ["sql.md"]


@pytest.mark.parametrize(("page", "query"), queries())
def test_an_item_comes_once_after_the_labels_changed(
    postgres_schema: None, page: str, query: str, database_url: str
) -> None:
    database.upgrade(database_url)
    with nt.Tracker(database_url) as tracker:
        both = {"item": "item", "dataset": "shop"}
        tracker.ingest(rows("score", SCORES), name="dense", labels=rows("label", {"a": 0, "c": 1, "e": 2}), **both)
        first = [(1, "a", 4.0, 0.0), (2, "b", 3.0, None), (3, "c", 2.0, 1.0), (4, "d", 1.0, None)]
        assert tracker.query(query).rows == first, page
        more = rows("label", {"a": 3, "b": 1, "c": 1, "e": 2})
        tracker.add_labels(more, dataset="shop")
        tracker.ingest(rows("score", SCORES | {"a": 0.0}), name="newer", labels=more, **both)
        assert {version for (version,) in tracker.query("SELECT label_set_version FROM labels").rows} == {1, 2}
        assert tracker.query(query).rows == first
        tracker.rescore(["dense"])
        assert [row[3] for row in tracker.query(query).rows] == [3.0, 1.0, 1.0, None]
