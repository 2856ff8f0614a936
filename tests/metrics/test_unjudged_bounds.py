"""How far each unjudged item could move a difference, against every grade that it may have."""

import numpy as np
import pytest
from rankings_of import Run, joined, results
from thorough import LONG

from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.metrics.unjudged_bounds import possible_moves, unjudged_items, what_stops
from ndcg_tracker.rankings.keys import Keys

SCALES = [(0.0, 1.0), (1.0,), (0.0, 1.0, 2.0), (-1.0, 0.0, 2.0), (0.0, 0.5, 3.0)]
METRICS = [
    "ndcg@{k}",
    "ndcg(gain=exp2)@{k}",
    "ndcg",
    "ndcg(empty=1)@{k}",
    "ndcg(ideal_cut=none, discount=position)@{k}",
    "ndcg(discount=jk2, ties=item_asc)@{k}",
    "ndcg(ties=average)@{k}",
    "ndcg(gain={{1:3, 2:1}}, ties=input)@{k}",
    "ndcg(gain=binary, ideal_order=label)@{k}",
    "ndcg(empty=skip)@{k}",
    "ndcg(negative=error)@{k}",
    "dcg(gain=exp2)@{k}",
    "cg(ties=average)@{k}",
    "P@{k}",
    "P(rel=2)@{k}",
    "R@{k}",
    "R(ties=average)@{k}",
    "AP@{k}",
    "AP(rel=2)",
    "RBP(p=0.5)@{k}",
    "RR@{k}",
    "RR",
    "Success(rel=2)@{k}",
]


def _a_list(rng: np.random.Generator, items: list[str]) -> dict[str, float]:
    n = int(rng.integers(0 if rng.random() < 0.1 else 1, 6))
    chosen = rng.permutation(items)[:n]
    return {str(item): float(score) for item, score in zip(chosen, rng.integers(0, 4, n), strict=True)}


def _first(run: dict[str, float], metric: Metric) -> list[str]:
    """Return the first items of a list; under ties=average all that may be among them."""
    ties, cutoff = metric["ties"], metric.cutoff or len(run)
    items = list(run) if ties == "input" else sorted(run, reverse=ties != "item_asc")
    items = sorted(items, key=lambda item: -run[item])
    if ties == "average" and items:
        return [item for item in items if run[item] >= run[items[:cutoff][-1]]]
    return items[:cutoff]


def _values(metric: Metric, runs: list[Run], labels: Run) -> list[np.ndarray]:
    found = []
    for run in runs:
        of_run = results(str(metric), run, labels)
        at = {key: place for place, key in enumerate(of_run.group_keys.to_list())}
        found.append(np.array([of_run.values[at[group]] for group in labels]))
    return found


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("text", METRICS)
def test_each_item_moves_as_far_as_its_grades_do(text: str) -> None:
    n_open = 0
    for seed in range(24 if LONG else 12):
        rng = np.random.default_rng(seed)
        scale = SCALES[seed % len(SCALES)]
        if "negative=error" in text:
            scale = tuple(grade for grade in scale if grade >= 0)
        metric = parse_metric(text.format(k=rng.integers(1, 5)))
        items = list("abcdef")
        runs = [{group: _a_list(rng, items) for group in "qrst"} for _ in range(2)]
        pools = {group: rng.permutation([*items, "x", "y"])[: rng.integers(1, 5)] for group in "qrst"}
        labels = {group: {str(i): float(rng.choice(scale)) for i in pool} for group, pool in pools.items()}
        if seed % 3 == 0:
            labels["s"] = dict.fromkeys(labels["s"], min(0.0, *scale))  # nothing to find
            runs[seed % 2]["s"] = {} if seed % 4 else runs[seed % 2]["s"]  # nor a list to find it in
        runs = [{group: items for group, items in run.items() if items} for run in runs]
        used = sorted({grade for of_group in labels.values() for grade in of_group.values()})
        baseline, candidate = _values(metric, runs, labels)
        sides = [joined(run, labels) for run in runs]
        found = unjudged_items(sides[0], sides[1], metric, Keys.from_strings(list(labels)))
        moves = possible_moves(found, baseline, candidate)
        for at, group in enumerate(labels):
            lists = [run.get(group, {}) for run in runs]
            free = sorted({item for one in lists for item in _first(one, metric)} - set(labels[group]))
            assert sorted(found.keys.take(np.flatnonzero(found.groups == at)).to_list()) == free
            if np.isnan(baseline[at] + candidate[at]):
                continue
            n_open += len(free)
            for item, move in zip(
                found.keys.take(np.flatnonzero(found.groups == at)).to_list(), moves[found.groups == at], strict=True
            ):
                graded = {
                    str(grade): labels[group] | ({} if grade is None else {item: grade}) for grade in [None, *used]
                }
                one, other = _values(metric, [dict.fromkeys(graded, of) if of else {} for of in lists], graded)
                assert move == pytest.approx(np.ptp(other - one), abs=1e-12), (seed, group, item)
    assert n_open > (30 if LONG else 15)


