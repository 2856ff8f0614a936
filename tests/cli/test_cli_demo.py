"""``ndcg-track demo``."""

from pathlib import Path

import pytest
from command_line import CommandLine, Program
from stored_rows import row_counts

from ndcg_tracker.cli.demo import RUNS, write_demo_files

STEPS = ["ingest", "groups", "alias", "compare", "explain", "gate", "compare", "report"]

SAID = (
    "set 1 attribute (product) of 150 queries of dataset 'shop'\n@baseline is run 'bm25' (1) of dataset 'shop'\n"
    "wrote {page}: open it in a browser\n"
)


def shown_by(command: CommandLine, *options: str, page: str = "ndcg-track-demo/report.html") -> str:
    """Return what the demo prints, which succeeds."""
    printed = command("demo", *options)
    assert (printed.code, printed.err) == (0, SAID.format(page=page))
    return printed.out


@pytest.mark.nightly
def test_the_demo_twice(command: CommandLine, folder: Path) -> None:
    first = shown_by(command)
    names = ["groups.csv", "labels.csv", "report.html", *(f"{name}.csv" for name in RUNS)]
    assert sorted(path.name for path in (folder / "ndcg-track-demo").iterdir()) == sorted(names)
    assert [row["run"] for row in command.rows("runs", "list")] == list(RUNS)
    commands = [line for line in first.splitlines() if line.startswith("$ ")]
    assert [line.split()[4] for line in commands] == STEPS
    assert [line.split()[7] for line in first.splitlines() if " shop  " in line and "stored" in line]
    before = row_counts(command.url)
    contents = {path.name: path.read_bytes() for path in (folder / "ndcg-track-demo").glob("*.csv")}
    second = shown_by(command)
    assert second.count("already stored") == len(RUNS)
    assert row_counts(command.url) == before  # the same question to the gate is one decision
    assert {path.name: path.read_bytes() for path in (folder / "ndcg-track-demo").glob("*.csv")} == contents
    assert "<title>Is dense better than bm25?</title>" in (folder / "ndcg-track-demo" / "report.html").read_text(
        "utf-8"
    )
    assert command.said("db", "check").startswith("the database is intact: ")


def test_the_files_are_the_same_everywhere(tmp_path: Path) -> None:
    one, other = write_demo_files(tmp_path / "a"), write_demo_files(tmp_path / "b")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
    assert one[0].read_text(encoding="utf-8").splitlines()[:2] == [
        "group,item,score",
        (tmp_path / "b" / "bm25.csv").read_text(encoding="utf-8").splitlines()[1],
    ]


def test_another_folder(sqlite_command: CommandLine, folder: Path) -> None:
    shown_by(sqlite_command, "--folder", "my demo", page="'my demo/report.html'")
    assert (folder / "my demo" / "labels.csv").exists()


def test_the_shown_commands_run(program: Program, folder: Path) -> None:
    printed = program("demo")
    assert (printed.code, printed.err) == (0, SAID.format(page="ndcg-track-demo/report.html"))
    shown = [line for line in printed.out.splitlines() if line.startswith("$ ndcg-track ")]
    assert len(shown) == len(STEPS)
    assert shown[3] == "$ ndcg-track compare @baseline dense --dataset shop"
    assert (folder / "ndcg-track.db").exists()
    assert program("compare", "@baseline", "dense").out in printed.out


def test_no_password_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    printed = CommandLine("postgresql://me:secret@127.0.0.1:1/db", capsys)("demo")
    assert printed.code == 2
    assert "$ ndcg-track --db 'postgresql+psycopg://me:***@127.0.0.1:1/db' ingest " in printed.out
    assert "secret" not in printed.out + printed.err


def test_a_run_of_that_name_with_other_content_ends_the_demo(sqlite_command: CommandLine, folder: Path) -> None:
    (folder / "bm25.csv").write_text("group,item,score,label\nq,a,1,1\n", encoding="utf-8")
    sqlite_command.done("ingest", "bm25.csv", "--dataset", "shop")
    printed = sqlite_command("demo")
    assert printed.code == 2
    assert printed.err.startswith("error: run 'bm25' of dataset 'shop' is already stored with other content; ")
    assert "compare" not in printed.out
