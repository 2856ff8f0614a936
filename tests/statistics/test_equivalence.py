"""Two one-sided tests: when they call a difference none, and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import normal, repeats

from ndcg_tracker.asked import checked_margin
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.statistics.t_test import equivalence_test, paired_t

DIFFERENCES = st.lists(st.integers(-20, 20).map(lambda number: number / 20), min_size=2, max_size=40)


@given(DIFFERENCES, st.floats(0.001, 0.5))
def test_p_value_and_interval_agree_and_swapping_changes_nothing(differences: list[float], margin: float) -> None:
    found, back = (equivalence_test(paired_t(sign * np.array(differences)), margin) for sign in (1, -1))
    assert (found.p_value, found.equivalent) == (back.p_value, back.equivalent)
    assert found.equivalent == (found.p_value is not None and found.p_value < 0.05)
    if found.ci is not None and found.p_value is not None and abs(found.p_value - 0.05) > 1e-9:
        assert found.equivalent == (-margin < found.ci[0] and found.ci[1] < margin)


def test_at_the_margin_itself_it_errs_at_most_as_often_as_promised() -> None:
    samples, n = repeats(5000), 100
    differences = normal(np.random.default_rng(1), (samples, n)) + 0.02
    called = sum(equivalence_test(paired_t(delta), 0.02).equivalent for delta in differences)
    assert called / samples <= 0.05 + 0.0102


def test_without_inference() -> None:
    for delta in ([], [0.5], [0.25] * 5):
        found = equivalence_test(paired_t(np.array(delta)), 0.5)
        assert (found.p_value, found.ci, found.equivalent) == (None, None, False)
    assert as_object(found) == {"margin": 0.5, "p_value": None, "ci": None, "equivalent": False}


@pytest.mark.parametrize("margin", [0, -0.01, math.nan, math.inf])
def test_margins_that_are_refused(margin: float) -> None:
    with pytest.raises(InputError) as refusal:
        equivalence_test(paired_t(np.array([0.5, 0.25])), margin)
    assert str(refusal.value) == (
        f"the equivalence margin must be a number above 0, not {margin}; give it in absolute points, such as 0.01"
    )
    assert checked_margin(0.0, "the margin") == 0.0
