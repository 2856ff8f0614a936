"""The public views: the same rows on both engines."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankings_of import Run, labels_of, ranking_of
from stored_samples import BM25, DENSE, HOSTILE, LABELS, add_run
from thorough import examples

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.storage.store import Store, WriteTransaction
from ndcg_tracker.storage.views import VIEWS

ORDERS = {
    "run_summary": "run_id, metric, label_set_version",
    "group_history": "run_id, metric, label_set_version, group_key",
    "group_diff": "dataset, baseline, candidate, metric, label_set_version, group_key",
    "items": "run_id, group_key, rank",
    "labels": "dataset, label_set_version, group_key, item_key",
    "label_coverage": "dataset, run, label_set_version, cutoff IS NULL, cutoff",
    "run_details": "run_id",
    "run_parameters": "run_id, name",
    "run_tags": "run_id, name",
    "run_aliases": "dataset, alias",
    "group_attributes": "dataset, group_key, attribute",
    "gate_decisions": "decision_id",
    "suite_gate_decisions": "decision_id",
    "run_regressions": "run_id, against, metric, label_set_version, group_key",
    "alias_history": "dataset, alias, since_utc",
    "dataset_list": "dataset",
    "group_list": "dataset, group_key",
    "run_list": "run_id",
    "metric_list": "dataset, metric",
    "labels_or_ranking": "baseline, candidate, metric, baseline_label_set_version, candidate_label_set_version",
    "label_details": "dataset, label_set_version, group_key, item_key",
}
TIMES = ("created_at_utc", "created_at", "updated_at_utc", "updated_at", "since_utc", "since", "until_utc", "until")
TIME = "2025-01-31T08:00:00.000000Z"
IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.sampled_from(
    [key for key in HOSTILE if len(key) < 100]
)
RUNS = st.dictionaries(
    IDS,
    st.dictionaries(IDS, st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def rows_of(store: Store, view: str, dataset: str = "%") -> list[tuple[object, ...]]:
    """Return the rows of a view, the times, which differ, left out."""
    columns = VIEWS[view]
    named = ", ".join(column for column in columns if column not in TIMES)
    where = f"WHERE dataset LIKE '{dataset}'" if "dataset" in columns else ""
    return store.query(f"SELECT {named} FROM {view} {where} ORDER BY {ORDERS[view]}").rows


def close(one: object, other: object) -> bool:
    """Whether two values are equal, doubles to one unit in the last place (SQLite's own JSON reader)."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= np.spacing(max(abs(one), abs(other)))
    return type(one) is type(other) and one == other


def check_parity(stores: tuple[Store, Store], dataset: str = "%") -> None:
    for view in ORDERS:
        one, other = (rows_of(store, view, dataset) for store in stores)
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert all(map(close, left, right)), (view, left, right)


def test_the_rows_of_every_view(both: tuple[Store, Store]) -> None:
    for store in both:
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
            add_run(tx, "dense", DENSE)
            add_run(tx, "bm25", BM25, {"q1": {"a": 3.0}}, dataset="books")
        assert rows_of(store, "items")[:5] == [
            ("bm25", 1, "shop", "q1", 1, "a", 3.0),
            ("bm25", 1, "shop", "q1", 2, "b", 2.5),
            ("bm25", 1, "shop", "q1", 3, "c", -1.0),
            ("bm25", 1, "shop", "q2", 1, "d", 0.5),
            ("bm25", 1, "shop", "q3", 1, "a", 7.0),
        ]
        assert rows_of(store, "labels") == [
            ("books", 1, "q1", "a", 3.0, "", 1),
            ("shop", 1, "q1", "a", 1.0, "", 1),
            ("shop", 1, "q1", "c", 0.0, "", 1),
            ("shop", 1, "q2", "e", 2.0, "", 1),
        ]
        assert [type(row[4]) for row in rows_of(store, "labels")] == [float] * 4
        assert rows_of(store, "run_summary") == [
            ("bm25", 1, "shop", "ndcg@10", 1, pytest.approx(0.415), 2, 0, 1, "ndcg@10", "", 1, None),
            ("dense", 2, "shop", "ndcg@10", 1, pytest.approx(0.425), 2, 0, 1, "ndcg@10", "", 1, None),
            ("bm25", 3, "books", "ndcg@10", 1, pytest.approx(0.415), 2, 0, 1, "ndcg@10", "", 1, None),
        ]
        assert rows_of(store, "group_history")[:3] == [
            ("bm25", 1, "shop", "q1", "ndcg@10", 1, pytest.approx(0.29), "ndcg@10", "", 1, None, 0),
            ("bm25", 1, "shop", "q2", "ndcg@10", 1, pytest.approx(0.54), "ndcg@10", "", 1, None, 0),
            ("bm25", 1, "shop", "q3", "ndcg@10", 1, None, "ndcg@10", "", 1, None, 0),
        ]
        assert rows_of(store, "group_diff")[:3] == [
            ("shop", "bm25", "dense", "ndcg@10", 1, "q1", *map(pytest.approx, (0.29, 0.3, 0.01)), "ndcg@10", "", 1),
            ("shop", "bm25", "dense", "ndcg@10", 1, "q2", *map(pytest.approx, (0.54, 0.55, 0.01)), "ndcg@10", "", 1),
            ("shop", "bm25", "dense", "ndcg@10", 1, "q3", None, None, None, "ndcg@10", "", 1),
        ]
        assert rows_of(store, "label_coverage") == [
            ("bm25", "books", 1, 10, 0.5, "", 3, 1),
            ("bm25", "books", 1, None, 0.25, "", 3, 1),
            ("bm25", "shop", 1, 10, 0.5, "", 1, 1),
            ("bm25", "shop", 1, None, 0.25, "", 1, 1),
            ("dense", "shop", 1, 10, 0.5, "", 2, 1),
            ("dense", "shop", 1, None, 0.25, "", 2, 1),
        ]
    check_parity(both)


def test_times_print_the_same(both: tuple[Store, Store]) -> None:
    for store in both:
        with store.write() as tx:
            dataset = tx.write.datasets.ensure("shop")
            label_set = tx.write.labels.insert(dataset.id, labels_of({"q": {"a": 1.0}}))
            run = tx.write.runs.insert(dataset.id, "one", ranking_of({"q": {"a": 1.0}}), created_at_utc=TIME)
            tx.write.evaluations.insert(
                run.id,
                label_set.id,
                "p@1",
                mean=1.0,
                n_groups=1,
                n_missing=0,
                n_undefined=0,
                group_ids=tx.write.groups.ensure(dataset.id, Keys.from_strings(["q"])),
                values=np.ones(1),
            )
        for view in ("run_summary", "group_history"):
            assert store.query(f"SELECT created_at_utc FROM {view}").rows == [(TIME,)]


def evaluated(tx: WriteTransaction, run_id: int, requested_as: str | None) -> None:
    """Store the text by which AP was requested for a run."""
    dataset_id = tx.runs.with_id(run_id).dataset_id
    label_set = tx.labels.newest(dataset_id)
    assert label_set is not None
    tx.write.evaluations.insert(
        run_id,
        label_set.id,
        "AP",
        mean=1.0,
        n_groups=1,
        n_missing=0,
        n_undefined=0,
        group_ids=tx.write.groups.ensure(dataset_id, Keys.from_strings(["q1"])),
        values=np.ones(1),
        requested_as=requested_as,
    )


def test_what_was_asked_for_is_found(both: tuple[Store, Store]) -> None:
    """One row per evaluation; of two runs the candidate's text, else the baseline's, else the canonical one."""
    for store in both:
        with store.write() as tx:
            asked = {"bm25": "map", "dense": "trec_eval:-c map", "plain": "AP", "unknown": None}
            for name, text in asked.items():
                evaluated(tx, add_run(tx, name, BM25).id, text)
            assert {one.requested_as for one in tx.evaluations.history(1, "AP")} == {"map", "trec_eval:-c map", "AP"}
            assert [one.requested_as for one in tx.evaluations.of_run(1)] == ["ndcg@10", "map"]
        for view in ("run_summary", "group_history"):
            rows = store.query(f"SELECT run, metric FROM {view} WHERE requested_as = 'map'").rows
            assert rows == [("bm25", "AP")]
            rows = store.query(f"SELECT run FROM {view} WHERE requested_as = 'AP' ORDER BY run").rows
            assert rows == [("plain",), ("unknown",)]
        pairs = store.query("SELECT baseline, candidate, requested_as FROM group_diff WHERE metric = 'AP'").rows
        assert len(pairs) == len(asked) * (len(asked) - 1)
        found = {(baseline, candidate): text for baseline, candidate, text in pairs}
        assert found["bm25", "dense"] == "trec_eval:-c map"
        assert found["dense", "bm25"] == "map"
        assert found["bm25", "plain"] == found["unknown", "bm25"] == "map"
        assert found["plain", "unknown"] == "AP"
    check_parity(both)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(runs=st.lists(RUNS, min_size=1, max_size=3), labels=RUNS)
def test_both_engines_show_the_same(both: tuple[Store, Store], runs: list[Run], labels: Run) -> None:
    for store in both:
        with store.write() as tx:
            dataset = f"d{len(tx.datasets.all())}"
            for number, run in enumerate(runs):
                add_run(tx, f"run {number}", run, labels, dataset)
    check_parity(both, dataset)


def test_one_group_is_found_without_the_others(store: Store) -> None:
    """A filter on run and group reads one list: shown by damaging every other list."""
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        wanted = tx.write.groups.ensure(run.dataset_id, Keys.from_strings(["q2"]))[0]
        if store.dialect == "sqlite":
            tx._session.connection.exec_driver_sql(
                f"UPDATE ranked_lists SET item_keys = '[' WHERE group_id <> {wanted}"
            )
    rows = store.query("SELECT item_key, score FROM items WHERE run = 'bm25' AND group_key = 'q2'").rows
    assert rows == [("d", 0.5)]
    assert LABELS["q2"] == {"e": 2.0}
