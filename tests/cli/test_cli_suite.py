"""``ndcg-track suite``: every command, in text and for programs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from command_line import CommandLine
from small_shop import BM25, DENSE, frame_of, labels_frame, write_csv

from ndcg_tracker import Tracker


@pytest.fixture
def two(shop: CommandLine, folder: Path) -> CommandLine:
    """The shop, and the same runs but one as dataset books."""
    write_csv(folder / "bm25.csv", frame_of(BM25))
    write_csv(folder / "dense.csv", frame_of(DENSE))
    write_csv(folder / "labels.csv", labels_frame())
    for run in ("bm25", "dense"):
        shop.done("ingest", f"{run}.csv", "--dataset", "books", "--labels", "labels.csv")
    return shop


def test_from_the_names_to_the_verdict(two: CommandLine) -> None:
    assert two.said("suite", "create", "both", "shop", "books") == ("suite 'both' has 2 datasets: shop, books\n")
    assert [row["dataset"] for row in two.rows("suite", "list")] == ["shop", "books"]
    text = two.done("suite", "show", "both")
    assert text.startswith("2 systems on suite both (2 datasets): ")
    assert "\nmacro: each dataset counts once; micro: each query counts once\n" in text
    with Tracker(two.url) as tracker:
        assert two.rows("suite", "show", "both") == tracker.suite("both").to_dict()
        assert two.rows("suite", "compare", "both", "bm25", "dense") == (
            tracker.compare_suite("both", "bm25", "dense").to_dict()
        )
    text = two.done("suite", "compare", "both", "bm25", "dense")
    assert text.startswith("dense against bm25 on suite both: macro ndcg@10 ")
    table = list(csv.DictReader(io.StringIO(two.done("suite", "compare", "both", "bm25", "dense", "--format", "csv"))))
    assert [row["dataset"] for row in table] == ["shop", "books"]
    assert two.said("suite", "delete", "both") == "deleted suite 'both'; its datasets stay\n"
    assert two.rows("suite", "list") == []


def test_what_another_suite_of_the_name_needs(two: CommandLine) -> None:
    two.said("suite", "create", "both", "shop", "books")
    told = "suite 'both' has other datasets: shop, books; give --replace for these ones instead"
    assert two.refused("suite", "create", "both", "shop").endswith(told)
    two.said("suite", "create", "both", "shop", "--replace")
    assert [row["dataset"] for row in two.rows("suite", "list")] == ["shop"]


def test_a_missing_run_is_seen(two: CommandLine, folder: Path) -> None:
    write_csv(folder / "third.csv", frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}))
    two.done("ingest", "third.csv", "--dataset", "books")
    two.said("suite", "create", "both", "shop", "books")
    text = two.done("suite", "show", "both", "--format", "markdown")
    assert "| third | - | " in text
    assert "no run there, so no mean over the suite (1 system)" in text
    text = two.done("suite", "compare", "both", "bm25", "third")
    assert text.startswith("third against bm25 on 1 of the 2 datasets of suite both: ")
    assert "no run of both on  shop\n" in text
