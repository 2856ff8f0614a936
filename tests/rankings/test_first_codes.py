"""Groups found in columns of ids, in order or not, against Python's dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.grouping import first_codes, grouped, grouped_spans, stable_order
from ndcg_tracker.rankings.keys import Keys

strings = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3), max_size=40)
numbers = st.lists(st.integers(0, 9) | st.integers(-(2**63), 2**63 - 1), max_size=40)


def expected(ids: list[object]) -> tuple[list[int], list[int]]:
    first_at: dict[object, int] = {}
    for row, one in enumerate(ids):
        first_at.setdefault(one, row)
    code_of = {one: code for code, one in enumerate(first_at)}
    return [code_of[one] for one in ids], list(first_at.values())


@given(strings | numbers)
def test_codes_follow_the_first_appearance(ids: list[object]) -> None:
    texts = Keys.from_strings(map(str, ids))
    assert [found.tolist() for found in first_codes(texts)] == list(expected([str(one) for one in ids]))
    if all(isinstance(one, int) for one in ids):
        of_numbers = Keys.from_numbers(np.array(ids, dtype=np.int64))
        assert [found.tolist() for found in first_codes(of_numbers)] == list(expected(ids))


@pytest.mark.parametrize("spread", [1, 7, 2**40])
@pytest.mark.parametrize("n_rows", [5_000, 140_000])
def test_many_ids_as_text_and_as_numbers(n_rows: int, spread: int) -> None:
    ids = np.random.default_rng(n_rows).integers(0, n_rows // 3, n_rows) * spread - 5
    codes, firsts = expected(ids.tolist())
    for keys in (Keys.from_numbers(ids), Keys.from_strings(map(str, ids.tolist()))):
        found, found_firsts = first_codes(keys)
        assert found.tolist() == codes
        assert found_firsts.tolist() == firsts


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1))
def test_spans_are_grouped_like_their_rows(spans: list[tuple[int, int]]) -> None:
    ids, lengths = (np.array(side, dtype=np.int64) for side in zip(*spans, strict=True))
    kept = lengths > 0
    ids, lengths = ids[kept], lengths[kept]
    by_spans, by_rows = (
        grouped_spans(Keys.from_numbers(ids), lengths),
        grouped(Keys.from_numbers(np.repeat(ids, lengths))),
    )
    assert by_spans.keys.to_list() == by_rows.keys.to_list()
    assert by_spans.offsets.tolist() == by_rows.offsets.tolist()
    every = np.arange(lengths.sum())
    orders = [every if one.rows is None else one.rows for one in (by_spans, by_rows)]
    assert orders[0].tolist() == orders[1].tolist()


@given(st.lists(st.integers(0, 3) | st.just(2**62)))
def test_the_order_keeps_equal_codes_as_they_are(codes: list[int]) -> None:
    expected_order = sorted(range(len(codes)), key=codes.__getitem__)
    assert stable_order(np.array(codes, dtype=np.int64)).tolist() == expected_order
