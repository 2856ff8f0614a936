"""``nt.evaluate``: frames in, values per group and their means out."""

import copy
import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings_of import results
from refused import OR_ALLOW, refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of, joint_frame, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning

Frame = dict[str, list[object]]
KINDS: list[Callable[[Frame], Any]] = [dict, pd.DataFrame, pa.table]
METRICS = ["ndcg@10", "ndcg(gain=exp2)@2", "dcg@3", "ndcg(empty=skip)@10"]


def refusal(frame: object, metrics: str | list[str] = "ndcg@10", **options: Any) -> str:
    return refusal_of(nt.InputError, nt.evaluate, frame, metrics, **options)


def test_a_value_worked_out_by_hand() -> None:
    frame = {"group": ["q"] * 3, "item": ["a", "b", "c"], "score": [1.0, 2.0, 3.0], "label": [3, 1, 0]}
    found = nt.evaluate(frame, "ndcg@10")
    dcg, ideal = 1 / math.log2(3) + 3 / 2, 3 + 1 / math.log2(3)
    assert found.per_group.loc["q", "ndcg@10"] == pytest.approx(dcg / ideal, rel=1e-15)
    assert found.mean["ndcg@10"] == found.per_group.loc["q", "ndcg@10"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_values_of_the_kernel(kind: Callable[[Frame], Any]) -> None:
    found = nt.evaluate(kind(frame_of(BM25)), METRICS, labels=kind(labels_frame()))
    expected = {metric: results(metric, BM25, LABELS) for metric in METRICS}
    keys = expected["ndcg@10"].group_keys.to_list()
    frame = pd.DataFrame({metric: one.values for metric, one in expected.items()}, index=pd.Index(keys, name="group"))
    pd.testing.assert_frame_equal(found.per_group, frame.astype("float64"), check_exact=True, check_index_type=False)
    assert found.mean.to_dict() == {metric: one.mean for metric, one in expected.items()}


def test_the_frames_are_named_by_the_texts_as_given_and_by_group() -> None:
    texts = ["ndcg(gain=linear)@10", "ndcg@10"]
    found = nt.evaluate(joint_frame(BM25, LABELS), texts)
    assert list(found.per_group.columns) == texts
    assert list(found.per_group.index) == ["q1", "q2", "q3", "q4", "q5"]
    assert found.per_group.index.name == "group"
    assert list(found.mean.index) == texts
    assert (found.mean.name, found.mean.dtype) == ("mean", np.float64)
    assert set(found.per_group.dtypes) == {np.dtype(np.float64)}
    assert found.mean.iloc[0] == found.mean.iloc[1]


def test_the_means_as_frame_dict_and_table() -> None:
    found = nt.evaluate(joint_frame(BM25, LABELS), ["ndcg@10", "dcg@3"])
    frame = found.to_frame()
    assert frame.index.name == "metric"
    assert frame["mean"].to_dict() == found.to_dict() == found.mean.to_dict()
    assert frame[["n_groups", "n_missing", "n_undefined"]].values.tolist() == [[5, 0, 0], [5, 0, 0]]
    assert repr(found) == repr(frame)
    assert found._repr_html_() == found.to_html() == frame.to_html()
    nothing = nt.evaluate({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0]}, "ndcg(empty=skip)@10")
    assert nothing.to_dict() == {"ndcg(empty=skip)@10": None}
    assert nothing.to_frame()["mean"].isna().tolist() == [True]


def test_a_mean_by_its_text() -> None:
    found = nt.evaluate({"q": {"a": 2.0, "b": 1.0}}, ["P@1", "map"], labels={"q": {"b": 1}})
    assert (found["P@1"], found["map"]) == (0.0, 0.5)
    with pytest.raises(KeyError, match="metric 'AP' was not computed; the computed metrics are P@1, map"):
        found["AP"]


def test_a_text_given_twice_is_one_metric() -> None:
    found = nt.evaluate(joint_frame(BM25, LABELS), ["ndcg@10", "dcg@3", "ndcg@10"])
    assert list(found.per_group.columns) == list(found.mean.index) == ["ndcg@10", "dcg@3"]


