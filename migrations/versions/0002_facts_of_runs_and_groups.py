"""Views of facts beside the numbers: commits, parameters, tags, aliases, attributes, decisions.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

VIEWS = {
    "run_details": """
        SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
               r.git_commit AS git_commit, r.source AS source, r.n_groups AS n_groups, r.n_items AS n_items
        FROM runs r
        JOIN datasets d ON d.id = r.dataset_id
    """,
    "run_aliases": """
        SELECT d.name AS dataset, a.name AS alias, r.name AS run, r.id AS run_id, a.updated_at_utc AS updated_at_utc
        FROM aliases a
        JOIN datasets d ON d.id = a.dataset_id
        JOIN runs r ON r.id = a.run_id
    """,
    "gate_decisions": """
        SELECT c.id AS decision_id, d.name AS dataset, c.created_at_utc AS created_at_utc, c.baseline_run AS baseline,
               c.candidate_run AS candidate, c.baseline_alias AS baseline_alias, c.metric AS metric,
               s.version AS label_set_version, c.scope AS scope, c.margin AS margin, c.delta AS delta,
               c.ci_low AS ci_low, c.ci_high AS ci_high, c.alpha AS alpha, c.decision AS decision,
               c.reason AS reason, c.acknowledged_reason AS acknowledged_reason, c.acknowledged_by AS acknowledged_by
        FROM decisions c
        JOIN datasets d ON d.id = c.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
    """,
}

ENGINE_VIEWS = {
    "sqlite": {
        f"run_{facts}": f"""
            SELECT r.name AS run, r.id AS run_id, d.name AS dataset, e.key AS name,
                   CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN json_each(r.{facts}) e
        """
        for facts in ("parameters", "tags")
    }
    | {
        "group_attributes": """
            SELECT d.name AS dataset, g.key AS group_key, e.key AS attribute,
                   CASE WHEN e.type = 'text' THEN e.value END AS value,
                   CASE WHEN e.type IN ('integer', 'real') THEN CAST(e.value AS REAL) END AS number
            FROM groups g
            JOIN datasets d ON d.id = g.dataset_id
            JOIN json_each(g.attributes) e
        """,
    },
    "postgresql": {
        f"run_{facts}": f"""
            SELECT r.name AS run, r.id AS run_id, d.name AS dataset, e.key COLLATE "C" AS name,
                   e.value COLLATE "C" AS value
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            CROSS JOIN LATERAL jsonb_each_text(r.{facts}) e
        """
        for facts in ("parameters", "tags")
    }
    | {
        "group_attributes": """
            SELECT d.name AS dataset, g.key AS group_key, e.key COLLATE "C" AS attribute,
                   CASE WHEN jsonb_typeof(e.value) = 'string' THEN (e.value #>> '{}') COLLATE "C" END AS value,
                   CASE WHEN jsonb_typeof(e.value) = 'number' THEN CAST(e.value #>> '{}' AS double precision) END
                   AS number
            FROM groups g
            JOIN datasets d ON d.id = g.dataset_id
            CROSS JOIN LATERAL jsonb_each(g.attributes) e
        """,
    },
}


def upgrade() -> None:
    """Create the views."""
    for name, query in (VIEWS | ENGINE_VIEWS[op.get_bind().dialect.name]).items():
        op.execute(sa.text(f"CREATE VIEW {name} AS {query.strip()}"))


def downgrade() -> None:
    """Drop the views."""
    for name in VIEWS | ENGINE_VIEWS["sqlite"]:
        op.execute(f"DROP VIEW {name}")
