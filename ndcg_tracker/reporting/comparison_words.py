"""The sentences of a comparison, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ndcg_tracker.reporting.numbers import counted, interval, p_text, percent, points

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, GroupCounts, MetricComparison
    from ndcg_tracker.comparison.tie_effect import TieBounds

METRIC_HEADINGS = ("metric", "baseline", "candidate", "delta", "95% interval", "p", "d_z", "wins/ties/losses")
METRIC_RIGHT = (False, True, True, True, True, True, True, False)
GROUP_HEADINGS = ("group", "baseline", "candidate", "delta")
GROUP_RIGHT = (False, True, True, True)
TIE_HEADINGS = ("group", "run", "worst", "value", "best")
TIE_RIGHT = (False, False, True, True, True)

_TESTS = {"t": "paired t-test"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def for_people(comparison: Comparison) -> Comparison:
    """Return the comparison with its metrics named as people know them."""
    from ndcg_tracker.metrics.agreement import familiar_name  # NumPy is not for those who only print a table

    metrics = tuple(replace(metric, metric=familiar_name(metric.metric)) for metric in comparison.metrics)
    return replace(comparison, metrics=metrics)


def headline(comparison: Comparison) -> str:
    """Return the verdict on the first metric, in one sentence."""
    runs = f"{comparison.candidate.name} against {comparison.baseline.name} on {comparison.dataset}"
    return f"{runs}: {finding(comparison.metrics[0])}"


def finding(metric: MetricComparison) -> str:
    """Return what was found for one metric, in a few words."""
    if metric.verdict == "not_comparable" or metric.delta is None:
        return f"{metric.metric} cannot be compared"
    if metric.verdict == "identical":
        return f"{metric.metric} is identical on {'all ' if metric.n > 1 else 'the '}{counted(metric.n, 'group')}"
    if metric.p_value is None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}, which no test can judge"
    if metric.verdict == "no_difference_detected":
        return f"no difference detected in {metric.metric} ({points(metric.delta, signed=True)})"
    return f"{metric.metric} {metric.verdict} by {points(abs(metric.delta))}"


def metric_cells(metric: MetricComparison, footnotes: list[str]) -> list[str]:
    """Return one metric's row; its footnotes join the list, which all rows share, and the row points to them."""
    numbers = []
    untested = ["identical in every group: no interval, no p-value"] if metric.verdict == "identical" else []
    for note in [*_count_notes(metric.groups), *metric.warnings, *untested]:
        if note not in footnotes:
            footnotes.append(note)
        numbers.append(footnotes.index(note) + 1)
    delta = points(metric.delta, signed=True)
    undetected = metric.verdict == "no_difference_detected"
    return [
        metric.metric,
        points(metric.baseline),
        points(metric.candidate),
        f"~ {delta}" if undetected else delta,
        interval(metric.ci, signed=True),
        p_text(metric.p_adjusted),
        points(metric.effect_size, signed=True, digits=2),
        " ".join([f"{metric.wins}/{metric.ties}/{metric.losses}", *map(mark, sorted(numbers))]),
    ]


def mark(number: int) -> str:
    """Return the sign of a footnote.

    >>> mark(12)
    '¹²'
    """
    return str(number).translate(_SUPERSCRIPTS)


def legend(comparisons: Sequence[Comparison]) -> list[str]:
    """Return how to read the numbers of these comparisons, which share one correction of their p-values."""
    metrics = [metric for comparison in comparisons for metric in comparison.metrics]
    tested = [metric for metric in metrics if metric.p_value is not None]
    undetected = any(metric.verdict == "no_difference_detected" for metric in metrics)
    lines = ["delta: candidate - baseline, in absolute points" + ("; ~: no difference detected" if undetected else "")]
    if tested:
        tests = " and ".join(dict.fromkeys(_TESTS.get(metric.test, metric.test) for metric in tested))
        over = "metrics" if len(comparisons) == 1 else "metrics of all candidates"
        holm = f", Holm-corrected over {len(tested)} {over}" if len(tested) > 1 else ""
        lines.append(f"p: {tests}{holm}; d_z: mean difference / standard deviation")
    return lines


def detectable(comparison: Comparison) -> list[str]:
    """Return, for each metric without a detected difference, the difference that would have been found."""
    return [
        f"{metric.metric}: smallest detectable difference {points(metric.detectable_delta)} "
        f"(80% power, {counted(metric.n, 'group')})"
        for metric in comparison.metrics
        if metric.verdict == "no_difference_detected" and metric.detectable_delta is not None
    ]


def facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what was compared, as pairs of a name and its value."""
    labels = comparison.label_set
    pairs = [
        ("groups", f"{comparison.groups.paired:,} paired"),
        ("labels", f"version {labels.version}, digest {labels.digest[:12]}"),
    ]
    for share in comparison.coverage:
        where = "judged" if share.cutoff is None else f"judged@{share.cutoff}"
        pairs.append((where, f"baseline {percent(share.baseline)}, candidate {percent(share.candidate)}"))
    for metric in comparison.metrics:
        effect = metric.tie_effect
        if effect is not None and effect.is_open:
            pairs.append(
                ("ties", f"{metric.metric}: baseline {_range(effect.baseline)}, candidate {_range(effect.candidate)}")
            )
    return pairs


def notes(comparison: Comparison) -> list[str]:
    """Return what else to know, the metrics included whose verdict hangs on the order of items of equal score."""
    found = list(comparison.notes)
    for metric in comparison.metrics:
        if metric.tie_effect is not None and metric.ties_could_change_verdict:
            low, high = (points(bound, signed=True) for bound in metric.tie_effect.delta)
            found.append(
                f"ties in scores could change the verdict on {metric.metric}: broken otherwise, delta lies anywhere "
                f"from {low} to {high}"
            )
    return found


def _range(bounds: TieBounds) -> str:
    return f"{points(bounds.worst)} to {points(bounds.best)}" if bounds.is_open else points(bounds.best)


def tie_rows(comparison: Comparison) -> list[list[str]]:
    """Return the rows of the table of groups that ties leave most open."""
    return [
        [group.group, group.run, points(group.worst), points(group.value), points(group.best)]
        for group in comparison.tie_groups or ()
    ]


def group_tables(comparison: Comparison) -> list[tuple[str, list[list[str]]]]:
    """Return title and rows of the tables of the worst and the best groups, those without rows left out."""
    metric = comparison.metrics[0].metric
    tables = [(f"worst groups in {metric}", comparison.worst), (f"best groups in {metric}", comparison.best)]
    return [
        (
            title,
            [
                [group.group, points(group.baseline), points(group.candidate), points(group.delta, signed=True)]
                for group in groups
            ],
        )
        for title, groups in tables
        if groups
    ]


def _count_notes(groups: GroupCounts) -> list[str]:
    """Return a sentence for every count of groups that were not simply there in both runs."""
    fate = {"zero": "counted as 0 in the other", "intersect": "left out", "error": "left out"}[groups.missing]
    sentences = [
        (groups.missing_in_baseline, "with labels but missing in the baseline run: counted as 0"),
        (groups.missing_in_candidate, "with labels but missing in the candidate run: counted as 0"),
        (groups.only_in_baseline, f"with a result in the baseline only: {fate}"),
        (groups.only_in_candidate, f"with a result in the candidate only: {fate}"),
        (groups.undefined, "undefined in both runs: left out"),
    ]
    return [f"{counted(n, 'group')} {sentence}" for n, sentence in sentences if n]
