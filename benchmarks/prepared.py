"""Databases prepared before the clock starts, and our own work in memory.

python benchmarks/prepared.py runs DB WORKLOAD N_RUNS TOP   # N runs of a workload's groups, their first TOP items
python benchmarks/prepared.py statistics DB                 # worker: the statistics of comparing the first two runs
python benchmarks/prepared.py permutation|scipy N_GROUPS    # worker: 10,000 sign flips
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from processes import say, serve

METRIC = "ndcg@10"
FLIPS = 10_000


def store_runs(database: str, workload: str, n_runs: int, top: int) -> None:
    """Store runs that differ in a little noise; tell the size of the file after each of the first runs."""
    import workloads

    from ndcg_tracker import Tracker
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.rankings.ranking import Ranking
    from ndcg_tracker.runs.ingest import RunDetails

    table = workloads.table(workload)
    whole, labels = table.ranking(), table.labels()
    lengths = np.diff(whole.offsets)
    kept = np.flatnonzero(np.arange(whole.n_items) - np.repeat(whole.offsets[:-1], lengths) < top)
    offsets = np.concatenate([[0], np.cumsum(np.minimum(lengths, top))])
    items, scores, random = whole.item_keys.take(kept), whole.scores[kept], np.random.default_rng(0)
    sizes = []
    with Tracker(database) as tracker:
        for number in range(n_runs):
            noisy = (scores + random.normal(0.0, 0.1 * scores.std(), scores.size)).round(6)
            ranking = Ranking.from_groups(whole.group_keys, offsets, items, noisy)
            details = RunDetails(f"run{number}")
            tracker.ingest_stream([RankedTable(ranking, None, None)], None if number else labels, details, [METRIC])
            sizes.append(Path(database).stat().st_size)
    say({"bytes": sizes, "n_items": int(kept.size), "n_groups": whole.n_groups})


def statistics_of(database: str) -> None:
    """Time what ``compare`` computes, on results that are read and paired beforehand."""
    from ndcg_tracker import Tracker
    from ndcg_tracker.compare.decide import PairedResults, compare_runs
    from ndcg_tracker.compare.pair import pair
    from ndcg_tracker.compare.results import About, Comparison, LabelSetRef, RunRef

    with Tracker(database) as tracker, tracker.store().read() as tx:
        runs = [tx.runs.resolve(name, None) for name in ("run0", "run1")]
        results = [tx.evaluations.results(tx.evaluations.of_run(run.id)[0].id) for run in runs]
    baseline, candidate = results
    pairing = pair(baseline.group_ids, baseline.values, candidate.group_ids, candidate.values)
    one, other = (RunRef(run.name, run.id) for run in runs)
    paired = PairedResults(About(metric=METRIC, groups=pairing.groups), pairing, pairing.sample)

    def names(group_ids: NDArray[np.int64]) -> list[str]:
        return [str(number) for number in group_ids.tolist()]

    both = Comparison(one, other, "default", LabelSetRef(1, ""))
    serve(lambda: compare_runs(both, [paired], names), {})


def differences(n_groups: int) -> NDArray[np.float64]:
    """Return differences as two similar runs have them: 4 in 10 are zero, no two of the others are alike."""
    random = np.random.default_rng(0)
    return np.where(random.random(n_groups) < 0.4, 0.0, random.normal(0.002, 0.13, n_groups))


def permutation(n_groups: int) -> None:
    """Time our sign-flip test."""
    from ndcg_tracker.statistics.distribution_free import sign_flip_p_value

    delta = differences(n_groups)
    serve(lambda: sign_flip_p_value(delta, flips=FLIPS), {"means": {"p": sign_flip_p_value(delta, flips=FLIPS)}})


def scipy_permutation(n_groups: int) -> None:
    """Time the same test of scipy, with its vectorised mean."""
    from scipy.stats import permutation_test

    delta = differences(n_groups)

    def p_value() -> float:
        found = permutation_test(
            (delta,), np.mean, permutation_type="samples", n_resamples=FLIPS, vectorized=True, batch=1_000, rng=0
        )
        return float(found.pvalue)

    serve(p_value, {"means": {"p": p_value()}})


def main() -> None:
    """Do what the arguments say."""
    command, *rest = sys.argv[1:]
    if command == "runs":
        store_runs(rest[0], rest[1], int(rest[2]), int(rest[3]))
    elif command == "statistics":
        statistics_of(rest[0])
    elif command == "permutation":
        permutation(int(rest[0]))
    else:
        scipy_permutation(int(rest[0]))


if __name__ == "__main__":
    main()
