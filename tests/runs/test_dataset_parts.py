"""A dataset that was split: what moves, what stays, what comes later, and what may not come back."""

from collections.abc import Callable
from dataclasses import replace
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
from ndcg_tracker.runs.check import check_database
from ndcg_tracker.runs.parts import is_chosen
from ndcg_tracker.runs.sealing import SplitDataset
from ndcg_tracker.storage.datasets import DatasetWrites
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
    """All that a database has of a dataset, in the open database or in the sealed one."""

    def __init__(self, tracker: nt.Tracker, name: str) -> None:
        with tracker.store(dataset=name).read() as tx:
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


RULES: dict[str, Any] = {"metric": "ndcg@10", "margin": 0.01}


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("cluster", [None, "user"])
def test_all_of_a_group_moves(shop: nt.Tracker, held: str, ready_url: str, cluster: str | None) -> None:
    done = shop.split_dataset("shop", seal=0.4, cluster=cluster, looks=20, baseline="old", **RULES)
    opened, sealed = Contents(shop, "shop"), Contents(shop, "shop-sealed")
    assert done == SplitDataset("shop", "shop-sealed", len(opened.groups), len(sealed.groups))
    check_whole(opened, sealed)
    assert (sealed.seal.is_sealed, sealed.seal.budget, sealed.seal.looks) == (True, 0.05, 20)
    assert (sealed.seal.metric, sealed.seal.margin, sealed.seal.baseline_run) == ("ndcg@10", 0.01, "old")
    assert (opened.seal.is_sealed, opened.seal.budget, opened.seal.looks, opened.seal.metric) == (False, *[None] * 3)
    names = {group: group if cluster is None else USER_OF[group] for group in GROUPS}
    for part, other in ((opened, "shop-sealed"), (sealed, "shop")):
        split = part.seal.split
        assert split is not None
        assert {name: split[name] for name in ("share", "cluster", "other_part")} == {
            "share": 0.4,
            "cluster": cluster,
            "other_part": other,
        }
        chosen = {group for group, name in names.items() if is_chosen(name, split["key"], 0.4)}
        assert sealed.groups == chosen
    assert not {names[group] for group in opened.groups} & {names[group] for group in sealed.groups}
    assert 0.15 < len(sealed.groups) / N_GROUPS < 0.7
    assert keys_in(ready_url) == opened.groups
    assert keys_in(held) == sealed.groups
    assert shop.is_sealed("shop-sealed")
    assert not shop.is_sealed("shop")
    for url in (ready_url, held):
        assert check_database(url).damage == []


def test_the_share_and_the_key() -> None:
    names = [f"q{number}" for number in range(20_000)]
    for share in (0.01, 0.25, 0.5, 0.9):
        chosen = [is_chosen(name, "0011", share) for name in names]
        assert sum(chosen) / len(names) == pytest.approx(share, abs=0.015)
        assert chosen == [is_chosen(name, "0011", share) for name in names]
    halves = [[is_chosen(name, key, 0.5) for name in names] for key in ("0011", "0012")]
    assert sum(one == other for one, other in zip(*halves, strict=True)) / len(names) == pytest.approx(0.5, abs=0.02)


def test_a_repeated_split_is_done_already(shop: nt.Tracker, held: str, ready_url: str) -> None:
    first = shop.split_dataset("shop", seal=0.5, seed="1", **RULES)
    before = row_counts(ready_url), row_counts(held)
    for asked in ({"seed": "1"}, {}):
        assert shop.split_dataset("shop", seal=0.5, **RULES, **asked) == replace(first, done_before=True)
    for asked in ({"seed": "2"}, {"looks": 41}, {"margin": 0.02}, {"metric": "AP"}, {"baseline": "x"}, {"seal": 0.4}):
        told = refusal_of(nt.ConflictError, shop.split_dataset, "shop", **{"seal": 0.5, **RULES, **asked})
        assert told == (
            "dataset 'shop-sealed' is sealed already, with other options; the rules are fixed: split a dataset of "
            "fresh data"
        )
    assert (row_counts(ready_url), row_counts(held)) == before


