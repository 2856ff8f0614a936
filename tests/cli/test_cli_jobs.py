"""``ingest --jobs``: files read side by side come to the same as files read one after the other."""

import gzip
import os
import threading
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command_line import CommandLine
from hypothesis import given, settings
from hypothesis import strategies as st
from small_shop import BM25, DENSE, LABELS, joint_frame, write_csv, write_qrels, write_trec
from thorough import examples

from ndcg_tracker.cli.app import run
from ndcg_tracker.cli.input_files import read_ahead
from ndcg_tracker.cli.options import warnings_as_notes
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, warn

CONTENT = {
    "summary": "SELECT run, metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM run_summary "
    "WHERE dataset = '{}' ORDER BY run_id, metric, label_set_version",
    "items": "SELECT run, group_key, rank, item_key, score FROM items WHERE dataset = '{}' ORDER BY 1, 2, 3",
    "labels": "SELECT label_set_version, group_key, item_key, grade FROM labels WHERE dataset = '{}' ORDER BY 1, 2, 3",
    "results": "SELECT run, group_key, metric, label_set_version, value FROM group_history WHERE dataset = '{}' "
    "ORDER BY 1, 2, 3, 4",
    "coverage": "SELECT run, label_set_version, cutoff, judged_share FROM label_coverage WHERE dataset = '{}' "
    "ORDER BY 1, 2, 3",
}


def content(command: CommandLine, dataset: str) -> dict[str, Any]:
    """Return all that a dataset holds."""
    return {name: command.rows("sql", query.format(dataset)) for name, query in CONTENT.items()}


@pytest.fixture
def many(files: None, folder: Path) -> list[str]:
    """Files of several formats: with labels of their own, with notes, with the content of another, compressed."""
    write_csv(folder / "own.csv", joint_frame(BM25, LABELS))
    write_trec(folder / "twin.run", DENSE)
    (folder / "packed.run.gz").write_bytes(gzip.compress((folder / "dense.run").read_bytes()))
    ranks = "".join(f"q1 Q0 {item} {rank} {score}.5 t\n" for rank, (item, score) in enumerate([("a", 1), ("b", 2)], 1))
    (folder / "ranks.run").write_text(ranks, encoding="utf-8")
    (folder / "convention.csv").write_text("qid,docno,score\nq1,a,1\nq2,b,2\n", encoding="utf-8")
    write_trec(folder / "strangers.run", {"q1": {"A": 1.0}})
    names = "bm25.csv dense.run own.csv twin.run packed.run.gz ranks.run convention.csv strangers.run"
    return names.split()


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("labels", [["--labels", "labels.csv"], []])
def test_the_content_and_the_words_are_the_same(command: CommandLine, many: list[str], labels: list[str]) -> None:
    told = {}
    for dataset, jobs in (("one", "1"), ("two", "2"), ("five", "5"), ("default", None)):
        command.said("labels", "add", "qrels.txt", "--dataset", dataset)
        words = [*many, *labels, "--dataset", dataset, "--metric", "ndcg@10", "--metric", "AP", "--metric", "ndcg@10"]
        stored = command("ingest", *words, *(["--jobs", jobs] if jobs else []), "--format", "csv")
        lines = [line.split(",") for line in stored.out.splitlines()]
        told[dataset] = (
            stored.code,
            stored.err.replace(f"--dataset {dataset}", "--dataset NAME"),
            [[*line[:1], *line[3:]] for line in lines],
            content(command, dataset),
        )
        again = command.rows("ingest", *words, *(["--jobs", jobs] if jobs else []))
        assert {row["outcome"] for row in again} == {"already stored"}
    assert told["one"][0] == 0
    assert "rank column" in told["one"][1]
    assert told["two"] == told["five"] == told["default"] == told["one"]


@pytest.mark.parametrize("jobs", ["1", "2", "4"])
def test_the_files_before_a_broken_one_stay(command: CommandLine, files: None, folder: Path, jobs: str) -> None:
    (folder / "broken.csv").write_text("group,item,score\nq1,a,1\nq1,b,one\n", encoding="utf-8")
    write_trec(folder / "last.run", BM25)
    words = ["ingest", "bm25.csv", "dense.run", "broken.csv", "last.run", "nowhere.run", "--labels", "labels.csv"]
    printed = command(*words, "--jobs", jobs, "--format", "csv")
    assert (printed.code, printed.err[:21], printed.err.count("\n")) == (2, "error: broken.csv:3: ", 1)
    assert [line.split(",")[0] for line in printed.out.splitlines()] == ["run", "bm25", "dense"]
    assert [row["run"] for row in command.rows("runs", "list")] == ["bm25", "dense"]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    "arguments",
    [
        ["bm25.csv", "nowhere.csv", "dense.run"],
        ["bm25.csv", "dense.run", "--metric", "ndgc@10"],
        ["nowhere.csv", "dense.run", "--metric", "ndgc@10"],
        ["bm25.csv", "dense.run", "--metric", "ndcg(missing=error)@10"],
        ["bm25.csv", "dense.run", "--score", "s"],
        ["bm25.csv", "other/bm25.csv", "--name", "a", "--name", "@b"],
        ["bm25.csv", "other/dense.run", "--name", "a", "--name", "taken", "--metric", "ndcg(missing=error)@10"],
    ],
)
def test_refusals_are_the_same(sqlite_command: CommandLine, files: None, folder: Path, arguments: list[str]) -> None:
    (folder / "other").mkdir()
    write_csv(folder / "other" / "bm25.csv", joint_frame(BM25, LABELS))
    write_trec(folder / "other" / "dense.run", DENSE)
    told = []
    for jobs in ("1", "3"):
        command = CommandLine(f"{sqlite_command.url}-{jobs}", sqlite_command._capsys)
        assert command("ingest", "bm25.csv", "--name", "taken", "--labels", "labels.csv").code == 0
        printed = command("ingest", *arguments, "--labels", "labels.csv", "--jobs", jobs)
        assert printed.code == 2
        told.append((printed, [row["run"] for row in command.rows("runs", "list")]))
    assert told[0] == told[1]


