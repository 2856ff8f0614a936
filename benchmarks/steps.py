"""How often ``history`` marks a step, by its size: the table of docs/history.md.

python benchmarks/steps.py [--groups 2000] [--share 1.0]

Runs scatter around each group's truth with a standard deviation of .05; the step is at five eighths, in units of the
scatter of the mean from run to run. Counted are histories with any mark. ``--share``: of the histories of the table,
which take half an hour.
"""

import argparse
import math

import numpy as np

from ndcg_tracker.statistics.steps import steps_with_scatter

SCATTER = 0.05
SIZES = (0.0, 1.0, 1.5, 2.0, 3.0)
HISTORIES = {20: (600, 150), 40: (600, 150), 100: (400, 100), 200: (180, 60)}
"""By the number of runs: how many histories without a step, and with one of each size."""


def share_marked(rng: np.random.Generator, n_runs: int, n_groups: int, size: float, n_histories: int) -> float:
    """Return in which share of histories some run is marked."""
    n_marked = 0
    for _ in range(n_histories):
        runs = rng.uniform(0.2, 0.8, n_groups) + rng.normal(0, SCATTER, (n_runs, n_groups))
        runs[n_runs * 5 // 8 :] -= size * SCATTER / math.sqrt(n_groups)
        steps = steps_with_scatter(runs).steps
        n_marked += any(step.is_step or step.is_possible or step.drift is not None for step in steps)
    return n_marked / n_histories


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--share", type=float, default=1.0)
    asked = parser.parse_args()
    print("| runs | no step | 1 unit | 1.5 units | 2 units | 3 units |\n|---|---|---|---|---|---|")
    for n_runs, (n_without, n_with) in HISTORIES.items():
        rng = np.random.default_rng(n_runs)
        shares = [
            share_marked(rng, n_runs, asked.groups, size, max(1, round(asked.share * (n_with if size else n_without))))
            for size in SIZES
        ]
        cells = [f"{100 * shares[0]:.1f}%", *(f"{100 * share:.0f}%" for share in shares[1:])]
        print("| " + " | ".join([str(n_runs), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
