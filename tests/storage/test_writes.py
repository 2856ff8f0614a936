"""Renaming, tagging, deleting, aliases and decisions."""

from dataclasses import replace

import numpy as np
import pytest
from stored_samples import BM25, DENSE, add_run

from ndcg_tracker.errors import ConflictError, DatabaseError, InputError, ReferenceNotFoundError
from ndcg_tracker.storage.marks import DecisionRecord
from ndcg_tracker.storage.store import Store, WriteTransaction

TABLES = ["runs", "ranked_lists", "evaluations", "group_results", "coverages"]


def counts(store: Store) -> list[object]:
    return [store.query(f"SELECT count(*) FROM {table}").rows[0][0] for table in TABLES]


def decide(tx: WriteTransaction, baseline_id: int, candidate_id: int, **changes: object) -> DecisionRecord:
    run = tx.runs.with_id(baseline_id)
    details = {
        "metric": "ndcg@10",
        "label_set_id": tx.labels.sets(run.dataset_id)[0].id,
        "scope": "population",
        "decision": "fail",
        "reason": "it lost",
        "baseline_alias": "prod",
        "margin": 0.01,
        "delta": -0.5,
        "ci_low": -0.75,
        "ci_high": float("nan"),
        "alpha": 0.05,
    }
    return tx.write.decisions.insert(run.dataset_id, baseline_id, candidate_id, **{**details, **changes})


