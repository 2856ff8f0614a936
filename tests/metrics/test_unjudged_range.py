"""The range over unjudged items against the plain definition, item by item."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from rankings_of import Run, joined

from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import unjudged_range, what_stops
from ndcg_tracker.rankings.keys import Keys

GROUPS = [f"q{number}" for number in range(6)]
OF_CHANCES = ("RR", "Success", "AP")


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
    if metric.measure in ("P", "R", "RBP", "RR", "Success", "AP"):
        return float(grade >= float(metric["rel"]))
    return 2.0**grade - 1 if metric["gain"] == "exp2" else grade


def weight(metric: Metric, rank: int) -> float:
    if metric.cutoff is not None and rank > metric.cutoff:
        return 0.0
    if metric.measure == "RBP":
        p = float(metric["p"])
        return (1 - p) * p ** (rank - 1)
    return {"cg": 1.0, "R": 1.0, "P": 1 / (metric.cutoff or 1)}.get(metric.measure, 1 / math.log2(rank + 1))


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
            item: float(np.mean(seen[rank] or every)) * (1.0 if metric.measure in OF_CHANCES else weight(metric, rank))
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
    "text",
    ["ndcg@5", "ndcg(gain=exp2)@3", "ndcg", "dcg@4", "cg@3", "P@5", "P(rel=2)@2", "RBP(p=0.8)"],
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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", ["R(rel=2)@4", "R@3", "R(rel=3)@7"])
def test_the_ideal_of_recall_grows_with_the_items_that_count(text: str, seed: int) -> None:
    """No other set of items that count would move the difference further."""
    metric, n_open = parse_metric(text), 0
    baseline, candidate, labels = drawn(seed)
    moved = unjudged_range(joined(baseline, labels), joined(candidate, labels), metric, Keys.from_strings(GROUPS))
    of_baseline, of_candidate = (expected_gains(metric, run, labels) for run in (baseline, candidate))
    for place, group in enumerate(GROUPS):
        chances = of_baseline[place], of_candidate[place]
        items = [*dict.fromkeys([*chances[0], *chances[1]])]
        relevant = {item for item, grade in labels[group].items() if worth(metric, grade)}
        found = [len(relevant & {*list(run[group])[: metric.cutoff]}) for run in (baseline, candidate)]
        reached = [
            sum(
                sign * (n + sum(of.get(item, 0.0) for item in some))
                for sign, n, of in zip((-1, 1), found, chances, strict=True)
            )
            / (len(relevant) + sum(max(of.get(item, 0.0) for of in chances) for item in some))
            for size in range(len(items) + 1)
            for some in itertools.combinations(items, size)
            if relevant
        ] or [0.0]
        assert moved.low[place] == pytest.approx(min(reached) - reached[0], abs=1e-12)
        assert moved.high[place] == pytest.approx(max(reached) - reached[0], abs=1e-12)
        assert max(reached) - min(reached) <= 2
        n_open += max(reached) > min(reached)
    assert n_open


def expected_value(metric: Metric, items: list[str], labels: dict[str, float], chances: dict[str, float]) -> float:
    """Return the mean sum of a list over all ways in which some of its unjudged items may be relevant."""
    first = items[: metric.cutoff]
    least, free = float(metric["rel"]), [item for item in first if item in chances]
    mean = 0.0
    for relevant in itertools.product((False, True), repeat=len(free)):
        are = dict(zip(free, relevant, strict=True))
        chance = math.prod(chances[item] if is_one else 1 - chances[item] for item, is_one in are.items())
        hits = [labels.get(item, -1.0) >= least or are.get(item, False) for item in first]
        ranks = [rank for rank, is_hit in enumerate(hits, 1) if is_hit]
        value = {
            "RR": lambda ranks=ranks: 1 / ranks[0] if ranks else 0.0,
            "Success": lambda ranks=ranks: float(bool(ranks)),
            "AP": lambda ranks=ranks: sum(n / rank for n, rank in enumerate(ranks, 1)),
        }[metric.measure]()
        mean += chance * value
    return mean


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "text", ["Success(rel=3)@3", "Success(rel=3)@2", "RR(rel=3)", "RR(rel=2)@4", "AP(rel=2)", "AP@5"]
)
def test_items_of_a_list_measure_are_relevant_with_the_mean_chance(text: str, seed: int) -> None:
    """Items that alone would lower the difference make its low end together, those that would raise it the high one.

    The number of relevant items grows with them under AP. An item that would still lower it there counts, too.
    """
    metric, n_open = parse_metric(text), 0
    baseline, candidate, labels = drawn(seed)
    moved = unjudged_range(joined(baseline, labels), joined(candidate, labels), metric, Keys.from_strings(GROUPS))
    chances = [expected_gains(metric, run, labels) for run in (baseline, candidate)]
    for place, group in enumerate(GROUPS):
        n_relevant = sum(grade >= float(metric["rel"]) for grade in labels[group].values())
        grows = metric.measure == "AP"
        if grows and not n_relevant:
            assert moved.low[place] == moved.high[place] == 0.0
            continue

        def total(items: set[str], group: str = group, place: int = place) -> float:
            before, after = (
                expected_value(
                    metric, list(run[group]), labels[group], {i: p for i, p in of[place].items() if i in items}
                )
                for run, of in zip((baseline, candidate), chances, strict=True)
            )
            return after - before

        free, judged = chances[0][place].keys() | chances[1][place].keys(), total(set())
        alone = {item: total({item}) - judged for item in free}
        growth = {item: max(of[place].get(item, 0.0) for of in chances) * grows for item in free}
        ideal = n_relevant if grows else 1
        for sign, end in ((1, moved.low), (-1, moved.high)):
            reached = [judged / ideal]
            for _ in range(30):
                some = {item for item in free if sign * (alone[item] - reached[-1] * growth[item]) < -1e-12}
                reached.append(total(some) / (ideal + sum(growth[item] for item in some)))
            best = min(reached) if sign == 1 else max(reached)
            assert end[place] == pytest.approx(best - reached[0], abs=1e-9)
            n_open += best != reached[0]
    assert n_open


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
    [("ERR", "measure"), ("AP(over=cutoff)@5", "over=cutoff"), ("ndcg(unjudged=drop)@5", "unjudged=drop")],
)
def test_what_has_no_range(text: str, stop: str) -> None:
    assert what_stops(parse_metric(text), np.array([0.0, 1.0])) == stop
