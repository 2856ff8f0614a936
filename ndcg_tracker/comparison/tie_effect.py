"""How far ties in scores leave a comparison open."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.notes import Note

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class TieBounds:
    """A mean if all ties in scores fell for the worst, and if all fell for the best."""

    worst: float
    best: float

    @property
    def is_open(self) -> bool:
        """Whether ties change anything."""
        return self.best - self.worst > _ROUNDING


@dataclass(frozen=True, slots=True)
class TieEffect:
    """The bounds of one metric in both runs.

    >>> TieEffect(TieBounds(0.5, 0.5), TieBounds(0.25, 0.75)).delta
    (-0.25, 0.25)
    """

    baseline: TieBounds
    candidate: TieBounds

    @property
    def is_open(self) -> bool:
        """Whether ties change anything in either run."""
        return self.baseline.is_open or self.candidate.is_open

    @property
    def delta(self) -> tuple[float, float]:
        """The smallest and the largest difference that ties allow."""
        return self.candidate.worst - self.baseline.best, self.candidate.best - self.baseline.worst

    def could_turn(self, delta: float | None) -> bool:
        """Return whether some order of the tied items could turn the sign of a difference that no test judges.

        >>> TieEffect(TieBounds(0.5, 0.5), TieBounds(0.25, 0.75)).could_turn(0.125)
        True
        """
        if not self.is_open or delta is None:
            return False
        low, high = self.delta
        return low < 0 < high if delta == 0 else low * high <= 0


@dataclass(frozen=True, slots=True)
class GroupTieBounds:
    """One group's result in one run (``baseline`` or ``candidate``) with its bounds over all orders of tied items."""

    group: str
    run: str
    worst: float
    value: float
    best: float


def ties_note(effect: TieEffect, *metrics: str) -> Note:
    """Return a note that ties could change the verdict on a metric, or without one the decision of a gate."""
    low, high = effect.delta
    return Note("ties", {"metrics": metrics, "low": low, "high": high})
