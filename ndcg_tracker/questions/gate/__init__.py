"""May the candidate replace the baseline?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.asked import DEFAULT_METRIC, AnyDataset, Judge
from ndcg_tracker.compare.options import CheckWith, ClusterBy, LabelsVersion, MissingGroups, OfUnanswered
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.gate.options import (
    Acknowledge,
    Alike,
    AllowedDrop,
    AlphaBudget,
    Baseline,
    BySlices,
    Candidate,
    DecidingMetric,
    DryRun,
    Limits,
    MaxHarm,
    OfScope,
    OfUnjudged,
    Repeats,
    SliceMargin,
    StrictSlices,
    Tolerance,
)
from ndcg_tracker.questions.report import report

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.gather import GateResult
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.store import HasStore


def gate(
    self: HasStore,
    candidate: Candidate,
    *,
    baseline: Baseline,
    metric: DecidingMetric = DEFAULT_METRIC,
    margin: AllowedDrop = None,
    scope: OfScope = "population",
    tolerance: Tolerance = None,
    repeats: Repeats = (),
    aa: Alike = None,
    alpha_budget: AlphaBudget = None,
    missing: MissingGroups = "error",
    dataset: AnyDataset = None,
    acknowledge: Acknowledge = None,
    acknowledged_by: str | None = None,
    dry_run: DryRun = False,
    top: int = 10,
    cluster: ClusterBy = None,
    by: BySlices = None,
    slice_margin: SliceMargin = None,
    strict_slices: StrictSlices = False,
    max_harm: MaxHarm = None,
    limits: Limits = (),
    labels: LabelsVersion = None,
    unjudged: OfUnjudged = "range",
    judge: Judge = None,
    check_with: CheckWith = None,
    unanswered: OfUnanswered = "refuse",
) -> GateResult:
    """Decide whether a candidate may replace a baseline, and record the decision.

    Parameters: ``candidate``, ``baseline``: run references; a baseline given as ``@alias`` is pinned. ``margin``: the
    drop that is allowed in scope "population", or "auto" to learn it from ``repeats`` (run references) or from the runs
    with the tag ``aa=NAME``, by default the baseline's. ``scope``: "population" (three-way non-inferiority) or "set"
    (exact arithmetic against ``tolerance``, by default 0). ``alpha_budget``: the probability of a false FAIL over all
    decisions of this gate, in the place of 1% for each. ``acknowledge``: why a FAIL or INCONCLUSIVE is overridden,
    ``acknowledged_by`` by whom. ``dry_run``: record nothing. ``missing``, ``top``, ``cluster``, ``labels``, ``judge``:
    see ``compare``. ``by``: a group attribute: FAIL where one of its slices, of 25 groups or more, is shown to have
    dropped by more than ``slice_margin`` (Holm); ``strict_slices``: no PASS either where one is not shown to have
    dropped by less. ``max_harm``: such as ".3:2%": PASS only if at most 2% of groups like these lose more than .3 (an
    exact bound at 95%), FAIL if more do, in all or in a slice (Holm). ``limits``: on measures of the runs, which are
    tags with numbers: ``{"latency_ms": "+10%"}`` FAILs a candidate whose latency is more than a tenth higher, ``"-5"``
    one whose number is more than 5 lower. ``check_with``, ``unanswered``: see ``compare``; PASS and FAIL are those of
    the corrected difference, and below 100 answers that differ from the judge there is neither. Raises: InputError for
    what does not go together; ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.compare.limits import HarmLimit, Limit
    from ndcg_tracker.questions.gate.gather import GateResult, gated
    from ndcg_tracker.questions.gate.question import GateQuestion, acknowledged

    question = GateQuestion(
        candidate,
        baseline,
        parse_metric(metric),
        margin=margin,
        scope=scope,
        tolerance=tolerance,
        repeats=tuple(repeats),
        aa=aa,
        alpha_budget=alpha_budget,
        missing=missing,
        dataset=dataset,
        top=top,
        cluster=cluster,
        by=by,
        slice_margin=slice_margin,
        strict_slices=strict_slices,
        max_harm=None if max_harm is None else HarmLimit.of(max_harm),
        limits=Limit.all_of(limits),
        labels=labels,
        unjudged=unjudged,
        judge=judge,
        check_with=check_with,
        unanswered=unanswered,
    )
    override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
    return GateResult(gated(self.store(), question, override, dry_run=dry_run))


def gate_report(self: HasStore, result: GateResult, *, output: str = "report.html") -> ReportResult:
    """Draw what a gate decided on: ``report`` for its runs, its metric and its labels."""
    from ndcg_tracker.storage.records import NO_LABELS_HERE

    comparison = result.gated.comparison
    metrics = [metric.metric for metric in comparison.metrics]
    clusters, check = result.gated.metric.clusters, result.gated.metric.check
    version = None if comparison.label_set.judge in NO_LABELS_HERE else comparison.label_set.version
    drawn = report(
        self,
        comparison.baseline.name,
        comparison.candidate.name,
        dataset=comparison.dataset,
        metrics=metrics,
        missing=comparison.groups.missing,
        cluster=None if clusters is None else clusters.attribute,
        labels=version if check is None else None,
        judge=None if check is None else comparison.label_set.judge,
        check_with=None if check is None else check.sampled.checked_by,
        unanswered="judge" if check is not None and check.sampled.n_unanswered else "refuse",
        output=output,
    )
    return drawn.with_notes(comparison.notes)