def test_one_text_need_not_be_a_list() -> None:
    frame = joint_frame(BM25, LABELS)
    assert nt.evaluate(frame, "dcg@3").mean.equals(nt.evaluate(frame, ["dcg@3"]).mean)


def test_the_columns_may_have_other_names() -> None:
    frame = pd.DataFrame(joint_frame(BM25, LABELS))
    renamed = frame.rename(columns={"group": "qid", "item": "doc", "score": "s", "label": "rel"})
    found = nt.evaluate(renamed, METRICS, group="qid", item="doc", score="s", label="rel")
    pd.testing.assert_frame_equal(found.per_group, nt.evaluate(frame, METRICS).per_group, check_exact=True)


def test_labels_of_a_second_frame_take_the_place_of_the_label_column() -> None:
    frame = frame_of(BM25) | {"label": [7] * len(frame_of(BM25)["group"])}
    found = nt.evaluate(frame, METRICS, labels=labels_frame())
    pd.testing.assert_frame_equal(
        found.per_group, nt.evaluate(frame_of(BM25), METRICS, labels=labels_frame()).per_group
    )


def test_the_column_names_hold_for_the_second_frame_too() -> None:
    run = pd.DataFrame(frame_of(DENSE)).rename(columns={"group": "qid", "item": "doc"})
    labels = pd.DataFrame(labels_frame()).rename(columns={"group": "qid", "item": "doc", "label": "rel"})
    found = nt.evaluate(run, "ndcg@10", labels=labels, group="qid", item="doc", label="rel")
    assert found.mean["ndcg@10"] == results("ndcg@10", DENSE, LABELS).mean


def test_undefined_is_nan_and_the_mean_leaves_it_out() -> None:
    found = nt.evaluate(frame_of(BM25), ["ndcg@10", "ndcg(empty=skip)@10"], labels=labels_frame())
    assert found.per_group.loc["q4"].isna().to_dict() == {"ndcg@10": False, "ndcg(empty=skip)@10": True}
    assert found.mean["ndcg(empty=skip)@10"] == found.per_group["ndcg(empty=skip)@10"].mean()


def test_the_mean_of_nothing_is_nan() -> None:
    found = nt.evaluate({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0]}, "ndcg(empty=skip)@10")
    assert found.per_group.isna().all(axis=None)
    assert math.isnan(found.mean["ndcg(empty=skip)@10"])


def test_a_group_missing_from_the_run_counts_0_and_one_without_labels_is_undefined() -> None:
    run = {**DENSE, "new": {"a": 1.0}}
    values = nt.evaluate(frame_of(run), "ndcg@10", labels=labels_frame()).per_group["ndcg@10"]
    assert values["q5"] == 0.0
    assert math.isnan(values["new"])


@pytest.mark.parametrize("kind", KINDS)
def test_null_scores_are_not_retrieved_and_null_labels_unjudged(kind: Callable[[Frame], Any]) -> None:
    frame = {"group": ["q"] * 4, "item": ["a", "b", "c", "d"], "score": [3.0, None, 2.0, 1.0], "label": [None, 2, 0, 1]}
    table = kind(frame).convert_dtypes() if kind is pd.DataFrame else kind(frame)
    found = nt.evaluate(table, ["ndcg@10", "ndcg(unjudged=drop)@10"])
    ideal = 2 + 1 / math.log2(3)
    assert found.mean.to_dict() == pytest.approx(
        {"ndcg@10": 0.5 / ideal, "ndcg(unjudged=drop)@10": 1 / math.log2(3) / ideal}, rel=1e-15
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nan_scores_are_an_error_unless_the_caller_says_what_they_mean(kind: Callable[[Frame], Any]) -> None:
    frame: Frame = {
        "group": ["q"] * 4,
        "item": ["a", "b", "c", "d"],
        "score": [math.nan, math.nan, math.nan, 1.0],
        "label": [0, 0, 0, 3],
    }
    assert refusal(kind(frame)) == (
        "row 1: the score is nan; fix the scores, or, if NaN means not retrieved, give null_scores='not_retrieved'"
    )
    assert nt.evaluate(kind(frame), "ndcg@10", null_scores="not_retrieved").mean["ndcg@10"] == 1.0
    assert nt.evaluate(kind({**frame, "score": [4, 3, 2, 1]}), "ndcg@10").mean["ndcg@10"] == 1 / math.log2(5)


def test_an_outer_join_of_run_and_labels_says_that_its_nan_scores_are_not_retrieved() -> None:
    run, labels = pd.DataFrame(frame_of(DENSE)), pd.DataFrame(labels_frame())
    joined = run.merge(labels, on=["group", "item"], how="outer")
    assert joined["score"].isna().any()
    assert "null_scores='not_retrieved'" in refusal(joined)
    found = nt.evaluate(joined, METRICS, null_scores="not_retrieved").mean
    pd.testing.assert_series_equal(found, nt.evaluate(run, METRICS, labels=labels).mean, check_exact=True)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_a_nan_label_is_unjudged_in_pandas_and_dicts_and_an_error_in_arrow(kind: Callable[[Frame], Any]) -> None:
    frame: Frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [math.nan, 1.0]}
    metric = "ndcg(unjudged=drop)@10"
    assert nt.evaluate(kind(frame), metric).mean[metric] == 1.0
    assert refusal(pa.table(frame)) == "row 1: the label is nan; use a finite number, or null for none"


