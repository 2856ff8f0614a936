"""What a judge is worth by answers to drawn items: agreement, and signed errors per run."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from judged_worlds import Frame, world
from rankings_of import labels_of
from sklearn.metrics import cohen_kappa_score
from small_shop import frame_of

import ndcg_tracker as nt
from ndcg_tracker.questions.labels.decide import DrawnAnswers, JudgesAgreement
from ndcg_tracker.questions.labels.say import agreement_said
from ndcg_tracker.statistics.similarity import signed_error, weighted_kappa
from ndcg_tracker.words.notes import in_words

RUNS, LABELS, TRUE = world()
JUDGED = dict(zip(zip(LABELS["group"], LABELS["item"], strict=True), LABELS["label"], strict=True))
Pair = tuple[str, str]


def fill_world(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name)


@pytest.fixture
def judged(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Three runs under the labels of llama, which nobody has checked yet."""
    fill_as(fill_world)
    return tracker


def graded(pairs: Iterable[Pair]) -> Frame:
    """Return what people say of some items."""
    listed = list(pairs)
    groups, items = ([pair[place] for pair in listed] for place in (0, 1))
    return {"group": [*groups], "item": [*items], "label": [TRUE[pair] for pair in listed]}


def answered(
    tracker: nt.Tracker, candidate: str, budget: int, *, baseline: str = "dense", n: int | None = None
) -> list[Pair]:
    """Draw from two runs, let people grade the first ``n`` items, and return all drawn ones."""
    sample = tracker.labels_sample(baseline, candidate, judge="llama", budget=budget, seed="s").sample
    pairs = [(item.group, item.item) for item in sample.items]
    tracker.add_answers(graded(pairs[:n]), design=sample.design, judge="human")
    return pairs


def first_ten(run: str) -> set[Pair]:
    """Return the items among the first ten of a run."""
    lists: dict[str, list[tuple[float, str]]] = {}
    for group, item, score in zip(*RUNS[run].values(), strict=True):
        lists.setdefault(str(group), []).append((-float(str(score)), str(item)))
    return {(group, item) for group, items in lists.items() for _, item in sorted(items)[:10]}


def check(found: JudgesAgreement, drawn: Iterable[Pair], runs: tuple[str, ...]) -> None:
    """Check all figures against those of other implementations and of plain lists."""
    pairs = sorted(drawn)
    groups = np.array([int(group[1:]) for group, _ in pairs])
    by_judge, by_people = (np.array([float(str(of[pair])) for pair in pairs]) for of in (JUDGED, TRUE))
    by_hand = weighted_kappa(by_judge, by_people, groups)
    assert found.kappa is not None
    assert by_hand is not None
    assert found.kappa.ci == pytest.approx(by_hand.ci)
    assert found.kappa.value == pytest.approx(
        cohen_kappa_score(by_judge.astype(int), by_people.astype(int), weights="quadratic")
    )
    assert found.diff.agreement == pytest.approx(np.mean(by_judge == by_people))
    in_both = [count.n for count in found.diff.grades if None not in (count.first, count.second)]
    assert sum(in_both) == len(pairs)
    assert [run.run for run in found.signed_errors] == list(runs)
    for run in found.signed_errors:
        rows = np.array([pair in first_ten(run.run) for pair in pairs])
        error = signed_error((by_judge - by_people)[rows], groups[rows])
        assert (run.n, run.error, run.ci) == (error.n, pytest.approx(error.error), pytest.approx(error.ci))


def test_answers_to_a_design_are_enough(judged: nt.Tracker) -> None:
    pairs = answered(judged, "stylish", 150)
    found = judged.labels_agreement("llama", "human")
    check(found, pairs, ("dense", "stylish"))
    assert found.answers == DrawnAnswers("llama", "human", (1,), len(pairs), 0)
    assert (found.judge, found.against, found.notes) == ("llama", "human", ())
    assert judged.labels_agreement() == judged.labels_agreement("human") == found
    turned_around = judged.labels_agreement("human", "llama")
    assert (turned_around.diff.first.judge, turned_around.judge) == ("human", "llama")
    check(turned_around, pairs, ("dense", "stylish"))


