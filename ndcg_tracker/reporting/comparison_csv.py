"""A comparison as CSV: one row per candidate and metric, then one per slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.reporting.csv_writer import csv_text

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, MetricComparison
    from ndcg_tracker.comparison.slices import SliceComparison

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
    "betting_ci_low",
    "betting_ci_high",
    "equivalence_margin",
    "equivalence_p_value",
    "equivalence_ci_low",
    "equivalence_ci_high",
    "equivalent",
    "attribute",
    "value",
    "q_value",
)


def comparison_csv(*comparisons: Comparison) -> str:
    """Return one CSV row per candidate and metric, with every column and full double precision.

    The slices of a comparison follow its metrics: rows of the first metric with ``attribute`` and ``value`` (nothing
    for the groups without the attribute).
    """
    rows = []
    for comparison in comparisons:
        rows += [_metric_row(comparison, metric) for metric in comparison.metrics]
        rows += [_slice_row(comparison, row) for row in comparison.slices or ()]
    return csv_text(_CSV_COLUMNS, rows)


def _metric_row(comparison: Comparison, metric: MetricComparison) -> list[object]:
    """Return one metric's values in the order of the columns."""
    low, high = metric.ci if metric.ci is not None else (None, None)
    groups = metric.groups
    return [
        *_run_cells(comparison),
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
        *_optional_cells(metric),
    ]


def _slice_row(comparison: Comparison, row: SliceComparison) -> list[object]:
    """Return one slice's values under their columns."""
    low, high = row.ci if row.ci is not None else (None, None)
    values = {
        **dict(zip(_CSV_COLUMNS, _run_cells(comparison), strict=False)),
        "metric": comparison.metrics[0].metric,
        "baseline": row.baseline,
        "candidate": row.candidate,
        "delta": row.delta,
        "ci_low": low,
        "ci_high": high,
        "ci_method": "t",
        "p_value": row.p_value,
        "p_adjusted": row.p_adjusted,
        "test": "t",
        "n": row.n,
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "verdict": row.verdict,
        "warnings": row.warning,
        "attribute": comparison.slice_attribute,
        "value": row.value,
        "q_value": row.q_value,
    }
    return [values.get(name) for name in _CSV_COLUMNS]


def _run_cells(comparison: Comparison) -> list[object]:
    """Return what was compared."""
    return [
        comparison.baseline.name,
        comparison.baseline.run_id,
        comparison.candidate.name,
        comparison.candidate.run_id,
        comparison.dataset,
        comparison.label_set.version,
        comparison.label_set.digest,
    ]


def _tie_cells(metric: MetricComparison) -> list[object]:
    """Return both means' bounds over ties in scores, and whether the verdict hangs on them."""
    effect = metric.tie_effect
    if effect is None:
        return [None] * 5
    bounds = (effect.baseline.worst, effect.baseline.best, effect.candidate.worst, effect.candidate.best)
    return [*bounds, metric.ties_could_change_verdict]


def _optional_cells(metric: MetricComparison) -> list[object]:
    """Return the betting interval, the equivalence, and nothing for what belongs to slices."""
    betting = metric.betting_ci if metric.betting_ci is not None else (None, None)
    found = metric.equivalence
    if found is None:
        return [*betting, *[None] * 8]
    ci = found.ci if found.ci is not None else (None, None)
    return [*betting, found.margin, found.p_value, *ci, found.equivalent, None, None, None]
