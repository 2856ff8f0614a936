"""Writers beside one another on Postgres: who waits for whom, what a waiting one is told, and that nothing is lost."""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from rankings_of import labels_of, ranking_of
from stored_samples import BM25, DENSE, add_run

from ndcg_tracker.errors import ConflictError, DatabaseError
from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights
from ndcg_tracker.runs.ingest import IngestResult, RunDetails, store_run
from ndcg_tracker.storage import database, datasets, evaluations, locks
from ndcg_tracker.storage.store import Store

NDCG = parse_metric("ndcg@10")
LONG = 20.0
"""Seconds after which a test that waits is wrong, however slow the machine."""


@pytest.fixture
def shop(postgres_schema: None, postgres_url: str) -> Iterator[Store]:
    """A store on Postgres with a run, labels, results and an alias."""
    with Store.open(postgres_url) as store:
        with store.write() as tx:
            run = add_run(tx, "first", BM25)
            tx.write.aliases.set(run.dataset_id, "prod", run.id)
        yield store


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has to wait is told at once and gives up at once."""
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(locks, "TOLD_AFTER_SECONDS", 0.1)


def table_of(run: dict[str, dict[str, float]], labels: dict[str, dict[str, float]] | None = None) -> RankedTable:
    """A run as a reader makes it, with labels of its own or without."""
    return RankedTable(ranking_of(run), None if labels is None else labels_of(labels), None)


def stored(
    store: Store, name: str, *blocks: RankedTable, labels: dict[str, dict[str, float]] | None = None, **more: bool
) -> IngestResult:
    """Store a run as ``ingest`` does."""
    given = None if labels is None else labels_of(labels)
    return store_run(store, blocks, given, RunDetails(name, "shop", **more), [NDCG])


def url_of(store: Store) -> str:
    """The URL of a store."""
    assert store.location.url is not None
    return store.location.url.render_as_string(hide_password=False)


@contextmanager
def half_stored(
    store: Store,
    name: str,
    *blocks: RankedTable,
    then: tuple[RankedTable, ...] = (),
    labels: dict[str, dict[str, float]] | None = None,
    outcome: str = "stored",
) -> Iterator[None]:
    """Within: a run whose first blocks are stored and whose next ones are still to come."""
    reached, go_on = threading.Event(), threading.Event()

    def coming() -> Iterator[RankedTable]:
        yield from blocks
        reached.set()
        assert go_on.wait(LONG)
        yield from then

    given = None if labels is None else labels_of(labels)
    with ThreadPoolExecutor(1) as thread, Store.open(url_of(store)) as own:
        done = thread.submit(store_run, own, coming(), given, RunDetails(name, "shop", replace=True), [NDCG])
        try:
            assert reached.wait(LONG)
            yield
        finally:
            go_on.set()
        assert done.result(LONG).outcome == outcome


def names(store: Store) -> list[str]:
    with store.read() as rx:
        return [run.name for run in rx.runs.all()]


def set_tag(store: Store) -> None:
    with store.write("marks") as tx:
        tx.write.runs.set_tags(tx.runs.resolve("first").id, {"seen": "yes"})


def move_alias(store: Store) -> None:
    with store.write("marks") as tx:
        run = tx.runs.resolve("first")
        tx.write.aliases.set(run.dataset_id, "baseline", run.id)


def record(store: Store) -> None:
    with store.write("marks") as tx:
        run = tx.runs.resolve("first")
        label_set = tx.labels.sets(run.dataset_id)[0].id
        tx.write.decisions.insert(
            run.dataset_id, run.id, run.id, metric="ndcg@10", label_set_id=label_set, scope="set", decision="pass",
            reason="equal",
        )  # fmt: skip


def store_another(store: Store) -> None:
    assert stored(store, "another", table_of(DENSE)).outcome == "stored"


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("write", [set_tag, move_alias, record, store_another])
def test_nobody_waits_for_a_run_that_is_being_stored(shop: Store, impatient: None, write: Callable[..., None]) -> None:
    with half_stored(shop, "long", table_of({"q1": {"a": 1.0}}), then=(table_of({"q2": {"e": 1.0}}),)):
        write(shop)
        assert "long" not in names(shop)
    assert names(shop)[-1] == "long"  # a run is dated when it is whole
    assert database.check(url_of(shop)) == []


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("write", [set_tag, move_alias, record])
def test_marks_wait_for_no_change_of_content(shop: Store, impatient: None, write: Callable[..., None]) -> None:
    with shop.write("content"):
        write(shop)


def change_all(store: Store) -> None:
    with store.write() as tx:
        tx.write.runs.delete(tx.runs.resolve("another").id)


def rescore(store: Store) -> None:
    with store.write("content"):
        pass


def store_the_same(store: Store) -> None:
    stored(store, "long", table_of(BM25))


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("write", [change_all, rescore, store_the_same])
def test_what_a_run_that_is_being_stored_keeps_out(
    shop: Store, impatient: None, write: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        half_stored(shop, "long", table_of(BM25)),
        pytest.raises(DatabaseError, match="another process has been writing for too long"),
    ):
        write(shop)
    (told,) = caplog.messages
    assert re.fullmatch(
        r".*: waiting up to 0.2 s for another writer: process \d+, ndcg-tracker of role 'ndcg', "
        r"since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ",
        told,
    )


def test_marks_and_all_of_it_keep_each_other_out(shop: Store, impatient: None) -> None:
    for first, second in (("alone", "marks"), ("marks", "alone"), ("marks", "marks"), ("alone", "content")):
        with shop.write(first), pytest.raises(DatabaseError, match="writing for too long"), shop.write(second):  # type: ignore[arg-type]
            pass


def test_a_writer_that_sends_nothing_is_called_idle(
    shop: Store, impatient: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "IDLE_SECONDS", 0)
    with shop.write("marks"), pytest.raises(DatabaseError) as caught, shop.write("marks"):
        pass
    idle = r"since 20[-\d]*T[:\d]*Z, idle since 20[-\d]*T[:\d]*Z"
    assert re.search(rf"\(process \d+, ndcg-tracker of role 'ndcg', {idle}\)", str(caught.value))
    assert re.search(idle, caplog.messages[0])
    assert caplog.records[0].levelno == logging.WARNING


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Callable[[], None]:
    """Return once somebody has been told that it waits, which is soon."""
    monkeypatch.setattr(locks, "TOLD_AFTER_SECONDS", 0.05)

    def wait() -> None:
        deadline = time.monotonic() + LONG
        while not caplog.messages:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    return wait


def test_who_waits_goes_on_once_the_other_has_ended(shop: Store, told: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as thread:
        with shop.write("marks"):
            waiting = thread.submit(set_tag, shop)
            told()
            assert not waiting.done()
        waiting.result(LONG)
    with shop.read() as rx:
        assert rx.runs.resolve("first").tags == {"seen": "yes"}


NEW = {f"new {number}": {"a": 1.0} for number in range(3)}


@pytest.mark.parametrize("few", [0, 500], ids=["all groups known", "group by group"])
def test_the_groups_that_two_runs_bring_are_stored_once(
    shop: Store, told: Callable[[], None], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (evaluations, datasets):
        monkeypatch.setattr(module, "FEW", few)
    with ThreadPoolExecutor(1) as thread:
        with half_stored(shop, "one", table_of({**NEW, **BM25}), then=(table_of({"own": {"a": 1.0}}),)):
            second = thread.submit(stored, shop, "two", table_of({"q1": {"b": 1.0}, **NEW, "other": {"a": 1.0}}))
            told()
        assert second.result(LONG).outcome == "stored"
    with shop.read() as rx:
        ids, keys = rx.groups.all(1)
    assert sorted(keys.to_list()) == sorted([*BM25, *NEW, "own", "other"])
    assert np.unique(ids).size == len(keys)
    assert database.check(url_of(shop)) == []


@pytest.mark.parametrize("given", [False, True])
def test_the_labels_that_two_runs_bring_are_stored_once(shop: Store, told: Callable[[], None], given: bool) -> None:
    own = None if given else {"q2": {"d": 3.0}}
    apart = {"q2": {"d": 3.0}} if given else None
    with ThreadPoolExecutor(1) as thread:
        with half_stored(shop, "one", table_of({"q2": BM25["q2"]}, own), labels=apart):
            second = thread.submit(stored, shop, "two", table_of(DENSE, own), labels=apart)
            told()
        assert second.result(LONG).label_set_version == 2
    with shop.read() as rx:
        assert [(one.version, one.n_labels) for one in rx.labels.sets(1)] == [(1, 3), (2, 1 if given else 4)]


def test_labels_that_came_while_a_stream_was_read_are_not_lost(shop: Store) -> None:
    with (
        pytest.raises(ConflictError) as caught,
        half_stored(
            shop, "one", table_of({"q1": BM25["q1"]}), then=(table_of({"q2": BM25["q2"]}, {"q2": {"d": 3.0}}),)
        ),
    ):
        assert stored(shop, "two", table_of(BM25, {"q1": {"b": 2.0}})).label_set_version == 2
    said = "dataset 'shop' got new labels while this run with its own labels was read; run the same command again"
    assert str(caught.value) == said
    assert names(shop) == ["first", "two"]
    again = (table_of({"q1": BM25["q1"]}), table_of({"q2": BM25["q2"]}, {"q2": {"d": 3.0}}))
    assert stored(shop, "one", *again).label_set_version == 3
    with shop.read() as rx:
        assert rx.labels.sets(1)[-1].n_labels == 5


def test_the_weights_that_two_runs_bring_must_agree(shop: Store, told: Callable[[], None]) -> None:
    def weighted(weight: float) -> RankedTable:
        keys = ranking_of({"q1": {"a": 1.0}}).group_keys
        weights = GroupWeights(keys, np.array([weight]), np.zeros(1, dtype=np.bool_))
        return replace(table_of({"q1": {"a": 1.0}}), weights=weights)

    metric = parse_metric("ndcg@5")  # new to the database: whoever stores it first keeps others from creating
    with ThreadPoolExecutor(1) as thread:
        with shop.write(run=("shop", "other")) as tx:
            tx.keep_creators_out()
            tx.write.groups.set_weights(1, tx.groups.ids(1, Keys.from_strings(["q1"])), np.array([2.0]))
            second = thread.submit(store_run, shop, [weighted(3.0)], None, RunDetails("two", "shop"), [metric])
            told()
        with pytest.raises(ConflictError, match="has the weight 3 here but 2 in dataset 'shop'"):
            second.result(LONG)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("same", [True, False])
def test_a_run_is_replaced_beside_other_writers(shop: Store, same: bool) -> None:
    content = BM25 if same else DENSE
    with half_stored(shop, "long", table_of(BM25), then=(table_of({"q4": {"a": 1.0}}),)):
        assert stored(shop, "first", table_of(content), replace=True).outcome == (
            "already stored" if same else "replaced"
        )
    with shop.read() as rx:
        assert [run.name for run in rx.runs.all()] == (["first", "long"])
        assert [(alias.name, alias.run) for alias in rx.aliases.all("shop")] == [("prod", "first")]
    assert database.check(url_of(shop)) == []


def test_a_stream_that_replaces_a_run_keeps_its_name_until_it_is_whole(shop: Store, impatient: None) -> None:
    with half_stored(shop, "first", table_of(DENSE), then=(table_of({"q4": {"a": 1.0}}),), outcome="replaced"):
        set_tag(shop)
        move_alias(shop)
        record(shop)
    with shop.read() as rx:
        assert {(alias.name, alias.run) for alias in rx.aliases.all()} == {("prod", "first"), ("baseline", "first")}
        assert rx.runs.resolve("first").n_groups == 4
        assert rx.decisions.all(1)[0].baseline_run_id is None
    assert database.check(url_of(shop)) == []


def test_two_schemas_of_a_database_do_not_wait_for_each_other(postgres_url: str, impatient: None) -> None:
    urls = []
    for schema in ("one", "two"):
        with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        urls.append(f"{postgres_url}&options=-csearch_path%3D{schema}")
        database.upgrade(urls[-1])
    with Store.open(urls[0]) as one, Store.open(urls[1]) as two, one.write(), two.write() as tx:
        add_run(tx, "bm25", BM25)
