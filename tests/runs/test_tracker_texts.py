"""``Tracker.add_texts``: query texts, titles and links of a dataset, and who shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.questions.explain.decide import GroupExplanation
from ndcg_tracker.runs.groups import StoredText, TextsAdded
from ndcg_tracker.words.texts import GroupTexts, Text

HOSTILE = "</script><script>alert(1)</script>\x1b[2J\u202e"
TEXTS: dict[str, list[Any]] = {
    "group": ["q1", None, None, "q1", "q2"],
    "item": [None, "a", "b", "a", None],
    "text": ["light tent", "a tent", HOSTILE, None, None],
    "title": [None, "Tent", None, "Tent, green", "lamp"],
    "url": ["https://shop.example/?q=tent", "https://shop.example/a", "javascript:alert(1)", None, None],
}


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), dataset="shop")
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="other")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with two runs of the dataset shop, and another dataset with the same groups."""
    fill_as(fill_shop)
    return tracker


def texts_of(tracker: nt.Tracker, group: str = "q1", dataset: str = "shop") -> GroupTexts:
    found = tracker.explain("bm25", "dense" if dataset == "shop" else "bm25", group=group, dataset=dataset).explanation
    assert isinstance(found, GroupExplanation)
    return found.texts


def test_texts_are_added_and_listed(shop: nt.Tracker) -> None:
    assert shop.add_texts(TEXTS, dataset="shop") == TextsAdded("shop", 2, 2, 1, 0, None)
    assert shop.texts("shop") == [
        StoredText(None, "a", "a tent", "Tent", "https://shop.example/a"),
        StoredText(None, "b", HOSTILE, None, "javascript:alert(1)"),
        StoredText("q1", None, "light tent", None, "https://shop.example/?q=tent"),
        StoredText("q1", "a", None, "Tent, green", None),
        StoredText("q2", None, None, "lamp", None),
    ]
    assert [one.item for one in shop.texts("shop", group="q1")] == [None, "a"]
    assert shop.texts("other") == []


def test_what_is_not_named_stays_and_a_null_takes_away(shop: nt.Tracker) -> None:
    shop.add_texts(TEXTS, dataset="shop")
    shop.add_texts({"item": ["a", "c"], "title": [None, "C"]}, dataset="shop")
    shop.add_texts({"q": ["q2"], "words": [""]}, dataset="shop", group="q", title="words")
    assert [(one.group, one.item, one.text, one.title) for one in shop.texts("shop")] == [
        (None, "a", "a tent", None),
        (None, "b", HOSTILE, None),
        (None, "c", None, "C"),
        ("q1", None, "light tent", None),
        ("q1", "a", None, "Tent, green"),
    ]


def test_groups_that_the_dataset_lacks_are_left_out(shop: nt.Tracker) -> None:
    frame = {"group": ["q8", "q1", "q9"], "text": ["x", "y", "z"]}
    assert shop.add_texts(frame, dataset="shop") == TextsAdded("shop", 1, 0, 0, 2, "q8")
    assert [one.group for one in shop.texts("shop")] == ["q1"]
    with pytest.raises(InputError, match="dataset 'shop' has none of the groups, not even the first, 'q8'"):
        shop.add_texts({"group": ["q8"], "text": ["x"]}, dataset="shop")
    with pytest.raises(ReferenceNotFoundError, match="nope"):
        shop.add_texts(TEXTS, dataset="nope")
    with pytest.raises(ReferenceNotFoundError, match="no group 'q8' in dataset 'shop'"):
        shop.texts("shop", group="q8")


