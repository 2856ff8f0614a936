"""How often the bounds of drawn queries miss the truth, counted in samples of populations of which all is known.

A world is a sample of queries. Of its open queries the first n in random order are answered. The lower bound misses
where it lies above the truth: the gate PASSes a candidate that is worse by exactly the margin. The upper bound, at a
fifth of the level, misses where it lies below the truth: a candidate that is as good FAILs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from drawn_worlds import (
    JUDGES,
    MEASURES,
    PEOPLE,
    SKILLS,
    Facts,
    Population,
    Ranks,
    candidates,
    under_a_judge,
    with_holes,
)
from populations import Floats

from ndcg_tracker.statistics.drawn_queries import LEAST_APART, LEVELS_OF_LOOKS, DrawnMean, DrawnQueries, stakes_of
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import paired_t, t_lower_bound, t_upper_bound

NAN = float("nan")
SIZES = ((60, 30), (150, 30), (300, 30), (300, 50), (300, 100), (1000, 30), (1000, 100))
FEW_SIZES = ((150, 30), (150, 80), (300, 50), (300, 100), (1000, 30), (1000, 100))
"""So many queries, and so many of them drawn."""
LOOKS = (30, 50, 80, 120)
SHARES_HARMED = (0.02, 0.04, 0.06, 0.08)
LEFT_OUT = 1 / 8
LeftOut = Literal["at random", "with most open items", "in which B loses most", "in which B gains most"]
Of = Literal["judges", "holes"]


@dataclass(frozen=True)
class Rates:
    """How often each bound misses the truth, and the mean distance from the estimate to the lower bound.

    ``either``: how often the 95% interval does not contain the truth. All three are shares of all worlds; ``decided``
    is the share of those that decide, and ``width`` and ``bias`` (of the estimate) count these.
    """

    lower: float
    upper: float
    either: float = NAN
    width: float = NAN
    bias: float = NAN
    decided: float = 1.0


@dataclass(frozen=True)
class World:
    """The queries of a sample: their numbers, and the open ones in the order in which they are drawn."""

    queries: Ranks
    order: Ranks

    def drawn(self, facts: Facts, n: int, left_out: Ranks | None = None, sizes: Ranks | None = None) -> DrawnQueries:
        """Return what is there when the first n open queries are answered but ``left_out``, places in the order."""
        places = np.arange(0) if left_out is None else left_out
        answered = np.delete(self.order[:n], places)
        others = np.append(self.order[n:], self.order[places])

        def stakes(queries: Ranks) -> Floats:
            return stakes_of(facts.guessed[queries], facts.costs[queries], facts.value[answered])

        return DrawnQueries(
            facts.true[answered],
            facts.control[answered],
            facts.control[others],
            stakes(self.order),
            facts.true[self.queries[facts.known[self.queries]]],
            stakes(self.order[places]),
            sizes,
        )


def worlds(facts: Facts, n_queries: int, count: int, seed: int = 0) -> Iterator[World]:
    """Return samples of queries."""
    rng = np.random.default_rng([seed, n_queries])
    for _ in range(count):
        queries = rng.choice(facts.true.size, n_queries, replace=False, shuffle=False)
        yield World(queries, rng.permutation(queries[~facts.known[queries]]))


def rates_of(means: Sequence[DrawnMean], truth: float | Sequence[float], decided: float = 1.0) -> Rates:
    """Return the rates of some estimates; ``truth``: of all, or of each."""
    if not means:
        return Rates(0.0, 0.0, 0.0, decided=0.0)
    found = []
    for mean, true in zip(means, np.broadcast_to(truth, len(means)).tolist(), strict=True):
        low, high = mean.lower(), mean.upper()
        is_outside = not mean.lower(0.025) <= true <= mean.upper(0.025)
        found.append((low > true, high < true, is_outside, mean.estimate - low, mean.estimate - true))
    lower, upper, either, width, bias = np.mean(np.array(found, np.float64), axis=0).tolist()
    return Rates(decided * lower, decided * upper, decided * either, width, bias, decided)


def rates(
    facts: Facts, n_queries: int, n: int, count: int, *, truth: float | None = None, least_apart: int = 0, seed: int = 0
) -> Rates:
    """Return how often the bounds miss where part of the queries is answered; ``truth``: not by people's labels."""
    found = [world.drawn(facts, n) for world in worlds(facts, n_queries, count, n + seed)]
    deciding = [of for of in found if of.decides(least_apart=least_apart) and not of.is_complete]
    return rates_of([of.mean() for of in deciding], facts.truth if truth is None else truth, len(deciding) / count)


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