def test_a_run_is_renamed(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        add_run(tx, "dense", DENSE)
        assert tx.write.runs.rename(run.id, "bm25") == run
        assert tx.write.runs.rename(run.id, "new").name == "new"
    for name, kind in (("dense", ConflictError), ("@x", InputError), ("", InputError)):
        with pytest.raises(kind), store.write() as tx:
            tx.write.runs.rename(run.id, name)
    with pytest.raises(ReferenceNotFoundError) as caught, store.write() as tx:
        tx.write.runs.rename(99, "x")
    assert str(caught.value) == "no run with id 99; list all with: ndcg-track runs list"
    with store.read() as rx:
        assert [run.name for run in rx.runs.all()] == ["new", "dense"]


def test_tags_replace_tags(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        assert tx.write.runs.set_tags(run.id, {"a": "1", "b": "2"}).tags == {"a": "1", "b": "2"}
        assert tx.write.runs.set_tags(run.id, {}).tags == {}


def test_a_run_is_deleted_with_all_it_brought(store: Store) -> None:
    with store.write() as tx:
        kept = add_run(tx, "kept", BM25)
    before = counts(store)
    with store.write() as tx:
        gone = add_run(tx, "gone", DENSE)
    with store.write() as tx:
        assert tx.write.runs.delete(gone.id) == gone
    assert counts(store) == before
    with store.write() as tx:
        again = add_run(tx, "gone", DENSE)
        tx.write.runs.delete(again.id)
        third = add_run(tx, "gone", BM25)
    assert kept.id < gone.id < again.id < third.id  # ids are never used twice
    with store.read() as rx:
        assert rx.damage() == []
        assert [run.id for run in rx.runs.all()] == [kept.id, third.id]


def test_a_run_with_an_alias_is_not_deleted(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        tx.write.aliases.set(run.dataset_id, "prod", run.id)
        tx.write.aliases.set(run.dataset_id, "baseline", run.id)
    before = counts(store)
    with pytest.raises(ConflictError) as caught, store.write() as tx:
        tx.write.runs.delete(run.id)
    assert str(caught.value) == (
        "run 'bm25' has the alias @baseline, @prod; point the alias to another run first, with: "
        "ndcg-track alias set baseline RUN"
    )
    assert counts(store) == before


def test_aliases_move(store: Store) -> None:
    with store.write() as tx:
        one, other = add_run(tx, "one", BM25), add_run(tx, "other", DENSE)
        made = tx.write.aliases.set(one.dataset_id, "prod", one.id)
        moved = tx.write.aliases.set(one.dataset_id, "prod", other.id)
        tx.write.aliases.set(one.dataset_id, "a", one.id)
    assert (made.run, moved.run, moved.run_id, moved.dataset) == ("one", "other", other.id, "shop")
    assert made.created_at_utc == moved.created_at_utc <= moved.updated_at_utc
    with store.write() as tx:
        assert [alias.name for alias in tx.aliases.all()] == ["a", "prod"]
        assert tx.aliases.all("books") == []
        tx.write.aliases.delete(one.dataset_id, "a")
        tx.write.aliases.delete(one.dataset_id, "@prod")
        assert tx.aliases.all("shop") == []


def test_an_alias_stays_in_its_dataset(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        books = tx.write.datasets.ensure("books")
    with pytest.raises(ConflictError) as caught, store.write() as tx:
        tx.write.aliases.set(books.id, "prod", run.id)
    assert str(caught.value) == "run 'bm25' is in dataset 'shop'; an alias stays within its dataset"


def test_decisions_outlive_their_runs(store: Store) -> None:
    with store.write() as tx:
        one, other = add_run(tx, "one", BM25), add_run(tx, "other", DENSE)
        decision = decide(tx, one.id, other.id)
        later = decide(tx, other.id, one.id, decision="pass", acknowledged_by="me", acknowledged_reason="known")
    assert (decision.baseline_run, decision.candidate_run, decision.ci_low, decision.ci_high) == (
        "one",
        "other",
        -0.75,
        None,
    )
    with store.write() as tx:
        assert tx.decisions.all(one.dataset_id) == [decision, later]
        tx.write.runs.delete(other.id)
    with store.read() as rx:
        first, second = rx.decisions.all(one.dataset_id)
    assert (first.baseline_run_id, first.candidate_run_id, first.candidate_run) == (one.id, None, "other")
    assert (second.baseline_run_id, second.candidate_run_id, second.acknowledged_by) == (None, one.id, "me")


def test_a_decision_is_one_of_three(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "one", BM25)
    with pytest.raises(DatabaseError, match="ck_decisions_decision"), store.write() as tx:
        decide(tx, run.id, run.id, decision="perhaps")


def test_an_evaluation_gets_other_means(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        (before,) = tx.evaluations.of_run(run.id)
        results = tx.evaluations.results(before.id)
        tx.write.evaluations.set_means(before.id, 0.25, (0.125, None))
    with store.read() as rx:
        (after,) = rx.evaluations.of_run(run.id)
        assert after == replace(before, mean=0.25, worst_mean=0.125, best_mean=None)
        assert np.array_equal(rx.evaluations.results(before.id).values, results.values, equal_nan=True)
        assert rx.damage() == []
    with store.write() as tx:
        tx.write.evaluations.set_means(before.id, float("nan"))
        assert tx.evaluations.of_run(run.id) == [replace(before, mean=None, worst_mean=None, best_mean=None)]
    with pytest.raises(ReferenceNotFoundError) as caught, store.write() as tx:
        tx.write.evaluations.set_means(99, 0.5)
    assert str(caught.value) == "no evaluation with id 99; list those of a run with: ndcg-track runs show RUN"


def test_an_evaluation_repeats_the_names_that_views_show(store: Store) -> None:
    with store.write() as tx:
        run = add_run(tx, "bm25", BM25)
        tx.write.runs.rename(run.id, "bm25-2")
    for view in ("run_summary", "group_history", "items", "run_details", "run_list"):
        assert store.query(f"SELECT DISTINCT run, dataset FROM {view}").rows == [("bm25-2", "shop")]
    names = "evaluations that name another run, metric or label set"
    damage = {"evaluations.run": names, "evaluations.dataset": names, "evaluations.metric": names}
    damage["runs.dataset"] = "runs that name another dataset"
    for column, what in damage.items():
        table, _, name = column.partition(".")
        ((before,),) = store.query(f"SELECT {name} FROM {table}").rows
        with store.write() as tx:
            assert tx.damage() == []
            tx._session.connection.exec_driver_sql(f"UPDATE {table} SET {name} = 'another'")
            assert f"1 {what}" in tx.damage()
            tx._session.connection.exec_driver_sql(f"UPDATE {table} SET {name} = '{before}'")


def test_an_alias_has_a_history(store: Store) -> None:
    with store.write() as tx:
        first, other = add_run(tx, "first", BM25), add_run(tx, "other", DENSE)
        tx.write.aliases.set(first.dataset_id, "prod", first.id)
        tx.write.aliases.set(first.dataset_id, "prod", other.id)
        tx.write.aliases.delete(first.dataset_id, "@prod")
        tx.write.aliases.set(first.dataset_id, "prod", first.id)
        tx.write.runs.delete(other.id)
    since = "since" if store.dialect == "sqlite" else "CAST(since_utc AS timestamptz)"
    rows = store.query(
        f"SELECT alias, run, run_id, until_utc IS NULL AS is_now, {since} = since AS is_same "
        "FROM alias_history ORDER BY since_utc"
    ).rows
    assert rows == [
        ("prod", "first", first.id, 0, 1),
        ("prod", "other", None, 0, 1),
        ("prod", "first", first.id, 1, 1),
    ]


def test_created_at_is_a_timestamp_on_postgres(store: Store) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
    for view in ("run_summary", "group_history", "run_details", "run_list"):
        ((text, time),) = store.query(f"SELECT DISTINCT created_at_utc, created_at FROM {view}").rows
        assert text == time
        if store.dialect == "postgresql":
            kind = f"SELECT DISTINCT pg_typeof(created_at)::text FROM {view}"
            assert store.query(kind).rows == [("timestamp with time zone",)]
