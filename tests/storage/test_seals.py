"""Sealed datasets: left out of every list, refused by name, open to a transaction that opens seals."""

from collections.abc import Callable

import pytest
from refused import refusal_of
from stored_samples import BM25, DENSE, LABELS, add_run, labels_of

from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError
from ndcg_tracker.storage.records import DatasetRecord, RunRecord
from ndcg_tracker.storage.store import ReadTransaction, Store
from ndcg_tracker.storage.views import VIEWS

pytestmark = pytest.mark.both_engines
REFUSED = "dataset 'held' is sealed: only gate and ingest may use it; see the open ones with: ndcg-track runs list"


@pytest.fixture
def held(store: Store) -> RunRecord:
    """A run with an alias in a sealed dataset, stored after one in an open dataset."""
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
        tx.write.labels.insert(tx.write.datasets.ensure("held").id, labels_of(LABELS))
        tx.write.datasets.seal("held", budget=0.04, looks=40)
    with store.write(opens_seals=True) as tx:
        run = add_run(tx, "hidden", DENSE, dataset="held")
        tx.write.aliases.set(run.dataset_id, "masked", run.id)
        tx.write.runs.prune(add_run(tx, "cut", DENSE, dataset="held").id, summaries_only=False)
    return run


def test_it_is_left_out_of_every_list(store: Store, held: RunRecord) -> None:
    with store.read() as tx:
        (shop,) = tx.datasets.all()
        assert tx.datasets.counts().keys() == {shop.id}
        assert [run.name for run in tx.runs.all()] == [run.name for run in tx.runs.without_facts()] == ["bm25"]
        assert [run.name for run in tx.runs.matching("*", None)] == ["bm25"]
        assert tx.runs.resolve("latest").name == "bm25"
        assert (tx.aliases.all(), tx.runs.prunings()) == ([], {})
        assert not tx.damage()
        unknown = refusal_of(ReferenceNotFoundError, tx.datasets.known, "helt")
        assert unknown == "no dataset 'helt'; there is only 'shop': name it with dataset='shop'"
        for reference in ("hidden", str(held.id), "hid", "hidde", "@masked", "masked"):
            assert "hidden" not in refusal_of(ReferenceNotFoundError, tx.runs.resolve, reference).replace(reference, "")
        refusal_of(ReferenceNotFoundError, tx.runs.with_id, held.id)
        refusal_of(ReferenceNotFoundError, tx.aliases.known, "masked", None)


Ask = Callable[[ReadTransaction], object]
BY_NAME: dict[str, Ask] = {
    "named": lambda tx: tx.datasets.named("held"),
    "known": lambda tx: tx.datasets.known("held"),
    "runs": lambda tx: tx.runs.all("held"),
    "chosen": lambda tx: tx.runs.chosen((), "held"),
    "resolve": lambda tx: tx.runs.resolve("hidden", "held"),
    "aliases": lambda tx: tx.aliases.all("held"),
    "alias": lambda tx: tx.aliases.known("masked", "held"),
}


@pytest.mark.parametrize("way", BY_NAME)
def test_its_name_is_refused(store: Store, held: RunRecord, way: str) -> None:
    with store.read() as tx:
        assert refusal_of(InputError, BY_NAME[way], tx) == REFUSED
        assert refusal_of(InputError, tx.datasets.with_id, held.dataset_id) == REFUSED


def test_a_writer_cannot_take_its_name(store: Store, held: RunRecord) -> None:
    with store.write() as tx:
        assert refusal_of(InputError, tx.write.datasets.ensure, "held") == REFUSED
        assert refusal_of(InputError, tx.write.suites.create, "all", ["held", "shop"], replace=False) == REFUSED
        assert tx.suites.all() == []


def test_a_transaction_that_opens_seals_reads_it(store: Store, held: RunRecord) -> None:
    with store.read(opens_seals=True) as tx:
        assert [dataset.name for dataset in tx.datasets.all()] == ["shop", "held"]
        assert tx.runs.resolve("hidden", "held") == tx.runs.with_id(held.id) == held
        assert [alias.run for alias in tx.aliases.all("held")] == ["hidden"]
        assert (tx.datasets.is_sealed("held"), tx.datasets.is_sealed("shop")) == (True, False)
        seal = tx.datasets.seal_of(held.dataset_id)
        assert seal is not None
        assert (seal.is_sealed, seal.budget, seal.looks, seal.split) == (True, 0.04, 40, None)
        assert tx.datasets.seal_of(tx.datasets.known("shop").id) is None


