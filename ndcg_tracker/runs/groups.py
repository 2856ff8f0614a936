"""Store and look up the weights, attributes and texts of a dataset's groups."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.runs.parts import part_of
from ndcg_tracker.storage.records import TextRecord
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import GroupTexts, Text, counted, did_you_mean, unit

if TYPE_CHECKING:
    from ndcg_tracker.ingest.groups import GroupTable, TextTable
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.runs.spelling import Doubts
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


_MOST_CHANGED = 0.1
"""So many of the labelled items of a run may have another text than when they were labelled."""
_MANY_GROUPS = 50_000  # finding similar keys among more groups would take seconds


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A group of a dataset: its weight, None if it has none, and its attributes."""

    key: str
    weight: float | None
    attributes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class GroupsSet:
    """The outcome of storing a table of groups.

    ``n_groups``: its groups. ``attributes``: those that were set or removed. ``has_weights``: whether weights were set
    or removed. ``n_unknown``, ``first_unknown``: its groups that the dataset did not have, for which this is kept until
    they come. ``n_recomputed``: stored means that were recomputed, because a weight that they use has changed.
    ``default_weight``: the weight that was set for groups without one.
    """

    dataset: str
    n_groups: int
    attributes: tuple[str, ...]
    has_weights: bool
    n_unknown: int
    first_unknown: str | None
    n_recomputed: int
    default_weight: float | None = None


def store_group_facts(
    tx: WriteTransaction, dataset_name: str, table: GroupTable, default_weight: float | None = None
) -> GroupsSet:
    """Set attributes and weights of a dataset's groups; anything that the table does not name stays unchanged.

    Groups that the dataset does not have are created, except those of the other part of a split one. If a weight
    changes, stored means that use it are recomputed. ``default_weight``: of groups without a weight, now and later.
    Raises: MetricError if too many groups of such a mean have no weight.
    """
    dataset = tx.datasets.known(dataset_name)
    part = part_of(tx, dataset)
    table = table if part is None else table.of(part.keeps(table.group_keys))
    unknown = np.flatnonzero(tx.groups.ids(dataset.id, table.group_keys) < 0)
    ids = tx.write.groups.ensure(dataset.id, table.group_keys)
    _merge_attributes(tx, dataset, ids, table)
    changed = ids[:0] if table.weights is None else _set_weights(tx, dataset, ids, table.weights)
    weights = tx.groups.weights(dataset.id)
    if default_weight is not None and default_weight != weights.unweighted.default:
        tx.write.groups.set_default_weight(dataset.id, default_weight)
        changed = np.union1d(changed, np.setdiff1d(tx.groups.all(dataset.id)[0], weights.ids))
    n_recomputed = _recompute_means(tx, dataset, changed) if changed.size else 0
    return GroupsSet(
        dataset.name,
        len(table.group_keys),
        tuple(table.attributes),
        table.weights is not None,
        int(unknown.size),
        table.group_keys[int(unknown[0])] if unknown.size else None,
        n_recomputed,
        default_weight,
    )


def group_records(tx: ReadTransaction, dataset_name: str) -> list[GroupRecord]:
    """Return the groups of a dataset in the order in which they were stored."""
    dataset = tx.datasets.known(dataset_name)
    ids, keys = tx.groups.all(dataset.id)
    attributes = tx.groups.attributes(dataset.id)
    weight_of, default = _weight_of(tx, dataset), tx.groups.weights(dataset.id).unweighted.default
    return [
        GroupRecord(key, weight_of.get(group_id, default), attributes.get(group_id, {}))
        for group_id, key in zip(ids.tolist(), keys.to_list(), strict=True)
    ]


def group_id(tx: ReadTransaction, dataset_id: int, dataset: str, group: str) -> int:
    """Return the id of a group of a dataset. Raises: ReferenceNotFoundError, with the groups of similar ids."""
    number = int(tx.groups.ids(dataset_id, Keys.from_strings([group]))[0])
    if number >= 0:
        return number
    _, keys = tx.groups.all(dataset_id)
    names = keys.to_list() if len(keys) <= _MANY_GROUPS else []
    every = f"see all with: {shlex.join(['ndcg-track', 'groups', 'list', '--dataset', dataset])}"
    advice = did_you_mean(group, names) or every
    raise ReferenceNotFoundError(f"no {unit()} {group!r} in dataset {dataset!r}", advice=advice)


