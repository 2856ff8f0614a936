"""A dataset that an older version sealed beside open ones, moved to a sealed database of its own."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from command_line import CommandLine
from gated import BASE, N_GROUPS
from ranked_runs import frame_of_ranks, labels_of_ranks
from refused import refusal_of
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.questions.gate.decide_bounds import look_level
from ndcg_tracker.runs.check import check_database
from ndcg_tracker.storage import database
from ndcg_tracker.storage.copying import CopyWrites
from ndcg_tracker.storage.schema import VERSION_TABLE
from ndcg_tracker.storage.store import Store

GOOD = [1, 1] * 60 + BASE[120:]
RULES: dict[str, Any] = {"metric": "ndcg@10", "margin": 0.05, "move": True}
MARK = "Kept-secret"


def changed(url: str, *statements: str) -> None:
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    engine.dispose()


@pytest.fixture
def older(tracker: nt.Tracker, ready_url: str) -> nt.Tracker:
    """A database as it is after an upgrade: an open dataset, and a sealed one with runs and two looks."""
    for dataset in ("shop", "exam"):
        tracker.add_labels(read_label_frame(labels_of_ranks(N_GROUPS)), dataset=dataset)
        tracker.add_texts({"group": ["q0001"], "text": [f"{MARK} of {dataset}"]}, dataset=dataset)
        for name, ranks in (("base", BASE), ("good", GOOD)):
            tracker.ingest(frame_of_ranks(ranks), name=name, dataset=dataset)
    tracker.set_alias("prod", "base", "shop")
    tracker.set_policy("prod", margin=0.06, budget=0.05, dataset="shop")
    for margin in (0.05, 0.06):
        tracker.gate("good", baseline="@prod", margin=margin, dataset="shop")
        tracker.gate("good", baseline="base", margin=margin, dataset="exam")
    tracker.reset_gate("prod", reason="r", dataset="shop", reset_by="ada")
    changed(
        ready_url,
        "UPDATE decisions SET budget = 0.05, look = id / 2 WHERE look IS NULL",
        "INSERT INTO seals (dataset_id, is_sealed, budget, looks, created_at_utc) "
        "SELECT id, true, 0.05, 40, '2026-01-01T00:00:00.000000Z' FROM datasets WHERE name = 'exam'",
    )
    return tracker


@pytest.mark.both_engines
@pytest.mark.nightly(but=2)
def test_it_is_refused_until_it_is_moved(
    older: nt.Tracker, held: str, ready_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = CommandLine(ready_url, capsys)
    move = "datasets split exam --move --metric METRIC --margin X"
    for words in (("runs", "list"), ("gate", "good", "--baseline", "base", "--dataset", "exam"), ("sql", "SELECT 1")):
        told = typed.refused(*words)
        assert "the database has sealed data, which now need a database of their own; move them with: " in told
        assert told.endswith(move)
    assert typed("db", "check").code == 0
    before = row_counts(ready_url)
    said = typed.said("datasets", "split", "exam", "--move", "--metric", "ndcg@10", "--margin", ".05")
    assert said == f"moved: {N_GROUPS} groups in 'exam' with 2 runs; only ingest and gate may use the sealed part\n"
    after = row_counts(ready_url)
    there = row_counts(held)
    assert all(there[name] == n - after[name] for name, n in before.items() if name not in (VERSION_TABLE, "metrics"))
    assert {row["dataset"] for row in typed.rows("runs", "list")} == {"shop"}
    for url in (ready_url, held):
        assert check_database(url).damage == []


def test_its_looks_and_bits_go_on(older: nt.Tracker, held: str, ready_url: str) -> None:
    older.split_dataset("exam", baseline="base", **RULES)
    older.ingest(frame_of_ranks([1] * N_GROUPS), name="best", dataset="exam")
    look = older.gate_sealed("best", dataset="exam").look
    assert (look.number, look.looks, look.level) == (3, 40, look_level(3, 0.05, 40, 2))
    assert older.gate("good", baseline="@prod", margin=0.04, dataset="shop").gated.basis.look is not None
    assert check_database(ready_url).damage == []
    with Store.open(held, opens="sealed") as store, store.read() as tx:
        assert [of.id for of in tx.decisions.all(tx.datasets.sealed()[0].id)] == [1, 2, 3]


def test_a_move_that_was_killed_is_completed(
    older: nt.Tracker, held: str, ready_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(CopyWrites, "delete_dataset", killed)
        with pytest.raises(KeyboardInterrupt):
            older.split_dataset("exam", **RULES)
    told = refusal_of(nt.ConflictError, older.split_dataset, "exam", **RULES | {"margin": 0.06})
    assert told.startswith("dataset 'exam' is sealed already, with other options")
    first = older.split_dataset("exam", **RULES)
    assert (first.n_sealed, first.n_runs, first.done_before) == (N_GROUPS, 2, False)
    assert older.split_dataset("exam", **RULES) == replace(first, done_before=True)
    assert check_database(ready_url).damage == []


def test_nothing_of_it_stays_beside_the_file(older: nt.Tracker, held: str, ready_url: str) -> None:
    if not ready_url.startswith("sqlite"):
        pytest.skip("a server has no file beside it")
    path = Path(ready_url.removeprefix("sqlite:///"))
    backups = [path.with_name(f"{path.name}.00{number}-2026.backup") for number in (18, 19)]
    database.backup(str(path), str(backups[0]))
    with closing(sqlite3.connect(backups[1])) as connection:
        connection.execute("CREATE TABLE datasets (name)")
    assert older.split_dataset("exam", **RULES).deleted == (backups[0].name,)
    assert backups[1].exists()
    left = b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))
    assert f"{MARK} of shop".encode() in left
    assert f"{MARK} of exam".encode() not in left


def test_what_is_not_moved(older: nt.Tracker, held: str) -> None:
    told = refusal_of(nt.ReferenceNotFoundError, older.split_dataset, "shop", **RULES)
    assert told == "there is no sealed dataset 'shop' to move"
    older.split_dataset("exam", looks=50, **RULES)
    with Store.open(held, opens="sealed") as store, store.read() as tx:
        seal = tx.datasets.seal_of(tx.datasets.sealed()[0].id)
        assert seal is not None
        assert (seal.looks, seal.budget, seal.metric, seal.margin) == (50, 0.05, "ndcg@10", 0.05)
