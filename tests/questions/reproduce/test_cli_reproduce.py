"""``ndcg-track reproduce``: formats and refusals."""

from __future__ import annotations

import json

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")


BASELINES = ("--baseline-original", "bm25", "--baseline-reproduced", "bm25")


def test_beside_the_original(shop: CommandLine) -> None:
    text = shop.done("reproduce", "bm25", "dense")
    assert text.startswith("dense is not the same as bm25 on shop: ")
    assert "RMSE" in text
    assert "DeltaRI" not in text
    found = json.loads(shop.done("reproduce", "bm25", "dense", "--format", "json", "--cutoff", "2", "--cutoff", "5"))
    assert [one["cutoff"] for one in found["lists"]] == [2, 5]
    assert list(found["metrics"][0]) == [
        "metric", "requested_as", "original", "reproduced", "delta", "ci", "rmse", "p_value", "n", "er", "delta_ri",
    ]  # fmt: skip
    csv = shop.done("reproduce", "dense", "bm25", "--format", "csv", *BASELINES)
    assert csv.splitlines()[0] == (
        "original_run,original_run_id,reproduced_run,reproduced_run_id,dataset,label_set_version,metric,requested_as,"
        "original,reproduced,delta,ci_low,ci_high,rmse,p_value,er,delta_ri,n,judge"
    )
    assert "**effect**" in shop.done("reproduce", "bm25", "dense", "--format", "markdown", *BASELINES)


def test_beside_a_published_mean(shop: CommandLine) -> None:
    assert shop.done("reproduce", "bm25", "--published", "0").startswith("OUTSIDE: bm25 on shop: ")
    found = json.loads(shop.done("reproduce", "bm25", "--published", "0.01", "--format", "json"))
    assert (found["run"]["name"], found["published"], found["is_within"]) == ("bm25", 0.01, False)


def test_what_is_refused(shop: CommandLine) -> None:
    assert (
        shop.refused("reproduce", "bm25", "--published", "41.23")
        == "--published 41.23 cannot be a mean of ndcg@10, which is from 0 to 1; give a share, not percent"
    )
    assert (
        shop.refused("reproduce", "bm25", "dense", "--baseline-reproduced", "bm25")
        == "--baseline-reproduced needs --baseline-original: a single baseline gives no effect to compare; give "
        "--baseline-original, or leave out --baseline-reproduced"
    )
