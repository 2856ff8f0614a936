"""Metrics whose values another engine computed: their text, and that no part of ours computes them."""

import math

import numpy as np
import pytest

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.contributions import refuse_what_is_not_split
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.metric import formula, meaning, named_external, settings
from ndcg_tracker.metrics.language.text import metric_texts, parse_metric
from ndcg_tracker.metrics.unjudged_bounds import what_stops
from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking

TEXTS = [
    "external:faithfulness(direction=higher, range=0..1)",
    "external:latency(direction=lower, range=0..inf)",
    "external:ndcg@10(direction=higher, range=0..1)",
    "external:gain/loss(direction=higher, range=-inf..inf)",
    "external:Ähnlichkeit(direction=higher, range=-1..0.25)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_canonical(text: str) -> None:
    metric = parse_metric(text)
    assert str(metric) == text
    assert parse_metric(str(metric)) == metric
    assert parse_metric(text.replace(" ", "").replace("..", ".0..") if "0.." in text else text) == metric
    assert familiar_name(text) == text.partition("(")[0]
    assert metric_texts(f"{text},ndcg@10") == [text, "ndcg@10"]
    assert (metric.is_external, metric.cutoff, metric.summary, metric.shown_only) == (True, None, "mean", None)
    assert (settings(metric), meaning(metric).split(",")[0]) == (
        [],
        "group results that another engine computed; ndcg_tracker knows only their direction and range",
    )
    assert formula(metric) == f"{metric.measure}: as its engine defines it"


def test_direction_and_range() -> None:
    latency, bare = parse_metric(TEXTS[1]), parse_metric("external:latency")
    assert (latency.direction, latency.limits) == ("lower", (0.0, math.inf))
    assert (bare.settings, str(bare)) == ((), "external:latency")
    assert bare != latency != parse_metric("external:latency(direction=higher, range=0..inf)")
    assert parse_metric("ndcg@10").direction == "higher"
    assert parse_metric(TEXTS[2]) != parse_metric("ndcg@10")
    assert named_external("external:latency", "lower", "0", "inf") == latency
    assert latency.with_axes(unjudged="drop") == latency


@pytest.mark.parametrize(
    "text",
    [
        "external:",
        "external:two words",
        "external:a(direction=up, range=0..1)",
        "external:a(direction=higher, range=1..0)",
        "external:a(direction=higher, range=nan..1)",
        "external:a(direction=higher, range=inf..inf)",
        "external:a(direction=higher)",
        "external:a(range=0..1, direction=higher)",
        "external:a(direction=higher, range=0..1)@10",
    ],
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(MetricError):
        parse_metric(text)


def test_it_is_never_computed() -> None:
    keys = Keys.from_strings(["q"])
    run = Ranking.from_rows(keys, keys, np.ones(1))
    both = judged(run, LabelLists.from_rows(keys, keys, np.ones(1)))
    metric = parse_metric(TEXTS[1])
    with pytest.raises(MetricError, match=r"another engine computed external:\S+, so it cannot be computed here"):
        group_results(both, [parse_metric("ndcg@10"), metric])
    with pytest.raises(MetricError, match="the contribution of each item is unknown"):
        refuse_what_is_not_split(metric)
    assert what_stops(metric, np.ones(1)) == "measure"
