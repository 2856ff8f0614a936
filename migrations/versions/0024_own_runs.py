"""Who stored a run, and a function by which a writer's role replaces its own on Postgres.

Revision ID: 0024
Revises: 0023
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision: str | None = "0023"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMMENT = "Role of Postgres that stored it; NULL in SQLite, and where that is unknown."
# A writer may not delete. What it stored itself and nothing refers to, the owner's function deletes for it.
REDO = """
CREATE FUNCTION {schema}.ndcg_tracker_redo(redone bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $$
BEGIN PERFORM 1 FROM runs WHERE id = redone AND stored_by = session_user::text FOR UPDATE
    ; IF NOT FOUND OR EXISTS (SELECT 1 FROM aliases WHERE run_id = redone)
        OR EXISTS (SELECT 1 FROM decisions WHERE redone IN (baseline_run_id, candidate_run_id))
        OR EXISTS (
            SELECT 1 FROM suite_decisions s, jsonb_each(s.runs::jsonb) AS of
            WHERE to_jsonb(redone) IN (of.value -> 'baseline_run_id', of.value -> 'candidate_run_id')
        )
        OR EXISTS (SELECT 1 FROM design_runs WHERE run_id = redone)
    THEN RETURN false; END IF
    ; DELETE FROM group_results WHERE evaluation_id IN (SELECT id FROM evaluations WHERE run_id = redone)
    ; DELETE FROM paired_sums WHERE baseline_run_id = redone
        OR evaluation_id IN (SELECT id FROM evaluations WHERE run_id = redone)
    ; DELETE FROM evaluations WHERE run_id = redone
    ; DELETE FROM coverages WHERE run_id = redone
    ; DELETE FROM ranked_lists WHERE run_id = redone
    ; DELETE FROM prunings WHERE run_id = redone
    ; UPDATE alias_moves SET run_id = NULL WHERE run_id = redone
    ; DELETE FROM runs WHERE id = redone
    ; RETURN true; END $$
"""


def upgrade() -> None:
    """Add the column, and the function on Postgres."""
    op.add_column("runs", sa.Column("stored_by", TEXT, comment=COMMENT))
    if op.get_bind().dialect.name == "postgresql":
        schema = op.get_bind().execute(sa.text("SELECT quote_ident(current_schema())")).scalar_one()
        op.execute(sa.text(REDO.format(schema=schema).replace(":", r"\:")))


def downgrade() -> None:
    """Take both away; the runs stay."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION ndcg_tracker_redo(bigint)")
    op.drop_column("runs", "stored_by")
