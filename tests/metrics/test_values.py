"""The kernel against a plain reading of the definition, and the properties that NDCG has."""

import itertools
import math
import re
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings_of import Run, joined, results, value

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.mean import REASONS
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights, Unweighted

GAINS: dict[str, Callable[[float], float]] = {
    "linear": lambda grade: grade,
    "exp2": lambda grade: 2**grade - 1,
    "binary": lambda grade: float(grade > 0),
}
DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2": lambda rank: 1 / math.log2(rank + 1),
    "position": lambda rank: 1 / rank,
    "ln": lambda rank: 1 / math.log(rank + 1),
    "jk2": lambda rank: 1.0 if rank <= 2 else 1 / math.log2(rank),
    "jk3": lambda rank: 1.0 if rank <= 3 else math.log(3) / math.log(rank),
    "rbp0.8": lambda rank: 0.2 * 0.8 ** (rank - 1),
    "none": lambda rank: 1.0,
}
TIES = ("item_desc", "item_asc", "input", "pessimistic", "optimistic", "average")
ITEMS = [f"d{number}" for number in range(8)]


def dcg_of(gains: list[float], discount: str, cutoff: int | None) -> float:
    return sum(gain * DISCOUNTS[discount](rank) for rank, gain in enumerate(gains[:cutoff], 1))


def orders(scores: dict[str, float], gains: dict[str, float], ties: str) -> list[list[str]]:
    """Return the order that a tie rule gives, or for average every order that the scores allow."""
    keys: dict[str, Callable[[str], object]] = {
        "item_asc": lambda item: item.encode(),
        "item_desc": lambda item: [-byte for byte in item.encode()] + [1],
        "input": lambda item: 0,
        "pessimistic": lambda item: gains.get(item, 0.0),
        "optimistic": lambda item: -gains.get(item, 0.0),
    }
    if ties != "average":
        first = sorted(scores, key=keys[ties])
        return [sorted(first, key=lambda item: -scores[item])]
    runs = [list(run) for _, run in itertools.groupby(sorted(scores, key=lambda i: -scores[i]), key=scores.__getitem__)]
    return [
        list(itertools.chain(*choice))
        for choice in itertools.product(*(map(list, itertools.permutations(run)) for run in runs))
    ]


small_runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=5),
    min_size=1,
)
small_labels = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 4).map(float), min_size=1),
    min_size=1,
)


@given(
    small_runs,
    small_labels,
    st.sampled_from(sorted(GAINS)),
    st.sampled_from(sorted(DISCOUNTS)),
    st.none() | st.integers(1, 6),
    st.sampled_from(TIES),
    st.sampled_from(["judged", "retrieved"]),
    st.booleans(),
)
def test_the_definition(
    run: Run, labels: Run, gain: str, discount: str, cutoff: int | None, ties: str, ideal: str, drop: bool
) -> None:
    text = f"ndcg(gain={gain}, discount={discount}, ties={ties}, ideal={ideal}"
    text += (", unjudged=drop" if drop else "") + ")" + (f"@{cutoff}" if cutoff else "")
    found = results(text, run, labels)
    seen = dict(zip(found.group_keys.to_list(), found.values.tolist(), strict=True))
    assert seen.keys() == run.keys() | labels.keys()
    for group, seen_value in seen.items():
        if group not in labels:
            assert math.isnan(seen_value)
            continue
        gains = {item: GAINS[gain](max(grade, 0.0)) for item, grade in labels[group].items()}
        scores = {i: s for i, s in run.get(group, {}).items() if not drop or i in gains}
        pool = [gains.get(item, 0.0) for item in (scores if ideal == "retrieved" else gains)]
        best = dcg_of(sorted(pool, reverse=True), discount, cutoff)
        all_orders = orders(scores, gains, ties)
        dcg = sum(dcg_of([gains.get(i, 0.0) for i in order], discount, cutoff) for order in all_orders)
        expected = dcg / len(all_orders) / best if best > 0 else 0.0
        assert seen_value == pytest.approx(expected, abs=1e-12)


@given(small_labels, st.sampled_from(sorted(GAINS)), st.sampled_from(sorted(DISCOUNTS)), st.none() | st.integers(1, 6))
def test_a_perfect_order_gives_exactly_1(labels: Run, gain: str, discount: str, cutoff: int | None) -> None:
    text = f"ndcg(gain={gain}, discount={discount})" + (f"@{cutoff}" if cutoff else "")
    found = results(text, labels, labels)
    for group, seen_value in zip(found.group_keys.to_list(), found.values.tolist(), strict=True):
        assert seen_value == (1.0 if max(labels[group].values()) > 0 else 0.0)


