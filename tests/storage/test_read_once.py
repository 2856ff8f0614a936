"""A transaction asks the database each question once, until it has written or is told to look again."""

import sqlalchemy as sa
from small_shop import BM25, DENSE, frame_of, labels_frame

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.storage.store import Store


def shop(url: str) -> None:
    with Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", dataset="shop", labels=labels_frame())
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop")
        tracker.set_alias("baseline", "bm25", "shop")


class Statements:
    """The SQL that a store's engine is given."""

    def __init__(self, engine: sa.Engine) -> None:
        self.seen: list[str] = []
        sa.event.listen(engine, "before_cursor_execute", self._hear)

    def _hear(self, connection: object, cursor: object, statement: str, *_: object) -> None:
        self.seen.append(statement)


def test_a_reader_asks_once(postgres_schema: None, database_url: str) -> None:
    shop(database_url)
    with Store.open(database_url) as store:
        heard = Statements(store._engine)
        with store.read() as tx:
            one, other = tx.runs.resolve_all(["@baseline", "dense"])
            assert (one.name, other.name) == ("bm25", "dense")
            first = [tx.evaluations.of_run(run.id) for run in (one, other)]
            assert tx.runs.pruning(one.id) is None
            before = len(heard.seen)
            assert tx.runs.resolve("bm25") == one
            assert [tx.evaluations.of_run(run.id) for run in (one, other)] == first
            assert [evaluation.run_id for of_run in first for evaluation in of_run] == [one.id, other.id]
            assert tx.runs.prunings(one.id, other.id) == {}
            assert [alias.run for alias in tx.aliases.all()] == ["bm25"]
            assert len(heard.seen) == before


def test_a_writer_sees_what_it_wrote(postgres_schema: None, database_url: str) -> None:
    shop(database_url)
    with Store.open(database_url) as store, store.write() as tx:
        run = tx.runs.resolve("@baseline")
        other = tx.runs.resolve("dense")
        tx.write.aliases.set(run.dataset_id, "baseline", other.id)
        assert tx.runs.resolve("@baseline") == other
        assert [alias.run for alias in tx.aliases.all()] == ["dense"]


def test_a_writer_of_postgres_looks_again(postgres_schema: None, postgres_url: str) -> None:
    shop(postgres_url)
    with Store.open(postgres_url) as store, Tracker(postgres_url) as another, store.write("marks") as tx:
        assert [run.name for run in (tx.runs.resolve("latest"),)] == ["dense"]
        another.ingest(frame_of(DENSE), name="newer", dataset="shop")
        assert tx.runs.resolve("latest").name == "dense"
        tx.look_again()
        assert tx.runs.resolve("latest").name == "newer"
