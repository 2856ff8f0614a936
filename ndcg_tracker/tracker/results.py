"""What the tracker hands to Python users: the typed rows of a comparison as frame, dict and notebook table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.comparison.results import Comparison
from ndcg_tracker.reporting.comparison_csv import metric_row, slice_row
from ndcg_tracker.reporting.comparison_report import comparison_text
from ndcg_tracker.reporting.notebook_html import comparison_html

if TYPE_CHECKING:
    import pandas as pd


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
    new against old on default: no difference detected in ndcg@10 (-0.1845)
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

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track compare --format json`` prints."""
        first, *further = (comparison.to_dict() for comparison in self.comparisons)
        return first | {"further": further} if further else first

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and metric, with the columns of ``--format csv`` that do not concern slices.

        What is undefined or was not asked for is None or NaN.
        """
        import pandas as pd

        return pd.DataFrame(
            [metric_row(comparison, metric) for comparison in self.comparisons for metric in comparison.metrics]
        )

    def slices_to_frame(self) -> pd.DataFrame:
        """Return one row per candidate and slice of the first metric; no row where ``by`` was not given."""
        import pandas as pd

        return pd.DataFrame(
            [slice_row(comparison, row) for comparison in self.comparisons for row in comparison.slices or ()]
        )

    def to_html(self) -> str:
        """Return the report as a piece of HTML with its tables, in which ids are text and never markup."""
        return comparison_html(*self.comparisons)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return comparison_text(*self.comparisons)
