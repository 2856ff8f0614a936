"""Runs of equal scores against itertools.groupby."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.metrics.kernel.ties import spans_around, spans_with_differing

groups_of_items = st.lists(st.lists(st.tuples(st.sampled_from([2.0, 1.0, 0.5]), st.integers(0, 1)), max_size=6))


def columns(groups: list[list[tuple[float, int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ordered = [sorted(group, key=lambda item: -item[0]) for group in groups]
    items = list(itertools.chain(*ordered))
    offsets = np.cumsum([0, *map(len, ordered)])
    return np.array([score for score, _ in items]), offsets, np.array([label for _, label in items], dtype=np.uint8)


def runs(scores: np.ndarray, offsets: np.ndarray) -> list[range]:
    found = []
    for low, high in itertools.pairwise(offsets.tolist()):
        for _, run in itertools.groupby(range(low, high), lambda place: scores[place]):
            places = list(run)
            found.append(range(places[0], places[-1] + 1))
    return found


@given(groups_of_items)
def test_runs_that_hold_more_than_one_class(groups: list[list[tuple[float, int]]]) -> None:
    scores, offsets, classes = columns(groups)
    found = spans_with_differing(scores, offsets, classes)
    expected = [run for run in runs(scores, offsets) if len({int(classes[place]) for place in run}) > 1]
    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == [(run[0], run[-1]) for run in expected]
    assert found.members().tolist() == list(itertools.chain(*expected))


def test_runs_in_more_than_one_block() -> None:
    rng = np.random.default_rng(1)
    groups = [
        list(zip(rng.integers(0, 90, 150) / 2, rng.integers(0, 2, 150).tolist(), strict=True)) for _ in range(900)
    ]
    scores, offsets, classes = columns(groups)
    found = spans_with_differing(scores, offsets, classes)
    expected = [run for run in runs(scores, offsets) if len({int(classes[place]) for place in run}) > 1]
    assert found.first.tolist() == [run[0] for run in expected]
    assert sum(part.first.size for part in found.parts()) == len(expected)


@given(groups_of_items)
def test_spans_around_labelled_places(groups: list[list[tuple[float, int]]]) -> None:
    scores, offsets, classes = columns(groups)
    places = np.flatnonzero(classes)
    tied, first, last = spans_around(scores, offsets, places)
    run_of = {place: run for run in runs(scores, offsets) for place in run}
    expected = [place for place in places.tolist() if len(run_of[place]) > 1]
    assert places[tied].tolist() == expected
    assert [range(*ends) for ends in zip(first.tolist(), (last + 1).tolist(), strict=True)] == [
        run_of[place] for place in expected
    ]
