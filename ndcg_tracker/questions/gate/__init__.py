"""May the candidate replace the baseline?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from ndcg_tracker.asked import DEFAULT_METRIC, AnyDataset, Everyday, Judge, Option, OwnName, Texts
from ndcg_tracker.compare.options import (
    CheckWith,
    ClusterBy,
    Fresh,
    IdsAreStable,
    LabelsVersion,
    Margin,
    MissingGroups,
    Scope,
    Unjudged,
)
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.report import report

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.gather import GateResult
    from ndcg_tracker.questions.gate.gather_policy import PolicyAct
    from ndcg_tracker.questions.gate.gather_sealed import SealedGateResult
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.records import AliasRecord, PolicyRecord
    from ndcg_tracker.storage.store import HasStore


def _margin(text: str) -> float | Literal["auto"]:
    """Return the margin that ``--margin`` gives.

    >>> _margin("0.01"), _margin("auto")
    (0.01, 'auto')
    """
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{argument('margin')} {text!r} is not a number",
            advice="give one in absolute points, such as 0.01, or auto",
        ) from None


Candidate = Annotated[str, Option("The run to replace the baseline.", metavar="CANDIDATE", is_positional=True)]
Baseline = Annotated[str, Everyday("Run to compare against, preferably a pinned @alias.", metavar="RUN")]
DecidingMetric = Annotated[str, Everyday("The metric that decides.", ("--metric", "-m"))]
AllowedDrop = Annotated[
    Margin,
    Everyday(
        "The allowed drop, or auto to learn it from repeats; required unless --scope set.",
        metavar="X|auto",
        typed=str | None,
        read=_margin,
    ),
]
OfScope = Annotated[Scope, Option("Decide for all groups like these, or only for these (exact, no test).")]
OfUnjudged = Annotated[
    Unjudged,
    Option("What unjudged items may be worth: up to the mean gain at their rank, or nothing."),
]
Tolerance = Annotated[float | None, Option("The allowed drop in --scope set.", default="0")]
Repeats = Annotated[
    Sequence[str],
    Option("A repeat of the baseline for --margin auto; repeatable.", metavar="RUN", typed=Texts, read=tuple),
]
Alike = Annotated[
    str | None,
    Option("Learn --margin auto from the runs tagged aa=NAME.", metavar="NAME", default="the baseline's"),
]
Budget = Annotated[
    float | None,
    Everyday("Chance of any false PASS, and of any false FAIL, over all decisions at the alias.", metavar="A"),
]
Looks = Annotated[int | None, Everyday("How many looks share the budget.", metavar="N", default="unlimited")]
Acknowledge = Annotated[str | None, Option("Override the decision; the reason is recorded.", metavar="REASON")]
DryRun = Annotated[bool, Everyday("Decide, but record nothing.")]
BySlices = Annotated[
    str | None, Option("Also judge slices of this attribute, each by --slice-margin.", metavar="ATTRIBUTE")
]
SliceMargin = Annotated[float | None, Option("The allowed drop of each slice of --by.", metavar="X")]
StrictSlices = Annotated[bool, Option("PASS only if every slice is shown to be within it.")]
MaxHarm = Annotated[
    str | None,
    Everyday("At most this share of groups may lose over X points.", ("--max-harm",), metavar="X:SHARE%"),
]
Limits = Annotated[
    Mapping[str, str] | Sequence[str],
    Option(
        "Also FAIL if a measure of the run rises (or with - falls) by more; repeatable.",
        ("--limit",),
        metavar="NAME=+X[%]",
        typed=Texts,
    ),
]

TrustJudge = Annotated[bool, Option("Decide by the labels of --judge alone, although nobody checks them.")]
SealedDataset = Annotated[str, Option("The sealed dataset that has both runs.", metavar="NAME")]
SealedBaseline = Annotated[
    str | None, Option("Run to compare against.", metavar="RUN", default="the one that the split has fixed")
]
Drop = Annotated[float, Everyday("The allowed drop, in absolute points.", metavar="X")]
PolicyAlias = Annotated[str, Option("The alias, with or without @.", metavar="ALIAS", is_positional=True)]
OfDataset = Annotated[str | None, Everyday("The dataset of the alias.")]


_METRIC = OwnName(DEFAULT_METRIC)
_POPULATION, _ERROR, _RANGE = (cast("Any", OwnName(value)) for value in ("population", "error", "range"))
"""Defaults that a policy replaces; the same values from a caller are rules."""
NOT_ASKED = ("acknowledge", "acknowledged_by", "dry_run")
"""Arguments of a gate that its question does not have."""


def gate(
    self: HasStore,
    candidate: Candidate,
    *,
    baseline: Baseline,
    metric: DecidingMetric = _METRIC,
    margin: AllowedDrop = None,
    scope: OfScope = _POPULATION,
    tolerance: Tolerance = None,
    repeats: Repeats = (),
    aa: Alike = None,
    missing: MissingGroups = _ERROR,
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
    unjudged: OfUnjudged = _RANGE,
    ids_are_stable: IdsAreStable = False,
    judge: Judge = None,
    check_with: CheckWith = None,
    fresh: Fresh = False,
) -> GateResult:
    """Decide whether a candidate may replace a baseline, and record the decision.

    Parameters: ``candidate``, ``baseline``: run references; a baseline given as ``@alias`` is pinned. ``margin``: the
    allowed drop in scope "population", or "auto" to learn it from ``repeats`` (run references) or from the runs with
    the tag ``aa=NAME``, by default the baseline's. ``scope``: "population" (three-way non-inferiority) or "set" (exact
    arithmetic against ``tolerance``, by default 0). If the alias has a policy (``set_policy``), its rules hold; only
    stricter ones may be given. ``acknowledge``: why a FAIL or INCONCLUSIVE is overridden, ``acknowledged_by``: by whom.
    ``dry_run``: record nothing. ``missing``, ``top``, ``cluster``, ``labels``, ``judge``, ``ids_are_stable``: see
    ``compare``. ``by``: a group attribute: FAIL if one of its slices of 25 groups or more is shown to have dropped by
    more than ``slice_margin`` (Holm), and no PASS if one regressed that is not shown to have dropped by less.
    ``strict_slices``: no PASS if any slice is not shown to have dropped by less. ``max_harm``: such as ".3:2%": PASS
    only if at most 2% of queries like these lose more than .3 (an exact bound at 95%); FAIL if more do, in all or in a
    slice (Holm). ``limits``: on measures of the runs, which are tags with numbers: ``{"latency_ms": "+10%"}`` FAILs a
    candidate whose latency is more than a tenth higher, ``"-5"`` one whose number is more than 5 lower. ``check_with``,
    ``fresh``: see ``compare``; PASS and FAIL are those by drawn answers, from 30 answered queries on. Under a named
    judge whom nobody checks the decision is INCONCLUSIVE, unless the policy trusts the judge. Raises: InputError for
    options that do not go together; ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    given = {name: value for name, value in locals().items() if name not in ("self", *NOT_ASKED)}
    from ndcg_tracker.questions.gate.gather import GateResult, gated
    from ndcg_tracker.questions.gate.question import acknowledged, question_of

    question = question_of(given)
    override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
    return GateResult(gated(self.store(), question, override, dry_run=dry_run))


