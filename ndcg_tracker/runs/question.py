"""What people tell of a run that they store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    CreatedAt,
    DatasetOfRun,
    GitCommit,
    Parameters,
    Replace,
    RunTags,
)


@dataclass(frozen=True, kw_only=True)
class RunTold:
    """What people tell of a run that they store (see ``Tracker.ingest``); ``replace``: other content of its name."""

    name: str | None = None
    dataset: DatasetOfRun = DEFAULT_DATASET
    tags: RunTags = None
    parameters: Parameters = None
    git_commit: GitCommit = None
    created_at: CreatedAt = None
    replace: Replace = False


class ToldKeywords(TypedDict, total=False):
    """How people give ``RunTold`` (generated)."""

    dataset: DatasetOfRun
    tags: RunTags
    parameters: Parameters
    git_commit: GitCommit
    created_at: CreatedAt
    replace: Replace
