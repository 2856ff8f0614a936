"""The sentences of a comparison, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, argument, in_python, worded
from ndcg_tracker.reporting.numbers import counted, interval, p_text, percent, points, shown_margin

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, GroupCounts, MetricComparison
    from ndcg_tracker.comparison.tie_effect import TieBounds
    from ndcg_tracker.statistics.equivalence import Equivalence

SIGNS = {"improved": "▲", "regressed": "▼", "no_difference_detected": "~", "identical": "=", "not_comparable": "?"}
ALPHA = 0.05

_TESTS = {
    "t": "paired t-test",
    "permutation": "permutation test (sign flips)",
    "wilcoxon": "Wilcoxon signed-rank test (tests symmetry, not the mean)",
}
_INTERVALS = {"t": "paired t", "bootstrap": "bootstrap (BCa)", "betting": "betting (holds at any n)"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
METRIC_HEADINGS = ("metric", "baseline", "candidate", "delta", "95% interval", "p")
FEW_OR_SKEWED = "low information (under 100 nonzero, or very skewed differences): the t interval may be too narrow"

_NOT_COMPARABLE = {
    "no_group": "no group has a result in both runs",
    "nothing_judged": "neither run has a judged item that it counts",
}
_TOO_NARROW = re.compile(r"(, and below \d+|, and|:) the t interval may be too narrow$")
_TESTS_SYMMETRY = "the Wilcoxon test tests symmetry"


def for_people(comparison: Comparison) -> Comparison:
    """Return the comparison with its metrics named as people know them."""
    from ndcg_tracker.metrics.language.agreement import familiar_name  # NumPy is not for those who only print a table

    metrics = tuple(
        replace(metric, metric=familiar_name(metric.metric, metric.requested_as)) for metric in comparison.metrics
    )
    return replace(comparison, metrics=metrics)


def runs(comparison: Comparison) -> str:
    """Return which runs were compared, and on what."""
    return f"{comparison.candidate.name} against {comparison.baseline.name} on {comparison.dataset}"


def headline(comparison: Comparison) -> str:
    """Return the verdict in one sentence: on the metric, or on how many of several."""
    metrics = [metric for metric in comparison.metrics if metric.shown_only is None]
    if not metrics:
        shown = comparison.metrics
        told = finding(shown[0]) if len(shown) == 1 else f"{counted(len(shown), 'metric')} shown, none compared"
    else:
        known = metrics
        if not any(metric.verdict in ("improved", "regressed") for metric in metrics):
            known = [metric for metric in metrics if metric.verdict != "not_comparable"] or metrics
        told = finding(known[0]) if len(known) == 1 else tally(known)
        if len(known) < len(metrics):
            told += f", {len(metrics) - len(known)} more cannot be compared"
    return f"{runs(comparison)}: {told}"


def tally(metrics: Sequence[MetricComparison]) -> str:
    """Return how many of several metrics moved, and which way."""
    counts = {verdict: sum(metric.verdict == verdict for metric in metrics) for verdict in SIGNS}
    n_metrics = counted(len(metrics), "metric")
    moved = [f"{counts[verdict]} {verdict}" for verdict in ("regressed", "improved") if counts[verdict]]
    if moved:
        first, *others = moved
        number, verdict = first.split(" ")
        share = f"all {n_metrics}" if not others and int(number) == len(metrics) else f"{number} of {n_metrics}"
        return ", ".join([f"{share} {verdict}", *others])
    if counts["identical"] == len(metrics):
        return f"identical in all {n_metrics}"
    if counts["not_comparable"] == len(metrics):
        return f"none of {n_metrics} can be compared"
    return f"no difference detected in any of {n_metrics}"


def finding(metric: MetricComparison) -> str:
    """Return what was found for one metric, in a few words."""
    if metric.shown_only is not None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}: shown, not compared"
    if metric.verdict == "not_comparable" or metric.delta is None:
        why = _NOT_COMPARABLE.get(metric.not_comparable or "")
        return f"{metric.metric} cannot be compared" + (f": {why}" if why else "")
    if metric.verdict == "identical":
        return f"{metric.metric} is identical on {'all ' if metric.n > 1 else 'the '}{counted(metric.n, 'group')}"
    if metric.p_value is None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}, which no test can judge"
    if metric.verdict == "no_difference_detected":
        return f"no difference detected in {metric.metric} ({points(metric.delta, signed=True)})"
    unsafe = " (low information: not a safe verdict)" if _betting_disagrees(metric) else ""
    return f"{metric.metric} {metric.verdict} by {points(abs(metric.delta))}{unsafe}"


def sign(metric: MetricComparison) -> str:
    """Return the sign of a metric's verdict; "?" also where nothing could be tested."""
    if metric.verdict is None:
        return "·"
    tested = metric.p_value is not None or metric.verdict == "identical"
    return SIGNS[metric.verdict] if tested else "?"


