"""What a group's numbers are is a matter of that group alone: to the bit the same whatever others it is scored with."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from drawn_cases import bits, every_metric, lists_of_all_kinds, some_lists, some_metric
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rankings import SEEDS
from rankings_of import Run, joined
from thorough import LONG, examples

from ndcg_tracker.metrics.kernel.mean import plain_mean
from ndcg_tracker.metrics.kernel.values import group_results, group_values, values_with_bounds
from ndcg_tracker.metrics.language.measures import CUMULATED
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import judged_shares
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights


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


@settings(max_examples=examples(150))
@given(some_lists(), st.lists(some_metric(), min_size=1, max_size=4))
def test_a_group_is_scored_alone_as_among_others(lists: tuple[Run, Run], metrics: list[Metric]) -> None:
    run, labels = lists
    groups = list(run | labels)
    assert_alone_as_together(run, labels, metrics, [*([group] for group in groups), groups[1:], groups[::-1]])


@pytest.mark.nightly
@pytest.mark.parametrize("seed", SEEDS if LONG else SEEDS[1:])
def test_hundreds_of_groups_of_all_lengths_and_scales(seed: int) -> None:
    run, labels = lists_of_all_kinds(seed, 240 if LONG else 120)
    groups = list(run | labels)
    parts = [groups[::2], groups[1::2], *([group] for group in groups[seed % 24 :: 4 if LONG else 24])]
    assert_alone_as_together(run, labels, every_metric(10), parts)


@pytest.mark.nightly
def test_groups_of_one_scale_among_groups_of_others() -> None:
    run, labels = lists_of_all_kinds(7, 60 if LONG else 30)
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


@pytest.mark.nightly
def test_the_mean_of_many_groups_does_not_depend_on_their_order() -> None:
    run, labels = lists_of_all_kinds(3, 200)
    groups = list(run | labels)
    expected = [found.mean for found in group_results(joined(run, labels), every_metric(10))]
    random = Random(4)
    for _ in range(3 if LONG else 1):
        order = shuffled(groups, random)
        found = group_results(joined(part(run, order), part(labels, order)), every_metric(10))
        assert [one.mean for one in found] == expected


def test_a_negative_ideal_of_nothing_is_no_negative_zero() -> None:
    metrics = [Metric.of("ndcg", negative="keep", ideal_cut="retrieved"), Metric.of("cg", negative="keep")]
    run, labels = {"q": {"a": 1.0}, "s": {"a": 1.0}}, {"q": {"a": -1.0}, "r": {"a": -1.0}, "s": {"b": -1.0}}
    for found in group_values(joined(run, labels), metrics):
        for numbers in (found.values, found.dcg, found.ideal_dcg):
            assert not np.signbit(numbers[numbers == 0]).any()


@settings(max_examples=examples(200))
@given(some_lists(), some_metric())
def test_metrics_whose_cutoff_cuts_nothing_are_computed_once_and_as_if_alone(
    lists: tuple[Run, Run], metric: Metric
) -> None:
    beyond = [replace(metric, cutoff=cutoff) for cutoff in (1000, 2000)] if metric.cutoff is not None else [metric]
    judged = joined(*lists)
    together = group_results(judged, [metric, *beyond])
    for asked, found in zip([metric, *beyond], together, strict=True):
        alone = group_results(judged, [asked])[0]
        assert (str(found.metric), found.values.tobytes(), found.mean) == (
            str(asked),
            alone.values.tobytes(),
            alone.mean,
        )
    if metric.measure in CUMULATED and metric["ideal"] != "constant" and len(beyond) > 1:
        assert together[1].values is together[2].values
