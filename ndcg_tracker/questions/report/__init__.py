"""Two runs, or a baseline with several candidates, on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import Everyday, Option, asks, made
from ndcg_tracker.compare.options import Baseline, Candidates, CompareKeywords, CompareOptions
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.report.gather import ReportResult
    from ndcg_tracker.storage.store import HasStore


Page = Annotated[str, Option("File of the page.", ("--output", "-o"), metavar="FILE")]
NOT_DRAWN = ("ids_are_stable", "equivalence", "by", "tie_bounds", "top")
"""Options of a comparison that a page does not take: it shows all slices, and every group."""
WithTexts = Annotated[bool, Everyday("Show query texts, titles and links (see ndcg-track texts).")]


@asks(CompareOptions, but=NOT_DRAWN)
def report(
    self: HasStore,
    baseline: Baseline,
    *candidates: Candidates,
    output: Page = "report.html",
    texts: WithTexts = False,
    **keywords: Unpack[CompareKeywords],
) -> ReportResult:
    """Draw a comparison: one page of HTML with every group, both lists of those that changed most, and the history.

    Parameters: ``baseline``, ``candidates``, ``dataset``, ``metrics``, ``missing``, ``test``, ``ci``, ``cluster``,
    ``labels``, ``judge``, ``check_with`` and ``fresh``: see ``compare``; the first metric is drawn group by group, by
    the judge's labels where nobody answered. ``output``: the file name in the command that the page shows. ``texts``:
    whether the page shows the texts from ``add_texts``. ``suite``, ``by_tag``: see ``compare``; the page shows each
    dataset and all together. Returns: the page; its ``save`` writes it. Raises: what ``compare`` raises.
    """
    from ndcg_tracker.questions.report.gather import ReportResult, runs_report

    refuse("report", keywords)
    options = made(CompareOptions, keywords)
    with self.store().read() as tx:
        return ReportResult(runs_report(tx, baseline, candidates, options, output, texts=texts))
