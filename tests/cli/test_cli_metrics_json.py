"""``--metrics-json`` of ``evaluate``: one object, whole or not at all."""

import json
from pathlib import Path

from command_line import CommandLine

import ndcg_tracker as nt

METRICS = ["--metric", "ndcg@10", "--metric", "ndcg(gain=exp2)@20", "--metric", "lightgbm:ndcg@5"]


def written(folder: Path, name: str = "metrics.json") -> dict[str, float]:
    found: dict[str, float] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


def test_the_names_and_numbers_are_those_of_the_store(command: CommandLine, files: None, folder: Path) -> None:
    asked = ["--labels", "labels.csv", *METRICS]
    command("ingest", "bm25.csv", *asked)
    with nt.Tracker(command.url) as tracker:
        means = [metric.mean for metric in tracker.run("bm25")[1]]
    command("evaluate", "bm25.csv", *asked, "--metrics-json", "metrics.json")
    assert list(written(folder).values()) == means
    assert list(written(folder)) == ["ndcg_at_10", "ndcg_gain_exp2_at_20", "lightgbm_ndcg_at_5"]


def test_a_stream_writes_them_too(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    sqlite_command.done("evaluate", "bm25.csv", "--labels", "labels.csv", "--stream", "--metrics-json", "metrics.json")
    assert list(written(folder)) == ["ndcg_at_10"]


def test_ingest_names_the_command_that_writes_them(sqlite_command: CommandLine, files: None) -> None:
    message = sqlite_command.refused("ingest", "bm25.csv", "--metrics-json", "metrics.json")
    assert message == "--metrics-json is gone: evaluate --metrics-json FILE writes the means of a run"


def test_several_files_are_refused(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    message = sqlite_command.refused("evaluate", "bm25.csv", "dense.run", "--metrics-json", "metrics.json")
    assert message == "--metrics-json does not go with several files: it is of one run; evaluate them one by one"
    assert not (folder / "metrics.json").exists()


def test_the_file_is_there_whole_or_not_at_all(sqlite_command: CommandLine, files: None, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    asked = ["evaluate", "bm25.csv", "--labels", "labels.csv", "--metrics-json"]
    assert sqlite_command.refused(*asked, "no/such.json") == (
        "--metrics-json: cannot write 'no/such.json': its folder does not exist; "
        "create the folder, or give another path"
    )
    sqlite_command.refused("evaluate", "nope.csv", "--labels", "labels.csv", "--metrics-json", "metrics.json")
    sqlite_command.refused(*asked, "metrics.json", "--metric", "nope")
    assert sorted(path.name for path in folder.iterdir() if path.suffix not in (".db", ".db-wal")) == before
