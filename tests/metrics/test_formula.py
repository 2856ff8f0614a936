"""Metrics in words."""

import pytest

from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric, formula, settings
from ndcg_tracker.metrics.language.text import parse_metric


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ndcg@10", "ndcg@10 = sum over ranks i = 1..10 of l * 1/log2(i+1), "
         "divided by the same sum over the ideal order"),
        ("cg", "cg = sum over ranks i = 1, 2, ... of l"),
        ("idcg(discount=jk10, gain=binary)@3", "idcg@3 = sum over ranks i = 1..3 of the ideal order of "
         "(1 if l > 0, else 0) * (1 up to rank 10, then 1/log10(i))"),
        ("dcg(gain={1:2})", "dcg = sum over ranks i = 1, 2, ... of (the entry of l in {1:2}, else l) * 1/log2(i+1)"),
    ],
)  # fmt: skip
def test_formula(text: str, expected: str) -> None:
    assert formula(parse_metric(text)) == expected


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_a_formula(measure: str) -> None:
    found = formula(Metric.of(measure, cutoff=5 if MEASURES[measure].cutoff == "required" else None))
    assert found.startswith(measure)
    assert " = " in found


def test_every_axis_is_told_with_its_default() -> None:
    told = {setting.axis: setting for setting in settings(parse_metric("ndcg(ties=average)"))}
    assert (told["ties"].value, told["ties"].default) == ("average", "item_desc")
    assert told["ties"].meaning == "the expected value over all orders"
    assert (told["gain"].value, told["gain"].default) == ("linear", "linear")
    assert "ideal" not in {setting.axis for setting in settings(parse_metric("dcg"))}
