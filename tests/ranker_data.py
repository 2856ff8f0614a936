"""Generated data to train rankers on: two splits of queries, whose features say something about the grades."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ndcg_tracker as nt


@dataclass(frozen=True)
class Split:
    """One row per document: its features (n, 4), grade (0 to 4), query and id, and how many rows each query has."""

    features: NDArray[np.float64]
    labels: NDArray[np.int64]
    group: NDArray[np.int64]
    item: list[str]
    sizes: NDArray[np.int64]


def split(seed: int, n_groups: int = 40) -> Split:
    """Return queries with 5 to 19 documents each; one in ten has no relevant document."""
    random = np.random.default_rng(seed)
    sizes = random.integers(5, 20, n_groups)
    group = np.repeat(np.arange(1, n_groups + 1), sizes)
    features = random.normal(size=(len(group), 4)).round(2)
    signal = features[:, 0] + features[:, 1] + random.normal(size=len(group))
    labels = np.where(group % 10 == 0, 0, np.clip(signal, 0, 4)).astype(np.int64)
    return Split(features, labels, group, [f"sku-{row:04}" for row in range(len(group))], sizes)


TRAIN, VALID = split(1), split(2)


def means_of_training(database: str | Path, metric: str) -> dict[str, float]:
    """Return the mean of every stored iteration, then that of the finished model, by the name of the run."""
    with nt.Tracker(database) as tracker:
        frames = [tracker.history(metric, tags={"stage": stage}) for stage in ("iteration", "final")]
    return {run: mean for frame in frames for run, mean in zip(frame["run"], frame["mean"], strict=True)}
