"""Fresh random rankings with labels, with everything in them that tools disagree about."""

from __future__ import annotations

import random

import numpy as np
from rankings_of import Run

FRESH_SEED = random.SystemRandom().randrange(10**6)
SEEDS = (1, FRESH_SEED)
"""One seed that never changes and one that always does; a test names its seed in its id."""


def random_case(seed: int, *, n_groups: int = 40, grades: tuple[int, int] = (-1, 4)) -> tuple[Run, Run]:
    """Return a run and labels, group and item ids being numbers and short words, scores exact in single precision.

    There are ties, unjudged items, labelled items that are not retrieved, groups that are missing on either side,
    groups without a relevant item, lists of one item, and items whose scores differ in double precision only.
    """
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(120)]
    run: Run = {}
    labels: Run = {}
    for group in map(str, range(1, n_groups + 1)):
        size = int(rng.integers(1, 5 if rng.random() < 0.2 else 80))
        listed = rng.choice(items, size, replace=False).tolist()
        scores = rng.normal(size=size).round(int(rng.integers(0, 5)))
        if rng.random() < 0.2:
            scores = 1.0 + rng.integers(0, 40, size) * 1e-8
        pool = rng.choice(items, int(rng.integers(1, 60)), replace=False).tolist()
        least, most = grades if rng.random() > 0.15 else (grades[0], 0)
        given = rng.integers(least, most + 1, len(pool)).astype(float).tolist()
        if rng.random() > 0.1:
            run[group] = dict(zip(listed, scores.astype(float).tolist(), strict=True))
        if rng.random() > 0.1:
            labels[group] = dict(zip(pool, given, strict=True))
    return run, labels


def random_lists(
    seed: int, *, n_groups: int = 30, most: int = 4, least_size: int = 1
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return a frame (group, item, score, label) in which every item is listed and labelled, and a weight per group.

    Groups stand one after another; there are ties, groups without a relevant item and short lists. Weights are no
    single-precision numbers; a few are 0.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(least_size, 45, n_groups)
    groups = np.repeat(np.arange(1, n_groups + 1), sizes)
    labels = rng.integers(0, most + 1, groups.size).astype(float)
    labels[np.isin(groups, rng.choice(n_groups, n_groups // 8, replace=False) + 1)] = 0.0
    scores = rng.normal(size=groups.size).round(int(rng.integers(1, 4))).astype(np.float32).astype(float)
    weights = rng.uniform(0.5, 3.0, n_groups)
    weights[rng.choice(n_groups, 2, replace=False)] = 0.0
    frame = {
        "group": groups.astype(str),
        "item": np.array([f"i{row}" for row in range(groups.size)]),
        "score": scores,
        "label": labels,
    }
    return frame, weights
