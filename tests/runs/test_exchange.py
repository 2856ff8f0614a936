"""Runs written as Parquet files and read again: the same in every engine, or one clear line and nothing stored."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchanged import first_value, shown, with_column
from rankings_of import labels_of
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError
from ndcg_tracker.runs.export_files import ExportWriter
from ndcg_tracker.storage.database import upgrade

FULL = """
import resource, sys
from pathlib import Path
import ndcg_tracker as nt
sys.dont_write_bytecode = True  # modules cut short would be read by every later process
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    nt.Tracker(Path(sys.argv[1], "one.db")).export_runs(Path(sys.argv[1], "out"))
except nt.InputError as error:
    print(error)
"""
METRICS = ["ndcg@10", "AP", "ndcg(missing=skip)@3", "lightgbm:ndcg@5"]


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(
            frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", metrics=METRICS, git_commit="abc",
            parameters={"lr": "0.1"}, tags={"branch": "main"},
        )  # fmt: skip
        tracker.ingest(frame_of(DENSE), name="<b>dense</b>; \u202e", metrics=METRICS[:2], git_commit="")
        strange = {"q1": {"a": 1.0, "'; --": 1.0, "\u202e": -0.0, "é" * 40: 5e-324}}
        tracker.ingest(
            frame_of(strange), labels=frame_of({"q1": {"a": 0.1, "'; --": 1e300}}, "label"), name="b", dataset="o"
        )
        tracker.add_labels(labels_of({**LABELS, "q1": {"a": 1}}))
        tracker.rescore(["bm25"])
        weights = np.array([2.0, 0.1, 1.0, 1.0, 1.0])
        nothing: list[None] = [None] * 3
        attributes = {"kind": ["new", None, *nothing], "size": [0.1, 3, *nothing]}
        tracker.set_groups({"group": ["q1", "q3", "q2", "q4", "q5"], "weight": weights, **attributes})


@pytest.fixture
def filled(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs under two versions of the labels, with weights, attributes, hostile ids and an undefined result."""
    fill_as(fill)
    return tracker


def digests(tracker: nt.Tracker) -> list[tuple[str, str, str]]:
    return [(run.dataset, run.name, run.digest) for run in tracker.runs()]


NAMED = ["bm25", "<b>dense</b>; \u202e", "b"]


