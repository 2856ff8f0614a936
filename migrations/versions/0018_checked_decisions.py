"""Who checked the judge that a decision rests on, and what people answered to designs, as views.

Revision ID: 0018
Revises: 0017
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision: str | None = "0017"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

NUMBERED = ("c.scope, s.judge", "c.scope, s.judge, c.checked_by")
"""Of which gate a decision is: that of a judge whom somebody checked has a number of its own."""
DRAWN_LABELS = """
        SELECT d.name AS dataset, e.number AS design, s.judge AS judge, s.version AS label_set_version,
               e.metric AS metric, e.checked_by AS checked_by, g.key AS group_key, i.item_key AS item_key,
               i.probability AS probability, i.grade AS grade, i.answered_at_utc AS answered_at_utc
        FROM drawn_items i
        JOIN designs e ON e.id = i.design_id
        JOIN datasets d ON d.id = e.dataset_id
        JOIN label_sets s ON s.id = e.label_set_id
        JOIN groups g ON g.id = i.group_id
"""


def upgrade() -> None:
    """Add the column and show it; create the view of drawn items."""
    comment = "Who answered the sample that checks the judge; NULL where nobody did."
    op.add_column("decisions", sa.Column("checked_by", TEXT, comment=comment))
    newest, query = gate_decisions()
    query = newest.with_columns(query.replace(*NUMBERED), {"checked_by": "c.checked_by"})
    if newest.is_sqlite():
        op.execute("DROP VIEW gate_decisions")
    create = "CREATE VIEW" if newest.is_sqlite() else "CREATE OR REPLACE VIEW"
    op.execute(sa.text(f"{create} gate_decisions AS {query.strip()}".replace(":", r"\:")))
    op.execute(f"CREATE VIEW drawn_labels AS {DRAWN_LABELS.strip()}")


def downgrade() -> None:
    """Take them away; who checked is lost, the decisions and answers stay."""
    op.execute("DROP VIEW drawn_labels")
    op.execute("DROP VIEW gate_decisions")
    op.drop_column("decisions", "checked_by")
    _, query = gate_decisions()
    op.execute(sa.text(f"CREATE VIEW gate_decisions AS {query.strip()}".replace(":", r"\:")))


def gate_decisions() -> tuple[Any, str]:
    """Return the module with the views' tools, and the view as the revisions before have it."""
    script = op.get_context().opts["script"]
    newest, older = script.get_revision("0013").module, script.get_revision("0015").module
    query = older.views_before()["gate_decisions"].replace(*older.NUMBERED["gate_decisions"])
    return newest, newest.with_columns(query, older.FURTHER["gate_decisions"])