def test_labels_may_be_whole_numbers_in_a_float_column() -> None:
    frame = pd.DataFrame(joint_frame(BM25, LABELS))
    assert frame["label"].dtype == np.float64
    assert (
        nt.evaluate(frame, "ndcg@10").mean["ndcg@10"]
        == nt.evaluate(frame.astype({"label": "Int64"}), "ndcg@10").mean[0:1].item()
    )


def test_items_without_a_column_are_known_by_their_row_in_the_group() -> None:
    frame = {"group": ["p", "q", "p", "q"], "score": [1.0, 2.0, 3.0, 1.0], "label": [1, 0, 0, 1]}
    found = nt.evaluate(frame, "ndcg@10").per_group["ndcg@10"]
    assert found.to_dict() == pytest.approx({"p": 1 / math.log2(3), "q": 1 / math.log2(3)})


def test_group_weights_weigh_the_mean_of_metrics_that_ask_for_them() -> None:
    frame = {"group": ["p", "q"], "item": ["a", "a"], "score": [1.0, 1.0], "label": [1, 0], "w": [3.0, 1.0]}
    texts = ["ndcg@10", "ndcg(weights=group)@10"]
    found = nt.evaluate(frame, texts, weight="w")
    assert found.mean.to_dict() == {"ndcg@10": 0.5, "ndcg(weights=group)@10": 0.75}
    assert nt.evaluate(frame, texts).mean.to_dict() == {"ndcg@10": 0.5, "ndcg(weights=group)@10": 0.5}
    renamed = {("weight" if name == "w" else name): values for name, values in frame.items()}
    assert nt.evaluate(renamed, texts).mean.to_dict() == found.mean.to_dict()


def test_weights_that_differ_within_a_group_are_no_group_weights() -> None:
    frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [1, 0], "weight": [3.0, 1.0]}
    assert nt.evaluate(frame, "ndcg@10").mean["ndcg@10"] == 1.0
    two = {name: values + values for name, values in frame.items()} | {"group": ["q", "q", "r", "r"]}
    two |= {"label": [1, 0, 0, 1], "weight": [3.0, 1.0, 9.0, 9.0]}
    assert nt.evaluate(two, "ndcg(weights=group)@1").mean.item() == 0.5
    assert nt.evaluate(two, "ndcg(weights=item_mean)@1").mean.item() == 2 / 11


@pytest.mark.parametrize("kind", KINDS)
def test_the_input_is_not_changed(kind: Callable[[Frame], Any]) -> None:
    frame, labels = kind(joint_frame(BM25, LABELS)), kind(labels_frame())
    before = copy.deepcopy(frame), copy.deepcopy(labels)
    found = nt.evaluate(frame, METRICS, labels=labels)
    found.per_group.iloc[:, :] = -1.0
    for now, then in zip((frame, labels), before, strict=True):
        assert now.equals(then) if hasattr(now, "equals") else now == then


