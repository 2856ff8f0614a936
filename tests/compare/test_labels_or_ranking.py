"""A difference between runs under different labels is split: what the labels did, and what the ranking did."""

from __future__ import annotations

import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import NotComparableError

OLD = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
NEW = {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}


@pytest.fixture
def relabelled(tracker: nt.Tracker) -> nt.Tracker:
    """A run under old labels, and one under new labels alone."""
    tracker.ingest(OLD, name="monday", labels={"q": {"a": 1, "b": 0}}, metrics=["P@1", "P@2"])
    tracker.add_labels({"q": {"a": 1, "b": 0, "c": 1}})
    tracker.ingest(NEW, name="tuesday", metrics=["P@1", "P@2"])
    return tracker


def test_compare_without_a_common_version_says_it(relabelled: nt.Tracker) -> None:
    assert refusal_of(NotComparableError, relabelled.compare, "monday", "tuesday") == (
        "runs 'monday' and 'tuesday' do not both have a metric under one version of the labels: P@1 -1.0000 since "
        "monday: labels +0.0000, ranking -1.0000; type: ndcg-track rescore monday tuesday --dataset default "
        "--metric P@1 --metric P@2"
    )


def test_history_says_it_and_has_the_numbers(relabelled: nt.Tracker) -> None:
    relabelled.add_labels({"q": {"a": 0, "b": 1, "c": 1}}, judge="", replace=True)
    relabelled.ingest(OLD, name="wednesday", metrics=["P@1"])
    rows = relabelled.history_report("P@1").rows
    assert [row["labels_or_ranking"] for row in rows] == [
        None,
        {"since": "monday", "labels": 0.0, "ranking": -1.0, "interaction": 0.0},
        {"since": "tuesday", "labels": 0.0, "ranking": 0.0, "interaction": -2.0},
    ]
    frame = relabelled.history("P@1")
    assert frame["labels_or_ranking"].tolist()[1]["ranking"] == -1.0


@pytest.mark.both_engines
def test_a_view_has_the_same_numbers_of_runs_under_both_versions(relabelled: nt.Tracker) -> None:
    relabelled.add_labels({"q": {"a": 0, "b": 1, "c": 1}}, judge="", replace=True)
    relabelled.ingest(OLD, name="wednesday", metrics=["P@1"])
    relabelled.ingest(OLD, name="of another dataset", dataset="books", labels={"q": {"a": 1}}, metrics=["P@1"])
    (row,) = [row for row in relabelled.history_report("P@1").rows if row["run"] == "wednesday"]
    assert relabelled.sql("SELECT * FROM labels_or_ranking").empty
    relabelled.rescore(["tuesday"], metrics="P@1")
    relabelled.rescore(["wednesday"], metrics="P@1", labels=2)
    shown = relabelled.sql("SELECT * FROM labels_or_ranking WHERE baseline = 'tuesday' AND candidate = 'wednesday'")
    forward, back = shown.sort_values("baseline_label_set_version").to_dict("records")
    parts = row["labels_or_ranking"]
    assert parts == {"since": "tuesday", "labels": 0.0, "ranking": 0.0, "interaction": -2.0}
    assert forward == {
        "dataset": "default",
        "baseline": "tuesday",
        "candidate": "wednesday",
        "metric": "P@1",
        "baseline_label_set_version": 2,
        "candidate_label_set_version": 3,
        "delta": 0.0,
        "labels_change": parts["labels"],
        "ranking_change": parts["ranking"],
        "interaction": parts["interaction"],
        "requested_as": "P@1",
        "judge": "",
    }
    assert (back["candidate_label_set_version"], back["delta"], back["interaction"]) == (2, 0.0, 2.0)


def test_runs_under_one_version_have_no_parts(relabelled: nt.Tracker) -> None:
    relabelled.rescore()
    assert [row["labels_or_ranking"] for row in relabelled.history_report("P@1").rows] == [None, None]


def test_runs_that_lack_a_metric_under_one_version_have_no_parts(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, name="monday", labels={"q": {"a": 1, "b": 0}}, metrics=["P@1", "P@2"])
    tracker.ingest(NEW, name="tuesday", metrics=["P@1"])
    told = refusal_of(NotComparableError, tracker.compare, "monday", "tuesday", metrics=["P@1", "P@2"])
    assert "since" not in told


def test_what_is_not_stored_and_has_no_items_stays_open(relabelled: nt.Tracker) -> None:
    relabelled.prune("2999-01-01", apply=True)
    assert [row["labels_or_ranking"] for row in relabelled.history_report("P@1").rows] == [None, None]
    told = refusal_of(NotComparableError, relabelled.compare, "monday", "tuesday")
    assert "since" not in told
