"""A gate where the labels do not cover the candidate: what holds whatever unjudged items are worth is decided."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from command_line import CommandLine
from pooled_worlds import World, pooled_world
from samples import decided, with_slices

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.decide import between

SKILLS = {"worse": 0.7, "equal": 1.0, "better": 1.3}


def worlds() -> dict[str, World]:
    return {name: pooled_world(np.random.default_rng(1), 300, skill) for name, skill in SKILLS.items()}


def fill_with_newcomers(url: str) -> None:
    with nt.Tracker(url) as tracker:
        for name, world in worlds().items():
            tracker.ingest(world.baseline, name="old", labels=world.labels, dataset=name)
            tracker.ingest(world.newcomer, name="new", dataset=name)
        tracker.ingest(worlds()["better"].newcomer, name="lists alone", dataset="better", metrics=["ERR", "ndcg@10"])
        tracker.create_suite("all", list(SKILLS))


@pytest.fixture
def pooled(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A baseline whose items are judged, and newcomers that are worse, equal and better; a dataset for each."""
    fill_as(fill_with_newcomers)
    return tracker


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("dataset", "decisions"),
    [
        ("worse", ("fail", "inconclusive")),
        ("equal", ("fail", "inconclusive")),
        ("better", ("pass", "pass")),
    ],
)
def test_what_unjudged_items_may_be_worth_decides(pooled: nt.Tracker, dataset: str, decisions: tuple[str, str]) -> None:
    results = [
        pooled.gate("new", baseline="old", dataset=dataset, margin=0.01, unjudged=worth) for worth in ("zero", "range")
    ]
    assert tuple(result.decision for result in results) == decisions
    zero, ranged = (result.gated.decision for result in results)
    assert zero.unjudged is None
    assert ranged.unjudged is not None
    assert ranged.of_zero == zero.decision
    assert zero.delta == ranged.delta
    low, high = ranged.open_delta
    ends = [low, zero.delta, high]
    assert ends == sorted(ends, key=lambda end: end or 0.0)
    assert low == pytest.approx(zero.delta)  # the baseline has no holes
    assert ranged.unjudged.share.baseline == 1.0
    assert 0.65 < (ranged.unjudged.share.candidate or 0.0) < 0.8
    assert ranged.lower == zero.lower
    if dataset == "better":
        assert worlds()[dataset].true_delta > 0.1
    assert (low or 0.0) <= worlds()[dataset].true_delta <= (high or 0.0)
    told = " ".join(results[1].to_text(verbose=True).split())
    assert f": could move delta to anything from {low:+.4f} to {high:+.4f}" in told


def test_where_nothing_is_unjudged_there_is_no_word(pooled: nt.Tracker) -> None:
    results = [
        pooled.gate("old", baseline="old", dataset="equal", margin=0.01, unjudged=worth) for worth in ("range", "zero")
    ]
    assert results[0].gated.decision == results[1].gated.decision
    assert results[0].notes == results[1].notes
    assert results[0].to_dict()["unjudged"] is None


def test_a_metric_without_a_range_says_that_unjudged_items_count_as_not_relevant(pooled: nt.Tracker) -> None:
    pooled.rescore(["old"], metrics="ERR", dataset="better")
    result = pooled.gate("lists alone", baseline="old", dataset="better", metric="ERR", margin=0.01, unjudged="range")
    assert (
        result.decision
        == pooled.gate(
            "lists alone", baseline="old", dataset="better", metric="ERR", margin=0.01, unjudged="zero"
        ).decision
    )
    note = "unjudged items count as not relevant, because no bound on their effect is known for ERR"
    assert note in result.notes


def test_runs_without_items_keep_their_decision_with_a_note(pooled: nt.Tracker) -> None:
    pooled.prune("0d", dataset="equal", apply=True)
    result = pooled.gate("new", baseline="old", dataset="equal", margin=0.01, unjudged="range")
    assert result.decision == "fail"
    assert any(
        note.startswith("unjudged items count as not relevant, because the items of a run are not stored")
        for note in result.notes
    )


def test_a_suite_is_decided_on_both_ends(pooled: nt.Tracker) -> None:
    zero, ranged = (
        pooled.gate(
            "new", suite="all", baseline="old", margin=0.01, by="dataset", slice_margin=0.02, unjudged=worth
        ).gated.decision
        for worth in ("zero", "range")
    )
    assert (zero.decision, ranged.decision) == ("fail", "inconclusive")
    statuses = [{row.value: row.status for row in of.slices} for of in (zero, ranged)]
    assert statuses == [
        {"worse": "fails", "equal": "open", "better": "within"},
        {"worse": "open", "equal": "open", "better": "within"},
    ]
    assert ranged.open_delta[0] == pytest.approx(zero.delta)


