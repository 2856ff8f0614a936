"""Metrics of sorted Arrow batches: equal to ``nt.evaluate`` however rows are cut, and in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refused import OR_ALLOW

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, MetricError
from ndcg_tracker.integrations import batches
from ndcg_tracker.integrations.batches import SIDE, all_of_groups, collected, of_share, per_group
from ndcg_tracker.rankings.groups_share import in_share

METRICS = ["ndcg@3", "RR", "AP", "ndcg(gain=exp2, ties=pessimistic)@2", "P@5"]
Rows = list[tuple[str, str, float | None, float | None]]


def table_of(rows: Rows) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * 4
    kinds = [pa.string(), pa.string(), pa.float64(), pa.float64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=["group", "item", "score", "label"])


def cut(table: pa.Table, n_rows: int) -> Iterator[pa.RecordBatch]:
    for first in range(0, table.num_rows, n_rows):
        yield from table.slice(first, n_rows).combine_chunks().to_batches()


def by_group_and_metric(tables: Iterator[Any]) -> dict[tuple[str, str], float | None]:
    rows = [row for table in tables for row in table.to_pylist()]
    found = {(row["group"], row["metric"]): row["value"] for row in rows}
    assert len(found) == len(rows)  # each once
    return found


def in_memory(table: pa.Table, metrics: list[str]) -> dict[tuple[str, str], float | None]:
    frame = nt.evaluate(table, metrics).per_group
    return {
        (group, metric): None if np.isnan(value) else value
        for metric in frame
        for group, value in frame[metric].to_dict().items()
    }


@st.composite
def some_rows(draw: st.DrawFn) -> Rows:
    """Some groups in order, with ties, unjudged items, items that were not retrieved, and groups without labels."""
    rows: Rows = [("g", "a", 1.0, 1.0)]  # one that has everything
    for group in draw(st.lists(st.sampled_from("hijkl"), unique=True)):
        for item in range(draw(st.integers(1, 6))):
            score = draw(st.none() | st.sampled_from([0.0, 0.5, 1.0, 2.0]))
            rows.append((group, f"i{item}", score, draw(st.none() | st.sampled_from([-1.0, 0.0, 1.0, 3.0]))))
    return sorted(rows, key=lambda row: row[0])


@given(some_rows(), st.integers(1, 9), st.sampled_from([1, 4, 1 << 19]))
def test_values_are_those_of_evaluate_however_rows_are_cut(rows: Rows, n_rows: int, block: int) -> None:
    table = table_of(rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "_BLOCK_ROWS", block)
        found = by_group_and_metric(per_group(cut(table, n_rows), METRICS))
    kept = {group for group, _, score, label in rows if score is not None or label is not None}
    assert {key: value for key, value in found.items() if key[0] in kept} == in_memory(table, METRICS)


@given(some_rows(), st.integers(1, 9))
def test_labels_in_rows_of_their_own_are_the_same(rows: Rows, n_rows: int) -> None:
    joint = table_of(rows)
    apart = [(group, item, score, None, False) for group, item, score, _ in rows if score is not None]
    apart += [(group, item, None, label, True) for group, item, _, label in rows if label is not None]
    apart.sort(key=lambda row: row[0])
    columns = dict(zip(["group", "item", "score", "label", SIDE], map(list, zip(*apart, strict=True)), strict=True))
    kinds = [pa.string(), pa.string(), pa.float64(), pa.float64(), pa.bool_()]
    table = pa.table([pa.array(column, kind) for column, kind in zip(columns.values(), kinds, strict=True)], [*columns])
    found = by_group_and_metric(per_group(cut(table, n_rows), METRICS))
    assert found == in_memory(joint, METRICS)


@given(some_rows(), st.integers(1, 9))
def test_means_are_those_of_evaluate(rows: Rows, n_rows: int) -> None:
    table = table_of(rows)
    found = collected(pa.concat_tables(all_of_groups(cut(table, n_rows), METRICS)), METRICS)
    wanted = nt.evaluate(table, METRICS)
    assert found.to_frame().equals(wanted.to_frame())
    assert found.per_group.equals(wanted.per_group.sort_index())
    assert found.notes == wanted.notes


@pytest.mark.parametrize("ties", ["item_desc", "item_asc", "pessimistic", "optimistic", "average"])
def test_a_long_group_keeps_only_what_metrics_look_at(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_LONG_GROUP", 300)
    rng = np.random.default_rng(5)
    n = 5000
    scores, labels = rng.integers(0, 300, n) / 8, rng.integers(0, 3, n).astype(float)
    labels[rng.random(n) < 0.99] = np.nan  # most items are unjudged
    columns = {"group": ["g"] * n, "item": [f"i{i}" for i in range(n)], "score": scores}
    table = pa.table({**columns, "label": pa.array(labels, from_pandas=True)})
    metrics = [f"ndcg(ties={ties})@10", f"ndcg(gain=exp2, ties={ties})@3"]
    seen: list[int] = []
    shortened = batches._shortened

    def counted(whole: Any, cutoff: int) -> Any:
        seen.append(whole.num_rows)
        return shortened(whole, cutoff)

    monkeypatch.setattr(batches, "_shortened", counted)
    found = by_group_and_metric(per_group(cut(table, 100), metrics))
    assert found == in_memory(table, metrics)
    assert len(seen) > 5
    assert max(seen) < 800  # of 5000


@pytest.mark.parametrize("metric", ["ndcg", "AP@10", "ndcg(ideal=retrieved)@10", "P(depth=100)@10", "RBP@10"])
def test_other_metrics_keep_every_row(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_LONG_GROUP", 10)
    rng = np.random.default_rng(6)
    n = 400
    columns = {"group": ["g"] * n, "item": [f"i{i}" for i in range(n)], "score": rng.normal(size=n)}
    table = pa.table({**columns, "label": rng.integers(0, 3, n).astype(float)})
    assert by_group_and_metric(per_group(cut(table, 50), [metric])) == in_memory(table, [metric])


def test_numbers_stay_numbers_and_slices_come_along() -> None:
    table = pa.table(
        {
            "group": pa.array([1, 1, 20], pa.int64()),
            "item": pa.array([7, 8, 7], pa.int64()),
            "score": [1.0, 2.0, 3.0],
            "label": [1.0, None, 0.0],
            "segment": ["new", None, "old"],
        }
    )
    (found,) = per_group(table.to_batches(), "RR,P@1", by="segment")
    assert found.to_pydict() == {
        "segment": ["new", "new", "old", "old"],
        "group": [1, 1, 20, 20],
        "metric": ["RR", "P@1", "RR", "P@1"],
        "value": [0.5, 0.0, 0.0, 0.0],
    }


def test_slices_of_many_groups() -> None:
    groups = np.repeat([f"q{group}" for group in np.random.default_rng(1).permutation(300)], 20)
    ones = np.ones(groups.size)
    items = [f"i{row}" for row in range(groups.size)]
    table = pa.table({"group": groups, "item": items, "score": ones, "label": ones, "by": np.char.add("of ", groups)})
    (found,) = per_group(cut(table, 700), "ndcg@10", by="by")
    assert [f"of {group}" for group in found["group"].to_pylist()] == found["by"].to_pylist()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("q", "a", 1.0, 1.0), ("q", "a", 2.0, None)],
            "group 'q', item 'a': item 'a' of group 'q' is in another row already; keep one of the two" + OR_ALLOW,
        ),
        ([("q", "", 1.0, 1.0)], "group 'q', item '': the item id is empty; every row needs one"),
        (
            [("q", "a", float("nan"), 1.0)],
            "group 'q', item 'a': the score is nan; fix the scores, or, if NaN means not retrieved, make them null",
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_named(rows: Rows, said: str) -> None:
    with pytest.raises(InputError) as refused:
        list(per_group(table_of(rows).to_batches(), "ndcg@10"))
    assert str(refused.value) == said


def test_a_slice_has_one_value_per_group() -> None:
    table = table_of([("q", "a", 1.0, 1.0), ("q", "b", 2.0, None)]).append_column("by", pa.array(["x", "y"]))
    with pytest.raises(InputError) as refused:
        list(per_group(table.to_batches(), "ndcg@10", by="by"))
    assert str(refused.value) == "group 'q' has 'x' and 'y' in column 'by'; give one value per group"


def test_the_order_of_rows_is_no_order() -> None:
    with pytest.raises(MetricError) as refused:
        list(per_group([], "ndcg(ties=input)@10"))
    assert str(refused.value) == "ndcg(ties=input)@10: rows of a distributed table have no order; choose other ties="


def test_strangers_are_refused() -> None:
    table = table_of([("q", "a", 1.0, None), ("r", "a", None, 1.0)])
    with pytest.raises(InputError) as refused:
        collected(pa.concat_tables(all_of_groups(table.to_batches(), "ndcg@10")), "ndcg@10")
    wanted = "no group of the run has labels; give labels of the same groups, with ids written the same way"
    assert str(refused.value) == wanted


@pytest.mark.parametrize("ids", [["a", "b", "a", "ä", "c", "d", "e"], [7, 12, 7, 0, 1, 2, -3]])
def test_rows_of_a_share_of_the_groups(ids: list[str] | list[int]) -> None:
    rows = pa.table({"group": ids, "item": list("abcdefg"), "score": [1.0] * 7})
    kept = in_share(map(str, ids), "1/2").tolist()
    assert set(kept) == {False, True}
    assert pa.Table.from_batches(of_share(rows.to_batches(2), Fraction(1, 2))) == rows.filter(pa.array(kept))
