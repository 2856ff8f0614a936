"""What the tracker returns to Python users: results as frame, dict and notebook report."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison.diff import RunsDiff
from ndcg_tracker.comparison.explain import Explanation
from ndcg_tracker.comparison.gate_result import Gated
from ndcg_tracker.comparison.labels import Conclusion, VersionsComparison
from ndcg_tracker.comparison.labels_needed import NeededLabels
from ndcg_tracker.comparison.leaderboard import Leaderboard
from ndcg_tracker.comparison.reproduce import PublishedMean, Reproduction
from ndcg_tracker.comparison.results import Comparison
from ndcg_tracker.comparison.suite import SuiteComparison, SuiteTable
from ndcg_tracker.comparison.suite_gate import SuiteGated
from ndcg_tracker.errors import InputError, NdcgTrackerError, argument
from ndcg_tracker.reporting.compare import (
    comparison_as,
    comparison_html,
    comparison_object,
    metric_rows,
    slice_rows,
)
from ndcg_tracker.reporting.diff import diff_as, diff_report
from ndcg_tracker.reporting.explain import (
    explanation_as,
    explanation_columns,
    explanation_html,
    explanation_object,
    explanation_rows,
)
from ndcg_tracker.reporting.gate import gate_as, gate_html, gate_object, gate_row, reason
from ndcg_tracker.reporting.html import reports_html
from ndcg_tracker.reporting.labels import versions_as, versions_object, versions_reports, versions_rows
from ndcg_tracker.reporting.labels_needed import NeededFormat, needed_as
from ndcg_tracker.reporting.leaderboard import leaderboard_as, leaderboard_rows
from ndcg_tracker.reporting.notes import in_words
from ndcg_tracker.reporting.reproduce import reproduction_as, reproduction_report, reproduction_rows
from ndcg_tracker.reporting.rows import as_object
from ndcg_tracker.reporting.suite import (
    delta_rows,
    suite_comparison_as,
    suite_comparison_report,
    suite_rows,
    suite_table_as,
    suite_table_report,
)
from ndcg_tracker.reporting.suite_gate import suite_gate_as, suite_gate_report, suite_gate_row

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.comparison.gate import Decision
    from ndcg_tracker.comparison.report import PairReports
    from ndcg_tracker.notes import Note
    from ndcg_tracker.reporting.charts.chart import Chart
    from ndcg_tracker.reporting.charts.compare import ComparisonChart
    from ndcg_tracker.reporting.pages.report import RunsReport


@dataclass(frozen=True)
class ComparisonResult:
    """A baseline compared with one candidate or several; notebooks show it as a report, and ``print`` prints it.

    ``comparisons``: the typed rows, one comparison per candidate.

    >>> import ndcg_tracker as nt
    >>> from tempfile import TemporaryDirectory
    >>> groups, items = ["tent", "tent", "lamp", "lamp"], ["a", "b", "a", "b"]
    >>> shop = {"group": groups, "item": items, "label": [3, 0, 1, 0]}
    >>> with TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     _ = tracker.ingest({**shop, "score": [2.0, 1.0, 2.0, 1.0]}, name="old")
    ...     _ = tracker.ingest({**shop, "score": [1.0, 2.0, 2.0, 1.0]}, name="new")
    ...     _ = tracker.set_groups({"group": ["tent", "lamp"], "device": ["phone", "tv"]})
    ...     result = tracker.compare("old", "new", by="device")
    >>> print(str(result).splitlines()[0])
    new against old on default: no difference detected in ndcg@10 (-0.1845; low information)
    >>> result.to_frame()[["candidate_run", "metric", "n", "wins", "ties", "losses"]].values.tolist()
    [['new', 'ndcg@10', 2, 0, 1, 1]]
    >>> worst = result.to_dict()["worst"][0]
    >>> worst["group"], worst["moves"][0]["item"], worst["moves"][0]["rank_candidate"]
    ('tent', 'a', 2)
    >>> result.slices_to_frame()[["value", "n", "verdict"]].values.tolist()
    [['phone', 1, 'no_difference_detected'], ['tv', 1, 'identical']]
    >>> result.to_html()[:48]
    '<div><p><strong>new against old on default: no d'
    """

    comparisons: tuple[Comparison, ...]
    reports_of: Callable[[ComparisonChart], PairReports] | None = field(default=None, repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know of the comparisons, in words."""
        return in_words(note for comparison in self.comparisons for note in comparison.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --format json`` prints."""
        return comparison_object(*self.comparisons)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and metric, with the columns of ``--format csv`` that do not concern slices.

        What is undefined or was not asked for is None or NaN.
        """
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in metric_rows(comparison)])

    def slices_to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and slice of the first metric; no row where ``by`` was not given."""
        import pandas as pd

        return pd.DataFrame([row for comparison in self.comparisons for row in slice_rows(comparison)])

    def plot(self, kind: ComparisonChart = "every", *, by: str | None = None) -> Chart:
        """Return a chart of the comparison: "every" group, "scatter", "histogram", "forest", "slices", "cutoffs".

        "heatmap" shows every run against every other. The groups are read again from the database; of several
        candidates the first is drawn where a chart shows one. Parameters: ``by``: a group attribute, for "slices", and
        as colours for "every" and "scatter". Raises: InputError for a kind that is none or cannot be drawn, and where
        the database has changed since.
        """
        from ndcg_tracker.reporting.charts.chart import Chart
        from ndcg_tracker.reporting.charts.compare import checked_kind, comparison_chart

        checked_kind(kind)
        if self.reports_of is None:
            raise InputError("this comparison has no database behind it", advice="ask Tracker.compare for one")
        reports = self.reports_of(kind)
        if tuple(pair.comparison for pair in reports.pairs) != self.comparisons:
            raise InputError("the database has changed since these runs were compared", advice="compare them again")
        return Chart(comparison_chart(kind, reports, by))

    def to_html(self) -> str:
        """Return the report as a piece of HTML with its tables, in which ids are text and never markup."""
        return comparison_html(*self.comparisons)

    def _repr_html_(self) -> str:
        return self.to_html() + ("" if self.reports_of is None else _picture(self.plot))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return comparison_as("text", *self.comparisons)


@dataclass(frozen=True)
class VersionsResult:
    """A baseline compared with its candidates under every version of the labels; notebooks show it as a report.

    ``found``: the typed rows.
    """

    found: VersionsComparison

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """The verdicts on each candidate and metric by version, and whether they change."""
        return self.found.conclusions

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.found.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --labels all --format json`` prints."""
        return versions_object(self.found)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, version and metric."""
        import pandas as pd

        return pd.DataFrame(versions_rows(self.found))

    def to_html(self) -> str:
        """Return the report as a piece of HTML, in which ids are text and never markup."""
        return reports_html(versions_reports(self.found))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return versions_as("text", self.found)


@dataclass(frozen=True)
class ExplanationResult:
    """Why two runs differ, in one group or over all; notebooks show it as a report.

    ``explanation``: the typed rows, a ``GroupExplanation`` or a ``RunExplanation``.
    """

    explanation: Explanation
    chart_of: Callable[[], Chart] | None = field(default=None, repr=False, compare=False)

    @property
    def delta(self) -> float:
        """Candidate minus baseline: of the group, or of the means."""
        return self.explanation.delta

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.explanation.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track explain --format json`` prints."""
        return explanation_object(self.explanation)

    def to_frame(self) -> pd.DataFrame:
        """Return what ``ndcg-track explain --format csv`` prints: one row per item, or per row of the tables."""
        import pandas as pd

        columns = explanation_columns(self.explanation)
        rows = [dict(zip(columns, row, strict=True)) for row in explanation_rows(self.explanation)]
        return pd.DataFrame(rows, columns=list(columns))

    def to_html(self) -> str:
        """Return the report as a piece of HTML with its tables, in which ids are text and never markup."""
        return explanation_html(self.explanation)

    def plot(self) -> Chart:
        """Return both lists of the group as a chart. Raises: InputError for an explanation over all groups."""
        if self.chart_of is None:
            raise InputError("only the lists of one group can be drawn", advice=f"name it with {argument('group')}")
        return self.chart_of()

    def _repr_html_(self) -> str:
        return self.to_html() + ("" if self.chart_of is None else _picture(self.chart_of))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return explanation_as("text", self.explanation)


