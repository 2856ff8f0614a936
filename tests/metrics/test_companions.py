"""trec_eval's measures on examples by hand; random data is in test_live_oracles.py."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankings_of import Run, joined, results, value
from thorough import examples

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.dialects.trec import all_trec
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.text import parse_metric

GRADES = [0.0, 1.0, 0.0, 2.0]
"""A list by rank; one relevant item, of grade 3, is not in it: R = 3."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rprec", 1 / 3),
        ("Rprec(rel=2)", 0.0),
        ("Rprec(mult=1.5)", 2 / 5),  # 4.5 + 0.9, cut off
        ("Rprec(mult=0.4)", 1 / 2),  # 1.2 + 0.9: two ranks
        ("Bpref", (1 - 1 / 2 + 1 - 2 / 2) / 3),
        ("infAP", (1 / 2 + 1 / 2 * (1e-5 / (1 + 2e-5)) + 1 / 4 + 3 / 4 * ((1 + 1e-5) / (3 + 2e-5))) / 3),
        ("IPrec@0", 1 / 2),
        ("IPrec@0.67", 1 / 2),  # 2.01 + 0.9 is 2
        ("IPrec@0.75", 0.0),  # 2.25 + 0.9 is 3
        ("IPrec(recall_count=nearest)@0.75", 1 / 2),
        ("IPrec@1", 0.0),
        ("IPrecAvg", 8 * 0.5 / 11),  # 0.7 x 3 is a little less than 2.1 in double precision, as trec_eval has it
        ("IPrecAvg(recalls={0.2, 0.5, 0.8})", 2 * 0.5 / 3),
        ("SetP(relative=True)", 2 / 3),
        ("P(relative=True)@2", 1 / 2),
        ("P(relative=True)@10", 2 / 3),
        ("P(rel=>1)@10", 1 / 10),
        ("AP(rel=>0.5)", (1 / 2 + 2 / 4) / 3),
        ("R(rel=>2)@10", 0.0),
        ("P(over=list)@2", 1 / 2),
        ("P(over=list)@10", 2 / 4),
        ("P(ideal=retrieved, relative=True)@10", 2 / 2),
        ("R(ideal=retrieved)@2", 1 / 2),
        ("F1@2", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
        ("F1(beta=4)@10", 5 * (2 / 10) * (2 / 3) / (4 * 2 / 10 + 2 / 3)),
        ("AP@3", 1 / 2 / 3),
        ("AP(over=cutoff)@10", (1 / 2 + 2 / 4) / 10),
        ("AP(over=achievable)@2", 1 / 2 / 2),
        ("AP(over=achievable)@10", (1 / 2 + 2 / 4) / 3),
        ("AP(over=found)@3", 1 / 2),
        ("AP(over=found)", (1 / 2 + 2 / 4) / 2),
        ("AP(over=list)@3", 1 / 2 / 3),
        ("AP(over=list)", (1 / 2 + 2 / 4) / 4),
        ("AP(ideal=retrieved)@10", (1 / 2 + 2 / 4) / 2),
        ("AP(ideal=retrieved, over=achievable)@1", 0.0),
        ("ERR", 1 / 16 / 2 + 15 / 16 * 3 / 16 / 4),
        ("ERR(highest=2)", 1 / 4 / 2 + 3 / 4 * 3 / 4 / 4),
        ("ERR(highest=2)@3", 1 / 4 / 2),
        ("dcg(discount=rbp0.8)", 0.2 * (0.8 + 2 * 0.8**3)),
        ("dcg(discount=rbp0.8, gain=exp2)@3", 0.2 * 0.8),
        ("Success", 1.0),
        ("Success(rel=3)", 0.0),
        ("P(round=2up)@8", 0.25),
        ("AP(round=3up)", 0.333),
        ("SetR", 2 / 3),
        ("SetAP", 4 / 12),
        ("SetF", 2 * 0.5 * (2 / 3) / (0.5 + 2 / 3)),
        ("SetF(beta=0.5)", 1.5 * 0.5 * (2 / 3) / (0.5 * 0.5 + 2 / 3)),
        ("binG", (1 / math.log2(3) + 1 / math.log2(4)) / 3),
        ("G", (1 / math.log2(2 + 5 - 1) + 2 / math.log2(2 + 7 - 3)) / 6),
        ("yaap", math.log((1 + 1) / (1 + 3 - 1))),
        ("GMAP", math.log(1 / 3)),
        ("GMBpref", math.log(1 / 6)),
        ("Utility", 0.0),
        ("Utility(worth={3, -2, -1, 0})", 3 * 2 - 2 * 2 - 1),
        ("Utility(collection=100, worth={0, 0, 0, 1})", 95.0),
        ("NumQ", 1.0),
        ("NumRet", 4.0),
        ("NumRet(rel=2)", 1.0),
        ("NumRel", 3.0),
        ("NumNonrelJudgedRet", 2.0),
        ("Unjudged@8", 0.0),
        ("RBPResidual", 0.0),
        ("RBP(graded=True, p=0.5)", 0.5 * (0.5 * 1 / 3 + 0.125 * 2 / 3)),
    ],
)
def test_by_hand(text: str, expected: float) -> None:
    assert value(text, GRADES, 3.0) == pytest.approx(expected, rel=0, abs=1e-15)


