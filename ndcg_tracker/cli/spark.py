"""``--engine spark``: Spark reads the rows, where and how it is configured to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from ndcg_tracker.api.evaluation import Evaluation
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.ingest.columns import Columns
    from ndcg_tracker.integrations.staging import Items
    from ndcg_tracker.runs.ingest import IngestResult


def refuse(**given: object) -> None:
    """Refuse options that speak of files that this program reads, by their names."""
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise InputError(f"{option} does not go with --engine spark", advice="leave one of the two out")


def evaluations(labels: str | None, metrics: Sequence[str], **columns: str | None) -> Callable[[str], Evaluation]:
    """Return what evaluates the run of a path or table, against the labels of another."""
    from ndcg_tracker.integrations import spark

    of_labels = None if labels is None else spark.table(labels)
    return lambda name: spark.evaluation(spark.table(name), metrics, labels=of_labels, **columns)


@contextmanager
def staged(
    files: Sequence[str], labels: str | None, run_columns: Columns, label_columns: Columns
) -> Iterator[tuple[list[str], str | None]]:
    """Give Parquet files of what Spark reads under these names, groups together; they are gone afterwards."""
    from ndcg_tracker.integrations import spark

    with tempfile.TemporaryDirectory(prefix="ndcg-track-") as folder:
        of_labels = None if labels is None else str(Path(folder) / "labels.parquet")
        if labels is not None and of_labels is not None:
            spark.staged(spark.table(labels), label_columns, of_labels, is_labels=True)
        paths = [str(Path(folder) / f"{number}.parquet") for number in range(len(files))]
        for name, path in zip(files, paths, strict=True):
            spark.staged(spark.table(name), run_columns, path, labels_apart=labels is not None)
        yield paths, of_labels


@dataclass(frozen=True)
class Logging:
    """What is asked of runs that executors write; see ``integrations.spark.log_run``."""

    dataset: str
    items: Items
    metrics: Sequence[str]
    git_commit: str | None
    parameters: Mapping[str, str]
    tags: Mapping[str, str]
    created_at: str | None
    replace: bool


def logged(
    tracker: Tracker,
    files: Mapping[str, str],
    labels: str | None,
    logging: Logging,
    columns: Mapping[str, str | None],
) -> Iterator[IngestResult]:
    """Let executors write the runs of paths or tables, by their names, and yield what became of each."""
    from ndcg_tracker.integrations import spark
    from ndcg_tracker.runs.ingest import source_name

    of_labels = None if labels is None else spark.table(labels)
    given: dict[str, Any] = {**vars(logging), **columns}
    for name, path in files.items():
        yield spark.log_run(
            spark.table(path),
            tracker,
            name=name,
            labels=of_labels,
            source=source_name(path),
            labels_source=None if labels is None else source_name(labels),
            **given,
        )
