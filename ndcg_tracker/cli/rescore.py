"""``ndcg-track rescore``: evaluates stored runs under more metrics or newer labels."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options


def rescore(
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="The runs.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All runs (of --dataset, if given).")] = False,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    labels: Annotated[
        int | None, typer.Option(metavar="VERSION", help="A version of the labels.", show_default="the newest")
    ] = None,
    judge: options.Judge = None,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Evaluate stored runs under newer labels or more metrics.

    Without --labels, the labels are the newest; without --metric, the metrics are those that each run already has.
    """
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.render.report import Column

    if bool(runs) == every:
        raise InputError("name the runs to rescore, or give --all")
    with options.tracker() as tracker:
        found = tracker.rescore(runs or (), metrics=metric or (), dataset=dataset, labels=labels, judge=judge)
    rows = [
        (
            run.run,
            run.run_id,
            run.dataset,
            run.label_set_version,
            format.metric(new.metric, new.requested_as),
            new.mean,
            new.n_missing,
            new.n_undefined,
            new.requested_as,
        )
        for run in found
        for new in run.metrics
    ]
    for run in found:
        if run.kept_share is not None:
            options.say(
                f"{run.run}: left out: it was stored without all its items; to add them, ingest all its rows under the "
                "same name"
            )
        elif run.pruned_at_utc is not None:
            options.say(
                f"{run.run}: left out: it was pruned at {run.pruned_at_utc}; to restore its items, ingest its file "
                "again under the same name"
            )
        elif not run.metrics:
            options.say(f"{run.run}: nothing new to compute under labels version {run.label_set_version}")
    names = ("run", "run_id", "dataset", "label_set_version", "metric", "mean", "n_missing", "n_undefined")
    columns = [Column(name, digits=4 if name == "mean" else None) for name in names]
    if rows or format is options.OutputFormat.json:
        options.show(options.with_requests(format, columns, rows, [str(row[names.index("metric")]) for row in rows]))
