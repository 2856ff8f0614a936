"""The judged share against ir_measures' definition, on small lists."""

from rankings_of import joined

from ndcg_tracker.metrics.unjudged_bounds import judged_shares


def test_the_share_of_labelled_items_at_the_top() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0}, "extra": {"z": 1.0}}
    labels = {"q": {"a": 0.0, "c": 1.0, "unretrieved": 2.0}, "r": {"x": 1.0}, "missing": {"a": 1.0}}
    judged = joined(run, labels)
    assert judged_shares(judged, 1).tolist() == [1.0, 0.0]
    assert judged_shares(judged, 2).tolist() == [0.5, 0.0]
    assert judged_shares(judged, None).tolist() == [2 / 3, 0.0]


def test_ties_at_the_cutoff_go_by_item_id() -> None:
    assert judged_shares(joined({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0}}), 1).tolist() == [0.0]
    assert judged_shares(joined({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0}}), 1).tolist() == [1.0]


def test_a_run_that_shares_no_group_with_the_labels_has_no_share() -> None:
    assert judged_shares(joined({"q": {"a": 1.0}}, {"r": {"a": 1.0}}), 10).size == 0
