"""A Postgres server to ingest into: databases made and dropped for a program that must stay small itself.

    python benchmarks/postgres.py [URL]     # then lines on standard input: create NAME, size NAME, drop NAME

Without a URL it starts the server of the tests, yet with the settings that a server has when installed, so that what
it confirms is on the disk. A URL names a server whose role may create databases.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

import psycopg
from processes import say
from psycopg import sql
from sqlalchemy.engine import make_url


class Server(Protocol):
    """What is needed of a server."""

    def conninfo(self) -> str:
        """Return the connection string of a database that is always there."""

    def url(self, database: str) -> str:
        """Return the URL of a database as our command line takes it."""


class GivenServer:
    """A server that runs already."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")

    def conninfo(self) -> str:
        """Return the connection string of the database in the URL."""
        return self._url.set(drivername="postgresql").render_as_string(hide_password=False)

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return self._url.set(database=database).render_as_string(hide_password=False)


def act(server: Server, command: str, name: str) -> dict[str, object]:
    """Create, weigh or drop a database."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        database = sql.Identifier(name)
        if command == "create":
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(database))
            return {"url": server.url(name)}
        if command == "drop":
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))
            connection.execute("CHECKPOINT")  # what is still to be written is not the next contender's business
            return {}
        row = connection.execute("SELECT pg_database_size(%s)", [name]).fetchone()
        return {"bytes": row[0] if row else 0}


def serve(server: Server) -> None:
    """Do what the lines of standard input ask for."""
    with psycopg.connect(server.conninfo()) as connection:
        say({"version": connection.info.server_version // 10_000})
    for line in sys.stdin:
        try:
            say(act(server, *line.split()))
        except psycopg.Error as error:
            say({"failed": " ".join(str(error).split())})


def main() -> None:
    """Serve until standard input ends."""
    if len(sys.argv) > 1:
        serve(GivenServer(sys.argv[1]))
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    import postgres_server

    postgres_server._SETTINGS = {"listen_addresses": "", "log_min_messages": "fatal"}
    server = postgres_server.PostgresServer()
    try:
        server.start()
        serve(server)
    finally:
        server.remove()


if __name__ == "__main__":
    main()
