"""Rows in any order have the numbers of sorted rows, to the bit, in whichever way their places are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from drawn_cases import NUMBERS, bits, every_metric, lists_of_all_kinds, some_lists, some_metric
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rankings import SEEDS
from rankings_of import Run, labels_of
from thorough import LONG, examples

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.contributions import contributions
from ndcg_tracker.metrics.kernel.graded_list import GradeLevels, graded_list
from ndcg_tracker.metrics.kernel.lists import BY_COUNTING, BY_SORTING, IN_ORDER, Ranks
from ndcg_tracker.metrics.kernel.mean import GroupValues
from ndcg_tracker.metrics.kernel.values import group_results, group_values, values_with_bounds
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import judged_shares
from ndcg_tracker.rankings.join import JudgedRanking, JudgedUnsorted, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights, Ranking, UnsortedRanking, Unweighted

ONE = 1.0
LAST_BITS = [ONE, *(float(np.nextafter(ONE, to)) for to in (0.0, 2.0)), 1.0 + 2**-50, 1.0 + 2**-45, 1.0 + 2**-30]
NEAR_TIES = st.sampled_from([*LAST_BITS, *(-score for score in LAST_BITS), 0.0, -0.0, 5e-324, -5e-324, 1e300, 2.0])


def unsorted_of(run: Run) -> UnsortedRanking:
    """Return the rows of a dict of scores in its order; a group may be without items."""
    items = [item for scores in run.values() for item in scores]
    scores = [score for scores in run.values() for score in scores.values()]
    offsets = np.cumsum([0, *map(len, run.values())])
    return UnsortedRanking(Keys.from_strings(run), offsets, Keys.from_strings(items), np.array(scores, dtype=float))


def both_of(run: Run, labels: Run) -> tuple[JudgedUnsorted, JudgedRanking]:
    """Return a run with its labels, unsorted, and sorted before they were joined."""
    rows = unsorted_of(run)
    in_order = Ranking.from_groups(rows.group_keys, rows.offsets, rows.item_keys, rows.scores)
    return judged(rows, labels_of(labels)), judged(in_order, labels_of(labels))


def outcome(values: GroupValues) -> tuple[object, ...]:
    """Return all that was found, to the bit."""
    columns = [getattr(values, name).tobytes() for name in (*NUMBERS, "n_items", "labelled")]
    return str(values.metric), values.group_keys.to_list(), columns


def assert_equal(found: Sequence[GroupValues], expected: Sequence[GroupValues]) -> None:
    for one, other in zip(found, expected, strict=True):
        if outcome(one) != outcome(other):
            assert (str(one.metric), bits(one)) == (str(other.metric), bits(other))  # which group differs
            assert outcome(one) == outcome(other)


def assert_same(run: Run, labels: Run, metrics: Sequence[Metric], *, alone: slice = slice(None)) -> None:
    """Score unsorted and sorted rows, and compare to the bit; ``alone``: which metrics also by themselves."""
    rows, in_order = both_of(run, labels)
    expected = group_values(in_order, metrics)
    assert_equal(group_values(rows, metrics), expected)
    for own, same in zip(values_with_bounds(rows, metrics), values_with_bounds(in_order, metrics), strict=True):
        assert_equal(own, same)
    for metric, together in list(zip(metrics, expected, strict=True))[alone]:  # since metrics share what they can
        assert_equal(group_values(rows, [metric]), [together])


@settings(max_examples=examples(200), deadline=None)
@given(some_lists() | some_lists(NEAR_TIES), st.lists(some_metric(), min_size=1, max_size=4))
def test_any_metric_of_any_lists(lists: tuple[Run, Run], metrics: list[Metric]) -> None:
    assert_same(*lists, metrics)


@settings(max_examples=examples(20), deadline=None)
@given(some_lists() | some_lists(NEAR_TIES), st.integers(1, 12))
def test_every_value_of_every_axis(lists: tuple[Run, Run], cutoff: int) -> None:
    assert_same(*lists, every_metric(cutoff))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", SEEDS if LONG else SEEDS[1:])
@pytest.mark.parametrize(("number", "of_labels"), [*enumerate([slice(None), slice(0, 2), slice(0, 0)])])
def test_hundreds_of_groups_of_all_lengths_and_scales(seed: int, number: int, of_labels: slice) -> None:
    run, labels = lists_of_all_kinds(seed, 240 if LONG else 60)
    few = {group: dict(list(grades.items())[of_labels]) for group, grades in labels.items()}
    assert_same({**run, "nothing": {}}, few, every_metric(10), alone=slice(None) if LONG else slice(number, None, 3))


@settings(max_examples=examples(200), deadline=None)
@given(some_lists(), st.data())
def test_what_is_refused_is_refused_in_the_same_words(lists: tuple[Run, Run], data: st.DataObject) -> None:
    axes = {axis.name: axis for axis in AXES if "ndcg" in axis.measures}
    name = data.draw(st.sampled_from(sorted(axes)))
    value = data.draw(st.sampled_from([*axes[name].values, *filter(None, [axes[name].pattern_example])]))
    metric = Metric.of("ndcg", cutoff=3, **{name: value})
    found = []
    for both in both_of(*lists):
        try:
            results = group_results(both, [metric])[0]
            found.append((results.mean, results.n_missing, results.n_undefined))
        except MetricError as refusal:
            found.append(str(refusal))
    assert found[0] == found[1]


def ways_of(run: Run, labels: Run) -> set[str]:
    both, _ = both_of(run, labels)
    levels = GradeLevels.of(both.labels.grades)
    lists = graded_list(both, levels.codes, single=False, drop_unjudged=False, negative=None)
    ranks = Ranks(lists, levels.levels.size)
    ranks.ranked()
    return ranks.ways


def case(way: str, *, ties: bool, size: int) -> tuple[Run, Run]:
    """Return lists whose places are found in one way, with or without equal and almost equal scores."""
    rng = np.random.default_rng(size)
    run: Run = {}
    labels: Run = {}
    for group in range(120 if LONG else 40):
        items = [f"d{item}" for item in range(size + group % 3)]
        scores = rng.choice(LAST_BITS, len(items)) if ties else rng.permutation(len(items)).astype(float)
        if way == IN_ORDER:
            scores = -np.sort(-scores)
        labelled = items if way == BY_SORTING or (group % 7 == 0 and way == IN_ORDER) else items[:: len(items) // 2]
        run[f"q{group}"] = dict(zip(items, scores.tolist(), strict=True))
        labels[f"q{group}"] = {item: float(rng.integers(0, 4)) for item in labelled}
    return run, labels


@pytest.mark.nightly(but=10)
@pytest.mark.parametrize("way", [IN_ORDER, BY_COUNTING, BY_SORTING])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("size", [10, 63, 100, 300] if LONG else [10, 63, 300])
def test_each_way_is_taken_and_right(way: str, ties: bool, size: int) -> None:
    run, labels = case(way, ties=ties, size=size)
    assert ways_of(run, labels) == {way}
    alone = slice(None if LONG or size == 10 else 0)  # what metrics share, no size decides
    assert_same(run, labels, every_metric(5), alone=alone)


@pytest.mark.parametrize("levels", [7, 8, 255, 256, 300, 70_000])
def test_many_levels(levels: int) -> None:
    rng = np.random.default_rng(levels)
    grades = rng.permutation(levels).astype(float) / 8
    items = [f"d{item}" for item in range(levels)]
    run = {"q": dict(zip(items, rng.normal(size=levels).round(3).tolist(), strict=True)), "r": {"d0": 1.0, "d1": 2.0}}
    labels = {"q": dict(zip(items, grades.tolist(), strict=True)), "r": {"d1": 1.0, "d0": 0.0}}
    assert_same(run, labels, [Metric.of("ndcg", cutoff=10), Metric.of("ndcg", ties="item_asc"), Metric.of("AP")])


def test_rows_that_are_sorted_are_not_sorted_again() -> None:
    run, labels = case(BY_SORTING, ties=True, size=20)
    both, in_order = both_of(run, labels)
    moved = both.in_order
    assert (moved.rows.tolist(), moved.label_rows.tolist()) == (in_order.rows.tolist(), in_order.label_rows.tolist())
    assert both.in_order is moved
    assert moved.in_order is moved


@settings(max_examples=examples(200), deadline=None)
@given(some_lists() | some_lists(NEAR_TIES), st.integers(1, 12) | st.none())
def test_shares_of_labelled_items_and_contributions(lists: tuple[Run, Run], cutoff: int | None) -> None:
    rows, in_order = both_of(*lists)
    assert judged_shares(rows, cutoff).tobytes() == judged_shares(in_order, cutoff).tobytes()
    metric = Metric.of("ndcg", cutoff=cutoff)
    one, other = contributions(rows, metric), contributions(in_order, metric)
    assert one.contributions.tobytes() == other.contributions.tobytes()
    assert one.judged.ranking.item_keys.to_list() == other.judged.ranking.item_keys.to_list()


def test_means_with_weights() -> None:
    run, labels = lists_of_all_kinds(5, 80)
    varies, others = np.zeros(len(run), dtype=np.bool_), Unweighted(default=0.7)
    weights = GroupWeights(Keys.from_strings(run), np.linspace(0.1, 2, len(run)), varies, unweighted=others)
    metrics = [Metric.of("ndcg", cutoff=10, weights=value) for value in ("none", "group", "item_mean")]
    one, other = (group_results(both, metrics, weights) for both in both_of(run, labels))
    assert [found.mean for found in one] == [found.mean for found in other]
