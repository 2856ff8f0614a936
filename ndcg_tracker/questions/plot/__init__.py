"""The output of commands as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC, Dataset, Judge, MetricText, OnlyTagged, Option
from ndcg_tracker.questions.history import ShownLabels

if TYPE_CHECKING:
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.store import HasStore


Training = Annotated[str, Option("The training, as in the tag training=NAME.", metavar="NAME", is_positional=True)]
Parameter = Annotated[
    str,
    Option("A parameter or tag that is a number, such as latency_ms.", metavar="PARAMETER", is_positional=True),
]


def plot_training(
    self: HasStore,
    name: Training,
    metric: MetricText = DEFAULT_METRIC,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    labels: ShownLabels = None,
    judge: Judge = None,
) -> Chart:
    """Draw a metric over the stored iterations of a training (``TrainingRuns``), with its 95% intervals.

    ``labels``, ``judge``: see ``history``. Raises: ReferenceNotFoundError if no iteration of it is stored, or none has
    the metric.
    """
    from ndcg_tracker.questions.plot.gather import training_chart

    with self.store().read() as tx:
        return training_chart(tx, name, dataset, metric, labels, judge)


def plot_runs(
    self: HasStore,
    parameter: Parameter,
    metric: MetricText = DEFAULT_METRIC,
    *,
    dataset: Dataset = DEFAULT_DATASET,
    tags: OnlyTagged = None,
    labels: ShownLabels = None,
    judge: Judge = None,
) -> Chart:
    """Draw a metric of runs against a cost such as ``latency_ms``, with the Pareto front.

    Parameters: ``parameter``: a parameter, or a tag, whose values are numbers; less is better. ``tags``: only runs with
    these tags. ``labels``, ``judge``: see ``history``. Raises: ReferenceNotFoundError if no run has the metric;
    InputError if none has such a number.
    """
    from ndcg_tracker.questions.plot.gather import quality_chart

    with self.store().read() as tx:
        return quality_chart(tx, parameter, dataset, metric, tags or {}, labels, judge)
