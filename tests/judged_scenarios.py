"""What may be done with the answers to a drawn sample, and what may not: error rates in worlds of ``judged_rates``.

A second candidate on the items of two designs, looks at a growing sample, groups of one user, the best of many
candidates by the first answers, and a run that was tuned on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from judged_rates import (
    JUDGES,
    N_ITEMS,
    Cell,
    Judge,
    ManyTests,
    Observed,
    World,
    cell_of,
    discounts,
    ideals,
    population,
)
from populations import Floats

from ndcg_tracker.statistics.drawn import DrawnLabels, inclusion_probabilities
from ndcg_tracker.statistics.t_test import FEW_DIFFERENCES, clustered_t, paired_t

CANDIDATES = 40
SIZE_OF_CLUSTER = 5


def _rng(name: str, judge: Judge, *numbers: int) -> np.random.Generator:
    return np.random.default_rng([*name.encode(), JUDGES.index(judge), *numbers])


def _weights(judge: Judge, scores: Floats) -> Floats:
    """Return the weights of the items under another candidate of the population of equal systems."""
    of = population(judge, "equal")
    return np.asarray((discounts(scores) - discounts(of.worth + of.other)) / ideals(of.judged)[:, None])


def _same_and_fresh(
    rng: np.random.Generator, of: World, budget: int, numbers: Floats, first: Floats
) -> tuple[DrawnLabels, DrawnLabels]:
    """Return the labels of a second design with the random numbers of the first one, and with fresh ones.

    Parameters: ``numbers``, ``first``: float64, shape (n, 25), of each item, and with which probability the first
    design had it. With fresh numbers the answers to the first one count as they are, and of the others are drawn as
    many again.
    """
    places = (of.groups, of.items)
    united = np.maximum(of.probabilities(budget), first[places])
    known = (numbers < first)[places]
    others = np.ones(known.size)
    others[~known] = inclusion_probabilities(of.weights[~known], budget)
    is_drawn = (numbers[places] < united, rng.random(known.size) < others)
    return of.labels(np.flatnonzero(is_drawn[0]), united), of.labels(np.flatnonzero(is_drawn[1]), others)


def second_candidate(judge: Judge, n: int, budget: int, worlds: int) -> tuple[Cell, Cell]:
    """Return what is said of a second candidate by its own design, and by the items of both designs.

    It shares a part of the first one's quirk. An item is known where its number is below the larger probability.
    """
    of, rng = population(judge, "equal"), _rng("second", judge, n, budget)
    weights = _weights(judge, of.worth + 0.6 * of.quirk + 0.8 * rng.normal(size=of.worth.shape))
    alone, united = [], []
    for _ in range(worlds):
        rows = of.rows(rng, n)
        first, second = of.world(rows), of.world(rows, weights[rows])
        numbers = rng.random((n, N_ITEMS))[second.groups, second.items]
        own = second.probabilities(budget)
        larger = np.maximum(own, first.spread_out(first.probabilities(budget))[second.groups, second.items])
        for found, probabilities in ((alone, own), (united, larger)):
            found.append(Observed.of(second.labels(np.flatnonzero(numbers < probabilities), probabilities)))
    truth = of.truth_of(weights)
    return cell_of(n, budget, alone, truth), cell_of(n, budget, united, truth)


@dataclass(frozen=True)
class Looks:
    """How often some look at a growing sample refutes the truth: at 5% each, and at as much of it as each one's share.

    ``marked``: the same shares where looks with few informative labels count too, whose verdicts are marked.
    """

    each: float
    shared: float
    marked: tuple[float, float]


def looks(judge: Judge, n: int, budget: int, worlds: int, k: int) -> Looks:
    """Return the errors of k looks at equal steps up to a budget."""
    of, rng = population(judge, "equal"), _rng("looks", judge, n, budget, k)
    tests, informative = [], []
    for _ in range(worlds):
        world = of.world(of.rows(rng, n))
        numbers = rng.random(world.weights.size)
        for look in range(1, k + 1):
            probabilities = world.probabilities(budget * look / k)
            labels = world.labels(np.flatnonzero(numbers < probabilities), probabilities)
            tests.append(paired_t(labels.corrected_deltas()))
            informative.append(int(labels.informative.sum()))
    both, are_enough = ManyTests.of(tests), np.array(informative) >= FEW_DIFFERENCES

    def share(alpha: float, *, marked: bool) -> float:
        errs = both.refute(of.truth, alpha) & (are_enough | marked)
        return float(errs.reshape(worlds, k).any(axis=1).mean())

    marked = (share(0.05, marked=True), share(0.05 / k, marked=True))
    return Looks(share(0.05, marked=False), share(0.05 / k, marked=False), marked)


def users(judge: Judge, n: int, budget: int, worlds: int, *, spread: float = 0.5) -> tuple[Cell, Cell]:
    """Return what is said where a user's groups share how good the candidate is: by clusters, and by groups alone."""
    of, rng = (
        population(judge, "equal", spread=spread, size_of_cluster=SIZE_OF_CLUSTER),
        _rng("users", judge, n, budget),
    )
    clusters = np.arange(n) // SIZE_OF_CLUSTER
    by_clusters, by_groups = [], []
    for _ in range(worlds):
        labels = of.world(of.rows(rng, n)).drawn(rng, budget)
        by_clusters.append(Observed.of(labels, test=lambda deltas: clustered_t(deltas, clusters)))
        by_groups.append(Observed.of(labels))
    return cell_of(n, budget, by_clusters, of.truth), cell_of(n, budget, by_groups, of.truth)


