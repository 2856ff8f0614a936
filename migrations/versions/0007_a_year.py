"""Names beside numbers, statistics and views, so that queries over a year of runs are fast.

The planner of Postgres orders up to eight joined tables freely, and does not know how frequent a name of a dataset,
metric or label set is. So runs store the name of their dataset, and evaluations the names that the views show: a view
reads few tables, whose statistics say how many rows a name has.

Revision ID: 0007
Revises: 0006
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

NAMES = {
    "run": "Name of the run, as runs has it.",
    "dataset": "Name of the dataset of the run.",
    "metric": "The metric's canonical text form.",
    "judge": "Who gave the labels, as label_sets has it.",
    "run_created_at_utc": "When the run was made, as runs has it.",
}
NUMBERS = {"dataset_id": "Dataset of the run.", "label_set_version": "Version of the labels."}
COMMENTS = {  # of columns of runs: now, and before
    "id": ("Number of the run, never used twice.", "Number of the run; orders runs, never used twice."),
    "created_at_utc": (
        "When the run was made or stored, ISO 8601 in UTC; orders runs.",
        "When the run was stored, ISO 8601 in UTC.",
    ),
}
NAMED = """
    SELECT r.name, r.dataset, m.text, s.judge, r.created_at_utc, r.dataset_id, s.version
    FROM runs r, metrics m, label_sets s
    WHERE r.id = {e}.run_id AND m.id = {e}.metric_id AND s.id = {e}.label_set_id
"""
KEPT = (
    "id, run_id, label_set_id, metric_id, mean, worst_mean, best_mean, std_dev, n_groups, n_missing, n_undefined, "
    "created_at_utc, requested_as"
)
PACKED = "packed_group_ids, packed_values"

# A list of a few rows changes wholly with each row; a table of millions by a twentieth.
ANALYZED = dict.fromkeys(("datasets", "metrics", "label_sets", "aliases"), (0, 0)) | dict.fromkeys(
    ("runs", "evaluations", "groups", "group_results", "ranked_lists", "label_lists"), (10, 0.05)
)
LONG_COLUMNS = (
    ("evaluations", "packed_group_ids"),
    ("evaluations", "packed_values"),
    ("label_lists", "item_keys"),
    ("label_lists", "grades"),
    ("ranked_lists", "item_keys"),
    ("ranked_lists", "scores"),
)
# Who does not own a table may not ANALYZE it; so the owner's function does, for whoever writes. Tables of up to ten
# pages are read each time, larger ones after they have grown by a fifth; nothing waits for a lock.
ANALYZE = """
CREATE FUNCTION {schema}.ndcg_tracker_analyze() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE found regclass; BEGIN FOR found IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = {literal}::regnamespace AND c.relkind = 'r' AND c.relname = ANY ('{{{tables}}}')
        AND (c.reltuples < 0 OR pg_relation_size(c.oid) / current_setting('block_size')::int
            NOT BETWEEN 11 AND 1.2 * c.relpages)
    LOOP EXECUTE format('ANALYZE (SKIP_LOCKED) %s', found); END LOOP; END $$
