"""What a set of few groups can show: the drop that a tolerance stops, from the differences of two runs."""

import math

import pytest

from ndcg_tracker.statistics.small_sets import (
    TOLERANCE,
    Spread,
    allowed_drop,
    drop_stopped,
    equal_stopped,
    stopping_edge,
    typical,
)


@pytest.mark.parametrize(
    ("flipped", "drops"), [(0.10, [0.150, 0.084, 0.062, 0.053, 0.046]), (0.05, [0.143, 0.076, 0.054, 0.047, 0.041])]
)
def test_drops_of_hits_that_are_stopped_by_share_of_queries_that_flip(flipped: float, drops: list[float]) -> None:
    """Values from a calculation by hand (mean d^2 = the share that flips, tail 1)."""
    found = [
        drop_stopped(Spread(flipped, 1.0, is_count=True), n, allowed_drop(TOLERANCE, n, is_count=True))
        for n in (20, 40, 60, 100, 150)
    ]
    assert [round(drop, 3) for drop in found] == drops


def test_the_spread_comes_from_the_differences() -> None:
    found = Spread.of([0.5, -0.25, 0.0, 0.0], is_count=False)
    assert found is not None
    assert found.square == 0.3125 / 4
    assert found.sd == math.sqrt(0.3125 / 4)
    assert found.tail == (0.5**4 + 0.25**4) / 0.3125
    assert Spread.of([0.0, 0.0], is_count=True) is None
    assert Spread.of([], is_count=True) is None


def test_one_query_of_hits_may_always_be_lost_unless_nothing_may() -> None:
    assert allowed_drop(0.02, 40, is_count=True) == 1 / 40
    assert allowed_drop(0.02, 150, is_count=True) == 0.02
    assert allowed_drop(0.0, 40, is_count=True) == 0.0
    assert stopping_edge(0.02, 150, is_count=True) == 3.5 / 150
    assert stopping_edge(0.0, 40, is_count=True) == 0.5 / 40


def test_the_share_of_equal_candidates_that_is_stopped() -> None:
    """The table of typical hits for 40 queries: a small change, a usual one, another model."""
    shares = [equal_stopped(spread, 40, 1 / 40) for spread in typical("hit").values()]
    assert [round(share, 2) for share in shares] == [0.05, 0.14, 0.25]


def test_more_queries_show_smaller_drops_and_wider_spreads_hide_them() -> None:
    for kind in ("hit", "RR", "R", "ndcg"):
        spreads = list(typical(kind).values())
        drops = [[drop_stopped(spread, n, TOLERANCE) for n in (20, 100, 1000, 10_000)] for spread in spreads]
        assert all(row == sorted(row, reverse=True) for row in drops)
        assert all(column == sorted(column) for column in map(list, zip(*drops, strict=True)))
