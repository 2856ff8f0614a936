"""Why labels were given: the reason of a label, and how far a judge's several labels of one item spread.

Revision ID: 0032
Revises: 0031
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision: str | None = "0031"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REAL = sa.Double()
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

LABEL_DETAILS = """
        SELECT d.name AS dataset, s.version AS label_set_version, s.judge AS judge,
               coalesce(s.added_by, s.judge) AS given_by, g.key AS group_key, t.item_key AS item_key,
               t.reason AS reason, t.n_given AS n_given, t.std_dev AS std_dev, {model} AS model, {prompt} AS prompt
        FROM label_reasons t
        JOIN label_sets s ON s.id = t.label_set_id
        JOIN datasets d ON d.id = s.dataset_id
        JOIN groups g ON g.id = t.group_id
"""
_FIRST = {"sqlite": "json_extract(s.from_runs, '$.{0}[0]')", "postgresql": "s.from_runs -> '{0}' ->> 0"}
"""The text that an origin of labels has under a name."""


def upgrade() -> None:
    """Create the table and its view."""
    op.create_table(
        "label_reasons",
        sa.Column("label_set_id", IDENTIFIER, nullable=False, comment="Label set that brought the label."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the label."),
        sa.Column("item_key", TEXT, nullable=False, comment="The judged item."),
        sa.Column("reason", TEXT, comment="Why the judge gave it; NULL where not said."),
        sa.Column(
            "n_given", IDENTIFIER, nullable=False, comment="How many labels the judge gave, whose mean is the grade."
        ),
        sa.Column("std_dev", REAL, nullable=False, comment="Standard deviation of these labels; 0 for one."),
        sa.CheckConstraint("n_given >= 1", name=op.f("ck_label_reasons_given")),
        sa.CheckConstraint("std_dev >= 0 AND std_dev <= 1.7e308", name=op.f("ck_label_reasons_std_dev")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_label_reasons_label_set_id")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_label_reasons_group_id")),
        sa.PrimaryKeyConstraint("label_set_id", "group_id", "item_key", name=op.f("pk_label_reasons")),
        comment="One row per label with a reason, or whose judge gave several; versions that extend it have it too.",
    )
    first = _FIRST[op.get_bind().dialect.name]
    query = LABEL_DETAILS.format(model=first.format("model"), prompt=first.format("prompt"))
    op.get_context().opts["script"].get_revision("0019").module.show("label_details", query)


def downgrade() -> None:
    """Drop both, with all reasons."""
    op.execute("DROP VIEW label_details")
    op.drop_table("label_reasons")
