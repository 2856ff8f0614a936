"""Labels that became another scale by slip: what compare says first, and what its advice leaves as it is."""

import shlex

import pytest
from command_line import CommandLine
from small_shop import frame_of

import ndcg_tracker as nt
from ndcg_tracker.words.notes import command_line

GROUPS, ITEMS = [f"q{number:02}" for number in range(20)], "abcdef"
GRADES = {group: {item: place % 5 for place, item in enumerate(ITEMS)} for group in GROUPS}
CLICKS = {group: {item: int(item == ITEMS[place % 6]) for item in ITEMS} for place, group in enumerate(GROUPS)}
LIGHTGBM = "lightgbm:ndcg@10"
CHANGED = (
    "labels version 2 is not like version 1: its grades are 0 and 1, those of version 1 are 0, 1, 2, 3 and 4; 83 of "
    "120 labels have another grade"
)
BACK = f"{CHANGED}; to compare under version 1"


@pytest.fixture
def slipped(tracker: nt.Tracker) -> nt.Tracker:
    """Three runs under grades from 0 to 4, and clicks as the next version."""
    runs = {"old": "abcdef", "new": "edcbaf", "third": "fabcde"}
    for name, order in runs.items():
        run = {group: {item: float(-order.index(item)) for item in ITEMS} for group in GROUPS}
        tracker.ingest(
            frame_of(run), name=name, dataset="shop", labels=frame_of(GRADES, "label"), metrics=["ndcg@10", LIGHTGBM]
        )
    assert tracker.add_labels(frame_of(CLICKS, "label"), dataset="shop") == (2, True)
    return tracker


def test_newer_labels_of_another_scale_are_told_before_they_are_used(slipped: nt.Tracker) -> None:
    found = slipped.compare("old", "new", metrics=["ndcg@10", LIGHTGBM])
    assert found.notes[:2] == (
        CHANGED,
        "labels version 2 is newer than version 1, which the runs share; to use it: ndcg-track rescore old new "
        f"--dataset shop --metric ndcg@10 --metric {LIGHTGBM} --labels 2",
    )
    told = " ".join(str(found).split())
    assert (told.count(f"note: {CHANGED}"), told.count("is not like")) == (1, 1)


def test_labels_of_another_scale_are_told_with_the_way_back(slipped: nt.Tracker) -> None:
    before = slipped.compare("old", "new").comparisons[0].metrics[0]
    slipped.rescore(["old", "new"], dataset="shop")
    found = slipped.compare("old", "new", metrics="ndcg@10")
    assert found.comparisons[0].metrics[0].delta != before.delta
    command = "ndcg-track compare old new --dataset shop --metric ndcg@10 --labels 1"
    assert found.notes == (f"{BACK}: {command}",)
    assert f"note: {BACK}: {command}" in " ".join(str(found).split())
    (note,) = found.comparisons[0].notes
    assert command_line(note.command) == command
    back = slipped.compare("old", "new", labels=1)
    assert (back.comparisons[0].metrics[0].delta, back.notes) == (before.delta, ())
    slipped.rescore(["third"], dataset="shop")
    several = slipped.compare("old", "new", "third", metrics="ndcg@10")
    command = "ndcg-track compare old new third --dataset shop --metric ndcg@10 --labels 1"
    assert f"note: {BACK}: {command}" in " ".join(str(several).split())
    assert str(several).count("is not like") == 1


def test_labels_that_grow_or_change_a_little_are_not_told(tracker: nt.Tracker) -> None:
    runs = {
        name: {group: {item: float(place) for item in ITEMS} for group in GROUPS} for place, name in enumerate("ab")
    }
    steps = [GRADES | {"q00": GRADES["q00"] | {"g": 4}}, GRADES | {"q00": dict.fromkeys(ITEMS, 4)}]
    for labels in (GRADES, *steps):
        for name, run in runs.items():
            tracker.ingest(frame_of(run), name=name, labels=frame_of(labels, "label"))
        assert not any("is not like" in note for note in tracker.compare("a", "b").notes)
    measured = {group: {item: 0.01 * place for place, item in enumerate(ITEMS)} for group in GROUPS}
    tracker.add_labels(frame_of(measured, "label"), rescore=True)
    assert "; 101 of 120 labels have another grade; to compare under version 3: " in tracker.compare("a", "b").notes[0]


def test_advice_names_the_labels_that_most_runs_have(slipped: nt.Tracker) -> None:
    told = "; that is the version of the labels that most runs have; for the latest: --labels 2"
    typed = "--dataset shop --metric lightgbm:ndcg@5 --labels 1"
    with pytest.raises(nt.NotComparableError) as lacking:
        slipped.compare("old", "new", metrics="lightgbm:ndcg@5")
    assert str(lacking.value).endswith(
        f"under one version of the labels; type: ndcg-track rescore old new {typed}{told}"
    )
    with pytest.raises(nt.NotComparableError) as unranked:
        slipped.leaderboard("old", "new", metrics="lightgbm:ndcg@5", dataset="shop")
    assert str(unranked.value).endswith(f"ndcg-track rescore old new {typed}{told}")
    with pytest.raises(nt.NotComparableError) as unexplained:
        slipped.explain("old", "new", metric="dcg@5", dataset="shop")
    assert str(unexplained.value).endswith(
        f"type: ndcg-track rescore old new --dataset shop --metric dcg@5 --labels 1{told}"
    )
    slipped.rescore(["new"], dataset="shop")
    with pytest.raises(nt.NotComparableError, match="--labels 1; that is"):  # one run more has version 1
        slipped.compare("old", "new", metrics="lightgbm:ndcg@5")
    slipped.rescore(dataset="shop")
    with pytest.raises(nt.NotComparableError) as even:
        slipped.compare("old", "new", metrics="lightgbm:ndcg@5")
    assert str(even.value).endswith("ndcg-track rescore old new --dataset shop --metric lightgbm:ndcg@5")


def test_what_is_advised_leaves_the_runs_under_their_labels(slipped: nt.Tracker, command: CommandLine) -> None:
    before = command.rows("compare", "old", "new", "--metric", LIGHTGBM)["metrics"][0]["delta"]
    refused = command.refused("compare", "old", "new", "--metric", "P@3", code=5)
    advised = refused[refused.index("ndcg-track ") :].partition(";")[0]
    assert command(*shlex.split(advised)[1:]).code == 0
    found = command.rows("compare", "old", "new", "--metric", "P@3")
    assert found["label_set"]["version"] == 1
    assert command.rows("compare", "old", "new", "--metric", LIGHTGBM)["metrics"][0]["delta"] == before
    advised = command.refused("history", "--metric", "P@2", "--dataset", "shop").partition("with: ")[2]
    assert advised.startswith("ndcg-track rescore --all --dataset shop --metric P@2 --labels 1; that is the version")
    listed = command.refused("runs", "list", "--metric", "P@2", code=5).partition("with: ")[2]
    assert listed == advised
