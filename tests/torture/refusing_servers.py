"""Row 23: servers that refuse: every command reports the cause in one line, and writes nothing."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg
from command_line import Printed
from postgres_server import PostgresServer

from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import metadata

from .handshakes import COMMANDS, DONE, PREPARED, words_of, write_files
from .programs import checked, here
from .report import Outcome, Setting

GOAL = "each told its own cause in one line, nothing written; what only reads goes on where it may"
DATABASE, ROLE, PASSWORD = "shop", "ann", "s3cret-of-ours"
CERTIFICATE = Path(__file__).with_name("elsewhere.pem")
"""A key and a certificate of elsewhere.example.org, which signs itself and guards nothing."""
PRUNING = "runs prune --older-than 2999-01-01 --apply"
GRANTING = "db grant --owner a --writer b --reader c --apply"
WRITING = (
    "ingest", "gate", "rescore", "texts add", "texts delete", "import", "runs rename", "runs tag", "runs delete",
    "alias set", "alias delete", "suite create", "gate --suite", "suite delete", "labels add", "labels carry",
    "labels sample",
    "datasets split", "groups set", "db vacuum", PRUNING, GRANTING,
)  # fmt: skip
DECIDING = "gate dense --baseline bm25 --margin 0.1 --dry-run"
"""A gate that records nothing."""
LEFT_OUT = {"all": (), "writing": ("ui ",), "tables": ("ui ", "db current", "db upgrade", "db grant", "sql SELECT+1")}
"""Commands without an end, and those that may be done before they come to a table of ours."""
ALL = tuple(
    one for one in (*COMMANDS, PRUNING, GRANTING, DECIDING) if not one.startswith(("db backup", "policy reset"))
)
"""Every command that connects and finds something to do: no look at an alias is there to reset."""
QUICK = {"all": ("db current",), "writing": (DECIDING[:-10], "history"), "tables": ("alias set prod bm25", "doctor")}
EVERYBODY = "host all all 127.0.0.1/32 "


class Server:
    """A server of its own, which answers on a port, with runs in the database of a role that owns it."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.folder = folder
        self.postgres = PostgresServer(
            settings={
                "port": str(self.port), "listen_addresses": "127.0.0.1", "wal_level": "replica",
                "max_connections": "12", "max_worker_processes": "2",
            }
        )  # fmt: skip

    def prepare(self, commands: tuple[str, ...]) -> None:
        """Start it, and fill the database by commands."""
        self.postgres.start()
        self.run(
            "postgres",
            f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'", "CREATE ROLE a", "CREATE ROLE b", "CREATE ROLE c",
            f"CREATE DATABASE {DATABASE} OWNER {ROLE}",
        )  # fmt: skip
        self.run(DATABASE, f"ALTER SCHEMA public OWNER TO {ROLE}")
        self.postgres.let_in(EVERYBODY + "trust")
        write_files(self.folder)
        for command in ("db upgrade", *commands):
            checked(here("--db", self.url(), *words_of(command, self.folder)))

    def url(self, role: str = ROLE, place: str = "", options: str = "") -> str:
        """Return a URL for a role, of the database or of another place."""
        return f"postgresql+psycopg://{role}@{place or f'127.0.0.1:{self.port}/{DATABASE}'}{options}"

    def run(self, database: str, *statements: str) -> None:
        """Run statements as a superuser, each by itself."""
        with psycopg.connect(self.postgres.conninfo(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def mark(self) -> int | None:
        """Return the number of the next transaction that writes, None where nobody is let in."""
        try:
            connection = psycopg.connect(self.postgres.conninfo(), connect_timeout=2)
        except psycopg.OperationalError:
            return None
        with connection:
            found = connection.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()
            return int(found[0]) if found else None

    def was_written(self, since: int, until: int) -> bool:
        """Return whether a transaction since a mark was committed.

        The transaction that keeps all tables locked goes on.
        """
        statuses = "SELECT pg_xact_status(number::text::xid8) FROM generate_series(%s::bigint, %s::bigint) number"
        with psycopg.connect(self.postgres.conninfo()) as connection:
            found = connection.execute(statuses, (since, until - 1)).fetchall()
        return any(status == "committed" for (status,) in found)


@dataclass(frozen=True)
class Condition:
    """A reason for which a server refuses: what is said, what is advised, and how it comes about.

    ``enter``: makes it so, gives the URL, and undoes it. ``refuses``: every command, those that write, or those that
    read tables.
    """

    name: str
    what: str
    advice: str
    enter: Callable[[Server], AbstractContextManager[str]]
    refuses: str = "all"


@contextmanager
def _told(do: str, undo: str, server: Server, database: str = "postgres", **url: str) -> Iterator[str]:
    """Run a statement, and another one afterwards."""
    server.run(database, do)
    try:
        yield server.url(**url)
    finally:
        server.run(database, undo)


@contextmanager
def _at(server: Server, **url: str) -> Iterator[str]:
    """Connect to another place, or as another role."""
    yield server.url(**url)


@contextmanager
def _ruled(rule: str, server: Server, **url: str) -> Iterator[str]:
    """Let in whom a rule of pg_hba.conf lets in."""
    server.postgres.let_in(rule)
    try:
        yield server.url(**url)
    finally:
        server.postgres.let_in(EVERYBODY + "trust")


@contextmanager
def _configured(name: str, value: str, server: Server) -> Iterator[str]:
    """Start the server with another setting."""
    with _restarted(server):
        server.postgres.settings[name] = value
        server.postgres.start()
        try:
            yield server.url()
        finally:
            del server.postgres.settings[name]


@contextmanager
def _restarted(server: Server) -> Iterator[None]:
    """Stop the server, and start it again at the end."""
    server.postgres.stop()
    try:
        yield
    finally:
        server.postgres.stop()
        server.postgres.start()


@contextmanager
def _stopped(server: Server) -> Iterator[str]:
    with _restarted(server):
        yield server.url()


@contextmanager
def _shutting_down(server: Server) -> Iterator[str]:
    """Ask the server to stop once all sessions have ended, one of which goes on."""
    with psycopg.connect(server.postgres.conninfo()):
        os.kill(server.postgres.pid, signal.SIGTERM)
        while server.mark() is not None:
            pass
        yield server.url()
    with _restarted(server):
        pass


@contextmanager
def _frozen(server: Server) -> Iterator[str]:
    os.kill(server.postgres.pid, signal.SIGSTOP)
    try:
        yield server.url(options="?connect_timeout=2")
    finally:
        os.kill(server.postgres.pid, signal.SIGCONT)


@contextmanager
def _full(server: Server) -> Iterator[str]:
    with ExitStack() as sessions:
        with suppress(psycopg.OperationalError):
            while True:
                sessions.enter_context(psycopg.connect(server.url().replace("+psycopg", "")))
        yield server.url()


@contextmanager
def _locked(server: Server) -> Iterator[str]:
    """Keep all tables, and give the role less time for a statement than it would wait for them."""
    with (
        _told(
            f"ALTER ROLE {ROLE} SET statement_timeout = '100ms'", f"ALTER ROLE {ROLE} RESET statement_timeout", server
        ) as url,
        psycopg.connect(server.postgres.conninfo(DATABASE)) as holder,
    ):
        holder.execute(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS EXCLUSIVE MODE".encode())
        yield url


@contextmanager
def _answering(answer: bytes, server: Server, **url: str) -> Iterator[str]:
    """Answer every client with a few bytes, as what is no Postgres does."""

    def serve(client: socket.socket) -> None:
        client.recv(4096)
        client.sendall(answer)

    with _listening(serve) as port:
        yield server.url(place=f"127.0.0.1:{port}/{DATABASE}", **url)


@contextmanager
def _encrypted(server: Server, **url: str) -> Iterator[str]:
    """Answer with the certificate of another host."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def serve(client: socket.socket) -> None:
        client.recv(8)
        client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as within:
            within.recv(4096)

    with _listening(serve) as port:
        yield server.url(place=f"127.0.0.1:{port}/{DATABASE}", **url)


@contextmanager
def _listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # it is closed
                return
            with client, suppress(OSError):  # a client that does not like the answer
                serve(client)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@contextmanager
def _replica(server: Server) -> Iterator[str]:
    """Make the server a replica; it stays one."""
    server.postgres.become_replica()
    yield server.url()


READ_ONLY = " set to read-only (default_transaction_read_only)"
OTHER_ROLE = "give another role in the URL"
LATER = "try again later"
RULES = "ask for an entry in pg_hba.conf"
CONDITIONS = (
    Condition(
        "a role that is read-only", f"role {ROLE!r} is{READ_ONLY}", "connect as a role that may write",
        partial(_told, f"ALTER ROLE {ROLE} SET default_transaction_read_only = on", f"ALTER ROLE {ROLE} RESET ALL"),
        "writing",
    ),
    Condition(
        "a role that is read-only in the database", f"role {ROLE!r} is, in this database,{READ_ONLY}",
        "connect as a role that may write",
        partial(
            _told, f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} SET default_transaction_read_only = on",
            f"ALTER ROLE {ROLE} IN DATABASE {DATABASE} RESET ALL",
        ),
        "writing",
    ),
    Condition(
        "a database that is read-only", f"database {DATABASE!r} is{READ_ONLY}", "connect to another database",
        partial(
            _told, f"ALTER DATABASE {DATABASE} SET default_transaction_read_only = on",
            f"ALTER DATABASE {DATABASE} RESET ALL",
        ),
        "writing",
    ),
    Condition(
        "a connection that is read-only", f"this connection is, by its URL or PGOPTIONS,{READ_ONLY}", "leave that out",
        partial(_at, options="?options=-cdefault_transaction_read_only%3Don"), "writing",
    ),
    Condition(
        "a server that is read-only", f"the server is{READ_ONLY}", "connect to one that may be written",
        partial(_configured, "default_transaction_read_only", "on"), "writing",
    ),
    Condition(
        "statement_timeout", "the server ended a statement that took longer than statement_timeout (100ms)",
        f"ask for a longer one: ALTER ROLE {ROLE} SET statement_timeout = '10min'", _locked, "tables",
    ),
    Condition(
        "NOLOGIN", "this role may not log in (NOLOGIN)", OTHER_ROLE,
        partial(_told, f"ALTER ROLE {ROLE} NOLOGIN", f"ALTER ROLE {ROLE} LOGIN"),
    ),
    Condition(
        "ALLOW_CONNECTIONS false", "the database is closed to connections (ALLOW_CONNECTIONS false)",
        "ask its owner to run: ALTER DATABASE ... ALLOW_CONNECTIONS true",
        partial(
            _told, f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false",
            f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true",
        ),
    ),
    Condition(
        "no right to connect", "this role may not connect to the database",
        "ask its owner to run: GRANT CONNECT ON DATABASE ...",
        partial(
            _told, f"REVOKE CONNECT ON DATABASE {DATABASE} FROM PUBLIC, {ROLE}",
            f"GRANT CONNECT ON DATABASE {DATABASE} TO PUBLIC, {ROLE}",
        ),
    ),
    Condition(
        "CONNECTION LIMIT of the database", "the database has all the connections that it may have", LATER,
        partial(
            _told, f"ALTER DATABASE {DATABASE} CONNECTION LIMIT 0", f"ALTER DATABASE {DATABASE} CONNECTION LIMIT -1"
        ),
    ),
    Condition(
        "CONNECTION LIMIT of the role", "this role has all the connections that it may have", LATER,
        partial(_told, f"ALTER ROLE {ROLE} CONNECTION LIMIT 0", f"ALTER ROLE {ROLE} CONNECTION LIMIT -1"),
    ),
    Condition("max_connections", "the server has no free connection", LATER, _full),
    Condition(
        "another database", "the database does not exist", "create it with createdb",
        lambda server: _at(server, place=f"127.0.0.1:{server.port}/none"),
    ),
    Condition("another role", "the user does not exist", "create it with createuser", partial(_at, role="nobody")),
    Condition(
        "a setting that no server has", "the server does not accept a setting in ?options= or PGOPTIONS",
        "correct its name and its value", partial(_at, options="?options=-cnone%3D1"),
    ),
    Condition(
        "an option that libpq does not have", "the URL has an option that libpq does not know",
        "correct its name and its value", partial(_at, role=f"{ROLE}:{PASSWORD}", options="?none=1"),
    ),
    Condition(
        "SSL only, and sslmode=disable", "the server does not let this user connect from here without SSL",
        f"put sslmode=require into the URL, or {RULES}",
        partial(_ruled, EVERYBODY.replace("host ", "hostssl ") + "trust", options="?sslmode=disable"),
    ),
    Condition(
        "no SSL, and sslmode=require", "sslmode= in the URL asks for SSL, but the server has none",
        "remove it, or enable SSL on the server", partial(_at, options="?sslmode=require"),
    ),
    Condition(
        "sslmode=verify-full without a root certificate",
        "sslmode= in the URL asks to verify the server, but there is no root certificate for it",
        "put the root certificate of the server's authority into ~/.postgresql/root.crt, or add "
        "sslrootcert=FILE or sslrootcert=system to the URL",
        partial(_answering, b"S", options="?sslmode=verify-full&sslrootcert=none.crt"),
    ),
    Condition(
        "a certificate of another authority",
        "the server's certificate is not signed by an authority that is trusted here",
        "name the root certificate of its authority in the URL with sslrootcert=FILE",
        partial(_encrypted, options="?sslmode=verify-full&sslrootcert=system"),
    ),
    Condition(
        "a certificate of another host", "the server's certificate is for another host name",
        "use the host name in the certificate",
        partial(_encrypted, options=f"?sslmode=verify-full&sslrootcert={quote(str(CERTIFICATE))}"),
    ),
    Condition(
        "another program", "the program that answers there is not a Postgres server", "correct the host and the port",
        partial(_answering, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    ),
    Condition(
        "rejected by pg_hba.conf", "the server does not let this user connect from here without SSL",
        f"put sslmode=require into the URL, or {RULES}", partial(_ruled, EVERYBODY + "reject"),
    ),
    Condition(
        "no password", "the server asks for a password", "put it into the URL or into ~/.pgpass",
        partial(_ruled, EVERYBODY + "scram-sha-256"),
    ),
    Condition(
        "a wrong password", "the server refused the user or the password", "",
        partial(_ruled, EVERYBODY + "scram-sha-256", role=f"{ROLE}:{PASSWORD}-x"),
    ),
    Condition(
        "a host that is not known", "the host name is unknown", "correct it",
        partial(_at, place=f"nowhere.invalid/{DATABASE}"),
    ),
    Condition(
        "SIGSTOP", "the server did not answer in time",
        "is it overloaded, or behind a firewall? connect_timeout=SECONDS in the URL waits longer", _frozen,
    ),
    Condition("a server that stops", "the server is shutting down", "try again in a moment", _shutting_down),
    Condition("a server that is stopped", "no server answers there", "is it running?", _stopped),
    Condition("a replica", "this is a replica", "connect to the primary", _replica, "writing"),
)  # fmt: skip
"""The last is the last: the server stays a replica."""


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what every command reported of every server that refuses."""
    if "postgres" not in setting.engines:
        return
    server = Server(setting.folder)
    wrong: list[str] = []
    n = n_read = 0
    try:
        server.prepare(PREPARED if setting.size == "full" else PREPARED[:2])
        for condition in CONDITIONS:
            asked = ALL if setting.size == "full" else QUICK[condition.refuses]
            commands = [one for one in asked if not one.startswith(LEFT_OUT[condition.refuses])]
            with condition.enter(server) as url:
                before = server.mark()
                for command in commands:
                    shutil.rmtree(server.folder / "exported", ignore_errors=True)
                    printed = here("--db", url, *words_of(command, server.folder))
                    n += 1
                    n_read += printed.code != 2
                    wrong += [
                        f"{condition.name}, {command}: {text}" for text in untrue(command, printed, url, condition)
                    ]
                    if before is None:
                        continue
                    after = server.mark()
                    if after is None or server.was_written(before, after):
                        wrong.append(f"{condition.name}, {command}: something was written")
                    before = after or before
    finally:
        server.postgres.remove()
    what = f"servers that refuse: {len(CONDITIONS)} conditions x commands"
    figure = (
        f"{n - len(wrong)} of {n} reported correctly: {n - n_read} refused in one line with the cause, "
        f"{n_read} that only read went on; {sum('was written' in one for one in wrong)} wrote"
    )
    yield Outcome(23, what, "Postgres", GOAL, figure, not wrong, " // ".join(wrong[:20]))


def untrue(command: str, printed: Printed, url: str, condition: Condition) -> list[str]:
    """Return what is wrong with what a command said."""
    text = printed.out + printed.err
    wrong = [word for word in ("Traceback", PASSWORD) if word in text]
    is_writing = command.startswith(WRITING) and command != DECIDING
    if condition.refuses == "writing" and not is_writing:
        done = next((codes for words, codes in DONE.items() if command.startswith(words)), {0})
        return wrong + ([] if printed.code in done else [f"{printed.code} {text}"])
    if command == "doctor":
        told = condition.what in " ".join(printed.out.split())
        return wrong + ([] if told and printed.code == 2 else [f"{printed.code} {text}"])
    advice = condition.advice
    if condition.refuses == "writing" and command.startswith("gate"):
        advice += "; or add --dry-run to record nothing"
    joints = ["; nothing was stored: "] if condition.refuses == "writing" else ["; ", "; nothing was stored: "]
    where = f"error: {parsed_location(url).display_url}: {condition.what}"
    lines = [f"{where}{joint}{advice}\n" if advice else f"{where}\n" for joint in joints]
    return wrong + (
        [] if (printed.code, printed.out) == (2, "") and printed.err in lines else [f"{printed.code} {text}"]
    )
