"""Rows that cannot be: refused by an import with file and row, and found by a check after they were edited by hand."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from exchanged import first_value, with_column
from refused import refusal_of
from whole_database import fill_all, fill_designs

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError
from ndcg_tracker.runs.check import check_database
from ndcg_tracker.storage.copying import COLUMNS

NOT_THERE = "which is not there"
BUDGET = "has a budget or looks that cannot be"
LOOKS = "breaks the rule: look >= 1 AND look <= n_looks"
COUNTS = "breaks the rule: number >= 1 AND budget >= 1 AND planned_budget >= budget"
PLANNED = "has too many looks or items"
PROBABILITY = "breaks the rule: probability > 0 AND probability <= 1"
DECISION = "breaks the rule: decision IN ('pass', 'fail', 'inconclusive')"
OF_WHOLE_QUERIES = "is of whole queries, but has a plan as if it were not"
WRONG: list[tuple[str, str, Any, str]] = [
    ("drawn_items", "grade", 99.0, "has a grade off the scale of its design"),
    ("drawn_items", "grade", 0.5, "has a grade off the scale of its design"),
    ("drawn_items", "grade", -1.0, "has a grade off the scale of its design"),
    ("drawn_items", "grade", None, "breaks the rule: (grade IS NULL) = (answered_at_utc IS NULL)"),
    ("drawn_items", "answered_at_utc", "soon", "has a wrong answered_at_utc: 'soon' is not a time"),
    ("drawn_items", "probability", 1.5, PROBABILITY),
    ("drawn_items", "probability", 0.0, PROBABILITY),
    ("drawn_items", "item_key", "nothing", "is an item that no run of its design ranks"),
    ("drawn_items", "design_id", 9, f"names design_id 9, {NOT_THERE}"),
    ("design_runs", "design_id", 9, f"names design_id 9, {NOT_THERE}"),
    ("design_runs", "run_id", 99, f"names run_id 99, {NOT_THERE}"),
    ("drawn_items", "answered_after_run_id", None, "does not say after which run its grade was stored"),
    ("designs", "kind", "some", "has a kind that no design has"),
    ("designs", "not_tuned", True, OF_WHOLE_QUERIES),
    ("designs", "budget", 7, OF_WHOLE_QUERIES),
    ("designs", "look", 3, LOOKS),
    ("designs", "look", 0, LOOKS),
    ("designs", "n_looks", 10**6, PLANNED),
    ("designs", "budget", 0, OF_WHOLE_QUERIES),
    ("designs", "planned_budget", 10**12, PLANNED),
    ("designs", "greatest_grade", -1.0, "has a greatest_grade that cannot be"),
    ("designs", "checked_by", None, "has one of who, after which run, and after which labels it was answered"),
    ("designs", "checked_by", "@x", "has a wrong checked_by: "),
    ("designs", "label_set_id", 77, f"names label_set_id 77, {NOT_THERE}"),
    ("designs", "metric", "ndcg@@", "has a wrong metric: "),
    ("designs", "number", 2, "does not follow the design before it"),
    ("aliases", "run_id", 77, f"names run_id 77, {NOT_THERE}"),
    ("aliases", "updated_at_utc", "soon", "has a wrong updated_at_utc: 'soon' is not a time"),
    ("decisions", "decision", "maybe", DECISION),
    ("decisions", "budget", 0.7, BUDGET),
    ("decisions", "look", 0, "has a look that cannot be"),
    ("decisions", "label_set_id", 77, f"names label_set_id 77, {NOT_THERE}"),
    ("suite_decisions", "runs", '{"books": 7}', "has runs that no decision has"),
    ("suite_decisions", "decision", "maybe", DECISION),
    ("budget_resets", "baseline_lists", '{"lists": 1}', "has baseline_lists that no baseline has"),
    ("suite_datasets", "dataset_id", 77, f"names dataset_id 77, {NOT_THERE}"),
    ("prunings", "kept_share", 7.0, "has a kept_share that is not from 0 to 1"),
    ("prunings", "packed_group_ids", b"12345678" * 3, "has another number of groups than its run"),
    ("coverages", "judged_share", 7.0, "breaks the rule: judged_share >= 0 AND judged_share <= 1"),
    ("runs", "name", "@x", "has a wrong name: "),
    ("runs", "groups_share", "7", "has a wrong groups_share: "),
    ("runs", "groups_share", "2/4", "has a wrong groups_share: the canonical form of '2/4' is '1/2'"),
    ("runs", "tie_order", "score", "has a tie_order that is not 'input'"),
    ("label_sets", "created_at_utc", "soon", "has a wrong created_at_utc: 'soon' is not a time"),
    ("metrics", "text", "ndcg@@", "has a wrong text: "),
]


def filled(folder: Path) -> Path:
    """Return a folder with a database with all that there may be, ``one.db``, and its export, ``out``."""
    if not folder.exists():
        folder.mkdir()
        with nt.Tracker(folder / "one.db") as tracker:
            fill_all(tracker)
            fill_designs(tracker)
            tracker.set_policy("baseline", metric="ndcg@3", margin=0.5, budget=0.1, looks=5, dataset="default")
            tracker.gate("old", baseline="@baseline", dataset="default")
            tracker.reset_gate("@baseline", dataset="default", reason="new queries", reset_by="ann")
            tracker.export_runs(folder / "out")
    return folder


@pytest.fixture
def copies(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A folder with copies of the database and of its export."""
    return Path(shutil.copytree(filled(tmp_path_factory.getbasetemp() / "all that may be"), tmp_path / "copies"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[nt.Tracker]:
    """A database that every import leaves empty, because each is refused."""
    with nt.Tracker(tmp_path_factory.mktemp("empty") / "other.db") as tracker:
        tracker.store(create=True)
        yield tracker


def test_what_is_there_breaks_no_rule(copies: Path) -> None:
    assert check_database(str(copies / "one.db")).damage == []


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize(("name", "column", "value", "told"), WRONG, ids=[f"{one[0]} {one[-1]}" for one in WRONG])
def test_a_row_that_cannot_be(name: str, column: str, value: Any, told: str, copies: Path, empty: nt.Tracker) -> None:
    path = copies / "out" / f"{name}.parquet"
    table = pq.read_table(path)
    place = next((at for at, row in enumerate(table.to_pylist()) if row.get("look") and name == "decisions"), 0)
    first = table.slice(place, 1)
    changed = with_column(column, first_value(value))(first).to_pylist()
    rows = table.to_pylist()
    pq.write_table(type(table).from_pylist([*rows[:place], *changed, *rows[place + 1 :]], table.schema), path)
    refused = refusal_of(InputError, empty.import_runs, copies / "out")
    assert refused.startswith(f"{path}: row {place + 1} {told}")
    assert refused.count("\n") == 0
    assert empty.runs() == []
    keys = [key for key, of in COLUMNS[name].items() if of.primary_key]
    with closing(sqlite3.connect(copies / "one.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA foreign_keys = OFF")
        where = " AND ".join(f"{key} = ?" for key in keys)
        of_row = [rows[place][key] for key in keys]
        try:
            connection.execute(f"UPDATE {name} SET {column} = ? WHERE {where}", (value, *of_row))
        except sqlite3.DatabaseError:
            return  # a trigger, or a key, keeps it away
    assert check_database(str(copies / "one.db")).damage != []


def test_a_check_names_the_row_and_the_rule(copies: Path) -> None:
    with closing(sqlite3.connect(copies / "one.db", isolation_level=None)) as connection:
        connection.execute("UPDATE drawn_items SET grade = 99 WHERE rowid = 1")
        query = "SELECT design_id, group_id, item_key FROM drawn_items WHERE rowid = 1"
        design, group, item = connection.execute(query).fetchone()
        connection.execute("UPDATE decisions SET look = 0 WHERE look IS NOT NULL")
    of_item = f"design_id {design}, group_id {group}, item_key {item!r}"
    assert check_database(str(copies / "one.db")).damage == [
        "decisions: the row with id 3 has a look that cannot be",
        f"drawn_items: the row with {of_item} has a grade off the scale of its design",
    ]
