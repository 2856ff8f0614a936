"""``ndcg-track export`` and ``ndcg-track import``."""

import json
from pathlib import Path

from command_line import CommandLine, Program

CHECKED = "checked: digests of runs and labels; results recomputed from them\n"


def test_from_one_database_to_another(command: CommandLine, sqlite_command: CommandLine, folder: Path) -> None:
    command("demo")
    exported = command.said("export", "bm25", "dense", "--dataset", "shop", "-o", "out")
    assert exported == (
        "exported 2 runs with 6,000 items, 1 label set and 300 group results to out; checked: the files have all their "
        "rows\nwith 1 alias and 1 gate decision\n"
    )
    command("import", "out", "--dataset", "bare", "--no-record")
    assert [row["dataset"] for row in command.rows("alias", "list")] == ["shop"]
    printed = command("import", "out", "--dataset", "copy", "--format", "json")
    assert (printed.code, printed.err) == (0, "stored 1 alias and 1 gate decision\n" + CHECKED)
    assert [row["dataset"] for row in command.rows("alias", "list")] == ["shop", "copy"]
    imported = json.loads(printed.out)
    assert [(row["run"], row["dataset"], row["outcome"], row["n_evaluations"]) for row in imported] == [
        ("bm25", "copy", "stored", 1),
        ("dense", "copy", "stored", 1),
    ]
    copy, shop = (
        command.rows("compare", "bm25", "dense", "--by", "product", "--dataset", name) for name in ("copy", "shop")
    )
    for key in ("groups", "metrics", "slices", "worst", "best"):
        assert copy[key] == shop[key]


def test_usage(sqlite_command: CommandLine, folder: Path) -> None:
    sqlite_command("demo")
    for arguments, message in (
        (["export", "-o", "out"], "error: name the runs to export, or give --all\n"),
        (["export", "bm25", "--all", "-o", "out"], "error: name the runs to export, or give --all\n"),
        (["import", "nope"], "error: nope: no such folder; give a folder written by ndcg-track export\n"),
    ):
        printed = sqlite_command(*arguments)
        assert (printed.code, printed.out, printed.err) == (2, "", message)


def test_the_real_program(program: Program, folder: Path) -> None:
    program("demo")
    assert program("export", "--all", "-o", "out").code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "alias_moves.parquet", "aliases.parquet", "budget_resets.parquet", "datasets.parquet", "decisions.parquet",
        "design_runs.parquet", "designs.parquet", "drawn_items.parquet", "evaluations.parquet",
        "group_results.parquet", "groups.parquet", "items.parquet", "label_coverage.parquet", "label_sets.parquet",
        "labels.parquet", "policies.parquet", "runs.parquet", "suite_decisions.parquet", "suites.parquet",
    ]  # fmt: skip
    printed = program("--db", "copy.db", "import", "out")
    assert (printed.code, printed.err) == (0, "stored 1 alias and 1 gate decision\n" + CHECKED)
    of_judge = ("--judge", "llama", "--dataset", "shop")
    program("labels", "add", "ndcg-track-demo/labels.csv", *of_judge)
    program("labels", "sample", "bm25", "dense", *of_judge, "--budget", "20", "-o", "ask.csv")
    printed = program("export", "--all", "-o", "with designs")
    said = "with 1 alias and 1 gate decision, and 1 design for people who check a judge\n"
    assert (printed.code, printed.err.endswith(said)) == (0, True)
    printed = program("--db", "copy.db", "import", "with designs")
    assert (printed.code, printed.err) == (0, "stored 1 design for people who check a judge\n" + CHECKED)
    assert program("--db", "copy.db", "history", "--dataset", "shop").out == program("history", "--dataset", "shop").out
