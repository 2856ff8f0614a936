"""Which share of the groups a run keeps; runs are not staged in the database any more.

Revision ID: 0025
Revises: 0024
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision: str | None = "0024"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "Share of the groups that it keeps, chosen by a hash of their ids; NULL for all."


def upgrade() -> None:
    """Add the column, as every run so far keeps all its groups; drop the tables, which held no part of a stored run."""
    op.add_column("runs", sa.Column("groups_share", TEXT, comment=COMMENT))
    op.drop_table("staged_batches")
    op.drop_table("staged_runs")


def downgrade() -> None:
    """Take it away, so that it is lost which runs keep a share; create the tables again, empty."""
    op.drop_column("runs", "groups_share")
    op.create_table(
        "staged_runs",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the staged run."),
        sa.Column("dataset", TEXT, nullable=False, comment="Name of the dataset that it is to be a run of."),
        sa.Column("run", TEXT, nullable=False, comment="Name that the run is to have."),
        sa.Column("started_by", TEXT, nullable=False, comment="User, host and process that publishes it."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When it was begun, ISO 8601 in UTC."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_staged_runs")),
        comment="One row per run that several processes are writing; it goes when the run is published.",
    )
    op.create_table(
        "staged_batches",
        sa.Column("staged_run_id", IDENTIFIER, nullable=False, comment="Staged run of the batch."),
        sa.Column("attempt", TEXT, nullable=False, comment="Random id of the attempt of a task that wrote it."),
        sa.Column("number", IDENTIFIER, nullable=False, comment="Place of the batch in its attempt, from 0."),
        sa.Column("partition", IDENTIFIER, nullable=False, comment="Number of the partition that was attempted."),
        sa.Column("n_groups", IDENTIFIER, nullable=False, comment="How many groups are in the batch."),
        sa.Column("content", sa.LargeBinary(), nullable=False, comment="The groups of the batch, as an Arrow stream."),
        sa.CheckConstraint("n_groups >= 0", name=op.f("ck_staged_batches_counts")),
        sa.ForeignKeyConstraint(
            ["staged_run_id"],
            ["staged_runs.id"],
            name=op.f("fk_staged_batches_staged_run_id"),
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.PrimaryKeyConstraint("staged_run_id", "attempt", "number", name=op.f("pk_staged_batches")),
        comment="One row per batch of groups of a staged run, as an attempt of a task wrote it.",
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE staged_batches ALTER COLUMN content SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE staged_batches SET UNLOGGED")
