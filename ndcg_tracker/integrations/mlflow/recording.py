"""Records a stored run in an MLflow run: metrics, parameters, tags and tables."""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ndcg_tracker.integrations.mlflow.names import PER_GROUP, RANKING, TAG, is_key
from ndcg_tracker.integrations.stored_run import metric_name, run_identity
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Run

    from ndcg_tracker.integrations.stored_run import StoredRun

_TABLES_TAG = "mlflow.loggedArtifacts"
_LONGEST_PARAMETER = 6000
_LONGEST_TAG = 5000
_AT_ONCE = 100


def named_means(stored: StoredRun, prefix: str = "") -> dict[str, float]:
    """Return the means by their MLflow names; undefined ones are left out, because MLflow cannot store them."""
    return {prefix + metric_name(text): mean for text, mean in stored.means.items() if mean is not None}


def record(
    client: MlflowClient, target: Run, stored: StoredRun, *, prefix: str = "", model_id: str | None = None,
    with_ranking: bool = True,
) -> None:  # fmt: skip
    """Write means, tags and tables into an MLflow run; existing values are not written again.

    Parameters: ``prefix``: prepended to the names of metrics and tables. ``model_id``: the logged model that the
    metrics belong to (MLflow 3). ``with_ranking``: whether the table of items, which ``pull`` reads, is logged.
    """
    run_id = target.info.run_id
    means = named_means(stored, prefix)
    known = {} if model_id else target.data.metrics  # another model may have the same mean
    new = [_metric(name, mean, model_id) for name, mean in means.items() if known.get(name) != mean]
    if new:
        client.log_batch(run_id, metrics=new)
    tables = [prefix + PER_GROUP]
    with TemporaryDirectory(prefix="ndcg-tracker-") as folder:
        path = Path(folder) / tables[0]
        path.write_text(stored.per_group_json, encoding="utf-8")
        client.log_artifact(run_id, str(path))
        if with_ranking:
            import pyarrow.parquet as pq

            tables.append(prefix + RANKING)
            pq.write_table(stored.ranking, Path(folder) / tables[1], compression="zstd", write_page_checksum=True)
            client.log_artifact(run_id, str(Path(folder) / tables[1]))
    set_tags(client, target, _tags(stored, prefix) | {_TABLES_TAG: _with_tables(target, tables)})


def set_tags(client: MlflowClient, target: Run, tags: dict[str, str]) -> None:
    """Set the tags that an MLflow run does not have yet, or has with another value."""
    from mlflow.entities import RunTag

    new = [RunTag(key, value) for key, value in tags.items() if target.data.tags.get(key) != value]
    for first in range(0, len(new), _AT_ONCE):
        client.log_batch(target.info.run_id, tags=new[first : first + _AT_ONCE])


def set_parameters(client: MlflowClient, target: Run, parameters: dict[str, str]) -> list[Note]:
    """Set the parameters that an MLflow run does not have yet, and return a note per parameter that cannot be set."""
    from mlflow.entities import Param

    new, notes = [], []
    for key, text in parameters.items():
        value = text[:_LONGEST_PARAMETER]
        there = target.data.params.get(key)
        if not is_key(key):
            notes.append(Note("not_pushed", {"what": "parameter", "key": key}))
        elif there is None:
            new.append(Param(key, value))
        elif there != value:
            notes.append(Note("other_parameter", {"key": key, "there": there, "here": value}))
    for first in range(0, len(new), _AT_ONCE):
        client.log_batch(target.info.run_id, params=new[first : first + _AT_ONCE])
    return notes


def _tags(stored: StoredRun, prefix: str) -> dict[str, str]:
    run = stored.run
    facts = {
        "id": run_identity(run.dataset, run.name, run.digest),
        "run": run.name,
        "dataset": run.dataset,
        "labels": str(stored.label_set_version),
        "metrics": json.dumps({prefix + metric_name(text): text for text in stored.means}),
    }
    return {f"{TAG}{prefix}{name}": value[:_LONGEST_TAG] for name, value in facts.items()}


def _with_tables(target: Run, names: list[str]) -> str:
    """Return the list of tables that MLflow keeps for a run, with some added."""
    known = json.loads(target.data.tags.get(_TABLES_TAG, "[]"))
    further = [{"path": name, "type": "table"} for name in names]
    return json.dumps(known + [table for table in further if table not in known])


def _metric(name: str, value: float, model_id: str | None) -> Metric:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    if model_id is None:  # MLflow 2 has no such parameter
        return Metric(name, value, now, 0)
    return Metric(name, value, now, 0, model_id=model_id)
