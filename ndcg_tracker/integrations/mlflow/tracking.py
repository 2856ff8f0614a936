"""Access to an MLflow server, with every error in one line, and the form of a stored run there."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

from ndcg_tracker.asked import Option
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.stored_run import LONGEST_NAME, metric_name, run_identity
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Run

    from ndcg_tracker.integrations.stored_run import StoredRun


TrackingUri = Annotated[str | None, Option("URI of the MLflow server.", default="$MLFLOW_TRACKING_URI")]
PER_GROUP = "ndcg_per_group.json"
RANKING = "ndcg_ranking.parquet"
TAG = "ndcg_tracker."
RUN_ID_TAG = "mlflow.run_id"
PREFIX_TAG = "mlflow.metric_prefix"
_KEY = re.compile(r"[\w.\- :]+(/[\w.\- :]+)*")


def is_key(key: str) -> bool:
    """Return whether MLflow accepts a text as the key of a parameter or a tag.

    >>> is_key("model.depth"), is_key("a@b"), is_key("../a")
    (True, False, False)
    """
    plain = not any(part in (".", "..") for part in key.split("/"))
    return len(key) <= LONGEST_NAME and _KEY.fullmatch(key) is not None and plain


MASK = "***"
_SQLITE = "sqlite:///"
_NOISY = ("mlflow", "alembic")
_VARIABLES = {"MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3"}


def shown_uri(uri: str) -> str:
    """Return a tracking URI without user, password, token or options; a malformed URI is masked more.

    >>> shown_uri("https://me:pw@mlflow.example/shop?token=x"), shown_uri("sqlite:////data/a@b.db")
    ('https://mlflow.example/shop', 'sqlite:////data/a@b.db')
    >>> shown_uri("https://me:p?w@mlflow.example")
    'https://***'
    """
    scheme, separator, rest = uri.partition("://")
    if not separator or (scheme in ("file", "sqlite") and rest.startswith("/")):
        return uri
    before, _, address = rest.rpartition("@")
    if "?" in before or "#" in before:  # an @ in an option, or one of these in a password: there is no way to know
        return f"{scheme}://{MASK}"
    return f"{scheme}://{address.partition('?')[0].partition('#')[0]}"


def link_tags(run_id: str, experiment: str, uri: str, prefix: str) -> dict[str, str]:
    """Return the tags of a stored run that say which MLflow run it belongs to, without secrets."""
    tags = {RUN_ID_TAG: run_id, "mlflow.experiment_name": experiment, "mlflow.tracking_uri": shown_uri(uri)}
    return tags | ({PREFIX_TAG: prefix} if prefix else {})


@contextmanager
def one_line(uri: str) -> Iterator[None]:
    """Turn errors of MLflow in this block into an InputError of one line, without the secrets of the URI."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, OSError) as error:
        said = " ".join((str(error).strip() or type(error).__name__).splitlines()[0].split())
    else:
        return
    rest = uri.partition("://")[2]
    secrets = rest.rpartition("@")[0]
    said = said.replace(uri, shown_uri(uri))
    for secret in {secrets, secrets.partition(":")[2], rest.partition("?")[2]} - {""}:
        said = said.replace(secret, MASK)
    raise InputError(said.rstrip("."), where=f"MLflow at {shown_uri(uri)}")


@contextmanager
def mlflow_client(tracking_uri: str | None, *, must_exist: bool = False) -> Iterator[tuple[MlflowClient, str]]:
    """Yield a client of an MLflow server, and its URI; errors in this block become one line.

    Parameters: ``tracking_uri``: None for ``MLFLOW_TRACKING_URI`` or MLflow's default. ``must_exist``: whether a
    missing SQLite file is refused. Raises: InputError, also if MLflow is not installed.
    """
    mlflow = library("mlflow")
    uri = tracking_uri or mlflow.get_tracking_uri()
    path = unquote(uri.removeprefix(_SQLITE).partition("?")[0])
    if must_exist and uri.startswith(_SQLITE) and not Path(path).exists():
        raise InputError(
            "the MLflow database does not exist",
            where=path,
            advice=f"give {argument('tracking_uri')} or set MLFLOW_TRACKING_URI",
        )
    with _quiet(), one_line(uri):
        yield mlflow.MlflowClient(tracking_uri=uri), uri


def experiment_named(client: MlflowClient, name: str | None) -> str:
    """Return the name of an experiment: the given one, else ``MLFLOW_EXPERIMENT_NAME``, else ``Default``."""
    if name is not None:
        return name
    by_id = os.environ.get("MLFLOW_EXPERIMENT_ID")
    if by_id:
        return str(client.get_experiment(by_id).name)
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or "Default"


def live_run(client: MlflowClient, run_id: str) -> Run | None:
    """Return the MLflow run with an id, None if it does not exist or was deleted."""
    from mlflow.exceptions import MlflowException

    try:
        run = client.get_run(run_id)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise
    return run if run.info.lifecycle_stage == "active" else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Stop MLflow from logging the tables it creates, from showing progress, and from minutes of silent retries."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update({name: value for name, value in _VARIABLES.items() if before[name] is None})
    loggers = [logging.getLogger(name) for name in _NOISY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        for name in _VARIABLES:
            if before[name] is None:
                os.environ.pop(name, None)


_TABLES_TAG = "mlflow.loggedArtifacts"
_LONGEST_PARAMETER = 6000
_LONGEST_TAG = 5000
_AT_ONCE = 100


def record(
    client: MlflowClient, target: Run, stored: StoredRun, *, prefix: str = "", model_id: str | None = None,
    with_ranking: bool = True,
) -> None:  # fmt: skip
    """Write means, tags and tables into an MLflow run; existing values are not written again.

    Parameters: ``prefix``: prepended to the names of metrics and tables. ``model_id``: the logged model that the
    metrics belong to (MLflow 3). ``with_ranking``: whether the table of items, which ``pull`` reads, is logged.
    """
    run_id = target.info.run_id
    means = stored.named_means(prefix)
    existing = {} if model_id else target.data.metrics  # another model may have the same mean
    new = [_metric(name, mean, model_id) for name, mean in means.items() if existing.get(name) != mean]
    if new:
        client.log_batch(run_id, metrics=new)
    tables = [prefix + PER_GROUP]
    client.log_text(run_id, json.dumps(stored.table, ensure_ascii=False, allow_nan=False), tables[0])
    if with_ranking:
        import pyarrow.parquet as pq

        tables.append(prefix + RANKING)
        with TemporaryDirectory(prefix="ndcg-tracker-") as folder:
            path = str(Path(folder) / tables[1])
            pq.write_table(stored.ranking, path, compression="zstd", write_page_checksum=True)
            client.log_artifact(run_id, path)
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
    """Return the list of tables that MLflow stores for a run, with some added."""
    tables = json.loads(target.data.tags.get(_TABLES_TAG, "[]"))
    further = [{"path": name, "type": "table"} for name in names]
    return json.dumps(tables + [table for table in further if table not in tables])


def _metric(name: str, value: float, model_id: str | None) -> Metric:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    if model_id is None:  # MLflow 2 has no such parameter
        return Metric(name, value, now, 0)
    return Metric(name, value, now, 0, model_id=model_id)
