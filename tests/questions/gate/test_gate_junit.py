"""The JUnit report: valid XML whatever the ids, and the numbers of the build."""

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.questions.gate.decide import Decision, Rules
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import Acknowledgement, Basis, Gated
from ndcg_tracker.questions.gate.say import gate_junit, gate_said
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.statistics.t_test import TTest


def made(comparison: Comparison) -> Gated:
    """Return a FAIL."""
    one = replace(comparison, metrics=comparison.metrics[:1])
    decision = Decision(rules=Rules(0.01, "set"), t=TTest(400, -0.0123, None), whole="fail")
    return Gated(one, decision, Basis(GateQuestion(candidate="dense", baseline="bm25"), {}, number=3), decision_id=9)


@pytest.mark.parametrize("has_failed", [True, False])
def test_the_counts_and_the_one_test_case(comparison: Comparison, has_failed: bool) -> None:
    gated = made(comparison)
    if not has_failed:
        gated = replace(gated, decision=replace(gated.decision, whole="pass"))
    text = gate_junit(gated)
    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>\n<testsuites ")
    root = ElementTree.fromstring(text.encode())
    (suite,) = root
    for node in (root, suite):
        assert [node.get(name) for name in ("tests", "failures", "errors", "skipped")] == [
            *("1", str(int(has_failed)), "0", "0"),
        ]
    (case,) = suite.findall("testcase")
    assert case.get("classname") == "ndcg-track.gate.shop"
    assert case.get("name") == "ndcg@10: dense against bm25"
    assert case.findtext("system-out") == gate_said(gated).in_format("text", detail="all")
    found = [(child.tag, child.get("type"), child.get("message")) for child in case]
    message = "FAIL: delta -0.0123 on these 400 queries; PASS needs it to be at least -0.01"
    assert found == [*([("failure", "FAIL", message)] if has_failed else []), ("system-out", None, None)]
    properties = {node.get("name"): node.get("value") for node in suite.iter("property")}
    assert properties == {
        "decision": "fail" if has_failed else "pass",
        "scope": "set",
        "margin": "0.01",
        "delta": "-0.0123",
        "n": "400",
        "decision_id": "9",
    }


def test_an_override_is_told(comparison: Comparison) -> None:
    gated = replace(made(comparison), acknowledgement=Acknowledgement("known", "ada"), decision_id=None)
    root = ElementTree.fromstring(gate_junit(gated))
    properties = {node.get("name"): node.get("value") for node in root.iter("property")}
    assert (properties["acknowledged_by"], properties["acknowledged_reason"]) == ("ada", "known")
    assert "decision_id" not in properties


def test_every_id_makes_valid_xml(hostile_id: str, hostile_comparison: Callable[[str], Comparison]) -> None:
    gated = replace(made(hostile_comparison(hostile_id)), acknowledgement=Acknowledgement(hostile_id, "a"))
    root = ElementTree.fromstring(gate_junit(gated).encode())
    case = root.find("testsuite/testcase")
    assert case is not None
    assert case.get("name") == visible(f"{hostile_id}: {hostile_id} against {hostile_id}")
    properties = {node.get("name"): node.get("value") for node in root.iter("property")}
    assert properties["acknowledged_reason"] == visible(hostile_id)
    failed = made(hostile_comparison(hostile_id))
    failure = ElementTree.fromstring(gate_junit(failed).encode()).find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.text == gate_said(failed).in_format("text", detail="all")


@pytest.mark.parametrize("text", ["\x00", "\x0b", "\ud800", "\ufffe", "\uffff", "]]>", "\x85", "&#0;", "\U0001ffff"])
def test_what_xml_does_not_allow_is_escaped(comparison: Comparison, text: str) -> None:
    gated = replace(made(comparison), acknowledgement=Acknowledgement(f"a{text}b", "ada"))
    root = ElementTree.fromstring(gate_junit(gated).encode())
    properties = {node.get("name"): node.get("value") for node in root.iter("property")}
    assert properties["acknowledged_reason"] == f"a{visible(text)}b"
    assert f"by ada: a{visible(text)}b" in (root.findtext("testsuite/testcase/system-out") or "")
