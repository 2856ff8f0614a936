"""What SQL says of groups that a run lacks: they count as 0, as failing groups do, and are told from them."""

from contextlib import suppress

import pandas as pd
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.text import parse_metric

LABELS = {"found": {"a": 1.0}, "failing": {"a": 1.0}, "vanished": {"a": 1.0}, "empty": {"a": 1.0}, "zero": {"a": 0.0}}
WHOLE = {"found": {"a": 2.0}, "failing": {"z": 1.0}, "vanished": {"a": 1.0}, "empty": {"z": 1.0}, "zero": {"a": 1.0}}
LACKING = {"found": {"a": 2.0}, "failing": {"z": 1.0}, "further": {"a": 1.0}}
METRICS = ["ndcg@10", "ndcg(missing=skip)@10", "Bpref"]
QUERY = "SELECT group_key, is_missing, value FROM group_history WHERE run = '{}' AND metric = '{}' ORDER BY 1"


def frame_of(lists: dict[str, dict[str, float]], name: str = "score") -> pd.DataFrame:
    rows = [(group, item, number) for group, items in lists.items() for item, number in items.items()]
    return pd.DataFrame(rows, columns=["group", "item", name])


@pytest.fixture
def shop(tracker: nt.Tracker) -> nt.Tracker:
    """A run with all labelled groups, and one that lacks three of them and has a further one."""
    labels = frame_of(LABELS, "label")
    for day, (name, lists) in enumerate({"whole": WHOLE, "lacking": LACKING}.items(), start=1):
        tracker.ingest(frame_of(lists), labels=labels, name=name, metrics=METRICS, created_at=f"2026-01-0{day}")
    return tracker


def missing(tracker: nt.Tracker, run: str, metric: str = "ndcg@10") -> dict[object, object]:
    return {key: is_missing for key, is_missing, _ in tracker.query(QUERY.format(run, metric)).rows}


@pytest.mark.parametrize("metric", METRICS)
def test_a_vanished_group_is_told_from_a_failing_one(shop: nt.Tracker, metric: str) -> None:
    of_lacking = missing(shop, "lacking", metric)
    assert {key for key, is_missing in of_lacking.items() if is_missing} == {"vanished", "empty", "zero"}
    assert {of_lacking[key] for key in ("found", "failing")} == {0}
    assert set(missing(shop, "whole", metric).values()) == {0}


def test_it_is_so_for_every_measure(shop: nt.Tracker) -> None:
    """Also where a vanished group counts other than 0: the view takes any discounted gain for a list."""
    forms = []
    for measure in MEASURES:
        for form in (measure, f"{measure}@10", f"{measure}(missing=empty)", f"{measure}(missing=skip)@10"):
            with suppress(NdcgTrackerError):  # it has no cutoff, or no such axis
                forms.append(str(parse_metric(form)))
    shop.rescore(["lacking"], metrics=forms)
    query = "SELECT DISTINCT group_key, is_missing, metric FROM group_history WHERE run = 'lacking'"
    rows = shop.query(query).rows
    assert len({metric for *_, metric in rows}) >= len(MEASURES)
    assert {key for key, is_missing, _ in rows if is_missing} == {"vanished", "empty", "zero"}
    assert {key for key, is_missing, _ in rows if is_missing == 0} == {"found", "failing", "further"}


def test_a_list_of_keeps_failing_groups_names_no_vanished_one(shop: nt.Tracker) -> None:
    query = "SELECT run, group_key FROM group_history WHERE metric = 'ndcg@10' AND is_newest_labels AND value < 0.2"
    assert len(shop.query(query).rows) == 3 + 4
    told = shop.query(f"{query} AND is_missing IS NOT TRUE ORDER BY run, group_key").rows
    assert told == [("lacking", "failing"), ("whole", "empty"), ("whole", "failing"), ("whole", "zero")]


def test_where_lists_are_gone_only_a_run_that_lacked_nothing_still_knows(shop: nt.Tracker) -> None:
    shop.prune("2026-06-01", apply=True)
    assert set(missing(shop, "whole").values()) == {0}
    of_lacking = missing(shop, "lacking")
    assert {key for key, is_missing in of_lacking.items() if is_missing is not None} == {"found"}  # it has a gain
    assert of_lacking["found"] == 0
    skipping = missing(shop, "lacking", "ndcg(missing=skip)@10")
    assert {key for key, is_missing in skipping.items() if is_missing} == {"vanished", "empty", "zero"}
    rest = shop.query(
        "SELECT group_key FROM group_history WHERE run = 'lacking' AND metric = 'ndcg@10' "
        "AND value < 0.2 AND is_missing IS NOT TRUE ORDER BY 1"
    ).rows
    assert rest == [("empty",), ("failing",), ("vanished",), ("zero",)]


def test_results_of_another_engine_do_not_say(tracker: nt.Tracker) -> None:
    tracker.log_results(
        {"found": 0.5, "failing": 0.0}, name="theirs", metric="clicks", direction="higher", range=(0, 1)
    )
    rows = tracker.query("SELECT group_key, is_missing FROM group_history ORDER BY 1").rows
    assert rows == [("failing", None), ("found", None)]


def test_every_group_has_its_weight(shop: nt.Tracker) -> None:
    """Also a group without attributes, and one that no label has."""
    shop.set_groups({"group": ["found", "vanished", "further"], "weight": [3.0, 0.5, 2.0]})
    weights = {"found": 3.0, "vanished": 0.5, "further": 2.0}
    listed = shop.query("SELECT group_key, weight FROM group_list WHERE dataset = 'default' ORDER BY 1").rows
    assert listed == [(key, weights.get(key)) for key in sorted({*LABELS, "further"})]
    with_results = shop.query("SELECT DISTINCT group_key, weight FROM group_history ORDER BY 1").rows
    assert with_results == [(key, weights.get(key)) for key in sorted({*LABELS, "further"})]


def test_label_coverage_says_when_the_run_was_made(shop: nt.Tracker) -> None:
    rows = shop.query("SELECT run, created_at_utc, created_at FROM label_coverage WHERE cutoff = 10 ORDER BY run").rows
    assert [row[:2] for row in rows] == [
        ("lacking", "2026-01-02T00:00:00.000000Z"),
        ("whole", "2026-01-01T00:00:00.000000Z"),
    ]
    assert all(created_at == created_at_utc for _, created_at_utc, created_at in rows)
