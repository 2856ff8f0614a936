"""A comparison as rows for programs: one per candidate and metric, then one per slice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.reporting.csv_writer import csv_text

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, MetricComparison
    from ndcg_tracker.comparison.slices import SliceComparison
    from ndcg_tracker.statistics.equivalence import Equivalence

_SLICE_COLUMNS = ("attribute", "value", "q_value")
_RUN_COLUMNS = (
    "baseline_run",
    "baseline_run_id",
    "candidate_run",
    "candidate_run_id",
    "dataset",
    "label_set_version",
    "label_set_digest",
)
_CSV_COLUMNS = (
    *_RUN_COLUMNS,
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
    *_SLICE_COLUMNS,
    "requested_as",
    "in_neither",
    "not_comparable",
    "shown_only",
)


def comparison_csv(*comparisons: Comparison) -> str:
    """Return one CSV row per candidate and metric, with every column and full double precision.

    The slices of a comparison follow its metrics: rows of the first metric with ``attribute`` and ``value`` (nothing
    for the groups without the attribute).
    """
    rows = []
    for comparison in comparisons:
        rows += [metric_row(comparison, metric) for metric in comparison.metrics]
        rows += [slice_row(comparison, row) for row in comparison.slices or ()]
    return csv_text(_CSV_COLUMNS, [[row.get(name) for name in _CSV_COLUMNS] for row in rows])


def metric_row(comparison: Comparison, metric: MetricComparison) -> dict[str, object]:
    """Return one metric's values by the name of their column; None for what is undefined or was not asked for."""
    groups = metric.groups
    return {
        **_run_cells(comparison),
        "metric": metric.metric,
        "baseline": metric.baseline,
        "candidate": metric.candidate,
        "delta": metric.delta,
        **_interval_cells("ci", metric.ci),
        "ci_method": metric.ci_method,
        "p_value": metric.p_value,
        "p_adjusted": metric.p_adjusted,
        "test": metric.test,
        "n": metric.n,
        "wins": metric.wins,
        "ties": metric.ties,
        "losses": metric.losses,
        "effect_size": metric.effect_size,
        "detectable_delta": metric.detectable_delta,
        "verdict": metric.verdict,
        "shown_only": metric.shown_only,
        "paired": groups.paired,
        "only_in_baseline": groups.only_in_baseline,
        "only_in_candidate": groups.only_in_candidate,
        "undefined": groups.undefined,
        "missing_in_baseline": groups.missing_in_baseline,
        "missing_in_candidate": groups.missing_in_candidate,
        "in_neither": groups.in_neither,
        "not_comparable": metric.not_comparable,
        "warnings": "; ".join(metric.warnings),
        **_tie_cells(metric),
        **_interval_cells("betting_ci", metric.betting_ci),
        **_equivalence_cells(metric.equivalence),
        "requested_as": metric.requested_as or metric.metric,
    }


def slice_row(comparison: Comparison, row: SliceComparison) -> dict[str, object]:
    """Return one slice's values by the name of their column."""
    return {
        **_run_cells(comparison),
        "metric": comparison.metrics[0].metric,
        "requested_as": comparison.metrics[0].requested_as or comparison.metrics[0].metric,
        "attribute": comparison.slice_attribute,
        "value": row.value,
        "n": row.n,
        "baseline": row.baseline,
        "candidate": row.candidate,
        "delta": row.delta,
        **_interval_cells("ci", row.ci),
        "ci_method": "t",
        "wins": row.wins,
        "ties": row.ties,
        "losses": row.losses,
        "p_value": row.p_value,
        "q_value": row.q_value,
        "p_adjusted": row.p_adjusted,
        "test": "t",
        "verdict": row.verdict,
        "warnings": row.warning,
    }


def _run_cells(comparison: Comparison) -> dict[str, object]:
    """Return what was compared."""
    cells = (
        comparison.baseline.name,
        comparison.baseline.run_id,
        comparison.candidate.name,
        comparison.candidate.run_id,
        comparison.dataset,
        comparison.label_set.version,
        comparison.label_set.digest,
    )
    return dict(zip(_RUN_COLUMNS, cells, strict=True))


def _interval_cells(name: str, ci: tuple[float, float] | None) -> dict[str, object]:
    low, high = ci if ci is not None else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _tie_cells(metric: MetricComparison) -> dict[str, object]:
    """Return both means' bounds over ties in scores, and whether the verdict hangs on them."""
    effect = metric.tie_effect
    return {
        "baseline_worst": None if effect is None else effect.baseline.worst,
        "baseline_best": None if effect is None else effect.baseline.best,
        "candidate_worst": None if effect is None else effect.candidate.worst,
        "candidate_best": None if effect is None else effect.candidate.best,
        "ties_could_change_verdict": None if effect is None else metric.ties_could_change_verdict,
    }


def _equivalence_cells(found: Equivalence | None) -> dict[str, object]:
    return {
        "equivalence_margin": None if found is None else found.margin,
        "equivalence_p_value": None if found is None else found.p_value,
        **_interval_cells("equivalence_ci", None if found is None else found.ci),
        "equivalent": None if found is None else found.equivalent,
    }
