"""What other libraries hold a run or labels in, as classes of the same shape; objects_of_tools.py has the real ones."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_outcomes import listed
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.ingest.columns import Columns, ColumnWarning
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.words.notes import Note

SCORES = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"c": 0.25}}
RANKING = [("q1", "a", 0.9), ("q1", "b", 0.5), ("q2", "c", 0.25)]
BY_ORDER = [("q1", "a", -1.0), ("q1", "b", -2.0), ("q2", "c", -1.0)]
RELEVANT = [("q1", "a", 1.0), ("q1", "b", 1.0), ("q2", "c", 1.0)]
ROWS: dict[str, Any] = {"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]}


class Document:
    """As LangChain's: the id may be missing, and iterating gives its fields."""

    def __init__(self, its_id: str | None = None, **metadata: object) -> None:
        self.id, self.metadata, self.page_content = its_id, metadata, "text"

    def __iter__(self) -> Iterator[tuple[str, object]]:
        return iter(vars(self).items())


class Found:
    """As Haystack's Document and Qdrant's ScoredPoint."""

    def __init__(self, its_id: object, score: float | None = None, **meta: object) -> None:
        self.id, self.score, self.meta = its_id, score, meta


class Node:
    """As LlamaIndex' TextNode."""

    def __init__(self, node_id: str) -> None:
        self.node_id, self.metadata = node_id, dict[str, object]()


class NodeWithScore:
    """As LlamaIndex'."""

    def __init__(self, node_id: str, score: float | None = None) -> None:
        self.node, self.score = Node(node_id), score


class Tensor:
    """As torch's: NumPy takes it by ``__array__``, and its elements are tensors."""

    def __init__(self, values: Any, fault: str = "", dtype: str = "float32") -> None:
        self._array, self._fault = np.array(values, dtype=np.float32), fault
        self.dtype, self.ndim = f"torch.{dtype}", self._array.ndim

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        return (Tensor(value) for value in self._array)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
        if self._fault:
            raise RuntimeError(self._fault)
        return self._array

    def item(self) -> float:
        return float(self._array.item())

    def detach(self) -> Tensor:
        return Tensor(self._array)


class ArraysOfAnotherDevice:
    """As CuPy's, which NumPy may not read."""

    def __len__(self) -> int:
        return 2

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def get(self) -> np.ndarray[Any, Any]:
        return np.zeros(2)


class Dataset:
    """As Hugging Face's."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self.features = table, dict[str, object]()

    def __len__(self) -> int:
        return self._table.num_rows

    def with_format(self, kind: str) -> Dataset:
        assert kind == "arrow"
        return self

    def __getitem__(self, rows: slice) -> pa.Table:
        return self._table[rows]

    def to_pandas(self) -> pd.DataFrame:
        return self._table.to_pandas()


class DatasetDict(dict[str, Dataset]):
    """As Hugging Face's."""


class TrecRun:
    """As that of trectools."""

    run_data = pd.DataFrame({"query": ["q", "q"], "q0": 0, "docid": ["b", "a"], "rank": [1, 2], "score": [2.0, 1.0]})


class TrecQrel:
    """As that of trectools."""

    qrels_data = pd.DataFrame({"query": ["q", "q"], "q0": 0, "docid": ["b", "a"], "rel": [3, 0]})


def of_each(make: Any) -> dict[str, list[Any]]:
    return {group: [make(item, score) for item, score in items.items()] for group, items in SCORES.items()}


def refusal(frame: object, columns: Columns = Columns()) -> str:
    return refusal_of(nt.InputError, read_frame, frame, columns)


def label_refusal(frame: object, **options: Any) -> str:
    return refusal_of(nt.InputError, read_label_frame, frame, **options)


