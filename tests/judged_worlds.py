"""A judge that likes the quirk of one of two equal systems, what people would say of every item, and a shop of both."""

from typing import Any

import numpy as np

from ndcg_tracker import Tracker
from ndcg_tracker.storage.records import DesignRecord

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


RUNS, LABELS, TRUE = world()


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop")


def designs(tracker: Tracker) -> list[DesignRecord]:
    with tracker.store().read() as tx:
        return tx.designs.all(tx.datasets.known("shop").id)


def drawn(tracker: Tracker, number: int = 1) -> dict[tuple[str, str], tuple[float, float | None]]:
    with tracker.store().read() as tx:
        dataset = tx.datasets.known("shop")
        (design,) = (of for of in tx.designs.all(dataset.id) if of.number == number)
        ids, keys = tx.groups.all(dataset.id)
        key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
        items = tx.designs.items(design.id)
        return {(key_of[item.group_id], item.item_key): (item.probability, item.grade) for item in items}


def answered(tracker: Tracker, design: int = 1, judge: str = "human", n: int | None = None) -> Any:
    pairs = list(drawn(tracker, design))[:n]
    frame = {
        "group": [group for group, _ in pairs],
        "item": [item for _, item in pairs],
        "label": [TRUE[pair] for pair in pairs],
    }
    return tracker.add_answers(frame, design=design, judge=judge, dataset="shop")


def graded(tracker: Tracker, number: int = 1) -> dict[tuple[str, str], float]:
    """Return what people answered to a design."""
    return {pair: grade for pair, (_, grade) in drawn(tracker, number).items() if grade is not None}
