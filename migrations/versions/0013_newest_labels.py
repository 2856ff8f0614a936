"""Which rows of the views belong to the labels that count, and how many decisions a gate has made.

A rescored run has a row per version of the labels, and one per judge, so a query that names none counts it twice. So
the views say of each row whether it is the one that counts. The new columns are the last of each view.

Revision ID: 0013
Revises: 0012
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision: str | None = "0012"
branch_labels: str | None = None
depends_on: str | None = None

UNNAMED = "('', 'external results', 'sums of other engines')"
"""The judges that count where none is named: of labels without one, and of what other engines computed."""

# Truth values, not 1 and 0: of those Postgres expects one row in two, of numbers one in two hundred.
NEWEST_OF_RUN = f"""(e.judge IN {UNNAMED} AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   WHERE n.run_id = e.run_id AND n.metric_id = e.metric_id AND n.judge IN {UNNAMED}
                         AND n.label_set_version > e.label_set_version
               ))"""
NEWEST_OF_BOTH = f"""({{one}}.judge IN {UNNAMED} AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   JOIN evaluations m ON m.label_set_id = n.label_set_id AND m.metric_id = n.metric_id
                   WHERE n.run_id = {{one}}.run_id AND m.run_id = {{other}}.run_id AND n.metric_id = {{one}}.metric_id
                         AND n.judge IN {UNNAMED} AND n.label_set_version > {{one}}.label_set_version
               ))"""
NEWEST_COVERAGE = f"""(s.judge IN {UNNAMED} AND NOT EXISTS (
                   SELECT 1 FROM coverages n
                   JOIN label_sets t ON t.id = n.label_set_id
                   WHERE n.run_id = c.run_id AND n.cutoff = c.cutoff AND t.judge IN {UNNAMED} AND t.version > s.version
               ))"""
NEWEST_LABELS = """({set}.judge = '' AND NOT EXISTS (
                   SELECT 1 FROM label_sets n
                   WHERE n.dataset_id = {set}.dataset_id AND n.judge = '' AND n.version > {set}.version
               ))"""
FURTHER = {
    "run_summary": {"is_newest_labels": NEWEST_OF_RUN},
    "group_history": {"is_newest_labels": NEWEST_OF_RUN},
    "group_diff": {"judge": "eb.judge", "is_newest_labels": NEWEST_OF_BOTH.format(one="eb", other="ec")},
    "label_coverage": {"run_id": "c.run_id", "is_newest_labels": NEWEST_COVERAGE},
    "labels": {"is_newest_labels": NEWEST_LABELS.format(set="s")},
    "gate_decisions": {
        "decision_number": "row_number() OVER (PARTITION BY c.dataset_id, c.metric, c.baseline_alias, c.scope "
        "ORDER BY c.id)"
    },
    "suite_gate_decisions": {"decision_number": "row_number() OVER (PARTITION BY suite, metric, baseline ORDER BY id)"},
}
"""Columns that views get, before their FROM."""

LABELS = f"""
        SELECT s.dataset AS dataset, s.version AS label_set_version, g.key AS group_key, i.item_key AS item_key,
               i.grade AS grade, s.judge AS judge, s.is_newest_labels AS is_newest_labels
        FROM (
            SELECT d.name AS dataset, l.dataset_id, l.id, l.version, l.judge,
                   {NEWEST_LABELS.format(set="l")} AS is_newest_labels
            FROM label_sets l JOIN datasets d ON d.id = l.dataset_id OFFSET 0
        ) s
        JOIN label_lists l ON l.label_set_id = s.id
        JOIN groups g ON g.id = l.group_id AND g.dataset_id = s.dataset_id
        CROSS JOIN LATERAL unnest(l.item_keys, l.grades) AS i (item_key, grade)
