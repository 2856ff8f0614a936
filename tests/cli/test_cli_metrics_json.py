"""``--metrics-json`` of ``ingest`` and ``evaluate``: the same object, whole or not at all."""

import json
from pathlib import Path

import pytest
from command_line import CommandLine

import ndcg_tracker as nt

METRICS = ["--metric", "ndcg@10", "--metric", "ndcg(gain=exp2)@20", "--metric", "lightgbm:ndcg@5"]


def written(folder: Path, name: str = "metrics.json") -> dict[str, float]:
    found: dict[str, float] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


def test_ingest_and_evaluate_write_the_same_names_and_numbers(command: CommandLine, files: None, folder: Path) -> None:
    asked = ["--labels", "labels.csv", *METRICS, "--metrics-json", "metrics.json"]
    command("ingest", "bm25.csv", *asked)
    by_ingest = written(folder)
    with nt.Tracker(command.url) as tracker:
        means = [metric.mean for metric in tracker.run("bm25")[1]]
    assert list(by_ingest.values()) == means
    assert list(by_ingest) == ["ndcg_at_10", "ndcg_gain_exp2_at_20", "lightgbm_ndcg_at_5"]
    command("evaluate", "bm25.csv", *asked)
    assert written(folder) == by_ingest


def test_a_run_that_is_stored_already_writes_the_metrics_that_were_asked_for(
    sqlite_command: CommandLine, files: None, folder: Path
) -> None:
    asked = ["ingest", "bm25.csv", "--labels", "labels.csv", "--metrics-json", "metrics.json"]
    sqlite_command.done(*asked)
    first = written(folder)
    (folder / "metrics.json").unlink()
    assert "already stored" in sqlite_command.done(*asked)
    assert written(folder) == first
    sqlite_command.done(*asked, "--metric", "dcg@1")
    assert list(written(folder)) == ["dcg_at_1"]


def test_a_stream_writes_them_too(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    for verb in ("ingest", "evaluate"):
        sqlite_command.done(verb, "bm25.csv", "--labels", "labels.csv", "--stream", "--metrics-json", f"{verb}.json")
    assert written(folder, "ingest.json") == written(folder, "evaluate.json")
    assert list(written(folder, "ingest.json")) == ["ndcg_at_10"]


@pytest.mark.parametrize("verb", ["ingest", "evaluate"])
def test_several_files_are_refused(verb: str, sqlite_command: CommandLine, files: None, folder: Path) -> None:
    message = sqlite_command.refused(verb, "bm25.csv", "dense.run", "--metrics-json", "metrics.json")
    assert message == f"--metrics-json does not go with several files: it is of one run; {verb} them one by one"
    assert not (folder / "metrics.json").exists()


@pytest.mark.parametrize("verb", ["ingest", "evaluate"])
def test_the_file_is_there_whole_or_not_at_all(
    verb: str, sqlite_command: CommandLine, files: None, folder: Path
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    asked = [verb, "bm25.csv", "--labels", "labels.csv", "--metrics-json"]
    assert sqlite_command.refused(*asked, "no/such.json") == (
        "--metrics-json: cannot write 'no/such.json': its folder does not exist; "
        "create the folder, or give another path"
    )
    sqlite_command.refused(verb, "nope.csv", "--labels", "labels.csv", "--metrics-json", "metrics.json")
    sqlite_command.refused(*asked, "metrics.json", "--metric", "nope")
    assert sorted(path.name for path in folder.iterdir() if path.suffix not in (".db", ".db-wal")) == before
