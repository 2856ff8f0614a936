"""Decisions of gates on suites.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
REAL = sa.Double()
JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")

DECISIONS = """
        SELECT id AS decision_id, suite AS suite, created_at_utc AS created_at_utc, baseline AS baseline,
               candidate AS candidate, by_tag AS by_tag, metric AS metric, margin AS margin,
               dataset_margin AS dataset_margin, delta AS delta, ci_low AS ci_low, ci_high AS ci_high, alpha AS alpha,
               decision AS decision, reason AS reason, acknowledged_reason AS acknowledged_reason,
               acknowledged_by AS acknowledged_by, {decided_at} AS created_at
        FROM suite_decisions
"""


def upgrade() -> None:
    """Create the table and the view that shows it."""
    op.create_table(
        "suite_decisions",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the decision."),
        sa.Column("suite", TEXT, nullable=False, comment="Name of the suite at that time."),
        sa.Column("baseline", TEXT, nullable=False, comment="System to be replaced: the name of its runs, or a tag."),
        sa.Column("candidate", TEXT, nullable=False, comment="System to replace it."),
        sa.Column("by_tag", TEXT, comment="Tag whose value is the system; NULL where it is the name of its runs."),
        sa.Column(
            "runs",
            JSON_TEXT,
            nullable=False,
            comment="JSON object by dataset: version of the labels, ids of the runs of baseline and candidate.",
        ),
        sa.Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
        sa.Column("margin", REAL, nullable=False, comment="Loss that the macro mean was allowed."),
        sa.Column("dataset_margin", REAL, comment="Loss that each dataset was allowed; NULL where nobody asked."),
        sa.Column("delta", REAL, comment="Candidate minus baseline, the macro mean; NULL where undefined."),
        sa.Column("ci_low", REAL, comment="Lower bound of delta that decided."),
        sa.Column("ci_high", REAL, comment="Upper bound of delta that decided."),
        sa.Column("alpha", REAL, comment="Error probability that FAIL allows."),
        sa.Column("decision", TEXT, nullable=False, comment="pass, fail or inconclusive."),
        sa.Column("reason", TEXT, nullable=False, comment="Why, in one sentence."),
        sa.Column("acknowledged_reason", TEXT, comment="Why someone overrode the decision; NULL where nobody did."),
        sa.Column("acknowledged_by", TEXT, comment="Who overrode the decision; NULL where nobody did."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the decision was made, ISO 8601 in UTC."),
        sa.CheckConstraint("decision IN ('pass', 'fail', 'inconclusive')", name=op.f("ck_suite_decisions_decision")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suite_decisions")),
        comment="One row per decision of a gate on a suite, and who overrode it with which reason.",
        sqlite_autoincrement=True,
    )

    decided_at = "created_at_utc" if is_sqlite() else "CAST(created_at_utc AS timestamptz)"
    op.execute(f"CREATE VIEW suite_gate_decisions AS {DECISIONS.format(decided_at=decided_at).strip()}")


def is_sqlite() -> bool:
    """Return whether this is SQLite."""
    return bool(op.get_bind().dialect.name == "sqlite")


def downgrade() -> None:
    """Drop the view, the table and what it has on record."""
    op.execute("DROP VIEW suite_gate_decisions")
    op.drop_table("suite_decisions")
