"""A frame has the same values whatever the order of its rows, and need not be sorted for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_cases import lists_of_all_kinds

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_frame
from ndcg_tracker.rankings.ranking import Ranking, UnsortedRanking

METRICS = ["ndcg@10", "ndcg", "ndcg(ties=pessimistic)@5", "ndcg(score_type=f32, unjudged=drop)@10", "AP", "RR@10"]

Frame = dict[str, Any]


def frame_of(seed: int) -> Frame:
    """Return a frame, sorted by its scores within each group; rows without label have NaN."""
    run, labels = lists_of_all_kinds(seed, 90)
    rows = [
        (group, item, score, labels.get(group, {}).get(item, np.nan))
        for group, items in run.items()
        for item, score in sorted(items.items(), key=lambda one: -one[1])
    ]
    groups, items, scores, grades = zip(*rows, strict=True)
    return {"group": list(groups), "item": list(items), "score": np.array(scores), "label": np.array(grades)}


def arranged(frame: Frame, order: np.ndarray) -> Frame:
    """Return the rows of a frame in another order."""
    return {
        name: column[order] if isinstance(column, np.ndarray) else [column[row] for row in order]
        for name, column in frame.items()
    }


def within_groups(frame: Frame, seed: int) -> np.ndarray:
    """Return an order in which the groups stay and their rows do not."""
    number_of = {group: number for number, group in enumerate(dict.fromkeys(frame["group"]))}
    numbers = [number_of[group] for group in frame["group"]]
    return np.lexsort((np.random.default_rng(seed).random(len(numbers)), numbers))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_the_rows_is_no_matter(seed: int) -> None:
    frame = frame_of(seed)
    expected = nt.evaluate(frame, METRICS)
    shuffled = np.random.default_rng(seed).permutation(len(frame["group"]))
    for order in (within_groups(frame, seed), shuffled):
        found = nt.evaluate(arranged(frame, order), METRICS)
        assert found.mean.to_dict() == expected.mean.to_dict()
        values = found.per_group.loc[expected.per_group.index]
        np.testing.assert_array_equal(values.to_numpy(), expected.per_group.to_numpy())


def test_labels_of_a_second_frame() -> None:
    frame = frame_of(3)
    judged = np.flatnonzero(~np.isnan(frame["label"]))
    labels = arranged({name: frame[name] for name in ("group", "item", "label")}, judged)
    run = {name: frame[name] for name in ("group", "item", "score")}
    expected = nt.evaluate(run, METRICS, labels=labels)
    found = nt.evaluate(arranged(run, within_groups(run, 3)), METRICS, labels=labels)
    assert found.per_group.equals(expected.per_group)


def test_a_frame_is_sorted_when_it_is_asked_for_a_ranking() -> None:
    frame = frame_of(4)
    in_order, table = read_frame(frame), read_frame(arranged(frame, within_groups(frame, 4)))
    assert isinstance(in_order.run, Ranking)
    assert in_order.ranking is in_order.run
    assert isinstance(table.run, UnsortedRanking)
    assert table.ranking is table.ranking
    assert table.ranking.scores.tolist() == in_order.ranking.scores.tolist()
    assert table.ranking.digest() == in_order.ranking.digest()
