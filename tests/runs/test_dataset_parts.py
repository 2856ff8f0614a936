"""A dataset that was split: what moves, what stays, what comes later, and what may not come back."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from command_line import CommandLine
from ranked_runs import N_ITEMS
from refused import refusal_of
from small_shop import write_csv
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.runs.parts import is_chosen
from ndcg_tracker.storage.records import SealRecord

N_GROUPS, N_USERS = 120, 30
GROUPS = [f"q{number:03}" for number in range(N_GROUPS)]
USER_OF = {group: f"u{number % N_USERS}" for number, group in enumerate(GROUPS)}
UNLABELLED = "q999"


def labels_of(groups: list[str], grade: int = 1) -> dict[str, list[object]]:
    return {"group": list(groups), "item": [f"Mark-{group}" for group in groups], "label": [grade] * len(groups)}


def run_of(groups: list[str], *, place: int = 1) -> dict[str, list[object]]:
    """Return a run whose labelled item is at a place of each list."""
    frame: dict[str, list[object]] = {"group": [], "item": [], "score": []}
    for group in groups:
        items = [f"other{number}-{group}" for number in range(1, N_ITEMS)]
        items.insert(place - 1, f"Mark-{group}")
        frame["group"] += [group] * N_ITEMS
        frame["item"] += items
        frame["score"] += [float(-number) for number in range(N_ITEMS)]
    return frame


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.add_labels(read_label_frame(labels_of(GROUPS)), dataset="shop")
        tracker.add_labels(read_label_frame(labels_of(GROUPS, 2)), dataset="shop")
        tracker.add_labels(read_label_frame(labels_of(GROUPS[:80])), dataset="shop", judge="llm")
        weights = [1.0 + number for number in range(N_GROUPS)]
        facts: dict[str, Any] = {"group": GROUPS, "user": list(USER_OF.values()), "weight": weights}
        tracker.set_groups(facts, dataset="shop", weight="weight")
        tracker.add_texts({"group": GROUPS, "text": [f"Words-{group}" for group in GROUPS]}, dataset="shop")
        items = {"group": GROUPS, "item": [f"Mark-{group}" for group in GROUPS], "text": [f"Item-{g}" for g in GROUPS]}
        tracker.add_texts(items, dataset="shop")
        tracker.add_texts({"item": ["everywhere"], "text": ["An item of all groups"]}, dataset="shop")


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A dataset of 120 groups of 30 users, with labels of two judges, weights, attributes and texts, and no run."""
    fill_as(fill)
    return tracker


@pytest.fixture
def typed(shop: nt.Tracker, ready_url: str, capsys: pytest.CaptureFixture[str], folder: Path) -> CommandLine:
    """The command line on the database of the dataset."""
    return CommandLine(ready_url, capsys)


Grades = dict[str, dict[str, float]]


def grades_of(lists: LabelLists) -> Grades:
    grades: Grades = {}
    groups = np.repeat(lists.group_keys.to_list(), np.diff(lists.offsets)).tolist()
    for group, item, grade in zip(groups, lists.item_keys.to_list(), lists.grades.tolist(), strict=True):
        grades.setdefault(group, {})[item] = grade
    return grades


class Contents:
    """All that a database has of a dataset, sealed or not."""

    def __init__(self, tracker: nt.Tracker, name: str) -> None:
        with tracker.store().read(opens_seals=True) as tx:
            dataset = tx.datasets.known(name)
            ids, keys = tx.groups.all(dataset.id)
            name_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
            self.groups = set(name_of.values())
            self.labels = {
                (of.judge, of.version): grades_of(tx.labels.lists(of.id)) for of in tx.labels.sets(dataset.id, None)
            }
            of_weights = tx.groups.weights(dataset.id)
            of_group = zip(of_weights.ids.tolist(), of_weights.weights.tolist(), strict=True)
            self.weights = {name_of[of]: value for of, value in of_group}
            self.attributes = {name_of[of]: facts for of, facts in tx.groups.attributes(dataset.id).items()}
            self.texts = {(name_of.get(of.group_id), of.item_key, of.text) for of in tx.texts.all(dataset.id)}
            seal = tx.datasets.seal_of(dataset.id)
            assert seal is not None
            self.seal: SealRecord = seal