@given(small_runs, small_labels, st.none() | st.integers(1, 6))
def test_values_lie_between_0_and_1_and_ties_are_bounded(run: Run, labels: Run, cutoff: int | None) -> None:
    at = f"@{cutoff}" if cutoff else ""
    metrics = [parse_metric(f"ndcg(ties={ties}){at}") for ties in ("pessimistic", "average", "optimistic", "item_desc")]
    worst, expected, best, default = (found.values for found in group_results(joined(run, labels), metrics))
    defined = ~np.isnan(default)
    assert (worst[defined] >= 0).all()
    assert (best[defined] <= 1).all()
    assert (worst[defined] <= expected[defined] + 1e-15).all()
    assert (expected[defined] <= best[defined] + 1e-15).all()
    assert (worst[defined] <= default[defined] + 1e-15).all()
    assert (default[defined] <= best[defined] + 1e-15).all()


@given(small_runs, small_labels, st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_unless_ties_are_left_as_they_came(
    run: Run, labels: Run, cutoff: int, random: Random
) -> None:
    shuffled = {group: dict(random.sample(list(items.items()), len(items))) for group, items in run.items()}
    for ties in TIES:
        if ties != "input":
            before = results(f"ndcg(ties={ties})@{cutoff}", run, labels)
            after = results(f"ndcg(ties={ties})@{cutoff}", shuffled, labels)
            np.testing.assert_allclose(after.values, before.values, atol=1e-15)


@given(small_runs, small_labels, st.integers(1, 4))
def test_an_unjudged_item_at_the_end_changes_nothing(run: Run, labels: Run, cutoff: int) -> None:
    longer = {group: {**items, "unseen": -99.0} for group, items in run.items()}
    before, after = results(f"ndcg@{cutoff}", run, labels), results(f"ndcg@{cutoff}", longer, labels)
    np.testing.assert_array_equal(after.values, before.values)


def test_missing_extra_and_empty_groups() -> None:
    run = {"both": {"a": 1.0}, "empty": {"a": 1.0}, "extra": {"a": 1.0}}
    labels = {"both": {"a": 1.0}, "empty": {"a": 0.0}, "missing": {"a": 1.0}}
    found = results("ndcg@10", run, labels)
    assert found.group_keys.to_list() == ["both", "empty", "missing", "extra"]
    np.testing.assert_array_equal(found.values, [1.0, 0.0, 0.0, np.nan])
    assert [REASONS[code] for code in found.reasons] == ["", "", "", "no label"]
    assert (found.mean, found.n_groups, found.n_missing, found.n_undefined) == (1 / 3, 3, 1, 1)
    found = results("ndcg(empty=skip, missing=skip)@10", run, labels)
    assert [REASONS[code] for code in found.reasons] == [
        "",
        "no item with a positive gain",
        "missing from the run",
        "no label",
    ]
    assert (found.mean, found.n_groups, found.n_undefined) == (1.0, 1, 3)
    assert results("ndcg(empty=1)", run, labels).values.tolist()[:3] == [1.0, 1.0, 0.0]
    assert results("ndcg(extra=skip, missing=skip)", {"x": {"a": 1.0}}, labels).mean is None


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ndcg(empty=error)@10", "ndcg(empty=error)@10: group 'empty' has no item with a positive gain; use empty=0 or "
         "empty=skip"),
        ("ndcg(missing=error)", "ndcg(missing=error): group 'missing' has labels but is missing from the run; use "
         "missing=zero or missing=skip"),
        ("dcg(extra=error)", "dcg(extra=error): group 'extra' of the run has no label; use extra=skip"),
        ("dcg(negative=error)", "dcg(negative=error): the label -1 of item 'b' in group 'missing' is below 0; use "
         "negative=zero to give it no gain"),
        ("dcg(gain=exp2)", "dcg(gain=exp2): the label 5000 of item 'c' in group 'both' is too large for gain=exp2; use "
         "gain=linear"),
    ],
)  # fmt: skip
def test_what_an_axis_refuses_is_named(metric: str, message: str) -> None:
    run = {"both": {"a": 1.0}, "empty": {"a": 1.0}, "extra": {"a": 1.0}}
    labels = {"both": {"a": 1.0, "c": 5000.0}, "empty": {"a": 0.0}, "missing": {"a": 1.0, "b": -1.0}}
    with pytest.raises(MetricError, match=f"^{re.escape(message)}$"):
        results(metric, run, labels)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ndcg", "the gains of group 'q' are too large for double precision; use smaller labels"),
        ("cg(ties=average)", "the gains of group 'q' are too large for double precision; use smaller labels"),
        ("ERR", "the gains of group 'q' are too large for double precision; use smaller labels"),
        ("dcg(arithmetic=f32)", "the label 1.7e+308 of item 'b' in group 'q' is too large for gain=linear; use "
         "gain=binary"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_added_up_are_refused(metric: str, message: str) -> None:
    labels = {"p": {"a": 1.0, "b": 1.0}, "q": {"a": 1.0, "b": 1.7e308, "c": 1.7e308}}
    run = {group: {"c": 2.0, "b": 1.0} for group in labels}
    with pytest.raises(MetricError, match=f"^{re.escape(f'{metric}: {message}')}$"):
        results(metric, run, labels)
    single = {"q": {"a": 1e38, "b": 3e38, "c": 3e38}}
    assert results("ndcg(arithmetic=f32)@1", run, single).mean == 1.0
    with pytest.raises(MetricError, match="too large for single precision"):
        results("cg(arithmetic=f32)", run, single)


def test_group_weights() -> None:
    judged = joined({"q": {"a": 1.0}, "r": {"a": 1.0}}, {"q": {"a": 1.0}, "r": {"b": 1.0}})
    metric = parse_metric("ndcg(weights=group)@10")
    weights = GroupWeights(Keys.from_strings(["r", "q"]), np.array([1.0, 3.0]), np.array([False, False]))
    assert group_results(judged, [metric], weights)[0].mean == 0.75
    assert group_results(judged, [metric])[0].mean == 0.5
    assert group_results(judged, [parse_metric("ndcg@10")], weights)[0].mean == 0.5
    varying = GroupWeights(Keys.from_strings(["r"]), np.array([1.0]), np.array([True]))
    assert group_results(judged, [metric], varying)[0].mean == 0.5
    item_mean = parse_metric("ndcg(weights=item_mean)@10")
    heavy = GroupWeights(Keys.from_strings(["r"]), np.array([3.0]), np.array([True]), unweighted=Unweighted("", 5.0))
    assert group_results(judged, [item_mean], heavy)[0].mean == 5 / 8
    single = parse_metric("ndcg(weights=group, weight_type=f32)@10")
    light = GroupWeights(Keys.from_strings(["q"]), np.array([0.0]), np.array([False]), unweighted=Unweighted("", 0.1))
    assert group_results(judged, [single], light)[0].weights == pytest.approx([0.0, np.float32(0.1)], abs=0)


def test_negative_labels() -> None:
    assert value("dcg(negative=keep, discount=position)", [1, -1, 2]) == pytest.approx(1 - 1 / 2 + 2 / 3)
    assert value("dcg(discount=position)", [1, -1, 2]) == pytest.approx(1 + 2 / 3)
    assert value("dcg(negative=drop, discount=position)", [1, -1, 2]) == pytest.approx(1 + 2 / 2)
    assert value("idcg(negative=keep, discount=position)", [-1, 1], 2) == pytest.approx(2 + 1 / 2 - 1 / 3)


def test_single_precision_scores_tie_where_doubles_do_not() -> None:
    run, labels = {"q": {"a": 1.00000001, "b": 1.0}}, {"q": {"a": 1.0}}
    assert results("ndcg", run, labels).mean == 1.0
    assert results("ndcg(score_type=f32)", run, labels).mean == pytest.approx(1 / math.log2(3))


def test_scores_beyond_single_precision_are_cut_at_a_depth_without_a_warning() -> None:
    run, labels = {"q": {"a": 1e300, "b": 1.0, "c": 0.5}}, {"q": {"a": 1.0}}
    assert results("ndcg(depth=2, score_type=f32)", run, labels).mean == 1.0


def test_ids_are_ordered_as_bytes() -> None:
    run, labels = {"q": {"é": 1.0, "z": 1.0, "a": 1.0}}, {"q": {"é": 1.0}}
    assert results("ndcg@1", run, labels).mean == 1.0
    assert results("ndcg(ties=item_asc)@2", run, labels).mean == 0.0


def test_many_distinct_grades_are_sorted_instead_of_counted() -> None:
    rng = np.random.default_rng(5)
    labels = {f"q{g}": {f"d{i}": float(x) for i, x in enumerate(rng.normal(1, 1, 40))} for g in range(2500)}
    found = results("ndcg(negative=keep)@7", labels, labels)
    np.testing.assert_array_equal(found.values, np.ones(2500))
    few = dict(list(labels.items())[:3])
    alone, among_many = results("idcg(negative=keep)", few, few), results("idcg(negative=keep)", few, labels)
    np.testing.assert_array_equal(alone.values, among_many.values[:3])


def test_an_ideal_by_label_is_the_same_for_few_and_for_many_groups() -> None:
    rng = np.random.default_rng(6)
    text = "idcg(gain={3:0.5}, ideal_order=label)@5"
    labels = {f"q{g}": {f"d{i}": float(x) for i, x in enumerate(rng.integers(0, 900, 3))} for g in range(2500)}
    labels["q0"] = {"a": 3.0, "b": 1.0, "c": 2.0}
    alone, among_many = results(text, {}, {"q0": labels["q0"]}), results(text, {}, labels)
    assert alone.values[0] == among_many.values[0] == 0.5 + 2 / math.log2(3) + 1 / 2


def test_nothing_at_all() -> None:
    found = results("ndcg@10", {}, {})
    assert (found.mean, found.n_groups, found.values.size) == (None, 0, 0)
    assert results("ndcg@10", {}, {"q": {"a": 1.0}}).mean == 0.0
    assert results("ndcg@10", {"q": {"a": 1.0}}, {}).mean is None
