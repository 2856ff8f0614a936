"""Answers to designs: what is stored of them, what is refused, and what another design has already."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_worlds import TRUE, answered, designs, drawn, fill_world
from refused import refusal_of

from ndcg_tracker import Tracker, errors

pytestmark = pytest.mark.both_engines
PAIR = ("dense", "stylish")
OF_JUDGE: dict[str, Any] = {"judge": "llama", "seed": "s"}


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    fill_as(fill_world)
    return tracker


def test_answers_are_stored_once_and_make_no_version_of_labels(shop: Tracker) -> None:
    n = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE).sample.n_drawn
    first = answered(shop, n=10)
    assert (first.n_new, first.n_known, first.n_unanswered) == (10, 0, n - 10)
    every = answered(shop)
    assert (every.n_new, every.n_known, every.n_unanswered) == (n - 10, 10, 0)
    assert [(version.judge, version.version) for version in shop.label_versions("shop")] == [("llama", 1)]
    assert {pair: grade for pair, (_, grade) in drawn(shop).items()} == {pair: TRUE[pair] for pair in drawn(shop)}
    (design,) = designs(shop)
    assert (design.checked_by, design.answered_after_run_id, design.answered_after_label_set_id) == ("human", 3, 1)


def test_answers_that_would_bias_are_refused_with_their_line(shop: Tracker, tmp_path: Path) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    pairs = list(drawn(shop))
    (left_out,) = [pair for pair in TRUE if pair not in pairs][:1]
    group, item = pairs[1]

    def refused(*rows: tuple[str, str, object], **options: Any) -> str:
        lines = ["group,item,label,could_move", *(f"{group},{item},{grade}," for group, item, grade in rows)]
        path = tmp_path / "answers.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        call = {"design": 1, "judge": "human", "dataset": "shop", **options}
        return refusal_of(errors.NdcgTrackerError, shop.add_answers, str(path), **call).replace(f"{tmp_path}/", "")

    assert refused((*pairs[0], 1), (*left_out, 1)) == (
        f"answers.csv:3: group {left_out[0]!r}, item {left_out[1]!r} was not drawn by design 1; the answer would bias "
        "it; leave it out, or store it separately with keep_others=True"
    )
    assert refused((*pairs[0], 1), ("no such", "d1", 1)) == (
        "answers.csv:3: group 'no such', item 'd1' was not drawn by design 1; the answer would bias it; leave it out, "
        "or store it separately with keep_others=True"
    )
    for grade in (4, 1.5, -1):
        assert refused((group, item, grade)) == (
            f"answers.csv:2: group {group!r}, item {item!r}: grade {grade} is off the scale of judge 'llama', whole "
            "grades 0 to 3; correct it, or leave it empty"
        )
    assert refused((group, item, 1), (group, item, 2)).startswith("answers.csv:3: ")
    assert refused((group, item, 1), design=7) == (
        "there is no design 7 of dataset 'shop' (it only has 1); draw one with: ndcg-track labels sample A B --judge "
        "JUDGE --budget N"
    )
    assert refused((group, item, 1), judge="llama") == (
        "design 1 checks judge 'llama', who cannot answer it; name another judge="
    )
    assert refused((group, item, 1), judge="") == "answers to a design need a judge; say who gave them with judge="
    assert all(grade is None for _, grade in drawn(shop).values())
    answered(shop, n=2)
    other = (TRUE[pairs[1]] + 1) % 4
    assert refused((*pairs[3], 1), (group, item, other)) == (
        f"answers.csv:3: group {group!r}, item {item!r} was answered with {TRUE[pairs[1]]}, not {other}; answers "
        "cannot be changed; leave it out"
    )
    assert refused((*pairs[3], 1), judge="somebody") == (
        "design 1 is answered by 'human', not by 'somebody'; give judge='human'"
    )
    assert sum(grade is not None for _, grade in drawn(shop).values()) == 2


def test_an_empty_cell_stays_to_be_answered(shop: Tracker, tmp_path: Path) -> None:
    result = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    path = tmp_path / "ask.csv"
    result.save(path)
    head, first, *rest = path.read_text(encoding="utf-8").splitlines()
    assert head == "group,item,label,could_move"
    assert first.endswith(",,")
    path.write_text("\n".join([head, first[:-1] + "2,", *rest]) + "\n", encoding="utf-8")
    done = shop.add_answers(str(path), design=1, judge="human", dataset="shop")
    assert (done.n_new, done.n_unanswered) == (1, result.sample.n_drawn - 1)


def test_answers_to_items_that_were_not_drawn_are_kept_apart_on_demand(shop: Tracker) -> None:
    n = shop.labels_sample(*PAIR, budget=60, looks=2, **OF_JUDGE).sample.n_drawn
    every: dict[str, list[Any]] = {"group": [], "item": [], "label": []}
    for (group, item), grade in TRUE.items():
        for name, value in (("group", group), ("item", item), ("label", grade)):
            every[name].append(value)
    call: dict[str, Any] = {"design": 1, "judge": "human", "dataset": "shop", "keep_others": True}
    done = shop.add_answers(every, **call)
    assert (done.n_new, done.n_apart, done.n_unanswered, done.n_known) == (n, len(TRUE) - n, 0, 0)
    again = shop.add_answers(every, **call)
    assert (again.n_new, again.n_apart, again.n_known) == (0, 0, len(TRUE))
    assert len(drawn(shop)) == n
    with shop.store().read() as tx:
        (design,) = tx.designs.all(1)
        assert len(tx.designs.kept_apart(design.id)) == len(TRUE) - n
        assert tx.damage() == []
    changed = {**every, "label": [(int(grade) + 1) % 4 for grade in every["label"]]}
    assert refusal_of(errors.ConflictError, shop.add_answers, changed, **call).endswith(
        "; answers cannot be changed; leave it out"
    )
    stranger = {"group": ["no such"], "item": ["d1"], "label": [1]}
    assert refusal_of(errors.InputError, shop.add_answers, stranger, **call) == (
        "group 'no such' of item 'd1' is not in the dataset; leave it out, or correct it"
    )
    more = shop.labels_sample(*PAIR, judge="llama", budget=60).sample
    assert (more.look, more.items) == (2, ()), "what is drawn now and was kept apart has its answer"
    with shop.store().read() as tx:
        assert len(tx.designs.kept_apart(design.id)) == len(TRUE) - more.n_drawn


def test_answers_that_are_kept_apart_are_answers(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, looks=2, **OF_JUDGE)
    group, item = next(pair for pair in TRUE if pair not in drawn(shop))
    apart = {"group": [group], "item": [item], "label": [1]}
    shop.add_answers(apart, design=1, judge="human", dataset="shop", keep_others=True)
    before = drawn(shop)
    why = "its 2 looks are planned with a budget of 60; give budget=60"
    for options, words in (
        ({"budget": 90}, f"design 1 has answers, and {why}"),
        ({"budget": 20}, "design 1 has answers, and its budget cannot shrink from 60 to 20; give budget=60"),
        ({"budget": 60, "looks": 3}, "design 1 is planned with 2 looks, not 3; give looks=2, or leave it out"),
        ({"budget": 60, "scale": 4}, "the scale of design 1 is that of the judge, not up to 4; leave out scale="),
    ):
        assert refusal_of(errors.ConflictError, shop.labels_sample, *PAIR, judge="llama", **options) == words
    assert drawn(shop) == before


def test_no_answer_is_filled_in_yet(shop: Tracker, tmp_path: Path) -> None:
    result = shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    call: dict[str, Any] = {"design": 1, "judge": "human", "dataset": "shop"}
    words = (
        "no answer is filled in yet; write grades into the label column, or name the column that has them with label="
    )
    for name, format in (("ask.csv", "csv"), ("quepid.csv", "quepid"), ("ask.json", "elasticsearch")):
        path = tmp_path / name
        result.save(path, format)  # type: ignore[arg-type]
        assert refusal_of(errors.InputError, shop.add_answers, str(path), **call) == f"{path}: {words}"
    frame = {"group": ["q1"], "item": ["d1"], "label": [None]}
    assert refusal_of(errors.InputError, shop.add_answers, frame, **call) == f"labels: {words}"


def test_an_item_of_two_designs_is_asked_once(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    sample = shop.labels_sample("dense", "other", judge="llama", budget=60).sample
    shared = drawn(shop, 1).keys() & drawn(shop, 2).keys()
    asked = {(item.group, item.item) for item in sample.items}
    assert shared
    assert asked == drawn(shop, 2).keys() - shared
    assert [(note.kind, note.facts) for note in sample.notes] == [("shared_answers", {"n": len(shared)})]
    pairs = sorted(asked)
    frame = {"group": [pair[0] for pair in pairs], "item": [pair[1] for pair in pairs]}
    grades = [TRUE[pair] for pair in pairs]
    done = shop.add_answers({**frame, "label": grades}, design=2, judge="human", dataset="shop")
    assert (done.n_new, done.n_known, done.n_shared, done.n_unanswered) == (len(asked), 0, len(shared), 0)
    assert {pair: grade for pair, (_, grade) in drawn(shop, 2).items()} == {pair: TRUE[pair] for pair in drawn(shop, 2)}


def test_somebody_else_is_asked_what_another_has_answered(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    first = shop.labels_sample("dense", "other", judge="llama", budget=60).sample
    shared = drawn(shop, 1).keys() & drawn(shop, 2).keys()
    pair = first.items[0].group, first.items[0].item
    frame = {"group": [pair[0]], "item": [pair[1]], "label": [TRUE[pair]]}
    done = shop.add_answers(frame, design=2, judge="ann", dataset="shop")
    assert (done.n_shared, done.n_unanswered) == (0, first.n_drawn - 1)
    rest = shop.labels_sample("dense", "other", judge="llama", budget=60).sample
    assert {(item.group, item.item) for item in rest.items} == drawn(shop, 2).keys() - {pair}
    assert shared <= {(item.group, item.item) for item in rest.items}


def test_an_answer_to_another_design_stays(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    shop.labels_sample("dense", "other", judge="llama", budget=60)
    pair = min(drawn(shop, 1).keys() & drawn(shop, 2).keys())
    other = {"group": [pair[0]], "item": [pair[1]], "label": [(TRUE[pair] + 1) % 4]}
    refused = refusal_of(errors.ConflictError, shop.add_answers, other, design=2, judge="human", dataset="shop")
    assert refused == (
        f"group {pair[0]!r}, item {pair[1]!r} was answered with {TRUE[pair]}, not {(TRUE[pair] + 1) % 4}; answers "
        "cannot be changed; leave it out"
    )


def test_a_design_whose_items_are_all_answered_elsewhere_is_answered(shop: Tracker) -> None:
    shop.labels_sample("dense", "stylish", "other", budget=10_000, **OF_JUDGE)
    answered(shop)
    sample = shop.labels_sample("dense", "other", judge="llama", budget=60).sample
    assert (sample.n_answered, sample.items) == (sample.n_drawn, ())
    assert [note.kind for note in sample.notes] == ["shared_answers", "all_answered"]
    again = shop.labels_sample("dense", "other", judge="llama", budget=60).sample
    assert [note.kind for note in again.notes] == ["all_answered"]
    assert designs(shop)[1].checked_by == "human"
    assert {pair: grade for pair, (_, grade) in drawn(shop, 2).items()} == {pair: TRUE[pair] for pair in drawn(shop, 2)}


def test_what_is_taken_over_from_another_design_is_counted_once(shop: Tracker) -> None:
    shop.labels_sample(*PAIR, budget=60, **OF_JUDGE)
    answered(shop)
    n = shop.labels_sample("dense", "other", judge="llama", budget=60).sample.n_drawn
    n_shared = len(drawn(shop, 1).keys() & drawn(shop, 2).keys())
    done = answered(shop, 2)
    assert (done.n_new, done.n_known, done.n_shared, done.n_unanswered) == (n - n_shared, 0, n_shared, 0)
    again = answered(shop, 2)
    assert (again.n_new, again.n_known, again.n_shared) == (0, n, 0)
