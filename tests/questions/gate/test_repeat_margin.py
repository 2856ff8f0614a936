"""A margin learned from repeats: its formula, how often it holds, and what teaches nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import Record, repeats

from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.decide_bounds import learned_margin
from ndcg_tracker.render.formats import as_object

MEANS = st.lists(st.integers(0, 1000).map(lambda number: number / 1000), min_size=3, max_size=12)


def test_the_formula() -> None:
    found = learned_margin(["a", "b", "c"], [0.5, 0.52, 0.51])
    assert found.sd == pytest.approx(0.01)
    assert found.margin == pytest.approx(4.302653 * 0.01 * math.sqrt(2), rel=1e-6)  # t(.975; 2) from a printed table
    assert (found.runs, found.n_pairs, found.level) == (("a", "b", "c"), 3, 0.95)
    assert found.largest == pytest.approx(0.02)
    assert as_object(found)["runs"] == ["a", "b", "c"]


@pytest.mark.parametrize("k", [3, 5, 20])
def test_two_further_repeats_lie_within_it_as_often_as_it_says(k: int, record_property: Record) -> None:
    rng, samples = np.random.default_rng(k), repeats(4000)
    runs, held = [str(number) for number in range(k)], 0
    for means in rng.normal(0.6, 0.004, (samples, k + 2)):
        held += abs(means[-1] - means[-2]) < learned_margin(runs, means[:k].tolist()).margin
    record_property("coverage", float(held / samples))
    assert held / samples == pytest.approx(0.95, abs=3.3 * math.sqrt(0.95 * 0.05 / samples))


@given(MEANS)
def test_no_pair_of_repeats_lies_farther_apart_than_it_says(means: list[float]) -> None:
    runs = [str(number) for number in range(len(means))]
    if max(means) == min(means):
        with pytest.raises(InputError, match=r"^the \d+ repeats have the same mean"):
            learned_margin(runs, means)
        return
    found = learned_margin(runs, means)
    assert found.margin > 0
    assert found.largest == pytest.approx(max(means) - min(means))
    assert learned_margin(runs, means[::-1]).margin == pytest.approx(found.margin)
    assert learned_margin(runs, [mean + 0.25 for mean in means]).margin == pytest.approx(found.margin, rel=1e-6)


def test_three_are_needed() -> None:
    with pytest.raises(InputError) as refusal:
        learned_margin(["a", "b"], [0.5, 0.6])
    assert str(refusal.value) == "learning a margin needs at least 3 repeats, not 2"
