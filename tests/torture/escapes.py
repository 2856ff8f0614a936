"""Row 15: attempts to escape from ``sql``, and everything that could have changed looked at before and afterwards."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import psycopg
import test_guard_postgres
import test_guard_sqlite

import ndcg_tracker as nt
from ndcg_tracker.storage.database import upgrade

from .escape_attempts import POSTGRES, RUNAWAYS, SQLITE
from .programs import here
from .report import Outcome, Setting

_EVERY_QUICK = 12
_SECONDS = 1
_DATABASE = "escapes"
_STATE = [
    query
    for query in test_guard_postgres.STATE
    if not any(word in query for word in ("FROM runs ", "FROM ranked_lists", "FROM numbers", "pg_backend_pid"))
]


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield one outcome per engine for the attempts, and one for queries without end."""
    for engine in setting.engines:
        folder = setting.folder / f"escapes-{engine}"
        folder.mkdir()
        before = Path.cwd()
        os.chdir(folder)
        try:
            if engine == "sqlite":
                yield from _tried("SQLite", "ndcg-track.db", attempts(engine), setting, partial(files_in, folder))
            else:
                yield from _on_postgres(setting, folder)
        finally:
            os.chdir(before)


def attempts(engine: str) -> list[str]:
    """Return all attempts against an engine, each once."""
    if engine == "sqlite":
        return list(dict.fromkeys([*test_guard_sqlite.ESCAPES, *SQLITE]))
    return list(dict.fromkeys([*test_guard_postgres.ESCAPES, *POSTGRES]))


def fill(url: str) -> None:
    """Store something to destroy."""
    shop = {"group": ["q", "q", "r"], "item": ["a", "b", "a"], "score": [2.0, 1.0, 3.0], "label": [0, 1, 2]}
    with nt.Tracker(url) as tracker:
        for name in ("bm25", "dense"):
            tracker.ingest(shop, name=name, item="item", tags={"stage": "test"}, parameters={"k1": "0.9"})
        tracker.set_alias("baseline", "bm25")
        tracker.set_groups({"group": ["q", "r"], "device": ["phone", "tv"], "weight": [1, 2]})
        tracker.gate("dense", baseline="@baseline", margin=0.5)


def files_in(folder: Path) -> dict[str, str]:
    """Return the checksum of every file in a folder, the database among them."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.rglob("*")) if file.is_file()
    }


def server_state(setting: Setting, bystander: psycopg.Connection, folder: Path) -> list[object]:
    """Return what an attempt could have changed on the server: rows, catalogs, sessions, locks, settings, files."""
    tables = bystander.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
    ).fetchall()
    rows = 'SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)), count(*) FROM public."{}" AS t'
    seen: list[object] = [bystander.execute(rows.format(name).encode()).fetchall() for (name,) in tables]
    seen += [bystander.execute(query.encode()).fetchall() for query in _STATE]
    sequences = bystander.execute("SELECT sequencename, last_value FROM pg_sequences ORDER BY 1").fetchall()
    data = setting.postgres.folder / "data"
    evil = [file.name for place in (data, Path("/tmp")) for file in place.glob("evil*")]
    parts: list[object] = [tables, sequences, evil, files_in(folder)]
    parts += [(data / name).read_bytes() for name in ("postgresql.conf", "postgresql.auto.conf", "pg_hba.conf")]
    return seen + parts


def _on_postgres(setting: Setting, folder: Path) -> Iterator[Outcome]:
    setting.postgres.create_database(_DATABASE)
    try:
        url = setting.postgres.url(_DATABASE)
        upgrade(url)
        with psycopg.connect(setting.postgres.conninfo(_DATABASE), autocommit=True) as bystander:
            bystander.execute("LISTEN evil")
            yield from _tried(
                "Postgres", url, attempts("postgres"), setting, lambda: server_state(setting, bystander, folder)
            )
    finally:
        setting.postgres.drop_database(_DATABASE)


def _tried(
    engine: str, url: str, queries: Sequence[str], setting: Setting, state: Callable[[], object]
) -> Iterator[Outcome]:
    fill(url)
    tried = queries if setting.size == "full" else queries[::_EVERY_QUICK]
    before = state()
    wrong: list[str] = []
    n_refused = 0
    read = []
    for query in tried:
        found = here("--db", url, "sql", "--timeout", "5", "--", query)
        n_refused += found.code == 2
        if found.code == 0:
            read.append(" ".join(query.split())[:60])
        is_one_line = found.err.startswith("error: sql") and found.err.count("\n") == 1
        if found.code not in (0, 2) or (found.code == 2 and not is_one_line):
            wrong.append(f"{query!r} ends with {found.code}: {found.err[:200]!r}")
        if not _same(before, state):
            wrong.append(f"{query!r} changed something")
            before = state()
    told = f"{len(wrong)} wrong, first: {wrong[0]}" if wrong else "0 side effects"
    yield Outcome(
        15,
        "escapes from sql",
        engine,
        "0 side effects: rows, schema, settings, sessions, locks and files as before",
        f"{len(tried)} different attempts, {n_refused} refused in one line, {len(read)} only read: {told}",
        met=not wrong and len(queries) >= 60,
        note=f"only read: {'; '.join(read)}" if read else "",
    )
    yield _runaways(engine, url, before, state)


def _runaways(engine: str, url: str, before: object, state: Callable[[], object]) -> Outcome:
    queries = RUNAWAYS[engine.lower()]
    n_stopped = 0
    slowest = 0.0
    for query in queries:
        started = time.monotonic()
        found = here("--db", url, "sql", "--timeout", str(_SECONDS), query)
        slowest = max(slowest, time.monotonic() - started)
        n_stopped += found.code == 2 and found.err.startswith(f"error: sql: stopped after {_SECONDS} s;")
    is_same = _same(before, state)
    return Outcome(
        15,
        "queries without end",
        engine,
        "stopped, nothing left behind",
        f"{n_stopped} of {len(queries)} stopped at --timeout {_SECONDS}, the slowest after {slowest:.1f} s of clock; "
        f"{'nothing' if is_same else 'something'} changed",
        met=n_stopped == len(queries) and is_same,
    )


def _same(before: object, state: Callable[[], object]) -> bool:
    """Return whether all is as before; a session that has just been closed has a moment to go."""
    deadline = time.monotonic() + 10
    while state() != before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
