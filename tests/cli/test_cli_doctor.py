"""``ndcg-track doctor`` without a further word."""

from pathlib import Path

import pytest
from command_line import CommandLine, Program

pytestmark = pytest.mark.both_engines


def test_a_table_for_people_and_rows_for_programs(command: CommandLine, folder: Path) -> None:
    command("demo")
    text = command.done("doctor")
    assert "schema" in text
    assert "integrity  ok    4 runs, each with all its lists and results" in text
    rows = command.rows("doctor")
    assert [list(row) for row in rows] == [["check", "state", "found", "advice"]] * len(rows)
    assert {row["state"] for row in rows} <= {"ok", "note"}


def test_what_is_bad_is_exit_2(program: Program, folder: Path) -> None:
    (folder / "x.db").write_text("no database " * 100, encoding="utf-8")
    printed = program("--db", "x.db", "doctor")
    assert printed.code == 2
    assert "bad   not a SQLite database, it is a file of another kind" in printed.out
    assert "→ give --db another path" in printed.out
    assert printed.err == 'error: problems found: schema; see "advice"\n'
