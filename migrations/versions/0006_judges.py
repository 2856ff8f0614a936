"""The judge of a label set: the unnamed one, or a named person, pool or model.

Revision ID: 0006
Revises: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

RUN_SUMMARY = """
    SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
           m.text AS metric, s.version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
           e.n_missing AS n_missing, e.n_undefined AS n_undefined{requested}{judge}
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
"""
GROUP_HISTORY = """
    SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, m.text AS metric,
           s.version AS label_set_version, v.value AS value, r.created_at_utc AS created_at_utc{requested}{judge}
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
    JOIN group_results v ON v.evaluation_id = e.id
    JOIN groups g ON g.id = v.group_id AND g.dataset_id = r.dataset_id
"""
LABEL_COVERAGE = """
        SELECT r.name AS run, d.name AS dataset, s.version AS label_set_version,
               nullif(c.cutoff, 0) AS cutoff, c.judged_share AS judged_share{judge}
        FROM coverages c
        JOIN runs r ON r.id = c.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
"""
LABELS = {
    "sqlite": """
            SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.value AS item_key,
                   CAST(json_extract(l.grades, '$[' || i.key || ']') AS REAL) AS grade{judge}
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
    """,
    "postgresql": """
            SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.item_key AS item_key,
                   i.grade AS grade{judge}
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            CROSS JOIN LATERAL unnest(l.item_keys, l.grades) AS i (item_key, grade)
    """,
}
VIEWS = ("run_summary", "group_history", "label_coverage", "labels")
REQUESTED = ", coalesce(e.requested_as, m.text) AS requested_as"
JUDGE = ", s.judge AS judge"


def upgrade() -> None:
    """Add the column, "" for all labels that are there, and show it as the last of the views."""
    if is_sqlite():
        drop_views()
        rebuild_label_sets()
    else:
        op.add_column("label_sets", judge())
    make_views(JUDGE)


def downgrade() -> None:
    """Take both away again; the labels of named judges stay, as versions like all others."""
    drop_views()
    op.drop_column("label_sets", "judge")
    make_views("")


def judge() -> sa.Column[str]:
    """Return the new column."""
    comment = "Who gave the labels: a person, a pool, a model; empty for the judge that counts unless another is named."
    return sa.Column("judge", TEXT, nullable=False, server_default="", comment=comment)


def rebuild_label_sets() -> None:
    """Give the table of SQLite its column before its constraints, where the description of the tables has it."""
    op.rename_table("label_sets", "label_sets_0005")
    op.create_table(
        "label_sets",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("id", "dataset_id", "version")),
        sa.Column("digest", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("n_groups", "n_labels")),
        sa.Column("source", TEXT),
        sa.Column("created_at_utc", TEXT, nullable=False),
        sa.Column("by_row_number", sa.Boolean()),
        judge(),
        sa.CheckConstraint("n_groups >= 0 AND n_labels >= 0", name=op.f("ck_label_sets_counts")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_label_sets_version_from_1")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_label_sets_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_sets")),
        sa.UniqueConstraint("dataset_id", "version", name=op.f("uq_label_sets_dataset_id_version")),
    )
    kept = "id, dataset_id, version, digest, n_groups, n_labels, source, created_at_utc, by_row_number"
    op.execute(f"INSERT INTO label_sets ({kept}) SELECT {kept} FROM label_sets_0005 ORDER BY id")
    op.drop_table("label_sets_0005")


def is_sqlite() -> bool:
    """Return whether this is SQLite, which cannot replace a view."""
    return bool(op.get_bind().dialect.name == "sqlite")


def drop_views() -> None:
    """Drop the views that show labels or what rests on them."""
    for name in VIEWS:
        op.execute(f"DROP VIEW {name}")


def make_views(further: str) -> None:
    """Create the views that show labels; on Postgres in their place, so that what is granted on them stays."""
    create = "CREATE VIEW" if is_sqlite() else "CREATE OR REPLACE VIEW"
    queries = (RUN_SUMMARY, GROUP_HISTORY, LABEL_COVERAGE, LABELS[op.get_bind().dialect.name])
    for name, query in zip(VIEWS, queries, strict=True):
        op.execute(sa.text(f"{create} {name} AS {query.format(requested=REQUESTED, judge=further).strip()}"))
