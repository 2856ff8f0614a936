"""The models of the schema and the migrations say the same, on each engine; every planted difference is found."""

import pytest
import sqlalchemy as sa
from migrated import catalogue_of
from planted_drift import DRIFTS, Drift, catalogue_of_models, differences, planted_and_found, without_views

from ndcg_tracker.storage import database
from ndcg_tracker.storage.connection import database_engine
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.upkeep.integrity import schema_damage
from ndcg_tracker.storage.views import VIEWS

pytestmark = pytest.mark.usefixtures("postgres_schema")


def test_models_and_migrations_agree(database_url: str, other_url: str) -> None:
    database.upgrade(database_url)
    assert len(catalogue_of(database_url)) >= len(metadata.tables) + len(VIEWS)
    assert differences(catalogue_of_models(other_url, metadata), without_views(catalogue_of(database_url))) == []


@pytest.mark.nightly(but=21)
@pytest.mark.parametrize("drift", DRIFTS, ids=[drift.kind for drift in DRIFTS])
def test_a_planted_difference_is_found(drift: Drift, postgres_schema: None, database_url: str, other_url: str) -> None:
    database.upgrade(database_url)
    found = planted_and_found(drift, database_url, other_url)
    if parsed_location(database_url).dialect in drift.engines:
        assert drift.is_named_by(found), found
    else:
        assert found == []


def test_a_catalogue_of_nothing_is_no_match(database_url: str, other_url: str) -> None:
    database.upgrade(database_url)
    everything = without_views(catalogue_of(database_url))
    assert differences(catalogue_of_models(other_url, sa.MetaData()), everything) == sorted(everything)


def test_every_table_and_column_says_what_it_is() -> None:
    for table in metadata.tables.values():
        assert (table.comment or "").startswith("One row per ")
        assert [column.name for column in table.columns if not (column.comment or "").endswith(".")] == []


def test_nothing_is_deleted_behind_anyone_s_back() -> None:
    keys = [key for table in metadata.tables.values() for key in table.foreign_keys]
    assert keys
    assert {(key.ondelete, key.onupdate) for key in keys} == {(None, None)}


def test_views_have_the_columns_that_are_described(database_url: str) -> None:
    database.upgrade(database_url)
    engine = database_engine(parsed_location(database_url))
    with engine.connect() as connection:
        assert sorted(sa.inspect(connection).get_view_names()) == sorted(VIEWS)
        for view, expected in VIEWS.items():
            columns = connection.exec_driver_sql(f"SELECT * FROM {view}").keys()
            assert tuple(columns) == expected
    engine.dispose()


SQLITE_TRIGGER = "CREATE TRIGGER planted AFTER DELETE ON aliases BEGIN DELETE FROM decisions; END"
RULE = "CREATE RULE planted AS ON DELETE TO decisions DO INSTEAD NOTHING"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["DROP VIEW gate_decisions"], "view gate_decisions is missing"),
        (["DROP VIEW run_list", "CREATE VIEW run_list AS SELECT 1 AS n"], "view run_list is not that of this schema"),
        (["DROP INDEX ix_runs_name"], "index ix_runs_name is missing"),
        ([SQLITE_TRIGGER, RULE], " planted is not of this schema"),
        (["CREATE VIEW mine AS SELECT 1 AS n", "CREATE TABLE notes (id INTEGER)"], ""),
    ],
)
def test_what_somebody_took_away_or_planted_is_found(database_url: str, statements: list[str], found: str) -> None:
    database.upgrade(database_url)
    location = parsed_location(database_url)
    planted = [one for one in statements if one != (RULE if location.url is None else SQLITE_TRIGGER)]
    engine = database_engine(location)
    with engine.begin() as connection:
        for statement in planted:
            connection.exec_driver_sql(statement)
        damage = schema_damage(connection)
    engine.dispose()
    assert [line for line in damage if found and found in line] == damage
    assert bool(damage) == bool(found)


def test_a_table_that_is_missing_is_found(database_url: str) -> None:
    """As after a restore that left a table out."""
    database.upgrade(database_url)
    engine = database_engine(parsed_location(database_url))
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE alias_moves RENAME TO moved")
        assert "table alias_moves is missing" in schema_damage(connection)
    engine.dispose()