@dataclass(frozen=True)
class GateResult:
    """The decision on one candidate; notebooks show it as a report.

    ``gated``: the typed row with everything the decision stands on.
    """

    gated: Gated

    @property
    def decision(self) -> Decision:
        """What was decided: "pass", "fail" or "inconclusive"."""
        return self.gated.decision.decision

    @property
    def reason(self) -> str:
        """Why, in words, and what would decide an open question."""
        return reason(self.gated.decision)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.gated.comparison.notes)

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.gated.is_accepted

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track gate --format json`` prints."""
        return gate_object(self.gated)

    def to_frame(self) -> pd.DataFrame:
        """Return one row: both runs, the metric, and the decision with its numbers."""
        import pandas as pd

        return pd.DataFrame([gate_row(self.gated)])

    def to_html(self) -> str:
        """Return the report as a piece of HTML, in which ids are text and never markup."""
        return gate_html(self.gated)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return gate_as("text", self.gated)


@dataclass(frozen=True)
class LabelsNeededResult:
    """What to judge next; notebooks and ``print`` show it as a table.

    ``needed``: the typed rows.
    """

    needed: NeededLabels

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track labels needed --format json`` prints."""
        found: dict[str, Any] = as_object(self.needed)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per item: group, item, and how far its grade could move the mean difference."""
        import pandas as pd

        return pd.DataFrame(self.to_dict()["items"], columns=["group", "item", "could_move"])

    def save(self, path: str | os.PathLike[str], format: NeededFormat = "csv") -> None:
        """Write the items for judges, as a file that ``labels add`` reads once grades are filled in.

        ``format``: "csv", "quepid" or "elasticsearch", or one without a place for grades. Raises: InputError where it
        cannot be written.
        """
        from ndcg_tracker.reporting.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(needed_as(format, self.needed))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return needed_as("text", self.needed)


@dataclass(frozen=True)
class DiffResult:
    """How the lists of two runs differ; notebooks show it as a report, and ``print`` prints it.

    ``diff``: the typed numbers.
    """

    diff: RunsDiff

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track diff --format json`` prints."""
        found: dict[str, Any] = as_object(self.diff)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per group that changed most."""
        import pandas as pd

        names = ["group", "overlap", "rbo", "tau", "n_shared", "first_change"]
        return pd.DataFrame([[getattr(one, name) for name in names] for one in self.diff.most_changed], columns=names)

    def to_html(self) -> str:
        """Return the report as HTML."""
        return reports_html([diff_report(self.diff)])

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return diff_as("text", self.diff)


@dataclass(frozen=True)
class SuiteResult:
    """Systems on the datasets of a suite; notebooks show it as a table, and ``print`` prints it.

    ``table``: the typed rows.
    """

    table: SuiteTable

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite show --format json`` prints."""
        found: dict[str, Any] = as_object(self.table)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and dataset, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame(suite_rows(self.table))

    def to_latex(self) -> str:
        """Return a table for a paper, with the caption that explains it; it needs the package booktabs."""
        return suite_table_as("latex", self.table)

    def _repr_html_(self) -> str:
        return reports_html([suite_table_report(self.table)])

    def __str__(self) -> str:
        return suite_table_as("text", self.table)