def test_answers_to_designs_of_single_items_count_and_a_note_says_what_they_are_about(judged: nt.Tracker) -> None:
    pairs = answered(judged, "stylish", 150)
    with judged.store().write() as tx:
        (design,) = tx.designs.all(1)
        items = tx.designs.items(design.id)
        old = tx.write.designs.insert(replace(design, kind="items", metric="dcg@10"))
        of_old = {"design_id": old.id, "answered_after_run_id": None, "probability": 0.25}
        names = ("group_id", "item_key", "grade", "answered_at_utc")
        tx.write.copies.insert("drawn_items", [of_old | {name: getattr(of, name) for name in names} for of in items])
    found = judged.labels_agreement()
    check(found, pairs, ("dense", "stylish"))
    assert found.answers is not None
    assert found.answers.designs == (1, 2)
    assert in_words(found.notes) == (
        "an older version drew single items that tell two runs apart: the figures are about these",
    )


def test_a_pair_that_is_of_several_designs_counts_once(judged: nt.Tracker) -> None:
    one, other = answered(judged, "stylish", 150), answered(judged, "other", 300)
    assert set(one) & set(other) == set()  # nobody is asked again
    found = judged.labels_agreement()
    check(found, [*one, *other], ("dense", "stylish", "other"))
    assert found.answers is not None
    assert found.answers.designs == (1, 2)


def test_all_items_drawn_say_what_labels_of_all_say(judged: nt.Tracker) -> None:
    drawn = answered(judged, "stylish", 100_000)
    by_answers = judged.labels_agreement("llama", "human")
    judged.add_labels(graded(drawn), judge="all")
    by_labels = judged.labels_agreement("llama", "all")
    assert by_answers.kappa == by_labels.kappa
    assert by_answers.diff.agreement == by_labels.diff.agreement
    assert by_answers.signed_error == by_labels.signed_error
    assert by_answers.signed_errors == by_labels.signed_errors[:2]
    assert [run.run for run in by_labels.signed_errors] == ["dense", "stylish", "other"]  # without a design all runs
    assert (by_labels.judge, by_labels.against, by_labels.answers) == ("llama", "all", None)


def test_labels_that_the_other_judge_has_beside_answers_do_not_count(judged: nt.Tracker) -> None:
    answered(judged, "stylish", 150)
    alone = judged.labels_agreement("llama", "human")
    judged.add_labels(graded(TRUE), judge="human")
    assert judged.labels_agreement("llama", "human") == alone


def test_both_grades_of_each_item_are_written_side_by_side(
    judged: nt.Tracker, command: CommandLine, folder: Path
) -> None:
    pairs = answered(judged, "stylish", 150)
    command.done("labels", "agreement", "llama", "human", "--export-pairs", str(folder / "pairs.csv"))
    rows = list(csv.DictReader((folder / "pairs.csv").read_text().splitlines()))
    told = {(row["group"], row["item"]): (float(row["llama"]), float(row["human"])) for row in rows}
    assert told == {pair: (JUDGED[pair], TRUE[pair]) for pair in pairs}


def test_two_judges_without_a_common_pair(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of({"q": {"a": 1}}), judge="llama")
    tracker.add_labels(labels_of({"q": {"b": 1}}), judge="human")
    found = tracker.labels_agreement()
    assert (found.kappa, found.signed_error.error, found.signed_errors) == (None, None, ())
    assert agreement_said(found).in_format("text", detail="all").splitlines() == [
        "human against llama on default: weighted kappa is undefined",
        "labels of default, version 2 of judge 'human' against version 1 of judge 'llama': they have no label",
        "in common",
        "",
        "         version 1 of judge 'llama'  version 2 of judge 'human'  in both  gone  new",
        "queries                           1                           1        1     0    0",
        "labels                            1                           1        0     1    1",
        "",
        "grades: rows from version 1 of judge 'llama', columns from version 2 of judge 'human'",
        "   1",
        "1  0",
        "",
        "note: no pair of group and item has a grade from both judges; to draw some for the other judge to",
        "      grade:",
        "      ndcg-track labels sample A B --judge llama --budget N --dataset default",
        "",
        "weighted kappa: Cohen's, quadratic weights; 95% interval: jackknife over queries",
    ]


def test_one_shared_pair_shows_no_kappa(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of({"q": {"a": 1, "b": 0}}), judge="llama")
    tracker.add_labels(labels_of({"q": {"a": 2}}), judge="human")
    tracker.ingest(frame_of({"q": {"a": 1.0}}), name="bm25", judge="llama")
    found = tracker.labels_agreement()
    assert found.kappa is None
    (run,) = found.signed_errors
    assert (run.n, run.error, run.ci) == (1, -1.0, None)
    text = agreement_said(found).in_format("text")
    assert text.startswith("human against llama on default: weighted kappa is undefined\n")
    assert "0.0% of the 1 label in both have the same grade" in " ".join(text.split())
    rows = [line.split() for line in text.splitlines() if line.startswith(("bm25  ", "all labels"))]
    assert rows[:2] == [["bm25", "1", "-1.0000"], ["all", "labels", "1", "-1.0000"]]


