"""Two label sets side by side, checked against a plain count over dicts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankings_of import labels_of
from small_shop import Run

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.questions.labels.decide import Conclusion, GradeChange, LabelsDiff, VersionVerdict, labels_diff

REFS = LabelSetRef(1, "a"), LabelSetRef(2, "b")
OLD: Run = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 1, "d": 2}, "q3": {"e": 1}}
NEW: Run = {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"a": 3, "d": 2}, "q4": {"g": 0}}
GRADES = st.dictionaries(
    st.sampled_from("pqrs"), st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1)
)


def diff(old: Run, new: Run, top: int = 10) -> LabelsDiff:
    return labels_diff("shop", REFS, labels_of(old), labels_of(new), top=top)


def test_what_is_in_both_gone_and_new() -> None:
    found = diff(OLD, NEW)
    assert (found.groups.in_both, found.groups.gone, found.groups.new) == (2, 1, 1)
    assert (found.labels.in_both, found.labels.gone, found.labels.new) == (4, 2, 2)
    assert (found.gone_groups, found.new_groups) == (("q3",), ("q4",))
    assert (found.n_equal, found.agreement) == (2, 0.5)
    assert found.changes == (GradeChange("q2", "a", 1.0, 3.0), GradeChange("q1", "b", 1.0, 2.0))


def test_without_a_common_label_there_is_no_agreement() -> None:
    found = diff({"q1": {"a": 1}}, {"q2": {"a": 1}})
    assert found.agreement is None
    assert [(one.first, one.second, one.n) for one in found.grades] == [(1.0, None, 1), (None, 1.0, 1)]


@pytest.mark.parametrize("top", [0, 1, 2])
def test_only_so_many_changes_are_kept_and_equal_ones_keep_their_order(top: int) -> None:
    old: Run = {"r": {"b": 0, "a": 0}, "q": {"c": 0, "z": 0}}
    new: Run = {"r": {"b": 1, "a": 1}, "q": {"c": 1, "z": 2}}
    changes = diff(old, new, top).changes
    assert [(one.group, one.item) for one in changes] == [("q", "z"), ("r", "b")][:top]


@given(GRADES, GRADES)
def test_grades_are_counted_as_a_loop_over_all_pairs_counts_them(old: Run, new: Run) -> None:
    pairs = {(group, item) for run in (old, new) for group, items in run.items() for item in items}
    wanted = Counter(tuple(run.get(group, {}).get(item) for run in (old, new)) for group, item in pairs)
    found = diff(old, new, top=100)
    assert {(one.first, one.second): one.n for one in found.grades} == dict(wanted)
    changed = {pair: n for pair, n in wanted.items() if None not in pair and pair[0] != pair[1]}
    assert Counter((one.first, one.second) for one in found.changes) == changed
    ordered = [(np.inf if one.first is None else one.first, one.second is None) for one in found.grades]
    assert ordered == sorted(ordered)


def test_a_conclusion_changes_where_one_verdict_differs() -> None:
    one, same, other = (
        VersionVerdict(1, "improved"),
        VersionVerdict(2, "improved", True),
        VersionVerdict(2, "regressed"),
    )
    assert Conclusion.of("dense", "AP", (one, other)).changes
    assert not Conclusion.of("dense", "AP", (one, same)).changes
    equal, unclear = VersionVerdict(1, "identical"), VersionVerdict(2, "no_difference_detected")
    assert not Conclusion.of("dense", "AP", (equal, unclear)).changes
    assert Conclusion.of("dense", "AP", (equal, other)).changes