@pytest.mark.parametrize(
    ("frame", "columns"),
    [
        (of_each(lambda item, score: (item, score)), Columns()),
        (of_each(lambda item, score: [item, np.float64(score)]), Columns()),
        (of_each(lambda item, score: (Document(item), score)), Columns()),
        (of_each(lambda item, score: (Document(None, id=item), score)), Columns()),
        (of_each(lambda item, score: (Document("x", source=item), score)), Columns(item="metadata.source")),
        (of_each(lambda item, score: (Document(item), -score)), Columns(score="-score")),
        (of_each(NodeWithScore), Columns()),
        (of_each(Found), Columns()),
        (of_each(lambda item, score: Found("x", score, sku=item)), Columns(item="meta.sku,docno", is_shared=True)),
        (of_each(lambda item, score: {"corpus_id": item, "score": score}), Columns()),
        (of_each(lambda item, score: {"_id": item, "_score": score, "_source": {"id": 7}}), Columns()),
        (
            of_each(lambda item, score: {"document": {"id": item}, "index": 0, "relevance_score": score}),
            Columns(item="document.id"),
        ),
        (of_each(lambda item, score: {"sku": item, "distance": -score}), Columns(item="sku", score="-distance")),
    ],
)
def test_hits_with_scores(frame: dict[str, Any], columns: Columns) -> None:
    table = read_frame(frame, columns)
    assert listed(table.ranking) == RANKING
    assert table.notes == ()
    as_lists = read_frame(list(frame.values()), columns)
    assert listed(as_lists.ranking) == [(str("q1q2".index(group) // 2), *of_item) for group, *of_item in RANKING]


NESTED_LISTS = {group: list(items) for group, items in SCORES.items()}
LISTS = {"qid": list(NESTED_LISTS), "docno": list(NESTED_LISTS.values())}


@pytest.mark.parametrize(
    "frame",
    [
        NESTED_LISTS,
        {group: tuple(items) for group, items in NESTED_LISTS.items()},
        {group: np.array(items) for group, items in NESTED_LISTS.items()},
        {group: [item.encode() for item in items] for group, items in NESTED_LISTS.items()},
        {**NESTED_LISTS, "q3": []},
        pd.Series(NESTED_LISTS),
        {group: pd.Series(items) for group, items in NESTED_LISTS.items()},
        of_each(lambda item, score: Document(item)),
        of_each(lambda item, score: NodeWithScore(item)),
        of_each(lambda item, score: Found(item)),
        of_each(lambda item, score: {"id": item}),
    ],
)
def test_lists_without_scores_are_read_as_ranked_and_as_relevant_items(frame: Any) -> None:
    table = read_frame(frame)
    assert listed(table.ranking) == BY_ORDER
    assert table.notes == (Note("order_of_lists"),)
    assert listed(read_label_frame(frame)) == RELEVANT


@pytest.mark.parametrize(
    "frame", [LISTS, pd.DataFrame(LISTS), pl.DataFrame(LISTS), pa.table(LISTS), Dataset(pa.table(LISTS))]
)
def test_lists_in_the_cells_of_a_table_are_told_where_they_are_read_as_relevant_items(frame: Any) -> None:
    table = read_frame(frame)
    assert listed(table.ranking) == BY_ORDER
    assert table.notes == (Note("order_of_lists"),)
    with pytest.warns(ColumnWarning, match="^lists of items without labels are read as relevant items, of grade 1$"):
        assert listed(read_label_frame(frame)) == RELEVANT
    assert listed(read_label_frame(frame, columns=Columns(label="=1"))) == RELEVANT


@pytest.mark.parametrize("name", ["score", "similarity", "rank"])
def test_lists_with_scores_or_ranks_are_a_run_and_no_labels(name: str) -> None:
    frame = pa.table(LISTS | {name: [[2, 1], [3]]})
    assert refusal_of(nt.InputError, read_label_frame, frame) == (
        f"labels: no column 'label'; the columns are 'qid', 'docno', '{name}': name the label column with label=; "
        "scores without labels are a run: are the run and the labels swapped?"
    )


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple, lambda items: dict.fromkeys(items).keys()])
def test_relevant_items_are_labels_of_grade_1(kind: Any) -> None:
    labels = {group: kind(items) for group, items in SCORES.items()}
    assert sorted(listed(read_label_frame(labels)) or []) == RELEVANT
    if kind is not tuple:  # which may be a row
        assert min(listed(read_label_frame(list(labels.values()))) or []) == ("0", "a", 1.0)


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4) | st.integers(0, 9)
scores = st.floats(allow_nan=False, allow_infinity=False)


runs = st.dictionaries(
    ids.map("q:{}".format), st.dictionaries(ids.map(str), scores, max_size=4), min_size=1, max_size=4
)


@given(runs)
def test_pairs_and_hits_are_the_nested_dict(run: dict[str, dict[str, float]]) -> None:
    if not any(run.values()):
        return
    wanted = listed(read_frame(run).ranking)
    pairs = {group: list(items.items()) for group, items in run.items()}
    assert listed(read_frame(pairs).ranking) == wanted
    assert (
        listed(read_frame({group: [Found(*pair) for pair in held] for group, held in pairs.items()}).ranking) == wanted
    )
    labels = {group: list(items) for group, items in run.items()}
    assert listed(read_label_frame(labels)) == listed(
        read_label_frame({group: dict.fromkeys(items, 1) for group, items in run.items()})
    )


