"""How much a question prints: its first line with -q, one screen, or with -v all of it."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from command_line import CommandLine

from ndcg_tracker.cli.demo import write_demo_files
from ndcg_tracker.render.terminal import display_width

pytestmark = pytest.mark.usefixtures("folder")

DEMO = """\
dense against bm25 on shop (150 queries): ndcg@10 better by 0.0609 as judged; open
product=bike light stands out: -0.48 on 10 queries; all others +0.10 (1 more: --by all)

    metric     bm25   dense    delta        95% interval       p  unjudged items
▲?  ndcg@10  0.6668  0.7277  +0.0609  +0.0220 to +0.0999  0.0024  +0.03 to +0.10

worst: light bike light (-0.67), vintage phone case (-0.65), red bike light (-0.64)
best: foldable running shoes (+0.61), wireless rain jacket (+0.53), heavy duty office chair (+0.49)

? 167 unjudged items can change ndcg@10: grade those of 122 queries:  \
ndcg-track labels sample bm25 dense --budget 167 --metric ndcg@10 --dataset shop
more: -v statistics and queries   explain why   report a page
"""
PASSED = """\
PASS: dense may replace bm25 on shop (ndcg@10, margin 0.01)
  delta +0.0609; the data allow -0.0053 to +0.152; PASS needs the lower end above -0.01
  fell: product='bike light' (-0.48, 10 queries), product='phone case' (-0.33, 10 queries)   \
ndcg-track compare bm25 dense --dataset shop --metric ndcg@10 --by product
  worst loss 0.6722 (light bike light); at most 2% of queries should lose more (95%)
  recorded as decision 1   (-v: bounds, labels, ties, drift)
