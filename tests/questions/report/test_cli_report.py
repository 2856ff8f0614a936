"""``ndcg-track report``."""

from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")


def test_a_page_is_written(shop: CommandLine, folder: Path) -> None:
    assert shop.said("report", "bm25", "dense") == "wrote report.html: open it in a browser\n"
    page = (folder / "report.html").read_text("utf-8")
    assert "<title>Is dense better than bm25?</title>" in page
    assert shop.said("report", "bm25", "dense", "-o", "a b.html", "--metric", "ndcg@10") == (
        "wrote 'a b.html': open it in a browser\n"
    )
    assert "ndcg-track report bm25 dense --dataset shop --metric ndcg@10 --output &#39;a b.html&#39;" in (
        folder / "a b.html"
    ).read_text("utf-8")


def test_all_other_runs(shop: CommandLine, folder: Path) -> None:
    shop.said("report", "bm25", "--all")
    assert "<title>Is dense better than bm25?</title>" in (folder / "report.html").read_text("utf-8")


def test_all_leaves_out_what_cannot_be_compared(shop: CommandLine, folder: Path) -> None:
    (folder / "other.csv").write_text("group,item,score\nelsewhere,a,1\n", encoding="utf-8")
    assert shop("ingest", "other.csv", "--dataset", "shop", "--allow", "no-overlap").code == 0
    assert shop.said("report", "bm25", "--all").splitlines() == [
        "note: left out other: run 'other' has no group of version 1 of the labels of dataset 'shop', so each would "
        "count as missing; are its group ids written as in the labels?",
        "wrote report.html: open it in a browser",
    ]
    assert "<title>Is dense better than bm25?</title>" in (folder / "report.html").read_text("utf-8")
    refused = shop("report", "other", "--all")
    assert (refused.code, refused.err.splitlines()[-1]) == (
        2,
        "error: no other run can be compared with 'other'; store one, or name another",
    )


def test_all_goes_by_names_and_not_by_ids(shop: CommandLine, folder: Path) -> None:
    shop.rows("ingest", "bm25.csv", "--name", "2", "--labels", "labels.csv", "--dataset", "shop")  # the id of dense
    shop.said("report", "bm25", "--all")
    page = (folder / "report.html").read_text("utf-8")
    assert "<title>Is one of 2 candidates better than bm25?</title>" in page
    assert ">dense</button>" in page
    assert ">2</button>" in page


def test_bad_input(shop: CommandLine, folder: Path) -> None:
    assert shop.refused("report", "bm25") == (
        "report needs CANDIDATE or --all: a page compares two runs or more; name one after the baseline"
    )
    assert shop.refused("report", "bm25", "dense", "--all") == (
        "CANDIDATE does not go with --all: all other runs are compared; leave one out"
    )
    assert shop.refused("report", "bm25", "dense", "-o", "none/x.html") == (
        "--output: cannot write 'none/x.html': its folder does not exist; create the folder, or give another path"
    )
    assert shop.refused("report", "bm25", "nothing").startswith("no run 'nothing'")
    assert not list(folder.glob("*.html"))
