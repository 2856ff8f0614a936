"""A comparison as a table for a paper: means, difference, interval and p-value."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from ndcg_tracker.compare.decide_suite import SuiteComparison
from ndcg_tracker.compare.results import Comparison, Estimate
from ndcg_tracker.compare.say import (
    finding,
    for_people,
    judged_dataset,
    metric_footnotes,
    runs,
)
from ndcg_tracker.compare.say_drawn import CHECK_LEGEND, is_drawn
from ndcg_tracker.compare.say_tables import evidence_words, interval_name, is_judged, test_name
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.latex import footnote_marks, latex_mean, latex_number, latex_table, latex_text, shown_places
from ndcg_tracker.words.texts import interval, p_text, points

_DELTA = r"$\Delta$: candidate minus baseline, in absolute points."
_HEADS = (r"$\Delta$", r"95\% interval", "$p$")


def with_latex(said: Said, *comparisons: Comparison) -> Said:
    """Return the output for comparisons, including the table for a paper."""
    return replace(said, further={"latex": lambda: comparison_latex(*comparisons)})


def comparison_latex(*stored: Comparison) -> str:
    """Return a booktabs table: a row per metric, or for several candidates a row per metric and run.

    Raises: InputError for comparisons with tables that it cannot show (slices, bounds, equivalence), and for several
    versions of the labels, whose means are not comparable.
    """
    for comparison in stored:
        _refuse_more(comparison)
    if len(versions := sorted({comparison.label_set.version for comparison in stored})) > 1:
        what = f"these runs were compared under versions {' and '.join(map(str, versions))} of the labels"
        again = f"ndcg-track rescore --all --dataset {shlex.quote(stored[0].dataset)} --labels"
        advice = f"choose one with {argument('labels')}, or evaluate all runs under one with: {again} {versions[-1]}"
        raise InputError(what, advice=advice)
    comparisons = [for_people(comparison) for comparison in stored]
    first, *others = comparisons
    of_checked = is_drawn(first)
    footnotes: list[str] = []
    rows = _rows_of_runs(comparisons, footnotes) if others else _rows_of_metrics(first, footnotes)
    metrics = [metric for of_metric in _by_metric(comparisons).values() for _, metric in of_metric]
    means = [latex_text(ref.name) for ref in (first.baseline, first.candidate)]
    heads = ["Metric", *(["Run", "Mean"] if others else means), *_HEADS]
    if of_checked:  # of a sample, the means of runs are not known
        places = [place for place, head in enumerate(heads) if head not in ("Mean", *([] if others else means))]
        heads, rows = [heads[place] for place in places], [[row[place] for place in places] for row in rows]
    what = f"Runs against {first.baseline.name} on {judged_dataset(first)}" if others else runs(first)
    sentences = [
        f"{latex_text(what)} ({_queries([metric.n for metric in metrics])}).",
        _DELTA,
        *(_with_sign_of_p(f"{latex_text(line)}.") for line in evidence_words(comparisons)[1:]),
        *([] if of_checked else [_emphasis(several=bool(others))]),
        *([f"{latex_text(CHECK_LEGEND)}."] if of_checked else []),
    ]
    aligned = "".join("l" if head in ("Metric", "Run") else "r" for head in heads)
    lines: list[str] = []
    for row in rows:
        lines += [r"\midrule"] if lines and others and row[0] else []
        lines.append(rf"{' & '.join(row)} \\")
    return latex_table(" ".join(sentences), aligned, heads, lines, footnotes)


def _with_sign_of_p(sentence: str) -> str:
    return sentence.replace("; p:", "; $p$:")


def _refuse_more(comparison: Comparison) -> None:
    asked = {
        "by": comparison.slices is not None,
        "tie_bounds": comparison.tie_groups is not None,
        "equivalence": any(metric.equivalence is not None for metric in comparison.metrics),
    }
    for name, is_given in asked.items():
        if is_given:
            what = f"a table for a paper cannot show {argument(name)}"
            raise InputError(what, advice="leave it out, or choose another format")


def _rows_of_metrics(comparison: Comparison, footnotes: list[str]) -> list[list[str]]:
    """Return the row of each metric, with the means of both runs."""
    return [
        [
            latex_text(metric.metric) + footnote_marks(_footnotes(metric, [comparison]), footnotes),
            *_means([metric.baseline, metric.candidate], metric.direction, n_marked=1),
            *_evidence(metric.delta, metric.ci, metric.p_adjusted),
        ]
        for metric in comparison.metrics
    ]


def _by_metric(comparisons: Sequence[Comparison]) -> dict[str, list[tuple[Comparison, Estimate]]]:
    """Return the comparisons under each metric, which some runs may lack, in the order of the table's rows."""
    by_metric: dict[str, list[tuple[Comparison, Estimate]]] = {}
    for comparison in comparisons:
        for metric in comparison.metrics:
            by_metric.setdefault(metric.metric, []).append((comparison, metric))
    return by_metric


