"""Systems on several datasets, side by side and at the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.defaults import DEFAULT_METRIC
from ndcg_tracker.metrics.language.text import parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.compare.pair import Missing
    from ndcg_tracker.questions.suite.gather import SuiteComparisonResult, SuiteGateResult, SuiteResult
    from ndcg_tracker.storage.records import SuiteRecord
    from ndcg_tracker.storage.store import HasStore


def create_suite(self: HasStore, name: str, datasets: Sequence[str], *, replace: bool = False) -> SuiteRecord:
    """Name datasets that are looked at together, and return the suite.

    Parameters: ``datasets``: names or patterns such as ``"beir-*"``. ``replace``: give a suite that
    exists these datasets. Raises: ConflictError where the name has other datasets; ReferenceNotFoundError.
    """
    from ndcg_tracker.questions.suite.gather import created_suite

    with self.store().write("marks") as tx:
        return tx.write.suites.create(name, created_suite(tx, datasets), replace=replace)


def suites(self: HasStore) -> list[SuiteRecord]:
    """Return the suites by name."""
    with self.store().read() as tx:
        return tx.suites.all()


def delete_suite(self: HasStore, name: str) -> SuiteRecord:
    """Delete a suite and return what it was; its datasets and their runs stay."""
    with self.store().write("marks") as tx:
        return tx.write.suites.delete(name)


def suite(
    self: HasStore,
    name: str,
    *systems: str,
    metric: str = DEFAULT_METRIC,
    by_tag: str | None = None,
    missing: Missing = "error",
) -> SuiteResult:
    """Return the means of systems on every dataset of a suite, the best macro mean first.

    macro = mean of the datasets' means, micro = mean of all groups. Runs of one name are one system; one without a
    run on some dataset has no mean over the suite. The others have a place by all pairs of t-tests of the macro
    mean, Holm-corrected, as in ``leaderboard``. Parameters: ``systems``: names or patterns, none for all.
    ``by_tag``: runs of one system share the value of this tag, not their name. ``missing``: see ``leaderboard``.
    Raises: ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.questions.suite.gather import SuiteResult, suite_table

    with self.store().read() as tx:
        return SuiteResult(suite_table(tx, name, systems, parse_metric(metric), by_tag, missing))


def compare_suite(
    self: HasStore,
    name: str,
    baseline: str,
    candidate: str,
    *,
    metric: str = DEFAULT_METRIC,
    by_tag: str | None = None,
    missing: Missing = "error",
) -> SuiteComparisonResult:
    """Compare two systems on every dataset of a suite, and on all together.

    The verdict is that of the macro mean of the differences, for other groups of these datasets. Parameters:
    ``baseline``, ``candidate``: names of runs. ``by_tag``: see ``suite``. ``missing``: see ``compare``. Raises:
    ReferenceNotFoundError; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.questions.suite.gather import SuiteComparisonResult, compared_on_suite

    with self.store().read() as tx:
        found = compared_on_suite(tx, name, (baseline, candidate), parse_metric(metric), by_tag, missing)
    return SuiteComparisonResult(found)


def suite_page(
    self: HasStore, found: SuiteComparisonResult, *, by_tag: str | None = None, missing: Missing = "error"
) -> str:
    """Return a page of HTML: two systems on a suite as a picture and in numbers, then all its systems."""
    from ndcg_tracker.questions.suite.say import suite_comparison_report, suite_table_report
    from ndcg_tracker.render.page import chart_page

    comparison = found.comparison
    table = suite(self, comparison.suite, metric=comparison.metric, by_tag=by_tag, missing=missing).table
    return chart_page(found.plot().spec, [suite_comparison_report(comparison), suite_table_report(table)])


def gate_suite(
    self: HasStore,
    name: str,
    candidate: str,
    *,
    baseline: str,
    margin: float,
    metric: str = DEFAULT_METRIC,
    dataset_margin: float | None = None,
    strict_datasets: bool = False,
    alpha_budget: float | None = None,
    by_tag: str | None = None,
    missing: Missing = "error",
    acknowledge: str | None = None,
    acknowledged_by: str | None = None,
    dry_run: bool = False,
) -> SuiteGateResult:
    """Decide whether a system may replace another on every dataset of a suite, and record the decision.

    PASS, FAIL and INCONCLUSIVE are those of ``gate`` on the macro mean of the differences, for other groups of
    these datasets. Parameters: ``margin``: the drop that it is allowed. ``dataset_margin``: FAIL where a dataset,
    of 25 groups or more, is shown to have dropped by more than this (Holm); ``strict_datasets``: no PASS either
    where one is not shown to have dropped by less. The others: see ``gate`` and ``compare_suite``. Raises:
    InputError for what does not go together; ReferenceNotFoundError; NotComparableError where a system has no run
    on some dataset.
    """
    from ndcg_tracker.questions.gate.gather import acknowledged
    from ndcg_tracker.questions.suite.gather import SuiteGateQuestion, SuiteGateResult, gated_suite

    question = SuiteGateQuestion(
        name,
        candidate,
        baseline,
        parse_metric(metric),
        margin,
        dataset_margin=dataset_margin,
        strict_datasets=strict_datasets,
        alpha_budget=alpha_budget,
        by_tag=by_tag,
        missing=missing,
    )
    override = acknowledged(acknowledge, acknowledged_by, dry_run=dry_run)
    return SuiteGateResult(gated_suite(self.store(), question, override, dry_run=dry_run))
