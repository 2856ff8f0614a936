"""The traps between the tools: where two of them mean different things by one name."""

import math

import pytest
from rankings_of import results

import ndcg_tracker as nt
from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.metrics.language.text import parse_metric

LOG3 = 1 / math.log2(3)


def test_plain_ndcg_of_xgboost_stops_at_rank_32() -> None:
    items = [f"d{rank:02}" for rank in range(1, 41)]
    run = {"q": {item: -float(rank) for rank, item in enumerate(items)}}
    labels = {"q": {item: float(rank == 33) for rank, item in enumerate(items, 1)}}
    assert results("xgboost:ndcg", run, labels).mean == 0.0
    assert results("xgboost:ndcg@33", run, labels).mean == pytest.approx(1 / math.log2(34), abs=1e-12)
    assert str(parse_metric("xgboost:ndcg")) == str(parse_metric("xgboost:ndcg@32"))


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("catboost:NDCG", (LOG3 + 1) / 2),
        ("lightgbm:ndcg@10", (LOG3 + 1) / 2),
        ("xgboost:ndcg@10", (LOG3 + 1) / 2),
        ("xgboost:ndcg@10-", LOG3 / 2),
        ("sklearn:ndcg_score()", LOG3 / 2),
        ("trec_eval:ndcg", LOG3 / 2),
        ("trec_eval10:ndcg", LOG3 / 2),
        ("pytrec_eval:ndcg", LOG3 / 2),
        ("ir_measures:nDCG", LOG3 / 2),
        ("spark:ndcgAt(10)", LOG3 / 2),
        ("spark_graded:ndcgAt(10)", LOG3 / 2),
        ("ranx:ndcg", LOG3 / 2),
        ("torchmetrics:RetrievalNormalizedDCG()", LOG3 / 2),
        ("torchmetrics:RetrievalNormalizedDCG(empty_target_action='pos')", (LOG3 + 1) / 2),
        ("torchmetrics:RetrievalNormalizedDCG(empty_target_action='skip')", LOG3),
        ("rectools:NDCG(k=2)", LOG3 / (1 + LOG3)),
        ("rectools:NDCG(k=2, divide_by_achievable=True)", LOG3),
        ("recbole:ndcg@10", round(LOG3 / 2, 4)),
    ],
)
def test_a_group_without_a_relevant_item(text: str, mean: float) -> None:
    run = {"q": {"a": 2.0, "b": 1.0}, "nothing": {"a": 2.0, "b": 1.0}}
    labels = {"q": {"a": 0.0, "b": 1.0}, "nothing": {"a": 0.0, "b": 0.0}}
    tolerance = DIALECTS[text.partition(":")[0]].tolerance
    assert results(text, run, labels).mean == pytest.approx(mean, rel=0, abs=tolerance)


LIGHT = {
    "group": ["q", "q", "nothing", "nothing"],
    "item": ["a", "b", "a", "b"],
    "score": [2.0, 1.0, 2.0, 1.0],
    "label": [0.0, 1.0, 0.0, 0.0],
    "weight": [0.5, 0.5, 0.5, 0.5],
}


def test_lightgbm_adds_an_unweighted_1_for_an_empty_group() -> None:
    found = nt.evaluate(LIGHT, ["lightgbm:ndcg@2", "catboost:NDCG"], weight="weight").mean
    assert found["lightgbm:ndcg@2"] == pytest.approx(1.3154648767857289, rel=0, abs=1e-12)
    assert found["catboost:NDCG"] == pytest.approx((LOG3 + 1) / 2, rel=0, abs=1e-12)


def test_xgboost_refuses_the_mean_above_1_that_its_unweighted_1_makes() -> None:
    with pytest.raises(MetricError, match=r"the weighted mean is 1\.31546, which is above 1; use clip=none$"):
        nt.evaluate(LIGHT, "xgboost:ndcg@2", weight="weight")
    found = nt.evaluate(LIGHT, "xgboost:ndcg@2-", weight="weight")
    assert found.mean.iloc[0] == pytest.approx(LOG3 / 2, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "tied"),
    [
        ("trec_eval:ndcg", True),
        ("pytrec_eval:ndcg", True),
        ("ir_measures:nDCG", True),
        ("trec_eval10:ndcg", False),
        ("ir_measures:nDCG(dcg='exp-log2')@10", False),
        ("lightgbm:ndcg@10", False),
        ("catboost:NDCG", False),
        ("sklearn:ndcg_score()", False),
    ],
)
def test_single_precision_scores_tie(text: str, tied: bool) -> None:
    found = results(text, {"q": {"a": 1.00000001, "b": 1.0}}, {"q": {"a": 1.0, "b": 0.0}})
    assert found.mean == pytest.approx(LOG3 if tied else 1.0, rel=0, abs=1e-12)


def test_lightgbm_sorts_its_ideal_by_label() -> None:
    run = {"q": {"a": 3.0, "b": 2.0}}
    labels = {"q": {"a": 1.0, "b": 2.0}}
    falling = "lightgbm(label_gain=0,5,1):ndcg@2"
    assert results(falling, run, labels).mean == pytest.approx((5 + LOG3) / (1 + 5 * LOG3), rel=0, abs=1e-12)
    assert results("ndcg(gain={1:5, 2:1}, ideal=retrieved)@2", run, labels).mean == 1.0


def test_catboost_takes_weights_of_groups_and_none_of_items() -> None:
    frame = {
        "group": ["q", "q", "r", "r"],
        "item": ["a", "b", "a", "b"],
        "score": [2.0, 1.0, 2.0, 1.0],
        "label": [1.0, 0.0, 0.0, 1.0],
    }
    of_items = {**frame, "weight": [1.0, 5.0, 3.0, 7.0]}
    of_groups = {**frame, "weight": [1.0, 1.0, 3.0, 3.0]}
    texts = ["catboost:NDCG", "lightgbm:ndcg@2", "catboost:NDCG:use_weights=false"]
    items, groups = (nt.evaluate(given, texts, weight="weight").mean.tolist() for given in (of_items, of_groups))
    assert items == pytest.approx([(1 + LOG3) / 2, (3 + 5 * LOG3) / 8, (1 + LOG3) / 2], rel=0, abs=1e-12)
    assert groups == pytest.approx([(1 + 3 * LOG3) / 4, (1 + 3 * LOG3) / 4, (1 + LOG3) / 2], rel=0, abs=1e-12)


@pytest.mark.parametrize("relevant", ["d10", "d9", "D1", "ä"])
def test_trec_eval_breaks_ties_by_descending_bytes(relevant: str) -> None:
    order = sorted(("d10", "d9", "D1", "ä"), key=str.encode, reverse=True)
    assert order == ["ä", "d9", "d10", "D1"]
    run = {"q": dict.fromkeys(("D1", "ä", "d10", "d9"), 1.0)}
    rank = order.index(relevant) + 1
    for text in ("trec_eval:ndcg", "trec_eval10:ndcg", "ir_measures:nDCG", "ndcg"):
        found = results(text, run, {"q": {relevant: 1.0}})
        assert found.mean == pytest.approx(1 / math.log2(rank + 1), rel=0, abs=1e-12)
