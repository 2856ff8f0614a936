"""The part of a suite's page about all its datasets together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.report.first_screen import answered
from ndcg_tracker.render.html import CLASSES, Spec, reports_html
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.words.texts import counted, interval, p_text, points

if TYPE_CHECKING:
    from ndcg_tracker.compare.chart import Bar
    from ndcg_tracker.compare.decide_suite import SuiteComparison
    from ndcg_tracker.questions.leaderboard.decide import SuiteTable

# Most pages have one dataset, so the modules for suites are imported only to show a suite.


@dataclass(frozen=True, slots=True)
class SuiteOverview:
    """Systems on all datasets of a suite together, by candidate and metric, and the table of all systems by metric.

    ``decision``: the decision of a gate on them, in words, "" without a gate.
    """

    comparisons: tuple[SuiteComparison, ...]
    systems: tuple[SuiteTable, ...]
    decision: str = ""

    @property
    def candidates(self) -> list[str]:
        """The names of the candidates."""
        return list(dict.fromkeys(comparison.candidate for comparison in self.comparisons))


def suite_titles(suite: SuiteOverview) -> tuple[str, str]:
    """Return the title of the page, and its subtitle."""
    first, n = suite.comparisons[0], len(suite.candidates)
    who = visible(first.candidate) if n == 1 else f"one of {counted(n, 'candidate')}"
    metrics = ", ".join(dict.fromkeys(familiar_name(comparison.metric) for comparison in suite.comparisons))
    title = f"Is {who} better than {visible(first.baseline)} on suite {visible(first.suite)}?"
    return title, f"{metrics} over {counted(len(first.deltas), 'dataset')}; each dataset counts once"


def suite_on_page(suite: SuiteOverview) -> tuple[Spec, Sequence[Bar], dict[str, Any]]:
    """Return the chart of all datasets, its numbers, and what the template shows: verdicts, the decision, tables."""
    from markupsafe import Markup

    from ndcg_tracker.compare.say_suite import suite_bars, suite_comparison_reports, suite_forest
    from ndcg_tracker.questions.leaderboard.say import suite_table_report

    bars = [replace(bar, name=visible(bar.name)) for bar in suite_bars(*suite.comparisons)]
    reports = [*suite_comparison_reports(*suite.comparisons), *map(suite_table_report, suite.systems)]
    return (
        suite_forest(*suite.comparisons),
        bars,
        {
            "verdicts": [_verdict(comparison, suite) for comparison in suite.comparisons],
            "decision": suite.decision,
            "reports": [Markup(reports_html([report], CLASSES)) for report in reports],
        },
    )


def _verdict(comparison: SuiteComparison, suite: SuiteOverview) -> tuple[str, str]:
    """Return the verdict on a candidate and metric, and the numbers that it rests on."""
    macro = comparison.macro
    p = p_text(macro.p_adjusted) + (" (Holm-corrected over all of these)" if len(suite.comparisons) > 1 else "")
    whose = "" if len(suite.candidates) == 1 else f"{visible(comparison.candidate)}: "
    numbers = f"{points(macro.delta, signed=True)}, 95% interval {interval(macro.ci, signed=True)}, p {p}"
    told = macro.open or macro.verdict
    verdict = f"macro {familiar_name(comparison.metric)}: "
    verdict += answered(told, macro.delta, is_doubtful=macro.has_low_information)
    return whose + verdict, numbers