def best_of_many(judge: Judge, n: int, budget: int, worlds: int) -> tuple[Cell, Cell, Cell]:
    """Return what is said of the best of 40 candidates by the first answers, after a design of its own.

    With the same random numbers; the same against its difference in these very groups, which leaves aside that the best
    of many is lucky in its groups too; and with fresh numbers, where known answers count as they are.
    """
    of, rng = population(judge, "equal"), _rng("best", judge, n, budget)
    pool = rng.choice(len(of.true), 4_000, replace=False)
    of = replace(
        of, **{name: getattr(of, name)[pool] for name in ("worth", "other", "quirk", "true", "judged", "weights")}
    )
    before, ideal = discounts(of.worth + of.other), ideals(of.judged)[:, None]
    candidates = []
    for _ in range(CANDIDATES):
        quirk = 0.5**0.5 * (of.quirk + rng.normal(size=of.quirk.shape))
        candidates.append((discounts(of.worth + quirk) - before) / ideal)
    truths = [of.truth_of(weights) for weights in candidates]
    found, in_these, fresh = [], [], []
    for _ in range(worlds):
        rows = of.rows(rng, n)
        numbers, world = rng.random((n, N_ITEMS)), of.world(rows)
        first = world.spread_out(world.probabilities(budget))
        estimates = []
        for weights in candidates:
            other = of.world(rows, weights[rows])
            of_first = first[other.groups, other.items]
            labels = other.labels(np.flatnonzero(numbers[other.groups, other.items] < of_first), of_first)
            estimates.append(labels.corrected_deltas().mean())
        best = int(np.argmax(estimates))
        chosen = of.world(rows, candidates[best][rows])
        again = _same_and_fresh(rng, chosen, budget, numbers, first)
        found.append(Observed.of(again[0], truths[best]))
        in_these.append(replace(found[-1], truth=chosen.own_delta))
        fresh.append(Observed.of(again[1], truths[best]))
    return cell_of(n, budget, found, None), cell_of(n, budget, in_these, None), cell_of(n, budget, fresh, None)


def tuned(judge: Judge, n: int, budget: int, worlds: int, strength: float) -> tuple[Cell, Cell]:
    """Return what is said of a run that was tuned on the answers: with the same random numbers, and with fresh ones.

    It moves the items of which people said something else than the judge, by ``strength`` a grade. With fresh numbers
    the known answers count as they are, and others are drawn anew.
    """
    of, rng = population(judge, "equal"), _rng("tuned", judge, n, budget, int(100 * strength))
    same, fresh, own = [], [], []
    for _ in range(worlds):
        rows = of.rows(rng, n)
        world, numbers = of.world(rows), rng.random((n, N_ITEMS))
        first = world.spread_out(world.probabilities(budget))
        true, judged = of.true[rows], of.judged[rows]
        scores = of.worth[rows] + of.quirk[rows] + strength * np.where(numbers < first, true - judged, 0)
        weights = (discounts(scores) - discounts(of.worth[rows] + of.other[rows])) / ideals(judged)[:, None]
        run = of.world(rows, weights)
        again = _same_and_fresh(rng, run, budget, numbers, first)
        same.append(Observed.of(again[0]))
        fresh.append(Observed.of(again[1]))
        own.append(run.own_delta)
    truth = float(np.mean(own))
    return cell_of(n, budget, same, truth), cell_of(n, budget, fresh, truth)
