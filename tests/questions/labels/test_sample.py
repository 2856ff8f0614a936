"""``labels sample`` and ``labels add --design``: what people are given, look after look, and what is read of it."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from judged_worlds import RUNS, TRUE, fill_world
from small_shop import write_csv

from ndcg_tracker import Tracker

SAMPLE = ("labels", "sample", "dense", "stylish", "other", "--judge", "llama")
ADD = ("labels", "add", "answers.csv", "--judge", "human", "--design", "1", "--dataset", "shop")
TITLE, TEXT = 'Tent, "green"', "=a tent,\nfor two"


@pytest.fixture
def judged(fill_as: Callable[[Callable[[str], object]], None], command: CommandLine) -> CommandLine:
    fill_as(fill_world)
    return command


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def fill_in(folder: Path, name: str = "ask.csv", column: str = "label", **unsure: str) -> int:
    """Fill in what people would say; ``unsure``: what to write for some groups instead. Return how many are left."""
    rows = rows_of((folder / name).read_text(encoding="utf-8"))
    group, item = ("query", "docid") if column == "rating" else ("group", "item")
    for row in rows:
        row[column] = unsure.get(row[group], str(TRUE[row[group], row[item]]))
    with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return sum(row[group] in unsure for row in rows)


def test_look_after_look(judged: CommandLine, folder: Path) -> None:
    said = judged.said(*SAMPLE, "--budget", "100", "--looks", "2", "--seed", "s", "-o", "ask.csv")
    n = len(rows_of((folder / "ask.csv").read_text(encoding="utf-8")))
    assert said == (
        f"wrote {n} items of design 1, look 1 of 2; fill in the grades, then type: ndcg-track labels add ask.csv "
        f"--judge "
        "NAME --design 1 --dataset shop\n"
    )
    text = judged.done(*SAMPLE, "--budget", "100")
    assert text.startswith(f"stylish and other against dense on shop: design 1 drew {n} items of ")
    assert "budget  50 of 100, at look 1 of 2\n" in text
    n_unsure = fill_in(folder, q3="Unsure", q7="")
    assert n_unsure
    assert judged.said(*ADD) == (
        f"stored {n - n_unsure} answers of 'human' to design 1 of dataset 'shop'; look 1 of 2: {n_unsure} still "
        "without an answer\n"
    )
    assert judged.refused(*SAMPLE, "--budget", "100") == (
        f"design 1 waits for {n_unsure} answers before look 2 of 2; add them with: ndcg-track labels add FILE --judge "
        "human --design 1 --dataset shop; --budget 50 gives the open items again"
    )
    judged.said(*SAMPLE, "--budget", "50", "-o", "ask.csv")
    assert fill_in(folder) == 0
    assert judged.said(*ADD) == (
        f"stored {n_unsure} answers of 'human' to design 1 of dataset 'shop'; look 1 of 2: all items have an answer\n"
    )
    found = judged.rows(*SAMPLE, "--budget", "100")
    assert (found["look"], found["n_looks"], found["budget"], found["planned_budget"]) == (2, 2, 100, 100)
    assert found["n_answered"] == n


@pytest.mark.parametrize("format", ["csv", "quepid", "elasticsearch"])
def test_files_carry_texts_and_are_read_back(judged: CommandLine, folder: Path, format: str) -> None:
    with Tracker(judged.url) as tracker:
        texts = {"group": ["q1", None], "item": [None, "d1"], "text": ["tents", TEXT], "title": [None, TITLE]}
        tracker.add_texts(texts, dataset="shop")
    plan = (*SAMPLE, "--budget", "1000", "--seed", "s")
    items = judged.rows(*plan)["items"]
    (both,) = [item for item in items if (item["group"], item["item"]) == ("q1", "d1")]
    assert both == {"group": "q1", "item": "d1", "query": "tents", "title": TITLE, "text": TEXT, "url": None}
    name = "ask.json" if format == "elasticsearch" else "ask.csv"
    judged.said(*plan, "-o", name, "--format", format)
    written = (folder / name).read_text(encoding="utf-8")
    if format == "elasticsearch":
        assert '"query": "tents"' in written
        assert '"title": "Tent, \\"green\\""' in written
        first, *rest = written.split('"rating": null')
        (folder / name).write_text(first + '"rating": "unsure"' + '"rating": 1'.join(rest), encoding="utf-8")
    else:
        head = {
            "csv": "group,item,label,could_move,query,title,text",
            "quepid": "query,docid,rating,query_text,title,text",
        }
        assert written.splitlines()[0] == head[format]
        assert '"Tent, ""green"""' in written
        fill_in(folder, column="rating" if format == "quepid" else "label", **{items[0]["group"]: "UNSURE"})
        name = "answers.csv"
    n_unsure = 1 if format == "elasticsearch" else sum(item["group"] == items[0]["group"] for item in items)
    said = judged.said("labels", "add", name, *ADD[3:])
    assert said == (
        f"stored {len(items) - n_unsure} answers of 'human' to design 1 of dataset 'shop'; {n_unsure} still without "
        f"an answer\n"
    )


