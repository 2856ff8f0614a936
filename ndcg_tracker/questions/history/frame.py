"""A history as a frame, which a notebook shows as a table that people read; pandas is imported with it."""

from __future__ import annotations

import pandas as pd

from ndcg_tracker.render.html import table_html
from ndcg_tracker.render.report import SCREEN_ROWS, Table, read_by_people

_TIDY = ("run", "created_at_utc", "mean", "ci_low", "ci_high", "delta", "step", "label_set_version", "git_commit")
_DIGITS = dict.fromkeys(("mean", "ci_low", "ci_high", "delta"), 4)


class HistoryFrame(pd.DataFrame):
    """A metric over runs: a frame with all columns, of which a notebook shows the latest runs and what most need."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return HistoryFrame

    def _repr_html_(self) -> str:
        shown = [name for name in _TIDY if name in self.columns]
        if "run" not in shown:
            return self.to_html(max_rows=SCREEN_ROWS)
        rows = [[None if pd.isna(value) else value for value in row] for row in self[shown].values]
        return table_html(Table(read_by_people(*shown, **_DIGITS), rows, by_time=True).first_rows(SCREEN_ROWS))