def _merge_attributes(tx: WriteTransaction, dataset: DatasetRecord, ids: Index, table: GroupTable) -> None:
    if not table.attributes:
        return
    before = tx.groups.attributes(dataset.id)
    after: dict[int, dict[str, Any] | None] = {}
    for row, group_id in enumerate(ids.tolist()):
        merged = before.get(group_id, {}) | {name: values[row] for name, values in table.attributes.items()}
        after[group_id] = {name: value for name, value in merged.items() if value is not None} or None
    tx.write.groups.set_attributes(dataset.id, after)


def _set_weights(tx: WriteTransaction, dataset: DatasetRecord, ids: Index, weights: Floats) -> Index:
    """Store weights and return the ids of the groups whose weight has changed."""
    weight_of = _weight_of(tx, dataset)
    before = np.array([weight_of.get(group_id, np.nan) for group_id in ids.tolist()], dtype=np.float64)
    rows = np.flatnonzero((before != weights) & ~(np.isnan(before) & np.isnan(weights)))
    changed: Index = ids[rows]
    if rows.size:
        tx.write.groups.set_weights(dataset.id, changed, weights[rows])
    return changed


def _weight_of(tx: ReadTransaction, dataset: DatasetRecord) -> dict[int, float]:
    weights = tx.groups.weights(dataset.id)
    return dict(zip(weights.ids.tolist(), weights.weights.tolist(), strict=True))


def _recompute_means(tx: WriteTransaction, dataset: DatasetRecord, changed: Index) -> int:
    """Recompute the stored means that use a changed weight, and return how many."""
    # a comparison sliced by an attribute imports this module without needing these
    from ndcg_tracker.runs.scoring import computed_again, stored_weights

    concerned = [(run, _resting_on(tx, run, changed)) for run in tx.runs.all(dataset.name)]
    for evaluation, result, tie_bounds in computed_again(tx, concerned, stored_weights(tx, dataset.id)):
        tx.write.evaluations.set_means(evaluation.id, result.mean, tie_bounds)
    return sum(len(evaluations) for _, evaluations in concerned)


def _resting_on(tx: ReadTransaction, run: RunRecord, changed: Index) -> list[EvaluationRecord]:
    """Return the evaluations of a run whose mean uses the weight of one of these groups."""
    weighing = [
        evaluation
        for evaluation in tx.evaluations.of_run(run.id)
        if parse_metric(evaluation.metric)["weights"] != "none"
    ]
    return [
        evaluation for evaluation in weighing if np.isin(tx.evaluations.results(evaluation.id).group_ids, changed).any()
    ]