def test_averages_of_ndcg() -> None:
    dcg = [0.0, 1 / math.log2(3), 1 / math.log2(3), 1 / math.log2(3) + 2 / math.log2(5)]
    ideal = [3.0, 3 + 2 / math.log2(3), 3 + 2 / math.log2(3) + 1 / 2]
    expected = (dcg[1] / ideal[1] + dcg[3] / ideal[2] + dcg[3] / ideal[2]) / 3
    assert value("ndcg_rel", GRADES, 3.0) == pytest.approx(expected, rel=0, abs=1e-15)
    expected = (dcg[0] / ideal[0] + dcg[1] / ideal[1] + dcg[2] / ideal[2]) / 3
    assert value("Rndcg", GRADES, 3.0) == pytest.approx(expected, rel=0, abs=1e-15)
    expected = (dcg[0] / ideal[0] + dcg[1] / ideal[1] + dcg[2] / ideal[2] + dcg[3] / ideal[2]) / 4
    assert value("Rndcg", [*GRADES, 0.0], 3.0) == pytest.approx(expected, rel=0, abs=1e-15)
    assert value("Rndcg(rel=4)", GRADES, 3.0) == 0.0


RUN: Run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}, "q4": {"a": 1.0}}
LABELS: Run = {"q1": {"b": 1.0, "c": -1.0}, "q2": {"a": 0.0}, "q3": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("text", "values", "summary"),
    [
        ("NumQ", [1.0, 1.0, 1.0], 3.0),
        ("NumQ(missing=skip)", [1.0, 1.0, math.nan], 2.0),
        ("NumQ(missing=zero)", [1.0, 1.0, 0.0], 2.0),
        ("NumRet", [3.0, 1.0, 0.0], 4.0),
        ("NumRel", [1.0, 0.0, 2.0], 3.0),
        ("NumRel(missing=zero)", [1.0, 0.0, 0.0], 1.0),
        ("NumNonrelJudgedRet", [0.0, 1.0, 0.0], 1.0),
        ("GMAP", [math.log(0.5), math.log(1e-5), math.log(1e-5)], (0.5 * 1e-5 * 1e-5) ** (1 / 3)),
        ("GMAP(missing=skip)", [math.log(0.5), math.log(1e-5), math.nan], (0.5 * 1e-5) ** (1 / 2)),
        ("yaap", [math.log(1.5 / 1.5), 0.0, math.log(1 / 3)], math.log(1 / 3) / 3),
        ("yaap(missing=zero)", [0.0, 0.0, 0.0], 0.0),
        ("Utility", [-1.0, -1.0, 0.0], -2 / 3),
        ("Utility(missing=empty, worth={1, -1, -2, 0})", [-1.0, -1.0, -4.0], -2.0),
        ("Unjudged@2", [0.5, 0.0, 0.0], 0.5 / 3),
        ("RBPResidual(p=0.5)", [0.5 * (1 + 0.25) + 0.125, 0.0, 0.0], 0.75 / 3),
    ],
)
def test_groups_and_their_summary(text: str, values: list[float], summary: float) -> None:
    found = results(text, RUN, LABELS)
    np.testing.assert_allclose(found.values, [*values, math.nan], rtol=1e-15, atol=1e-15)
    assert found.mean == pytest.approx(summary, rel=1e-14, abs=1e-15)


