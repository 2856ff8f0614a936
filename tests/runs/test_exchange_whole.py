"""A whole database is copied to either engine, also from the exports of older versions."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refused import refusal_of
from small_shop import BM25, LABELS, frame_of
from whole_database import fill_all, fill_designs, items_of

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError
from ndcg_tracker.runs.check import check_content
from ndcg_tracker.storage.copying import COLUMNS, Row

ONLY_EMPTY = (
    "only an empty database takes a copy of a whole one, or an export of version 0.1.0 or 0.2.0; import it into a new "
    "one with location='NEW.db', then export runs by name there"
)


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        fill_all(tracker)
        fill_designs(tracker)
        tracker.set_alias("prod", "bm25", "books")
        tracker.set_policy("prod", metric="ndcg@3", margin=0.5, budget=0.1, looks=5, dataset="books")
        tracker.gate("old", baseline="@prod", dataset="books")
        tracker.reset_gate("@prod", dataset="books", reason="new queries", reset_by="ann")


@pytest.fixture
def filled(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with all that a database may hold."""
    fill_as(fill)
    return tracker


def rows_of(tracker: nt.Tracker) -> dict[str, list[Row]]:
    """Return the rows of every table that is copied row by row."""
    with tracker.store().read() as tx:
        return {name: [row for rows in tx.copies.rows(name) for row in rows] for name in COLUMNS}


def answers_of(tracker: nt.Tracker) -> list[str]:
    """Return what a database answers to questions of every kind."""
    asked = [
        tracker.compare("old", "bm25", dataset="default").to_dict(),
        tracker.compare("old", "bm25", dataset="books", metrics="ndcg@3").to_dict(),
        tracker.compare("dense", "stylish", judge="llama", check_with="human", dataset="shop").to_dict(),
        tracker.history("ndcg@3", dataset="default").to_dict(),
        tracker.leaderboard(metrics="ndcg@3", dataset="books").to_dict(),
        tracker.gate("bm25", baseline="old", metric="AP", margin=0.5, dataset="books", dry_run=True).to_dict(),
        tracker.label_versions("default"),
        tracker.aliases(),
        tracker.suites(),
        tracker.texts("default"),
        tracker.groups("default"),
    ]
    return [repr(one).replace(tracker.store().display_url, "") for one in asked]


@pytest.mark.both_engines
@pytest.mark.nightly(but=3)
def test_a_copy_of_a_whole_database_has_every_row_and_answers_alike(
    filled: nt.Tracker, other: nt.Tracker, tmp_path: Path
) -> None:
    exported = filled.export_runs(tmp_path / "out")
    assert (exported.n_runs, exported.n_label_sets, exported.notes) == (14, 7, ())
    found = other.import_runs(tmp_path / "out")
    assert {run.outcome for run in found.runs} == {"stored"}
    assert (len(found.runs), found.n_not_verifiable, found.notes) == (14, 7, ())
    here, there = rows_of(filled), rows_of(other)
    for name in COLUMNS:
        assert there[name] == here[name], name
        assert here[name] or name == "seals", name
    assert answers_of(other) == answers_of(filled)
    for tracker in (filled, other):
        with tracker.store().read() as tx:
            assert tx.damage() == []
    for tracker in (filled, other):  # new rows go on with the same numbers, and the next look draws the same items
        tracker.ingest(frame_of(BM25), name="later", dataset="default", git_commit="")
        tracker.labels_sample("dense", "other", budget=60, judge="llama", dataset="shop")
    assert other.run("later", "default")[0].id == filled.run("later", "default")[0].id
    assert items_of(other) == items_of(filled)


