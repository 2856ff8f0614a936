"""The first screen of the report: the answer, the gate's decision, the slices that regressed, and caveats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ndcg_tracker.compare.results import Comparison, Estimate
from ndcg_tracker.compare.say import MOVED, finding, n_tested
from ndcg_tracker.compare.say_tables import Row, span_of
from ndcg_tracker.compare.say_where import NO_VALUE
from ndcg_tracker.render.html import direction
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.words.texts import between, p_text, points, short

if TYPE_CHECKING:
    from ndcg_tracker.storage.marks import DecisionRecord
    from ndcg_tracker.words.notes import Note

Apart = Literal["under other labels", "without clusters", "with clusters", "with other clusters"]
"""Why a decision is not about the comparison of the page: other labels, or clusters that the page does not have."""
DECISION_LOOKS = {"pass": "better", "fail": "worse"}
"""The colours of decisions."""
_ANSWERS: Mapping[str | None, str] = {
    "improved": "Yes: better by {}",
    "regressed": "No: worse by {}",
    "identical": "No: identical on all queries",
    "no_difference_detected": "No difference detected",
    "unjudged": "Open: too few labels to say",
    "labels do not reach": "Open: the labels do not reach both",
    "judge not checked": "Open: nobody has checked the judge",
    "too few drawn queries": "Open: too few drawn queries answered",
    "drawn queries left out": "Open: drawn queries are left out",
    "not_comparable": "Cannot be compared",
    None: "Shown, not compared",
}
_WIDTH, _HEIGHT = 210, 18  # of the picture of a row


def answer(metric: Estimate) -> str:
    """Return whether the candidate is better, in at most eight words."""
    row = Row.of(metric, ())
    return answered(row.left_open or row.verdict, metric.delta, is_doubtful=metric.has_low_information)


def look_of(metric: Estimate) -> str:
    """Return the colour of an answer, "" for none."""
    return direction(metric.gain or 0.0) if metric.told in MOVED else ""


def unjudged_open(comparison: Comparison) -> Note | None:
    """Return the note on unjudged items that keep the answer open, None without such."""
    return next((note for note in comparison.notes if note.kind == "unjudged_open"), None)


def answered(told: str | None, delta: float | None, *, is_doubtful: bool) -> str:
    """Return the answer of a verdict; ``told``: the verdict, or what keeps it open."""
    words = _ANSWERS[told].format(points(None if delta is None else abs(delta)))
    return words.replace("Yes: ", "Perhaps: ") if is_doubtful else words


def explained(comparison: Comparison) -> str:
    """Return the answer in a sentence: what holds as judged, and what could change it."""
    first = comparison.metrics[0]
    left, spread = first.about.unjudged, span_of(first)
    if first.open != "unjudged" or left is None or spread is None:
        return f"{finding(first)}."
    judged = "there is no difference"
    if first.verdict in MOVED:
        judged = f"{first.metric} is {MOVED[first.verdict]} by {points(abs(first.delta or 0.0))}"
    low, high = (end or 0.0 for end in spread)
    how = "decide it either way" if low < 0 < high else "shrink it" if first.verdict in MOVED else "decide it"
    cutoff = None if first.about.judged is None else first.about.judged.cutoff
    where = f"top-{cutoff} items" if cutoff else "listed items"
    return f"As judged, {judged}. But {left.n_items:,} of the {where} have no label, and they could {how}."


def picture(comparison: Comparison) -> list[dict[str, object]]:
    """Return the rows of the picture: delta as judged, and at both ends of what unjudged items may be worth."""
    from markupsafe import Markup

    first, spread = comparison.metrics[0], span_of(comparison.metrics[0])
    if first.delta is None:
        return []
    ci, low, high = first.ci or (first.delta, first.delta), *(spread or (None, None))
    ends = [0.0, first.delta, *ci, *(end for end in (low, high) if end is not None)]
    least, most = min(ends), max(ends)

    def at(value: float) -> float:
        return 8 + (_WIDTH - 16) * ((value - least) / (most - least) if most > least else 0.5)

    def drawn(value: float, line: tuple[float, float] | None) -> Markup:
        look = "same" if line else "better" if value * (1 if first.about.direction == "higher" else -1) > 0 else "worse"
        stroke = f'<line x1="{at(line[0]):.1f}" x2="{at(line[1]):.1f}" y1="9" y2="9" class="interval"/>' if line else ""
        dot = f'<circle cx="{at(value):.1f}" cy="9" r="5" class="fill-{look}"/>'
        zero = f'<line x1="{at(0.0):.1f}" x2="{at(0.0):.1f}" y1="1" y2="17" class="zero"/>'
        return Markup(f'<svg width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">{zero}{stroke}{dot}</svg>')

    means = ("", "") if first.is_drawn else (points(first.baseline), points(first.candidate))
    told = f"95%: {between(first.ci, digits=3)}" if first.ci else ""
    rows: list[dict[str, object]] = [
        {"label": "as judged", "means": means, "delta": points(first.delta, signed=True), "told": told},
    ]
    rows[0]["svg"] = drawn(first.delta, first.ci)
    for name, end in ((comparison.candidate.name, high), (comparison.baseline.name, low)):
        if end is not None:
            label = f"unjudged in {visible(name)} at their best"
            rows.append({"label": label, "means": ("", ""), "delta": points(end, signed=True), "told": ""})
            rows[-1]["svg"] = drawn(end, None)
    return rows


_NAMED = 5  # slices that the first screen names


def fallen(slices: Mapping[str, Sequence[Estimate]]) -> list[dict[str, str]]:
    """Return the slices that regressed, the worst first: those of the first attribute that has such."""
    found = ([of for of in rows if of.verdict == "regressed"] for rows in slices.values())
    rows = next(filter(None, found), [])
    return [{"value": of.about.value or NO_VALUE, "delta": short(of.delta or 0.0)} for of in rows[:_NAMED]]


def decided(decision: DecisionRecord, apart: Apart | None) -> str:
    """Return the decision of a gate; ``apart``: how it differs from the comparison of the page."""
    overridden = "" if decision.acknowledged_reason is None else f"; overridden: {decision.acknowledged_reason}"
    told = f"{decision.decision.upper()} ({decision.created_at_utc[:10]})"
    if apart is not None:
        return f"Gate on {decision.metric}, decided {apart}: {told}{overridden}"
    return f"Gate on {decision.metric}: {told}: {decision.reason}{overridden}"


def p_words(metric: Estimate, together: Sequence[Comparison]) -> str:
    """Return the p-value that decides, and the uncorrected one if others were corrected with it."""
    n = n_tested(together)
    holm = f" (Holm-corrected over {n} tests; uncorrected {p_text(metric.p_value)})" if n > 1 else ""
    return f"{p_text(metric.p_adjusted)}{holm}"
