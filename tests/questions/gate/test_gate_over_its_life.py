"""How often a gate is wrong over many harmless runs, with a budget and without."""

import numpy as np
import pytest
from gated import SECOND, decisions
from populations import Record, standard_errors
from ranked_runs import frame_of_ranks, labels_of_ranks
from samples import decided
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.decide_bounds import look_level

pytestmark = pytest.mark.both_engines
MANY = 480
"""Groups, of which 60% move: enough for t bounds at 1%."""


def harmless(rng: np.random.Generator) -> list[int]:
    """Return ranks of runs as good as one that has the second rank everywhere: chance alone moves them up and down."""
    up = 0.24
    down = up * (1 - SECOND) / (SECOND - 1 / np.log2(6))
    return [int(rank) for rank in rng.choice([1, 5, 2], MANY, p=[up, down, 1 - up - down])]


@pytest.mark.nightly
def test_a_hundred_harmless_runs_with_and_without_a_budget(sqlite_url: str, record_property: Record) -> None:
    """Judged at 1% each some are called a FAIL; with a budget for all of them none is."""
    rng = np.random.default_rng(1)
    failed = {"@plain": 0, "@budget": 0}
    with nt.Tracker(sqlite_url) as tracker:
        tracker.ingest(frame_of_ranks([2] * MANY), name="base", labels=labels_of_ranks(MANY))
        for alias in failed:
            tracker.set_alias(alias, "base")
        tracker.set_policy("@budget", margin=0.01, budget=0.05)
        n_runs = 100 if LONG else 30
        for number in range(n_runs):
            name = f"run{number}"
            tracker.ingest(frame_of_ranks(harmless(rng)), name=name)
            for alias in failed:
                result = tracker.gate(name, baseline=alias, margin=0.01)
                failed[alias] += result.decision == "fail"
        assert len(decisions(tracker)) == 2 * n_runs
    record_property(f"false FAILs of {n_runs}", float(failed["@plain"]))
    record_property(f"false FAILs of {n_runs} with a budget", float(failed["@budget"]))
    assert 1 <= failed["@plain"] <= 5
    assert failed["@budget"] == 0


@pytest.mark.nightly
def test_false_alarms_of_a_gate_over_its_life(record_property: Record) -> None:
    """Histories of 100 harmless runs: at 1% each most have a false FAIL, at .05 for all of them one in twenty."""
    rng = np.random.default_rng(100)
    n_histories = 1500 if LONG else 150
    by_plain = by_budget = 0
    for _ in range(n_histories):
        moves = rng.random((100, 500)) < 0.6
        deltas = moves * (rng.choice([-0.369, 0.369], (100, 500)) * rng.choice([0.5, 1.0], (100, 500)))
        t = standard_errors(deltas)
        begins = -2.0  # FAIL, at -2.3; with a budget the first decision's at -1.9
        suspects = [(i, delta) for i, delta in enumerate(deltas, 1) if t[i - 1] < (begins if i > 1 else -1.5)]
        by_plain += any(decided(delta, 0.01).decision == "fail" for _, delta in suspects)
        by_budget += any(
            decided(delta, 0.01, fail_alpha=look_level(i, 0.05)).decision == "fail" for i, delta in suspects
        )
    record_property("histories with a false FAIL", float(by_plain / n_histories))
    record_property("histories with a false FAIL with a budget", float(by_budget / n_histories))
    assert 0.5 <= by_plain / n_histories <= 0.75
    assert by_budget / n_histories <= 0.05 + 3.3 * (0.05 * 0.95 / n_histories) ** 0.5
