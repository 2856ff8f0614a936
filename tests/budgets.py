"""How often any of many candidates PASSes or FAILs falsely, with a budget that their looks share and without one.

Each is worse by just the margin (for PASS), or as good as the baseline (for FAIL). ``tests/rate_tables.py budget``
prints the rates, ``tests/statistics/test_budget_rates.py`` holds them; ``far`` those of one look at such a level.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from populations import NOISE, RATED, Floats, Null
from rates import MARGIN, NEW, Columns, Mask, Rule, fails, passes

from ndcg_tracker.questions.gate.decide_bounds import look_level

CANDIDATES, BUDGET = 40, 0.05
SIZES = (150, 200, 1000)
LEVEL = look_level(1, BUDGET, CANDIDATES)
POPULATIONS: dict[str, Null] = {
    "normal": RATED["normal"],
    "sparse": RATED["95% zeros, symmetric"],
    "90% zeros, losses of .4 in 2%": RATED["90% zeros, gains of .1 in 8%, losses of .4 in 2%"],
    "2% losses": RATED["a loss of .49 in 2%"],
    "2% losses, sd .08": RATED["a loss of .49 in 2%, sd .08"],
}
GOALS = ("normal", "sparse", "2% losses")


@dataclass(frozen=True)
class Any:
    """Shares of worlds in which any of 40 candidates gets a false verdict.

    ``by_t``: PASS by t alone at the level of a look. ``without``: PASS at 5% each, as without a budget. ``passed``:
    PASS under the budget. ``failed_without``: FAIL at 1% each. ``failed``: FAIL under the budget.
    """

    by_t: float
    without: float
    passed: float
    failed_without: float
    failed: float


def candidates(null: Null, n: int, worlds: int, shared: float, mean: float, seed: int) -> Floats:
    """Return the differences of 40 candidates a world, after one another, in the same groups, with a little noise.

    Those that are equal on average are mirrored: rare losses deceive a PASS, and rare gains a FAIL.

    ``shared``: the probability that a group differs for a candidate as it does for the others of its kind, so that any
    two have a correlation of ``shared`` squared.
    """
    rng = np.random.default_rng([n, worlds, int(100 * shared), mean < 0, seed])

    def drawn(rows: int) -> Floats:
        return null.samples(rng, (rows, n), mean=mean, is_mirrored=not mean, noise=NOISE)

    rows = drawn(CANDIDATES * worlds)
    if shared:
        common = np.repeat(drawn(worlds), CANDIDATES, axis=0)
        rows = np.where(rng.random(rows.shape) < shared, common, rows)
    return rows


def any_false(null: Null, n: int, worlds: int, *, shared: float = 0.0) -> Any:
    """Return how often any candidate passes or fails falsely."""
    decide: tuple[Callable[[Floats, Columns], Mask], ...] = (
        lambda _, columns: columns.t_refutes(-MARGIN, LEVEL),
        lambda rows, columns: passes(rows, MARGIN, columns=columns),
        lambda rows, columns: passes(rows, MARGIN, columns=columns, alpha=LEVEL),
        lambda rows, columns: fails(rows, 0.01, columns=columns),
        lambda rows, columns: fails(rows, LEVEL, columns=columns),
    )
    found = np.zeros(len(decide))
    step = max(1, 1_000_000 // (CANDIDATES * n))
    for first in range(0, worlds, step):
        size = min(step, worlds - first)
        worse, equal = (candidates(null, n, size, shared, mean, first) for mean in (-MARGIN, 0.0))
        columns = Columns.of(worse), Columns.of(equal)
        for place, is_decided in enumerate(decide):
            of = place > 2
            found[place] += is_decided((worse, equal)[of], columns[of]).reshape(size, CANDIDATES).any(axis=1).sum()
    return Any(*(found / worlds).tolist())


def lognormal_losses(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Mirrored lognormal differences of mean 0, sd .12 and skewness -1.75: of 5,000 half are too skewed at .00125."""
    return np.asarray(0.2 * (math.exp(0.125) - np.exp(rng.normal(0, 0.5, shape))).clip(min=-4.9))


FAR = (0.00125, 0.0001)


@dataclass(frozen=True)
class RareLosses:
    """Differences of which a share is a loss of .3 to 1, evenly, and the others are alike but for a normal ``sd``."""

    share: float
    sd: float

    def passed(self, n: int, alphas: tuple[float, ...], samples: int, rule: Rule = NEW) -> list[float]:
        """Return how often a candidate that is worse by the margin PASSes at each level.

        The sum over k of P(k losses), which is binomial, times the share of samples with just k losses that PASS, of as
        many for each k: so what is as rare as the level is not left to chance. What next to no sample has PASSes.
        """
        found, left = np.zeros(len(alphas)), 1.0
        for k in range(n + 1):
            weight = math.comb(n, k) * self.share**k * (1 - self.share) ** (n - k)
            left -= weight
            if weight < 1e-8:
                found += weight
                continue
            rng = np.random.default_rng([n, k, int(1000 * self.share), int(1000 * self.sd)])
            rows = self._with_losses(rng, (samples, n), k)
            columns = Columns.of(rows)
            found += [weight * float(passes(rows, MARGIN, rule, columns, alpha=alpha).mean()) for alpha in alphas]
            if left < 1e-6:
                break
        return [float(rate) + left for rate in found]

    def _with_losses(self, rng: np.random.Generator, shape: tuple[int, int], k: int) -> Floats:
        others = (0.65 * self.share - MARGIN) / (1 - self.share)
        rows = others + rng.normal(0, self.sd, shape)
        rows[:, :k] = -rng.uniform(0.3, 1, (shape[0], k))
        return rng.permuted(rows, axis=1).clip(-1, 1)
