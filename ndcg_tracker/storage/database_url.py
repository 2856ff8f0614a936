"""Locations of databases: a path or a URL, shown without its secrets."""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ndcg_tracker.errors import InputError, argument

MEMORY = ":memory:"
MASK = "***"
_POSTGRES_SCHEMES = ("postgres", "postgresql", "postgresql+psycopg")
_SECRET_WORDS = ("pass", "pwd", "secret", "token", "key")
_FILE_OPTIONS = ("passfile", "sslkey")
CONNECT_SECONDS = 10
"""How long a server may take to answer, if neither the URL nor the environment says so."""
_SQLITE_SCHEMES = ("sqlite", "sqlite+pysqlite")
# a URL without slashes or scheme, or a libpq connection string; after ./ or / it is a path all the same
_NO_PATH = re.compile(
    r"\s*(?:postgres(?:ql)?(?:\+\w+)?|mysql|sqlite):|[^/@]*:[^/@]*@|(?![./]).*?(?<!\w)(?:ssl)?password\s*=",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a database.

    ``dialect``: ``sqlite`` or ``postgresql``. ``path``: the SQLite file, None on Postgres. ``url``: the Postgres URL
    with its secrets, None on SQLite. ``display_url``: the URL to print.
    """

    dialect: str
    path: Path | None
    url: URL | None
    display_url: str

    def command(self, words: str) -> str:
        """Return the command line for this database, to be shown in a message.

        >>> parsed_location("my shop.db").command("db upgrade")
        "ndcg-track --db 'my shop.db' db upgrade"
        """
        plain = all(letter.isalnum() or letter in "/._-:@+=%," for letter in self.display_url)
        shown = self.display_url if plain else "'" + self.display_url.replace("'", "'\\''") + "'"
        return f"ndcg-track --db {shown} {words}"


def parsed_location(text: str) -> Location:
    """Return the location that a path or URL names.

    Parameters: ``text``, a path of a SQLite file, ``sqlite:///path`` or ``postgresql://user:password@host/database``
    (also ``postgres://`` and ``postgresql+psycopg://``). Raises: InputError for another scheme, an in-memory database,
    a URL that does not parse, or a Postgres URL without the driver installed. No message shows a secret.

    >>> parsed_location("postgresql://me:pw@db/shop?sslpassword=pw").display_url
    'postgresql+psycopg://me:***@db/shop?sslpassword=***'
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        if _NO_PATH.match(text):
            raise InputError(
                f"{argument('location')} is neither a URL nor a plain path",
                advice="write postgresql://user@host/database, or ./ before the path of a SQLite file",
                joint=": ",
            )
        return _sqlite(text)
    if scheme in _SQLITE_SCHEMES:
        if "?" in rest or (rest and not rest.startswith(("/", MEMORY))):
            raise InputError(
                "a SQLite URL is sqlite:///path, without host, user or options", advice="or give only the path"
            )
        return _sqlite(rest.removeprefix("/"))
    if scheme not in _POSTGRES_SCHEMES:
        shown = scheme if scheme.isascii() and scheme.replace("+", "").isalnum() else "this"
        raise InputError(
            f"{shown}:// is not a database for ndcg_tracker",
            advice="give the path of a SQLite file, sqlite:///path or postgresql://user@host/database",
            joint=": ",
        )
    return _postgres(rest)


def _sqlite(path: str) -> Location:
    if path in ("", MEMORY):
        raise InputError(
            "a database in memory stores nothing",
            advice=f"give {argument('location')} the path of a SQLite file, such as ndcg-track.db",
            joint=": ",
        )
    if "\0" in path:
        raise InputError(
            "the path of the database contains a NUL character", advice=f"give {argument('location')} another path"
        )
    return Location("sqlite", Path(path).expanduser(), None, path)


def _postgres(rest: str) -> Location:
    display = masked(f"postgresql+psycopg://{rest}")
    try:
        url = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        url = None
    if url is None:  # raised out here, because the message of the caught error may repeat a part of the password
        raise InputError(
            f"{display} is not a URL of a Postgres database",
            advice=(
                "write postgresql://user:password@host:5432/database, with @ : / ? and % in a password as %40 %3A %2F "
                "%3F and %25"
            ),
            joint=": ",
        )
    if importlib.util.find_spec("psycopg") is None:
        raise InputError(
            f"{display} needs the Postgres driver", advice="pip install 'ndcg-tracker[postgres]'", joint=": "
        )
    url = _with_connect_timeout(url)
    if "prepare_threshold" in url.query:
        raise InputError("no statement is prepared", where=display, advice="leave out prepare_threshold")
    return Location("postgresql", None, url, display)


def _with_connect_timeout(url: URL) -> URL:
    """Return the URL with a time limit for connecting, unless the URL, a variable or a libpq service may have one."""
    is_said = "connect_timeout" in url.query or "PGCONNECT_TIMEOUT" in os.environ
    has_service = "service" in url.query or "PGSERVICE" in os.environ
    return url if is_said or has_service else url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})


def masked(url: str) -> str:
    """Return the URL with every password masked; of a malformed URL it masks too much rather than too little.

    >>> masked("postgresql://me:p@ss/word@db/shop?password=x&sslmode=require")
    'postgresql://me:***@db/shop?password=***&sslmode=require'
    >>> masked("postgresql://me:p?ss@db/shop")
    'postgresql://***'
    """
    scheme, _, rest = url.partition("://")
    user_info, at, address = rest.rpartition("@")
    if "?" in user_info:  # an @ in an option or a ? in a password: it cannot be decided
        return f"{scheme}://{MASK}"
    user, colon, _ = user_info.partition(":")
    place, question, options = address.partition("?")
    shown = [_masked_option(option) for option in options.split("&")]
    return f"{scheme}://{user}{colon and colon + MASK}{at}{place}{question}{'&'.join(shown)}"


def _masked_option(option: str) -> str:
    name, equals, value = option.partition("=")
    plain = unquote(name).lower()
    if plain == "options":  # settings of the server, each with its own name and value
        plain = unquote(value).lower()
    secret = any(word in plain for word in _SECRET_WORDS) and plain not in _FILE_OPTIONS
    return f"{name}={MASK}" if secret and equals else option
