"""``ndcg-track history``: a metric over the runs of a dataset."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ndcg_tracker.cli import options


def history(
    metric: Annotated[str, typer.Option("--metric", help="The metric.")] = "ndcg@10",
    dataset: options.Dataset = "default",
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Show a metric over runs, oldest first, each with its 95% interval and the change since the run before."""
    from ndcg_tracker.errors import ReferenceNotFoundError
    from ndcg_tracker.reporting import history_as

    with options.tracker() as tracker:
        rows = tracker.history_rows(metric, dataset=dataset)
        if not rows:
            mend = shlex.join(["ndcg-track", "rescore", "--all", "--dataset", dataset, "--metric", metric])
            raise ReferenceNotFoundError(f"no run of dataset {dataset!r} has {metric}; compute it with: {mend}")
    options.show(history_as(format.plain, rows, color=options.wants_color()))
