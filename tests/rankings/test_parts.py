"""Content in parts: digests that add up, groups picked out, ids looked up again and again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rankings_of import labels_of

from ndcg_tracker.rankings.keys import KeyIndex, Keys, joined_digest
from ndcg_tracker.rankings.ranking import LabelLists

LABELINGS = st.dictionaries(
    st.text("abcé", min_size=1, max_size=9),
    st.dictionaries(st.text("xyz", min_size=1, max_size=3), st.sampled_from([0.0, 1.0, 2.5]), min_size=1, max_size=5),
    min_size=1,
    max_size=9,
)


def as_dict(labels: LabelLists) -> dict[str, dict[str, float]]:
    bounds = labels.offsets.tolist()
    items, grades = labels.item_keys.to_list(), labels.grades.tolist()
    return {
        group: dict(zip(items[first:last], grades[first:last], strict=True))
        for group, first, last in zip(labels.group_keys.to_list(), bounds[:-1], bounds[1:], strict=True)
    }


@given(labels=LABELINGS, data=st.data())
def test_the_digests_of_parts_add_up(labels: dict[str, dict[str, float]], data: st.DataObject) -> None:
    whole = labels_of(labels)
    part = data.draw(st.lists(st.sampled_from(range(whole.n_groups)), unique=True))
    others = [number for number in range(whole.n_groups) if number not in part]
    digests = [whole.of_groups(np.array(places, dtype=np.int64)).digest() for places in (part, others)]
    assert joined_digest(digests) == whole.digest()
    assert joined_digest([whole.digest()], without=digests[:1]) == digests[1]


@given(labels=LABELINGS, data=st.data())
def test_groups_picked_out_keep_their_labels(labels: dict[str, dict[str, float]], data: st.DataObject) -> None:
    whole = labels_of(labels)
    places = data.draw(st.lists(st.sampled_from(range(whole.n_groups)), unique=True))
    found = as_dict(whole.of_groups(np.array(places, dtype=np.int64)))
    names = list(labels)
    assert found == {names[place]: labels[names[place]] for place in places}
    assert list(found) == [names[place] for place in places]


@given(keys=st.lists(st.text(max_size=12), unique=True), wanted=st.lists(st.text(max_size=12)))
def test_places_of_ids(keys: list[str], wanted: list[str]) -> None:
    index = KeyIndex(Keys.from_strings(keys))
    found = index.places(Keys.from_strings([*wanted, *keys])).tolist()
    assert found == [keys.index(key) if key in keys else -1 for key in [*wanted, *keys]]
