"""Designs of whole queries: the kind of each design, and the latest run before each answer.

Revision ID: 0028
Revises: 0027
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision: str | None = "0027"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

KIND = "What it is for: judge or holes, of whole queries; items: single items, drawn by an older version."
AFTER = "Newest run before the grade was stored; NULL before that, and of older answers."


def upgrade() -> None:
    """Add the columns; all designs so far drew single items."""
    op.add_column("designs", sa.Column("kind", TEXT, nullable=False, server_default="items", comment=KIND))
    op.add_column("drawn_items", sa.Column("answered_after_run_id", IDENTIFIER, comment=AFTER))


def downgrade() -> None:
    """Take the columns away; designs of whole queries become designs in which every item was drawn for sure."""
    op.drop_column("drawn_items", "answered_after_run_id")
    op.drop_column("designs", "kind")
