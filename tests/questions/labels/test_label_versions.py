"""Which version of the labels a run is evaluated under."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, joint_frame, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.runs.ingest import RunDetails

NUMBERED_HERE = (
    "the labels of dataset 'default' have item ids, but here items are identified by row numbers, which are valid only "
    "inside one table; name the item column with item=, or use another dataset="
)
IDS_HERE = (
    "the labels of dataset 'default' identify items by row numbers, but here items have ids; use another dataset=, "
    "with labels that have item ids"
)
FEWER: Run = {"q1": {"a": 3}, "q2": {"d": 2}}
IN_BOTH = {group: LABELS[group] for group in ("q1", "q2", "q3", "q4")}


def stored_labels(tracker: nt.Tracker, version: int) -> Run:
    frame = tracker.sql(f"SELECT group_key, item_key, grade FROM labels WHERE label_set_version = {version}")
    found: Run = {}
    for group, item, grade in frame.itertuples(index=False):
        found.setdefault(group, {})[item] = grade
    return found


def test_given_labels_that_equal_a_stored_version_are_that_version(tracker: nt.Tracker, ready_url: str) -> None:
    assert tracker.add_labels(labels_of(LABELS)) == (1, True)
    assert tracker.add_labels(labels_of(FEWER), replace=True) == (2, True)
    before = row_counts(ready_url)["label_sets"]
    backwards = {group: dict(reversed(items.items())) for group, items in reversed(LABELS.items())}
    assert tracker.ingest(frame_of(BM25), name="one", labels=labels_frame(backwards)).label_set_version == 1
    assert tracker.ingest(frame_of(BM25), name="two", labels=labels_frame(FEWER)).label_set_version == 2
    assert tracker.add_labels(labels_of(LABELS)) == (1, False)
    assert row_counts(ready_url)["label_sets"] == before


def test_other_labels_become_the_newest_version(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    found = tracker.ingest(frame_of(DENSE), name="dense", labels=labels_frame(FEWER))
    assert found.label_set_version == 2
    assert found.notes == (
        "its labels are new (version 2 of the dataset); to compare older runs with it, evaluate them under it: "
        "ndcg-track rescore --all --dataset default --labels 2",
    )
    assert stored_labels(tracker, 1) == LABELS
    assert stored_labels(tracker, 2) == FEWER


def test_without_labels_it_is_the_newest_version(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of(LABELS))
    tracker.add_labels(labels_of(FEWER), replace=True)
    found = tracker.ingest(frame_of(DENSE), name="dense")
    assert found.label_set_version == 2
    assert found.metrics[0].mean == results("ndcg@10", DENSE, FEWER).mean


def test_the_labels_of_the_first_run_itself_are_version_1(tracker: nt.Tracker) -> None:
    found = tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
    assert (found.label_set_version, found.notes) == (1, ())
    assert stored_labels(tracker, 1) == LABELS


def test_labels_in_the_run_that_all_agree_are_the_newest_version(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    found = tracker.ingest(joint_frame(DENSE, LABELS), name="dense")
    assert (found.label_set_version, found.notes) == (1, ())
    assert found.metrics[0].mean == results("ndcg@10", DENSE, LABELS).mean
    assert row_counts(ready_url)["label_sets"] == 1


def test_new_pairs_in_the_run_make_the_union_a_new_version(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(FEWER))
    new: Run = {"q1": {"a": 3, "b": 1}, "q9": {"z": 1}}
    run: Run = {"q1": {"a": 1.0, "b": 2.0}, "q9": {"z": 1.0}}
    found = tracker.ingest(joint_frame(run, new), name="run")
    union: Run = {"q1": {"a": 3, "b": 1}, "q2": {"d": 2}, "q9": {"z": 1}}
    assert found.label_set_version == 2
    assert found.notes == (
        "its labels are new (version 2 of the dataset); to compare older runs with it, evaluate them under it: "
        "ndcg-track rescore --all --dataset default --labels 2",
    )
    assert stored_labels(tracker, 2) == union
    assert found.metrics[0].mean == results("ndcg@10", run, union).mean
    assert tracker.ingest(joint_frame(run, new), name="run").outcome == "already stored"


def test_a_union_that_was_a_version_before_is_that_version(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of(LABELS))
    tracker.add_labels(labels_of(FEWER), replace=True)
    assert tracker.ingest(joint_frame(BM25, LABELS), name="bm25").label_set_version == 1


def test_a_grade_that_contradicts_the_newest_labels_is_refused_whole(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", dataset="shop", labels=labels_frame())
    before = row_counts(ready_url)
    other = {**LABELS, "q2": {"a": 1, "d": 0.5, "new": 1}}
    with pytest.raises(nt.ConflictError) as caught:
        tracker.ingest(joint_frame(BM25, other), name="again", dataset="shop")
    assert str(caught.value) == (
        "item 'd' of group 'q2' has the label 0.5 here but 2 in the latest labels of dataset 'shop'; "
        "to change labels, make a new version with ndcg-track labels add FILE"
    )
    assert row_counts(ready_url) == before


def test_given_labels_win_over_those_in_the_run(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    other = {**LABELS, "q2": {"a": 3, "d": 3}}
    assert tracker.ingest(joint_frame(BM25, other), name="again", labels=labels_frame()).label_set_version == 1


def test_each_dataset_has_versions_of_its_own(tracker: nt.Tracker) -> None:
    assert tracker.add_labels(labels_of(LABELS), dataset="shop") == (1, True)
    assert tracker.add_labels(labels_of(FEWER), dataset="site") == (1, True)
    assert tracker.ingest(frame_of(BM25), name="bm25", dataset="site").metrics[0].mean == (
        results("ndcg@10", BM25, FEWER).mean
    )


def test_row_numbers_do_not_join_the_items_of_a_group(tracker: nt.Tracker) -> None:
    tracker.ingest({"q": {"x": 2.0}}, name="ids", labels={"q": {"x": 1, "y": 3}})
    numbered = {"group": ["q", "q"], "score": [2.0, 1.0], "label": [0, 1]}
    with pytest.raises(nt.ConflictError) as caught:
        tracker.ingest(numbered, name="numbered")
    assert str(caught.value) == NUMBERED_HERE
    assert tracker.ingest(numbered, name="numbered", dataset="rows").label_set_version == 1
    assert tracker.ingest(numbered | {"score": [1.0, 2.0]}, name="again", dataset="rows").label_set_version == 1
    further = {"group": ["q", "q", "r"], "score": [2.0, 1.0, 2.0], "label": [0, 1, 1]}
    assert tracker.ingest(further, name="further", dataset="rows").label_set_version == 2
    with pytest.raises(nt.ConflictError) as caught:
        tracker.ingest({"group": ["q"] * 3, "score": [2.0, 1.0, 0.5], "label": [0, 1, 1]}, name="more", dataset="rows")
    assert str(caught.value) == (
        "group 'q' has labels of other items in dataset 'rows', but here items are identified by row numbers, which "
        "are valid only inside one table; name the item column with item=, or use another dataset="
    )


Ingest = Callable[[nt.Tracker, str, Path, "LabelLists | None"], object]


def whole(tracker: nt.Tracker, name: str, path: Path, labels: LabelLists | None) -> object:
    table = read_run(str(path), labels_apart=labels is not None)
    return tracker.ingest_stream([table], labels, RunDetails(name), ["ndcg@10"])


def streamed(tracker: nt.Tracker, name: str, path: Path, labels: LabelLists | None) -> object:
    with stream_run(str(path), block_rows=1, labels_apart=labels is not None) as blocks:
        return tracker.ingest_stream(blocks, labels, RunDetails(name), ["ndcg@10"])


@pytest.fixture
def texts(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize("ingest", [whole, streamed])
def test_row_numbers_and_ids_never_meet_in_a_dataset(
    tracker: nt.Tracker, ready_url: str, texts: Callable[[str, str], Path], ingest: Ingest
) -> None:
    numbered = texts("numbered.csv", "group,score,label\nq,2,0\nq,1,1\nr,1,1\n")
    ids = texts("ids.csv", "group,item,score,label\nq,1,2,0\nq,2,1,1\nr,1,1,1\n")
    plain = texts("plain.csv", "group,item,score\nq,1,2\nq,2,1\n")
    of_ids = read_labels(str(texts("labels.csv", "group,item,label\nq,1,0\nq,2,1\nr,1,1\n")))
    ingest(tracker, "first", numbered, None)
    ingest(tracker, "again", numbered, None)
    before = row_counts(ready_url)
    for path, labels in ((ids, None), (plain, None), (plain, of_ids)):
        with pytest.raises(nt.ConflictError) as caught:
            ingest(tracker, "ids", path, labels)
        assert str(caught.value) == IDS_HERE
    with pytest.raises(nt.ConflictError) as caught:
        tracker.add_labels(of_ids)
    assert str(caught.value) == IDS_HERE
    assert row_counts(ready_url) == before


@pytest.mark.parametrize("ingest", [whole, streamed])
def test_row_numbers_do_not_come_to_labels_with_ids_not_even_for_new_groups(
    tracker: nt.Tracker, ready_url: str, texts: Callable[[str, str], Path], ingest: Ingest
) -> None:
    ingest(tracker, "ids", texts("ids.csv", "group,item,score,label\nq,1,2,0\nq,2,1,1\n"), None)
    before = row_counts(ready_url)
    for name in ("q", "r"):
        with pytest.raises(nt.ConflictError) as caught:
            ingest(tracker, name, texts(f"{name}.csv", f"group,score,label\n{name},2,0\n{name},1,1\n"), None)
        assert str(caught.value) == NUMBERED_HERE
    svm = texts("rows.svm", "0 qid:q 1:1\n1 qid:q 1:2\n")
    with pytest.raises(nt.ConflictError) as caught:
        tracker.add_labels(read_labels(str(svm)))
    assert str(caught.value) == NUMBERED_HERE
    assert row_counts(ready_url) == before


@pytest.mark.parametrize("ingest", [whole, streamed])
def test_a_union_of_row_numbered_labels_is_row_numbered(
    tracker: nt.Tracker, texts: Callable[[str, str], Path], ingest: Ingest
) -> None:
    ingest(tracker, "first", texts("one.csv", "group,score,label\nq,2,0\nq,1,1\n"), None)
    ingest(tracker, "second", texts("two.csv", "group,score,label\nq,2,0\nq,1,1\nr,2,0\nr,1,1\n"), None)
    with pytest.raises(nt.ConflictError) as caught:
        ingest(tracker, "third", texts("ids.csv", "group,item,score\nq,1,2\nr,2,1\n"), None)
    assert str(caught.value) == IDS_HERE
