"""Pairing: every group is paired, in one run only, or undefined, and never two of these."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.compare.options import Missing
from ndcg_tracker.compare.pair import pair
from ndcg_tracker.errors import InputError

GROUP_RESULTS = st.dictionaries(
    st.integers(0, 20), st.one_of(st.just(math.nan), st.floats(0, 1, width=16)), max_size=15
)


def columns(results: dict[int, float]) -> tuple[np.ndarray, np.ndarray]:
    ids = sorted(results)
    return np.array(ids, dtype=np.int64), np.array([results[key] for key in ids], dtype=np.float64)


def defined(results: dict[int, float]) -> dict[int, float]:
    return {key: value for key, value in results.items() if not math.isnan(value)}


@settings(deadline=None)
@given(GROUP_RESULTS, GROUP_RESULTS, st.sampled_from(["zero", "intersect"]), st.sampled_from([1, 10**12]))
def test_pairing_equals_dictionaries(
    baseline: dict[int, float], candidate: dict[int, float], missing: Missing, distance: int
) -> None:
    baseline, candidate = ({distance * key: value for key, value in run.items()} for run in (baseline, candidate))
    pairing = pair(*columns(baseline), *columns(candidate), missing=missing)
    left, right = defined(baseline), defined(candidate)
    expected = sorted(left.keys() | right.keys() if missing == "zero" else left.keys() & right.keys())
    assert pairing.group_ids.tolist() == expected
    assert pairing.baseline.tolist() == [left.get(key, 0.0) for key in expected]
    assert pairing.candidate.tolist() == [right.get(key, 0.0) for key in expected]
    assert pairing.only_in_baseline.tolist() == sorted(left.keys() - right.keys())
    assert pairing.only_in_candidate.tolist() == sorted(right.keys() - left.keys())
    assert pairing.undefined == len((baseline.keys() | candidate.keys()) - (left.keys() | right.keys()))
    assert pairing.missing == missing


@settings(deadline=None)
@given(GROUP_RESULTS, GROUP_RESULTS)
def test_error_refuses_exactly_when_a_group_is_alone(baseline: dict[int, float], candidate: dict[int, float]) -> None:
    alone = defined(baseline).keys() ^ defined(candidate).keys()
    if alone:
        with pytest.raises(InputError, match="a result in one run only"):
            pair(*columns(baseline), *columns(candidate))
    else:
        assert pair(*columns(baseline), *columns(candidate)).group_ids.tolist() == sorted(defined(baseline))


def test_refusal_names_the_counts_and_the_choices() -> None:
    with pytest.raises(InputError) as refusal:
        pair(*columns({1: 0.5, 2: 0.5, 3: 0.5}), *columns({1: 0.5, 9: 0.5}), metric="ndcg(missing=skip)@10")
    assert str(refusal.value) == (
        "ndcg(missing=skip)@10: 3 groups have a result in one run only (2 in the baseline, 1 in the candidate): "
        "choose missing='zero' (count 0 there) or missing='intersect' (leave them out)"
    )
    with pytest.raises(InputError, match=r"^1 group has a result in one run only \(0 in the baseline, 1 in the "):
        pair(*columns({}), *columns({9: 0.5}))


@pytest.mark.parametrize(
    ("ids", "values", "message"),
    [
        ([2, 1], [0.5, 0.5], "baseline: the group ids must be strictly ascending"),
        ([1, 1], [0.5, 0.5], "baseline: the group ids must be strictly ascending"),
        ([1, 2], [0.5], "baseline: ids and values must be two arrays of one length, not (2,) and (1,)"),
        ([1], [math.inf], "baseline: a group result must not be infinite"),
    ],
)
def test_arrays_of_the_wrong_kind(ids: list[int], values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match="baseline") as refusal:
        pair(np.array(ids), np.array(values), *columns({1: 0.5}))
    assert str(refusal.value) == message


def test_unknown_policy() -> None:
    with pytest.raises(InputError, match="unknown missing policy 'drop': choose error, zero, intersect or skip"):
        pair(*columns({1: 0.5}), *columns({1: 0.5}), missing="drop")


@settings(deadline=None)
@given(GROUP_RESULTS, GROUP_RESULTS, st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_groups_that_runs_lack_are_left_out_though_both_have_a_result(
    baseline: dict[int, float], candidate: dict[int, float], has: set[int], other_has: set[int]
) -> None:
    of_runs = [np.array(sorted(groups), dtype=np.int64) for groups in (has, other_has)]
    both = defined(baseline).keys() & defined(candidate).keys()
    in_neither = both - has - other_has
    groups = {"intersect": both & has & other_has | in_neither, "skip": both & has & other_has}
    for missing, expected in groups.items():
        paired = pair(*columns(baseline), *columns(candidate), missing=missing, groups_of_runs=of_runs)
        assert paired.group_ids.tolist() == sorted(expected)
        assert paired.baseline.tolist() == [baseline[key] for key in sorted(expected)]
        assert paired.candidate.tolist() == [candidate[key] for key in sorted(expected)]
        assert paired.in_neither.tolist() == sorted(in_neither)
    counted = pair(*columns(baseline), *columns(candidate), missing="zero", groups_of_runs=of_runs)
    assert counted.group_ids.tolist() == sorted(defined(baseline).keys() | defined(candidate).keys())
