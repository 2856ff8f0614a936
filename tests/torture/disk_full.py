"""Row 6: a full disk at many points below the room that an ingest needs, by several kinds of limit."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import sqlalchemy as sa
from command_line import Printed

from ndcg_tracker.storage.database_url import parsed_location

from .aftermath import Aftermath
from .databases import contents, damage, database, engine_name, label_versions
from .forked import Forked
from .material import Material, write_material
from .programs import checked, ended, here
from .report import Outcome, Setting
from .small_disks import SmallDisk, can_be_mounted

SEED = 20_260_106
NOT_MOUNTED = "not run: this account may not mount a small file system"
_N_POINTS = {"full": 50, "quick": 3}
_GOAL = "0 inconsistent, one clear line, old runs readable"
_FULL = "the disk is full; nothing was stored: free some space and run the same command again"
_UNWRITABLE = (
    "the disk cannot be read or written; nothing was stored: look for a quota, a limit on the size of files "
    "(ulimit -f) or a failing disk, then run the same command again"
)
_SERVER_FULL = "the server's disk is full; nothing was stored: free some space there and run the same command again"
_NO_ROOM = re.compile(r"error: .+: the disk is full; free (some space|[\d,]+\.\d MB) and run the same command again\n")
_RUN = ("shop", "too large")


@dataclass(frozen=True)
class _Limit:
    """A kind of limit on a database.

    ``message``: what the program must say. ``size``: how many bytes are taken. ``restore``: bring the database back
    to what it was before. ``limited``: run a command that may take so many bytes more. ``lift``: end the limit.
    """

    what: str
    url: str
    message: str
    size: Callable[[], int]
    restore: Callable[[], None]
    limited: Callable[[list[str], int], Printed]
    lift: Callable[[], None] = lambda: None


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what each kind of limit came to on each engine."""
    small = write_material(setting.folder, "fits", 20, 20, SEED)
    large = write_material(setting.folder, "too large", 200 if setting.size == "full" else 40, 200, SEED + 1)
    n_points = _N_POINTS[setting.size]
    if "sqlite" in setting.engines:
        for limited in (_page_limit, _file_limit):
            with database(setting, "sqlite") as url:
                checked(here(*_ingest(url, small, "first")))
                yield _outcome("sqlite", limited(setting, url), large, n_points)
    for engine in setting.engines:
        if not can_be_mounted():
            yield Outcome(6, "a small file system", engine_name(engine), _GOAL, NOT_MOUNTED, met=False)
            continue
        with _small_file(setting, small) if engine == "sqlite" else _small_tablespace(setting, small) as limit:
            yield _outcome(engine, limit, large, n_points)
            yield _of_other_commands(engine, limit, large, min(n_points, 10))


def _outcome(engine: str, limit: _Limit, large: Material, n_points: int) -> Outcome:
    """Ingest under a limit at many points, and look at everything after each."""
    command = _ingest(limit.url, large, _RUN[1])
    limit.restore()
    aftermath = Aftermath(limit.url)
    before = limit.size()
    checked(here(*command))
    expected, needed = contents(limit.url)[_RUN], limit.size() - before
    count: Counter[str] = Counter()
    line = f"error: {parsed_location(limit.url).display_url}: {limit.message}\n"
    for point in range(n_points):
        limit.restore()
        free = needed * point // n_points
        printed = limit.limited(command, free)
        place = f"{free:,} of {needed:,} bytes free"
        count["clear"] += printed == Printed(2, "", line)
        if printed != Printed(2, "", line):
            aftermath.fault("message", f"{place}: {printed}")
        count["readable"] += aftermath.is_as_before()
        limit.lift()
        aftermath.look(place, _RUN, command, expected, undone=True)
    found = aftermath.counts
    inconsistent = found["partial"] + found["lost"] + found["damaged"]
    return Outcome(
        6,
        f"disk full at {n_points} points below the {needed / 1e6:.1f} MB that a run takes: {limit.what}",
        engine_name(engine),
        _GOAL,
        f"{inconsistent} inconsistent, {count['clear']}/{n_points} with that line and nothing else, old runs readable "
        f"{count['readable']}/{n_points} while it was full, the same command stored it once there was room "
        f"{found['again']}/{n_points}{aftermath.first_fault}",
        met=not aftermath.faults and count["clear"] == count["readable"] == n_points,
        note=f'seed {SEED}; the line: "{limit.message}"',
    )


