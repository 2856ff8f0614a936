"""The candidate's metrics as one flat JSON object."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.render.json import metric_key, metrics_json


def test_names_and_means() -> None:
    means = [("ndcg@10", 1 / 3), ("ndcg(gain=exp2, missing=skip)@5", 0.5), ("AP", None), ("RR", 0.25)]
    assert json.loads(metrics_json(means)) == {
        "ndcg_at_10": 1 / 3,
        "ndcg_gain_exp2_missing_skip_at_5": 0.5,
        "RR": 0.25,
    }
    assert metrics_json([]) == "{}\n"


def test_a_long_text_goes_by_the_name_of_its_tool() -> None:
    text = str(parse_metric("lightgbm:ndcg@5"))
    assert len(text) > 100
    assert json.loads(metrics_json([(text, 0.5)])) == {"lightgbm_ndcg_at_5": 0.5}


def test_names_that_meet_are_numbered() -> None:
    assert json.loads(metrics_json([("a-b", 1.0), ("a+b", 2.0), ("a b", 3.0)])) == {
        "a_b": 1.0,
        "a_b_2": 2.0,
        "a_b_3": 3.0,
    }


@given(st.text())
def test_a_key_has_letters_digits_and_underscores(text: str) -> None:
    assert re.fullmatch("[0-9A-Za-z_]*", metric_key(text))
