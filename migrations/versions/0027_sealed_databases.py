"""A sealed database instead of sealed datasets: its rules, and views without a condition.

What is sealed beside open data stays until it is moved; this program refuses the database until then.

Revision ID: 0027
Revises: 0026
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision: str | None = "0026"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COLUMNS = [
    ("metric", TEXT, "The metric of all its gates; NULL of an open part, and before a move."),
    ("margin", sa.Double(), "The drop that all its gates allow; NULL where metric is."),
    ("baseline_run", TEXT, "Name of the baseline of all its gates; NULL where each gate names one."),
]
BEFORE = "One row per sealed dataset, and per open part of a dataset that was split."
AFTER = "One row per open part of a split dataset, or the one row of a sealed database."
GROUP_LIST = """
        SELECT d.name AS dataset, g.key AS group_key, g.weight AS weight
        FROM groups g
        JOIN datasets d ON d.id = g.dataset_id
        WHERE g.key <> ''"""
OF_AGENTS = """
    SELECT tablename, policyname FROM pg_policies
    WHERE schemaname = current_schema() AND (policyname = 'ndcg_tracker_team' OR permissive = 'RESTRICTIVE')
    AND tablename IN (
        SELECT tablename FROM pg_policies WHERE schemaname = current_schema() AND policyname = 'ndcg_tracker_team'
    )
"""


def upgrade() -> None:
    """Add the columns, show every row, and take away the policies of agents."""
    for name, kind, comment in COLUMNS:
        op.add_column("seals", sa.Column(name, kind, comment=comment))
    before, bind = _before(), op.get_bind()
    for name, query in before.live_views().items():
        shown = GROUP_LIST if name == "group_list" else re.sub(before.CONDITIONS, "", query, count=1)
        if shown != query:
            before.show(name, shown, is_new=False)
    if bind.dialect.name == "postgresql":
        op.execute(f"COMMENT ON TABLE seals IS '{AFTER}'")
        for table, policy in bind.exec_driver_sql(OF_AGENTS).all():
            op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
            quoted = '"' + policy.replace('"', '""') + '"'
            op.execute(sa.text(f"DROP POLICY {quoted} ON {table}".replace(":", r"\:")))


def downgrade() -> None:
    """Hide what is sealed from the views again, and take the columns away."""
    before = _before()
    views = before.live_views()
    for relation, names in before.DATASET_OF.items():
        condition = before.CONDITION.format(relation, "id" if relation == "d" else "dataset_id")
        for name in names:
            end = before.BEFORE_IT.get(name, r"\s*$")
            query = re.sub(end, lambda rest: f"\n        {condition}{rest[0]}", views[name], count=1)  # noqa: B023
            before.show(name, query, is_new=False)
    condition = before.CONDITION.format("g", "dataset_id").removeprefix("WHERE ")
    before.show("group_list", f"{GROUP_LIST} AND {condition}", is_new=False)
    for name, *_ in COLUMNS:
        op.drop_column("seals", name)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"COMMENT ON TABLE seals IS '{BEFORE}'")


def _before() -> Any:
    """Return the module that knows the views as they are."""
    return op.get_context().opts["script"].get_revision("0019").module
