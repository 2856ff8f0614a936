"""The mean difference of all queries, from the exact differences of some that were drawn."""

import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from drawn_rates import tail
from hypothesis import assume, given
from hypothesis import strategies as st
from populations import Floats
from scipy import stats

from ndcg_tracker.statistics.drawn_queries import (
    LEVELS_OF_LOOKS,
    DrawnMean,
    DrawnQueries,
    draw_order,
    stakes_of,
    without_asking,
    worth_of_holes,
)


def some_queries(seed: int, n: int = 12, n_others: int = 20, n_known: int = 8, n_left_out: int = 0) -> DrawnQueries:
    rng = np.random.default_rng(seed)
    y = rng.normal(0.05, 0.3, n).round(3)
    control = 0.6 * y + rng.normal(0, 0.2, n).round(3)
    others, known = rng.normal(0, 0.3, n_others).round(3), rng.normal(0.02, 0.1, n_known).round(3)
    stakes = rng.random(n + n_others).round(3)
    return DrawnQueries(y, control, others, stakes, known, stakes[:n_left_out])


queries = st.builds(
    some_queries,
    st.integers(0, 2**32),
    st.integers(3, 40),
    st.integers(1, 60),
    st.integers(0, 40),
    st.integers(0, 5),
)


def written_plainly(of: DrawnQueries, n_clusters: float | None = None) -> tuple[float, float, float]:
    """Return the estimate and its bounds at .05 and .01, as the design has them."""
    y, j, n, r = of.answered, of.control, of.answered.size, of.n_open
    every = [*j, *of.others]
    total = r + len(of.known)
    share = r / total
    var_j = np.var(every, ddof=1)
    drawn = np.cov(y, j)
    lam = min(max((drawn[0, 1] * (n - 1) + 5 * var_j) / (drawn[1, 1] * (n - 1) + 5 * var_j), 0), 1.2)
    e = [a - lam * b for a, b in zip(y, j, strict=True)]
    mean = sum(e) / n + lam * sum(every) / r
    estimate = share * mean + sum(of.known) / total
    s2 = sum((x - sum(e) / n) ** 2 for x in e) / (n - 2)
    spread = max(np.var(y, ddof=1), var_j)
    most = np.mean(sorted(of.stakes)[-math.ceil(2.5 * r / n) :])
    m = len(of.left_out)
    h = share * (max(spread**0.5, most) / (n + 1) * (1 - n / r) ** 0.5 + sum(of.left_out) / (n + m))
    of_known = np.var(of.known) if len(of.known) else 0
    apart = (mean - np.mean(of.known)) ** 2 if len(of.known) else 0
    between = share * spread + (1 - share) * of_known + share * (1 - share) * apart
    error = (s2 * (1 / n - 1 / r) * share**2 + between / (n_clusters or total) + h * h) ** 0.5
    return (
        estimate,
        estimate - h - stats.t.ppf(0.95, n - 2) * error,
        estimate + h + stats.t.ppf(0.99, n - 2) * error,
    )


@given(queries, st.sampled_from([None, [4, 4, 4, 4, 4], [6, 1, 1, 1, 1]]))
def test_estimate_and_bounds_are_those_of_the_formula(of: DrawnQueries, sizes: list[int] | None) -> None:
    found = replace(of, cluster_sizes=None if sizes is None else np.array(sizes)).mean()
    wanted = written_plainly(of, sizes and {4: 5.0, 6: 2.5}[sizes[0]])
    assert (found.estimate, found.lower(), found.upper()) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@given(queries, st.integers(0, 2**32))