@dataclass(frozen=True, slots=True)
class TextsAdded:
    """The outcome of storing a table of texts.

    ``n_groups``: groups with texts about themselves. ``n_items``: items with texts for every group. ``n_pairs``: items
    with texts for one group. ``n_unknown``, ``first_unknown``: groups that the dataset does not have.
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


def changed_texts(tx: ReadTransaction, dataset_id: int, texts: Mapping[str, str | None]) -> tuple[set[str], int]:
    """Return the labelled items whose stored text is another one than in ``texts``, and how many could be compared."""
    newest = {label_set.judge: label_set.id for label_set in tx.labels.sets(dataset_id, None)} if texts else {}
    labelled = {item for of in newest.values() for item in tx.labels.lists(of).item_keys.to_list()}
    stored = {record.item_key: record.text for record in tx.texts.of_items(dataset_id, sorted(labelled & texts.keys()))}
    known = [item for item, text in stored.items() if text is not None]
    return {item for item in known if stored[item] != texts[item]}, len(known)


def set_texts(tx: WriteTransaction, dataset_id: int, texts: Mapping[str, str]) -> None:
    """Set the texts of items of a dataset."""
    records = [TextRecord(0, item, text, None, None) for item, text in texts.items()]
    if records:
        tx.write.texts.set(dataset_id, records, ["text"])


def keep_texts(tx: WriteTransaction, dataset: DatasetRecord, texts: Mapping[str, str], doubts: Doubts) -> list[Note]:
    """Store the texts of a run's items, and return a note if labelled items have others: these keep what was labelled.

    Raises: InputError if that is a tenth of the labelled items or more, unless it is allowed.
    """
    if not texts:
        return []
    changed, n_known = changed_texts(tx, dataset.id, texts)
    set_texts(tx, dataset.id, {item: text for item, text in texts.items() if item not in changed})
    if not changed:
        return []
    note = Note("changed_texts", {"n": len(changed), "n_known": n_known})
    few = len(changed) < _MOST_CHANGED * n_known
    return [note if few else doubts.passed(note, "changed-texts", "give each text an id of its own")]


def store_texts(tx: WriteTransaction, dataset_name: str, table: TextTable, *, replace: bool = False) -> TextsAdded:
    """Store texts of a dataset's groups and items; anything that the table does not name stays unchanged.

    ``replace``: whether labelled items may get other texts. Raises: InputError if they may not, and if the table only
    has groups, none of which the dataset has.
    """
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
    if "text" in table.texts and not replace:
        given = {record.item_key: record.text for record in records if not record.group_id}
        changed, n_known = changed_texts(tx, dataset.id, given)
        if changed:
            raise InputError(
                f"{len(changed):,} of {counted(n_known, 'labelled item')} would change, such as {min(changed)!r}",
                advice=f"give each text an id of its own, or replace them with {argument('replace', True)}",
            )
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
    """Return the texts of a dataset, items in every group first, or only those of one of its groups."""
    dataset = tx.datasets.known(dataset_name)
    records = tx.texts.all(dataset.id, None if group is None else group_id(tx, dataset.id, dataset.name, group))
    ids, keys = tx.groups.all(dataset.id)
    key_of = dict(zip(ids.tolist(), keys.to_list(), strict=True))
    return [
        StoredText(key_of.get(record.group_id), record.item_key or None, record.text, record.title, record.url)
        for record in records
    ]


def delete_texts(tx: WriteTransaction, dataset_name: str, group: str | None = None) -> int:
    """Delete the texts of a dataset, or only those of one of its groups, and return how many there were."""
    dataset = tx.datasets.known(dataset_name)
    return tx.write.texts.delete(dataset.id, None if group is None else group_id(tx, dataset.id, dataset.name, group))


def texts_of(
    tx: ReadTransaction, dataset_id: int, items_of: Mapping[int, Sequence[str]], others: Sequence[int] = ()
) -> dict[int, GroupTexts]:
    """Return the texts of some groups and of items in them, by group id; groups without texts are left out.

    Parameters: ``items_of``: by group id, the items to look up. ``others``: ids of groups without items.
    """
    if not tx.texts.any(dataset_id):
        return {}
    group_ids = list(dict.fromkeys([*items_of, *others]))
    queries = {record.group_id: _text(record) for record in tx.texts.of_groups(dataset_id, group_ids)}
    wanted = sorted({item for items in items_of.values() for item in items})
    everywhere = {record.item_key: _text(record) for record in tx.texts.of_items(dataset_id, wanted)}
    here = {
        (record.group_id, record.item_key): _text(record) for record in tx.texts.of_pairs(dataset_id, list(items_of))
    }
    texts = {}
    for number in group_ids:
        items = {}
        for item in items_of.get(number, ()):
            text, general = here.get((number, item)), everywhere.get(item)
            both = text if general is None else general if text is None else text.or_else(general)
            if both is not None:
                items[item] = both
        if items or number in queries:
            texts[number] = GroupTexts(queries.get(number), items)
    return texts


def _text(record: TextRecord) -> Text:
    return Text(record.text, record.title, record.url)
