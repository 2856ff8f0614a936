"""Lists to JSON text and back, by the fast way and by the slow one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_samples import HOSTILE

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.bulk.sqlite import json_key_lists, json_number_lists, parsed_key_lists, parsed_number_lists

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.sampled_from(HOSTILE)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def offsets_of(lists: list[list[object]]) -> np.ndarray:
    return np.cumsum([0] + [len(one) for one in lists])


@pytest.fixture(params=["slow", "fast"], scope="module", autouse=True)
def arrow(request: pytest.FixtureRequest) -> bool:
    """Every test of this file runs the slow way, then with Arrow, whatever the size."""
    return request.param == "fast"


@given(st.lists(st.lists(IDS, max_size=5), min_size=1, max_size=6))
def test_ids_come_back_as_they_were(arrow: bool, lists: list[list[str]]) -> None:
    keys = Keys.from_strings([key for one in lists for key in one])
    texts = json_key_lists(keys, offsets_of(lists), arrow=arrow)
    assert [json.loads(text) for text in texts] == lists
    parsed, offsets = parsed_key_lists([text.encode() for text in texts])
    assert parsed.to_list() == keys.to_list()
    assert offsets.tolist() == offsets_of(lists).tolist()


@given(st.lists(st.lists(NUMBERS, max_size=5), min_size=1, max_size=6))
def test_numbers_come_back_to_the_bit(arrow: bool, lists: list[list[float]]) -> None:
    numbers = np.array([number for one in lists for number in one], dtype=np.float64)
    texts = json_number_lists(numbers, offsets_of(lists), arrow=arrow)
    assert [json.loads(text) for text in texts] == lists
    parsed = parsed_number_lists([text.encode() for text in texts], arrow=arrow)
    assert parsed.view(np.uint64).tolist() == numbers.view(np.uint64).tolist()


def test_any_double_comes_back_to_the_bit(arrow: bool) -> None:
    numbers = np.random.default_rng(0).integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64)
    edges = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e22, 1e23, 0.1 + 0.2, 9e15]
    decimals = np.round(np.random.default_rng(1).normal(size=50_000), 6)
    numbers = np.concatenate([edges, decimals, numbers[np.isfinite(numbers)]])
    offsets = np.unique(np.concatenate([[0, 3, 4], np.arange(10, numbers.size, 1000), [numbers.size]]))
    texts = json_number_lists(numbers, offsets, arrow=arrow)
    assert len(texts) == offsets.size - 1
    parsed = parsed_number_lists([text.encode() for text in texts], arrow=arrow)
    assert np.array_equal(parsed.view(np.uint64), numbers.view(np.uint64))
    assert [float(one) for text in texts[:60] for one in text[1:-1].split(",")] == numbers[: offsets[60]].tolist()


def test_a_part_of_the_lists(arrow: bool) -> None:
    keys, numbers = Keys.from_strings(["a", "b", 'c"', "d"]), np.array([1.0, 2.0, 3.0, -0.0])
    offsets = np.array([1, 3, 4])
    assert json_key_lists(keys, offsets, arrow=arrow) == ['["b","c\\""]', '["d"]']
    assert [json.loads(text) for text in json_number_lists(numbers, offsets, arrow=arrow)] == [[2.0, 3.0], [-0.0]]


def test_both_ways_write_the_same_ids(arrow: bool) -> None:
    keys = Keys.from_strings(HOSTILE)
    offsets = np.arange(len(HOSTILE) + 1)
    assert json_key_lists(keys, offsets, arrow=arrow) == [
        json.dumps([key], ensure_ascii=False, separators=(",", ":")) for key in HOSTILE
    ]


def test_no_lists_at_all(arrow: bool) -> None:
    keys, offsets = parsed_key_lists([])
    assert (len(keys), offsets.tolist(), parsed_number_lists([], arrow=arrow).tolist()) == (0, [0], [])
