"""The positions of ids that become more, asked for in any order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.keys import KeyPlaces, Keys

_IDS = st.text("abü", max_size=4)


@given(st.lists(st.lists(_IDS, max_size=5), min_size=1, max_size=6), st.lists(st.lists(_IDS, max_size=6), max_size=6))
def test_places_are_those_of_a_dictionary(parts: list[list[str]], questions: list[list[str]]) -> None:
    known: dict[str, int] = {}
    places = KeyPlaces(Keys.from_strings([]))
    asked = iter(questions)
    for part in parts:
        new = [key for key in dict.fromkeys(part) if key not in known]
        known |= {key: len(known) + place for place, key in enumerate(new)}
        places.add(Keys.from_strings(new))
        for wanted in (next(asked, []), part, list(known)):
            assert places.of(Keys.from_strings(wanted)).tolist() == [known.get(key, -1) for key in wanted]


def test_neighbours_in_their_order_need_no_index() -> None:
    keys = Keys.from_strings([f"q{number}" for number in range(100)])
    places = KeyPlaces(keys)
    found = [places.of(keys.slice(first, first + 10)) for first in range(0, 100, 10)]
    assert np.concatenate(found).tolist() == list(range(100))
    assert places.of(keys.slice(0, 10)).tolist() == list(range(10))
    assert not places._indexed
