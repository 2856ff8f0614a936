"""The queries of ``examples/datasette.yaml`` on both engines: what they answer, with all parameters and with none."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from relabelled import check_nothing_counts_twice
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.frames import read_label_frame

NEWER = {**LABELS, "q5": {"h": 1, "x": 2}}
METADATA = yaml.safe_load(Path(__file__).resolve().parents[2].joinpath("examples", "datasette.yaml").read_text("utf-8"))
QUERIES = METADATA["databases"]["ndcg-track"]["queries"]


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        asked = {"dataset": "shop", "metrics": ["ndcg@10", "dcg@3"]}
        tracker.ingest(frame_of(BM25), labels=labels_frame(), name="bm25", git_commit="4f1c09d", **asked)
        tracker.ingest(frame_of(DENSE), name="dense", **asked)
        tracker.set_alias("baseline", "bm25", dataset="shop")
        tracker.set_alias("prod", "dense", dataset="shop")
        tracker.ingest(frame_of(BM25), labels=labels_frame(), name="bm25", dataset="it's another", metrics="ndcg@10")


@pytest.fixture
def tracker(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[nt.Tracker]:
    """Two runs of a shop, one under two versions of the labels, and a run of another dataset after them."""
    fill_as(fill)
    with nt.Tracker(database_url) as tracker:
        yield tracker


def answer(tracker: nt.Tracker, name: str, **values: str) -> list[dict[str, Any]]:
    """Ask a saved query, its parameters written as literals, those that are not given empty."""
    query = QUERIES[name]
    assert set(values) <= set(query["params"])
    literals = {one: "'" + values.get(one, "").replace("'", "''") + "'" for one in query["params"]}
    text = re.sub(r"(?<!:):([a-z_]+)", lambda found: literals[found[1]], query["sql"])
    found = tracker.query(text)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


@pytest.mark.nightly
def test_history(tracker: nt.Tracker) -> None:
    found = answer(tracker, "history", dataset="shop", metric="ndcg@10")
    expected = tracker.history("ndcg@10", dataset="shop")
    assert [(row["run"], row["mean"], row["git_commit"]) for row in found] == [
        ("bm25", expected["mean"][0], "4f1c09d"),
        ("dense", expected["mean"][1], None),
    ]
    assert {row["metric"] for row in answer(tracker, "history", dataset="shop", metric="dcg@3")} == {"dcg@3"}
    assert answer(tracker, "history", dataset="nope") == []


def test_without_parameters_the_newest_run_is_meant(tracker: nt.Tracker) -> None:
    assert [row["run"] for row in answer(tracker, "history")] == ["bm25"]
    assert answer(tracker, "history") == answer(tracker, "history", dataset="it's another", metric="ndcg@10")
    assert {row["candidate"] for row in answer(tracker, "regressions", dataset="shop")} == {"dense"}
    assert {row["run"] for row in answer(tracker, "group_items", dataset="shop", group_key="q1")} == {"dense"}
    assert len(answer(tracker, "coverage")) == 2 * 2 + 1


def test_regressions_are_those_of_compare(tracker: nt.Tracker) -> None:
    found = answer(tracker, "regressions", dataset="shop", metric="ndcg@10", baseline="@baseline", candidate="dense")
    worst = tracker.compare("bm25", "dense", metrics="ndcg@10", dataset="shop").to_dict()["worst"]
    expected = [(row["group"], row["baseline"], row["candidate"], row["delta"]) for row in worst if row["delta"] < 0]
    keys = ("group_key", "baseline_value", "candidate_value", "delta")
    assert [tuple(row[key] for key in keys) for row in found] == expected
    assert expected


def test_a_baseline_is_an_alias_or_a_run(tracker: nt.Tracker) -> None:
    asked = {"dataset": "shop", "metric": "ndcg@10", "candidate": "dense"}
    by_default = answer(tracker, "regressions", **asked)
    for baseline in ("baseline", "@baseline", "bm25"):
        assert answer(tracker, "regressions", **asked, baseline=baseline) == by_default
    back = answer(tracker, "regressions", dataset="shop", metric="ndcg@10", candidate="bm25", baseline="prod")
    assert {(row["baseline"], row["candidate"]) for row in back} == {("dense", "bm25")}


def test_one_group_over_runs_and_its_items(tracker: nt.Tracker) -> None:
    history = answer(tracker, "group_over_runs", dataset="shop", metric="ndcg@10", group_key="q2")
    direct = tracker.sql(
        "SELECT run, value FROM group_history WHERE dataset = 'shop' AND metric = 'ndcg@10' AND group_key = 'q2'"
        " ORDER BY run_id"
    )
    assert [[row["run"], row["value"]] for row in history] == direct.values.tolist()
    items = answer(tracker, "group_items", dataset="shop", metric="ndcg@10", run="bm25", group_key="q2")
    assert [(row["rank"], row["item_key"], row["score"], row["grade"]) for row in items] == [
        (1, "d", 3.0, 2.0),
        (2, "a", 2.0, 1.0),
        (3, "x", 1.0, None),
    ]


def test_coverage(tracker: nt.Tracker) -> None:
    found = answer(tracker, "coverage", dataset="shop", cutoff="10")
    direct = tracker.sql(
        "SELECT run, judged_share FROM label_coverage WHERE dataset = 'shop' AND cutoff = 10 ORDER BY run"
    )
    assert [[row["run"], row["judged_share"]] for row in found] == direct.values.tolist()
    assert {row["cutoff"] for row in answer(tracker, "coverage", dataset="shop")} == {3, 10}


def test_a_run_counts_once_after_it_was_rescored(tracker: nt.Tracker) -> None:
    tracker.add_labels(read_label_frame(labels_frame(NEWER), Columns()), dataset="shop")
    tracker.rescore(["dense"], metrics=["ndcg@10"], dataset="shop")
    versions = [(row["run"], row["label_set_version"]) for row in answer(tracker, "history", dataset="shop")]
    assert versions == [("bm25", 1), ("dense", 2)]
    found = answer(tracker, "regressions", dataset="shop", metric="ndcg@10")
    assert {row["label_set_version"] for row in found} == {1}  # the newest under which both have the metric
    tracker.rescore(["bm25"], metrics=["ndcg@10"], dataset="shop")
    found = answer(tracker, "regressions", dataset="shop", metric="ndcg@10")
    assert {row["label_set_version"] for row in found} == {2}


@pytest.mark.nightly
def test_a_relabelling_changes_no_answer(tracker: nt.Tracker) -> None:
    asked = {"dataset": "shop", "metric": "ndcg@10", "group_key": "q2", "candidate": "dense"}

    def answers() -> dict[str, list[dict[str, Any]]]:
        return {
            name: answer(tracker, name, **{key: asked[key] for key in query["params"] if key in asked})
            for name, query in QUERIES.items()
        }

    check_nothing_counts_twice(tracker, answers)
