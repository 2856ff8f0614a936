"""Databases for the tests: a fresh SQLite file or a fresh database of a real Postgres."""

import atexit
import gc
import itertools
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import compiled_statements  # noqa: F401
import pytest
from hypothesis import settings
from postgres_server import PostgresServer
from preloaded import Preloaded
from sqlalchemy import make_url
from thorough import LONG, examples

from ndcg_tracker.storage.database import upgrade

pytest_plugins = ["commands", "comparisons", "exchanged", "gated", "trackers"]

_MEMORY = Path("/dev/shm")
_ROOM = 3 << 30
_TEMPLATE = "with the newest schema"
_TESTS = Path(__file__).parent
_ENGINES = ("sqlite", "postgres")
_TURNS = ("sqlite", "sqlite", "sqlite", "postgres")  # a test takes nearly twice as long there
_ABOVE_ENGINES = {"api", "cli", "compare", "integrations", "questions", "runs", "ui"}


def _in_memory() -> Path | None:
    """Where files are no disk's, if this machine has the room; PYTEST_DEBUG_TEMPROOT names another place."""
    if os.environ.get("PYTEST_DEBUG_TEMPROOT", str(_MEMORY)) != str(_MEMORY):
        return None
    return _MEMORY if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM else None


_PARENT = _in_memory()  # making a database writes hundreds of files, and each commit waits for the disk
if _PARENT is not None:
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_PARENT)
sys.dont_write_bytecode = False  # else hundreds of processes compile the package, each for itself
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
for _library in ("OMP", "OPENBLAS"):  # each worker has a core; threads that wait for one another take it
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

gc.disable()  # until all is collected: what is imported and collected stays, and is no garbage to look for


def pytest_collection_finish() -> None:
    gc.freeze()  # each look through a million objects that stay would take a quarter of a second
    gc.set_threshold(100_000, 20, 50)  # tests make little garbage: the looks for it took a twentieth of the suite
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # of xdist, and it has told all: to take its objects down takes two seconds
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(0)
    atexit.register(gc.unfreeze)  # else some libraries complain at the end that their objects are still there


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the nightly run what the rest of the suite repeats; who names a test (``FILE::TEST``) gets all of it.

    Above storage the engines take turns: a case of a test runs on Postgres or, three times of four, on SQLite, as the
    checksum of its name says, unless it speaks of engines and is marked with ``both_engines``. Of a test that is marked
    with ``nightly(but=4)`` every fourth case runs; of one marked with ``nightly``, none.
    """
    if LONG or any("::" in argument for argument in config.args):
        return
    n_before: Counter[tuple[str, object]] = Counter()
    left_out = []
    for item in items:
        test = item.nodeid.partition("[")[0], _engine_in_turn(item)
        number = n_before[test]  # the same case on either engine
        n_before[test] += 1
        if _is_for_the_nightly(item, number) or _is_the_turn_of_another(test, number):
            left_out.append(item)
    config.hook.pytest_deselected(items=left_out)
    kept = set(items).difference(left_out)
    items[:] = [item for item in items if item in kept]


def _engine_in_turn(item: pytest.Item) -> object:
    """Return the engine of an item if its test runs on one of them in the suite."""
    within = item.path.relative_to(_TESTS).parts[0] in _ABOVE_ENGINES and not item.get_closest_marker("both_engines")
    case = getattr(item, "callspec", None)
    return case.params.get("database_url") if within and case is not None else None


def _is_for_the_nightly(item: pytest.Item, number: int) -> bool:
    every_one_of = [marker.kwargs.get("but", 0) for marker in item.iter_markers("nightly")]  # the case's own, too
    return any(not every or number % every != 0 for every in every_one_of)


def _is_the_turn_of_another(test: tuple[str, object], number: int) -> bool:
    name, engine = test
    return engine is not None and engine != _TURNS[crc32(f"{name} {number}".encode()) % len(_TURNS)]


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores: a fifth of the time a worker waits for a program that it started."""
    return (os.cpu_count() or 1) + 1


settings.register_profile(  # how long an example takes decides no test
    "untimed", deadline=None, max_examples=examples(150)
)
settings.load_profile("untimed")

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The running server; without one every test that asks for it fails (it never skips)."""
    server = PostgresServer(_PARENT)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> str:
    """The name of a database with the newest schema, made by the migrations; a copy costs a tenth of their run."""
    postgres_server.create_database(_TEMPLATE)
    upgrade(postgres_server.url(_TEMPLATE))
    return _TEMPLATE


@pytest.fixture
def postgres_schema() -> None:
    """Asked for by what needs the newest schema on Postgres: ``postgres_url`` is then a copy of the template."""


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a fresh Postgres database, dropped after the test; empty, but see ``postgres_schema``.

    Where ``fill_as`` is asked for, it makes the database.
    """
    name = f"test_{next(_numbers)}"
    is_copy = "postgres_schema" in request.fixturenames
    if "fill_as" not in request.fixturenames:
        postgres_server.create_database(name, *([request.getfixturevalue("postgres_template")] if is_copy else []))
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'ndcg-track.db'}"


@pytest.fixture(params=_ENGINES)
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh database: the test runs once on SQLite and once on Postgres."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="session")
def kept_databases() -> dict[tuple[str, str], str]:
    """The name of each database that ``fill_as`` has made, by engine and what fills it."""
    return {}


@pytest.fixture
def fill_as(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kept_databases: dict[tuple[str, str], str],
    postgres_schema: None,
    database_url: str,
) -> Callable[..., None]:
    """Give the database of a test what a function writes into the one at a URL: it is called once, and copied then.

    ``beside``: the URL of another database that the function writes into, too.
    """
    is_file = make_url(database_url).get_backend_name() == "sqlite"

    def copy(source: str, target: str) -> None:
        if is_file:
            shutil.copyfile(source, target)
            return
        server: PostgresServer = request.getfixturevalue("postgres_server")
        server.drop_database(target)
        server.create_database(target, source)

    def fill(write: Callable[[str], object], beside: str | None = None) -> None:
        url = make_url(database_url)
        key = (url.get_backend_name(), f"{write.__module__}.{write.__qualname__}")
        other = None if beside is None else str(make_url(beside).database)
        is_new = key not in kept_databases
        if is_new:
            name = f"kept {len(kept_databases)}"
            if is_file:
                name = str(tmp_path_factory.getbasetemp() / f"{name}.db")
                write(f"sqlite:///{name}")
            else:
                copy(request.getfixturevalue("postgres_template"), name)
                write(request.getfixturevalue("postgres_server").url(name))
            if other is not None:
                copy(other, f"{name} beside")
            kept_databases[key] = name
        elif other is not None:
            copy(f"{kept_databases[key]} beside", other)
        copy(kept_databases[key], str(url.database))

    return fill


@pytest.fixture(scope="session")
def preloaded_programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the programs ``ndcg-track`` and ``preloaded-python`` that need not start."""
    folder = tmp_path_factory.mktemp("programs")
    with Preloaded(folder):
        yield folder
