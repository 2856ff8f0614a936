"""Which items to judge next: those that could move the difference of two runs most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ndcg_tracker.compare.results import LabelSetRef, RunRef


@dataclass(frozen=True, slots=True)
class NeededLabel:
    """An unjudged item: its group, its id, and how far its grade could move the mean difference of two of the runs."""

    group: str
    item: str
    could_move: float


@dataclass(frozen=True, slots=True)
class NeededLabels:
    """What to judge next for a baseline and its candidates under one metric.

    ``label_set``: the newest, of which the items have no label. ``n_unjudged``: how many items there are in all in the
    first ranks of the runs. ``items``: those that could move a difference most come first.
    """

    baseline: RunRef
    candidates: tuple[RunRef, ...]
    dataset: str
    label_set: LabelSetRef
    metric: str
    n_unjudged: int
    items: tuple[NeededLabel, ...]


def most_needed(moves: Sequence[Mapping[tuple[str, str], float]], budget: int) -> tuple[NeededLabel, ...]:
    """Return the items that could move most, ``budget`` at most.

    Parameters: ``moves``: for each candidate, how far each item, by group and id, could move the difference. An item
    counts by the difference that it could move most; of equal ones the first comes first, and an item that can move
    nothing does not come.

    >>> [item.item for item in most_needed([{("q", "a"): 0.1, ("q", "b"): 0.0}, {("q", "c"): 0.2}], 3)]
    ['c', 'a']
    """
    most: dict[tuple[str, str], float] = {}
    for of_candidate in moves:
        for pair, move in of_candidate.items():
            most[pair] = max(move, most.get(pair, 0.0))
    ordered = sorted(most.items(), key=lambda found: -found[1])[:budget]
    return tuple(NeededLabel(group, item, move) for (group, item), move in ordered if move > 0)
