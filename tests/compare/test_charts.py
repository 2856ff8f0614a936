"""Charts: valid Vega-Lite whatever the groups are, thinned out where there are more than an eye tells apart."""

import altair
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ndcg_tracker.compare import chart as compare
from ndcg_tracker.compare import chart_groups
from ndcg_tracker.compare.chart import cutoffs
from ndcg_tracker.compare.report_facts import AtCutoff, EveryGroup, GroupLists, ListedItem, RunPairDelta
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.history.say import HistoryRow, history_chart
from ndcg_tracker.questions.report.page import PLACES, every_group_mermaid
from ndcg_tracker.render.html import Spec, themed
from ndcg_tracker.words.texts import GroupTexts, Text


def valid(spec: Spec) -> Spec:
    """Check a chart against the schema of Vega-Lite, as it is drawn in both themes, and return it."""
    for theme in ("light", "dark"):
        altair.Chart.from_dict(themed(spec, "dark" if theme == "dark" else "light"), validate=True)
    return spec


def groups_of(baseline: list[float], candidate: list[float], **attributes: list[str | None]) -> EveryGroup:
    keys = [f"q{number}" for number in range(len(baseline))]
    return EveryGroup(keys, np.array(baseline), np.array(candidate), attributes)


def drawn(spec: Spec, layer: int = 0) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = spec["layer"][layer].get("data", spec["data"])["values"]
    return rows


value = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)


@given(st.lists(st.tuples(value, value), min_size=1, max_size=30))
@example([(0.0, 5e-324)])
def test_any_groups_make_charts(pairs: list[tuple[float, float]]) -> None:
    groups = groups_of([one for one, _ in pairs], [other for _, other in pairs])
    rows = drawn(chart_groups.every_group(groups, "ndcg@10"))
    n_changed = int((groups.delta != 0).sum())
    assert len(rows) == n_changed
    deltas = [row["delta"] for row in rows]
    assert deltas == sorted(deltas)  # type: ignore[type-var]
    assert len({row["x"] for row in rows}) == n_changed
    assert len(chart_groups.scatter(groups, "a", "b", metric="ndcg@10")["data"]["values"]) == len(pairs)
    assert sum(row["n"] for row in drawn(chart_groups.histogram(groups, "ndcg@10"))) == n_changed  # type: ignore[misc]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    "pairs", [[(0.25, 0.25), (0.0, 0.5), (0.5, 0.25), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)], [(0.5, 0.5)]]
)
def test_charts_of_groups_are_valid(pairs: list[tuple[float, float]]) -> None:
    kinds: list[str | None] = ["a", None, "b", "b"]
    groups = groups_of([one for one, _ in pairs], [other for _, other in pairs], kind=kinds[: len(pairs)])
    valid(chart_groups.every_group(groups, "ndcg@10"))
    valid(chart_groups.scatter(groups, "a", "b", metric="ndcg@10"))
    valid(chart_groups.histogram(groups, "ndcg@10"))
    for name in chart_groups.colored(groups):
        valid(chart_groups.every_group(groups, "ndcg@10", by=name))
        valid(chart_groups.scatter(groups, "a", "b", by=name, metric="ndcg@10"))


def test_many_groups_share_columns_and_dots_and_the_page_says_so() -> None:
    random = np.random.default_rng(1)
    one = random.random(50_000)
    other = np.clip(one + random.normal(0, 0.1, one.size) * (random.random(one.size) < 0.5), 0, 1)
    groups = EveryGroup([f"q{number}" for number in range(one.size)], one, other)
    every = chart_groups.every_group(groups, "ndcg@10")
    rows = drawn(every)
    assert len(rows) <= chart_groups.COLUMNS + 2
    assert rows[0]["delta"] == pytest.approx(groups.delta.min(), abs=1e-6)  # the worst group is never thinned out
    assert rows[-1]["delta"] == pytest.approx(groups.delta.max(), abs=1e-6)
    assert "each column stands for 42 groups and shows the one that changed most" in every["title"]["subtitle"]
    dots = chart_groups.scatter(groups, "a", "b", metric="ndcg@10")
    shown = dots["data"]["values"]
    assert len(shown) <= 61 * 61
    assert sum(row["n"] for row in shown) == one.size  # every group is in some dot, the largest change in front
    assert groups.keys[groups.most_changed(1)[0]] in {row["group"] for row in shown}
    assert "50,000 groups: close ones share a dot" in dots["title"]["subtitle"]
    assert sum(row["n"] for row in drawn(chart_groups.histogram(groups, "ndcg@10"))) == int((groups.delta != 0).sum())


