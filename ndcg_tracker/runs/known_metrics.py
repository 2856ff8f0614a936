"""The metrics that stored runs have: what a short name means, and what to type where runs lack one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import asked_for, parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


def known_metric(tx: ReadTransaction, dataset_id: int, metric: Metric) -> Metric:
    """Return a metric with the direction and range that its results are stored with, if its text leaves them out.

    Raises: ReferenceNotFoundError where the dataset has no such results.
    """
    if not metric.is_external or metric.settings:
        return metric
    text = tx.evaluations.external(dataset_id, metric.measure)
    if text is None:
        dataset = tx.datasets.with_id(dataset_id).name
        raise ReferenceNotFoundError(
            f"dataset {dataset!r} has no results {metric}",
            advice=f"store some with: {shlex.join(storing_command('NAME', dataset, metric))}",
        )
    return parse_metric(text)


def storing_command(run: str, dataset: str, metric: Metric) -> tuple[str, ...]:
    """Return the command that stores the results of another engine for a run.

    >>> " ".join(storing_command("a", "b", parse_metric("external:latency(direction=lower, range=0..inf)")))
    'ndcg-track ingest --results FILE --name a --dataset b --metric external:latency --direction lower --range 0,inf'
    """
    settings = {"direction": "higher", "range": "0..1"} | dict(metric.settings)
    scale = ("--direction", settings["direction"], "--range", settings["range"].replace("..", ","))
    of_run = ("--name", run, "--dataset", dataset, "--metric", metric.measure)
    return ("ndcg-track", "ingest", "--results", "FILE", *of_run, *scale)


def advice_for_lacking(
    tx: ReadTransaction, runs: Sequence[RunRecord], metrics: Sequence[Metric], rescore: Sequence[str]
) -> str:
    """Return the advice where runs lack metrics: ask for those that they have by a similar name, or add them.

    ``metrics``: those of other engines with their direction and range. ``rescore``: the command that computes metrics
    of runs with items.
    """
    for metric in metrics:
        for run in runs if metric.is_external else ():
            if str(metric) not in {evaluation.metric for evaluation in tx.evaluations.of_run(run.id)}:
                return f"store those of {run.name!r}: {shlex.join(storing_command(run.name, run.dataset, metric))}"
    asked = {metric.requested_as.rpartition(":")[2].lower() for metric in metrics}
    of_runs = [
        {asked_for(evaluation.metric, evaluation.requested_as) for evaluation in tx.evaluations.of_run(run.id)}
        for run in runs
    ]
    shared = sorted(name for name in set.intersection(*of_runs) if name)
    alike = " or ".join(name for name in shared if name not in asked and name.rpartition(":")[2].lower() in asked)
    typed = f"type: {shlex.join(rescore)}"
    without = [run for run in runs if not run.n_items]
    if not without:
        return f"ask for {alike}, which they have, or {typed}" if alike else typed
    if shared:
        return f"they have results of another engine: ask for {alike or ' or '.join(shared)}"
    return (
        f"run {without[0].name!r} has no items to compute it from, only results of another engine; store those of the "
        "others: ndcg-track ingest --results FILE"
    )
