"""The same question again: the recorded decision, until anything that it rests on has changed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import CommandLine
from gated import BASE, N_GROUPS, decisions, worse
from ranked_runs import frame_of_ranks, labels_of_ranks

import ndcg_tracker as nt

ASKED: dict[str, Any] = {"baseline": "@prod"}
POLICY: dict[str, Any] = {"margin": 0.06, "budget": 0.05, "looks": 40}


@pytest.fixture
def owned(pinned: nt.Tracker) -> nt.Tracker:
    """The candidates, and a policy of @prod with a budget."""
    pinned.set_policy("prod", **POLICY)
    return pinned


def told(tracker: nt.Tracker, candidate: str = "noisy", **asked: Any) -> tuple[int, int, bool]:
    """Return the number of a decision, of its look, and whether it was decided before."""
    gated = tracker.gate(candidate, **{**ASKED, **asked}).gated
    assert gated.decision_id is not None
    assert gated.basis.look is not None
    return gated.decision_id, gated.basis.look.number, gated.decided_before


def test_the_same_question_spends_nothing(owned: nt.Tracker) -> None:
    first = owned.gate("noisy", **ASKED).to_dict()
    again = owned.gate("noisy", **ASKED).to_dict()
    assert (first.pop("decided_before"), again.pop("decided_before")) == (False, True)
    assert again.pop("drift") != first.pop("drift")  # it counts the decision itself
    assert again == first
    assert told(owned, top=3) == told(owned, dataset="shop") == (1, 1, True)
    owned.rename_run("noisy", "louder")
    owned.rename_run("louder", "noisy")
    assert told(owned) == (1, 1, True)
    assert len(decisions(owned)) == 1


def relabelled(tracker: nt.Tracker) -> None:
    labels = labels_of_ranks(N_GROUPS)
    labels["label"][0] = 0
    tracker.add_labels(labels, dataset="shop")
    tracker.rescore(["base", "noisy"])


def moved(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of_ranks(worse(1)), name="base-2", dataset="shop")
    tracker.set_alias("prod", "base-2")


def changed_lists(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of_ranks(worse(3)), name="noisy", dataset="shop", replace=True)


def reset(tracker: nt.Tracker) -> None:
    tracker.reset_gate("@prod", reason="new season")


CHANGES: dict[str, tuple[Callable[[nt.Tracker], None], dict[str, Any]]] = {
    "labels": (relabelled, {}),
    "the run of the alias": (moved, {}),
    "the lists of the candidate": (changed_lists, {}),
    "a reset": (reset, {}),
    "a rule": (lambda _: None, {"max_harm": ".9:50%"}),
    "another margin": (lambda _: None, {"margin": 0.05}),
    "another rule of the policy": (lambda tracker: tracker.set_policy("prod", **POLICY | {"margin": 0.07}), {}),  # type: ignore[func-returns-value]
    "another budget": (lambda tracker: tracker.set_policy("prod", **POLICY | {"looks": 50}), {}),  # type: ignore[func-returns-value]
}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_is_decided_anew(owned: nt.Tracker, change: str) -> None:
    made, asked = CHANGES[change]
    assert told(owned) == (1, 1, False)
    made(owned)
    number, _, decided_before = told(owned, **asked)
    assert (number, decided_before) == (2, False)
    assert len(decisions(owned)) == 2


def test_other_values_of_an_attribute_are_decided_anew(pinned: nt.Tracker) -> None:
    groups = list(dict.fromkeys(labels_of_ranks(N_GROUPS)["group"]))
    asked = {"by": "half", "slice_margin": 0.5}
    for number, names in enumerate((["a", "b"], ["a", "a"]), 1):
        halves = [names[place % 2] for place in range(len(groups))]
        pinned.set_groups({"group": groups, "half": halves}, dataset="shop")
        found = pinned.gate("drop", baseline="@prod", margin=0.5, **asked | {"slice_margin": 1e-4}).gated
        assert (found.decision_id, found.decided_before) == (number, False)


def test_a_spent_budget_still_has_its_answers(pinned: nt.Tracker) -> None:
    pinned.set_policy("prod", **POLICY | {"looks": 1})
    assert told(pinned) == (1, 1, False)
    assert told(pinned, "drop") == (2, 2, False)
    assert told(pinned) == (1, 1, True)
    assert told(pinned, "drop") == (2, 2, True)


def test_it_is_overridden_as_a_new_one(pinned: nt.Tracker) -> None:
    asked: dict[str, Any] = {"baseline": "@prod", "margin": 0.01}
    assert not pinned.gate("drop", **asked).is_accepted
    result = pinned.gate("drop", **asked, acknowledge="known bug 42", acknowledged_by="ada")
    assert (result.is_accepted, result.gated.decided_before, result.gated.decision_id) == (True, True, 1)
    (record,) = decisions(pinned)
    assert (record.acknowledged_reason, record.acknowledged_by) == ("known bug 42", "ada")
    assert pinned.gate("drop", **asked).is_accepted  # the override is on the record


def test_at_the_same_time_it_is_one_decision(owned: nt.Tracker, ready_url: str) -> None:
    def asked(_: int) -> tuple[int, int]:
        with nt.Tracker(ready_url) as tracker:
            return told(tracker)[:2]

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(asked, range(8))) == {(1, 1)}
    assert len(decisions(owned)) == 1


def test_on_a_suite(pinned: nt.Tracker) -> None:
    for name, ranks in (("base", BASE), ("noisy", worse(3))):
        pinned.ingest(frame_of_ranks(ranks), name=name, labels=labels_of_ranks(N_GROUPS), dataset="other")
    pinned.create_suite("both", ["shop", "other"])
    asked: dict[str, Any] = {"baseline": "base", "margin": 0.06}
    first, again = (pinned.gate("noisy", suite="both", **asked).to_dict() for _ in range(2))
    assert (first.pop("decided_before"), again.pop("decided_before")) == (False, True)
    assert again == first
    result = pinned.gate("noisy", suite="both", **asked, acknowledge="known", acknowledged_by="ada")
    with pinned.store().read() as tx:
        (record,) = tx.decisions.on_suite("both")
    if result.decision != "pass":
        assert record.acknowledged_by == "ada"


def test_what_is_printed(
    pinned: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = CommandLine(ready_url, capsys)
    words = ("gate", "noisy", "--baseline", "@prod", "--margin", ".01")
    first, again = typed(*words), typed(*words, "--junit", "gate.xml")
    assert again.code == first.code
    assert "  decided before as decision 1   (-v: " in again.out
    assert 'name="decision_id" value="1"' in Path("gate.xml").read_text(encoding="utf-8")
