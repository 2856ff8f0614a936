"""The columnar ranking: what it promises of order, duplicates and digest."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rankings_of import joined, labels_of, ranking_of

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking

Rows = list[tuple[str, str, float]]

rows = st.lists(
    st.tuples(st.sampled_from(["q", "r", "s"]), st.text("ab", max_size=3), st.floats(-5, 5)),
    unique_by=lambda row: row[:2],
)


def columns(table: Rows) -> tuple[Keys, Keys, np.ndarray]:
    return (
        Keys.from_strings([row[0] for row in table]),
        Keys.from_strings([row[1] for row in table]),
        np.array([row[2] for row in table], dtype=np.float64),
    )


@given(rows)
def test_items_stand_best_first_and_ties_as_they_came(table: Rows) -> None:
    ranking = Ranking.from_rows(*columns(table))
    for group, name in enumerate(ranking.group_keys.to_list()):
        start, stop = ranking.offsets[group : group + 2]
        seen = list(zip(ranking.item_keys.slice(start, stop).to_list(), ranking.scores[start:stop], strict=True))
        assert seen == sorted([row[1:] for row in table if row[0] == name], key=lambda row: -row[1])


@given(rows, st.randoms(use_true_random=False))
def test_the_digest_depends_on_the_content_alone(table: Rows, random) -> None:
    digest = Ranking.from_rows(*columns(table)).digest()
    assert digest == Ranking.from_rows(*columns(random.sample(table, len(table)))).digest()
    assert digest == LabelLists.from_rows(*columns(table)).digest()
    for place, (group, item, score) in enumerate(table):
        for changed in ((group + "x", item, score), (group, item + "x", score), (group, item, score + 1)):
            other = [*table[:place], changed, *table[place + 1 :]]
            assert Ranking.from_rows(*columns(other)).digest() != digest
        assert Ranking.from_rows(*columns(table[:place] + table[place + 1 :])).digest() != digest


def test_the_digest_tells_group_and_item_apart_and_knows_one_zero() -> None:
    assert ranking_of({"a": {"b": 1.0}}).digest() != ranking_of({"b": {"a": 1.0}}).digest()
    assert ranking_of({"ab": {"c": 1.0}}).digest() != ranking_of({"a": {"bc": 1.0}}).digest()
    assert ranking_of({"a": {"b": 0.0}}).digest() == ranking_of({"a": {"b": -0.0}}).digest()


def test_the_digest_is_the_same_on_every_machine_and_in_every_version() -> None:
    assert ranking_of({"q1": {"a": 0.5, "b": 0.25}, "q2": {"c": 1e300}}).digest() == DIGEST


DIGEST = "9465a90345a31d0aba2670c48e7f74fe"


@given(st.lists(st.tuples(st.sampled_from(["q", "r"]), st.text("ab", max_size=2))))
def test_duplicates_are_found(pairs: list[tuple[str, str]]) -> None:
    ranking = Ranking.from_rows(*columns([(*pair, 1.0) for pair in pairs]))
    assert ranking.has_duplicates() == (len(set(pairs)) < len(pairs))


def test_items_without_id_are_numbered_within_their_group() -> None:
    ranking = Ranking.from_rows(Keys.from_strings(["q", "r", "q"]), None, np.array([1.0, 2.0, 3.0]))
    assert ranking.item_keys.to_list() == ["2", "1", "1"]
    labels = LabelLists.from_rows(Keys.from_strings(["q", "r", "q"]), None, np.array([1.0, 2.0, 3.0]))
    assert labels.item_keys.to_list() == ["1", "2", "1"]


@given(
    st.dictionaries(st.sampled_from("qrs"), st.dictionaries(st.sampled_from("abcd"), st.floats(-2, 2), min_size=1)),
    st.dictionaries(st.sampled_from("qrt"), st.dictionaries(st.sampled_from("bcde"), st.floats(0, 2), min_size=1)),
)
def test_the_join(run: dict[str, dict[str, float]], labels: dict[str, dict[str, float]]) -> None:
    both = joined(run, labels)
    ranking, lists = both.ranking, both.labels
    seen = {
        (
            ranking.group_keys[int(np.searchsorted(ranking.offsets, row, "right")) - 1],
            ranking.item_keys[row],
            lists.grades[label_row],
        )
        for row, label_row in zip(both.rows.tolist(), both.label_rows.tolist(), strict=True)
    }
    assert seen == {(g, i, labels[g][i]) for g in run.keys() & labels.keys() for i in run[g].keys() & labels[g].keys()}
    assert both.group_keys.to_list() == [*labels, *(group for group in run if group not in labels)]
    for place, group in enumerate(both.group_keys.to_list()):
        run_group, label_group = both.run_groups[place], both.label_groups[place]
        assert (ranking.group_keys[run_group] if run_group >= 0 else None) == (group if group in run else None)
        assert (lists.group_keys[label_group] if label_group >= 0 else None) == (group if group in labels else None)


def test_a_few_labels_of_a_large_run_are_found() -> None:
    run = {f"q{g}": {f"d{i}": float(-i) for i in range(300)} for g in range(40)}
    labels = {f"q{g}": {f"d{g}": 1.0, "never": 1.0} for g in range(0, 40, 3)}
    both = joined(run, labels)
    assert [both.ranking.item_keys[row] for row in both.rows] == [f"d{g}" for g in range(0, 40, 3)]
    assert labels_of(labels).n_items == 28
