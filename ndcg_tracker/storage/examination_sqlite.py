"""What a SQLite file rests on: the library, the journal, the disk and the locks of its file system."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ndcg_tracker.errors import argument
from ndcg_tracker.storage.connection import wal_is_safe
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.examination import Finding

LITTLE_ROOM = 1 << 28  # bytes
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "fuse.sshfs", "fuse.s3fs", "davfs")
_FIRST_BYTES_WAL = (18, 19)  # file format versions in the header: 2 is a write-ahead log
_SECOND_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    print(error)
"""


def file_findings(location: Location) -> Iterator[Finding]:
    """Yield what is found about a file that may not be there yet."""
    path = location.path
    if path is None:
        raise ValueError("a SQLite database has a path")
    folder = path.absolute().parent
    exists = path.is_file()
    yield _file(path, folder, exists=exists)
    yield _library()
    if exists:
        yield _journal(path)
    if folder.is_dir():
        yield _room(path, folder, exists=exists)
        if os.access(folder, os.W_OK):
            yield _locks(folder)


def _file(path: Path, folder: Path, *, exists: bool) -> Finding:
    if not folder.is_dir():
        return Finding(
            "file",
            "bad",
            f"the folder {folder} does not exist",
            f"make it, or give {argument('location')} another path",
        )
    if not os.access(folder, os.W_OK):
        return Finding(
            "file", "bad", f"the folder {folder} cannot be written to, so neither can the database",
            f"let yourself write there, or give {argument('location')} another path",
        )  # fmt: skip
    if not exists:
        return Finding("file", "note", f"{path} is not there yet", "the first ingest makes it")
    if not os.access(path, os.W_OK):
        return Finding("file", "bad", f"{path} cannot be written to", "let yourself write to it")
    return Finding("file", "ok", f"{path}, {path.stat().st_size / 1e6:,.1f} MB")


def _library() -> Finding:
    version = sqlite3.sqlite_version
    if wal_is_safe():
        return Finding("SQLite", "ok", f"{version}, with a write-ahead log: readers and a writer work at once")
    return Finding(
        "SQLite", "note", f"{version}, whose write-ahead log can be corrupted: the rollback journal is used, and "
        "readers and writers wait for each other",
        "nothing has to be done; a Python with SQLite 3.51.3 or newer ends the waiting",
    )  # fmt: skip


def _journal(path: Path) -> Finding:
    with path.open("rb") as file:
        header = file.read(20)
    is_wal = len(header) == 20 and header[_FIRST_BYTES_WAL[0]] == 2
    if is_wal and not wal_is_safe():
        return Finding(
            "journal", "bad", "write-ahead log, which this SQLite may corrupt",
            "close other programs that use the file; the next write turns it off",
        )  # fmt: skip
    return Finding("journal", "ok", "write-ahead log" if is_wal else "rollback journal")


def _room(path: Path, folder: Path, *, exists: bool) -> Finding:
    free = shutil.disk_usage(folder).free
    size = path.stat().st_size if exists else 0
    found = f"{free / 1e9:,.1f} GB free"
    if free < LITTLE_ROOM:
        return Finding("room", "bad", found, "make room before the next ingest")
    if free < size:
        return Finding("room", "note", f"{found}, less than the database has", "an upgrade and db backup need as much")
    return Finding("room", "ok", found)


def _locks(folder: Path) -> Finding:
    """Try whether a second process is kept from writing beside a first one."""
    kind = _file_system(folder)
    with TemporaryDirectory(prefix=".ndcg-track-", dir=folder) as trial:
        path = str(Path(trial) / "trial.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as first:
            first.execute("BEGIN IMMEDIATE")
            command = [sys.executable, "-c", _SECOND_WRITER, path]
            second = subprocess.run(command, capture_output=True, text=True, check=False)
            first.execute("ROLLBACK")
    if "locked" not in second.stdout:
        return Finding(
            "locks", "bad", f"the file system{_of(kind)} does not keep two writers apart",
            "put the database on a local disk, or use Postgres",
        )  # fmt: skip
    if kind.startswith(_NETWORK):
        return Finding(
            "locks", "note", f"they hold, but the file system ({kind}) is a network's, on which SQLite is not safe",
            "put the database on a local disk, or use Postgres",
        )  # fmt: skip
    return Finding("locks", "ok", f"a second writer waits{_of(kind)}")


def _of(kind: str) -> str:
    return f" ({kind})" if kind else ""


def _file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system that a folder is on, "" where the system does not say."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    found = ("", "")
    for line in lines:
        words = line.split(" ")
        if len(words) > 2:
            point = words[1].replace("\\040", " ")
            if folder.is_relative_to(point) and len(point) >= len(found[0]):
                found = (point, words[2])
    return found[1]
