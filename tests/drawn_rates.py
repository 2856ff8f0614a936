"""How often the bounds of drawn queries miss the truth, counted in samples of populations of which all is known.

A world is a sample of queries. Of its open queries the first n in random order are answered. The lower bound misses
where it lies above the truth: the gate PASSes a candidate that is worse by exactly the margin. The upper bound, at a
fifth of the level, misses where it lies below the truth: a candidate that is as good FAILs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from drawn_worlds import Facts, Ranks

from ndcg_tracker.statistics.drawn_queries import LEVELS_OF_LOOKS, DrawnMean, DrawnQueries, stakes_of
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import paired_t, t_lower_bound, t_upper_bound

LOOKS = (30, 50, 80, 120)
LeftOut = Literal["random", "most open", "B loses most", "B gains most", "differ most"]


@dataclass(frozen=True)
class Rates:
    """How often each bound misses the truth, and the mean distance from the estimate to the lower bound.

    ``either``: how often the 95% interval does not contain the truth. ``bias``: of the estimate. All count the worlds
    that decide; ``decided`` is their share.
    """

    lower: float
    upper: float
    either: float
    width: float
    bias: float
    decided: float = 1.0
    worlds: int = 0


@dataclass(frozen=True)
class World:
    """The queries of a sample: their numbers, and the open ones in the order in which they are drawn."""

    queries: Ranks
    order: Ranks

    def drawn(self, facts: Facts, n: int, left_out: Ranks | None = None, sizes: Ranks | None = None) -> DrawnQueries:
        """Return what is there when the first n open queries are answered but ``left_out``, places in the order."""
        answered = self.order[:n] if left_out is None else np.delete(self.order[:n], left_out)
        open_ = np.isin(self.order, answered, invert=True)
        n_left_out = 0 if left_out is None else left_out.size
        return DrawnQueries(
            facts.true[answered],
            facts.control[answered],
            facts.control[self.order[open_]],
            stakes_of(facts.guessed[self.order], facts.costs[self.order], facts.value[answered]),
            facts.true[self.queries[facts.known[self.queries]]],
            n_left_out,
            sizes,
        )


def worlds(facts: Facts, n_queries: int, count: int, seed: int = 0) -> Iterator[World]:
    """Return samples of queries."""
    rng = np.random.default_rng([seed, n_queries])
    for _ in range(count):
        queries = rng.choice(facts.true.size, n_queries, replace=False, shuffle=False)
        yield World(queries, rng.permutation(queries[~facts.known[queries]]))


def rates_of(means: Sequence[DrawnMean], truth: float | Sequence[float], share: float = 1.0) -> Rates:
    """Return the rates of some estimates; ``truth``: of all, or of each."""
    if not means:
        return Rates(*[float("nan")] * 5, decided=0.0)
    truths = np.broadcast_to(truth, len(means)).tolist()
    found = []
    for mean, true in zip(means, truths, strict=True):
        low, high = mean.lower(), mean.upper()
        ends = mean.lower(0.025), mean.upper(0.025)
        found.append(
            (low > true, high < true, not ends[0] <= true <= ends[1], mean.estimate - low, mean.estimate - true)
        )
    return Rates(*np.mean(np.array(found, np.float64), axis=0).tolist(), share, len(means))


def rates(facts: Facts, n_queries: int, n: int, count: int, truth: float | None = None) -> Rates:
    """Return how often the bounds miss; ``truth``: another one than by people's labels."""
    found = [world.drawn(facts, n) for world in worlds(facts, n_queries, count, n)]
    deciding = [of for of in found if of.decides() and not of.is_complete]
    of_truth = facts.truth if truth is None else truth
    return rates_of([of.mean() for of in deciding], of_truth, len(deciding) / count)


def clustered(facts: Facts, n_queries: int, n: int, count: int, *, declared: bool = True) -> Rates:
    """Return the rates where whole clusters are sampled; ``declared``: whether somebody says which."""
    sizes = np.bincount(facts.cluster)
    first = np.append(0, np.cumsum(sizes))
    rng, means = np.random.default_rng([n_queries, n]), []
    for _ in range(count):
        chosen = rng.permutation(sizes.size)[:n_queries]
        chosen = chosen[: int(np.searchsorted(np.cumsum(sizes[chosen]), n_queries, side="right")) or 1]
        queries = np.concatenate([np.arange(first[c], first[c + 1]) for c in chosen])
        world = World(queries, rng.permutation(queries[~facts.known[queries]]))
        means.append(world.drawn(facts, n, sizes=sizes[chosen] if declared else None).mean())
    return rates_of(means, facts.truth)


