"""Which ids are one item under a version of the labels.

Revision ID: 0029
Revises: 0028
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision: str | None = "0028"
branch_labels: str | None = None
depends_on: str | None = None

COMMENT = "JSON object: which ids are one item; NULL where each is its own."


def upgrade() -> None:
    """Add the column: so far each id is an item of its own."""
    op.add_column("label_sets", sa.Column("same_items", _json(), comment=COMMENT))


def downgrade() -> None:
    """Take it away, so that labels lose the further ids of their items."""
    op.drop_column("label_sets", "same_items")


def _json() -> Any:
    """Return the type of a JSON object."""
    if op.get_bind().dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import JSONB

        return JSONB()
    return sa.Text()
