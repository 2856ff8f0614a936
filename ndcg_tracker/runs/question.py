"""What people tell of runs and labels that they store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from ndcg_tracker.asked import (
    DEFAULT_DATASET,
    CreatedAt,
    Dataset,
    DatasetOfRun,
    Everyday,
    GitCommit,
    Judge,
    Option,
    Parameters,
    Replace,
    RunTags,
)

LabelledDataset = Annotated[
    str,
    Everyday(
        "The dataset: the groups and labels to compare runs on.",
        default="default; with --extend, --design, --judge or --rescore also the only one",
    ),
]
Extend = Annotated[bool, Everyday("Add the labels to the latest version, instead of replacing it.")]
ReplaceLabels = Annotated[bool, Everyday("Replace the latest version, even if many groups lose all labels.")]
Rescore = Annotated[bool, Everyday("Evaluate the stored runs under the labels, in the same transaction.")]
Pattern = Annotated[str | None, Option("Remove what this pattern matches from every id.", metavar="REGEX")]
ByText = Annotated[bool, Option("Items are one if their texts are equal, or one contains the other.")]


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


@dataclass(frozen=True, kw_only=True)
class LabelsKept:
    """What becomes of labels that are stored (see ``Tracker.add_labels``)."""

    dataset: LabelledDataset = DEFAULT_DATASET
    extend: Extend = False
    replace: ReplaceLabels = False
    rescore: Rescore = False


@dataclass(frozen=True, kw_only=True)
class CarryTold:
    """Which ids of items are one, and in whose labels (see ``Tracker.carry_labels``)."""

    pattern: Pattern = None
    by_text: ByText = False
    dataset: Dataset = DEFAULT_DATASET
    judge: Judge = None
    rescore: Rescore = False


class CarryKeywords(TypedDict, total=False):
    """How people give ``CarryTold`` (generated)."""

    dataset: Dataset
    pattern: Pattern
    by_text: ByText
    judge: Judge
    rescore: Rescore
