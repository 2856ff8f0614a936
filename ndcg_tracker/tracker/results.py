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
        """Return one row per candidate and metric; intervals are in columns such as ``ci_low`` and ``ci_high``."""
        import pandas as pd

        rows = []
        for comparison in self.comparisons:
            for metric in comparison.metrics:
                row = _runs(comparison) | metric.to_dict()
                intervals = {name: row.pop(name) or (None, None) for name in ("ci", "betting_ci")}
                del row["groups"], row["warnings"]
                equivalence = row.pop("equivalence", None)
                for name, (low, high) in intervals.items():
                    row |= {f"{name}_low": low, f"{name}_high": high}
                if equivalence is not None:
                    row |= {"equivalent": equivalence["equivalent"], "equivalence_p_value": equivalence["p_value"]}
                rows.append(row)
        return pd.DataFrame(rows)

    def slices_to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and slice of the first metric; no row where ``by`` was not given."""
        import pandas as pd

        rows = []
        for comparison in self.comparisons:
            for row in comparison.to_dict().get("slices", ()):
                low, high = row.pop("ci") or (None, None)
                metric = {"metric": comparison.metrics[0].metric}
                rows.append(_runs(comparison) | metric | row | {"ci_low": low, "ci_high": high})
        return pd.DataFrame(rows)

    def to_html(self) -> str:
        """Return the report as a piece of HTML."""
        return f"<pre>{html.escape(str(self))}</pre>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return comparison_text(*self.comparisons)


def _runs(comparison: Comparison) -> dict[str, Any]:
    return {"baseline_run": comparison.baseline.name, "candidate_run": comparison.candidate.name}