def test_the_order_of_the_queries_changes_no_bit(of: DrawnQueries, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(of.answered.size)
    rest = (rng.permutation(part) for part in (of.others, of.stakes, of.known, of.left_out))
    again = DrawnQueries(of.answered[order], of.control[order], *rest)
    assert again.mean() == of.mean()


@given(queries, st.sampled_from([2.0**-1000, 0.25, 8.0, 2.0**900]))
def test_another_scale_of_the_metric_scales_all_but_the_weight(of: DrawnQueries, scale: float) -> None:
    parts = (of.answered, of.control, of.others, of.stakes, of.known, of.left_out)
    one, scaled = of.mean(), DrawnQueries(*(scale * part for part in parts)).mean()
    assert scaled == DrawnMean(scale * one.estimate, one.weight, scale * one.allowance, scale * one.error, one.df)
    assert scaled.p_value() == one.p_value()


@given(queries)
def test_exchanged_runs_mirror_the_estimate_and_with_the_same_stakes_the_bounds(of: DrawnQueries) -> None:
    one = of.mean()
    other = DrawnQueries(-of.answered, -of.control, -of.others, of.stakes, -of.known, of.left_out).mean()
    assert other.estimate == pytest.approx(-one.estimate, abs=1e-12)
    assert other.lower(0.03) == pytest.approx(-one.upper(0.03))
    assert astuple(other)[1:] == pytest.approx(astuple(one)[1:])


@given(queries)
def test_complete_answers_leave_nothing_to_the_control(of: DrawnQueries) -> None:
    whole = DrawnQueries(of.answered, of.control, np.empty(0), of.stakes[: of.answered.size], of.known)
    found, every = whole.mean(), np.concatenate([of.answered, of.known])
    assert whole.is_complete
    assert whole.decides()
    assert not of.is_complete
    assert found.estimate == pytest.approx(every.mean())
    assert found.allowance == 0
    spread = max(of.answered.var(ddof=1), of.control.var(ddof=1)) - of.answered.var()
    share = of.answered.size / every.size
    assert found.error**2 == pytest.approx((every.var() + share * spread) / every.size)


@given(queries)
def test_bounds_interval_and_probabilities_agree(of: DrawnQueries) -> None:
    found = of.mean()
    assume(found.df >= 2)
    for level in (0.05, 0.01, 0.0025):
        assert tail(found, found.estimate - found.lower(level)) == pytest.approx(level)
        assert tail(found, found.upper(level) - found.estimate) == pytest.approx(level)
    assert found.interval == (found.lower(0.025), found.upper(0.025))
    p_value = found.p_value()
    assert p_value is not None
    if p_value < 1:
        ends = found.lower(p_value / 2), found.upper(p_value / 2)
        assert min(map(abs, ends)) == pytest.approx(0, abs=1e-9)
    else:
        assert abs(found.estimate) <= found.allowance
    (low, high) = found.interval
    assert (low > 0 or high < 0) == (p_value < 0.05)


@given(queries)
def test_more_at_stake_more_left_out_and_fewer_clusters_widen_both_bounds(of: DrawnQueries) -> None:
    one = of.mean()
    wider = (
        replace(of, stakes=of.stakes + 1),
        replace(of, left_out=np.append(of.left_out, 1)),
        replace(of, cluster_sizes=np.full((of.n_open + of.known.size) // 2, 2)),
    )
    for other in wider:
        found = other.mean()
        assert found.estimate == one.estimate
        assert found.lower() < one.lower()
        assert found.upper() > one.upper()


@given(queries, st.integers(2, 40))
def test_among_several_tests_the_allowance_grows_with_the_logarithm_of_their_number(of: DrawnQueries, n: int) -> None:
    found = of.mean()
    longer = replace(found, allowance=found.allowance * math.log(20 * n) / math.log(20))
    assert found.p_value(n) == pytest.approx(longer.p_value())
    assert tail(found, 0.02, n) >= tail(found, 0.02)


def test_a_control_that_tells_nothing_weighs_little_and_a_perfect_one_leaves_the_sample_of_queries() -> None:
    rng = np.random.default_rng(3)
    y, others = rng.normal(size=60), rng.normal(size=200)
    without = DrawnQueries(y, rng.normal(size=60), others, np.zeros(260), np.empty(0)).mean()
    assert without.weight < 0.3
    perfect = DrawnQueries(y, y, others, np.zeros(260), np.empty(0)).mean()
    assert perfect.weight == pytest.approx(1)
    assert perfect.estimate == pytest.approx(np.concatenate([y, others]).mean(), abs=0.03)
    assert perfect.error < 0.7 * without.error
    same = DrawnQueries(y, np.full(60, 0.1), np.full(200, 0.1), np.zeros(260), np.empty(0)).mean()
    assert same.weight == 1
    assert same.estimate == pytest.approx(y.mean())


@pytest.mark.parametrize("n", [0, 1, 2])
def test_below_three_drawn_queries_there_is_an_estimate_and_no_inference(n: int) -> None:
    y, none = np.array([0.5, 0.25])[:n], np.empty(0)
    of = DrawnQueries(y, y - 0.25, np.array([0.5, -0.5]), np.zeros(n + 2), none)
    found = of.mean()
    assert found.interval is None
    assert found.p_value() is None
    assert (found.lower(), found.upper()) == (-math.inf, math.inf)
    without_asking = np.concatenate([y - 0.25, [0.5, -0.5]]).mean()
    assert found.estimate == pytest.approx(without_asking + (0.25 if n else 0), abs=0.03)


def test_where_nothing_varies_there_is_no_p_value() -> None:
    drawn, none = np.full(30, 0.1), np.empty(0)
    equal = DrawnQueries(drawn, drawn, np.full(9, 0.1), np.zeros(39), none).mean()
    assert equal.p_value() is None
    assert equal.interval is None
    assert equal.lower() == pytest.approx(0.1)
    tied = DrawnQueries(np.zeros(30), np.zeros(30), np.zeros(9), np.zeros(39), np.zeros(5)).mean()
    assert (tied.estimate, tied.lower(), tied.upper(), tied.p_value()) == (0, 0, 0, None)
    at_stake = DrawnQueries(np.zeros(30), np.zeros(30), np.zeros(9), np.ones(39), np.zeros(5)).mean()
    assert at_stake.lower() < 0
    assert at_stake.p_value() == 1


def drawn_of(n: int, n_others: int, n_left_out: int = 0, apart: int = 30) -> DrawnQueries:
    y = np.where(np.arange(n) < apart, 0.5, 0.0)
    return DrawnQueries(y, y, np.zeros(n_others), np.zeros(n + n_others), np.zeros(3), np.zeros(n_left_out))


def test_thirty_drawn_queries_decide_or_all_that_are_open() -> None:
    assert [drawn_of(n, 50).n_missing for n in (0, 29, 30, 40)] == [30, 1, 0, 0]
    assert [drawn_of(n, 20 - n).n_missing for n in (0, 19, 20)] == [20, 1, 0]
    assert [drawn_of(n, 20 - n).decides() for n in (19, 20)] == [False, True]
    assert [drawn_of(n, 50).decides() for n in (29, 30)] == [False, True]


def test_more_than_one_in_eight_left_out_do_not_decide() -> None:
    assert [drawn_of(35, 50, m).decides() for m in (5, 6)] == [True, False]
    assert [drawn_of(35, 50, m).are_many_left_out for m in (5, 6)] == [False, True]


def test_success_needs_five_drawn_queries_that_differ() -> None:
    assert [drawn_of(30, 50, apart=apart).decides(least_apart=5) for apart in (4, 5)] == [False, True]
    assert drawn_of(30, 0, apart=0).decides(least_apart=5)


def test_what_does_not_fit_is_refused() -> None:
    three, none = np.zeros(3), np.empty(0)
    for parts in (
        (none, none, none, none, none),
        (three, none, three, np.zeros(6), none),
        (three, three, three, three, none),
        (three, np.full(3, np.nan), three, np.zeros(6), none),
    ):
        with pytest.raises(ValueError, match=r"query|finite"):
            DrawnQueries(*parts).mean()


def test_the_levels_of_all_looks_are_five_percent() -> None:
    assert sum(LEVELS_OF_LOOKS) == pytest.approx(0.05)


def test_the_order_of_two_queries_depends_on_them_and_the_seed_alone() -> None:
    ids = [f"q{number}".encode() for number in range(500)]
    ordered = [ids[place] for place in draw_order("shop", ids)]
    assert sorted(ordered) == sorted(ids)
    some = ids[100:300][::-1]
    assert [some[place] for place in draw_order("shop", some)] == [name for name in ordered if name in set(some)]
    assert [ids[place] for place in draw_order("shop 2", ids)] != ordered
    assert draw_order("shop", []).size == 0
    places = np.argsort(draw_order("shop", ids))
    assert abs(np.corrcoef(places, np.arange(500))[0, 1]) < 0.15
    assert draw_order("\ud800", ids[:3]).size == 3  # no text is refused


def test_a_hole_is_worth_half_of_its_rank_scaled_by_its_query() -> None:
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(200), 4)
    ranks = np.tile([1, 2, 3, 0], 200), np.tile([0, 3, 1, 2], 200)
    rich = groups % 2 == 0
    gains = np.where(rich, 3.0, 1.0)
    holes = rng.random(groups.size) < 0.25
    found = worth_of_holes(groups, ranks, np.where(holes, np.nan, gains))
    assert found[~holes] == pytest.approx(gains[~holes])
    assert 0.5 < found[holes & ~rich].mean() < 0.9 < 1.1 < found[holes & rich].mean() < 1.5
    nothing = worth_of_holes(groups, ranks, np.where(holes, np.nan, 0.0))
    assert nothing.tolist() == [0.0] * groups.size
    assert worth_of_holes(groups, ranks, np.full(groups.size, np.nan)).tolist() == [0.0] * groups.size


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=8), st.floats(0.5, 4))
def test_gains_of_another_unit_give_holes_of_another_unit(items: list[tuple[int, int, int]], unit: float) -> None:
    groups, a, gains = (np.array([item[place] for item in items]) for place in range(3))
    b = a[::-1]
    known: Floats = np.where(gains == 3, np.nan, gains.astype(np.float64))
    assert worth_of_holes(groups, (a, b), unit * known) == pytest.approx(unit * worth_of_holes(groups, (a, b), known))