def test_an_attribute_of_many_values_shows_what_changed_most_and_the_others_in_grey() -> None:
    values = [f"v{number % 15}" for number in range(90)]
    change = {"v3": -0.5, "v7": -0.25, "v9": 0.25}
    candidate = [0.5 + change.get(value, 0.125 if number % 2 else -0.125) for number, value in enumerate(values)]
    groups = groups_of([0.5] * 90, candidate, kind=values, id=[str(number) for number in range(90)])
    found = chart_groups.colored(groups)
    assert list(found) == ["kind"]
    shown = list(dict.fromkeys(found["kind"].values()))
    assert len(shown) == chart_groups.MOST_COLORS
    assert (shown[:2], shown[-2:]) == (["v3", "v7"], ["v9", chart_groups.OTHERS])  # the worst slice first
    scale = chart_groups.slice_color(found, "kind")["scale"]
    assert (scale["domain"], scale["range"][-1]) == (shown, {"expr": "same"})
    assert {"expr": "same"} not in scale["range"][:-1]


def test_a_slice_of_few_groups_does_not_pass_for_the_most_changed() -> None:
    values = [*"abcdefgh", *(["large"] * 40)]
    candidate = [*[0.6] * 8, *[0.4] * 40]
    found = chart_groups.colored(groups_of([0.5] * 48, candidate, kind=list(values)))
    assert found["kind"]["large"] == "large"
    assert list(found["kind"].values()).count(chart_groups.OTHERS) == 2


@pytest.mark.parametrize("value", [chart_groups.OTHERS, None])
def test_few_values_have_a_colour_each_whatever_they_are_called(value: str | None) -> None:
    found = chart_groups.colored(groups_of([0.5, 0.5], [0.25, 0.5], kind=[value, "b"]))
    assert {"expr": "same"} not in chart_groups.slice_color(found, "kind")["scale"]["range"]


@given(st.integers(0, 40), st.integers(0, 300), st.integers(0, 40))
@example(0, 5, 0)
def test_what_did_not_change_is_no_wider_than_columns_of_as_many_groups(
    n_worse: int, n_same: int, n_better: int
) -> None:
    delta = np.array([-0.25] * n_worse + [0.0] * n_same + [0.25] * n_better)
    groups = EveryGroup([f"q{number}" for number in range(delta.size)], np.full(delta.size, 0.5), 0.5 + delta)
    columns = chart_groups.columns_of(groups)
    first, end = columns.gap
    assert (first, columns.end - end) == (n_worse, n_better)
    assert min(n_same, 10) <= end - first <= n_same
    assert columns.starts == [*range(first), *range(end, columns.end)]


def test_groups_have_their_ids_below_where_there_is_room_and_their_queries_beside() -> None:
    groups = groups_of([0.5, 0.5, 0.5], [0.75, 0.25, 0.5])
    spec = valid(chart_groups.every_group(groups, "AP", queries={"q1": "tents"}))
    assert spec["params"] == [{"name": "names", "value": ["q1", "q2", "q0"]}]
    assert [row["query"] for row in drawn(spec)] == ["tents", ""]
    targets = spec["layer"][-1]
    assert targets["encoding"]["y2"] == {"value": "height"}  # a whole column is pointed at
    assert [field["field"] for field in targets["encoding"]["tooltip"]][:2] == ["group", "query"]
    many = groups_of([0.5] * (chart_groups.NAMED + 1), [0.75] * (chart_groups.NAMED + 1))
    assert "params" not in valid(chart_groups.every_group(many, "AP"))