def test_a_column_of_sets_has_the_relevant_items() -> None:
    frame = pd.DataFrame({"group": ["q", "r"], "item": [{"a", "b"}, {"c"}]})
    expected = [("q", "a", 1.0), ("q", "b", 1.0), ("r", "c", 1.0)]
    with pytest.warns(ColumnWarning, match="are read as relevant items"):
        assert sorted(listed(read_label_frame(frame)) or []) == expected


def test_a_group_of_nothing_may_be_an_empty_list_set_or_dict() -> None:
    for nothing in ([], set(), {}, ()):
        assert listed(read_label_frame({"q": {"a"}, "r": nothing})) == [("q", "a", 1.0)]
        assert listed(read_label_frame({"r": nothing, "q": {"a"}})) == [("q", "a", 1.0)]
        assert listed(read_frame({"q": {"a": 2.0}, "r": nothing}).ranking) == [("q", "a", 2.0)]
        assert listed(read_frame({"r": nothing, "q": {"a": 2.0}}).ranking) == [("q", "a", 2.0)]


def test_labels_may_be_pairs_and_objects_with_labels() -> None:
    assert listed(read_label_frame({"q": [("a", 2), ("b", 0)]})) == [("q", "a", 2.0), ("q", "b", 0.0)]
    assert listed(read_label_frame({"q": [{"id": "a", "relevance": 2}]})) == [("q", "a", 2.0)]
    asked = Columns(item="sku", label="stars")
    assert listed(read_label_frame({"q": [{"sku": "a", "stars": 4, "score": 0.5}]}, asked)) == [("q", "a", 4.0)]


def test_whole_numbers_and_uuids_are_ids_of_lists() -> None:
    made = uuid.UUID(int=7)
    assert read_frame({7: [3, np.int64(4), made, "x"]}).ranking.item_keys.to_list() == ["3", "4", str(made), "x"]
    assert listed(read_frame(np.array([[3, 1], [2, 5]])).ranking) == [
        ("0", "3", -1.0),
        ("0", "1", -2.0),
        ("1", "2", -1.0),
        ("1", "5", -2.0),
    ]


def test_labels_beside_lists_without_scores() -> None:
    table = read_frame(pd.DataFrame({"group": ["q"], "item": [["b", "a"]], "label": [[0, 1]]}))
    assert listed(table.ranking) == [("q", "b", -1.0), ("q", "a", -2.0)]
    assert listed(table.labels) == [("q", "b", 0.0), ("q", "a", 1.0)]


def test_an_order_that_contradicts_the_scores_is_told_as_with_distances() -> None:
    near = {q: [(Document(f"{q}{n}"), 0.1 * n) for n in range(3)] for q in ("q", "r")}
    table = read_frame(near)
    assert table.notes == (Note("rank_conflict", {"n": 2, "first": "q", "deciding": "order"}),)
    assert table.ranking.item_keys.to_list()[0] == "q2"
    for score, told in (("-score", ()), ("", (Note("order_of_lists"),))):
        table = read_frame(near, Columns(score=score))
        assert table.notes == told
        assert table.ranking.item_keys.to_list()[0] == "q0"
    with pytest.warns(match="the run: the order of the items contradicts the scores in 2 groups"):
        nt.evaluate(near, labels={"q": {"q0"}})


