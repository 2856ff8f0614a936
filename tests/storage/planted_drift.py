"""Differences between the models of the schema and the migrations, one of each kind, and how they are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa
from catalogue import catalogue
from migrated import catalogue_of

from ndcg_tracker.storage.connection import database_engine
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import metadata

BOTH = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Drift:
    """One planted difference.

    ``kind``: what differs, in words. ``where``: what is found to differ has one of these words in its name.
    ``plant``: changes the models. ``statements``: or SQL that changes the migrated database. ``engines``: those whose
    catalogue keeps it.
    """

    kind: str
    where: str
    plant: Callable[[sa.MetaData], object] | None = None
    statements: tuple[str, ...] = ()
    engines: tuple[str, ...] = BOTH

    def is_named_by(self, found: list[str]) -> bool:
        """Return whether this difference, and no other, is what was found."""
        return bool(found) and all(any(word in name for word in self.where.split()) for name in found)


def planted_and_found(drift: Drift, migrated_url: str, empty_url: str) -> list[str]:
    """Plant a difference, tell what is found to differ, and take it back.

    Parameters: ``migrated_url``, a database of the newest schema; ``empty_url``, an empty one on the same engine.
    """
    expected = catalogue_of(migrated_url)
    if drift.plant is not None:
        models = sa.MetaData(naming_convention=metadata.naming_convention)
        for table in metadata.tables.values():
            table.to_metadata(models)
        drift.plant(models)
        return differences(catalogue_of_models(empty_url, models), without_views(expected))
    engine = database_engine(parsed_location(migrated_url))
    with engine.connect() as connection, connection.begin() as transaction:
        if engine.dialect.name in drift.engines:
            for statement in drift.statements:
                connection.exec_driver_sql(statement)
        found = catalogue(connection)
        transaction.rollback()
    engine.dispose()
    return differences(found, expected)


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """Return the names of what two catalogues do not say the same of."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def without_views(catalogue: dict[str, object]) -> dict[str, object]:
    """Return a catalogue without the views and the trigger of policies, which the models do not have."""
    others = ("view ", "trigger ndcg_tracker_pinned")
    return {name: facts for name, facts in catalogue.items() if not name.startswith(others)}


def catalogue_of_models(url: str, models: sa.MetaData) -> dict[str, object]:
    """Return the catalogue of a database, empty before and after, while it has what the models say."""
    engine = database_engine(parsed_location(url), create=True)
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            models.create_all(connection)
            found = catalogue(connection)
            transaction.rollback()
    finally:
        engine.dispose()
    return found


def _missing_column(models: sa.MetaData) -> None:
    column = models.tables["label_sets"].c.source
    column.system, column.comment = True, None  # such a column is not created


def _extra_column(models: sa.MetaData) -> None:
    models.tables["runs"].append_column(sa.Column("planted", sa.Text()))


def _type(models: sa.MetaData) -> None:
    models.tables["evaluations"].c.mean.type = sa.Integer()


def _null(models: sa.MetaData) -> None:
    models.tables["runs"].c.digest.nullable = True


def _not_null(models: sa.MetaData) -> None:
    models.tables["runs"].c.source.nullable = False


def _default(models: sa.MetaData) -> None:
    models.tables["runs"].c.n_items.server_default = sa.DefaultClause("0")


def _missing_index(models: sa.MetaData) -> None:
    runs = models.tables["runs"]
    runs.indexes.remove(next(index for index in runs.indexes if index.name == "ix_runs_name"))


def _extra_index(models: sa.MetaData) -> None:
    sa.Index("planted", models.tables["runs"].c.git_commit)


def _unique_index(models: sa.MetaData) -> None:
    next(index for index in models.tables["runs"].indexes if index.name == "ix_runs_name").unique = True


def _index_columns(models: sa.MetaData) -> None:
    _missing_index(models)
    sa.Index("ix_runs_name", models.tables["runs"].c.name, models.tables["runs"].c.dataset_id)


def _without(table: str, kind: type[sa.Constraint]) -> Callable[[sa.MetaData], None]:
    def plant(models: sa.MetaData) -> None:
        constraints = models.tables[table].constraints
        constraints.remove(next(one for one in constraints if isinstance(one, kind)))

    return plant


def _with(table: str, constraint: Callable[[], sa.Constraint]) -> Callable[[sa.MetaData], None]:
    return lambda models: models.tables[table].append_constraint(constraint())


def _cascade(models: sa.MetaData) -> None:
    for key in models.tables["aliases"].foreign_key_constraints:
        key.ondelete = "CASCADE"


