"""A comparison under a judge that people checked: the judge's difference, people's, and the one that decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ndcg_tracker.compare.check import Estimate, JudgeCheck
from ndcg_tracker.compare.results import Comparison, MetricComparison
from ndcg_tracker.compare.say_tables import delta_cell, told_in_table
from ndcg_tracker.render.formats import fields_of, shape_of
from ndcg_tracker.render.report import Table, columns, marks
from ndcg_tracker.words.notes import command_line
from ndcg_tracker.words.texts import counted, in_a_row, interval, judge_words, p_text, points, sample_command

CHECK_LEGEND = (
    "delta: the mean difference over the groups that the judge labelled, with the ideal of its labels; corrected: "
    "with people's answers to drawn items; people alone: the same answers without the judge"
)


@shape_of(JudgeCheck)
def _check_shape(check: JudgeCheck) -> Mapping[str, object]:
    return fields_of(check.sampled) | fields_of(check, "sampled", "judged", "draw_share") | {"judge": check.judged}


def checked_by(comparison: Comparison) -> str:
    """Return who checked the judge of a comparison, "" if nobody did."""
    check = comparison.metrics[0].check
    return "" if check is None else check.sampled.checked_by


def check_table(comparison: Comparison, footnotes_of: Callable[[MetricComparison], Sequence[str]]) -> Table:
    """Return the table of three differences per metric; ``footnotes_of``: the footnotes of the one that decides."""
    judge, who = judge_words(comparison.label_set.judge), checked_by(comparison)
    rows: list[list[object]] = []
    beside, footnotes = list[str](), list[str]()
    for metric in comparison.metrics:
        check = metric.check
        if check is None:
            continue
        corrected = [
            delta_cell(metric.delta, told_in_table(metric)),
            interval(metric.ci, signed=True),
            p_text(metric.p_adjusted),
        ]
        rows.append([metric.metric, f"{judge} alone", *_cells(check.judged)])
        rows.append(["", f"{who!r} alone", *_cells(check.people)])
        rows.append(["", f"corrected by {who!r}", *corrected])
        beside += ["", "", marks(footnotes_of(metric), footnotes)]
    return Table(columns("metric", "labels", ">delta", ">95% interval", ">p"), rows, marks=beside, footnotes=footnotes)


def _cells(estimate: Estimate) -> list[object]:
    return [points(estimate.delta, signed=True), interval(estimate.ci, signed=True), p_text(estimate.p_value)]


def if_right(check: JudgeCheck | None) -> str:
    """Return the condition of a verdict that uses the judge's own grades, "" if all drawn items have an answer.

    For drawn items without an answer, the verdict is as biased as the judge.
    """
    n = 0 if check is None else check.sampled.n_unanswered
    return f" if the judge is right about {counted(n, 'drawn item')} without an answer" if n else ""


def favours(comparison: Comparison) -> list[str]:
    """Return which run the judge favours, and by how much, under each metric."""
    return [
        (f"{metric.metric}: " if len(comparison.metrics) > 1 else "") + _favour(comparison, metric.check.favour)
        for metric in comparison.metrics
        if metric.check is not None and metric.check.sampled.n_apart
    ]


def _favour(comparison: Comparison, favour: Estimate) -> str:
    """Return which run the judge favours, if that is more than chance."""
    judge = judge_words(comparison.label_set.judge)
    mean, ci = favour.delta or 0.0, favour.ci
    if ci is None or ci[0] <= 0 <= ci[1]:
        by = f"{points(mean, signed=True)} {interval(ci, signed=True)}"
        return f"no sign that {judge} favours one of the runs: {by}"
    run = comparison.candidate if mean > 0 else comparison.baseline
    low, high = ci if mean > 0 else (-ci[1], -ci[0])
    return f"{judge} favours {run.name} by {points(abs(mean))} {interval((low, high))}"


def check_facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return people's answers under each metric, and what more answers would bring, as names and values."""
    checks = [(metric.metric, metric.check) for metric in comparison.metrics if metric.check is not None]
    pairs: list[tuple[str, str]] = []
    for name, check in checks:
        of_metric = f"{name}: " if len(checks) > 1 else ""
        pairs += [(fact, of_metric + told) for fact, told in _facts(check)]
    return list(dict.fromkeys(pairs))


def _facts(check: JudgeCheck) -> list[tuple[str, str]]:
    sampled = check.sampled
    designs = f"design{'s' if len(sampled.designs) > 1 else ''} {in_a_row(list(map(str, sampled.designs)))}"
    n, differ = sampled.n_answers + sampled.n_known, check.n_informative
    known = f", {sampled.n_known:,} of them known before" if sampled.n_known else ""
    pairs = [
        (
            "checked",
            f"{designs}: {counted(n, 'answer')}{known}, of {sampled.n_apart:,} items that tell the runs apart; "
            f"{differ:,} differ{'s' if differ == 1 else ''} from the judge",
        )
    ]
    if sampled.n_unanswered:
        told = f"{counted(sampled.n_unanswered, 'drawn item')} without an answer count with the judge's grade"
        pairs.append(("unanswered", f"{told}; a verdict after further answers is another look"))
    if sampled.n_looks > 1:
        pairs.append(
            ("look", f"{sampled.look} of {sampled.n_looks} planned: p and intervals hold for all of them together")
        )
    if sampled.n_without_ideal:
        share = f"{sampled.n_without_ideal:,} of {counted(sampled.n_groups, 'group')}"
        pairs.append(
            ("no ideal", f"the judge finds nothing relevant in {share}; they count with the smallest of its gains")
        )
    if sampled.n_unlabelled:
        pairs.append(("unjudged", f"{sampled.n_unlabelled:,} of these items have no grade from the judge"))
    if check.n_alike is not None and check.n_alike > sampled.n_answers:
        alone = f"{sampled.n_answers:,} labels are as precise as {check.n_alike:,} would be without the judge"
        pairs.append(("worth", alone))
    if check.more is not None:
        n_more, half = check.more.n, check.more.half_width
        to_go = (
            f"about {n_more:,} more labels, planned from the start, for ±{half:g}"
            if n_more is not None
            else f"labels of all items leave ±{half:.2g}"
        )
        pairs.append(("more", to_go + ("" if n_more is not None else "; more groups would narrow it")))
    return pairs


def judge_alone_words(judge: str, comparison: Comparison | None = None) -> list[str]:
    """Return a sentence if a decision depends on the labels of a judge that nobody has checked."""
    if not judge:
        return []
    if comparison is None:
        command = sample_command(["A", "B"], judge)
    else:
        names = [comparison.baseline.name, comparison.candidate.name]
        command = sample_command(names, judge, comparison.dataset)
    to_check = f"to have people check it: {command_line(command)}"
    return [f"The verdict rests on: {judge_words(judge)} alone, whose labels nobody has checked; {to_check}"]


def few_answers(low: Mapping[str, Any]) -> str:
    """Return why answers to a sample do not decide: too few differ from the judge, or the differences are skewed."""
    if low.get("enough") is None:
        return "the corrected differences are too skewed for a t bound, and no other bound applies"
    return f"{low['n_nonzero']:,} answers differ from the judge; below {low['enough']:,}, no bound is trusted"
