"""A gate by drawn answers: looks and their levels, a judge whom nobody checks, policies, and holes."""

from typing import Any

import pytest
from command_line import CommandLine
from drawn_product import ask, by_hand, run_of, some_queries, store
from drawn_worlds import under_a_judge, with_holes
from refused import refusal_of

import ndcg_tracker as nt

JUDGED = some_queries(under_a_judge("symmetric"), 90)
HOLES = some_queries(with_holes("heavy"), 90)


def checked(tracker: nt.Tracker, margin: float = 0.02, **further: Any) -> Any:
    call = {"judge": "llama", "check_with": "ann", "dataset": "shop", "margin": margin}
    return tracker.gate("B", baseline="A", **{**call, **further}).gated


def test_each_decision_by_drawn_answers_is_a_look_at_a_falling_level(tracker: nt.Tracker) -> None:
    store(tracker, JUDGED, "shop")
    call = {"judge": "llama", "dataset": "shop"}
    for number, (budget, level) in enumerate(zip((600, 700, 800, 900), (0.04, 0.005, 0.0025, 0.0025), strict=True), 1):
        ask(tracker, JUDGED, budget, call, seed="s")
        gated = checked(tracker, number / 100)
        decision = gated.decision
        expected = by_hand(JUDGED, "ndcg", budget, "s")
        assert (gated.drawn_look, decision.pass_level, decision.fail_alpha) == (number, 1 - level, level / 5)
        assert decision.lower == pytest.approx(expected.lower(level))
        assert decision.upper == pytest.approx(expected.upper(level / 5))
    assert checked(tracker, 0.04).decided_before  # an identical question is no look
    spent = tracker.gate("B", baseline="A", margin=0.5, check_with="ann", **call)
    assert (spent.decision, spent.reason) == (
        "inconclusive",
        "drawn answers decided on these runs 4 times, so another look decides nothing",
    )


