"""Runs made from ranks: every group has one relevant item, and its rank is what a test is about."""

from __future__ import annotations

from collections.abc import Sequence

N_ITEMS = 5


def frame_of_ranks(ranks: Sequence[int]) -> dict[str, list[object]]:
    """Return a run whose relevant item is at these ranks, 1 to 5, group by group."""
    frame: dict[str, list[object]] = {"group": [], "item": [], "score": []}
    for number, rank in enumerate(ranks):
        others = iter(range(1, N_ITEMS))
        for place in range(1, N_ITEMS + 1):
            frame["group"].append(f"q{number:04}")
            frame["item"].append("relevant" if place == rank else f"other{next(others)}")
            frame["score"].append(float(N_ITEMS - place))
    return frame


def labels_of_ranks(n_groups: int) -> dict[str, list[object]]:
    """Return the labels of these runs."""
    return {
        "group": [f"q{number:04}" for number in range(n_groups)],
        "item": ["relevant"] * n_groups,
        "label": [1] * n_groups,
    }
