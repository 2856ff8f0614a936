"""The judged share against ir_measures' definition, on small lists."""

import pytest
from rankings_of import joined

from ndcg_tracker.metrics import judged_share


def test_the_share_of_labelled_items_at_the_top() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0}, "extra": {"z": 1.0}}
    labels = {"q": {"a": 0.0, "c": 1.0, "unretrieved": 2.0}, "r": {"x": 1.0}, "missing": {"a": 1.0}}
    judged = joined(run, labels)
    assert judged_share(judged, 1) == 0.5
    assert judged_share(judged, 2) == 0.25
    assert judged_share(judged, None) == pytest.approx((2 / 3 + 0) / 2)


def test_ties_at_the_cutoff_go_by_item_id() -> None:
    assert judged_share(joined({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0}}), 1) == 0.0
    assert judged_share(joined({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}), 1) == 1.0


def test_a_run_that_shares_no_group_with_the_labels_has_no_share() -> None:
    assert judged_share(joined({"q": {"a": 1.0}}, {"r": {"a": 1.0}}), 10) is None
