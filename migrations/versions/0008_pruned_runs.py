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

GROUP_ATTRIBUTES = """
        SELECT d.name AS dataset, g.key AS group_key, e.key COLLATE "C" AS attribute,
               CASE WHEN jsonb_typeof(e.value) = 'string' THEN (e.value #>> '{}') COLLATE "C" END AS value,
               CASE WHEN jsonb_typeof(e.value) = 'number' THEN CAST(e.value #>> '{}' AS double precision) END AS number
        FROM groups g
        JOIN datasets d ON d.id = g.dataset_id
        CROSS JOIN LATERAL jsonb_each(g.attributes) AS e (key, value)
"""
"""On Postgres. The view of 0007 hides from the planner how many groups there are: Postgres 18 then looks every group up
in every run (2.3 s of 0.4 s for the worst groups of a year)."""


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
    show("run_details", RUN_DETAILS)
    if not is_sqlite():
        show("group_attributes", GROUP_ATTRIBUTES)


def downgrade() -> None:
    """Drop it, which is refused where a run is pruned: older programs take it for damaged."""
    if op.get_bind().execute(sa.text("SELECT count(*) FROM prunings")).scalar():
        raise ValueError("runs were pruned; delete them first: ndcg-track runs delete RUN")
    before: Any = op.get_context().opts["script"].get_revision("0007").module
    op.execute("DROP VIEW run_details")
    show("run_details", before.RUN_DETAILS)
    if not is_sqlite():
        show("group_attributes", before.GROUP_ATTRIBUTES)
    op.drop_table("prunings")


def is_sqlite() -> bool:
    """Return whether this is SQLite."""
    return bool(op.get_bind().dialect.name == "sqlite")


def show(view: str, query: str) -> None:
    """Make a view."""
    if is_sqlite():
        op.execute(f"DROP VIEW IF EXISTS {view}")
    created = "r.created_at_utc" if is_sqlite() else "CAST(r.created_at_utc AS timestamptz)"
    create = "CREATE VIEW" if is_sqlite() else "CREATE OR REPLACE VIEW"
    op.execute(sa.text(f"{create} {view} AS {query.replace('{created_at}', created).strip()}"))
