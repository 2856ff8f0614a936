from __future__ import annotations

import subprocess
import sys
import warnings
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW, refusal_of

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.frames import read_frame, read_label_frame

NAN = float("nan")
DICT: dict[str, Any] = {
    "group": ["007", "007", "r"],
    "item": ["NA", "b", "NA"],
    "score": [1.0, 2.0, None],
    "label": [1.0, None, 0.0],
    "weight": [2.0, 2.0, 5.0],
}
DTYPES = {"label": float, "weight": float}
EXPECTED = (
    [("007", "b", 2.0), ("007", "NA", 1.0)],
    [("007", "NA", 1.0), ("r", "NA", 0.0)],
    (["007", "r"], [2.0, 5.0], [False, False]),
)


TAKEN = (
    "give a path, a frame (pandas, polars, Arrow and others), a dict of arrays, {query: {document: number}} or "
    "{query: [documents]}"
)


def refusal(frame: object, columns: Columns = Columns()) -> str:
    return refusal_of(InputError, read_frame, frame, columns)


class SpeaksInterchange:
    """Stands for a library's frame that knows no Arrow."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __dataframe__(self, **options: Any) -> object:
        return self._frame.__dataframe__(**options)


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
        pd.DataFrame(DICT).convert_dtypes(),
        pd.DataFrame(DICT).convert_dtypes().astype({"group": "category", "item": object}),
        pd.DataFrame(DICT, dtype=object),
        pd.DataFrame(DICT, index=[5, 5, 5]).convert_dtypes(),
        pa.table(DICT),
        pa.concat_tables([pa.table(DICT).slice(0, 1), pa.table(DICT).slice(1)]),
        SpeaksArrow(pa.table(DICT)),
        {name: np.array(values, dtype=DTYPES.get(name, object)) for name, values in DICT.items()},
        {name: pd.Series(values).convert_dtypes() for name, values in DICT.items()},
        {name: pa.array(values) for name, values in DICT.items()},
        {name: tuple(values) for name, values in DICT.items()},
    ],
)
def test_every_kind_of_frame_gives_the_same_table(frame: object) -> None:
    assert run_parts(read_frame(frame)) == EXPECTED
    assert listed(read_label_frame(frame)) == EXPECTED[1]


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
numbers = st.floats(allow_nan=False, allow_infinity=False)


NESTED = {"007": {"NA": 1.0, "b": 2.0}, 8: {"NA": np.float32(0.5)}, "empty": {}}
NESTED_RANKING = [("007", "b", 2.0), ("007", "NA", 1.0), ("8", "NA", 0.5)]
COLUMNS: dict[str, Any] = {"qid": ["007", "007", "8"], "docno": ["NA", "b", "NA"], "score": [1.0, 2.0, 0.5]}


class Row(NamedTuple):
    """Stands for the ScoredDoc and Qrel of ir_measures and ir_datasets."""

    query_id: object
    doc_id: str
    score: float


ROWS = [Row(group, item, score) for group, items in NESTED.items() for item, score in items.items()]


@pytest.mark.parametrize(
    "frame",
    [
        NESTED,
        {group: MappingProxyType(items) for group, items in NESTED.items()},
        ROWS,
        (row for row in ROWS),
        [row._asdict() for row in ROWS],
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(
            pl.col("qid").cast(pl.Categorical), pl.col("docno").cast(pl.Enum(["b", "NA", "other"]))
        ),
        {name: pl.Series(values) for name, values in COLUMNS.items()},
        pa.record_batch(COLUMNS),
    ],
)
def test_what_other_libraries_hold_a_run_in(frame: object) -> None:
    assert listed(read_frame(frame).ranking) == NESTED_RANKING


@pytest.mark.parametrize(
    "frame",
    [
        {"q": {"a": 2, "b": 0}},
        [ir_measures.Qrel("q", "a", 2), ir_measures.Qrel("q", "b", 0)],
        pd.DataFrame([ir_measures.Qrel("q", "a", 2), ir_measures.Qrel("q", "b", 0)]),
    ],
)
def test_what_other_libraries_hold_labels_in(frame: object) -> None:
    assert sorted(listed(read_label_frame(frame)) or []) == [("q", "a", 2.0), ("q", "b", 0.0)]


def test_the_interchange_protocol_is_read() -> None:
    frame = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0], "label": [NAN, 1.0]})
    categories = frame.astype({"qid": "category"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas would rather have it gone
        for one in (frame, categories):
            ranking, labels, _ = run_parts(read_frame(SpeaksInterchange(one)))
            assert (ranking, labels) == ([("q", "b", 2.0), ("q", "a", 1.0)], [("q", "b", 1.0)])


@given(st.dictionaries(ids, st.dictionaries(ids, numbers, max_size=4), max_size=5))
def test_nested_dicts_come_back_the_same(run: dict[str, dict[str, float]]) -> None:
    rows = {(group, item): score for group, items in run.items() for item, score in items.items()}
    if not rows:
        assert refusal(run) in ("there are no rows; give at least one", NO_GROUP)
        return
    assert {(group, item): score for group, item, score in listed(read_frame(run).ranking) or []} == rows


NO_GROUP = (
    "no columns 'group' and 'score'; the columns are none: name the group column with group= and the score column with "
    "score="
)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"q": {"a": "high"}}, "column 'score' holds string; the score column needs numbers: convert it"),
        ({"q": {"a": 1.0, "b": float("inf")}, "r": {}}, "group 'q', item 'b': the score is inf; use a finite number, "),
        ({"q": {}, "r": {"a": 1, "": 1}}, "group 'r', item '': the item id is empty; every row needs one"),
        (
            {"q": {1: 1.0, "1": 2.0}},
            "group 'q', item '1': item '1' of group 'q' is in entry 1 already;",
        ),
        ({"q": {(1, 2): 1.0}}, "column 'item' holds list<item: int64>; ids are text or whole numbers: write them as"),
        ([], "there are no rows; give at least one"),
        ([Row("q", "a", 1.0), ir_measures.Qrel("q", "a", 1)], "row 1 is a Row and row 2 a Qrel; give rows of one kind"),
        ([{"qid": "q", "docno": "a"}], "no column 'score'; the columns are 'qid', 'docno': name the score column"),
    ],
)
def test_what_is_wrong_in_a_nested_dict_or_in_rows_is_named(frame: object, message: str) -> None:
    assert refusal(frame).startswith(message)


@pytest.mark.parametrize("sizes", [[3, 2], (3, 2), np.array([3, 2]), pd.Series([3, 2])])
def test_sizes_where_group_ids_belong_are_recognised(sizes: object) -> None:
    frame = {"qid": sizes, "docno": list("abcab"), "score": range(5), "label": [1, 0, 0, 1, 0]}
    assert refusal(frame) == (
        "column 'qid' holds the sizes of 2 groups, which add up to the 5 rows; give one id per row, such as "
        "numpy.repeat(numpy.arange(len(sizes)), sizes)"
    )
    assert refusal({**frame, "qid": [3, 3]}).startswith("the columns differ in length ('qid' 2, 'docno' 5, ")


def test_frames_do_not_change() -> None:
    frame = pd.DataFrame(DICT).convert_dtypes()
    before = frame.copy(deep=True)
    read_frame(frame)
    pd.testing.assert_frame_equal(frame, before)
    scores = np.array([1.0, 3.0, 2.0])
    ranking = read_frame({"group": ["q", "q", "q"], "score": scores}).ranking
    assert scores.tolist() == [1.0, 3.0, 2.0]
    assert ranking.scores.tolist() == [3.0, 2.0, 1.0]


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
        frame = {"group": ["q", "q"], "item": ["a", "b"], "label": labels}
        assert read_label_frame(frame).grades.tolist() == [1.0, 0.0]


NAN_SCORES = {"group": ["q"] * 4, "item": ["a", "b", "c", "d"], "score": [1.0, NAN, 2.0, NAN]}
HAS_NAN = "row 2: the score is nan; fix the scores, or, if NaN means not retrieved, give null_scores='not_retrieved'"


@pytest.mark.parametrize(
    "frame",
    [
        NAN_SCORES,
        {name: np.array(values) for name, values in NAN_SCORES.items()},
        {**NAN_SCORES, "score": np.array(NAN_SCORES["score"], dtype=np.float32)},
        pd.DataFrame(NAN_SCORES),
        pd.DataFrame(NAN_SCORES).astype({"score": object}),
        pa.table(NAN_SCORES),
        pa.concat_tables([pa.table(NAN_SCORES).slice(0, 2), pa.table(NAN_SCORES).slice(2)]),
        pl.DataFrame(NAN_SCORES),
        SpeaksInterchange(pd.DataFrame(NAN_SCORES)),
        [dict(zip(NAN_SCORES, row, strict=True)) for row in zip(*NAN_SCORES.values(), strict=True)],
    ],
)
@pytest.mark.filterwarnings("ignore:The Dataframe Interchange Protocol")
def test_nan_scores_are_refused_unless_the_caller_says_what_they_mean(frame: object) -> None:
    assert refusal(frame) == HAS_NAN
    table = read_frame(frame, null_scores="not_retrieved")
    assert listed(table.ranking) == [("q", "c", 2.0), ("q", "a", 1.0)]


def test_nan_among_nulls_is_found_and_counted() -> None:
    scores = pa.array([None, 1.0, NAN, None])
    frame = {"group": ["q"] * 4, "item": ["a", "b", "c", "d"], "score": scores}
    assert refusal(pa.table(frame)).startswith("row 3: the score is nan; fix the scores")
    assert refusal({"q": {"a": None, "b": NAN}}).startswith("group 'q', item 'b': the score is nan;")


def test_what_nan_means_is_one_of_two() -> None:
    with pytest.raises(InputError) as caught:
        read_frame(NAN_SCORES, null_scores="zero")  # type: ignore[arg-type]
    assert str(caught.value) == (
        "null_scores='zero' is unknown; give null_scores='error' or null_scores='not_retrieved'"
    )


def test_a_nan_label_is_unjudged_in_pandas_and_dicts_and_an_error_in_arrow() -> None:
    frame = {"group": ["q", "q"], "item": ["a", "b"], "label": [1.0, NAN]}
    for there in (frame, pd.DataFrame(frame), pd.DataFrame(frame).convert_dtypes()):
        assert listed(read_label_frame(there)) == [("q", "a", 1.0)]
    with pytest.raises(InputError) as caught:
        read_label_frame(pa.table(frame))
    assert str(caught.value) == "labels: row 2: the label is nan; use a finite number, or null for none"


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"group": ["q", None, "r"]}, "row 2: the group id is empty; every row needs one"),
        ({"group": ["q", NAN, "r"]}, "row 2: the group id is empty; every row needs one"),
        ({"item": ["a", "", "c"]}, "row 2: the item id is empty; every row needs one"),
        ({"item": [1, None, "c"]}, "row 2: the item id is empty; every row needs one"),
        (
            {"item": ["NA", "NA", "NA"]},
            "row 2: item 'NA' of group '007' is in row 1 already; keep one of the two" + OR_ALLOW,
        ),
        ({"score": [1.0, float("inf"), 2.0]}, "row 2: the score is inf; use a finite number, or null for none"),
        ({"weight": [1.0, None, 2.0]}, "row 2: the weight is empty; every row needs one"),
        ({"weight": [1.0, 1.0, -2.0]}, "row 3: the weight is negative; weights are 0 or more"),
        (
            {"weight": [1.0, 1.1e30, 2.0]},
            "row 2: the weight is above 1e+30; give weights of a common size, such as 1 for most groups",
        ),
        ({"item": ["a", "b", "x\0"]}, "row 3: the item id has a NUL byte; write the file again without it"),
        (
            {"item": ["a", "b", "\ud800"]},
            "row 3: the item id '\\ud800' has an incomplete character; write ids as UTF-8",
        ),
        ({"item": ["a", "b", b"\xff"]}, "row 3: byte 0xff is not UTF-8; write ids as UTF-8"),
        ({"item": ["a", 2, b"\xff"]}, "row 3: byte 0xff is not UTF-8; write ids as UTF-8"),
        ({"item": ["a", 1.5, "b"]}, "row 2: the item id is a fraction; ids are text or whole numbers"),
        ({"item": ["a", True, "b"]}, "row 2: the item id is true or false; ids are text or whole numbers"),
        (
            {"group": [1.0, 1.0, 2.5]},
            "row 3: 'group' holds 2.5; ids are text or whole numbers; convert it",
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
    frame = pd.DataFrame({"query": [1], 5: [2.0], ("a", "b"): [3]})
    expected = (
        "no columns 'group' and 'score'; the columns are 'query', '5', \"('a', 'b')\": name the group column with "
    )
    assert refusal(frame) == expected + "group='query' and the score column with score="
    assert refusal(DICT, Columns(item="doc")).startswith("no column 'doc'; the columns are 'group', 'item', 'score'")
    table = read_frame({"qid": ["q"], "bm25": [1]}, Columns(group="qid", score="bm25"))
    assert listed(table.ranking) == [("q", "1", 1.0)]


def test_columns_that_stand_twice_are_refused() -> None:
    frame = pd.DataFrame([["q", 1, 2]], columns=["group", "score", "score"])
    assert refusal(frame) == "column 'score' appears 2 times; rename all but one"
    table = pa.table([["q"], [1], [2]], names=["group", "score", "score"])
    assert refusal(table) == "column 'score' appears 2 times; rename all but one"


def test_what_is_no_frame_is_refused() -> None:
    assert refusal([1, 2]) == f"cannot read a list; {TAKEN}"
    assert refusal(3) == f"cannot read a int; {TAKEN}"
    assert refusal([("q", "a", 1.0)]) == f"cannot read a list; {TAKEN}"
    assert refusal(pa.chunked_array([[1]])).startswith("cannot read a ChunkedArray as a table (")
    assert refusal(pl.DataFrame(NAN_SCORES).lazy()) == "a LazyFrame has not loaded its rows; call its .collect() first"
    assert refusal({"group": [], "score": []}) == "there are no rows; give at least one"
    cube = {"group": ["q", "q"], "score": np.ones((2, 2, 2))}
    assert refusal(cube) == "column 'score' holds list<item: double>; the score column needs numbers: convert it"
    assert refusal({"group": ["q"], "score": [object()]}).startswith("column 'score' does not hold plain numbers (")


def test_labels_without_any_grade_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_label_frame({"group": ["q"], "item": ["a"], "label": [None]})
    assert str(caught.value) == "labels: no row has a label; name the label column"


def test_importing_the_layer_imports_neither_pandas_nor_pyarrow() -> None:
    code = "import sys, ndcg_tracker.ingest; print(sorted({'pandas', 'pyarrow'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "scores", [[True, False], [True, 0.5], [0.5, True], [2, True], [None, True], [0.5, np.True_], (0.5, False)]
)
def test_true_is_no_score_in_any_order(scores: list[object] | tuple[object, ...]) -> None:
    told = "column 'score' holds bool; the score column needs numbers: convert it"
    assert refusal({"group": ["q", "q"], "score": scores}) == told
    assert refusal(pd.DataFrame({"group": ["q", "q"], "score": pd.Series([*scores], dtype=object)})) == told
    assert refusal({"group": ["q"], "item": [["a", "b"]], "score": [[*scores]]}) == told
    assert refusal({"q": {"a": scores[0], "b": scores[1]}}) == told
    assert refusal({"group": ["q", "q"], "score": [1.0, 2.0], "weight": scores}, Columns(weight="weight")) == (
        "column 'weight' holds bool; the weight column needs numbers: convert it"
    )


@pytest.mark.parametrize("name", ["group", "item", "score"])
@pytest.mark.parametrize("kind", ["list", "dict"])
@pytest.mark.nightly(but=2)
def test_values_nested_without_end_are_refused(name: str, kind: str) -> None:
    deep: object = 0
    for _ in range(100_000):
        deep = [deep] if kind == "list" else {"a": deep}
    rows = {"group": ["q", "q"], "item": ["a", "b"], "score": [0.5, 1.0]} | {name: ["a", deep]}
    assert refusal(rows) == f"column '{name}' holds nested values; give one value, or one list of values, per row"