def test_pairs_of_ids_may_stand_in_any_order() -> None:
    assert read_frame({"q": [("a", 0.1), ("b", 0.2), ("c", 0.3)]}).notes == ()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            {"q": {"a", "b"}},
            "group 'q': a set of items has no order; give a list, the best item first, or {item: score}",
        ),
        (
            {"q": [Document("a"), Document(source="f.txt", page=3)]},
            "group 'q', place 2: a Document has no id; say where its id is, such as item='metadata.source'; "
            "choose one of metadata.source and metadata.page",
        ),
        ({"q": [Document()]}, "group 'q', place 1: a Document has no id; say where its id is with item=, or give ids"),
        (
            {"q": [Found("a", 0.5), Found("b")]},
            "group 'q', place 2: this Found has no score, but others have one; give all of them a score, or none",
        ),
        (
            {"q": [{"name": "a", "score": 1}]},
            "group 'q', place 1: a dict has no id; say where its id is, such as item='name'",
        ),
        (
            {"q": [("a", 1)], "r": [("b", 2), ("b", 1)]},
            "group 'r', place 2: item 'b' of group 'r' is in place 1 already; keep one of",
        ),
        ({"q": ["a"], "r": ["b", None]}, "group 'r', place 2: the item id is empty; every row needs one"),
        (
            {"q": ["a", 1.5]},
            "group 'q', place 2: a float is among the ids; give ids alone (text or whole numbers), or (id, score)",
        ),
        (
            {"q": [("a", 1.0), ("b",)]},
            "group 'q', place 2: a tuple is among the pairs; give (item, number) for each item",
        ),
        (
            {"q": [("a", 1.0), ("b", float("inf"))]},
            "group 'q', place 2: the score is inf; use a finite number, or null",
        ),
        (
            {"q": [("a", 1.0), ("b", float("nan"))]},
            "group 'q', place 2: the score is nan; fix the scores",
        ),
        ({"q": [("a", 1.0), ("b", True)]}, "column 'score' holds bool; the score column needs numbers: convert it"),
        ({"q": [], "r": []}, "there are no rows; give at least one"),
        (
            {"q": {"a": 1}, "r": ["b"]},
            "group 'q' has a dict and group 'r' a list; give {group: {item: number}} or {group: list} for all groups",
        ),
        ({"r": ["b"], "q": {"a": 1}}, "group 'q' has a dict and group 'r' a list; give {group: {item: number}} or {gr"),
        ({"q": "a", "r": "b"}, "group 'q': a single str instead of a list; give {group: [item]}"),
        (
            pd.DataFrame({"group": ["q"], "item": [{"a", "b"}]}),
            "column 'item' holds a set, which has no order; give lists",
        ),
        (
            pd.Series([1.0], index=pd.MultiIndex.from_tuples([("q", "a")])),
            "a Series with an index of several levels is not a table; call .reset_index() on it, and name its "
            "column with",
        ),
        ({"uid": [1, 1], "movie": [5, 6], "clicks": [0, 1]}, "no columns 'group' and 'score'; the columns are 'uid', "),
        (
            [Document("a"), Document("b")],
            "this is the list of a single query (its first entry is a Document), without the query's id; give "
            "{query id: list}",
        ),
        (
            [(Document("a"), 0.5)],
            "this is the list of a single query (its first entry is a Document), without the query's id",
        ),
        ([("a", 0.5)], "this is the list of a single query (its first entry is a tuple), without the query's id;"),
        ([["q", "a", 1]], "cannot read a list; give a path, "),
        (
            pd.Series([["a"], ["b"]], index=["q", "q"]),
            "group 'q' is in the index twice; give one list per group",
        ),
        (pd.Series([1, 2]), "cannot read a Series; give a path, "),
        (
            pd.DataFrame({"group": ["q", "q"], "item": [["a"], ["b"]]}),
            "row 2: group 'q' has a list in row 1 already; give one list per group, or scores",
        ),
        (
            {"group": ["q"], "item": [["a"]], "similarity": [[0.5]]},
            "no column 'score'; the columns are 'group', 'item', 'similarity': name the score column with "
            "score='similarity'",
        ),
        (
            {"group": ["q"], "item": [["a"]], "rank": [[1]]},
            "no column 'score'; the columns are 'group', 'item', 'rank': name the score column with score=; if "
            "the lowest 'rank' is the best, give score='-rank'",
        ),
        (
            {"users": ["ann"], "docs": [["a"]], "group": ["x"]},
            "no column 'score'; the columns are 'users', 'docs', 'group': name the score column with score=",
        ),
        (
            DatasetDict(train=Dataset(pa.table(ROWS)), test=Dataset(pa.table(ROWS))),
            "a DatasetDict has splits ('train', 'test'); give one split, such as data['train']",
        ),
    ],
)
def test_what_is_wrong_in_lists_is_named(frame: object, message: str) -> None:
    assert refusal(frame).startswith(message)


def test_paths_into_objects_that_lead_nowhere_are_named() -> None:
    frame = {"q": [Document("a", source="f")]}
    assert refusal(frame, Columns(item="metadata.sku")) == (
        "group 'q', place 1: a Document has no metadata.sku; say where its id is, such as item='metadata.source'"
    )
    assert refusal(frame, Columns(score="similarity")) == (
        "group 'q', place 1: a Document has no similarity; say where the score is with score="
    )