@pytest.mark.parametrize(
    ("text", "grades", "stop"),
    [
        ("ndcg@10", [-1.0, 1.0], None),
        ("ERR", [0.0, 1.0], "measure"),
        ("AP", [0.0, 1.0], None),
        ("ndcg(ties=pessimistic)@5", [0.0, 1.0], "ties=pessimistic"),
        ("ndcg(unjudged=drop)@5", [0.0, 1.0], "unjudged=drop"),
        ("ndcg(ideal=retrieved)@5", [0.0, 1.0], "ideal=retrieved"),
        ("ndcg(ideal_cut=retrieved)@5", [0.0, 1.0], "ideal_cut=retrieved"),
        ("ndcg(ideal_order=label, gain={1:3, 2:1})", [0.0, 1.0], "ideal_order=label"),
        ("ndcg(ideal_order=label, gain=exp2)", [0.0, 1.0], None),
        ("ndcg(gain={1:-3})", [0.0, 1.0], "gain={1:-3}"),
        ("ndcg(negative=keep)", [0.0, 1.0], None),
        ("ndcg(negative=keep)", [-1.0, 1.0], "negative=keep"),
        ("ndcg(empty_when=labels_sum_0)", [0.0, 1.0], None),
        ("ndcg(empty_when=labels_sum_0)", [-1.0, 1.0], "empty_when=labels_sum_0"),
        ("ndcg(empty_when=labels_sum_0, gain=binary)", [0.0, 1.0], "empty_when=labels_sum_0"),
        ("ndcg(round=4)", [0.0, 1.0], "round=4"),
        ("P(relative=True)@5", [0.0, 1.0], "relative=True"),
        ("P(over=list)@5", [0.0, 1.0], "over=list"),
        ("R(ideal=retrieved)@5", [0.0, 1.0], "ideal=retrieved"),
        ("Success(empty=skip)@5", [0.0, 1.0], "empty=skip"),
        ("F1@5", [0.0, 1.0], "measure"),
        ("RBP(graded=True)", [0.0, 1.0], "graded=True"),
        ("AP(depth=5)", [0.0, 1.0], "depth=5"),
        ("AP(over=found)", [0.0, 1.0], "over=found"),
        ("P(depth=5)@10", [0.0, 1.0], "depth=5"),
    ],
)
def test_what_stops_names_the_measure_or_the_axis(text: str, grades: list[float], stop: str | None) -> None:
    assert what_stops(parse_metric(text), np.array(grades)) == stop


def test_a_group_that_neither_run_has_is_not_open() -> None:
    side = joined({"q": {"a": 1.0}}, {"q": {"a": 1.0}, "r": {"a": 1.0}})
    found = unjudged_items(side, side, parse_metric("ndcg"), Keys.from_strings(["r", "q"]))
    assert (found.ideals.size, found.groups.size) == (2, 0)


def test_very_many_grades_stop_a_share_and_no_sum() -> None:
    grades = np.linspace(0, 1, 5000)
    assert what_stops(parse_metric("ndcg@10"), grades, 4000) == "grades=5000"
    assert what_stops(parse_metric("ndcg@10"), grades, 3000) is None
    assert what_stops(parse_metric("dcg@10"), grades, 4000) is None
