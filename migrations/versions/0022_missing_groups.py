"""Which groups a run lacks, what each group weighs, and when a run was made, in the views that people ask.

A group that has labels and is missing from a run counts as 0 there, as a failing one does. The list of the run says
which it is; where lists were deleted, or were never stored, nobody can say.

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

import re
from typing import Any

from alembic import op

revision = "0022"
down_revision: str | None = "0021"
branch_labels: str | None = None
depends_on: str | None = None

# What needs no look-up comes first: most runs lack no group, and without a list there is no gain.
FURTHER = {
    "group_history": """,
               g.weight AS weight,
               CASE WHEN e.judge IN ('external results', 'sums of other engines') THEN NULL
                    WHEN v.undefined_reason = 'missing from the run' THEN true
                    WHEN e.n_missing = 0 OR v.dcg <> 0 THEN false
                    WHEN EXISTS (SELECT 1 FROM ranked_lists l WHERE l.run_id = e.run_id AND l.group_id = v.group_id)
                    THEN false
                    WHEN EXISTS (SELECT 1 FROM prunings p WHERE p.run_id = e.run_id) THEN NULL
                    ELSE true END AS is_missing""",
    "label_coverage": """,
               r.created_at_utc AS created_at_utc,
               {} AS created_at""",
}
"""The columns that the views get, their last ones."""
LAST_FROM = r"\s+FROM \(*(?:evaluations e|coverages c)\s"
SHOWN = {"group_history": r",\s*g\.weight\b.*?", "label_coverage": r",\s*r\.created_at_utc\b.*?"}
"""The same as the database shows it, up to that FROM."""
CREATED_AT = {"sqlite": "r.created_at_utc", "postgresql": "CAST(r.created_at_utc AS timestamp with time zone)"}
GROUP_LIST = """
        SELECT d.name AS dataset, g.key AS group_key, g.weight AS weight
        FROM groups g
        JOIN datasets d ON d.id = g.dataset_id
        WHERE g.dataset_id NOT IN (SELECT z.dataset_id FROM seals z WHERE z.is_sealed)
"""


def upgrade() -> None:
    """Show them."""
    before = _before()
    views, created_at = before.live_views(), CREATED_AT[op.get_bind().dialect.name]
    for name, further in FURTHER.items():
        columns = further.format(created_at)
        query = re.sub(LAST_FROM, lambda place: columns + place[0], views[name], count=1)  # noqa: B023
        before.show(name, query, is_new=False)
    before.show("group_list", GROUP_LIST)


def downgrade() -> None:
    """Make the views as they were."""
    before = _before()
    views = before.live_views()
    op.execute("DROP VIEW group_list")
    for name, shown in SHOWN.items():
        op.execute(f"DROP VIEW {name}")
        before.show(name, re.sub(f"{shown}(?={LAST_FROM})", "", views[name], count=1, flags=re.DOTALL))


def _before() -> Any:
    """Return the module that knows the views as they are."""
    return op.get_context().opts["script"].get_revision("0019").module