def test_a_split_that_was_killed_between_both_databases(
    shop: nt.Tracker, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DatasetWrites, "mark", _once_then(DatasetWrites.mark, killed))
        with pytest.raises(KeyboardInterrupt):
            shop.split_dataset("shop", seal=0.5, **RULES)
    with shop.store().read() as tx:
        assert tx.datasets.seal_of(tx.datasets.known("shop").id) is None
    assert not shop.split_dataset("shop", seal=0.5, **RULES).done_before
    check_whole(Contents(shop, "shop"), Contents(shop, "shop-sealed"))


def _once_then(first: Callable[..., None], then: Callable[..., None]) -> Callable[..., None]:
    calls = iter((first, then))
    return lambda *given: next(calls)(*given)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("open.db*")))


def test_the_open_file_holds_no_moved_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in free pages either, nor in a journal."""
    location = str(tmp_path / "open.db")
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", str(tmp_path / "held.db"))
    fill(f"sqlite:///{location}")
    before = bytes_of(tmp_path)
    with nt.Tracker(location) as tracker:
        tracker.split_dataset("shop", seal=0.5, **RULES)
        moved = set(GROUPS) - Contents(tracker, "shop").groups
        while_open = bytes_of(tmp_path)
    after, held = bytes_of(tmp_path), (tmp_path / "held.db").read_bytes()
    for group in moved:
        for mark in (f"Mark-{group}", f"Words-{group}", f"Item-{group}"):
            assert mark.encode() in before
            assert mark.encode() in held
            assert mark.encode() not in after + while_open, mark


@pytest.fixture
def parts(shop: nt.Tracker, held: str) -> nt.Tracker:
    """The dataset, split into halves."""
    shop.split_dataset("shop", seal=0.5, **RULES)
    return shop


def held_by(tracker: nt.Tracker, run: str, dataset: str) -> set[str]:
    """Return the groups of a stored run."""
    with tracker.store(dataset=dataset).read() as tx:
        found = tx.runs.resolve(run, dataset)
        ids = tx.runs.group_ids(found.id)
        groups = set(tx.groups.keys(found.dataset_id, ids).to_list())
    assert found.n_groups == len(groups)
    return groups


NOTED = "that are not in this part of the split dataset were left out"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("cluster", [None, "user"])
def test_a_run_goes_to_both_parts(shop: nt.Tracker, held: str, cluster: str | None) -> None:
    shop.split_dataset("shop", seal=0.5, cluster=cluster, **RULES)
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
    assert shop.ingest(frame, name="run", dataset="shop-sealed").outcome == "stored"


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
    with parts.store(dataset="shop-sealed").read() as tx:
        assert tx.runs.all() == []


@pytest.mark.nightly
def test_a_column_of_labels_is_of_the_part(parts: nt.Tracker) -> None:
    opened = Contents(parts, "shop").groups
    frame = run_of(GROUPS)
    frame["label"] = [2 if str(item).startswith("Mark") else 0 for item in frame["item"]]
    parts.ingest(frame, name="column", dataset="shop")
    after = Contents(parts, "shop")
    assert after.groups == opened
    assert all(set(of) <= opened for of in after.labels.values())


def test_a_file_streamed_and_not(typed: CommandLine, parts: nt.Tracker, folder: Path) -> None:
    shop = parts
    opened, held = Contents(shop, "shop").groups, Contents(shop, "shop-sealed").groups
    write_csv(folder / "run.csv", run_of(GROUPS))
    for way in ("--stream", "--no-stream"):
        for dataset, groups in (("shop", opened), ("shop-sealed", held)):
            name = f"run{way}"
            assert typed("ingest", "run.csv", "--name", name, "--dataset", dataset, way).code == 0
            assert held_by(shop, name, dataset) == groups
    printed = typed("ingest", "run.csv", "--name", "third", "--dataset", "shop-sealed")
    assert (printed.out, printed.err) == ("stored\n", "")


def test_frames_and_dicts(parts: nt.Tracker) -> None:
    frames: dict[str, Any] = {"dict": run_of(GROUPS), "pandas": pd.DataFrame(run_of(GROUPS))}
    frames["by group"] = {group: {f"Mark-{group}": 2.0, "x": 1.0} for group in GROUPS}
    for dataset in ("shop", "shop-sealed"):
        groups = Contents(parts, dataset).groups
        for name, frame in frames.items():
            parts.ingest(frame, name=name, dataset=dataset)
            assert held_by(parts, name, dataset) == groups


@pytest.mark.nightly
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


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("extend", [False, True])
def test_labels_that_come_later(typed: CommandLine, parts: nt.Tracker, folder: Path, extend: bool) -> None:
    shop = parts
    before = Contents(shop, "shop")
    write_csv(folder / "more.csv", labels_of(GROUPS, 2 if extend else 5))
    words = ("labels", "add", "more.csv", "--dataset", "shop", *(["--extend"] if extend else []))
    assert typed(*words).code == 0
    after = Contents(shop, "shop")
    assert after.groups == before.groups
    assert all(set(of) <= before.groups for of in after.labels.values())
    assert "is sealed, in a database of its own" in typed.refused(
        "labels", "add", "more.csv", "--dataset", "shop-sealed"
    )
    groups = [group for group in GROUPS if group not in before.groups]
    write_csv(folder / "theirs.csv", labels_of(groups, 4))
    typed("labels", "add", "theirs.csv", "--dataset", "shop", "--judge", "new")
    assert Contents(shop, "shop").groups == before.groups
    assert all(set(of) <= before.groups for of in Contents(shop, "shop").labels.values())


def test_what_cannot_be_split(shop: nt.Tracker, held: str, ready_url: str) -> None:
    shop.add_labels(read_label_frame(labels_of(["q1"])), dataset="single")
    shop.ingest(run_of(GROUPS), name="run", labels=labels_of(GROUPS), dataset="seen")
    shop.add_labels(read_label_frame(labels_of(GROUPS)), dataset="of-suite")
    shop.create_suite("all", ["of-suite"])
    before = row_counts(ready_url)

    def told(dataset: str = "shop", kind: type[Exception] = nt.InputError, **asked: Any) -> str:
        return refusal_of(kind, shop.split_dataset, dataset, **{"seal": 0.5, **RULES, **asked})

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
    assert told("seen", nt.ConflictError) == ("dataset 'seen' has recorded results; split one before its first run")
    assert told("of-suite", nt.ConflictError) == (
        "dataset 'of-suite' is part of a suite; split one before its first run"
    )
    assert told("nope", nt.ReferenceNotFoundError).startswith("no dataset 'nope'; there are ")
    assert told(looks=0) == "a budget has 1 to 1,000,000,000 looks, not 0"
    assert told(metric="ndcg(empty=error)@10") == (
        "ndcg(empty=error)@10: empty=error may refuse a run because of its labels, which would reveal sealed labels; "
        "leave empty out"
    )
    for margin in (-1, float("nan"), 1):
        told(margin=margin)
    assert row_counts(ready_url) == before
    with nt.Tracker(held) as other, other.store(create=True).read() as tx:
        assert tx.datasets.all() == []


def test_one_dataset_to_a_sealed_database(parts: nt.Tracker, held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts.add_labels(read_label_frame(labels_of(GROUPS)), dataset="other")
    asked: dict[str, Any] = {"seal": 0.5, **RULES}
    another = "and a sealed database has one dataset; name another NDCG_TRACK_SEALED_DB"
    told = refusal_of(nt.InputError, parts.split_dataset, "other", **asked)
    assert told.endswith(f": it has dataset 'shop-sealed', {another}")
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", parts.location)
    told = refusal_of(nt.InputError, parts.split_dataset, "other", **asked)
    assert told == "NDCG_TRACK_SEALED_DB names the open database itself; name another one"
    monkeypatch.delenv("NDCG_TRACK_SEALED_DB")
    told = refusal_of(nt.InputError, parts.split_dataset, "other", **asked)
    assert told == (
        "the sealed part needs a database of its own, which NDCG_TRACK_SEALED_DB names; set NDCG_TRACK_SEALED_DB to a "
        "new file, or to a Postgres URL, that only CI can read"
    )


def test_another_sealed_database_does_not_do(
    parts: nt.Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NDCG_TRACK_SEALED_DB", str(tmp_path / "another.db"))
    told = refusal_of(nt.InputError, parts.split_dataset, "shop", seal=0.5, **RULES)
    assert told == (
        f"{tmp_path / 'another.db'}: it does not have 'shop-sealed', the sealed part of 'shop', and a sealed database "
        "has one dataset; name another NDCG_TRACK_SEALED_DB"
    )


def test_the_command(typed: CommandLine, shop: nt.Tracker, folder: Path, held: str) -> None:
    rules = ("--metric", "ndcg@10", "--margin", ".01")
    split = ("datasets", "split", "shop", *rules)
    assert typed.refused(*split, "--seal", "1") == "--seal must be between 0 and 1, not 1; try 0.5"
    assert typed.refused(*split) == (
        "datasets split needs --seal or --move: it seals a share, or moves what an older version sealed; give one"
    )
    assert typed.refused(*split, "--move", "--seal", ".5") == (
        "--seal does not go with --move: a dataset that moves is sealed already; leave one out"
    )
    assert typed.refused(*split, "--move") == "there is no sealed dataset 'shop' to move"
    said = typed.said(*split, "--seal", ".5", "--cluster", "user", "--looks", "9")
    opened, sealed = Contents(shop, "shop"), Contents(shop, "shop-sealed")
    check_whole(opened, sealed)
    assert sealed.seal.looks == 9
    counts = f"{len(sealed.groups)} queries in 'shop-sealed', {len(opened.groups)} in 'shop'"
    assert said == f"split: {counts}; only ingest and gate may use the sealed part\n"
    again = typed.said(*split, "--seal", ".5", "--cluster", "user", "--looks", "9")
    assert again == f"done already: {counts}; only ingest and gate may use the sealed part\n"
    write_csv(folder / "run.csv", run_of(GROUPS))
    assert typed("ingest", "run.csv", "--dataset", "shop-sealed").code == 0
    assert held_by(shop, "run", "shop-sealed") == sealed.groups
    assert "sealed" not in typed("runs", "list", "--dataset", "shop").out


def test_no_import_brings_the_other_part_back(
    parts: nt.Tracker, tmp_path: Path, ready_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NDCG_TRACK_SEALED_DB")
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
        assert told.startswith("dataset 'shop-sealed' is sealed, in a database of its own: ")
    results: dict[str, Any] = {"metric": "value", "direction": "higher", "range": (0, 1)}
    values = dict.fromkeys(GROUPS, 0.5)
    told = refusal_of(nt.InputError, parts.log_results, values, name="x", dataset="shop", **results)
    assert told == refused.format("a file of results")
    told = refusal_of(nt.InputError, parts.log_results, values, name="x", dataset="shop-sealed", **results)
    assert told.startswith("dataset 'shop-sealed' is sealed, in a database of its own: ")
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


def test_what_is_gone_names_the_way_that_remains(typed: CommandLine) -> None:
    assert typed.refused("db", "grant", "--owner", "a", "--writer", "b", "--reader", "c", "--agent", "d") == (
        "--agent is gone: sealed data are in a database of their own; give an agent the role of --reader or --writer"
    )
