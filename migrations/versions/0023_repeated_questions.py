"""Which question a gate decided, so that the same question again returns the decision; groups without a default weight.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision: str | None = "0022"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "Digest of the question: runs, labels and rules; NULL of older decisions."
TABLES = ("decisions", "suite_decisions")
VIEWS = ("dataset_list", "group_list")
OF_GROUPS = r"FROM \(*groups g\b.*?WHERE "
NAMED = "g.key <> '' AND "
"""The group with an empty id holds the default weight of a dataset, and is none of its groups."""
SHOWN = r"\(g\.key <> ''::text\) AND |g\.key <> '' AND "
"""The same as Postgres shows it, and as SQLite keeps it."""


def upgrade() -> None:
    """Add the column; a decision without it is never returned again. Show groups alone."""
    for table in TABLES:
        op.add_column(table, sa.Column("question", TEXT, comment=COMMENT))
    _show(lambda query: re.sub(OF_GROUPS, lambda place: place[0] + NAMED, query, count=1, flags=re.DOTALL))


def downgrade() -> None:
    """Take it away; the decisions stay."""
    _show(lambda query: re.sub(SHOWN, "", query, count=1))
    for table in TABLES:
        op.drop_column(table, "question")


def _show(changed: Any) -> None:
    before = op.get_context().opts["script"].get_revision("0019").module
    views = before.live_views()
    for name in VIEWS:
        op.execute(f"DROP VIEW {name}")
        before.show(name, changed(views[name]))
