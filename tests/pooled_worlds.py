"""Worlds whose truth is known: systems that rank items by relevance and noise, and labels from a pool of some of them.

Every item has a true grade, 0 or 1. The labels hold the first ten of four pooled systems, with the true grades; a
newcomer ranks items that nobody pooled. ``true_delta`` is the difference that complete labels would give.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import ndcg_tracker as nt

DEPTH = 10
N_ITEMS = 60


@dataclass(frozen=True)
class World:
    """Runs of a pooled baseline and a newcomer, the labels of the pool, and what complete labels would say."""

    baseline: pd.DataFrame
    newcomer: pd.DataFrame
    labels: pd.DataFrame
    complete: pd.DataFrame

    @property
    def true_delta(self) -> float:
        """The mean difference of ndcg@10 under complete labels, newcomer minus baseline."""
        baseline, newcomer = (
            nt.evaluate(run, "ndcg@10", labels=self.complete).mean["ndcg@10"] for run in (self.baseline, self.newcomer)
        )
        return float(newcomer - baseline)


def pooled_world(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world in which a newcomer's scores tell relevant items from others by ``skill`` standard deviations."""
    grades = (rng.random((n_queries, N_ITEMS)) < 0.15).astype(float)
    shared = rng.normal(size=grades.shape)  # what pooled systems have in common: they find the same items
    pooled = [grades + 0.8 * shared + 0.6 * rng.normal(size=grades.shape) for _ in range(4)]
    own = skill * grades + 0.6 * shared + 0.8 * rng.normal(size=grades.shape)
    first = [np.argsort(-scores, axis=1)[:, :DEPTH] for scores in pooled]
    is_judged = np.zeros(grades.shape, dtype=bool)
    for places in first:
        np.put_along_axis(is_judged, places, True, axis=1)
    return World(_run(pooled[0]), _run(own), _rows(grades, is_judged), _rows(grades, np.ones_like(is_judged)))


def _run(scores: np.ndarray) -> pd.DataFrame:
    best = np.argsort(-scores, axis=1)[:, : 2 * DEPTH]
    query = np.repeat(np.arange(scores.shape[0]), best.shape[1])
    return pd.DataFrame(
        {
            "group": [f"q{number}" for number in query],
            "item": [f"d{number}" for number in best.ravel()],
            "score": np.take_along_axis(scores, best, axis=1).ravel(),
        }
    )


def _rows(grades: np.ndarray, chosen: np.ndarray) -> pd.DataFrame:
    query, item = np.nonzero(chosen)
    return pd.DataFrame(
        {"group": [f"q{n}" for n in query], "item": [f"d{n}" for n in item], "label": grades[query, item]}
    )