def test_a_policy_with_a_budget_gives_the_level_and_leaves_out_what_is_older(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    ask(tracker, JUDGED, 300, call, seed="s")
    tracker.ingest(run_of(JUDGED.ranks[1]), name="again", **call)
    sample = tracker.labels_sample("A", "again", budget=1000, **call).sample
    frame = {"group": [item.group for item in sample.items], "item": [item.item for item in sample.items]}
    grades = [int(JUDGED.gains[int(item.group[1:]), int(item.item[1:])]) for item in sample.items]
    tracker.add_answers(frame | {"label": grades}, design=2, judge="ann", dataset="shop")
    tracker.set_alias("prod", "A", dataset="shop")
    tracker.set_policy("prod", margin=0.5, judge="llama", check_with="ann", budget=0.05, looks=10, dataset="shop")
    gated = tracker.gate("again", baseline="@prod", dataset="shop").gated
    assert gated.basis.look is not None
    assert (gated.basis.look.level, gated.decision.pass_level, gated.drawn_look) == (0.005, 0.995, 0)
    assert gated.metric.about.check is not None
    assert gated.metric.about.check.n_known == 0
    assert gated.metric.n < 90


def test_under_a_judge_whom_nobody_checks_nothing_is_decided(tracker: nt.Tracker, command: CommandLine) -> None:
    call = store(tracker, JUDGED, "shop")
    gated = tracker.gate("B", baseline="A", margin=0.5, **call)
    assert (gated.decision, gated.reason) == (
        "inconclusive",
        "nobody has checked judge 'llama', whose labels decide",
    )
    tracker.set_alias("prod", "A", dataset="shop")
    rules = ("--margin", "0.5", "--judge", "llama", "--trust-judge", "--dataset", "shop")
    assert command("policy", "set", "prod", *rules).code == 0
    trusted = tracker.gate("B", baseline="@prod", dataset="shop")
    assert trusted.decision == "pass"
    asking, rests_on = (
        "have people check judge 'llama'",
        "rests on: judge 'llama' alone, whose labels nobody has checked",
    )
    assert asking in one_line(gated)
    assert command("policy", "set", "prod", *rules[:1], "0.001", *rules[2:]).code == 0
    strict = tracker.gate("B", baseline="@prod", dataset="shop")
    assert strict.decision == "inconclusive"
    for of_trusted in (trusted, strict):
        assert rests_on in one_line(of_trusted)
        assert asking not in one_line(of_trusted)


def one_line(gated: object) -> str:
    return " ".join(str(gated).split())


def test_holes_name_the_command_and_the_number_of_queries_first(tracker: nt.Tracker) -> None:
    call = store(tracker, HOLES, "shop")
    gated = tracker.gate("B", baseline="A", margin=0.02, **call)
    assert gated.decision == "inconclusive"
    (told,) = (note for note in gated.gated.comparison.notes if note.kind == "unjudged_open")
    left = gated.gated.decision.unjudged
    assert left is not None
    command = f"ndcg-track labels sample A B --budget {left.n_items} --metric ndcg@10 --dataset shop"
    assert (told.facts["n"], " ".join(told.command)) == (left.n_items, command)
    assert f"  do:  1. grade {left.n_items:,} items in " in str(gated)


def test_answers_decide_in_the_place_of_the_range(tracker: nt.Tracker) -> None:
    call = store(tracker, HOLES, "shop")
    ask(tracker, HOLES, 250, call, seed="s")
    gated = tracker.gate("B", baseline="A", margin=0.02, **call).gated
    expected = by_hand(HOLES, "ndcg", 250, "s")
    assert gated.decision.unjudged is None
    assert gated.decision.lower == pytest.approx(expected.lower(0.04))
    assert gated.drawn_look == 1
    by_range = tracker.gate("B", baseline="A", margin=0.02, max_harm=".3:50%", **call).gated
    assert (by_range.decision.check, by_range.drawn_look) == (None, 0)


@pytest.mark.parametrize(
    ("further", "refusal"),
    [
        ({"scope": "set", "margin": None},
         "scope='set' does not go with check_with=: drawn queries involve chance, but this is exact "
         "arithmetic; leave one out"),
        ({"max_harm": ".3:2%"},
         "max_harm= does not go with check_with=: drawn queries do not show how much each group loses; "
         "leave one out"),
        ({"margin": "auto"},
         "margin='auto' does not go with check_with=: it learns how runs vary from the labels that are "
         "checked; leave one out"),
        ({"unjudged": "zero"},
         "unjudged='zero' does not go with check_with=: people grade what nobody judged; leave one "
         "out"),
    ],
)  # fmt: skip
def test_what_drawn_answers_do_not_decide(tracker: nt.Tracker, further: dict[str, Any], refusal: str) -> None:
    assert refusal_of(nt.InputError, checked, tracker, **further) == refusal


def test_arms_are_refused(tracker: nt.Tracker) -> None:
    call = store(tracker, JUDGED, "shop")
    told = refusal_of(nt.NdcgTrackerError, tracker.labels_sample, "A", "tag:system=b", budget=9, **call)
    assert told == "queries are drawn for single runs, not for an arm; name its runs"


def test_a_comparison_under_a_judge_whom_nobody_checks_is_open(tracker: nt.Tracker, command: CommandLine) -> None:
    call = store(tracker, JUDGED, "shop")
    compared = tracker.compare("A", "B", **call).comparisons[0]
    assert compared.metrics[0].open == "judge not checked"
    told = command("compare", "A", "B", "--judge", "llama", "--dataset", "shop")
    asking = "ndcg-track labels sample A B --judge llama --budget N --dataset shop"
    assert f"\n? nobody has checked judge 'llama', whose labels decide:  {asking}\n" in told.out
    assert [note.kind for note in compared.notes if note.kind in ("judge_unchecked", "unjudged_open")] == [
        "judge_unchecked"
    ]
    tracker.set_alias("prod", "A", dataset="shop")
    tracker.set_policy("prod", margin=0.5, judge="llama", trust_judge=True, dataset="shop")
    trusted = tracker.gate("B", baseline="@prod", dataset="shop").gated
    assert (trusted.metric.open, trusted.basis.judge_alone) == (None, "llama")
    ask(tracker, JUDGED, 300, call, seed="s")
    assert tracker.compare("A", "B", check_with="ann", **call).comparisons[0].metrics[0].open != "judge not checked"
