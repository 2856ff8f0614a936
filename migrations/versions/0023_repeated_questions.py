"""Which question a gate decided, so that the same question again returns the decision.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision: str | None = "0022"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "Digest of the question: runs, labels and rules; NULL of older decisions."
TABLES = ("decisions", "suite_decisions")


def upgrade() -> None:
    """Add the column; a decision without it is never returned again."""
    for table in TABLES:
        op.add_column(table, sa.Column("question", TEXT, comment=COMMENT))


def downgrade() -> None:
    """Take it away; the decisions stay."""
    for table in TABLES:
        op.drop_column(table, "question")
