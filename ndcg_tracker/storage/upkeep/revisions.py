"""Where the migrations are and which revisions there are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (_PACKAGE / "migrations", _PACKAGE.parent / "migrations")
"""Where the migrations may be: inside the package of a wheel, next to it in a checkout."""

SEPARATOR = "\n;\n"
"""Separates the statements of a snapshot."""


def migrations_folder() -> Path:
    """Return the first of ``FOLDERS`` that holds the migrations."""
    for folder in FOLDERS:
        if (folder / "env.py").is_file():
            return folder
    raise RuntimeError(f"ndcg_tracker is installed without its migrations: none next to {_PACKAGE}")


def known_revisions() -> list[str]:
    """Return the ids of all revisions, oldest first; read from the file names, because Alembic is slow to import."""
    return sorted(path.name[:4] for path in (migrations_folder() / "versions").glob("[0-9][0-9][0-9][0-9]_*.py"))


def newest_revision() -> str:
    """Return the id of the revision that this program reads and writes."""
    return known_revisions()[-1]


def snapshot_file(folder: Path) -> Path:
    """Return the path of the SQL snapshot of the newest SQLite schema in a folder of migrations."""
    return folder / "newest.sqlite.sql"


def snapshot_statements() -> list[str] | None:
    """Return the statements that create the newest schema in an empty SQLite database, None if no snapshot fits.

    Importing Alembic and running all migrations costs the first ``ingest`` into a new file 0.67 s of processor time
    instead of 0.51 s (``benchmarks/new_database.py``).
    """
    file = snapshot_file(migrations_folder())
    statements = file.read_text(encoding="utf-8").removesuffix("\n").split(SEPARATOR) if file.is_file() else [""]
    return statements if statements[-1].endswith(f"VALUES ('{newest_revision()}')") else None
