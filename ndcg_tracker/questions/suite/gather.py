"""Which datasets a suite has."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.references import is_pattern

if TYPE_CHECKING:
    from ndcg_tracker.storage.transactions import ReadTransaction


def created_suite(tx: ReadTransaction, datasets: Sequence[str]) -> tuple[str, ...]:
    """Return the datasets of a new suite, patterns replaced by what fits them (InputError without any)."""
    names = [one.name for one in tx.datasets.all()]
    meant: list[str] = []
    for one in datasets:
        fitting = [name for name in names if fnmatchcase(name, one)] if is_pattern(one) and one not in names else []
        meant += fitting or [tx.datasets.known(one).name]
    meant = list(dict.fromkeys(meant))
    if not meant:
        raise InputError("a suite needs a dataset", advice="name some, or give a pattern such as 'beir-*'")
    return tuple(meant)
