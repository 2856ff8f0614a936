"""The command line on a fresh database of either engine, and files for it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Program
from small_shop import BM25, DENSE, frame_of, labels_frame, write_csv, write_qrels, write_trec


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of its own, outside of any repository, to work in; no variable names a database or a width."""
    monkeypatch.chdir(tmp_path)
    for name in ("NDCG_TRACK_DB", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def command(folder: Path, postgres_schema: None, database_url: str, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on a database of either engine; on Postgres the schema is there."""
    return CommandLine(database_url, capsys)


@pytest.fixture
def sqlite_command(folder: Path, sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line on a SQLite file that is not there yet."""
    return CommandLine(sqlite_url, capsys)


@pytest.fixture
def files(folder: Path) -> None:
    """``bm25.csv`` and ``dense.run``, with ``labels.csv`` and the same labels as ``qrels.txt``, in the folder."""
    write_csv(folder / "bm25.csv", frame_of(BM25))
    write_trec(folder / "dense.run", DENSE)
    write_csv(folder / "labels.csv", labels_frame())
    write_qrels(folder / "qrels.txt")


@pytest.fixture
def shop(
    fill_as: Callable[[Callable[[str], object]], None],
    command: CommandLine,
    files: None,
    capsys: pytest.CaptureFixture[str],
) -> CommandLine:
    """The command line on a database that has the runs bm25 and dense."""

    def ingest(url: str) -> None:
        CommandLine(url, capsys).done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv", "--dataset", "shop")

    fill_as(ingest)
    return command


@pytest.fixture
def program(folder: Path, preloaded_programs: Path) -> Program:
    """The real program, started in the folder: forked, or by ``program.cold`` as a user does."""
    return Program(folder, preloaded_programs)
