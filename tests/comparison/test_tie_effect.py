"""What ties in scores may do to a verdict."""

import pytest

from ndcg_tracker.comparison import TieBounds, TieEffect

CLOSED = TieBounds(0.5, 0.5)


@pytest.mark.parametrize(
    ("effect", "verdict", "delta", "ci", "could"),
    [
        (TieEffect(CLOSED, CLOSED), "improved", 0.1, (0.01, 0.19), False),
        (TieEffect(CLOSED, TieBounds(0.55, 0.65)), "improved", 0.1, (0.06, 0.14), False),
        (TieEffect(CLOSED, TieBounds(0.55, 0.65)), "improved", 0.1, (0.04, 0.16), True),
        (TieEffect(TieBounds(0.5, 0.7), CLOSED), "regressed", -0.1, (-0.2, -0.05), True),
        (TieEffect(TieBounds(0.58, 0.7), CLOSED), "regressed", -0.1, (-0.2, -0.05), False),
        (TieEffect(CLOSED, TieBounds(0.5, 0.7)), "no_difference_detected", 0.05, (-0.05, 0.15), True),
        (TieEffect(CLOSED, TieBounds(0.54, 0.56)), "no_difference_detected", 0.05, (-0.05, 0.15), False),
        (TieEffect(TieBounds(0.4, 0.6), TieBounds(0.4, 0.6)), "identical", 0.0, None, True),
        (TieEffect(CLOSED, TieBounds(0.5, 0.6)), "identical", 0.0, None, False),
        (TieEffect(CLOSED, TieBounds(0.4, 0.6)), "no_difference_detected", 0.1, None, True),
        (TieEffect(CLOSED, TieBounds(0.4, 0.6)), "not_comparable", None, None, False),
    ],
)
def test_could_change(
    effect: TieEffect, verdict: str, delta: float | None, ci: tuple[float, float] | None, could: bool
) -> None:
    assert effect.could_change(verdict, delta, ci) is could


def test_the_range_of_delta() -> None:
    effect = TieEffect(TieBounds(0.25, 0.5), TieBounds(0.5, 1.0))
    assert effect.delta == (0.0, 0.75)
    assert effect.is_open
    assert not TieEffect(CLOSED, TieBounds(0.5, 0.5 + 1e-14)).is_open
