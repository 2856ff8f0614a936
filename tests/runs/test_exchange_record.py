"""What people did with runs goes along in an export: aliases, decisions, suites, dates."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchanged import first_value, shown, with_column
from rankings_of import labels_of
from runs_of_sums import store_sums
from small_shop import BM25, DENSE, LABELS, frame_of

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.runs.export_files import TABLES


def fill_all(tracker: nt.Tracker) -> None:
    """Store all that a database may hold: what people did, runs without items, and labels that no run has."""
    metrics = ["ndcg@3", "AP"]
    for month, (name, run) in enumerate((("pruned", DENSE), ("means", BM25), ("old", DENSE), ("bm25", BM25)), 1):
        tracker.ingest(
            frame_of(run), labels=frame_of(LABELS, "label"), name=name, metrics=metrics, git_commit="abc",
            parameters={"k1": "0.9"}, tags={"stage": name}, created_at=f"2025-0{month}-01T00:00:00Z",
        )  # fmt: skip
    tracker.ingest(frame_of(BM25), name="gone", metrics=metrics, git_commit="")
    for name, run in (("bm25", DENSE), ("old", BM25)):
        tracker.ingest(frame_of(run), labels=frame_of(LABELS, "label"), name=name, dataset="books", metrics=metrics)
    tracker.add_labels(labels_of({"q1": {"a": 1}}), judge="gpt")
    tracker.set_groups({"group": ["q1", "q2"], "weight": [2.0, 1.0], "locale": ["de", "en"]}, dataset="default")
    tracker.add_texts({"group": ["q1"], "title": ["shoes"]})
    tracker.set_alias("baseline", "old", "default")
    tracker.gate("bm25", baseline="@baseline", metric="ndcg@3", margin=0.5, dataset="default")
    tracker.gate("gone", baseline="bm25", metric="ndcg@3", margin=0.5, dataset="default")
    for alias, run in (("baseline", "bm25"), ("champion", "gone"), ("champion", "bm25")):
        tracker.set_alias(alias, run, "default")
    tracker.delete_alias("champion", "default")
    tracker.create_suite("both", ["default", "books"])
    tracker.gate_suite("both", "bm25", baseline="old", metric="ndcg@3", margin=0.5)
    tracker.rename_run("gone", "lost")
    tracker.delete_run("lost")
    tracker.prune("2025-01-15", apply=True)
    tracker.prune("2025-02-15", summaries_only=True, apply=True)
    tracker.log_results({"q1": 7.0, "q2": 9.0}, name="measured", metric="latency", direction="lower", range=(0, 100))
    with tracker.store().write() as tx:
        store_sums(tx, "sums")
        store_sums(tx, "more sums", baseline="sums")


def fill(url: str) -> None:
    with nt.Tracker(url) as tracker:
        fill_all(tracker)


@pytest.fixture
def filled(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with all that a database may hold."""
    fill_as(fill)
    return tracker


NUMBERS = {"run_id", "baseline_run_id", "decision_id"}


def all_of(tracker: nt.Tracker) -> dict[str, list[tuple[object, ...]]]:
    """Return every view with its times, and what no view shows; without the tag that an import adds."""
    found = shown(tracker, NUMBERS)
    found["run_tags"] = [row for row in found["run_tags"] if "imported" not in row]
    found["items"] = [row[:-1] for row in found["items"]]
    with tracker.store().read() as tx:
        found["datasets"] = [(one.name, one.created_at_utc) for one in tx.datasets.all()]
        for dataset in tx.datasets.all():
            found[f"labels of {dataset.name}"] = [
                (one.version, one.digest, one.judge, one.source, one.created_at_utc, one.by_row_number)
                for one in tx.labels.sets(dataset.id, None)
            ]
            found[f"weights of {dataset.name}"] = [
                (weights := tx.groups.weights(dataset.id)).ids.tolist(),
                weights.weights.tolist(),
            ]
        for run in tx.runs.all():
            own = tx.runs.prunings(run.id).get(run.id)
            gone = None if own is None else (own.created_at_utc, own.summaries_only, own.kept_share)
            keys = tx.groups.keys(run.dataset_id, tx.runs.group_ids(run.id)).to_list()
            found[f"run {run.dataset} {run.name}"] = [
                (run.digest, run.n_groups, run.n_items, gone, sorted(keys)),
                *(
                    (one.metric, one.created_at_utc, one.std_dev, one.requested_as)
                    for one in tx.evaluations.of_run(run.id)
                ),
            ]
        names = {run.id: (run.dataset, run.name) for run in tx.runs.all()}
        found["suites"] = [(one.name, one.datasets, one.created_at_utc) for one in tx.suites.all()]
        found["runs of suites"] = [
            (dataset, of["label_set_version"], names.get(of["baseline_run_id"]), names.get(of["candidate_run_id"]))
            for one in tx.decisions.on_suite(None)
            for dataset, of in one.runs.items()
        ]
        found["texts"] = [(one.item_key, one.text, one.title, one.url) for one in tx.texts.all(tx.datasets.all()[0].id)]
    return found


