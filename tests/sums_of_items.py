"""Strategies for cg, dcg and ndcg on all axes, and for runs and labels that make them differ."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from rankings_of import Run

from ndcg_tracker.metrics.contributions import ADDITIVE
from ndcg_tracker.metrics.language.metric import Metric

TIES = ("item_desc", "item_asc", "input", "pessimistic", "optimistic", "average")
GAINS = ("linear", "exp2", "binary", "linear>=2", "exp2>=3", "{1:3.5, 2:9}", "{0:0.5, 2:1, 3:0}")
DISCOUNTS = ("log2", "position", "ln", "jk2", "jk3", "jk1.5", "rbp0.8", "none")
ITEMS = [f"d{number}" for number in range(9)]

some_run = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(ITEMS), st.sampled_from([0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=7),
    min_size=1,
)
some_labels = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(-1, 4).map(float), min_size=1),
    min_size=1,
)


@st.composite
def some_sum(draw: st.DrawFn) -> Metric:
    """Return cg, dcg or ndcg on axes that leave nothing over: no rounding, double precision, no empty convention."""
    measure = draw(st.sampled_from(ADDITIVE))
    drawn = {
        "gain": draw(st.sampled_from(GAINS)),
        "ties": draw(st.sampled_from(TIES)),
        "unjudged": draw(st.sampled_from(["zero", "drop", "0.5", "-1"])),
        "negative": draw(st.sampled_from(["zero", "keep", "drop"])),
        "missing": draw(st.sampled_from(["zero", "skip"])),
        "extra": draw(st.sampled_from(["skip", "empty"])),
        "score_type": draw(st.sampled_from(["f64", "f32"])),
        "label_type": draw(st.sampled_from(["f64", "f32", "int"])),
    }
    if measure != "cg":
        drawn["discount"] = draw(st.sampled_from(DISCOUNTS))
    if measure == "ndcg":
        drawn["ideal"] = draw(st.sampled_from(["judged", "retrieved", "constant"]))
        drawn["ideal_order"] = draw(st.sampled_from(["gain", "label"]))
        drawn["ideal_cut"] = draw(st.sampled_from(["cutoff", "none", "retrieved"]))
        drawn["empty"] = draw(st.sampled_from(["0", "skip"]))
        drawn["empty_when"] = draw(st.sampled_from(["ideal_le_0", "ideal_eq_0", "labels_sum_0"]))
    return Metric.of(measure, cutoff=draw(st.none() | st.integers(1, 8)), **drawn)


def long_lists(seed: int, *, n_groups: int = 30) -> Run:
    """Return a run of lists of 2 to 60 items with many ties, which lacks some of the groups."""
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(100)]
    run: Run = {}
    for group in range(n_groups):
        listed = rng.choice(items, int(rng.integers(2, 60)), replace=False).tolist()
        if rng.random() > 0.1:
            run[f"q{group}"] = dict(zip(listed, rng.integers(0, 20, len(listed)).astype(float).tolist(), strict=True))
    return run


def long_labels(seed: int, *, n_groups: int = 30) -> Run:
    """Return labels for these lists, grades from 0 to 4; every sixth group has nothing to find."""
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(100)]
    labels: Run = {}
    for group in range(n_groups):
        judged = rng.choice(items, int(rng.integers(5, 60)), replace=False).tolist()
        grades = rng.integers(0, 5, len(judged)) * (group % 6 > 0)
        labels[f"q{group}"] = dict(zip(judged, grades.astype(float).tolist(), strict=True))
    return labels
