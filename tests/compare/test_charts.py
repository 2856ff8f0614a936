"""Charts: valid Vega-Lite whatever the groups are, thinned out where there are more than an eye tells apart."""

import altair
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ndcg_tracker.compare import chart as compare
from ndcg_tracker.compare.chart import cutoffs
from ndcg_tracker.compare.report_facts import AtCutoff, EveryGroup, GroupLists, ListedItem, RunPairDelta
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.history.say import HistoryRow, history_chart
from ndcg_tracker.questions.report.page import PLACES, every_group_mermaid
from ndcg_tracker.render.html import Spec, themed


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
    rows = drawn(compare.every_group(groups, "ndcg@10"))
    n_changed = int((groups.delta != 0).sum())
    assert len(rows) == n_changed
    deltas = [row["delta"] for row in rows]
    assert deltas == sorted(deltas)  # type: ignore[type-var]
    assert len({row["x"] for row in rows}) == n_changed
    assert len(compare.scatter(groups, "a", "b")["data"]["values"]) == len(pairs)
    assert sum(row["n"] for row in drawn(compare.histogram(groups))) == n_changed  # type: ignore[misc]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    "pairs", [[(0.25, 0.25), (0.0, 0.5), (0.5, 0.25), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)], [(0.5, 0.5)]]
)
def test_charts_of_groups_are_valid(pairs: list[tuple[float, float]]) -> None:
    kinds: list[str | None] = ["a", None, "b", "b"]
    groups = groups_of([one for one, _ in pairs], [other for _, other in pairs], kind=kinds[: len(pairs)])
    valid(compare.every_group(groups, "ndcg@10"))
    valid(compare.scatter(groups, "a", "b"))
    valid(compare.histogram(groups))
    for name in compare.colored(groups):
        valid(compare.every_group(groups, "ndcg@10", by=name))
        valid(compare.scatter(groups, "a", "b", by=name))


def test_many_groups_share_columns_and_dots_and_the_page_says_so() -> None:
    random = np.random.default_rng(1)
    one = random.random(50_000)
    other = np.clip(one + random.normal(0, 0.1, one.size) * (random.random(one.size) < 0.5), 0, 1)
    groups = EveryGroup([f"q{number}" for number in range(one.size)], one, other)
    every = compare.every_group(groups, "ndcg@10")
    rows = drawn(every)
    assert len(rows) <= compare.COLUMNS + 2
    assert rows[0]["delta"] == pytest.approx(groups.delta.min(), abs=1e-6)  # the worst group is never thinned out
    assert rows[-1]["delta"] == pytest.approx(groups.delta.max(), abs=1e-6)
    assert "each column stands for 21 groups and shows the one that changed most" in every["title"]["subtitle"]
    dots = compare.scatter(groups, "a", "b")
    assert len(dots["data"]["values"]) <= compare.DOTS + 200
    assert "of 50,000 dots" in dots["title"]["subtitle"]
    most = {groups.keys[place] for place in groups.most_changed(200).tolist()}
    assert most <= {row["group"] for row in dots["data"]["values"]}
    assert sum(row["n"] for row in drawn(compare.histogram(groups))) == int((groups.delta != 0).sum())


def test_an_attribute_of_many_values_shows_the_largest_and_the_others_together() -> None:
    values = [f"v{min(number // 3, 19)}" for number in range(90)]
    groups = groups_of([0.0] * 90, [0.1] * 90, kind=values, id=[str(number) for number in range(90)])
    found = compare.colored(groups)
    assert list(found) == ["kind"]
    assert len(set(found["kind"].values())) == compare.MOST_COLORS
    assert found["kind"]["v19"] == "v19"  # the largest
    assert list(found["kind"].values()).count(compare.OTHERS) == 13


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", ["a.b", "a[0]", "it's", 'a "b"', "back\\slash", "</script>", "a\x1b"])
def test_names_of_attributes_are_no_paths(name: str) -> None:
    groups = EveryGroup(["p", "q"], np.array([0.1, 0.2]), np.array([0.2, 0.1]), {name: ["x", "y"]})
    spec = valid(compare.every_group(groups, "ndcg@10", by=name))
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


def test_texts_are_as_people_may_see_them() -> None:
    hostile = "q\u202e\x1b[2J"
    groups = EveryGroup([hostile], np.array([0.1]), np.array([0.2]))
    rows = drawn(compare.scatter(groups, hostile, "b"), 1)
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
    valid(rank_moves(GroupLists("q", items, (("a", 2.0),)), "one", "other"))
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
    spec = valid(history_chart(runs, "AP", marked=["run 1"]))
    assert len(spec["data"]["values"]) == 8
    assert [row["new_labels"] for row in spec["data"]["values"] if row["new_labels"]] == ["labels 2", "labels 3"]
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
