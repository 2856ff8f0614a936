"""Checkpoints of trainings: members of no arm, pattern, leaderboard or history unless somebody asks for them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ndcg_tracker as nt
from ndcg_tracker.compare.arms import without_checkpoints
from ndcg_tracker.errors import NdcgTrackerError
from ndcg_tracker.questions.history.gather import HistoryFilter
from ndcg_tracker.questions.leaderboard import ranked_runs

GROUPS = [f"q{number:02}" for number in range(30)]
FINALS = [f"{recipe}-{seed}" for recipe in ("old", "new") for seed in range(3)]
COUNTS = "a checkpoint counts only by its name or with the tag stage=iteration"


def left_out(n: int, first: str, of: str = "") -> str:
    return f"left out{of}: {n} checkpoint{'s' * (n > 1)} of trainings, such as {first}: {COUNTS}"


def fill(url: str) -> None:
    """Two recipes of three trainings, each with two checkpoints that have its tags, and one training under way."""
    rng = np.random.default_rng(7)
    grades = rng.choice(4, (30, 8), p=[0.5, 0.2, 0.2, 0.1])
    grades[:, 0] = 3
    frame = {"group": np.repeat(GROUPS, 8).tolist(), "item": list("abcdefgh") * 30, "label": grades.ravel().tolist()}
    base = grades * 0.5 + rng.normal(size=grades.shape)

    def store(tracker: nt.Tracker, name: str, gain: float, **tags: str) -> None:
        scores = base + gain * grades + rng.normal(0, 0.4, grades.shape)
        tracker.ingest({**frame, "score": scores.ravel().tolist()}, name=name, dataset="ltr", tags=tags)

    with nt.Tracker(url) as tracker:
        for recipe, gain in (("old", 0.0), ("new", 0.6)):
            for seed in range(3):
                of = {"recipe": recipe, "seed": str(seed), "training": f"{recipe}-{seed}"}
                for place, share in enumerate((0.2, 0.6), 1):
                    store(tracker, f"{recipe}-{seed}/iter-{place}", gain + share - 1, **of, stage="iteration")
                store(tracker, f"{recipe}-{seed}", gain, **of, stage="final")
        store(tracker, "late/iter-1", 0.1, recipe="late", stage="iteration")


@pytest.fixture
def ltr(fill_as: Callable[[Callable[[str], object]], None], database_url: str) -> Iterator[nt.Tracker]:
    fill_as(fill)
    with nt.Tracker(database_url) as tracker:
        yield tracker


def test_an_arm_is_the_finished_trainings(ltr: nt.Tracker) -> None:
    found = ltr.compare("tag:recipe=old", "tag:recipe=new")
    assert [
        [run.name for run in side.runs] for side in (found.comparisons[0].baseline, found.comparisons[0].candidate)
    ] == [
        FINALS[:3],
        FINALS[3:],
    ]
    told = [left_out(6, f"{recipe}-0/iter-1", f" of tag:recipe={recipe}") for recipe in ("old", "new")]
    assert [note for note in found.notes if "checkpoint" in note] == told
    gate = ltr.gate("tag:recipe=new", baseline="tag:recipe=old", margin=0.2, dry_run=True)
    assert [note for note in gate.notes if "checkpoint" in note] == told
    assert gate.gated.decision.delta == found.comparisons[0].metrics[0].delta
    board = ltr.leaderboard("tag:recipe=old", "tag:recipe=new")
    assert [[run.name for run in arm.runs] for arm in board.leaderboard.runs] == [FINALS[3:], FINALS[:3]]
    assert [note for note in board.notes if "checkpoint" in note] == told


@pytest.mark.nightly
def test_further_tags_narrow_an_arm(ltr: nt.Tracker) -> None:
    found = ltr.compare("tag:recipe=old,stage=final", "tag:recipe=new,stage=iteration,seed=0")
    assert [run.name for run in found.comparisons[0].candidate.runs] == ["new-0/iter-1", "new-0/iter-2"]
    assert not [note for note in found.notes if "checkpoint" in note]
    for name in FINALS[3:5]:
        ltr.tag_run(name, {"note": "a,b"})
    of_note = ltr.compare("old-0", "tag:note=a,b,recipe=new").comparisons[0].candidate
    assert [run.name for run in of_note.runs] == FINALS[3:5]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda ltr: ltr.compare("old-0", "tag:recipe=late"),
            "only checkpoints of trainings have the tag recipe=late; to take these, write "
            "tag:recipe=late,stage=iteration",
        ),
        (
            lambda ltr: ltr.compare("old-1", "tag:training=old-0"),
            "arm 'tag:training=old-0' has one run, 'old-0', and checkpoints, but needs 2 or more; give further "
            "trainings this tag, or name the run itself to compare it",
        ),
        (
            lambda ltr: ltr.compare("old-1", "tag:recipe=new,recipe=old"),
            "'tag:recipe=new,recipe=old' is not an arm; write tag:KEY=VALUE, such as tag:arm=a, and further tags after "
            "a comma, each key once",
        ),
        (
            lambda ltr: ltr.compare("old-1", "tag:recipe=new,stage=best"),
            "no run has the tag recipe=new and stage=best; give it with: ndcg-track runs tag RUN recipe=new stage=best",
        ),
        (
            lambda ltr: ltr.compare("old-1", "tag:stage=final,recipe=nww"),
            "no run has the tag stage=final and recipe=nww; did you mean 'tag:stage=final,recipe=new'?",
        ),
        (
            lambda ltr: ltr.leaderboard(tags={"recipe": "late"}),
            "these runs are only checkpoints of trainings; to rank these, give tags='stage=iteration'",
        ),
    ],
)
def test_what_is_refused(ltr: nt.Tracker, ask: Callable[[nt.Tracker], Any], message: str) -> None:
    with pytest.raises(NdcgTrackerError) as refusal:
        ask(ltr)
    assert str(refusal.value) == message


def test_equal_repeats_are_told(ltr: nt.Tracker) -> None:
    rows = ltr.sql("SELECT group_key, item_key, score FROM items WHERE run = 'old-1'")
    copy = {"group": rows["group_key"], "item": rows["item_key"], "score": rows["score"]}
    ltr.ingest(copy, name="old-9", dataset="ltr", tags={"recipe": "old"})
    told = "old-1 and old-9 of tag:recipe=old have equal rankings: not independent repeats"
    assert told in ltr.compare("old-0/iter-1", "tag:recipe=old").notes
    assert told in ltr.leaderboard("tag:recipe=old", "tag:recipe=new").notes
    assert told in ltr.gate("tag:recipe=new", baseline="tag:recipe=old", margin=0.2, dry_run=True).notes


def test_a_pattern_names_checkpoints_only_where_it_fits_nothing_else(ltr: nt.Tracker) -> None:
    def candidates(*references: str) -> list[str]:
        return [one.candidate.name for one in ltr.compare("old-0", *references).comparisons]

    assert candidates("new-*") == FINALS[3:]
    assert candidates("new-*", "late*") == FINALS[3:]
    assert candidates("new-0/iter-2", "new-*") == ["new-0/iter-2", *FINALS[3:]]
    assert candidates("old-0*") == ["old-0/iter-1", "old-0/iter-2"]
    assert left_out(7, "new-0/iter-1") in ltr.compare("old-0", "new-*", "late*").notes
    board = ltr.leaderboard("new-*", "late/iter-1")
    assert {run.name for run in board.leaderboard.runs} == {*FINALS[3:], "late/iter-1"}
    assert left_out(6, "new-0/iter-1") in board.notes
    of_one = ltr.leaderboard("old-*", tags={"stage": "iteration", "seed": "0"}).leaderboard.runs
    assert {run.name for run in of_one} == {"old-0/iter-1", "old-0/iter-2"}
    needed = ltr.labels_needed("old-0", "new-*").needed
    assert [run.name for run in needed.candidates] == FINALS[3:]
    assert [note.kind for note in needed.notes] == ["checkpoints"]


def test_a_leaderboard_and_a_history_take_finished_runs(ltr: nt.Tracker) -> None:
    board = ltr.leaderboard()
    assert {run.name for run in board.leaderboard.runs} == set(FINALS)
    assert left_out(13, "old-0/iter-1") in board.notes
    assert len(ltr.leaderboard(tags={"stage": "iteration"}).leaderboard.runs) == 13
    assert ltr.best(tags={"recipe": "late"}, dataset="ltr").name == "late/iter-1"
    assert ltr.best(dataset="ltr").name == board.leaderboard.runs[0].name
    assert len(ranked_runs(ltr, dataset="ltr")[0]) == 19
    report = ltr.history_report("ndcg@10", dataset="ltr")
    assert [row["run"] for row in report.rows] == FINALS
    assert left_out(13, "old-0/iter-1") in report.notes
    of_training = HistoryFilter(tags={"training": "new-1", "stage": "iteration"})
    shown = ltr.history_report("ndcg@10", dataset="ltr", wanted=of_training)
    assert [row["run"] for row in shown.rows] == ["new-1/iter-1", "new-1/iter-2"]


@pytest.mark.nightly
def test_the_latest_run_is_a_finished_one(ltr: nt.Tracker) -> None:
    assert [ltr.run(name)[0].name for name in ("latest", "latest~1", "latest~5")] == ["new-2", "new-1", "old-0"]
    only = {"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}
    ltr.ingest(only, name="x/iter-1", dataset="other", tags={"stage": "iteration"})
    assert ltr.run("latest", dataset="other")[0].name == "x/iter-1"


def test_the_systems_of_a_suite_are_finished_runs(ltr: nt.Tracker) -> None:
    ltr.create_suite("all", ["ltr"])
    for name in ("old-0", "old-0/iter-1", "new-0", "new-0/iter-1"):
        ltr.tag_run(name, {"system": name[:3]})
    board = ltr.leaderboard(suite="all", by_tag="system").leaderboard
    assert {run.name for run in board.runs} == {"old", "new"}
    assert [note.kind for note in board.notes] == ["checkpoints"]
    found = ltr.compare("old-0", "new-*", suite="all")
    assert [one.candidate.name for one in found.comparisons] == FINALS[3:]
    notes = found.comparisons[0].notes
    assert [str(note.facts["first"]) for note in notes if note.kind == "checkpoints"] == ["new-0/iter-1"]
    assert ltr.compare("old-0/iter-1", "old-0", suite="all").comparisons[0].baseline.name == "old-0/iter-1"
    history = ltr.history_report(suite="all")
    assert {row["run"] for row in history.rows} == set(FINALS)


def test_a_report_on_all_runs_says_why_checkpoints_are_not_in_it(ltr: nt.Tracker) -> None:
    others, apart = ltr.comparable_others("old-0", dataset="ltr")
    assert [run.name for run in others] == FINALS[1:]
    assert {str(why) for _, why in apart} == {"it is a checkpoint of a training; name it to compare it"}


def test_tags_alone_choose_where_nothing_is_a_checkpoint(ltr: nt.Tracker) -> None:
    finals = [run for run in ltr.runs() if not run.is_checkpoint]
    chosen, notes = without_checkpoints(finals, {"recipe": "new"})
    assert ([run.name for run in chosen], notes) == (FINALS[3:], [])
