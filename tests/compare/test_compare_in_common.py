"""The label set and metrics that two runs share, and what to type where they share none."""

import shlex
from typing import Any

import pytest
from rankings_of import labels_of, results
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run

OTHER_LABELS: Run = {**LABELS, "q5": {"h": 0, "x": 1}}


def mended(tracker: nt.Tracker, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type the very command that a message names."""
    program, *words = shlex.split(message[message.index("ndcg-track ") :])
    monkeypatch.setenv("NDCG_TRACK_DB", tracker.location)
    assert program == "ndcg-track"
    assert run(words) == 0


def refusal(tracker: nt.Tracker, *references: str, **options: Any) -> str:
    return refusal_of(nt.NotComparableError, tracker.compare, *references, **options)


def test_runs_of_two_datasets_cannot_be_compared(two_runs: nt.Tracker) -> None:
    two_runs.ingest(frame_of(BM25), name="other", dataset="site", labels=labels_frame())
    assert refusal(two_runs, "bm25", "other") == (
        "run 'bm25' is of dataset 'shop' and run 'other' of dataset 'site'; only runs of one dataset can be compared"
    )


def test_the_newest_label_set_that_both_have_is_used_and_newer_labels_are_noted(two_runs: nt.Tracker) -> None:
    assert two_runs.add_labels(labels_of(OTHER_LABELS), dataset="shop") == (2, True)
    found = two_runs.compare("bm25", "dense", metrics="ndcg@10").to_dict()
    assert found["label_set"]["version"] == 1
    assert found["notes"][:2] == [
        "labels version 2 is not like version 1: 1 of 8 labels has another grade",
        "labels version 2 is newer than version 1, which the runs share; to use it: "
        "ndcg-track rescore bm25 dense --dataset shop --metric ndcg@10 --labels 2",
    ]
    two_runs.rescore(["bm25"], dataset="shop")
    assert two_runs.compare("bm25", "dense").to_dict()["label_set"]["version"] == 1
    two_runs.rescore(["dense"], metrics=["ndcg@10"])
    newest = two_runs.compare("bm25", "dense").to_dict()
    assert newest["label_set"]["version"] == 2
    assert not any("newer" in note for note in newest["notes"])
    assert newest["metrics"][0]["candidate"] == pytest.approx(results("ndcg@10", DENSE, OTHER_LABELS).mean)
    assert [metric["metric"] for metric in newest["metrics"]] == ["ndcg@10"]
    older = two_runs.compare("bm25", "dense", metrics="dcg@3").to_dict()
    assert older["label_set"]["version"] == 1


@pytest.mark.parametrize("dataset", ["default", "the shop"])
def test_labels_in_common_are_missing(
    tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch, dataset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset=dataset)
    tracker.add_labels(labels_frame(OTHER_LABELS), dataset=dataset)
    tracker.ingest(frame_of(DENSE), name="it's dense", dataset=dataset)
    tracker.ingest(frame_of(DENSE), name="bm25", labels=labels_frame(), dataset="another")
    message = refusal(tracker, "bm25", "it's dense", dataset=dataset)
    assert message == (
        """runs 'bm25' and "it's dense" do not both have a metric under one version of the labels: ndcg@10 """
        "-0.2192 since bm25: labels -0.0369, ranking -0.1823 (0.0369 more or less, by which of them changes first); "
        f"""type: ndcg-track rescore bm25 'it'"'"'s dense' --dataset {shlex.quote(dataset)} --metric ndcg@10"""
    )
    mended(tracker, message, monkeypatch)
    assert tracker.compare("bm25", "it's dense", dataset=dataset).to_dict()["label_set"]["version"] == 2


def test_a_metric_in_common_is_missing(two_runs: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    message = refusal(two_runs, "bm25", "dense", metrics=["ndcg(gain=exp2)@10", "dcg@1"])
    assert message == (
        "runs 'bm25' and 'dense' do not both have dcg@1, ndcg(gain=exp2)@10 under one version of the labels; type: "
        "ndcg-track rescore bm25 dense --dataset shop --metric 'ndcg(gain=exp2)@10' --metric dcg@1"
    )
    mended(two_runs, message, monkeypatch)
    found = two_runs.compare("bm25", "dense", metrics=["ndcg(gain=exp2)@10", "dcg@1"]).to_dict()
    assert [metric["metric"] for metric in found["metrics"]] == ["ndcg(gain=exp2)@10", "dcg@1"]


def test_no_metric_at_all_in_common(tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics="dcg@3")
    tracker.ingest(frame_of(DENSE), name="dense", metrics="ndcg@10")
    message = refusal(tracker, "bm25", "dense")
    assert message.endswith("ndcg-track rescore bm25 dense --dataset default --metric dcg@3 --metric ndcg@10")
    mended(tracker, message, monkeypatch)
    assert len(tracker.compare("bm25", "dense").to_dict()["metrics"]) == 2
