"""Partners by hash against dictionaries, with hashes that are hard to tell apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.join import hash_partners

HARD = [0, 1, 2, 3, 2**63, 2**63 + 1, 2**64 - 1, 2**32, 5 * 2**60]
sides = st.lists(
    st.tuples(st.lists(st.sampled_from(HARD), max_size=6), st.lists(st.sampled_from(HARD), max_size=6, unique=True))
)


@given(sides)
def test_partners_have_the_same_hash_in_the_same_group(groups: list[tuple[list[int], list[int]]]) -> None:
    ours, theirs = [own for own, _ in groups], [other for _, other in groups]
    found = hash_partners(
        np.array([number for own in ours for number in own], dtype=np.uint64),
        np.array(list(map(len, ours)), dtype=np.int64),
        np.array([number for other in theirs for number in other], dtype=np.uint64),
        np.array(list(map(len, theirs)), dtype=np.int64),
    )
    expected, first = [], 0
    for own, other in groups:
        place_of = {number: first + place for place, number in enumerate(other)}
        expected += [place_of.get(number, -1) for number in own]
        first += len(other)
    assert found.tolist() == expected
