"""All values of an evaluation packed into bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_samples import BM25, add_run

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.bulk.protocol import packed, unpacked
from ndcg_tracker.storage.store import Store, WriteTransaction

VALUES = st.floats(allow_infinity=False)


@given(st.dictionaries(st.integers(1, 2**62), VALUES, max_size=8) | st.dictionaries(st.integers(1, 5), VALUES))
def test_they_come_back_to_the_bit(values: dict[int, float]) -> None:
    group_ids = np.array(sorted(values), dtype=np.int64)
    numbers = np.array([values[group_id] for group_id in group_ids.tolist()], dtype=np.float64)
    ids, floats = unpacked(*packed(group_ids, numbers))
    assert ids.tolist() == group_ids.tolist()
    assert floats.view(np.uint64).tolist() == numbers.view(np.uint64).tolist()


def test_of_ids_that_follow_one_by_one_the_first_is_kept() -> None:
    values = np.zeros(1000)
    assert len(packed(np.arange(7, 1007), values)[0]) == 8
    assert len(packed(np.arange(7, 2007, 2), values)[0]) == 8000
    assert packed(np.empty(0, dtype=np.int64), np.empty(0)) == (b"", b"")


def test_what_does_not_fit_is_no_result() -> None:
    with pytest.raises(ValueError, match="2 group ids for 3 values"):
        unpacked(bytes(16), bytes(24))


def lose_a_result(tx: WriteTransaction) -> None:
    add_run(tx, "bm25", BM25)
    tx._session.connection.exec_driver_sql("DELETE FROM group_results WHERE group_id = 1")


def test_lost_results_are_not_stored(store: Store) -> None:
    with pytest.raises(DatabaseError) as caught, store.write() as tx:
        lose_a_result(tx)
    assert "refused to store 1 evaluations without all their group results: nothing was stored" in str(caught.value)


def test_values_that_differ_from_their_rows_are_found(store: Store, database_url: str) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
        add_run(tx, "dense", BM25)
    assert database.check(database_url) == []
    with store.write() as tx:
        tx._session.connection.exec_driver_sql("UPDATE group_results SET value = value + 1e-15 WHERE group_id = 1")
    assert database.check(database_url) == ["2 evaluations whose packed values differ from their group results"]
    with store.write() as tx:
        tx._session.connection.exec_driver_sql("UPDATE evaluations SET packed_values = NULL WHERE id = 1")
    assert database.check(database_url) == ["1 evaluations without all their group results"]