EMPTY_RUN: Run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q5": {"a": 1.0}}
EMPTY_LABELS: Run = {"q1": {"b": 1.0}, "q2": {"a": 0.0}, "q3": {"a": 0.0}, "q4": {"b": 1.0}, "q5": {"c": 1.0}}


@pytest.mark.parametrize("name", ["P@2", "R@2", "F1@2", "AP", "RR", "Success@2"])
@pytest.mark.parametrize(
    ("settings", "empty", "missing_and_empty"),
    [("empty=0", 0.0, 0.0), ("empty=1", 1.0, 0.0), ("empty=skip", math.nan, math.nan)],
)
def test_a_group_without_relevant_item(name: str, settings: str, empty: float, missing_and_empty: float) -> None:
    measure, at, cutoff = name.partition("@")
    found = results(f"{measure}({settings}){at}{cutoff}", EMPTY_RUN, EMPTY_LABELS)
    plain = results(name, EMPTY_RUN, EMPTY_LABELS)
    np.testing.assert_array_equal(found.values, [plain.values[0], empty, missing_and_empty, 0.0, 0.0])
    assert found.mean == np.nanmean(found.values)


def test_what_the_list_lacks_may_count_as_not_there() -> None:
    found = results("AP(empty=1, ideal=retrieved)", EMPTY_RUN, EMPTY_LABELS)
    np.testing.assert_array_equal(found.values, [0.5, 1.0, 0.0, 0.0, 1.0])
    with pytest.raises(MetricError, match=r"group 'q2' has no relevant item; use empty=0 or empty=skip"):
        results("R(empty=error)@3", EMPTY_RUN, EMPTY_LABELS)


def test_what_is_shown_and_not_compared() -> None:
    at = {name: "@1" if one.cutoff == "required" or one.axis_at else "" for name, one in MEASURES.items()}
    why = {name: parse_metric(name + at[name]) for name in MEASURES}
    assert {name for name, metric in why.items() if metric.shown_only == "diagnostic"} == {
        *("FallOut", "Judged", "Unjudged", "RBPResidual", "NumQ", "NumRet", "NumRel", "NumNonrelJudgedRet")
    }
    assert {name for name, metric in why.items() if metric.shown_only == "no_mean_of_groups"} == {"GMAP", "GMBpref"}
    assert {name for name, metric in why.items() if metric.summary != "mean"} == {
        *("GMAP", "GMBpref", "NumQ", "NumRet", "NumRel", "NumNonrelJudgedRet")
    }


def test_no_group_without_labels_and_no_run_breaks_a_measure() -> None:
    for text in [*all_trec("trec_eval10"), *(f"{text}" for text in all_trec("pytrec_eval"))]:
        metric = parse_metric(text).with_axes(missing="zero", label_domain="any")
        for run, labels in ((RUN, {"q9": {"a": 1.0}}), ({"q1": {"a": 1.0}}, {"q1": {"b": 0.0}})):
            (found,) = group_results(joined(run, labels), [metric])
            assert np.isfinite(found.values[: len(labels)]).all(), text


@settings(deadline=None, max_examples=examples(150))
@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1, max_size=9), st.integers(1, 10), st.booleans())
def test_depth_is_a_run_that_ends_there(grades: list[float], depth: int, judged_only: bool) -> None:
    items = {f"d{place}": -float(place) for place in range(2 * len(grades))}
    labels = {"q": {f"d{2 * place}": grade for place, grade in enumerate(grades)}}
    cut = dict(list(items.items())[:depth])
    texts = [text.replace(":", ":-J ") if judged_only else text for text in all_trec("trec_eval")]
    metrics = [parse_metric(text) for text in texts]
    whole = group_results(joined({"q": items}, labels), [metric.with_axes(depth=str(depth)) for metric in metrics])
    ended = group_results(joined({"q": cut}, labels), metrics)
    for text, one, other in zip(texts, whole, ended, strict=True):
        assert one.values.tolist() == other.values.tolist(), text


