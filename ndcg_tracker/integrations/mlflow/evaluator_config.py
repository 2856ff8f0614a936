"""The keys of ``evaluator_config``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ndcg_tracker.defaults import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.frames import NullScores
from ndcg_tracker.integrations.mlflow.names import is_key
from ndcg_tracker.metrics.language.text import metric_texts, parse_metric


@dataclass(frozen=True)
class EvaluatorConfig:
    """The settings of ``RankingEvaluator``.

    ``group``, ``item``, ``weight``: names of columns; without ``item`` an item is identified by the row's number within
    its group. ``metrics``: text forms, also comma-separated. ``dataset`` and ``name``: of the stored run. ``tags``:
    kept with the stored run. ``metric_prefix``: prepended to the names of metrics and tables in MLflow.
    ``log_ranking``: whether the items are logged to MLflow too, which ``pull`` needs. ``replace``: take the place of
    other content under ``name``. ``null_scores``: what a NaN score means, "error" or "not_retrieved" (an outer join of
    a run with labels).
    """

    group: str
    metrics: tuple[str, ...] = (DEFAULT_METRIC,)
    item: str | None = None
    weight: str | None = None
    dataset: str = DEFAULT_DATASET
    name: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    metric_prefix: str = ""
    log_ranking: bool = True
    replace: bool = False
    null_scores: NullScores = "error"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> EvaluatorConfig:
        """Return the settings in a dict.

        Raises: InputError for an unknown key, a value of another kind, and where ``group`` is missing; MetricError
        for a text that is not a metric.

        >>> EvaluatorConfig.of({"group": "qid", "metrics": "ndcg@5,map"}).metrics
        ('ndcg@5', 'map')
        """
        known = [one.name for one in fields(cls)]
        for key in given:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"
                raise InputError(f"evaluator_config has the unknown key {key!r}", advice=hint)
        if given.get("group") is None:
            raise InputError(
                "evaluator_config lacks 'group', the name of the column that says which rows are one ranked list",
                advice="write evaluator_config={'group': 'qid'}",
            )
        settings = {key: value for key, value in given.items() if value is not None}
        for key in ("group", "item", "weight", "dataset", "name", "metric_prefix"):
            _check(settings, key, str, "a text")
        for key in ("log_ranking", "replace"):
            _check(settings, key, bool, "True or False")
        if settings.get("null_scores", "error") not in ("error", "not_retrieved"):
            raise InputError(
                f"evaluator_config['null_scores'] is {settings['null_scores']!r}",
                advice="give 'error' or 'not_retrieved'",
            )
        _check(settings, "tags", Mapping, "a dict of texts")
        settings["tags"] = {str(key): str(value) for key, value in settings.get("tags", {}).items()}
        settings["metrics"] = _metrics(settings.get("metrics", DEFAULT_METRIC))
        prefix = settings.get("metric_prefix", "")
        if prefix and (not is_key(prefix) or "/" in prefix):
            raise InputError(
                f"metric_prefix {prefix!r} cannot begin a name in MLflow", advice="use a prefix such as 'test_'"
            )
        return cls(**settings)


def _check(settings: Mapping[str, Any], key: str, kind: type, what: str) -> None:
    if key in settings and not isinstance(settings[key], kind):
        raise InputError(f"evaluator_config[{key!r}] is {settings[key]!r}", advice=f"give {what}")


def _metrics(given: Any) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(f"evaluator_config['metrics'] is {given!r}", advice="give a list such as ['ndcg@10', 'AP']")
    found = tuple(metric_texts(texts))
    for text in found:
        parse_metric(text)
    return found
