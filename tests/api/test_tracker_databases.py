"""Where the tracker's database is, when it is created, and the SQL it answers."""

from pathlib import Path

import pandas as pd
import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.asked import database_location

pytestmark = pytest.mark.both_engines


def test_the_location_is_given_or_named_by_the_environment_or_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NDCG_TRACK_DB", raising=False)
    assert database_location() == "ndcg-track.db"
    monkeypatch.setenv("NDCG_TRACK_DB", "")
    assert database_location() == "ndcg-track.db"
    monkeypatch.setenv("NDCG_TRACK_DB", "postgresql://x@y/z")
    assert database_location() == "postgresql://x@y/z"
    assert database_location("here.db") == "here.db"
    assert database_location(Path("a") / "here.db") == str(Path("a") / "here.db")
    assert nt.Tracker(Path("here.db")).location == "here.db"


def test_the_first_ingest_creates_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NDCG_TRACK_DB", raising=False)
    monkeypatch.chdir(tmp_path)
    with nt.Tracker() as tracker:
        for question in (tracker.runs, tracker.aliases, tracker.history, tracker.rescore):
            with pytest.raises(
                nt.DatabaseError, match=r"^ndcg-track\.db: the database does not exist; create it with: "
            ):
                question()
        assert list(tmp_path.iterdir()) == []
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
        assert [path.name for path in tmp_path.iterdir()] == ["ndcg-track.db"]
        assert [run.name for run in tracker.runs()] == ["bm25"]


def test_postgres_needs_its_schema_first(postgres_url: str) -> None:
    with nt.Tracker(postgres_url) as tracker, pytest.raises(nt.DatabaseError) as caught:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    assert "the database is empty; create its tables with: ndcg-track --db" in str(caught.value)


def test_a_closed_tracker_opens_again(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    tracker.close()
    tracker.close()
    assert len(tracker.runs()) == 1


def test_sql_answers_with_a_frame_alike_on_both_engines(
    postgres_schema: None, sqlite_url: str, postgres_url: str
) -> None:
    from ndcg_tracker.storage.database import upgrade

    upgrade(postgres_url)
    queries = [
        "SELECT run, dataset, metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM run_summary",
        "SELECT run, group_key, metric, value FROM group_history ORDER BY run_id, metric, group_key",
        "SELECT baseline, candidate, metric, group_key, baseline_value, candidate_value, delta FROM group_diff "
        "ORDER BY baseline, candidate, metric, group_key",
        "SELECT run, group_key, rank, item_key, score FROM items ORDER BY run_id, group_key, rank",
        "SELECT * FROM labels ORDER BY dataset, label_set_version, group_key, item_key",
        "SELECT run, cutoff, judged_share FROM label_coverage ORDER BY run, cutoff NULLS LAST",
        "SELECT count(*) AS n, sum(n_groups) AS total, avg(mean) AS mean, max(run) AS last FROM run_summary",
        "SELECT 1 AS one, 'x' AS x, NULL AS empty, 1 = 2 AS wrong WHERE 1 = 1",
        "SELECT run FROM run_summary WHERE run = 'none'",
    ]
    answers: list[list[pd.DataFrame]] = []
    for url in (sqlite_url, postgres_url):
        with nt.Tracker(url) as tracker:
            metrics = ["ndcg@10", "dcg", "ndcg(empty=skip)@3"]
            tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=metrics)
            tracker.ingest(frame_of(DENSE), name="dense", dataset="shop", metrics=metrics)
            answers.append([tracker.sql(query) for query in queries])
    for query, one, other in zip(queries, *answers, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True, obj=query)
    summary = answers[0][0]
    assert list(summary["run"]) == ["bm25"] * 3 + ["dense"] * 3
    assert summary["n_missing"].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM runs", "sql only reads: it takes one SELECT, not 'DELETE'"),
        ("", "sql: the query is empty; try 'SELECT run, metric, mean FROM run_summary WHERE is_newest_labels'"),
    ],
)
def test_sql_only_reads(tracker: nt.Tracker, query: str, message: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    with pytest.raises(nt.InputError) as caught:
        tracker.sql(query)
    assert str(caught.value) == message
    assert len(tracker.runs()) == 1