"""

# SQLite takes ten rows for each value of an index unless it is told. These say what is usual, so that it plans alike
# in every file, and no ANALYZE reads through gigabytes: how many rows, and how many for each value of the columns.
USUAL = {
    ("datasets", "sqlite_autoindex_datasets_1"): "5 1",
    ("metrics", "sqlite_autoindex_metrics_1"): "10 1",
    ("label_sets", "sqlite_autoindex_label_sets_1"): "10 2 1",
    ("aliases", "sqlite_autoindex_aliases_1"): "10 2 1",
    ("groups", "sqlite_autoindex_groups_1"): "1000000 50000 1",
    ("groups", "ix_groups_key"): "1000000 2",
    ("runs", "sqlite_autoindex_runs_1"): "1000 200 1",
    ("runs", "ix_runs_dataset_id_digest"): "1000 200 1",
    ("runs", "ix_runs_name"): "1000 1",
    ("evaluations", "sqlite_autoindex_evaluations_1"): "2000 3 3 1",
    ("evaluations", "ix_evaluations_run_metric"): "2000 3 1",
    ("coverages", "sqlite_autoindex_coverages_1"): "5000 5 4 1",
    ("label_lists", "sqlite_autoindex_label_lists_1"): "5000 500 1",
    ("ranked_lists", "sqlite_autoindex_ranked_lists_1"): "5000000 500 1",
    ("group_results", "group_results"): "10000000 500 1",
}

TIME = {"sqlite": "{}", "postgresql": "CAST({} AS timestamptz)"}
# On Postgres the baseline's value is looked up for each of the candidate's: the lists of both are in group order, so
# that this is one walk through each, however many pairs of runs there are and whatever is known of the tables.
BASELINE_VALUE = {
    "sqlite": "JOIN group_results vb ON vb.evaluation_id = {} AND vb.group_id = vc.group_id",
    "postgresql": """CROSS JOIN LATERAL (
            SELECT vb.value FROM group_results vb WHERE vb.evaluation_id = {} AND vb.group_id = vc.group_id OFFSET 0
        ) vb""",
}
RUN_SUMMARY = """
        SELECT e.run AS run, e.run_id AS run_id, e.dataset AS dataset, e.run_created_at_utc AS created_at_utc,
               e.metric AS metric, e.label_set_version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
               e.n_missing AS n_missing, e.n_undefined AS n_undefined,
               coalesce(e.requested_as, e.metric) AS requested_as, e.judge AS judge, {run_created_at} AS created_at
        FROM evaluations e
"""
GROUP_HISTORY = """
        SELECT e.run AS run, e.run_id AS run_id, e.dataset AS dataset, g.key AS group_key, e.metric AS metric,
               e.label_set_version AS label_set_version, v.value AS value, e.run_created_at_utc AS created_at_utc,
               coalesce(e.requested_as, e.metric) AS requested_as, e.judge AS judge, {run_created_at} AS created_at
        FROM evaluations e
        JOIN group_results v ON v.evaluation_id = e.id
        JOIN groups g ON g.id = v.group_id AND g.dataset_id = e.dataset_id
"""
GROUP_DIFF = """
        SELECT eb.dataset AS dataset, eb.run AS baseline, ec.run AS candidate, eb.metric AS metric,
               eb.label_set_version AS label_set_version, g.key AS group_key, vb.value AS baseline_value,
               vc.value AS candidate_value, vc.value - vb.value AS delta,
               coalesce(ec.requested_as, eb.requested_as, eb.metric) AS requested_as
        FROM evaluations eb
        JOIN evaluations ec ON ec.label_set_id = eb.label_set_id AND ec.metric_id = eb.metric_id
             AND ec.run_id <> eb.run_id
        JOIN group_results vc ON vc.evaluation_id = ec.id
        {value_of_eb}
        JOIN groups g ON g.id = vc.group_id AND g.dataset_id = eb.dataset_id
"""
RUN_REGRESSIONS = """
        SELECT p.dataset AS dataset, p.run AS run, p.run_id AS run_id, p.created_at_utc AS created_at_utc,
               p.against AS against, p.baseline AS baseline, p.baseline_run_id AS baseline_run_id, p.metric AS metric,
               p.label_set_version AS label_set_version, p.judge AS judge, g.key AS group_key,
               vb.value AS baseline_value, vc.value AS value, vc.value - vb.value AS delta,
               {p_created_at} AS created_at
        FROM (
            SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc AS created_at_utc,
                   'previous' AS against,
                   lag(e.run) OVER earlier AS baseline, lag(e.run_id) OVER earlier AS baseline_run_id, e.metric,
                   e.label_set_version, e.judge, e.id AS evaluation_id, lag(e.id) OVER earlier AS baseline_id
            FROM evaluations e
            WINDOW earlier AS (
                PARTITION BY e.label_set_id, e.metric_id, e.dataset, e.metric, e.label_set_version, e.judge
                ORDER BY e.run_created_at_utc, e.run_id
            )
            UNION ALL
            SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc,
                   '@' || a.name, b.run, b.run_id, e.metric,
                   e.label_set_version, e.judge, e.id, b.id
            FROM aliases a
            JOIN evaluations b ON b.run_id = a.run_id
            JOIN evaluations e ON e.label_set_id = b.label_set_id AND e.metric_id = b.metric_id
                 AND e.run_id <> b.run_id
        ) p
        JOIN group_results vc ON vc.evaluation_id = p.evaluation_id
        {value_of_p}
        JOIN groups g ON g.id = vc.group_id AND g.dataset_id = p.dataset_id
