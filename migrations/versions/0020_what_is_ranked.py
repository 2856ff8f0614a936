"""What a run ranks: items among sampled negatives, and documents that stand for their chunks.

Revision ID: 0020
Revises: 0019
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision: str | None = "0019"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COLUMNS = [
    ("sampled", TEXT, "Sampled negatives that its items are among, as 100/50000; NULL where all were ranked."),
    ("sample_digest", TEXT, "Digest of all (group, item) of a sampled run; NULL of others."),
    ("collapsed", TEXT, "How chunks became documents: max, first or sum; NULL where its items are its own."),
    ("documents_in_ten", sa.Double(), "Mean of the documents among a group's first ten chunks; NULL without chunks."),
]
FURTHER = {
    "run_details": """,
               r.sampled AS sampled, r.collapsed AS collapsed, r.documents_in_ten AS documents_in_ten""",
    "run_summary": """,
               (SELECT r.sampled FROM runs r WHERE r.id = e.run_id) AS sampled""",
}
"""The columns that the views get, their last ones."""
LAST_FROM = r"\s+FROM (?:runs r|evaluations e)\s"
SHOWN = {
    "run_details": r",\s*(?:r\.)?sampled(?: AS sampled)?,\s*(?:r\.)?collapsed(?: AS collapsed)?,"
    r"\s*(?:r\.)?documents_in_ten(?: AS documents_in_ten)?(?=\s+FROM runs r)",
    "run_summary": r",\s*\(\s*SELECT r\.sampled\s+FROM runs r\s+WHERE \(?r\.id = e\.run_id\)?\) AS sampled"
    r"(?=\s+FROM evaluations e)",
}
"""The same as SQLite keeps it, and as Postgres shows it."""


def upgrade() -> None:
    """Add the columns and show them."""
    for name, kind, comment in COLUMNS:
        op.add_column("runs", sa.Column(name, kind, comment=comment))
    before = _before()
    views = before.live_views()
    for name, further in FURTHER.items():
        query = re.sub(LAST_FROM, lambda place: further + place[0], views[name], count=1)  # noqa: B023
        before.show(name, query, is_new=False)


def downgrade() -> None:
    """Take them away; that a run is sampled or collapsed is lost."""
    before = _before()
    views = before.live_views()
    for name, shown in SHOWN.items():
        op.execute(f"DROP VIEW {name}")
        before.show(name, re.sub(shown, "", views[name], count=1))
    for name, *_ in COLUMNS:
        op.drop_column("runs", name)


def _before() -> Any:
    """Return the module that knows the views as they are."""
    return op.get_context().opts["script"].get_revision("0019").module
