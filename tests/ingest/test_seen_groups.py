from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.ingest.group_blocks import SeenGroups
from ndcg_tracker.rankings import Hash
from ndcg_tracker.rankings.keys import Keys


def few_hashes(keys: Keys) -> Hash:
    """Return hashes that collide all the time."""
    return keys.hashes() % np.uint64(3)


blocks = st.lists(st.lists(st.text("abc", max_size=3), max_size=6), max_size=9)


@given(blocks, st.sampled_from([Keys.hashes, few_hashes]))
def test_the_first_id_that_comes_again_is_found_whatever_the_hashes(
    keys: list[list[str]], hash_of: Callable[[Keys], Hash]
) -> None:
    seen = SeenGroups(hash_of)
    known: set[str] = set()
    for block in keys:
        repeats = [place for place, key in enumerate(block) if key in known or key in block[:place]]
        assert seen.first_repeat(Keys.from_strings(block)) == (repeats[0] if repeats else -1)
        fresh = sorted(set(block) - known)
        seen.add(Keys.from_strings(fresh))
        known |= set(fresh)


@pytest.mark.nightly
def test_a_million_groups_take_little_memory() -> None:
    seen = SeenGroups()
    for first in range(0, 1_000_000, 10_000):
        keys = Keys.from_numbers(np.arange(first, first + 10_000))
        assert seen.first_repeat(keys) == -1
        seen.add(keys)
    assert seen.first_repeat(Keys.from_strings(["1000000", "999999"])) == 1
    assert seen.first_repeat(Keys.from_strings(["0", "1000000"])) == 0
    assert seen.n_bytes < 24_000_000
