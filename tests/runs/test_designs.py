"""Answers to designs: which are taken, and which are refused with their place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawn_product import answer, some_queries, store
from drawn_worlds import under_a_judge, with_holes
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.runs.designs import Answers

JUDGED = some_queries(under_a_judge("symmetric"), 40)


@pytest.fixture
def asked(tracker: nt.Tracker) -> list[tuple[str, str]]:
    """The items of the first design."""
    call = store(tracker, JUDGED, "shop")
    sample = tracker.labels_sample("A", "B", budget=100, seed="s", **call).sample
    return [(item.group, item.item) for item in sample.items]


def frame(pairs: list[tuple[str, str]], *grades: float) -> dict[str, list[Any]]:
    return {"group": [group for group, _ in pairs], "item": [item for _, item in pairs], "label": [*grades]}


def test_answers_are_stored_once_and_counted(tracker: nt.Tracker, asked: list[tuple[str, str]]) -> None:
    first = tracker.add_answers(frame(asked[:2], 0, 3), design=1, judge="ann", dataset="shop")
    assert first == Answers(1, "shop", "ann", 2, 0, len(asked) - 2)
    again = tracker.add_answers(frame(asked[:3], 0, 3, 1), design=1, judge="ann", dataset="shop")
    assert again == Answers(1, "shop", "ann", 1, 2, len(asked) - 3)


def test_people_may_grade_on_a_finer_scale_than_a_judge(tracker: nt.Tracker, asked: list[tuple[str, str]]) -> None:
    assert tracker.add_answers(frame(asked[:1], 4), design=1, judge="ann", dataset="shop").n_new == 1


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("given", "call", "refusal"),
    [
        (lambda pairs: frame(pairs[:1], 5), {},
         "grade 5 of {first} is off the scale, whole grades 0 to 4; correct it, or leave it empty"),
        (lambda pairs: frame(pairs[:1], 0.5), {},
         "grade 0.5 of {first} is off the scale, whole grades 0 to 4; correct it, or leave it empty"),
        (lambda pairs: frame([("q1", "never")], 1), {},
         "group 'q1', item 'never' was not drawn by design 1; leave it out, or add it as a label with extend=True"),
        (lambda pairs: frame(pairs[:1], 1), {"judge": None},
         "answers that check a judge need a name; say who gave them with judge="),
        (lambda pairs: frame(pairs[:1], 1), {"judge": "llama"},
         "design 1 checks judge 'llama', who cannot answer it; name another judge="),
        (lambda pairs: frame(pairs[:1], 1), {"design": 7},
         "there is no design 7 of dataset 'shop' (it only has 1); draw one with: ndcg-track labels sample A B "
         "--budget N"),
    ],
)  # fmt: skip
def test_refused_answers(
    tracker: nt.Tracker, asked: list[tuple[str, str]], given: Callable[..., Any], call: dict[str, Any], refusal: str
) -> None:
    told = refusal_of(
        nt.InputError, tracker.add_answers, given(asked), **{"design": 1, "judge": "ann", "dataset": "shop", **call}
    )
    group, item = asked[0]
    assert told == refusal.format(first=f"group {group!r}, item {item!r}")


def test_an_answer_stays_and_a_design_has_one_person(
    tracker: nt.Tracker, asked: list[tuple[str, str]], folder: Path
) -> None:
    tracker.add_answers(frame(asked[:1], 1), design=1, judge="ann", dataset="shop")
    (group, item), call = asked[0], {"design": 1, "dataset": "shop"}
    (folder / "said.csv").write_text(f"group,item,label\n{group},{item},2\n")
    told = refusal_of(nt.ConflictError, tracker.add_answers, str(folder / "said.csv"), judge="ann", **call)
    assert told == (
        f"{folder / 'said.csv'}:2: group {group!r}, item {item!r} was answered with 1, not 2; answers cannot be "
        "changed; leave it out"
    )
    told = refusal_of(nt.ConflictError, tracker.add_answers, frame(asked[1:2], 1), judge="zoe", **call)
    assert told == "design 1 is answered by 'ann', not by 'zoe'; give judge='ann'"


def test_each_answer_says_after_which_run_it_was_stored(tracker: nt.Tracker) -> None:
    holes = some_queries(with_holes("heavy"), 40)
    call = store(tracker, holes, "shop")
    sample = tracker.labels_sample("A", "B", budget=40, **call).sample
    pairs = [(item.group, item.item) for item in sample.items]
    answer(tracker, holes, pairs[:2], 1, call)
    tracker.ingest({"group": ["q0"], "item": ["d0"], "score": [1.0]}, name="later", dataset="shop")
    answer(tracker, holes, pairs[2:4], 1, call)
    with tracker.store().read() as tx:
        (design,) = tx.designs.all(1)
        runs = {run.id: run.name for run in tx.runs.all("shop")}
        after = [of.answered_after_run_id for of in tx.designs.items(design.id) if of.grade is not None]
    assert sorted(runs[number or 0] for number in after) == ["B", "B", "later", "later"]
    assert design.checked_by == ""
