"""A pinned baseline and candidates that differ from it in known ways, and what a gate decided and refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.storage.marks import DecisionRecord

N_GROUPS = 240
BASE = [1, 2] * (N_GROUPS // 2)
SECOND = 1 / np.log2(3)


def worse(n_groups: int, n_better: int = 0) -> list[int]:
    """Return the ranks of the baseline with some first places lost, and some second places turned to first ones."""
    ranks = list(BASE)
    ranks[: 2 * n_groups : 2] = [2] * n_groups
    ranks[1 : 2 * n_better : 2] = [1] * n_better
    return ranks


def fill_with_candidates(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of_ranks(BASE), name="base", labels=labels_of_ranks(N_GROUPS), dataset="shop")
        runs = {"same": BASE, "noisy": worse(60, 60), "drop": worse(110), "small": worse(20)}
        for name, ranks in runs.items():
            tracker.ingest(frame_of_ranks(ranks), name=name, dataset="shop")
        tracker.set_alias("@prod", "base")


@pytest.fixture
def pinned(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A baseline of 240 groups, pinned, and candidates that differ from it in known ways."""
    fill_as(fill_with_candidates)
    tracker.store()  # as one that has written: it has looked at the schema
    return tracker


def decisions(tracker: nt.Tracker) -> list[DecisionRecord]:
    with tracker.store().read() as tx:
        return [one for dataset in tx.datasets.all() for one in tx.decisions.all(dataset.id)]


def refusal(tracker: nt.Tracker, candidate: str, kind: type[Exception] = nt.InputError, **asked: Any) -> str:
    return refusal_of(kind, tracker.gate, candidate, **{"baseline": "@prod", **asked})