def test_numpy_columns_are_not_changed_and_may_be_read_only() -> None:
    frame = {name: np.array(values) for name, values in frame_of(BM25).items()}
    for column in frame.values():
        column.flags.writeable = False
    found = nt.evaluate(frame, "ndcg@10", labels=labels_frame())
    assert found.mean["ndcg@10"] == results("ndcg@10", BM25, LABELS).mean


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_row_for_an_item_is_refused(kind: Callable[[Frame], Any]) -> None:
    frame: Frame = {"group": ["q", "r", "q"], "item": ["a", "a", "a"], "score": [1.0, 1.0, 2.0], "label": [1, 1, 2]}
    message = "row 3: item 'a' of group 'q' is in row 1 already; keep one of the two" + OR_ALLOW
    assert refusal(kind(frame)) == message
    assert refusal(kind(frame_of(BM25)), labels=kind(frame)) == f"labels: {message} or allow='duplicates:mean'"


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (joint_frame(BM25, LABELS), {"metrics": []}, "no metric was given; name at least one, such as ndcg@10"),
        (
            frame_of(BM25),
            {},
            "the ranking has no labels; name the label column with label=, or give them as a second table",
        ),
        (
            frame_of(BM25),
            {"label": "rel"},
            "no column 'rel'; the columns are 'group', 'item', 'score': name the label column with label=",
        ),
        (
            labels_frame(),
            {},
            "no column 'score'; the columns are 'group', 'item', 'label': name the score column with score=",
        ),
        (
            joint_frame(BM25, LABELS),
            {"weight": "w"},
            "no column 'w'; the columns are 'group', 'item', 'score', 'label': name the weight column with weight=",
        ),
        (
            [("q", "a", 1.0)],
            {},
            "cannot read a list; give a path, a frame (pandas, polars, Arrow and others), a dict of arrays, {query: ",
        ),
        (
            {"group": ["q"], "item": ["a"], "score": [1.0, 2.0], "label": [1]},
            {},
            "the columns differ in length ('group' 1, 'item' 1, 'score' 2, 'label' 1); give one value per row in each",
        ),
        (
            {"group": ["q"], "item": ["a"], "score": [None], "label": [1]},
            {},
            "no row has a score; name the score column",
        ),
        ({"group": [], "item": [], "score": [], "label": []}, {}, "there are no rows; give at least one"),
    ],
)
def test_what_cannot_be_taken_is_refused(frame: object, options: dict[str, Any], message: str) -> None:
    text = refusal(frame, options.pop("metrics", "ndcg@10"), **options)
    assert text.startswith(message)
    assert "\n" not in text


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(nt.MetricError, match="ndgc"):
        nt.evaluate(joint_frame(BM25, LABELS), ["ndcg@10", "ndgc@10"])


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_rows_means_nothing_where_no_scores_tie(random: random.Random) -> None:
    frame = pd.DataFrame(joint_frame(BM25, LABELS))
    order = random.sample(range(len(frame)), len(frame))
    shuffled = nt.evaluate(frame.iloc[order], METRICS).per_group
    pd.testing.assert_frame_equal(shuffled.sort_index(), nt.evaluate(frame, METRICS).per_group, check_exact=True)


def test_errors_of_frames_are_one_line() -> None:
    text = refusal({"group": ["q\nr", "q\nr"], "item": ["a", "a"], "score": [1.0, 2.0], "label": [1, 1]})
    assert re.fullmatch(r"row 2: item 'a' of group 'q\\nr' is in row 1 already; keep one of the two" + OR_ALLOW, text)


def test_labels_that_no_metric_of_relevance_counts_are_told() -> None:
    watched = {"group": ["u", "u", "v"], "item": ["a", "b", "a"], "score": [2.5, 1.5, 3.5], "label": [0.87, 0.2, 0.5]}
    with pytest.warns(NdcgTrackerWarning, match="no label reaches rel=1"):
        result = nt.evaluate(pd.DataFrame(watched), ["ndcg@5", "recall@5", "RR"])
    assert result.notes == (
        "no label reaches rel=1 (the highest is 0.87), so recall@5 is 0 for every run; to count lower labels, use "
        "R(rel=0.1)@5",
    )
    assert nt.evaluate(pd.DataFrame(watched), ["ndcg@5", "R(rel=0.1)@5"]).notes == ()