def _of_other_commands(engine: str, limit: _Limit, large: Material, n_points: int) -> Outcome:
    """Run other commands that write, each under a limit at many points: to the database, and whole files beside it."""
    limit.restore()
    for name in ("baseline", "candidate"):
        checked(here(*_ingest(limit.url, large, name)))
    content = _path(limit.url).read_bytes() if engine == "sqlite" else b""
    folder = _path(limit.url).parent if engine == "sqlite" else None
    pair = ["baseline", "candidate", "--dataset", "shop"]
    judged = large.run.with_name("judged.qrels")
    lines = (line.split() for line in large.run.read_text("ascii").splitlines())
    judged.write_text("".join(f"{group} 0 {item} 1\n" for group, _, item, *_ in lines), "ascii")
    commands = {"labels add": ["labels", "add", str(judged), "--dataset", "shop", "--rescore"]}
    if folder is not None:
        commands |= {
            "report": ["report", *pair, "--output", str(folder / "report.html")],
            "plot": ["plot", "compare", *pair, "--output", str(folder / "plot.html")],
            "export": ["export", "--all", "--output", str(folder / "exported")],
            "db backup": ["db", "backup", str(folder / "copy.db")],
        }
    before = contents(limit.url), label_versions(limit.url)
    files = sorted(folder.iterdir()) if folder is not None else []
    line = f"error: {parsed_location(limit.url).display_url}: {limit.message}\n"
    faults, n_clear = [], 0
    for name, command in commands.items():
        for point in range(n_points):
            printed = limit.limited(["--db", limit.url, *command], 4096 * point)
            is_clear = printed == Printed(2, "", line) if name == "labels add" else _NO_ROOM.fullmatch(printed.err)
            limit.lift()
            left = sorted(folder.iterdir()) if folder is not None else []
            is_as_before = (contents(limit.url), label_versions(limit.url)) == before and left == files
            n_clear += printed.code == 2 and bool(is_clear)
            if printed.code != 2 or not is_clear or not is_as_before or damage(limit.url):
                faults.append(f"{name}, {4096 * point:,} bytes free: {printed}, {left}")
    if content and _path(limit.url).read_bytes() != content:
        faults.append("the database has changed")
    n_tried = n_points * len(commands)
    return Outcome(
        6,
        f"disk full at {n_points} points for each of {', '.join(commands)}: {limit.what}",
        engine_name(engine),
        "one clear line, nothing half written",
        f"{n_clear}/{n_tried} with one line and nothing else, {len(faults)} with something left or changed"
        + (f"; first fault: {faults[0]}" if faults else ""),
        met=not faults,
        note=f"seed {SEED}",
    )


def _ingest(url: str, material: Material, name: str) -> list[str]:
    files = [str(material.run), "--labels", str(material.labels), "--dataset", "shop", "--name", name]
    return ["--db", url, "ingest", *files, "--git-commit", "none", "--format", "json"]


def _path(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def _page_limit(_setting: Setting, url: str) -> _Limit:
    """SQLite itself admits no more pages: ``max_page_count`` on every connection that the program makes."""
    path = _path(url)
    content = path.read_bytes()

    def limited(command: list[str], free: int) -> Printed:
        def limit(connection: sqlite3.Connection, _: object) -> None:
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
            connection.execute(f"PRAGMA max_page_count = {(len(content) + free) // page_size}")

        sa.event.listen(sa.Engine, "connect", limit)
        try:
            return here(*command)
        finally:
            sa.event.remove(sa.Engine, "connect", limit)

    return _Limit("max_page_count", url, _FULL, lambda: path.stat().st_size, _back_to(path, content), limited)


def _file_limit(setting: Setting, url: str) -> _Limit:
    """The system admits no larger file: RLIMIT_FSIZE."""
    path = _path(url)
    content = path.read_bytes()

    def limited(command: list[str], free: int) -> Printed:
        return ended(Forked(setting.folder, *command, largest_file=len(content) + free))

    what = "a limit on the size of files (RLIMIT_FSIZE)"
    return _Limit(what, url, _UNWRITABLE, lambda: path.stat().st_size, _back_to(path, content), limited)


@contextmanager
def _small_file(setting: Setting, small: Material) -> Iterator[_Limit]:
    """Yield the limit of a small file system that the file lies on."""
    with SmallDisk(setting.folder / "small disk") as disk:
        path = disk.folder / "runs.db"
        url = f"sqlite:///{path}"
        checked(here(*_ingest(url, small, "first")))
        restore = _back_to(path, path.read_bytes())

        def limited(command: list[str], free: int) -> Printed:
            disk.leave(free)
            return ended(Forked(setting.folder, *command))

        yield _Limit("a small tmpfs", url, _FULL, lambda: disk.used, restore, limited, disk.enlarge)


@contextmanager
def _small_tablespace(setting: Setting, small: Material) -> Iterator[_Limit]:
    """Yield the limit of a small file system that the server keeps the database on."""
    owner = setting.postgres.folder.stat()
    options = f"mode=0700,uid={owner.st_uid},gid={owner.st_gid}"
    with (
        SmallDisk(setting.postgres.folder / "small-disk", options) as disk,
        database(setting, "postgres") as template,
        psycopg.connect(setting.postgres.conninfo(), autocommit=True) as server,
    ):
        checked(here(*_ingest(template, small, "first")))
        of = sa.make_url(template).database
        name = f"{of}_small"
        url = setting.postgres.url(name)
        server.execute(f"CREATE TABLESPACE small_disk LOCATION '{disk.folder}'".encode())

        def restore() -> None:
            setting.postgres.drop_database(name)
            server.execute(f"CREATE DATABASE {name} TEMPLATE {of} TABLESPACE small_disk".encode())
            contents(url)  # the first connection writes a file of its own

        def limited(command: list[str], free: int) -> Printed:
            disk.leave(free)
            return ended(Forked(setting.folder, *command))

        try:
            what = "a tablespace on a small tmpfs"
            yield _Limit(what, url, _SERVER_FULL, lambda: disk.used, restore, limited, disk.enlarge)
        finally:
            disk.enlarge()
            setting.postgres.drop_database(name)
            server.execute("CHECKPOINT")  # the files of a dropped database go with it
            server.execute("DROP TABLESPACE small_disk")


def _back_to(path: Path, content: bytes) -> Callable[[], None]:
    def restore() -> None:
        path.write_bytes(content)

    return restore