def test_explain_has_the_texts_of_its_group(shop: nt.Tracker) -> None:
    assert texts_of(shop) == GroupTexts()
    shop.add_texts(TEXTS, dataset="shop")
    found = texts_of(shop)
    assert found.query == Text("light tent", None, "https://shop.example/?q=tent")
    assert found.items == {
        "a": Text("a tent", "Tent, green", "https://shop.example/a"),
        "b": Text(HOSTILE, None, "javascript:alert(1)"),
    }
    assert texts_of(shop, "q2").items["a"].title == "Tent"
    assert texts_of(shop, "q1", "other") == GroupTexts()
    result = shop.explain("bm25", "dense", group="q1", dataset="shop")
    assert "“light tent”" in str(result)
    assert list(result.to_frame().columns[-3:]) == ["title", "text", "url"]
    assert result.to_dict()["items"][0]["title"] == "Tent, green"


def test_a_report_shows_texts_only_if_it_is_asked(shop: nt.Tracker) -> None:
    shop.add_texts(TEXTS, dataset="shop")
    plain = shop.report("bm25", "dense", dataset="shop", missing="zero")
    told = shop.report("bm25", "dense", dataset="shop", missing="zero", texts=True)
    assert plain.report.pairs[0].texts == {}
    assert "light tent" not in plain.to_html()
    found = told.report.pairs[0].texts
    assert found["q1"].items["a"].title == "Tent, green"
    assert found["q2"].query == Text(None, "lamp", None)
    page = told.to_html()
    assert '"query":["light tent","https://shop.example/?q=tent"]' in page
    assert "--texts" in page
    assert "<script>alert" not in page
    assert '"javascript:' not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_no_number_and_no_digest_depends_on_texts(shop: nt.Tracker) -> None:
    def everything() -> list[object]:
        runs = [(run.name, run.digest, run.n_items) for run in shop.runs()]
        return [runs, shop.compare("bm25", "dense", dataset="shop", missing="zero").to_dict()]

    before, counts = everything(), row_counts(shop.location)
    shop.add_texts(TEXTS, dataset="shop")
    assert everything() == before
    assert row_counts(shop.location) == counts | {"texts": 5}
    assert shop.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop").outcome == "already stored"


def test_texts_leave_the_database_only_with_all_of_it(shop: nt.Tracker, tmp_path: Path) -> None:
    shop.add_texts(TEXTS, dataset="shop")
    shop.export_runs(tmp_path / "plain", dataset="shop")
    assert not (tmp_path / "plain" / "texts.parquet").exists()
    assert "tent" not in "".join(path.read_bytes().decode("latin-1") for path in (tmp_path / "plain").iterdir())
    shop.export_runs(tmp_path / "told")
    with nt.Tracker(f"{tmp_path}/copy.db") as copy:
        copy.import_runs(tmp_path / "told")
        assert copy.texts("shop") == shop.texts("shop")


def test_an_export_with_texts_of_nothing_is_refused(shop: nt.Tracker, tmp_path: Path) -> None:
    shop.add_texts(TEXTS, dataset="shop")
    shop.export_runs(tmp_path / "out")
    path = tmp_path / "out" / "texts.parquet"
    table = pq.read_table(path)
    for column, value, message in (
        ("group_id", 0, "row 1 breaks the rule: group_id > 0 OR item_key <> ''; "),
        ("group_id", 77, "row 1 names a group that is not there"),
        ("title", "\0", "row 1 has a text with a NUL character in title"),
    ):
        rows = table.to_pylist()
        pq.write_table(
            type(table).from_pylist([rows[0] | {column: value, "item_key": ""}, *rows[1:]], table.schema), path
        )
        with nt.Tracker(f"{tmp_path}/copy.db") as copy, pytest.raises(InputError, match=message):
            copy.import_runs(tmp_path / "out")


def test_delete(shop: nt.Tracker) -> None:
    shop.add_texts(TEXTS, dataset="shop")
    shop.add_texts({"item": ["a"], "title": ["elsewhere"]}, dataset="other")
    assert shop.delete_texts("shop", group="q1") == 2
    assert [one.group for one in shop.texts("shop")] == [None, None, "q2"]
    assert shop.delete_texts("shop") == 3
    assert shop.delete_texts("shop") == 0
    assert len(shop.texts("other")) == 1
