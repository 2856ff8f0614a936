"""``ndcg-track history``."""

import csv
import io
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, write_csv, write_qrels

pytestmark = pytest.mark.usefixtures("folder")


MEANS = [results("ndcg@10", run, LABELS).mean or 0.0 for run in (BM25, DENSE)]


def test_the_formats(shop: CommandLine) -> None:
    rows = shop.rows("history", "--dataset", "shop")
    assert [list(row)[:6] for row in rows] == [["run", "run_id", "created_at_utc", "metric", "mean", "ci"]] * 2
    assert [(row["run"], row["metric"], row["mean"]) for row in rows] == [
        ("bm25", "ndcg@10", MEANS[0]),
        ("dense", "ndcg@10", MEANS[1]),
    ]
    assert all(row["ci"][0] < row["mean"] < row["ci"][1] for row in rows)
    printed = shop.done("history", "--dataset", "shop")
    assert "dense (1 of 5)" in " ".join(printed.split())
    text = printed.splitlines()
    assert text[0] == "ndcg@10  █▁"
    heads = [line for line in text if line.startswith("run ")]
    assert heads[0].split() == ["run", "created", "(UTC)", "mean", "95%", "interval", "change", "judged@10"]
    (dense,) = [line for line in text if line.startswith("dense ") and "%" in line]
    assert dense.split()[-2:] == [f"{MEANS[1] - MEANS[0]:+.4f}", "75.0%"]
    asked = shop("history", "--dataset", "shop", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(asked.out)))
    assert asked.err.startswith("note: ndcg@10 counts the queries missing from a run as 0")
    assert [float(row["mean"]) for row in table] == MEANS
    assert shop.done("history", "--dataset", "shop", "--format", "markdown").startswith("### ndcg@10 █▁\n")


def test_each_run_stands_once(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "new.txt", {"q1": {"a": 1, "b": 2}})
    shop.said("labels", "add", "new.txt", "--dataset", "shop", "--rescore", "--replace")
    assert [row["run"] for row in shop.rows("history", "--dataset", "shop")] == ["bm25", "dense"]


def test_a_metric_that_no_run_has(shop: CommandLine) -> None:
    message = shop.refused("history", "--dataset", "shop", "--metric", "dcg(gain=exp2)@3")
    command = "ndcg-track rescore --all --dataset shop --metric 'dcg(gain=exp2)@3'"
    assert message == f"no run of dataset 'shop' has dcg(gain=exp2)@3; compute it with: {command}"
    assert shop(*shlex.split(command)[1:]).code == 0
    assert len(shop.rows("history", "--dataset", "shop", "--metric", "dcg(gain=exp2)@3")) == 2


def test_an_unknown_dataset(shop: CommandLine) -> None:
    asked = shop.refused("history", "--dataset", "default")
    assert asked == "no dataset 'default'; there is only 'shop': name it with --dataset shop"


def test_a_dataset_without_runs(command: CommandLine, files: None) -> None:
    command.said("labels", "add", "labels.csv", "--dataset", "shop")
    message = command.refused("history", "--dataset", "shop")
    assert message == "dataset 'shop' has no run yet; store one with: ndcg-track ingest FILE --dataset shop"


def test_one_run(shop: CommandLine) -> None:
    shop.said("runs", "delete", "dense", "--dataset", "shop", "--yes")
    (row,) = shop.rows("history", "--dataset", "shop")
    assert (row["run"], row["mean"], row["delta"], row["step"]) == ("bm25", MEANS[0], None, False)
    lines = shop.done("history", "--dataset", "shop").splitlines()
    assert lines[0] == "ndcg@10  ▄"
    assert lines[2].split()[-2:] == ["95%", "interval"]  # and no change, of a single run
    assert lines[4:] == ["", "more: -v details"]
    assert shop.done("history", "--dataset", "shop", "-v").splitlines()[5:] == ["judged@10  73.3%"]


def test_a_mean_that_is_undefined(command: CommandLine, folder: Path) -> None:
    metric = "ndcg(empty=skip)@10"
    for name in ("a", "b"):
        write_csv(folder / f"{name}.csv", {"group": ["q"], "item": ["x"], "score": [1.0], "label": [0]})
    assert command("ingest", "a.csv", "b.csv", "--metric", metric).code == 0
    rows = command.rows("history", "--metric", metric)
    assert [(row["run"], row["mean"], row["ci"], row["delta"], row["step"]) for row in rows] == [
        ("a", None, None, None, False),
        ("b", None, None, None, False),
    ]
    text = command.done("history", "--metric", metric).splitlines()
    assert [line.split()[0] for line in text[2:]] == ["run", "a", "b"]
    assert "mean" not in text[2]  # what is undefined in every run is not shown
    (first, _) = csv.DictReader(io.StringIO(command.done("history", "--metric", metric, "--format", "csv")))
    assert (first["mean"], first["ci_low"], first["delta"], first["step"]) == ("", "", "", "false")
    assert "| a |" in command.done("history", "--metric", metric, "--format", "markdown")


def write_nights(folder: Path) -> None:
    """Ten runs, ``night01`` to ``night10``: from the sixth on the wrong item is first in half of the queries."""
    for night in range(1, 11):
        frame: dict[str, list[object]] = {"group": [], "item": [], "score": [], "label": []}
        scatter = np.random.default_rng(night).random(240) < 0.1
        for query in range(240):
            is_wrong = (night >= 6 and query % 2 == 0) or bool(scatter[query])
            frame["group"] += [f"q{query}"] * 2
            frame["item"] += ["right", "wrong"]
            frame["score"] += [1.0, 2.0] if is_wrong else [2.0, 1.0]
            frame["label"] += [1, 0]
        write_csv(folder / f"night{night:02d}.csv", frame)


