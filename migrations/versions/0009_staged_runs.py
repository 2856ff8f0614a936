"""Batches that several processes write before a run is published; and runs with the items of only some groups.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables, and the column of what is kept."""
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
    if op.get_bind().dialect.name == "sqlite":
        rebuild_prunings()
        return
    op.add_column("prunings", kept_share())
    op.execute("ALTER TABLE staged_batches ALTER COLUMN content SET STORAGE EXTERNAL")  # it is compressed already
    op.execute("ALTER TABLE staged_batches SET UNLOGGED")  # a crash ends what was being written


def downgrade() -> None:
    """Drop them, which is refused where a run keeps some items: older programs take it for damaged."""
    if op.get_bind().execute(sa.text("SELECT count(*) FROM prunings WHERE kept_share > 0")).scalar():
        raise ValueError("runs keep the items of some groups; delete these runs first: ndcg-track runs delete RUN")
    op.drop_column("prunings", "kept_share")
    op.drop_table("staged_batches")
    op.drop_table("staged_runs")


def kept_share() -> sa.Column[float]:
    """Return the new column."""
    comment = (
        "Share of the groups whose items were stored, by a hash of their keys: 0 for none; NULL where all were, and "
        "are gone."
    )
    return sa.Column("kept_share", sa.Double(), comment=comment)


def rebuild_prunings() -> None:
    """Give the table of SQLite its column before its constraints, where the description of the tables has it."""
    op.rename_table("prunings", "prunings_0008")
    op.create_table(
        "prunings",
        sa.Column("run_id", IDENTIFIER, nullable=False, autoincrement=False),
        sa.Column("created_at_utc", TEXT, nullable=False),
        sa.Column("summaries_only", sa.Boolean(), nullable=False),
        sa.Column("packed_group_ids", sa.LargeBinary(), nullable=False),
        kept_share(),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_prunings_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_prunings")),
    )
    kept = "run_id, created_at_utc, summaries_only, packed_group_ids"
    op.execute(f"INSERT INTO prunings ({kept}) SELECT {kept} FROM prunings_0008 ORDER BY run_id")
    op.drop_table("prunings_0008")
