"""Row 12, quickly: one generated database, and that a difference would be told."""

from pathlib import Path

import pytest
from postgres_server import PostgresServer

import ndcg_tracker as nt

from .parity import Differences, exact, outcomes
from .report import Setting


@pytest.mark.nightly
def test_both_engines_answer_alike(tmp_path: Path, postgres_server: PostgresServer) -> None:
    (one,) = outcomes(Setting("quick", tmp_path, postgres_server, ("sqlite", "postgres")))
    assert one.met, one.figure


def test_a_difference_is_told(tmp_path: Path) -> None:
    shop = {"group": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0, 1]}
    with nt.Tracker(tmp_path / "one.db") as one, nt.Tracker(tmp_path / "other.db") as other:
        one.ingest(shop, name="bm25", item="item")
        other.ingest({**shop, "score": [2.0, 1.0 + 2**-51]}, name="bm25", item="item")
        differences = Differences()
        differences.ask("runs", (one, other), lambda tracker: tracker.runs())
        differences.ask_view("items", (one, other), "SELECT run, score FROM items", "items")
        differences.ask_view("summary", (one, other), "SELECT run, mean FROM run_summary", "run_summary")
        differences.ask("refused", (one, other), lambda tracker: tracker.runs("nowhere"))
    assert (differences.n_asked, differences.n_refused, differences.most_ulps) == (4, 1, 2)
    assert [what.partition(":")[0] for what in differences.found] == ["runs", "items"]


def test_exact_is_to_the_last_bit() -> None:
    assert exact([0.1 + 0.2]) != exact([0.3])
    assert exact({"a": float("nan"), "b_utc": 1, "run_id": 1}) == exact({"a": float("nan"), "run_id": 2})
    assert exact(0.0) == exact(-0.0)