def test_a_judge_without_labels_and_answers_is_refused_as_before(judged: nt.Tracker) -> None:
    answered(judged, "stylish", 100)
    with pytest.raises(nt.InputError) as caught:
        judged.labels_agreement("llama", "ann")
    assert str(caught.value) == (
        "dataset 'default' has no labels of judge 'ann', only those of judge 'llama'; choose with judge="
    )


def test_open_answers_a_newer_version_of_the_judge_and_runs_that_are_gone(judged: nt.Tracker) -> None:
    drawn = answered(judged, "stylish", 100, n=60)
    judged.delete_run("stylish")
    changed = {**LABELS, "label": [min(int(str(grade)) + 1, 3) for grade in LABELS["label"]]}
    judged.add_labels(changed, judge="llama")
    found = judged.labels_agreement("llama", "human")
    assert (found.signed_error.n, [run.run for run in found.signed_errors]) == (60, ["dense"])
    assert in_words(found.notes) == (
        "version 2 of judge 'llama' is newer than the first answers: if they helped to create it, it agrees with them "
        "better than with other answers",
        f"{len(drawn) - 60} of the {len(drawn)} drawn items have no answer yet; those with an answer are treated as a "
        "random sample",
    )


def test_answers_to_items_that_the_judge_did_not_label(tracker: nt.Tracker) -> None:
    groups = [f"q{number}" for number in range(8)]
    tracker.add_labels(labels_of({group: {"a": 1, "c": 0} for group in groups}), judge="llama")
    tracker.ingest(frame_of({group: {"a": 2.0, "b": 1.0} for group in groups}), name="a first", judge="llama")
    tracker.ingest(frame_of({group: {"a": 1.0, "b": 2.0} for group in groups}), name="b first", judge="llama")
    tracker.labels_sample("a first", "b first", judge="llama", budget=100)
    answers: Frame = {"group": [*groups, *groups], "item": [*"a" * 8, *"b" * 8], "label": [1] * 16}
    tracker.add_answers(answers, design=1, judge="human")
    found = tracker.labels_agreement()
    assert (found.signed_error.n, found.signed_error.error, found.kappa) == (8, 0.0, None)
    assert agreement_said(found).in_format("text").splitlines()[1:3] == [
        "16 answers of 'human' to design 1 (8 of them for items without a grade of judge 'llama'): 100.0%",
        "have the same grade",
    ]


def test_what_is_printed(judged: nt.Tracker, command: CommandLine, folder: Path) -> None:
    answered(judged, "stylish", 150)
    ask = ("labels", "agreement", "llama", "human", "--top", "0")
    text = command.done(*ask, "-v")
    assert text == command.done("labels", "agreement", "--judge", "llama", "--judge", "human", *ask[4:], "-v")
    found = command.rows(*ask)
    lines = text.splitlines()
    assert lines[0].startswith("human against llama on default: weighted kappa ")
    share = f"{found['diff']['agreement']:.1%}"
    assert lines[1] == f"148 answers of 'human' to design 1: {share} have the same grade"
    assert lines[3:5] == [
        "grades: rows from version 1 of judge 'llama', columns from answers of judge 'human'",
        "    0   1  2  3",
    ]
    assert lines[-2:] == [
        "weighted kappa: Cohen's, quadratic weights; 95% interval: jackknife over queries",
        "error: the mean among the first ranks of a run; 95% interval: t over queries",
    ]
    title = lines.index("grade of llama minus grade of human")
    assert lines[title + 1].split() == ["run", "labels", "error", "95%", "interval"]
    of_design = {"judge": "llama", "checked_by": "human", "designs": [1], "n": 148, "n_open": 0}
    assert found["answers"] == of_design
    assert [set(run) for run in found["signed_errors"]] == [{"run", "n", "error", "ci"}] * 2
    rows = list(csv.DictReader(io.StringIO(command.done(*ask, "--format", "csv"))))
    assert sum(int(row["n"]) for row in rows if row["grade_first"] and row["grade_second"]) == 148
    assert "**grade of llama minus grade of human**" in command.done(*ask, "--format", "markdown")
    assert command.refused("labels", "agreement", "--by", "lang") == (
        "--by is gone: labels agreement --export-pairs FILE writes both grades of each item"
    )
    assert command.refused("labels", "agreement", "a", "b", "c") == (
        "a comparison of judges needs two, not 'a', 'b', 'c'; name two"
    )
