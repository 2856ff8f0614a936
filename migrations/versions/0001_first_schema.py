"""The first schema: tables, indexes and the public views.

Revision ID: 0001
Revises: nothing
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REAL = sa.Double()
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KEY_LIST = sa.Text().with_variant(postgresql.ARRAY(sa.Text(collation="C")), "postgresql")
NUMBER_LIST = sa.Text().with_variant(postgresql.ARRAY(sa.Double()), "postgresql")
JSON_OBJECT = sa.Text().with_variant(postgresql.JSONB(), "postgresql")

TABLES = (
    "datasets",
    "groups",
    "label_sets",
    "label_lists",
    "runs",
    "ranked_lists",
    "metrics",
    "evaluations",
    "group_results",
    "coverages",
    "aliases",
    "decisions",
)

VIEWS = {
    "run_summary": """
        SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
               m.text AS metric, s.version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
               e.n_missing AS n_missing, e.n_undefined AS n_undefined
        FROM evaluations e
        JOIN runs r ON r.id = e.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN metrics m ON m.id = e.metric_id
        JOIN label_sets s ON s.id = e.label_set_id
    """,
    "group_history": """
        SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, m.text AS metric,
               s.version AS label_set_version, v.value AS value, r.created_at_utc AS created_at_utc
        FROM evaluations e
        JOIN runs r ON r.id = e.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN metrics m ON m.id = e.metric_id
        JOIN label_sets s ON s.id = e.label_set_id
        JOIN group_results v ON v.evaluation_id = e.id
        JOIN groups g ON g.id = v.group_id AND g.dataset_id = r.dataset_id
    """,
    "label_coverage": """
        SELECT r.name AS run, d.name AS dataset, s.version AS label_set_version,
               nullif(c.cutoff, 0) AS cutoff, c.judged_share AS judged_share
        FROM coverages c
        JOIN runs r ON r.id = c.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
    """,
}

ENGINE_VIEWS = {
    "sqlite": {
        "group_diff": """
            SELECT d.name AS dataset, rb.name AS baseline, rc.name AS candidate, m.text AS metric,
                   s.version AS label_set_version, g.key AS group_key, vb.value AS baseline_value,
                   vc.value AS candidate_value, vc.value - vb.value AS delta
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
        "items": """
            SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, i.key + 1 AS rank,
                   i.value AS item_key, CAST(json_extract(l.scores, '$[' || i.key || ']') AS REAL) AS score
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN groups g ON g.dataset_id = r.dataset_id
            JOIN ranked_lists l ON l.run_id = r.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
        """,
        "labels": """
            SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.value AS item_key,
                   CAST(json_extract(l.grades, '$[' || i.key || ']') AS REAL) AS grade
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
        """,
    },
    "postgresql": {
        # The planner of Postgres orders up to eight joined tables freely, and plans more than that badly or slowly.
        "group_diff": """
            SELECT (SELECT d.name FROM datasets d WHERE d.id = rb.dataset_id) AS dataset, rb.name AS baseline,
                   rc.name AS candidate, m.text AS metric,
                   (SELECT s.version FROM label_sets s WHERE s.id = eb.label_set_id) AS label_set_version,
                   g.key AS group_key, vb.value AS baseline_value, vc.value AS candidate_value,
                   vc.value - vb.value AS delta
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
        "items": """
            SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, i.rank AS rank,
                   i.item_key AS item_key, i.score AS score
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN groups g ON g.dataset_id = r.dataset_id
            JOIN ranked_lists l ON l.run_id = r.id AND l.group_id = g.id
            CROSS JOIN LATERAL unnest(l.item_keys, l.scores) WITH ORDINALITY AS i (item_key, score, rank)
        """,
        "labels": """
            SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.item_key AS item_key,
                   i.grade AS grade
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            CROSS JOIN LATERAL unnest(l.item_keys, l.grades) AS i (item_key, grade)
        """,
    },
}

LONG_COLUMNS = (
    ("evaluations", "packed_group_ids"),
    ("evaluations", "packed_values"),
    ("label_lists", "item_keys"),
    ("label_lists", "grades"),
    ("ranked_lists", "item_keys"),
    ("ranked_lists", "scores"),
)


def upgrade() -> None:
    """Create everything."""
    create_tables()
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        # Without lz4, compressing a list (pglz) takes three times as long as storing it: then it is not compressed.
        setting = "COMPRESSION lz4" if has_lz4(connection) else "STORAGE EXTERNAL"
        for table, column in LONG_COLUMNS:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET {setting}")
    for name, query in (VIEWS | ENGINE_VIEWS[connection.dialect.name]).items():
        op.execute(sa.text(f"CREATE VIEW {name} AS {query.strip()}"))


def downgrade() -> None:
    """Drop everything."""
    for name in VIEWS | ENGINE_VIEWS["sqlite"]:
        op.execute(f"DROP VIEW {name}")
    for name in reversed(TABLES):
        op.drop_table(name)


def has_lz4(connection: sa.Connection) -> bool:
    """Return whether this Postgres can compress columns with lz4."""
    query = "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    return bool(connection.execute(sa.text(query)).scalar())


def create_tables() -> None:
    """Create the tables with their comments, constraints and indexes."""
    op.create_table(
        "datasets",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the dataset."),
        sa.Column("name", TEXT, nullable=False, comment="Name of the dataset, unique."),
        sa.Column(
            "created_at_utc", TEXT, nullable=False, comment="When the dataset was first written to, ISO 8601 in UTC."
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasets")),
        sa.UniqueConstraint("name", name=op.f("uq_datasets_name")),
        comment="One row per dataset: a named set of groups with their labels.",
    )
    op.create_table(
        "groups",
        sa.Column(
            "id", IDENTIFIER, autoincrement=False, nullable=False, comment="Number of the group, in all datasets."
        ),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the group."),
        sa.Column(
            "key", TEXT, nullable=False, comment="The group's own id, as the files have it; unique in its dataset."
        ),
        sa.Column("weight", REAL, comment="Weight of the group in weighted means; NULL where none was given."),
        sa.Column(
            "attributes", JSON_OBJECT, comment="JSON object of the group's attributes, for slices; NULL where none."
        ),
        sa.CheckConstraint("weight >= 0 AND weight <= 1.7e308", name=op.f("ck_groups_weight_finite")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_groups_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("dataset_id", "key", name=op.f("uq_groups_dataset_id_key")),
        comment="One row per group of a dataset: a query, user, session or playlist.",
    )
    op.create_table(
        "label_sets",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the label set."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the labels."),
        sa.Column(
            "version",
            IDENTIFIER,
            nullable=False,
            comment="1 for the dataset's first labels, 2 for the next, and so on.",
        ),
        sa.Column(
            "digest", TEXT, nullable=False, comment="Digest of all (group, item, grade), independent of their order."
        ),
        sa.Column("n_groups", IDENTIFIER, nullable=False, comment="How many groups have labels."),
        sa.Column("n_labels", IDENTIFIER, nullable=False, comment="How many labels there are."),
        sa.Column("source", TEXT, comment="Where the labels came from, such as a file name."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the labels were stored, ISO 8601 in UTC."),
        sa.CheckConstraint("n_groups >= 0 AND n_labels >= 0", name=op.f("ck_label_sets_counts")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_label_sets_version_from_1")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_label_sets_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_sets")),
        sa.UniqueConstraint("dataset_id", "version", name=op.f("uq_label_sets_dataset_id_version")),
        comment="One row per version of a dataset's labels; a version never changes.",
    )
    op.create_table(
        "label_lists",
        sa.Column("label_set_id", IDENTIFIER, nullable=False, comment="Label set of the list."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the list."),
        sa.Column("item_keys", KEY_LIST, nullable=False, comment="The judged items: an array, on SQLite as JSON text."),
        sa.Column("grades", NUMBER_LIST, nullable=False, comment="The grade of each judged item, in the same order."),
        sa.PrimaryKeyConstraint("label_set_id", "group_id", name=op.f("pk_label_lists")),
        comment="One row per group of a label set: all its judged items and their grades.",
    )
    op.create_table(
        "runs",
        sa.Column(
            "id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the run; orders runs, never used twice."
        ),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the run."),
        sa.Column("name", TEXT, nullable=False, comment="Name of the run, unique in its dataset."),
        sa.Column(
            "digest", TEXT, nullable=False, comment="Digest of all (group, item, score), independent of their order."
        ),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the run was stored, ISO 8601 in UTC."),
        sa.Column("source", TEXT, comment="Where the run came from, such as a file name."),
        sa.Column("git_commit", TEXT, comment="Commit of the code that made the run."),
        sa.Column(
            "parameters", JSON_OBJECT, nullable=False, comment="JSON object of the parameters given with the run."
        ),
        sa.Column("tags", JSON_OBJECT, nullable=False, comment="JSON object of the tags of the run; tags may change."),
        sa.Column("n_groups", IDENTIFIER, nullable=False, comment="How many groups the run ranks items for."),
        sa.Column("n_items", IDENTIFIER, nullable=False, comment="How many items the run ranks, over all groups."),
        sa.CheckConstraint("n_groups >= 0 AND n_items >= 0", name=op.f("ck_runs_counts")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_runs_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("dataset_id", "name", name=op.f("uq_runs_dataset_id_name")),
        comment="One row per run: one system's ranked items for the groups of a dataset.",
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_runs_dataset_id_digest"), "runs", ["dataset_id", "digest"], unique=False)
    op.create_index(op.f("ix_runs_name"), "runs", ["name"], unique=False)
    op.create_table(
        "ranked_lists",
        sa.Column("run_id", IDENTIFIER, nullable=False, comment="Run of the list."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the list."),
        sa.Column(
            "item_keys", KEY_LIST, nullable=False, comment="The items, best first: an array, on SQLite as JSON text."
        ),
        sa.Column("scores", NUMBER_LIST, nullable=False, comment="The score of each item, in the same order."),
        sa.PrimaryKeyConstraint("run_id", "group_id", name=op.f("pk_ranked_lists")),
        comment="One row per group of a run: all its items and scores in rank order.",
    )
    op.create_table(
        "metrics",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the metric."),
        sa.Column("text", TEXT, nullable=False, comment="The metric's canonical text form, unique."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metrics")),
        sa.UniqueConstraint("text", name=op.f("uq_metrics_text")),
        comment="One row per metric definition that some run was evaluated under.",
    )
    op.create_table(
        "evaluations",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the evaluation."),
        sa.Column("run_id", IDENTIFIER, nullable=False, comment="Run that was evaluated."),
        sa.Column("label_set_id", IDENTIFIER, nullable=False, comment="Labels it was held to."),
        sa.Column("metric_id", IDENTIFIER, nullable=False, comment="Metric that was computed."),
        sa.Column("mean", REAL, comment="The metric over all its groups; NULL where no group has a value."),
        sa.Column(
            "worst_mean",
            REAL,
            comment="The mean if all ties in scores fell for the worst; NULL where there is no mean.",
        ),
        sa.Column(
            "best_mean", REAL, comment="The mean if all ties in scores fell for the best; NULL where there is no mean."
        ),
        sa.Column("std_dev", REAL, comment="Sample standard deviation of the groups' values; NULL below two values."),
        sa.Column("n_groups", IDENTIFIER, nullable=False, comment="How many groups are in the mean."),
        sa.Column(
            "n_missing",
            IDENTIFIER,
            nullable=False,
            comment="How many groups have labels that the run has no items for.",
        ),
        sa.Column("n_undefined", IDENTIFIER, nullable=False, comment="How many groups the metric is undefined for."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the evaluation was stored, ISO 8601 in UTC."),
        sa.Column(
            "packed_group_ids",
            sa.LargeBinary(),
            comment="The groups of packed_values, int64; the first if each is one more.",
        ),
        sa.Column(
            "packed_values",
            sa.LargeBinary(),
            comment="All group results again, by group id, float64, to be read at once.",
        ),
        sa.CheckConstraint("abs(mean) <= 1.7e308", name=op.f("ck_evaluations_mean_finite")),
        sa.CheckConstraint("n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0", name=op.f("ck_evaluations_counts")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_evaluations_label_set_id")),
        sa.ForeignKeyConstraint(["metric_id"], ["metrics.id"], name=op.f("fk_evaluations_metric_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_evaluations_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint(
            "run_id", "label_set_id", "metric_id", name=op.f("uq_evaluations_run_id_label_set_id_metric_id")
        ),
        comment="One row per run, label set and metric: the metric's mean and what it rests on.",
    )
    op.create_table(
        "group_results",
        sa.Column("evaluation_id", IDENTIFIER, nullable=False, comment="Evaluation of the result."),
        sa.Column("group_id", IDENTIFIER, nullable=False, comment="Group of the result."),
        sa.Column("value", REAL, comment="The metric's value for the group; NULL where it is undefined."),
        sa.Column("dcg", REAL, comment="Discounted cumulative gain of the group, where the metric has one."),
        sa.Column("ideal_dcg", REAL, comment="The best discounted cumulative gain possible, where the metric has one."),
        sa.Column("undefined_reason", TEXT, comment="Why the value is undefined; NULL where it is defined."),
        sa.CheckConstraint(
            "(value IS NULL) = (undefined_reason IS NOT NULL)", name=op.f("ck_group_results_undefined_has_reason")
        ),
        sa.CheckConstraint("abs(value) <= 1.7e308", name=op.f("ck_group_results_value_finite")),
        sa.PrimaryKeyConstraint("evaluation_id", "group_id", name=op.f("pk_group_results")),
        comment="One row per group of an evaluation: the metric's value for this group.",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "coverages",
        sa.Column("run_id", IDENTIFIER, nullable=False, comment="Run."),
        sa.Column("label_set_id", IDENTIFIER, nullable=False, comment="Labels."),
        sa.Column(
            "cutoff",
            IDENTIFIER,
            nullable=False,
            comment="How many items from the top of each list; 0 for the whole list.",
        ),
        sa.Column("judged_share", REAL, nullable=False, comment="Which share of those items has a label, from 0 to 1."),
        sa.CheckConstraint("cutoff >= 0", name=op.f("ck_coverages_cutoff")),
        sa.CheckConstraint("judged_share >= 0 AND judged_share <= 1", name=op.f("ck_coverages_judged_share")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_coverages_label_set_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_coverages_run_id")),
        sa.PrimaryKeyConstraint("run_id", "label_set_id", "cutoff", name=op.f("pk_coverages")),
        comment="One row per run, label set and cutoff: how much of what the run ranks has a label.",
    )
    op.create_table(
        "aliases",
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the alias."),
        sa.Column(
            "name", TEXT, nullable=False, comment="Name of the alias, without the @ that references put before it."
        ),
        sa.Column("run_id", IDENTIFIER, nullable=False, comment="Run that the alias stands for."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the alias was made, ISO 8601 in UTC."),
        sa.Column("updated_at_utc", TEXT, nullable=False, comment="When the alias was last pointed at a run."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_aliases_dataset_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_aliases_run_id")),
        sa.PrimaryKeyConstraint("dataset_id", "name", name=op.f("pk_aliases")),
        comment="One row per alias of a dataset: a name such as baseline that may move from run to run.",
    )
    op.create_table(
        "decisions",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the decision."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of both runs."),
        sa.Column("baseline_run_id", IDENTIFIER, comment="Baseline; NULL once that run is deleted."),
        sa.Column("candidate_run_id", IDENTIFIER, comment="Candidate; NULL once that run is deleted."),
        sa.Column("baseline_run", TEXT, nullable=False, comment="Name of the baseline at that time."),
        sa.Column("candidate_run", TEXT, nullable=False, comment="Name of the candidate at that time."),
        sa.Column(
            "baseline_alias", TEXT, comment="Alias that the baseline was given by; NULL where by another reference."
        ),
        sa.Column("metric", TEXT, nullable=False, comment="The metric's canonical text form."),
        sa.Column("label_set_id", IDENTIFIER, nullable=False, comment="Labels of both runs."),
        sa.Column(
            "scope", TEXT, nullable=False, comment="What the decision speaks about, such as the population of groups."
        ),
        sa.Column("margin", REAL, comment="Loss that was allowed; NULL where the scope needs none."),
        sa.Column("delta", REAL, comment="Candidate minus baseline; NULL where undefined."),
        sa.Column("ci_low", REAL, comment="Lower end of the confidence interval of delta."),
        sa.Column("ci_high", REAL, comment="Upper end of the confidence interval of delta."),
        sa.Column("alpha", REAL, comment="Error probability that the interval allows."),
        sa.Column("decision", TEXT, nullable=False, comment="pass, fail or inconclusive."),
        sa.Column("reason", TEXT, nullable=False, comment="Why, in one sentence."),
        sa.Column("acknowledged_reason", TEXT, comment="Why someone overrode the decision; NULL where nobody did."),
        sa.Column("acknowledged_by", TEXT, comment="Who overrode the decision; NULL where nobody did."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the decision was made, ISO 8601 in UTC."),
        sa.CheckConstraint("decision IN ('pass', 'fail', 'inconclusive')", name=op.f("ck_decisions_decision")),
        sa.ForeignKeyConstraint(["baseline_run_id"], ["runs.id"], name=op.f("fk_decisions_baseline_run_id")),
        sa.ForeignKeyConstraint(["candidate_run_id"], ["runs.id"], name=op.f("fk_decisions_candidate_run_id")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_decisions_dataset_id")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_decisions_label_set_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        comment="One row per decision of a gate, and who overrode it with which reason.",
        sqlite_autoincrement=True,
    )
