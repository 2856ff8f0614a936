"""A gate's decision as a person reads it, to the letter, and as programs take it."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_object
from ndcg_tracker.questions.gate.decide import Bounds, Decision, Levels, Rules, Ways
from ndcg_tracker.questions.gate.decide_bounds import LearnedMargin
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import Acknowledgement, Basis, Drift, Gated
from ndcg_tracker.questions.gate.say import gate_said, reason
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import Note

BASIS = Basis(GateQuestion(candidate="dense", baseline="bm25"), {})
BOUNDS = Bounds(-0.01274, "betting", 0.01081, "t")
OPEN = Decision(
    rules=Rules(0.01),
    t=TTest(400, -0.003, None),
    bounds=BOUNDS,
    levels=Levels(0.95, 0.0304),
    why=Note("low_information", {"n": 400, "n_nonzero": 55, "enough": 100}),
    ways=Ways(579, "pass", 0.01274),
)
FAILED = Decision(rules=Rules(0.0, "set"), t=TTest(400, -0.0123, None), whole="fail")
PIN = "2026-01-31T08:00:00.000000Z"
INCONCLUSIVE = """\
INCONCLUSIVE: dense may or may not replace bm25 on shop (ndcg@10, margin 0.01, learned from 3
repeats)
  delta -0.0030; the data allow -0.013 to +0.011; PASS needs the lower end above -0.01
  why: only 55 of 400 queries differ
  do:  1. about 580 queries like these (PASS), or a margin above 0.01274 (PASS)
  warning: 12 groups with labels but missing in the candidate run: counted as 0
  warning: 3 groups undefined in both runs: left out
  note: labels version 3 is newer than version 2, which the runs share; to use it:  ndcg-track rescore bm25 dense
  recorded as decision 7

reason     delta -0.0030; the data allow -0.013 to +0.011; PASS needs the lower end above -0.01;
           only 55 of 400 queries differ; to decide: about 580 queries like these (PASS), or a
           margin above 0.01274 (PASS)
ndcg@10    baseline 0.6500, candidate 0.6377
delta      -0.0030, at least -0.0127 (betting bound, 95%), at most +0.0108 (96.96%)
margin     0.0100, learned from 3 repeats: with 95% confidence two repeats differ by less (a, b, c;
           3 pairs, at most 0.0020 apart)
bounds     cover other groups and another training of each run
groups     400; 101 won, 158 tied, 141 lost
labels     version 2, digest 3f2a91c0d4e5
judged@10  baseline 98.1%, candidate 87.3%
judged     baseline 50.0%, candidate not known
drift      @prod has been bm25 since 2026-01-31 08:00 UTC; 2 candidates accepted since
           it was moved 3 times to a candidate of this gate: -0.0120 since v0, -0.0150 with this
           candidate
decision   the 1st of this gate

warning: low information: 55 of 400 differences are nonzero; below 100, the t interval may be too
         narrow
"""
SHORT = """\
FAIL: dense must not replace bm25 on shop (ndcg@10, margin 0), but it was overridden
  delta -0.0123 on these 400 queries; PASS needs it to be at least 0
  warning: 12 groups with labels but missing in the candidate run: counted as 0
  warning: 3 groups undefined in both runs: left out
  not recorded; overridden by ada <ada@example.org>: the index was rebuilt

