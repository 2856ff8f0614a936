"""Files to ingest: TREC runs with their qrels, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_LABELS = 5


@dataclass(frozen=True)
class Material:
    """A run and its labels as files."""

    run: Path
    labels: Path
    n_groups: int
    n_items: int


def write_material(folder: Path, name: str, n_groups: int, items_per_group: int, seed: int) -> Material:
    """Write a run and its qrels: the first items of every group have labels. Memory for one group at a time."""
    rng = np.random.default_rng(seed)
    run, labels = folder / f"{name}.run", folder / f"{name}.qrels"
    scores = [f"{score:.6f}" for score in np.sort(rng.normal(size=items_per_group))[::-1]]
    with run.open("w", encoding="ascii") as run_file, labels.open("w", encoding="ascii") as label_file:
        for group in range(n_groups):
            items = rng.integers(10_000_000) + np.arange(items_per_group) * 7919  # no two equal
            lines = [f"q{group} Q0 d{item} 1 {score} t" for item, score in zip(items, scores, strict=True)]
            run_file.write("\n".join(lines) + "\n")
            grades = rng.integers(0, 4, N_LABELS).tolist()
            judged = zip(items.tolist(), grades, strict=False)
            label_file.write("".join(f"q{group} 0 d{item} {grade}\n" for item, grade in judged))
    return Material(run, labels, n_groups, n_groups * items_per_group)
