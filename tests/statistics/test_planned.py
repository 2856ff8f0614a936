"""How many groups would decide, against simulation and against SciPy."""

import math

import numpy as np
import pytest
from populations import RATED, Record, repeats
from rates import passes
from scipy.special import nctdtr, stdtrit

from ndcg_tracker.statistics.distribution_free import betting_lower_bound
from ndcg_tracker.statistics.planned import Pilot

SAMPLES = repeats(400)


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.00125])
@pytest.mark.parametrize(
    "name",
    [
        *("normal", "graded, half of them 0", "lambdarank, seed", "TREC-COVID, pmc to pubmed", "exponential losses"),
        *("95% zeros, gains of .2 in 3%, losses of .3 in 2%", "a loss of .49 in 2%", "a loss of .97 in 1%"),
    ],
)
def test_4_in_5_samples_of_so_many_groups_pass(name: str, alpha: float, record_property: Record) -> None:
    delta = RATED[name].samples(np.random.default_rng(3), (1, 400))[0].clip(-1, 1)
    n = Pilot.of(delta).groups_for(0.03, alpha)
    assert n is not None
    unchanged = np.where(delta != 0, delta - delta.sum() / np.count_nonzero(delta), 0.0).clip(-1, 1)
    share = float(passes(np.random.default_rng(5).choice(unchanged, (SAMPLES, n)), 0.03, alpha=alpha).mean())
    record_property("groups", n)
    record_property("PASS", share)
    chance = 3.3 * math.sqrt(0.8 * 0.2 / SAMPLES)
    assert 0.74 - chance <= share <= 0.96  # where t asks for so many groups, more than 4 in 5 pass


def test_by_t_it_is_noncentral_t() -> None:
    pilot = Pilot.of(np.tile([0.5, -0.5], 500))
    for n in (400, 1000):
        exact = 1 - nctdtr(n - 1, 0.05 * math.sqrt(n) / pilot.sd, stdtrit(n - 1, 0.95))
        assert pilot.share_found(n, 0.05) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_zeros_need_as_many_as_their_bound_says(margin: float) -> None:
    n = Pilot.of(np.zeros(9)).groups_for(margin)
    assert n is not None
    assert betting_lower_bound(np.zeros(n + 2)) > -margin >= betting_lower_bound(np.zeros(n - 2))


def test_weights_count_by_their_share_and_equal_ones_do_not() -> None:
    delta = RATED["exponential losses"].samples(np.random.default_rng(1), (1, 300))[0]
    plain = Pilot.of(delta).groups_for(0.02)
    assert Pilot.of(delta, np.full(300, 3.0)).groups_for(0.02) == plain
    weighted = Pilot.of(delta, np.random.default_rng(2).uniform(0.5, 2, 300)).groups_for(0.02)
    assert weighted is not None
    assert plain is not None
    assert plain < weighted < 2 * plain
    assert Pilot.of(delta[::-1]).groups_for(0.02) == plain


def test_what_no_number_of_groups_shows() -> None:
    pilot = Pilot.of(np.repeat([3.0, -3.0, 0.0], [2, 2, 6]), reach=math.inf)
    assert pilot.groups_for(0.0) is None
    assert pilot.groups_for(-0.1) is None
    assert pilot.groups_for(1e-9) is None
    assert Pilot.of(np.zeros(9), reach=math.inf).groups_for(0.1) is None
    assert pilot.share_found(100, 1.0) == 0.0  # too few differ for t, and nothing bounds them for a bet
    assert pilot.share_found(1000, 1.0) > 0.99
    assert Pilot.of(np.zeros(9)).groups_for(1.0) == 1


def test_more_groups_promise_more() -> None:
    pilot = Pilot.of(RATED["exponential losses"].samples(np.random.default_rng(1), (1, 300))[0])
    promised = [pilot.promised(n) for n in (20, 40, 100, 300, 1000, 10_000)]
    assert promised == sorted(promised, reverse=True)
    assert pilot.turned.turned.promised(300) == pilot.promised(300)
    assert pilot.groups_for(promised[2]) == pytest.approx(100, abs=1)
