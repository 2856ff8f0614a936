"""What a Postgres database rests on: the server, the encoding, the role and who is writing."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from ndcg_tracker.storage.connection import WRITER_LOCK, database_engine, read_transaction
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.examination import Finding

LONG_SECONDS = 300
_WRITER = """
    SELECT a.pid, coalesce(nullif(a.application_name, ''), 'unknown'), extract(epoch FROM now() - a.xact_start)
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = %(lock)s
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def server_findings(location: Location) -> Iterator[Finding]:
    """Yield what is found about the server, as far as the role may know it."""
    engine = database_engine(location)
    try:
        with read_transaction(engine, location) as connection:
            version, encoding, size, role, quoted_role, is_superuser = connection.exec_driver_sql(
                "SELECT current_setting('server_version'), current_setting('server_encoding'), "
                "pg_database_size(current_database()), current_user::text, quote_ident(current_user), "
                "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"
            ).one()
            yield Finding("server", "ok", f"Postgres {version}, {encoding}, {size / 1e6:,.1f} MB")
            if is_superuser:
                yield Finding(
                    "role", "note", f"{role} is a superuser",
                    "give people who only read a role that may do nothing else (docs/sql.md)",
                )  # fmt: skip
            else:
                yield Finding("role", "ok", role)
            writers = connection.exec_driver_sql(_WRITER, {"lock": WRITER_LOCK}).all()
    finally:
        engine.dispose()
    if not writers:
        yield Finding("writer", "ok", "nobody")
        return
    pid, program, seconds = writers[0]
    yield _writer(pid, program, seconds, quoted_role)


def _writer(pid: int, program: str, seconds: Decimal | None, role: str) -> Finding:
    if seconds is None:
        return Finding(
            "writer", "ok", f"process {pid} ({program}), of another role: since when, {role} may not see",
            f"to see it, let a superuser type: GRANT pg_read_all_stats TO {role}",
        )  # fmt: skip
    found = f"process {pid} ({program}) since {seconds:,.0f} s"
    if seconds < LONG_SECONDS:
        return Finding("writer", "ok", found)
    return Finding(
        "writer",
        "note",
        f"{found}; others wait for it",
        f"if nothing works there any more: SELECT pg_terminate_backend({pid})",
    )