@pytest.mark.parametrize(
    ("ties", "kept"),
    [("item_desc", "cd"), ("item_asc", "ab"), ("input", "bd"), ("pessimistic", "bd"), ("optimistic", "ac")],
)
def test_ties_say_which_items_a_depth_keeps(ties: str, kept: str) -> None:
    run = {"q": {"b": 1.0, "d": 1.0, "a": 1.0, "c": 1.0}, "r": {"b": 1.0}}
    labels = {"q": {"a": 1.0, "b": 0.0, "c": 1.0}, "r": {"b": 1.0}}
    found = results(f"NumRet(depth=2, rel=1, ties={ties})", run, labels)
    assert found.values.tolist() == [float(len(set(kept) & {"a", "c"})), 1.0]


def test_an_unjudged_item_may_satisfy_a_user() -> None:
    run, labels = (
        {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}, "r": {"z": 1.0}},
        {"q": {"a": 1.0, "b": 2.0, "c": 2.0}},
    )
    by_hand = 1 / 4 + 3 / 4 * 1 / 4 / 2 + (3 / 4) ** 2 * 1 / 4 / 3 + (3 / 4) ** 3 * 3 / 4 / 4
    found = results("ERR(highest=2, unjudged=1)", run, labels)
    assert found.values[0] == pytest.approx(by_hand, rel=0, abs=1e-15)
    assert np.isnan(found.values[1])  # no label at all
    assert results("ERR(highest=2, unjudged=1)@1", run, labels).values[0] == 1 / 4
    assert results("ERR(highest=2, unjudged=drop)", run, labels).values[0] == 1 / 4 + 3 / 4 * 3 / 4 / 2
    tied = {"q": dict.fromkeys(run["q"], 1.0)}
    worst, best = (
        results(f"ERR(highest=2, ties={ties}, unjudged=1)", tied, labels) for ties in ("pessimistic", "optimistic")
    )
    assert worst.values[0] == pytest.approx(by_hand, rel=0, abs=1e-15)
    assert best.values[0] == pytest.approx(
        3 / 4 + (1 / 4) ** 2 / 2 + 1 / 4 * 3 / 4 / 4 / 3 + 1 / 4 * (3 / 4) ** 2 / 4 / 4
    )
    with pytest.raises(MetricError, match="AP has no gains, so an unjudged item cannot have a gain"):
        parse_metric("AP(unjudged=1)")


@pytest.mark.parametrize(
    ("share", "up"), [((1, 8), 0.13), ((3, 8), 0.38), ((1, 3), 0.33), ((2, 3), 0.67), ((0, 8), 0.0), ((8, 8), 1.0)]
)
def test_halves_are_rounded_upwards(share: tuple[int, int], up: float) -> None:
    n_relevant, cutoff = share
    grades = [1.0] * n_relevant + [0.0] * (cutoff - n_relevant)
    assert value(f"P(round=2up)@{cutoff}", grades) == up
    assert results(f"P(round=2up, round_of=mean)@{cutoff}", {"q": {"a": 1.0}}, {"q": {"a": 0.0}}).mean == 0.0


def test_what_keeping_negative_grades_changes() -> None:
    """The table of docs/metrics.md: measures with gains subtract, all others stay as they are."""
    run, labels = {"q": {"a": 4.0, "h": 3.0, "b": 2.0, "x": 1.0}}, {"q": {"a": 1.0, "h": -1.0, "b": 1.0, "g": -1.0}}
    changed = set()
    for name, one in MEASURES.items():
        text = f"{name}({{}})" + ("@2" if one.cutoff == "required" else "@0.5" if one.axis_at else "")
        zero, keep = (results(text.format(f"negative={negative}"), run, labels).mean for negative in ("zero", "keep"))
        changed |= {name} if zero != keep else set()
    assert changed == {"cg", "dcg", "idcg", "ndcg", "G", "ndcg_rel", "Rndcg"}
    assert results("RBP(graded=True, negative=keep)", {"q": {"h": 1.0}}, {"q": {"h": -1.0}}).mean == pytest.approx(-0.2)
    assert parse_metric("RBP(graded=True, negative=keep)").limits is None
    assert results("dcg(gain={-1:-3}, negative=keep)@1", {"q": {"h": 1.0}}, {"q": {"h": -1.0}}).mean == -3.0
    assert results("ndcg(negative=keep)", {"q": {"a": 1.0}}, labels).mean > 0.9
    assert results("ndcg(negative=keep)@3", {"q": {"a": 2.0, "b": 1.0}}, labels).mean > 1
