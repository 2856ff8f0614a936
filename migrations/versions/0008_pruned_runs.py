"""Which runs were pruned, and when: their items are gone, and perhaps the results of their groups.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
RUN_DETAILS = """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, r.created_at_utc AS created_at_utc,
               r.git_commit AS git_commit, r.source AS source, r.n_groups AS n_groups, r.n_items AS n_items,
               {created_at} AS created_at,
               (SELECT p.created_at_utc FROM prunings p WHERE p.run_id = r.id) AS pruned_at_utc
        FROM runs r
"""


def upgrade() -> None:
    """Create the table, and show it beside what else is known of a run."""
    op.create_table(
        "prunings",
        sa.Column("run_id", IDENTIFIER, nullable=False, autoincrement=False, comment="Run without its items."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When it was pruned last, ISO 8601 in UTC."),
        sa.Column(
            "summaries_only", sa.Boolean(), nullable=False, comment="Whether the results of its groups are gone, too."
        ),
        sa.Column(
            "packed_group_ids", sa.LargeBinary(), nullable=False, comment="The groups it has, int64; see evaluations."
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_prunings_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_prunings")),
        comment="One row per pruned run: its items are gone, its means are kept.",
    )
    show(RUN_DETAILS)


def downgrade() -> None:
    """Drop it, which is refused where a run is pruned: older programs take it for damaged."""
    if op.get_bind().execute(sa.text("SELECT count(*) FROM prunings")).scalar():
        raise ValueError("runs were pruned; delete them first: ndcg-track runs delete RUN")
    before: Any = op.get_context().opts["script"].get_revision("0007").module
    op.execute("DROP VIEW run_details")
    show(before.RUN_DETAILS)
    op.drop_table("prunings")


def show(query: str) -> None:
    """Make the view."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if is_sqlite:
        op.execute("DROP VIEW IF EXISTS run_details")
    created = "r.created_at_utc" if is_sqlite else "CAST(r.created_at_utc AS timestamptz)"
    create = "CREATE VIEW" if is_sqlite else "CREATE OR REPLACE VIEW"
    op.execute(sa.text(f"{create} run_details AS {query.format(created_at=created).strip()}"))
