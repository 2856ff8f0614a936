"""A gate under a judge: PASS and FAIL by the difference that answers of people correct, or a word that none did."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from command_line import CommandLine
from judged_worlds import Frame, world

from ndcg_tracker import Tracker
from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.questions.gate.decide import population_decision, with_slices
from ndcg_tracker.statistics.t_test import paired_t, t_lower_bound, t_upper_bound
from ndcg_tracker.words.notes import sentence

RUNS, LABELS, TRUE = world(n_groups=200)
GATE = ("gate", "stylish", "--baseline", "dense", "--dataset", "shop")
CHECKED = (*GATE, "--judge", "llama", "--check-with", "human")


def fill_world(url: str) -> None:
    with Tracker(url) as tracker:
        for name, frame in RUNS.items():
            tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop")
        groups = list(dict.fromkeys(RUNS["dense"]["group"]))
        devices = ["phone" if place % 2 else "desk" for place in range(len(groups))]
        tracker.set_groups({"group": groups, "device": devices}, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], command: CommandLine) -> CommandLine:
    fill_as(fill_world)
    return command


def answered(command: CommandLine, budget: int, n: int | None = None, **options: Any) -> None:
    """Draw a design of both runs, and answer the first ``n`` of its items as people would."""
    with Tracker(command.url) as tracker:
        asked = {"judge": "llama", "dataset": "shop", "seed": "s", **options}
        sample = tracker.labels_sample("dense", "stylish", budget=budget, **asked).sample
        rows = [(item.group, item.item, TRUE[item.group, item.item]) for item in sample.items[:n]]
        groups, items, labels = zip(*rows, strict=True)
        frame: Frame = {"group": list(groups), "item": list(items), "label": list(labels)}
        tracker.add_answers(frame, design=sample.design, judge="human", dataset="shop")


@pytest.mark.both_engines
def test_pass_and_fail_are_those_of_the_corrected_bounds(shop: CommandLine) -> None:
    answered(shop, 400)
    (metric,) = shop.rows("compare", "dense", "stylish", *CHECKED[4:])["metrics"]
    found = shop.rows(*CHECKED, "--margin", "0.2")
    assert found["decision"] == "pass"
    assert found["delta"] == metric["delta"]
    assert (found["lower_method"], found["upper_method"], found["betting_lower"]) == ("t", "t", None)
    assert metric["ci"][0] < found["lower"] < found["delta"] < found["upper"]
    assert found["judge_alone"] == ""
    narrow = shop(*CHECKED, "--margin", "0.0001", "--format", "json")
    assert '"decision": "inconclusive"' in narrow.out
    assert shop.rows("sql", "SELECT judge, checked_by, decision, decision_number FROM gate_decisions") == [
        {"judge": "llama", "checked_by": "human", "decision": "pass", "decision_number": 1},
        {"judge": "llama", "checked_by": "human", "decision": "inconclusive", "decision_number": 2},
    ]


def test_by_the_judge_alone_it_says_so_first_and_on_the_record(shop: CommandLine) -> None:
    lines = shop.done(*GATE, "--judge", "llama", "--margin", "0.01").splitlines()
    assert lines[0] == "PASS: stylish may replace dense on shop"
    text = " ".join(" ".join(lines[1:5]).split())
    assert (
        "The verdict rests on: judge 'llama' alone, whose labels nobody has checked; to have people check it: "
        "ndcg-track "
        "labels sample dense stylish --judge llama --budget N --dataset shop"
    ) in text
    assert shop.rows(*GATE, "--margin", "0.01", "--dry-run")["judge_alone"] == "llama"
    decided = shop.rows("sql", "SELECT judge, checked_by, decision_number FROM gate_decisions")
    assert decided == [{"judge": "llama", "checked_by": None, "decision_number": 1}]
    answered(shop, 400)
    assert shop.rows(*CHECKED, "--margin", "0.2")["decision_number"] == 1  # a gate of its own
    with Tracker(shop.url) as tracker:
        tracker.add_labels(LABELS, judge="human", dataset="shop", rescore=True)
    assert shop.rows(*GATE, "--judge", "human", "--margin", "0.01")["judge_alone"] == ""  # who checks others


def test_below_a_hundred_answers_that_differ_nothing_is_decided(shop: CommandLine) -> None:
    answered(shop, 120)
    printed = shop(*CHECKED, "--margin", "0.5")
    assert printed.code == 4
    lines = printed.out.splitlines()
    assert lines[0] == "INCONCLUSIVE: not known whether stylish may replace dense on shop"
    text = " ".join(printed.out.split())
    assert " answers differ from the judge; below 100, no bound is trusted)" in text
    assert re.search(r"to decide about \d+ more answers, planned from the start \(PASS\)", text)
    assert "won, " not in text
    assert "; below 100, the gate does not trust a t bound, and no other bound applies note: " in text
    found = shop.rows(*CHECKED, "--margin", "0.5", "--on-inconclusive", "pass")
    assert (found["lower"], found["lower_method"]) == (None, None)
    assert found["n_labels_needed_for"] == "pass"


def test_slices_are_decided_by_their_own_answers(shop: CommandLine) -> None:
    answered(shop, 700)
    slices = ("--by", "device", "--slice-margin", "0.4", "--strict-slices")
    found = shop.rows(*CHECKED, "--margin", "0.2", *slices)
    assert [row["status"] for row in found["slices"]["rows"]] == ["within", "within"]
    assert found["decision"] == "pass"


def test_looks_share_the_levels(shop: CommandLine) -> None:
    delta = np.random.default_rng(1).normal(0, 0.1, 800)
    chance = Chance(informative=np.full(800, 2), n_looks=5)
    decision = population_decision(delta, 0.05, chance=chance)
    test = paired_t(delta)
    assert (decision.lower, decision.upper) == (t_lower_bound(test, level=0.99), t_upper_bound(test, level=0.998))
    assert (decision.pass_level, decision.fail_alpha) == (0.99, 0.002)
    of_slices = with_slices(decision, delta, Slicing("device", ["tv"] * 400 + ["phone"] * 400), 0.05, chance=chance)
    assert of_slices.slices is not None
    rows = {row.value: row for row in of_slices.slices.rows}
    for value, part in (("tv", delta[:400]), ("phone", delta[400:])):
        bounds = t_lower_bound(paired_t(part), level=0.99), t_upper_bound(paired_t(part), level=1 - rows[value].alpha)
        assert (rows[value].lower, rows[value].upper) == pytest.approx(bounds)
    assert sorted(row.alpha for row in rows.values()) == [0.001, 0.002]
    answered(shop, 800, looks=2)
    found = shop.rows(*CHECKED, "--margin", "0.2")
    assert found["pass_level"] == 0.975
    assert found["metrics"][0]["check"]["n_looks"] == 2


REFUSED = {
    "--scope set": "--scope set does not go with --check-with: a sample of labels involves chance, but this is exact "
    "arithmetic; leave one out",
    "--margin 0.1 --max-harm .3:2%": "--max-harm does not go with --check-with: a few labels do not show how much "
    "each group loses; leave one out",
    "--margin auto": "--margin auto does not go with --check-with: it learns how runs vary from the labels that are "
    "checked; leave one out",
    "--margin 0.1 --unjudged zero": "--unjudged zero does not go with --check-with: people grade drawn items that "
    "nobody judged; leave one out",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_answers_do_not_decide_is_refused(shop: CommandLine, words: str) -> None:
    assert shop.refused(*CHECKED, *words.split()) == REFUSED[words]


def test_a_gate_without_answers_says_how_to_get_them(shop: CommandLine) -> None:
    assert shop.refused(*CHECKED, "--margin", "0.1") == (
        "no design of 'dense' and 'stylish' checks judge 'llama'; draw one with: ndcg-track labels sample dense "
        "stylish --judge llama --budget N --metric ndcg@10 --dataset shop"
    )


def test_a_gate_on_a_suite_says_so_too(shop: CommandLine) -> None:
    with Tracker(shop.url) as tracker:
        tracker.create_suite("all", ["shop"])
    suite = ("gate", "stylish", "--baseline", "dense", "--suite", "all", "--judge", "llama", "--margin", "0.01")
    text = " ".join(shop.done(*suite).split())
    assert (
        "The verdict rests on: judge 'llama' alone, whose labels nobody has checked; to have people check it: "
        "ndcg-track "
        "labels sample A B --judge llama --budget N"
    ) in text
    assert shop.rows(*suite, "--dry-run")["judge_alone"] == "llama"


def test_where_few_groups_pull_most_no_bound_decides() -> None:
    """Of a checked judge no betting bound stands in for t, and the warning says so."""
    delta = np.append(np.random.default_rng(3).normal(0, 0.01, 99), -1.0)
    decision = population_decision(delta, 0.05, chance=Chance(informative=np.full(100, 2)))
    assert (decision.decision, decision.lower, decision.upper) == ("inconclusive", None, None)
    assert decision.low_information is not None
    assert sentence(decision.low_information).endswith(
        ", so the gate does not trust a t bound, and no other bound applies"
    )
    by_betting = population_decision(delta, 0.05)
    assert by_betting.lower_method == "betting"
