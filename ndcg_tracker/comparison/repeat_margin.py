"""A gate's margin, learned from runs of one unchanged system: how far apart two of them lie by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.statistics.t_distribution import two_sided_t

FEWEST_REPEATS = 3
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LearnedMargin:
    """A margin and what it was learned from.

    ``margin``: below which the means of two further repeats lie apart, with confidence ``level``. ``runs``: the names
    of the repeats. ``n_pairs``: the pairs they make. ``sd``: the standard deviation of their means. ``largest``: the
    largest difference of means among the pairs.
    """

    margin: float
    runs: tuple[str, ...]
    n_pairs: int
    sd: float
    largest: float
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this margin."""
        return {
            "margin": self.margin,
            "runs": list(self.runs),
            "n_pairs": self.n_pairs,
            "sd": self.sd,
            "largest": self.largest,
            "level": self.level,
        }


def learned_margin(runs: Sequence[str], means: Sequence[float], *, level: float = 0.95) -> LearnedMargin:
    """Return the margin that repeats of one system teach: the upper bound of |difference| between two of them.

    margin = t((1 + level) / 2; k - 1) * sd * sqrt(2), sd the standard deviation of the k means: the difference of two
    further repeats, which has the variance 2 sd^2, lies within it with this confidence. Few repeats give a wide one.

    Parameters: ``runs``: the names of k >= 3 repeats. ``means``: the mean of each, finite, over the same groups.
    ``level``: in (0, 1). Returns: the margin, > 0. Raises: InputError below 3 repeats, and where all means are equal.
    Source: the prediction interval of a difference of two normal numbers; Student, Biometrika 6, 1908.

    >>> found = learned_margin(["a", "b", "c"], [0.650, 0.652, 0.651])
    >>> round(found.margin, 4), found.n_pairs, round(found.largest, 3)
    (0.0061, 3, 0.002)
    """
    k = len(means)
    if k < FEWEST_REPEATS:
        raise InputError(f"a margin is learned from {FEWEST_REPEATS} repeats or more, not from {k}")
    mean = math.fsum(means) / k
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in means) / (k - 1))
    differences = [abs(one - other) for one, other in combinations(means, 2)]
    if max(differences) <= _ROUNDING:
        raise InputError(
            f"the {k} repeats have the same mean, so there is no chance to learn a margin from; for a system that "
            f"always gives the same results use {argument('scope', 'set')}, or give {argument('margin')} a number"
        )
    margin = two_sided_t(1 - level, k - 1.0) * sd * math.sqrt(2)
    return LearnedMargin(margin, tuple(runs), len(differences), sd, max(differences), level)
