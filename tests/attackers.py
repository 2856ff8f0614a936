"""Authors who adapt their candidates to what a gate tells them, against sealed data and against an open gate.

Every candidate is worse by just the margin over the population, and what distinguishes it in these groups is chance,
which does not recur in others: a change moves each group by its own normal number, so whatever is combined of changes,
and however it was chosen, further groups know nothing of it. So each PASS is false. An open gate tells delta and PASS
at 5%; on sealed data one bit a look is told, PASS or not, at ``look_level``.
"""

from dataclasses import dataclass

import numpy as np
from populations import Floats
from rates import MARGIN, Columns, Mask, passes

from ndcg_tracker.questions.gate.decide_bounds import look_level

BUDGET = 0.05
SPREADS, SIZES, LOOKS = (0.05, 0.14, 0.3), (150, 500, 2000), (10, 50, 200)
TRIES = 4
"""How many candidates a restart has open results of before it chooses one to show."""


@dataclass
class Told:
    """What an author knows after a look, of each world: whether it PASSed, and on an open gate the mean difference."""

    passed: Mask
    delta: Floats | None


def unit(directions: Floats) -> Floats:
    """Return directions, one a row, scaled to a mean square of 1, as a change by itself has."""
    return directions / np.sqrt(np.square(directions).mean(axis=1, keepdims=True))


class Boosting:
    """Random changes, and at last all of them together, each with the sign of what its look told.

    Of a bit alone: those that PASSed count, and each look shows their sum and one new change.
    """

    def __init__(self, rng: np.random.Generator, shape: tuple[int, int], looks: int, *, is_open: bool) -> None:
        self.rng, self.shape, self.looks, self.is_open = rng, shape, looks, is_open
        self.sum = np.zeros(shape)

    def show(self, look: int) -> Floats:
        self.new = self.rng.standard_normal(self.shape)
        if self.is_open:
            return unit(self.sum) if look == self.looks else self.new
        return unit(self.sum + self.new)

    def hear(self, told: Told) -> None:
        sign = told.passed if told.delta is None else np.sign(told.delta + MARGIN)
        self.sum += self.new * np.asarray(sign, np.float64)[:, None]


class Climbing:
    """The best so far and a step beside it; of a bit alone, what PASSed, and before that a walk."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, int], looks: int, *, is_open: bool) -> None:
        self.rng, self.shape = rng, shape
        self.best = rng.standard_normal(shape)
        self.delta = np.full(shape[0], -np.inf)
        self.has_passed = np.zeros(shape[0], np.bool_)

    def show(self, look: int) -> Floats:
        step = self.rng.standard_normal(self.shape)
        self.shown = self.best if look == 1 else unit(self.best + 0.5 * step)
        return self.shown

    def hear(self, told: Told) -> None:
        if told.delta is None:
            is_better = told.passed | ~self.has_passed
            self.has_passed |= told.passed
        else:
            is_better = told.delta > self.delta
            self.delta = np.where(is_better, told.delta, self.delta)
        self.best = np.where(is_better[:, None], self.shown, self.best)


class Restarting:
    """Each look shows the best of some candidates by their open results, near what PASSed or did best, if anything did.

    On an open gate those are results in the same groups. On sealed data they are of as many other groups, and the
    candidates differ in how much worse they truly are.
    """

    def __init__(self, rng: np.random.Generator, shape: tuple[int, int], looks: int, *, is_open: bool) -> None:
        self.rng, self.shape, self.is_open = rng, shape, is_open
        self.near = np.zeros(shape)

    def show(self, look: int) -> Floats:
        if not self.is_open:
            error = 1 / self.shape[1] ** 0.5  # of an open mean, in standard deviations of a group
            worse = np.abs(self.rng.standard_normal((TRIES, self.shape[0]))) * error
            chosen = (error * self.rng.standard_normal(worse.shape) - worse).argmax(axis=0)
            self.shown = unit(self.near + self.rng.standard_normal(self.shape))
            return self.shown - worse[chosen, np.arange(self.shape[0])][:, None]
        tries = [unit(self.near + self.rng.standard_normal(self.shape)) for _ in range(TRIES)]
        best = np.array([one.mean(axis=1) for one in tries]).argmax(axis=0)
        self.shown = np.choose(best[:, None], tries)
        return self.shown

    def hear(self, told: Told) -> None:
        keeps = told.passed if told.delta is None else told.delta + MARGIN > 0
        self.near = np.where(keeps[:, None], self.shown, self.near)


AUTHORS: dict[str, type[Boosting] | type[Climbing] | type[Restarting]] = {
    "sign boosting": Boosting,
    "hill climbing": Climbing,
    "restarts": Restarting,
}


def any_false_pass(
    author: str, sd: float, n: int, looks: int, worlds: int, *, is_open: bool, shares_equally: bool = True
) -> float:
    """Return the share of worlds in which an author gets a candidate past the gate, all of which are worse.

    ``shares_equally``: whether the looks have equal levels before any PASS, or ever smaller ones.
    """
    found = 0
    step = max(1, 4_000_000 // n)
    for first in range(0, worlds, step):
        size = min(step, worlds - first)
        rng = np.random.default_rng([int(100 * sd), n, looks, is_open, first])
        adapting = AUTHORS[author](rng, (size, n), looks, is_open=is_open)
        n_passed = np.zeros(size, np.int64)
        for look in range(1, looks + 1):
            rows = (sd * adapting.show(look) - MARGIN).clip(-1, 1)
            columns = Columns.of(rows)
            if is_open:
                passed = passes(rows, MARGIN, columns=columns)
            else:
                passed = passes_sealed(rows, look, n_passed, looks if shares_equally else None)
            adapting.hear(Told(passed, columns.mean if is_open else None))
            n_passed += passed
        found += int((n_passed > 0).sum())
    return found / worlds


def passes_sealed(rows: Floats, look: int, n_passed: np.ndarray, looks: int | None) -> Mask:
    """Return whether each row PASSes at the level of a look after so many PASSes."""
    passed = np.zeros(len(rows), np.bool_)
    for before in np.unique(n_passed).tolist():
        places = np.flatnonzero(n_passed == before)
        passed[places] = passes(rows[places], MARGIN, alpha=look_level(look, BUDGET, looks, before))
    return passed