@dataclass(frozen=True)
class SuiteComparisonResult:
    """Two systems on the datasets of a suite; notebooks show it as a report, and ``print`` prints it.

    ``comparison``: the typed numbers.
    """

    comparison: SuiteComparison

    def plot(self) -> Chart:
        """Return the difference on each dataset and on all together, with their intervals."""
        from ndcg_tracker.reporting.charts.chart import Chart
        from ndcg_tracker.reporting.charts.suite import suite_forest

        return Chart(suite_forest(self.comparison))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite compare --format json`` prints."""
        found: dict[str, Any] = as_object(self.comparison)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per dataset, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame(delta_rows(self.comparison))

    def _repr_html_(self) -> str:
        return reports_html([suite_comparison_report(self.comparison)])

    def __str__(self) -> str:
        return suite_comparison_as("text", self.comparison)


@dataclass(frozen=True)
class SuiteGateResult:
    """The decision on one system on a suite; notebooks show it as a report, and ``print`` prints it.

    ``gated``: the typed numbers.
    """

    gated: SuiteGated

    @property
    def decision(self) -> Decision:
        """What was decided: "pass", "fail" or "inconclusive"."""
        return self.gated.decision.decision

    @property
    def reason(self) -> str:
        """Why, in words, and what would decide an open question."""
        return reason(self.gated.decision)

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.gated.is_accepted

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite gate --format json`` prints."""
        found: dict[str, Any] = as_object(self.gated)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame([suite_gate_row(self.gated)])

    def _repr_html_(self) -> str:
        return reports_html([suite_gate_report(self.gated)])

    def __str__(self) -> str:
        return suite_gate_as("text", self.gated)


