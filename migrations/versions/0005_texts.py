"""Texts that people read instead of ids: the text of a query, the title and link of an item.

Revision ID: 0005
Revises: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "texts",
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the text."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the text; 0 for an item in every group."),
        sa.Column("item_key", TEXT, nullable=False, comment="Item of the text; empty for the group itself."),
        sa.Column("text", TEXT, comment="Text of the query, or of the item; NULL where none was given."),
        sa.Column("title", TEXT, comment="Title; NULL where none was given."),
        sa.Column("url", TEXT, comment="Where to find it, as it was given; NULL where nothing was given."),
        sa.CheckConstraint("group_id > 0 OR item_key <> ''", name=op.f("ck_texts_of_something")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_texts_dataset_id")),
        sa.PrimaryKeyConstraint("dataset_id", "group_id", "item_key", name=op.f("pk_texts")),
        comment="One row per text: of a group, of an item in every group, or of an item in one group.",
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("texts")