def axes_of(spec: Spec) -> dict[str, str | None]:
    """Return what is written beside the axes of a chart."""
    titles: dict[str, str | None] = {}
    for part in spec["layer"]:
        for side in ("x", "y"):
            encoding = part["encoding"].get(side, {})
            title = encoding.get("title") or (encoding.get("axis") or {}).get("title")
            titles[side] = titles.get(side) or title
    return titles


def test_every_picture_names_its_metric_and_its_axes() -> None:
    groups = groups_of([0.5, 0.5], [0.75, 0.25])
    assert axes_of(chart_groups.every_group(groups, "AP")) == {"x": "groups, worst to best", "y": "change of AP"}
    assert axes_of(chart_groups.scatter(groups, "a", "b", metric="AP")) == {"x": "AP of a", "y": "AP of b"}
    assert axes_of(chart_groups.histogram(groups, "AP")) == {"x": "change of AP", "y": "groups"}
    bar = compare.Bar("AP", None, 0.1, None, None, None, 3)
    assert axes_of(compare.forest([bar], metric="AP"))["x"] == "change of AP"
    rows = [AtCutoff(k, 0.5, 0.5, 0.0, None) for k in (1, 2)]
    found = cutoffs(rows, "a", "b", metric="AP@2", cutoff=2)
    assert (axes_of(found), found["title"]["text"]) == ({"x": "cutoff", "y": "mean"}, "AP@2 at other cutoffs")
    deltas = [RunPairDelta("a", "b", 0.1, 0.01, "improved"), RunPairDelta("b", "a", -0.1, 0.01, "regressed")]
    found = valid(compare.heatmap(deltas, ["a", "b"], "AP"))
    assert (axes_of(found), found["title"]["text"]) == (
        {"x": "run", "y": "against"},
        "AP: every run against every other",
    )
    assert [row["shown"] for row in drawn(found)] == ["+0.1000", "-0.1000"]
    small = compare.heatmap([RunPairDelta("a", "b", 1.2e-5, 0.9, "no_difference_detected")], ["a", "b"], "AP")
    assert [row["shown"] for row in drawn(small)] == ["~+0.0000"]  # as wide as the others


def test_below_the_line_is_better_of_a_metric_whose_lower_values_are() -> None:
    groups = EveryGroup(["q"], np.array([0.5]), np.array([0.25]), {}, "lower")
    words = "below the dashed line b is better, above it worse"
    assert chart_groups.scatter(groups, "a", "b", metric="ms")["title"]["subtitle"] == words


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", ["a.b", "a[0]", "it's", 'a "b"', "back\\slash", "</script>", "a\x1b"])
def test_names_of_attributes_are_no_paths(name: str) -> None:
    groups = EveryGroup(["p", "q"], np.array([0.1, 0.2]), np.array([0.2, 0.1]), {name: ["x", "y"]})
    spec = valid(chart_groups.every_group(groups, "ndcg@10", by=name))
    assert {row["slice_0"] for row in drawn(spec)} == {"x", "y"}


def test_a_slice_is_told_from_a_metric_whatever_its_attribute_is_called() -> None:
    bars = [
        compare.Bar(name, attribute, 0.1, None, None, None, 3) for name, attribute in (("AP", None), ("AP", "metrics"))
    ]
    assert [row["name"] for row in valid(compare.forest(bars))["data"]["values"]] == ["AP", "metrics: AP"]


def test_grey_bars_beside_zero_are_explained() -> None:
    none = "no_difference_detected"
    within = compare.Bar("P@1", None, 0.1, (-0.1, 0.3), none, 0.4, 30)
    assert compare.forest([within])["title"]["subtitle"] == "grey: no difference detected"
    beyond = compare.Bar("AP", None, 0.1, (0.01, 0.19), none, 0.08, 30)
    words = "grey: no difference detected; p-values are corrected for all tests, intervals are not"
    assert compare.forest([within, beyond])["title"]["subtitle"] == words
    alone = compare.Bar("tent", "product", -0.5, None, "not_comparable", None, 10)
    chart = compare.forest([alone])
    assert (chart["title"]["subtitle"], chart["data"]["values"][0]["verdict"]) == ("grey: not tested", "not tested")