def metric_cells(metric: MetricComparison, footnotes: list[str], comparisons: Sequence[Comparison] = ()) -> list[str]:
    """Return one metric's row and, as its last cell, the signs of its footnotes, which join the list all rows share.

    ``comparisons``: all that are shown together, for what speaks against a verdict at second sight.
    """
    notes = _count_notes(metric.groups)
    warnings = [warning for warning in metric.warnings if not warning.startswith(_TESTS_SYMMETRY)]
    notes += [_warning(warning, metric.ci_method, comparisons) for warning in warnings]
    if metric.not_comparable == "nothing_judged":
        notes.append("neither run has a judged item that counts: their equal results say nothing of them")
    if metric.verdict == "identical":
        notes.append("identical in every group: no interval, no p-value")
    if metric.p_value is not None and comparisons:
        notes += _second_thoughts(metric, metric.p_value, n_tested(comparisons))
    delta = points(metric.delta, signed=True)
    return [
        metric.metric,
        points(metric.baseline),
        points(metric.candidate),
        f"~ {delta}" if metric.verdict == "no_difference_detected" else delta,
        interval(metric.ci, signed=True),
        p_text(metric.p_adjusted),
        marks(notes, footnotes),
    ]


def _warning(warning: str, ci_method: str, comparisons: Sequence[Comparison]) -> str:
    """Return a warning about the interval that is shown, worded so that metrics can share it where several have it."""
    is_shared = sum(metric.has_low_information for comparison in comparisons for metric in comparison.metrics) > 1
    told = FEW_OR_SKEWED if is_shared and warning.startswith("low information") else warning
    if ci_method == "betting":
        return _TOO_NARROW.sub("", told)
    return told if ci_method == "t" else told.replace(" the t interval ", " the interval ")


def _second_thoughts(metric: MetricComparison, p_value: float, n_metrics: int) -> list[str]:
    """Return what speaks against a verdict at second sight."""
    notes = []
    if metric.has_low_information and metric.betting_ci is None:
        notes.append("no betting interval: it needs differences within -1 to 1")
    if _betting_disagrees(metric):
        notes.append("the betting interval, which holds at any n, includes 0: not a safe verdict")
    if metric.verdict == "no_difference_detected" and p_value < ALPHA:
        notes.append(f"p {p_text(p_value)} on its own: not enough where {n_metrics} are tested together")
    return notes


def _betting_disagrees(metric: MetricComparison) -> bool:
    """Whether a difference was found that the betting interval does not find."""
    betting = metric.betting_ci
    return metric.verdict in ("improved", "regressed") and betting is not None and betting[0] <= 0 <= betting[1]


def marks(notes: Sequence[str], all_notes: list[str]) -> str:
    """Return the signs of footnotes, which join those that all rows share.

    >>> shared = ["left out"]
    >>> marks(["undefined", "left out"], shared), shared
    ('¹ ²', ['left out', 'undefined'])
    """
    all_notes += [note for note in dict.fromkeys(notes) if note not in all_notes]
    return " ".join(mark(number) for number in sorted({all_notes.index(note) + 1 for note in notes}))


def mark(number: int) -> str:
    """Return the sign of a footnote.

    >>> mark(12)
    '¹²'
    """
    return str(number).translate(_SUPERSCRIPTS)


def n_tested(comparisons: Sequence[Comparison]) -> int:
    """Return over how many p-values Holm's correction went."""
    return sum(metric.p_value is not None for comparison in comparisons for metric in comparison.metrics)


