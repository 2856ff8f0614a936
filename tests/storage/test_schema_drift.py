"""The models of the schema and the migrations say the same, on each engine; every planted difference is found."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from migrated import catalogue
from postgres_server import PostgresServer

from ndcg_tracker.storage import store as storage
from ndcg_tracker.storage.connection import database_engine
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.views import VIEWS


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def catalogue_of_models(url: str, models: sa.MetaData) -> dict[str, object]:
    engine = database_engine(parsed_location(url), create=True)
    with engine.connect() as connection, connection.begin() as transaction:
        models.create_all(connection)
        found = catalogue(connection)
        transaction.rollback()
    engine.dispose()
    return found


def catalogue_of_migrations(url: str) -> dict[str, object]:
    storage.upgrade(url)
    engine = database_engine(parsed_location(url))
    with engine.connect() as connection:
        found = catalogue(connection)
    engine.dispose()
    return found


@pytest.fixture
def empty_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> object:
    """A second empty database on the same engine."""
    if database_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path / 'models.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    server.create_database("models")
    yield server.url("models")
    server.drop_database("models")


def test_models_and_migrations_agree(database_url: str, empty_url: str) -> None:
    migrated = catalogue_of_migrations(database_url)
    assert len(migrated) >= len(metadata.tables)
    assert differences(catalogue_of_models(empty_url, metadata), migrated) == []


def plant_column(models: sa.MetaData) -> None:
    models.tables["runs"].append_column(sa.Column("planted", sa.Text()))


def plant_check(models: sa.MetaData) -> None:
    models.tables["runs"].append_constraint(sa.CheckConstraint("n_items >= 1", name="planted"))


def plant_other_check(models: sa.MetaData) -> None:
    check = next(one for one in models.tables["decisions"].constraints if isinstance(one, sa.CheckConstraint))
    check.sqltext = sa.text("decision IN ('pass', 'fail')")


def plant_null(models: sa.MetaData) -> None:
    models.tables["runs"].c.digest.nullable = True


def plant_type(models: sa.MetaData) -> None:
    models.tables["evaluations"].c.mean.type = sa.Integer()


def plant_index(models: sa.MetaData) -> None:
    sa.Index("planted", models.tables["runs"].c.git_commit)


def plant_unique(models: sa.MetaData) -> None:
    models.tables["runs"].append_constraint(sa.UniqueConstraint("digest", name="planted"))


def plant_default(models: sa.MetaData) -> None:
    models.tables["runs"].c.n_items.server_default = sa.DefaultClause("0")


def plant_foreign_key(models: sa.MetaData) -> None:
    key = sa.ForeignKeyConstraint(["group_id"], ["groups.id"], name="planted")
    models.tables["ranked_lists"].append_constraint(key)


def plant_table(models: sa.MetaData) -> None:
    sa.Table("planted", models, sa.Column("id", sa.Integer(), primary_key=True))


def plant_comment(models: sa.MetaData) -> None:
    models.tables["runs"].c.name.comment = "planted"


def plant_table_comment(models: sa.MetaData) -> None:
    models.tables["runs"].comment = "planted"


def plant_collation(models: sa.MetaData) -> None:
    models.tables["runs"].c.name.type = sa.Text()


BOTH = [plant_column, plant_check, plant_other_check, plant_null, plant_type, plant_index, plant_unique]
BOTH += [plant_default, plant_foreign_key, plant_table]
POSTGRES_ONLY = [plant_comment, plant_table_comment, plant_collation]  # SQLite keeps none of these


@pytest.mark.parametrize("plant", BOTH + POSTGRES_ONLY)
def test_a_planted_difference_is_found(plant: Callable[[sa.MetaData], None], database_url: str, empty_url: str) -> None:
    models = sa.MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.tables.values():
        table.to_metadata(models)
    plant(models)
    found = differences(catalogue_of_models(empty_url, models), catalogue_of_migrations(database_url))
    assert found or (plant in POSTGRES_ONLY and database_url.startswith("sqlite"))


def test_every_table_and_column_says_what_it_is() -> None:
    for table in metadata.tables.values():
        assert (table.comment or "").startswith("One row per ")
        assert [column.name for column in table.columns if not (column.comment or "").endswith(".")] == []


def test_nothing_is_deleted_behind_anyone_s_back() -> None:
    keys = [key for table in metadata.tables.values() for key in table.foreign_keys]
    assert keys
    assert {(key.ondelete, key.onupdate) for key in keys} == {(None, None)}


def test_views_have_the_columns_that_are_described(database_url: str) -> None:
    storage.upgrade(database_url)
    engine = database_engine(parsed_location(database_url))
    with engine.connect() as connection:
        assert sorted(sa.inspect(connection).get_view_names()) == sorted(view.name for view in VIEWS)
        for view in VIEWS:
            columns = connection.exec_driver_sql(f"SELECT * FROM {view.name}").keys()
            assert list(columns) == list(view.columns)
    engine.dispose()