def without_some(facts: Facts, n_queries: int, n: int, count: int, which: LeftOut, share: float = 1 / 8) -> Rates:
    """Return the rates where people leave out a share of the drawn queries, n in all."""
    means, m = [], int(n * share)
    for number, world in enumerate(worlds(facts, n_queries, count, n)):
        first = world.order[:n]
        rank = {
            "random": np.random.default_rng(number).random(n),
            "most open": -facts.n_asked[first].astype(np.float64),
            "B loses most": facts.true[first],
            "B gains most": -facts.true[first],
            "differ most": -np.abs(facts.true[first]),
        }[which]
        means.append(world.drawn(facts, n, np.argsort(rank, kind="stable")[:m]).mean())
    return rates_of(means, facts.truth)


def looks(facts: Facts, n_queries: int, count: int) -> tuple[float, float]:
    """Return how often any of four looks misses, by the lower bound and by the upper one."""
    lower = upper = 0
    for world in worlds(facts, n_queries, count, 4):
        means = [world.drawn(facts, n).mean() for n in LOOKS if n < world.order.size]
        pairs = list(zip(means, LEVELS_OF_LOOKS, strict=False))
        lower += any(mean.lower(level) > facts.truth for mean, level in pairs)
        upper += any(mean.upper(level / 5) < facts.truth for mean, level in pairs)
    return lower / count, upper / count


def families(all_facts: Sequence[Facts], n_queries: int, n: int, count: int, n_better: int = 0) -> tuple[float, float]:
    """Return how often Holm lets any of several candidates or metrics PASS at its true loss, and any FAIL.

    Of these the last ``n_better`` are better than the margin by .1, and do not count.
    """
    passed = failed = 0
    for world in worlds(all_facts[0], n_queries, count, n):
        means = [world.drawn(facts, n).mean() for facts in all_facts]
        first = len(means) - n_better
        truths = [facts.truth - 0.1 * (place >= first) for place, facts in enumerate(all_facts)]
        above = holm([mean.p_above(truth, len(means)) for mean, truth in zip(means, truths, strict=True)])
        below = holm([mean.p_below(of.truth, len(means)) for mean, of in zip(means, all_facts, strict=True)])
        passed += any(p is not None and p < 0.05 for p in above[:first])
        failed += any(p is not None and p < 0.01 for p in below)
    return passed / count, failed / count


def chosen(candidates: Sequence[Facts], n_queries: int, n_known: int, n: int, count: int, *, fresh: bool) -> Rates:
    """Return the rates of the best of many by answers that were there before it; ``fresh``: these are left out."""
    means, truths = [], []
    for world in worlds(candidates[0], n_queries, count, n):
        older, newer = world.order[:n_known], world.order[n_known:]
        best = max(candidates, key=lambda facts: float(facts.true[older].mean()))
        queries = world.queries if not fresh else np.setdiff1d(world.queries, older)
        found = World(queries, newer).drawn(best, n)
        if not fresh:
            known = np.concatenate([found.known, best.true[older]])
            found = DrawnQueries(found.answered, found.control, found.others, found.stakes, known)
        means.append(found.mean())
        truths.append(best.truth)
    return rates_of(means, truths)


@dataclass(frozen=True)
class Decisions:
    """The share of worlds that PASS and FAIL, and in which too few queries are answered; the mean number of these."""

    passed: float
    failed: float
    too_few: float
    n_answered: float


def decisions(facts: Facts, n_queries: int, budget: int, count: int, margin: float = 0.02) -> Decisions:
    """Return what a gate says with a number of answers, of whole queries up to the first that does not fit."""
    found: list[tuple[bool, bool, bool, float]] = []
    for world in worlds(facts, n_queries, count, budget):
        n = int(np.searchsorted(np.cumsum(facts.n_asked[world.order]), budget, side="right"))
        of = world.drawn(facts, n)
        low, high = bounds(of) if of.decides() else (-np.inf, np.inf)
        found.append((low > -margin, high < 0, not of.decides(), n))
    return Decisions(*np.mean(np.array(found, np.float64), axis=0).tolist())


def bounds(of: DrawnQueries) -> tuple[float, float]:
    """Return the bounds of a gate; where all is answered, those of the ordinary t-test."""
    if not of.is_complete:
        found = of.mean()
        return found.lower(), found.upper()
    test = paired_t(np.concatenate([of.answered, of.known]))
    low, high = t_lower_bound(test), t_upper_bound(test, level=0.99)
    mean = test.mean or 0.0
    return (mean if low is None else low), (mean if high is None else high)
