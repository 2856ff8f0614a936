"""Which levels are worth the same to a metric: their items may change places without changing a value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.levels import Codes
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats


@dataclass(frozen=True, slots=True)
class GainClasses:
    """The levels by what they gain.

    ``of_level``: int64, shape (n_levels,), ascending with the gain. ``gains``: float64, the gain of each class.
    ``levels``: int64, a level of each class. ``unlabelled``: the class of items without label, -1 where they are like
    no labelled item. ``other_gain``: what an item without label gains.
    """

    of_level: Index
    gains: Floats
    levels: Index
    unlabelled: int
    other_gain: float

    @classmethod
    def of(cls, level_gains: Floats, other_gain: float, *, every: bool) -> GainClasses:
        """Return the classes of levels with these gains; ``every``: whether it matters that an item has a label.

        >>> classes = GainClasses.of(np.array([0.0, 5.0, 5.0]), 0.0, every=False)
        >>> classes.of_level.tolist(), classes.gains.tolist(), classes.unlabelled
        ([0, 1, 1], [0.0, 5.0], 0)
        """
        gains, levels, of_level = np.unique(level_gains, return_index=True, return_inverse=True)
        alike = np.flatnonzero(gains == other_gain)
        return cls(of_level, gains, levels, int(alike[0]) if alike.size and not every else -1, other_gain)

    @property
    def key(self) -> tuple[bytes, int]:
        """What classes have in common under which the same runs of equal scores matter."""
        return self.of_level.tobytes(), self.unlabelled

    def of_codes(self, codes: Codes) -> Codes:
        """Return the class of items of some levels."""
        if np.array_equal(self.of_level, np.arange(self.of_level.size)):
            return codes
        return self.of_level.astype(codes.dtype)[codes]
