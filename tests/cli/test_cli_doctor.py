"""``ndcg-track doctor`` without a further word."""

from pathlib import Path

import pytest
from command_line import CommandLine, Program

pytestmark = pytest.mark.both_engines


def test_a_table_for_people_and_rows_for_programs(command: CommandLine, folder: Path) -> None:
    command("demo")
    text = command.done("doctor")
    assert "schema" in text
    assert "integrity  ok    4 runs, with all that they must have" in text
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


def test_a_number_that_the_tool_itself_may_not_print_says_so(command: CommandLine, folder: Path) -> None:
    rows = [f"q,d{place:02},1,{int(not place)}" for place in range(16)]
    (folder / "tied.csv").write_text("\n".join(["group,item,score,label", *rows, ""]), encoding="utf-8")
    command.done("ingest", "tied.csv")
    asked = ("doctor", "conventions", "tied", "--cutoff", "1")
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in command.done(*asked).splitlines()}
    assert told["ranx:ndcg@1"] == (
        "1.0000 +1.0000 ties=input +1.0000; its sort leaves ties open in lists of 16 items or more: 0.0000 to 1.0000"
    )
    assert told["lightgbm:ndcg@1"] == "1.0000 +1.0000 ties=input +1.0000"
    found = {row["text"]: row["open_ties"] for row in command.rows(*asked)}
    assert found.pop("ranx:ndcg@1") == {"low": 0.0, "high": 1.0, "from_items": 16, "n_groups": 1}
    assert set(found.values()) == {None}
    csv = command.done(*asked, "--format", "csv").splitlines()
    assert csv[0] == "metric,mean,difference,because of,ties_low,ties_high"
    assert [line for line in csv if line.startswith("ranx")] == ["ranx:ndcg@1,1.0,1.0,ties=input +1.0,0.0,1.0"]