def test_a_copy_of_a_whole_database_needs_an_empty_one(filled: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out")
    before = rows_of(filled)
    for given in ({}, {"dataset": "new"}):
        assert refusal_of(ConflictError, filled.import_runs, tmp_path / "out", **given) == ONLY_EMPTY
    assert rows_of(filled) == before


@pytest.mark.nightly(but=2)
def test_numbers_with_gaps_are_closed(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    """A server leaves gaps in numbers when it rolls back; in a file they would look like lost rows."""
    with nt.Tracker(tmp_path / "one.db") as one:
        fill_all(one)
        one.export_runs(tmp_path / "out")
    path = tmp_path / "out" / "decisions.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "id", pa.array([7, 9], pa.int64())), path)
    other.import_runs(tmp_path / "out")
    assert [row["id"] for row in rows_of(other)["decisions"]] == [1, 2]
    with other.store().read() as tx:
        assert tx.damage() == []


@pytest.mark.nightly(but=2)
@pytest.mark.both_engines
def test_runs_of_a_share_of_the_groups_are_copied(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    groups = [f"q{number}" for number in range(60)]
    lists = frame_of({group: {"a": 2.0, "b": 1.0} for group in groups})
    labels = frame_of({group: {"a": 0, "b": 1} for group in groups}, "label")
    tracker.ingest(lists, labels=labels, name="part", groups_share="1/5", git_commit="")
    tracker.export_runs(tmp_path / "whole")
    tracker.export_runs(tmp_path / "named", ["part"])
    other.import_runs(tmp_path / "whole")
    assert rows_of(other) == rows_of(tracker)
    assert other.import_runs(tmp_path / "named", dataset="new").n_not_verifiable == 0
    assert [run.groups_share for run in other.runs()] == ["1/5", "1/5"]
    with other.store().read() as tx:
        assert check_content(tx, None).damage == []


OLDER = Path(__file__).parent / "exports"


def unpacked(name: str, folder: Path, version: str = "0.2.0") -> Path:
    """Return the folder of an export as an older version wrote it."""
    with zipfile.ZipFile(OLDER / f"{name}-0.2.0.zip") as archive:
        archive.extractall(folder)
    for table, columns in LATER.items() if version == "0.1.0" else ():
        path = folder / f"{table}.parquet"
        if not columns:
            path.unlink(missing_ok=True)
        elif path.exists():
            pq.write_table(pq.read_table(path).drop_columns(columns), path)
    return folder


LATER = {
    "runs": ["sampled", "sample_digest", "collapsed", "documents_in_ten", "tie_order"],
    "label_sets": ["by_row_number", "judge", "created_at_utc", "extends", "added_by", "from_runs"],
    "evaluations": ["requested_as", "std_dev", "created_at_utc"],
    **{table: [] for table in ("datasets", "aliases", "alias_moves", "decisions", "budget_resets", "designs")},
    **{table: [] for table in ("design_runs", "drawn_items", "suites", "suite_decisions", "texts")},
}
"""What exports of 0.2.0 have and those of 0.1.0 lack: columns, or whole tables."""


def test_an_export_of_0_2_0_is_read_with_its_record(other: nt.Tracker, tmp_path: Path) -> None:
    found = other.import_runs(unpacked("record", tmp_path / "out"))
    assert (len(found.runs), found.n_not_verifiable, found.notes) == (9, 7, ())
    rows = rows_of(other)
    counts = {name: len(of) for name, of in rows.items() if name not in ("groups", "metrics", "evaluations")}
    assert counts == {
        "datasets": 2, "label_sets": 5, "runs": 9, "prunings": 4, "paired_sums": 1, "coverages": 12, "aliases": 2,
        "alias_moves": 6, "decisions": 3, "budget_resets": 1, "seals": 0, "texts": 1, "suite_datasets": 2,
        "suite_decisions": 1, "designs": 0, "design_runs": 0, "drawn_items": 0, "policies": 1, "label_reasons": 0,
    }  # fmt: skip
    assert [(one.dataset, one.name, one.run) for one in other.aliases()] == [
        ("default", "baseline", "bm25"), ("books", "prod", "bm25")
    ]  # fmt: skip
    assert [(one.alias, one.rules) for one in other.policies()] == [("prod", {"budget": 0.1, "looks": 5})]
    assert rows["budget_resets"][0]["after_decision_id"] == 3
    names = {row["id"]: (row["dataset"], row["name"]) for row in rows["runs"]}
    ((suite, of_suite),) = [(row["suite"], row["runs"]) for row in rows["suite_decisions"]]
    assert (suite, {dataset: names[of["candidate_run_id"]] for dataset, of in of_suite.items()}) == (
        "both", {"books": ("books", "bm25"), "default": ("default", "bm25")}
    )  # fmt: skip
    assert other.run("sums", "default")[1][0].mean == 0.375
    (sums,) = rows["paired_sums"]
    assert (names[sums["baseline_run_id"]], sums["delta"], sums["n_groups"]) == (("default", "sums"), -0.125, 2)
    assert sums["details"] == {"attribute": None, "cluster": None, "clusters": None, "slices": []}
    with other.store().read() as tx:
        assert tx.damage() == []


@pytest.mark.nightly(but=2)
def test_answers_of_an_export_of_0_2_0_are_kept_and_decide_nothing(other: nt.Tracker, tmp_path: Path) -> None:
    other.import_runs(unpacked("designs", tmp_path / "out"))
    grades = {number: [grade for _, grade, _ in items.values()] for number, items in items_of(other).items()}
    n_answers = [sum(grade is not None for grade in of_design) for of_design in grades.values()]
    assert n_answers[0] > 50
    agreement = other.labels_agreement("llama", "human", dataset="shop")
    assert agreement.answers is not None
    assert agreement.answers.designs == (1, 2, 3)
    assert [note.kind for note in agreement.notes if note.kind == "agreement_of_items"] == ["agreement_of_items"]
    (compared,) = other.compare("dense", "stylish", judge="llama", check_with="human", dataset="shop").comparisons
    (told,) = (note for note in compared.notes if note.kind == "old_designs")
    assert compared.metrics[0].told == "open"
    assert " ".join(told.command) == "ndcg-track labels sample dense stylish --judge llama --budget N --dataset shop"


def test_an_export_of_0_1_0_has_no_record_and_no_dates(other: nt.Tracker, tmp_path: Path) -> None:
    found = other.import_runs(unpacked("forged", tmp_path / "out", "0.1.0"))
    assert [(run.run, run.outcome) for run in found.runs] == [("bm25", "stored"), ("dense", "stored")]
    assert (other.aliases(), [one.judge for one in other.label_versions()]) == ([], [""] * 2)


def test_an_older_export_brings_its_runs_to_others_by_way_of_a_new_database(tmp_path: Path) -> None:
    folder = unpacked("forged", tmp_path / "out")
    with nt.Tracker(tmp_path / "one.db") as tracker, nt.Tracker(tmp_path / "new.db") as new:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="mine", dataset="books")
        assert refusal_of(ConflictError, tracker.import_runs, folder, dataset="shop") == ONLY_EMPTY
        new.import_runs(folder)
        assert new.export_runs(tmp_path / "named", ["bm25", "dense"]).notes == (
            "left out: 1 decision, 1 move of an alias; to take everything, type: ndcg-track export --all -o FOLDER",
        )
        found = tracker.import_runs(tmp_path / "named", dataset="shop")
        assert [(run.dataset, run.run, run.outcome) for run in found.runs] == [
            ("shop", "bm25", "stored"), ("shop", "dense", "stored")
        ]  # fmt: skip
        assert (found.notes, tracker.aliases()) == ((), [])