@dataclass(frozen=True)
class ReproductionResult:
    """A run beside the one it reproduces, or beside a published mean; a report in notebooks and where it is printed.

    ``reproduction``: the typed numbers.
    """

    reproduction: Reproduction | PublishedMean

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track reproduce --format json`` prints."""
        found: dict[str, Any] = as_object(self.reproduction)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric."""
        import pandas as pd

        return pd.DataFrame(reproduction_rows(self.reproduction))

    def to_html(self) -> str:
        """Return the report as HTML."""
        return reports_html([reproduction_report(self.reproduction)])

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return reproduction_as("text", self.reproduction)


@dataclass(frozen=True)
class LeaderboardResult:
    """Runs side by side; notebooks show it as a table, and ``print`` prints it.

    ``leaderboard``: the typed rows, and ``pairs`` of each metric.

    >>> import ndcg_tracker as nt
    >>> from tempfile import TemporaryDirectory
    >>> shop = {"group": ["q", "q", "r", "r"], "item": ["a", "b", "a", "b"], "label": [3, 0, 1, 0]}
    >>> with TemporaryDirectory() as folder, nt.Tracker(f"{folder}/runs.db") as tracker:
    ...     _ = tracker.ingest({**shop, "score": [1.0, 2.0, 2.0, 1.0]}, name="old")
    ...     _ = tracker.ingest({**shop, "score": [2.0, 1.0, 2.0, 1.0]}, name="new")
    ...     result, best = tracker.leaderboard(), tracker.best()
    >>> result.to_frame()[["run", "mean", "rank", "rank_low", "rank_high"]].round(4).values.tolist()
    [['new', 1.0, 1, 1, 2], ['old', 0.8155, 2, 1, 2]]
    >>> best.name, [line[:7] for line in result.to_latex().splitlines()[9:11]]
    ('new', ['(a) new', '(b) old'])
    """

    leaderboard: Leaderboard

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.leaderboard.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track leaderboard --format json`` prints."""
        found: dict[str, Any] = json.loads(leaderboard_as("json", self.leaderboard))
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric, slice and run, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame(leaderboard_rows(self.leaderboard))

    def to_latex(self) -> str:
        """Return a table for a paper, with the caption that explains it; it needs the package booktabs."""
        return leaderboard_as("latex", self.leaderboard)

    def to_html(self) -> str:
        """Return the leaderboard as HTML."""
        return leaderboard_as("html", self.leaderboard)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return leaderboard_as("text", self.leaderboard)


@dataclass(frozen=True)
class ReportResult:
    """Two runs or more on one page, which holds all it shows and asks nothing of any network.

    ``report``: the typed rows.
    """

    report: RunsReport

    def with_notes(self, notes: tuple[Note, ...]) -> ReportResult:
        """Return the page with other notes on its first pair: those of a gate that decided on it."""
        first, *others = self.report.pairs
        first = replace(first, comparison=replace(first.comparison, notes=notes))
        return ReportResult(replace(self.report, pairs=(first, *others)))

    def to_html(self) -> str:
        """Return the whole page, with its scripts and its security policy; in it, ids are text and never markup."""
        from ndcg_tracker.reporting.pages.report import report_page  # charts are for those who draw

        return report_page(self.report)

    def to_markdown(self, link: str) -> str:
        """Return every group as a picture that GitHub draws, and where the page is: ``link``, an address or a file."""
        from ndcg_tracker.reporting.pages.report import report_markdown

        return report_markdown(self.report, link)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all. Raises: InputError where it cannot be written."""
        from ndcg_tracker.reporting.whole_file import whole_file

        with whole_file(os.fspath(path), "path") as write:
            write(self.to_html())


def _picture(chart_of: Callable[[], Chart]) -> str:
    """Return a chart as an element of HTML for notebooks.

    Nothing where the extra that draws is not installed, and where the database is gone or has changed: the tables stay.
    """
    if find_spec("vl_convert") is None:
        return ""
    try:
        chart = chart_of()
    except NdcgTrackerError:
        return ""
    picture = base64.b64encode(chart.svg().encode("utf-8")).decode("ascii")
    title = escape(" ".join(chart.spec["title"].values()))
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{picture}">'
