"""Suites: named datasets that are compared together.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision: str | None = "0010"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "suite_datasets",
        sa.Column("suite", TEXT, nullable=False, comment="Name of the suite."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset that belongs to it."),
        sa.Column("place", IDENTIFIER, nullable=False, comment="Place of the dataset in the suite, from 0."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the suite was made, ISO 8601 in UTC."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_suite_datasets_dataset_id")),
        sa.PrimaryKeyConstraint("suite", "dataset_id", name=op.f("pk_suite_datasets")),
        comment="One row per dataset of a suite: named datasets that are looked at together.",
    )


def downgrade() -> None:
    """Drop the table; the datasets and their runs stay."""
    op.drop_table("suite_datasets")
