"""Worlds whose truth is known: systems that rank items by relevance and noise, and labels that cover a part of them.

Every item has a true grade; the labels hold the grades of those that somebody judged. ``true_delta`` is the difference
that complete labels would give. Each function draws one world: an old system, the baseline, and a new one whose scores
tell relevant items from others by ``skill`` standard deviations. The noise of a system has variance 1, of which it
shares a part with others: they find the same items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DEPTH = 10
N_ITEMS = 60
RELEVANT = 0.15
START, WEEKS = 40, 15
DISCOUNTS = 1 / np.log2(np.arange(2, DEPTH + 2))


@dataclass(frozen=True)
class World:
    """An old and a new system, what is relevant, and what the labels say.

    ``grades``: shape (n_queries, n_items), the true ones. ``is_judged``: which the labels hold. ``old``, ``new``: the
    scores of both systems, -inf for an item that was not there yet. ``given``: the grades of the labels, None where
    these are the true ones. ``is_by_people``: which of these labels people gave and not a model, None for all.
    ``is_logged``: whether the labels come from what users of the old system, and of others like it, met.
    """

    grades: Floats
    is_judged: Bools
    old: Floats
    new: Floats
    given: Floats | None = None
    is_by_people: Bools | None = None
    is_logged: bool = False

    @property
    def baseline(self) -> pd.DataFrame:
        """The run of the old system."""
        return _run(self.old)

    @property
    def newcomer(self) -> pd.DataFrame:
        """The run of the new system."""
        return _run(self.new)

    @property
    def labels(self) -> pd.DataFrame:
        """The labels that somebody gave."""
        return self.labels_where(self.is_judged)

    def labels_where(self, chosen: Bools) -> pd.DataFrame:
        """Return the labels of some items."""
        query, item = np.nonzero(chosen)
        labels = self.grades_given[query, item]
        return pd.DataFrame({"group": [f"q{n}" for n in query], "item": [f"d{n}" for n in item], "label": labels})

    @property
    def grades_given(self) -> Floats:
        """The grades that the labels have where there are labels."""
        return self.grades if self.given is None else self.given

    @property
    def judged_shares(self) -> tuple[float, float]:
        """Which share of the first ten of each system is judged."""
        old, new = (self._of_first(self.is_judged, scores).mean() for scores in (self.old, self.new))
        return float(old), float(new)

    @property
    def shares_by_people(self) -> tuple[float, float]:
        """Which share of the judged items of these people labelled."""
        if self.is_by_people is None:
            return 1.0, 1.0
        of_people = [self._of_first(self.is_by_people, scores).sum() for scores in (self.old, self.new)]
        of_all = [self._of_first(self.is_judged, scores).sum() for scores in (self.old, self.new)]
        return float(of_people[0] / of_all[0]), float(of_people[1] / of_all[1])

    @property
    def worth_of_holes(self) -> tuple[float, float]:
        """What unjudged items of the first ten are worth in each system, in mean gains of judged items at their rank.

        The range takes it for at most 1. NaN where nothing is unjudged.
        """
        old, new = (self._worth(scores) for scores in (self.old, self.new))
        return old, new

    def _worth(self, scores: Floats) -> float:
        is_judged, gains = self._of_first(self.is_judged, scores), self._of_first(self.grades, scores)
        means = (self._of_first(self.grades_given, scores) * is_judged).sum(axis=0) / np.maximum(
            is_judged.sum(axis=0), 1
        )
        expected = (~is_judged * means * DISCOUNTS).sum()
        return float((~is_judged * gains * DISCOUNTS).sum() / expected) if expected else float("nan")

    def _of_first(self, of_items: NDArray[Any], scores: Floats) -> NDArray[Any]:
        """Return the entries of the first ten of each query that has a label."""
        labelled = self.is_judged.any(axis=1)
        return np.take_along_axis(of_items[labelled], first_items(scores[labelled], DEPTH), axis=1)

    @property
    def true_values(self) -> tuple[float, float]:
        """The mean ndcg@10 of both systems under complete labels, of the items that each could rank."""
        labelled = self.is_judged.any(axis=1)
        old, new = (_ndcg(self.grades, scores)[labelled] for scores in (self.old, self.new))
        return float(old.mean()), float(new.mean())

    @property
    def true_delta(self) -> float:
        """The mean difference of ndcg@10 under complete labels, new minus old."""
        old, new = self.true_values
        return new - old

    @property
    def swapped(self) -> World:
        """The same world with the new system as the baseline."""
        return replace(self, old=self.new, new=self.old)


def pooled_world(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world of grades 0 and 1 with a pool of four systems, of which the old is one and the new is none."""
    grades = (rng.random((n_queries, N_ITEMS)) < RELEVANT).astype(float)
    shared = rng.normal(size=grades.shape)
    pooled = [grades + 0.8 * shared + 0.6 * rng.normal(size=grades.shape) for _ in range(4)]
    new = skill * grades + 0.6 * shared + 0.8 * rng.normal(size=grades.shape)
    return World(grades, _first(*pooled), pooled[0], new)