@pytest.mark.nightly(but=3)
def test_named_runs_are_copied_exactly(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    done = filled.export_runs(tmp_path / "out", NAMED)
    assert (done.n_runs, done.n_items, done.n_label_sets, done.notes) == (3, 24, 3, ())
    found = other.import_runs(tmp_path / "out")
    assert [(run.run, run.outcome) for run in found.runs] == [(name, "stored") for name in NAMED]
    assert (found.notes, found.n_not_verifiable) == ((), 0)
    assert digests(other) == digests(filled)
    only_ids = {"run_id", "updated_at_utc"}
    here, there = shown(filled, only_ids), shown(other, only_ids)
    for view in here:
        for one, another in zip(here[view], there[view], strict=True):
            if view == "items":  # the score to 1 ulp: SQLite's own JSON reader
                assert one[:-1] == another[:-1]
                assert one[-1] == pytest.approx(another[-1], rel=4e-16, abs=0)
            else:
                assert one == another
    again = other.import_runs(tmp_path / "out")
    assert {run.outcome for run in again.runs} == {"already stored"}
    assert (again.n_results, shown(other, only_ids)) == (0, there)


def test_an_export_of_runs_says_what_it_leaves_out(filled: nt.Tracker, tmp_path: Path) -> None:
    filled.set_alias("baseline", "bm25")
    filled.gate("<b>dense</b>; \u202e", baseline="bm25", metric="AP", margin=0.5, labels=1)
    filled.add_texts({"group": ["q1", "q2"], "text": ["shoes", "coats"]})
    filled.create_suite("both", ["default", "o"])
    left_out = "left out: 1 decision, 1 move of an alias, 1 dataset of a suite, 2 texts"
    everything = "to take everything, type: ndcg-track export --all -o FOLDER"
    assert filled.export_runs(tmp_path / "out", ["bm25"]).notes == (f"{left_out}; {everything}",)
    assert filled.export_runs(tmp_path / "o", dataset="o").notes == (f"left out: 1 dataset of a suite; {everything}",)


def test_another_name_for_the_dataset(filled: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "both", NAMED)
    filled.export_runs(tmp_path / "out", dataset="o")
    (run,) = filled.import_runs(tmp_path / "out", dataset="new").runs
    assert (run.dataset, run.outcome, len(filled.run("b", "new")[1])) == ("new", "stored", 1)
    assert refusal_of(InputError, filled.import_runs, tmp_path / "both", dataset="newer") == (
        "dataset= does not go with an export of several datasets: it renames a single one; leave it out"
    )


@pytest.mark.nightly(but=2)
def test_names_that_are_taken_by_other_content(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out", ["bm25"])
    other.ingest(frame_of(DENSE), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
    before = shown(other)
    assert refusal_of(ConflictError, other.import_runs, tmp_path / "out") == (
        "run 'bm25' of dataset 'default' is already stored with other content; import into dataset='NEW', or rename "
        "the run here with: ndcg-track runs rename bm25 NEW"
    )
    other.rename_run("bm25", "theirs")
    other.add_labels(labels_of({**LABELS, "q1": {"a": 1, "z": 1}}))
    before = shown(other)
    assert refusal_of(ConflictError, other.import_runs, tmp_path / "out") == (
        "version 2 of the labels of dataset 'default' has other content here; import into another dataset with "
        "dataset='NEW'"
    )
    assert shown(other) == before
    assert [run.outcome for run in other.import_runs(tmp_path / "out", dataset="theirs").runs] == ["stored"]


def test_a_weight_that_differs_here(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out", ["bm25"])
    other.ingest(frame_of(DENSE), labels=frame_of(LABELS, "label"), name="dense", git_commit="")
    other.set_groups({"group": ["q1", "q2"], "weight": [3.0, 1.0], "kind": ["old", "new"]})
    assert refusal_of(ConflictError, other.import_runs, tmp_path / "out") == (
        "group 'q1' has the weight 2 here but 3 in dataset 'default'; leave the weight column out, or use another "
        "dataset"
    )


def test_labels_get_the_next_version_if_older_ones_are_missing(tracker: nt.Tracker, tmp_path: Path) -> None:
    tracker.ingest(frame_of(DENSE), labels=frame_of(LABELS, "label"), name="dense", git_commit="")
    more = {**LABELS, "q1": {**LABELS["q1"], "z": 1}}
    tracker.ingest(frame_of(BM25), labels=frame_of(more, "label"), name="bm25", git_commit="")
    tracker.export_runs(tmp_path / "out", ["bm25"])
    found = tracker.import_runs(tmp_path / "out", dataset="new")
    assert found.notes == (
        "labels version 2 of the export is version 1 of dataset 'new' here, the latest; runs under older versions need "
        "rescore --labels 1 to be comparable",
    )
    assert tracker.run("bm25", "new")[1][0].label_set_version == 1


def test_labels_keep_which_ids_are_one_and_that_they_are_of_spans(
    tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path
) -> None:
    tracker.add_labels({"group": ["q"], "document": ["d"], "start": [0], "end": [20]})
    tracker.carry_labels(pattern="^v2-")
    tracker.ingest({"q": {"x": 2.0, "v2-d#0-30": 1.0}}, name="a", metrics=["RR"])
    tracker.export_runs(tmp_path / "out", ["a"])
    other.import_runs(tmp_path / "out")
    other.rescore(metrics="R@2")
    assert other.sql("SELECT metric, mean FROM run_summary ORDER BY mean").values.tolist() == [
        ["RR", 0.5],
        ["R@2", 1.0],
    ]


@pytest.mark.nightly(but=3)
def test_what_cannot_be_computed_again_is_counted(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    weighted = {"group": ["q", "q", "r"], "item": ["a", "b", "a"], "score": [1.0, 2.0, 1.0], "label": [1, 2, 0]}
    tracker.ingest(
        weighted | {"w": [1.0, 5.0, 2.0]}, name="weighted", weight="w", git_commit="", tags={"imported": "yes"},
        metrics=["ndcg(weights=item_mean)@2", "ndcg(weights=group)@2"],
    )  # fmt: skip
    tracker.log_results({"q": 7.0, "r": 9.0}, name="measured", metric="latency", direction="lower", range=(0, 100))
    tracker.export_runs(tmp_path / "out")
    found = other.import_runs(tmp_path / "out")
    assert (found.n_evaluations, found.n_not_verifiable) == (3, 2)
    assert [run.tags for run in other.runs()] == [run.tags for run in tracker.runs()]


def test_what_cannot_be_exported(tracker: nt.Tracker, tmp_path: Path) -> None:
    tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
    (tmp_path / "there").mkdir()
    for folder, reason in (
        ("there", "{0}: already exists; give another folder"),
        ("no/where", "cannot write '{0}': its folder does not exist; create the folder, or give another path"),
    ):
        with pytest.raises(InputError) as caught:
            tracker.export_runs(tmp_path / folder)
        assert str(caught.value) == reason.format(tmp_path / folder)
    with pytest.raises(ReferenceNotFoundError):
        tracker.export_runs(tmp_path / "out", ["nope"])
    tracker.delete_run("bm25")
    with pytest.raises(ReferenceNotFoundError) as missing:
        tracker.export_runs(tmp_path / "out", dataset="default")
    assert str(missing.value) == "there are no runs to export; store one with: ndcg-track ingest FILE"
    assert [path.name for path in tmp_path.iterdir() if path.is_dir() and path.name != "there"] == []


DAMAGE: list[tuple[str, Callable[[pa.Table], Any], str]] = [
    ("items", lambda table: table.slice(1), "has 10 rows left, not the 11 of dataset 'default', run 'bm25'"),
    ("labels", lambda table: pa.concat_tables([table, table]), "has 8 rows without an owner"),
    ("items", with_column("score", first_value(np.inf)), "has a number that is not finite in column 'score'"),
    ("items", with_column("item_key", first_value(None)), "has a null in column 'item_key'"),
    ("runs", lambda table: table.drop_columns("tags"), "has columns other than id, dataset_id, name, digest, "
     "created_at_utc, source, git_commit, parameters, tags, n_groups, n_items"),
    ("runs", lambda table: table.append_column("more", table["id"]), "has columns other than id, dataset_id, name"),
    ("runs", with_column("tags", first_value("[1]")), "row 1 has tags that are not a JSON object"),
    ("groups", with_column("weight", first_value(-1.0)), "row 1 has a weight that is not from 0 to 1e+30"),
    ("evaluations", with_column("metric", first_value("ndcg@@")), "row 1 has a wrong metric: "),
    ("metrics", with_column("text", first_value("ndcg@010")), "row 1 has a wrong text: the canonical form of "
     "'ndcg@010' is 'ndcg@10'"),
    ("items", with_column("run", first_value("x")), "its rows are not in the order in which they were written: "
     "those of dataset 'default', run 'bm25'"),
    ("label_sets", lambda table: table.slice(1), "row 1 names label_set_id 1, which is not there"),
    ("runs", with_column("tags", first_value(None)), "row 1 has no tags"),
    ("runs", with_column("n_items", first_value(None)), "row 1 has no n_items"),
    ("runs", with_column("tie_order", first_value("x")), "row 1 has a tie_order that is not 'input'"),
    ("runs", with_column("sampled", first_value("9/3")), "row 1 has a wrong sampled: "),
    ("groups", with_column("key", first_value(None)), "row 1 has no key"),
    ("groups", with_column("dataset_id", first_value(7)), "row 1 names dataset_id 7, which is not there"),
    ("group_results", with_column("metric", first_value("x")), "its rows are not in the order in which they were"),
]  # fmt: skip


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(("name", "change", "message"), DAMAGE, ids=[message for _, _, message in DAMAGE])
def test_what_does_not_hold_together_is_refused(
    name: str, change: Callable[[pa.Table], Any], message: str, tmp_path: Path
) -> None:
    with nt.Tracker(tmp_path / "one.db") as tracker:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
        tracker.set_groups({"group": ["q1"], "weight": [2.0]})
        tracker.export_runs(tmp_path / "out")
    file = tmp_path / "out" / f"{name}.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    upgrade(str(tmp_path / "other.db"))
    with nt.Tracker(tmp_path / "other.db") as other:
        with pytest.raises(InputError) as caught:
            other.import_runs(tmp_path / "out")
        assert other.runs() == []
    assert message in str(caught.value)
    assert str(caught.value).endswith("; export the runs again")


def test_of_what_is_not_finished_nothing_stays(tmp_path: Path) -> None:
    def interrupted() -> None:
        with ExportWriter(tmp_path / "out", ["groups"]) as writer:
            writer.add_rows("groups", [{"id": 1, "dataset_id": 1, "key": "q", "weight": 1.0, "attributes": None}])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("n_bytes", [0, 2, 500, 2000])
def test_a_disk_that_is_full(tmp_path: Path, n_bytes: int) -> None:
    """A file that may not grow beyond some size fails as one on a full disk does: at its first byte, or later."""
    with nt.Tracker(tmp_path / "one.db") as tracker:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
    words = [sys.executable, "-c", FULL, str(tmp_path), str(n_bytes)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write '{tmp_path / 'out'}': File too large; give another path\n"
    assert [path.name for path in tmp_path.iterdir()] == ["one.db"]


def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path: Path) -> None:
    with nt.Tracker(tmp_path / "one.db") as tracker:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
        tracker.export_runs(tmp_path / "out")
    file = tmp_path / "out" / "items.parquet"
    file.rename(tmp_path / "items.parquet")
    file.symlink_to(tmp_path / "items.parquet")
    upgrade(str(tmp_path / "other.db"))
    with nt.Tracker(tmp_path / "other.db") as other:
        assert len(other.import_runs(tmp_path / "out").runs) == 1
        other.delete_run("bm25")
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(InputError) as caught:
            other.import_runs(tmp_path / "out")
    assert str(caught.value) == f"{file}: is not a regular file; export the runs again"


def test_files_that_are_missing_or_broken(tmp_path: Path) -> None:
    with nt.Tracker(tmp_path / "one.db") as tracker:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
        tracker.export_runs(tmp_path / "out", ["bm25"])
        digest = tracker.run("bm25")[0].digest
        file = tmp_path / "out" / "items.parquet"
        content = file.read_bytes()
        with pytest.raises(InputError, match=r"none: no such folder; give a folder written by ndcg-track export"):
            tracker.import_runs(tmp_path / "none")
        file.unlink()
        with pytest.raises(InputError, match=r"items\.parquet: no such file; export the runs again"):
            tracker.import_runs(tmp_path / "out")
    upgrade(str(tmp_path / "other.db"))
    with nt.Tracker(tmp_path / "other.db") as other:
        for length in range(0, len(content), 61 if LONG else 307):
            file.write_bytes(content[:length])
            with pytest.raises(
                InputError, match=r"items\.parquet: not a readable Parquet file .*; export the runs again"
            ):
                other.import_runs(tmp_path / "out")
        for place in range(0, len(content), 37 if LONG else 307):
            file.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
            message = ""
            try:
                other.import_runs(tmp_path / "out")
            except InputError as error:
                message = str(error)
            if message:
                assert message.startswith((f"{file}: ", f"{file.parent}: "))
                assert other.runs() == []
            else:  # the byte stands for nothing
                assert other.run("bm25")[0].digest == digest
                other.delete_run("bm25")


def test_row_numbers_are_row_numbers_in_the_other_database_too(
    tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path
) -> None:
    numbered = {"group": ["q", "q"], "score": [2.0, 1.0], "label": [0, 1]}
    tracker.ingest(numbered, name="numbered")
    tracker.export_runs(tmp_path / "out")
    tracker.export_runs(tmp_path / "runs", ["numbered"])
    other.import_runs(tmp_path / "out")
    assert other.ingest(numbered | {"score": [1.0, 2.0]}, name="again").label_set_version == 1
    with pytest.raises(
        ConflictError,
        match=r"^the labels of dataset 'default' identify items by row numbers, but here ",
    ):
        other.ingest({"q": {"1": 2.0, "2": 1.0}}, name="ids")
    other.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", dataset="ids")
    with pytest.raises(ConflictError, match=r"^version 1 of the labels of dataset 'ids' has other content here; "):
        other.import_runs(tmp_path / "runs", dataset="ids")


def test_results_are_computed_again_whatever_the_metric(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    """Single precision cannot tell scores apart that stood in an order once; that order is not kept."""
    close = {f"q{number}": {"a": 1.0, "b": float(np.nextafter(1.0, 2)), "c": 0.5} for number in range(6)}
    labels = {group: {"a": number % 3, "b": 1, "c": number % 2} for number, group in enumerate(close)}
    metrics = ["ndcg(score_type=f32, ties=input)@2", "ndcg(arithmetic=f32)", "RR", "GMAP", "NumRet"]
    tracker.ingest(frame_of(close), labels=frame_of(labels, "label"), name="close", metrics=metrics, git_commit="")
    tracker.export_runs(tmp_path / "out")
    (run,) = other.import_runs(tmp_path / "out").runs
    assert (run.outcome, len(other.run("close")[1])) == ("stored", len(metrics))
    path = tmp_path / "out" / "group_results.parquet"
    pq.write_table(with_column("value", first_value(0.01))(pq.read_table(path)), path)
    tracker.delete_run("close")
    with (
        nt.Tracker(tmp_path / "empty.db") as empty,
        pytest.raises(InputError, match=r"value 0\.01 of group 'q0' is stated, but its items and labels give "),
    ):
        empty.import_runs(tmp_path / "out")
