"""Verdicts under a judge that people checked, on the runs of TREC-COVID: see ``tests/judged_trec.py``."""

import os
from pathlib import Path

import pytest
from judged_trec import BUDGETS, METRICS, draws
from populations import LONG, Record

FOLDER = os.environ.get("NDCG_TEST_TREC_COVID", "")


@pytest.mark.skipif(not FOLDER, reason="NDCG_TEST_TREC_COVID names no folder with the runs and labels of TREC-COVID")
def test_estimates_lie_around_the_difference_under_complete_labels(record_property: Record) -> None:
    found = list(draws(Path(FOLDER), 1000 if LONG else 20))
    assert len(found) == len(METRICS) * 3 * 2 * len(BUDGETS)
    for one in found:
        name = f"{one.metric}, {' to '.join(one.pair)}, {'biased' if one.is_biased else 'plain'}, {one.budget}"
        record_property(f"{name}: bias in standard errors", one.bias_in_errors)
        record_property(f"{name}: improved, regressed", one.verdicts)
        assert abs(one.bias_in_errors) <= 3, name
        assert one.complete.mean == pytest.approx(one.truth), name
