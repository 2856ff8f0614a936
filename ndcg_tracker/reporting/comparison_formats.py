"""A comparison for programs and pull requests: JSON, Markdown, CSV, and the choice between all formats."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.comparison_report import comparison_text
from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.table import Format
from ndcg_tracker.reporting.terminal import visible

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, MetricComparison

_CSV_COLUMNS = (
    "baseline_run",
    "baseline_run_id",
    "candidate_run",
    "candidate_run_id",
    "dataset",
    "label_set_version",
    "label_set_digest",
    "metric",
    "baseline",
    "candidate",
    "delta",
    "ci_low",
    "ci_high",
    "ci_method",
    "p_value",
    "p_adjusted",
    "test",
    "n",
    "wins",
    "ties",
    "losses",
    "effect_size",
    "detectable_delta",
    "verdict",
    "paired",
    "only_in_baseline",
    "only_in_candidate",
    "undefined",
    "missing_in_baseline",
    "missing_in_candidate",
    "warnings",
    "baseline_worst",
    "baseline_best",
    "candidate_worst",
    "candidate_best",
    "ties_could_change_verdict",
)


def comparison_as(format: Format, *comparisons: Comparison, color: bool = False) -> str:
    """Return one comparison, or those of several candidates with one baseline, in a format, with a line end."""
    if format == "json":
        return comparison_json(*comparisons)
    if format == "csv":
        return comparison_csv(*comparisons)
    if format == "markdown":
        return comparison_markdown(*comparisons)
    return comparison_text(*comparisons, color=color)


def comparison_json(first: Comparison, *further: Comparison) -> str:
    """Return the JSON object of a comparison; those of further candidates stand in its list "further"."""
    document = first.to_dict()
    if further:
        document["further"] = [comparison.to_dict() for comparison in further]
    return json_text(document)


def comparison_csv(*comparisons: Comparison) -> str:
    """Return one CSV row per candidate and metric, with every column and full double precision."""
    rows = [_csv_row(comparison, metric) for comparison in comparisons for metric in comparison.metrics]
    return csv_text(_CSV_COLUMNS, rows)


def comparison_markdown(*comparisons: Comparison) -> str:
    """Return the comparison as Markdown for a pull request: verdict, table, footnotes, and the groups folded away."""
    comparisons = tuple(words.for_people(comparison) for comparison in comparisons)
    blocks = [_markdown_block(comparison, comparisons) for comparison in comparisons]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def _markdown_block(comparison: Comparison, all_comparisons: tuple[Comparison, ...]) -> list[str]:
    """Return the lines of one comparison."""
    footnotes: list[str] = []
    rows = [words.metric_cells(metric, footnotes) for metric in comparison.metrics]
    lines = [f"### {markdown_text(words.headline(comparison))}", ""]
    lines += [*markdown_table(words.METRIC_HEADINGS, rows, words.METRIC_RIGHT), ""]
    lines += [f"- {markdown_text(f'{words.mark(number)} {note}')}" for number, note in enumerate(footnotes, 1)]
    lines += [f"- {markdown_text(sentence)}" for sentence in words.detectable(comparison)]
    lines += [f"- {markdown_text(f'{name}: {value}')}" for name, value in words.facts(comparison)]
    lines += [f"- {markdown_text(f'note: {note}')}" for note in words.notes(comparison)]
    lines += ["", markdown_text("; ".join(words.legend(all_comparisons)))]
    for title, groups in words.group_tables(comparison):
        lines += ["", f"<details><summary>{escape(visible(title))}</summary>", ""]
        lines += [*markdown_table(words.GROUP_HEADINGS, groups, words.GROUP_RIGHT), "", "</details>"]
    if comparison.tie_groups:
        lines += ["", "<details><summary>groups that ties in scores leave open</summary>", ""]
        lines += [*markdown_table(words.TIE_HEADINGS, words.tie_rows(comparison), words.TIE_RIGHT), "", "</details>"]
    return lines


def _csv_row(comparison: Comparison, metric: MetricComparison) -> list[object]:
    """Return one metric's values in the order of the columns."""
    low, high = metric.ci if metric.ci is not None else (None, None)
    groups = metric.groups
    return [
        comparison.baseline.name,
        comparison.baseline.run_id,
        comparison.candidate.name,
        comparison.candidate.run_id,
        comparison.dataset,
        comparison.label_set.version,
        comparison.label_set.digest,
        metric.metric,
        metric.baseline,
        metric.candidate,
        metric.delta,
        low,
        high,
        metric.ci_method,
        metric.p_value,
        metric.p_adjusted,
        metric.test,
        metric.n,
        metric.wins,
        metric.ties,
        metric.losses,
        metric.effect_size,
        metric.detectable_delta,
        metric.verdict,
        groups.paired,
        groups.only_in_baseline,
        groups.only_in_candidate,
        groups.undefined,
        groups.missing_in_baseline,
        groups.missing_in_candidate,
        "; ".join(metric.warnings),
        *_tie_cells(metric),
    ]


def _tie_cells(metric: MetricComparison) -> list[object]:
    """Return both means' bounds over ties in scores, and whether the verdict hangs on them."""
    effect = metric.tie_effect
    if effect is None:
        return [None] * 5
    bounds = (effect.baseline.worst, effect.baseline.best, effect.candidate.worst, effect.candidate.best)
    return [*bounds, metric.ties_could_change_verdict]
