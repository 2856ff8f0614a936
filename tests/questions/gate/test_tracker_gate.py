"""``Tracker.gate``: the decision, its record, what is refused, drift since the pin, and the alpha budget."""

import itertools
from typing import Any

import numpy as np
import pytest
from gated import BASE, N_GROUPS, SECOND, decisions, refusal, worse
from ranked_runs import frame_of_ranks, labels_of_ranks
from samples import decided
from small_shop import BM25, DENSE, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.compare.gather_results import NO_INFERENCE
from ndcg_tracker.words.notes import sentence

ASSUMED = "unjudged items count as not relevant, because no label has grade 0"


def test_the_decision_is_that_of_the_arithmetic_and_is_recorded(pinned: nt.Tracker) -> None:
    for name, margin, expected in (("noisy", 0.05, "pass"), ("drop", 0.05, "fail"), ("noisy", 0.01, "inconclusive")):
        result = pinned.gate(name, baseline="@prod", margin=margin)
        assert result.decision == expected
        first, second = ({"noisy": (60, 60), "drop": (110, 0)})[name]
        delta = np.repeat([SECOND - 1, 1 - SECOND, 0.0], [first, second, N_GROUPS - first - second])
        alone = decided(delta, margin)
        found, record = result.to_dict(), decisions(pinned)[-1]
        assert (found["delta"], found["lower"], found["upper"]) == pytest.approx(
            (alone.delta, alone.lower, alone.upper)
        )
        assert (record.id, record.decision, record.margin) == (found["decision_id"], expected, margin)
        assert (record.delta, record.ci_low, record.ci_high, record.alpha) == (
            found["delta"],
            found["lower"],
            found["upper"],
            0.01,
        )
        assert (record.baseline_run, record.candidate_run, record.baseline_alias) == ("base", name, "prod")
        assert (record.metric, record.scope, record.reason) == ("ndcg@10", "population", found["reason"])
        assert (record.acknowledged_by, record.acknowledged_reason) == (None, None)
    assert [one.decision for one in decisions(pinned)] == ["pass", "fail", "inconclusive"]


def test_the_dict_is_that_of_compare_and_more(pinned: nt.Tracker) -> None:
    found = pinned.gate("drop", baseline="@prod", margin=0.01).to_dict()
    compared = pinned.compare("@prod", "drop", metrics="ndcg@10").to_dict()
    assert {key: found[key] for key in compared} == compared
    assert set(found) - set(compared) >= {"decision", "margin", "reason"}
    assert (found["decision"], found["margin"], found["policy"], found["acknowledged"]) == ("fail", 0.01, None, None)


def test_identical_runs_pass_and_are_said_to_be_identical(pinned: nt.Tracker) -> None:
    result = pinned.gate("same", baseline="@prod", margin=0.0)
    assert (result.decision, result.is_accepted) == ("pass", True)
    assert result.to_dict()["reason"] == "identical on all 240 queries"


def test_a_run_against_itself_is_noted(pinned: nt.Tracker) -> None:
    found = pinned.gate("base", baseline="@prod", margin=0.01).to_dict()
    assert (found["decision"], found["notes"]) == ("pass", [ASSUMED, "candidate and baseline are the same run"])


def test_a_fixed_set_is_arithmetic(pinned: nt.Tracker) -> None:
    drop = 20 * (1 - SECOND) / N_GROUPS
    assert pinned.gate("small", baseline="@prod", scope="set").decision == "fail"
    assert pinned.gate("small", baseline="@prod", scope="set", margin=drop + 1e-9).decision == "pass"
    found = pinned.gate("small", baseline="@prod", scope="set", margin=drop - 1e-9).to_dict()
    assert (found["decision"], found["scope"], found["lower"], found["fail_alpha"]) == ("fail", "set", None, None)
    (metric,) = found["metrics"]
    assert (metric["p_value"], metric["p_adjusted"], metric["ci"], metric["warnings"]) == (None, None, None, [])
    assert metric["verdict"] == "no_difference_detected"
    assert decisions(pinned)[-1].alpha is None
    assert pinned.gate("same", baseline="@prod", scope="set").to_dict()["metrics"][0]["verdict"] == "identical"


