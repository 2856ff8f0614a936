"""The first screen of the report: the answer, the gate's decision, the slices that regressed, and caveats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ndcg_tracker.compare.results import Comparison, Estimate, ToldVerdict
from ndcg_tracker.compare.say import finding, n_tested
from ndcg_tracker.compare.say_tables import rare_loss_words, why_untested
from ndcg_tracker.words.notes import few_differences
from ndcg_tracker.words.texts import p_text, percent, plural, points

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DecisionRecord

_RARE = 0.01  # a smaller share of groups that may lose more than any seen so far needs no caveat
Apart = Literal["labels", "without clusters", "with clusters", "with other clusters"]
"""Why a decision is not about the comparison of the page: other labels, or clusters that the page does not have."""
DECISION_LOOKS = {"pass": "better", "fail": "worse"}
"""The colours of decisions."""
_ANSWERS: Mapping[str | None, str] = {
    "improved": "Yes",
    "regressed": "No",
    "identical": "No",
    "no_difference_detected": "Not shown",
    "open": "Open",
}


def answer(metric: Estimate) -> str:
    """Return whether the candidate is better, in a word if a test or the lists show it, and the finding."""
    is_told = metric.p_value is not None or metric.told == "identical"
    return answered(metric.told if is_told else None, finding(metric), is_doubtful=metric.has_low_information)


def answered(told: ToldVerdict | None, found: str, *, is_doubtful: bool) -> str:
    """Return the word of a verdict, followed by the finding."""
    word = "Perhaps" if is_doubtful and told == "improved" else _ANSWERS.get(told, "")
    return ": ".join(filter(None, (word, found)))


_NAMED = 5  # slices that the first screen names
_LARGE = 0.01  # differences that two digits show


def slices_told(attribute: str, rows: Sequence[Estimate]) -> dict[str, Any]:
    """Return which slices by an attribute regressed, the worst first, and how many improved.

    The groups without a value are not a slice; if they regressed, this comes last.
    """
    with_value = [row for row in rows if row.value is not None]
    regressed = [row for row in with_value if row.verdict == "regressed"]
    n_improved, n_more = sum(row.verdict == "improved" for row in with_value), len(regressed) - _NAMED
    others = [row for row in rows if row.value is None and row.verdict == "regressed"]
    after, n_untested = [f"{n_improved} improved"] if n_improved else [], sum(row.is_untested for row in with_value)
    after += [f"{n_untested} not tested"] if 0 < n_untested < len(with_value) else []
    after += [f"the groups without a value regressed: {_size(row)}" for row in others]
    of_all = f"{len(regressed) or 'None'} of {len(with_value):,} {plural(attribute)}"
    untested = ": ".join(filter(None, [f"{of_all} could be tested", why_untested(with_value)]))
    return {
        "words": untested
        if n_untested == len(with_value)
        else f"{of_all} {'regressed' if regressed else 'is shown to have regressed'}",
        "regressed": bool(regressed),
        "named": [{"value": row.value, "delta": _size(row)} for row in regressed[:_NAMED]],
        "after": "; ".join([f" and {n_more} more" if n_more > 0 else "", *after]),
        "doubt": next((few_differences(note) for row in (*regressed, *others) for note in row.warnings), ""),
    }


def _size(row: Estimate) -> str:
    """Return the difference of a slice in as few digits as possible."""
    digits = 2 if row.delta is None or abs(row.delta) >= _LARGE else 4
    return points(row.delta, signed=True, digits=digits)


def caveats(comparison: Comparison) -> list[str]:
    """Return what the verdict does not cover, if it matters: rare losses, and ranks that nobody judged."""
    first = comparison.metrics[0]
    rare, told = first.rare_loss, list[str]()
    if rare is not None and first.told != "regressed" and rare.share >= _RARE and rare.worst > (first.gain or 0.0):
        told.append(f"Rare loss: {rare_loss_words(rare, of_clusters=first.clusters is not None)}")
    for share in comparison.coverage:
        if share.is_open:
            where = "all ranks" if share.cutoff is None else f"the first {share.cutoff} ranks"
            of_both = f"{percent(share.baseline)} in {comparison.baseline.name}, {percent(share.candidate)} in "
            told.append(f"Judged share of {where}: {of_both}{comparison.candidate.name}")
    return told


def decided(decision: DecisionRecord, apart: Apart | None) -> str:
    """Return the decision of a gate; ``apart``: how it differs from the comparison of the page."""
    overridden = "" if decision.acknowledged_reason is None else f"; overridden: {decision.acknowledged_reason}"
    told = f"{decision.decision.upper()} ({decision.created_at_utc[:10]})"
    if apart == "labels":
        return (
            f"Gate on {decision.metric}: not decided under these labels. Under other labels it was {told}{overridden}"
        )
    if apart is not None:
        return f"Gate on {decision.metric}, decided {apart}: {told}{overridden}"
    return f"Gate on {decision.metric}: {told}: {decision.reason}{overridden}"


def p_words(metric: Estimate, together: Sequence[Comparison]) -> str:
    """Return the p-value that decides, and the uncorrected one if others were corrected with it."""
    n = n_tested(together)
    holm = f" (Holm-corrected over {n} tests; uncorrected {p_text(metric.p_value)})" if n > 1 else ""
    return f"{p_text(metric.p_adjusted)}{holm}"
