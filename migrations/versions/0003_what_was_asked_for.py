"""The text by which each evaluation was requested, in the tables and in the views.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

RUN_SUMMARY = """
    SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
           m.text AS metric, s.version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
           e.n_missing AS n_missing, e.n_undefined AS n_undefined{further}
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
"""
GROUP_HISTORY = """
    SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, m.text AS metric,
           s.version AS label_set_version, v.value AS value, r.created_at_utc AS created_at_utc{further}
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
    JOIN group_results v ON v.evaluation_id = e.id
    JOIN groups g ON g.id = v.group_id AND g.dataset_id = r.dataset_id
"""
GROUP_DIFF = {
    "sqlite": """
        SELECT d.name AS dataset, rb.name AS baseline, rc.name AS candidate, m.text AS metric,
               s.version AS label_set_version, g.key AS group_key, vb.value AS baseline_value,
               vc.value AS candidate_value, vc.value - vb.value AS delta{further}
        FROM evaluations eb
        JOIN evaluations ec ON ec.label_set_id = eb.label_set_id AND ec.metric_id = eb.metric_id
             AND ec.run_id <> eb.run_id
        JOIN runs rb ON rb.id = eb.run_id
        JOIN runs rc ON rc.id = ec.run_id
        JOIN datasets d ON d.id = rb.dataset_id
        JOIN metrics m ON m.id = eb.metric_id
        JOIN label_sets s ON s.id = eb.label_set_id
        JOIN group_results vb ON vb.evaluation_id = eb.id
        JOIN group_results vc ON vc.evaluation_id = ec.id AND vc.group_id = vb.group_id
        JOIN groups g ON g.id = vb.group_id AND g.dataset_id = rb.dataset_id
    """,
    # The planner of Postgres orders up to eight joined tables freely, and plans more than that badly or slowly.
    "postgresql": """
        SELECT (SELECT d.name FROM datasets d WHERE d.id = rb.dataset_id) AS dataset, rb.name AS baseline,
               rc.name AS candidate, m.text AS metric,
               (SELECT s.version FROM label_sets s WHERE s.id = eb.label_set_id) AS label_set_version,
               g.key AS group_key, vb.value AS baseline_value, vc.value AS candidate_value,
               vc.value - vb.value AS delta{further}
        FROM evaluations eb
        JOIN evaluations ec ON ec.label_set_id = eb.label_set_id AND ec.metric_id = eb.metric_id
             AND ec.run_id <> eb.run_id
        JOIN runs rb ON rb.id = eb.run_id
        JOIN runs rc ON rc.id = ec.run_id
        JOIN metrics m ON m.id = eb.metric_id
        JOIN group_results vb ON vb.evaluation_id = eb.id
        JOIN group_results vc ON vc.evaluation_id = ec.id AND vc.group_id = vb.group_id
        JOIN groups g ON g.id = vb.group_id AND g.dataset_id = rb.dataset_id
    """,
}
OF_ONE = ", coalesce(e.requested_as, m.text) AS requested_as"
OF_TWO = ", coalesce(ec.requested_as, eb.requested_as, m.text) AS requested_as"


def upgrade() -> None:
    """Add the column, and show it as the last of the views."""
    if is_sqlite():
        drop_views()
        rebuild_evaluations()
    else:
        op.add_column("evaluations", requested_as())
    make_views(OF_ONE, OF_TWO)


def downgrade() -> None:
    """Take both away again."""
    drop_views()
    op.drop_column("evaluations", "requested_as")
    make_views("", "")


def rebuild_evaluations() -> None:
    """Give the table of SQLite its column before the packed values.

    What stands behind them can only be read by way of all their pages.
    """
    op.rename_table("evaluations", "evaluations_0002")
    op.create_table(
        "evaluations",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("id", "run_id", "label_set_id", "metric_id")),
        *(sa.Column(name, sa.Double()) for name in ("mean", "worst_mean", "best_mean", "std_dev")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("n_groups", "n_missing", "n_undefined")),
        sa.Column("created_at_utc", TEXT, nullable=False),
        requested_as(),
        *(sa.Column(name, sa.LargeBinary()) for name in ("packed_group_ids", "packed_values")),
        sa.CheckConstraint("abs(mean) <= 1.7e308", name=op.f("ck_evaluations_mean_finite")),
        sa.CheckConstraint("n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0", name=op.f("ck_evaluations_counts")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_evaluations_label_set_id")),
        sa.ForeignKeyConstraint(["metric_id"], ["metrics.id"], name=op.f("fk_evaluations_metric_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint(
            "run_id", "label_set_id", "metric_id", name=op.f("uq_evaluations_run_id_label_set_id_metric_id")
        ),
    )
    kept = (
        "id, run_id, label_set_id, metric_id, mean, worst_mean, best_mean, std_dev, n_groups, n_missing, n_undefined, "
        "created_at_utc, packed_group_ids, packed_values"
    )
    op.execute(f"INSERT INTO evaluations ({kept}) SELECT {kept} FROM evaluations_0002 ORDER BY id")
    op.drop_table("evaluations_0002")


def requested_as() -> sa.Column[str]:
    """Return the new column."""
    return sa.Column(
        "requested_as", TEXT, comment="The text that the metric was asked for by; NULL where that is its canonical one."
    )


def is_sqlite() -> bool:
    """Return whether this is SQLite, which cannot replace a view."""
    return bool(op.get_bind().dialect.name == "sqlite")


def drop_views() -> None:
    """Drop the views that show an evaluation."""
    for name in ("run_summary", "group_history", "group_diff"):
        op.execute(f"DROP VIEW {name}")


def make_views(of_one: str, of_two: str) -> None:
    """Create the views that show an evaluation; on Postgres in their place, so that what is granted on them stays."""
    create = "CREATE VIEW" if is_sqlite() else "CREATE OR REPLACE VIEW"
    for name, query, further in (
        ("run_summary", RUN_SUMMARY, of_one),
        ("group_history", GROUP_HISTORY, of_one),
        ("group_diff", GROUP_DIFF[op.get_bind().dialect.name], of_two),
    ):
        op.execute(sa.text(f"{create} {name} AS {query.format(further=further).strip()}"))
