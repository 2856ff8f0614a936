"""What a driver reports, as one line that says what happened and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ndcg_tracker.errors import DatabaseError, argument
from ndcg_tracker.storage.database_url import Location

_SQLITE_REASONS = (
    ("database or disk is full", "the disk is full; nothing was stored: make room and run the same command again"),
    ("locked", "another process has been writing for too long; nothing was stored: run the same command again"),
    ("readonly", "it cannot be written; nothing was stored: check the permissions of the file and its folder"),
    ("not a database", f"it is not a SQLite database; give {argument('location')} another path"),
    ("malformed", "it is damaged; nothing was stored: restore a backup of it"),
    ("unable to open", "it cannot be opened; check that the folder exists and its permissions"),
    (
        "disk i/o error",
        "the disk cannot be read or written; nothing was stored: look for a quota, a limit on the size of files "
        "(ulimit -f) or a failing disk, then run the same command again",
    ),
)
_POSTGRES_REASONS = (
    ("password authentication failed", "the server refused the user or the password"),
    ("no password supplied", "the server asks for a password: put it into the URL or into ~/.pgpass"),
    ("no pg_hba.conf entry", "the server does not let this user connect from here"),
    ("could not translate host name", "the host name is unknown"),
    ("connection refused", "no server answers there: is it running?"),
    ("no such file or directory", "no server answers there: is it running?"),
    ("timeout expired", "the server did not answer in time"),
    ("does not exist", "the database or the user does not exist: create it with createdb or createuser"),
    ("too many", "the server has no free connection: try again later"),
    ("ssl", "the server and this URL do not agree about SSL: see sslmode"),
)
_POSTGRES_STATES = {
    "53100": "the server's disk is full; nothing was stored: make room there and run the same command again",
    "53200": "the server is out of memory; nothing was stored",
    "55P03": "another process has been writing for too long; nothing was stored: run the same command again",
    "42501": "this user may not do that; nothing was stored: ask for the rights, or give another user in the URL",
    "25006": "the server is read-only; nothing was stored",
    "57P01": "the server was stopped; if the command stored something, the same command again says so",
}

_LOST_STATES = ("08", "57P")
"""Connection exceptions, and a server or session that is being stopped."""


class LostAnswerError(DatabaseError):
    """The connection was lost while a transaction was committed: whether it was is not known."""

    def __init__(self, location: Location) -> None:
        super().__init__(
            f"{location.display_url}: the connection to the server broke during the commit, so it is not known whether "
            "it was stored; run the same command again: a run that is stored is not stored twice"
        )


@contextmanager
def lost_answers(location: Location) -> Iterator[None]:
    """Raise LostAnswerError where the connection is lost within, while a transaction is committed."""
    try:
        yield
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        if not error.connection_invalidated and not state.startswith(_LOST_STATES):
            raise
        lost = LostAnswerError(location)
    else:
        return
    raise lost  # out here, for what the driver says may repeat parts of the URL


@contextmanager
def database_errors(location: Location) -> Iterator[None]:
    """Raise what the drivers raise within as one DatabaseError, free of secrets."""
    try:
        yield
        return
    except DBAPIError as error:
        reason = _reason(error.orig, location)
    except SQLAlchemyError as error:
        reason = f"{type(error).__name__}: {_one_line(error)}"
    except sqlite3.Error as error:
        reason = _reason(error, location)
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "psycopg":
            raise
        reason = _reason(error, location)
    # From None: a traceback of the driver's own error may repeat parts of the URL.
    raise DatabaseError(f"{location.display_url}: {reason}") from None


def _reason(error: BaseException | None, location: Location) -> str:
    text = _one_line(error)
    if isinstance(error, sqlite3.Error):
        return _first(_SQLITE_REASONS, text) or text
    state = getattr(error, "sqlstate", None)
    if state in _POSTGRES_STATES:
        return _POSTGRES_STATES[state]
    if state is not None:
        return text
    known = _first(_POSTGRES_REASONS, text)
    if known is not None:
        return known
    if "server closed the connection" in text or "connection is lost" in text or "the connection is closed" in text:
        return "the connection to the server broke; run the same command again: what is stored is not stored twice"
    return "the server cannot be reached" if location.has_secrets else text


def _first(reasons: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((reason for words, reason in reasons if words in text.lower()), None)


def _one_line(error: BaseException | None) -> str:
    return " ".join(str(error).split())
