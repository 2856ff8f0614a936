"""What an item's move within a group did to the group's result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ItemMove:
    """One item of a group in two runs.

    ``grade``: None where it is unjudged. ``rank_baseline``, ``rank_candidate``: from 1, None where the run does not
    have it. ``contribution_baseline``, ``contribution_candidate``: its part of the group's result in each run;
    ``contribution``: the second minus the first, its part of the group's delta.

    >>> ItemMove("sku-1", 3.0, 1, None, 0.5, 0.0, -0.5).contribution
    -0.5
    """

    item: str
    grade: float | None
    rank_baseline: int | None
    rank_candidate: int | None
    contribution_baseline: float
    contribution_candidate: float
    contribution: float


def most_telling(moves: Iterable[ItemMove], delta: float, n: int) -> tuple[ItemMove, ...]:
    """Return the items that explain most of a group's delta: those that pulled its way, the largest pull first.

    Parameters: ``delta``: of the group. ``n``: how many at most. Items that pulled the other way come behind.

    >>> lost, less, won = (ItemMove(name, 1.0, 1, 2, 0.0, 0.0, part) for name, part in zip("abc", (-0.5, -0.1, 0.4)))
    >>> [move.item for move in most_telling([won, less, lost], -0.2, 2)]
    ['a', 'b']
    """
    return tuple(sorted(moves, key=lambda move: (move.contribution * delta <= 0, -abs(move.contribution)))[:n])
