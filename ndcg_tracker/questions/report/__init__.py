"""Two runs, or several candidates, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.metrics.language.text import parse_metrics

if TYPE_CHECKING:
    from ndcg_tracker.compare.options import CiMethod, Missing, TestName, Version
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.store import HasStore


def report(
    self: HasStore,
    baseline: str,
    *candidates: str | Sequence[str],
    dataset: str | None = None,
    metrics: str | Sequence[str] = (),
    missing: Missing = "error",
    test: TestName = "t",
    ci: CiMethod = "t",
    cluster: str | None = None,
    labels: Version = None,
    output: str = "report.html",
    texts: bool = False,
) -> ReportResult:
    """Draw a comparison: one page of HTML with every group, both lists of those that changed most, and the history.

    Parameters: ``baseline``, ``candidates``, ``dataset``, ``metrics``, ``missing``, ``test``, ``ci``, ``cluster``
    and ``labels``: see ``compare``; the first metric is drawn group by group. ``output``: the file that the page's
    own command names. ``texts``: whether the page shows what ``add_texts`` stored. Returns: the page, which is
    saved with ``save``. Raises: what ``compare`` raises.
    """
    from ndcg_tracker.compare.gather import CompareOptions
    from ndcg_tracker.compare.inference import Methods
    from ndcg_tracker.questions.report.gather import ReportResult, runs_report

    options = CompareOptions(
        tuple(parse_metrics(metrics)), dataset, missing, methods=Methods(test, ci), cluster=cluster, labels=labels
    )
    with self.store().read() as tx:
        return ReportResult(runs_report(tx, baseline, candidates, options, output, texts=texts))
