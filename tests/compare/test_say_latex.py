"""A comparison as a table for a paper."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError

GROUPS = [f"q{number}" for number in range(40)]


@pytest.fixture
def three(tmp_path: Path) -> Iterator[nt.Tracker]:
    """Return a tracker with a run and two that are better on more and more groups."""
    frame = {"group": [g for g in GROUPS for _ in "ab"], "item": ["a", "b"] * 40, "label": [0, 1] * 40}
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, n_better in (("old_1", 5), ("new", 20), ("best", 38)):
            scores = [score for n in range(40) for score in ([1.0, 2.0] if n < n_better else [2.0, 1.0])]
            tracker.ingest({**frame, "score": scores}, name=name, metrics=["ndcg@10", "AP"])
        yield tracker


def rows_of(table: str) -> list[list[str]]:
    """Return the cells of the rows between the rules of a table."""
    body = table[table.index(r"\midrule") : table.index(r"\bottomrule")]
    return [line.removesuffix(r" \\").split(" & ") for line in body.splitlines() if " & " in line]


def test_a_row_for_each_metric_of_two_runs(three: nt.Tracker) -> None:
    result = three.compare("old_1", "new")
    table = result.to_latex()
    assert table.splitlines()[3] == (
        r"\caption{new against old\_1 on default (40 queries): both metrics better (2 of 2 on low information). "
        r"delta: candidate - baseline, in absolute points. 95\% interval: paired t; p: paired t-test, Holm-corrected "
        r"for 2 metrics at once.}"
    )
    assert r" & metric & old\_1 & new & delta & 95\% interval & p" in table
    first = result.comparisons[0].metrics[0]
    assert first.ci is not None
    assert rows_of(table)[0][:7] == [
        r"$\uparrow$",
        r"ndcg@10\textsuperscript{1}",
        f"{first.baseline:.4f}",
        f"{first.candidate:.4f}",
        f"${first.delta:+.4f}$",
        f"${first.ci[0]:+.4f}$ to ${first.ci[1]:+.4f}$",
        r"$<10^{-4}$",
    ]
    assert r"\footnotesize\textsuperscript{1} low information" in table


def test_a_row_for_each_run_of_several(three: nt.Tracker) -> None:
    rows = rows_of(three.compare("old_1", "new", "best").to_latex())
    assert [row[1:3] for row in rows] == [
        [name, metric] for name in (r"new\textsuperscript{1}", "best") for metric in ("ndcg@10", "AP")
    ]


def test_a_suite_has_a_row_for_each_dataset(three: nt.Tracker) -> None:
    three.create_suite("both", ["default"])
    result = three.compare("old_1", "new", suite="both", metrics=["ndcg@10", "AP"])
    table = result.to_latex()
    assert table.count(r"\begin{table}") == 3
    first = table.partition(r"\end{table}")[0]
    low = r"\textsuperscript{1}"
    assert [row[1] for row in rows_of(first)] == [f"macro ndcg@10{low}", f"macro AP{low}"]
    assert f"${result.comparisons[0].metrics[0].delta:+.4f}$" in rows_of(first)[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("tie_bounds", True), ("equivalence", 0.1), ("by", "kind")],
)
def test_what_a_paper_has_no_room_for_is_refused(three: nt.Tracker, name: str, value: object) -> None:
    three.set_groups({"group": GROUPS, "kind": ["a", "b"] * 20})
    with pytest.raises(InputError) as refused:
        three.compare("old_1", "new", **{name: value}).to_latex()  # type: ignore[arg-type]
    assert str(refused.value) == f"{name}= does not go with a table for a paper: it has a row per metric; leave one out"


@pytest.mark.usefixtures("folder")
def test_what_the_command_prints_compiles(shop: CommandLine, folder: Path) -> None:
    assert shop("runs", "rename", "dense", "dense_50%&#~^\\{}").code == 0
    table = shop("compare", "bm25", "dense_50%&#~^\\{}", "--format", "latex").out
    assert r"dense\_50\%\&\#\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}" in table
    refused = shop("compare", "bm25", "2", "--format", "latex", "--labels", "all")
    assert refused.err == (
        "error: --format latex does not go with --labels all: it shows one version of one judge; leave one out\n"
    )
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if program is None:
        pytest.skip("there is no pdflatex and no tectonic")
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", table, r"\end{document}"]
    (folder / "paper.tex").write_text("\n".join(document), encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if program.endswith("pdflatex") else []
    done = subprocess.run([program, *options, "paper.tex"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