"""
"""On Postgres."""

# A run that was rescored may have another run before it under each version of the labels: the latest of these counts,
# for between an older one and the run there are others. Under the same one the newest labels count.
# Groups are found by their numbers alone: a dataset's number that comes out of a window has no statistics, and Postgres
# expected three thousand of 700,000 rows, and looked each of them up.
RUN_REGRESSIONS = f"""
        SELECT p.dataset AS dataset, p.run AS run, p.run_id AS run_id, p.created_at_utc AS created_at_utc,
               p.against AS against, p.baseline AS baseline, p.baseline_run_id AS baseline_run_id, p.metric AS metric,
               p.label_set_version AS label_set_version, p.judge AS judge, g.key AS group_key,
               vb.value AS baseline_value, vc.value AS value, vc.value - vb.value AS delta,
               {{p_created_at}} AS created_at, p.is_newest_labels AS is_newest_labels
        FROM (
            SELECT w.dataset_id, w.dataset, w.run, w.run_id, w.created_at_utc, 'previous' AS against, w.baseline,
                   w.baseline_run_id, w.metric, w.label_set_version, w.judge, w.evaluation_id, w.baseline_id,
                   w.is_newest_labels
            FROM (
                SELECT x.*, x.is_unnamed AND row_number() OVER (
                           PARTITION BY x.dataset, x.run_id, x.metric, x.is_unnamed
                           ORDER BY x.baseline_created_at_utc DESC, x.baseline_run_id DESC, x.label_set_version DESC
                       ) = 1 AS is_newest_labels
                FROM (
                    SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc AS created_at_utc,
                           lag(e.run) OVER earlier AS baseline, lag(e.run_id) OVER earlier AS baseline_run_id, e.metric,
                           e.label_set_version, e.judge, e.id AS evaluation_id, lag(e.id) OVER earlier AS baseline_id,
                           lag(e.run_created_at_utc) OVER earlier AS baseline_created_at_utc,
                           e.judge IN {UNNAMED} AS is_unnamed
                    FROM evaluations e
                    WINDOW earlier AS (
                        PARTITION BY e.label_set_id, e.metric_id, e.dataset, e.metric, e.label_set_version, e.judge
                        ORDER BY e.run_created_at_utc, e.run_id
                    )
                ) x
                WHERE x.baseline_id IS NOT NULL
            ) w
            UNION ALL
            SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc,
                   '@' || a.name, b.run, b.run_id, e.metric,
                   e.label_set_version, e.judge, e.id, b.id,
                   {NEWEST_OF_BOTH.format(one="b", other="e")}
            FROM aliases a
            JOIN evaluations b ON b.run_id = a.run_id
            JOIN evaluations e ON e.label_set_id = b.label_set_id AND e.metric_id = b.metric_id
                 AND e.run_id <> b.run_id
        ) p
        JOIN group_results vc ON vc.evaluation_id = p.evaluation_id
        {{value_of_p}}
        JOIN groups g ON g.id = vc.group_id
"""

QUICKER = {
    "items": (
        "CAST(generate_subscripts(l.item_keys, 1) AS bigint)",
        "generate_series(CAST(1 AS bigint), CAST(cardinality(l.item_keys) AS bigint))",
    ),
    "run_list": ("AS place", "+ 0 AS place"),
}
"""What Postgres does faster of a view, and is the same. Ranks that need no cast take a fifth less time. Of a sum it
does not expect that every run is among the first seven, as it does of the number of a row in a window: so it chooses
the runs before it unfolds their lists."""


def upgrade() -> None:
    """Make the views anew; on Postgres in their place, so that what is granted on them stays."""
    views = {name: with_columns(query, FURTHER.get(name, {})) for name, query in views_before().items()}
    dialect, year = op.get_bind().dialect.name, revised("0007")
    views["run_regressions"] = RUN_REGRESSIONS.format(
        p_created_at=year.TIME[dialect].format("p.created_at_utc"),
        value_of_p=year.BASELINE_VALUE[dialect].format("p.baseline_id"),
    )
    if not is_sqlite():
        views["labels"] = LABELS
        views |= {name: views[name].replace(*texts) for name, texts in QUICKER.items()}
    for name, query in views.items():
        if is_sqlite():
            op.execute(f"DROP VIEW {name}")
        create = "CREATE VIEW" if is_sqlite() else "CREATE OR REPLACE VIEW"
        op.execute(sa.text(f"{create} {name} AS {query.strip()}".replace(":", r"\:")))


def downgrade() -> None:
    """Make them as they were."""
    for name, query in views_before().items():
        op.execute(f"DROP VIEW {name}")
        op.execute(sa.text(f"CREATE VIEW {name} AS {query.strip()}".replace(":", r"\:")))


def is_sqlite() -> bool:
    """Return whether this is SQLite, which cannot replace a view."""
    return bool(op.get_bind().dialect.name == "sqlite")


def revised(number: str) -> Any:
    """Return the module of an older revision."""
    return op.get_context().opts["script"].get_revision(number).module


def views_before() -> dict[str, str]:
    """Return the views that this revision changes, as the revisions before have them."""
    judges, year, decisions = (revised(number) for number in ("0006", "0007", "0012"))
    dialect = op.get_bind().dialect.name
    changed = (*FURTHER, "run_regressions", *(() if is_sqlite() else QUICKER))
    views = {name: query for name, query in year.new_views().items() if name in changed}
    views["label_coverage"] = judges.LABEL_COVERAGE.format(judge=judges.JUDGE)
    views.setdefault("labels", judges.LABELS[dialect].format(judge=judges.JUDGE))
    decided_at = year.TIME[dialect].format("created_at_utc")
    views["suite_gate_decisions"] = decisions.DECISIONS.format(decided_at=decided_at)
    return views


def with_columns(query: str, further: dict[str, str]) -> str:
    """Return a view with further columns, the last ones."""
    columns = "".join(f",\n               {column} AS {name}" for name, column in further.items())
    return re.sub(r"\n +FROM ", lambda place: columns + place[0], query, count=1)
