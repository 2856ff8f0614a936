"""Runs that keep a share of the groups: what is stored, what is missing, and what they are compared over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, NotComparableError
from ndcg_tracker.rankings.groups_share import in_share
from tests.refused import refusal_of

N_GROUPS, N_ITEMS = 4000, 8
GROUPS = np.repeat([f"q{number}" for number in range(N_GROUPS)], N_ITEMS)
ITEMS = np.tile([f"d{number}" for number in range(N_ITEMS)], N_GROUPS)
GRADES = np.random.default_rng(1).integers(0, 3, GROUPS.size)
LABELS = pd.DataFrame({"group": GROUPS, "item": ITEMS, "label": GRADES})
KEPT = "only {} of the groups are kept, chosen by a hash of their ids"


def run_of(seed: int, quality: float) -> pd.DataFrame:
    scores = GRADES * quality + np.random.default_rng(seed).normal(size=GROUPS.size)
    return pd.DataFrame({"group": GROUPS, "item": ITEMS, "score": scores})


A, B = run_of(2, 0.5), run_of(3, 0.7)


def cut(frame: pd.DataFrame, share: str) -> pd.DataFrame:
    return frame[in_share(frame["group"], share)]


def compared(tracker: nt.Tracker, baseline: str, candidate: str, **options: Any) -> dict[str, Any]:
    found = tracker.compare(baseline, candidate, **options).to_dict()
    return {name: found[name] for name in ("metrics", "groups", "worst", "best", "coverage")} | {
        "slices": found.get("slices"),
        "notes": found["notes"],
    }


def test_the_mean_of_a_share_is_within_its_standard_error() -> None:
    whole = nt.evaluate(A, "ndcg@5", labels=LABELS).per_group["ndcg@5"]
    part = nt.evaluate(A, "ndcg@5", labels=LABELS, groups_share="1/20").per_group["ndcg@5"]
    assert part.equals(whole[in_share(whole.index, "1/20")])
    assert abs(part.mean() - whole.mean()) < 3 * part.std() / len(part) ** 0.5
    again = nt.evaluate(B, "ndcg@5", labels=LABELS, groups_share=0.05).per_group["ndcg@5"]
    assert list(again.index) == list(part.index)
    larger = nt.evaluate(A, "ndcg@5", labels=LABELS, groups_share="1/10").per_group["ndcg@5"]
    assert set(part.index) < set(larger.index)


def test_a_share_is_stored_with_its_labels_and_said(tracker: nt.Tracker) -> None:
    stored = tracker.ingest(A, labels=LABELS, name="a", groups_share="1/20")
    n_kept = int(in_share(np.unique(GROUPS), "1/20").sum())
    assert (stored.n_groups, stored.metrics[0].n_groups, stored.metrics[0].n_missing) == (n_kept, n_kept, 0)
    assert KEPT.format("1/20") in stored.notes
    assert tracker.show("a").groups_share == "1/20"
    ((n_labelled,),) = tracker.query("SELECT n_groups FROM label_sets").rows
    assert n_labelled == n_kept


def test_groups_outside_the_share_are_not_missing(tracker: nt.Tracker) -> None:
    tracker.add_labels(LABELS)
    lacking = A[A["group"] != next(iter(cut(A, "1/20")["group"]))]
    stored = tracker.ingest(lacking, name="a", groups_share="1/20")
    n_kept = int(in_share(np.unique(GROUPS), "1/20").sum())
    assert (stored.metrics[0].n_groups, stored.metrics[0].n_missing) == (n_kept, 1)
    tracker.ingest(B, name="b")
    (rescored,) = tracker.rescore(["a"], metrics="AP")
    assert (rescored.metrics[0].n_groups, rescored.metrics[0].n_missing) == (n_kept, 1)
    found = compared(tracker, "b", "a", metrics="ndcg@10")
    assert (found["groups"]["missing_in_baseline"], found["groups"]["missing_in_candidate"]) == (0, 1)
    assert found["metrics"][0]["n"] == n_kept
    with tracker.store().read() as tx:
        assert tx.damage() == []


def test_labels_of_a_share_join_those_that_are_stored(tracker: nt.Tracker) -> None:
    first = tracker.ingest(A, labels=LABELS, name="a", groups_share="1/50")
    second = tracker.ingest(B, labels=LABELS, name="b", groups_share="1/20")
    third = tracker.ingest(B, labels=LABELS, name="c", groups_share="1/50")
    assert [of.label_set_version for of in (first, second, third)] == [1, 2, 2]
    assert third.metrics[0].n_groups == first.metrics[0].n_groups


@pytest.mark.parametrize("with_labels", [True, False])
@pytest.mark.nightly(but=2)
def test_two_shares_are_compared_as_both_cut_by_hand(tracker: nt.Tracker, with_labels: bool) -> None:
    metrics = ["ndcg@5", "AP"]
    tracker.ingest(A, labels=LABELS, name="a", metrics=metrics)
    labels = {"labels": LABELS} if with_labels else {}
    tracker.ingest(B, **labels, name="b", metrics=metrics, groups_share="1/10")
    tracker.ingest(A, name="a2", metrics=metrics, groups_share="1/5")
    tracker.ingest(cut(A, "1/10"), labels=cut(LABELS, "1/10"), name="a", dataset="cut", metrics=metrics)
    tracker.ingest(cut(B, "1/10"), name="b", dataset="cut", metrics=metrics)
    names = np.unique(GROUPS)
    for dataset in ("default", "cut"):
        kept = names if dataset == "default" else names[in_share(names, "1/10")]
        of_groups = {"group": kept, "parity": ["even" if int(name[1:]) % 2 else "odd" for name in kept]}
        tracker.set_groups(of_groups, dataset=dataset)
    expected = compared(tracker, "a", "b", dataset="cut", by="parity")
    note = "only 1/10 of the groups are compared, because 'b' keeps no others"
    for baseline in ("a", "a2"):
        found = compared(tracker, baseline, "b", dataset="default", by="parity")
        assert found["notes"] == [note, *expected["notes"]]
        assert found | {"notes": []} == expected | {"notes": []}
    gates = [
        tracker.gate("b", baseline="a", metric="ndcg@5", margin=0.01, dataset=dataset, dry_run=True).to_dict()
        for dataset in ("default", "cut")
    ]
    for name in ("decision", "delta", "lower", "upper", "n"):
        assert gates[0][name] == gates[1][name], name


def test_runs_of_one_share_are_ranked_and_searched_for_steps_alone(tracker: nt.Tracker) -> None:
    for number, share in enumerate([None, "1/10", "1/10"]):
        tracker.ingest(run_of(number, 0.5), labels=LABELS, name=f"r{number}", groups_share=share)
    assert refusal_of(NotComparableError, tracker.leaderboard, "r0", "r1") == (
        "run 'r0' keeps all of the groups, but another keeps only 1/10, so they cannot be ranked together; ingest both "
        "with groups_share='1/10'"
    )
    assert refusal_of(NotComparableError, tracker.explain, "r0", "r1").startswith("run 'r0' keeps all of the groups")
    assert tracker.explain("r1", "r2") is not None
    told = tracker.leaderboard().to_dict()["notes"]
    assert "left out: 1 run, such as r0, because only runs that keep 1/10 of the groups are ranked" in told
    with tracker.store().read() as tx:
        assert tx.runs.resolve("r1").sample == (None, None, "1/10")


@pytest.mark.nightly(but=2)
def test_a_share_moves_with_an_export(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Any) -> None:
    tracker.add_labels(LABELS)
    tracker.ingest(A, name="a", groups_share="1/20")
    tracker.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    assert other.show("a").groups_share == "1/20"
    assert other.show("a").evaluations == tracker.show("a").evaluations
    assert other.rescore(["a"], metrics="AP")[0].metrics[0].n_missing == 0


def test_results_of_another_engine_are_cut_too(tracker: nt.Tracker) -> None:
    names = np.unique(GROUPS)
    values = dict(zip(names, np.random.default_rng(5).random(names.size), strict=True))
    of = {"metric": "latency", "direction": "lower", "range": (0, 1)}
    stored = tracker.log_results(values, name="a", groups_share="1/20", **of)
    assert stored.metrics[0].n_groups == in_share(names, "1/20").sum()
    tracker.log_results(dict.fromkeys(names, 0.5), name="b", **of)
    assert tracker.compare("a", "b").to_dict()["metrics"][0]["n"] == stored.metrics[0].n_groups
    assert refusal_of(ConflictError, tracker.log_results, values, name="a", **of | {"metric": "cost"}) == (
        "run 'a' keeps 1/20 of the groups, and these results all; give groups_share='1/20', or another name"
    )


def test_a_share_without_a_group_is_refused(tracker: nt.Tracker) -> None:
    few = A[A["group"] == "q0"]
    assert refusal_of(InputError, tracker.ingest, few, name="few", groups_share=1e-9) == (
        "no group is in the share 1/1000000000; give a larger share"
    )
    assert refusal_of(InputError, nt.evaluate, A, labels=LABELS, groups_share="2").startswith("groups_share=2 is not")
