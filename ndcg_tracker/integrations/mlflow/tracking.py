"""Access to an MLflow server: every error is one line, without secrets."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.integrations.libraries import library

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

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
    if "?" in before or "#" in before:  # an @ in an option, or one of these in a password: it cannot be decided
        return f"{scheme}://{MASK}"
    return f"{scheme}://{address.partition('?')[0].partition('#')[0]}"


@contextmanager
def one_line(uri: str) -> Iterator[None]:
    """Turn errors of MLflow within into an InputError of one line, without the secrets of the URI."""
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
    """Give a client of an MLflow server, and its URI; errors within become one line.

    Parameters: ``tracking_uri``: None for ``MLFLOW_TRACKING_URI`` or MLflow's default. ``must_exist``: whether a
    missing SQLite file is refused. Raises: InputError, also if MLflow is not installed.
    """
    mlflow = library("mlflow", "mlflow")
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
    """Keep MLflow from logging the tables it creates, from drawing progress, and from minutes of silent retries."""
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
