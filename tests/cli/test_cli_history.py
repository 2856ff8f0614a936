"""``ndcg-track history``."""

import csv
import io
import shlex
from pathlib import Path

from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, LABELS, write_qrels

MEANS = [results("ndcg@10", run, LABELS).mean or 0.0 for run in (BM25, DENSE)]


def test_the_formats(shop: CommandLine) -> None:
    rows = shop.rows("history", "--dataset", "shop")
    assert [list(row)[:6] for row in rows] == [["run", "run_id", "created_at_utc", "metric", "mean", "ci"]] * 2
    assert [(row["run"], row["metric"], row["mean"]) for row in rows] == [
        ("bm25", "ndcg@10", MEANS[0]),
        ("dense", "ndcg@10", MEANS[1]),
    ]
    assert all(row["ci"][0] < row["mean"] < row["ci"][1] for row in rows)
    text = shop.done("history", "--dataset", "shop").splitlines()
    assert text[0] == "ndcg@10  █▁"
    assert text[2].split() == ["run", "created", "(UTC)", "mean", "95%", "interval", "change"]
    assert text[4].startswith("dense ")
    assert text[4].endswith(f"{MEANS[1] - MEANS[0]:+.4f}")
    table = list(csv.DictReader(io.StringIO(shop.done("history", "--dataset", "shop", "--format", "csv"))))
    assert [float(row["mean"]) for row in table] == MEANS
    assert shop.done("history", "--dataset", "shop", "--format", "markdown").startswith("### ndcg@10 █▁\n")


def test_each_run_stands_once(shop: CommandLine, folder: Path) -> None:
    write_qrels(folder / "new.txt", {"q1": {"a": 1, "b": 2}})
    shop.said("labels", "add", "new.txt", "--dataset", "shop", "--rescore")
    assert [row["run"] for row in shop.rows("history", "--dataset", "shop")] == ["bm25", "dense"]


def test_a_metric_that_no_run_has(shop: CommandLine) -> None:
    message = shop.refused("history", "--dataset", "shop", "--metric", "dcg(gain=exp2)@3")
    command = "ndcg-track rescore --all --dataset shop --metric 'dcg(gain=exp2)@3'"
    assert message == f"no run of dataset 'shop' has dcg(gain=exp2)@3; compute it with: {command}"
    assert shop(*shlex.split(command)[1:]).code == 0
    assert len(shop.rows("history", "--dataset", "shop", "--metric", "dcg(gain=exp2)@3")) == 2


def test_an_unknown_dataset(shop: CommandLine) -> None:
    assert shop.refused("history") == "no dataset 'default'; there are shop"
