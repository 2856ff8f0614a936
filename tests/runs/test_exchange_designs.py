"""Designs go along in an export of whole datasets, with what people answered: the same verdict, the same next look."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from exchanged import first_value, shown, with_column
from judged_worlds import world

from ndcg_tracker import Tracker
from ndcg_tracker.errors import InputError

RUNS, LABELS, TRUE = world()
PAIR = ("dense", "stylish")
OF_JUDGE: dict[str, Any] = {"judge": "llama", "dataset": "shop"}


def fill_designs(tracker: Tracker) -> None:
    """Store designs of every kind: in looks, with what is kept apart, with random numbers of their own, unanswered."""
    tracker.ingest(RUNS["other"], labels=LABELS, judge="llama", name="first", dataset="books")
    for name, frame in RUNS.items():
        tracker.ingest(frame, labels=LABELS, judge="llama", name=name, dataset="shop")
    tracker.labels_sample(*PAIR, budget=120, looks=2, seed="s", scale=4, **OF_JUDGE)
    answer(tracker, 1)
    unseen = {"group": ["q1", "q7"], "item": ["d9", "new"], "label": [1, 0]}
    tracker.add_answers(unseen, design=1, judge="human", dataset="shop", keep_others=True)
    tracker.labels_sample("dense", "other", budget=60, looks=2, scale=4, **OF_JUDGE)
    answer(tracker, 2)
    tracker.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    tracker.labels_sample("dense", "tuned", budget=40, scale=4, **OF_JUDGE)
    answer(tracker, 3, n=4)
    tracker.labels_sample("stylish", "tuned", budget=90, scale=4, not_tuned=True, **OF_JUDGE)


def answer(tracker: Tracker, design: int, n: int | None = None, grade: int | None = None) -> None:
    """Answer the open items of a design as people would, or with a grade."""
    pairs = [pair for pair, (*_, old, _) in items_of(tracker)[design].items() if old is None][:n]
    frame: dict[str, list[Any]] = {
        "group": [group for group, _ in pairs],
        "item": [item for _, item in pairs],
        "label": [TRUE[pair] if grade is None else grade for pair in pairs],
    }
    tracker.add_answers(frame, design=design, judge="human", dataset="shop")


def items_of(tracker: Tracker, dataset: str = "shop") -> dict[int, dict[tuple[str, str], tuple[Any, ...]]]:
    """Return probability, grade and time of what each design drew and of what is kept apart."""
    with tracker.store().read() as tx:
        ids, keys = tx.groups.all(tx.datasets.known(dataset).id)
        key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
        found: dict[int, dict[tuple[str, str], tuple[Any, ...]]] = {}
        for design in tx.designs.all(tx.datasets.known(dataset).id):
            found[design.number] = {
                (key_of[item.group_id], item.item_key): (item.probability, item.grade, item.answered_at_utc)
                for item in tx.designs.items(design.id)
            }
            found[design.number] |= {
                (key_of[item.group_id], item.item_key): (None, item.grade, item.answered_at_utc)
                for item in tx.designs.kept_apart(design.id)
            }
        return found


def plans_of(tracker: Tracker, dataset: str = "shop") -> list[dict[str, Any]]:
    """Return all else that is stored of designs, with names in place of ids."""
    plans = []
    with tracker.store().read() as tx:
        runs = tx.runs.all(dataset)
        sets = {one.id: (one.version, one.digest) for one in tx.labels.sets(runs[0].dataset_id, None)}
        names = {run.id: run.name for run in runs}
        for design in tx.designs.all(runs[0].dataset_id):
            facts = {name: getattr(design, name) for name in design.__slots__ if name not in ("id", "dataset_id")}
            facts["label_set_id"] = sets[design.label_set_id]
            facts["runs"] = [(run.run, names.get(run.run_id or 0)) for run in design.runs]
            first_run, first_labels = (facts[f"answered_after_{what}_id"] for what in ("run", "label_set"))
            is_open = first_run is None or first_labels is None
            facts["answered_after_run_id"] = is_open or [run.name for run in runs if run.id <= first_run]
            facts["answered_after_label_set_id"] = is_open or [sets[one] for one in sets if one <= first_labels]
            plans.append(facts)
    return plans


def checked(tracker: Tracker, *runs: str, dataset: str = "shop") -> Any:
    return tracker.compare(*runs, judge="llama", check_with="human", dataset=dataset).to_dict()["metrics"]


@pytest.fixture
def filled(fill_as: Callable[[Callable[[str], object]], None], tracker: Tracker) -> Tracker:
    def fill(url: str) -> None:
        with Tracker(url) as one:
            fill_designs(one)

    fill_as(fill)
    return tracker


@pytest.mark.nightly
@pytest.mark.both_engines
def test_a_database_that_was_copied_gives_the_same_checked_verdict(
    filled: Tracker,
    other: Tracker,
    tmp_path: Path,
) -> None:
    assert filled.export_runs(tmp_path / "out").n_designs == 4
    found = other.import_runs(tmp_path / "out")
    assert (found.n_designs, found.notes) == (4, ())
    assert (items_of(other), plans_of(other)) == (items_of(filled), plans_of(filled))
    for pair in (PAIR, ("dense", "other"), ("stylish", "other")):
        assert checked(other, *pair) == checked(filled, *pair)
    assert shown(other)["drawn_labels"] == shown(filled)["drawn_labels"]
    with other.store().read() as tx:
        assert tx.damage() == []
    for tracker in (filled, other):
        tracker.labels_sample("dense", "other", budget=60, **OF_JUDGE)  # the second look, with the spread of the first
        tracker.labels_sample("other", "stylish", budget=30, **{**OF_JUDGE, "scale": 4})
    drawn = [
        [{pair: facts[0] for pair, facts in design.items()} for design in items_of(tracker).values()]
        for tracker in (filled, other)
    ]
    assert drawn[0] == [pytest.approx(design) for design in drawn[1]]
    again = other.import_runs(tmp_path / "out")
    assert (again.n_designs, again.notes) == (0, ())


def test_designs_go_on_where_those_here_begin_those_of_the_export(
    filled: Tracker,
    other: Tracker,
    tmp_path: Path,
) -> None:
    filled.export_runs(tmp_path / "first")
    other.import_runs(tmp_path / "first")
    answer(other, 3)
    other.labels_sample(*PAIR, budget=120, **OF_JUDGE)
    answer(other, 1)
    other.labels_sample("dense", "tuned", budget=60, metric="ndcg@5", scale=4, **OF_JUDGE)
    other.export_runs(tmp_path / "second")
    found = filled.import_runs(tmp_path / "second")
    assert (found.n_designs, found.notes) == (3, ())
    assert (items_of(other), plans_of(other)) == (items_of(filled), plans_of(filled))
    assert checked(other, *PAIR) == checked(filled, *PAIR)
    assert filled.import_runs(tmp_path / "first").notes == ()
    assert items_of(other) == items_of(filled)


def test_designs_that_went_another_way_stay(filled: Tracker, other: Tracker, tmp_path: Path) -> None:
    filled.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    answer(filled, 3, grade=0)
    answer(other, 3, grade=1)
    before = items_of(other), plans_of(other)
    filled.export_runs(tmp_path / "answered otherwise")
    note = (
        "design 3 of dataset 'shop' differs from the one in the export, or has other answers here: the designs here "
        "are not changed, and none is added; to get those of the export as well, import it into another dataset"
    )
    found = other.import_runs(tmp_path / "answered otherwise")
    assert (found.n_designs, found.notes) == (0, (note,))
    assert (items_of(other), plans_of(other)) == before
    other.labels_sample(*PAIR, budget=50, metric="ndcg@3", scale=4, **OF_JUDGE)
    other.export_runs(tmp_path / "one more", dataset="shop")
    assert filled.import_runs(tmp_path / "one more").notes == (note,)
    found = filled.import_runs(tmp_path / "one more", dataset="shop 2")
    assert (found.n_designs, found.notes) == (5, ())
    assert items_of(filled, "shop 2") == items_of(other)
    assert checked(filled, *PAIR, dataset="shop 2") == checked(other, *PAIR)


def test_with_other_random_numbers_nothing_is_added(filled: Tracker, other: Tracker, tmp_path: Path) -> None:
    for name in PAIR:
        other.ingest(RUNS[name], labels=LABELS, judge="llama", name=name, dataset="shop")
    other.labels_sample(*PAIR, budget=30, seed="t", **OF_JUDGE)
    before = items_of(other), plans_of(other)
    filled.export_runs(tmp_path / "out")
    (note,) = other.import_runs(tmp_path / "out").notes
    assert note.startswith("design 1 of dataset 'shop' differs from the one in the export")
    assert (items_of(other), plans_of(other)) == before


def test_a_run_is_newer_than_an_answer_unless_it_is_known_to_be_older(
    filled: Tracker,
    other: Tracker,
    tmp_path: Path,
) -> None:
    other.ingest(RUNS["other"], labels=LABELS, judge="llama", name="tuned", dataset="shop")
    filled.export_runs(tmp_path / "out")
    other.import_runs(tmp_path / "out")
    assert [plan["answered_after_run_id"] for plan in plans_of(other)] == [
        [],
        [],
        ["dense", "stylish", "other", "tuned"],
        True,
    ]
    assert checked(other, *PAIR) == checked(filled, *PAIR)
    other.labels_sample(*PAIR, budget=30, metric="ndcg@5", scale=4, **OF_JUDGE)
    assert plans_of(other)[-1]["seed"] == "s/5"


def test_deleted_runs_and_exports_of_some_runs(filled: Tracker, other: Tracker, tmp_path: Path) -> None:
    assert filled.export_runs(tmp_path / "some", PAIR, dataset="shop").n_designs == 0
    filled.delete_run("tuned", dataset="shop")
    filled.rename_run("other", "third", dataset="shop")
    filled.export_runs(tmp_path / "out")
    assert other.import_runs(tmp_path / "some").n_designs == 0
    assert other.import_runs(tmp_path / "out", record=False).n_designs == 0
    assert other.import_runs(tmp_path / "out").n_designs == 4
    assert (items_of(other), plans_of(other)) == (items_of(filled), plans_of(filled))
    assert [run for plan in plans_of(other) for run in plan["runs"]][2:6] == [
        ("dense", "dense"), ("other", "third"), ("dense", "dense"), ("tuned", None)
    ]  # fmt: skip


DAMAGE: list[tuple[str, str, object, str]] = [
    ("designs", "design", 2, "names design 1, which is not there"),
    ("designs", "look", 3, "has a design 1 that cannot be"),
    ("designs", "budget", 0, "has a design 1 that cannot be"),
    ("designs", "planned_budget", 10**12, "has a design 1 that cannot be"),
    ("designs", "n_looks", 10**12, "has a design 1 that cannot be"),
    ("designs", "greatest_grade", -1.0, "has a design 1 that cannot be"),
    ("designs", "checked_by", None, "has a design 1 that cannot be"),
    ("designs", "checked_by", "@x", "a name does not begin with @"),
    ("designs", "n_runs_before", 9, "has a design 1 that cannot be"),
    ("designs", "n_label_sets_before", 9, "lacks version 2 of dataset 'shop'"),
    ("designs", "label_set_version", 7, "lacks version 7 of dataset 'shop'"),
    ("designs", "metric", "ndcg@@", "holds a metric that this program does not know"),
    ("designs", "seed", None, "has a row without seed"),
    ("designs", "created_at_utc", "soon", "'soon' is not a time"),
    ("design_runs", "design", 9, "names design 9, which is not there"),
    ("design_runs", "dataset", "nope", "names dataset 'nope', but has nothing else of it"),
    ("drawn_items", "design", 9, "names design 9, which is not there"),
    ("drawn_items", "probability", 1.5, "has an item of design 1 that cannot be"),
    ("drawn_items", "grade", None, "has an item of design 1 that cannot be"),
    ("drawn_items", "grade", float("inf"), "has an item of design 1 that cannot be"),
    ("drawn_items", "answered_at_utc", "soon", "'soon' is not a time"),
]


@pytest.mark.parametrize(("name", "column", "value", "message"), DAMAGE)
def test_designs_that_cannot_be_are_refused(
    name: str, column: str, value: object, message: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    export = tmp_path_factory.getbasetemp() / "designs of all"
    if not export.exists():
        with Tracker(tmp_path / "one.db") as tracker:
            fill_designs(tracker)
            tracker.export_runs(export)
    shutil.copytree(export, tmp_path / "out")
    path = tmp_path / "out" / f"{name}.parquet"
    pq.write_table(with_column(column, first_value(value))(pq.read_table(path)), path)
    with Tracker(tmp_path / "other.db") as tracker:
        with pytest.raises(InputError) as caught:
            tracker.import_runs(tmp_path / "out")
        assert tracker.runs() == []
    assert message in str(caught.value)
    assert str(caught.value).count("\n") == 0
