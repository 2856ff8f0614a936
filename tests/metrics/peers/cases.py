"""Lists and labels with everything in them that tools disagree about, the same in every environment.

Only the standard library is used: the scripts beside this file run in environments of other tools.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Case:
    """A run and its labels: ``name``, the score of each item of each group in input order, the grade of each label.

    ``ties``: whether scores repeat inside a list. ``grades``: those in use, ascending.
    """

    name: str
    run: Run
    labels: Run
    ties: bool
    grades: tuple[float, ...]

    def with_something_to_find(self) -> Case:
        """Return the case without the labels of groups that have no relevant item; its name ends in +."""
        labels = {group: pool for group, pool in self.labels.items() if any(grade > 0 for grade in pool.values())}
        return replace(self, name=f"{self.name}+", labels=labels)

    def ranked(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each group of the run with its items, best first, equal scores in input order."""
        for group, items in self.run.items():
            yield group, sorted(items, key=items.__getitem__, reverse=True)


def case(seed: int, *, ties: bool, grades: tuple[float, ...], n_groups: int = 12) -> Case:
    """Return a case: lists of 1 to 14 items that are not sorted by score, most with labels.

    Beside the ordinary groups there are: one without relevant item, one whose labels the list has none of, one that the
    run lacks, one that both lacks and has no relevant item, one without labels, one of one item, one with every item
    labelled, one with more relevant items than its list has.
    """
    random = Random(seed)
    items = [f"i{number:02}" for number in range(30)]
    run: Run = {}
    labels: Run = {}
    for number in range(n_groups):
        group = f"u{number:02}"
        size = 1 if number == 5 else random.randint(2, 14)
        listed = random.sample(items, size)
        pool = random.sample(items, random.randint(3, 14))
        if number == 1:
            pool = [item for item in pool if item not in listed] or ["j00"]
        elif number == 6:
            pool = list(listed)
        elif number == 7:
            pool = [*listed, *(item for item in items if item not in listed)][: size + 8]
        scores = [random.randint(0, 5) / 4 for _ in listed] if ties else random.sample(range(-20, 40), size)
        given = [random.choice(grades) for _ in pool]
        if number in (0, 3):
            given = [0.0] * len(pool)
        elif number == 7:
            given = [grades[-1]] * len(pool)
        elif not any(given):
            given[0] = grades[-1]
        if number not in (2, 3):
            run[group] = dict(zip(listed, map(float, scores)))  # noqa: B905 - older Pythons
        if number != 4:
            labels[group] = dict(zip(pool, map(float, given)))  # noqa: B905
    return Case(f"{'tied' if ties else 'untied'}-{grades[-1]:g}-{seed}", run, labels, ties, grades)


BINARY, GRADED = (0.0, 1.0), (0.0, 1.0, 2.0, 3.0)
CASES = tuple(case(seed, ties=seed % 2 == 1, grades=GRADED if seed > 2 else BINARY) for seed in range(1, 5))


def line(of: Case, metric: str, mean: float | None, per_group: Mapping[str, float | None] | None = None) -> str:
    """Return what a tool returned for a case, as a line of ``values/``."""
    row: dict[str, object] = {"case": of.name, "metric": metric, "mean": _number(mean)}
    if per_group is not None:
        row["per_group"] = {group: _number(value) for group, value in sorted(per_group.items())}
    return json.dumps(row)


def _number(value: float | None) -> float | str | None:
    return "NaN" if value is not None and math.isnan(value) else None if value is None else float(value)
