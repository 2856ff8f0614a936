"""Gate 66 harmful variants three times: without a budget, with a budget, and on sealed data.

Every variant is worse by exactly the margin on queries like these. It moves the only relevant result from the second
place to the first in some queries, and to the third in more queries. A gate at 5% lets about one in twenty through, so
a year of gates lets the luckiest through. With a budget, and on sealed data, the chance that any of them passes is at
most 5%.

Run it with: python examples/many_candidates.py [VARIANTS]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from ndcg_tracker import Tracker

N_QUERIES, MARGIN = 800, 0.02
GAIN, LOSS = 1 - 1 / np.log2(3), 1 / np.log2(3) - 0.5  # of ndcg@10, if the result moves up from place 2, or down
UP = 0.2
DOWN = (UP * GAIN + MARGIN) / LOSS


def ranked(places: np.ndarray) -> pd.DataFrame:
    """Return the run in which the relevant result of each query is at this place, 1 to 3."""
    queries = np.repeat([f"q{number}" for number in range(places.size)], 3)
    scores = np.column_stack([4.5 - places, np.full(places.size, 3.0), np.full(places.size, 2.0)]).ravel()
    return pd.DataFrame({"group": queries, "item": ["relevant", "b", "c"] * places.size, "score": scores})


def main(n_variants: int = 66) -> None:
    """Store the baseline and the variants, run the three gates, and print how many variants pass."""
    rng = np.random.default_rng(7)
    labels = pd.DataFrame({"group": [f"q{number}" for number in range(N_QUERIES)], "item": "relevant", "label": 1})
    with tempfile.TemporaryDirectory() as folder, Tracker(Path(folder) / "runs.db") as tracker:
        tracker.add_labels(labels, dataset="shop")
        os.environ["NDCG_TRACK_SEALED_DB"] = str(Path(folder) / "sealed.db")
        rules = {"metric": "ndcg@10", "margin": MARGIN, "looks": n_variants, "baseline": "prod-run"}
        parts = tracker.split_dataset("shop", seal=0.5, **rules)
        print(f"{parts.n_open} queries are open, {parts.n_sealed} sealed")
        datasets = (parts.dataset, parts.sealed)
        for dataset in datasets:
            tracker.ingest(ranked(np.full(N_QUERIES, 2)), name="prod-run", dataset=dataset)
        tracker.set_alias("prod", "prod-run", "shop")
        names = [f"variant-{number}" for number in range(n_variants)]
        for name in names:
            places = rng.choice([1, 2, 3], N_QUERIES, p=[UP, 1 - UP - DOWN, DOWN])
            for dataset in datasets:
                tracker.ingest(ranked(places), name=name, dataset=dataset)
        in_the_open = {"baseline": "@prod", "dataset": "shop", "margin": MARGIN}
        at_once = [tracker.gate(name, **in_the_open) for name in names]
        tracker.set_policy("prod", margin=MARGIN, budget=0.05, looks=n_variants)
        budget = [tracker.gate(name, **in_the_open) for name in names]
        sealed = [tracker.gate_sealed(name, dataset=parts.sealed) for name in names]
        for gate, results in (("at 5% each", at_once), ("a budget of 5%", budget), ("sealed, 5%", sealed)):
            n_passed = sum(result.decision == "pass" for result in results)
            print(f"{gate:15} {n_passed} of {n_variants} harmful variants PASS")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
