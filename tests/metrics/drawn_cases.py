"""Lists and metrics to be drawn, every metric there is, and the numbers of groups to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from rankings_of import Run

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.mean import GroupValues
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric

REFUSALS = ("error", "error_above_1", "ge0", "int", "int_ge0", "int0to30")
"""Values of axes that refuse a group; what is refused has no numbers."""
SUMMED = ("gain", "discount", "ties", "ideal", "ideal_order", "ideal_cut", "unjudged", "negative", "label_type")
FURTHER = {
    "gain": ["{1:3.5, 2:9}", "{0:0.5, 2:-1, 3:0}", "exp2>=2"],
    "discount": ["jk1.5", "jk3", "rbp0.7"],
    "unjudged": ["0.3", "-0.7"],
}
NOT_BY_GAIN = ("G", "infAP")
"""Measures for which the order of tied items by gain is not always the worst or the best."""


def is_by_gain(metric: Metric) -> bool:
    """Return whether the order of tied items by gain is always the worst or the best."""
    return metric.measure not in NOT_BY_GAIN and metric["over"] != "found"


NUMBERS = ("values", "dcg", "ideal_dcg", "reasons", "empty")


def values_of_axis(name: str) -> list[str]:
    """Return the values of an axis that refuse nothing."""
    axis = next(axis for axis in AXES if axis.name == name)
    named = [*axis.values, *([axis.pattern_example] if axis.pattern_example else []), *FURTHER.get(name, [])]
    return [value for value in named if value not in REFUSALS]


def every_metric(cutoff: int) -> list[Metric]:
    """Return every measure, and ndcg with every value of every axis alone, with and without a cutoff."""
    found = []
    for at in (cutoff, None):
        for name, measure in MEASURES.items():
            if measure.cutoff != ("required" if at is None else "none"):
                ties = values_of_axis("ties") if measure.is_listed else []
                found += [Metric.of(name, cutoff=at)]
                found += [
                    Metric.of(name, cutoff=at, ties=value)
                    for value in ties
                    if value != "average" or measure.has_expected_value
                ]
        for axis in AXES:
            if "ndcg" in axis.measures and axis.name != "ties":
                found += [Metric.of("ndcg", cutoff=at, **{axis.name: value}) for value in values_of_axis(axis.name)]
    return list(dict.fromkeys(found))


def bits(found: GroupValues) -> dict[str, dict[str, bytes]]:
    """Return the numbers of each group by its id, as bytes: what is not the same to the last bit differs."""
    columns = [(name, getattr(found, name).tobytes(), getattr(found, name).itemsize) for name in NUMBERS]
    return {
        key: {name: column[at * size : (at + 1) * size] for name, column, size in columns}
        for at, key in enumerate(found.group_keys.to_list())
    }


ITEMS = [f"d{number}" for number in range(24)]
GROUPS = [f"q{number}" for number in range(6)]
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.00000001, 2.5, -3.0])
BINARY = st.sampled_from([0.0, 1.0])
GRADED = st.sampled_from([0.0, 1.0, 2.0, 3.0])
ANY = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.1, 0.3, 0.7, 1.0, 2.0, 2.5, 7.0, 30.5])


@st.composite
def some_lists(draw: st.DrawFn, scores: st.SearchStrategy[float] = SCORES) -> tuple[Run, Run]:
    """Return a run and its labels: each group is of a kind of its own."""
    run: Run = {}
    labels: Run = {}
    for group in draw(st.lists(st.sampled_from(GROUPS), unique=True, min_size=2)):
        items = draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
        if draw(st.integers(0, 5)):
            run[group] = {item: draw(scores) for item in items}
        pool = items if draw(st.booleans()) else draw(st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
        grades = draw(st.sampled_from([BINARY, GRADED, ANY]))
        if draw(st.integers(0, 5)):
            labels[group] = {item: draw(grades) for item in pool}
    return run, labels


@st.composite
def some_metric(draw: st.DrawFn) -> Metric:
    """Return a metric with a value drawn for every axis on which its sums depend."""
    measure = draw(st.sampled_from([*CUMULATED, *CUMULATED, *MEASURES]))
    drawn = {}
    for axis in AXES:
        values = values_of_axis(axis.name)
        if measure in axis.measures and values and (axis.name in SUMMED or draw(st.integers(0, 3)) == 0):
            drawn[axis.name] = draw(st.sampled_from(values))
    some = st.integers(1, 12)
    cutoff = draw({"none": st.none(), "required": some, "optional": some | st.none()}[MEASURES[measure].cutoff])
    try:
        return Metric.of(measure, cutoff=cutoff, **drawn)
    except MetricError:  # a combination that no metric has
        return Metric.of(measure, cutoff=cutoff)


def lists_of_all_kinds(seed: int, n_groups: int) -> tuple[Run, Run]:
    """Return lists of 1 to some 600 items, many of one length; all, few or none of them labelled, in four scales."""
    rng = np.random.default_rng(seed)
    run: Run = {}
    labels: Run = {}
    for number in range(n_groups):
        size = 40 if number % 3 == 0 else int(np.exp(rng.uniform(0, 6.4)))
        items = [f"d{item}" for item in rng.permutation(2 * size)]
        listed = items[:size]
        pool = [listed, items, listed[::7], [], items[size - 1 :]][number % 5 if rng.random() < 0.5 else 0]
        grades = [
            rng.integers(0, 2, len(pool)).astype(float),
            rng.integers(-1, 5, len(pool)).astype(float),
            rng.random(len(pool)),
            rng.normal(0, 2, len(pool)).round(1),
        ][int(rng.integers(4))]
        scores = rng.normal(size=size).round(int(rng.integers(0, 6)))
        if number % 11:
            run[f"q{number}"] = dict(zip(listed, scores.tolist(), strict=True))
        if pool:
            labels[f"q{number}"] = dict(zip(pool, grades.tolist(), strict=True))
    return run, labels