def test_hits_are_no_labels() -> None:
    told = (
        "labels: group 'q', place 1: this is a hit with a score, not a label; give {group: {item: grade}}, or the ids "
    )
    assert label_refusal({"q": [Found("a", 0.5)]}) == f"{told}alone"
    assert label_refusal({"q": ["a"]}, are_answers=True) == (
        "labels: the answers are items without grades; give {group: {item: grade}}"
    )


@pytest.mark.parametrize(
    "scores",
    [
        np.array([[1.0], [2.0]]),
        np.array([[1], [2]], dtype=np.float32),
        [np.array([1.0]), np.array([2.0])],
        [[1.0], [2.0]],
        Tensor([1.0, 2.0]),
        Tensor([[1.0], [2.0]]),
        [Tensor(1.0), Tensor(2.0)],
        [Tensor(1.0), 2],
    ],
)
@pytest.mark.parametrize("others", ["item", "label"])
def test_what_a_network_predicts(scores: Any, others: str) -> None:
    rows = {"group": ["q", "q"], others: ["1", "2"] if others == "item" else [0, 1], "score": scores}
    assert listed(read_frame(rows).ranking) == [("q", "2", 2.0), ("q", "1", 1.0)]
    if not isinstance(scores, Tensor):
        frame = pd.DataFrame({**rows, "score": list(scores)})
        assert listed(read_frame(frame).ranking) == [("q", "2", 2.0), ("q", "1", 1.0)]


def test_columns_of_one_value_per_row_in_all() -> None:
    rows = {name: np.array(values)[:, None] for name, values in ROWS.items()}
    assert listed(read_frame(rows).ranking) == [("q", "b", 2.0), ("q", "a", 1.0)]


def test_lists_of_one_item_stay_lists() -> None:
    rows = {"group": ["q", "r"], "item": [["a"], ["b"]], "score": [[1.0], [2.0]]}
    assert listed(read_frame(rows).ranking) == [("q", "a", 1.0), ("r", "b", 2.0)]
    longer = {**rows, "item": [["a"], ["b", "c"]]}
    assert refusal(longer) == (
        "row 2: the lists of group 'r' differ in length ('item' 2, 'score' 1); give one value per item in each list"
    )


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (
            Tensor([1, 2], "Can't call numpy() on Tensor that requires grad."),
            "column 'score' is a Tensor that NumPy cannot read (Can't call numpy() on Tensor that requires grad.); "
            "call its .detach().cpu() first",
        ),
        (
            Tensor([1, 2], "Got unsupported ScalarType BFloat16", "bfloat16"),
            "column 'score' is a Tensor that NumPy cannot read (Got unsupported ScalarType BFloat16); call its "
            ".detach().cpu().float() first",
        ),
        (
            ArraysOfAnotherDevice(),
            "column 'score' is a ArraysOfAnotherDevice that NumPy cannot read (Implicit conversion to a NumPy array is "
            "not allowed.); call its .get() first",
        ),
        ([Tensor([1.0, 2.0]), 2.0], "column 'score' does not hold plain numbers ("),
    ],
)
def test_tensors_that_numpy_cannot_read(scores: object, message: str) -> None:
    assert refusal({**ROWS, "score": scores}).startswith(message)


MADE = [uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), uuid.UUID(int=2)]


@pytest.mark.parametrize(
    "ids",
    [
        MADE,
        pd.Series(MADE),
        pa.array([made.bytes for made in MADE], pa.uuid()),
        pa.array([b"?" * 16, *(made.bytes for made in MADE)], pa.uuid())[1:],
        [MADE[0], str(MADE[1])],
    ],
)
def test_uuids_are_ids(ids: Any) -> None:
    texts = ["01234567-89ab-cdef-0123-456789abcdef", "00000000-0000-0000-0000-000000000002"]
    assert read_frame({**ROWS, "item": ids, "score": [2, 1]}).ranking.item_keys.to_list() == texts
    null = {**ROWS, "item": [MADE[0], None]}
    assert refusal(null) == "row 2: the item id is empty; every row needs one"


FLOATS = "the ids of the {}s came as fractions and are all whole numbers: 7.0 is read as 7; write them as whole numbers"


