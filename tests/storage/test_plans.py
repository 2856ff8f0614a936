"""The usual filters of the public views use indexes, at a size at which reading whole tables would be felt.

Each engine plans for itself, with its own statistics: nothing is forced.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sqlalchemy as sa
from postgres_server import PostgresServer
from thorough import LONG

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.storage import database
from ndcg_tracker.storage.connection import database_engine
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.store import Store, WriteTransaction

N_RUNS, N_GROUPS, N_OTHER_DATASETS = (100, 500, 20) if LONG else (50, 500, 20)


class Step(NamedTuple):
    """One step of a plan: the table or its alias, how it is read, and by which condition."""

    table: str
    how: str
    condition: str


def add_runs(tx: WriteTransaction, dataset_name: str, n_runs: int) -> None:
    """Store two versions of labels, and runs of three items per group, each under two metrics."""
    dataset = tx.write.datasets.ensure(dataset_name)
    keys = Keys.from_strings([f"q{number}" for number in range(N_GROUPS)])
    offsets = np.arange(N_GROUPS + 1) * 3
    items = Keys.from_strings([f"d{number}" for number in range(N_GROUPS * 3)])
    numbers = np.tile([3.0, 2.0, 1.0], N_GROUPS)
    tx.write.labels.insert(dataset.id, LabelLists(keys, offsets, items, numbers + 1.0))
    label_set = tx.write.labels.insert(dataset.id, LabelLists(keys, offsets, items, numbers))
    for number in range(n_runs):
        run = tx.write.runs.insert(dataset.id, f"run {number}", Ranking(keys, offsets, items, numbers))
        tx.write.evaluations.insert_coverage(run.id, label_set.id, 10, 0.5)
        for metric in ("ap", "ndcg@10"):
            values = np.linspace(0.0, 1.0, N_GROUPS) + number
            tx.write.evaluations.insert(
                run.id,
                label_set.id,
                metric,
                mean=0.5,
                n_groups=N_GROUPS,
                n_missing=0,
                n_undefined=0,
                group_ids=tx.write.groups.ensure(dataset.id, keys),
                values=values,
            )


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def large_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of a hundred runs, among other datasets."""
    server: PostgresServer | None = None
    if request.param == "sqlite":
        folder: Path = tmp_path_factory.mktemp("plans")
        url = f"sqlite:///{folder / 'plans.db'}"
    else:
        server = request.getfixturevalue("postgres_server")
        server.create_database("plans")
        url = server.url("plans")
    database.upgrade(url)
    with Store.open(url) as store:
        with store.write() as tx:
            add_runs(tx, "shop", N_RUNS)
            for number in range(N_OTHER_DATASETS):
                add_runs(tx, f"other {number}", 1)
        if server is not None:
            engine = database_engine(parsed_location(url))
            with engine.begin() as connection:
                connection.exec_driver_sql("ANALYZE")
            engine.dispose()
        yield store
    if server is not None:
        server.drop_database("plans")