def legend(comparisons: Sequence[Comparison]) -> list[str]:
    """Return how to read the numbers of these comparisons, which share one correction of their p-values."""
    metrics = [metric for comparison in comparisons for metric in comparison.metrics]
    tested = [metric for metric in metrics if metric.p_value is not None]
    undetected = any(metric.verdict == "no_difference_detected" for metric in metrics)
    lines = ["delta: candidate - baseline, in absolute points" + ("; ~: no difference detected" if undetected else "")]
    if not tested:
        return lines
    intervals = " and ".join(dict.fromkeys(_INTERVALS.get(metric.ci_method, metric.ci_method) for metric in tested))
    tests = " and ".join(dict.fromkeys(_TESTS.get(metric.test, metric.test) for metric in tested))
    over = "metrics" if len(comparisons) == 1 else "metrics of all candidates"
    holm = f", Holm-corrected over {len(tested)} {over}" if len(tested) > 1 else ""
    lines.append(f"95% interval: {intervals}; p: {tests}{holm}")
    lines.append("d_z: mean difference / standard deviation")
    if any(is_detectable_shown(metric) for metric in metrics):
        lines.append("detectable: the smallest difference found with 80% power; shown where none was found")
    if any(is_betting_shown(metric) for metric in metrics):
        lines.append("betting interval: holds at any n; shown where information is low")
    if any(metric.equivalence is not None and metric.equivalence.p_value is not None for metric in metrics):
        lines.append("equivalence: two one-sided t-tests (TOST), each metric on its own")
    return lines


def is_detectable_shown(metric: MetricComparison) -> bool:
    """Whether to say which difference would have been found: only where none was."""
    return metric.verdict == "no_difference_detected" and metric.detectable_delta is not None


def is_betting_shown(metric: MetricComparison) -> bool:
    """Whether to show the betting interval: not where it is the interval anyway."""
    return metric.betting_ci is not None and metric.ci_method != "betting"


def equivalence_finding(found: Equivalence) -> str:
    """Return what a test of equivalence found, in a few words that say why there is no p where there is none."""
    if found.p_value is None:
        return "identical in every group" if found.equivalent else "cannot be tested"
    return "equivalent" if found.equivalent else "not shown equivalent"


def equivalences(comparison: Comparison) -> list[tuple[str, str]]:
    """Return each metric and what the test of equivalence says of it, nothing where nobody asked."""
    lines = []
    for metric in comparison.metrics:
        found = metric.equivalence
        if found is None:
            continue
        within = f"within ±{shown_margin(found.margin)}"
        if found.p_value is None:
            shown = f"equivalent {within}: identical" if found.equivalent else f"equivalence {within} cannot be tested"
        else:
            evidence = f"(p {p_text(found.p_value)}, 90% interval {interval(found.ci, signed=True)})"
            shown = f"{'equivalent' if found.equivalent else 'not shown equivalent'} {within} {evidence}"
        lines.append((metric.metric, shown))
    return lines


def facts(comparison: Comparison, spelled: Spelling = in_python) -> list[tuple[str, str]]:
    """Return what was compared, as pairs of a name and its value; ``spelled``: how arguments are spelled."""
    labels = comparison.label_set
    pairs = [
        ("groups", f"{comparison.groups.paired:,} paired"),
        *(("in neither run", worded(sentence, spelled)) for sentence in _in_neither(comparison)),
        ("labels", f"version {labels.version}, digest {labels.digest[:12]}"),
    ]
    for share in comparison.coverage:
        where = "judged" if share.cutoff is None else f"judged@{share.cutoff}"
        baseline, candidate = (
            "not known" if one is None else percent(one) for one in (share.baseline, share.candidate)
        )
        pairs.append((where, f"baseline {baseline}, candidate {candidate}"))
    for metric in comparison.metrics:
        effect = metric.tie_effect
        if effect is not None and (_is_seen_open(effect.baseline) or _is_seen_open(effect.candidate)):
            pairs.append(
                ("ties", f"{metric.metric}: baseline {_range(effect.baseline)}, candidate {_range(effect.candidate)}")
            )
    return pairs