def test_a_whole_database_moves_to_another_engine(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    exported = filled.export_runs(tmp_path / "out", texts=True)
    assert (exported.n_runs, exported.n_pruned, exported.n_aliases, exported.n_decisions) == (9, 4, 1, 3)
    found = other.import_runs(tmp_path / "out")
    assert (found.n_aliases, found.n_decisions) == (2, 3)
    assert {run.run: run.n_not_verifiable for run in found.runs if run.n_not_verifiable} == {
        "pruned": 2, "means": 2, "measured": 1, "sums": 1, "more sums": 1
    }  # fmt: skip
    here, there = all_of(filled), all_of(other)
    for what in here:
        assert there[what] == here[what], what
    assert [run.tags.get("imported") for run in other.runs() if run.name == "means"] == ["not verifiable"]
    history = [one.history("ndcg@3", dataset="default").drop(columns=["run_id", "tags"]) for one in (filled, other)]
    for column in history[0]:
        assert repr(history[0][column].tolist()) == repr(history[1][column].tolist()), column
    with filled.store().read() as one, other.store().read() as another:
        assert another.damage() == one.damage() == []
    again = other.import_runs(tmp_path / "out")
    assert (again.n_aliases, again.n_decisions, again.notes) == (0, 0, ())
    assert all_of(other) == there


@pytest.mark.nightly(but=2)
def test_the_record_can_be_left_out(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out", record=False)
    assert not (tmp_path / "out" / "aliases.parquet").exists()
    filled.export_runs(tmp_path / "whole")
    assert other.import_runs(tmp_path / "whole", record=False).n_decisions == 0
    assert (other.aliases(), other.query("SELECT * FROM gate_decisions").rows) == ([], [])
    assert other.import_runs(tmp_path / "whole").n_decisions == 3


def test_of_named_runs_comes_what_concerns_them_alone(filled: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out", ["bm25"], dataset="default")
    other.import_runs(tmp_path / "out")
    assert [(one.name, one.run) for one in other.aliases()] == [("baseline", "bm25")]
    assert other.query("SELECT * FROM gate_decisions").rows == []
    filled.export_runs(tmp_path / "two", ["bm25", "old"], dataset="default")
    assert other.import_runs(tmp_path / "two").n_decisions == 1
    assert other.query("SELECT baseline, candidate, baseline_alias FROM gate_decisions").rows == [
        ("old", "bm25", "baseline")
    ]
    assert other.suites() == []


def test_an_alias_goes_on_and_one_that_went_another_way_stays(
    tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path
) -> None:
    for name, run in (("one", BM25), ("two", DENSE)):
        tracker.ingest(frame_of(run), labels=frame_of(LABELS, "label"), name=name, git_commit="")
    tracker.set_alias("baseline", "one")
    tracker.export_runs(tmp_path / "first")
    other.import_runs(tmp_path / "first")
    tracker.set_alias("baseline", "two")
    tracker.export_runs(tmp_path / "second")
    assert other.import_runs(tmp_path / "second").n_aliases == 1
    assert [one.run for one in other.aliases()] == ["two"]
    history = "SELECT run, since_utc FROM alias_history ORDER BY since_utc"
    assert other.query(history).rows == tracker.query(history).rows
    assert other.import_runs(tmp_path / "first").notes == ()
    assert [one.run for one in other.aliases()] == ["two"]
    other.set_alias("baseline", "one")
    tracker.set_alias("baseline", "two")
    tracker.set_alias("baseline", "one")
    tracker.set_alias("baseline", "two")
    tracker.export_runs(tmp_path / "third")
    found = other.import_runs(tmp_path / "third")
    assert found.notes == (
        "alias @baseline of dataset 'default' points at 'one' here, but points at 'two' in the export; it is not "
        "changed",
    )
    assert [one.run for one in other.aliases()] == ["one"]


def test_an_older_export_has_no_record_and_no_dates(tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path) -> None:
    tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", git_commit="")
    tracker.set_alias("baseline", "bm25")
    tracker.export_runs(tmp_path / "out")
    for name, table in TABLES.items():
        path = tmp_path / "out" / f"{name}.parquet"
        if table.part == "record":
            path.unlink()
        elif table.later:
            pq.write_table(pq.read_table(path).drop_columns(list(table.later)), path)
    (run,) = other.import_runs(tmp_path / "out").runs
    assert (run.outcome, run.n_evaluations, other.aliases()) == ("stored", 1, [])


def test_a_decision_that_stands_twice_is_stored_once(tmp_path: Path) -> None:
    with nt.Tracker(tmp_path / "one.db") as tracker:
        fill_all(tracker)
        tracker.export_runs(tmp_path / "out")
    for name in ("decisions", "suite_decisions"):
        path = tmp_path / "out" / f"{name}.parquet"
        table = pq.read_table(path)
        pq.write_table(pa.concat_tables([table, table]), path)
    with nt.Tracker(tmp_path / "other.db") as other:
        assert other.import_runs(tmp_path / "out").n_decisions == 3


RECORD_DAMAGE: list[tuple[str, str, object, str]] = [
    ("aliases", "run", "nope", "points @baseline at run 'nope', which is not there"),
    ("aliases", "created_at_utc", "soon", "'soon' is not a time; write it as 2025-01-31T08:00:00.000000Z"),
    ("aliases", "dataset", "nope", "names dataset 'nope', but has nothing else of it"),
    ("alias_moves", "run", "a\0", "has a text with a NUL character, which no database keeps"),
    ("decisions", "decision", "maybe", "has a decision 'maybe'"),
    ("decisions", "metric", "ndcg@@", "holds a metric that this program does not know"),
    ("decisions", "delta", float("inf"), "has a number that is not finite"),
    ("decisions", "label_set_version", 9, "lacks version 9 of dataset 'default'"),
    ("decisions", "reason", None, "has a decision without reason"),
    ("suite_decisions", "runs", "[" * 5000, "holds runs that no decision has"),
    ("prunings", "kept_share", 7.0, "says that 7.0 of the groups of run 'pruned' have items"),
    ("prunings", "n_groups", 3, "has 3 groups of 4 for run 'pruned'"),
]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(("name", "column", "value", "message"), RECORD_DAMAGE, ids=[one[-1] for one in RECORD_DAMAGE])
def test_a_record_that_cannot_be_is_refused(
    name: str, column: str, value: object, message: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    export = tmp_path_factory.getbasetemp() / "record of all"
    if not export.exists():
        with nt.Tracker(tmp_path / "one.db") as tracker:
            fill_all(tracker)
            tracker.export_runs(export)
    shutil.copytree(export, tmp_path / "out")
    path = tmp_path / "out" / f"{name}.parquet"
    pq.write_table(with_column(column, first_value(value))(pq.read_table(path)), path)
    with nt.Tracker(tmp_path / "other.db") as other:
        with pytest.raises(InputError) as caught:
            other.import_runs(tmp_path / "out")
        assert other.runs() == []
    assert message in str(caught.value)
    assert str(caught.value).count("\n") == 0
