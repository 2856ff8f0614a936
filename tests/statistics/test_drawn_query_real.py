"""Drawn queries on the runs of TREC-COVID: see ``tests/drawn_trec.py``."""

import os
from pathlib import Path

import pytest
from drawn_trec import DRAWN, WITHOUT_ASKING, draws
from populations import LONG, Record

FOLDER = os.environ.get("NDCG_TEST_TREC_COVID", "")


@pytest.mark.skipif(not FOLDER, reason="NDCG_TEST_TREC_COVID names no folder with the runs and labels of TREC-COVID")
def test_estimates_lie_around_the_difference_by_all_answers(record_property: Record) -> None:
    found = list(draws(Path(FOLDER), 100 if LONG else 40))
    assert len(found) == 3 * len(WITHOUT_ASKING) * len(DRAWN)
    for one in found:
        name = f"{' to '.join(one.pair)}, {one.source}, {one.n}"
        record_property(f"{name}: bias in standard errors", one.bias_in_errors)
        assert abs(one.bias_in_errors) <= 3, name
        assert one.is_outside.mean() <= 0.05, name
        if one.source == "labels of round 1":
            assert one.answers == pytest.approx(one.complete, abs=0.004), name
