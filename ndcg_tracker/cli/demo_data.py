"""A small shop search: 150 queries, graded labels, and four systems with known differences; always the same files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from random import Random

_LOOKS = ("red", "waterproof", "vintage", "kids", "light", "organic", "foldable", "wireless", "slim", "heavy duty")
_THINGS = (
    "running shoes",
    "rain jacket",
    "desk lamp",
    "backpack",
    "headphones",
    "water bottle",
    "office chair",
    "yoga mat",
    "phone case",
    "coffee grinder",
    "tent",
    "bike light",
    "wall clock",
    "cutting board",
    "travel pillow",
)
_N_PRODUCTS = 24
_N_LISTED = 20
_GRADES = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3)

# How strongly a system's score depends on the grade, its noise, and its loss on queries that end in these words.
_SYSTEMS = {
    "bm25": (0.55, 1.0, {}),
    "bm25-synonyms": (0.62, 1.0, {}),
    "dense": (0.95, 1.0, {"phone case": 1.2, "bike light": 1.2}),
    "dense-int8": (0.95, 1.0, {"phone case": 1.2, "bike light": 1.2}),
}

RUNS = tuple(_SYSTEMS)
DATASET = "shop"


def write_demo_files(folder: Path) -> list[Path]:
    """Write ``labels.csv``, ``groups.csv`` and one CSV file per run into a folder; return the paths of the runs."""
    folder.mkdir(parents=True, exist_ok=True)
    random = Random(2024)
    labels: list[tuple[str, str, int]] = []
    groups: list[tuple[str, str]] = []
    rows: dict[str, list[tuple[str, str, float]]] = {name: [] for name in _SYSTEMS}
    for look, thing in product(_LOOKS, _THINGS):
        query = f"{look} {thing}"
        groups.append((query, thing))
        skus = [f"sku-{number}" for number in random.sample(range(1000, 10_000), _N_PRODUCTS)]
        grades = {sku: random.choice(_GRADES) for sku in skus}
        labels += [(query, sku, grades[sku]) for sku in skus[: _N_PRODUCTS - 2]]
        luck = {sku: _noise(random) for sku in skus}
        shared = {sku: _noise(random) for sku in skus}
        for name, (skill, noise, losses) in _SYSTEMS.items():
            skill -= losses.get(thing, 0.0)
            own = luck if name.startswith("bm25") else shared
            jitter = 0.02 if name == "dense-int8" else 0.25 if name == "bm25-synonyms" else 0.0
            scores = {sku: skill * grades[sku] + noise * own[sku] + jitter * _noise(random) for sku in skus}
            best = sorted(skus, key=lambda sku: -scores[sku])[:_N_LISTED]
            rows[name] += [(query, sku, round(scores[sku], 4)) for sku in best]
    _write(folder / "labels.csv", ("group", "item", "label"), labels)
    _write(folder / "groups.csv", ("group", "product"), groups)
    paths = [folder / f"{name}.csv" for name in _SYSTEMS]
    for path, name in zip(paths, _SYSTEMS, strict=True):
        _write(path, ("group", "item", "score"), rows[name])
    return paths


def _noise(random: Random) -> float:
    """Return a number with mean 0 and standard deviation 1, from ``random()`` alone: the same everywhere."""
    return sum(random.random() for _ in range(12)) - 6.0


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
