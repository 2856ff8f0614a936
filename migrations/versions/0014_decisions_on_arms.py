"""The runs that a decision on arms of repeated runs is based on.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0014"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None

JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Add the column, which is NULL of every decision so far."""
    op.add_column(
        "decisions",
        sa.Column(
            "repeats",
            JSON_TEXT,
            comment="JSON object: ids of the runs of baseline and candidate where one has several; NULL of two runs.",
        ),
    )


def downgrade() -> None:
    """Drop it: the decisions stay, with the names of their arms."""
    op.drop_column("decisions", "repeats")
