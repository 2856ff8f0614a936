"""The delta of a group is exactly what its items contribute, whatever the metric; that of the means adds up too."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankings_of import Run, labels_of, ranking_of
from sums_of_items import long_labels, long_lists, some_labels, some_run, some_sum
from thorough import LONG, examples

from ndcg_tracker.compare.item_changes import ItemChanges, item_changes, joined_changes, moves_by_group, remainder_of
from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.metrics.contributions import ADDITIVE, contributions
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain.decide import (
    RANK_ENDS,
    ChangeParts,
    ChangeTotals,
    GroupExplanation,
    LabelDifferences,
    Subject,
    change_totals,
    explained_items,
    with_grades_of,
)
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.render.formats import as_object

EXACT = 1e-12
SUBJECT = Subject("ndcg@10", RunRef("one", 1), RunRef("other", 2), "shop", LabelSetRef(1, "a"), LabelSetRef(1, "a"))
ROUNDED = ("round", "round_of", "arithmetic")


@st.composite
def some_metric_of_every_kind(draw: st.DrawFn) -> Metric:
    """Return cg, dcg or ndcg on any axes, those included that leave something over."""
    further = {
        "round": draw(st.sampled_from(["none", "2", "4"])),
        "round_of": draw(st.sampled_from(["group", "mean"])),
        "arithmetic": draw(st.sampled_from(["f64", "f32"])),
    }
    metric = draw(some_sum())
    if metric.measure == "ndcg":
        further["empty"] = draw(st.sampled_from(["0", "1", "skip"]))
    return metric.with_axes(**further)


def changes_of(
    runs: Sequence[Run], labels: Sequence[Run], metric: Metric, *, changed_only: bool = False
) -> tuple[ItemChanges, list[dict[str, float]]]:
    """Return the items of two runs side by side, groups numbered as sorted, and the value of each group in each run."""
    names = sorted({group for given in (*runs, *labels) for group in given})
    lists = {id(of_run): labels_of(of_run) for of_run in labels}
    both = [judged(ranking_of(run), lists[id(of_run)]) for run, of_run in zip(runs, labels, strict=True)]
    found = [contributions(one, metric) for one in both]
    keys = [one.values.group_keys.to_list() for one in found]
    places = [np.array([names.index(key) for key in of_axis], dtype=np.int64) for of_axis in keys]
    values = []
    for one in both:
        (computed,) = group_values(one, [metric])
        values.append(dict(zip(computed.group_keys.to_list(), computed.values.tolist(), strict=True)))
    return item_changes(found[0], found[1], places[0], places[1], changed_only=changed_only), values


def explanations(runs: Sequence[Run], labels: Sequence[Run], metric: Metric) -> Iterator[GroupExplanation]:
    """Yield the explanation of every group that has a value in both runs."""
    changes, (before, after) = changes_of(runs, labels, metric)
    names = sorted({group for given in (*runs, *labels) for group in given})
    for place, name in enumerate(names):
        values = (before.get(name, math.nan), after.get(name, math.nan))
        if not any(map(math.isnan, values)):
            items = explained_items(changes.only(np.flatnonzero(changes.groups == place)))
            yield GroupExplanation(SUBJECT, name, *values, items)


def leaves_nothing_over(metric: Metric) -> bool:
    plain = metric["arithmetic"] == "f64" and (metric["round"] == "none" or metric["round_of"] == "mean")
    return plain and (metric.measure != "ndcg" or metric["empty"] != "1")


def check(explanation: GroupExplanation, metric: Metric, *, of_json: bool = True) -> None:
    """Hold one explanation to what it promises; ``of_json``: so do the rows of its JSON."""
    rows = [*(item.move.contribution for item in explanation.items), explanation.remainder]
    if of_json:
        shown = [item["contribution"] for item in as_object(explanation)["items"]]
        assert shown == (rows if explanation.remainder else rows[:-1])
    size = max(1.0, sum(map(abs, rows)), abs(explanation.baseline), abs(explanation.candidate))
    assert abs(math.fsum(rows) - explanation.delta) <= EXACT * size
    for item in explanation.items:
        move = item.move
        assert move.contribution == move.contribution_candidate - move.contribution_baseline
        assert move.contribution_baseline == 0 or move.rank_baseline is not None
        assert move.contribution_candidate == 0 or move.rank_candidate is not None
    if leaves_nothing_over(metric):
        assert explanation.remainder == 0


@settings(max_examples=examples(300))
@given(some_run, some_run, some_labels, some_labels, st.booleans(), some_metric_of_every_kind())
def test_items_add_up_to_the_delta_of_every_group(
    run: Run, other: Run, labels: Run, newer: Run, same_labels: bool, metric: Metric
) -> None:
    for explanation in explanations((run, other), (labels, labels if same_labels else newer), metric):
        check(explanation, metric)


def every_value_of_every_axis() -> list[tuple[str, str, str]]:
    """Return measure, axis and value of all that the metric grammar lets cg, dcg and ndcg have."""
    return [
        (measure, axis.name, value)
        for axis in AXES
        for measure in ADDITIVE
        if measure in axis.measures
        for value in [*axis.values, *([axis.pattern_example] if axis.pattern_example else [])]
    ]


@pytest.mark.nightly(but=10)
@pytest.mark.parametrize(("measure", "axis", "value"), every_value_of_every_axis())
def test_every_value_of_every_axis(measure: str, axis: str, value: str) -> None:
    n_groups = 30 if LONG else 15
    runs, labels = [long_lists(seed, n_groups=n_groups) for seed in (1, 2)], long_labels(3, n_groups=n_groups)
    if value.endswith("error") or axis == "clip":  # every group stands on both sides, and has something to find
        runs = [{group: items for group, items in run.items() if len(items) > 1} for run in runs]
        kept = [group for group in labels if max(labels[group].values()) > 0 and all(group in run for run in runs)]
        runs, labels = [{group: run[group] for group in kept} for run in runs], {group: labels[group] for group in kept}
    n_explained = 0
    for cutoff in (None, 3):
        for ties in ("item_desc", "pessimistic" if axis == "depth" else "average"):
            metric = Metric.of(measure, cutoff=cutoff, **({"ties": ties} | {axis: value}))
            for explanation in explanations(runs, (labels, labels), metric):
                check(explanation, metric, of_json=n_explained % 10 == 0)  # which costs more than all the rest
                n_explained += 1
    assert n_explained > 20


@given(some_run, some_run, some_labels, some_sum())
def test_a_change_that_is_none_has_no_rows(run: Run, other: Run, labels: Run, metric: Metric) -> None:
    changes, _ = changes_of((run, other), (labels, labels), metric, changed_only=True)
    assert (changes.contribution != 0).all()
    all_items, _ = changes_of((run, other), (labels, labels), metric)
    moved = all_items.only(np.flatnonzero(all_items.contribution != 0))
    assert sorted(map(repr, moved.moves())) == sorted(map(repr, changes.moves()))
    same, _ = changes_of((run, run), (labels, labels), metric, changed_only=True)
    assert same.groups.size == 0


def one_group(run: dict[str, float], other: dict[str, float], labels: Sequence[dict[str, float]], metric: str) -> Any:
    changes, _ = changes_of(({"q": run}, {"q": other}), [{"q": of_run} for of_run in labels], parse_metric(metric))
    return {item.move.item: item for item in explained_items(changes)}


def ranked(*items: str) -> dict[str, float]:
    return {item: float(-place) for place, item in enumerate(items)}


def test_what_happened_to_an_item() -> None:
    found = one_group(
        ranked("up", "same", "down", "left", "unjudged"),
        ranked("down", "same", "up", "new", "unjudged"),
        [{"up": 1.0, "same": 1.0, "down": 2.0, "left": 1.0, "new": 3.0, "z": 1.0}] * 2,
        "ndcg@10",
    )
    kinds = {name: item.kind for name, item in found.items()}
    assert kinds == {
        "up": "moved_down", "same": "same_rank", "down": "moved_up", "left": "left", "new": "entered",
        "unjudged": "unjudged",
    }  # fmt: skip
    ideal = 3 + 2 / np.log2(3) + 1 / np.log2(4) + 1 / np.log2(5) + 1 / np.log2(6) + 1 / np.log2(7)
    new = found["new"].move
    assert (new.grade, new.rank_baseline, new.rank_candidate, new.contribution_baseline) == (3.0, None, 4, 0.0)
    assert new.contribution == pytest.approx(3 / np.log2(5) / ideal, abs=1e-15)
    assert next(iter(found)) == "new"
    assert found["unjudged"].move.grade is None
    assert found["same"].move.contribution == 0


@pytest.mark.parametrize("unjudged", ["zero", "drop"])
def test_other_grades_are_told_from_other_ranks(unjudged: str) -> None:
    found = one_group(
        ranked("changed", "gone", "added", "kept"),
        ranked("added", "changed", "gone", "kept"),
        [{"changed": 1.0, "gone": 2.0, "kept": 1.0}, {"changed": 3.0, "added": 2.0, "kept": 1.0}],
        f"ndcg(unjudged={unjudged})",
    )
    assert {name: item.kind for name, item in found.items() if item.kind != "label"} == {"kept": "same_rank"}
    grades = {name: (item.grade_baseline, item.move.grade) for name, item in found.items()}
    assert grades == {"changed": (1.0, 3.0), "gone": (2.0, None), "added": (None, 2.0), "kept": (1.0, 1.0)}
    ranks = {name: (item.move.rank_baseline, item.move.rank_candidate) for name, item in found.items()}
    assert ranks["gone"] == ((2, 3) if unjudged == "zero" else (2, None))
    assert ranks["added"] == ((3, 1) if unjudged == "zero" else (None, 1))


def test_what_no_item_accounts_for_is_a_row_of_its_own() -> None:
    (found,) = explanations(
        ({"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 2.0, "b": 1.0}}),
        ({"q": {"a": 1.0}},) * 2,
        parse_metric("ndcg(round=2)"),
    )
    rows = as_object(found)["items"]
    assert rows[-1] == {
        "item": None, "grade": None, "rank_baseline": None, "rank_candidate": None, "contribution_baseline": None,
        "contribution_candidate": None, "contribution": 1.0 - 0.63 - (1.0 - 1 / np.log2(3)), "kind": "remainder",
        "grade_baseline": None,
    }  # fmt: skip
    assert found.remainder == pytest.approx(-0.63 + 1 / np.log2(3), abs=1e-15)


def test_a_group_that_lost_all_its_labels_under_empty_1() -> None:
    (found,) = explanations(
        ({"q": {"a": 1.0, "b": 2.0}},) * 2, ({"q": {"a": 1.0}}, {"q": {"a": 0.0}}), parse_metric("ndcg(empty=1)")
    )
    assert [(item.move.item, item.kind) for item in found.items] == [("a", "label"), ("b", "unjudged")]
    assert found.remainder == 1.0
    assert found.delta == pytest.approx(found.items[0].move.contribution + 1.0, abs=EXACT)


def test_the_moves_of_some_groups() -> None:
    runs = ({"p": ranked("a", "b", "c"), "q": ranked("a", "b")}, {"p": ranked("c", "b", "a"), "q": ranked("a", "b")})
    labels = {"p": {"a": 1.0, "c": 3.0}, "q": {"a": 1.0}}
    changes, _ = changes_of(runs, (labels, labels), parse_metric("dcg"), changed_only=True)
    moves = moves_by_group(changes, np.array([1, 0]), top=5)
    assert [[move.item for move in of_group] for of_group in moves] == [[], ["c", "a"]]
    assert [move.item for move in moves_by_group(changes, np.array([0]), top=1)[0]] == ["c"]


def totals_of(
    runs: Sequence[Run], labels: Run, metric: Metric, top: int | None
) -> tuple[ChangeTotals, float, ItemChanges, list[str]] | None:
    """Return the totals of two runs over the groups that have a value in both, with the difference of the means."""
    changes, (before, after) = changes_of(runs, (labels, labels), metric, changed_only=True)
    names = sorted({group for given in (*runs, labels) for group in given})
    both = [
        place
        for place, name in enumerate(names)
        if not math.isnan(before.get(name, math.nan) - after.get(name, math.nan))
    ]
    if not both:
        return None
    kept = changes.within(np.array(both), len(names))
    shares = np.full(len(both), 1 / len(both))
    delta = float(np.mean([after[names[place]] for place in both]) - np.mean([before[names[place]] for place in both]))
    keys = [names[place] for place in both]
    totals = change_totals(kept, shares, delta, lambda groups: [keys[place] for place in groups.tolist()], top=top)
    return totals, delta, kept, keys


@settings(max_examples=examples(200))
@given(some_run, some_run, some_labels, some_metric_of_every_kind(), st.none() | st.integers(0, 3))
def test_every_table_adds_up_to_the_delta_of_the_means(
    run: Run, other: Run, labels: Run, metric: Metric, top: int | None
) -> None:
    found = totals_of((run, other), labels, metric, top)
    if found is None:
        return
    totals, delta, kept, keys = found
    size = max(1.0, float(np.abs(kept.contribution).sum()))
    for rows in (totals.kinds, totals.grades, totals.ranks, totals.items):
        added = math.fsum(row.contribution for row in rows) + totals.remainder
        if rows is totals.items:
            added += totals.other_items
        assert abs(added - delta) <= EXACT * size
    for rows in (totals.kinds, totals.grades, totals.ranks):
        assert sum(row.n_items for row in rows) == kept.groups.size
    if leaves_nothing_over(metric):
        assert totals.remainder == 0
    by_item: dict[str, list[float]] = {}
    for move in kept.moves():
        by_item.setdefault(move.item, []).append(move.contribution / len(keys))
    for row in totals.items:
        assert row.n_groups == len(by_item[row.item])
        assert row.contribution == pytest.approx(math.fsum(by_item[row.item]), abs=EXACT * size)
        assert (row.group is None) == (row.n_groups > 1)
    assert len(totals.items) + totals.n_other_items == len(by_item)
    if top is None:
        assert abs(totals.other_items) <= EXACT * size


def test_totals_by_kind_grade_rank_and_item() -> None:
    before = {"p": ranked("a", "x", "b"), "q": ranked("b", "a")}
    after = {"p": ranked("x", "b", "c"), "q": ranked("a", "b")}
    labels = {"p": {"a": 2.0, "b": 1.0, "c": 1.0}, "q": {"a": 1.0}}
    found = totals_of((before, after), labels, parse_metric("dcg(discount=position)"), 1)
    assert found is not None
    totals = as_object(found[0])
    assert totals["kinds"] == [
        {"kind": "left", "n_items": 1, "contribution": -1.0},
        {"kind": "moved_up", "n_items": 2, "contribution": pytest.approx((0.5 - 1 / 3) / 2 + 0.5 / 2)},
        {"kind": "entered", "n_items": 1, "contribution": pytest.approx(1 / 6)},
    ]
    assert [(row["grade"], row["n_items"]) for row in totals["grades"]] == [(2.0, 1), (1.0, 3)]
    assert [(row["first"], row["last"], row["n_items"]) for row in totals["ranks"]] == [
        (1, 1, 1), (2, 3, 2), (None, None, 1),
    ]  # fmt: skip
    assert totals["items"] == [
        {
            "item": "a", "n_groups": 2, "contribution": -0.75, "group": None, "grade": None, "rank_baseline": None,
            "rank_candidate": None,
        },
        {
            "item": "c", "n_groups": 1, "contribution": pytest.approx(1 / 6), "group": "p", "grade": 1.0,
            "rank_baseline": None, "rank_candidate": 3,
        },
    ]  # fmt: skip
    assert totals["other_items"] == {"n_items": 1, "contribution": pytest.approx(1 / 12)}
    assert totals["remainder"] == 0


def test_the_rank_ranges_have_no_gaps() -> None:
    labels = {"q": {f"d{rank:04}": 1.0 for rank in range(1200)}}
    run = {"q": ranked(*labels["q"])}
    found = totals_of((run, {"q": {"other": 1.0}}), labels, parse_metric("cg"), 0)
    assert found is not None
    firsts = [1, *(end + 1 for end in RANK_ENDS)]
    assert [(row.first, row.last) for row in found[0].ranks] == list(zip(firsts, [*RANK_ENDS, None], strict=True))
    assert [row.n_items for row in found[0].ranks] == [1, 2, 7, 10, 30, 50, 900, 200]


def test_parts_that_were_made_one_by_one_are_one() -> None:
    labels = long_labels(3)
    whole, _ = changes_of((long_lists(1), long_lists(2)), (labels, labels), parse_metric("ndcg@10"))
    halves = [whole.only(np.flatnonzero(whole.groups % 2 == part)) for part in (0, 1)]
    joint = joined_changes(halves)
    assert sorted(map(repr, joint.moves())) == sorted(map(repr, whole.moves()))
    assert np.bincount(joint.kinds).tolist() == np.bincount(whole.kinds).tolist()


def test_rounding_errors_are_no_remainder() -> None:
    assert remainder_of(1e6 + 1e-8, np.array([1e6])) == 0
    assert remainder_of(1e-9, np.array([])) == 1e-9


@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    st.tuples(*[st.integers(0, 9)] * 3),
)
def test_ranking_labels_and_coverage_add_up(values: list[float], counts: tuple[int, int, int]) -> None:
    parts = ChangeParts(*values, LabelDifferences(*counts))
    found = as_object(parts)
    total = found["ranking"] + found["labels"] + found["coverage"]
    assert abs(total - (parts.candidate - parts.baseline)) <= EXACT
    assert found["labels_changed"] == dict(zip(("changed", "added", "removed"), counts, strict=True))


@given(some_labels, some_labels)
def test_the_grades_of_pairs_that_both_label_sets_have(labels: Run, newer: Run) -> None:
    mixed, differences = with_grades_of(labels_of(labels), labels_of(newer))
    one, other = (
        {(group, item): grade for group in given for item, grade in given[group].items()} for given in (labels, newer)
    )
    groups = np.repeat(mixed.group_keys.to_list(), np.diff(mixed.offsets)).tolist()
    found = dict(zip(zip(groups, mixed.item_keys.to_list(), strict=True), mixed.grades.tolist(), strict=True))
    assert found == {pair: other.get(pair, grade) for pair, grade in one.items()}
    assert differences == LabelDifferences(
        sum(other[pair] != grade for pair, grade in one.items() if pair in other), len(other.keys() - one.keys()),
        len(one.keys() - other.keys()),
    )  # fmt: skip
