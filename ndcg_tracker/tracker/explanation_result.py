"""What the tracker hands to Python users who asked why: the explanation as frame, dict and notebook report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison.explanation import Explanation
from ndcg_tracker.reporting.explain import (
    explanation_as,
    explanation_columns,
    explanation_html,
    explanation_object,
    explanation_rows,
)
from ndcg_tracker.reporting.notes import note_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ExplanationResult:
    """Why two runs differ, in one group or over all; notebooks show it as a report.

    ``explanation``: the typed rows, a ``GroupExplanation`` or a ``RunExplanation``.
    """

    explanation: Explanation

    @property
    def delta(self) -> float:
        """Candidate minus baseline: of the group, or of the means."""
        return self.explanation.delta

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return tuple(map(note_text, self.explanation.notes))

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

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return explanation_as("text", self.explanation)
