"""``ndcg-track plot``: each picture is written, and what cannot be is refused before anything is read."""

from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = pytest.mark.usefixtures("folder")


PICTURES = {
    "every.svg": ["compare", "bm25", "dense"],
    "scatter.svg": ["compare", "bm25", "dense", "--kind", "scatter", "--metric", "ndcg@10"],
    "forest.svg": ["compare", "bm25", "dense", "--kind", "forest", "--test", "permutation", "--ci", "bootstrap"],
    "heatmap.svg": ["compare", "bm25", "dense", "dense", "--kind", "heatmap"],
    "cutoffs.svg": ["cutoffs", "bm25", "dense"],
    "moves.svg": ["explain", "bm25", "dense", "--group", "q2"],
    "history.svg": ["history", "--dataset", "shop", "--last", "2"],
}


@pytest.mark.nightly(but=9)
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture(shop: CommandLine, folder: Path, name: str) -> None:
    assert shop.said("plot", *PICTURES[name], "-o", name, "--width", "300") == f"wrote {name}\n"
    assert (folder / name).read_text("utf-8").startswith("<svg")


@pytest.mark.nightly
def test_slices(shop: CommandLine, folder: Path) -> None:
    (folder / "groups.csv").write_text("group,kind\nq1,a\nq2,a\nq3,b\nq4,b\nq5,b\n", encoding="utf-8")
    shop("groups", "set", "groups.csv", "--dataset", "shop")
    shop.said("plot", "slices", "bm25", "dense", "--by", "kind", "-o", "a.png", "--theme", "dark")
    assert (folder / "a.png").stat().st_size > 1000


def test_bad_input(shop: CommandLine, folder: Path) -> None:
    pair = ["bm25", "dense"]
    for words, message in (
        (
            ["compare", *pair, "-o", "x.gif"],
            "cannot tell a format from 'x.gif'; give a name that ends in .svg, .png, .pdf or .html",
        ),
        (
            ["compare", *pair, "-o", "x.svg", "--width", "3m"],
            "'3m' is not a width; give --width in pixels, or with a unit, such as 84mm or 3.3in; at least 120 pixels",
        ),
        (
            ["compare", *pair, "-o", "x.svg", "--by", "kind"],
            "no compared group has an attribute 'kind'; the attributes are: none",
        ),
        (
            ["explain", *pair, "-o", "x.svg", "--group", "q9"],
            "no query 'q9' in dataset 'shop'; see all with: ndcg-track groups list --dataset shop",
        ),
        (
            ["compare", *pair, "-o", "no/x.svg"],
            "--output: cannot write 'no/x.svg': its folder does not exist; create the folder, or give another path",
        ),
    ):
        assert shop.refused("plot", *words) == message
    assert not list(folder.glob("*.svg"))
