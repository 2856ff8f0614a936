"""One table in every format: what its columns are decides how each shows them."""

import re
from pathlib import Path

from ndcg_tracker.render.formats import Said, as_object
from ndcg_tracker.render.latex import table_latex
from ndcg_tracker.render.report import BLANK, Column, Report, Table
from ndcg_tracker.words.verdicts import MARKS, mark_of

COLUMNS = (
    Column("metric", "metric", "id", marked_by=("is_first",)),
    Column("mean", "mean", "mean", best="higher"),
    Column("delta", "delta", "delta", "candidate - baseline", marked_by=("verdict", "open")),
    Column("ci", "95% interval", "interval", signed=True),
    Column("p_value", "p", "p"),
    Column("n", "groups", "count"),
    Column("judged", "judged", "share"),
    Column("verdict", kind="verdict", of="found.verdict"),
    Column("open", kind="text", of="found.open"),
    Column("is_first", kind="text", of=lambda row: row["metric"] == "AP"),
    Column("", "words", "text", of=lambda row: row["metric"].lower(), is_superscript=True),
    Column("never", "never", "mean"),
)
ROWS = [
    {"metric": "AP", "mean": 0.5, "delta": 0.25, "ci": (0.125, 0.375), "p_value": 1e-9, "n": 1200, "judged": 0.5},
    {"metric": "RR", "mean": 0.25, "delta": -0.5, "ci": None, "p_value": 0.04, "n": 7, "judged": None},
]
FOUND = [{"verdict": "improved", "open": None}, {"verdict": "regressed", "open": "unjudged"}]
TABLE = Table.of(COLUMNS, [{"never": None, **row, "found": found} for row, found in zip(ROWS, FOUND, strict=True)])
SAID = Said({"rows": TABLE}, lambda: [Report("Two metrics", tables=[TABLE])], lambda: TABLE)


def test_people_see_kinds() -> None:
    assert SAID.in_format("text", detail="all").splitlines() == [
        "Two metrics",
        "",
        "metric    mean       delta        95% interval       p  groups  judged  words",
        "AP      0.5000   ▲ +0.2500  +0.1250 to +0.3750   <1e-4   1,200   50.0%  ap",
        "RR      0.2500  ▼? -0.5000                   -  0.0400       7       -  rr",
        "",
        "delta: candidate - baseline",
        "▲ better, ▼? worse as judged; open: depends on unjudged items",
    ]
    markdown = SAID.in_format("markdown")
    assert "| metric | mean | delta | 95% interval | p | groups | judged | words |" in markdown
    assert "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |" in markdown


def test_colours_go_by_the_verdict_and_the_best() -> None:
    painted = SAID.in_format("text", color=True, detail="all")
    assert "\x1b[36m ▲ +0.2500\x1b[0m" in painted
    assert "\x1b[36m0.5000\x1b[0m" in painted
    assert "\x1b[1mAP\x1b[0m" in painted
    assert "▼? -0.5000" in painted
    assert "m▼? -0.5000" not in painted  # open: no colour
    assert '<span style="color:#1784a8">▲ +0.2500</span>' in SAID.in_format("html")


def test_programs_get_every_column_with_full_precision() -> None:
    assert SAID.in_format("csv").splitlines() == [
        "metric,mean,delta,ci_low,ci_high,p_value,n,judged,verdict,open,is_first,never",
        "AP,0.5,0.25,0.125,0.375,1e-09,1200,0.5,improved,,true,",
        "RR,0.25,-0.5,,,0.04,7,,regressed,unjudged,false,",
    ]
    assert as_object(TABLE)[0]["ci"] == [0.125, 0.375]
    assert list(as_object(TABLE)[1]) == [column.key for column in COLUMNS if column.key]


def test_a_paper_has_the_same_columns() -> None:
    table = table_latex(TABLE, "Two.")
    assert r"\begin{tabular}{lrrrrrr}" in table
    row = (
        r"AP & \textbf{0.5000}\textsuperscript{ap} & $\uparrow$ +0.2500 & $+0.1250$ to $+0.3750$ & $<10^{-4}$ & 1,200 &"
    )
    assert row in table
    assert r"RR & \underline{0.2500}\textsuperscript{rr} & $\downarrow$? -0.5000 & -- &" in table


def test_a_column_of_verdicts_spares_the_glyphs_before_differences() -> None:
    def shown(title: str) -> str:
        heads = (Column("verdict", title, "verdict"), Column("delta", "delta", "delta", marked_by=("verdict",)))
        table = Table(heads, [("improved", 0.5), (None, 0.25)])
        return Said(None, lambda: [Report(tables=[table])], lambda: table).in_format("text", detail="all")

    assert shown("verdict") == "verdict     delta\n▲ better  +0.5000\n-         +0.2500\n"
    assert shown(BLANK) == "     delta\n▲  +0.5000\n   +0.2500\n\n▲ better\n"


def test_without_a_verdict_a_difference_has_no_mark() -> None:
    heads = (Column("verdict"), Column("open"), Column("delta", "delta", "delta", marked_by=("verdict", "open")))
    rows = [(None, None, 0.5), ("improved", None, None), ("improved", "unjudged", 0.5)]
    cells = [cell.text for (cell,) in Table(heads, rows).for_people.rows]
    assert cells == ["+0.5000", "-", "▲? +0.5000"]


def test_what_keeps_a_verdict_open_is_said() -> None:
    reach = mark_of("not_comparable", "labels do not reach")
    assert (reach.glyph, reach.legend) == ("?", "open: the labels do not reach both runs")
    assert mark_of("identical").word == "identical"


def test_each_verdict_has_its_entry_in_the_glossary() -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    for mark in MARKS.values():
        entry = re.search(
            rf"^\*\*{re.escape(mark.glyph)} {mark.word}\*\*{{ #{mark.anchor} }}\n:   (.*)$", glossary, re.M
        )
        assert entry is not None, mark.word
        assert entry[1] == mark.meaning