def without_some(facts: Facts, n_queries: int, n: int, count: int, which: LeftOut) -> Rates:
    """Return the rates where people leave out one in eight of the drawn queries, n in all."""
    means, m = [], int(n * LEFT_OUT)
    for number, world in enumerate(worlds(facts, n_queries, count, n)):
        first = world.order[:n]
        place = {
            "at random": np.random.default_rng(number).random(n),
            "with most open items": -facts.n_asked[first].astype(np.float64),
            "in which B loses most": facts.true[first],
            "in which B gains most": -facts.true[first],
        }[which]
        means.append(world.drawn(facts, n, np.argsort(place, kind="stable")[:m]).mean())
    return rates_of(means, facts.truth)


def looks(facts: Facts, n_queries: int, count: int) -> Rates:
    """Return how often any of four looks misses, by the lower bound and by the upper one."""
    missed = []
    for world in worlds(facts, n_queries, count, len(LOOKS)):
        means = [world.drawn(facts, n).mean() for n in LOOKS if n < world.order.size]
        pairs = list(zip(means, LEVELS_OF_LOOKS, strict=False))
        lower = any(mean.lower(level) > facts.truth for mean, level in pairs)
        missed.append((lower, any(mean.upper(level / 5) < facts.truth for mean, level in pairs)))
    return Rates(*np.mean(missed, axis=0).tolist())


def tail(mean: DrawnMean, distance: float, n_tests: int = 1) -> float:
    """Return the smallest level at which a bound is further away than this from the estimate: for Holm's procedure."""
    p_value = replace(mean, estimate=distance).p_value(n_tests) if distance > 0 else None
    return 1.0 if p_value is None else p_value / 2


def slices(facts: Facts, n_slices: int, n_queries: int, n: int, count: int) -> Rates:
    """Return how often a gate finds every slice within its true loss, and any FAILs at it, by Holm's procedure."""
    missed, drawn = [], worlds(facts, n_queries, count * n_slices, n)
    for _ in range(count):
        means = [next(drawn).drawn(facts, n).mean() for _ in range(n_slices)]
        upper = max(facts.truth - mean.upper(0.01 / n_slices) for mean in means)
        missed.append((min(mean.lower() - facts.truth for mean in means) > 0, upper > 0))
    return Rates(*np.mean(missed, axis=0).tolist())


def families(every: Sequence[Facts], n_queries: int, n: int, count: int, n_better: int = 0) -> Rates:
    """Return how often Holm lets any of several candidates or metrics PASS at its true loss, and any FAIL.

    Of these the last ``n_better`` are better than their margin by .1, and do not count.
    """
    missed, size = [], len(every)
    for world in worlds(every[0], n_queries, count, n):
        means = [world.drawn(facts, n).mean() for facts in every]
        margins = [facts.truth - 0.1 * (place >= size - n_better) for place, facts in enumerate(every)]
        above = holm([tail(mean, mean.estimate - margin, size) for mean, margin in zip(means, margins, strict=True)])
        below = holm([tail(mean, of.truth - mean.estimate, size) for mean, of in zip(means, every, strict=True)])
        passed = any(p is not None and p < 0.05 for p in above[: size - n_better])
        missed.append((passed, any(p is not None and p < 0.01 for p in below)))
    return Rates(*np.mean(missed, axis=0).tolist())


def chosen(every: Sequence[Facts], n_queries: int, n_older: int, n: int, count: int, *, fresh: bool) -> Rates:
    """Return the rates of the best of many by answers that were there before it; ``fresh``: these are left out."""
    means, truths = [], []
    for world in worlds(every[0], n_queries, count, n):
        older, newer = world.order[:n_older], world.order[n_older:]
        best = max(every, key=lambda facts: float(facts.true[older].mean()))
        queries = np.setdiff1d(world.queries, older) if fresh else world.queries
        of = World(queries, newer).drawn(best, n)
        if not fresh:
            of = DrawnQueries(of.answered, of.control, of.others, of.stakes, np.append(of.known, best.true[older]))
        means.append(of.mean())
        truths.append(best.truth)
    return rates_of(means, truths)


@dataclass(frozen=True)
class Cell:
    """The rates of one world: its name, how many queries it has, and how many of these are drawn."""

    name: str
    n_queries: int
    n: int
    rates: Rates
    measure: Callable[[int], Rates]
    """Measures the cell again, in a number of other worlds or in more of them."""


def cell(name: str, size: tuple[int, int], count: int, measure: Callable[[int], Rates]) -> Cell:
    return Cell(name, *size, measure(count), measure)


