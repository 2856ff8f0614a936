"""``ndcg-track rescore`` and ``ndcg-track labels add``."""

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine
from rankings_of import results
from small_shop import BM25, DENSE, Run, write_csv, write_qrels
from stored_rows import row_counts

NEW_LABELS: Run = {"q1": {"a": 1, "b": 2}, "q2": {"x": 1}}
KEYS = ["run", "run_id", "dataset", "label_set_version", "metric", "mean", "n_missing", "n_undefined", "requested_as"]
KEYS += ["judge"]


@pytest.fixture
def newer(shop: CommandLine, folder: Path) -> CommandLine:
    """The shop with a newer version of its labels."""
    write_qrels(folder / "new.txt", NEW_LABELS)
    assert shop.said("labels", "add", "new.txt", "--dataset", "shop", "--replace") == (
        "stored as version 2 of dataset 'shop': 3 labels\n"
        "note: 6 labels of version 1 are not in it, and 3 queries have none left\n"
    )
    return shop


def test_all_runs_under_newer_labels(newer: CommandLine) -> None:
    rows = newer.rows("rescore", "--all")
    assert [list(row) for row in rows] == [KEYS] * 2
    assert [(row["run"], row["label_set_version"], row["mean"]) for row in rows] == [
        ("bm25", 2, results("ndcg@10", BM25, NEW_LABELS).mean),
        ("dense", 2, results("ndcg@10", DENSE, NEW_LABELS).mean),
    ]


def test_nothing_new_to_compute(newer: CommandLine) -> None:
    newer.done("rescore", "bm25")
    before = row_counts(newer.url)
    for form, out in (("text", ""), ("json", "[]\n")):
        printed = newer("rescore", "bm25", "--format", form)
        assert (printed.code, printed.out) == (0, out)
        assert printed.err == "bm25: nothing new to compute under labels version 2\n"
    assert row_counts(newer.url) == before


def test_the_formats(newer: CommandLine) -> None:
    text = newer.done("rescore", "bm25", "--metric", "dcg@1", "--dataset", "shop").splitlines()
    assert text[0].split() == ["run", "id", "dataset", "labels", "metric", "mean", "missing", "undefined"]
    assert text[1].split()[:5] == ["bm25", "1", "shop", "2", "dcg@1"]
    table = csv.DictReader(io.StringIO(newer.done("rescore", "bm25", "--metric", "dcg@2", "--format", "csv")))
    assert [row["metric"] for row in table] == ["dcg@2"]
    assert newer.done("rescore", "bm25", "--metric", "dcg@4", "--format", "markdown").startswith("| run | id |")


def test_what_is_refused(newer: CommandLine) -> None:
    assert newer.refused("rescore") == "rescore needs RUN or --all: it takes some runs, or all; give one"
    assert newer.refused("rescore", "bm25", "--all") == (
        "RUN does not go with --all: all runs are taken; leave one out"
    )
    assert newer.refused("rescore", "bm52") == "no run 'bm52'; did you mean 'bm25'?"
    assert newer.refused("rescore", "--all", "--dataset", "shp") == "no dataset 'shp'; did you mean 'shop'?"
    before = row_counts(newer.url)
    assert newer.refused("rescore", "--all", "--metric", "dcg@5", "--metric", "ndcg(extra=error)@3").startswith(
        "ndcg(extra=error)@3: group "
    )
    assert row_counts(newer.url) == before


def test_labels_that_are_stored_already_add_nothing(newer: CommandLine) -> None:
    before = row_counts(newer.url)
    assert newer.said("labels", "add", "qrels.txt", "--dataset", "shop") == (
        "already stored as version 1 of dataset 'shop': 8 labels\n"
    )
    assert row_counts(newer.url) == before


def test_labels_rescored_at_once(shop: CommandLine, folder: Path) -> None:
    write_csv(folder / "new.csv", {"q": ["q1", "q1"], "d": ["a", "b"], "rel": [1, 2]})
    columns = ["--group", "q", "--item", "d", "--label", "rel"]
    assert shop.said("labels", "add", "new.csv", "--dataset", "shop", "--rescore", "--replace", *columns) == (
        "stored as version 2 of dataset 'shop': 2 labels\n"
        "note: 6 labels of version 1 are not in it, and 4 queries have none left\n"
        "rescored 2 of 2 runs\n"
    )
    assert [row["label_set_version"] for row in shop.rows("runs", "show", "bm25")["evaluations"]] == [1, 2]
    again = shop.said("labels", "add", "new.csv", "--dataset", "shop", "--rescore", *columns)
    assert again.endswith("rescored 0 of 2 runs\n")


def test_labels_before_any_run(command: CommandLine, files: None) -> None:
    assert command.said("labels", "add", "qrels.txt") == "stored as version 1 of dataset 'default': 8 labels\n"
    assert command.rows("ingest", "bm25.csv")[0]["label_set_version"] == 1


def test_wrong_labels(sqlite_command: CommandLine, folder: Path) -> None:
    (folder / "bad.txt").write_text("q1 0 a 1\nq1 0 a 2\n", encoding="utf-8")
    assert sqlite_command.refused("labels", "add", "bad.txt") == (
        "bad.txt:2: item 'a' of group 'q1' is in line 1 already; keep one of the two; if there are several judges "
        "(trec_eval -R qrels_jg), keep the lines of one judge, or give --allow duplicates:first or --allow "
        "duplicates:best or --allow duplicates:mean"
    )
    assert row_counts(sqlite_command.url) == {}
