"""CSV by columns says what CSV by rows says, to the letter."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ndcg_tracker.render import csv as tested
from ndcg_tracker.render.csv import csv_of_columns, csv_text, safe_cell

_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.sampled_from([0.0, -0.0, 0.5]), st.text(max_size=4)
)
_SAME_KIND = st.sampled_from([st.text(max_size=3), st.floats(), st.sampled_from([0.0, -0.0, 0.5, 1e-7]), _VALUES])


@st.composite
def _columns(draw: st.DrawFn) -> list[list[object]]:
    n_rows = draw(st.integers(0, 9))
    kinds = draw(st.lists(_SAME_KIND, min_size=1, max_size=3))
    return [draw(st.lists(kind, min_size=n_rows, max_size=n_rows)) for kind in kinds]


def _cell_by_cell(names: list[str], rows: list[tuple[object, ...]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in names])
    writer.writerows([safe_cell(value) for value in row] for row in rows)
    return buffer.getvalue()


@given(_columns())
@example([["a", "=b"], [0.5, 0.5]])
@example([["a,b", "c"], [0.0, -0.0]])
@example([["a", "b", "c", "d", "e"], [0.5, 0.5, 0.25, None, 0.5]])
@example([["a", "b", "c", "d", "e"], [0.5, None, None, None, 0.5]])
@example([[""]])
def test_columns_and_rows_are_what_cells_are(columns: list[list[object]]) -> None:
    assume(not any(str(value).lstrip().startswith("::") for value in columns[0]))  # quoted, as a command of a log
    rows = list(zip(*columns, strict=True))
    names = [f"c{place}" for place in range(len(columns))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tested, "_ROWS_AT_ONCE", 5)
        assert csv_of_columns(names, columns) == csv_text(names, rows) == _cell_by_cell(names, rows)
