"""Equal lists PASS; equal values of different lists go by the bound, as all else."""

import numpy as np
import pytest
from gated import BASE, N_GROUPS, pinned
from ranked_runs import frame_of_ranks, labels_of_ranks
from samples import decided, decided_suite, with_slices

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.say import reason
from ndcg_tracker.statistics.distribution_free import betting_lower_bound

__all__ = ["pinned"]
SAME = np.ones(400, dtype=np.bool_)


def with_others_swapped(ranks: list[int], n: int) -> dict[str, list[object]]:
    """Return a run in which two items that are not relevant have changed places in the first n groups."""
    frame = frame_of_ranks(ranks)
    for group in range(n):
        first = group * 5 + 3
        frame["item"][first], frame["item"][first + 1] = frame["item"][first + 1], frame["item"][first]
    return frame


def test_equal_values_of_other_lists_go_by_the_bound(pinned: nt.Tracker) -> None:
    pinned.ingest(with_others_swapped(BASE, 1), name="swapped", dataset="shop")
    found = pinned.gate("swapped", baseline="@prod", margin=0.01)
    assert found.decision == "inconclusive"
    assert found.reason == (
        "delta +0.0000; the data allow -0.014 to +0.022; PASS needs the lower end above -0.01; neither a drop of more "
        "than 0.01 nor no drop can be ruled out; to decide: about 350 queries like these (PASS), or a margin "
        "above 0.0144 (PASS)"
    )
    assert pinned.gate("swapped", baseline="@prod", margin=0.02).decision == "pass"
    assert pinned.gate("swapped", baseline="@prod", scope="set").decision == "pass"


def test_lists_are_equal_whatever_their_scores(pinned: nt.Tracker) -> None:
    frame = frame_of_ranks(BASE)
    frame["score"] = [score * 7.5 - 1 for score in frame["score"]]  # type: ignore[operator]
    pinned.ingest(frame, name="scaled", dataset="shop")
    found = pinned.gate("scaled", baseline="@prod", margin=0.0)
    assert (found.decision, found.reason) == ("pass", "identical on all 240 queries")
    frame["score"] = [6.5 if score < 0 else score for score in frame["score"]]  # type: ignore[operator]
    pinned.ingest(frame, name="tied", dataset="shop")  # the same order, but of equal scores
    assert pinned.gate("tied", baseline="@prod", margin=0.0).decision == "inconclusive"


def test_one_query_of_other_lists_is_no_pass(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of_ranks([1]), name="base", labels=labels_of_ranks(1), dataset="one")
    tracker.ingest(with_others_swapped([1], 1), name="other", dataset="one")
    assert tracker.gate("other", baseline="base", margin=1e-6).decision == "inconclusive"


def test_shorter_lists_are_others(pinned: nt.Tracker) -> None:
    frame = {name: values[:-1] for name, values in frame_of_ranks(BASE).items()}
    pinned.ingest(frame, name="short", dataset="shop")
    assert pinned.gate("short", baseline="@prod", margin=0.01).decision == "inconclusive"


def test_results_without_lists_go_by_the_bound(pinned: nt.Tracker) -> None:
    values = {f"q{number:04}": 1.0 if rank == 1 else 0.5 for number, rank in enumerate(BASE)}
    for run in ("base", "same"):
        pinned.log_results(values, metric="score", direction="higher", range=(0, 1), name=run, dataset="shop")
    found = pinned.gate("same", baseline="base", metric="external:score", margin=0.01)
    assert found.decision == "inconclusive"


def test_runs_without_items_are_known_by_their_digest(pinned: nt.Tracker) -> None:
    pinned.prune("2100-01-01", apply=True)
    found = pinned.gate("same", baseline="@prod", margin=0.001)
    assert (found.decision, found.reason) == ("pass", "identical on all 240 queries")


def test_a_bound_goes_by_the_range_of_the_metric(pinned: nt.Tracker) -> None:
    values = {f"q{number:04}": 5.0 for number in range(60)}
    for name, spread in (("wide", (0, 10_000)), ("open", (0, float("inf"))), ("narrow", (0, 0.1))):
        for run in ("base", "same"):
            given = dict.fromkeys(values, 0.05) if name == "narrow" else values
            pinned.log_results(given, metric=name, direction="higher", range=spread, name=run, dataset="shop")
    decided = {
        name: pinned.gate("same", baseline="base", metric=f"external:{name}", margin=0.05).gated.decision
        for name in ("wide", "open")
    }
    assert {name: found.decision for name, found in decided.items()} == {"wide": "inconclusive", "open": "inconclusive"}
    assert decided["wide"].lower == pytest.approx(10_000 * (betting_lower_bound(np.zeros(60))))
    assert decided["open"].lower is None
    narrow = pinned.gate("same", baseline="base", metric="external:narrow", margin=0.01).gated.decision
    assert (narrow.decision, narrow.lower) == ("pass", pytest.approx(0.1 * betting_lower_bound(np.zeros(60))))


def test_slices_of_equal_values(pinned: nt.Tracker) -> None:
    pinned.ingest(with_others_swapped([*BASE[:200], *([1] * 40)], 30), name="swapped", dataset="shop")
    groups = [f"q{number:04}" for number in range(N_GROUPS)]
    parts = ["swapped"] * 30 + ["kept"] * 170 + ["better"] * 40
    pinned.set_groups({"group": groups, "part": parts}, dataset="shop")
    found = pinned.gate("swapped", baseline="@prod", margin=0.05, by="part", slice_margin=0.05).to_dict()
    assert {row["value"]: row["status"] for row in found["parts"]} == {
        "swapped": "open", "kept": "within", "better": "within",
    }  # fmt: skip


def test_what_is_not_known_to_be_the_same_is_not() -> None:
    zeros = np.zeros(400)
    assert decided(zeros, 0.001).decision == "inconclusive"
    assert decided(zeros, 0.001, same_lists=SAME).decision == "pass"
    assert decided(zeros, 0.001, same_lists=SAME & (zeros.cumsum() > 0)).decision == "inconclusive"
    one_lacks = np.append(False, SAME[1:])
    assert decided(zeros, 0.001, same_lists=one_lacks).decision == "inconclusive"
    of_weight_0 = np.append(0.0, np.ones(399))
    weighed = decided(zeros, 0.001, weights=of_weight_0, same_lists=one_lacks)
    assert (weighed.decision, reason(weighed)) == ("pass", "identical on all 399 queries")


def test_slices_and_datasets_of_zeros() -> None:
    delta = np.concatenate([np.zeros(200), np.random.default_rng(1).normal(0.05, 0.1, 200)])
    values = ["same"] * 200 + ["moved"] * 200
    whole = decided(delta, 0.01)
    for same, status in ((None, "open"), (SAME, "within")):
        slices = with_slices(whole, delta, values, 0.01, same_lists=same).slices
        assert {row.value: row.status for row in slices}["same"] == status
    deltas = {"same": np.zeros(200), "moved": delta[200:]}
    for is_same, method in ((False, "betting"), (True, "t")):
        found = decided_suite(deltas, 0.001, [is_same, False], dataset_margin=0.01)
        assert found.told.lower_method == method
        assert {row.value: row.status for row in found.slices}["same"] == ("within" if is_same else "open")
