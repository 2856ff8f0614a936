"""Fresh random rankings with labels, with everything in them that tools disagree about."""

from __future__ import annotations

import os
import uuid
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rankings_of import Run


def _fresh_seed() -> int:
    if given := os.environ.get("NDCG_TRACKER_SEED"):
        return int(given)
    of_run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # parallel workers must agree on the names of the tests
    return zlib.crc32((of_run or uuid.uuid4().hex).encode()) % 10**6


SEEDS = (1, _fresh_seed())
"""One seed that never changes and one that always does: a test's id names it, NDCG_TRACKER_SEED=... brings it back."""


def random_case(seed: int, *, n_groups: int = 40, grades: tuple[int, int] = (-1, 4)) -> tuple[Run, Run]:
    """Return a run and its labels; group ids are numbers, item ids words.

    There are ties, scores that differ in double precision only, unjudged items, labelled items that are not
    retrieved, groups that are missing on either side, groups without a relevant item, and lists of one item.
    """
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(120)]
    run: Run = {}
    labels: Run = {}
    for group in map(str, range(1, n_groups + 1)):
        size = int(rng.integers(1, 5 if rng.random() < 0.2 else 80))
        pool = rng.choice(items, int(rng.integers(1, 60)), replace=False).tolist()
        least, most = grades if rng.random() > 0.15 else (grades[0], 0)
        given = rng.integers(least, most + 1, len(pool)).astype(float).tolist()
        listed = rng.choice(items, size, replace=False).tolist()
        scores = _scores(rng, size).tolist()
        if rng.random() > 0.1:
            run[group] = dict(zip(listed, scores, strict=True))
        if rng.random() > 0.1:
            labels[group] = dict(zip(pool, given, strict=True))
    return run, labels


@dataclass(frozen=True)
class LabelledLists:
    """Lists in which every item is labelled, row by row, groups one after another.

    ``group_weights``: one weight per group, some of them 0, no single-precision numbers; ``item_weights``: one per row.
    """

    groups: NDArray[np.int64]
    sizes: NDArray[np.int64]
    scores: NDArray[np.float64]
    labels: NDArray[np.float64]
    group_weights: NDArray[np.float64]
    item_weights: NDArray[np.float64]

    def frame(self, weights: NDArray[np.float64] | None = None) -> dict[str, object]:
        """Return the lists as a frame, with a weight per group or per row."""
        frame: dict[str, object] = {"group": self.groups, "score": self.scores, "label": self.labels}
        if weights is not None:
            frame["weight"] = weights if weights.size == self.groups.size else np.repeat(weights, self.sizes)
        return frame


def random_lists(seed: int, *, n_groups: int = 30, most: int = 4, least_size: int = 1) -> LabelledLists:
    """Return lists with ties, near ties, groups without a relevant item, and short lists; grades from 0 to ``most``."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least_size, 45, n_groups)
    groups = np.repeat(np.arange(1, n_groups + 1), sizes)
    labels = rng.integers(0, most + 1, groups.size).astype(float)
    labels[np.isin(groups, rng.choice(n_groups, n_groups // 8, replace=False) + 1)] = 0.0
    scores = np.concatenate([_scores(rng, int(size)) for size in sizes])
    weights = rng.uniform(0.5, 3.0, n_groups)
    weights[rng.choice(n_groups, 2, replace=False)] = 0.0
    return LabelledLists(groups, sizes, scores, labels, weights, rng.uniform(0.1, 3.0, groups.size))


def _scores(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    if rng.random() < 0.2:
        return np.asarray(1.0 + rng.integers(0, 40, size) * 1e-8)
    return rng.normal(size=size).round(int(rng.integers(0, 5)))
