"""A signal while the server is busy with a statement: Postgres alone has one, SQLite works in the process itself."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
from stored_samples import BM25, add_run

from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import ReadTransaction, Store

SLEEP = "SELECT pg_sleep(600)"
SLEEPING = "SELECT count(*) FROM pg_stat_activity WHERE query = %s AND state = 'active'"


class Stop(BaseException):
    """What the handler of the signal raises."""


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """SIGUSR1 raises Stop."""

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    yield
    signal.signal(signal.SIGUSR1, before)


def wait_for(url: str, n_sleeping: int) -> None:
    """Return once the server is busy with so many of the long statements."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as server:
        while server.execute(SLEEPING, (SLEEP,)).fetchone() != (n_sleeping,):
            time.sleep(0.01)


def sleep(transaction: ReadTransaction) -> None:
    """Let the server be busy as bulk reads and writes do: by the driver, past SQLAlchemy."""
    driver = transaction._session.connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    driver.execute(SLEEP)


@pytest.fixture
def signalled(postgres_schema: None, postgres_url: str) -> Iterator[str]:
    """The URL of a database; this process gets SIGUSR1 when the server is busy with the long statement."""

    def send() -> None:
        wait_for(postgres_url, 1)
        os.kill(os.getpid(), signal.SIGUSR1)

    database.upgrade(postgres_url)
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    yield postgres_url
    sender.join()


def test_a_write_is_undone_and_the_server_stops_working_on_it(signalled: str) -> None:
    with Store.open(signalled) as store:

        def write() -> None:
            with store.write() as tx:
                add_run(tx, "bm25", BM25)
                sleep(tx)

        with pytest.raises(Stop):
            write()
        wait_for(signalled, 0)
        with store.write() as tx:
            add_run(tx, "dense", BM25)
        with store.read() as rx:
            assert [run.name for run in rx.runs.all()] == ["dense"]
    assert database.check(signalled) == []


def test_a_read_ends_and_the_server_stops_working_on_it(signalled: str) -> None:
    with Store.open(signalled) as store:
        with pytest.raises(Stop), store.read() as rx:
            sleep(rx)
        wait_for(signalled, 0)
        with store.read() as rx:
            assert rx.runs.all() == []
