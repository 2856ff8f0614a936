"""Row 16: URLs with secrets in them, and every command that can fail on them: nothing printed shows a secret."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from urllib.parse import quote

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerError

from .programs import here
from .report import Outcome, Setting

SECRET = "hunter2xyz"
_OTHER = "gehe1mnis"
_UNICODE = "pässwört9"
SECRETS = (SECRET, _OTHER, _UNICODE, quote(_UNICODE), _UNICODE.encode().hex())
_EVERY_QUICK = 14

_COMMANDS = (
    ("ingest", "bm25.csv", "--labels", "labels.csv"),
    ("ingest", "--stream", "bm25.csv"),
    ("evaluate", "nowhere.csv", "--labels", "labels.csv"),
    ("compare", "bm25", "dense"),
    ("explain", "bm25", "dense"),
    ("gate", "dense", "--baseline", "bm25", "--margin", "0.1"),
    ("history",),
    ("rescore", "--all"),
    ("sql", "SELECT 1"),
    ("sql", "SELECT nope FROM items"),
    ("runs", "list"),
    ("runs", "show", "bm25"),
    ("runs", "rename", "a", "b"),
    ("runs", "tag", "a", "b=c"),
    ("runs", "delete", "a", "--yes"),
    ("alias", "set", "a", "b"),
    ("alias", "list"),
    ("labels", "add", "labels.csv"),
    ("labels", "list"),
    ("labels", "diff", "1"),
    ("labels", "agreement"),
    ("groups", "set", "groups.csv"),
    ("groups", "list"),
    ("texts", "list"),
    ("texts", "delete", "--yes"),
    ("export", "--all", "-o", "out"),
    ("import", "out"),
    ("db", "upgrade"),
    ("db", "current"),
    ("db", "check"),
    ("db", "backup", "copy.db"),
    ("doctor",),
    ("doctor", "conventions", "bm25"),
)


def urls(server: str, database: str) -> list[str]:
    """Return thirty URLs and more with a secret; ``server``: the folder of a running server's socket."""
    here_ = f"?host={server}"
    return [
        # nothing answers there
        f"postgresql://me:{SECRET}@127.0.0.1:1/shop",
        f"postgres://me:{SECRET}@127.0.0.1:1/shop",
        f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/shop?connect_timeout=1",
        f"postgresql://me:{SECRET}@/shop?host=/nowhere",
        f"postgresql://:{SECRET}@127.0.0.1:1/shop",
        f"postgresql://127.0.0.1:1/shop?user=me&password={SECRET}&sslmode=disable",
        f"postgresql://127.0.0.1:1/shop?PASSWORD={SECRET}",
        f"postgresql://127.0.0.1:1/shop?pass%77ord={SECRET}",
        f"postgresql://127.0.0.1:1/shop?sslpassword={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:1/shop?password={_OTHER}&sslpassword={SECRET}",
        f"postgresql://127.0.0.1:1/shop?passfile=/tmp/{'x'}&password={SECRET}",
        f"postgresql://127.0.0.1:1/shop?options=-c%20app.secret%3D{SECRET}",
        f"postgresql://127.0.0.1:1/shop?options=-c%20my.password={SECRET}",
        f"postgresql://127.0.0.1:1/shop?oauth_client_secret={SECRET}&oauth_client_id=me",
        # special characters
        f"postgresql://me:p%40{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p@{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p/{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p?{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p:{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p#{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:p%{SECRET}@127.0.0.1:1/shop",
        f"postgresql://me:{_UNICODE}@127.0.0.1:1/shop",
        f"postgresql://me:{quote(_UNICODE)}@127.0.0.1:1/shop?application_name=é",
        f"postgresql://127.0.0.1:1/shop?password=x@{SECRET}",
        f"postgresql://127.0.0.1:1/shop?password={SECRET}@x",
        f"postgresql://127.0.0.1:1/shop?password={SECRET};sslmode=disable",
        # broken
        f"postgresql://me:{SECRET}@127.0.0.1:port/shop",
        f"postgresql://me:{SECRET}@127.0.0.1:99999/shop",
        f"postgresql://me:{SECRET}@[::1/shop",
        f"postgresql://me:{SECRET}@host one/shop",
        f"postgresql:///me:{SECRET}@127.0.0.1/shop",
        f"postgresql:me:{SECRET}@127.0.0.1/shop",
        f"postgresql:/me:{SECRET}@127.0.0.1/shop",
        f"me:{SECRET}@127.0.0.1/shop",
        f"host=127.0.0.1 port=1 user=me password={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:1/shop?password=x&nonsense=1",
        f"postgresql://me:{SECRET}@127.0.0.1:1/shop\n",
        f" postgresql://me:{SECRET}@127.0.0.1:1/shop",
        f"POSTGRESQL://me:{SECRET}@127.0.0.1:1/shop",
        # other drivers
        f"postgresql+psycopg2://me:{SECRET}@127.0.0.1:1/shop",
        f"postgresql+asyncpg://me:{SECRET}@127.0.0.1:1/shop",
        f"mysql://me:{SECRET}@127.0.0.1/shop",
        f"odbc:me:{SECRET}://127.0.0.1/shop",
        f"mssql+pyodbc://me:{SECRET}@127.0.0.1/shop?driver=x&Pwd={_OTHER}",
        f"snowflake://me:{SECRET}@account/db?token={_OTHER}",
        f"sqlite://me:{SECRET}@/nowhere/x.db",
        f"sqlite:///nowhere/x.db?key={SECRET}",
        f"{SECRET}://me@127.0.0.1/shop".replace(SECRET, f"x-{SECRET}"),
        # a server that answers: no such database or role, a schema that is not there, a database that is fine
        f"postgresql://ndcg:{SECRET}@/no_such_database{here_}",
        f"postgresql://nobody:{SECRET}@/{database}{here_}",
        f"postgresql://ndcg:{SECRET}@/{database}{here_}",
        f"postgresql://ndcg@/{database}{here_}&password={SECRET}&sslpassword={_OTHER}",
        f"postgresql://ndcg:{SECRET}@/{database}{here_}&sslmode=require",
        f"postgresql://ndcg:{SECRET}@/{database}{here_}&options=-c%20statement_timeout%3Dnonsense",
        f"postgresql://ndcg:{SECRET}@/postgres{here_}&connect_timeout=nonsense",
    ]


