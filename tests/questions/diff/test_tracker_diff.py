"""The lists of two stored runs, without labels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, NotComparableError
from ndcg_tracker.questions.diff import gather as of_lists

LABELS = {"q1": {"a": 1}}
OLD = {
    "q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0, "b": 1.0, "c": 0.5}, "q3": {"a": 1.0}, "q4": {"x": 1.0},
    "q5": {str(item): float(-item) for item in range(30)},
}  # fmt: skip
NEW = {
    "q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"b": 9.0, "a": 8.0, "c": 0.1}, "q3": {"z": 1.0}, "q6": {"x": 1.0},
    "q5": {**{str(item): float(-item) for item in range(28)}, "29": -28.0, "28": -29.0},
}  # fmt: skip


@pytest.fixture
def tracker(postgres_schema: None, database_url: str) -> Iterator[nt.Tracker]:
    """Two runs of a shop."""
    with nt.Tracker(database_url) as opened:
        for name, run in (("old", OLD), ("new", NEW)):
            opened.ingest(run, labels=LABELS, name=name, dataset="shop")
        yield opened


@pytest.mark.parametrize("at_once", [1, 1000])
def test_every_number(tracker: nt.Tracker, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_lists, "BLOCK_ITEMS", at_once)
    found = tracker.diff("old", "new", cutoff=2).to_dict()
    most = {one["group"]: one for one in found.pop("most_changed")}
    assert list(most) == ["q3", "q1", "q5"]
    assert most["q3"] == {"group": "q3", "overlap": 0.0, "rbo": 0.0, "tau": None, "n_shared": 0, "first_change": 1}
    assert (most["q1"]["overlap"], most["q1"]["first_change"]) == (0.5, 2)
    assert most["q1"]["tau"] == pytest.approx(1 / 3)
    assert (most["q5"]["overlap"], most["q5"]["first_change"], most["q5"]["n_shared"]) == (1.0, 29, 30)
    assert (found["n"], found["only_in_a"], found["only_in_b"], found["depth"]) == (4, 1, 1, 2)
    assert (found["same_lists"], found["same_top"]) == (0.25, 0.5)
    assert found["overlap"] == pytest.approx((0.5 + 1 + 0 + 1) / 4)
    assert found["tau"] == pytest.approx((1 / 3 + 1 + most["q5"]["tau"]) / 3)


def test_tied_items_stand_by_their_ids_and_not_as_they_came(tracker: nt.Tracker) -> None:
    tracker.ingest({"q1": {"b": 1.0, "a": 1.0, "c": 0.5}}, name="other order", dataset="shop")
    tracker.ingest({"q1": {"a": 1.0, "b": 1.0, "c": 0.5}}, name="one order", dataset="shop")
    found = tracker.diff("one order", "other order").diff
    assert (found.same_lists, found.differs, found.most_changed) == (1.0, False, ())


def test_lists_that_were_cut_are_named_though_their_rbo_is_1(tracker: nt.Tracker) -> None:
    whole = {f"q{group}": {str(item): -float(item) for item in range(20)} for group in range(30)}
    cut = {name: dict(list(items.items())[:15]) if name in ("q7", "q21") else items for name, items in whole.items()}
    tracker.ingest(whole, name="whole", dataset="shop", metrics="P@1")
    tracker.ingest(cut, name="cut", dataset="shop", metrics="P@1")
    found = tracker.diff("whole", "cut").diff
    assert {one.group for one in found.most_changed} == {"q7", "q21"}
    assert [(one.rbo, one.first_change) for one in found.most_changed] == [(pytest.approx(1.0), 16)] * 2


def test_no_group_in_common(tracker: nt.Tracker) -> None:
    tracker.ingest({"q9": {"b": 1.0}}, name="apart", dataset="shop", metrics="P@1", allow="no-overlap")
    found = tracker.diff("old", "apart").diff
    assert (found.n, found.overlap, found.rbo, found.tau, found.same_lists) == (0, None, None, None, None)
    assert found.differs
    assert str(tracker.diff("old", "apart")).startswith("old and apart on shop have no common query\n")


def test_what_is_refused(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, labels=LABELS, name="elsewhere", dataset="other")
    with pytest.raises(NotComparableError, match="only runs of one dataset can be compared list by list"):
        tracker.diff("old", "elsewhere")
    for options, said in (
        ({"cutoff": 0}, "cutoff=0 leaves nothing to look at; give 1 or more"),
        ({"rbo_p": 1.0}, "rbo_p=1.0 is not between 0 and 1; give for example 0.9"),
    ):
        with pytest.raises(InputError) as refused:
            tracker.diff("old", "new", **options)
        assert str(refused.value) == said
    tracker.prune("2999-01-01", apply=True)
    with pytest.raises(InputError, match="pruned"):
        tracker.diff("old", "new")
