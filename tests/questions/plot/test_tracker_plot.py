"""Charts of stored runs: they show what the commands of the same name print."""

from collections.abc import Callable

import pytest
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.compare.gather import ComparisonResult
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.chart import Chart


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), dataset="shop", metrics=["ndcg@10", "AP"])
        tracker.set_groups({"group": list(LABELS), "kind": ["a", "a", "b", "b", "b"]}, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs with attributes."""
    fill_as(fill_shop)
    return tracker


def rows(chart: Chart) -> list[dict[str, object]]:
    found: list[dict[str, object]] = chart.spec["data"]["values"]
    return found


def test_charts_of_a_comparison(shop: nt.Tracker) -> None:
    result = shop.compare("bm25", "dense", top=20)
    comparison: Comparison = result.comparisons[0]
    moved = {group.group: round(group.delta, 6) for group in (*comparison.worst, *comparison.best)}
    assert {row["group"]: row["delta"] for row in rows(result.plot())} == moved
    assert len(rows(result.plot("scatter"))) == comparison.groups.paired
    assert [row["name"] for row in rows(result.plot("forest"))] == ["ndcg@10", "AP"]
    by_kind = {row["name"]: row["delta"] for row in rows(result.plot("slices", by="kind"))}
    slices = shop.compare("bm25", "dense", by="kind").comparisons[0].slices
    assert slices is not None
    assert by_kind == {
        "ndcg@10": comparison.metrics[0].delta, **{f"kind: {row.about.value}": row.delta for row in slices},
    }  # fmt: skip
    assert {row["run"] for row in rows(result.plot("cutoffs"))} == {"bm25", "dense"}
    assert sum(row["n"] for row in rows(result.plot("histogram"))) == len(moved)  # type: ignore[misc]
    both = shop.compare("bm25", ["dense", "bm25"])
    assert {row["candidate"] for row in rows(both.plot("heatmap"))} == {"bm25", "dense"}
    assert {row["candidate"]: row["baseline"] for row in rows(result.plot("heatmap"))} == {
        "bm25": "dense", "dense": "bm25",
    }  # fmt: skip


def test_slices_stand_in_the_forest_of_one_candidate_and_of_several(shop: nt.Tracker) -> None:
    alone = shop.compare("bm25", "dense", metrics="ndcg@10").plot("forest", by="kind")
    assert [row["name"] for row in rows(alone)] == ["ndcg@10", "kind: b", "kind: a"]
    assert alone.spec["title"]["text"] == "dense against bm25: ndcg@10"
    both = shop.compare("bm25", ["dense", "bm25"], metrics="ndcg@10").plot("forest", by="kind")
    assert [row["name"] for row in rows(both)] == [
        "dense", "kind: b (dense)", "kind: a (dense)", "bm25", "kind: b (bm25)", "kind: a (bm25)",
    ]  # fmt: skip


@pytest.mark.nightly
def test_titles_stand_for_ids(shop: nt.Tracker) -> None:
    texts = {"text": ["of tents", None], "title": [None, "A tent"]}
    shop.add_texts({"group": ["q2", None], "item": [None, "a"], **texts}, dataset="shop")
    moves = shop.explain("bm25", "dense", group="q2", dataset="shop").plot()
    assert moves.spec["title"]["text"] == "Group q2: of tents"
    assert {row["item"]: row["title"] for row in rows(moves)}["a"] == "A tent"
    for kind in ("every", "scatter"):
        queries = {row["group"]: row["query"] for row in rows(shop.compare("bm25", "dense").plot(kind))}
        assert queries["q2"] == "of tents"


def test_what_cannot_be_drawn_is_told(shop: nt.Tracker) -> None:
    result = shop.compare("bm25", "dense")
    for arguments, message in (
        ({"kind": "pie"}, "unknown chart 'pie': choose every, scatter, histogram, forest, slices, cutoffs, heatmap"),
        ({"by": "colour"}, "no compared group has an attribute 'colour'; the attributes are: kind"),
        ({"kind": "slices", "by": "colour"}, "no compared group has an attribute 'colour'; the attributes are: kind"),
    ):
        with pytest.raises(InputError) as caught:
            result.plot(**arguments)  # type: ignore[arg-type]
        assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        result.plot("histogram", by="kind")
    assert str(caught.value) == "by= does not go with kind='histogram': it does not show attributes; leave one out"
    with pytest.raises(InputError, match=r"^AP has no cutoff to vary, or no test applies to it; name another metric$"):
        shop.compare("bm25", "dense", metrics="AP").plot("cutoffs")
    with pytest.raises(InputError, match="no database behind it"):
        ComparisonResult(result.comparisons).plot()


def test_the_lists_of_a_group(shop: nt.Tracker) -> None:
    explanation = shop.explain("bm25", "dense", group="q2", dataset="shop")
    found = {row["item"]: (row["baseline"], row["candidate"]) for row in rows(explanation.plot())}
    assert found == {"d": (1, 2), "a": (2, 1), "x": (3, None)}
    with pytest.raises(InputError, match=r"^only the lists of one group can be drawn; name it with group=$"):
        shop.explain("bm25", "dense", dataset="shop").plot()


def test_a_history(shop: nt.Tracker) -> None:
    report = shop.history_report("AP", dataset="shop")
    assert [(row["run"], row["mean"]) for row in rows(report.plot())] == [
        (row["run"], row["mean"]) for row in report.rows
    ]


@pytest.mark.nightly
def test_notebooks_show_the_chart_below_the_tables(shop: nt.Tracker) -> None:
    for result in (shop.compare("bm25", "dense"), shop.explain("bm25", "dense", group="q2", dataset="shop")):
        shown = result._repr_html_()
        assert shown.startswith(result.to_html())
        assert '<img alt="' in shown
        assert 'src="data:image/svg+xml;base64,' in shown


def test_a_comparison_that_the_database_no_longer_holds_is_not_drawn(shop: nt.Tracker) -> None:
    result = shop.compare("bm25", "dense", metrics="AP")
    table = result.to_html()
    shop.ingest(frame_of(BM25), name="dense", dataset="shop", metrics="AP", replace=True)
    with pytest.raises(InputError, match=r"^the database has changed since these runs were compared"):
        result.plot()
    assert result._repr_html_() == table  # a notebook keeps the tables
    shop.delete_run("dense", dataset="shop")
    assert result._repr_html_() == table
