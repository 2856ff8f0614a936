"""The items that tell two runs apart: their weights times their gains are the difference of each group."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rankings_of import Run, labels_of, ranking_of
from sums_of_items import some_labels, some_run

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.contributions import gains_of, items_apart
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.join import judged

TEXTS = (
    "ndcg@3", "ndcg", "ndcg(gain=exp2)@5", "ndcg(ties=average)@3", "ndcg(ideal_cut=none)@2", "dcg@3",
    "dcg(discount=ln)", "cg@2", "P@3", "P(rel=2)@3", "RBP(p=0.5)@4",
)  # fmt: skip


@given(some_run, some_run, some_labels, st.sampled_from(TEXTS))
def test_weights_times_gains_are_the_difference_of_each_group(one: Run, other: Run, labels: Run, text: str) -> None:
    metric, lists = parse_metric(text), labels_of(labels)
    assume(metric.measure != "ndcg" or (gains_of(metric, lists.grades) > 0).any())
    sides = [judged(ranking_of(run), lists) for run in (one, other)]
    apart = items_apart(sides[0], sides[1], metric)
    gains = np.where(np.isnan(apart.grades), 0.0, gains_of(metric, np.nan_to_num(apart.grades)))
    delta = np.bincount(apart.groups, apart.weights * gains, lists.n_groups)
    values = [group_values(side, [metric])[0].values[: lists.n_groups] for side in sides]
    assert delta == pytest.approx(np.nan_to_num(values[1]) - np.nan_to_num(values[0]), abs=1e-12)
    assert (np.abs(apart.weights) > 1e-13).all()
    assert (np.diff(apart.groups) >= 0).all()


def test_a_group_in_which_the_labels_find_nothing_counts() -> None:
    lists = labels_of({"q": {"a": 2.0, "b": 0.0}, "r": {"a": 0.0}})
    runs = [{"q": {"a": 2.0}, "r": {"a": 2.0, "x": 1.0}}, {"q": {"a": 2.0}, "r": {"x": 2.0, "a": 1.0}}]
    sides = [judged(ranking_of(run), lists) for run in runs]
    apart = items_apart(sides[0], sides[1], parse_metric("ndcg@10"))
    assert apart.n_without_ideal == 1
    assert apart.keys.to_list() == ["a", "x"]
    step = (1 / np.log2(3) - 1) / 2.0  # 2 is the least positive gain
    assert apart.weights == pytest.approx([step, -step])
    assert apart.grades[0] == 0
    assert np.isnan(apart.grades[1])


def test_labels_that_find_nothing_anywhere_have_no_ideal() -> None:
    both = judged(ranking_of({"q": {"a": 1.0}}), labels_of({"q": {"a": 0.0}}))
    with pytest.raises(MetricError) as caught:
        items_apart(both, both, parse_metric("ndcg@10"))
    assert str(caught.value) == "no label has a gain, so ndcg@10 has no ideal; use labels with a relevant item"