"""
ITEMS = {
    "sqlite": """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, g.key AS group_key, i.key + 1 AS rank,
               i.value AS item_key, CAST(json_extract(l.scores, '$[' || i.key || ']') AS REAL) AS score
        FROM runs r
        JOIN groups g ON g.dataset_id = r.dataset_id
        JOIN ranked_lists l ON l.run_id = r.id AND l.group_id = g.id
        JOIN json_each(l.item_keys) i
    """,
    "postgresql": """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, g.key AS group_key, i.rank AS rank,
               i.item_key AS item_key, i.score AS score
        FROM runs r
        JOIN ranked_lists l ON l.run_id = r.id
        JOIN groups g ON g.id = l.group_id AND g.dataset_id = r.dataset_id
        CROSS JOIN LATERAL (
            SELECT CAST(generate_subscripts(l.item_keys, 1) AS bigint) AS rank, unnest(l.item_keys) AS item_key,
                   unnest(l.scores) AS score
        ) i
    """,
}
RUN_ALIASES = """
        SELECT r.dataset AS dataset, a.name AS alias, r.name AS run, r.id AS run_id,
               a.updated_at_utc AS updated_at_utc, {updated_at} AS updated_at
        FROM aliases a
        JOIN runs r ON r.id = a.run_id
"""
ALIAS_HISTORY = """
        SELECT h.dataset AS dataset, h.alias AS alias, h.run AS run, h.run_id AS run_id,
               h.since_utc AS since_utc, h.until_utc AS until_utc, {since} AS since, {until} AS until
        FROM (
            SELECT d.name AS dataset, m.alias, m.run, m.run_id, m.created_at_utc AS since_utc,
                   lead(m.created_at_utc) OVER (PARTITION BY m.dataset_id, m.alias ORDER BY m.id) AS until_utc
            FROM alias_moves m
            JOIN datasets d ON d.id = m.dataset_id
        ) h
        WHERE h.run IS NOT NULL
"""
RUN_DETAILS = """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, r.created_at_utc AS created_at_utc,
               r.git_commit AS git_commit, r.source AS source, r.n_groups AS n_groups, r.n_items AS n_items,
               {created_at} AS created_at
        FROM runs r
"""
DATASET_LIST = """
        SELECT d.name AS dataset, (SELECT count(*) FROM runs r WHERE r.dataset_id = d.id) AS n_runs,
               (SELECT count(*) FROM groups g WHERE g.dataset_id = d.id) AS n_groups,
               (SELECT max(s.version) FROM label_sets s WHERE s.dataset_id = d.id AND s.judge = '')
               AS label_set_version
        FROM datasets d
"""
RUN_LIST = """
        SELECT r.dataset AS dataset, r.name AS run, r.id AS run_id,
               row_number() OVER (PARTITION BY r.dataset ORDER BY r.created_at_utc DESC, r.id DESC) AS place,
               (SELECT {aliases} FROM aliases a WHERE a.run_id = r.id AND a.dataset_id = r.dataset_id) AS aliases,
               r.created_at_utc AS created_at_utc, {created_at} AS created_at
        FROM runs r
"""
METRIC_LIST = """
        SELECT e.dataset AS dataset, e.metric AS metric, max(coalesce(e.requested_as, e.metric)) AS requested_as,
               count(DISTINCT e.run_id) AS n_runs
        FROM evaluations e
        GROUP BY e.dataset, e.metric