def named_facts(of: Of) -> Iterator[tuple[str, Facts, int]]:
    """Return every population with its name, in every metric, and how many drawn queries must differ."""
    populations: Iterator[tuple[str, Population]]
    if of == "holes":
        populations = ((name, with_holes(name)) for name in ("heavy", "light", "equal", "alike", *SKILLS))
    else:
        populations = ((f"{kind}, {in_}", under_a_judge(kind, in_)) for kind in JUDGES for in_ in ("heavy", "light"))
    for name, population in populations:
        for measure in MEASURES:
            yield f"{name}, {measure}", population.facts(measure), LEAST_APART if measure == "Success" else 0
    if of == "judges":
        for kind in JUDGES:
            yield f"{kind}, heavy, ndcg with 2^grade - 1", under_a_judge(kind, exponential=True).facts(), 0


def plain(of: Of, count: int, sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[Cell]:
    """Return the rates of every population, metric and size."""
    for name, facts, least in named_facts(of):
        for size in sizes:
            yield cell(name, size, count, lambda c, f=facts, s=size, k=least: rates(f, *s, c, least_apart=k))


def harmed(of: Of, count: int, sizes: Sequence[tuple[int, int]] = FEW_SIZES) -> Iterator[Cell]:
    """Return the rates where the candidate loses all in a few queries, and what is there without asking is blind."""
    for name, facts in _harmed(of):
        for size in sizes:
            yield cell(name, size, count, lambda c, f=facts, s=size: rates(f, *s, c))


def _harmed(of: Of, shares: Sequence[float] = SHARES_HARMED) -> Iterator[tuple[str, Facts]]:
    if of == "holes":
        for name in ("alike", "equal", "two nights", "newcomer", "finder"):
            for share in shares:
                yield f"{name}, {share:.0%} lose all", with_holes(name).harmed(share).facts()
        return
    for kind in ("symmetric", "strict", "unfair to A"):
        for in_ in ("alike", "equal"):
            for blank in (False, True):
                for share in shares:
                    name = f"{kind}, {in_}, {share:.0%} lose all{', blank there' if blank else ''}"
                    yield name, under_a_judge(kind, in_).harmed(share, blank=blank).facts()


def _some(of: Of) -> Iterator[tuple[str, Facts]]:
    """Return some populations of all kinds, for what takes longer."""
    if of == "holes":
        for name in ("heavy", "two nights", "newcomer", "finder"):
            yield name, with_holes(name).facts()
    else:
        for kind, in_ in (("symmetric", "heavy"), ("lenient", "light"), ("for B", "heavy"), ("unfair to A", "light")):
            yield f"{kind}, {in_}", under_a_judge(kind, in_).facts()
    yield from _harmed(of, (0.04, 0.08))


def some_left_out(of: Of, count: int, which: LeftOut) -> Iterator[Cell]:
    for name, facts in _some(of):
        for size in ((150, 34), (300, 57), (300, 114)):
            yield cell(name, size, count, lambda c, f=facts, s=size: without_some(f, *s, c, which))


def four_looks(of: Of, count: int) -> Iterator[Cell]:
    for name, facts in _some(of):
        for n_queries in (150, 300, 1000):
            yield cell(name, (n_queries, 30), count, lambda c, f=facts, n=n_queries: looks(f, n, c))


def three_metrics(of: Of, count: int) -> Iterator[Cell]:
    sizes = ((150, 30), (300, 50), (300, 100))
    if of == "holes":
        populations = {name: with_holes(name) for name in ("heavy", "two nights", "newcomer")}
        populations |= {f"{name}, 8% lose all": with_holes(name).harmed(0.08) for name in ("alike", "two nights")}
    else:
        populations = {kind: under_a_judge(kind) for kind in ("symmetric", "for B", "misses")}
        populations["strict, 8% lose all"] = under_a_judge("strict", "alike").harmed(0.08, blank=True)
    for name, population in populations.items():
        every = [population.facts(measure) for measure in ("ndcg", "R", "RR")]
        for better in (0, 1):
            for size in sizes:
                yield cell(name, size, count, lambda c, e=every, s=size, b=better: families(e, *s, c, b))


def eight_slices(of: Of, count: int) -> Iterator[Cell]:
    for name, facts in _some(of):
        for size in ((60, 30), (150, 30), (150, 80)):
            yield cell(name, size, min(count, 500), lambda c, f=facts, s=size: slices(f, 8, *s, c))


def five_candidates(count: int) -> Iterator[Cell]:
    """Return the rates of several candidates under a judge; those that lose all do so in different queries."""
    for kind, in_, share in (
        ("symmetric", "equal", 0.0),
        ("for B", "equal", 0.0),
        ("strict", "alike", 0.04),
        ("strict", "alike", 0.08),
        ("symmetric", "alike", 0.08),
    ):
        populations = candidates(kind, 5, in_)
        if share:
            populations = [of.harmed(share, blank=True, seed=place) for place, of in enumerate(populations)]
        every = [population.facts() for population in populations]
        for better in (0, 3):
            for size in ((150, 30), (300, 50), (300, 100)):
                name = f"{kind}, {in_}, {share:.0%} lose all"
                yield cell(name, size, count, lambda c, e=every, s=size, b=better: families(e, *s, c, b))


def best_of_twenty(count: int, *, fresh: bool) -> Iterator[Cell]:
    for kind in ("symmetric", "for B", "lenient"):
        every = [population.facts() for population in candidates(kind, 20)]
        for n_queries, n_older, n in ((150, 30, 30), (150, 75, 30), (300, 50, 30), (300, 50, 50), (300, 100, 50)):
            yield cell(
                f"{kind}, {n_older} known",
                (n_queries, n),
                count,
                lambda c, e=every, q=n_queries, o=n_older, n=n: chosen(e, q, o, n, c, fresh=fresh),
            )


def in_clusters(sizes: str, count: int, *, declared: bool = True) -> Iterator[Cell]:
    for kind, in_ in (("symmetric", "heavy"), ("lenient", "heavy"), ("for B", "heavy"), ("misses", "light")):
        for measure in ("ndcg", "R", "RR"):
            facts = under_a_judge(kind, in_, sizes=sizes).facts(measure)
            for size in ((150, 30), (300, 50), (300, 100), (1000, 100)):
                yield cell(
                    f"{kind}, {in_}, {measure}",
                    size,
                    count,
                    lambda c, f=facts, s=size: clustered(f, *s, c, declared=declared),
                )
    facts = under_a_judge("strict", "alike", sizes=sizes).harmed(0.08, blank=True).facts()
    for size in ((150, 30), (300, 50), (300, 100)):
        yield cell(
            "strict, 8% lose all", size, count, lambda c, f=facts, s=size: clustered(f, *s, c, declared=declared)
        )


def by_people_who_err(people: str, count: int, *, against_the_truth: bool) -> Iterator[Cell]:
    """Return the rates by people's labels, or against what is true, of a candidate that is worse or better."""
    for kind in ("symmetric", "lenient", "for B", "misses"):
        for in_ in ("heavy", "light"):
            facts = under_a_judge(kind, in_, people=people).facts()
            truth = under_a_judge(kind, in_).facts().truth if against_the_truth else None
            for size in FEW_SIZES:
                yield cell(f"{kind}, {in_}", size, count, lambda c, f=facts, s=size, t=truth: rates(f, *s, c, truth=t))


def table_rows(of: Of, count: int) -> Iterator[tuple[str, list[Cell], bool]]:
    """Return the rows of the table: what is done, the rates in all worlds, and whether these are promised."""
    every = list(plain(of, count))
    for size in SIZES:
        yield f"{size[1]} of {size[0]:,}", [one for one in every if (one.n_queries, one.n) == size], True
    yield "few queries lose all", list(harmed(of, count)), True
    lefts: tuple[LeftOut, ...] = ("at random", "with most open items", "in which B loses most", "in which B gains most")
    for which in lefts:
        yield f"one in eight left out, {which}", list(some_left_out(of, count, which)), True
    yield "four looks", list(four_looks(of, count)), True
    yield "three metrics (Holm)", list(three_metrics(of, count)), True
    yield "eight slices of a gate (Holm)", list(eight_slices(of, count)), True
    if of == "holes":
        return
    yield "five candidates (Holm)", list(five_candidates(count)), True
    yield "the best of 20, its choice known", list(best_of_twenty(count, fresh=False)), False
    yield "- these queries left out", list(best_of_twenty(count, fresh=True)), True
    for sizes in ("4", "1 to 8", "1 or 20"):
        yield f"clusters of {sizes}", list(in_clusters(sizes, count)), True
        yield "- not declared", list(in_clusters(sizes, count, declared=False)), False
    for people in PEOPLE:
        yield (
            f"people: {people}, by their labels",
            list(by_people_who_err(people, count, against_the_truth=False)),
            True,
        )
        yield "- against the truth", list(by_people_who_err(people, count, against_the_truth=True)), False


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
    test = paired_t(np.append(of.answered, of.known))
    low, high = t_lower_bound(test), t_upper_bound(test, level=0.99)
    mean = test.mean or 0.0
    return (mean if low is None else low), (mean if high is None else high)