@pytest.mark.parametrize("value", ["0", "-2"])
def test_less_than_one_job_is_refused(sqlite_command: CommandLine, files: None, value: str) -> None:
    assert sqlite_command.refused("ingest", "bm25.csv", "--labels", "labels.csv", "--jobs", value) == (
        f"--jobs {value} would read nothing; give how many files to read at a time, 1 or more"
    )


@pytest.mark.parametrize("value", ["two", "1.5", ""])
def test_what_is_no_number_of_jobs_is_refused(sqlite_command: CommandLine, files: None, value: str) -> None:
    printed = sqlite_command("ingest", "bm25.csv", "--labels", "labels.csv", "--jobs", value)
    assert (printed.code, printed.out) == (2, "")
    assert printed.err.splitlines()[-1].startswith("Error: Invalid value for '--jobs': ")  # the rest is typer's


def test_a_pipe_and_a_stream_are_read_in_their_turn(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(target=lambda: (folder / "pipe").write_bytes((folder / "dense.run").read_bytes()))
    writer.start()
    words = ["bm25.csv", "pipe", "--labels", "labels.csv", "--jobs", "2"]
    assert [row["run"] for row in sqlite_command.rows("ingest", *words, "--name", "a", "--name", "b")] == ["a", "b"]
    writer.join()
    words = ["bm25.csv", "dense.run", "--labels", "labels.csv", "--jobs", "2", "--stream"]
    streamed = sqlite_command.rows("ingest", *words)
    assert [row["run"] for row in streamed] == ["bm25", "dense"]


def test_warnings_and_errors_wait_for_their_turn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"f{number}" for number in range(6)]
    for name in names:
        (folder / name).write_text(name)

    def read(path: str) -> str:
        warn(NdcgTrackerWarning(f"{path} is odd"))
        if path == "f3":
            raise InputError("is broken", where=path)
        return path

    used = []

    def use_all() -> None:
        for ahead in read_ahead(names, 3, read):
            assert ahead is not None
            used.append(ahead.taken())
            assert capsys.readouterr().err == f"note: {used[-1]} is odd\n"

    with pytest.raises(InputError, match="f3: is broken"), warnings_as_notes():
        use_all()
    assert used == ["f0", "f1", "f2"]
    assert capsys.readouterr().err == "note: f3 is odd\n"
    in_turn = [one is None for one in read_ahead([*names, "nowhere", "-"], 3, lambda path: path)]
    assert in_turn == [*[False] * 6, True, True]
    assert list(read_ahead(names, 1, read)) == [None] * 6


_RUN = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from([0.5, 1.0, 2.0]), min_size=1),
    min_size=1,
)
_BROKEN = st.sampled_from(["", "q1 Q0 a 1 one t\n", "q1 Q0 a 1 1 t\nq1 Q0 a 2 1 t\n"])
_FILES = st.lists(st.one_of(_RUN, _BROKEN), min_size=1, max_size=6)


def _told(words: list[str]) -> tuple[int, str, str]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = run(words)
    return code, out.getvalue(), err.getvalue()


@settings(max_examples=examples(25))
@given(_FILES, st.booleans())
@pytest.mark.nightly
def test_any_files_come_to_the_same(runs: list[Any], has_labels: bool) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_qrels(folder / "qrels.txt")
        paths = [folder / f"r{number}.run" for number in range(len(runs))]
        for path, one in zip(paths, runs, strict=True):
            if isinstance(one, str):
                path.write_text(one, encoding="utf-8")
            else:
                write_trec(path, one)
        found = []
        for jobs in ("1", "2"):
            database = ["--db", str(folder / f"{jobs}.db")]
            assert _told([*database, "labels", "add", str(folder / "qrels.txt")])[0] == 0
            labels = ["--labels", str(folder / "qrels.txt")] if has_labels else []
            words = [*map(str, paths), *labels, "--jobs", jobs, "--metric", "ndcg", "--format", "csv"]
            told = _told([*database, "ingest", *words])
            queries = [[*database, "sql", query.format("default"), "--format", "csv"] for query in CONTENT.values()]
            found.append((told, [_told(query) for query in queries]))
        assert found[0] == found[1]
