"""``--stream``: files read block by block come to the same as files read at once."""

import io
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from small_shop import BM25, DENSE, LABELS, joint_frame, write_csv, write_trec

from ndcg_tracker.ingest.reading import is_large


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
        "apart.run:12: the rows of group 'q1' are not contiguous; sort the file by group first, or read it whole "
        "instead of block by block"
    )
    assert command.rows("runs", "list") == []
    assert command.rows("ingest", "apart.run", "--labels", "labels.csv")[0]["n_items"] == 12


def test_a_streamed_file_without_labels(sqlite_command: CommandLine, files: None) -> None:
    assert sqlite_command.refused("evaluate", "bm25.csv", "--stream") == (
        "bm25.csv has no labels; give them with --labels FILE"
    )


@pytest.fixture(scope="module")
def large_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a run of more than a block whose first group comes again at its end, and the option with its labels."""
    path = tmp_path_factory.mktemp("large") / "large.run"
    with path.open("w") as file:
        for group in range(8_500):
            file.writelines(f"group-{group} Q0 document-{item} {item} {100 - item}.5 large\n" for item in range(100))
        file.write("group-0 Q0 document-last 101 200 large\n")
    assert is_large(str(path))
    labels = path.with_name("labels.qrels")
    labels.write_text("".join(f"group-{group} 0 document-{group % 100} 1\n" for group in range(8_500)))
    return [str(path), "--labels", str(labels)]


def test_large_files_are_evaluated_block_by_block_unless_a_group_comes_again(
    sqlite_command: CommandLine, large_files: list[str]
) -> None:
    assert sqlite_command.refused("evaluate", *large_files, "--stream").startswith(
        f"{large_files[0]}:850001: the rows of group 'group-0' are"
    )
    whole = sqlite_command.rows("evaluate", *large_files, "--no-stream")
    assert sqlite_command.rows("evaluate", *large_files) == whole


def test_large_files_are_streamed_unless_a_group_comes_again(command: CommandLine, large_files: list[str]) -> None:
    whole = command.rows("ingest", *large_files, "--name", "whole", "--no-stream")
    rows = command.rows("ingest", *large_files)
    assert [row["n_items"] for row in rows] == [850_001]
    assert [row["mean"] for row in rows] == [row["mean"] for row in whole]
    listed = command.rows("sql", "select run, n_groups from run_summary order by run")
    assert listed == [{"run": "large", "n_groups": 8_500}, {"run": "whole", "n_groups": 8_500}]
