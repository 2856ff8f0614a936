"""A gate's decision on a suite: for people, programs and CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndcg_tracker.compare.say_suite import macro_means, rare_loss_fact, suite_notes, suite_table
from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.gate.result import SuiteGated
from ndcg_tracker.questions.gate.say import (
    SENTENCES,
    STYLES,
    bounds_in_words,
    by_t_alone,
    decision_junit,
    delta_words,
    do_lines,
    reason,
    recorded_as,
    slice_tables,
    unjudged_fact,
    verdict_words,
    why_words,
)
from ndcg_tracker.render.formats import Said, as_object, paths, picked, shape_of
from ndcg_tracker.render.report import Line, Report, Table
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.render.whole_file import Outcome
from ndcg_tracker.words.notes import Told, sentence
from ndcg_tracker.words.texts import counted, ordinal, points, shown_margin

_KEYS = paths("decision_id decision_number=number acknowledged=acknowledgement judge_alone decided_before outside")
_ROW = paths(
    "decision reason suite baseline candidate metric margin n delta lower lower_method upper upper_method pass_level "
    "fail_alpha low_information decision_id decision_number acknowledged_by=acknowledged.by "
    "acknowledged_reason=acknowledged.reason max_harm n_harmed=harm.n_harmed harm_lower=harm.lower "
    "harm_upper=harm.upper outside"
)


def suite_gate_said(gated: SuiteGated, spelled: Spelling = in_python) -> Said:
    """Return the output for a decision on a suite; ``spelled``: how arguments are written for people."""
    return Said(gated, lambda: [suite_gate_report(gated, spelled)], lambda: Table.of_rows([suite_gate_row(gated)]))


def suite_gate_row(gated: SuiteGated) -> dict[str, Any]:
    """Return one row: both systems, the metric, and the decision with its numbers."""
    as_json = as_object(gated)
    harm = next((part for part in as_json["parts"] if part["kind"] == "harm"), None)
    return picked(_ROW, as_json | {"harm": harm})


@shape_of(SuiteGated)
def _shape(gated: SuiteGated) -> Mapping[str, object]:
    shape: dict[str, object] = as_object(gated.comparison) | as_object(gated.decision)
    return shape | picked(_KEYS, gated)


def suite_gate_report(gated: SuiteGated, spelled: Spelling = in_python) -> Report:
    """Return the report of a decision on a suite; ``spelled``: how arguments are written."""
    comparison, decision = gated.comparison, gated.decision
    where = f"suite {comparison.suite}"
    finding = SENTENCES[decision.decision].format(comparison.candidate, comparison.baseline, where)
    rules = f"(macro {familiar_name(comparison.metric)}, margin {shown_margin(decision.margin)})"
    low = decision.why
    lines = [Line("  ", delta_words(decision))]
    lines += [Line("  why: ", why)] if (why := why_words(decision)) else []
    lines += [Line("  ", words) for _, words in rare_loss_fact(comparison) if decision.decision == "pass"]
    lines += do_lines(decision, None)
    notes = suite_notes(comparison.notes)
    lines += [Line("  note: ", note.sentence + ":" * bool(note.command), note.command) for note in notes]
    return Report(
        f"{finding} {rules}{', but it was overridden' if gated.acknowledgement is not None else ''}",
        verdict=Painted(verdict_words(gated), STYLES[decision.decision]),
        under=[*lines, Line("  ", recorded_as(gated))],
        facts=[("reason", reason(decision)), *_facts(gated)],
        minor=[] if low is None else [Told("warning", sentence(low))],
        details=[suite_table(comparison), *slice_tables(decision, "datasets")],
        rest="bounds, datasets",
    )


def _facts(gated: SuiteGated) -> list[tuple[str, str]]:
    comparison, decision = gated.comparison, gated.decision
    baseline, candidate = macro_means(comparison)
    pairs = [
        (f"macro {familiar_name(comparison.metric)}", f"baseline {points(baseline)}, candidate {points(candidate)}"),
        ("delta", ", ".join([points(decision.delta, signed=True), *bounds_in_words(decision)])),
        *by_t_alone(decision),
        *unjudged_fact(decision),
        ("margin", points(decision.margin)),
        ("queries", f"{decision.n:,} of {counted(len(comparison.deltas), 'dataset')}; each dataset counts once"),
    ]
    pairs += rare_loss_fact(comparison)
    pairs.append(("decision", f"the {ordinal(gated.number)} of this gate"))
    return pairs


def suite_gate_junit(gated: SuiteGated, outcome: Outcome, spelled: Spelling = in_python) -> str:
    """Return the XML document of a JUnit report with the gate as its one test case; see ``gate.gate_junit``."""
    comparison = gated.comparison
    name = f"macro {familiar_name(comparison.metric)}: {comparison.candidate} against {comparison.baseline}"
    text = suite_gate_said(gated, spelled).in_format("text", detail="all")
    return decision_junit((f"ndcg-track.suite.{comparison.suite}", name), gated, text, outcome)
