"""``ndcg-track suite``: every command, in text and for programs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import CommandLine
from refused import refusal_of
from small_shop import BM25, DENSE, frame_of, write_csv

from ndcg_tracker import Tracker
from ndcg_tracker.errors import InputError

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def two(
    fill_as: Callable[[Callable[[str], object]], None],
    command: CommandLine,
    files: None,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> CommandLine:
    """The shop, and the same runs but one as dataset books."""
    write_csv(folder / "dense.csv", frame_of(DENSE))

    def fill(url: str) -> None:
        into = CommandLine(url, capsys)
        into.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv", "--dataset", "shop")
        for run in ("bm25", "dense"):
            into.done("ingest", f"{run}.csv", "--dataset", "books", "--labels", "labels.csv")

    fill_as(fill)
    return command


def test_from_the_names_to_the_verdict(two: CommandLine) -> None:
    assert two.said("suite", "create", "both", "shop", "books") == ("suite 'both' has 2 datasets: shop, books\n")
    assert [row["dataset"] for row in two.rows("suite", "list")] == ["shop", "books"]
    text = two.done("leaderboard", "--suite", "both", "-v")
    assert text.startswith("2 systems on suite both (2 datasets, 10 queries): ")
    assert "\nmicro: each query counts once\n" in text
    with Tracker(two.url) as tracker:
        assert two.rows("leaderboard", "--suite", "both") == tracker.leaderboard(suite="both").to_dict()
        assert two.rows("compare", "--suite", "both", "bm25", "dense", "-m", "ndcg@10") == (
            tracker.compare("bm25", "dense", suite="both").to_dict()
        )
    text = two.done("compare", "--suite", "both", "bm25", "dense", "-m", "ndcg@10")
    assert text.startswith("dense against bm25 on suite both (2 datasets, 10 queries): ")
    printed = two.done("compare", "--suite", "both", "bm25", "dense", "-m", "ndcg@10", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(printed)))
    assert [(row["dataset"], row["value"]) for row in table] == [("both", ""), ("shop", "shop"), ("books", "books")]
    assert two.said("suite", "delete", "both") == "deleted suite 'both'; its datasets stay\n"
    assert two.rows("suite", "list") == []


def test_what_another_suite_of_the_name_needs(two: CommandLine) -> None:
    two.said("suite", "create", "both", "shop", "books")
    told = "suite 'both' has other datasets: shop, books; give --replace to use these instead"
    assert two.refused("suite", "create", "both", "shop").endswith(told)
    two.said("suite", "create", "both", "shop", "--replace")
    assert [row["dataset"] for row in two.rows("suite", "list")] == ["shop"]


def test_a_gate_has_exit_codes_and_files(two: CommandLine, folder: Path) -> None:
    two.said("suite", "create", "both", "shop", "books")
    asked = ("gate", "--suite", "both", "dense", "--baseline", "bm25", "--margin", "0.9")
    text = two(*asked)
    assert text.code in (0, 3, 4)
    with Tracker(two.url) as tracker:
        found = tracker.gate("dense", suite="both", baseline="bm25", margin=0.9, dry_run=True)
        printed = two(*asked, "--dry-run", "--format", "json")
        assert json.loads(printed.out) == json.loads(json.dumps(found.to_dict())) | {"decision_number": 2}
    assert printed.code == {"pass": 0, "fail": 3, "inconclusive": 4}[found.decision]
    assert text.out.startswith(f"{found.decision.upper()}: ")
    assert "no dataset has 25 queries" not in text.out  # nobody asked
    report = folder / "gate.xml"
    assert two(*asked, "--by", "dataset", "--slice-margin", "0.1", "--junit", str(report)).code in (0, 3, 4)
    case = ElementTree.parse(report).find(".//testcase")
    assert case is not None
    assert case.get("classname") == "ndcg-track.suite.both"
    told = two(*asked, "--by", "dataset", "--slice-margin", "0.1").out
    assert "no dataset has 25 queries, so none was judged" in told
    overridden = two(*asked, "--acknowledge", "known bug 42")
    assert overridden.code == 0
    row = next(csv.DictReader(io.StringIO(two(*asked, "--format", "csv").out)))
    assert (row["dataset"], row["decision"]) == ("both", found.decision)
    lacking = (
        "'third' or 'bm25' has no run on shop, but a gate decides on every dataset of suite 'both'; see the systems "
    )
    write_csv(folder / "third.csv", frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}))
    two.done("ingest", "third.csv", "--dataset", "books")
    of_third = ("gate", "--suite", "both", "third", "--baseline", "bm25", "--margin", "0.1")
    assert two.refused(*of_third, code=5) == f"{lacking}with: ndcg-track leaderboard --suite both"


@pytest.mark.nightly
def test_a_page_and_a_picture(two: CommandLine, folder: Path) -> None:
    two.said("suite", "create", "both", "shop", "books")
    pair = ("both", "bm25", "dense")
    said = two.said("report", "--suite", *pair, "--output", str(folder / "suite.html"))
    assert said == f"wrote {folder / 'suite.html'}: open it in a browser\n"
    page = (folder / "suite.html").read_text(encoding="utf-8")
    with Tracker(two.url) as tracker:
        report = tracker.report("bm25", "dense", suite="both", metrics="ndcg@10", output=str(folder / "suite.html"))
        found = tracker.compare("bm25", "dense", suite="both").comparisons[0]
        assert [pair.comparison for pair in report.report.pairs] == list(
            tracker.compare("bm25", "dense", suite="both", top=10).comparisons[0].suite.each
        )
        assert report.report.suite is not None
        assert report.report.suite.comparisons == (found,)
        assert report.to_html() == page
    assert "<h1>Is dense better than bm25 on suite both?</h1>" in page
    assert found.metrics[0].ci is not None
    assert f"95% interval [{found.metrics[0].ci[0]:+.4f}, {found.metrics[0].ci[1]:+.4f}], p " in page
    assert re.findall(r'<button role="tab"[^>]*>([^<]*)</button>', page) == ["shop", "books"]
    assert "2 systems on suite both (2 datasets, 10 queries): " in page
    assert "ndcg-track report bm25 dense --suite both --metric ndcg@10 --output " in page
    for words in (("compare", *pair[1:]), ("compare", *pair[1:], "bm25")):
        words = (*words, "--suite", "both")
        two.said("plot", *words, "--output", str(folder / "suite.svg"))
        picture = (folder / "suite.svg").read_text(encoding="utf-8")
        for row in ("shop", "books", "macro, other queries", "macro, other datasets", "micro, other queries"):
            assert f">{row}</text>" in picture or f">dense: {row}</text>" in picture
    two.said("plot", "history", "--suite", "both", "--output", str(folder / "suite.svg"))
    gate = ("gate", "dense", "--baseline", "bm25", "--suite", "both", "--margin", "0.9")
    two(*gate, "--report", str(folder / "gate.html"), "--dry-run")
    assert "<p>Gate: " in (folder / "gate.html").read_text(encoding="utf-8")


def test_what_a_page_and_a_picture_of_a_suite_do_not_take(two: CommandLine) -> None:
    two.said("suite", "create", "both", "shop", "books")
    pair = ("bm25", "dense", "--suite", "both", "--output", "x.svg")
    for words, told in (
        (
            ("report", *pair, "--dataset", "shop"),
            "--dataset does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("report", *pair, "--check-with", "ann"),
            "--check-with does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("plot", "compare", *pair, "--by", "kind"),
            "--by does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("plot", "compare", *pair, "--kind", "scatter"),
            "--kind does not go with --suite: it shows the groups of one dataset; leave one out",
        ),
    ):
        assert two.refused(*words) == told
    with Tracker(two.url) as tracker:
        told = "by_tag= needs suite=: it names the systems of a suite; give suite=, or leave out by_tag="
        assert refusal_of(InputError, tracker.report, "bm25", "dense", by_tag="system") == told


def test_several_systems_have_a_tab_on_each_dataset(two: CommandLine) -> None:
    two.said("suite", "create", "both", "shop", "books")
    for dataset in ("shop", "books"):
        assert two("ingest", "bm25.csv", "--dataset", dataset, "--name", "copy").code == 0
    with Tracker(two.url) as tracker:
        page = tracker.report("bm25", "dense", "copy", suite="both").to_html()
    tabs = [f"{system} on {dataset}" for system in ("dense", "copy") for dataset in ("shop", "books")]
    assert re.findall(r'<button role="tab"[^>]*>([^<]*)</button>', page) == tabs
    assert '<p class="verdict">dense: ' in page


def test_a_table_for_a_paper(two: CommandLine) -> None:
    two.said("suite", "create", "both_&", "shop", "books")
    printed = two("leaderboard", "--suite", "both_&", "--format", "latex").out
    assert r"on suite both\_\& ($n = 10$ queries)" in printed
    assert r"\begin{tabular}{llrlrrrr}" in printed
    assert r" & run & macro ndcg@10 &  & ranks & shop & books & micro \\" in printed
    assert printed.count(r"\textbf{") >= 3
    assert "<table" in two.done("leaderboard", "--suite", "both_&", "--format", "html")


def test_a_missing_run_is_seen(two: CommandLine, folder: Path) -> None:
    write_csv(folder / "third.csv", frame_of({**BM25, "q3": {"f": 2.0, "e": 1.0}}))
    two.done("ingest", "third.csv", "--dataset", "books")
    two.said("suite", "create", "both", "shop", "books")
    text = two.done("leaderboard", "--suite", "both")
    assert "\nnote: left out: third has no run on shop\n" in text
    few = "a leaderboard needs two systems or more on every dataset of suite 'both': left out: third has no run on shop"
    told = two.refused("leaderboard", "third", "dense", "--suite", "both")
    assert told == f"{few}; see the runs with: ndcg-track runs list"
    text = two.done("compare", "--suite", "both", "bm25", "third", "-m", "ndcg@10", "-v")
    assert text.startswith("third against bm25 on 1 of the 2 datasets of suite both (1 dataset, 5 queries): ")
    assert "\nnot compared  bm25 or third has no run on shop\n" in text


def test_suite_is_an_option_of_the_questions(two: CommandLine, folder: Path) -> None:
    two.said("suite", "create", "both", "shop", "books")
    details = two.done("compare", "bm25", "dense", "--suite", "both", "-m", "ndcg@10", "--top", "1", "-v")
    assert "\ndense against bm25 on shop (5 queries): " in details
    assert "\ndense against bm25 on books (5 queries): " in details
    found = two.rows("compare", "bm25", "dense", "--suite", "both", "-m", "ndcg@10")
    assert [one["dataset"] for one in found["on_datasets"]] == ["shop", "books"]
    asked = ("dense", "--baseline", "bm25", "--margin", "0.9", "--dry-run", "--format", "json")
    of_datasets = ("--by", "dataset", "--slice-margin", "0.5")
    with Tracker(two.url) as tracker:
        rules = {"by": "dataset", "slice_margin": 0.5}
        found = tracker.gate("dense", suite="both", baseline="bm25", margin=0.9, dry_run=True, **rules)
    assert json.loads(two("gate", *asked, "--suite", "both", *of_datasets).out) == found.to_dict()
    written = ("--report", "gate.html", "--junit", "gate.xml")
    two("gate", *asked[:5], "--suite", "both", *written)
    assert "macro ndcg@10" in (folder / "gate.html").read_text()
    two.said("report", "bm25", "dense", "--suite", "both", "-m", "ndcg@10", "-o", "both.html")
    assert "2 systems on suite both" in (folder / "both.html").read_text()
    rows = two.rows("history", "--suite", "both")
    assert [(row["run"], row["suite"]) for row in rows] == [("bm25", "both"), ("dense", "both")]


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            ("compare", "bm25", "dense", "--by-tag", "x"),
            "--by-tag needs --suite: it names the systems of a suite; give --suite, or leave out --by-tag",
        ),
        (
            ("compare", "bm25", "dense", "--suite", "both", "--dataset", "shop"),
            "--dataset does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("compare", "bm25", "dense", "--suite", "both", "--labels", "all"),
            "--labels all does not go with --suite: a suite has several datasets; name one version or judge",
        ),
        (
            ("gate", "dense", "--baseline", "bm25", "--suite", "both", "--margin", "auto"),
            "--margin auto does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("gate", "dense", "--baseline", "bm25", "--suite", "both", "--margin", ".1", "--by", "device"),
            "--by does not go with --suite: its slices are its datasets; give --by dataset",
        ),
        (
            ("gate", "dense", "--baseline", "bm25", "--suite", "both", "--margin", ".1", "--slice-margin", ".1"),
            "--slice-margin needs --by: the attribute makes the slices; give --by, or leave out --slice-margin",
        ),
        (
            ("leaderboard", "--suite", "both", "--by", "device"),
            "--by does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("report", "bm25", "--suite", "both", "--all"),
            "--all does not go with --suite: a suite has several datasets; leave one out",
        ),
        (
            ("report", "bm25", "--suite", "both"),
            "report needs CANDIDATE or --all: a page compares two runs or more; name one after the baseline",
        ),
        (("history", "--suite", "none"), "there is no suite 'none'; there is 'both'"),
    ],
)
def test_what_does_not_go_with_a_suite(two: CommandLine, asked: tuple[str, ...], told: str) -> None:
    two.said("suite", "create", "both", "shop", "books")
    assert told in two.refused(*asked)