def test_a_dry_run_records_nothing(pinned: nt.Tracker, ready_url: str) -> None:
    before = row_counts(ready_url)
    result = pinned.gate("drop", baseline="@prod", margin=0.01, dry_run=True)
    assert (result.decision, result.to_dict()["decision_id"]) == ("fail", None)
    assert row_counts(ready_url) == before


def test_an_override_is_on_the_record(pinned: nt.Tracker) -> None:
    result = pinned.gate(
        "drop", baseline="@prod", margin=0.01, acknowledge=" the index\n was rebuilt ", acknowledged_by="ada"
    )
    assert (result.decision, result.is_accepted) == ("fail", True)
    assert result.to_dict()["acknowledged"] == {"reason": "the index was rebuilt", "by": "ada"}
    (record,) = decisions(pinned)
    assert (record.decision, record.acknowledged_reason, record.acknowledged_by) == (
        "fail",
        "the index was rebuilt",
        "ada",
    )
    passed = pinned.gate("same", baseline="@prod", margin=0.01, acknowledge="not needed", acknowledged_by="ada")
    assert passed.to_dict()["acknowledged"] is None
    assert decisions(pinned)[-1].acknowledged_by is None
    asked: dict[str, Any] = {"margin": 0.01}
    assert refusal(pinned, "drop", **asked, acknowledge="  ").startswith("acknowledge= needs a reason, for the record")
    assert refusal(pinned, "drop", **asked, acknowledge="x", dry_run=True).startswith(
        "acknowledge= does not go with dry_run=: a dry run records nothing"
    )


def test_decisions_have_a_number_in_their_series(pinned: nt.Tracker) -> None:
    margins = (0.01 + number * 1e-9 for number in itertools.count())

    def number(**asked: Any) -> int:
        return pinned.gate("noisy", **{"baseline": "@prod", "margin": next(margins), **asked}).gated.basis.number

    assert [number(), number(dry_run=True), number()] == [1, 2, 2]
    pinned.gate("noisy", baseline="@prod", scope="set")
    assert number() == 3
    pinned.set_alias("other", "base")
    pinned.rescore(metrics=["dcg@3"])
    assert [number(baseline="@other"), number(metric="dcg@3"), number(baseline="base")] == [1, 1, 1]
    numbers = pinned.sql("SELECT scope, decision_number FROM gate_decisions ORDER BY decision_id").to_numpy().tolist()
    assert numbers == [
        *(["population", number] for number in (1, 2)),
        ["set", 1],
        *(["population", number] for number in (3, 1, 1, 1)),
    ]


def test_what_has_no_alias_is_noted(pinned: nt.Tracker) -> None:
    found = pinned.gate("noisy", baseline="base", margin=0.05).to_dict()
    assert found["drift"] is None
    assert found["notes"] == [
        ASSUMED,
        "gate against a pinned alias: otherwise small drops add up unnoticed; pin this baseline with: "
        "ndcg-track alias set baseline base --dataset shop",
    ]
    assert pinned.gate("noisy", baseline="@prod", margin=0.05).to_dict()["notes"] == [ASSUMED]


def test_drift_since_the_pin(pinned: nt.Tracker) -> None:
    first = pinned.gate("small", baseline="@prod", margin=0.06).to_dict()
    assert (first["decision"], first["drift"]["n_accepted"]) == ("pass", 0)
    assert first["drift"]["pinned_run"] == "base"
    pinned.gate("drop", baseline="@prod", margin=0.01)
    second = pinned.gate("noisy", baseline="@prod", margin=0.05).to_dict()["drift"]
    assert (second["n_accepted"], second["n_overridden"]) == (1, 0)
    pinned.gate("drop", baseline="@prod", margin=0.01, acknowledge="known", acknowledged_by="ada")
    third = pinned.gate("noisy", baseline="@prod", margin=0.05).to_dict()["drift"]
    assert (third["n_accepted"], third["n_overridden"]) == (2, 1)
    assert (third["n_moves"], third["total_delta"]) == (0, None)
    pinned.set_alias("prod", "drop")
    moved = pinned.gate("small", baseline="@prod", margin=0.05)
    drift = moved.to_dict()["drift"]
    assert (drift["n_moves"], drift["first_run"]) == (1, "base")
    assert "it was moved once to a candidate of this gate: -" in moved.to_text(verbose=True)
    assert "no candidate accepted since\n" in moved.to_text(verbose=True)


