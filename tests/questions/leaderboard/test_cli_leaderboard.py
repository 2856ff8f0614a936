"""``ndcg-track leaderboard`` in every format, and ``runs list`` by mean."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from ranked_runs import frame_of_ranks, labels_of_ranks
from small_shop import BM25, frame_of, write_csv

from ndcg_tracker.compare.results import LabelSetRef, RunRef
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.leaderboard.decide import Leaderboard, metric_board
from ndcg_tracker.questions.leaderboard.say import leaderboard_latex, leaderboard_said

pytestmark = pytest.mark.usefixtures("folder")


def test_what_people_see(shop: CommandLine) -> None:
    screen, everything = (shop.done("leaderboard", *detail).splitlines() for detail in ((), ("-v",)))
    assert screen == [
        "2 runs on shop (5 queries): bm25 leads by ndcg@10; no difference detected to dense",
        "",
        "   run    ndcg@10      95% interval     ranks  judged@10",
        *screen[3:5],
        "",
        "note: ndcg@10 counts the queries missing from a run as 0: dense (1 of 5); to leave them out:",
        "      ndcg-track leaderboard --dataset shop --metric ndcg@10 --missing intersect",
        "note: 73.3% to 75.0% of the first 10 are judged, and the others count as not relevant, which could",
        "      change the order; to see by how much for the first two runs:",
        "      ndcg-track compare bm25 dense --dataset shop --metric ndcg@10",
        "more: -v details",
    ]
    assert everything[: len(screen)] == [*screen[:-1], ""]
    assert everything[len(screen) :][:3] == [
        "ranks: the places that it could hold, given the tests (95%, all together)",
        "~ no difference detected",
        "",
    ]
    assert [line.split()[0] for line in everything[len(screen) + 3 :]] == ["labels", "queries", "test"]
    markdown = shop.done("leaderboard", "--format", "markdown")
    assert "|  | run | ndcg@10 | 95% interval |  | ranks | judged@10 |" in markdown
    assert shop.done("leaderboard", "--format", "html").startswith(
        "<div><p><strong>2 runs on shop (5 queries): bm25 leads"
    )


def test_what_programs_read(shop: CommandLine) -> None:
    found = json.loads(shop("leaderboard", "bm*", "dense", "--format", "json").out)
    assert list(found) == ["dataset", "labels", "runs", "metrics", "test", "notes"]
    (board,) = found["metrics"]
    assert list(board) == ["metric", "direction", "n", "requested_as", "cutoff", "rows", "pairs"]
    (pair,) = board["pairs"]
    assert list(pair) == ["candidate", "baseline", "delta", "ci", "p_value", "p_adjusted", "wins", "ties", "losses"]
    assert (pair["candidate"], pair["baseline"]) == ("bm25", "dense")
    rows = list(csv.DictReader(io.StringIO(shop("leaderboard", "--format", "csv").out)))
    assert [row["run"] for row in rows] == ["bm25", "dense"]
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in board["rows"]]


def test_runs_by_mean(shop: CommandLine) -> None:
    assert shop("runs", "tag", "dense", "study=s1").code == 0
    listed = shop.rows("runs", "list", "--metric", "ndcg@10", "--sort", "mean")
    assert [row["run"] for row in listed] == ["bm25", "dense"]
    assert listed[0]["mean"] > listed[1]["mean"]
    assert [row["run"] for row in shop.rows("runs", "list", "--tag", "study=s1")] == ["dense"]
    assert len(shop.rows("runs", "list", "-m", "ndcg@10", "--sort", "mean", "--top", "1")) == 1
    assert (
        shop.refused("runs", "list", "--sort", "mean")
        == "--sort mean needs --metric: the mean is of a metric; give --metric, or leave out --sort mean"
    )


def test_runs_of_several_datasets_and_without_the_metric(shop: CommandLine, folder: Path) -> None:
    write_csv(folder / "bm25.csv", frame_of(BM25))
    shop.done("ingest", "bm25.csv", "--dataset", "books", "--labels", "labels.csv", "--metric", "RR")
    assert shop("ingest", "bm25.csv", "--name", "other", "--dataset", "books", "--labels", "labels.csv").code == 0
    listed = shop.rows("runs", "list", "--metric", "ndcg@10")
    assert [(row["dataset"], row["run"], row["mean"] is None) for row in listed] == [
        *(("shop", name, False) for name in ("bm25", "dense")), ("books", "bm25", True), ("books", "other", False),
    ]  # fmt: skip
    ranked = shop.rows("runs", "list", "--metric", "ndcg@10", "--sort", "mean", "--dataset", "books")
    assert [row["run"] for row in ranked] == ["other", "bm25"]  # what has no mean stands last
    assert shop.refused("runs", "list", "--metric", "ndcg@10", "--sort", "mean") == (
        "there are 2 datasets (books, shop); name one with --dataset"
    )
    assert shop.refused("runs", "list", "--metric", "AP", code=5) == (
        "no run has AP; add it with: ndcg-track rescore --all --dataset shop --metric AP"
    )


def test_what_is_refused(shop: CommandLine) -> None:
    assert (
        shop.refused("leaderboard", "bm25", "--all") == "RUN does not go with --all: all runs are ranked; leave one out"
    )
    assert shop.refused("leaderboard", "bm25") == (
        "a leaderboard needs two runs or more with ndcg@10, but there is 1; see the runs with: ndcg-track runs list"
    )


def test_the_table_of_a_paper_compiles(shop: CommandLine, folder: Path) -> None:
    assert shop("runs", "rename", "dense", "dense_50%&#~^\\{}").code == 0
    table = shop("leaderboard", "--format", "latex").out
    assert "Queries missing from a run count as 0." in table
    assert r"b & dense\_50\%\&\#\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}" in table
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if program is None:
        pytest.skip("there is no pdflatex and no tectonic")
    document = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", table, r"\end{document}"]
    (folder / "paper.tex").write_text("\n".join(document), encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if program.endswith("pdflatex") else []
    done = subprocess.run([program, *options, "paper.tex"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (folder / "paper.pdf").stat().st_size > 1000


def board_of(means: Sequence[float]) -> Leaderboard:
    """Return a leaderboard of runs r0, r1, ... whose means are these."""
    noise = np.array([-1e-3, 1e-3] * 20)
    values = np.array(means)[:, None] + np.outer(np.arange(len(means)), noise)
    names = [f"r{place}" for place in range(len(means))]
    runs = tuple(RunRef(name, place) for place, name in enumerate(names))
    return Leaderboard("shop", LabelSetRef(1, "0"), runs, (metric_board(parse_metric("ndcg@10"), names, values),), "t")


def test_means_that_look_alike_share_the_mark() -> None:
    board = board_of([0.40254, 0.40251, 0.4, 0.3])
    lines = [line for line in leaderboard_latex(board).splitlines() if re.match("[a-d] & ", line)]
    marked = [re.sub(r"\\textsuperscript.*", "", line.split(" & ")[2]) for line in lines]
    assert marked == [r"\textbf{0.4025}", r"\textbf{0.4025}", r"\underline{0.4000}", "0.3000"]
    page = leaderboard_said(board).in_format("html")
    assert page.count(">0.4025</span>") == 2
    told = "bold: the best run by ndcg@10, and those with no difference detected to it; coloured: the best mean"
    assert f"<li>{told}</li>" in page
    assert "bold" not in leaderboard_said(board_of([0.5, 0.4])).in_format("text")
    assert "bold: the best run" in leaderboard_said(board_of([0.5, 0.4])).in_format("text", color=True, detail="all")
    assert "bold" not in leaderboard_said(board_of([0.5, 0.4])).in_format("markdown")


def test_several_spans_of_letters_have_commas_between_them() -> None:
    values = np.repeat(np.linspace(1, 0, 14)[:, None], 40, axis=1) + 1e-3 * np.random.default_rng(1).random((14, 40))
    values[7] = values[0] + np.tile([-0.4, 0.4], 20)  # not told apart from the first one
    names = [f"r{place}" for place in range(14)]
    runs = tuple(RunRef(name, place) for place, name in enumerate(names))
    board = Leaderboard("shop", LabelSetRef(1, "0"), runs, (metric_board(parse_metric("ndcg@10"), names, values),), "t")
    assert r"\textsuperscript{b--g,i--n}" in leaderboard_latex(board)


def test_no_name_steers_a_paper() -> None:
    hostile = f"[x] {chr(0x202E)}live -- a{chr(27)}[2J <b|c>"
    board = board_of([0.5, 0.4])
    table = leaderboard_latex(replace(board, dataset=hostile, runs=(RunRef(hostile, 1), RunRef("other", 2))))
    printed = r"{[}x{]} \textbackslash{}u202elive -{}- a\textbackslash{}x1b{[}2J \textless{}b\textbar{}c\textgreater{}"
    assert table.count(printed) == 2
    assert all(character.isprintable() or character == "\n" for character in table)


def test_a_paper_names_many_runs_by_numbers_with_commas() -> None:
    values = np.repeat(np.linspace(1, 0, 30)[:, None], 40, axis=1) + 1e-3 * np.random.default_rng(1).random((30, 40))
    names = [f"r{place}" for place in range(30)]
    board = metric_board(parse_metric("ndcg@10"), names, values)
    runs = tuple(RunRef(name, place) for place, name in enumerate(names))
    table = leaderboard_latex(Leaderboard("shop", LabelSetRef(1, "0"), runs, (board,), "t"))
    rows = [line for line in table.splitlines() if re.match("[0-9]+ & ", line)]
    assert r"\textsuperscript{2--30} &" in rows[0]
    assert r"\textsuperscript{29,30} &" in rows[27]
    sliced = Leaderboard("shop", LabelSetRef(1, "0"), runs, (board,), "t", "kind")
    with pytest.raises(InputError) as refused:
        leaderboard_said(sliced).in_format("latex")
    assert str(refused.value) == ("by= does not go with a table for a paper: it has no slices; leave one out")


@pytest.mark.parametrize("asked", [("leaderboard",), ("history",)])
def test_what_is_advised_where_runs_lack_groups_works_as_it_is_typed(
    command: CommandLine, folder: Path, asked: tuple[str, ...]
) -> None:
    write_csv(folder / "labels.csv", labels_of_ranks(40))
    for name, n in (("whole", 40), ("half", 20), ("most", 35)):
        write_csv(folder / f"{name}.csv", frame_of_ranks(([1, 2] * 20)[:n]))
    files = [f"{name}.csv" for name in ("whole", "half", "most")]
    told = command("ingest", *files, "--labels", "labels.csv", "--dataset", "shop").err
    metric = "ndcg(missing=skip)@10"
    assert f"; '{metric}' leaves them out" in told
    assert command("evaluate", "half.csv", "--labels", "labels.csv", "--metric", metric).code == 0
    answer = command(*asked, "--dataset", "shop", "--format", "json")
    rows = json.loads(answer.out)
    notes = (
        rows["notes"] if isinstance(rows, dict) else command(*asked, "--dataset", "shop", "-v").out.split("note: ")[1:]
    )
    found = [" ".join(note.split()) for note in notes]
    of_groups = [note for note in found if "missing from a run as 0" in note or note.startswith("after that")]
    typed = [note[note.index("ndcg-track ") :] for note in of_groups]
    assert len(typed) == 1 + (asked == ("history",))
    for line in typed:
        printed = command(*shlex.split(line)[1:])
        assert (printed.code, "error" in printed.err) == (0, False), printed.err
    assert (
        metric
        if asked == ("history",)
        else "ndcg@10 counts the queries missing from a run as 0, but they are left out: half (20 of 40), "
        "most (5 of 40)"
    ) in " ".join(printed.out.split())
    assert command("ingest", *files, "--dataset", "shop", "--metric", metric).code == 0
