"""What the tracker hands to Python users: the typed rows of a comparison as frame, dict and notebook table."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison import Comparison
from ndcg_tracker.reporting import comparison_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ComparisonResult:
    """A baseline compared with one candidate or several; notebooks show it as a report.

    ``comparisons``: the typed rows, one comparison per candidate.
    """

    comparisons: tuple[Comparison, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --format json`` prints."""
        first, *further = (comparison.to_dict() for comparison in self.comparisons)
        return first | {"further": further} if further else first

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and metric, with the interval in the columns ``ci_low`` and ``ci_high``."""
        import pandas as pd

        rows = []
        for comparison in self.comparisons:
            runs = {"baseline_run": comparison.baseline.name, "candidate_run": comparison.candidate.name}
            for metric in comparison.metrics:
                row = metric.to_dict()
                low, high = row.pop("ci") or (None, None)
                del row["groups"], row["warnings"]
                rows.append(runs | row | {"ci_low": low, "ci_high": high})
        return pd.DataFrame(rows)

    def to_html(self) -> str:
        """Return the report as a piece of HTML."""
        return f"<pre>{html.escape(str(self))}</pre>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return comparison_text(*self.comparisons)
