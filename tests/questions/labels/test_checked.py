"""``labels sample``, ``labels add --design``, ``compare --check-with``: from a judge's labels to a checked verdict."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from judged_worlds import Frame, world
from small_shop import write_csv

from ndcg_tracker import Tracker, errors

RUNS, LABELS, TRUE = world()
COMPARE = ("compare", "dense", "stylish", "--judge", "llama", "--check-with", "human")
SAMPLE = ("labels", "sample", "dense", "stylish", "--judge", "llama")


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop", metrics=["ndcg@10", "AP"])


@pytest.fixture
def judged(fill_as: Callable[[Callable[[str], object]], None], command: CommandLine) -> CommandLine:
    fill_as(fill_world)
    return command


def fill_in(path: Path, n: int | None = None) -> str:
    """Fill in what people would say of the first ``n`` items, and return the file's name."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for row in rows[:n]:
        row["label"] = str(TRUE[row["group"], row["item"]])
    return write_csv(path.with_name("answers.csv"), {name: [row[name] for row in rows] for name in rows[0]})


def sampled(command: CommandLine, folder: Path, budget: int = 150) -> str:
    command.said(*SAMPLE, "--budget", str(budget), "--seed", "s", "-o", "ask.csv")
    answers = fill_in(folder / "ask.csv")
    command.said("labels", "add", answers, "--judge", "human", "--design", "1", "--dataset", "shop")
    return answers


def test_from_a_judge_to_a_checked_verdict(judged: CommandLine, folder: Path) -> None:
    alone = judged.done("compare", "dense", "stylish", "--judge", "llama", "--metric", "ndcg@10")
    assert alone.startswith("stylish against dense on shop (judge 'llama'): ndcg@10 improved by 0.1732")
    said = judged.said(*SAMPLE, "--budget", "150", "--seed", "s", "-o", "ask.csv")
    assert said == (
        "wrote 138 items of design 1; fill in the grades, then type: ndcg-track labels add ask.csv --judge NAME "
        "--design "
        "1 --dataset shop\n"
    )
    assert judged.refused(*COMPARE) == (
        "design 1 has no answers yet; add them with: ndcg-track labels add FILE --judge NAME --design 1 --dataset shop"
    )
    add = ("labels", "add", fill_in(folder / "ask.csv", 100), "--judge", "human", "--design", "1", "--dataset", "shop")
    assert (
        judged.said(*add) == "stored 100 answers of 'human' to design 1 of dataset 'shop'; 38 still without an answer\n"
    )
    assert judged.refused(*COMPARE) == (
        "38 of the 138 items that design 1 drew have no answer; add them with: ndcg-track labels add FILE --judge "
        "human --design 1 --dataset shop"
    )
    fill_in(folder / "ask.csv")
    assert judged.said(*add) == (
        "stored 38 answers of 'human' to design 1 of dataset 'shop', 100 already known; all items have an answer\n"
    )
    lines = judged.done(*COMPARE).splitlines()
    assert lines[0] == (
        "stylish against dense on shop (judge 'llama', checked by 'human'): no difference detected in ndcg@10 (+0.0294)"
    )


def test_answers_make_no_version_and_take_no_option_of_one(judged: CommandLine, folder: Path) -> None:
    answers = sampled(judged, folder)
    add = ("labels", "add", answers, "--judge", "human", "--design", "1", "--dataset", "shop")
    for words in (["--extend"], ["--rescore"], ["--added-by", "me"], ["--from-runs", "dense"]):
        assert judged.refused(*add, *words) == (
            f"{words[0]} is for versions of labels, and answers to a design do not make a version; leave it out"
        )
    assert judged.refused("labels", "add", answers, "--design", "1", "--dataset", "shop") == (
        "answers to a design need a judge; say who gave them with --judge NAME"
    )
    assert [version["judge"] for version in judged.rows("labels", "list", "--dataset", "shop")] == ["llama"]


def test_the_items_are_written_as_those_to_judge(judged: CommandLine, folder: Path) -> None:
    text = judged.done(*SAMPLE, "--budget", "40", "--seed", "s")
    found = judged.rows(*SAMPLE, "--budget", "40")
    assert text.startswith(
        f"stylish against dense on shop: design 1 drew {found['n_drawn']} items of {found['n_apart']} that tell them "
        "apart, for ndcg@10\n"
    )
    rows = list(csv.DictReader(io.StringIO(judged.done(*SAMPLE, "--budget", "40", "--format", "csv"))))
    assert [(row["group"], row["item"]) for row in rows] == [(item["group"], item["item"]) for item in found["items"]]
    assert {(row["label"], row["could_move"]) for row in rows} == {("", "")}
    assert judged.done(*SAMPLE, "--budget", "40", "--format", "quepid").startswith("query,docid,rating\n")
    assert '"rating": null' in judged.done(*SAMPLE, "--budget", "40", "--format", "elasticsearch")
    unsafe: Frame = {"group": ["=q"] * 2, "item": ["a", "b"], "score": [2.0, 1.0]}
    for name, scores in (("one", [2.0, 1.0]), ("two", [1.0, 2.0])):
        frame = {**unsafe, "score": scores, "label": [1, 0]}
        judged("ingest", write_csv(folder / f"{name}.csv", frame), "--dataset", "unsafe", "--judge", "llama")
    words = ("labels", "sample", "one", "two", "--judge", "llama", "--budget", "2", "--format", "csv")
    assert judged.refused(*words) == (
        "group '=q' cannot be read back from CSV that is safe to open; use --format elasticsearch"
    )


def test_runs_of_two_datasets_are_refused(judged: CommandLine) -> None:
    with Tracker(judged.url) as tracker:
        tracker.ingest(RUNS["dense"], labels=LABELS, judge="llama", name="elsewhere", dataset="books")
        with pytest.raises(errors.NotComparableError) as caught:
            tracker.labels_sample("dense", "elsewhere", judge="llama", budget=10)
    assert str(caught.value).endswith("only runs of one dataset can be drawn from together")