@pytest.mark.parametrize(
    "ids",
    [
        [7.0, 8.0],
        np.array([7, 8], dtype=np.float32),
        pd.Series([7.0, 8.0]).astype("category"),
        pd.Series([7.0, 8.0], dtype=pd.ArrowDtype(pa.float64())),
        pd.Series([7.0, 8.0], dtype=object),
        pl.Series([7.0, 8.0]),
        pd.Series([7.0, 8.0], dtype="Float64"),
    ],
)
def test_ids_that_a_join_made_floats_are_whole_numbers(ids: Any) -> None:
    with pytest.warns(ColumnWarning) as caught:
        table = read_frame({**ROWS, "item": ids})
    assert listed(table.ranking) == [("q", "8", 2.0), ("q", "7", 1.0)]
    assert [str(one.message).removesuffix(" or text") for one in caught] == [FLOATS.format("item")]
    with pytest.warns(ColumnWarning, match=FLOATS.format("group")):
        assert listed(read_label_frame({1.0: {"a": 1}})) == [("1", "a", 1.0)]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([7.0, 7.5], "row 2: 'item' holds 7.5; ids are text or whole numbers; convert it"),
        ([7.0, float("inf")], "row 2: 'item' holds inf; ids are text or whole numbers; convert it"),
        ([7.0, float("nan")], "row 2: the item id is empty; every row needs one"),
        (
            [7.0, 2.0**53],
            "row 2: 'item' holds 9007199254740992.0, and from 9007199254740992 on double skips whole numbers; give "
            "whole numbers or text",
        ),
        (
            np.array([7, 2**24], dtype=np.float32),
            "row 2: 'item' holds 16777216.0, and from 16777216 on float skips whole numbers; give whole numbers or "
            "text",
        ),
        (
            pd.to_datetime(["2026-01-01", "2026-01-02"]),
            "column 'item' holds timestamp[us]; ids are text or whole numbers: write them as text",
        ),
        ([True, False], "column 'item' holds bool; ids are text or whole numbers: write them as text"),
    ],
)
def test_ids_that_are_none(ids: Any, message: str) -> None:
    assert refusal({**ROWS, "item": ids}) == message


def test_a_nan_of_arrow_is_no_id() -> None:
    rows = pa.table({**ROWS, "item": [7.0, float("nan")]})
    assert refusal(rows) == "row 2: 'item' holds nan; ids are text or whole numbers; convert it"


def test_the_largest_whole_number_that_a_double_holds_surely() -> None:
    with pytest.warns(ColumnWarning):
        table = read_frame({**ROWS, "item": [2.0**53 - 1, -3.0]})
    assert table.ranking.item_keys.to_list() == ["-3", "9007199254740991"]


def test_data_sets_and_trectools() -> None:
    assert listed(read_frame(Dataset(pa.table(ROWS))).ranking) == [("q", "b", 2.0), ("q", "a", 1.0)]
    assert listed(read_frame(TrecRun()).ranking) == [("q", "b", 2.0), ("q", "a", 1.0)]
    assert listed(read_label_frame(TrecQrel())) == [("q", "b", 3.0), ("q", "a", 0.0)]


def test_ranks_of_pyterrier_begin_at_0_and_the_scores_decide() -> None:
    frame = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
    assert listed(read_frame(frame).ranking) == [("q", "a", 2.0), ("q", "b", 1.0)]


def test_the_arrays_of_several_users() -> None:
    users, items = np.array([4, 9]), np.array([[3, 1], [2, 5]], dtype=np.int32)
    scores = np.array([[0.5, 0.25], [0.5, 0.75]], dtype=np.float32)
    assert listed(read_frame({"group": users, "item": items, "score": scores}).ranking) == [
        ("4", "3", 0.5),
        ("4", "1", 0.25),
        ("9", "5", 0.75),
        ("9", "2", 0.5),
    ]


class Column(np.ndarray[Any, Any]):
    """An array that must not become a Python list."""

    def tolist(self) -> Any:
        raise AssertionError("a list of Python objects")


def test_columns_stay_arrays() -> None:
    columns = {
        name: np.array(values).view(Column) for name, values in {**ROWS, "group": [1, 1], "item": [7, 8]}.items()
    }
    assert listed(read_frame(columns).ranking) == [("1", "8", 2.0), ("1", "7", 1.0)]
    single = {"group": np.array(3), "score": np.array([1.0])}
    assert refusal(single) == "column 'group' is a single ndarray; give one value per row"
