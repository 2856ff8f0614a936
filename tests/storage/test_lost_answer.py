"""A commit whose answer is lost with the connection: the report says what is stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from postgres_server import PostgresServer
from rankings_of import labels_of
from stored_samples import BM25, DENSE, LABELS, add_run
from torture.proxy import PLACES, AtCommit, Fault, Place, Proxy

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database
from ndcg_tracker.storage import store as storage
from ndcg_tracker.storage.records import LabelOrigin
from ndcg_tracker.storage.session import Written
from ndcg_tracker.storage.store import Store, WriteTransaction

OPTIONS = "sslmode=disable&gssencmode=disable"
NOTHING = "the connection to the server broke before the commit; nothing was stored: run the same command again"
UNKNOWN = (
    "the connection to the server broke during the commit, so it is not known whether it was stored; run the same "
    "command again: a run that is stored is not stored twice"
)
STORED = {"before": False, "within": False, "sent": True, "unanswered": True, "half answered": True}


@pytest.fixture
def socket_path(postgres_server: PostgresServer) -> Path:
    """The unix socket of the server."""
    return postgres_server.folder / ".s.PGSQL.5432"


@pytest.fixture
def direct(postgres_schema: None, postgres_url: str) -> Iterator[Store]:
    """The store without a proxy, with a run, labels and results in it."""
    with Store.open(postgres_url) as store:
        with store.write() as tx:
            add_run(tx, "first", BM25)
        yield store


@contextmanager
def through(direct: Store, socket_path: Path, fault: Fault) -> Iterator[Store]:
    """Yield the same store through a proxy; its handshake is COMMIT number 1."""
    with Proxy(socket_path, fault) as proxy:
        name = direct.location.url.database if direct.location.url else ""
        url = f"postgresql://ndcg:secret@127.0.0.1:{proxy.port}/{name}?{OPTIONS}"
        with Store.open(url) as store:
            yield store
        assert proxy.happened.is_set()


def names(store: Store) -> list[str]:
    with store.read() as rx:
        return [run.name for run in rx.runs.all()]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("resets", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_run_is_looked_up(direct: Store, socket_path: Path, place: Place, resets: bool) -> None:
    with through(direct, socket_path, Fault(AtCommit(3, place), resets=resets)) as store:
        if STORED[place]:
            with store.write() as tx:
                add_run(tx, "second", DENSE)
        else:
            with pytest.raises(DatabaseError) as caught, store.write() as tx:
                add_run(tx, "second", DENSE)
            assert str(caught.value) == f"{store.display_url}: {NOTHING}"
        assert names(store) == (["first", "second"] if STORED[place] else ["first"])
    assert names(direct) == (["first", "second"] if STORED[place] else ["first"])


def add_label_set(tx: WriteTransaction) -> None:
    tx.write.labels.insert(
        tx.write.datasets.ensure("shop").id, labels_of({**LABELS, "q9": {"z": 3.0}}), LabelOrigin("more.qrels")
    )


def add_results(tx: WriteTransaction) -> None:
    run = tx.runs.all("shop")[0]
    tx.write.evaluations.insert(
        run.id, tx.labels.sets(run.dataset_id)[0].id, "p@5", mean=None, n_groups=0, n_missing=0, n_undefined=0,
        group_ids=tx.groups.ids(run.dataset_id, labels_of({}).group_keys), values=labels_of({}).numbers,
    )  # fmt: skip


def add_decision(tx: WriteTransaction) -> None:
    run = tx.runs.all("shop")[0]
    tx.write.decisions.insert(
        run.dataset_id, run.id, run.id, metric="ndcg@10", label_set_id=tx.labels.sets(run.dataset_id)[0].id,
        scope="set", decision="pass", reason="equal",
    )  # fmt: skip


def add_decision_elsewhere(tx: WriteTransaction) -> None:
    tx.write.datasets.ensure("elsewhere")
    add_decision(tx)


@pytest.mark.parametrize("add", [add_label_set, add_results, add_decision])
def test_what_is_no_run_is_looked_up_as_well(direct: Store, socket_path: Path, add: object) -> None:
    assert callable(add)
    with through(direct, socket_path, Fault(AtCommit(3, "unanswered"))) as store, store.write() as tx:
        add(tx)
    with (
        through(direct, socket_path, Fault(AtCommit(3, "before"))) as store,
        pytest.raises(DatabaseError, match=f": {NOTHING}$"),
        store.write() as tx,
    ):
        add_decision_elsewhere(tx)
    assert "elsewhere" not in [row[0] for row in direct.query("SELECT name FROM datasets").rows]


def test_nothing_to_be_found_again(direct: Store, socket_path: Path) -> None:
    with through(direct, socket_path, Fault(AtCommit(3, "unanswered"))) as store:
        with pytest.raises(DatabaseError) as caught, store.write() as tx:
            tx.write.runs.rename(tx.runs.all("shop")[0].id, "renamed")
        assert str(caught.value) == f"{store.display_url}: {UNKNOWN}"
        assert "secret" not in str(caught.value)


def test_a_server_that_does_not_come_back(direct: Store, socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "RECONNECT_SECONDS", 0.3)
    with through(direct, socket_path, Fault(AtCommit(3, "unanswered"), refuses=True)) as store:
        with pytest.raises(DatabaseError) as caught, store.write() as tx:
            add_run(tx, "second", DENSE)
        assert str(caught.value) == f"{store.display_url}: {UNKNOWN}"
    assert names(direct) == ["first", "second"]


def add_run_and_clear_tags(outer: WriteTransaction, inner: Store) -> None:
    add_run(outer, "outer", BM25)
    with inner.write() as tx:
        tx.write.runs.set_tags(tx.runs.all("shop")[0].id, {})


def test_an_inner_transaction_does_not_answer_for_an_outer_one(
    direct: Store, socket_path: Path, postgres_server: PostgresServer
) -> None:
    postgres_server.create_database("outer")
    try:
        database.upgrade(postgres_server.url("outer"))
        with Store.open(postgres_server.url("outer")) as outer:
            with (
                through(direct, socket_path, Fault(AtCommit(3, "unanswered"))) as store,
                pytest.raises(DatabaseError, match="it is not known whether it was stored"),
                outer.write() as outer_tx,
            ):
                add_run_and_clear_tags(outer_tx, store)
            assert names(outer) == []
    finally:
        postgres_server.drop_database("outer")


def test_content_tells_and_not_the_number_alone(direct: Store) -> None:
    with direct.read() as rx:
        (run,) = rx.runs.all()
        (label_set,) = rx.labels.sets(run.dataset_id)
        for written, found in (
            (Written({run.id: run.digest}, {}, frozenset(), frozenset()), True),
            (Written({run.id: "another"}, {}, frozenset(), frozenset()), False),
            (Written({run.id: "another"}, {label_set.id: label_set.digest}, frozenset(), frozenset()), False),
            (Written({}, {label_set.id: label_set.digest}, frozenset(), frozenset()), True),
            (Written({}, {label_set.id: "another"}, frozenset({1}), frozenset()), False),
            (Written({}, {}, frozenset({99}), frozenset()), False),
            (Written({}, {}, frozenset(), frozenset({99})), False),
            (Written({}, {}, frozenset(), frozenset()), None),
        ):
            assert written.is_in(rx._session.connection) is found