def plan_of(store: Store, query: str) -> list[Step]:
    """Return how the engine would answer a query, without answering it."""
    with store.read() as rx:
        connection = rx._session.connection
        if store.dialect == "sqlite":
            lines = [row[3].split(" ", 2) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")]
            return [Step(name, how, "".join(condition)) for how, name, *condition in lines]
        plan = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {query}").scalar_one()
    return list(steps_of(plan[0]["Plan"]))


def steps_of(node: dict[str, Any], table: str = "") -> Iterator[Step]:
    """Yield the steps of a Postgres plan; the index scan below a bitmap scan is of the same table."""
    table = node.get("Alias", table)
    yield Step(table, node["Node Type"], node.get("Index Cond", ""))
    for child in node.get("Plans", []):
        yield from steps_of(child, table)


def is_whole(store: Store, step: Step) -> bool:
    """Whether a step reads a table from end to end: by no index, or through one without a condition."""
    if store.dialect == "sqlite":
        return step.how == "SCAN"
    return step.how.endswith("Seq Scan") or (step.how.startswith("Index") and not step.condition)


ALIASES = {"g": "groups", "v": "group_results", "vb": "group_results", "vc": "group_results", "l": "lists"}
RUN = "dataset = 'shop' AND run = 'run 7'"
DIFF = "dataset = 'shop' AND baseline = 'run 7' AND candidate = 'run 9' AND metric = 'ndcg@10'"


@pytest.mark.nightly(but=16)
@pytest.mark.parametrize(
    ("condition", "columns_of"),
    [
        (f"items WHERE {RUN} AND group_key = 'q1'", {"l": ["run_id", "group_id"], "g": ["key"]}),
        ("items WHERE run = 'run 7' AND group_key = 'q1'", {"l": ["run_id", "group_id"], "g": ["key"]}),
        ("items WHERE run_id = 7 AND group_key = 'q1'", {"l": ["run_id", "group_id"], "g": ["key"]}),
        (f"items WHERE {RUN} AND rank <= 10", {"l": ["run_id"]}),
        ("items WHERE run = 'run 7' AND rank <= 10", {"l": ["run_id"]}),
        ("items WHERE run_id = 7", {"l": ["run_id"]}),
        (
            "labels WHERE dataset = 'shop' AND label_set_version = 1 AND group_key = 'q1'",
            {"l": ["label_set_id", "group_id"], "g": ["key"]},
        ),
        ("labels WHERE dataset = 'shop' AND group_key = 'q1'", {"l": ["label_set_id", "group_id"], "g": ["key"]}),
        ("labels WHERE dataset = 'shop' AND label_set_version = 1", {"l": ["label_set_id"]}),
        (f"group_history WHERE {RUN} AND metric = 'ndcg@10'", {"v": ["evaluation_id"]}),
        ("group_history WHERE run = 'run 7' AND metric = 'ndcg@10'", {"v": ["evaluation_id"]}),
        (
            f"group_history WHERE {RUN} AND metric = 'ndcg@10' AND group_key = 'q1'",
            {"v": ["evaluation_id", "group_id"], "g": ["key"]},
        ),
        (
            "group_history WHERE dataset = 'shop' AND metric = 'ndcg@10' AND group_key = 'q1' ORDER BY run_id",
            {"v": ["evaluation_id", "group_id"], "g": ["key"]},
        ),
        ("group_history WHERE metric = 'ndcg@10' AND group_key = 'q1'", {"v": ["evaluation_id", "group_id"]}),
        (f"group_diff WHERE {DIFF}", {"vb": ["evaluation_id"], "vc": ["evaluation_id"]}),
        (f"group_diff WHERE {DIFF} ORDER BY delta LIMIT 10", {"vb": ["evaluation_id"], "vc": ["evaluation_id"]}),
        (
            "group_diff WHERE baseline = 'run 7' AND candidate = 'run 9' AND metric = 'ndcg@10'",
            {"vb": ["evaluation_id"], "vc": ["evaluation_id"]},
        ),
        (
            f"group_diff WHERE {DIFF} AND group_key = 'q1'",
            {"vb": ["evaluation_id", "group_id"], "vc": ["evaluation_id", "group_id"], "g": ["key"]},
        ),
        ("run_summary WHERE dataset = 'shop' AND metric = 'ndcg@10' ORDER BY run_id", {}),
        (f"run_summary WHERE {RUN}", {}),
        (f"label_coverage WHERE {RUN}", {}),
        ("label_coverage WHERE run = 'run 7'", {}),
    ],
)
def test_the_usual_filters_use_indexes(large_store: Store, condition: str, columns_of: dict[str, list[str]]) -> None:
    plan = plan_of(large_store, f"SELECT * FROM {condition}")
    whole = [ALIASES.get(step.table, step.table) for step in plan if is_whole(large_store, step)]
    assert not {"group_results", "lists", "groups"} & set(whole), plan
    for alias, columns in columns_of.items():
        conditions = [step.condition for step in plan if step.table == alias]
        assert conditions, plan
        assert any(all(column in used for column in columns) for used in conditions), plan


def test_a_history_reads_no_group_results(large_store: Store) -> None:
    """The history of a metric rests on the stored evaluations alone."""
    plan = plan_of(large_store, "SELECT * FROM run_summary WHERE dataset = 'shop' AND metric = 'ndcg@10'")
    assert not {step.table for step in plan} & {"v", "group_results", "g", "groups"}
    queries: list[str] = []
    with large_store.read() as rx:
        sa.event.listen(rx._session.connection, "before_cursor_execute", lambda *about: queries.append(about[2]))
        rows = rx.evaluations.history(1, "ndcg@10")
    assert len(rows) == N_RUNS
    assert queries
    assert [query for query in queries if "group_results" in query or "packed_" in query] == []
