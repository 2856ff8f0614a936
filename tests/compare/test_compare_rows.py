"""The comparison as a program takes it: JSON and CSV, with every number at full precision."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_object, comparison_said


def rows_of(printed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed, newline="")))


def cell(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_json_is_the_dictionary(comparison: Comparison, full_comparison: Comparison) -> None:
    assert json.loads(comparison_said(comparison).in_format("json")) == comparison_object(comparison)
    assert comparison_said(comparison).in_format("json") == comparison_said(comparison).in_format("json")
    assert json.loads(comparison_said(full_comparison).in_format("json")) == comparison_object(full_comparison)


def test_what_was_asked_for_is_added_to_the_json(comparison: Comparison, full_comparison: Comparison) -> None:
    plain, full = comparison_object(comparison), comparison_object(full_comparison)
    assert list(full) == [*plain, "tie_groups", "n_tie_groups", "slices"]
    assert set(full["metrics"][0]) == {*plain["metrics"][0], "equivalence"}
    assert full["metrics"][0]["low_information"] is True
    assert [(row["attribute"], row["value"]) for row in full["slices"]] == [
        ("device", "phone"), ("device", "watch"), ("device", None), ("device", "desktop"),
    ]  # fmt: skip
    assert full["worst"][0]["moves"][0] == {
        "item": "sku-1",
        "grade": 3.0,
        "rank_baseline": 1,
        "rank_candidate": 7,
        "contribution_baseline": 0.5,
        "contribution_candidate": 0.2,
        "contribution": -0.3,
    }
    assert "moves" not in full["best"][0]


def test_further_candidates(comparison: Comparison) -> None:
    other = replace(comparison, candidate=replace(comparison.candidate, name="splade", run_id=3))
    document = json.loads(comparison_said(comparison, other).in_format("json"))
    assert document.pop("further") == [comparison_object(other)]
    assert document.pop("comparisons") == [comparison_object(comparison), comparison_object(other)]
    assert document == comparison_object(comparison)
    assert [row["candidate_run"] for row in rows_of(comparison_said(comparison, other).in_format("csv"))] == [
        "dense"
    ] * 4 + ["splade"] * 4


def test_csv_has_every_number_of_the_json(comparison: Comparison) -> None:
    rows = rows_of(comparison_said(comparison).in_format("csv"))
    for row, metric in zip(rows, comparison_object(comparison)["metrics"], strict=True):
        flat = {**metric.pop("groups"), **metric}
        low, high = flat.pop("ci") or (None, None)
        flat |= {"ci_low": low, "ci_high": high, "warnings": "; ".join(flat["warnings"])}
        flat.pop("missing")
        assert flat.pop("tie_bounds") is None
        assert flat.pop("betting_ci") is None
        judged = flat.pop("judged") or {"baseline": None, "candidate": None}
        flat |= {f"{side}_judged": judged[side] for side in ("baseline", "candidate")}
        assert flat.pop("low_information") == ("low information" in flat["warnings"])
        for name, value in flat.items():
            assert row[name] == cell(value)
    assert (rows[0]["baseline_run"], rows[0]["baseline_run_id"], rows[0]["dataset"]) == ("bm25", "1", "shop")
    assert (rows[0]["label_set_version"], rows[0]["label_set_digest"][:6]) == ("2", "3f2a91")


def test_csv_has_what_was_asked_for(full_comparison: Comparison) -> None:
    document = comparison_object(full_comparison)
    metric, *slices = rows_of(comparison_said(full_comparison).in_format("csv"))
    asked = {
        "betting_ci_low": None, "betting_ci_high": None, "equivalence_margin": 0.01,
        "equivalence_p_value": 0.7231, "equivalence_ci_low": -0.0189, "equivalence_ci_high": -0.0057,
        "equivalent": False, "attribute": None, "value": None, "q_value": None,
    }  # fmt: skip
    assert {name: metric[name] for name in asked} == {name: cell(value) for name, value in asked.items()}
    for row, expected in zip(slices, document["slices"], strict=True):
        low, high = expected.pop("ci") or (None, None)
        expected |= {"ci_low": low, "ci_high": high, "metric": "ndcg@10", "test": "t", "ci_method": "t"}
        expected["warnings"] = expected.pop("warning")
        assert {name: row[name] for name in expected} == {name: cell(value) for name, value in expected.items()}
        same = ("baseline_run", "candidate_run_id", "label_set_digest")
        assert [row[name] for name in same] == [metric[name] for name in same]


@pytest.mark.parametrize("p_value", [5e-324, 9.9e-5])
def test_p_keeps_its_digits(comparison: Comparison, p_value: float) -> None:
    one = replace(comparison, metrics=(replace(comparison.metrics[0], p_adjusted=p_value),))
    assert rows_of(comparison_said(one).in_format("csv"))[0]["p_adjusted"] == repr(p_value)
    assert json.loads(comparison_said(one).in_format("json"))["metrics"][0]["p_adjusted"] == p_value
