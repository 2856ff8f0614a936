from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import Columns, read_frame, read_label_frame

NAN = float("nan")
DICT: dict[str, Any] = {
    "group": ["007", "007", "r"],
    "item": ["NA", "b", "NA"],
    "score": [1.0, 2.0, None],
    "label": [1.0, None, 0.0],
    "weight": [2.0, 2.0, 5.0],
}
EXPECTED = (
    [("007", "b", 2.0), ("007", "NA", 1.0)],
    [("007", "NA", 1.0), ("r", "NA", 0.0)],
    (["007", "r"], [2.0, 5.0], [False, False]),
)


def refusal(frame: object, columns: Columns = Columns()) -> str:
    with pytest.raises(InputError) as caught:
        read_frame(frame, columns)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class SpeaksArrow:
    """Stands for any other library's frame."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "frame",
    [
        DICT,
        pd.DataFrame(DICT),
        pd.DataFrame(DICT).astype({"group": "category", "item": object}),
        pd.DataFrame(DICT).convert_dtypes(),
        pd.DataFrame(DICT, index=[5, 5, 5]),
        pa.table(DICT),
        pa.concat_tables([pa.table(DICT).slice(0, 1), pa.table(DICT).slice(1)]),
        SpeaksArrow(pa.table(DICT)),
        {name: np.array(values, dtype=object if name in ("group", "item") else float) for name, values in DICT.items()},
        {name: pd.Series(values) for name, values in DICT.items()},
        {name: pa.array(values) for name, values in DICT.items()},
        {name: tuple(values) for name, values in DICT.items()},
    ],
)
def test_every_kind_of_frame_gives_the_same_table(frame: object) -> None:
    assert run_parts(read_frame(frame)) == EXPECTED
    assert listed(read_label_frame(frame)) == EXPECTED[1]


def test_frames_do_not_change() -> None:
    frame = pd.DataFrame(DICT)
    before = frame.copy(deep=True)
    read_frame(frame)
    pd.testing.assert_frame_equal(frame, before)
    scores = np.array([1.0, 3.0, 2.0])
    ranking = read_frame({"group": ["q", "q", "q"], "score": scores}).ranking
    assert scores.tolist() == [1.0, 3.0, 2.0]
    assert ranking.scores.tolist() == [3.0, 2.0, 1.0]


def test_the_table_does_not_change_with_the_frame() -> None:
    scores = np.array([3.0, 2.0])
    ranking = read_frame({"group": ["q", "q"], "score": scores}).ranking
    scores[:] = 0
    assert ranking.scores.tolist() == [3.0, 2.0]


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(ids, ids), st.tuples(numbers, st.none() | numbers), min_size=1, max_size=9))
def test_tables_come_back_the_same(rows: dict[tuple[str, str], tuple[float, float | None]]) -> None:
    columns = {
        "group": [group for group, _ in rows],
        "item": [item for _, item in rows],
        "score": [score for score, _ in rows.values()],
        "label": [label for _, label in rows.values()],
    }
    expected = {pair: row[0] for pair, row in rows.items()}
    graded = {pair: row[1] for pair, row in rows.items() if row[1] is not None}
    for frame in (columns, pd.DataFrame(columns), pa.table(columns)):
        ranking, labels, _ = run_parts(read_frame(frame))
        assert {(group, item): score for group, item, score in ranking} == expected
        assert {(group, item): grade for group, item, grade in labels or []} == graded


def test_ids_of_mixed_types_are_text() -> None:
    frame = {"group": [1, np.int64(1), "1", b"1"], "item": ["a", 7, np.str_("x"), "größe"], "score": [4, 3, 2, 1]}
    assert [item for _, item, _ in listed(read_frame(frame).ranking) or []] == ["a", "7", "x", "größe"]
    assert read_frame(frame).ranking.group_keys.to_list() == ["1"]
    assert read_frame(pd.DataFrame(frame)).ranking.n_items == 4


def test_labels_may_be_whole_numbers_doubles_decimals_or_booleans() -> None:
    for labels in ([1, 0], [1.0, 0.0], [True, False], [Decimal(1), Decimal(0)], np.array([1, 0], dtype=np.float32)):
        assert read_label_frame({"group": ["q", "q"], "label": labels}).grades.tolist() == [1.0, 0.0]


def test_nan_is_null_in_pandas_and_dicts_and_an_error_in_arrow() -> None:
    frame = {"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, NAN]}
    for there in (frame, pd.DataFrame(frame), pd.DataFrame(frame).convert_dtypes()):
        assert listed(read_frame(there).ranking) == [("q", "a", 1.0)]
    assert refusal(pa.table(frame)) == "row 2: the score is nan; use a finite number, or null for none"


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"group": ["q", None, "r"]}, "row 2: the group id is empty; every row needs one"),
        ({"group": ["q", NAN, "r"]}, "row 2: the group id is empty; every row needs one"),
        ({"item": ["a", "", "c"]}, "row 2: the item id is empty; every row needs one"),
        ({"item": [1, None, "c"]}, "row 2: the item id is empty; every row needs one"),
        ({"item": ["NA", "NA", "NA"]}, "row 2: item 'NA' of group '007' stands in row 1 already; keep one of the two"),
        ({"score": [1.0, float("inf"), 2.0]}, "row 2: the score is inf; use a finite number, or null for none"),
        ({"weight": [1.0, None, 2.0]}, "row 2: the weight is empty; every row needs one"),
        ({"weight": [1.0, 1.0, -2.0]}, "row 3: the weight is negative; weights are 0 or more"),
        (
            {"weight": [1.0, 1.1e30, 2.0]},
            "row 2: the weight is above 1e+30; give weights of a common size, such as 1 for most groups",
        ),
        ({"item": ["a", "b", "x\0"]}, "row 3: the item id has a NUL byte; write the file again without it"),
        ({"item": ["a", "b", "\ud800"]}, "row 3: 'item' is no valid text; write ids as UTF-8"),
        ({"item": ["a", "b", b"\xff"]}, "row 3: byte 0xff is not UTF-8; write ids as UTF-8"),
        ({"item": ["a", 2, b"\xff"]}, "row 3: 'item' is no valid text; write ids as UTF-8"),
        ({"item": ["a", 1.5, "b"]}, "row 2: 'item' holds a float; ids are text or whole numbers"),
        ({"item": ["a", True, "b"]}, "row 2: 'item' holds a bool; ids are text or whole numbers"),
        (
            {"group": [1.0, 1.0, 2.0]},
            "column 'group' holds double; ids are text or whole numbers: convert it to whole numbers or text",
        ),
        ({"score": ["1", "2", "3"]}, "column 'score' holds string; the score column needs numbers: convert it"),
        ({"score": [None, None, None]}, "no row has a score; name the score column, or read the file as labels"),
        (
            {"score": [1.0, 2.0]},
            "the columns differ in length ('group' 3, 'item' 3, 'score' 2, 'label' 3, 'weight' 3); "
            "give one value per row in each",
        ),
        ({"score": 1.0}, "column 'score' is a single float; give one value per row"),
        ({"group": "q"}, "column 'group' is a single str; give one value per row"),
    ],
)
def test_every_refusal_names_the_row_or_the_column(changed: dict[str, Any], what: str) -> None:
    assert refusal(DICT | changed) == what


def test_columns_are_named_and_missing_ones_listed() -> None:
    frame = pd.DataFrame({"qid": [1], 5: [2.0], ("a", "b"): [3]})
    expected = "no column 'group'; the columns are 'qid', '5', \"('a', 'b')\": name the group column with --group"
    assert refusal(frame) == expected
    assert refusal(DICT, Columns(item="doc")).startswith("no column 'doc'; the columns are 'group', 'item', 'score'")
    table = read_frame({"qid": ["q"], "bm25": [1]}, Columns(group="qid", score="bm25"))
    assert listed(table.ranking) == [("q", "1", 1.0)]


def test_columns_that_stand_twice_are_refused() -> None:
    frame = pd.DataFrame([["q", 1, 2]], columns=["group", "score", "score"])
    assert refusal(frame) == "column 'score' stands 2 times; rename all but one"
    table = pa.table([["q"], [1], [2]], names=["group", "score", "score"])
    assert refusal(table) == "column 'score' stands 2 times; rename all but one"


def test_what_is_no_frame_is_refused() -> None:
    assert refusal([1, 2]) == "cannot read a list; give a pandas DataFrame, a pyarrow Table or a dict of arrays"
    assert refusal({"group": [], "score": []}) == "there are no rows; give at least one"
    cube = {"group": ["q", "q"], "score": np.ones((2, 2, 2))}
    assert refusal(cube) == "column 'score' holds list<item: double>; the score column needs numbers: convert it"
    assert refusal({"group": ["q"], "score": [object()]}).startswith("column 'score' holds no plain numbers (")


def test_labels_without_any_grade_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_label_frame({"group": ["q"], "item": ["a"], "label": [None]})
    assert str(caught.value) == "no row has a label; name the label column"


def test_importing_the_layer_imports_neither_pandas_nor_pyarrow() -> None:
    code = "import sys, ndcg_tracker.ingest; print(sorted({'pandas', 'pyarrow'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