def test_drift_adds_up_where_the_alias_follows_each_accepted_candidate(tracker: nt.Tracker) -> None:
    """Six drops of about .006 each pass a margin of .05, and the sum of them is shown."""
    tracker.ingest(frame_of_ranks(BASE), name="v0", labels=labels_of_ranks(N_GROUPS), dataset="shop")
    deltas = []
    for step in range(1, 7):
        tracker.set_alias("prod", f"v{step - 1}")
        tracker.ingest(frame_of_ranks(worse(4 * step)), name=f"v{step}", dataset="shop")
        found = tracker.gate(f"v{step}", baseline="@prod", margin=0.05).to_dict()
        assert found["decision"] == "pass"
        drift = found["drift"]
        deltas.append(found["delta"])
        assert drift["n_moves"] == step - 1
        if step > 1:
            assert drift["first_run"] == "v0"
            assert drift["moved_delta"] == pytest.approx(sum(deltas[:-1]))
            assert drift["total_delta"] == pytest.approx(sum(deltas))
    everything = tracker.compare("v0", "v6").to_dict()["metrics"][0]["delta"]
    assert sum(deltas) == pytest.approx(everything)
    tracker.set_alias("prod", "v0")
    back = tracker.gate("v1", baseline="@prod", margin=0.05).to_dict()["drift"]
    assert (back["n_moves"], back["total_delta"]) == (0, None)


def test_what_does_not_go_together(pinned: nt.Tracker) -> None:
    assert refusal(pinned, "drop") == (
        "the gate needs margin=: the allowed drop of ndcg@10, in absolute points, such as margin=0.01; "
        "or learn it from repeats of the baseline with margin='auto'; or give scope='set' "
        "to decide for these groups only"
    )
    assert refusal(pinned, "drop", scope="set", margin="auto") == (
        "margin='auto' does not go with scope='set': it compares two means without a test; leave one out"
    )
    assert refusal(pinned, "drop", scope="groups") == "scope='groups' is unknown; give population or set"
    assert refusal(pinned, "drop", margin=-1.0) == (
        "the margin must be a number 0 or more, not -1.0; give it in absolute points, such as 0.01"
    )
    assert refusal(pinned, "drop", margin="1%") == (
        "margin '1%' is not a number; give one in absolute points, such as 0.01, or auto"
    )
    assert refusal(pinned, "drop", scope="set", margin=float("nan")).startswith("the margin must be a number")
    assert refusal(pinned, "drop", nt.ReferenceNotFoundError, baseline="@live", margin=0.01) == (
        "no alias '@live'; the aliases are: @prod"
    )
    assert refusal(pinned, "drop", nt.NotComparableError, metric="AP", margin=0.01) == (
        "runs 'base' and 'drop' do not both have AP under one version of the labels; type: ndcg-track rescore base "
        "drop --dataset shop --metric AP"
    )
    assert decisions(pinned) == []


@pytest.mark.parametrize("metric", ["elasticsearch:ndcg(k=10)", "rectools:MAP(k=5)"])
def test_a_metric_that_both_have_is_named_before_a_margin_is_asked_for(tracker: nt.Tracker, metric: str) -> None:
    for name in ("base", "other"):
        tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}, name=name, metrics=metric)
    assert refusal(tracker, "other", nt.NotComparableError, baseline="base", margin=None).endswith(
        f"; ask for {metric}, which they have, or type: ndcg-track rescore base other --dataset default --metric "
        "ndcg@10"
    )
    assert f"the allowed drop of {metric}" in refusal(tracker, "other", baseline="base", metric=metric, margin=None)


