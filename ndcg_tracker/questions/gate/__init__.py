"""May the candidate replace the baseline?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Unpack

from ndcg_tracker.asked import DEFAULT_METRIC, Everyday, Option, Positional, asks, made
from ndcg_tracker.questions.gate.question import (
    NAMED,
    GateKeywords,
    GateQuestion,
    OfDataset,
    PolicyKeywords,
    PolicyRules,
    acknowledged,
)
from ndcg_tracker.questions.report import report

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.gather import GateResult
    from ndcg_tracker.questions.gate.gather_policy import PolicyAct
    from ndcg_tracker.questions.gate.gather_sealed import SealedGateResult
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.marks import PolicyRecord
    from ndcg_tracker.storage.records import AliasRecord
    from ndcg_tracker.storage.store import HasStore


Candidate = Annotated[str, Positional("The run to replace the baseline.", metavar="CANDIDATE")]
Baseline = Annotated[str, Everyday("Run to compare against, preferably a pinned @alias.", metavar="RUN")]
Reason = Annotated[str, Option("Why earlier looks no longer count.", metavar="REASON")]
Acknowledge = Annotated[str | None, Option("Override the decision; the reason is recorded.", metavar="REASON")]
DryRun = Annotated[bool, Everyday("Decide, but record nothing.")]
SealedDataset = Annotated[str, Option("The sealed dataset that has both runs.", metavar="NAME")]
SealedBaseline = Annotated[
    str | None, Option("Run to compare against.", metavar="RUN", default="the one that the split has fixed")
]
Drop = Annotated[float, Everyday("The allowed drop, in absolute points.", metavar="X")]
PolicyAlias = Annotated[str, Positional("The alias, with or without @.", metavar="ALIAS")]


@asks(GateQuestion)
def gate(
    self: HasStore,
    candidate: Candidate,
    *,
    baseline: Baseline,
    acknowledge: Acknowledge = None,
    acknowledged_by: str | None = None,
    dry_run: DryRun = False,
    top: int = 10,
    **rules: Unpack[GateKeywords],
) -> GateResult:
    """Decide whether a candidate may replace a baseline, and record the decision.

    Parameters: ``candidate``, ``baseline``: run references; a baseline given as ``@alias`` is pinned. ``margin``: the
    allowed drop, or "auto" to learn it from ``repeats``: run references, or ``tag:KEY=VALUE`` for the runs with a tag;
    by default those with the baseline's tag ``aa``. ``scope``: "population" (three-way non-inferiority) or "set" (exact
    arithmetic, with a margin of 0 by default). If the alias has a policy (``set_policy``), its rules hold; only
    stricter ones may be given. ``acknowledge``: why a FAIL or INCONCLUSIVE is overridden, ``acknowledged_by``: by whom.
    ``dry_run``: record nothing. ``missing``, ``top``, ``cluster``, ``labels``, ``judge``, ``ids_are_stable``: see
    ``compare``. ``by``: a group attribute: FAIL if one of its slices of 25 groups or more is shown to have dropped by
    more than ``slice_margin`` (Holm), and no PASS if one regressed that is not shown to have dropped by less.
    ``max_harm``: such as ".3:2%": PASS
    only if at most 2% of queries like these lose more than .3 (an exact bound at 95%); FAIL if more do, in all or in a
    slice (Holm). ``limits``: on measures of the runs, which are tags with numbers: ``{"latency_ms": "+10%"}`` FAILs a
    candidate whose latency is more than a tenth higher, ``"-5"`` one whose number is more than 5 lower. ``check_with``:
    see ``compare``; PASS and FAIL are those by drawn answers, from 30 answered queries on. Under a named
    judge whom nobody checks the decision is INCONCLUSIVE, unless the policy trusts the judge. ``suite``, ``by_tag``:
    decide over a suite (see ``compare``): on the macro mean of the differences, whose allowed drop is ``margin``, and
    with ``by="dataset"`` on each dataset by ``slice_margin``. Raises: InputError for
    options that do not go together; ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.questions.gate.gather import GateResult, gated

    question = made(GateQuestion, rules, candidate=candidate, baseline=baseline, top=top, named=NAMED & rules.keys())
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
    self: HasStore, baseline: str, *, reason: Reason, dataset: OfDataset = None, reset_by: str | None = None
) -> tuple[AliasRecord, int]:
    """Restart the budget of an alias, record it, and return the alias and how many looks no longer count.

    Parameters: ``baseline``: the alias. ``reason``: why. ``reset_by``: who decided it. Raises: InputError for an empty
    reason and if no look counts; ReferenceNotFoundError.
    """
    from ndcg_tracker.questions.gate.gather_policy import reset_budget

    with self.store().write("marks") as tx:
        return reset_budget(tx, baseline, dataset, reason, reset_by)


@asks(PolicyRules)
def set_policy(
    self: HasStore, alias: PolicyAlias, *, margin: Drop, set_by: str | None = None, **rules: Unpack[PolicyKeywords]
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
    from ndcg_tracker.questions.gate.gather_policy import policy_set

    dataset = rules.pop("dataset", None)
    with self.store().write("marks") as tx:
        return policy_set(tx, alias, dataset, {"metric": DEFAULT_METRIC, "margin": margin, **rules}, set_by)


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

    comparison, about = result.gated.comparison, result.gated.metric.about
    suite, check, shared = comparison.suite, about.check, comparison.label_set
    if suite is None:
        version = None if shared.judge in NO_LABELS_HERE or check is not None else shared.version
        where: dict[str, Any] = {"dataset": comparison.dataset, "labels": version}
    else:
        versions = {of.label_set.version for of in suite.each} if comparison.are_labels_asked else {None}
        where = {"suite": comparison.dataset, "by_tag": suite.by_tag, "judge": shared.judge or None}
        where["labels"] = versions.pop() if len(versions) == 1 else "newest"
    if check is not None:
        where |= {"judge": shared.judge, "check_with": None if check.aim == "holes" else check.checked_by}
    drawn = report(
        self,
        comparison.baseline.name,
        comparison.candidate.name,
        metrics=[metric.metric for metric in comparison.metrics],
        missing=comparison.groups.missing,
        cluster=None if about.clusters is None else about.clusters.attribute,
        output=output,
        **where,
    )
    if suite is not None:
        return drawn.with_decision(f"{result.decision.upper()}: {result.reason}")
    return drawn.with_notes(comparison.notes)
