"""What the first screen says of slices: which fell, and by how much."""

from typing import get_args

import numpy as np
from samples import slices

from ndcg_tracker.compare.results import Open
from ndcg_tracker.questions.report.first_screen import answered, fallen

RNG = np.random.default_rng(40)


def named(changes: dict[str | None, float]) -> dict[str, str]:
    """Return the deltas of slices of 30 groups that are named, if they changed by so much and a little noise."""
    values = [value for value in changes for _ in range(30)]
    change = np.array([changes[value] for value in values])
    candidate = 0.5 + change * (1 + RNG.normal(0, 0.05, change.size))
    return {row["value"]: row["delta"] for row in fallen({"product": slices(candidate - 0.5, values)})}


def test_those_that_fell_are_named_the_worst_first() -> None:
    fell = named({"tent": 0.2, "lamp": -0.3, None: -0.25})
    assert list(fell) == ["lamp", "(none)"]
    assert fell == {"lamp": "-0.30", "(none)": "-0.25"}
    assert named({"tent": 0.2, "lamp": 0.3, None: 0.1}) == {}


def test_a_small_difference_has_digits_and_no_power_of_ten() -> None:
    deltas = named({"tent": -0.004, "lamp": -0.2})
    assert deltas["lamp"] == "-0.20"
    assert -0.005 < float(deltas["tent"]) < -0.003
    assert "e" not in deltas["tent"]


def test_only_some_are_named() -> None:
    assert len(named({f"p{number}": -0.1 for number in range(8)})) == 5


def test_slices_that_no_test_can_judge_did_not_fall() -> None:
    clusters = np.repeat([0, 1, 2], 10)
    rows = slices(RNG.normal(-0.2, 0.1, 30), ["tent"] * 10 + ["lamp"] * 10 + ["bag"] * 10, clusters=clusters)
    assert fallen({"product": rows}) == []


def test_whatever_keeps_a_verdict_open_has_an_answer_of_eight_words() -> None:
    answers = [answered(why, 0.1, is_doubtful=False) for why in get_args(Open)]
    assert "Open: nobody has checked the judge" in answers
    assert all(answer.startswith("Open: ") and len(answer.split()) <= 8 for answer in answers)