def keys_in(url: str) -> set[str]:
    """Return the keys of all groups that a database has, by plain SQL."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = set(connection.execute(sa.text("SELECT key FROM groups")).scalars())
    engine.dispose()
    return found


def check_whole(opened: Contents, held: Contents) -> None:
    """Assert that both parts are all there was, and that they share nothing."""
    assert opened.groups | held.groups == set(GROUPS)
    assert not opened.groups & held.groups
    for part in (opened, held):
        labelled = {("", 1): 1.0, ("", 2): 2.0, ("llm", 3): 1.0}
        assert part.labels.keys() == labelled.keys()
        for key, grade in labelled.items():
            wanted = part.groups & set(GROUPS[:80]) if key[0] else part.groups
            assert part.labels[key] == {group: {f"Mark-{group}": grade} for group in wanted}
        assert part.weights == {group: 1.0 + GROUPS.index(group) for group in part.groups}
        assert part.attributes == {group: {"user": USER_OF[group]} for group in part.groups}
        assert part.texts == {
            (None, "everywhere", "An item of all groups"),
            *((group, "", f"Words-{group}") for group in part.groups),
            *((group, f"Mark-{group}", f"Item-{group}") for group in part.groups),
        }


@pytest.mark.parametrize("cluster", [None, "user"])
def test_all_of_a_group_moves(shop: nt.Tracker, cluster: str | None) -> None:
    done = shop.split_dataset("shop", seal=0.4, cluster=cluster, budget=0.04, looks=20)
    opened, held = Contents(shop, "shop"), Contents(shop, "shop-sealed")
    assert (done.dataset, done.sealed) == ("shop", "shop-sealed")
    assert (done.n_open, done.n_sealed) == (len(opened.groups), len(held.groups))
    check_whole(opened, held)
    assert (held.seal.is_sealed, held.seal.budget, held.seal.looks) == (True, 0.04, 20)
    assert (opened.seal.is_sealed, opened.seal.budget, opened.seal.looks) == (False, None, None)
    names = {group: group if cluster is None else USER_OF[group] for group in GROUPS}
    for part, other in ((opened, "shop-sealed"), (held, "shop")):
        split = part.seal.split
        assert split is not None
        assert {name: split[name] for name in ("share", "cluster", "other_part")} == {
            "share": 0.4,
            "cluster": cluster,
            "other_part": other,
        }
        chosen = {group for group, name in names.items() if is_chosen(name, split["key"], 0.4)}
        assert held.groups == chosen
    assert not {names[group] for group in opened.groups} & {names[group] for group in held.groups}
    assert 0.15 < len(held.groups) / N_GROUPS < 0.7


def test_the_share_and_the_key() -> None:
    names = [f"q{number}" for number in range(20_000)]
    for share in (0.01, 0.25, 0.5, 0.9):
        chosen = [is_chosen(name, "0011", share) for name in names]
        assert sum(chosen) / len(names) == pytest.approx(share, abs=0.015)
        assert chosen == [is_chosen(name, "0011", share) for name in names]
    halves = [[is_chosen(name, key, 0.5) for name in names] for key in ("0011", "0012")]
    assert sum(one == other for one, other in zip(*halves, strict=True)) / len(names) == pytest.approx(0.5, abs=0.02)


def test_another_database_gets_the_sealed_part(shop: nt.Tracker, other: nt.Tracker, ready_url: str) -> None:
    done = shop.split_dataset("shop", seal=0.5, sealed="ci", held=other.location)
    opened, held = Contents(shop, "shop"), Contents(other, "ci")
    check_whole(opened, held)
    assert (done.sealed, done.n_sealed) == ("ci", len(held.groups))
    assert keys_in(ready_url) == opened.groups
    assert keys_in(other.location) == held.groups
    with shop.store().read(opens_seals=True) as tx:
        assert [dataset.name for dataset in tx.datasets.all()] == ["shop"]
    assert other.is_sealed("ci")
    for tracker in (shop, other):
        with tracker.store().read(opens_seals=True) as tx:
            assert not tx.damage()


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("open.db*")))


def test_the_open_file_holds_no_moved_label(tmp_path: Path) -> None:
    """Not in free pages either, nor in a journal."""
    location = str(tmp_path / "open.db")
    fill(f"sqlite:///{location}")
    before = bytes_of(tmp_path)
    with nt.Tracker(location) as tracker:
        tracker.split_dataset("shop", seal=0.5, held=tmp_path / "held.db")
        moved = set(GROUPS) - Contents(tracker, "shop").groups
        while_open = bytes_of(tmp_path)
    after, held = bytes_of(tmp_path), (tmp_path / "held.db").read_bytes()
    for group in GROUPS:
        for mark in (f"Mark-{group}", f"Words-{group}", f"Item-{group}"):
            assert mark.encode() in before
            assert (mark.encode() in after, mark.encode() in held) == (group not in moved, group in moved), mark
            assert (mark.encode() in while_open) == (group not in moved), mark


@pytest.fixture
def parts(shop: nt.Tracker) -> nt.Tracker:
    """The dataset, split into halves."""
    shop.split_dataset("shop", seal=0.5)
    return shop


def held_by(tracker: nt.Tracker, run: str, dataset: str) -> set[str]:
    """Return the groups of a stored run."""
    with tracker.store().read(opens_seals=True) as tx:
        found = tx.runs.resolve(run, dataset)
        ids = tx.runs.group_ids(found.id)
        groups = set(tx.groups.keys(found.dataset_id, ids).to_list())
    assert found.n_groups == len(groups)
    return groups


NOTED = "that are not in this part of the split dataset were left out"


@pytest.mark.parametrize("cluster", [None, "user"])
def test_a_run_goes_to_both_parts(shop: nt.Tracker, cluster: str | None) -> None:
    shop.split_dataset("shop", seal=0.5, cluster=cluster)
    opened, held = Contents(shop, "shop"), Contents(shop, "shop-sealed")
    frame = run_of(GROUPS, place=2)
    frame["weight"] = [1.0 + GROUPS.index(str(group)) for group in frame["group"]]
    of_open = shop.ingest(frame, name="run", dataset="shop")
    of_held = shop.ingest(frame, name="run", dataset="shop-sealed")
    assert held_by(shop, "run", "shop") == opened.groups
    assert held_by(shop, "run", "shop-sealed") == held.groups
    assert f"{len(held.groups)} groups {NOTED}" in of_open.notes
    assert of_open.metrics["ndcg@10"].mean == pytest.approx(0.6309, abs=1e-4)
    assert (of_held.is_sealed, list(of_held.metrics), of_held.notes, of_held.further) == (True, [], (), ())
    check_whole(Contents(shop, "shop"), Contents(shop, "shop-sealed"))
    assert shop.ingest(frame, name="run", dataset="shop").outcome == "already stored"
    assert shop.ingest(frame, name="run", dataset="shop-sealed").outcome == "already stored"


LABELS_TOO = (
    "dataset 'shop-sealed' is sealed, and so are its labels: a run cannot bring any; leave out labels= and any "
    "column of labels"
)


def test_labels_that_come_with_a_run_are_of_the_part(parts: nt.Tracker) -> None:
    opened = Contents(parts, "shop").groups
    frame = run_of(GROUPS)
    parts.add_labels(labels_of(GROUPS, 3), dataset="shop")
    given = parts.ingest(frame, name="given", dataset="shop", labels=labels_of(GROUPS, 3))
    assert given.label_set_version == 4
    with_column = frame | {"label": [3 if str(item).startswith("Mark") else 0 for item in frame["item"]]}
    after = Contents(parts, "shop")
    assert after.groups == opened
    assert all(set(of) <= opened for of in after.labels.values())
    for frame_of, labels in ((frame, labels_of(GROUPS, 3)), (with_column, None)):
        told = refusal_of(nt.InputError, parts.ingest, frame_of, name="x", dataset="shop-sealed", labels=labels)
        assert told == LABELS_TOO
    assert held_by(parts, "given", "shop") == opened
    with parts.store().read(opens_seals=True) as tx:
        assert [run.name for run in tx.runs.all("shop-sealed")] == []


def test_a_column_of_labels_is_of_the_part(parts: nt.Tracker) -> None:
    opened = Contents(parts, "shop").groups
    frame = run_of(GROUPS)
    frame["label"] = [2 if str(item).startswith("Mark") else 0 for item in frame["item"]]
    parts.ingest(frame, name="column", dataset="shop")
    after = Contents(parts, "shop")
    assert after.groups == opened
    assert all(set(of) <= opened for of in after.labels.values())


def test_a_file_streamed_and_not(typed: CommandLine, shop: nt.Tracker, folder: Path) -> None:
    shop.split_dataset("shop", seal=0.5)
    opened, held = Contents(shop, "shop").groups, Contents(shop, "shop-sealed").groups
    write_csv(folder / "run.csv", run_of(GROUPS))
    for way in ("--stream", "--no-stream"):
        for dataset, groups in (("shop", opened), ("shop-sealed", held)):
            name = f"run{way}"
            assert typed("ingest", "run.csv", "--name", name, "--dataset", dataset, way).code == 0
            assert held_by(shop, name, dataset) == groups
    printed = typed("ingest", "run.csv", "--name", "third", "--dataset", "shop-sealed")
    assert "stored" in printed.out + printed.err
    assert not re.search(r"\d\.\d|ndcg@|judged", printed.out + printed.err)


def test_frames_and_dicts(parts: nt.Tracker) -> None:
    frames: dict[str, Any] = {"dict": run_of(GROUPS), "pandas": pd.DataFrame(run_of(GROUPS))}
    frames["by group"] = {group: {f"Mark-{group}": 2.0, "x": 1.0} for group in GROUPS}
    for dataset in ("shop", "shop-sealed"):
        groups = Contents(parts, dataset).groups
        for name, frame in frames.items():
            parts.ingest(frame, name=name, dataset=dataset)
            assert held_by(parts, name, dataset) == groups


def test_items_that_are_row_numbers(parts: nt.Tracker) -> None:
    """Labels stand in the rows then, and a sealed part takes none."""
    rows = {"group": [group for group in GROUPS for _ in range(2)], "score": [2.0, 1.0] * N_GROUPS}
    rows["label"] = [1, 0] * N_GROUPS
    told = refusal_of(nt.InputError, parts.ingest, rows, name="rows", dataset="shop-sealed")
    assert told == LABELS_TOO
    opened = Contents(parts, "shop")
    refusal_of(nt.ConflictError, parts.ingest, rows, name="rows", dataset="shop")
    assert Contents(parts, "shop").groups == opened.groups


def test_a_group_that_is_new(parts: nt.Tracker) -> None:
    """Without clusters the hash says where it belongs, and never to both."""
    new = [f"new{number}" for number in range(20)]
    for dataset in ("shop", "shop-sealed"):
        parts.ingest(run_of([*GROUPS, *new]), name="run", dataset=dataset)
    of_parts = [held_by(parts, "run", dataset) & set(new) for dataset in ("shop", "shop-sealed")]
    assert of_parts[0] | of_parts[1] == set(new)
    assert not of_parts[0] & of_parts[1]


@pytest.mark.parametrize("extend", [False, True])
def test_labels_that_come_later(typed: CommandLine, shop: nt.Tracker, folder: Path, extend: bool) -> None:
    shop.split_dataset("shop", seal=0.5)
    before = Contents(shop, "shop")
    write_csv(folder / "more.csv", labels_of(GROUPS, 2 if extend else 5))
    words = ("labels", "add", "more.csv", "--dataset", "shop", *(["--extend"] if extend else []))
    assert typed(*words).code == 0
    after = Contents(shop, "shop")
    assert after.groups == before.groups
    assert all(set(of) <= before.groups for of in after.labels.values())
    assert "is sealed" in typed.refused("labels", "add", "more.csv", "--dataset", "shop-sealed")
    groups = [group for group in GROUPS if group not in before.groups]
    write_csv(folder / "theirs.csv", labels_of(groups, 4))
    typed("labels", "add", "theirs.csv", "--dataset", "shop", "--judge", "new")
    assert Contents(shop, "shop").groups == before.groups
    assert all(set(of) <= before.groups for of in Contents(shop, "shop").labels.values())


TAKEN = "choose another dataset"


def test_what_cannot_be_split(shop: nt.Tracker, ready_url: str) -> None:
    shop.add_labels(read_label_frame(labels_of(["q1"])), dataset="single")
    shop.ingest(run_of(GROUPS), name="run", labels=labels_of(GROUPS), dataset="seen")
    shop.add_labels(read_label_frame(labels_of(GROUPS)), dataset="shop-2")
    shop.seal_dataset("shop-2")
    before = row_counts(ready_url)

    def told(dataset: str = "shop", kind: type[Exception] = nt.InputError, **asked: Any) -> str:
        return refusal_of(kind, shop.split_dataset, dataset, **{"seal": 0.5, **asked})

    assert told("single") == (
        "dataset 'single' has 1 group with labels, which cannot form two parts; split a larger dataset, or use another "
        "share"
    )
    assert told(seal=1e-12).startswith("dataset 'shop' has 120 groups with labels, which cannot form two parts; ")
    for share in (0, 1, -1, 2, float("nan")):
        assert told(seal=share) == f"seal= must be between 0 and 1, not {share:g}; try 0.5"
    assert told(cluster="device") == (
        "120 of 120 groups of dataset 'shop' have no attribute 'device'; give it with: ndcg-track groups set FILE "
        "--dataset shop"
    )
    assert told("seen", nt.ConflictError).startswith("dataset 'seen' has recorded results")
    assert told("nope", nt.ReferenceNotFoundError).startswith("no dataset 'nope'; there are ")
    for name in ("seen", "shop", "shop-2"):
        found = told(kind=nt.ConflictError, sealed=name)
        assert found == f"there already is a dataset {name!r}; name another one with sealed='NAME'"
    assert told("shop-2").startswith("dataset 'shop-2' is sealed: only gate and ingest may use it; ")
    assert told(budget=0.5) == "a budget must lie between 0 and 0.5, not at 0.5; give for example 0.05"
    assert told(looks=0) == "a budget needs 1 look or more, not 0"
    assert row_counts(ready_url) == before
    shop.split_dataset("shop", seal=0.5)
    after = row_counts(ready_url)
    assert told(kind=nt.ConflictError, sealed="again") == f"dataset 'shop' is split already; {TAKEN}"
    assert refusal_of(nt.ConflictError, shop.seal_dataset, "shop") == f"dataset 'shop' is split already; {TAKEN}"
    assert row_counts(ready_url) == after


def test_a_failed_split_leaves_no_part_in_another_database(shop: nt.Tracker, tmp_path: Path) -> None:
    shop.add_labels(read_label_frame(labels_of(["q1"])), dataset="single")
    refusal_of(nt.InputError, shop.split_dataset, "single", seal=0.5, held=tmp_path / "held.db")
    with nt.Tracker(tmp_path / "held.db") as other, other.store().read(opens_seals=True) as tx:
        assert tx.datasets.all() == []


def test_the_command(typed: CommandLine, shop: nt.Tracker, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed.refused("datasets", "split", "shop", "--seal", "1") == (
        "--seal must be between 0 and 1, not 1; try 0.5"
    )
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", str(folder / "held.db"))
    said = typed.said(
        "datasets", "split", "shop", "--seal", ".5", "--sealed", "ci", "--cluster", "user", "--looks", "9"
    )
    opened = Contents(shop, "shop")
    with nt.Tracker(folder / "held.db") as other:
        held = Contents(other, "ci")
        check_whole(opened, held)
        assert held.seal.looks == 9
    assert said == (
        f"split: {len(held.groups)} groups in 'ci', {len(opened.groups)} in 'shop'; only gate and ingest may use 'ci'\n"
    )
    write_csv(folder / "run.csv", run_of(GROUPS))
    assert typed("ingest", "run.csv", "--dataset", "ci").code == 0
    with nt.Tracker(folder / "held.db") as other:
        assert held_by(other, "run", "ci") == held.groups
    assert "ci" not in typed("runs", "list", "--dataset", "shop").out


def test_no_import_brings_the_other_part_back(parts: nt.Tracker, tmp_path: Path, ready_url: str) -> None:
    with nt.Tracker(tmp_path / "whole.db") as whole:
        for dataset in ("shop", "shop-sealed"):
            whole.ingest(run_of(GROUPS), name="whole", labels=labels_of(GROUPS, 7), dataset=dataset)
            whole.export_runs(tmp_path / dataset, dataset=dataset)
    before = row_counts(ready_url)
    told = refusal_of(nt.InputError, parts.import_runs, tmp_path / "shop")
    refused = (
        "dataset 'shop' is the open part of a split dataset, and {} may hold groups of the sealed part; ingest the "
        "run's own file; only the groups of this part are stored"
    )
    assert told == refused.format("an export")
    told = refusal_of(nt.InputError, parts.import_runs, tmp_path / "shop-sealed", dataset="shop")
    assert told == refused.format("an export")
    for asked in ({}, {"dataset": "shop-sealed"}):
        told = refusal_of(nt.InputError, parts.import_runs, tmp_path / "shop-sealed", **asked)
        assert told.startswith("dataset 'shop-sealed' is sealed: only gate and ingest may use it; ")
    results: dict[str, Any] = {"metric": "value", "direction": "higher", "range": (0, 1)}
    values = dict.fromkeys(GROUPS, 0.5)
    told = refusal_of(nt.InputError, parts.log_results, values, name="x", dataset="shop", **results)
    assert told == refused.format("a file of results")
    told = refusal_of(nt.InputError, parts.log_results, values, name="x", dataset="shop-sealed", **results)
    assert told.startswith("dataset 'shop-sealed' is sealed: ")
    assert row_counts(ready_url) == before
    parts.ingest(run_of(GROUPS), name="own", dataset="shop")
    parts.export_runs(tmp_path / "own", dataset="shop")
    with nt.Tracker(tmp_path / "elsewhere.db") as elsewhere:
        assert len(elsewhere.import_runs(tmp_path / "own").runs) == 1
        groups = {record.key for record in elsewhere.groups("shop")}
    assert groups == Contents(parts, "shop").groups


def test_texts_and_attributes_of_the_other_part_are_not_taken(parts: nt.Tracker) -> None:
    opened = Contents(parts, "shop").groups
    parts.set_groups({"group": GROUPS, "device": ["tv"] * N_GROUPS}, dataset="shop")
    parts.add_texts({"group": GROUPS, "text": [f"New-{group}" for group in GROUPS]}, dataset="shop")
    after = Contents(parts, "shop")
    assert after.groups == opened
    assert {group for group, _, _ in after.texts if group} == opened
