"""A gate's decision as a JUnit report, which CI systems show beside the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting import gate_words as words
from ndcg_tracker.reporting.gate_formats import gate_text
from ndcg_tracker.reporting.terminal import visible

if TYPE_CHECKING:
    from ndcg_tracker.comparison.gate_result import Gated

Outcome = Literal["passed", "failed", "skipped"]


def gate_junit(gated: Gated, outcome: Outcome, spelled: Spelling = in_python) -> str:
    """Return the XML document of a JUnit report with the gate as its one test case.

    What XML does not allow, control characters and lone surrogates, is written out as an escape such as ``\\x1b``.

    Parameters: ``outcome``: of the build: "failed" makes it a failure; "skipped" is for what was not decided and shall
    not fail the build. ``spelled``: how arguments are spelled.
    """
    gated = words.for_people(gated)
    comparison, decision = gated.comparison, gated.decision
    counts = {
        "tests": "1",
        "failures": str(int(outcome == "failed")),
        "errors": "0",
        "skipped": str(int(outcome == "skipped")),
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "ndcg-track gate", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "ndcg-track gate", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(gated):
        ElementTree.SubElement(properties, "property", {"name": name, "value": visible(value)})
    name = f"{gated.metric.metric}: {comparison.candidate.name} against {comparison.baseline.name}"
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {"classname": visible(f"ndcg-track.gate.{comparison.dataset}"), "name": visible(name), "time": "0"},
    )
    message = f"{words.verdict(gated)}: {decision.why}"
    if outcome == "failed":
        found = ElementTree.SubElement(case, "failure", {"type": words.verdict(gated), "message": visible(message)})
        found.text = gate_text(gated, spelled=spelled)
    elif outcome == "skipped":
        ElementTree.SubElement(case, "skipped", {"message": visible(message)})
    ElementTree.SubElement(case, "system-out").text = gate_text(gated, spelled=spelled)
    ElementTree.indent(root)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ElementTree.tostring(root, encoding="unicode") + "\n"


def _properties(gated: Gated) -> list[tuple[str, str]]:
    decision = gated.decision
    pairs = [
        ("decision", decision.decision),
        ("scope", decision.scope),
        ("margin", repr(decision.margin)),
        ("delta", "" if decision.delta is None else repr(decision.delta)),
        ("n", str(decision.n)),
        ("decision_id", "" if gated.decision_id is None else str(gated.decision_id)),
    ]
    if gated.acknowledgement is not None:
        pairs += [("acknowledged_by", gated.acknowledgement.by), ("acknowledged_reason", gated.acknowledgement.reason)]
    return pairs
