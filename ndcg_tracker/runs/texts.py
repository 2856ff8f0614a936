"""What people read where ids stand: texts of a dataset's groups and items, stored and looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.runs.groups import group_id
from ndcg_tracker.words.texts import GroupTexts, Text

if TYPE_CHECKING:
    from ndcg_tracker.ingest.texts import TextTable
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import TextRecord
    from ndcg_tracker.storage.write import WriteTransaction


@dataclass(frozen=True, slots=True)
class TextsAdded:
    """What became of a table of texts.

    ``n_groups``: groups with texts of their own. ``n_items``: items with texts for every group. ``n_pairs``: items with
    texts for one group. ``n_unknown``, ``first_unknown``: groups that the dataset does not have.
    """

    dataset: str
    n_groups: int
    n_items: int
    n_pairs: int
    n_unknown: int
    first_unknown: str | None


@dataclass(frozen=True, slots=True)
class StoredText:
    """The texts of a group (``item`` None), of an item in every group (``group`` None), or of an item in one group."""

    group: str | None
    item: str | None
    text: str | None
    title: str | None
    url: str | None


def store_texts(tx: WriteTransaction, dataset_name: str, table: TextTable) -> TextsAdded:
    """Give groups and items of a dataset texts; what the table does not name stays as it is.

    Raises: InputError where the table is about groups alone, none of which the dataset has.
    """
    from ndcg_tracker.storage.records import TextRecord

    dataset = tx.datasets.known(dataset_name)
    named = list(dict.fromkeys(group for group in table.groups if group is not None))
    ids = tx.groups.ids(dataset.id, Keys.from_strings(named)).tolist()
    id_of: dict[str | None, int] = {None: 0, **dict(zip(named, ids, strict=True))}
    unknown = [group for group in named if id_of[group] < 0]
    if len(unknown) == len(named) and None not in table.groups:
        raise InputError(
            f"dataset {dataset.name!r} has none of the groups, not even the first, {unknown[0]!r}",
            advice=f"check the column with {argument('group')}, or name the dataset with {argument('dataset')}",
        )
    nothing: list[str | None] = [None] * len(table.groups)
    columns = (table.texts.get(name, nothing) for name in ("text", "title", "url"))
    records = [
        TextRecord(id_of[group], item or "", *texts)
        for group, item, *texts in zip(table.groups, table.items, *columns, strict=True)
        if id_of[group] >= 0
    ]
    tx.write.texts.set(dataset.id, records, list(table.texts))
    n_items = sum(not record.group_id for record in records)
    n_groups = sum(not record.item_key for record in records)
    return TextsAdded(
        dataset.name,
        n_groups,
        n_items,
        len(records) - n_groups - n_items,
        len(unknown),
        unknown[0] if unknown else None,
    )


def stored_texts(tx: ReadTransaction, dataset_name: str, group: str | None = None) -> list[StoredText]:
    """Return the texts of a dataset, items in every group first, or those of one of its groups alone."""
    dataset = tx.datasets.known(dataset_name)
    records = tx.texts.all(dataset.id, None if group is None else group_id(tx, dataset.id, dataset.name, group))
    ids, keys = tx.groups.all(dataset.id)
    key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
    return [StoredText(key_of.get(one.group_id), one.item_key or None, one.text, one.title, one.url) for one in records]


def delete_texts(tx: WriteTransaction, dataset_name: str, group: str | None = None) -> int:
    """Delete the texts of a dataset, or those of one of its groups alone, and return how many there were."""
    dataset = tx.datasets.known(dataset_name)
    return tx.write.texts.delete(dataset.id, None if group is None else group_id(tx, dataset.id, dataset.name, group))


def texts_of(
    tx: ReadTransaction, dataset_id: int, items_of: Mapping[int, Sequence[str]], others: Sequence[int] = ()
) -> dict[int, GroupTexts]:
    """Return what is told of some groups and of items in them, by group id; groups without texts are not among them.

    Parameters: ``items_of``: by group id, the items to look up. ``others``: ids of groups without items.
    """
    if not tx.texts.any(dataset_id):
        return {}
    group_ids = list(dict.fromkeys([*items_of, *others]))
    queries = {one.group_id: _text(one) for one in tx.texts.of_groups(dataset_id, group_ids)}
    wanted = sorted({item for items in items_of.values() for item in items})
    everywhere = {one.item_key: _text(one) for one in tx.texts.of_items(dataset_id, wanted)}
    here = {(one.group_id, one.item_key): _text(one) for one in tx.texts.of_pairs(dataset_id, list(items_of))}
    found = {}
    for one in group_ids:
        items = {}
        for item in items_of.get(one, ()):
            text, general = here.get((one, item)), everywhere.get(item)
            both = text if general is None else general if text is None else text.or_else(general)
            if both is not None:
                items[item] = both
        if items or one in queries:
            found[one] = GroupTexts(queries.get(one), items)
    return found


def _text(record: TextRecord) -> Text:
    return Text(record.text, record.title, record.url)
