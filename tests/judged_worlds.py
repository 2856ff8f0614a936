"""A judge that likes the quirk of one of two equal systems, as frames, and what people would say of every item."""

import numpy as np

Frame = dict[str, list[object]]
N_GROUPS, N_ITEMS = 40, 12
CUTS = (0.5, 1.2, 1.9)


def world(seed: int = 5, n_groups: int = N_GROUPS) -> tuple[dict[str, Frame], Frame, dict[tuple[str, str], int]]:
    """Return the runs dense, stylish and other, the labels of the judge, and the grades of people by group and item."""
    rng = np.random.default_rng(seed)
    shape = (n_groups, N_ITEMS)
    worth, quirk, liked, third = (rng.normal(size=shape) for _ in range(4))
    true = np.searchsorted(CUTS, worth)
    judged = np.searchsorted(CUTS, worth + 0.5 * rng.normal(size=shape) + 0.8 * liked)
    true[0, 0], judged[0, 0] = 3, 3  # both use the whole scale
    groups = [f"q{group}" for group in range(n_groups) for _ in range(N_ITEMS)]
    items = [f"d{item}" for _ in range(n_groups) for item in range(N_ITEMS)]
    runs: dict[str, Frame] = {
        name: {"group": [*groups], "item": [*items], "score": (worth + own).ravel().tolist()}
        for name, own in (("dense", quirk), ("stylish", liked), ("other", third))
    }
    labels: Frame = {"group": [*groups], "item": [*items], "label": judged.ravel().tolist()}
    return runs, labels, dict(zip(zip(groups, items, strict=True), true.ravel().tolist(), strict=True))
