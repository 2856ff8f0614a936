"""Systems on several datasets, side by side and at the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import Option, asks, made
from ndcg_tracker.compare.options import CompareKeywords, CompareOptions, LabelView, ViewKeywords
from ndcg_tracker.questions.gate.question import GateKeywords, GateQuestion, acknowledged
from ndcg_tracker.questions.leaderboard.question import LeaderboardKeywords, LeaderboardQuestion

if TYPE_CHECKING:
    from ndcg_tracker.compare.gather_suite import SuiteComparisonResult
    from ndcg_tracker.questions.gate.gather_suite import SuiteGateResult
    from ndcg_tracker.questions.leaderboard.gather_suite import SuiteResult
    from ndcg_tracker.storage.records import SuiteRecord
    from ndcg_tracker.storage.store import HasStore


SuiteName = Annotated[str, Option("The name of the suite.", metavar="SUITE", is_positional=True)]
Datasets = Annotated[
    Sequence[str],
    Option("Datasets, or patterns such as 'beir-*'.", metavar="DATASET", is_positional=True, typed=list[str]),
]
OF_ONE_DATASET = ("dataset", "check_with", "fresh")
"""Options of a comparison that a suite does not take: answers to a sample are about one dataset."""
ReplaceDatasets = Annotated[bool, Option("Replace the datasets of an existing suite.")]


def create_suite(
    self: HasStore, name: SuiteName, datasets: Datasets, *, replace: ReplaceDatasets = False
) -> SuiteRecord:
    """Create a suite, a name for datasets to look at together, and return it.

    Parameters: ``datasets``: names or patterns such as ``"beir-*"``. ``replace``: replace the datasets of an existing
    suite. Raises: ConflictError if the name has other datasets; ReferenceNotFoundError.
    """
    from fnmatch import fnmatchcase

    from ndcg_tracker.errors import InputError
    from ndcg_tracker.storage.references import is_pattern

    with self.store().write("marks") as tx:
        names = [wanted.name for wanted in tx.datasets.all()]
        meant: list[str] = []
        for wanted in datasets:
            fits = (
                [name for name in names if fnmatchcase(name, wanted)]
                if is_pattern(wanted) and wanted not in names
                else []
            )
            meant += fits or [tx.datasets.known(wanted).name]
        if not meant:
            raise InputError("a suite needs datasets", advice="name some, or give a pattern such as 'beir-*'")
        return tx.write.suites.create(name, tuple(dict.fromkeys(meant)), replace=replace)


def suites(self: HasStore) -> list[SuiteRecord]:
    """Return the suites by name."""
    with self.store().read() as tx:
        return tx.suites.all()


def delete_suite(self: HasStore, name: SuiteName) -> SuiteRecord:
    """Delete a suite and return its former content; its datasets and their runs stay."""
    with self.store().write("marks") as tx:
        return tx.write.suites.delete(name)


@asks(LeaderboardQuestion, but=("dataset", "suite", "test", "by", "measures", "check_with"))
def suite(self: HasStore, name: str, *systems: str, **keywords: Unpack[LeaderboardKeywords]) -> SuiteResult:
    """Return the means of systems on every dataset of a suite, the best macro mean first.

    macro = mean of the datasets' means, micro = mean of all groups. Runs of the same name are one system; a system
    without a run on some dataset has no mean over the suite. The others are ranked by t-tests of the macro mean over
    all pairs, Holm-corrected, as in ``leaderboard``. Parameters: ``systems``: names or patterns, none for all.
    ``metrics``: with a table for each. ``by_tag``: runs of one system share the value of this
    tag, not their name. ``missing``, ``tags``, ``labels``, ``judge``: see ``leaderboard``. Raises:
    ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.questions.leaderboard.gather_suite import SuiteResult, suite_tables

    question = made(LeaderboardQuestion, keywords, references=systems, suite=name)
    with self.store().read() as tx:
        table, *further = suite_tables(tx, question)
    return SuiteResult(table, tuple(further))


@asks(CompareOptions, but=OF_ONE_DATASET, top=0)
def compare_suite(
    self: HasStore,
    name: str,
    baseline: str,
    *candidates: str | Sequence[str],
    by_tag: str | None = None,
    **keywords: Unpack[CompareKeywords],
) -> SuiteComparisonResult:
    """Compare systems on every dataset of a suite, as ``compare`` does, and on all together.

    The verdict is about the macro mean of the differences, for other groups of these datasets. Parameters:
    ``baseline``, ``candidates``: names of runs; ``@alias`` and ``tag:KEY=VALUE`` are resolved on each dataset.
    ``by_tag``: see ``suite``. ``top``: how many worst and best groups to keep on each dataset, by default none. The
    others: see ``compare``; they apply to each dataset. Raises: ReferenceNotFoundError; NotComparableError, with the
    command that fixes it.
    """
    from ndcg_tracker.compare.gather_suite import SuiteComparisonResult, compared_on_suite

    options = made(CompareOptions, keywords)
    with self.store().read() as tx:
        (first, *others), pairs = compared_on_suite(tx, name, baseline, candidates, options, by_tag)
    return SuiteComparisonResult(first, tuple(others), tuple(pair.comparison for pair in pairs))


@asks(LabelView)
def gate_suite_page(
    self: HasStore, found: SuiteGateResult, *, by_tag: str | None = None, **view: Unpack[ViewKeywords]
) -> str:
    """Return the page of ``report`` for the systems on which a gate decided, with its decision."""
    from ndcg_tracker.questions.report import report

    comparison = found.gated.comparison
    first = comparison.deltas[0].found
    page = report(
        self,
        comparison.baseline,
        comparison.candidate,
        suite=comparison.suite,
        by_tag=by_tag,
        metrics=comparison.metric,
        missing=first.about.groups.missing,
        test=first.about.test,
        ci=first.about.ci_method,
        cluster=None if first.about.clusters is None else first.about.clusters.attribute,
        labels=view.get("labels"),
        judge=view.get("judge"),
    )
    return page.with_decision(f"{found.decision.upper()}: {found.reason}").to_html()


@asks(GateQuestion, but=("dataset", "scope", "repeats", "check_with"))
def gate_suite(
    self: HasStore,
    name: str,
    candidate: str,
    *,
    baseline: str,
    by_tag: str | None = None,
    acknowledge: str | None = None,
    acknowledged_by: str | None = None,
    dry_run: bool = False,
    **rules: Unpack[GateKeywords],
) -> SuiteGateResult:
    """Decide whether a system may replace another on every dataset of a suite, and record the decision.

    PASS, FAIL and INCONCLUSIVE are those of ``gate`` on the macro mean of the differences, for other groups of these
    datasets. Parameters: ``margin``: the allowed drop of the macro mean. ``by="dataset"``: FAIL if a dataset of 25
    groups or more is shown to have dropped by more than ``slice_margin`` (Holm), and no PASS if one regressed that is
    not shown to have dropped by less. ``strict_slices``: no PASS if any dataset is not shown to. The others:
    see ``gate`` and ``compare_suite``. Raises: InputError for options that do not go together; ReferenceNotFoundError;
    NotComparableError if a system has no run on some dataset.
    """
    from ndcg_tracker.questions.gate.gather_suite import SuiteGateResult, gated_suite

    systems = {"candidate": candidate, "baseline": baseline}
    question = made(GateQuestion, rules, **systems, suite=name, by_tag=by_tag)
    question.refuse_incomplete()
    override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
    return SuiteGateResult(gated_suite(self.store(), question, override, dry_run=dry_run))
