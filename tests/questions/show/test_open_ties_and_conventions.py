"""Ties that leave a stored comparison open, and one stored run under every tool's convention."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt
from ndcg_tracker.metrics.language.dialects import DIALECTS
from ndcg_tracker.questions.show.gather import OpenTies
from ndcg_tracker.storage import database

TIED = {
    "group": ["q", "q", "r", "r"],
    "item": ["a", "b", "a", "c"],
    "score": [2.0, 2.0, 1.0, 1.0],
    "label": [1, 0, 1, 2],
}
CLEAR = {**TIED, "score": [3.0, 2.0, 1.0, 3.0]}


@pytest.fixture
def tracker(postgres_schema: None, database_url: str) -> nt.Tracker:
    database.upgrade(database_url)
    tracker = nt.Tracker(database_url)
    tracker.ingest(TIED, name="tied", metrics=["ndcg@1"])
    tracker.ingest(CLEAR, name="clear", metrics=["ndcg@1"])
    return tracker


def test_compare_knows_how_far_ties_leave_it_open(tracker: nt.Tracker) -> None:
    with tracker:
        plain = tracker.compare("tied", "clear").to_dict()
        assert plain["metrics"][0]["tie_bounds"] == {
            "baseline": [0.25, 1.0],
            "candidate": [1.0, 1.0],
            "delta": [0.0, 0.75],
            "could_change_verdict": False,
        }
        assert "tie_groups" not in plain
        asked = tracker.compare("tied", "clear", tie_bounds=True).to_dict()
        assert asked["tie_groups"] == [
            {"group": "q", "run": "baseline", "worst": 0.0, "value": 0.0, "best": 1.0},
            {"group": "r", "run": "baseline", "worst": 0.5, "value": 1.0, "best": 1.0},
        ]
        assert asked["n_tie_groups"] == 2
        fewer = tracker.compare("tied", "clear", tie_bounds=True, top=1)
        assert (len(fewer.to_dict()["tie_groups"]), fewer.to_dict()["n_tie_groups"]) == (1, 2)
        assert "\nqueries whose ndcg@1 depends on ties in scores (1 of 2 shown)\n" in str(fewer)
        none = str(tracker.compare("tied", "clear", tie_bounds=True, top=0))
        assert "\nqueries whose ndcg@1 depends on ties in scores (none of 2 shown)\n" in none
        assert "no queries whose " in str(tracker.compare("clear", "clear", tie_bounds=True))


def test_a_verdict_that_hangs_on_ties_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 400
    groups = np.repeat([f"q{number}" for number in range(n)], 2)
    items = np.tile(["a", "b"], n)
    labels = np.tile([1.0, 0.0], n)
    with nt.Tracker(tmp_path / "ties.db") as tracker:
        tracker.ingest({"group": groups, "item": items, "score": rng.random(2 * n), "label": labels}, name="random")
        tracker.ingest({"group": groups, "item": items, "score": np.zeros(2 * n), "label": labels}, name="tied")
        found = tracker.compare("random", "tied")
    told = "ties in scores could change the verdict on ndcg@10: depending on how they are broken, delta is between "
    assert f"note: {told.strip()}" in " ".join(str(found).split())
    (note,) = found.notes
    assert note.startswith(told)
    assert found.to_dict()["notes"] == [note]


@pytest.mark.parametrize("cutoff", [1, 2])
def test_every_dialect_stands_beside_the_default_with_its_causes(tracker: nt.Tracker, cutoff: int) -> None:
    with tracker:
        found = tracker.conventions("clear", cutoff=cutoff)
        values = nt.evaluate(CLEAR, [convention.text for convention in found]).mean
    assert [convention.text for convention in found] == [f"ndcg@{cutoff}", *(d.text(cutoff) for d in DIALECTS.values())]
    for convention in found:
        assert convention.mean == pytest.approx(values[convention.text], abs=1e-15)
        assert convention.mean is not None
        assert found[0].mean is not None
        total = sum(effect.change for effect in convention.effects)
        assert found[0].mean + total == pytest.approx(convention.mean, abs=1e-12)


def test_a_dialect_that_refuses_the_run_says_why(tmp_path: Path) -> None:
    with nt.Tracker(tmp_path / "one.db") as tracker:
        tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0.5]}, name="one")
        refused = {convention.text: convention.refusal for convention in tracker.conventions("one")}
    assert refused["ndcg@10"] == ""
    assert refused["sklearn:ndcg_score(k=10)"].endswith(
        "group 'q' has only one item, which this metric refuses; use size1=ok"
    )
    assert "the label 0.5 of item 'a' in group 'q' is outside label_domain=int" in refused["trec_eval:ndcg_cut_10"]


def test_a_tool_with_an_unstable_sort_has_a_range_where_the_run_has_ties(tmp_path: Path) -> None:
    """q is too short for ranx's sort to move what ties; r ties at the top; s is as long, and nothing in it ties."""
    items = [f"d{place:02}" for place in range(16)]
    frame = {
        "group": ["q"] * 15 + ["r"] * 16 + ["s"] * 16,
        "item": items[:15] + items + items,
        "score": [1.0] * 15 + [1.0] * 16 + [float(-place) for place in range(16)],
        "label": [1] + [0] * 14 + [1] + [0] * 15 + [1] + [0] * 15,
    }
    with nt.Tracker(tmp_path / "ties.db") as tracker:
        tracker.ingest(frame, name="tied")
        found = {convention.text: convention for convention in tracker.conventions("tied", cutoff=1)}
    ranx = found["ranx:ndcg@1"]
    assert (ranx.mean, ranx.open_ties) == (1.0, OpenTies(2 / 3, 1.0, from_items=16, n_groups=1))
    assert [convention.text for convention in found.values() if convention.open_ties] == [ranx.text]


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64")
def test_what_ranx_prints_is_within_the_range(tmp_path: Path) -> None:
    import ranx

    rng = np.random.default_rng(0)
    n, size = 40, 60
    frame: dict[str, Any] = {
        "group": np.repeat([f"q{number}" for number in range(n)], size).tolist(),
        "item": np.tile([f"d{number:03}" for number in range(size)], n).tolist(),
        "score": rng.integers(0, 4, n * size).astype(float),
        "label": rng.integers(0, 3, n * size),
    }
    rows = {name: pd.Series(frame[key], dtype=object) for name, key in (("q_id", "group"), ("doc_id", "item"))}
    run, labels = (
        kind.from_df(pd.DataFrame(rows | {"score": frame[name]}), "q_id", "doc_id", "score")
        for kind, name in ((ranx.Run, "score"), (ranx.Qrels, "label"))
    )
    printed = ranx.evaluate(labels, run, "ndcg@10", make_comparable=True)
    with nt.Tracker(tmp_path / "ties.db") as tracker:
        tracker.ingest(frame, name="tied")
        found = {convention.text: convention for convention in tracker.conventions("tied")}["ranx:ndcg@10"]
    assert found.open_ties is not None
    assert found.open_ties.low <= printed <= found.open_ties.high
    assert printed != pytest.approx(found.mean, abs=1e-4)
