"""How many groups PASS an unchanged system with 80% power, by the bound that decides, at far levels too."""

import numpy as np
import pytest
from populations import RATED, Floats, Record, repeats
from rates import Columns, passes
from scipy.special import nctdtr, stdtrit

from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance
from ndcg_tracker.questions.gate.decide_bounds import GroupsToPass, groups_to_pass
from ndcg_tracker.statistics.t_test import groups_with_power, t_test

SAMPLES = repeats(400)
FAR = 0.05 / 40


def needed(
    delta: Floats, margin: float, alpha: float, weights: Floats | None = None, chance: Chance = GROUPS_ONLY
) -> GroupsToPass | None:
    """Return what a gate would say of these differences."""
    return groups_to_pass(chance.test(delta, weights)[0], delta, weights, margin, alpha, chance=chance)


def power(delta: Floats, n: int, margin: float, alpha: float) -> float:
    """Return how often n groups like these PASS, moved so that nothing differs on average; zeros stay."""
    unchanged = np.where(delta != 0, delta - delta.sum() / np.count_nonzero(delta), 0.0).clip(-1, 1)
    rng = np.random.default_rng(5)
    rows = rng.choice(unchanged, (SAMPLES, n))
    return float(passes(rows, margin, columns=Columns.of(rows), alpha=alpha).mean())


@pytest.mark.parametrize(
    ("name", "n", "margin", "alpha", "method"),
    [
        ("normal", 400, 0.02, FAR, "t"),
        ("normal", 400, 0.02, 0.0001, "t"),
        ("graded, half of them 0", 400, 0.04, FAR, "t"),
        ("lambdarank, seed", 1000, 0.01, FAR, "betting"),
        ("TREC-COVID, pmc to pubmed", 400, 0.02, FAR, "betting"),
        ("exponential losses", 400, 0.02, FAR, "betting"),
        ("95% zeros, gains of .2 in 3%, losses of .3 in 2%", 400, 0.02, FAR, "betting"),
        ("a loss of .49 in 2%", 400, 0.02, 0.0001, "betting"),
        ("a loss of .97 in 1%", 400, 0.02, FAR, "betting"),
    ],
)
def test_so_many_pass_with_80_percent_power(
    name: str, n: int, margin: float, alpha: float, method: str, record_property: Record
) -> None:
    delta = RATED[name].samples(np.random.default_rng(3), (1, n))[0].clip(-1, 1)
    found = needed(delta, margin, alpha)
    assert found is not None
    assert found.method == method
    reached = power(delta, found.n, margin, alpha)
    record_property("groups", found.n)
    record_property("power", reached)
    chance = 3.3 * (0.2 * 0.8 / SAMPLES) ** 0.5
    assert 0.75 - chance <= reached <= 0.85 + chance


def test_t_needs_2_4_times_the_groups_of_a_single_look() -> None:
    """At level .05 / 40, and 3.4 times at .0001."""
    many = t_test(1000, 0.0, 0.138)
    single, far, farther = (groups_with_power(0.001, many, alpha) for alpha in (0.05, FAR, 0.0001))
    assert single is not None
    assert far is not None
    assert farther is not None
    assert (round(far / single, 1), round(farther / single, 1)) == (2.4, 3.4)


@pytest.mark.parametrize("alpha", [0.05, FAR, 0.0001])
@pytest.mark.parametrize("sd", [0.05, 0.14, 0.4])
def test_it_is_the_first_number_with_the_power(alpha: float, sd: float) -> None:
    n = groups_with_power(0.02, t_test(1000, 0.0, sd), alpha)
    assert n is not None
    reached = [1 - nctdtr(k - 1, 0.02 * k**0.5 / sd, stdtrit(k - 1, 1 - alpha)) for k in (n - 1, n)]
    assert reached[0] < 0.80005 + 1e-9
    assert reached[1] > 0.7999
    assert reached[0] < reached[1]


def test_groups_in_another_order_need_as_many() -> None:
    delta = RATED["exponential losses"].samples(np.random.default_rng(1), (1, 300))[0]
    weights = np.random.default_rng(2).uniform(0.5, 2, 300)
    order = np.random.default_rng(3).permutation(300)
    assert needed(delta, 0.02, FAR) == needed(delta[order], 0.02, FAR)
    weighted = needed(delta, 0.02, FAR, weights)
    assert weighted == needed(delta[order], 0.02, FAR, weights[order])
    plain = needed(delta, 0.02, FAR)
    assert plain is not None
    assert weighted is not None
    assert plain.method == weighted.method == "betting"
    assert plain.n < weighted.n < 2 * plain.n
    equal = needed(delta, 0.02, FAR, np.full(300, 3.0))
    assert equal is not None
    assert equal.n == pytest.approx(plain.n, rel=0.1)


def test_clusters_of_equal_groups_need_as_many_clusters() -> None:
    """By betting bounds and by t; the number told is that of groups."""
    for name, method in (("normal", "t"), ("a loss of .49 in 2%", "betting")):
        delta = RATED[name].samples(np.random.default_rng(1), (1, 300))[0]
        clusters = Chance(clusters=np.repeat(np.arange(300), 2))
        single, double = needed(delta, 0.02, FAR), needed(np.repeat(delta, 2), 0.02, FAR, chance=clusters)
        assert single is not None
        assert double is not None
        assert single.method == double.method == method
        assert double.n == pytest.approx(2 * single.n, rel=0.05)


def test_where_a_million_are_not_enough_or_nothing_varies() -> None:
    delta = RATED["normal"].samples(np.random.default_rng(1), (1, 300))[0]
    assert needed(delta, 0.0001, FAR) is None
    zeros = needed(np.zeros(50), 0.02, FAR)
    assert zeros is not None
    assert zeros.method == "betting"
    assert 300 < zeros.n < 450
    unlimited = groups_to_pass(GROUPS_ONLY.test(3 * delta, None)[0], 30 * delta, None, 0.02, FAR)
    assert unlimited is not None
    assert unlimited.method == "t"
