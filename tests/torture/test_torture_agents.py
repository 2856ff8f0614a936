"""The agent of a team (``db grant --agent``): in SQL as that role no table and no view shows a sealed dataset."""

from collections.abc import Iterator

import psycopg
import pytest
from postgres_server import PostgresServer
from rankings_of import labels_of
from stored_samples import BM25, DENSE, add_run

from ndcg_tracker.storage.database import grant
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.grants import Roles

from .test_torture_seals import ALIAS, HIDDEN, LABELS, MARK, RUN, SEALED

ROLES = Roles("guarded_owner", "guarded_writer", "guarded_reader", None, "guarded_agent")


@pytest.fixture(scope="module")
def guarded(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """The conninfo, less its role, of a database whose writer stored open and sealed runs."""
    postgres_server.create_database("guarded", postgres_template)

    def url(role: str) -> str:
        return f"postgresql+psycopg://{role}@/guarded?host={postgres_server.folder}"

    try:
        with psycopg.connect(postgres_server.conninfo("guarded"), autocommit=True) as admin:
            for role in ROLES.names:
                admin.execute(f"CREATE ROLE {role} LOGIN".encode())
            admin.execute(f"ALTER DATABASE guarded OWNER TO {ROLES.owner}".encode())
            admin.execute(f"ALTER SCHEMA public OWNER TO {ROLES.owner}".encode())
        first = grant(url("ndcg"), ROLES, apply=True)
        assert [line for line in grant(url(ROLES.owner), ROLES, apply=True) if "OWNER TO" not in line] == [
            line for line in first if "OWNER TO" not in line
        ]
        with Store.open(url(ROLES.writer)) as store:
            with store.write() as tx:
                add_run(tx, "bm25", BM25)
                add_run(tx, "dense", DENSE)
                tx.write.labels.insert(tx.write.datasets.ensure(SEALED).id, labels_of(LABELS))
                tx.write.datasets.seal(SEALED, budget=0.05)
            with store.write(opens_seals=True) as tx:
                run = add_run(tx, RUN, HIDDEN, LABELS, SEALED)
                tx.write.aliases.set(run.dataset_id, ALIAS, run.id)
        yield url("").replace("+psycopg", "").replace("//@", "//{}@")
    finally:
        postgres_server.drop_database("guarded")
        with psycopg.connect(postgres_server.conninfo(), autocommit=True) as admin:
            for role in ROLES.names:
                admin.execute(f"DROP ROLE {role}".encode())


def test_every_table_has_its_policy(guarded: str) -> None:
    with psycopg.connect(guarded.format(ROLES.owner)) as owner:
        kept = {
            name
            for (name,) in owner.execute(
                "SELECT relname FROM pg_class WHERE relrowsecurity AND relnamespace = 'public'::regnamespace"
            )
        }
    assert metadata.tables.keys() - kept == {"metrics", "seals", "suite_decisions"}


def test_nothing_of_it_is_read(guarded: str) -> None:
    relations = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace"
    with psycopg.connect(guarded.format(ROLES.owner)) as owner, owner.transaction():
        names = [name for (name,) in owner.execute(relations)]
        sealed = {
            MARK in str(owner.execute(f"SELECT * FROM {name}".encode()).fetchall()) for name in ("runs", "groups")
        }
        assert sealed == {True}
    with psycopg.connect(guarded.format(ROLES.agent), autocommit=True) as agent:
        unread = set()
        for name in names:
            try:
                rows = agent.execute(f"SELECT t.*, t::text FROM {name} t".encode()).fetchall()
            except psycopg.errors.InsufficientPrivilege:
                unread.add(name)
                continue
            assert MARK not in str(rows), name
            assert SEALED not in str(rows), name
            n_open = agent.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()
            assert n_open == (len(rows),), name
        assert unread == {"seals"}
        assert agent.execute("SELECT count(*) FROM runs").fetchone() == (2,)
        assert agent.execute("SELECT count(*) FROM group_results").fetchone() == (6,)
        assert MARK not in str(agent.execute("SELECT * FROM pg_stats").fetchall())
        for statement in ("UPDATE runs SET name = 'x'", "DELETE FROM seals", "SELECT * FROM seals", "SET ROLE ndcg"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                agent.execute(statement.encode())


def test_others_read_and_write_as_before(guarded: str) -> None:
    for role in (ROLES.reader, ROLES.writer):
        with psycopg.connect(guarded.format(role)) as reader:
            assert reader.execute("SELECT count(*) FROM runs").fetchone() == (3,)
    with Store.open(guarded.format(ROLES.agent).replace("postgresql:", "postgresql+psycopg:")) as store:
        with store.read() as tx:
            assert [run.name for run in tx.runs.all()] == ["bm25", "dense"]
        with store.write("marks") as tx:
            shop = tx.datasets.known("shop").id
            one, other = tx.runs.all("shop")
            label_set = tx.labels.sets(shop)[0].id
            tx.write.decisions.insert(
                shop, one.id, other.id, metric="ndcg@10", label_set_id=label_set, scope="population",
                decision="pass", reason="it holds",
            )  # fmt: skip