def test_without_texts_there_are_no_columns_of_them(judged: CommandLine) -> None:
    printed = judged.done(*SAMPLE, "--budget", "30", "--format", "csv")
    assert printed.splitlines()[0] == "group,item,label,could_move"


def test_unsure_is_no_label_elsewhere(judged: CommandLine, folder: Path) -> None:
    (folder / "answers.csv").write_text("group,item,label\nq1,d1,unsure\n", encoding="utf-8")
    assert judged.refused("labels", "add", "answers.csv", "--judge", "human", "--dataset", "shop") == (
        "answers.csv:2: label 'unsure' is not a number; write it like 0.5, -2 or 1e-3"
    )


def test_answers_of_others_are_kept_apart_and_counted(judged: CommandLine, folder: Path) -> None:
    judged.said(*SAMPLE, "--budget", "60", "--seed", "s", "-o", "ask.csv")
    fill_in(folder)
    pairs = {(row["group"], row["item"]) for row in rows_of((folder / "ask.csv").read_text(encoding="utf-8"))}
    left_out = next(pair for pair in TRUE if pair not in pairs)
    with (folder / "answers.csv").open("a", encoding="utf-8") as file:
        file.write(f"{left_out[0]},{left_out[1]},1,\n")
    assert judged.refused(*ADD) == (
        f"answers.csv:{len(pairs) + 2}: group {left_out[0]!r}, item {left_out[1]!r} was not drawn by design 1; the "
        "answer would bias it; leave it out, or store it separately with --keep-others"
    )
    assert judged.said(*ADD, "--keep-others") == (
        f"stored {len(pairs)} answers of 'human' to design 1 of dataset 'shop', 1 more stored apart, for items that "
        "it did not draw; all items have an answer\n"
    )
    assert judged.refused(*ADD[:5], "--dataset", "shop", "--keep-others") == (
        "--keep-others is for answers to a design; give --design N, or leave it out"
    )


