"""The owner's rules for the gates against an alias, and budgets that belong to it.

Revision ID: 0026
Revises: 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0026"
down_revision: str | None = "0025"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
JSON_TEXT = sa.Text().with_variant(JSONB(), "postgresql")

LISTS = "JSON object that knows the baseline's lists{}."
OF_RESETS = "One row per time that somebody began a budget anew: looks at {} that no longer count."
# A budget that an alias had is its policy, and the looks since it was pinned still count.
BUDGETS = """
    INSERT INTO policies (dataset_id, alias, rules, set_by, set_at_utc)
    SELECT dataset_id, name, {rules}, 'unknown', updated_at_utc FROM aliases WHERE budget IS NOT NULL
"""
RULES = {
    "sqlite": "json_patch(json_object('budget', budget), json_object('looks', looks))",  # without a NULL
    "postgresql": "jsonb_strip_nulls(jsonb_build_object('budget', budget, 'looks', looks))",
}
RESETS = """
    UPDATE budget_resets SET alias = (
        SELECT m.alias FROM alias_moves m JOIN policies p ON p.dataset_id = m.dataset_id AND p.alias = m.alias
        WHERE m.dataset_id = budget_resets.dataset_id AND m.run = budget_resets.baseline_run
        ORDER BY m.id DESC LIMIT 1
    )
"""
PINS = """
    INSERT INTO budget_resets
        (dataset_id, alias, baseline_run, baseline_lists, reason, reset_by, after_decision_id, created_at_utc)
    SELECT m.dataset_id, m.alias, m.run, '{{}}', 'pinned', 'unknown', (
        SELECT coalesce(max(d.id), 0) FROM decisions d
        WHERE d.dataset_id = m.dataset_id AND d.created_at_utc < m.created_at_utc
    ), m.created_at_utc
    FROM alias_moves m JOIN policies p ON p.dataset_id = m.dataset_id AND p.alias = m.alias
    WHERE m.run IS NOT NULL AND m.id = (
        SELECT max(n.id) FROM alias_moves n WHERE n.dataset_id = m.dataset_id AND n.alias = m.alias
    ) AND EXISTS (
        SELECT 1 FROM decisions d WHERE d.dataset_id = m.dataset_id AND d.baseline_alias = m.alias
        AND d.look IS NOT NULL AND d.created_at_utc < m.created_at_utc
    )
"""
BACK = """
    UPDATE aliases SET {name} = (
        SELECT CAST({value} AS {kind}) FROM policies p
        WHERE p.dataset_id = aliases.dataset_id AND p.alias = aliases.name ORDER BY p.id DESC LIMIT 1
    )
"""
# Who may write policies may move an alias that has one; nobody else.
PINNED = """
CREATE FUNCTION {schema}.ndcg_tracker_pinned() RETURNS trigger LANGUAGE plpgsql
SET search_path = {schema}, pg_temp AS $$
BEGIN IF NOT has_table_privilege(current_user, '{schema}.policies', 'INSERT') AND EXISTS (
        SELECT 1 FROM policies WHERE (dataset_id, alias) IN ((OLD.dataset_id, OLD.name), (NEW.dataset_id, NEW.name))
    ) THEN RAISE insufficient_privilege USING MESSAGE =
        'permission denied for table aliases: the alias has a policy, which only its owner moves'
    ; END IF
    ; RETURN coalesce(NEW, OLD); END $$
"""
TRIGGER = """
CREATE TRIGGER ndcg_tracker_pinned BEFORE INSERT OR UPDATE OR DELETE ON aliases
FOR EACH ROW EXECUTE FUNCTION ndcg_tracker_pinned()
"""
WRITERS = """
    SELECT DISTINCT quote_ident(grantee) FROM information_schema.role_table_grants
    WHERE table_schema = current_schema() AND table_name IN ('policies', 'budget_resets')
    AND privilege_type = 'INSERT' AND grantee NOT IN (
        SELECT tableowner FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'budget_resets'
    )
"""


def upgrade() -> None:
    """Add the table, move the budgets of aliases into it, and keep all but its writers from moving such an alias."""
    dialect = op.get_bind().dialect.name
    op.create_table(
        "policies",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the policy."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the alias."),
        sa.Column("alias", TEXT, nullable=False, comment="Name of the alias, without the @."),
        sa.Column("rules", JSON_TEXT, nullable=False, comment="JSON object: the rules of a gate, by option."),
        sa.Column("set_by", TEXT, nullable=False, comment="Who set them."),
        sa.Column("set_at_utc", TEXT, nullable=False, comment="When that was, ISO 8601 in UTC."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_policies_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policies")),
        comment="One row per time that somebody set the rules of the gates against an alias; the latest is in force.",
        sqlite_autoincrement=True,
    )
    op.add_column("budget_resets", sa.Column("alias", TEXT, comment="Alias of the budget; NULL of older resets."))
    for statement in (BUDGETS.format(rules=RULES[dialect]), RESETS, PINS.format()):
        op.execute(sa.text(statement))
    for name in ("budget", "looks"):
        op.drop_column("aliases", name)
    if dialect == "postgresql":
        comments("; {} since budgets belong to aliases", "an alias")
        schema = op.get_bind().execute(sa.text("SELECT quote_ident(current_schema())")).scalar_one()
        op.execute(sa.text(PINNED.format(schema=schema).replace(":", r"\:")))
        op.execute(sa.text(TRIGGER))
        for writer in op.get_bind().execute(sa.text(WRITERS)).scalars().all():
            op.execute(f"REVOKE INSERT ON policies, budget_resets FROM {writer}")


def downgrade() -> None:
    """Give the budgets back to the aliases; the other rules are gone."""
    dialect = op.get_bind().dialect.name
    if dialect == "postgresql":
        op.execute("DROP TRIGGER ndcg_tracker_pinned ON aliases")
        op.execute("DROP FUNCTION ndcg_tracker_pinned()")
        comments("", "a baseline's lists")
    about = {"budget": "Budget of the gates against it; NULL where they name their own, or have none."}
    about |= {"looks": "How many looks share that budget; NULL where there is no end."}
    for name, kind in (("budget", sa.Double()), ("looks", IDENTIFIER)):
        op.add_column("aliases", sa.Column(name, kind, comment=about[name]))
        value = f"p.rules ->> '{name}'" if dialect == "postgresql" else f"json_extract(p.rules, '$.{name}')"
        of_kind = "DOUBLE PRECISION" if name == "budget" else "BIGINT"
        op.execute(sa.text(BACK.format(name=name, value=value, kind=of_kind)))
    op.drop_column("budget_resets", "alias")
    op.drop_table("policies")


def comments(of_lists: str, at: str) -> None:
    """Say on Postgres what the lists of a reset are, and what the looks were at."""
    op.alter_column("budget_resets", "baseline_lists", comment=LISTS.format(of_lists), existing_type=JSON_TEXT)
    op.create_table_comment("budget_resets", OF_RESETS.format(at))
