"""What a table's scores look like: positions that are taken for scores are told, whatever their order."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.reading import read_run
from ndcg_tracker.ingest.table import scores_like_ranks
from ndcg_tracker.rankings.keys import Keys

SCORES = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0]), min_size=1, max_size=6))


def is_told(*groups: list[float]) -> bool:
    keys = Keys.from_strings([f"q{n}" for n in range(len(groups))])
    offsets = np.cumsum([0, *map(len, groups)])
    return scores_like_ranks(keys, offsets, np.concatenate([*groups, []]).astype(float)) is not None


def is_told_simply(*groups: list[float]) -> bool:
    """The rule of the docstring, group by group."""
    every = [score for group in groups for score in group]
    if max(map(len, groups), default=0) < 5 or any(score < 0 or score % 1 for score in every):
        return False
    if all(one < other for group in groups for one, other in itertools.pairwise(group)):
        return True
    places = all(sorted(group) in (list(range(len(group))), list(range(1, len(group) + 1))) for group in groups)
    return places and any(one < other for group in groups for one, other in itertools.pairwise(group))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[1, 2, 3, 4, 5]], True),
        ([[0, 1, 2, 3, 4], [0, 1]], True),
        ([[3, 7, 8, 12, 40], [2]], True),
        ([[3, 1, 5, 2, 4], [2, 1]], True),
        ([[3, 1, 0, 2, 4], [1]], True),
        ([[5, 4, 3, 2, 1], [2, 1]], False),
        ([[5, 4, 3, 2, 1], [1, 2]], True),
        ([[1, 2, 3, 4]], False),
        ([[1, 2, 2, 3, 4]], False),
        ([[4, 3, 7, 12, 40]], False),
        ([[1, 2, 3, 4, 5.5]], False),
        ([[-1, 0, 1, 2, 3]], False),
    ],
)
def test_positions_are_known_in_any_order(groups: list[list[float]], expected: bool) -> None:
    assert is_told(*groups) is expected
    assert is_told_simply(*groups) is expected


@given(SCORES)
def test_the_rule_is_that_of_the_docstring(groups: list[list[float]]) -> None:
    assert is_told(*groups) == is_told_simply(*groups)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5), st.sampled_from([0, 1]), st.randoms(use_true_random=False))
def test_shuffled_positions(lengths: list[int], first: int, chance: random.Random) -> None:
    groups = [chance.sample([float(place) for place in range(first, first + n)], n) for n in lengths]
    assert is_told(*groups) == is_told_simply(*groups)


def test_a_json_row_without_the_score_may_come_first(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"group": "q", "item": "a"}\n{"group": "q", "item": "b", "shown": 2}\n', encoding="utf-8")
    assert read_run(str(path), columns=Columns(score="-shown")).ranking.scores.tolist() == [-2.0]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_minus_before_the_score_column_reverses_every_file(tmp_path: Path, kind: str) -> None:
    rows = [{"group": "q", "item": item, "shown": place} for item, place in zip("abc", [2, 1, 3], strict=True)]
    path, frame = tmp_path / f"run.{kind}", pd.DataFrame(rows)
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    assert read_run(str(path), columns=Columns(score="-shown")).ranking.item_keys.to_list() == ["b", "a", "c"]
    assert read_run(str(path), columns=Columns(score="shown")).ranking.item_keys.to_list() == ["c", "a", "b"]
