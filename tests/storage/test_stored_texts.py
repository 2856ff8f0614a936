"""Texts of groups and items in the database."""

import pytest
from stored_samples import BM25, add_run

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.records import TextRecord
from ndcg_tracker.storage.store import Store, WriteTransaction

ALL = ("text", "title", "url")


def text(group_id: int, item_key: str = "", *texts: str | None) -> TextRecord:
    return TextRecord(group_id, item_key, *(*texts, None, None, None)[:3])


def dataset_with_groups(tx: WriteTransaction) -> tuple[int, list[int]]:
    run = add_run(tx, "bm25", BM25)
    return run.dataset_id, tx.groups.all(run.dataset_id)[0].tolist()


def test_what_is_set_is_read(store: Store) -> None:
    with store.write() as tx:
        dataset_id, (first, second, *_) = dataset_with_groups(tx)
        other = tx.write.datasets.ensure("other").id
        assert not tx.texts.any(dataset_id)
        of_dataset = [text(0, "a", "A"), text(first, "", "query", None, "x:"), text(first, "a", None, "Ä\u202e\n")]
        tx.write.texts.set(dataset_id, [*of_dataset, text(second, "b", "B")], ALL)
        tx.write.texts.set(other, [text(0, "a", "elsewhere")], ALL)
    with store.read() as rx:
        assert rx.texts.any(dataset_id)
        assert rx.texts.all(dataset_id) == [*of_dataset, text(second, "b", "B")]
        assert rx.texts.all(dataset_id, first) == of_dataset[1:]
        assert rx.texts.of_groups(dataset_id, [second, first]) == of_dataset[1:2]
        assert rx.texts.of_items(dataset_id, ["b", "a", "'; --"]) == of_dataset[:1]
        assert rx.texts.of_pairs(dataset_id, [first]) == of_dataset[2:]
        assert rx.texts.of_items(dataset_id, []) == []
        assert rx.damage() == []


def test_only_named_columns_change_and_what_is_empty_goes(store: Store) -> None:
    with store.write() as tx:
        dataset_id, _ = dataset_with_groups(tx)
        tx.write.texts.set(dataset_id, [text(0, "a", "A", "title", "x:"), text(0, "b", "B")], ALL)
        tx.write.texts.set(dataset_id, [text(0, "a", "new"), text(0, "b")], ["text"])
        assert tx.texts.all(dataset_id) == [text(0, "a", "new", "title", "x:")]
        tx.write.texts.add(dataset_id, [text(0, "a", "newer"), text(0, "c", "C")])
        assert tx.texts.all(dataset_id) == [text(0, "a", "new", "title", "x:"), text(0, "c", "C")]


def test_more_than_a_statement_takes(store: Store) -> None:
    keys = [f"item {number:05d}" for number in range(12_000)]
    with store.write() as tx:
        dataset_id, (first, *_) = dataset_with_groups(tx)
        tx.write.texts.set(dataset_id, [text(0, key, key) for key in keys], ALL)
        tx.write.texts.set(dataset_id, [text(first, "", "query")], ALL)
        assert [one.text for one in tx.texts.of_items(dataset_id, keys)] == keys
        assert len(tx.texts.of_groups(dataset_id, list(range(first, first + 2000)))) == 1
        assert tx.write.texts.delete(dataset_id, first) == 1
        assert tx.write.texts.delete(dataset_id) == 12_000
        assert not tx.texts.any(dataset_id)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (text(0, "a\0", "A"), "an item id contains a NUL character, which no database can store; remove it"),
        (text(0, "a" * 2001, "A"), "item id 'aaaaaaaaaaaaaaaaaaaa...' has 2001 bytes; an item id has at most 2000"),
        (text(0, "a", "A", "\0"), "a text contains a NUL character, which no database can store; remove it"),
    ],
)
def test_what_no_database_keeps(store: Store, record: TextRecord, message: str) -> None:
    with store.write() as tx:
        dataset_id, _ = dataset_with_groups(tx)
        with pytest.raises(InputError) as caught:
            tx.write.texts.set(dataset_id, [record], ALL)
    assert str(caught.value) == message


def test_a_text_of_no_group_of_the_dataset_is_not_stored(store: Store) -> None:
    def write(group_id: int) -> None:
        with store.write() as tx:
            dataset_id, _ = dataset_with_groups(tx)
            tx.write.texts.set(dataset_id, [text(group_id, "a", "A"), text(0, "a", "A")], ALL)

    with pytest.raises(DatabaseError, match="refused to store 1 texts without their owner or group"):
        write(4711)


def test_damage_is_found(store: Store) -> None:
    with store.write() as tx:
        dataset_id, (first, *_) = dataset_with_groups(tx)
        tx.write.texts.set(dataset_id, [text(first, "a", "A")], ALL)
    with store.write() as tx:
        tx._session.connection.exec_driver_sql("UPDATE texts SET group_id = 4711")
    with store.read() as rx:
        assert rx.damage() == ["1 texts without their owner or group"]
