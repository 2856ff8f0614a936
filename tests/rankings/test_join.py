"""The join of a run with labels on every item, in every order, against dictionaries."""

import numpy as np
import pytest

from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import judged, matching_rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking


def pairs(lists: Ranking | LabelLists) -> list[tuple[str, str]]:
    groups, items = lists.group_keys.to_list(), lists.item_keys.to_list()
    return [(groups[group], item) for group, item in zip(group_codes(lists.offsets).tolist(), items, strict=True)]


def random_lists(seed: int, n_groups: int, longest: int) -> tuple[Keys, np.ndarray, Keys, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, n_groups)
    groups = [f"q{number}" for number in rng.permutation(2 * n_groups)[:n_groups]]
    items = [f"document-{number}" for length in lengths for number in rng.permutation(2 * longest)[:length]]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Keys.from_strings(groups), offsets, Keys.from_strings(items), rng.random(len(items))


@pytest.mark.parametrize(("n_groups", "longest"), [(1, 3), (30, 7), (400, 30), (3, 2000)])
def test_every_common_pair_is_found_and_no_other(n_groups: int, longest: int) -> None:
    run, labels = (
        Ranking.from_groups(*random_lists(1, n_groups, longest)),
        LabelLists(*random_lists(2, n_groups, longest)),
    )
    rows, label_rows = matching_rows(run, labels)
    row_of = {pair: row for row, pair in enumerate(pairs(labels))}
    expected = [(row, row_of[pair]) for row, pair in enumerate(pairs(run)) if pair in row_of]
    assert list(zip(rows.tolist(), label_rows.tolist(), strict=True)) == expected


def test_more_rows_than_one_block_has() -> None:
    group_keys, offsets, items, numbers = random_lists(3, 900, 200)
    run = Ranking.from_groups(group_keys, offsets, items, numbers)
    assert run.n_items > 1 << 16
    rows, label_rows = matching_rows(run, LabelLists(group_keys, offsets, items, numbers))
    assert rows.tolist() == list(range(run.n_items))
    assert run.input_places is not None
    np.testing.assert_array_equal(label_rows, run.input_places)


def test_labels_that_stand_in_the_order_of_the_run() -> None:
    run = Ranking.from_groups(*random_lists(4, 50, 20))
    labels = LabelLists(run.group_keys, run.offsets, run.item_keys, run.scores)
    rows, label_rows = matching_rows(run, labels)
    assert rows.tolist() == label_rows.tolist() == list(range(run.n_items))


def test_an_item_of_another_group_is_no_match() -> None:
    keys = Keys.from_strings
    run = Ranking(keys(["q", "r"]), np.array([0, 1, 2]), keys(["a", "b"]), np.ones(2))
    labels = LabelLists(keys(["q", "r"]), np.array([0, 1, 2]), keys(["b", "a"]), np.ones(2))
    assert judged(run, labels).rows.tolist() == []
