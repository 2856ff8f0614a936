"""Whether the items of a label set are known by row numbers, which identify items only inside one table.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None


TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column; of the labels that are there nobody knows."""
    if op.get_bind().dialect.name == "sqlite":
        rebuild_label_sets()
    else:
        op.add_column("label_sets", by_row_number())


def downgrade() -> None:
    """Take it away again."""
    op.drop_column("label_sets", "by_row_number")


def by_row_number() -> sa.Column[bool]:
    """Return the new column."""
    comment = "Whether items are known by row numbers, for want of ids; NULL where older programs did not say."
    return sa.Column("by_row_number", sa.Boolean(), comment=comment)


def rebuild_label_sets() -> None:
    """Give the table of SQLite its column before its constraints, where the description of the tables has it."""
    op.rename_table("label_sets", "label_sets_0003")
    op.create_table(
        "label_sets",
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("id", "dataset_id", "version")),
        sa.Column("digest", TEXT, nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("n_groups", "n_labels")),
        sa.Column("source", TEXT),
        sa.Column("created_at_utc", TEXT, nullable=False),
        by_row_number(),
        sa.CheckConstraint("n_groups >= 0 AND n_labels >= 0", name=op.f("ck_label_sets_counts")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_label_sets_version_from_1")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_label_sets_dataset_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_label_sets")),
        sa.UniqueConstraint("dataset_id", "version", name=op.f("uq_label_sets_dataset_id_version")),
    )
    kept = "id, dataset_id, version, digest, n_groups, n_labels, source, created_at_utc"
    op.execute(f"INSERT INTO label_sets ({kept}) SELECT {kept} FROM label_sets_0003 ORDER BY id")
    op.drop_table("label_sets_0003")
