"""The process that answers a query on SQLite: what comes back from it, what it may take, and that it never outlives."""

import math
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.guard.sqlite import run_guarded_sqlite

FOREVER = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
ONE_LONG_STEP = "SELECT instr(printf('%090000000d', 0), printf('%040000000d', 0) || '1')"
COLUMNS = ", ".join(["t"] * 1500)
ONE_LONG_ROW = f"SELECT {COLUMNS} FROM (SELECT printf('%090000000d', 1) AS t)"  # 135 GB
T = TypeVar("T")
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "values.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE stored (place INTEGER PRIMARY KEY, value)")
        connection.commit()
    return file


def ask(path: Path, query: str, *, timeout: float = 60, explain: bool = False) -> list[tuple[object, ...]]:
    return run_guarded_sqlite(str(path), query, timeout_seconds=timeout, max_rows=None, explain=explain).rows


def bits(value: object) -> object:
    return struct.pack("<d", value) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "values.db"


VALUES = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)


@settings(max_examples=examples(20))
@given(st.lists(VALUES, min_size=40, max_size=200))
def test_values_come_back_as_they_are(kept: Path, values: list[object]) -> None:
    kept.unlink(missing_ok=True)
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute("CREATE TABLE stored (place INTEGER PRIMARY KEY, value)")
        connection.executemany("INSERT INTO stored (value) VALUES (?)", [(value,) for value in values])
        connection.commit()
    expected = [value.hex() if isinstance(value, bytes) else value for value in values]
    found = [value for (value,) in ask(kept, "SELECT value FROM stored ORDER BY place")]
    assert [bits(value) for value in found] == [bits(value) for value in expected]
    assert [type(value) for value in found] == [type(value) for value in expected]


def test_infinity_comes_back(path: Path) -> None:
    assert ask(path, "SELECT 9e999, -9e999") == [(math.inf, -math.inf)]


def test_rows_of_any_size_come_back(path: Path) -> None:
    rows = ask(
        path,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 2000) "
        "SELECT n, printf('%0*d', CASE WHEN n % 200 = 0 THEN 3000000 ELSE n END, 0) FROM r",
    )
    assert [(n, len(str(text))) for n, text in rows] == [(n, 3_000_000 if n % 200 == 0 else n) for n in range(1, 2001)]


def test_queries_of_several_threads_at_once(path: Path) -> None:
    def answer(number: int) -> object:
        return ask(path, f"SELECT {number}")[0][0]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(answer, range(40))) == list(range(40))


def test_whatever_lies_in_the_folder_is_not_imported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sqlite3", "marshal", "resource", "sqlite_reader", "_sqlite3"):
        (path.parent / f"{name}.py").write_text("open('imported', 'w')")
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("PYTHONPATH", str(path.parent))
    assert ask(path, "SELECT 1") == [(1,)]
    assert not (path.parent / "imported").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits addresses")
def test_a_row_larger_than_memory_is_refused(path: Path) -> None:
    with pytest.raises(InputError) as caught:
        ask(path, ONE_LONG_ROW)
    assert str(caught.value) == (
        "sql: the query needs more memory than the 1024 MiB that it may have; narrow it with WHERE or LIMIT"
    )


@pytest.mark.nightly
def test_what_sqlite_holds_is_limited(path: Path) -> None:
    kept_texts = ", ".join(f"max(printf('%090000000d', n + {place}))" for place in range(40))
    with pytest.raises(InputError, match=r"^sql: the query needs more memory than the 1024 MiB that it may have; "):
        ask(path, f"WITH r(n) AS (VALUES (1), (2)) SELECT {kept_texts} FROM r")


@needs_proc
@pytest.mark.parametrize("query", [FOREVER, ONE_LONG_STEP, "SELECT 1", "SELECT nothing", ONE_LONG_ROW])
@pytest.mark.nightly(but=2)
def test_no_process_is_left(path: Path, query: str) -> None:
    before = children(os.getpid())
    with suppress(InputError):
        ask(path, query, timeout=0.5)
    assert children(os.getpid()) <= before


@needs_proc
def test_the_process_ends_with_the_one_that_asked(path: Path) -> None:
    script = (
        "import sys; from ndcg_tracker.storage.guard.sqlite import run_guarded_sqlite as run; "
        "run(sys.argv[1], sys.argv[2], timeout_seconds=3600, max_rows=None)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(path), ONE_LONG_STEP]) as asking:
        (child,) = eventually(lambda: children(asking.pid))
        eventually(lambda: seconds_of_processor(child) > 0.2)  # within the step
        asking.kill()
    eventually(lambda: not is_running(child))


@needs_proc
@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [
        (signal.SIGKILL, InputError, "sql: the query needs more memory than the 1024 MiB that it may have; "
         "narrow it with WHERE or LIMIT"),
        (signal.SIGSEGV, DatabaseError, "{}: SQLite ended without an answer (signal 11); run ndcg-track db check"),
    ],
)  # fmt: skip
def test_a_process_that_others_end(path: Path, number: signal.Signals, kind: type[Exception], message: str) -> None:
    before = children(os.getpid())

    def end() -> None:
        for child in children(os.getpid()) - before:
            os.kill(child, number)

    with pytest.raises(kind) as caught, repeatedly(end):
        ask(path, FOREVER)
    assert str(caught.value) == message.format(path)


@contextmanager
def repeatedly(act: Callable[[], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: act())
    signal.setitimer(signal.ITIMER_REAL, 0.3, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def children(process: int) -> set[int]:
    found = set()
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            found.update(map(int, (thread / "children").read_text().split()))
    return found


def seconds_of_processor(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(look: Callable[[], T]) -> T:
    deadline = time.monotonic() + 60
    while not (seen := look()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen
