"""Which database and which dataset a question is about, and what arguments are where they are not given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.errors import ReferenceNotFoundError, argument

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import AliasRecord, DatasetRecord, RunRecord

DEFAULT_DATABASE = "ndcg-track.db"
DEFAULT_DATASET = "default"
DEFAULT_METRIC = "ndcg@10"
SQL_TIMEOUT_SECONDS = 60.0


class OwnName(str):
    """Our own name of a column as a default: it reads as that name, and the same text that was given differs by type.

    >>> OwnName("group"), OwnName("group") == "group"
    ('group', True)
    """

    __slots__ = ()


GROUP, SCORE, LABEL = OwnName("group"), OwnName("score"), OwnName("label")


def database_location(location: str | os.PathLike[str] | None = None) -> str:
    """Return where the database is: what was given, else ``NDCG_TRACK_DB``, else ``ndcg-track.db`` here."""
    return os.fspath(location) if location is not None else os.environ.get("NDCG_TRACK_DB") or DEFAULT_DATABASE


def known_dataset(tx: ReadTransaction, name: str) -> DatasetRecord:
    """Return the dataset of this name; raise ReferenceNotFoundError, naming those there are, where there is none."""
    found = tx.datasets.named(name)
    if found is None:
        from ndcg_tracker.storage.references import unknown_dataset

        raise unknown_dataset(name, [record.name for record in tx.datasets.all()])
    return found


def known_alias(tx: ReadTransaction, name: str, dataset: str | None) -> AliasRecord:
    """Return the alias of this name; raise ReferenceNotFoundError where there is none, or one in several datasets."""
    aliases = tx.aliases.all(dataset)
    found = [alias for alias in aliases if alias.name == name]
    if not found:
        known = ", ".join(f"@{alias.name}" for alias in aliases) or "none"
        raise ReferenceNotFoundError(f"there is no alias @{name}; there is {known}")
    if len(found) > 1:
        names = ", ".join(alias.dataset for alias in found)
        raise ReferenceNotFoundError(f"alias @{name} is in several datasets ({names}); give {argument('dataset')}")
    return found[0]


def chosen_runs(tx: ReadTransaction, references: Sequence[str], dataset: str | None) -> list[RunRecord]:
    """Return the runs with these references, all (of a dataset) where none is named."""
    if dataset is not None:
        known_dataset(tx, dataset)
    return [tx.runs.resolve(reference, dataset) for reference in references] or tx.runs.all(dataset)
