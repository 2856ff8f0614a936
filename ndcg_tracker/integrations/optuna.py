"""Store each trial of an Optuna study as a run; the best one has the highest mean, or lower end of its interval."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.errors import InputError, NdcgTrackerWarning, argument, warn
from ndcg_tracker.integrations.training import parameter_text
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.statistics.t_test import paired_t
from ndcg_tracker.storage.checks import checked_name

LOWER, MEAN, RUN = "ndcg_tracker.lower", "ndcg_tracker.mean", "ndcg_tracker.run"
"""The user attributes of a trial: its mean, the lower end of its 95% interval, and the name of its run."""


class StudyRuns:
    """Stores the ranking of each trial as the run ``STUDY/trial-0007``, with the tags ``study`` and ``trial``.

    Parameters: ``study``: its name. ``labels``: a frame or path, None if the rankings have their own. ``metrics``: one
    text form or several; the study optimises the first. ``database``: see ``Tracker``. ``tags``: stored with every
    run. ``replace``: replace the runs of an earlier study of this name. Raises: InputError for an invalid name.

    >>> import optuna, tempfile
    >>> optuna.logging.disable_default_handler()
    >>> labels = {"group": ["q", "q", "r", "r"], "item": ["a", "b", "a", "b"], "label": [1, 0, 1, 0]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = StudyRuns("weights", labels=labels, database=f"{folder}/db")
    ...     def objective(trial):
    ...         weight = trial.suggest_float("weight", -1.0, 1.0)
    ...         return runs.store(trial, {"q": {"a": weight, "b": 0.0}, "r": {"a": 1.0, "b": weight}})
    ...     study = optuna.create_study(direction="maximize")
    ...     study.enqueue_trial({"weight": 0.5})
    ...     study.optimize(objective, 1)
    ...     runs.best_trial(study).user_attrs["ndcg_tracker.run"], study.best_value
    ('weights/trial-0000', 1.0)
    """

    def __init__(
        self,
        study: str,
        *,
        labels: object | None = None,
        metrics: str | Sequence[str] = DEFAULT_METRIC,
        dataset: str = DEFAULT_DATASET,
        database: str | os.PathLike[str] | None = None,
        tags: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> None:
        checked_name("run", trial_name(study, 0))
        checked_name("dataset", dataset)
        self.study, self.labels, self.dataset, self.replace = study, labels, dataset, replace
        self.metrics = metrics
        self._tags = dict(tags or {})
        with Tracker(database) as tracker:
            self._database = tracker.location

    def store(self, trial: Any, frame: object, **columns: Any) -> float:
        """Store the ranking of a trial, and return the mean of the first metric.

        Parameters: ``trial``: Optuna's trial. Its parameters become the run's, and it gets the user attributes
        ``ndcg_tracker.run``, ``ndcg_tracker.mean`` and ``ndcg_tracker.lower``. ``frame`` and ``columns``: see
        ``Tracker.ingest``. Raises: the errors of ``Tracker.ingest``, and InputError if the mean is not defined. Warns
        if the study minimizes (Optuna's default) but a higher value of the metric is better.
        """
        name = trial_name(self.study, trial.number)
        with Tracker(self._database) as tracker:
            result = tracker.ingest(
                frame,
                name=name,
                labels=self.labels,
                dataset=self.dataset,
                metrics=self.metrics,
                parameters={key: parameter_text(value) for key, value in trial.params.items()},
                tags={**self._tags, "study": self.study, "trial": str(trial.number)},
                replace=self.replace,
                **columns,
            )
            first = result.metrics[0]
            with tracker.store().read() as rx:
                (stored,) = (
                    evaluation
                    for evaluation in rx.evaluations.of_run(result.run_id)
                    if evaluation.metric == first.metric
                    and evaluation.label_set_version == result.label_set_version
                    and evaluation.judge == result.judge
                )
                values = rx.evaluations.results(stored.id).values
        if first.mean is None:
            raise InputError(f"{first.metric} of run {name!r} is not defined for any group", advice="check the labels")
        _check_direction(trial, first.metric)
        test = paired_t(values[~np.isnan(values)])
        trial.set_user_attr(RUN, name)
        trial.set_user_attr(MEAN, first.mean)
        trial.set_user_attr(LOWER, None if test.ci is None else test.ci[0])
        return first.mean

    def best_trial(self, study: Any, *, by: Literal["lower", "mean"] = "lower") -> Any:
        """Return the trial whose mean, or the lower end of whose 95% t interval, is highest.

        The interval is that of each single trial over its groups; it does not correct for choosing the best of many
        trials. A trial without an interval (one group, or the same value in all) counts with its mean. Raises:
        InputError if no trial was stored.
        """
        stored = [trial for trial in study.trials if trial.value is not None and RUN in trial.user_attrs]
        if by not in ("lower", "mean"):
            raise InputError(
                f"{argument('by', by)} is unknown", advice=f"give {argument('by', 'lower')} or {argument('by', 'mean')}"
            )
        if not stored:
            raise InputError("no trial of this study was stored", advice="return StudyRuns.store in the objective")

        def worth(trial: Any) -> float:
            lower = trial.user_attrs.get(LOWER) if by == "lower" else None
            return float(trial.user_attrs.get(MEAN, trial.value) if lower is None else lower)

        return max(stored, key=worth)


def _check_direction(trial: Any, metric: str) -> None:
    """Warn if every objective of a trial's study has the opposite direction of the metric."""
    directions = {each.name for each in getattr(getattr(trial, "study", None), "directions", ())}
    best, wanted = ("higher", "maximize") if parse_metric(metric).direction == "higher" else ("lower", "minimize")
    if directions and wanted.upper() not in directions:
        raised = f"the study will {directions.pop().lower()} its value, but {metric} is better the {best} it is"
        advice = f"create it with direction={wanted!r}, or return the negative of what store returns"
        warn(NdcgTrackerWarning(raised, advice=advice))


def trial_name(study: str, number: int) -> str:
    """Return the name of the run that holds the ranking of a trial.

    >>> trial_name("weights", 7)
    'weights/trial-0007'
    """
    return f"{study}/trial-{number:04}"
