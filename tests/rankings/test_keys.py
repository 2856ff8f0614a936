"""Columns of ids against plain Python strings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.keys import Keys, decimal_texts

ids = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
    | st.sampled_from(["", "a", "aaaaaaaa", "aaaaaaaab", "12345678", "123456789012345678"]),
    max_size=30,
)


@given(ids)
def test_ids_come_back(strings: list[str]) -> None:
    keys = Keys.from_strings(strings)
    assert keys.to_list() == strings
    assert [keys[row] for row in range(len(keys))] == strings
    assert keys.lengths.tolist() == [len(string.encode()) for string in strings]


@given(ids, st.data())
def test_take_and_slice(strings: list[str], data: st.DataObject) -> None:
    keys = Keys.from_strings(strings)
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    taken = keys.take(np.array(rows, dtype=np.int64))
    assert taken.to_list() == [strings[row] for row in rows]
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(strings)), st.integers(0, len(strings)))))
    part = keys.slice(start, stop)
    assert part.to_list() == strings[start:stop]
    np.testing.assert_array_equal(part.hashes(), keys.hashes()[start:stop])
    assert part.byte_ranks().tolist() == Keys.from_strings(strings[start:stop]).byte_ranks().tolist()


@given(ids)
def test_equal_ids_hash_equally_and_others_do_not(strings: list[str]) -> None:
    hashes = Keys.from_strings(strings).hashes().tolist()
    assert len(set(hashes)) == len(set(strings))
    for string, number in zip(strings, hashes, strict=True):
        assert Keys.from_strings([string]).hashes().tolist() == [number]
    assert not set(hashes) & set(Keys.from_strings(strings).hashes(1).tolist())


def test_hashes_are_the_same_on_every_machine_and_in_every_version() -> None:
    assert Keys.from_strings(["", "a", "MARCO_D12345"]).hashes().tolist() == HASHES


HASHES = [17665956581633026203, 4828445820716346004, 15448191662167592142]


def test_hashes_of_many_ids_do_not_collide() -> None:
    hashes = Keys.from_numbers(np.arange(300_000)).hashes()
    assert np.unique(hashes).size == hashes.size


@given(ids, ids)
def test_equal(some: list[str], others: list[str]) -> None:
    pairs = [(i, j) for i in range(len(some)) for j in range(len(others))]
    rows = np.array([i for i, _ in pairs], dtype=np.int64)
    other_rows = np.array([j for _, j in pairs], dtype=np.int64)
    same = Keys.from_strings(some).equal(rows, Keys.from_strings(others), other_rows)
    assert same.tolist() == [some[i] == others[j] for i, j in pairs]


@given(ids)
def test_byte_ranks(strings: list[str]) -> None:
    encoded = [string.encode() for string in strings]
    place_of = {key: place for place, key in enumerate(sorted(set(encoded)))}
    assert Keys.from_strings(strings).byte_ranks().tolist() == [place_of[key] for key in encoded]


@given(st.lists(st.text("aé", max_size=30), min_size=1), st.data())
def test_take_copies_ids_of_any_length_in_any_order(strings: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(strings) - 1)))
    found = Keys.from_strings(strings).take(np.array(rows, dtype=np.int64))
    assert found.to_list() == [strings[row] for row in rows]
    assert found.data.size == sum(len(strings[row].encode()) for row in rows)


def test_take_of_more_ids_than_a_block_has() -> None:
    strings = [str(number) * (number % 4) for number in range(70_000)]
    rows = np.random.default_rng(1).permutation(len(strings))
    assert Keys.from_strings(strings).take(rows).to_list() == [strings[row] for row in rows.tolist()]


def test_columns_that_differ_late_are_not_the_same() -> None:
    keys = Keys.from_numbers(np.arange(70_000))
    other = np.arange(70_000)
    assert keys.is_same(Keys.from_numbers(other))
    other[-1] = 12_345
    assert not keys.is_same(Keys.from_numbers(other))


whole_numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20), max_size=30)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Keys, list[str]]:
    """Draw a column in one of its forms, and its ids."""
    form = draw(st.sampled_from(["text", "numbers", "dictionary", "words"]))
    if form == "numbers":
        numbers = draw(whole_numbers)
        return Keys.from_numbers(np.array(numbers, dtype=np.int64)), [str(number) for number in numbers]
    strings = draw(ids)
    keys = Keys.from_strings(strings)
    if form == "dictionary":
        distinct = sorted(set(strings))
        codes = np.array([distinct.index(string) for string in strings], dtype=np.int32)
        return Keys.from_numbers(codes, Keys.from_strings(distinct)), strings
    if form == "words" and keys.single_words() is not None:
        return keys.take(np.arange(len(keys))), strings
    return keys, strings


@given(columns(), st.data())
def test_every_form_of_a_column_is_its_text(column: tuple[Keys, list[str]], data: st.DataObject) -> None:
    keys, strings = column
    text = Keys.from_strings(strings)
    rows = np.array(data.draw(st.lists(st.integers(0, len(strings) - 1)) if strings else st.just([])), dtype=np.int64)
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(strings)), st.integers(0, len(strings)))))
    assert len(keys) == len(strings)
    assert keys.take(rows).to_list() == [strings[row] for row in rows]
    assert keys.slice(start, stop).to_list() == strings[start:stop]
    assert keys.slice(start, stop).take(np.arange(stop - start)).to_list() == strings[start:stop]
    assert [keys.bytes_at(row) for row in range(len(keys))] == [string.encode() for string in strings]
    assert keys.to_list() == strings
    assert keys.hashes().tolist() == text.hashes().tolist()
    assert keys.byte_ranks().tolist() == text.byte_ranks().tolist()
    assert keys.is_same(text)
    assert text.is_same(keys)
    assert bytes(keys.data[keys.offsets[0] : keys.offsets[-1]]) == "".join(strings).encode()


@given(columns(), columns())
def test_columns_of_any_form_meet_on_their_text(one: tuple[Keys, list[str]], other: tuple[Keys, list[str]]) -> None:
    (keys, strings), (others, other_strings) = one, other
    pairs = [(i, j) for i in range(len(strings)) for j in range(len(other_strings))]
    rows, other_rows = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    same = [strings[i] == other_strings[j] for i, j in pairs]
    assert keys.equal(rows, others, other_rows).tolist() == same
    hashes, other_hashes, _ = keys.join_hashes(others)
    assert (hashes[rows] == other_hashes[other_rows]).tolist() == same
    assert keys.is_same(others) == (strings == other_strings)
    assert Keys.joined([keys, others]).to_list() == strings + other_strings


@given(whole_numbers, st.sampled_from([1, 100]))
def test_decimal_texts(numbers: list[int], times: int) -> None:
    assert decimal_texts(np.array(numbers * times, dtype=np.int64)).to_list() == [str(one) for one in numbers * times]
