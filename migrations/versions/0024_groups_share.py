"""Which share of the groups a run keeps.

Revision ID: 0024
Revises: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision: str | None = "0023"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "Share of the groups that it keeps, chosen by a hash of their ids; NULL for all."


def upgrade() -> None:
    """Add the column; every run so far keeps all its groups."""
    op.add_column("runs", sa.Column("groups_share", TEXT, comment=COMMENT))


def downgrade() -> None:
    """Take it away; which runs keep a share of the groups is lost."""
    op.drop_column("runs", "groups_share")
