"""The sentences of a gate's decision, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.numbers import counted, points

if TYPE_CHECKING:
    from ndcg_tracker.comparison.gate_result import Drift, Gated

_SENTENCES = {
    "pass": "{candidate} may replace {baseline} on {dataset}",
    "fail": "{candidate} must not replace {baseline} on {dataset}",
    "inconclusive": "not known whether {candidate} may replace {baseline} on {dataset}",
}


def for_people(gated: Gated) -> Gated:
    """Return the decision with its metric named as people know it."""
    return replace(gated, comparison=words.for_people(gated.comparison))


def verdict(gated: Gated) -> str:
    """Return the decision in one word: PASS, FAIL or INCONCLUSIVE."""
    return gated.decision.decision.upper()


def finding(gated: Gated) -> str:
    """Return what the verdict means for both runs."""
    comparison = gated.comparison
    text = _SENTENCES[gated.decision.decision].format(
        candidate=comparison.candidate.name, baseline=comparison.baseline.name, dataset=comparison.dataset
    )
    return f"{text}, but it was overridden" if gated.acknowledgement is not None else text


def facts(gated: Gated, spelled: Spelling = in_python) -> list[tuple[str, str]]:
    """Return what the decision stands on, as pairs of a name and its value; ``spelled``: how arguments are spelled."""
    metric, decision = gated.metric, gated.decision
    pairs = [
        (metric.metric, f"baseline {points(metric.baseline)}, candidate {points(metric.candidate)}"),
        ("delta", ", ".join([points(decision.delta, signed=True), *_bounds(gated)])),
        *_by_t_alone(gated),
        ("tolerance" if decision.scope == "set" else "margin", _margin(gated)),
        ("groups", f"{decision.n:,}; {metric.wins:,} won, {metric.ties:,} tied, {metric.losses:,} lost"),
    ]
    pairs += [fact for fact in words.facts(gated.comparison, spelled) if fact[0] != "groups"]
    pairs += words.requests(gated.comparison)
    if gated.alpha_budget is not None and decision.fail_alpha is not None:
        number = _ordinal(gated.number)
        spent = f"{decision.fail_alpha:.3g} of {gated.alpha_budget:g}, for the {number} decision of this gate"
        pairs.append(("alpha", spent))
    if decision.to_decide:
        pairs.append(("to decide", decision.to_decide))
    if gated.drift is not None:
        pairs += [("drift", sentence) for sentence in _drift(gated.drift)]
    pairs.append(("decision", _record(gated)))
    if gated.acknowledgement is not None:
        pairs.append(("overridden", f"by {gated.acknowledgement.by}: {gated.acknowledgement.reason}"))
    return pairs


def warnings(gated: Gated) -> list[str]:
    """Return what to keep in mind: groups that count otherwise, and low information."""
    found: list[str] = []
    metric = gated.metric
    is_certain = metric.verdict in ("identical", "not_comparable")
    words.metric_cells(replace(metric, verdict="no_difference_detected") if is_certain else metric, found)
    return found


def notes(gated: Gated) -> list[str]:
    """Return what else to know; of ties what they do to the decision, not to a verdict that nobody asked for."""
    comparison = gated.comparison
    metrics = tuple(replace(metric, ties_could_change_verdict=False) for metric in comparison.metrics)
    found = words.notes(replace(comparison, metrics=metrics))
    if gated.ties_could_change_decision:
        found += words.ties_note(gated.metric, "the decision")
    return found


def _bounds(gated: Gated) -> list[str]:
    """Return the one-sided bounds, each with its level."""
    decision, found = gated.decision, []
    if decision.lower is not None and decision.pass_level is not None:
        method = "betting bound, " if decision.lower_method == "betting" else ""
        found.append(f"at least {points(decision.lower, signed=True)} ({method}{_percent(decision.pass_level)})")
    if decision.upper is not None and decision.fail_alpha is not None:
        method = "betting bound, " if decision.upper_method == "betting" else ""
        found.append(f"at most {points(decision.upper, signed=True)} ({method}{_percent(1 - decision.fail_alpha)})")
    return found


def _by_t_alone(gated: Gated) -> list[tuple[str, str]]:
    """Return the t bounds where they were not trusted alone, so that a reader sees what caution costs."""
    decision = gated.decision
    if decision.t_lower is None or decision.t_upper is None or decision.betting_lower is None:
        return []
    if decision.pass_level is None or decision.fail_alpha is None:
        return []
    low = f"at least {points(decision.t_lower, signed=True)} ({_percent(decision.pass_level)})"
    high = f"at most {points(decision.t_upper, signed=True)} ({_percent(1 - decision.fail_alpha)})"
    return [("by t alone", f"{low}, {high}; not trusted, as information is low")]


def _percent(level: float) -> str:
    return f"{level:.4%}".rstrip("%").rstrip("0").rstrip(".") + "%"


def _margin(gated: Gated) -> str:
    """Return the drop that is allowed, and where it comes from."""
    learned, margin = gated.learned_margin, points(gated.decision.margin)
    if learned is None:
        return margin
    runs = ", ".join(learned.runs[:8]) + (", ..." if len(learned.runs) > 8 else "")
    pairs = f"{counted(learned.n_pairs, 'pair')}, at most {points(learned.largest)} apart"
    return (
        f"{margin}, learned: with {_percent(learned.level)} confidence two repeats differ by less, after "
        f"{len(learned.runs)} of them ({runs}; {pairs})"
    )


def _drift(drift: Drift) -> list[str]:
    """Return how far accepted candidates have moved away from the pinned baseline."""
    pinned = f"@{drift.alias} is {drift.pinned_run} since {drift.pinned_at_utc[:16].replace('T', ' ')} UTC"
    if drift.n_accepted:
        latest = f"{points(drift.latest_delta, signed=True)} against it"
        pinned += (
            f"; {counted(drift.n_accepted, 'candidate')} accepted since, the last, {drift.latest_accepted}, {latest}"
        )
    else:
        pinned += "; no candidate accepted since"
    if not drift.n_moves:
        return [pinned]
    times = "once" if drift.n_moves == 1 else f"{drift.n_moves} times"
    moved = (
        f"it was moved {times} to an accepted candidate: {points(drift.moved_delta, signed=True)} since "
        f"{drift.first_run}, {points(drift.total_delta, signed=True)} with this candidate"
    )
    return [pinned, moved]


def _record(gated: Gated) -> str:
    """Return where the decision is recorded."""
    if gated.decision_id is None:
        return "not recorded (dry run)"
    return f"number {gated.decision_id}, the {_ordinal(gated.number)} of this gate"


def _ordinal(number: int) -> str:
    """Return a number as the place in a row.

    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 12, 13, 21, 112)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '112th']
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
