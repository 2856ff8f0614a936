"""Diagnostics and summaries that are no means of groups: shown, and not compared."""

from typing import Any

import pytest
from small_shop import BM25, DENSE, frame_of, labels_frame

import ndcg_tracker as nt

SHOWN = ["Judged@3", "NumRet", "GMAP"]


@pytest.fixture
def with_diagnostics(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs that differ in length, with metrics that are shown and not compared before and among the others."""
    metrics = [*SHOWN[:1], "ndcg@10", *SHOWN[1:], "AP"]
    shorter = {group: dict(list(items.items())[:2]) for group, items in DENSE.items()}
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=metrics)
    tracker.ingest(frame_of(shorter), name="short", dataset="shop", metrics=metrics)
    return tracker


def test_diagnostics_and_other_summaries_are_shown_behind_all_others(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "short").to_dict()
    alone = with_diagnostics.compare("bm25", "short", metrics=["ndcg@10", "AP"]).to_dict()
    assert found["metrics"][:2] == alone["metrics"]  # Holm's correction does not count the others
    assert (found["worst"], found["best"]) == (alone["worst"], alone["best"])
    shown = {metric["metric"]: metric for metric in found["metrics"][2:]}
    assert list(shown) == SHOWN
    for metric in shown.values():
        assert [metric[key] for key in ("ci", "p_value", "p_adjusted", "effect_size", "verdict")] == [None] * 5
    assert [metric["shown_only"] for metric in found["metrics"]] == [None, None, "diagnostic", "diagnostic",
                                                                      "no_mean_of_groups"]  # fmt: skip
    stored = with_diagnostics.sql("select run, metric, mean from run_summary").set_index(["run", "metric"])["mean"]
    for name in ("NumRet", "GMAP"):  # the sum and the geometric mean, no means of the groups
        assert shown[name]["baseline"] == stored["bm25", name]
        assert shown[name]["candidate"] == stored["short", name]
        assert shown[name]["delta"] == stored["short", name] - stored["bm25", name]
    assert stored["bm25", "NumRet"] == sum(map(len, BM25.values()))
    text = str(with_diagnostics.compare("bm25", "short"))
    assert text.splitlines()[0].endswith(": no difference detected (2 of 2 on low information)")
    assert "shown, not compared: it says nothing about quality" in text
    assert "shown, not compared: its summary is not a mean of groups, which is what the tests are about" in text


def test_what_is_only_shown_may_stand_alone(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "short", metrics=["NumRet"])
    assert (found.to_dict()["worst"], found.to_dict()["best"]) == ([], [])
    assert str(found).splitlines()[0].endswith(": shown, not compared")
    both = with_diagnostics.compare("bm25", "short", metrics=["NumRet", "GMAP"])
    assert str(both).splitlines()[0] == "short against bm25 on shop (5 queries): 2 metrics shown, none compared"


def test_what_is_only_shown_is_not_found_equivalent(with_diagnostics: nt.Tracker) -> None:
    found = with_diagnostics.compare("bm25", "bm25", metrics=["NumRet", "ndcg@10"], equivalence=0.01).to_dict()
    equivalent = {one["metric"]: "equivalence" in one for one in found["metrics"]}
    assert equivalent == {"ndcg@10": True, "NumRet": False}


@pytest.mark.parametrize("scope", ["population", "set"])
def test_a_gate_refuses_what_is_only_shown(with_diagnostics: nt.Tracker, scope: Any) -> None:
    with pytest.raises(nt.InputError) as caught:
        with_diagnostics.gate("short", baseline="bm25", metric="GMAP", scope=scope, margin=0.5)
    why = "shown, not compared: its summary is not a mean of groups, which is what the tests are about"
    assert str(caught.value) == f"a gate cannot decide on GMAP: {why}"


def test_a_history_of_what_is_only_shown_has_no_intervals_and_no_steps(with_diagnostics: nt.Tracker) -> None:
    rows = with_diagnostics.history("Judged@3", dataset="shop")
    assert rows["ci_low"].isna().all()
    assert not rows["step"].any()
    assert rows["mean"].notna().all()
