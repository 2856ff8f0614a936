"""``ndcg-track ingest --results``: results that another engine computed."""

import shlex
from pathlib import Path

import pytest
from command_line import CommandLine

LATENCY = ["--metric", "external:latency", "--direction", "lower", "--range", "0,inf"]


@pytest.fixture
def timed(command: CommandLine, folder: Path) -> CommandLine:
    for name, shift in (("old", 0), ("new", -5), ("slow", 5)):
        rows = [f"q{number},{100 + number + shift * (1 + number % 3)}" for number in range(240)]
        (folder / f"{name}.csv").write_text("\n".join(["group,value", *rows, ""]), encoding="utf-8")
        command.done("ingest", "--results", f"{name}.csv", *LATENCY)
    return command


def test_the_whole_way(timed: CommandLine) -> None:
    rows = timed.rows("ingest", "--results", "old.csv", *LATENCY)
    assert [(row["run"], row["outcome"], row["metric"], row["mean"]) for row in rows] == [
        ("old", "already stored", "external:latency(direction=lower, range=0..inf)", 219.5)
    ]
    found = timed.rows("compare", "old", "new")
    assert (found["metrics"][0]["verdict"], found["metrics"][0]["wins"]) == ("improved", 240)
    gate = ["--baseline", "old", "--metric", "external:latency", "--margin", "1", "--dry-run"]
    passed = timed("gate", "new", *gate)
    assert (passed.code, passed.out.splitlines()[1]) == (
        0,
        "  delta -10.0000; the data allow -10.618 to -9.564; PASS needs the upper end below 1",
    )
    failed = timed("gate", "slow", *gate)
    assert (failed.code, failed.out.splitlines()[0]) == (
        3,
        "FAIL: slow must not replace old on default (external:latency, margin 1)",
    )
    assert "external:latency  " in timed.done("history", "--metric", "external:latency", "--last", "1")
    assert timed("report", "old", "new", "-o", "report.html").code == 0
    assert timed("plot", "history", "--metric", "external:latency", "-o", "history.svg").code == 0
    why = "no run of dataset 'default' has ndcg@10: the dataset has only results of other engines; see them with: "
    assert timed.refused("history") == f"{why}ndcg-track history --dataset default --metric external:latency"
    why = (
        "another engine computed external:latency, so the contribution of each item is unknown; explain ndcg@10 instead"
    )
    assert timed.refused("explain", "old", "new", "--group", "q1", "--metric", "external:latency") == why
    store = "store its results with: ndcg-track ingest --results FILE --metric external:latency"
    why = f"another engine computed external:latency, so it cannot be computed here; {store}"
    assert timed.refused("rescore", "old", "--metric", "external:latency") == why
    assert "  latency" not in timed.done("runs", "list")


def test_trec_eval_and_a_named_run(command: CommandLine, folder: Path) -> None:
    (folder / "q.txt").write_text("map\tq1\t0.5\nP_5\tq1\t0.2\nmap\tq2\t1.0\nmap\tall\t0.75\n", encoding="utf-8")
    theirs = ["--metric", "external:map", "--direction", "higher", "--range", "0,1", "--measure", "map"]
    (row,) = command.rows(
        "ingest", "--results", "q.txt", "--name", "bm25", "--dataset", "shop", "--tag", "a=b", *theirs
    )
    assert (row["run"], row["dataset"], row["mean"], row["n_groups"]) == ("bm25", "shop", 0.75, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "ingest needs FILE: there is nothing to store; name one, or give - for standard input"),
        (
            ["a.csv", "--range", "0,1"],
            "--range needs --results: it describes values from another engine; give --results, or leave out --range",
        ),
        (
            ["--results", "a.csv", "--metric", "external:a", "--direction", "higher"],
            "--results needs --range: it says which values there can be; give, for example, --metric external:latency "
            "--direction lower --range 0,inf",
        ),
        (
            ["--results", "a.csv", *LATENCY, "--metric", "external:b"],
            "--results does not go with several metrics: they are the values of one; ingest them one by one",
        ),
        (
            ["a.csv", "--results", "a.csv", *LATENCY],
            "FILE does not go with --results: it holds values per group, not lists; leave one out",
        ),
        (["--results", "a.csv", *LATENCY[:-1], "1"], "--range 1 is not LOW,HIGH; write, for example, 0,1 or 0,inf"),
        (["--results", "a.csv", *LATENCY[:-1], "1,0"], "the range from 1 to 0 is empty; give the lower number first"),
        (
            ["--results", "a.csv", *LATENCY[:3], "up", *LATENCY[4:]],
            "direction 'up' is unknown; write higher or lower, whichever is better",
        ),
    ],
)
def test_what_does_not_go_together(sqlite_command: CommandLine, words: list[str], message: str) -> None:
    assert sqlite_command.refused("ingest", *words) == message


def test_results_of_another_engine_stand_beside_any_labels(command: CommandLine, files: None, folder: Path) -> None:
    command.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv", "--dataset", "shop")
    scale = ["--direction", "higher", "--range", "0,1"]
    for name, values in (("bm25", (0.1, 0.5, 0.3)), ("dense", (0.2, 0.4, 0.9))):
        rows = [f"q{number},{value}" for number, value in enumerate(values, start=1)]
        (folder / "values.csv").write_text("\n".join(["group,value", *rows, ""]), encoding="utf-8")
        of_run = ["--name", name, "--dataset", "shop", "--metric", "external:faithfulness", *scale]
        assert command("ingest", "--results", "values.csv", *of_run).code == 0
    command.said("labels", "add", "labels.csv", "--dataset", "shop", "--judge", "gpt")
    asked = ["compare", "bm25", "dense", "--metric", "external:faithfulness"]
    expected = command.rows(*asked)["metrics"][0]["delta"]
    for options in (["--judge", "gpt"], ["--labels", "newest"], ["--labels", "1"]):
        assert command.rows(*asked, *options)["metrics"][0]["delta"] == expected


def test_what_is_advised_where_results_of_another_engine_lack_works_as_it_is_typed(
    timed: CommandLine, files: None, folder: Path
) -> None:
    timed("ingest", "bm25.csv", "--labels", "labels.csv")
    command = "ndcg-track ingest --results FILE --name bm25 --dataset default --metric external:latency "
    command += "--direction lower --range 0,inf"
    metric = ["--metric", "external:latency"]
    for asked in (
        ["compare", "old", "bm25", *metric],
        ["gate", "bm25", "--baseline", "old", "--margin", "1", *metric],
        ["leaderboard", "old", "bm25", *metric],
    ):
        assert timed.refused(*asked, code=5).endswith(f"; store those of 'bm25': {command}")
    why = "run 'bm25' has no external:latency(direction=lower, range=0..inf); store it with: "
    assert timed.refused("show", "bm25", *metric) == f"{why}{command}"
    assert timed.rows("leaderboard", *metric)["notes"][0].endswith(f"; to add the results: {command}")
    typed = shlex.split(command.replace("FILE", "old.csv"))[1:]
    assert timed(*typed).code == 0
    assert timed("compare", "old", "bm25", *metric).code == 0
    unknown = timed.refused("history", "--metric", "external:x")
    assert unknown == (
        "dataset 'default' has no results external:x; store some with: ndcg-track ingest --results FILE --name NAME "
        "--dataset default --metric external:x --direction higher --range 0,1"
    )
    (folder / "values.csv").write_text("group,value\nq1,0.5\n", encoding="utf-8")
    assert timed(*shlex.split(unknown.partition("with: ")[2].replace("FILE", "values.csv"))[1:]).code == 0
