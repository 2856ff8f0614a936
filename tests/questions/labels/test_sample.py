"""Whole queries drawn for people: what is asked, in which order, what a larger budget adds, and how it is said."""

import csv
from pathlib import Path

import pytest
from command_line import CommandLine
from drawn_product import answer, ask, run_of, some_queries, store
from drawn_worlds import under_a_judge, with_holes
from refused import refusal_of
from small_shop import frame_of

import ndcg_tracker as nt
from ndcg_tracker.statistics.drawn_queries import draw_order

JUDGED = some_queries(under_a_judge("symmetric"), 60)
HOLES = some_queries(with_holes("heavy"), 60)


def test_whole_queries_come_in_the_permanent_order_up_to_the_first_that_does_not_fit(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    sample = tracker.labels_sample("A", "B", budget=200, seed="s", **call).sample
    order = draw_order("s", [f"q{n}".encode() for n in range(60)])
    n_asked = JUDGED.facts().n_asked
    asked = [f"q{n}" for n in order.tolist()][: sample.n_drawn]
    assert list(dict.fromkeys(item.group for item in sample.items)) == asked
    assert sample.n_items == len(sample.items) == n_asked[order[: sample.n_drawn]].sum() <= 200
    assert n_asked[order[: sample.n_drawn + 1]].sum() > 200
    assert sample.needed == (30, n_asked[order[:30]].sum())
    assert {(item.group, item.item) for item in sample.items} == {
        (f"q{n}", f"d{item}") for n in order[: sample.n_drawn].tolist() for item in JUDGED.is_open[n].nonzero()[0]
    }


def test_without_a_judge_only_items_without_a_label_are_asked_for_that_are_apart(tracker: nt.Tracker) -> None:
    call = store(tracker, HOLES, "shop")
    sample = tracker.labels_sample("A", "B", budget=10_000, **call).sample
    expected = {(f"q{n}", f"d{item}") for n, item in zip(*HOLES.is_open.nonzero(), strict=True)}
    assert {(item.group, item.item) for item in sample.items} == expected
    assert sample.n_open == HOLES.is_open.any(axis=1).sum()


def test_a_larger_budget_keeps_the_design_and_asks_only_for_what_nobody_answered(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    first = tracker.labels_sample("A", "B", budget=200, seed="s", **call).sample
    pairs = [(item.group, item.item) for item in first.items]
    answer(tracker, JUDGED, pairs[3:], 1, call)
    larger = tracker.labels_sample("A", "B", budget=400, **call).sample
    assert (larger.design, larger.n_answered) == (1, len(pairs) - 3)
    again = [(item.group, item.item) for item in larger.items]
    assert again[:3] == pairs[:3]  # a query that was left out comes first
    assert not set(again) & set(pairs[3:])
    smaller = tracker.labels_sample("A", "B", budget=200, **call).sample
    assert [(item.group, item.item) for item in smaller.items] == pairs[:3]


def test_another_pair_shares_answers_and_has_its_own_number(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    tracker.ingest(run_of(JUDGED.ranks[1]), name="C", **call)
    ask(tracker, JUDGED, 300, call, seed="s")
    sample = tracker.labels_sample("A", "C", budget=300, **call).sample
    assert (sample.design, sample.items, sample.n_answered) == (2, (), 300 - (300 - sample.n_items))
    assert [note.kind for note in sample.notes] == ["all_answered"]


def test_the_seed_is_fixed_by_the_first_sample(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    tracker.labels_sample("A", "B", budget=100, seed="s", **call)
    error = refusal_of(nt.ConflictError, tracker.labels_sample, "A", "B", budget=100, seed="t", **call)
    assert error == "the queries of dataset 'shop' always have the order of seed 's', not 't'; leave out seed="


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("runs", "further", "refusal"),
    [
        ("AB", {"budget": 0}, "the budget must be 1 to 10,000,000 items, not 0"),
        ("AB", {"budget": 3}, "the first query has {n} open items, more than the budget of 3; raise budget="),
        ("AA", {"budget": 9}, "run 'A' cannot differ from itself; name two runs"),
        ("AB", {"budget": 9, "metric": "AP"}, "AP: whole queries are not drawn for it: it has no cutoff; use "
         "metric='AP@10'"),
        ("AC", {"budget": 9}, "nothing is open for 'C' and 'A' under ndcg@10: people labelled it, or the lists are the "
         "same; compare them"),
    ],
)  # fmt: skip
def test_refusals(tracker: nt.Tracker, runs: str, further: dict[str, object], refusal: str) -> None:
    call = store(tracker, JUDGED, "shop", "ndcg@10,AP")
    tracker.ingest(run_of(JUDGED.ranks[0]), name="C", **call)
    told = refusal_of(nt.NdcgTrackerError, tracker.labels_sample, *runs, seed="s", **further, **call)
    n = JUDGED.facts().n_asked[draw_order("s", [f"q{n}".encode() for n in range(60)])[0]]
    assert told == refusal.format(n=n)


def test_a_file_that_cannot_be_written_draws_nothing(command: CommandLine, tracker: nt.Tracker, folder: Path) -> None:
    call = store(tracker, HOLES, "shop")
    path = str(folder / "nowhere" / "ask.csv")
    asked = ("labels", "sample", "A", "B", "--dataset", "shop", "--budget", "30", "-o", path)
    assert command.refused(*asked) == (
        f"--output: cannot write '{path}': its folder does not exist; create the folder, or give another path"
    )
    assert tracker.sql("SELECT * FROM drawn_labels").empty
    assert tracker.labels_sample("A", "B", budget=30, seed="mine", **call).sample.design == 1


def test_by_commands(command: CommandLine, tracker: nt.Tracker, folder: Path) -> None:
    store(tracker, HOLES, "shop")
    done = command("labels", "sample", "A", "B", "--dataset", "shop", "--budget", "30", "-o", str(folder / "ask.csv"))
    sample = tracker.labels_sample("A", "B", budget=30, dataset="shop").sample
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        f"design 1: {sample.n_drawn} of {sample.n_open} queries with open items, {sample.n_items} items; a verdict "
        f"needs 30 queries with {sample.needed[1]} items",
        f"wrote {sample.n_items} items; fill in the grades, then type: ndcg-track labels add {folder / 'ask.csv'} "
        "--design 1 --dataset shop",
    ]
    rows = list(csv.DictReader((folder / "ask.csv").read_text().splitlines()))
    assert list(rows[0]) == ["group", "item", "label"]
    assert [(row["group"], row["item"]) for row in rows] == [(item.group, item.item) for item in sample.items]
    lines = [
        "group,item,label",
        *(f"{row['group']},{row['item']},{place and 1}" for place, row in enumerate(rows[:-1])),
    ]
    (folder / "said.csv").write_text("\n".join([*lines, f"{rows[-1]['group']},{rows[-1]['item']},unsure"]) + "\n")
    add = ("labels", "add", str(folder / "said.csv"), "--design", "1", "--dataset", "shop")
    assert command(*add).err == (
        f"stored {len(rows) - 1} answers to design 1 of dataset 'shop'; 1 still without an answer\n"
    )
    assert command(*add).err == (
        f"stored 0 answers to design 1 of dataset 'shop', {len(rows) - 1} already known; 1 still without an answer\n"
    )


def test_items_that_the_judge_has_not_graded_come_first(command: CommandLine, tracker: nt.Tracker) -> None:
    labels = frame_of({f"q{n}": {"a": 1, "c": 0} for n in range(4)}, "label")
    for name, lists in (("one", {"a": 2.0, "b": 1.0}), ("two", {"a": 1.0, "b": 2.0})):
        of_run = frame_of({f"q{n}": lists for n in range(4)})
        tracker.ingest(of_run, labels=labels, name=name, dataset="shop", judge="llama")
    done = command("labels", "sample", "one", "two", "--judge", "llama", "--dataset", "shop", "--budget", "4")
    assert done.code == 0
    assert "have judge 'llama' grade 4 items first, as that is cheap; to list them" in " ".join(done.out.split())
    assert "labels needed one two --judge llama --metric ndcg@10 --dataset shop --all" in " ".join(done.out.split())
