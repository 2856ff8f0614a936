"""The versions of a dataset's labels: found by number, listed, and two of them side by side."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord

GROUPS_AT_ONCE = 1 << 16
"""How many of the groups that were not asked for are looked up at a time."""

HELD_LABELS = 1 << 22
"""Up to this many stored labels are read at once and held; of more, those of some groups are read at a time."""


def numbered_labels(
    tx: ReadTransaction, dataset_id: int, dataset: str, version: int | None = None, judge: str | None = None
) -> LabelSetRecord:
    """Return a version of a dataset's labels, None: the newest of a judge, and without one of no named judge.

    Raises: InputError for a dataset or judge without labels; ReferenceNotFoundError for an unknown version, or one that
    is not of this judge.
    """
    every = [one for one in tx.labels.sets(dataset_id, None) if one.judge not in NO_LABELS_HERE]
    if not every:
        raise InputError(f"dataset {dataset!r} has no labels", advice="add them with ndcg-track labels add FILE")
    if version is None:
        of_judge = [one for one in every if one.judge == (judge or "")]
        if not of_judge:
            judges = ", ".join(dict.fromkeys(judge_words(one.judge) for one in every))
            raise InputError(
                f"dataset {dataset!r} has no labels of {judge_words(judge or '')}, but those of {judges}",
                advice=f"choose with {argument('judge')}",
            )
        return of_judge[-1]
    found = next((one for one in every if one.version == version), None)
    see = f"see: {shlex.join(['ndcg-track', 'labels', 'list', '--dataset', dataset])}"
    if found is None:
        known = "it has version 1 alone" if len(every) == 1 else f"it has 1 to {every[-1].version}"
        raise ReferenceNotFoundError(f"no version {version} of the labels of dataset {dataset!r} ({known})", advice=see)
    if judge is not None and found.judge != judge:
        raise ReferenceNotFoundError(
            f"version {version} of the labels of dataset {dataset!r} is of {judge_words(found.judge)}, not of "
            f"{judge_words(judge)}",
            advice=see,
        )
    return found


def judge_words(judge: str) -> str:
    """Return a judge's name for a sentence.

    >>> judge_words(""), judge_words("gpt")
    ('the unnamed judge', "judge 'gpt'")
    """
    return f"judge {judge!r}" if judge else "the unnamed judge"
