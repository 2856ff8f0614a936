"""Through a real PgBouncer that pools transactions (Debian: ``apt install pgbouncer``); skipped where there is none."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from postgres_server import SUPERUSER, PostgresServer, account_to_run_as, run_as
from stored_samples import BM25, add_run, outputs_of, started

import ndcg_tracker as nt
from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage import database, locks
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import health

PGBOUNCER = os.environ.get("NDCG_TEST_PGBOUNCER") or shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin")
SETTINGS = """
[databases]
* = host={server} port=5432
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 4
max_client_conn = 100
ignore_startup_parameters = {ignored}
logfile = {folder}/pgbouncer.log
"""
WRITER = """
import sys
from stored_samples import BM25, add_run
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1]) as store:
    for number in range(4):
        name = f"run {sys.argv[2]}-{number}"
        with store.write(run=("shop", name)) as tx:
            add_run(tx, name, BM25)
"""
KILLED = """
import sys, time
from stored_samples import BM25, add_run
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1]) as store, store.write() as tx:
    add_run(tx, "killed", BM25)
    print("inside", flush=True)
    time.sleep(60)
"""

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="this machine has no PgBouncer (NDCG_TEST_PGBOUNCER)")


def pooled(server: PostgresServer, folder: Path, ignored: str) -> Iterator[Path]:
    """Yield the folder with the socket of a pooler before the server."""
    folder.chmod(0o777)
    (folder / "users").write_text(f'"{SUPERUSER}" ""\n')
    settings = folder / "settings.ini"
    settings.write_text(SETTINGS.format(server=server.folder, folder=folder, ignored=ignored))
    assert PGBOUNCER is not None
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [PGBOUNCER, str(settings)], stdout=output, stderr=output, cwd="/", **run_as(account_to_run_as())
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not (folder / ".s.PGSQL.6432").exists():
            assert process.poll() is None, (folder / "output").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield folder
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


@pytest.fixture(scope="module")
def pooler(postgres_server: PostgresServer) -> Iterator[Path]:
    """The folder of a pooler as Debian sets it up."""
    (folder := postgres_server.folder / "strict").mkdir()
    yield from pooled(postgres_server, folder, "extra_float_digits")


@pytest.fixture(scope="module")
def lenient_pooler(postgres_server: PostgresServer) -> Iterator[Path]:
    """The folder of a pooler that drops ?options= without a word."""
    (folder := postgres_server.folder / "lenient").mkdir()
    yield from pooled(postgres_server, folder, "extra_float_digits, options")


def through(pooler: Path, url: str) -> str:
    """The URL of the same database through the pooler."""
    return f"{url.partition('?')[0]}?host={pooler}&port=6432"


@pytest.fixture
def url(pooler: Path, postgres_schema: None, postgres_url: str) -> str:
    """The URL of a database with the newest schema, through the pooler."""
    return through(pooler, postgres_url)


@pytest.mark.nightly
def test_a_database_from_its_first_day(pooler: Path, postgres_url: str) -> None:
    url = through(pooler, postgres_url)
    database.upgrade(url)
    frame = {"group": ["q", "q", "r"], "item": ["a", "b", "a"], "score": [2.0, 1.0, 1.0], "label": [0, 1, 1]}
    with nt.Tracker(url) as tracker:
        for name in ("bm25", "dense", "hybrid"):
            tracker.ingest(frame, name=name)
            tracker.tag_run(name, {"seen": "yes"})
            tracker.set_alias("baseline", "bm25")
        tracker.rescore(metrics="P@1")
        assert tracker.gate("dense", baseline="@baseline", scope="set").decision == "pass"
        for _ in range(12):  # psycopg would prepare what is said so often
            assert len(tracker.query("SELECT run FROM run_summary WHERE metric = 'P@1'").rows) == 3
        many = "SELECT * FROM generate_series(1, 20000)"
        assert len(tracker.query(many).rows) == 20_000
        with pytest.raises(InputError, match=r"stopped after 0\.2 s"):
            tracker.query("SELECT count(*) FROM generate_series(1, 1e10::bigint)", timeout_seconds=0.2)
        with pytest.raises(InputError, match="sql only reads"):
            tracker.query("SELECT set_config('search_path', 'x', false)")
        tracker.delete_run("hybrid")
    assert database.check(url) == []
    assert {finding.state for finding in health.examine(url)} <= {"ok", "note"}


@pytest.mark.nightly
def test_eight_writers_share_four_connections(url: str, python: Path) -> None:
    outputs_of([started(WRITER, url, str(number), python=python) for number in range(8)])
    with Store.open(url) as store, store.read() as rx:
        assert len(rx.runs.all()) == 32
    assert database.check(url) == []


@pytest.mark.nightly
def test_nothing_stays_of_a_killed_writer(url: str, python: Path) -> None:
    process = started(KILLED, url, python=python)
    assert process.stdout is not None
    assert process.stdout.readline() == "inside\n"
    process.kill()
    process.communicate()
    with Store.open(url) as store:
        with store.write() as tx:  # the lock went with the connection
            add_run(tx, "bm25", BM25)
        with store.read() as rx:
            assert [run.name for run in rx.runs.all()] == ["bm25"]


def test_who_waits_is_told_for_whom(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(locks, "TOLD_AFTER_SECONDS", 0.1)
    with (
        Store.open(url) as store,
        store.write("marks"),
        pytest.raises(DatabaseError, match=r"writing for too long \(process \d+, ndcg-tracker of role 'ndcg', since"),
        store.write("marks"),
    ):
        pass
    assert "waiting up to 0.2 s for another writer: process" in caplog.text


def test_many_readers_are_in_read_only_transactions(url: str) -> None:
    with Store.open(url) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)

    def read(_: int) -> str:
        with Store.open(url, read_only=True) as store, store.read() as rx:
            return str(rx._session.connection.exec_driver_sql("SHOW transaction_read_only").scalar())

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(read, range(16))) == {"on"}
    with Store.open(url) as store, store.write() as tx:  # and the pooled connections can write again
        tx.write.datasets.ensure("more")


def test_options_that_the_pooler_refuses(url: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        Store.open(f"{url}&options=-csearch_path%3Dranking")
    assert str(caught.value).endswith(
        "a connection pooler does not accept ?options=; remove it from the URL, and set it with ALTER ROLE ... SET"
    )


@pytest.mark.parametrize("is_set", [False, True])
@pytest.mark.nightly(but=2)
def test_options_that_the_pooler_drops(
    lenient_pooler: Path, postgres_schema: None, postgres_url: str, is_set: bool
) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ranking")
        if is_set:
            connection.execute(f"ALTER DATABASE {connection.info.dbname} SET search_path = ranking")
    database.upgrade(f"{postgres_url}&options=-csearch_path%3Dranking")
    dropped = f"{through(lenient_pooler, postgres_url)}&options=-c%20search_path%3Dranking"
    if is_set:
        with Store.open(dropped) as store, store.write() as tx:
            add_run(tx, "bm25", BM25)
        return
    said = (
        '?options= in the URL asks for search_path ranking, but the connection has "$user", public; a pooler such as '
    )
    for use in (Store.open, database.upgrade):
        with pytest.raises(DatabaseError) as caught:
            use(dropped)
        assert said in str(caught.value)
    (found,) = health.examine(dropped)
    assert said.startswith(found.found)