def gate_sealed(
    self: HasStore,
    candidate: Candidate,
    *,
    dataset: SealedDataset,
    baseline: SealedBaseline = None,
) -> SealedGateResult:
    """Decide on sealed data whether a candidate may replace a baseline, record the decision, and return one bit.

    The split fixed the metric, the margin, the looks and perhaps the baseline. PASS at the level of this look
    (``decide_bounds.look_level``), else NOT PASSED, without a reason, as always after the last look. Parameters:
    ``candidate``, ``baseline``: run references. ``dataset``: as the split named it, ``NAME-sealed``, in the database of
    ``NDCG_TRACK_SEALED_DB``. Raises: InputError for a dataset that is not sealed, and a baseline that the split fixed;
    ReferenceNotFoundError; NotComparableError if a run lacks the metric or groups.
    """
    from ndcg_tracker.questions.gate.gather_sealed import sealed_gated

    return sealed_gated(self.store(dataset=dataset), candidate, dataset, baseline)


def reset_gate(
    self: HasStore, baseline: str, *, reason: str, dataset: str | None = None, reset_by: str | None = None
) -> tuple[AliasRecord, int]:
    """Restart the budget of an alias, record it, and return the alias and how many looks no longer count.

    Parameters: ``baseline``: the alias. ``reason``: why. ``reset_by``: who decided it. Raises: InputError for an empty
    reason and if no look counts; ReferenceNotFoundError.
    """
    from ndcg_tracker.questions.gate.gather_policy import reset_budget

    with self.store().write("marks") as tx:
        return reset_budget(tx, baseline, dataset, reason, reset_by)