"""
METRICS = ("-m", "ndcg@10", "-m", "AP", "-m", "R@10")


@pytest.fixture
def shop(
    fill_as: Callable[[Callable[[str], object]], None], command: CommandLine, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    """The command line on the runs of the demo, under three metrics."""
    runs = list(map(str, write_demo_files(Path("shop"))))

    def fill(url: str) -> None:
        filling = CommandLine(url, capsys)
        filling.rows("ingest", *runs, "--labels", "shop/labels.csv", "--dataset", "shop", *METRICS)
        filling("groups", "set", "shop/groups.csv", "--dataset", "shop")
        filling("alias", "set", "baseline", "bm25", "--dataset", "shop")

    fill_as(fill)
    return command


def is_narrow(text: str) -> bool:
    """Return whether only lines that end with a command are wider than 100 columns."""
    return all(display_width(line.partition("ndcg-track ")[0]) <= 100 for line in text.splitlines())


def test_compare_to_the_letter(shop: CommandLine) -> None:
    assert shop("compare", "@baseline", "dense", "-m", "ndcg@10").out == DEMO
    assert shop("compare", "@baseline", "dense", "-m", "ndcg@10", "-q").out == DEMO.splitlines(keepends=True)[0]
    everything = shop("compare", "@baseline", "dense", "-m", "ndcg@10", "-v").out
    assert everything.startswith(DEMO.rpartition("more: ")[0])
    assert "\nworst queries in ndcg@10\n" in everything
    assert len(DEMO.splitlines()) <= 16
    assert is_narrow(DEMO)


def test_gate_to_the_letter(shop: CommandLine) -> None:
    asked = ("gate", "dense", "--baseline", "@baseline", "--margin", "0.01")
    assert shop(*asked).out == PASSED
    assert len(PASSED.splitlines()) <= 9
    assert is_narrow(PASSED)
    assert shop(*asked, "-q").out == PASSED.splitlines(keepends=True)[0]
    assert "\nreason     delta +0.0609; the data allow" in shop(*asked, "-v").out


@pytest.mark.parametrize(
    "asked",
    [
        ("dense", "--baseline", "bm25-synonyms", "--margin", "0.001"),
        ("bm25", "--baseline", "dense", "--margin", "0.01"),
        ("dense-int8", "--baseline", "dense", "--margin", "0.001"),
        ("dense", "--baseline", "bm25", "--margin", "0.01", "--max-harm", ".3:2%"),
    ],
)
def test_a_gate_takes_nine_lines_and_its_comment_eight(shop: CommandLine, asked: tuple[str, ...]) -> None:
    text = shop("gate", *asked, "--dry-run").out
    assert len(text.splitlines()) <= 9
    assert is_narrow(text)
    comment = shop("gate", *asked, "--dry-run", "--format", "markdown").out
    assert len(comment.partition("<details>")[0].splitlines()) <= 8


def test_three_metrics_take_twenty_lines(shop: CommandLine) -> None:
    text = shop("compare", "bm25", "dense").out
    assert text.startswith(
        "dense against bm25 on shop (150 queries): all 3 metrics better as judged; 2 of 3 metrics open\n"
    )
    assert len(text.splitlines()) <= 20
    assert is_narrow(text)


def test_several_candidates_take_a_row_each(shop: CommandLine) -> None:
    text = shop("compare", "bm25", "dense", "dense-int8", "bm25-synonyms", "-m", "ndcg@10").out
    assert text.startswith("3 candidates against bm25 on shop (150 queries): all 3 comparisons better as judged; ")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("▲")] == [
        "dense",
        "dense-int8",
        "bm25-synonyms",
    ]
    assert len(text.splitlines()) <= 16
    pages = shop("compare", "bm25", "dense", "dense-int8", "-m", "ndcg@10", "-v").out
    assert pages.count("\nworst queries in ndcg@10\n") == 2


def test_a_query_has_the_beginning_of_its_text(shop: CommandLine) -> None:
    Path("texts.csv").write_text("group,text\nlight bike light,a lamp for the front wheel of a bicycle\n")
    assert shop("texts", "add", "texts.csv", "--dataset", "shop").code == 0
    text = shop("compare", "bm25", "dense", "-m", "ndcg@10").out
    assert "\nworst: a lamp for the front wh… (-0.67), vintage phone case (-0.65), " in text


def test_a_thousand_queries_and_twenty_runs(command: CommandLine) -> None:
    random = Random(7)
    items = [(f"q{query}", f"d{item}") for query in range(1000) for item in range(4)]
    labels = {pair: random.randrange(3) for pair in items}
    Path("labels.csv").write_text("group,item,label\n" + "".join(f"{q},{d},{labels[q, d]}\n" for q, d in items))
    for run in range(20):
        rows = [f"{q},{d},{labels[q, d] + random.gauss(0, 1 + run % 5)}\n" for q, d in items]
        Path(f"run{run:02}.csv").write_text("group,item,score\n" + "".join(rows))
    files = [f"run{run:02}.csv" for run in range(20)]
    assert command("ingest", *files, "--labels", "labels.csv", "--dataset", "big").code == 0
    assert len(command("compare", "run00", "run01").out.splitlines()) <= 16
    every = command("compare", "run00", "run*").out.splitlines()
    assert len(every) <= 15 + 12
    assert "the first 15 of 19 rows" in every
    for asked in (("leaderboard",), ("history",), ("runs", "list"), ("show", "run00"), ("groups", "list")):
        assert len(command(*asked).out.splitlines()) <= 24
    for words, first in (
        (("history", "--last", "18"), "run"),
        (("runs", "list", "--limit", "18"), "run"),
        (("diff", "run00", "run01", "--top", "18"), "q"),
        (("show", "run00", "--top", "18"), "q"),
    ):
        asked_for = command(*words).out
        assert len([line for line in asked_for.splitlines() if re.match(rf"{first}\d+ ", line)]) == 18, asked_for
        assert "of 18 rows" not in asked_for
    assert all(display_width(line.partition("ndcg-track ")[0]) <= 100 for line in every)
    assert len(command("gate", "run01", "--baseline", "run00", "--margin", "0.01").out.splitlines()) <= 9


def test_quiet_and_verbose_exclude_each_other(shop: CommandLine) -> None:
    shown = shop("compare", "bm25", "dense", "-q", "-v")
    assert (shown.code, shown.err) == (
        2,
        "error: --quiet does not go with --verbose: one prints less, and the other more; leave one out\n",
    )
    assert shop("-q", "compare", "bm25", "dense").out.count("\n") == 1


@pytest.mark.parametrize(
    "asked",
    [
        ("leaderboard",),
        ("leaderboard", "--by", "product"),
        ("history",),
        ("explain", "bm25", "dense"),
        ("explain", "bm25", "dense", "--group", "red bike light"),
        ("diff", "bm25", "dense"),
        ("plan", "bm25", "dense"),
        ("show", "dense"),
        ("reproduce", "bm25", "dense"),
        ("labels", "needed", "bm25", "dense"),
        ("labels", "sample", "bm25", "dense", "--budget", "90"),
        ("labels", "list"),
        ("groups", "list"),
        ("runs", "list"),
    ],
)
def test_every_question_has_a_first_line_a_screen_and_all(shop: CommandLine, asked: tuple[str, ...]) -> None:
    shown = {detail: shop(*asked, *detail).out for detail in ((), ("-q",), ("-v",))}
    assert shown["-q",].count("\n") == 1
    if "list" not in asked:
        assert " ".join(shown[()].split()).startswith(" ".join(shown["-q",].split()))
    assert len(shown[()].splitlines()) <= 28
    assert len(shown[()].splitlines()) <= len(shown["-v",].splitlines()) + 2


@pytest.fixture(autouse=True)
def hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
