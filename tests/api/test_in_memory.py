"""``nt.compare``: rankings that are not stored, compared as the tracker compares stored ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of, joint_frame, labels_frame, write_csv, write_qrels, write_trec

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NdcgTrackerWarning


def numbers(result: Any) -> Any:
    """Return the numbers of a comparison."""
    found = result.to_dict()
    return {key: found[key] for key in ("metrics", "groups", "worst", "best", "listed", "label_set")}


@pytest.fixture
def wanted(tmp_path: Path) -> Any:
    """What the tracker says of stored runs."""
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(run, labels=LABELS, name=name, metrics=["ndcg@10", "RR"])
        found = numbers(tracker.compare("bm25", "dense", metrics=["ndcg@10", "RR"]))
    (tmp_path / "runs.db").unlink()
    return found


@pytest.mark.parametrize("form", ["dicts", "frames", "records", "own labels", "paths", "texts", "mixed"])
def test_all_forms_give_the_numbers_of_stored_runs(
    wanted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    frames = [pd.DataFrame(frame_of(run)) for run in (BM25, DENSE)]
    write_csv(tmp_path / "bm25.csv", frame_of(BM25))
    write_trec(tmp_path / "dense.run", DENSE)
    write_qrels(tmp_path / "qrels.txt")
    given: tuple[Any, ...] = {
        "dicts": (BM25, DENSE, LABELS),
        "frames": (*frames, pd.DataFrame(labels_frame())),
        "records": (*(frame.to_dict("records") for frame in frames), LABELS),
        "own labels": (*(joint_frame(run, LABELS) for run in (BM25, DENSE)), None),
        "paths": (tmp_path / "bm25.csv", tmp_path / "dense.run", tmp_path / "qrels.txt"),
        "texts": ("bm25.csv", "dense.run", "qrels.txt"),
        "mixed": (frames[0], "dense.run", LABELS),
    }[form]
    before = sorted(tmp_path.iterdir())
    found = nt.compare(*given[:2], labels=given[2], metrics=["ndcg@10", "RR"])
    if form != "own labels":  # nobody labels q5 there, or what neither run lists
        assert numbers(found) == {**wanted, "label_set": numbers(found)["label_set"]}
    names = {"paths": ("bm25", "dense"), "texts": ("bm25", "dense"), "mixed": ("baseline", "dense")}
    both = (found.comparisons[0].baseline.name, found.comparisons[0].candidate.name)
    assert both == names.get(form, ("baseline", "candidate"))
    assert sorted(tmp_path.iterdir()) == before


def test_several_candidates_with_names_and_options(tmp_path: Path) -> None:
    with pytest.warns(NdcgTrackerWarning, match=r"^same: its content equals that of run 'old'$"):
        found = nt.compare(BM25, DENSE, BM25, labels=LABELS, names=["old", "new", "same"], missing="intersect", top=1)
    assert [one.candidate.name for one in found.comparisons] == ["new", "same"]
    assert found.comparisons[0].groups.missing == "intersect"
    assert found.comparisons[1].metrics[0].verdict == "identical"
    further = {query: {"a": 2.0, "h": 1.0} for query in LABELS}
    found = nt.compare(BM25, DENSE, further, labels=LABELS)
    assert [one.candidate.name for one in found.comparisons] == ["candidate", "candidate 2"]


def test_the_result_draws_and_outlives_other_comparisons() -> None:
    first = nt.compare(BM25, DENSE, labels=LABELS)
    nt.compare(DENSE, BM25, labels=LABELS)
    assert first.plot("scatter").content(".html").startswith(b"<!doctype html>")
    assert "candidate against baseline" in str(first)


def test_the_judge_of_labels_of_several() -> None:
    both = pd.concat([pd.DataFrame(labels_frame()).assign(judge=judge) for judge in ("ann", "ben")])
    found = nt.compare(BM25, DENSE, labels=both, judge="ben")
    assert found.comparisons[0].label_set.judge == "ben"
    assert (
        found.comparisons[0].metrics[0].delta == nt.compare(BM25, DENSE, labels=LABELS).comparisons[0].metrics[0].delta
    )


def test_what_cannot_be_compared_is_refused() -> None:
    assert refusal_of(InputError, nt.compare, BM25, DENSE, labels=LABELS, names=["one"]) == (
        "there are 2 runs but 1 names; give one per run"
    )
    assert refusal_of(InputError, nt.compare, BM25, DENSE) == (
        "dataset 'default' has no labels yet; give them with labels='FILE'"
    )
    with pytest.raises(TypeError, match=r"^compare\(\) got an unexpected keyword argument 'dataset'$"):
        nt.compare(BM25, DENSE, labels=LABELS, dataset="shop")  # type: ignore[call-arg]


def test_read_names_the_columns() -> None:
    old, new = ({"q": ["1", "1"], "d": ["a", "b"], "s": scores} for scores in ([2.0, 1.0], [1.0, 2.0]))
    read = {"group": "q", "item": "d", "score": "s", "label": "g"}
    labels = {"q": ["1"], "d": ["a"], "g": [1]}
    for given in (read, "group=q item=d score=s label=g"):
        found = nt.compare(old, new, labels=labels, metrics="RR", read=given).comparisons[0].metrics[0]
        assert (found.baseline, found.candidate) == (1.0, 0.5)
    other = {"2": {"a": 1.0}}
    assert refusal_of(InputError, nt.compare, old, other, labels=labels, read=read) == (
        "candidate: no group of the run has labels: the run has '2', the labels have '1'; give labels of the same "
        "groups, with ids written the same way; if that is meant, give read='allow=no-overlap'"
    )