def shown_by(url: str, words: tuple[str, ...], *, debug: bool, by_variable: bool) -> str:
    """Return all that a command prints."""
    place = [] if by_variable else [f"--db={url}"]
    with patch.dict(os.environ, {"NDCG_TRACK_DB": url} if by_variable else {}):
        found = here(*place, *(["--debug"] if debug else []), *words)
    return found.out + found.err


def shown_by_python(url: str) -> str:
    """Return what a traceback of the Python interface shows, with all its causes, and the tracker's own text."""
    tracker = nt.Tracker(url)
    text = f"{tracker!r} {tracker}"
    try:
        with tracker:
            tracker.runs()
    except NdcgTrackerError as error:
        text += "".join(traceback.format_exception(error)) + repr(error)
        text += "".join(traceback.TracebackException.from_exception(error).format())
    return text


def leaks(text: str) -> bool:
    """Return whether a text has a secret, or most of one, in any of its spellings."""
    plain = text.casefold()
    return any(secret.casefold() in plain for secret in SECRETS)


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield the one outcome."""
    folder = setting.folder / "secrets"
    folder.mkdir()
    for name, text in (
        ("bm25.csv", "group,item,score\nq,a,1\n"),
        ("labels.csv", "group,item,label\nq,a,1\n"),
        ("groups.csv", "group,device\nq,phone\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    setting.postgres.create_database("secrets")
    wrong, n_shown, before = [], 0, Path.cwd()
    tried = urls(str(setting.postgres.folder), "secrets")
    is_full = setting.size == "full"
    commands = _COMMANDS if is_full else _COMMANDS[10::_EVERY_QUICK]
    os.chdir(folder)
    try:
        for url in tried:
            for words in commands:
                for debug in (False, True) if is_full else (True,):
                    text = shown_by(url, words, debug=debug, by_variable=n_shown % 2 == 1)
                    n_shown += 1
                    if leaks(text):
                        wrong.append(f"{' '.join(words)} on {url}: {text[:300]}")
            n_shown += 1
            if leaks(shown_by_python(url)):
                wrong.append(f"Python on {url}")
    finally:
        os.chdir(before)
        setting.postgres.drop_database("secrets")
    told = f"{len(wrong)} show one, first: {wrong[0]}" if wrong else "0 show a secret"
    yield Outcome(
        16,
        f"{len(tried)} URLs with secrets x {len(commands)} commands, plain and --debug, and Python's own tracebacks",
        "-",
        "0 secrets printed",
        f"{n_shown} outputs: {told}",
        met=not wrong and len(tried) >= 30,
    )
