"""``ndcg-track export`` and ``ndcg-track import``."""

import json
from pathlib import Path

import pytest
from command_line import CommandLine, Program

from ndcg_tracker.storage.copying import COLUMNS

CHECKED = "checked: every row, all digests, and {} results of groups, computed again\n"


@pytest.mark.nightly
def test_from_one_database_to_another(command: CommandLine, sqlite_command: CommandLine, folder: Path) -> None:
    command("demo")
    exported = command.said("export", "bm25", "dense", "--dataset", "shop", "-o", "out")
    assert exported == (
        "exported 2 runs with 6,000 items, 1 label set and 300 group results to out; checked: the files have all their "
        "rows\nleft out: 1 decision, 1 move of an alias; to take everything, type: ndcg-track export --all -o FOLDER\n"
    )
    printed = command("import", "out", "--dataset", "copy", "--format", "json")
    assert (printed.code, printed.err) == (0, CHECKED.format(300))
    assert [row["dataset"] for row in command.rows("alias", "list")] == ["shop"]
    imported = json.loads(printed.out)
    assert [(row["run"], row["dataset"], row["outcome"]) for row in imported] == [
        ("bm25", "copy", "stored"),
        ("dense", "copy", "stored"),
    ]
    copy, shop = (
        command.rows("compare", "bm25", "dense", "--by", "product", "--dataset", name) for name in ("copy", "shop")
    )
    for key in ("groups", "metrics", "slices", "worst", "best"):
        assert copy[key] == shop[key]


def test_usage(sqlite_command: CommandLine, folder: Path) -> None:
    sqlite_command("demo")
    for arguments, message in (
        (["export", "-o", "out"], "error: export needs RUN or --all: it takes some runs, or all; give one\n"),
        (
            ["export", "bm25", "--all", "-o", "out"],
            "error: RUN does not go with --all: all runs are taken; leave one out\n",
        ),
        (["import", "nope"], "error: nope: no such folder; give a folder written by ndcg-track export\n"),
    ):
        printed = sqlite_command(*arguments)
        assert (printed.code, printed.out, printed.err) == (2, "", message)


@pytest.mark.nightly
def test_the_real_program(program: Program, folder: Path) -> None:
    program("demo")
    assert program("export", "--all", "-o", "out").code == 0
    named = {path.stem for path in (folder / "out").iterdir()}
    assert named == {"items", "labels", "group_results", *COLUMNS}
    printed = program("--db", "copy.db", "import", "out")
    assert (printed.code, printed.err) == (0, CHECKED.format(600))
    assert program("--db", "copy.db", "history", "--dataset", "shop").out == program("history", "--dataset", "shop").out
    printed = program("--db", "copy.db", "import", "out")
    assert (printed.code, printed.err) == (
        2,
        "error: only an empty database takes a copy of a whole one, or an export of version 0.1.0 or 0.2.0; import "
        "it into a new one with --db NEW.db, then export runs by name there\n",
    )
