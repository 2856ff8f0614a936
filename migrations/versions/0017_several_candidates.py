"""Designs of several candidates and several looks, and answers to items that were not drawn.

Revision ID: 0017
Revises: 0016
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision: str | None = "0016"
branch_labels: str | None = None
depends_on: str | None = None

IDENTIFIER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
REAL = sa.Double()

SIDES = ("baseline", "candidate")
NEW: list[tuple[str, Any, bool, str, str]] = [
    ("n_looks", IDENTIFIER, False, "1", "How many looks are planned; they share the level of a verdict."),
    ("look", IDENTIFIER, False, "1", "The look that is drawn now, from 1."),
    ("planned_budget", IDENTIFIER, False, "budget", "How many items all looks are to draw, on average."),
    ("not_tuned", sa.Boolean(), False, "false", "Whether what is newer was said not to depend on answers."),
    ("greatest_grade", REAL, True, "NULL", "Greatest grade that people may give; NULL where it is the judge's."),
]
"""The new columns of designs: name, type, whether it may be NULL, what it is of the designs there are, comment."""
COMMENTS = {
    ("designs", None): "One row per design: a sample of items, drawn to check a judge on the differences of runs.",
    ("designs", "budget"): "How many items were to be drawn up to this look, on average.",
    ("drawn_items", None): (
        "One row per item that a design drew or that is kept apart, with the grade that people gave it."
    ),
    ("drawn_items", "probability"): (
        "With which probability it was drawn; NULL of an item that was not drawn, whose grade is kept apart."
    ),
}
COMMENTS_BEFORE = {
    ("designs", None): "One row per design: a sample of items, drawn to check a judge on the difference of two runs.",
    ("designs", "budget"): "How many items were to be drawn, on average.",
    ("drawn_items", None): "One row per item that a design drew, with the grade that people gave it.",
    ("drawn_items", "probability"): "With which probability it was drawn.",
}
COUNTS = ("counts", "number >= 1 AND budget >= 1 AND planned_budget >= budget")
CHECKS = (("looks", "look >= 1 AND look <= n_looks"), ("greatest_grade_finite", "abs(greatest_grade) <= 1.7e308"))
KEPT_APART = "probability IS NOT NULL OR grade IS NOT NULL"


def upgrade() -> None:
    """Give runs of designs a table of their own, and looks and answers that are kept apart a place."""
    op.create_table(
        "design_runs",
        sa.Column("design_id", IDENTIFIER, nullable=False, comment="Design of the run."),
        sa.Column(
            "place", IDENTIFIER, nullable=False, comment="0 for the baseline, 1 for the first candidate, and so on."
        ),
        sa.Column("run_id", IDENTIFIER, comment="The run; NULL once it is deleted."),
        sa.Column("run", TEXT, nullable=False, comment="Name of the run at that time."),
        sa.CheckConstraint("place >= 0", name=op.f("ck_design_runs_place_from_0")),
        sa.ForeignKeyConstraint(["design_id"], ["designs.id"], name=op.f("fk_design_runs_design_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_design_runs_run_id")),
        sa.PrimaryKeyConstraint("design_id", "place", name=op.f("pk_design_runs")),
        comment="One row per run of a design: the baseline, and each candidate.",
    )
    for place, side in enumerate(SIDES):
        op.execute(
            "INSERT INTO design_runs (design_id, place, run_id, run) "
            f"SELECT id, {place}, {side}_run_id, {side}_run FROM designs ORDER BY id"
        )
    if is_sqlite():
        rebuild(with_sides=False)
        return
    for name, kind, is_nullable, of_old, comment in NEW:
        op.add_column("designs", sa.Column(name, kind, comment=comment))
        op.execute(f"UPDATE designs SET {name} = {of_old}")
        op.alter_column("designs", name, nullable=is_nullable)
    for side in SIDES:
        op.drop_column("designs", f"{side}_run_id")
        op.drop_column("designs", f"{side}_run")
    op.drop_constraint(op.f("ck_designs_counts"), "designs", type_="check")
    for name, condition in (COUNTS, *CHECKS):
        op.create_check_constraint(op.f(f"ck_designs_{name}"), "designs", condition)
    op.alter_column("drawn_items", "probability", nullable=True)
    op.create_check_constraint(op.f("ck_drawn_items_kept_apart"), "drawn_items", KEPT_APART)
    tell(COMMENTS)


def downgrade() -> None:
    """Take them away again, which is refused where a design has several candidates or looks."""
    several = (
        "SELECT count(*) FROM designs WHERE n_looks > 1 OR id IN (SELECT design_id FROM design_runs WHERE place > 1)"
    )
    if op.get_bind().execute(sa.text(several)).scalar():
        raise ValueError("designs have several candidates or looks, which older programs take for one")
    op.execute("DELETE FROM drawn_items WHERE probability IS NULL")
    if is_sqlite():
        rebuild(with_sides=True)
    else:
        for name, _ in CHECKS:
            op.drop_constraint(op.f(f"ck_designs_{name}"), "designs", type_="check")
        op.drop_constraint(op.f("ck_designs_counts"), "designs", type_="check")
        op.create_check_constraint(op.f("ck_designs_counts"), "designs", "number >= 1 AND budget >= 1")
        for name, *_ in NEW:
            op.drop_column("designs", name)
        for place, side in enumerate(SIDES):
            shown = side.capitalize()
            comment = f"{shown}; NULL once it is deleted."
            op.add_column("designs", sa.Column(f"{side}_run_id", IDENTIFIER, comment=comment))
            op.add_column("designs", sa.Column(f"{side}_run", TEXT, comment=f"Name of the {side} at that time."))
            for column in ("run_id", "run"):
                op.execute(f"UPDATE designs SET {side}_{column} = {of_place(place, column)}")
            op.alter_column("designs", f"{side}_run", nullable=False)
            op.create_foreign_key(op.f(f"fk_designs_{side}_run_id"), "designs", "runs", [f"{side}_run_id"], ["id"])
        op.drop_constraint(op.f("ck_drawn_items_kept_apart"), "drawn_items", type_="check")
        op.alter_column("drawn_items", "probability", nullable=False)
        tell(COMMENTS_BEFORE)
    op.drop_table("design_runs")


def of_place(place: int, column: str) -> str:
    """Return what a design's run at a place has, as SQL."""
    return f"(SELECT r.{column} FROM design_runs r WHERE r.design_id = designs.id AND r.place = {place})"