def test_what_is_newer_than_the_answers_is_told(judged: CommandLine, folder: Path) -> None:
    judged.said(*SAMPLE, "--budget", "60", "--seed", "s", "-o", "ask.csv")
    fill_in(folder)
    judged.said(*ADD)
    ingest = ("ingest", write_csv(folder / "tuned.csv", RUNS["other"]), "--dataset", "shop", "--judge", "llama")
    judged(*ingest)
    plan = ("labels", "sample", "dense", "tuned", "--judge", "llama", "--budget", "60")
    said = judged.said(*plan, "-o", "more.csv")
    assert (
        "note: runs or labels that design 2 compares were stored after the first answer and could depend on answers, "
        "so it has " in said
    )
    assert "note: people answered " in said
    found = judged.rows(*plan, "--metric", "dcg@10")
    assert found["notes"][0].endswith(
        "; if they do not, to draw it with the old numbers: ndcg-track labels sample dense tuned --judge llama "
        "--metric "
        "dcg@10 --dataset shop --budget 60 --not-tuned"
    )
    pairs = rows_of((folder / "more.csv").read_text(encoding="utf-8"))
    fill_in(folder, "more.csv", **{row["group"]: "" for row in pairs[1:] if row["group"] != pairs[0]["group"]})
    judged.said("labels", "add", "answers.csv", "--judge", "human", "--design", "2", "--dataset", "shop")
    assert judged.rows(*plan)["notes"][0].endswith(", so it has its own random numbers")
    assert judged.refused(*plan, "--not-tuned") == (
        "design 2 was drawn with its own random numbers; leave out --not-tuned"
    )
    found = judged.rows(*found["notes"][0].rpartition(": ndcg-track ")[2].split())
    assert (found["design"], found["not_tuned"], found["n_known"]) == (3, True, 0)
    assert found["notes"][0] == (
        "runs or labels that design 3 compares were stored after the first answer; somebody stated that they do not "
        "depend on answers"
    )


def test_when_all_is_answered_the_next_command_is_told(judged: CommandLine, folder: Path) -> None:
    sample = (*SAMPLE, "--budget", "60", "--seed", "s", "-o", "ask.csv")
    judged.said(*sample)
    assert judged.refused("labels", "add", "ask.csv", *ADD[3:]) == (
        "ask.csv: no answer is filled in yet; write grades into the label column, or name the column that has them "
        "with --label"
    )
    fill_in(folder)
    judged.said(*ADD)
    compare = "compare dense stylish other --judge llama --dataset shop --check-with human"
    assert judged.said(*sample) == (
        "wrote 0 items of design 1\n"
        f"note: all items of design 1 have an answer; to compare its runs: ndcg-track {compare}\n"
    )
    printed = " ".join(judged.done(*sample[:-2]).split())
    assert printed.endswith(f"note: all items of design 1 have an answer; to compare its runs: ndcg-track {compare}")
    assert "checked by 'human'" in judged.done(*compare.split())
    assert judged.refused(*SAMPLE, "--budget", "60", "--metric", "dcg@10", "--scale", "2") == (
        "grades of judge 'llama' go up to 3, but answers would go up to 2; give --scale 3 or more, or leave it out"
    )


def test_answers_to_two_designs_are_counted_once(judged: CommandLine, folder: Path) -> None:
    judged.said(*SAMPLE, "--budget", "60", "--seed", "s", "-o", "ask.csv")
    first = {(row["group"], row["item"]) for row in rows_of((folder / "ask.csv").read_text(encoding="utf-8"))}
    plan = ("labels", "sample", "dense", "other", "--judge", "llama", "--budget", "60", "-o", "more.csv")
    judged.said(*plan)
    second = {(row["group"], row["item"]) for row in rows_of((folder / "more.csv").read_text(encoding="utf-8"))}
    fill_in(folder)
    judged.said(*ADD)
    n_shared = len(first & second)
    assert judged.said(*plan) == (
        f"wrote {len(second) - n_shared} items of design 2; fill in the grades, then type: ndcg-track labels add "
        f"more.csv --judge NAME --design 2 --dataset shop\nnote: people answered {n_shared} drawn items for other "
        "designs; nobody is asked again\n"
    )
    rows = "".join(f"{group},{item},{TRUE[group, item]}\n" for group, item in sorted(second))
    (folder / "answers.csv").write_text(f"group,item,label\n{rows}", encoding="utf-8")
    add = (*ADD[:6], "2", *ADD[7:])
    stored = "of 'human' to design 2 of dataset 'shop'"
    assert judged.said(*add) == (
        f"stored {len(second) - n_shared} answers {stored}, {n_shared} more from other designs; all items have an "
        f"answer\n"
    )
    assert judged.said(*add) == f"stored 0 answers {stored}, {len(second)} already known; all items have an answer\n"