def _other_target(models: sa.MetaData) -> None:
    _without("runs", sa.ForeignKeyConstraint)(models)
    key = sa.ForeignKeyConstraint(["dataset_id"], ["metrics.id"], name="fk_runs_dataset_id")
    models.tables["runs"].append_constraint(key)


def _other_check(models: sa.MetaData) -> None:
    check = next(one for one in models.tables["decisions"].constraints if isinstance(one, sa.CheckConstraint))
    check.sqltext = sa.text("decision IN ('pass', 'fail')")


def _primary_key(models: sa.MetaData) -> None:
    models.tables["coverages"].c.cutoff.primary_key = False
    models.tables["coverages"].append_constraint(sa.PrimaryKeyConstraint("run_id", "label_set_id"))


def _missing_table(models: sa.MetaData) -> None:
    models.remove(models.tables["decisions"])


def _extra_table(models: sa.MetaData) -> None:
    sa.Table("planted", models, sa.Column("id", sa.Integer(), primary_key=True))


def _comment(models: sa.MetaData) -> None:
    models.tables["runs"].c.name.comment = "planted"


def _table_comment(models: sa.MetaData) -> None:
    models.tables["runs"].comment = "planted"


def _collation(models: sa.MetaData) -> None:
    models.tables["runs"].c.name.type = sa.Text()


def _autoincrement(models: sa.MetaData) -> None:
    models.tables["runs"].dialect_options["sqlite"]["autoincrement"] = False


def _rowid(models: sa.MetaData) -> None:
    models.tables["group_results"].dialect_options["sqlite"]["with_rowid"] = True


def _identity(models: sa.MetaData) -> None:
    models.tables["runs"].c.id.identity.always = True


_OTHER_VIEW = "CREATE VIEW run_aliases AS SELECT 'x' AS dataset, name AS alias FROM aliases"
_SQLITE_TRIGGER = "CREATE TRIGGER planted AFTER DELETE ON aliases BEGIN DELETE FROM decisions; END"
_POSTGRES_TRIGGER = (
    "CREATE TRIGGER planted BEFORE UPDATE ON aliases FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
)

DRIFTS = [
    Drift("column missing", "label_sets", _missing_column),
    Drift("column too many", "runs", _extra_column),
    Drift("type of a column", "evaluations", _type),
    Drift("column may be NULL", "runs", _null),
    Drift("column may not be NULL", "runs", _not_null),
    Drift("default of a column", "runs", _default),
    Drift("index missing", "ix_runs_name", _missing_index),
    Drift("index too many", "planted", _extra_index),
    Drift("index is unique", "ix_runs_name", _unique_index),
    Drift("columns of an index", "ix_runs_name", _index_columns),
    Drift("unique constraint missing", "datasets", _without("datasets", sa.UniqueConstraint)),
    Drift(
        "unique constraint too many",
        "runs planted",
        _with("runs", lambda: sa.UniqueConstraint("digest", name="planted")),
    ),
    Drift("foreign key missing", "runs", _without("runs", sa.ForeignKeyConstraint)),
    Drift(
        "foreign key too many",
        "ranked_lists",
        _with("ranked_lists", lambda: sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="planted")),
    ),
    Drift("foreign key that deletes", "aliases", _cascade),
    Drift("foreign key to another table", "runs", _other_target),
    Drift("check missing", "decisions", _without("decisions", sa.CheckConstraint)),
    Drift("check too many", "runs", _with("runs", lambda: sa.CheckConstraint("n_items >= 1", name="planted"))),
    Drift("words of a check", "decisions", _other_check),
    Drift("columns of the primary key", "coverages", _primary_key),
    Drift("table missing", "decisions", _missing_table),
    Drift("table too many", "planted", _extra_table),
    Drift("view missing", "run_aliases", statements=("DROP VIEW run_aliases",)),
    Drift("view too many", "planted", statements=("CREATE VIEW planted AS SELECT 1 AS n",)),
    Drift("text of a view", "run_aliases", statements=("DROP VIEW run_aliases", _OTHER_VIEW)),
    Drift("trigger too many", "planted", statements=(_SQLITE_TRIGGER,), engines=("sqlite",)),
    Drift("trigger too many", "planted", statements=(_POSTGRES_TRIGGER,), engines=("postgresql",)),
    Drift("numbers used again", "runs", _autoincrement, engines=("sqlite",)),
    Drift("table with row numbers", "group_results", _rowid, engines=("sqlite",)),
    Drift("comment of a column", "runs", _comment, engines=("postgresql",)),
    Drift("comment of a table", "runs", _table_comment, engines=("postgresql",)),
    Drift("collation of a column", "runs", _collation, engines=("postgresql",)),
    Drift("who numbers the rows", "runs", _identity, engines=("postgresql",)),
]