def test_arms_are_held_each_against_each(pooled: nt.Tracker) -> None:
    world = worlds()["equal"]
    for name in ("new", "old"):
        pooled.tag_run(name, {"arm": name}, dataset="equal")
    pooled.ingest(world.newcomer, name="new again", dataset="equal", tags={"arm": "new"})
    pooled.ingest(world.baseline, name="old again", dataset="equal", tags={"arm": "old"})
    alone = pooled.gate("new", baseline="old", dataset="equal", margin=0.01, unjudged="range").gated.decision
    arms = pooled.gate("tag:arm=new", baseline="tag:arm=old", dataset="equal", margin=0.01, unjudged="range")
    assert arms.gated.decision.open_delta == pytest.approx(alone.open_delta)
    n_groups = arms.gated.decision.unjudged.n_groups
    advised = f"unjudged items can change ndcg@10: grade those of {n_groups} queries: ndcg-track labels needed old"
    assert any(note.startswith(advised) for note in arms.notes)
    assert pooled.labels_needed("old", ["old again", "new", "new again"], budget=None, dataset="equal").needed.items


def test_slices_hold_at_both_ends() -> None:
    rng = np.random.default_rng(0)
    delta, by = rng.normal(0.02, 0.02, 200), ["tv", "phone"] * 100
    low, high = delta - np.tile([0.0, 0.2], 100), delta + 0.05
    each = [with_slices(decided(one, 0.01), one, by, 0.05) for one in (delta, low, high)]
    assert [one.decision for one in each] == ["pass", "fail", "pass"]
    held = between(*each)
    assert held.decision == "inconclusive"
    assert {row.value: row.status for row in held.slices} == {"tv": "within", "phone": "open"}
    assert held.without("slice") == "inconclusive", "PASS at the high end alone is no PASS of the whole"


def test_the_command_says_what_is_open_and_what_to_judge(
    pooled: nt.Tracker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    line = CommandLine(pooled.location, capsys)
    asked = ("gate", "new", "--baseline", "old", "--dataset", "equal", "--margin", "0.01", "--unjudged", "range")
    answer = line(*asked)
    assert answer.code == 4
    text = answer.out
    first, second = text.splitlines()[:2]
    assert first == "INCONCLUSIVE: new may or may not replace old on equal (ndcg@10, margin 0.01)"
    assert second.startswith("  delta -0.0")
    assert "27% of the top 10 is unjudged (baseline 0%)" in " ".join(text.split())
    assert "why: if unjudged items are worth nothing, the decision is FAIL" in " ".join(text.split())
    told = json.loads(line(*asked, "--format", "json").out)["unjudged"]
    assert (told["worth"], told["of_zero"]) == ("range", "fail")
    assert f"  do:  1. grade {told['n_items']} items in " in text
    assert f"ndcg-track labels sample old new --budget {told['n_items']} --metric ndcg@10 --dataset equal" in text
    needed = line.done(
        *["labels", "needed", "old", "new", "--metric", "ndcg@10", "--dataset", "equal", "--all", "--format", "csv"]
    )
    assert len(needed.splitlines()) == 1 + told["n_items"]


def test_an_unknown_worth_is_refused(pooled: nt.Tracker) -> None:
    with pytest.raises(nt.InputError, match=r"^unjudged='half' is unknown; give range or zero$"):
        pooled.gate("new", baseline="old", dataset="equal", margin=0.01, unjudged="half")  # type: ignore[arg-type]


def test_a_dataset_of_positives_leaves_the_range_of_the_others(pooled: nt.Tracker) -> None:
    run = {f"q{number}": {"a": 3.0, "b": 2.0, "c": 1.0} for number in range(30)}
    pooled.ingest(run, name="old", labels={group: {"a": 1, "c": 1} for group in run}, dataset="clicks")
    pooled.ingest(run, name="new", dataset="clicks")
    pooled.create_suite("mixed", ["equal", "clicks"])
    decision = pooled.gate("new", suite="mixed", baseline="old", margin=0.01).gated.decision
    assert decision.unjudged is not None
    assert (decision.unjudged.stop, decision.of_zero, decision.decision) == (None, "fail", "inconclusive")


def test_labels_are_not_added_to_a_dataset_that_is_not_there(pooled: nt.Tracker) -> None:
    with pytest.raises(nt.ReferenceNotFoundError, match="no dataset 'eqal'"):
        pooled.add_labels({"q0": {"d0": 1}}, dataset="eqal", extend=True)
    assert not pooled.query("SELECT dataset FROM dataset_list WHERE dataset = 'eqal'").rows