def set_policy(
    self: HasStore,
    alias: PolicyAlias,
    *,
    margin: Drop,
    metric: DecidingMetric = DEFAULT_METRIC,
    max_harm: MaxHarm = None,
    by: BySlices = None,
    slice_margin: SliceMargin = None,
    strict_slices: StrictSlices = False,
    limits: Limits = (),
    unjudged: OfUnjudged = "range",
    ids_are_stable: IdsAreStable = False,
    judge: Judge = None,
    check_with: CheckWith = None,
    trust_judge: TrustJudge = False,
    labels: LabelsVersion = None,
    missing: MissingGroups = "error",
    cluster: ClusterBy = None,
    budget: Budget = None,
    looks: Looks = None,
    dataset: OfDataset = None,
    set_by: str | None = None,
) -> PolicyRecord:
    """Set the rules of every gate against an alias, in the place of earlier ones, and return them.

    A gate whose baseline is ``@alias`` takes all of them, and with them only stricter ones. On Postgres only the
    owner of the database sets them, moves such an alias or resets its budget. Parameters: as of ``gate``, and
    ``budget``: the chance that any candidate that is worse by the margin PASSes, and likewise of any false FAIL, over
    all decisions at the alias since it was moved or its budget reset. ``looks``: how many decisions share the budget;
    after the last, every decision is INCONCLUSIVE. ``trust_judge``: decide by the labels of ``judge`` alone, although
    nobody checks them. Without ``looks``, decision i takes 6 / (pi^2 i^2) of the budget.
    ``set_by``: who decided it. Raises: InputError for rules that do not go together; ReferenceNotFoundError.
    """
    rules = {name: value for name, value in locals().items() if name not in ("self", "alias", "dataset", "set_by")}
    from ndcg_tracker.questions.gate.gather_policy import policy_set

    with self.store().write("marks") as tx:
        return policy_set(tx, alias, dataset, rules, set_by)


def policies(self: HasStore, dataset: str | None = None) -> list[PolicyRecord]:
    """Return the policies in force, by dataset and alias."""
    with self.store().read() as tx:
        newest = {(of.dataset_id, of.alias): of for of in tx.aliases.policies(dataset)}
        return [newest[key] for key in sorted(newest)]


def policy_history(self: HasStore, alias: PolicyAlias, dataset: OfDataset = None) -> list[PolicyAct]:
    """Return every change of the policy of an alias and every restart of its budget, oldest first.

    Raises: InputError for an alias without a policy.
    """
    from ndcg_tracker.questions.gate.gather_policy import policy_history

    with self.store().read() as tx:
        return policy_history(tx, alias, dataset)


def gate_report(self: HasStore, result: GateResult, *, output: str = "report.html") -> ReportResult:
    """Draw the basis of a gate's decision: ``report`` for its runs, its metric and its labels."""
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
        check_with=None if check is None or check.aim == "holes" else check.checked_by,
        output=output,
    )
    return drawn.with_notes(comparison.notes)