def canonical_names(shown: Comparison, stored: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, the canonical text of metrics shown under a tool's name, and what others were asked for by."""
    pairs = zip(shown.metrics, stored.metrics, strict=True)
    names = [("metric", f"{one.metric} = {other.metric}") for one, other in pairs if one.metric != other.metric]
    return [*names, *requests(shown)]


def requests(shown: Comparison) -> list[tuple[str, str]]:
    """Return, as facts, how metrics were asked for that are shown under another name."""
    found = [metric for metric in shown.metrics if metric.requested_as not in ("", metric.metric)]
    return [("asked for", f"{metric.metric} as {metric.requested_as}") for metric in found]


def notes(comparison: Comparison) -> list[str]:
    """Return what else to know, the metrics included whose verdict hangs on the order of items of equal score."""
    found = list(comparison.notes)
    for metric in comparison.metrics:
        if metric.ties_could_change_verdict:
            found += ties_note(metric, f"the verdict on {metric.metric}")
    unjudged = [metric.metric for metric in comparison.metrics if metric.not_comparable == "nothing_judged"]
    if unjudged:
        found.append(
            f"no judged item counts in either run under {', '.join(unjudged)}: are the ids of groups and items spelled "
            f"as in the labels? see those with: {labels_command(comparison.dataset)}"
        )
    return found


def labels_command(dataset: str) -> str:
    """Return a command that shows some labels of a dataset.

    >>> print(labels_command("shop"))
    ndcg-track sql "SELECT group_key, item_key FROM labels WHERE dataset = 'shop' LIMIT 5"
    """
    value = dataset.replace("'", "''")
    query = f"SELECT group_key, item_key FROM labels WHERE dataset = '{value}' LIMIT 5"
    return shlex.join(["ndcg-track", "sql", query]) if set(query) & set('"$`\\!') else f'ndcg-track sql "{query}"'


def ties_note(metric: MetricComparison, what: str) -> list[str]:
    """Return a note that ties in scores could change something; none where the digits shown do not tell."""
    if metric.tie_effect is None:
        return []
    low, high = (points(bound, signed=True) for bound in metric.tie_effect.delta)
    if low == high:
        return []
    return [f"ties in scores could change {what}: broken otherwise, delta lies anywhere from {low} to {high}"]


def _in_neither(comparison: Comparison) -> list[str]:
    """Return what became of labelled groups that neither run has, none where there are none."""
    groups = max((metric.groups for metric in comparison.metrics), key=lambda groups: groups.in_neither)
    if not groups.in_neither:
        return []
    n_groups = f"{counted(groups.in_neither, 'group')} with labels"
    if groups.missing == "skip":
        return [f"{n_groups}, left out"]
    if not comparison.is_comparable:
        return [n_groups]
    they, them = ("it counts", "it") if groups.in_neither == 1 else ("they count", "them")
    shrinks = "shrinks" if groups.in_neither == 1 else "shrink"
    return [f"{n_groups}: {they} the same in both and {shrinks} delta; {argument('missing', 'skip')} leaves {them} out"]


def _is_seen_open(bounds: TieBounds) -> bool:
    """Whether the digits shown tell the bounds apart."""
    return points(bounds.worst) != points(bounds.best)


def _range(bounds: TieBounds) -> str:
    return f"{points(bounds.worst)} to {points(bounds.best)}" if _is_seen_open(bounds) else points(bounds.best)


def _count_notes(groups: GroupCounts) -> list[str]:
    """Return a sentence for every count of groups that were not simply there in both runs."""
    fate = "counted as 0 in the other" if groups.missing == "zero" else "left out"
    in_neither = 0 if groups.missing == "skip" else groups.in_neither
    sentences = [
        (
            groups.in_neither,
            f"with labels but in neither run: {'counted the same in both' if in_neither else 'left out'}",
        ),
        (groups.missing_in_baseline - in_neither, "with labels but missing in the baseline run: counted as 0"),
        (groups.missing_in_candidate - in_neither, "with labels but missing in the candidate run: counted as 0"),
        (groups.only_in_baseline, f"with a result in the baseline only: {fate}"),
        (groups.only_in_candidate, f"with a result in the candidate only: {fate}"),
        (groups.undefined, "undefined in both runs: left out"),
    ]
    return [f"{counted(n, 'group')} {sentence}" for n, sentence in sentences if n]
