"""What a group's numbers are is a matter of that group alone: to the bit the same whatever others it is scored with."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rankings import SEEDS
from rankings_of import Run, joined

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics import (
    GroupValues,
    Metric,
    group_results,
    group_values,
    judged_shares,
    plain_mean,
    values_with_bounds,
)
from ndcg_tracker.metrics.axes import AXES
from ndcg_tracker.metrics.measures import CUMULATED, LISTED, MEASURES, NEEDS_CUTOFF, NO_CUTOFF, NO_EXPECTATION
from ndcg_tracker.rankings import GroupWeights, Keys

REFUSALS = ("error", "error_above_1", "ge0", "int", "int_ge0", "int0to30")
"""Values of axes that refuse a group; what is refused has no numbers."""
SUMMED = ("gain", "discount", "ties", "ideal", "ideal_order", "ideal_cut", "unjudged", "negative", "label_type")
FURTHER = {
    "gain": ["{1:3.5, 2:9}", "{0:0.5, 2:-1, 3:0}", "exp2>=2"],
    "discount": ["jk1.5", "jk3"],
    "unjudged": ["0.3", "-0.7"],
}
NUMBERS = ("values", "dcg", "ideal_dcg", "reasons", "empty")


def values_of_axis(name: str) -> list[str]:
    """Return the values of an axis that refuse nothing."""
    axis = next(axis for axis in AXES if axis.name == name)
    named = [*axis.values, *([axis.pattern_example] if axis.pattern_example else []), *FURTHER.get(name, [])]
    return [value for value in named if value not in REFUSALS]


def every_metric(cutoff: int) -> list[Metric]:
    """Return every measure, and ndcg with every value of every axis alone, with and without a cutoff."""
    found = []
    for at in (cutoff, None):
        for measure in MEASURES:
            if measure not in (NEEDS_CUTOFF if at is None else NO_CUTOFF):
                ties = values_of_axis("ties") if measure in LISTED else []
                found += [Metric.of(measure, cutoff=at)]
                found += [
                    Metric.of(measure, cutoff=at, ties=value)
                    for value in ties
                    if value != "average" or measure not in NO_EXPECTATION
                ]
        for axis in AXES:
            if "ndcg" in axis.measures and axis.name != "ties":
                found += [Metric.of("ndcg", cutoff=at, **{axis.name: value}) for value in values_of_axis(axis.name)]
    return list(dict.fromkeys(found))


def bits(found: GroupValues) -> dict[str, dict[str, bytes]]:
    """Return the numbers of each group by its id, as bytes: what is not the same to the last bit differs."""
    columns = [getattr(found, name) for name in NUMBERS]
    return {
        key: {name: column[at].tobytes() for name, column in zip(NUMBERS, columns, strict=True)}
        for at, key in enumerate(found.group_keys.to_list())
    }


def part(lists: Run, groups: list[str]) -> Run:
    return {group: lists[group] for group in groups if group in lists}


def assert_alone_as_together(run: Run, labels: Run, metrics: list[Metric], parts: list[list[str]]) -> None:
    """Score all groups at once, and again part by part, and compare to the bit."""
    together = [bits(found) for found in group_values(joined(run, labels), metrics)]
    with_bounds = values_with_bounds(joined(run, labels), metrics)
    assert [bits(own) for own, _, _ in with_bounds] == together
    for groups in parts:
        judged = joined(part(run, groups), part(labels, groups))
        for metric, all_bits, found in zip(metrics, together, group_values(judged, metrics), strict=True):
            for group, alone in bits(found).items():
                assert (str(metric), group, alone) == (str(metric), group, all_bits[group])


ITEMS = [f"d{number}" for number in range(24)]
GROUPS = [f"q{number}" for number in range(6)]
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.00000001, 2.5, -3.0])
BINARY = st.sampled_from([0.0, 1.0])
GRADED = st.sampled_from([0.0, 1.0, 2.0, 3.0])
ANY = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.1, 0.3, 0.7, 1.0, 2.0, 2.5, 7.0, 30.5])


@st.composite
def some_lists(draw: st.DrawFn) -> tuple[Run, Run]:
    """Return a run and its labels: each group is of a kind of its own."""
    run: Run = {}
    labels: Run = {}
    for group in draw(st.lists(st.sampled_from(GROUPS), unique=True, min_size=2)):
        items = draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
        if draw(st.integers(0, 5)):
            run[group] = {item: draw(SCORES) for item in items}
        pool = items if draw(st.booleans()) else draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
        grades = draw(st.sampled_from([BINARY, GRADED, ANY]))
        if draw(st.integers(0, 5)):
            labels[group] = {item: draw(grades) for item in pool}
    return run, labels


@st.composite
def some_metric(draw: st.DrawFn) -> Metric:
    """Return a metric with a value drawn for every axis on which its sums depend."""
    measure = draw(st.sampled_from([*CUMULATED, *CUMULATED, *MEASURES]))
    drawn = {}
    for axis in AXES:
        values = values_of_axis(axis.name)
        if measure in axis.measures and values and (axis.name in SUMMED or draw(st.integers(0, 3)) == 0):
            drawn[axis.name] = draw(st.sampled_from(values))
    cutoffs = st.none() if measure in NO_CUTOFF else st.integers(1, 12)
    cutoff = draw(cutoffs if measure in (*NO_CUTOFF, *NEEDS_CUTOFF) else cutoffs | st.none())
    try:
        return Metric.of(measure, cutoff=cutoff, **drawn)
    except MetricError:  # a combination that no metric has
        return Metric.of(measure, cutoff=cutoff)


@settings(max_examples=150)
@given(some_lists(), st.lists(some_metric(), min_size=1, max_size=4))
def test_a_group_is_scored_alone_as_among_others(lists: tuple[Run, Run], metrics: list[Metric]) -> None:
    run, labels = lists
    groups = list(run | labels)
    assert_alone_as_together(run, labels, metrics, [*([group] for group in groups), groups[1:], groups[::-1]])


def lists_of_all_kinds(seed: int, n_groups: int) -> tuple[Run, Run]:
    """Return lists of 1 to some 600 items, many of one length; all, few or none of them labelled, in four scales."""
    rng = np.random.default_rng(seed)
    run: Run = {}
    labels: Run = {}
    for number in range(n_groups):
        size = 40 if number % 3 == 0 else int(np.exp(rng.uniform(0, 6.4)))
        items = [f"d{item}" for item in rng.permutation(2 * size)]
        listed = items[:size]
        pool = [listed, items, listed[::7], [], items[size - 1 :]][number % 5 if rng.random() < 0.5 else 0]
        grades = [
            rng.integers(0, 2, len(pool)).astype(float),
            rng.integers(-1, 5, len(pool)).astype(float),
            rng.random(len(pool)),
            rng.normal(0, 2, len(pool)).round(1),
        ][int(rng.integers(4))]
        scores = rng.normal(size=size).round(int(rng.integers(0, 6)))
        if number % 11:
            run[f"q{number}"] = dict(zip(listed, scores.tolist(), strict=True))
        if pool:
            labels[f"q{number}"] = dict(zip(pool, grades.tolist(), strict=True))
    return run, labels


@pytest.mark.parametrize("seed", SEEDS)
def test_hundreds_of_groups_of_all_lengths_and_scales(seed: int) -> None:
    run, labels = lists_of_all_kinds(seed, 240)
    groups = list(run | labels)
    parts = [groups[::2], groups[1::2], *([group] for group in groups[::4])]
    assert_alone_as_together(run, labels, every_metric(10), parts)


def test_groups_of_one_scale_among_groups_of_others() -> None:
    run, labels = lists_of_all_kinds(7, 60)
    by_scale: dict[int, list[str]] = {}
    for group, items in labels.items():
        by_scale.setdefault(len(set(items.values())), []).append(group)
    assert_alone_as_together(run, labels, every_metric(3), list(by_scale.values()))


@given(some_lists(), some_metric(), st.randoms(use_true_random=False))
def test_the_order_of_the_groups_does_not_change_a_mean(lists: tuple[Run, Run], metric: Metric, random: Random) -> None:
    groups = list(lists[0] | lists[1])
    weights = GroupWeights(
        Keys.from_strings(groups),
        np.array([random.choice([0.1, 0.3, 0.7, 1.0, 1e9]) for _ in groups]),
        np.zeros(len(groups), dtype=np.bool_),
    )
    judged = [joined(part(lists[0], order), part(lists[1], order)) for order in (groups, shuffled(groups, random))]
    for text in ("none", "group", "item_mean"):
        weighted = metric.with_axes(weights=text)
        means = [group_results(both, [weighted], weights)[0].mean for both in judged]
        assert means[0] == means[1]
    shares = [judged_shares(both, metric.cutoff) for both in judged]
    assert not shares[0].size or plain_mean(shares[0]) == plain_mean(shares[1])


def shuffled(groups: list[str], random: Random) -> list[str]:
    return random.sample(groups, len(groups))


def test_the_mean_of_many_groups_does_not_depend_on_their_order() -> None:
    run, labels = lists_of_all_kinds(3, 200)
    groups = list(run | labels)
    expected = [found.mean for found in group_results(joined(run, labels), every_metric(10))]
    random = Random(4)
    for _ in range(3):
        order = shuffled(groups, random)
        found = group_results(joined(part(run, order), part(labels, order)), every_metric(10))
        assert [one.mean for one in found] == expected


def test_a_negative_ideal_of_nothing_is_no_negative_zero() -> None:
    metrics = [Metric.of("ndcg", negative="keep", ideal_cut="retrieved"), Metric.of("cg", negative="keep")]
    run, labels = {"q": {"a": 1.0}, "s": {"a": 1.0}}, {"q": {"a": -1.0}, "r": {"a": -1.0}, "s": {"b": -1.0}}
    for found in group_values(joined(run, labels), metrics):
        for numbers in (found.values, found.dcg, found.ideal_dcg):
            assert not np.signbit(numbers[numbers == 0]).any()
