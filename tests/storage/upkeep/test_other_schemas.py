"""A schema of its own beside those of other programs: only ours is looked at, only ours is touched."""

from collections.abc import Iterator

import psycopg
import pytest
from migrated import migrate
from stored_samples import BM25, DENSE, add_run

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep import health
from ndcg_tracker.storage.upkeep.handshake import newest_revision

OTHERS = """
    CREATE SCHEMA app; CREATE SCHEMA ranking;
    CREATE TABLE app.runs (id bigint PRIMARY KEY, name text); INSERT INTO app.runs VALUES (1, 'a job');
    CREATE TABLE app.datasets (id text); CREATE TABLE app.items (run text, item text);
    INSERT INTO app.items VALUES ('x', 'y');
    CREATE VIEW app.run_summary AS SELECT count(*) AS n FROM app.runs;
    CREATE VIEW app.labels AS SELECT item FROM app.items;
    CREATE TABLE app.alembic_version (version_num varchar(32)); INSERT INTO app.alembic_version VALUES ('0001');
    CREATE TABLE app.spatial_ref_sys (srid integer PRIMARY KEY, proj4text text);
    CREATE VIEW app.geometry_columns AS SELECT srid FROM app.spatial_ref_sys;
    CREATE INDEX ix_groups_key ON app.runs (name); CREATE SEQUENCE app.runs_id_seq;
    CREATE FUNCTION app.ndcg_tracker_analyze() RETURNS void LANGUAGE sql AS 'DELETE FROM app.runs';
"""
SEEN = """
    SELECT c.relname, c.relkind, c.xmin::text, pg_get_userbyid(c.relowner) FROM pg_class c
    WHERE c.relnamespace = 'app'::regnamespace ORDER BY 1
"""


@pytest.fixture
def plain(postgres_url: str) -> Iterator[psycopg.Connection]:
    """A connection to a database with another program in schema ``app`` and an empty schema ``ranking``."""
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(OTHERS)
        yield connection


def through(url: str, path: str) -> str:
    """The URL with another search_path."""
    return f"{url}&options=-csearch_path%3D{path}"


def others(plain: psycopg.Connection) -> list[object]:
    """What the other program has."""
    return [plain.execute(query).fetchall() for query in (SEEN, "TABLE app.runs", "TABLE app.items")]


def schema_of(url: str) -> health.Finding:
    """What ``doctor`` says about the schema."""
    return {finding.check: finding for finding in health.examine(url)}["schema"]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("path", ["ranking", "ranking,app", "ranking,app,public"])
def test_all_of_it_beside_another_program(postgres_url: str, plain: psycopg.Connection, path: str) -> None:
    url, before = through(postgres_url, path), others(plain)
    database.upgrade(url)
    with Store.open(url) as store:
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
            run = add_run(tx, "dense", DENSE)
            tx.write.aliases.set(run.dataset_id, "prod", run.id)
        assert store.query("SELECT DISTINCT run FROM items ORDER BY run").rows == [("bm25",), ("dense",)]
        with store.write() as tx:
            tx.write.runs.delete(tx.runs.resolve("bm25").id)
    assert database.check(url) == []
    found = schema_of(url)
    assert (found.state, found.found) == (
        "ok",
        f"{newest_revision()}, the latest that this program knows; its tables are in schema 'ranking' of search_path",
    )
    assert others(plain) == before


@pytest.mark.nightly
def test_up_and_down_beside_another_program(postgres_url: str, plain: psycopg.Connection) -> None:
    url, before = through(postgres_url, "ranking,app"), others(plain)
    database.upgrade(url)
    migrate(url, "downgrade", "base")
    migrate(url, "upgrade", "0001")
    found = "the database has the older schema 0001 in schema 'ranking' of search_path"
    said = f"{found}; this program needs {newest_revision()}"
    with pytest.raises(DatabaseError) as caught:
        Store.open(url)
    assert f": {said}; upgrade it with: " in str(caught.value)
    assert schema_of(url).found == said
    assert database.upgrade(url).before == "0001"
    assert others(plain) == before


def test_another_program_comes_first(postgres_url: str, plain: psycopg.Connection) -> None:
    database.upgrade(through(postgres_url, "ranking"))
    url, before = through(postgres_url, "app,ranking"), others(plain)
    said = (
        "the tables are in schema 'ranking', which is not the first of search_path that this role may use; make it the "
        "first: ALTER ROLE ... SET search_path = ranking; or ask its owner to run: GRANT USAGE ON SCHEMA ranking TO "
        "...; GRANT SELECT ON ALL TABLES IN SCHEMA ranking TO ..."
    )
    for refused in (Store.open, database.upgrade, database.check):
        with pytest.raises(DatabaseError) as caught:
            refused(url)
        assert str(caught.value).endswith(f": {said}")
    found = schema_of(url)
    assert (found.state, f"{found.found}; {found.advice}") == ("bad", said)
    assert database.current(url).schema == "app"
    assert others(plain) == before


def test_an_empty_schema_of_ones_own_comes_first(postgres_url: str, plain: psycopg.Connection) -> None:
    database.upgrade(postgres_url)
    with pytest.raises(
        DatabaseError, match="the tables are in schema 'public', which is not the first of search_path that"
    ):
        database.upgrade(through(postgres_url, "ranking,public"))
    database.upgrade(through(postgres_url, "ranking"))
    with Store.open(through(postgres_url, "ranking,public")) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    with Store.open(through(postgres_url, "public,ranking")) as store, store.read() as rx:
        assert rx.runs.all() == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "app",
            "schema 'app' of search_path belongs to another program (it has a table 'alembic_version'); create a "
            "schema for it alone, make that the first of search_path, and run db upgrade; or give location= a separate "
            "database",
        ),
        ("ranking", "schema 'ranking' of search_path is empty; create its tables with: "),
    ],
)
def test_where_nothing_of_ours_is(postgres_url: str, plain: psycopg.Connection, path: str, said: str) -> None:
    url, before = through(postgres_url, path), others(plain)
    with pytest.raises(DatabaseError) as caught:
        Store.open(url)
    assert f": {said}" in str(caught.value)
    if path != "ranking":
        with pytest.raises(DatabaseError) as caught:
            database.upgrade(url)
        assert f": {said}" in str(caught.value)
    assert others(plain) == before


def test_a_search_path_without_a_schema(postgres_url: str, plain: psycopg.Connection) -> None:
    url, before = through(postgres_url, "none"), others(plain)
    with pytest.raises(DatabaseError, match="the database is empty; create its tables with: "):
        Store.open(url)
    with pytest.raises(DatabaseError, match="no schema has been selected to create in"):
        database.upgrade(url)
    assert others(plain) == before
