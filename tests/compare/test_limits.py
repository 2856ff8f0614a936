"""Limits of a gate on numbers of whole runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.compare.limits import Limit, LimitCheck, checked_limits
from ndcg_tracker.errors import InputError
from ndcg_tracker.questions.gate.decide import Decision, Rules, with_limits
from ndcg_tracker.statistics.t_test import TTest

TAG = "ndcg-track runs tag RUN x=NUMBER"


@pytest.mark.parametrize(
    ("text", "shown", "worst"),
    [
        ("latency_ms=+10%", "+10%", 22.0),
        ("latency_ms=+5", "+5", 25.0),
        ("throughput=-10%", "-10%", 18.0),
        ("throughput=-.5", "-0.5", 19.5),
        ("memory=+0", "+0", 20.0),
    ],
)
def test_what_a_limit_allows(text: str, shown: str, worst: float) -> None:
    limit = Limit.of(text)
    assert (limit.name, limit.text, limit.worst(20.0)) == (text.partition("=")[0], shown, worst)


@pytest.mark.parametrize(
    "text", ["latency", "latency=", "latency=10%", "=+10%", "latency=+", "l=+-1", "l=+1e3", "l=+10 %"]
)
def test_what_is_not_a_limit(text: str) -> None:
    with pytest.raises(InputError) as refused:
        Limit.of(text)
    assert str(refused.value) == (
        f"limit={text!r} is not a limit; write NAME=+10% or NAME=+5 for the most it may rise, NAME=-10% for the most "
        "it may fall"
    )


@given(st.floats(-1e6, 1e6), st.integers(0, 200), st.booleans(), st.booleans())
def test_what_is_just_allowed_is_met_and_more_is_not(number: float, amount: int, rises: bool, is_share: bool) -> None:
    limit = Limit.of(f"x={'+' if rises else '-'}{amount}{'%' * is_share}")
    worst = limit.worst(number)
    beyond = max(abs(worst), abs(number), 1e-3) * 1e-9
    for candidate, is_met in ((worst, True), (number, True), (worst + beyond if rises else worst - beyond, False)):
        (found,) = checked_limits([limit], {"x": number}, {"x": repr(candidate)})
        assert found.is_met is is_met
        assert (found.baseline, found.candidate, found.worst) == (number, candidate, worst)


def test_a_limit_that_is_not_met_fails_whatever_the_metric_says() -> None:
    met, missed = (LimitCheck("x", "+1", 1.0, number, 2.0, number <= 2) for number in (2.0, 3.0))
    for decision in ("pass", "fail", "inconclusive"):
        found = Decision(rules=Rules(0.01), t=TTest(9, 0.0, None), whole=decision)  # type: ignore[arg-type]
        assert with_limits(found, ()) is found
        assert with_limits(found, (met,)).decision == decision
        assert with_limits(found, (met, missed)).decision == "fail"
        assert with_limits(found, (met, missed)).without("limit") == decision


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({}, "the candidate has no tag 'x'; set it with: ndcg-track runs tag RUN x=NUMBER"),
        ({"x": "fast"}, "'x' of the candidate is 'fast', which is not a number; set it with: " + TAG),
        ({"x": "nan"}, "'x' of the candidate is 'nan', which is not a number; set it with: " + TAG),
    ],
)  # fmt: skip
def test_a_run_without_the_number(tags: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as refused:
        checked_limits([Limit.of("x=+1")], {"x": "1"}, tags)
    assert str(refused.value) == said
