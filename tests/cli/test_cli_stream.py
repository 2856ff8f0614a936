"""``--stream``: files read block by block come to the same as files read at once."""

import io
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from small_shop import BM25, DENSE, LABELS, joint_frame, write_csv, write_trec


def test_a_streamed_ingest_is_the_run_itself(command: CommandLine, files: None) -> None:
    arguments = ["ingest", "bm25.csv", "dense.run", "--labels", "qrels.txt", "--dataset", "shop"]
    rows = command.rows(*arguments, "--stream")
    assert [row["outcome"] for row in rows] == ["stored", "stored"]
    again = command.rows(*arguments)
    assert [row["outcome"] for row in again] == ["already stored", "already stored"]
    assert [row["mean"] for row in again] == [row["mean"] for row in rows]
    assert [row["outcome"] for row in command.rows(*arguments, "--stream", "--metric", "RR")] == ["metric added"] * 2


def test_a_streamed_evaluation_is_the_evaluation(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    write_csv(folder / "own.csv", joint_frame(DENSE, LABELS))
    for arguments in (
        ["evaluate", "bm25.csv", "dense.run", "--labels", "labels.csv"],
        ["evaluate", "dense.run", "--labels", "labels.csv", "--per-group", "--metric", "ndcg", "--metric", "AP"],
        ["evaluate", "own.csv", "--per-group"],
    ):
        assert sqlite_command.rows(*arguments, "--stream") == sqlite_command.rows(*arguments)


def test_standard_input(command: CommandLine, files: None, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = Path("dense.run").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    rows = command.rows("ingest", "-", "--name", "dense", "--labels", "labels.csv", "--stream")
    assert [(row["run"], row["n_items"]) for row in rows] == [("dense", 9)]


def test_a_group_that_comes_again_is_refused_and_nothing_stored(
    command: CommandLine, files: None, folder: Path
) -> None:
    write_trec(folder / "apart.run", BM25)
    with Path("apart.run").open("a") as file:
        file.write("q1 Q0 z 9 0.5 sys\n")
    assert command.refused("ingest", "apart.run", "--labels", "labels.csv", "--stream") == (
        "apart.run:12: group 'q1' comes again after another group; sort the file by group first, or ingest it without "
        "--stream"
    )
    assert command.rows("runs", "list") == []
    assert command.rows("ingest", "apart.run", "--labels", "labels.csv")[0]["n_items"] == 12


def test_a_streamed_file_without_labels(sqlite_command: CommandLine, files: None) -> None:
    assert sqlite_command.refused("evaluate", "bm25.csv", "--stream") == (
        "bm25.csv has no labels of its own; give them with --labels FILE"
    )