"""
ALIASES = {
    "sqlite": "group_concat('@' || a.name, ' ')",
    "postgresql": "string_agg('@' || a.name, ' ' ORDER BY a.name)",
}
LABELS = """
        SELECT s.dataset AS dataset, s.version AS label_set_version, g.key AS group_key, i.item_key AS item_key,
               i.grade AS grade, s.judge AS judge
        FROM (
            SELECT d.name AS dataset, l.dataset_id, l.id, l.version, l.judge
            FROM label_sets l JOIN datasets d ON d.id = l.dataset_id OFFSET 0
        ) s
        JOIN label_lists l ON l.label_set_id = s.id
        JOIN groups g ON g.id = l.group_id AND g.dataset_id = s.dataset_id
        CROSS JOIN LATERAL unnest(l.item_keys, l.grades) AS i (item_key, grade)
"""
GROUP_ATTRIBUTES = """
        SELECT a.dataset AS dataset, a.group_key AS group_key, (a.e).key COLLATE "C" AS attribute,
               CASE WHEN jsonb_typeof((a.e).value) = 'string' THEN ((a.e).value #>> '{}') COLLATE "C" END AS value,
               CASE WHEN jsonb_typeof((a.e).value) = 'number' THEN CAST((a.e).value #>> '{}' AS double precision) END
               AS number
        FROM (
            SELECT d.name AS dataset, g.key AS group_key, jsonb_each(g.attributes) AS e
            FROM groups g JOIN datasets d ON d.id = g.dataset_id
        ) a
"""
FACTS = {
    "sqlite": """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, e.key AS name,
               CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
        FROM runs r
        JOIN json_each(r.{facts}) e
    """,
    "postgresql": """
        SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, e.key COLLATE "C" AS name,
               e.value COLLATE "C" AS value
        FROM runs r
        CROSS JOIN LATERAL jsonb_each_text(r.{facts}) e
    """,
}
GATE_DECISIONS = """
        SELECT c.id AS decision_id, d.name AS dataset, c.created_at_utc AS created_at_utc, c.baseline_run AS baseline,
               c.candidate_run AS candidate, c.baseline_alias AS baseline_alias, c.metric AS metric,
               s.version AS label_set_version, c.scope AS scope, c.margin AS margin, c.delta AS delta,
               c.ci_low AS ci_low, c.ci_high AS ci_high, c.alpha AS alpha, c.decision AS decision,
               c.reason AS reason, c.acknowledged_reason AS acknowledged_reason, c.acknowledged_by AS acknowledged_by,
               {decided_at} AS created_at
        FROM decisions c
        JOIN datasets d ON d.id = c.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
"""
NEW = ("run_regressions", "alias_history", "dataset_list", "run_list", "metric_list")


def upgrade() -> None:
    """Add the names, the moves of aliases, the statistics and the views."""
    if is_sqlite():
        for name in old_views():
            op.execute(f"DROP VIEW {name}")
    op.add_column("runs", name_of_dataset())
    op.execute("UPDATE runs SET dataset = (SELECT d.name FROM datasets d WHERE d.id = runs.dataset_id)")
    if is_sqlite():
        rebuild_evaluations()
    else:
        name_evaluations()
        for name, (comment, _) in COMMENTS.items():
            op.execute(f"COMMENT ON COLUMN runs.{name} IS '{comment}'")
    op.create_index(op.f("ix_evaluations_run_metric"), "evaluations", ["run", "metric"])
    op.create_index(op.f("ix_groups_key"), "groups", ["key"])
    create_alias_moves()
    create = "CREATE VIEW" if is_sqlite() else "CREATE OR REPLACE VIEW"
    for name, query in new_views().items():
        op.execute(sa.text(f"{create} {name} AS {query.strip()}".replace(":", r"\:")))
    if is_sqlite():
        say_what_is_usual()
    else:
        keep_statistics()


def downgrade() -> None:
    """Take all of it away again."""
    for name in (*NEW, *old_views()):
        op.execute(f"DROP VIEW {name}")
    if is_sqlite():
        op.execute("DROP TABLE sqlite_stat1")
    else:
        op.execute("DROP FUNCTION ndcg_tracker_analyze()")
        for name, (_, comment) in COMMENTS.items():
            op.execute(f"COMMENT ON COLUMN runs.{name} IS '{comment}'")
        for table in ANALYZED:
            op.execute(f"ALTER TABLE {table} RESET (autovacuum_analyze_threshold, autovacuum_analyze_scale_factor)")
        for table, column in LONG_COLUMNS:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS -1")
    op.drop_table("alias_moves")
    op.drop_index(op.f("ix_groups_key"), "groups")
    op.drop_index(op.f("ix_evaluations_run_metric"), "evaluations")
    for name in (*NAMES, *NUMBERS):
        op.drop_column("evaluations", name)
    op.drop_column("runs", "dataset")
    for name, query in old_views().items():
        op.execute(sa.text(f"CREATE VIEW {name} AS {query.strip()}".replace(":", r"\:")))


def is_sqlite() -> bool:
    """Return whether this is SQLite, which cannot replace a view."""
    return bool(op.get_bind().dialect.name == "sqlite")


def name_of_dataset() -> sa.Column[str]:
    """Return the new column of runs."""
    comment = "Name of the dataset, as datasets has it."
    return sa.Column("dataset", TEXT, nullable=False, server_default="", comment=comment)


def names(*, nullable: bool) -> Iterable[sa.Column[Any]]:
    """Return the new columns of evaluations."""
    for name, comment in NAMES.items():
        yield sa.Column(name, TEXT, nullable=nullable, comment=comment)
    for name, comment in NUMBERS.items():
        yield sa.Column(name, IDENTIFIER, nullable=nullable, comment=comment)


def name_evaluations() -> None:
    """Add the names on Postgres."""
    for column in names(nullable=True):
        op.add_column("evaluations", column)
    columns = ", ".join((*NAMES, *NUMBERS))
    op.execute(f"UPDATE evaluations e SET ({columns}) = ({NAMED.format(e='e')})")
    for name in (*NAMES, *NUMBERS):
        op.alter_column("evaluations", name, nullable=False)


def rebuild_evaluations() -> None:
    """Give the table of SQLite the names before the packed values.

    What stands behind them can only be read by way of all their pages.
    """
    op.rename_table("evaluations", "evaluations_0006")
    op.create_table(
        "evaluations",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("id", "run_id", "label_set_id", "metric_id")),
        *(sa.Column(name, sa.Double()) for name in ("mean", "worst_mean", "best_mean", "std_dev")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("n_groups", "n_missing", "n_undefined")),
        sa.Column("created_at_utc", TEXT, nullable=False),
        sa.Column("requested_as", TEXT),
        *names(nullable=False),
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
    op.execute(
        f"INSERT INTO evaluations ({KEPT}, {', '.join((*NAMES, *NUMBERS))}, {PACKED}) "
        f"SELECT {', '.join(f'e.{name}' for name in KEPT.split(', '))}, "
        "r.name, r.dataset, m.text, s.judge, r.created_at_utc, r.dataset_id, s.version, "
        f"{', '.join(f'e.{name}' for name in PACKED.split(', '))} FROM evaluations_0006 e "
        "JOIN runs r ON r.id = e.run_id JOIN metrics m ON m.id = e.metric_id "
        "JOIN label_sets s ON s.id = e.label_set_id ORDER BY e.id"
    )
    op.drop_table("evaluations_0006")


def create_alias_moves() -> None:
    """Create the table of what aliases pointed at, with what they point at now."""
    op.create_table(
        "alias_moves",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False, comment="Number of the move."),
        sa.Column("dataset_id", IDENTIFIER, nullable=False, comment="Dataset of the alias."),
        sa.Column("alias", TEXT, nullable=False, comment="Name of the alias, without the @."),
        sa.Column("run_id", IDENTIFIER, comment="Run it was pointed at; NULL once that run or the alias is deleted."),
        sa.Column("run", TEXT, comment="Name of the run at that time; NULL where the alias was deleted."),
        sa.Column("created_at_utc", TEXT, nullable=False, comment="When the alias was moved, ISO 8601 in UTC."),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_alias_moves_dataset_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_alias_moves_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alias_moves")),
        comment="One row per move of an alias: the run that it was pointed at, or that it was deleted.",
    )
    op.execute(
        "INSERT INTO alias_moves (dataset_id, alias, run_id, run, created_at_utc) "
        "SELECT a.dataset_id, a.name, a.run_id, r.name, a.updated_at_utc "
        "FROM aliases a JOIN runs r ON r.id = a.run_id ORDER BY a.updated_at_utc, a.dataset_id, a.name"
    )


def say_what_is_usual() -> None:
    """Give SQLite the numbers that its own ANALYZE would find in a team's database."""
    op.execute("ANALYZE sqlite_master")  # makes the table, and reads no other
    op.execute("DELETE FROM sqlite_stat1")
    for (table, index), numbers in USUAL.items():
        op.execute(f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('{table}', '{index}', '{numbers}')")


def keep_statistics() -> None:
    """Let Postgres know of every table what it holds: soon after a change, and at once where a writer asks for it."""
    for table, (threshold, share) in ANALYZED.items():
        op.execute(
            f"ALTER TABLE {table} SET (autovacuum_analyze_threshold = {threshold}, "
            f"autovacuum_analyze_scale_factor = {share})"
        )
    for table, column in LONG_COLUMNS:  # nobody asks for one list or another by its content
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")
    row = (
        op.get_bind()
        .execute(sa.text("SELECT quote_ident(current_schema()), quote_literal(quote_ident(current_schema()))"))
        .one()
    )
    function = ANALYZE.format(schema=row[0], literal=row[1], tables=",".join(ANALYZED))
    op.execute(sa.text(function.replace(":", r"\:")))


def new_views() -> dict[str, str]:
    """Return the views that this revision makes, in the order in which they are made."""
    dialect = op.get_bind().dialect.name
    time, value = TIME[dialect], BASELINE_VALUE[dialect]
    texts = {
        "run_created_at": time.format("e.run_created_at_utc"),
        "p_created_at": time.format("p.created_at_utc"),
        "created_at": time.format("r.created_at_utc"),
        "updated_at": time.format("a.updated_at_utc"),
        "decided_at": time.format("c.created_at_utc"),
        "since": time.format("h.since_utc"),
        "until": time.format("h.until_utc"),
        "value_of_eb": value.format("eb.id"),
        "value_of_p": value.format("p.baseline_id"),
        "aliases": ALIASES[dialect],
    }
    views = {
        "run_summary": RUN_SUMMARY,
        "group_history": GROUP_HISTORY,
        "group_diff": GROUP_DIFF,
        "items": ITEMS[dialect],
        "run_details": RUN_DETAILS,
        "run_aliases": RUN_ALIASES,
        "gate_decisions": GATE_DECISIONS,
        "run_regressions": RUN_REGRESSIONS,
        "alias_history": ALIAS_HISTORY,
        "dataset_list": DATASET_LIST,
        "run_list": RUN_LIST,
        "metric_list": METRIC_LIST,
    }
    made = {name: query.format(**texts) for name, query in views.items()}
    made |= {f"run_{facts}": FACTS[dialect].format(facts=facts) for facts in ("parameters", "tags")}
    return made if is_sqlite() else made | {"labels": LABELS, "group_attributes": GROUP_ATTRIBUTES}


def old_views() -> dict[str, str]:
    """Return the views as the revisions before have them, of those that this one changes."""
    dialect = op.get_bind().dialect.name
    first, facts, asked, judges = (
        op.get_context().opts["script"].get_revision(number).module for number in ("0001", "0002", "0003", "0006")
    )
    further = {"requested": judges.REQUESTED, "judge": judges.JUDGE}
    views = {
        "run_summary": judges.RUN_SUMMARY.format(**further),
        "group_history": judges.GROUP_HISTORY.format(**further),
        "group_diff": asked.GROUP_DIFF[dialect].format(further=asked.OF_TWO),
        "items": first.ENGINE_VIEWS[dialect]["items"],
        "run_details": facts.VIEWS["run_details"],
        "run_aliases": facts.VIEWS["run_aliases"],
        "gate_decisions": facts.VIEWS["gate_decisions"],
        "run_parameters": facts.ENGINE_VIEWS[dialect]["run_parameters"],
        "run_tags": facts.ENGINE_VIEWS[dialect]["run_tags"],
    }
    if dialect == "sqlite":
        return views
    attributes = facts.ENGINE_VIEWS[dialect]["group_attributes"]
    return views | {"labels": judges.LABELS[dialect].format(**further), "group_attributes": attributes}
