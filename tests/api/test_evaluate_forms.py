"""``nt.evaluate``: the same rows in any order and with ids of any type give the same values, to the bit."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refused import OR_ALLOW
from thorough import examples

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning

METRICS = [
    "ndcg@10", "ndcg(gain=exp2, ties=optimistic)@5", "ndcg(ties=item_asc)", "ndcg(ties=pessimistic, unjudged=drop)@3",
    "ndcg(negative=drop)", "map", "mrr@10", "err@10", "P@5", "rbp(p=0.8)",
]  # fmt: skip
BY_ORDER = ["ndcg(gain=exp2, ties=average)@5"]
"""Its last bit depends on the order in which the gains of tied items are added."""


def _text(frame: pd.DataFrame, dtype: Any) -> pd.DataFrame:
    return frame.assign(**{name: frame[name].astype(str).astype(dtype) for name in ("group", "item")})


def _dictionary(ids: pd.Series) -> Any:
    """Return ids as an Arrow dictionary in which every value stands twice."""
    values = ids.astype(str).unique().tolist()
    codes = np.array([values.index(one) for one in ids.astype(str)])
    codes[::2] += len(values)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values * 2))


FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "int64": lambda frame: frame,
    "int32": lambda frame: frame.astype({"group": "int32", "item": "int32"}),
    "uint64": lambda frame: frame.astype({"group": "uint64", "item": "uint64"}),
    "objects": lambda frame: _text(frame, object),
    "strings": lambda frame: _text(frame, "str"),
    "Arrow strings": lambda frame: _text(frame, pd.ArrowDtype(pa.string())),
    "categories": lambda frame: _text(frame, "category"),
    "categories of numbers": lambda frame: frame.astype({"group": "category", "item": "category"}),
    "polars": lambda frame: pl.from_pandas(frame),
    "polars categories": lambda frame: pl.from_pandas(_text(frame, "category")),
    "polars chunks": lambda frame: pl.concat(
        [pl.from_pandas(_text(frame[:3], "category")), pl.from_pandas(_text(frame[3:], "category"))], rechunk=False
    ),
    "a dictionary with repeats": lambda frame: pa.table(
        {name: _dictionary(frame[name]) if name in ("group", "item") else frame[name] for name in frame}
    ),
    "dict of lists": lambda frame: frame.to_dict("list"),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Draw rows of a few groups in any order, with equal scores, unjudged rows and negative labels."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), min_size=1, max_size=40, unique=True))
    n = len(pairs)
    scores = draw(st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0]), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0, 3.0, float("nan")]), min_size=n, max_size=n))
    labels[0] = 1.0
    groups, items = zip(*pairs, strict=True)
    wide = draw(st.sampled_from([1, 10**9]))  # ids that are no table's places
    return pd.DataFrame({"group": np.array(groups) * wide, "item": items, "score": scores, "label": labels})


def per_group(frame: Any, metrics: list[str] = METRICS, **options: Any) -> pd.DataFrame:
    """Return the values by group, in the order of the groups' names."""
    with warnings.catch_warnings():  # of values that say little, which is nothing to compare
        warnings.simplefilter("ignore", NdcgTrackerWarning)
        return nt.evaluate(frame, metrics, **options).per_group.sort_index()


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(30), deadline=None)
@given(frame=frames(), random=st.randoms(use_true_random=False))
def test_neither_the_type_of_ids_nor_the_order_of_rows_counts(form: str, frame: pd.DataFrame, random: Any) -> None:
    if form in ("int32", "uint64"):
        frame = frame.assign(group=frame["group"] % 2**31)
        frame = frame[~frame.duplicated(["group", "item"])]
    in_order = frame.sort_values(["group", "score"], ascending=[True, False], kind="stable")
    expected = per_group(_text(in_order, object))
    order = list(range(len(frame)))
    random.shuffle(order)
    shuffled = FORMS[form](frame.iloc[order])
    by_order = per_group(_text(frame.iloc[order], object), BY_ORDER)
    pd.testing.assert_frame_equal(per_group(shuffled, BY_ORDER), by_order, check_exact=True)
    pd.testing.assert_frame_equal(per_group(shuffled), expected, check_exact=True)
    apart = {"labels": FORMS[form](frame.dropna(subset=["label"])[["group", "item", "label"]])}
    bare = FORMS[form](frame.iloc[order].drop(columns="label"))
    pd.testing.assert_frame_equal(per_group(bare, **apart), expected, check_exact=True)


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["int64", "categories"])
def test_a_table_of_several_blocks(form: str) -> None:
    random = np.random.default_rng(3)
    n_groups, n_items = 80_000, 7
    frame = pd.DataFrame({"group": np.repeat(np.arange(n_groups), n_items), "item": np.tile(np.arange(7), n_groups)})
    frame["score"], frame["label"] = random.integers(0, 5, len(frame)) * 0.5, random.integers(0, 3, len(frame))
    shuffled = frame.sample(frac=1, random_state=1)
    is_low = shuffled["group"] < n_groups // 2
    metrics = ["ndcg@5", "map"]
    parts = [nt.evaluate(FORMS[form](shuffled[of]), metrics).per_group for of in (is_low, ~is_low)]
    found = nt.evaluate(FORMS[form](shuffled), metrics).per_group
    pd.testing.assert_frame_equal(
        found.sort_index(), pd.concat(parts).sort_index(), check_exact=True, check_index_type=False
    )
    assert found.index.tolist() == shuffled["group"].drop_duplicates().astype(str).tolist()
    twice = FORMS[form](pd.concat([frame, frame.iloc[[500_003, 21]]]))
    with pytest.raises(nt.InputError) as refused:
        nt.evaluate(twice, "ndcg@10")
    assert (
        str(refused.value)
        == "row 560001: item '0' of group '71429' is in row 500004 already; keep one of the two" + OR_ALLOW
    )
    nothing = FORMS[form](frame.assign(score=np.nan))
    with pytest.raises(nt.InputError) as refused:
        nt.evaluate(nothing, "ndcg@10", null_scores="not_retrieved")
    assert str(refused.value) == "no row has a score; name the score column, or read the file as labels"


def test_the_groups_of_a_result_do_not_change_with_the_frame() -> None:
    groups = np.array([7, 8, 9])
    found = nt.evaluate({"group": groups, "item": [1, 1, 1], "score": [1.0] * 3, "label": [1, 1, 1]}, "ndcg@10")
    groups[:] = 0
    assert found.per_group.index.tolist() == ["7", "8", "9"]
