"""What callers write, read by mypy in .ci/run and by pyright in .ci/nightly: the types that they are told are right."""

from typing import Literal

import pandas as pd

import ndcg_tracker as nt


def unstored(shop: pd.DataFrame) -> None:
    """Evaluate and compare without a database."""
    found: nt.Evaluation = nt.evaluate(shop, ["ndcg@10", "RR"])
    mean: float | None = found["ndcg@10"]
    per_group: pd.DataFrame = found.per_group
    slices: pd.DataFrame = found.by("device", {"group": ["q1"], "device": ["tv"]})
    metric: nt.Metric = nt.parse_metric("ndcg@10")
    compared = nt.compare(shop, {"q1": ["a", "b"]}, labels={"q1": {"a": 1}}, metrics=["ndcg@10", "RR"], missing="zero")
    verdict: str | None = compared.comparisons[0].metrics[0].verdict
    del mean, per_group, slices, metric, verdict


def stored(shop: pd.DataFrame) -> None:
    """Store runs, compare them, decide."""
    with nt.Tracker("runs.db") as tracker:
        tracker.ingest(shop, name="bm25", dataset="shop", metrics="ndcg@10", tags={"study": "s1"})
        verdict: str | None = tracker.compare("bm25", "dense", metrics="ndcg@10").comparisons[0].metrics[0].verdict
        rows: pd.DataFrame = tracker.leaderboard(dataset="shop", metrics=["ndcg@10", "RR"]).to_frame()
        decision: Literal["pass", "fail", "inconclusive"] = tracker.gate("dense", baseline="bm25", margin=0.01).decision
        accepted: bool = tracker.gate_suite("all", "dense", baseline="bm25", margin=0.01).is_accepted
        history: pd.DataFrame = tracker.history("ndcg@10", dataset="shop")
        best: str = tracker.best("ndcg@10", dataset="shop").name
        asked: pd.DataFrame = tracker.sql("SELECT * FROM run_summary")
        where: str = tracker.location
    del verdict, rows, decision, accepted, history, best, asked, where


def misspelled(tracker: nt.Tracker) -> None:
    """Write keywords and values that no question has: mypy refuses each, or tells that its comment is unused."""
    tracker.compare("bm25", "dense", metric="ndcg@10")  # type: ignore[call-arg]
    tracker.compare("bm25", "dense", test="z")  # type: ignore[arg-type]
    nt.compare("bm25.run", "dense.run", metric="ndcg@10")  # type: ignore[call-arg]
    tracker.report("bm25", "dense", judges="gpt")  # type: ignore[call-arg]
    tracker.compare_suite("all", "bm25", "dense", missing="none")  # type: ignore[arg-type]


def refused(shop: pd.DataFrame) -> str:
    """Say what is wrong, and what to do next."""
    try:
        nt.evaluate(shop, "nope")
    except nt.MetricError as error:
        return f"{error.what}: {error.advice}"
    return ""
