"""Runs that other engines store as sums over their groups: paired differences, enough for t intervals.

Revision ID: 0010
Revises: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "paired_sums",
        sa.Column("evaluation_id", IDENTIFIER, nullable=False, comment="Evaluation of the candidate."),
        sa.Column("baseline_run_id", IDENTIFIER, nullable=False, comment="Run it was compared with."),
        sa.Column("n_groups", IDENTIFIER, nullable=False, comment="How many groups have a value in both runs."),
        real("baseline_mean", "Mean of the baseline over these groups; 0 without any."),
        real("delta", "Mean of candidate minus baseline over them; 0 without any."),
        real("m2", "Sum of the squared distances of the differences from delta."),
        real("m3", "Sum of the cubes of these distances."),
        count("wins", "How many groups have a greater value in the candidate."),
        count("losses", "How many groups have a smaller value in the candidate."),
        count("only_in_baseline", "How many groups have a value in the baseline only."),
        count("only_in_candidate", "How many groups have a value in the candidate only."),
        count("n_undefined", "How many groups have a value in neither."),
        sa.Column(
            "details", JSON_TEXT, nullable=False, comment="JSON object of the same sums by slice, and of clusters."
        ),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When they were stored, ISO 8601 in UTC."),
        sa.CheckConstraint(
            "n_groups >= 0 AND wins >= 0 AND losses >= 0 AND wins + losses <= n_groups",
            name=op.f("ck_paired_sums_counts"),
        ),
        sa.CheckConstraint("m2 >= 0 AND m2 <= 1.7e308 AND abs(delta) <= 1.7e308", name=op.f("ck_paired_sums_finite")),
        sa.ForeignKeyConstraint(["evaluation_id"], ["evaluations.id"], name=op.f("fk_paired_sums_evaluation_id")),
        sa.ForeignKeyConstraint(["baseline_run_id"], ["runs.id"], name=op.f("fk_paired_sums_baseline_run_id")),
        sa.PrimaryKeyConstraint("evaluation_id", "baseline_run_id", name=op.f("pk_paired_sums")),
        comment="One row per evaluation of a run stored as sums and its baseline: the sums of the groups' differences.",
    )
    op.create_index(op.f("ix_paired_sums_baseline_run_id"), "paired_sums", ["baseline_run_id"])


def downgrade() -> None:
    """Drop the table, which is refused where a run is stored as sums: older programs take it for a pruned one."""
    of_sums = "SELECT count(*) FROM prunings WHERE summaries_only AND kept_share = 0 AND length(packed_group_ids) = 0"
    if op.get_bind().execute(sa.text(of_sums)).scalar():
        raise ValueError("runs are stored as sums; delete these runs first: ndcg-track runs delete RUN")
    op.drop_table("paired_sums")


def real(name: str, comment: str) -> sa.Column[float]:
    """Return a column of a number."""
    return sa.Column(name, sa.Double(), nullable=False, comment=comment)


def count(name: str, comment: str) -> sa.Column[int]:
    """Return a column of how many."""
    return sa.Column(name, IDENTIFIER, nullable=False, comment=comment)
