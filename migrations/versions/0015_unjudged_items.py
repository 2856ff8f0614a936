"""What unjudged items left open of a decision, and who gave the labels that a version adds to another.

Revision ID: 0015
Revises: 0014
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0015"
down_revision: str | None = "0014"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")

OPEN: list[tuple[str, Any, str]] = [
    ("unjudged", TEXT, "What an unjudged item was worth: range, zero or bounds; NULL of older decisions."),
    ("delta_low", sa.Double(), "Least delta that unjudged items left open; NULL where that is not known."),
    ("delta_high", sa.Double(), "Greatest delta that unjudged items left open; NULL where that is not known."),
]
COLUMNS: dict[str, list[tuple[str, Any, str]]] = {
    "decisions": OPEN,
    "suite_decisions": OPEN,
    "label_sets": [
        ("extends", IDENTIFIER, "Version whose labels it has, and further ones; NULL where it has none of another."),
        ("added_by", TEXT, "Who gave the labels that it adds; NULL where that is the judge."),
        ("from_runs", JSON_TEXT, "JSON object: names of the runs whose logs gave the labels; NULL where not said."),
    ],
}

FURTHER = {
    "gate_decisions": {"judge": "s.judge", **{name: f"c.{name}" for name, *_ in OPEN}},
    "suite_gate_decisions": {name: name for name in ("judge", *(name for name, *_ in OPEN))},
}
NUMBERED = {
    "gate_decisions": ("c.baseline_alias, c.scope", "c.baseline_alias, c.scope, s.judge"),
    "suite_gate_decisions": ("suite, metric, baseline ORDER", "suite, metric, baseline, judge ORDER"),
}
"""Of which gate a decision is: that of another judge has a number of its own."""


def upgrade() -> None:
    """Add the columns, and show those of decisions in their views."""
    for table, columns in COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind, comment=comment))
    op.add_column("suite_decisions", judge())
    comment_runs(
        "Baseline; NULL of several runs, and once it is deleted.",
        "Candidate; NULL of several runs, and once it is deleted.",
    )
    newest = op.get_context().opts["script"].get_revision("0013").module
    for name, query in views_before().items():
        query = newest.with_columns(query.replace(*NUMBERED[name]), FURTHER[name])
        if newest.is_sqlite():
            op.execute(f"DROP VIEW {name}")
        create = "CREATE VIEW" if newest.is_sqlite() else "CREATE OR REPLACE VIEW"
        op.execute(sa.text(f"{create} {name} AS {query.strip()}".replace(":", r"\:")))


def downgrade() -> None:
    """Take them away; what they said is lost, the decisions and labels stay."""
    views = views_before()
    for name in views:
        op.execute(f"DROP VIEW {name}")
    for table, columns in COLUMNS.items():
        for name, *_ in columns:
            op.drop_column(table, name)
    op.drop_column("suite_decisions", "judge")
    for name, query in views.items():
        op.execute(sa.text(f"CREATE VIEW {name} AS {query.strip()}".replace(":", r"\:")))
    comment_runs("Baseline; NULL once that run is deleted.", "Candidate; NULL once that run is deleted.")


def judge() -> sa.Column[str]:
    """Return the column that says whose labels a suite was decided on: so far those of no named judge."""
    comment = "Who gave the labels; empty for the judge that counts unless another is named."
    return sa.Column("judge", TEXT, nullable=False, server_default="", comment=comment)


def comment_runs(*comments: str) -> None:
    """Say on Postgres when a decision has no number of a run; SQLite keeps no comments."""
    if op.get_bind().dialect.name == "postgresql":
        for side, comment in zip(("baseline", "candidate"), comments, strict=True):
            op.alter_column("decisions", f"{side}_run_id", comment=comment)


def views_before() -> dict[str, str]:
    """Return the views that this revision changes, as the revisions before have them."""
    newest = op.get_context().opts["script"].get_revision("0013").module
    return {name: newest.with_columns(newest.views_before()[name], newest.FURTHER[name]) for name in FURTHER}
