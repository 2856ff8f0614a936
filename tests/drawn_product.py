"""Populations of ``drawn_worlds`` in a database: two runs, a judge's or people's labels, and people who answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawn_worlds import Measure, Population, Ranks, holes

import ndcg_tracker as nt
from ndcg_tracker.statistics.drawn_queries import DrawnMean, DrawnQueries, draw_order, stakes_of


def some_queries(population: Population, n: int, seed: int = 0) -> Population:
    """Return some queries of a population, the ones without a label left out."""
    rows = np.random.default_rng([7, seed]).choice(len(population.gains), n, replace=False)
    ranks = population.ranks[0][rows], population.ranks[1][rows]
    if population.judged is None:
        parts = [getattr(population, name)[rows] for name in ("guess", "without", "is_open", "cluster")]
        return Population(population.gains[rows], ranks, *parts, population.greatest)
    rows = rows[population.judged[rows].any(axis=1)]
    return holes(population.gains[rows], population.judged[rows], population.ranks[0][rows], population.ranks[1][rows])


def run_of(ranks: Ranks) -> dict[str, list[Any]]:
    """Return a run that ranks items so."""
    query, item = np.nonzero(ranks)
    scores = (-ranks[query, item]).astype(float).tolist()
    return {"group": [f"q{n}" for n in query], "item": [f"d{n}" for n in item], "score": scores}


def labels_where(grades: Any, is_there: Any) -> dict[str, list[Any]]:
    """Return the grades of some items as labels."""
    query, item = np.nonzero(is_there)
    return {
        "group": [f"q{n}" for n in query],
        "item": [f"d{n}" for n in item],
        "label": grades[query, item].astype(int).tolist(),
    }


def store(tracker: nt.Tracker, population: Population, dataset: str, metrics: str = "ndcg@10") -> dict[str, Any]:
    """Store both runs as A and B, and return the judge and the dataset as arguments."""
    a, b = population.ranks
    is_there = (a > 0) | (b > 0) if population.judged is None else population.judged
    of_judge = {"judge": "llama"} if population.judged is None else {}
    labels = labels_where(population.without, is_there)
    for name, ranks in (("A", a), ("B", b)):
        tracker.ingest(run_of(ranks), labels=labels, name=name, dataset=dataset, metrics=metrics, **of_judge)
    return {"dataset": dataset, **of_judge}


def ask(tracker: nt.Tracker, population: Population, budget: int, call: dict[str, Any], **further: Any) -> int:
    """Draw queries, let people answer them all, and return how many were drawn."""
    sample = tracker.labels_sample("A", "B", budget=budget, **call, **further).sample
    answer(tracker, population, [(item.group, item.item) for item in sample.items], sample.design, call)
    return sample.n_drawn


def answer(
    tracker: nt.Tracker, population: Population, pairs: list[tuple[str, str]], design: int, call: dict[str, Any]
) -> None:
    """Answer some items of a design as people would."""
    grades = [int(population.gains[int(group[1:]), int(item[1:])]) for group, item in pairs]
    frame = {"group": [group for group, _ in pairs], "item": [item for _, item in pairs], "label": grades}
    tracker.add_answers(frame, design=design, judge="ann" if "judge" in call else None, dataset=call["dataset"])


def by_hand(population: Population, measure: Measure, budget: int, seed: str) -> DrawnMean:
    """Return the mean of the queries that a budget draws, from the arrays of the population."""
    facts = population.facts(measure)
    rest = np.flatnonzero(~facts.known)
    order = rest[draw_order(seed, [f"q{n}".encode() for n in rest.tolist()])]
    drawn = order[: np.searchsorted(np.cumsum(facts.n_asked[order]), budget, "right")]
    others = np.setdiff1d(rest, drawn)
    return DrawnQueries(
        facts.true[drawn],
        facts.control[drawn],
        facts.control[others],
        stakes_of(facts.guessed[rest], facts.costs[rest], facts.value[drawn]),
        facts.true[facts.known],
    ).mean()
