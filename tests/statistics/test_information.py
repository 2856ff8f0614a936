"""The rule for low information, at its limits."""

import numpy as np
import pytest

from ndcg_tracker.compare.estimate import low_information
from ndcg_tracker.statistics.t_test import Information, information_in


@pytest.mark.parametrize(
    ("known", "is_low"),
    [
        (Information(300, 0, 0.0), False),
        (Information(300, 24, 0.0), True),
        (Information(300, 25, 0.0), False),
        (Information(100, 100, -1.99), False),
        (Information(100, 100, -2.01), True),
        (Information(102, 102, -2.01), False),
    ],
    ids=["nothing differs", "24", "25", "skewed just not", "skewed", "skewed, but of enough groups"],
)
def test_the_limit_of_two_sides(known: Information, is_low: bool) -> None:
    assert known.is_low == is_low == (low_information(known) is not None)


@pytest.mark.parametrize(
    ("known", "alpha", "is_low", "enough"),
    [
        (Information(300, 0, 0.0), 0.05, False, 0),
        (Information(300, 149, 0.0), 0.05, True, 321),
        (Information(300, 150, 0.0), 0.05, False, 319),
        (Information(300, 229, 0.0), 0.01, True, 312),
        (Information(300, 230, 0.0), 0.01, False, 311),
        (Information(300, 300, 0.0), 0.001, True, 691),
        (Information(400, 400, 1.99), 0.01, False, 397),
        (Information(400, 400, -2.01), 0.01, True, 405),
        (Information(1000, 1000, -0.40), 0.0001, False, 962),
        (Information(1000, 1000, -0.42), 0.0001, True, 1060),
    ],
    ids=[
        *("nothing differs", "149", "150", "229", "230", "a tenth of that level", "skewed just not", "skewed"),
        *("skewed just not for a far tail", "skewed for a far tail"),
    ],
)
def test_the_limits_of_one_side(known: Information, alpha: float, is_low: bool, enough: int) -> None:
    assert known.is_low_at(alpha) == is_low
    assert known.groups_for(alpha) == enough


def test_weights_count_by_their_pull() -> None:
    delta = np.array([0.5, -0.5, 0.25, 0.0, 9.0])
    weighted = information_in(delta, np.array([1.0, 1.0, 0.0, 2.0, 0.0]))
    assert (weighted.n, weighted.n_nonzero, weighted.skewness) == (3, 2, 0.0)
    assert information_in(delta, np.full(5, 2.0)).skewness == pytest.approx(information_in(delta).skewness, rel=1e-12)
    assert information_in(np.zeros(0)) == information_in(np.zeros(2), np.zeros(2)) == Information(0, 0, 0.0)
