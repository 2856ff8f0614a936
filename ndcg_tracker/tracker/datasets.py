"""The datasets that a question may be about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord


def known_dataset(tx: ReadTransaction, name: str) -> DatasetRecord:
    """Return the dataset of this name; raise ReferenceNotFoundError, naming those there are, where there is none."""
    found = tx.datasets.named(name)
    if found is None:
        from ndcg_tracker.storage.references import unknown_dataset

        raise unknown_dataset(name, [record.name for record in tx.datasets.all()])
    return found