def _rows_of_runs(comparisons: Sequence[Comparison], footnotes: list[str]) -> list[list[str]]:
    """Return, for each metric, the row of the baseline and that of each candidate that has it."""
    rows: list[list[str]] = []
    baseline = latex_text(comparisons[0].baseline.name)
    for measured, of_metric in _by_metric(comparisons).items():
        metrics = [metric for _, metric in of_metric]
        means = _means([metrics[0].baseline, *(metric.candidate for metric in metrics)], metrics[0].direction)
        rows.append([latex_text(measured), baseline, means[0], "", "", ""])
        for (comparison, metric), mean in zip(of_metric, means[1:], strict=True):
            name = latex_text(comparison.candidate.name) + footnote_marks(_footnotes(metric, comparisons), footnotes)
            rows.append(["", name, mean, *_evidence(metric.delta, metric.ci, metric.p_adjusted)])
    return rows


def _means(means: Sequence[float | None], direction: Direction, n_marked: int = 2) -> list[str]:
    """Return means, the best of them bold and, where two are marked, the second underlined."""
    known = [mean for mean in means if mean is not None]
    order = sorted(known, reverse=direction == "higher")
    places = iter(shown_places(known, [order.index(mean) + 1 for mean in known]))
    shown = []
    for mean in means:
        place = 0 if mean is None else next(places)
        shown.append("--" if mean is None else latex_mean(mean, place if place <= n_marked else 0))
    return shown


def _emphasis(*, several: bool) -> str:
    return "Bold: the best mean of a metric; underlined: the second best." if several else "Bold: the better mean."


def _evidence(delta: float | None, ci: tuple[float, float] | None, p_value: float | None) -> list[str]:
    return [latex_number(text) for text in (points(delta, signed=True), interval(ci, signed=True), p_text(p_value))]


def _footnotes(metric: Estimate, comparisons: Sequence[Comparison]) -> list[str]:
    """Return the footnotes of a number, with the reason for its verdict first if that is not plain."""
    is_plain = is_judged(metric) and not metric.is_open and metric.shown_only is None
    return [*([] if is_plain else [finding(metric)]), *metric_footnotes(metric, comparisons)]


def _queries(numbers: Sequence[int]) -> str:
    """Return the number of queries of each row."""
    if len(set(numbers)) == 1:
        return f"$n = {numbers[0]}$ queries"
    return f"$n = {', '.join(map(str, numbers))}$ queries, in the order of rows"


def suite_comparison_latex(comparison: SuiteComparison) -> str:
    """Return a booktabs table: a row per dataset, then the rows of all datasets together."""
    footnotes: list[str] = []
    lines = []
    for on in comparison.deltas:
        found = on.found
        name = latex_text(on.dataset) + footnote_marks(_footnotes(found, ()), footnotes)
        means = _means([found.baseline, found.candidate], found.direction, n_marked=1)
        row = [name, f"${found.n}$", *means, *_evidence(found.delta, found.ci, found.p_adjusted)]
        lines.append(rf"{' & '.join(row)} \\")
    lines.append(r"\midrule")
    for name, of in (
        ("Macro, other queries", comparison.macro),
        ("Macro, other datasets", comparison.over_datasets),
        ("Micro, other queries", comparison.micro),
    ):
        lines.append(rf"{' & '.join([name, '', '', '', *_evidence(of.delta, of.ci, of.p_adjusted)])} \\")
    metrics = [on.found for on in comparison.deltas]
    tests, intervals = (" and ".join(dict.fromkeys(map(name, metrics))) for name in (test_name, interval_name))
    n_datasets = len(comparison.deltas)
    lacking = f" Without both runs: {', '.join(comparison.missing)}." if comparison.missing else ""
    what = f"{comparison.candidate} against {comparison.baseline} on suite {comparison.suite}"
    if comparison.macro.p_adjusted != comparison.macro.p_value:
        lacking += " The first macro p is Holm-corrected for all metrics and candidates at once."
    if comparison.macro.is_open:
        lacking += " Unjudged items could change the macro verdict."
    caption = " ".join(
        [
            f"{latex_text(familiar_name(comparison.metric))} of {latex_text(what)}.",
            _DELTA,
            _with_sign_of_p(
                latex_text(f"95% interval: {intervals}; p: {tests}, Holm-corrected over {n_datasets} datasets.")
            ),
            "Macro: each dataset counts once; micro: each query does; other queries: of these datasets; other "
            "datasets: like these. Bold: the better mean." + latex_text(lacking),
        ]
    )
    heads = ["Dataset", "$n$", latex_text(comparison.baseline), latex_text(comparison.candidate), *_HEADS]
    return latex_table(caption, "l" + "r" * (len(heads) - 1), heads, lines, footnotes)