def test_the_cost_is_what_open_items_can_take() -> None:
    def values(gains: Floats) -> tuple[Floats, Floats]:  # items 0 and 1 are in A, 1 and 2 in B
        return np.array([gains[0] + gains[1] / 2]), np.array([gains[1] / 2 + gains[2]])

    lead, every = np.array([-1.0, 0.0, 1.0]), np.ones(3, dtype=np.bool_)
    found = without_asking(values, np.array([1.0, 2.0, 3.0]), every, lead, 3.0)
    assert [part.tolist() for part in found] == [[2.0], [2.0], [5.0]]  # 2 more of item 0, and 3 less of item 2
    found = without_asking(values, np.array([1.0, 4.0, 0.5]), every & (lead > 0), lead, 9.0)
    assert [part.tolist() for part in found] == [[-0.5], [3.0], [0.5]]
    found = without_asking(values, np.array([2.0, 0.0, 0.0]), every, lead, 1.0)
    assert found[2].tolist() == [0.0]  # a guess above the greatest gain is nothing to lose


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 2)), min_size=1, max_size=9), st.floats(0, 1))
def test_the_stake_is_at_most_the_cost_and_as_a_has_by_people_or_without_asking(
    pairs: list[tuple[float, float]], answered: float
) -> None:
    values, costs = (np.array([pair[place] for pair in pairs]) for place in (0, 1))
    found = stakes_of(values, costs, np.array([answered, answered]))
    assert found.tolist() == [max(min(max(value, answered), cost), 0.0) for value, cost in pairs]
    assert stakes_of(values, costs, np.empty(0)).tolist() == np.minimum(np.maximum(values, 0), costs).tolist()
