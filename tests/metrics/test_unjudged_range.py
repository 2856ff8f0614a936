"""The range over unjudged items against the plain definition, item by item."""

import math
from collections import defaultdict

import numpy as np
import pytest
from rankings_of import Run, joined

from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import unjudged_range, what_stops_range
from ndcg_tracker.rankings.keys import Keys

GROUPS = [f"q{number}" for number in range(6)]


def drawn(seed: int) -> tuple[Run, Run, Run]:
    """Return two runs with distinct scores, and labels of some of their items."""
    rng = np.random.default_rng(seed)
    items = list("abcdefghij")
    runs = [
        {group: {item: 9.0 - place for place, item in enumerate(rng.permutation(items)[:7])} for group in GROUPS}
        for _ in range(2)
    ]
    labels = {group: {str(item): float(rng.integers(0, 4)) for item in rng.permutation(items)[:5]} for group in GROUPS}
    return runs[0], runs[1], labels


def worth(metric: Metric, grade: float) -> float:
    if metric.measure in ("P", "RBP", "Success"):
        return float(grade >= float(metric["rel"]))
    return 2.0**grade - 1 if metric["gain"] == "exp2" else grade


def weight(metric: Metric, rank: int) -> float:
    if metric.cutoff is not None and rank > metric.cutoff:
        return 0.0
    if metric.measure == "RBP":
        p = float(metric["p"])
        return (1 - p) * p ** (rank - 1)
    return {"cg": 1.0, "P": 1 / (metric.cutoff or 1), "Success": 1.0}.get(metric.measure, 1 / math.log2(rank + 1))


def expected_gains(metric: Metric, run: Run, labels: Run) -> list[dict[str, float]]:
    """Return what each unjudged item among the first ranks is expected to gain, by group."""
    seen = defaultdict(list)
    for group in GROUPS:
        for rank, item in enumerate(run[group], 1):
            if item in labels[group] and weight(metric, rank):
                seen[rank].append(worth(metric, labels[group][item]))
    every = [gain for gains in seen.values() for gain in gains]
    return [
        {
            item: float(np.mean(seen[rank] or every)) * (weight(metric, rank) if metric.measure != "Success" else 1.0)
            for rank, item in enumerate(run[group], 1)
            if item not in labels[group] and weight(metric, rank)
        }
        for group in GROUPS
    ]


def ideal(metric: Metric, labels: dict[str, float]) -> float:
    if metric.measure != "ndcg":
        return 1.0
    best = sorted((worth(metric, grade) for grade in labels.values()), reverse=True)
    return sum(gain * weight(metric, rank) for rank, gain in enumerate(best, 1))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "text", ["ndcg@5", "ndcg(gain=exp2)@3", "ndcg", "dcg@4", "cg@3", "P@5", "P(rel=2)@2", "RBP(p=0.8)"]
)
def test_each_item_is_worth_up_to_the_mean_gain_at_its_rank(text: str, seed: int) -> None:
    metric = parse_metric(text)
    baseline, candidate, labels = drawn(seed)
    moved = unjudged_range(joined(baseline, labels), joined(candidate, labels), metric, Keys.from_strings(GROUPS))
    of_baseline, of_candidate = (expected_gains(metric, run, labels) for run in (baseline, candidate))
    lows, highs, n_items = [], [], 0
    for place, group in enumerate(GROUPS):
        items = of_baseline[place].keys() | of_candidate[place].keys()
        moves = [of_candidate[place].get(item, 0.0) - of_baseline[place].get(item, 0.0) for item in items]
        divisor = ideal(metric, labels[group])
        lows.append(sum(min(move, 0.0) for move in moves) / divisor if divisor else 0.0)
        highs.append(sum(max(move, 0.0) for move in moves) / divisor if divisor else 0.0)
        n_items += len(items)
    assert moved.low == pytest.approx(lows, abs=1e-12)
    assert moved.high == pytest.approx(highs, abs=1e-12)
    assert moved.n_items == n_items > 0


@pytest.mark.parametrize("seed", range(3))
def test_success_rises_by_the_chance_that_one_of_the_items_is_relevant(seed: int) -> None:
    metric = parse_metric("Success(rel=3)@3")
    baseline, candidate, labels = drawn(seed)
    moved = unjudged_range(joined(baseline, labels), joined(candidate, labels), metric, Keys.from_strings(GROUPS))
    for run, sign, found in ((baseline, -1, moved.low), (candidate, 1, moved.high)):
        rises = []
        for group, gains in zip(GROUPS, expected_gains(metric, run, labels), strict=True):
            has_one = any(labels[group].get(item, 0.0) >= 3 for item in list(run[group])[:3])
            rises.append(0.0 if has_one else sign * (1 - math.prod(1 - gain for gain in gains.values())))
        assert found == pytest.approx(rises, abs=1e-12)


def test_the_same_list_leaves_nothing_open() -> None:
    baseline, _, labels = drawn(0)
    moved = unjudged_range(*[joined(baseline, labels)] * 2, parse_metric("ndcg@5"), Keys.from_strings(GROUPS))
    assert not moved.low.any()
    assert not moved.high.any()


def test_a_group_that_a_run_lacks_has_the_holes_of_the_other() -> None:
    run = {"q0": {"a": 2.0, "b": 1.0}, "q1": {"a": 2.0, "b": 1.0}}
    labels = {"q0": {"a": 1.0, "c": 1.0}, "q1": {"b": 1.0, "a": 1.0}}
    keys = Keys.from_strings(["q0", "q1"])
    moved = unjudged_range(joined({"q1": run["q1"]}, labels), joined(run, labels), parse_metric("P@2"), keys)
    assert moved.low.tolist() == [0.0, 0.0]
    assert moved.high.tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("text", "stop"),
    [("AP", "measure"), ("RR@10", "measure"), ("R@5", "measure"), ("ndcg(unjudged=drop)@5", "unjudged=drop")],
)
def test_what_has_no_range(text: str, stop: str) -> None:
    assert what_stops_range(parse_metric(text), np.array([0.0, 1.0])) == stop
