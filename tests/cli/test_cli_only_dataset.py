"""Where no dataset is named and there is only one, every command that needs one takes it."""

import shlex
from pathlib import Path

import pytest
from command_line import CommandLine

import ndcg_tracker as nt

OF_SHOP = ("--dataset", "shop")
READS = ["history", "labels list", "labels diff 1", "groups list", "texts list", "leaderboard", "runs list"]
WRITES = {
    "groups set groups.csv": "set 1 attribute (device) of 2 queries of dataset 'shop'",
    "texts add texts.csv": "added texts of 1 query to dataset 'shop'",
    "labels add labels.csv --extend": "already stored as version 1 of dataset 'shop'",
    "labels add labels.csv --judge gpt": "stored as version 2 of dataset 'shop'",
    "labels add labels.csv --rescore": "already stored as version 1 of dataset 'shop'",
    "texts delete --yes": "deleted 1 text of dataset 'shop'",
}


@pytest.fixture
def tables(folder: Path) -> None:
    """Attributes and texts for groups of the shop."""
    (folder / "groups.csv").write_text("group,device\nq1,phone\nq2,tv\n", encoding="utf-8")
    (folder / "texts.csv").write_text("group,text\nq1,tent\n", encoding="utf-8")


def test_reads(shop: CommandLine) -> None:
    for words in map(shlex.split, READS):
        assert shop.done(*words) == shop.done(*words, *OF_SHOP)
    assert shop("plot", "history", "-o", "history.html").code == 0
    assert "of dataset 'shop' has AP; compute it" in shop.refused("history", "--metric", "AP")
    with nt.Tracker(shop.url) as tracker:
        assert len(tracker.history()) == len(tracker.runs("shop")) == 2
        assert tracker.groups() == tracker.groups("shop")


def test_writes(shop: CommandLine, tables: None) -> None:
    for words, said in WRITES.items():
        assert shop.said(*shlex.split(words)).startswith(said)
    assert {row["dataset"] for row in shop.rows("labels", "list")} == {"shop"}
    assert shop.refused("runs", "list", "--dataset", "default").startswith("no dataset 'default'; there is only 'shop'")


def test_what_makes_a_dataset_makes_its_own(shop: CommandLine) -> None:
    assert shop.said("labels", "add", "labels.csv").startswith("stored as version 1 of dataset 'default'")
    assert shop.refused("history").startswith("dataset 'default' has no run yet")


def test_of_two_one_is_named(shop: CommandLine, tables: None) -> None:
    shop.said("labels", "add", "labels.csv", "--dataset", "books")
    for words in (*READS[:5], *WRITES):
        assert shop.refused(*shlex.split(words)) == "there are 2 datasets (books, shop); name one with --dataset"


def test_one_that_is_named_is_that_one(shop: CommandLine) -> None:
    for words in READS[:5]:
        refused = shop.refused(*shlex.split(words), "--dataset", "default")
        assert refused == "no dataset 'default'; there is only 'shop': name it with --dataset shop"
    with nt.Tracker(shop.url) as tracker, pytest.raises(nt.ReferenceNotFoundError, match=r"^no dataset 'default'"):
        tracker.history(dataset="default")