def test_texts_are_as_people_may_see_them() -> None:
    hostile = "q\u202e\x1b[2J"
    groups = EveryGroup([hostile], np.array([0.1]), np.array([0.2]))
    rows = drawn(chart_groups.scatter(groups, hostile, "b", metric="ndcg@10"), 1)
    assert rows[0]["group"] == "q\\u202e\\x1b[2J"
    lists = GroupLists(hostile, (ListedItem(hostile, 1.0, 1, 2, 0.5, 0.25),), ())
    text = str(rank_moves(lists, hostile, "b"))
    assert "\u202e" not in text
    assert "\x1b" not in text


@pytest.mark.nightly
def test_other_charts_are_valid() -> None:
    rows = [AtCutoff(k, 0.5, 0.5 + k / 100, k / 100, None if k == 1 else (0.0, k / 50)) for k in range(1, 30)]
    valid(cutoffs(rows, "a", "b", metric="ndcg@10", cutoff=10))
    items = (
        ListedItem("a", 2.0, 1, None, 0.5, 0.0),
        ListedItem("b", None, None, 1, 0.0, 0.0),
        ListedItem("c", 0.0, 14, 2, None, None),
    )
    lists = GroupLists("q", items, (("a", 2.0),))
    valid(rank_moves(lists, "one", "other"))
    texts = GroupTexts(Text("of tents"), {"a": Text("a light one", "Tent")})
    moves = valid(rank_moves(lists, "one", "other", metric="AP", texts=texts))
    assert moves["title"]["text"] == "Group q: of tents"
    assert [row["title"] for row in moves["data"]["values"]] == ["Tent", "", ""]
    assert "as AP sees them" in moves["title"]["subtitle"]
    runs: list[HistoryRow] = [
        {
            "run": f"run {n}",
            "run_id": n,
            "created_at_utc": f"2026-01-{n + 1:02}",
            "metric": "AP",
            "mean": None if n == 3 else n / 10,
            "ci": None if n == 2 else (n / 10 - 0.1, n / 10 + 0.1),
            "step": n == 5,
            "step_change": 0.2,
            "label_set_version": 1 + n // 4,
        }  # type: ignore[typeddict-item]
        for n in range(9)
    ]
    spec = valid(history_chart(runs, "AP", on="shop", marked=["run 1"]))
    assert spec["title"]["text"] == "History of AP on shop"
    assert axes_of(spec) == {"x": "runs, oldest first", "y": "mean AP"}
    triangles = next(part for part in spec["layer"] if "shape" in part["encoding"])
    assert triangles["encoding"]["shape"]["scale"]["domain"] == ["better"]
    assert triangles["encoding"]["shape"]["legend"]["labelExpr"] == "'stepped here: ' + datum.label"
    assert len(spec["data"]["values"]) == 8
    assert [row["news"] for row in spec["data"]["values"] if row["news"]] == ["labels 2", "labels 3"]
    names = ["a", "b", "c"]
    deltas = [RunPairDelta(one, other, 0.1, 0.01, "improved") for one in names for other in names if one != other]
    valid(compare.heatmap(deltas, names, "AP"))


@given(st.lists(st.tuples(value, value), min_size=1, max_size=200))
def test_mermaid_shows_the_worst_and_the_best(pairs: list[tuple[float, float]]) -> None:
    groups = groups_of([one for one, _ in pairs], [other for _, other in pairs])
    text = every_group_mermaid(groups, 'a "metric"')
    if not groups.delta.any() or len(pairs) < 2:
        assert text == ""
        return
    bars = [float(bar) for bar in text.split("line [")[1].split("]")[0].split(", ")]
    assert len(bars) == min(PLACES, len(pairs))
    if groups.delta.min() < 0:
        assert min(bars) == pytest.approx(groups.delta.min(), rel=1e-3)
    if groups.delta.max() > 0:
        assert max(bars) == pytest.approx(groups.delta.max(), rel=1e-3)
    assert "a 'metric'" in text
