"""What a group of a dataset is: a query, a user or a session.

Revision ID: 0031
Revises: 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision: str | None = "0030"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
COMMENT = "What a group is: query, user or session; NULL, said as query, where no file said."


def upgrade() -> None:
    """Add the column: of stored datasets nobody has said it, and the next file may."""
    op.add_column("datasets", sa.Column("word", TEXT, comment=COMMENT))


def downgrade() -> None:
    """Take it away."""
    op.drop_column("datasets", "word")
