"""What a set of few groups can show: the drops that a tolerance stops, and the differences that are usual.

Plain Python on the standard library alone, so that a check of a golden set starts fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

TOLERANCE = 0.02
"""The drop of the mean that is allowed by default."""
Change = Literal["small change", "usual", "another model"]
Kind = Literal["hit", "RR", "R", "ndcg"]
_FOUR_IN_FIVE = 0.8416212335729143  # the normal quantile of .8
_ROUNDS = 60  # each halves the error or better


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the groups of two runs differ, as far as the drops that are stopped depend on it.

    ``square``: the mean of d^2. ``tail``: the mean of d^4 / the mean of d^2, the part of d^2 that grows with the drop.
    ``is_count``: whether every difference is -1, 0 or 1, as for hit@5. ``differ``: the share of groups that differ.
    """

    square: float
    tail: float
    is_count: bool = False
    differ: float = 1.0

    @property
    def sd(self) -> float:
        """The standard deviation of the differences of two equally good runs."""
        return math.sqrt(self.square)

    @classmethod
    def of(cls, differences: Iterable[float], *, is_count: bool) -> Spread | None:
        """Return the spread of differences; None if nothing differs.

        >>> Spread.of([1.0, 0.0, 0.0, -1.0], is_count=True)
        Spread(square=0.5, tail=1.0, is_count=True, differ=0.5)
        """
        squares = [difference * difference for difference in differences]
        total = math.fsum(squares)
        if not total:
            return None
        tail, differ = math.fsum(square * square for square in squares) / total, sum(map(bool, squares)) / len(squares)
        return cls(total / len(squares), tail, is_count, differ)


# standard deviation and tail of differences, and the share that differs, by how much changed; they may err by half
_TYPICAL: dict[Kind, tuple[tuple[float, float, float], ...]] = {
    "hit": ((0.14, 1, 0.02), (0.22, 1, 0.05), (0.35, 1, 0.12)),
    "RR": ((0.09, 0.26, 0.13), (0.15, 0.33, 0.20), (0.23, 0.52, 0.29)),
    "R": ((0.09, 0.6, 0.045), (0.14, 0.6, 0.08), (0.20, 0.6, 0.17)),
    "ndcg": ((0.075, 0.13, 0.29), (0.13, 0.18, 0.41), (0.20, 0.40, 0.56)),
}
KIND_OF: dict[str, Kind] = {"Success": "hit", "RR": "RR", "R": "R", "ndcg": "ndcg"}
"""The measures whose typical differences are known."""


def typical(kind: Kind) -> dict[Change, Spread]:
    """Return how far runs usually differ: after tuning, after another reranker or other chunks, under another model.

    >>> {change: round(spread.sd, 3) for change, spread in typical("ndcg").items()}
    {'small change': 0.075, 'usual': 0.13, 'another model': 0.2}
    """
    changes: tuple[Change, ...] = ("small change", "usual", "another model")
    each = zip(changes, _TYPICAL[kind], strict=True)
    return {change: Spread(sd * sd, tail, kind == "hit", differ) for change, (sd, tail, differ) in each}


def allowed_drop(tolerance: float, n: int, *, is_count: bool) -> float:
    """Return the drop that a tolerance allows a mean of n groups: of 0/1 values one may always be lost, net.

    >>> allowed_drop(0.02, 40, is_count=True), allowed_drop(0.02, 40, is_count=False), allowed_drop(0, 9, is_count=True)
    (0.025, 0.02, 0)
    """
    return max(tolerance, 1 / n) if is_count and tolerance else tolerance


def stopping_edge(allowed: float, n: int, *, is_count: bool) -> float:
    """Return where a drop begins to be stopped, as the normal distribution sees it: between two counts of 0/1 values.

    >>> stopping_edge(0.025, 40, is_count=True), stopping_edge(0.02, 40, is_count=False)
    (0.0375, 0.02)
    """
    return (math.floor(allowed * n + 1e-9) + 0.5) / n if is_count else allowed


def drop_stopped(spread: Spread, n: int, allowed: float) -> float:
    """Return the true drop D that is stopped 4 times in 5 if the mean of n groups may fall by ``allowed``.

    D = T + .8416 sqrt((sqrt(s^4 + K D^2) - D^2) / n), where s^2 is the mean of the squared differences of two equally
    good runs, K their tail, and T the ``stopping_edge``. The spread grows with the drop: differences tilted to a mean
    of -D. Source: an expansion of the tilted variance; within 10% of simulation in tests/statistics/test_small_sets.py.

    >>> hits, n = Spread(0.1, 1.0, is_count=True), 40
    >>> round(drop_stopped(hits, n, allowed_drop(0.02, n, is_count=True)), 3)
    0.084
    """
    edge, drop = stopping_edge(allowed, n, is_count=spread.is_count), 0.05
    for _ in range(_ROUNDS):
        variance = math.hypot(spread.square, math.sqrt(spread.tail) * drop) - drop * drop
        drop = edge + _FOUR_IN_FIVE * math.sqrt(max(variance, 1e-9) / n)
    return drop


def equal_stopped(spread: Spread, n: int, allowed: float) -> float:
    """Return the share of equally good candidates that are stopped if the mean of n groups may fall by ``allowed``.

    >>> round(equal_stopped(Spread(0.1, 1.0, is_count=True), 40, 0.025), 2)
    0.23
    """
    edge = stopping_edge(allowed, n, is_count=spread.is_count)
    return math.erfc(edge * math.sqrt(n) / spread.sd / math.sqrt(2)) / 2