def test_whether_a_name_is_sealed_needs_no_open_seal(store: Store, held: RunRecord) -> None:
    with store.read() as tx:
        names = ("held", "shop", "elsewhere", "\ud800")
        assert [tx.datasets.is_sealed(name) for name in names] == [True, False, False, False]


def test_only_what_nobody_saw_is_sealed(store: Store) -> None:
    with store.write() as tx:
        shop = add_run(tx, "bm25", BM25)
        of_suite = tx.write.datasets.ensure("of-suite")
        tx.write.suites.create("all", ["of-suite"], replace=False)
        seen = "dataset 'shop' has recorded results, so it was already seen; seal one before its first run"
        assert refusal_of(ConflictError, tx.write.datasets.seal, "shop", budget=0.05) == seen
        tx.write.aliases.set(shop.dataset_id, "prod", shop.id)
        tx.write.aliases.delete(shop.dataset_id, "prod")
        tx.write.runs.delete(shop.id)
        assert refusal_of(ConflictError, tx.write.datasets.seal, "shop", budget=0.05) == seen
        assert refusal_of(ConflictError, tx.write.datasets.seal, of_suite.name, budget=0.05) == (
            "dataset 'of-suite' is part of a suite; delete the suite first, with: ndcg-track suite delete NAME"
        )
        refusal_of(ReferenceNotFoundError, tx.write.datasets.seal, "elsewhere", budget=0.05)


def test_a_seal_is_set_once(store: Store) -> None:
    with store.write() as tx:
        names = [tx.write.datasets.ensure(name).name for name in ("half", "other")]
        split = {"other": names[1], "share": 0.5}
        seal = tx.write.datasets.seal("half", budget=None, is_sealed=False, split=split)
        assert tx.datasets.seal_of(seal.dataset_id) == seal
        assert tx.datasets.known("half") == DatasetRecord(seal.dataset_id, "half", tx.datasets.all()[0].created_at_utc)
        tx.write.datasets.seal("other", budget=0.05)
        for name, what in (("half", "split"), ("other", "sealed")):
            again = refusal_of(ConflictError, tx.write.datasets.seal, name, budget=0.05)
            assert again == f"dataset {name!r} is {what} already; choose another dataset"


OF_TABLES = (
    "SELECT * FROM runs",
    'SELECT name FROM "datasets"',
    "WITH run_list AS (SELECT name FROM runs) SELECT * FROM run_list",
    "SELECT * FROM (SELECT count(*) FROM evaluations) e",
    "SELECT v.run FROM run_list v, label_lists",
)


@pytest.mark.parametrize("query", OF_TABLES)
def test_sql_names_no_table_beside_a_seal(store: Store, query: str) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
        name = tx.write.datasets.ensure("held").name
    assert store.query(query).rows
    with store.write() as tx:
        tx.write.datasets.seal(name, budget=0.05)
    assert "a dataset is sealed, so " in refusal_of(InputError, store.query, query)
    assert store.query("SELECT run FROM run_list").rows == [("bm25",)]


def test_no_view_shows_it(store: Store, held: RunRecord) -> None:
    with store.read() as tx:
        shop = tx.datasets.known("shop")
    assert store.query("SELECT dataset FROM dataset_list").rows == [(shop.name,)]
    for view in VIEWS:
        shown = str(store.query(f"SELECT * FROM {view.name}").rows)
        assert not any(marker in shown for marker in ("held", "hidden", "masked", "cut"))


def test_no_function_of_postgres_reads_it_by_a_text(store: Store, held: RunRecord) -> None:
    if store.dialect == "sqlite":
        pytest.skip("it has no such functions")
    for query in (
        "SELECT table_to_xml('ru' || 'ns', true, false, '')",
        "SELECT schema_to_xml('public', true, false, '')",
        "SELECT query_to_xml('SELECT * FROM run' || 's', true, false, '')",
        "SELECT most_common_vals FROM pg_stats",
        "SELECT * FROM pg_statistic",
    ):
        refusal_of(InputError, store.query, query)
