"""A view that splits the difference of two runs with other labels: what the labels changed, and what the ranking did.

Revision ID: 0030
Revises: 0029
"""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision: str | None = "0029"
branch_labels: str | None = None
depends_on: str | None = None

LABELS_OR_RANKING = """
        SELECT ba.dataset AS dataset, ba.run AS baseline, cb.run AS candidate, ba.metric AS metric,
               ba.label_set_version AS baseline_label_set_version, cb.label_set_version AS candidate_label_set_version,
               cb.mean - ba.mean AS delta,
               (bb.mean - ba.mean + cb.mean - ca.mean) / 2 AS labels_change,
               (ca.mean - ba.mean + cb.mean - bb.mean) / 2 AS ranking_change,
               (cb.mean - ca.mean) - (bb.mean - ba.mean) AS interaction,
               coalesce(cb.requested_as, ba.requested_as, ba.metric) AS requested_as, ba.judge AS judge
        FROM evaluations ba
        JOIN evaluations bb ON bb.run_id = ba.run_id AND bb.metric_id = ba.metric_id AND bb.judge = ba.judge
             AND bb.label_set_id <> ba.label_set_id
        JOIN evaluations cb ON cb.label_set_id = bb.label_set_id AND cb.metric_id = ba.metric_id
             AND cb.run_id <> ba.run_id
        JOIN evaluations ca ON ca.run_id = cb.run_id AND ca.label_set_id = ba.label_set_id
             AND ca.metric_id = ba.metric_id
        JOIN runs b ON b.id = ba.run_id
        JOIN runs c ON c.id = cb.run_id
        WHERE coalesce(b.sample_digest, '') = coalesce(c.sample_digest, '')
"""
"""Each run (``b``: the baseline, ``c``: the candidate) under both versions (``a``: the baseline's, ``b``)."""


def upgrade() -> None:
    """Create it."""
    op.get_context().opts["script"].get_revision("0019").module.show("labels_or_ranking", LABELS_OR_RANKING)


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP VIEW labels_or_ranking")
