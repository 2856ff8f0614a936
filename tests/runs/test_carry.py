"""``Tracker.carry_labels``: labels that follow their items to new ids, and what runs are worth under them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.runs.carry import UnclearItem
from ndcg_tracker.runs.check import check_database

Lists = dict[str, dict[str, float]]

LABELS: Lists = {"q": {"a": 2, "b": 1}, "r": {"a": 1, "c": 3}}
OLD: Lists = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}, "r": {"x": 3.0, "c": 2.0, "a": 1.0}}
"""A run with the ids of the labels."""


def renamed(lists: Lists, names: dict[str, str]) -> Lists:
    return {group: {names.get(item, item): n for item, n in items.items()} for group, items in lists.items()}


def deltas(tracker: nt.Tracker, **of: object) -> list[float | None]:
    (compared,) = tracker.compare("old", "new", **of).comparisons  # type: ignore[arg-type]
    return [metric.delta for metric in compared.metrics]


METRICS = ["ndcg@10", "R@2", "RR", "Success@1"]
NEW_NAMES = {"a": "n1", "b": "n2", "c": "n3"}


@pytest.mark.both_engines
@pytest.mark.nightly(but=3)
def test_a_mapping_makes_old_and_new_ids_one(tracker: nt.Tracker, database_url: str) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS, metrics=METRICS)
    tracker.ingest(renamed(OLD, NEW_NAMES), name="new", metrics=METRICS, allow="no-overlap")
    assert deltas(tracker) != [0.0] * len(METRICS)
    done = tracker.carry_labels({**NEW_NAMES, "unlabelled": "n9"}, rescore=True)
    assert (done.version, done.is_new, done.n_carried, done.unclear, done.n_alone) == (2, True, 3, (), 0)
    assert (done.n_without_label, len(done.rescored)) == (1, 2)
    assert deltas(tracker) == [0.0] * len(METRICS)
    again = tracker.carry_labels(NEW_NAMES)
    assert (again.version, again.is_new, again.n_carried) == (2, False, 3)
    assert check_database(database_url).damage == []


@pytest.mark.both_engines
def test_labels_that_are_given_again_or_grow_follow_the_ids(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS, metrics=METRICS)
    tracker.carry_labels(NEW_NAMES, rescore=True)
    tracker.ingest(renamed(OLD, NEW_NAMES), name="new", labels=LABELS, metrics=METRICS)  # the old file of labels
    assert deltas(tracker) == [0.0] * len(METRICS)
    tracker.add_labels({"q": {"x": 1}, "s": {"n1": 1}}, extend=True, rescore=True)
    labels = tracker.sql("SELECT group_key, item_key, grade FROM labels WHERE label_set_version = 3")
    assert {tuple(row) for row in labels.itertuples(index=False)} == {
        ("q", "a", 2), ("q", "b", 1), ("q", "x", 1), ("r", "a", 1), ("r", "c", 3), ("s", "a", 1)
    }  # fmt: skip
    assert deltas(tracker) == [0.0] * len(METRICS)


def test_labels_that_were_rewritten_to_new_ids_are_carried_to_the_old_ones(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS, metrics=METRICS)
    tracker.add_labels(renamed(LABELS, NEW_NAMES), replace=True)
    tracker.ingest(renamed(OLD, NEW_NAMES), name="new", metrics=METRICS)
    tracker.carry_labels(NEW_NAMES, rescore=True)
    assert deltas(tracker) == [0.0] * len(METRICS)


def test_a_pattern_is_removed_from_every_id_also_of_runs_to_come(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS, metrics=METRICS)
    done = tracker.carry_labels(pattern="^v2-", rescore=True)
    assert (done.version, done.n_carried) == (2, 0)
    tracker.ingest(renamed(OLD, {item: f"v2-{item}" for item in "abcx"}), name="new", metrics=METRICS)
    assert deltas(tracker) == [0.0] * len(METRICS)
    assert tracker.carry_labels(pattern="^v2-").n_carried == 3
    assert tracker.carry_labels({"a": "z"}).version == 3
    assert tracker.carry_labels(pattern="^w-").version == 4
    tracker.ingest({"q": {"w-v2-z": 2.0, "w-x": 1.0}}, name="both", metrics=["R(missing=skip)@1"])
    assert tracker.sql("SELECT mean FROM run_summary WHERE run = 'both'")["mean"].tolist() == [0.5]


def test_an_item_counts_once_at_its_higher_place(tracker: nt.Tracker) -> None:
    tracker.ingest({"q": {"n1": 3.0, "a": 2.0, "b": 1.0}}, name="old", labels={"q": LABELS["q"]}, metrics=METRICS)
    tracker.ingest({"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, name="new", metrics=METRICS)
    tracker.carry_labels(NEW_NAMES, rescore=True)
    assert deltas(tracker) == [0.0] * len(METRICS)
    (compared,) = tracker.compare("old", "new").comparisons
    assert compared.metrics[2].baseline == 1.0  # RR


def test_ids_that_become_equal_have_the_highest_grade(tracker: nt.Tracker) -> None:
    tracker.ingest(OLD, name="old", labels={"q": {"a": 1, "n1": 3, "b": 2}})
    assert tracker.carry_labels({"a": "n1"}).version == 2
    labels = tracker.sql("SELECT item_key, grade FROM labels WHERE label_set_version = 2")
    assert dict(labels.itertuples(index=False)) == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("mapping", "unclear"),
    [
        ([("a", "n1"), ("a", "n2")], (UnclearItem("a", ("n1", "n2")),)),
        ([("a", "b"), ("b", "n2")], (UnclearItem("a", ("b",)), UnclearItem("b", ("n2",)))),
    ],
)
def test_a_split_item_and_an_id_that_is_used_again_are_listed(
    tracker: nt.Tracker, tmp_path: Path, mapping: list[tuple[str, str]], unclear: tuple[UnclearItem, ...]
) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS)
    path = tmp_path / "mapping.csv"
    path.write_text("old,new\n" + "".join(f"{old},{new}\n" for old, new in mapping))
    done = tracker.carry_labels(str(path))
    assert (done.version, done.is_new, done.n_carried, done.unclear) == (1, False, 0, unclear)


WORDS = [f"word{number}" for number in range(2000)]


def world(share: float, split: float, seed: int, n_groups: int) -> tuple[Lists, Lists, Lists, dict[str, str], int, int]:
    """Return labels, a run before and after a renaming, all texts, how many labelled items changed, and were split."""
    chance = random.Random(seed)
    labels, old, new = {}, {}, {}
    texts, n_changed, n_split = dict[str, str](), 0, 0
    for number in range(n_groups):
        group, items = f"q{number}", [f"d{number}-{place}" for place in range(8)]
        relevant, listed = chance.sample(items, 3), chance.sample(items, 7)
        names = {item: f"n{number}-{place}" for place, item in enumerate(items) if chance.random() < share}
        for item in items:
            words = chance.choices(WORDS, k=40)
            texts[item] = " ".join(words)
            is_split = item in names and chance.random() < split
            n_changed += item in names and item in relevant
            n_split += is_split and item in relevant
            if is_split:
                texts[names[item]], texts[f"{names[item]}+"] = " ".join(words[:20]), " ".join(words[20:])
            else:
                texts[names.get(item, item)] = " ".join(words)
        labels[group] = {item: float(chance.randint(1, 3)) for item in relevant}
        old[group] = {item: 20.0 - place for place, item in enumerate(listed)}
        new[group] = {names.get(item, item): 20.0 - place for place, item in enumerate(listed)}
    return labels, old, new, texts, n_changed, n_split


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize("share", [0.1, 0.2, 0.4, 0.6])
def test_renamed_items_are_carried_by_their_texts(tracker: nt.Tracker, share: float) -> None:
    carry_by_texts(tracker, share, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 50))
@pytest.mark.parametrize("share", [0.1, 0.2, 0.4, 0.6])
def test_two_hundred_renamings_are_carried_by_texts(tmp_path: Path, share: float, seed: int) -> None:
    """With the test above, which is of both engines."""
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        carry_by_texts(tracker, share, seed)


def carry_by_texts(tracker: nt.Tracker, share: float, seed: int) -> None:
    for split in (0.0, 0.1):
        of = {"dataset": f"split {split}"}
        labels, old, new, texts, n_changed, n_split = world(share, split, seed, n_groups=300 if split == 0 else 60)
        tracker.ingest(old, name="old", labels=labels, texts=texts, metrics=METRICS, **of)
        tracker.ingest(new, name="new", texts=texts, metrics=METRICS, **of)
        done = tracker.carry_labels(by_text=True, rescore=True, **of)
        assert (done.n_carried, done.n_unclear) == (n_changed - n_split, n_split)
        assert all(len(item.others) == 2 for item in done.unclear)
        if split == 0:
            assert deltas(tracker, **of) == [0.0] * len(METRICS)


def test_a_longer_passage_has_the_label_and_one_that_joins_two_is_unclear(tracker: nt.Tracker) -> None:
    one, two, three = (" ".join(WORDS[first : first + 30]) for first in (0, 100, 200))
    tracker.ingest(OLD, name="old", labels=LABELS, texts={"a": one, "b": two, "c": three})
    tracker.add_texts({"item": ["n1", "n2"], "text": [f"{one} and more", f"{two} {three}"]})
    done = tracker.carry_labels(by_text=True)
    assert done.n_carried == 1
    assert sorted(item.item for item in done.unclear) == ["b", "c"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "labels are carried by one of: a mapping, a pattern, texts; give a file of old and new ids, "
             "pattern='^v2-' or by_text=True"),
        ({"mapping": {"z": "y"}}, "no id of the mapping has a label in dataset 'default'; see some with: "
                                  "ndcg-track labels list"),
        ({"by_text": True}, "no labelled item has the text of another id in dataset 'default'; see some with: "
                            "ndcg-track labels list"),
        ({"pattern": "(?=a)"}, "pattern='(?=a)' is not a valid pattern: invalid perl operator: (?=; write a regular "
                               "expression for what to remove from an id, such as ^v2-"),
    ],
)  # fmt: skip
def test_nothing_to_carry(tracker: nt.Tracker, asked: dict[str, object], told: str) -> None:
    tracker.ingest(OLD, name="old", labels=LABELS)
    assert refusal_of(InputError, tracker.carry_labels, **asked) == told