reason    delta -0.0123 on these 400 queries; PASS needs it to be at least 0
ndcg@10   baseline 0.6500, candidate 0.6377
delta     -0.0123
margin    0.0000
groups    400; 101 won, 158 tied, 141 lost
labels    version 2, digest 3f2a91c0d4e5
decision  the 2nd of this gate
"""


@pytest.fixture
def inconclusive(comparison: Comparison) -> Gated:
    """An open question with everything that a report can tell."""
    return Gated(
        replace(
            comparison,
            metrics=comparison.metrics[:1],
            worst=(),
            best=(),
            notes=(Note("newer_labels", {"newest": 3, "version": 2}, ("ndcg-track", "rescore", "bm25", "dense")),),
        ),
        OPEN,
        replace(BASIS, learned=LearnedMargin(0.01, ("a", "b", "c"), 3, 0.0016, 0.002, 0.95)),
        decision_id=7,
        drift=Drift("prod", "bm25", PIN, 2, 0, 3, "v0", -0.012, -0.015),
    )


@pytest.fixture
def overridden(comparison: Comparison) -> Gated:
    """A FAIL on a fixed set, overridden."""
    return Gated(
        replace(comparison, metrics=comparison.metrics[:1], worst=(), best=(), notes=(), coverage=()),
        FAILED,
        replace(BASIS, number=2),
        acknowledgement=Acknowledgement("the index was rebuilt", "ada <ada@example.org>"),
    )


def test_text(inconclusive: Gated, overridden: Gated) -> None:
    for gated, text in ((inconclusive, INCONCLUSIVE), (overridden, SHORT)):
        assert gate_said(gated).in_format("text", detail="all") == text
        last = "   (to_text(verbose=True): bounds, labels, ties, drift)\n"
        assert gate_said(gated).in_format("text") == text.partition("\n\n")[0] + last


def test_t_bounds_that_were_not_trusted_are_shown(inconclusive: Gated) -> None:
    of = replace(BOUNDS, t_lower=-0.0111, t_upper=0.0072, betting_upper=0.03)
    known = replace(OPEN, bounds=of)
    lines = gate_said(replace(inconclusive, decision=known)).in_format("text", detail="all").splitlines()
    assert "by t alone  at least -0.0111 (95%), at most +0.0072 (96.96%); not trusted, as information is low" in lines
    for trusted in (
        replace(known, bounds=replace(of, lower_method="t"), why=None),
        replace(known, bounds=replace(of, t_lower=None, t_upper=None)),
    ):
        assert "by t alone" not in gate_said(replace(inconclusive, decision=trusted)).in_format("text", detail="all")


def test_drift_in_words(inconclusive: Gated) -> None:
    pinned = replace(inconclusive, drift=Drift("prod", "bm25", PIN))
    assert (
        "drift      @prod has been bm25 since 2026-01-31 08:00 UTC; no candidate accepted since\ndecision"
        in gate_said(pinned).in_format("text", detail="all")
    )
    once = Drift("prod", "bm25", PIN, 0, 0, 1, "v0", -0.012, None)
    assert (
        "           it was moved once to a candidate of this gate: -0.0120 since v0, - with this candidate\n"
        in gate_said(replace(inconclusive, drift=once)).in_format("text", detail="all")
    )
    some = replace(once, n_accepted=2, n_moves=3, n_overridden=1)
    told = " ".join(gate_said(replace(inconclusive, drift=some)).in_format("text", detail="all").split())
    assert (
        "2 candidates accepted since, 1 overridden without a PASS it was moved 3 times to a candidate of this gate: "
        "-0.0120 since v0" in told
    )


def test_warnings_are_told_but_not_that_identical_runs_have_no_p(comparison: Comparison, overridden: Gated) -> None:
    few = Note("low_information", {"n": 396, "n_nonzero": 55, "enough": 100})
    one = replace(overridden, comparison=replace(overridden.comparison, metrics=comparison.metrics[1:2]))
    assert "warning: low information" not in gate_said(one).in_format(
        "text", detail="all"
    )  # the gate has a rule of its own
    one = replace(one, decision=replace(one.decision, why=few))
    assert "warning: low information: 55 of 396 differences are nonzero" in gate_said(one).in_format(
        "text", detail="all"
    )
    same = replace(overridden, comparison=replace(overridden.comparison, metrics=comparison.metrics[2:3]))
    assert "identical in every group" not in gate_said(same).in_format("text", detail="all")


def test_colour_follows_the_decision(inconclusive: Gated, overridden: Gated) -> None:
    assert gate_said(overridden).in_format("text", color=True).startswith("\x1b[33mFAIL\x1b[0m: ")
    assert gate_said(inconclusive).in_format("text", color=True).startswith("\x1b[35mINCONCLUSIVE\x1b[0m: ")
    passed = replace(overridden, decision=replace(overridden.decision, whole="pass"))
    assert gate_said(passed).in_format("text", color=True).startswith("\x1b[36mPASS\x1b[0m: ")


def test_markdown(overridden: Gated) -> None:
    lines = gate_said(overridden).in_format("markdown").splitlines()
    assert lines[:7] == [
        "### FAIL: dense must not replace bm25 on shop (ndcg@10, margin 0), but it was overridden",
        "- delta -0.0123 on these 400 queries; PASS needs it to be at least 0",
        "- warning: 12 groups with labels but missing in the candidate run: counted as 0",
        "- warning: 3 groups undefined in both runs: left out",
        "- not recorded; overridden by ada &lt;ada@example.org&gt;: the index was rebuilt",
        "",
        "<details><summary>bounds, labels, ties, drift</summary>",
    ]


def test_json_is_the_dictionary(inconclusive: Gated, overridden: Gated) -> None:
    for gated in (inconclusive, overridden):
        found = json.loads(gate_said(gated).in_format("json"))
        assert found == as_object(gated)
        compared = comparison_object(gated.comparison)
        assert {key: found[key] for key in compared} == compared
    assert (found["decision"], found["margin"], found["reason"]) == ("fail", 0.0, reason(overridden.decision))
    assert found["acknowledged"] == {"reason": "the index was rebuilt", "by": "ada <ada@example.org>"}


def test_csv_is_one_row(inconclusive: Gated, overridden: Gated) -> None:
    (row,) = csv.DictReader(io.StringIO(gate_said(inconclusive).in_format("csv"), newline=""))
    assert (row["decision"], row["margin"], row["lower"]) == ("inconclusive", "0.01", "-0.01274")
    assert (row["candidate_run"], row["n_needed"], row["decision_id"]) == ("dense", "579", "7")
    assert list(row) == list(next(csv.DictReader(io.StringIO(gate_said(overridden).in_format("csv"), newline=""))))


def hostile(gated: Gated, comparison: Comparison, text: str) -> Gated:
    """Return the decision with one id in every place that takes text from outside."""
    return replace(
        gated,
        comparison=replace(comparison, metrics=comparison.metrics[:1]),
        drift=Drift(text, text, PIN, 1, 0, 1, text, -0.012, -0.015),
        basis=replace(gated.basis, learned=LearnedMargin(0.01, (text,) * 3, 3, 0.0016, 0.002, 0.95)),
        acknowledgement=Acknowledgement(text, text),
    )


def test_no_id_is_obeyed(inconclusive: Gated, hostile_id: str, hostile_comparison: Callable[[str], Comparison]) -> None:
    made, harmless = (hostile(inconclusive, hostile_comparison(text), text) for text in (hostile_id, "harmless"))
    text, markdown = gate_said(made).in_format("text"), gate_said(made).in_format("markdown")
    for printed in (text, markdown, gate_said(made).in_format("csv")):
        assert visible(printed.replace("\n", "")) == printed.replace("\n", "")
    assert markdown.count("\n") == gate_said(harmless).in_format("markdown").count("\n")
    assert json.loads(gate_said(made).in_format("json")) == as_object(made)
