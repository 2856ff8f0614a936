"""A run in any order: what it becomes when it is put in order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.join import judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking, UnsortedRanking, run_of_groups

groups = st.lists(
    st.dictionaries(st.text("ab", max_size=3), st.sampled_from([0.0, -0.0, 1.0, 2.5])), max_size=4
)  # fmt: skip


def columns(lists: list[dict[str, float]]) -> tuple[Keys, np.ndarray, Keys, np.ndarray]:
    return (
        Keys.from_strings([f"q{number}" for number in range(len(lists))]),
        np.cumsum([0, *map(len, lists)]),
        Keys.from_strings([item for items in lists for item in items]),
        np.array([score for items in lists for score in items.values()], dtype=np.float64),
    )


@given(groups, st.booleans())
def test_it_is_put_in_order_as_a_ranking_is_made(lists: list[dict[str, float]], hashed: bool) -> None:
    run, expected = UnsortedRanking(*columns(lists)), Ranking.from_groups(*columns(lists))
    if hashed:
        assert run.pair_hashes.size == run.n_items
    assert run.in_order.item_keys.to_list() == expected.item_keys.to_list()
    assert run.in_order.scores.tobytes() == expected.scores.tobytes()
    assert run.in_order.pair_hashes.tolist() == expected.pair_hashes.tolist()
    assert run.digest() == run.in_order.digest() == expected.digest()


@given(groups)
def test_rows_in_order_are_a_ranking_at_once(lists: list[dict[str, float]]) -> None:
    run = run_of_groups(*columns(lists))
    in_order = all(list(items.values()) == sorted(items.values(), reverse=True) for items in lists)
    assert isinstance(run, Ranking) == in_order


@given(groups, groups)
def test_the_join_can_be_put_in_order(lists: list[dict[str, float]], labelled: list[dict[str, float]]) -> None:
    run, labels = UnsortedRanking(*columns(lists)), LabelLists(*columns(labelled))
    found, expected = judged(run, labels).in_order, judged(run.in_order, labels)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.label_rows.tolist() == expected.label_rows.tolist()
    assert found.group_keys.to_list() == expected.group_keys.to_list()
