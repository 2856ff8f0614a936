"""Budgets that looks share, and datasets that only gates read.

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0019"
down_revision: str | None = "0018"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")

COLUMNS: dict[str, list[tuple[str, Any, str]]] = {
    "aliases": [
        ("budget", sa.Double(), "Budget of the gates against it; NULL where they name their own, or have none."),
        ("looks", IDENTIFIER, "How many looks share that budget; NULL where there is no end."),
    ],
    "decisions": [
        ("budget", sa.Double(), "Chance of any false PASS, or FAIL, that its looks share; NULL without a budget."),
        ("looks", IDENTIFIER, "How many looks share the budget; NULL where there is no end, or no budget."),
        ("look", IDENTIFIER, "Which look it is at the baseline's lists, from 1; NULL without a budget."),
        ("baseline_lists", JSON_TEXT, "JSON object that knows the baseline's lists; NULL without a budget."),
    ],
}
FURTHER = {"budget": "c.budget", "looks": "c.looks", "look": "c.look"}
GATE_RESETS = """
        SELECT d.name AS dataset, r.baseline_run AS baseline, r.reason AS reason, r.reset_by AS reset_by,
               r.created_at_utc AS created_at_utc
        FROM budget_resets r
        JOIN datasets d ON d.id = r.dataset_id
"""
DATASET_OF = {
    "e": ("run_summary", "group_history", "metric_list"),
    "r": (
        *("items", "run_details", "run_list", "run_parameters", "run_tags", "run_aliases", "label_coverage"),
        "gate_resets",
    ),
    "eb": ("group_diff",),
    "p": ("run_regressions",),
    "m": ("alias_history",),
    "s": ("labels", "drawn_labels"),
    "c": ("gate_decisions",),
    "g": ("group_attributes",),
    "d": ("dataset_list",),
}
"""The relation of each view that says of which dataset a row is. Decisions on suites are of no sealed dataset."""
BEFORE_IT = {"alias_history": r"\s*\)\s*h\s+WHERE ", "metric_list": r"\s*GROUP BY "}
"""What comes after the condition, where it is not the last of a view."""
# Not an anti-join: where the server knows nothing of seals it expects one that leaves one row.
CONDITION = "WHERE {}.{} NOT IN (SELECT z.dataset_id FROM seals z WHERE z.is_sealed)"
_SEALED = r"SELECT z\.dataset_id\s+FROM seals z\s+WHERE z\.is_sealed\)"
CONDITIONS = rf"\s*WHERE (\w+\.\w+ NOT IN \({_SEALED}|\(NOT \((?:\w+\.)?\w+ IN \( {_SEALED}\)\))"
"""As SQLite keeps it, and as Postgres shows it."""


def upgrade() -> None:
    """Add columns and tables; show what a decision's budget was, and where one began anew."""
    for table, columns in COLUMNS.items():
        for name, kind, comment in columns:
            op.add_column(table, sa.Column(name, kind, comment=comment))
    op.create_table(
        "budget_resets",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the reset."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the baseline."),
        sa.Column("baseline_run", TEXT, nullable=False, comment="Name of the baseline at that time."),
        sa.Column("baseline_lists", JSON_TEXT, nullable=False, comment="JSON object that knows the baseline's lists."),
        sa.Column("reason", TEXT, nullable=False, comment="Why they no longer count."),
        sa.Column("reset_by", TEXT, nullable=False, comment="Who said so."),
        sa.Column("after_decision_id", IDENTIFIER, nullable=False, comment="Last decision that no longer counts."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When that was, ISO 8601 in UTC."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_budget_resets_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budget_resets")),
        comment="One row per time that somebody began a budget anew: looks at a baseline's lists that no longer count.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "seals",
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset."),
        sa.Column(
            "is_sealed", sa.Boolean(), nullable=False, comment="Whether only gates read it; else it is an open part."
        ),
        sa.Column("budget", sa.Double(), comment="Chance of any false PASS over all looks; NULL of an open part."),
        sa.Column("looks", IDENTIFIER, comment="How many looks share the budget; NULL where there is no end."),
        sa.Column(
            "split",
            JSON_TEXT,
            comment="JSON object: other part, share, cluster, key; NULL where nothing was split.",
        ),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When it was sealed or split, ISO 8601 in UTC."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_seals_dataset_id")),
        sa.PrimaryKeyConstraint("dataset_id", name=op.f("pk_seals")),
        comment="One row per sealed dataset, and per open part of a dataset that was split.",
    )
    newest, query = gate_decisions()
    show("gate_decisions", newest.with_columns(query, FURTHER), is_new=False)
    show("gate_resets", GATE_RESETS)
    views = live_views()
    for relation, names in DATASET_OF.items():
        condition = CONDITION.format(relation, "id" if relation == "d" else "dataset_id")
        for name in names:
            end = BEFORE_IT.get(name, r"\s*$")
            show(name, re.sub(end, lambda rest: f"\n        {condition}{rest[0]}", views[name], count=1), is_new=False)  # noqa: B023


def downgrade() -> None:
    """Take them away; what was sealed is open again, and budgets begin anew."""
    op.execute("DROP VIEW gate_resets")
    op.execute("DROP VIEW gate_decisions")
    for name, query in live_views().items():
        before = re.sub(CONDITIONS, "", query, count=1)
        if before != query:
            show(name, before, is_new=False)
    for name in ("seals", "budget_resets"):
        op.drop_table(name)
    for table, columns in COLUMNS.items():
        for name, *_ in columns:
            op.drop_column(table, name)
    _, query = gate_decisions()
    show("gate_decisions", query)


def gate_decisions() -> tuple[Any, str]:
    """Return the module with the views' tools, and the view as the revisions before have it."""
    before = op.get_context().opts["script"].get_revision("0018").module
    newest, query = before.gate_decisions()
    return newest, newest.with_columns(query.replace(*before.NUMBERED), {"checked_by": "c.checked_by"})


def live_views() -> dict[str, str]:
    """Return the queries of the views that are there, by name."""
    bind = op.get_bind()
    if bind.dialect.name == "sqlite":
        rows = bind.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid")
        return {name: text.partition(" AS ")[2] for name, text in rows}
    rows = bind.exec_driver_sql(
        "SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' "
        "AND relnamespace = quote_ident(current_schema())::regnamespace ORDER BY oid"
    )
    # Postgres shows a name that stands for two relations with a number.
    return {name: text.strip(" ;\n").replace("vb_1", "vb") for name, text in rows}


def show(name: str, query: str, *, is_new: bool = True) -> None:
    """Create a view, or replace it by one with further columns."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if is_sqlite and not is_new:
        op.execute(f"DROP VIEW {name}")
    create = "CREATE VIEW" if is_sqlite or is_new else "CREATE OR REPLACE VIEW"
    op.execute(sa.text(f"{create} {name} AS {query.strip()}".replace(":", r"\:")))
