"""A comparison by drawn answers: the difference without them, whom a judge favours, and the difference that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.words.texts import counted, in_a_row, interval, judge_words, points

if TYPE_CHECKING:
    from ndcg_tracker.compare.drawn import DrawnCheck
    from ndcg_tracker.compare.results import Comparison, Estimate

CHECK_LEGEND = (
    "delta: the mean difference; checked: by people's answers in drawn queries, the others estimated from these; its "
    "interval allows for one further query on the unfavourable side"
)


def checked_by(comparison: Comparison) -> str:
    """Return who checked the judge of a comparison, "" if nobody did."""
    check = comparison.metrics[0].about.check
    return "" if check is None or check.aim == "holes" else check.checked_by


def is_drawn(comparison: Comparison) -> bool:
    """Return whether only drawn queries are exact, so that the means of runs are not known."""
    return any(metric.is_drawn for metric in comparison.metrics)


def few_words(check: DrawnCheck | None) -> str:
    """Return why drawn answers do not decide, "" if they do.

    >>> from ndcg_tracker.compare.drawn import DrawnCheck
    >>> few_words(DrawnCheck("judge", "ann", (1,), 60, 0, 12, 0, (), 18, 600, 150, False, False))
    '12 of 30 drawn queries answered'
    """
    if check is None or check.decides:
        return ""
    if check.n_missing:
        return f"{check.n_answered:,} of {check.n_needed:,} drawn queries answered"
    if check.are_many_left_out:
        from ndcg_tracker.compare.drawn import named

        n_drawn = check.n_answered + check.n_left_out
        return (
            f"{check.n_left_out:,} of the {n_drawn:,} drawn queries are not fully answered: {named(check.left_out)}; "
            "answer them first (labels sample lists them), as those left out may be the ones that differ"
        )
    return "the runs differ in fewer than 5 of the drawn queries"


def favours(comparison: Comparison) -> list[str]:
    """Return the difference by the judge alone and the checked one, and which run the judge favours, by metric."""
    return [
        (f"{metric.metric}: " if len(comparison.metrics) > 1 else "") + _favour(comparison, metric, metric.about.check)
        for metric in comparison.metrics
        if metric.about.check is not None and metric.about.check.aim == "judge"
    ]


def _favour(comparison: Comparison, metric: Estimate, check: DrawnCheck) -> str:
    alone, favour = metric.others["judge"], metric.others["favour"]
    judge, (mean, ci) = judge_words(comparison.label_set.judge), (favour.delta or 0.0, favour.ci)
    both = f"{judge} alone {points(alone.delta, signed=True)}, checked {points(metric.delta, signed=True)}"
    both += f" (by {check.checked_by}'s labels)"
    if ci is None or not check.decides:
        return both
    if ci[0] <= 0 <= ci[1]:
        return f"{both}: no sign that the judge favours one of the runs"
    run = comparison.candidate if mean > 0 else comparison.baseline
    low, high = ci if mean > 0 else (-ci[1], -ci[0])
    return f"{both}: the judge favours {run.name} by {points(abs(mean))} {interval((low, high))}"


def check_facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what was drawn and answered under each metric, as names and values."""
    checks = [(metric.metric, metric.about.check) for metric in comparison.metrics if metric.about.check is not None]
    pairs = [("drawn", (f"{name}: " if len(checks) > 1 else "") + _drawn(check)) for name, check in checks]
    return list(dict.fromkeys(pairs))


def _drawn(check: DrawnCheck) -> str:
    numbers = in_a_row(list(map(str, check.designs)))
    of = f" (design{'s' if len(check.designs) > 1 else ''} {numbers})" if check.designs else ""
    what = "unjudged item" if check.aim == "holes" else "item"
    n_open = check.n_groups - check.n_known
    told = f"{check.n_graded:,} of {counted(check.n_open, what)} were drawn and graded, in {check.n_answered:,} of "
    told += f"{n_open:,} queries{of}"
    return told + (f"; {check.n_left_out:,} drawn queries left out" if check.n_left_out else "")
