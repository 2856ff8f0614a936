"""Gates at the same time, and what changes between a decision and its record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from gated import N_GROUPS, decisions
from ranked_runs import labels_of_ranks
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.questions.gate.decide_bounds import look_level

pytestmark = pytest.mark.both_engines


@contextmanager
def before_each_record(change: Callable[[], object]) -> Iterator[list[str]]:
    """Make a change just before a gate begins to write, when it has decided: before every second transaction of it.

    Yields what the gate began, in order.
    """
    begun: list[str] = []
    is_changing = False

    def on_begin(_: sa.Connection) -> None:
        nonlocal is_changing
        if is_changing:
            return
        begun.append("read" if len(begun) % 2 == 0 else "write")
        if begun[-1] == "write":
            is_changing = True
            change()
            is_changing = False

    sa.event.listen(sa.Engine, "begin", on_begin)
    try:
        yield begun
    finally:
        sa.event.remove(sa.Engine, "begin", on_begin)


def once(change: Callable[[], object]) -> Callable[[], None]:
    """Return what makes a change the first time it is called."""
    waiting = [change]

    def change_once() -> None:
        if waiting:
            waiting.pop()()

    return change_once


@pytest.fixture
def other(ready_url: str) -> Iterator[nt.Tracker]:
    """Somebody else at the same database."""
    with nt.Tracker(ready_url) as tracker:
        yield tracker


def test_what_has_not_changed_is_decided_once(pinned: nt.Tracker) -> None:
    with before_each_record(lambda: None) as begun:
        pinned.gate("noisy", baseline="@prod", margin=0.01)
        assert begun == ["read", "write"]
        pinned.gate("noisy", baseline="@prod", margin=0.01, dry_run=True)
        assert begun == ["read", "write", "read"]


def test_an_alias_that_moves_before_the_record_is_decided_on_again(pinned: nt.Tracker, other: nt.Tracker) -> None:
    with before_each_record(once(lambda: other.set_alias("prod", "drop"))) as begun:
        found = pinned.gate("same", baseline="@prod", scope="set").to_dict()
    assert begun == ["read", "write"]
    (record,) = decisions(pinned)
    expected = pinned.gate("same", baseline="drop", scope="set", dry_run=True).to_dict()
    assert (found["baseline"]["name"], found["delta"]) == ("drop", expected["delta"])
    assert (record.baseline_run, record.delta) == ("drop", expected["delta"])
    assert found["drift"]["pinned_run"] == "drop"
    assert expected["delta"] > 0


def test_labels_that_change_before_the_record_are_decided_on_again(pinned: nt.Tracker, other: nt.Tracker) -> None:
    newer = labels_of_ranks(N_GROUPS)
    newer["label"][0] = 0
    lists = read_label_frame(newer)

    def relabelled() -> None:
        assert other.add_labels(lists, dataset="shop") == (2, True)

    def rescored() -> None:
        other.rescore(["base", "noisy"])

    with before_each_record(once(lambda: (relabelled(), rescored()))) as begun:
        found = pinned.gate("noisy", baseline="@prod", margin=0.01).to_dict()
    assert begun == ["read", "write"]
    assert (found["label_set"]["version"], [of[:3] for of in found["notes"]]) == (2, ["960"])  # no older labels
    (record,) = decisions(pinned)
    with pinned.store().read() as tx:
        assert record.label_set_id == tx.labels.sets(record.dataset_id)[1].id
    assert record.delta == found["delta"]


def test_a_decision_before_the_record_takes_its_share(pinned: nt.Tracker, other: nt.Tracker) -> None:
    pinned.set_policy("prod", margin=0.06, budget=0.05)
    asked: dict[str, Any] = {"baseline": "@prod"}
    with before_each_record(once(lambda: other.gate("small", **asked))) as begun:
        found = pinned.gate("noisy", **asked).to_dict()
    assert begun == ["read", "write"]
    assert (found["decision_number"], found["fail_alpha"]) == (2, look_level(2, 0.05))
    assert found["drift"]["n_accepted"] == 1
    assert [one.alpha for one in decisions(pinned)] == [look_level(1, 0.05), look_level(2, 0.05)]


def test_a_policy_that_changes_before_the_record_is_obeyed(pinned: nt.Tracker, other: nt.Tracker) -> None:
    pinned.set_policy("prod", margin=0.5)
    with before_each_record(once(lambda: other.set_policy("prod", margin=0.0))) as begun:
        found = pinned.gate("drop", baseline="@prod")
    assert begun == ["read", "write"]
    assert (found.decision, found.gated.decision.margin, decisions(pinned)[0].margin) == ("fail", 0.0, 0.0)


def test_what_is_gone_before_the_record_is_said(pinned: nt.Tracker, other: nt.Tracker, ready_url: str) -> None:
    before = row_counts(ready_url)
    with before_each_record(once(lambda: other.delete_alias("prod"))), pytest.raises(nt.ReferenceNotFoundError):
        pinned.gate("noisy", baseline="@prod", margin=0.01)
    assert row_counts(ready_url) == {**before, "aliases": 0, "alias_moves": before["alias_moves"] + 1}


def test_a_failure_while_deciding_records_nothing(pinned: nt.Tracker, ready_url: str) -> None:
    before = row_counts(ready_url)
    for asked in ({"metric": "AP", "margin": 0.01}, {"margin": "auto", "repeats": "tag:aa=none"}, {"margin": -1.0}):
        with pytest.raises((nt.InputError, nt.NotComparableError)):
            pinned.gate("drop", **{"baseline": "@prod", "acknowledge": "known", **asked})
    assert row_counts(ready_url) == before
