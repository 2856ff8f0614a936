"""Designs: drawn samples of items on which people check a judge.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision: str | None = "0015"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
REAL = sa.Double()


def upgrade() -> None:
    """Create the tables of designs and of the items that they drew."""
    op.create_table(
        "designs",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the design, in all datasets."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the items."),
        sa.Column(
            "number", IDENTIFIER, nullable=False, comment="1 for the dataset's first design, 2 for the next, and so on."
        ),
        sa.Column(
            "label_set_id",
            IDENTIFIER,
            nullable=False,
            comment="Labels of the judge that is to be checked; their ideal is frozen.",
        ),
        sa.Column("checked_by", TEXT, comment="Who graded the drawn items; NULL before the first answer."),
        sa.Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
        sa.Column("baseline_run_id", IDENTIFIER, comment="Baseline; NULL once it is deleted."),
        sa.Column("candidate_run_id", IDENTIFIER, comment="Candidate; NULL once it is deleted."),
        sa.Column("baseline_run", TEXT, nullable=False, comment="Name of the baseline at that time."),
        sa.Column("candidate_run", TEXT, nullable=False, comment="Name of the candidate at that time."),
        sa.Column("budget", IDENTIFIER, nullable=False, comment="How many items were to be drawn, on average."),
        sa.Column(
            "seed", TEXT, nullable=False, comment="Key of the hash that gives each item its random number for good."
        ),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When it was drawn first, ISO 8601 in UTC."),
        sa.Column(
            "answered_after_run_id", IDENTIFIER, comment="Newest run before the first answer; NULL without an answer."
        ),
        sa.Column(
            "answered_after_label_set_id",
            IDENTIFIER,
            comment="Newest label set before the first answer; NULL without an answer.",
        ),
        sa.CheckConstraint("number >= 1 AND budget >= 1", name=op.f("ck_designs_counts")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_designs_dataset_id")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_designs_label_set_id")),
        sa.ForeignKeyConstraint(["baseline_run_id"], ["runs.id"], name=op.f("fk_designs_baseline_run_id")),
        sa.ForeignKeyConstraint(["candidate_run_id"], ["runs.id"], name=op.f("fk_designs_candidate_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_designs")),
        sa.UniqueConstraint("dataset_id", "number", name=op.f("uq_designs_dataset_id_number")),
        comment="One row per design: a sample of items, drawn to check a judge on the difference of two runs.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "drawn_items",
        sa.Column("design_id", IDENTIFIER, nullable=False, comment="Design that drew the item."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the item."),
        sa.Column("item_key", TEXT, nullable=False, comment="The item."),
        sa.Column("probability", REAL, nullable=False, comment="With which probability it was drawn."),
        sa.Column("grade", REAL, comment="What people graded it; NULL before they did."),
        sa.Column("answered_at_utc", TEXT, comment="When the grade was stored, ISO 8601 in UTC; NULL before that."),
        sa.CheckConstraint("probability > 0 AND probability <= 1", name=op.f("ck_drawn_items_probability")),
        sa.CheckConstraint("abs(grade) <= 1.7e308", name=op.f("ck_drawn_items_grade_finite")),
        sa.CheckConstraint("(grade IS NULL) = (answered_at_utc IS NULL)", name=op.f("ck_drawn_items_answered")),
        sa.ForeignKeyConstraint(["design_id"], ["designs.id"], name=op.f("fk_drawn_items_design_id")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_drawn_items_group_id")),
        sa.PrimaryKeyConstraint("design_id", "group_id", "item_key", name=op.f("pk_drawn_items")),
        comment="One row per item that a design drew, with the grade that people gave it.",
    )


def downgrade() -> None:
    """Drop both, with what people answered."""
    op.drop_table("drawn_items")
    op.drop_table("designs")
