"""A verdict that what the labels do not say could turn: worded as open, with what closes it, on both engines."""

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from command_line import CommandLine
from pooled_worlds import pooled_world

import ndcg_tracker as nt

GROUPS = [f"q{number}" for number in range(120)]


def fill(url: str) -> None:
    world = pooled_world(np.random.default_rng(1), 300, 1.0)
    with nt.Tracker(url) as tracker:
        tracker.ingest(world.baseline, name="old", labels=world.labels, dataset="pool", metrics=["ndcg@10", "ERR"])
        tracker.ingest(world.newcomer, name="new", dataset="pool", metrics=["ndcg@10", "ERR"])
        tracker.create_suite("all", ["pool"])


@pytest.fixture
def pool(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A baseline whose items are judged, and a newcomer of equal quality of which a quarter is not."""
    fill_as(fill)
    return tracker


def test_a_verdict_that_unjudged_items_could_turn_is_open(pool: nt.Tracker) -> None:
    comparison = pool.compare("old", "new", metrics="ndcg@10", dataset="pool")
    (metric,) = comparison.comparisons[0].metrics
    assert (metric.verdict, metric.told, metric.is_open) == ("regressed", "open", True)
    assert metric.open == "unjudged"
    assert metric.about.unjudged is not None
    assert metric.others["low"].delta == pytest.approx(metric.delta)
    assert metric.others["high"].verdict != "regressed"
    first = " ".join(str(comparison).partition("\n\n")[0].split())
    assert first == f"new against old on pool (300 queries): ndcg@10 worse by {-metric.delta:.4f} as judged; open"
    n_items, n_groups = metric.about.unjudged.n_items, metric.about.unjudged.n_groups
    closing = f"{n_items} unjudged items can change ndcg@10: grade those of {n_groups} queries: ndcg-track labels"
    assert comparison.notes == (
        f"{closing} sample old new --budget {n_items} --metric ndcg@10 --dataset pool",
    )  # and none that guesses at what is known now


def test_the_other_way_round_the_other_end_turns_it(pool: nt.Tracker) -> None:
    comparison = pool.compare("new", "old", metrics="ndcg@10", dataset="pool")
    assert comparison.comparisons[0].metrics[0].verdict == "improved"
    assert str(comparison).partition("\n\n")[0].endswith(" as judged; open")


def test_a_metric_without_a_range_keeps_its_verdict_and_its_note(pool: nt.Tracker) -> None:
    comparison = pool.compare("old", "new", metrics="ERR", dataset="pool")
    assert not comparison.comparisons[0].metrics[0].is_open
    assert comparison.notes == (
        "unjudged items count as not relevant, because no bound on their effect is known for ERR",
    )


def test_programs_read_both_ends(pool: nt.Tracker, capsys: pytest.CaptureFixture[str]) -> None:
    line = CommandLine(pool.location, capsys)
    asked = ("compare", "old", "new", "--metric", "ndcg@10", "--dataset", "pool", "--format")
    metric = json.loads(line.done(*asked, "json"))["metrics"][0]
    assert metric["verdict"] == "regressed"
    assert (metric["is_open"], metric["open"]) == (True, "unjudged")
    assert metric["judged"]["baseline"] == 1.0
    (row,) = list(csv.DictReader(io.StringIO(line.done(*asked, "csv"))))
    assert float(row["delta_high"]) == metric["unjudged"]["high"]["delta"]
    assert (row["is_open"], row["verdict_high"]) == ("true", metric["unjudged"]["high"]["verdict"])
    assert float(row["candidate_judged"]) == metric["judged"]["candidate"]
    text = line.done("compare", "old", "new", "--metric", "ndcg@10", "--dataset", "pool", "-v")
    assert "judged: share of the first ranks with a label" in text
    assert f"100.0%, {metric['judged']['candidate']:.1%}" in text


def frame(order: str, *, above: str = "") -> pd.DataFrame:
    """Return a run that ranks items in one order in every group; in two of three groups ``above`` stands first."""
    return pd.DataFrame(
        [
            (group, item, float(-rank))
            for place, group in enumerate(GROUPS)
            for rank, item in enumerate([*(above if place % 3 else ""), *order])
        ],
        columns=["group", "item", "score"],
    )


def rows(grades: dict[str, int], groups: list[str] = GROUPS) -> pd.DataFrame:
    chosen = [(group, item, grade) for group in groups for item, grade in grades.items()]
    return pd.DataFrame(chosen, columns=["group", "item", "label"])


def test_a_range_that_is_wider_than_half_is_not_in_the_headline(tracker: nt.Tracker) -> None:
    tracker.ingest(frame("ab"), name="old", labels=rows({"a": 1, "b": 0}), metrics=["R@2"])
    tracker.ingest(frame("ab", above="xy"), name="new", metrics=["R@2"])
    comparison = tracker.compare("old", "new", metrics="R@2")
    (metric,) = comparison.comparisons[0].metrics
    assert metric.delta == pytest.approx(-2 / 3)
    assert metric.others["high"].delta == pytest.approx(0.0)  # x is relevant with chance 1, y with 0
    assert metric.is_open
    head, _, rest = str(comparison).partition("\n\n")
    assert head == "new against old on default (120 queries): R@2 worse by 0.6667 as judged; open"
    assert "-0.67 to " in rest


def test_who_labelled_what_may_have_made_a_difference(tracker: nt.Tracker) -> None:
    """A lenient model labelled what the baseline ranks, people what only the candidate does."""
    tracker.ingest(frame("abcd"), name="old", labels=rows({"a": 1, "b": 1, "c": 1, "d": 1}))
    tracker.ingest(frame("abcd", above="xy"), name="new")
    added = tracker.add_labels(rows({"x": 0, "y": 1}), extend=True, added_by="people", rescore=True)
    assert (added[0], added.extends) == (2, 1)
    comparison = tracker.compare("old", "new", labels=2)
    assert comparison.comparisons[0].metrics[0].open is None
    told = (
        "judge 'people' labelled 25.0% of the candidate's judged first ranks, 0.0% of the baseline's: the difference "
        "may come from who labelled"
    )
    assert told in comparison.notes
    gated = tracker.gate("new", baseline="old", margin=0.01, labels=2)
    assert (gated.decision, gated.reason) == ("inconclusive", told)
    assert told not in gated.notes
    assert tracker.gate("new", baseline="old", margin=0.01, labels=2, unjudged="zero").decision == "fail"
    decided = tracker.query("SELECT judge, unjudged, delta_low, decision FROM gate_decisions ORDER BY decision_id").rows
    assert decided == [("", "range", None, "inconclusive"), ("", "zero", None, "fail")]


def test_one_hand_that_extends_its_own_labels_says_nothing(tracker: nt.Tracker) -> None:
    tracker.ingest(frame("abcd"), name="old", labels=rows({"a": 1, "b": 1, "c": 1, "d": 1}))
    tracker.ingest(frame("abcd", above="xy"), name="new")
    tracker.add_labels(rows({"x": 0, "y": 1}), extend=True, rescore=True)
    comparison = tracker.compare("old", "new", labels=2)
    assert comparison.comparisons[0].metrics[0].open is None
    assert tracker.gate("new", baseline="old", margin=0.01, labels=2).decision == "fail"


POSITIVES = {"a": 1, "b": 1}


@pytest.mark.parametrize(("shown", "decision"), [([], "fail"), (["old", "new"], "fail"), (["old"], "inconclusive")])
def test_positives_from_logs_decide_on_runs_that_were_shown(
    tracker: nt.Tracker, shown: list[str], decision: str
) -> None:
    tracker.add_labels(rows(POSITIVES), from_runs=shown)
    tracker.ingest(frame("abcd"), name="old")
    tracker.ingest(frame("abcd", above="xy"), name="new")
    gated = tracker.gate("new", baseline="old", margin=0.01)
    assert gated.decision == decision
    text = str(gated)
    rests = "  rests on: unjudged items count as not relevant, because no label has grade 0"
    assert (rests in text.splitlines()) == (decision == "fail")
    if decision == "fail":
        return
    told = "the labels come from the logs of old: items that only new ranks first were never shown"
    assert gated.reason == told
    assert told in tracker.compare("old", "new").notes


def test_a_decision_keeps_what_was_open(pool: nt.Tracker) -> None:
    gated = pool.gate("new", baseline="old", dataset="pool", margin=0.01)
    left = gated.gated.decision.open_delta
    of_suite = pool.gate("new", suite="all", baseline="old", margin=0.01).gated.decision.open_delta
    assert None not in (*left, *of_suite)
    columns = "judge, unjudged, delta_low, delta_high"
    assert pool.query(f"SELECT {columns} FROM gate_decisions").rows == [("", "range", *left)]
    assert pool.query(f"SELECT {columns} FROM suite_gate_decisions").rows == [("", "range", *of_suite)]


def test_what_labels_come_from_may_be_said_later_and_follows_a_rename(tracker: nt.Tracker) -> None:
    tracker.ingest(frame("abcd"), name="old", labels=rows(POSITIVES))
    tracker.ingest(frame("abcd", above="xy"), name="new")
    assert tracker.gate("new", baseline="old", margin=0.01, dry_run=True).decision == "fail"
    assert tracker.add_labels(rows(POSITIVES), from_runs=["old"]) == (1, False)
    assert tracker.gate("new", baseline="old", margin=0.01, dry_run=True).decision == "inconclusive"
    tracker.rename_run("old", "prod")
    assert [version.from_runs for version in tracker.label_versions()] == [("prod",)]
    with pytest.raises(nt.ConflictError, match="stored as version 1, with a different from_runs=; see it with"):
        tracker.add_labels(rows(POSITIVES), from_runs=["new"])


def test_another_hand_and_unjudged_items_are_told_together(tracker: nt.Tracker) -> None:
    tracker.ingest(frame("abcd"), name="old", labels=rows({"a": 1, "b": 0, "c": 1, "d": 0}))
    tracker.ingest(frame("abcd", above="xyz"), name="new")
    tracker.add_labels(rows({"x": 0, "y": 0}), extend=True, added_by="people", rescore=True)
    gated = tracker.gate("new", baseline="old", margin=0.01, labels=2)
    assert (gated.decision, gated.reason[:16]) == ("inconclusive", "judge 'people' l")
    assert gated.gated.decision.ways.margin is None, "no margin would PASS while hands are apart"
    comparison = tracker.compare("old", "new", labels=2)
    assert comparison.comparisons[0].metrics[0].about.unjudged is not None
    assert any(note.startswith("judge 'people' labelled") for note in comparison.notes)


def test_of_very_many_groups_the_gate_is_named(tracker: nt.Tracker) -> None:
    n = 20_001
    groups = [f"q{number}" for number in range(n)]
    run = {"group": groups * 2, "item": ["a"] * n + ["b"] * n, "score": [2.0] * n + [1.0] * n}
    labels = {"group": groups, "item": ["a"] * n, "label": [number % 2 for number in range(n)]}
    tracker.ingest(run, name="old", labels=labels)
    tracker.ingest({**run, "score": [float(number % 3) for number in range(n)] + [1.0] * n}, name="new")
    comparison = tracker.compare("old", "new")
    assert not comparison.comparisons[0].metrics[0].is_open
    told = "with so many queries, only a gate computes the effect of unjudged items on the verdict"
    assert told in comparison.notes