def is_sqlite() -> bool:
    """Return whether this is SQLite, where a table is made anew to change its columns."""
    return bool(op.get_bind().dialect.name == "sqlite")


def tell(comments: dict[tuple[str, str | None], str]) -> None:
    """Say on Postgres what tables and columns hold; SQLite keeps no comments."""
    for (table, column), comment in comments.items():
        if column is None:
            op.create_table_comment(table, comment)
        else:
            op.alter_column(table, column, comment=comment)


def rebuild(*, with_sides: bool) -> None:
    """Make both tables of SQLite anew with their rows, as before this revision or as after it."""
    old = "0017" if with_sides else "0016"
    for name in ("designs", "drawn_items"):
        op.rename_table(name, f"{name}_{old}")
    kept = ["id", "dataset_id", "number", "label_set_id", "checked_by", "metric", "budget", "seed", "created_at_utc"]
    kept += ["answered_after_run_id", "answered_after_label_set_id"]
    if with_sides:
        filled = {
            f"{side}_{column}": of_place(i, column) for i, side in enumerate(SIDES) for column in ("run_id", "run")
        }
        before: Any = op.get_context().opts["script"].get_revision("0016").module
        before.upgrade()
    else:
        filled = {name: of_old for name, _, _, of_old, _ in NEW}
        create_designs()
        create_drawn_items()
    names, values = ", ".join([*kept, *filled]), ", ".join([*kept, *filled.values()])
    values = values.replace("designs.id", f"designs_{old}.id")
    op.execute(f"INSERT INTO designs ({names}) SELECT {values} FROM designs_{old} ORDER BY id")
    number = f"(SELECT seq FROM sqlite_sequence WHERE name = 'designs_{old}')"  # also of what was deleted by hand
    op.execute(f"UPDATE sqlite_sequence SET seq = coalesce({number}, seq) WHERE name = 'designs'")
    items = "design_id, group_id, item_key, probability, grade, answered_at_utc"
    op.execute(f"INSERT INTO drawn_items ({items}) SELECT {items} FROM drawn_items_{old} ORDER BY 1, 2, 3")
    op.drop_table(f"drawn_items_{old}")
    op.drop_table(f"designs_{old}")


def create_designs() -> None:
    """Create the table of designs of SQLite, its columns in the order of the description of the tables."""
    op.create_table(
        "designs",
        sa.Column("id", IDENTIFIER, sa.Identity(), nullable=False),
        *(sa.Column(name, IDENTIFIER, nullable=False) for name in ("dataset_id", "number", "label_set_id")),
        sa.Column("checked_by", TEXT),
        sa.Column("metric", TEXT, nullable=False),
        *(sa.Column(name, IDENTIFIER, nullable=False) for name in ("n_looks", "look", "planned_budget", "budget")),
        sa.Column("seed", TEXT, nullable=False),
        sa.Column("not_tuned", sa.Boolean(), nullable=False),
        sa.Column("greatest_grade", REAL),
        sa.Column("created_at_utc", TEXT, nullable=False),
        sa.Column("answered_after_run_id", IDENTIFIER),
        sa.Column("answered_after_label_set_id", IDENTIFIER),
        *(sa.CheckConstraint(condition, name=op.f(f"ck_designs_{name}")) for name, condition in (COUNTS, *CHECKS)),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_designs_dataset_id")),
        sa.ForeignKeyConstraint(["label_set_id"], ["label_sets.id"], name=op.f("fk_designs_label_set_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_designs")),
        sa.UniqueConstraint("dataset_id", "number", name=op.f("uq_designs_dataset_id_number")),
        sqlite_autoincrement=True,
    )


def create_drawn_items() -> None:
    """Create the table of drawn items of SQLite."""
    op.create_table(
        "drawn_items",
        *(sa.Column(name, IDENTIFIER, nullable=False) for name in ("design_id", "group_id")),
        sa.Column("item_key", TEXT, nullable=False),
        *(sa.Column(name, REAL) for name in ("probability", "grade")),
        sa.Column("answered_at_utc", TEXT),
        sa.CheckConstraint("probability > 0 AND probability <= 1", name=op.f("ck_drawn_items_probability")),
        sa.CheckConstraint("abs(grade) <= 1.7e308", name=op.f("ck_drawn_items_grade_finite")),
        sa.CheckConstraint("(grade IS NULL) = (answered_at_utc IS NULL)", name=op.f("ck_drawn_items_answered")),
        sa.CheckConstraint(KEPT_APART, name=op.f("ck_drawn_items_kept_apart")),
        sa.ForeignKeyConstraint(["design_id"], ["designs.id"], name=op.f("fk_drawn_items_design_id")),
        sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name=op.f("fk_drawn_items_group_id")),
        sa.PrimaryKeyConstraint("design_id", "group_id", "item_key", name=op.f("pk_drawn_items")),
    )
