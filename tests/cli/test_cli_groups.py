"""``ndcg-track groups``: attributes and weights of groups."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_line import CommandLine, Program
from stored_rows import row_counts

TABLE = "group,device,country,weight\nq1,phone,de,1\nq2,desk,fr,3\nq3,phone,,2\nq4,,de,0.5\nq5,tv,de,1\n"


@pytest.fixture
def table(folder: Path) -> str:
    """A file with two attributes and the weight of every group, and one group that the dataset does not have."""
    (folder / "groups.csv").write_text(TABLE + "q9,tv,us,1\n", encoding="utf-8")
    return "groups.csv"


def test_set_and_list(shop: CommandLine, table: str) -> None:
    assert shop.said("groups", "set", table, "--dataset", "shop") == (
        "set 2 attributes (device, country) and weights of 6 queries of dataset 'shop'; "
        "1 query of the file is not in the dataset yet, first 'q9': this is kept until it comes\n"
    )
    rows = shop.rows("groups", "list", "--dataset", "shop")
    assert rows[0] == {"group": "q1", "weight": 1.0, "country": "de", "device": "phone"}
    assert rows[2] == {"group": "q3", "weight": 2.0, "country": None, "device": "phone"}
    assert [row["group"] for row in rows] == ["q1", "q2", "q3", "q4", "q5", "q9"]
    assert [line.split() for line in shop.done("groups", "list", "--dataset", "shop").splitlines()[:3]] == [
        ["group", "weight", "country", "device"],
        ["q1", "1", "de", "phone"],
        ["q2", "3", "fr", "desk"],
    ]
    listed = csv.DictReader(io.StringIO(shop.done("groups", "list", "--dataset", "shop", "--format", "csv")))
    assert next(listed) == {"group": "q1", "weight": "1.0", "country": "de", "device": "phone"}
    assert shop.done("groups", "list", "--dataset", "shop", "--format", "markdown").startswith("| group | weight |")


def test_what_list_writes_set_reads(shop: CommandLine, table: str, folder: Path) -> None:
    shop("groups", "set", table, "--dataset", "shop")
    before = shop.rows("groups", "list", "--dataset", "shop")
    (folder / "listed.csv").write_text(shop.done("groups", "list", "--dataset", "shop", "--format", "csv"), "utf-8")
    assert shop.said("groups", "set", "listed.csv", "--dataset", "shop") == (
        "set 2 attributes (country, device) and weights of 6 queries of dataset 'shop'\n"
    )
    assert shop.rows("groups", "list", "--dataset", "shop") == before


def test_a_dataset_of_which_nothing_is_known(shop: CommandLine) -> None:
    assert shop.rows("groups", "list", "--dataset", "shop")[0] == {"group": "q1", "weight": None}


def test_some_attributes_only(shop: CommandLine, folder: Path) -> None:
    (folder / "g.jsonl").write_text('{"qid": "q1", "n": 3, "lang": "de", "w": 2}\n', encoding="utf-8")
    only = ["--group", "qid", "--attribute", "n"]
    assert shop.said("groups", "set", "g.jsonl", "--dataset", "shop", *only) == (
        "set 1 attribute (n) of 1 query of dataset 'shop'\n"
    )
    assert shop.rows("groups", "list", "--dataset", "shop")[0] == {"group": "q1", "weight": None, "n": 3}
    assert shop.said("groups", "set", "g.jsonl", "--dataset", "shop", *only, "--weight", "w", "--reader", "jsonl") == (
        "set 1 attribute (n) and weights of 1 query of dataset 'shop'\n"
    )


def test_weighted_means_are_recomputed(shop: CommandLine, table: str) -> None:
    metric = "ndcg(weights=group)@10"
    shop("rescore", "bm25", "dense", "--metric", metric)
    before = shop.rows("runs", "show", "bm25")["evaluations"]
    assert shop.said("groups", "set", table, "--dataset", "shop") == (
        "set 2 attributes (device, country) and weights of 6 queries of dataset 'shop'; recomputed 2 weighted means; "
        "1 query of the file is not in the dataset yet, first 'q9': this is kept until it comes\n"
    )
    after = shop.rows("runs", "show", "bm25")["evaluations"]
    assert [one["metric"] for one in after] == ["ndcg@10", metric]
    assert after[0] == before[0]
    assert after[1]["mean"] != before[1]["mean"]


def test_two_groups_that_are_not_there(shop: CommandLine, folder: Path) -> None:
    (folder / "g.csv").write_text("group,a\nx\u202e,1\nq1,2\ny,3\n", encoding="utf-8")
    assert shop.said("groups", "set", "g.csv", "--dataset", "shop") == (
        "set 1 attribute (a) of 3 queries of dataset 'shop'; 2 queries of the file are not in the dataset yet, first "
        "'x\\u202e': this is kept until they come\n"
    )


def test_wrong_tables(shop: CommandLine, table: str, folder: Path) -> None:
    before = row_counts(shop.url)
    (folder / "bad.csv").write_text("group,weight\nq1,1\nq2,-1\n", encoding="utf-8")
    (folder / "query.csv").write_text("query,a\nq1,1\n", encoding="utf-8")
    for arguments, message in [
        (["bad.csv"], "bad.csv:3: the weight is negative; weights are 0 or more"),
        (["no.csv"], "no.csv: no such file; check the path"),
        (
            ["query.csv"],
            "query.csv:1: no column 'group'; the columns are 'query', 'a': name the group column with --group query",
        ),
        (
            [table, "--weight", "w"],
            "groups.csv:1: no column 'w'; the columns are 'group', 'device', 'country', 'weight': "
            "name the weight column with --weight weight",
        ),
        (
            ["dense.run"],
            "dense.run: this file is read as trec, which is not supported for groups; name another with --reader "
            "(csv tsv json jsonl yaml parquet trec_eval)",
        ),
        ([], "groups set needs FILE or --default-weight: there is nothing to set; give one"),
        (["--default-weight", "-1"], "--default-weight -1.0 is not a weight; give 0 or more"),
    ]:
        assert shop.refused("groups", "set", *arguments, "--dataset", "shop") == message
    assert shop.refused("groups", "set", table, "--dataset", "shp") == "no dataset 'shp'; did you mean 'shop'?"
    assert shop.refused("groups", "list", "--dataset", "shp") == "no dataset 'shp'; did you mean 'shop'?"
    assert row_counts(shop.url) == before
    assert all(set(row) == {"group", "weight"} for row in shop.rows("groups", "list", "--dataset", "shop"))


def test_without_a_database(sqlite_command: CommandLine, table: str) -> None:
    assert "the database does not exist" in sqlite_command.refused("groups", "set", table)
    assert row_counts(sqlite_command.url) == {}


def test_from_standard_input(program: Program, files: None) -> None:
    program("ingest", "bm25.csv", "--labels", "labels.csv")
    printed = program("groups", "set", "-", given=TABLE.encode())
    assert (printed.code, printed.out) == (0, "")
    assert printed.err == "set 2 attributes (device, country) and weights of 5 queries of dataset 'default'\n"
    assert json.loads(program("groups", "list", "--format", "json").out)[1]["country"] == "fr"
