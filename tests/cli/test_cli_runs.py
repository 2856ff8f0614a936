"""``ndcg-track runs`` and ``ndcg-track alias``."""

import csv
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from stored_rows import row_counts


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The writing end of a terminal that is standard input."""
    writer, reader = os.openpty()
    with os.fdopen(reader, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield writer
    os.close(writer)


def test_list(shop: CommandLine) -> None:
    shop.said("runs", "tag", "bm25", "stage=prod")
    rows = shop.rows("runs", "list")
    keys = ["run", "run_id", "dataset", "created_at_utc", "n_groups", "n_items", "git_commit", "tags", "sampled"]
    assert [list(row) for row in rows] == [keys] * 2
    assert [(row["run"], row["run_id"], row["n_items"], row["tags"]) for row in rows] == [
        ("bm25", 1, 11, {"stage": "prod"}),
        ("dense", 2, 9, {}),
    ]
    table = list(csv.DictReader(io.StringIO(shop.done("runs", "list", "--format", "csv"))))
    assert [row["tags"] for row in table] == ["stage=prod", ""]
    heading, *_ = map(str.split, shop.done("runs", "list").splitlines())
    assert heading == ["run", "id", "dataset", "created", "(UTC)", "groups", "items", "commit", "tags"]
    assert shop.done("runs", "list", "--format", "markdown").startswith("| run | id |")


def test_people_read_the_first_digits_of_a_commit(shop: CommandLine) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    shop("ingest", "bm25.csv", "--name", "built", "--dataset", "shop", "--git-commit", commit)
    assert "  0123456\n" in (text := shop.done("runs", "list"))
    assert commit not in text
    assert [row["git_commit"] for row in shop.rows("runs", "list")][-1] == commit
    assert commit in shop.done("runs", "list", "--format", "csv")


def test_list_of_the_newest(shop: CommandLine) -> None:
    shop("ingest", "bm25.csv", "--dataset", "site", "--labels", "labels.csv", "--created-at", "2020-01-01")

    def names(*words: str) -> list[tuple[str, str]]:
        return [(row["dataset"], row["run"]) for row in shop.rows("runs", "list", *words)]

    every = [("site", "bm25"), ("shop", "bm25"), ("shop", "dense")]
    assert names("--limit", "9") == names() == every
    assert names("--limit", "2") == every[1:]
    assert names("--limit", "1", "--dataset", "site") == every[:1]
    best_first = ["--dataset", "shop", "--metric", "ndcg@10", "--sort", "mean"]
    best = names(*best_first)
    assert names("--limit", "1", *best_first) == every[2:]
    assert names("--limit", "2", "--top", "1", *best_first) == best[:1]


def test_list_of_one_dataset(shop: CommandLine) -> None:
    shop("ingest", "bm25.csv", "--dataset", "site", "--labels", "labels.csv")
    assert [row["dataset"] for row in shop.rows("runs", "list", "--dataset", "site")] == ["site"]
    assert shop.refused("runs", "list", "--dataset", "sit") == "no dataset 'sit'; did you mean 'site'?"
    assert shop.refused("alias", "list", "--dataset", "sit") == "no dataset 'sit'; did you mean 'site'?"


def test_show(shop: CommandLine) -> None:
    shown = shop.rows("runs", "show", "den")
    assert list(shown) == [
        "run", "run_id", "dataset", "created_at_utc", "source", "git_commit", "parameters", "tags", "n_groups",
        "n_items", "digest", "pruned_at_utc", "sampled", "collapsed", "documents_in_ten", "tie_order", "groups_share",
        "evaluations", "coverages", "hardest", "attribute", "slices", "label_set", "aliases",
        "metric",
    ]  # fmt: skip
    assert shop.rows("show", "den") == shown
    assert (shown["run"], shown["source"], len(shown["evaluations"])) == ("dense", "dense.run", 1)
    text = shop.done("runs", "show", "dense", "-v").splitlines()
    assert text[0].startswith("dense on shop (4 queries): ndcg@10 0.")
    assert ["id", "2"] in [line.split() for line in text]
    assert any(line.startswith("ndcg@10") for line in text)
    assert [row["group"] for row in shown["hardest"]] == [
        line.split()[0]
        for line in text[text.index("hardest queries") + 2 : text.index("hardest queries") + 2 + len(shown["hardest"])]
    ]
    assert shop.done("show", "dense", "--format", "html").startswith("<div><p><strong>dense on shop (")
    table = list(csv.DictReader(io.StringIO(shop.done("runs", "show", "dense", "--format", "csv"))))
    assert [(row["metric"], float(row["mean"])) for row in table] == [("ndcg@10", shown["evaluations"][0]["mean"])]
    assert "| ndcg@10 |" in shop.done("runs", "show", "dense", "--format", "markdown")


def test_rename(shop: CommandLine) -> None:
    assert shop.said("runs", "rename", "bm25", "bm25 (old)") == "run 1 is now 'bm25 (old)'; it was 'bm25'\n"
    assert shop.refused("runs", "rename", "bm25 (old)", "dense").startswith(
        "run 'dense' exists already in dataset 'shop' (id 2); "
    )
    assert [row["run"] for row in shop.rows("runs", "list")] == ["bm25 (old)", "dense"]


def test_tag(shop: CommandLine) -> None:
    assert shop.said("runs", "tag", "bm25", "a=1", "b=x=y") == "tags: a=1 b=x=y\n"
    assert shop.said("runs", "tag", "bm25", "--remove", "a", "--remove", "none") == "tags: b=x=y\n"
    assert shop.said("runs", "tag", "bm25", "--remove", "b") == "tags: none\n"
    assert shop.refused("runs", "tag", "bm25", "plain") == (
        "tag 'plain' is not of the form key=value; write tag model=bm25"
    )


def test_delete_with_yes(shop: CommandLine) -> None:
    assert shop.said("runs", "delete", "den", "--yes") == ("deleted run 'dense' (2) of dataset 'shop', 1 evaluation\n")
    assert [row["run"] for row in shop.rows("runs", "list")] == ["bm25"]


def test_delete_takes_the_run_that_it_named(shop: CommandLine) -> None:
    shop.said("runs", "rename", "bm25", "2")
    shop.said("runs", "delete", "dense", "--yes")
    assert [row["run"] for row in shop.rows("runs", "list")] == ["2"]


def test_delete_asks_on_a_terminal(shop: CommandLine, typing: int) -> None:
    question = "delete run 'dense' (2) of dataset 'shop', 1 evaluation? [y/N]\n"
    for answer in (b"n\n", b"\n", b"yep\n", b"\x04"):
        os.write(typing, answer)
        printed = shop("runs", "delete", "dense")
        assert (printed.code, printed.out) == (2, "")
        assert printed.err == (
            f"{question}error: nothing deleted: run 'dense' (2) of dataset 'shop', 1 evaluation; add --yes\n"
        )
    os.write(typing, b"Y\n")
    printed = shop("runs", "delete", "dense")
    assert (printed.code, printed.err) == (
        0,
        f"{question}deleted run 'dense' (2) of dataset 'shop', 1 evaluation\n",
    )


def test_delete_does_not_ask_where_nobody_answers(shop: CommandLine) -> None:
    before = row_counts(shop.url)
    assert shop.refused("runs", "delete", "dense") == (
        "nothing deleted: run 'dense' (2) of dataset 'shop', 1 evaluation; add --yes"
    )
    assert row_counts(shop.url) == before


def test_delete_is_refused_while_an_alias_stands_for_the_run(shop: CommandLine) -> None:
    shop.said("alias", "set", "baseline", "dense")
    before = row_counts(shop.url)
    assert shop.refused("runs", "delete", "@baseline", "--yes") == (
        "run 'dense' has the alias @baseline; point the alias to another run first, with: "
        "ndcg-track alias set baseline RUN"
    )
    assert row_counts(shop.url) == before
    assert shop.said("alias", "set", "@baseline", "bm25") == "@baseline is run 'bm25' (1) of dataset 'shop'\n"
    assert shop("runs", "delete", "dense", "--yes").code == 0


def test_several_runs_are_deleted_at_once(shop: CommandLine) -> None:
    question = "run 'bm25' (1) of dataset 'shop', 1 evaluation; run 'dense' (2) of dataset 'shop', 1 evaluation"
    assert shop.refused("runs", "delete", "bm25", "2", "dense") == f"nothing deleted: {question}; add --yes"
    assert shop.refused("runs", "delete", "bm25", "x", "--yes").startswith("no run 'x'")
    assert len(shop.rows("runs", "list")) == 2
    assert shop.said("runs", "delete", "bm25", "2", "--yes") == (
        "deleted run 'bm25' (1) of dataset 'shop', 1 evaluation\n"
        "deleted run 'dense' (2) of dataset 'shop', 1 evaluation\n"
    )
    assert shop.rows("runs", "list") == []


def test_prune(shop: CommandLine) -> None:
    before = row_counts(shop.url)
    shop.said("alias", "set", "prod", "dense")
    printed = shop("runs", "prune", "--older-than", "2999-01-01", "--format", "csv")
    assert printed.out.splitlines()[0] == "run,run_id,dataset,created_at_utc,n_items,n_results,n_bytes"
    assert [line.split(",")[0] for line in printed.out.splitlines()[1:]] == ["bm25"]
    what = "1 run made before 2999-01-01T00:00:00.000000Z: 11 items, about 0.0 MB; 1 run kept "
    what += "because of an alias, a gate, a design or a tag"
    assert printed.err == f"would prune {what}; to prune, add --apply\n"
    assert row_counts(shop.url)["ranked_lists"] == before["ranked_lists"]
    assert shop("runs", "prune", "--older-than", "2999-01-01", "--apply").err == f"pruned {what}\n"
    assert row_counts(shop.url)["prunings"] == 1
    at = shop.rows("runs", "show", "bm25")["pruned_at_utc"]
    assert shop.refused("rescore", "bm25", "--metric", "dcg@3").startswith(f"run 'bm25' was pruned at {at}: its items")
    assert shop("rescore", "--all", "--metric", "dcg@3").err == (
        f"bm25: left out: not all its items are here since {at}; to restore them, ingest its file again under the same "
        "name\n"
    )
    integrity = next(row for row in shop.rows("doctor") if row["check"] == "integrity")
    assert integrity["found"] == "2 runs, with all that they must have"
    assert shop.refused("runs", "prune", "--older-than", "old") == (
        "--older-than old is not an age; write 90d, 12w or a date such as 2026-01-31"
    )


def test_prune_results_under_old_labels(shop: CommandLine) -> None:
    assert shop.refused("runs", "prune") == (
        "runs prune needs --older-than or --results-of-old-labels: it deletes only what is named; give --older-than "
        "90d or --results-of-old-labels"
    )
    shop.said("labels", "add", "labels.csv", "--dataset", "shop", "--judge", "ann", "--rescore")
    assert shop("runs", "prune", "--results-of-old-labels").err == (
        "would prune 0 group results under old labels, about 0.0 MB\n"
    )
    Path("more.csv").write_text("group,item,label\nq1,new,1\n", encoding="utf-8")
    shop.said("labels", "add", "more.csv", "--dataset", "shop", "--extend", "--rescore")
    n_results = len(shop.rows("sql", "SELECT 1 FROM group_history WHERE label_set_version = 1"))
    what = f"{n_results} group results under old labels, about 0.0 MB"
    would = shop("runs", "prune", "--results-of-old-labels", "--format", "csv")
    assert [line.split(",")[0] for line in would.out.splitlines()[1:]] == ["bm25", "dense"]
    assert would.err == f"would prune {what}; to prune, add --apply\n"
    assert shop("runs", "prune", "--results-of-old-labels", "--apply").err == f"pruned {what}\n"
    versions = shop.rows("sql", "SELECT DISTINCT label_set_version AS v FROM run_summary ORDER BY v")
    assert [row["v"] for row in versions] == [2, 3]


def test_aliases(shop: CommandLine) -> None:
    assert shop.rows("alias", "list") == []
    assert shop.said("alias", "set", "prod", "latest~1") == "@prod is run 'bm25' (1) of dataset 'shop'\n"
    (row,) = shop.rows("alias", "list", "--dataset", "shop")
    assert list(row) == ["alias", "run", "run_id", "dataset", "updated_at_utc"]
    assert list(row.values())[:4] == ["prod", "bm25", 1, "shop"]
    assert shop.done("alias", "list").splitlines()[1].split()[:4] == ["prod", "bm25", "1", "shop"]
    assert shop.done("alias", "list", "--format", "csv").splitlines()[0] == ",".join(row)
    assert shop.done("alias", "list", "--format", "markdown").startswith("| alias | run |")
    assert shop.rows("compare", "@prod", "latest")["baseline"]["name"] == "bm25"
    assert shop.said("alias", "delete", "@prod") == "deleted alias @prod; run 'bm25' stays\n"
    assert shop.refused("alias", "delete", "prod") == (
        "no alias '@prod'; create it with: ndcg-track alias set prod RUN"
    )


def test_references(shop: CommandLine) -> None:
    shop("ingest", "dense.run", "--name", "dense-2", "--dataset", "shop")
    names = {"1": "bm25", "b": "bm25", "dense": "dense", "latest": "dense-2", "latest~1": "dense"}
    assert {reference: shop.rows("runs", "show", reference)["run"] for reference in names} == names
    assert shop.refused("runs", "show", "den") == ("'den' matches several runs (dense, dense-2); give more of the name")
    shop("ingest", "bm25.csv", "--dataset", "site", "--labels", "labels.csv")
    assert shop.refused("runs", "show", "bm25") == (
        "run 'bm25' exists in several datasets (shop, site); choose with --dataset"
    )
    assert shop.rows("runs", "show", "bm25", "--dataset", "site")["dataset"] == "site"


def test_a_pattern_tags_every_run_that_fits_and_names_one_where_one_fits(shop: CommandLine) -> None:
    assert shop.said("runs", "tag", "*", "study=s1") == "tagged 2 runs: bm25, dense\n"
    assert [row["tags"]["study"] for row in shop.rows("runs", "list")] == ["s1", "s1"]
    assert shop.said("runs", "tag", "den*", "study=s2") == "tags: study=s2\n"
    assert shop("gate", "den*", "--baseline", "bm25", "--margin", "0.9", "--dry-run").code in (0, 3, 4)
    told = "'*' matches several runs (bm25, dense); give more of the name"
    assert shop.refused("gate", "*", "--baseline", "bm25", "--margin", "0.9") == told
    assert shop.refused("explain", "bm25", "x*").startswith("no run 'x*'")
