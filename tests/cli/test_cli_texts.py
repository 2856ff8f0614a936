"""``ndcg-track texts``: query texts, titles and links."""

import json
import re
from pathlib import Path

import pytest
from command_line import CommandLine, Program

TABLE = """\
group,item,text,title,url
q1,,light tent,,
,a,,Tent,https://shop.example/a
q1,b,,<script>alert(1)</script>,javascript:alert(1)
q9,,x,,
"""
ADDED = (
    "added texts of 1 query, 1 item, 1 pair of group and item to dataset 'shop'; "
    "1 query of the file is not in the dataset, first 'q9'\n"
)
OF_SHOP = ("--dataset", "shop")


@pytest.fixture
def told(shop: CommandLine, folder: Path) -> CommandLine:
    """The command line on a database with two runs and texts."""
    (folder / "texts.csv").write_text(TABLE, encoding="utf-8")
    assert shop.said("texts", "add", "texts.csv", *OF_SHOP) == ADDED
    return shop


def test_add_and_list(told: CommandLine) -> None:
    assert told.rows("texts", "list", *OF_SHOP) == [
        {"group": None, "item": "a", "text": None, "title": "Tent", "url": "https://shop.example/a"},
        {"group": "q1", "item": None, "text": "light tent", "title": None, "url": None},
        {
            "group": "q1",
            "item": "b",
            "text": None,
            "title": "<script>alert(1)</script>",
            "url": "javascript:alert(1)",
        },
    ]
    assert len(told.rows("texts", "list", *OF_SHOP, "--group", "q1")) == 2
    assert told.said("texts", "add", "texts.csv", *OF_SHOP) == ADDED
    listed = told.done("texts", "list", *OF_SHOP)
    assert listed.splitlines()[0].split() == ["group", "item", "text", "title", "url"]


def test_what_list_writes_add_reads(told: CommandLine, folder: Path) -> None:
    before = told.rows("texts", "list", *OF_SHOP)
    (folder / "listed.csv").write_text(told.done("texts", "list", *OF_SHOP, "--format", "csv"), encoding="utf-8")
    assert told.said("texts", "delete", *OF_SHOP, "--yes") == "deleted 3 texts of dataset 'shop'\n"
    told.said("texts", "add", "listed.csv", *OF_SHOP)
    assert told.rows("texts", "list", *OF_SHOP) == before


def test_names_of_columns(shop: CommandLine, folder: Path) -> None:
    (folder / "queries.tsv").write_text('q1\t"light" tent\n', encoding="utf-8")
    said = shop.said(
        "texts", "add", "queries.tsv", *OF_SHOP, "--columns", "qid,query", "--group", "qid", "--text", "query"
    )
    assert said == "added texts of 1 query to dataset 'shop'\n"
    (folder / "corpus.jsonl").write_text('{"_id": "a", "name": "Tent", "link": "x:"}\n', encoding="utf-8")
    words = ("--item", "_id", "--title", "name", "--url", "link")
    assert shop.said("texts", "add", "corpus.jsonl", *OF_SHOP, *words) == "added texts of 1 item to dataset 'shop'\n"
    assert [row["text"] or row["title"] for row in shop.rows("texts", "list", *OF_SHOP)] == ["Tent", '"light" tent']


def test_explain_and_report(told: CommandLine, folder: Path) -> None:
    explained = told.done("explain", "bm25", "dense", "--group", "q1")
    assert explained.splitlines()[1] == "“light tent”"
    assert re.search(r"^a  +Tent ", explained, re.MULTILINE)
    found = json.loads(told.done("explain", "bm25", "dense", "--group", "q1", "--format", "json"))
    assert found["text"] == "light tent"
    told.said("report", "bm25", "dense", "--missing", "zero", "-o", "plain.html")
    told.said("report", "bm25", "dense", "--missing", "zero", "--texts", "-o", "told.html")
    plain, page = ((folder / name).read_text(encoding="utf-8") for name in ("plain.html", "told.html"))
    assert "light tent" not in plain
    assert "light tent" in page
    assert "--texts --output told.html" in page


def test_export(told: CommandLine, folder: Path) -> None:
    assert told.said("export", "bm25", "-o", "plain").endswith(
        "\nleft out: 3 texts; to take everything, type: ndcg-track export --all -o FOLDER\n"
    )
    told.said("export", "--all", "-o", "told")
    assert [(folder / name / "texts.parquet").exists() for name in ("plain", "told")] == [False, True]


def test_delete_asks(told: CommandLine) -> None:
    assert told.refused("texts", "delete", *OF_SHOP) == "nothing deleted: 3 texts of dataset 'shop'; add --yes"
    one_group = ("texts", "delete", *OF_SHOP, "--group", "q1")
    assert told.refused(*one_group) == "nothing deleted: 2 texts of group 'q1' of dataset 'shop'; add --yes"
    assert told.said(*one_group, "--yes") == "deleted 2 texts of group 'q1' of dataset 'shop'\n"
    assert told.said("texts", "delete", *OF_SHOP, "--yes") == "deleted 1 text of dataset 'shop'\n"
    assert told.said("texts", "delete", *OF_SHOP) == "deleted 0 texts of dataset 'shop'\n"


def test_wrong_use(shop: CommandLine, folder: Path) -> None:
    (folder / "t.csv").write_text("group,text\nq8,x\n", encoding="utf-8")
    (folder / "w.csv").write_text("uid,text\nq1,x\n", encoding="utf-8")
    for words, message in (
        (["add", "t.csv", "--dataset", "default"], "there is only 'shop': name it with --dataset shop"),
        (["add", "t.csv"], "dataset 'shop' has none of the groups, not even the first, 'q8'"),
        (["add", "t.csv", *OF_SHOP], "has none of the groups, not even the first, 'q8'; check the column with --group"),
        (["add", "w.csv", *OF_SHOP], "the group column with --group, or that of the item with --item"),
        (["add", "nope.csv", *OF_SHOP], "nope.csv"),
        (["list", *OF_SHOP, "--group", "q8"], "no query 'q8' in dataset 'shop'"),
    ):  # fmt: skip
        assert message in shop.refused("texts", *words)


def test_the_real_program(program: Program) -> None:
    program("demo")
    printed = program("texts", "add", "-", "--dataset", "shop", "--reader", "csv", given=b"item,title\nsku-1593,Tent\n")
    assert (printed.code, printed.out, printed.err) == (0, "", "added texts of 1 item to dataset 'shop'\n")
