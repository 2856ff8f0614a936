"""What the tracker hands to Python users who asked the gate: the decision as frame, dict and notebook report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison.gate_result import Gated
from ndcg_tracker.reporting.gate import gate_as, gate_html, gate_object, gate_row, reason

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.comparison.decisions import Decision


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
