"""A gate's decision as text, JSON, Markdown and CSV: the verdict first, then what it stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting import gate_words as words
from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_text
from ndcg_tracker.reporting.table import Format
from ndcg_tracker.reporting.terminal import Style, display_width, padded, painted, visible, wrapped

if TYPE_CHECKING:
    from ndcg_tracker.comparison.gate_result import Gated

WIDTH = 100

_COMMAND = "ndcg-track "
_STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "bold"}
_DECISION_COLUMNS = (
    "scope",
    "margin",
    "n",
    "delta",
    "lower",
    "lower_method",
    "upper",
    "upper_method",
    "pass_level",
    "fail_alpha",
    "low_information",
    "small_but_real_drop",
    "n_needed",
    "n_needed_for",
    "margin_needed",
)


def gate_as(format: Format, gated: Gated, *, color: bool = False, spelled: Spelling = in_python) -> str:
    """Return a decision in a format, with a line end; ``spelled``: how arguments are spelled for people."""
    if format == "json":
        return json_text(gated.to_dict())
    if format == "csv":
        return gate_csv(gated)
    if format == "markdown":
        return gate_markdown(gated, spelled)
    return gate_text(gated, color=color, spelled=spelled)


def gate_text(gated: Gated, *, color: bool = False, spelled: Spelling = in_python) -> str:
    """Return the decision as a text report, 100 columns wide; everything that came from outside is escaped.

    Parameters: ``color``: whether styles are written; the caller knows the terminal and NO_COLOR. ``spelled``: how
    arguments are spelled, as Python does or as options.
    """
    gated = words.for_people(gated)
    verdict = painted(words.verdict(gated), _STYLES[gated.decision.decision], color=color)
    lines = [f"{verdict}: {visible(words.finding(gated))}"]
    lines += [*wrapped(visible(_sentence(gated.decision.why)), WIDTH), ""]
    pairs = [(visible(name), visible(value)) for name, value in words.facts(gated, spelled)]
    width = max(display_width(name) for name, _ in pairs)
    before = ""
    for name, value in pairs:
        lines += wrapped(value, WIDTH, padded("" if name == before else name, width) + "  ")
        before = name
    told = [("warning: ", warning) for warning in words.warnings(gated)]
    told += [("note: ", note) for note in words.notes(gated)]
    lines += [""] if told else []
    for kind, sentence in told:
        said, before_command, command = visible(sentence).partition(f": {_COMMAND}")
        lines += wrapped(said + before_command[:1], WIDTH, kind)
        lines += [f"      {_COMMAND}{command}"] if before_command else []  # whole, ready to be copied
    return "\n".join(lines) + "\n"


def gate_markdown(gated: Gated, spelled: Spelling = in_python) -> str:
    """Return the decision as Markdown for a pull request or a job summary; ``spelled``: see ``gate_text``."""
    gated = words.for_people(gated)
    lines = [f"### {markdown_text(f'{words.verdict(gated)}: {words.finding(gated)}')}", ""]
    lines += [markdown_text(_sentence(gated.decision.why)), ""]
    lines += [f"- {markdown_text(f'{name}: {value}')}" for name, value in words.facts(gated, spelled)]
    lines += [f"- {markdown_text(f'warning: {warning}')}" for warning in words.warnings(gated)]
    lines += [f"- {markdown_text(f'note: {note}')}" for note in words.notes(gated)]
    return "\n".join(lines) + "\n"


def gate_csv(gated: Gated) -> str:
    """Return the decision as one CSV row with full double precision."""
    comparison, metric, decision = gated.comparison, gated.metric, gated.decision.to_dict()
    acknowledged = gated.acknowledgement
    row = {
        "decision": decision["decision"],
        "reason": decision["reason"],
        "baseline_run": comparison.baseline.name,
        "baseline_run_id": comparison.baseline.run_id,
        "candidate_run": comparison.candidate.name,
        "candidate_run_id": comparison.candidate.run_id,
        "dataset": comparison.dataset,
        "label_set_version": comparison.label_set.version,
        "label_set_digest": comparison.label_set.digest,
        "metric": metric.metric,
        "baseline": metric.baseline,
        "candidate": metric.candidate,
        **{name: decision[name] for name in _DECISION_COLUMNS},
        "wins": metric.wins,
        "ties": metric.ties,
        "losses": metric.losses,
        "warnings": "; ".join(metric.warnings),
        "alpha_budget": gated.alpha_budget,
        "decision_id": gated.decision_id,
        "decision_number": gated.number,
        "acknowledged_by": None if acknowledged is None else acknowledged.by,
        "acknowledged_reason": None if acknowledged is None else acknowledged.reason,
    }
    return csv_text(list(row), [list(row.values())])


def _sentence(text: str) -> str:
    """Return a text with a capital at its start."""
    return text[:1].upper() + text[1:]