def test_a_step_in_every_format(command: CommandLine, folder: Path) -> None:
    write_nights(folder)
    nights = [f"night{night:02d}.csv" for night in range(1, 11)]
    before = ["--param", "lr=0.1", "--git-commit", "1111111aaa", "--tag", "branch=main"]
    command.done("ingest", *nights[:5], *before)
    after = ["--param", "lr=0.3", "--git-commit", "abc1234def", "--tag", "branch=main"]
    assert command("ingest", *nights[5:], *after).code == 0
    rows = command.rows("history")
    (row,) = [row for row in rows if row["step"]]
    assert (row["run"], row["git_commit"], row["parameters"]) == ("night06", "abc1234def", {"lr": "0.3"})
    assert (row["step_before"], row["step_parameters"]) == ("night05", {"lr": ["0.1", "0.3"]})
    assert row["step_between"] == ["night06", "night06"]
    assert row["step_change"] == row["delta"] == pytest.approx(row["mean"] - rows[4]["mean"])
    change = f"{row['delta']:+.4f} [{row['step_ci'][0]:+.4f}, {row['step_ci'][1]:+.4f}]"
    sentence = f"stepped down at night06 (run 6, commit abc1234, lr 0.1 → 0.3): {change}, p <1e-4"
    text = command.done("history")
    assert " ".join(text.partition("\n\n")[0].split()).endswith(f"  stepped at night06 {sentence}".strip())
    assert [line.split()[0] for line in text.splitlines() if line.endswith("step")] == ["night06"]
    markdown = command.done("history", "--format", "markdown")
    assert "\n\nstepped down at night06 (run 6" in markdown
    table = list(csv.DictReader(io.StringIO(command.done("history", "--format", "csv"))))
    assert [line["run"] for line in table if line["step"] == "true"] == ["night06"]
    assert table[5]["step_parameters"] == "lr=0.1->0.3"
    assert "stepped" not in command.done("history", "--last", "5")
    assert len(command.rows("history", "--branch", "main", "--commit", "abc")) == 5


def test_a_new_step_ends_with_its_exit_code(command: CommandLine, folder: Path) -> None:
    write_nights(folder)
    for night in range(1, 8):
        assert command("ingest", f"night{night:02d}.csv").code == 0
        if night < 5:
            continue
        shown = command("history", "--new-steps", "--exit-code")
        assert (shown.code, shown.err) == (6 if night == 6 else 0, "")
        table = command("history", "--exit-code")
        assert (table.code, "night01" in table.out) == (6 if night == 6 else 0, True)
        rows = command("history", "--new-steps", "--format", "json")
        assert (rows.code, [row["run"] for row in json.loads(rows.out)]) == (0, ["night06"] if night == 6 else [])
        if night == 6:
            assert " ".join(shown.out.split()).startswith("ndcg@10: stepped down at night06 (run 6): -0.")
        else:
            assert shown.out.splitlines()[0] == f"ndcg@10: no new step at night{night:02d} (run {night})"


def test_the_newest_steps_first(command: CommandLine, folder: Path) -> None:
    nights = []
    for night, wrong in enumerate([0, 0, 120, 120, 180, 180], 1):
        frame: dict[str, list[object]] = {"group": [], "item": [], "score": [], "label": []}
        for query in range(240):
            frame["group"] += [f"q{query}"] * 2
            frame["item"] += ["right", "wrong"]
            frame["score"] += [1.0, 2.0] if query < wrong else [2.0, 1.0]
            frame["label"] += [1, 0]
        write_csv(folder / f"night{night}.csv", frame)
        nights.append(f"night{night}.csv")
    assert command("ingest", *nights).code == 0

    def told(*options: str) -> list[str]:
        return [
            line.split()[3] for line in command.done("history", *options).splitlines() if line.startswith("stepped")
        ]

    assert told() == ["night3", "night5"]
    assert told("--newest-first") == ["night5", "night3"]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--tag", "team=search", "--branch", "main"],
            "none of the 2 runs of dataset 'shop' with ndcg@10 has tag team=search, tag branch=main; use fewer "
            "filters, or see them with: ndcg-track runs list --dataset shop",
        ),
        (
            ["--commit", "ff", "--since", "2001-01-01", "--until", "2001-01-31"],
            "none of the 2 runs of dataset 'shop' with ndcg@10 has commit ff, since 2001-01-01, until 2001-01-31; use "
            "fewer filters, or see them with: ndcg-track runs list --dataset shop",
        ),
        (["--since", "monday"], "since 'monday' is not a date; write 2025-01-31 or 2025-01-31T09:30, in UTC"),
        (
            ["--since", "2025-02-01", "--until", "2025-01-01"],
            "since '2025-02-01' is later than until '2025-01-01'; swap them",
        ),
        (["--tag", "main"], "--tag 'main' is not of the form key=value; write --tag model=bm25"),
    ],
)
def test_filters_that_leave_nothing(shop: CommandLine, options: list[str], message: str) -> None:
    assert shop.refused("history", "--dataset", "shop", *options) == message
