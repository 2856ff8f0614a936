"""What breaks ties in a run's scores: the order in which its items came, or their ids.

Revision ID: 0021
Revises: 0020
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision: str | None = "0020"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "input if its order breaks ties in scores; NULL where item ids do, descending."
FURTHER = """,
               r.tie_order AS tie_order"""
"""The column that the view of runs gets, its last one."""
LAST_FROM = r"\s+FROM runs r\s"
SHOWN = r",\s*(?:r\.)?tie_order(?: AS tie_order)?(?=\s+FROM runs r)"
"""The same as SQLite keeps it, and as Postgres shows it."""


def upgrade() -> None:
    """Add the column and show it."""
    op.add_column("runs", sa.Column("tie_order", TEXT, comment=COMMENT))
    before = _before()
    query = before.live_views()["run_details"]
    before.show("run_details", re.sub(LAST_FROM, lambda place: FURTHER + place[0], query, count=1), is_new=False)


def downgrade() -> None:
    """Take it away; which runs break ties by their own order is lost."""
    before = _before()
    query = before.live_views()["run_details"]
    op.execute("DROP VIEW run_details")
    before.show("run_details", re.sub(SHOWN, "", query, count=1))
    op.drop_column("runs", "tie_order")


def _before() -> Any:
    """Return the module that knows the views as they are."""
    return op.get_context().opts["script"].get_revision("0019").module
