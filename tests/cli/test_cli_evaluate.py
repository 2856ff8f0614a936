"""``ndcg-track evaluate``: metrics of files, nothing stored."""

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, Run, joint_frame, write_csv, write_qrels


@pytest.fixture
def command(sqlite_command: CommandLine, files: None, folder: Path) -> CommandLine:
    """The command line on a database that must not come to be."""
    return sqlite_command


def test_the_means_of_several_files(command: CommandLine, folder: Path) -> None:
    before = sorted(folder.iterdir())
    printed = command.done("evaluate", "bm25.csv", "dense.run", "--labels", "qrels.txt")
    means = [results("ndcg@10", run, LABELS).mean for run in (BM25, DENSE)]
    assert printed.splitlines() == [
        "run    metric     mean  n_groups  n_missing  n_undefined",
        f"bm25   ndcg@10  {means[0]:.4f}         5          0            0",
        f"dense  ndcg@10  {means[1]:.4f}         5          1            0",
    ]
    assert sorted(folder.iterdir()) == before


def test_the_formats(command: CommandLine) -> None:
    arguments = ["evaluate", "bm25.csv", "--labels", "labels.csv", "--metric", "dcg@3", "--metric", "ndcg(empty=skip)"]
    rows = command.rows(*arguments)
    assert [list(row) for row in rows] == [["run", "metric", "mean", "n_groups", "n_missing", "n_undefined"]] * 2
    for row, metric in zip(rows, ("dcg@3", "ndcg(empty=skip)"), strict=True):
        found = results(metric, BM25, LABELS)
        assert list(row.values()) == ["bm25", metric, found.mean, found.n_groups, 0, found.n_undefined]
    table = list(csv.DictReader(io.StringIO(command.done(*arguments, "--format", "csv"))))
    assert [float(row["mean"]) for row in table] == [row["mean"] for row in rows]
    assert command.done(*arguments, "--format", "markdown").startswith("| run | metric | mean |")


def test_per_group(command: CommandLine) -> None:
    arguments = ["evaluate", "bm25.csv", "dense.run", "--labels", "labels.csv", "--per-group"]
    metrics = ["ndcg@10", "ndcg(empty=skip)@10"]
    rows = command.rows(*arguments, *[word for metric in metrics for word in ("--metric", metric)])
    expected = [
        {"run": name, "group": group, metrics[0]: value, metrics[1]: None if value != value or group == "q4" else value}
        for name, run in (("bm25", BM25), ("dense", DENSE))
        for group, value in zip(
            results("ndcg@10", run, LABELS).group_keys.to_list(),
            results("ndcg@10", run, LABELS).values.tolist(),
            strict=True,
        )
    ]
    assert rows == expected
    assert command.done(*arguments).splitlines()[0].split() == ["run", "group", "ndcg@10"]


def test_a_metric_given_twice_is_one(command: CommandLine) -> None:
    rows = command.rows("evaluate", "bm25.csv", "--labels", "labels.csv", "--metric", "dcg@3", "--metric", "dcg@3")
    assert len(rows) == 1


def test_labels_of_the_file_itself(command: CommandLine, folder: Path) -> None:
    own: Run = {**LABELS, "q5": {"h": 1, "x": 3}}
    write_csv(folder / "own.csv", joint_frame(BM25, own))
    assert command.rows("evaluate", "own.csv")[0]["mean"] == results("ndcg@10", BM25, own).mean
    given = command.rows("evaluate", "own.csv", "--labels", "labels.csv")
    assert given[0]["mean"] == results("ndcg@10", BM25, LABELS).mean


def test_the_label_column_is_one_of_the_labels_file(command: CommandLine, folder: Path) -> None:
    labels = (folder / "labels.csv").read_text(encoding="utf-8").replace("label", "grade", 1)
    (folder / "grades.csv").write_text(labels, encoding="utf-8")
    for run in ("bm25.csv", "dense.run"):
        rows = command.rows("evaluate", run, "--labels", "grades.csv", "--label", "grade")
        assert rows == command.rows("evaluate", run, "--labels", "labels.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bm25.csv"], "bm25.csv has no labels of its own; give them with --labels FILE"),
        (
            ["bm25.csv", "dense.run", "--scores", "x"],
            "--scores belongs to one file, but there are several; evaluate them one by one",
        ),
        (["labels.csv", "--labels", "labels.csv"], None),
        (["bm25.csv", "--labels", "strict.txt", "--metric", "ndcg(missing=error)"], None),
    ],
)
def test_what_is_refused(command: CommandLine, folder: Path, arguments: list[str], message: str | None) -> None:
    write_qrels(folder / "strict.txt", {"q9": {"a": 1}})
    text = command.refused("evaluate", *arguments)
    assert message is None or text == message