def newcomer(
    rng: np.random.Generator, n_queries: int, skill: float, *, systems: int = 4, shared_part: float = 0.5
) -> World:
    """Return a world of grades 0 to 3 with such a pool; a third of the newcomer's first ten is outside of it.

    The old system has skill 1, and the newcomer of skill 1 is as good. ``systems``: how many are pooled;
    ``shared_part``: of the noise of the newcomer.
    """
    grades, shared = _graded(rng, (n_queries, N_ITEMS)), rng.normal(size=(n_queries, N_ITEMS))
    pooled = [grades / 1.5 + _noise(rng, shared, 0.8) for _ in range(systems)]
    new = skill * grades / 1.5 + _noise(rng, shared, shared_part)
    return World(grades, _first(*pooled), pooled[0], new)


def weekly(rng: np.random.Generator, n_queries: int, skill: float, *, week: int = 15, since: int = 0) -> World:
    """Return a weekly run on a corpus that grows from 40 items to 49, and an earlier one; all labels are of week 0.

    The earlier run has skill 1.18. Each is scored by what the corpus of its week has.
    """
    grades = _graded(rng, (n_queries, START + 9))
    shared = rng.normal(size=grades.shape)
    old, new = (
        np.where(np.arange(START + 9) < START + 9 * at // WEEKS, of * grades / 1.5 + _noise(rng, shared, 0.9), -np.inf)
        for at, of in ((since, 1.18), (week, skill))
    )
    return World(grades, np.broadcast_to(np.arange(START + 9) < START, grades.shape), old, new)


def changed(
    rng: np.random.Generator,
    n_queries: int,
    skill: float,
    *,
    demoted: float = 0.0,
    relevant: float = RELEVANT,
    shared_part: float = 0.97,
) -> World:
    """Return a small change of one system, of skill 1.2, on the corpus of week 15: both rank nearly the same holes.

    ``demoted``: by how much the new system ranks items without labels lower; ``relevant``: which share of these is
    relevant; ``shared_part``: of the noise of both systems.
    """
    grades = np.hstack([_graded(rng, (n_queries, START)), _graded(rng, (n_queries, 9), relevant)])
    shared = rng.normal(size=grades.shape)
    is_new = np.arange(START + 9) >= START
    old = 1.2 * grades / 1.5 + _noise(rng, shared, shared_part)
    new = skill * grades / 1.5 + _noise(rng, shared, shared_part) - demoted * is_new
    return World(grades, np.broadcast_to(~is_new, grades.shape), old, new)


def logged(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world where the labels are four of five relevant items that users met in the first ten of old systems.

    There are two of them, of skill 0.8, and the baseline is one.
    """
    grades = (rng.random((n_queries, N_ITEMS)) < RELEVANT).astype(float)
    shared = rng.normal(size=grades.shape)
    old, other = (0.8 * grades + _noise(rng, shared, 0.7) for _ in range(2))
    new = skill * grades + _noise(rng, shared, 0.4)
    is_clicked = _first(old, other) & (grades > 0) & (rng.random(grades.shape) < 0.8)
    return World(grades, is_clicked, old, new, is_logged=True)


def sampled(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world where 300 random pairs are judged, of all that the old system ranks first: 50 items a query.

    Its skill is 1.
    """
    grades = _graded(rng, (n_queries, 80))
    shared = rng.normal(size=grades.shape)
    old = grades / 1.5 + _noise(rng, shared, 0.8)
    new = skill * grades / 1.5 + _noise(rng, shared, 0.8)
    ranked = np.flatnonzero(_first(old, depth=50))
    is_judged = np.zeros(grades.size, dtype=np.bool_)
    is_judged[rng.choice(ranked, 300, replace=False)] = True
    return World(grades, is_judged.reshape(grades.shape), old, new)


def lenient(
    rng: np.random.Generator, n_queries: int, skill: float, *, systems: int = 4, shared_part: float = 0.5
) -> World:
    """Return a world where a model judged a pool, with a grade too much for 27% of it, and people the newcomer's rest.

    Old and new system are those of ``newcomer``. Nothing is unjudged in the first ten of either.
    """
    world = newcomer(rng, n_queries, skill, systems=systems, shared_part=shared_part)
    is_lifted = world.is_judged & (rng.random(world.grades.shape) < 0.27)
    is_by_people = _first(world.new) & ~world.is_judged
    given = np.minimum(world.grades + is_lifted, 3.0)
    return replace(world, is_judged=world.is_judged | is_by_people, given=given, is_by_people=is_by_people)


def semantic(
    rng: np.random.Generator, n_queries: int, skill: float, *, words: float = 1.6, shared_part: float = 0.5
) -> World:
    """Return a world where the pool is of four systems that match words, and the new system does not need them.

    Half of the relevant items have other words than the query. ``words``: how well the pool tells the others from the
    rest. ``shared_part``: of the noise of the new system.
    """
    grades, by_words, shared = _by_words(rng, n_queries, words)
    pooled = [by_words + _noise(rng, shared, 0.85) for _ in range(4)]
    new = skill * grades / 1.5 + _noise(rng, shared, shared_part)
    return World(grades, _first(*pooled), pooled[0], new)


def outside(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world where the pool is of systems that match words, and neither the old nor the new one is among them.

    Half of the relevant items have other words. Of these the old system ranks a half high, and the new one as many
    that are not relevant. Of items with the words of the query the new one knows more: ``skill`` against 1.4.
    """
    grades, by_words, shared = _by_words(rng, n_queries)
    pooled = [by_words + _noise(rng, shared, 0.85) for _ in range(4)]
    is_relevant = grades > 0
    has_other_words = is_relevant & (by_words == 0)
    chosen = rng.random(grades.shape) < 0.5
    is_junk = ~is_relevant & (rng.random(grades.shape) < 0.5 * has_other_words.sum() / (~is_relevant).sum())
    old = by_words + 2.5 * (has_other_words & chosen) + _noise(rng, shared, 0.85)
    new = skill / 1.4 * by_words + 2.5 * is_junk + _noise(rng, shared, 0.85)
    return World(grades, _first(*pooled), old, new)


def finder(rng: np.random.Generator, n_queries: int, skill: float) -> World:
    """Return a world against the range: nearly all that the new system ranks outside of the pool is relevant.

    Half of the relevant items have other words than the query, and the new system knows all of these; of the others it
    knows less than the pooled systems: ``skill`` against 1.4.
    """
    grades, by_words, shared = _by_words(rng, n_queries)
    pooled = [by_words + _noise(rng, shared, 0.85) for _ in range(4)]
    new = skill / 1.4 * by_words + 2.5 * ((grades > 0) & (by_words == 0)) + _noise(rng, shared, 0.85)
    return World(grades, _first(*pooled), pooled[0], new)


def first_items(scores: Floats, depth: int) -> NDArray[np.int64]:
    """Return the places of the best items of each query, best first."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def _graded(rng: np.random.Generator, shape: tuple[int, int], relevant: float = RELEVANT) -> Floats:
    """Return grades: of the relevant items a half has 1, three of ten 2, the others 3."""
    drawn = rng.random(shape) / relevant
    return np.select([drawn < 0.2, drawn < 0.5, drawn < 1.0], [3.0, 2.0, 1.0], 0.0)


def _by_words(rng: np.random.Generator, n_queries: int, skill: float = 1.4) -> tuple[Floats, Floats, Floats]:
    """Return grades, what a system sees of them that matches words, and the noise that such systems share.

    Half of the relevant items do not have the words of the query.
    """
    grades = _graded(rng, (n_queries, N_ITEMS))
    has_words = rng.random(grades.shape) < 0.5
    return grades, skill * grades / 1.5 * has_words, rng.normal(size=grades.shape)


def _noise(rng: np.random.Generator, shared: Floats, part: float) -> Floats:
    """Return noise of variance 1 whose correlation with ``shared`` is ``part``."""
    return np.asarray(part * shared + (1 - part**2) ** 0.5 * rng.normal(size=shared.shape))


def _first(*systems: Floats, depth: int = DEPTH) -> Bools:
    """Return which items are among the first of any system."""
    found = np.zeros(systems[0].shape, dtype=np.bool_)
    for scores in systems:
        np.put_along_axis(found, first_items(scores, depth), True, axis=1)
    return found


def _ndcg(grades: Floats, scores: Floats) -> Floats:
    """Return ndcg@10 of each query under complete labels of the items that have a score."""
    grades = np.where(np.isfinite(scores), grades, 0.0)
    ideal = -np.sort(-grades, axis=1)[:, :DEPTH] @ DISCOUNTS
    gained = np.take_along_axis(grades, first_items(scores, DEPTH), axis=1) @ DISCOUNTS
    return np.asarray(np.where(ideal > 0, gained / np.where(ideal > 0, ideal, 1.0), 0.0))


def _run(scores: Floats) -> pd.DataFrame:
    best = first_items(scores, 2 * DEPTH)
    query = np.repeat(np.arange(scores.shape[0]), best.shape[1])
    return pd.DataFrame(
        {
            "group": [f"q{number}" for number in query],
            "item": [f"d{number}" for number in best.ravel()],
            "score": np.take_along_axis(scores, best, axis=1).ravel(),
        }
    )
