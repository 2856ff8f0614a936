"""Two runs, or a baseline with several candidates, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import AnyDataset, ByTag, Everyday, Judge, MetricTexts, Option
from ndcg_tracker.compare.options import (
    Baseline,
    Candidates,
    CheckWith,
    Ci,
    ClusterBy,
    Fresh,
    LabelsVersion,
    MissingGroups,
    Test,
)
from ndcg_tracker.metrics.language.text import parse_metrics
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.store import HasStore


Page = Annotated[str, Option("File of the page.", ("--output", "-o"), metavar="FILE")]
OnSuite = Annotated[
    str | None, Option("Use every dataset of this suite, and all together.", ("--suite",), metavar="NAME")
]
WithTexts = Annotated[bool, Everyday("Show query texts, titles and links (see ndcg-track texts).")]


def report(
    self: HasStore,
    baseline: Baseline,
    *candidates: Candidates,
    dataset: AnyDataset = None,
    metrics: MetricTexts = (),
    missing: MissingGroups = "error",
    test: Test = "t",
    ci: Ci = "t",
    cluster: ClusterBy = None,
    labels: LabelsVersion = None,
    output: Page = "report.html",
    texts: WithTexts = False,
    judge: Judge = None,
    check_with: CheckWith = None,
    fresh: Fresh = False,
    suite: OnSuite = None,
    by_tag: ByTag = None,
) -> ReportResult:
    """Draw a comparison: one page of HTML with every group, both lists of those that changed most, and the history.

    Parameters: ``baseline``, ``candidates``, ``dataset``, ``metrics``, ``missing``, ``test``, ``ci``, ``cluster``,
    ``labels``, ``judge``, ``check_with`` and ``fresh``: see ``compare``; the first metric is drawn group by group, by
    the judge's labels where nobody answered. ``output``: the file name in the command that the page shows. ``texts``:
    whether the page shows the texts from ``add_texts``. ``suite``: the name of a suite, to compare the systems on each
    of its datasets and on all together, as ``compare_suite`` does; ``by_tag``: see there. Returns: the page; its
    ``save`` writes it. Raises: what ``compare`` and ``compare_suite`` raise.
    """
    from ndcg_tracker.compare.estimate import Methods
    from ndcg_tracker.compare.gather import CompareOptions
    from ndcg_tracker.questions.report.gather import ReportResult, runs_report, suite_report

    refuse("report", {"dataset": dataset, "check_with": check_with, "suite": suite, "by_tag": by_tag})
    options = CompareOptions(
        tuple(parse_metrics(metrics)),
        dataset,
        missing,
        methods=Methods(test, ci),
        cluster=cluster,
        labels=labels,
        judge=judge,
        check_with=check_with,
        fresh=fresh,
    )
    with self.store().read() as tx:
        if suite is not None:
            return ReportResult(suite_report(tx, suite, baseline, candidates, options, output, by_tag, texts=texts))
        return ReportResult(runs_report(tx, baseline, candidates, options, output, texts=texts))