def test_a_mean_that_is_no_mean_of_groups_is_for_a_fixed_set_only(tracker: nt.Tracker) -> None:
    frame = {
        "group": ["q1", "q1", "q2"], "item": ["a", "b", "c"], "score": [2.0, 1.0, 1.0], "label": [0, 1, 1],
        "weight": [1.0, 3.0, 6.0],
    }  # fmt: skip
    other = {**frame, "score": [1.0, 2.0, 1.0]}
    metric = "ndcg(weights=item_mean)@1"
    for name, run in (("worse", frame), ("better", other)):
        tracker.ingest(run, name=name, metrics=metric)
    with pytest.raises(nt.InputError) as caught:
        tracker.gate("worse", baseline="better", metric=metric, margin=0.5)
    assert str(caught.value) == (
        f"{metric}: {sentence(NO_INFERENCE)}; so no bound applies to further groups: use scope='set', which "
        "judges the stored means of these groups"
    )
    found = tracker.gate("worse", baseline="better", metric=metric, scope="set", margin=0.2).to_dict()
    assert (found["decision"], found["delta"]) == ("fail", -0.25)
    assert tracker.gate("worse", baseline="better", metric=metric, scope="set", margin=0.25).decision == "pass"


def test_weights_of_groups_weigh_the_decision(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics="ndcg(weights=group)@10")
    tracker.ingest(frame_of(DENSE), name="dense", metrics="ndcg(weights=group)@10")
    tracker.set_groups({"group": ["q1", "q2", "q3", "q4", "q5"], "weight": [9, 1, 1, 1, 0]})
    asked: dict[str, Any] = {"baseline": "bm25", "metric": "ndcg(weights=group)@10"}
    means = [tracker.run(name)[1][0].mean or 0.0 for name in ("bm25", "dense")]
    found = tracker.gate("dense", scope="set", **asked).to_dict()
    assert (found["delta"], found["decision"], found["n"]) == (pytest.approx(means[1] - means[0]), "pass", 4)
    assert tracker.gate("dense", margin=0.1, **asked).to_dict()["delta"] == pytest.approx(means[1] - means[0])


def test_the_result_as_frame_html_and_text(pinned: nt.Tracker) -> None:
    result = pinned.gate("drop", baseline="@prod", margin=0.01)
    row = result.to_frame().to_dict("records")[0]
    assert (row["decision"], row["candidate_run"], row["decision_id"]) == ("fail", "drop", 1)
    assert str(result).startswith("FAIL: drop must not replace base on shop (ndcg@10, margin 0.01)\n")
    assert result.to_html() == result._repr_html_()
    assert result.to_html().startswith("<div><p><strong><span style=")


def test_ties_that_could_change_the_decision_are_told_of_the_decision(pinned: nt.Tracker) -> None:
    tied = frame_of_ranks(BASE)
    pinned.ingest({**tied, "score": [0.0] * len(tied["score"])}, name="tied", dataset="shop")
    asked: dict[str, Any] = {"baseline": "@prod", "scope": "set", "dry_run": True}
    found = pinned.gate("tied", **asked, margin=0.2)
    low, high = found.to_dict()["metrics"][0]["tie_bounds"]["delta"]
    assert low < -0.2 < high
    assert found.to_dict()["ties_could_change_decision"] is True
    told = (
        "note: ties in scores could change the decision: depending on how they are broken, delta is between "
        f"{low:+.4f} and"
    )
    assert told in " ".join(str(found).split())
    assert "the verdict on" not in str(found)
    assert told.removeprefix("note: ") in found.to_dict()["notes"][-1]
    assert not any("the verdict on" in note for note in found.to_dict()["notes"])
    harmless = pinned.gate("tied", **asked, margin=0.01 - low)
    assert harmless.to_dict()["ties_could_change_decision"] is False
    assert "ties in scores could" not in str(harmless)
    assert pinned.gate("noisy", baseline="@prod", margin=0.05).to_dict()["ties_could_change_decision"] is False


def test_a_margin_that_allows_every_drop_is_refused(pinned: nt.Tracker) -> None:
    for asked in ({"margin": 5}, {"margin": 0.1, "by": "x", "slice_margin": 1.5}):
        name, value = list(asked.items())[-1]
        assert refusal(pinned, "drop", **asked) == (
            f"ndcg@10: {name}={value} allows every drop: values lie between 0 and 1; give it in absolute points, such "
            f"as {name}=0.01"
        )
    with pytest.raises(nt.InputError, match=r"^ndcg@10: slice_margin=2 allows every drop: values lie between 0 and"):
        pinned.gate("drop", suite="all", baseline="base", margin=0.01, by="dataset", slice_margin=2)
