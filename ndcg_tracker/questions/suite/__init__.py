"""Systems on several datasets, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import Option, Positional

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import SuiteRecord
    from ndcg_tracker.storage.store import HasStore


SuiteName = Annotated[str, Positional("The name of the suite.", metavar="SUITE")]
Datasets = Annotated[
    Sequence[str],
    Positional("Datasets, or patterns such as 'beir-*'.", metavar="DATASET", typed=list[str]),
]
ReplaceDatasets = Annotated[bool, Option("Replace the datasets of an existing suite.")]


def create_suite(
    self: HasStore, name: SuiteName, datasets: Datasets, *, replace: ReplaceDatasets = False
) -> SuiteRecord:
    """Create a suite, a name for datasets to look at together, and return it.

    Parameters: ``datasets``: names or patterns such as ``"beir-*"``. ``replace``: replace the datasets of an existing
    suite. Raises: ConflictError if the name has other datasets; ReferenceNotFoundError.
    """
    from fnmatch import fnmatchcase

    from ndcg_tracker.errors import InputError
    from ndcg_tracker.storage.references import is_pattern

    with self.store().write("marks") as tx:
        names = [wanted.name for wanted in tx.datasets.all()]
        meant: list[str] = []
        for wanted in datasets:
            fits = (
                [name for name in names if fnmatchcase(name, wanted)]
                if is_pattern(wanted) and wanted not in names
                else []
            )
            meant += fits or [tx.datasets.known(wanted).name]
        if not meant:
            raise InputError("a suite needs datasets", advice="name some, or give a pattern such as 'beir-*'")
        return tx.write.suites.create(name, tuple(dict.fromkeys(meant)), replace=replace)


def suites(self: HasStore) -> list[SuiteRecord]:
    """Return the suites by name."""
    with self.store().read() as tx:
        return tx.suites.all()


def delete_suite(self: HasStore, name: SuiteName) -> SuiteRecord:
    """Delete a suite and return its former content; its datasets and their runs stay."""
    with self.store().write("marks") as tx:
        return tx.write.suites.delete(name)
