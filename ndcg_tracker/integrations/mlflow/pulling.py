"""Pull a run from an MLflow server into the database, from the table of items that was logged there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC, Option, Positional, Replace
from ndcg_tracker.errors import InputError, MetricError, argument
from ndcg_tracker.integrations.mlflow.tracking import (
    RANKING,
    TrackingUri,
    link_tags,
    live_run,
    mlflow_client,
)
from ndcg_tracker.integrations.stored_run import FACTS, metric_name
from ndcg_tracker.metrics.language.text import asked_for, parse_metric
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.notes import Fact, Note, in_words

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.runs.ingest import IngestResult

MlflowRun = Annotated[str, Positional("Id of the MLflow run, or its name with --experiment.", metavar="ID")]
_WHERE = "the one it was evaluated under"
PulledDataset = Annotated[str | None, Option("The dataset to store it in.", default=_WHERE)]
PulledName = Annotated[str | None, Option("Name of the run.", default=_WHERE)]
OfExperiment = Annotated[str | None, Option("The MLflow experiment to find the name in.")]
_COLUMNS = ("group", "item", "score", "label")


@dataclass(frozen=True)
class PulledRun:
    """The result of pulling a table of an MLflow run. ``notes``: remarks, in words."""

    result: IngestResult
    mlflow_run_id: str
    notes: tuple[str, ...]


def pull(
    tracker: Tracker,
    run_id: MlflowRun,
    *,
    dataset: PulledDataset = None,
    name: PulledName = None,
    replace: Replace = False,
    tracking_uri: TrackingUri = None,
    experiment: OfExperiment = None,
) -> list[PulledRun]:
    """Store the run whose items an MLflow run has as ``ndcg_ranking.parquet`` (several, if they have prefixes).

    Metrics are recomputed from items and labels. Parameters: ``run_id``: the MLflow run's id, or its name if
    ``experiment`` is given. ``dataset`` and ``name``: by default those it was evaluated with. ``replace``:
    replace other content under this name. ``tracking_uri``: by default ``MLFLOW_TRACKING_URI``. Returns:
    one entry per table. Raises: InputError if the MLflow run or table does not exist; ConflictError (see
    ``Tracker.ingest``).
    """
    with TemporaryDirectory(prefix="ndcg-tracker-") as folder:
        with mlflow_client(tracking_uri, must_exist=True) as (client, uri):
            source = _source_run(client, run_id, experiment)
            paths = _downloaded(client, source, uri, Path(folder))
            experiment_name = client.get_experiment(source.info.experiment_id).name
        refuse("pull mlflow", {"name": name, "several_files": len(paths) > 1})
        links = partial(link_tags, source.info.run_id, experiment_name, uri)
        return [_stored(tracker, source, path, links, dataset, name, replace) for path in paths]


def _source_run(client: MlflowClient, run_id: str, experiment: str | None) -> Run:
    if experiment is None:
        live = live_run(client, run_id)
        if live is None:
            raise InputError(
                f"there is no MLflow run {run_id!r}", advice=f"give an id, or a name with {argument('experiment')}"
            )
        return live
    there = client.get_experiment_by_name(experiment)
    if there is None:
        raise InputError(f"there is no MLflow experiment {experiment!r}", advice="check its name in MLflow")
    live = live_run(client, run_id)
    if live is not None and live.info.experiment_id == there.experiment_id:
        return live
    quote = '"' if "'" in run_id else "'"
    named = client.search_runs([there.experiment_id], f"attributes.run_name = {quote}{run_id}{quote}", max_results=10)
    if not named:
        raise InputError(
            f"MLflow experiment {experiment!r} has no run {run_id!r}", advice="give the id or name of one of its runs"
        )
    if len(named) > 1:
        ids = ", ".join(run.info.run_id for run in named)
        raise InputError(
            f"MLflow experiment {experiment!r} has several runs {run_id!r}", advice=f"give the id of one: {ids}"
        )
    return named[0]


def _downloaded(client: MlflowClient, source: Run, uri: str, folder: Path) -> list[Path]:
    names = sorted(
        artifact.path for artifact in client.list_artifacts(source.info.run_id) if artifact.path.endswith(RANKING)
    )
    if not names:
        raise InputError(
            f"MLflow run {source.info.run_id} has no artifact {RANKING}, which holds the items",
            advice=(
                "evaluate it again with evaluators='ndcg_tracker' and without 'log_ranking': False, or push the stored "
                "run with: ndcg-track push mlflow RUN"
            ),
        )
    return [Path(client.download_artifacts(source.info.run_id, name, str(folder))) for name in names]


def _stored(
    tracker: Tracker,
    source: Run,
    path: Path,
    links: Callable[[str], dict[str, str]],
    dataset: str | None,
    name: str | None,
    replace: bool,
) -> PulledRun:
    from ndcg_tracker.ingest.reading import read_run
    from ndcg_tracker.runs.ingest import RunDetails

    prefix = path.name.removesuffix(RANKING)
    called = f"{path.name} of MLflow run {source.info.run_id}"
    facts = _facts(path, called)
    kept = {str(key): str(value) for key, value in facts.get("tags", {}).items()}
    table = read_run(str(path), reader="parquet", name=called)
    details = RunDetails(
        name or facts.get("run") or source.info.run_name or source.info.run_id,
        dataset or facts.get("dataset") or DEFAULT_DATASET,
        facts.get("source") or f"MLflow run {source.info.run_id}",
        facts.get("git_commit") or source.data.tags.get("mlflow.source.git.commit"),
        facts.get("parameters") or source.data.params,
        {**kept, **links(prefix)},
        replace=replace,
    )
    texts = facts.get("requested_as", {})
    metrics = [asked_for(metric, texts.get(metric)) or metric for metric in facts.get("metrics") or [DEFAULT_METRIC]]
    result = tracker.ingest_stream([table], None, details, metrics)
    return PulledRun(result, source.info.run_id, (*result.notes, *in_words(_differences(result, source, prefix))))


def _facts(path: Path, called: str) -> dict[str, Any]:
    """Return the metadata of the file about its run; empty if another program wrote it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"not a readable Parquet file ({' '.join(str(error).split())[:100]})", where=called) from None
    missing = [name for name in _COLUMNS if name not in schema.names]
    if missing:
        raise InputError(f"has no column {missing[0]!r}; a run needs {', '.join(_COLUMNS)}", where=called)
    try:
        facts = json.loads((schema.metadata or {}).get(FACTS, b"{}"))
        for text in facts.get("metrics", []):
            parse_metric(text)
    except MetricError as error:
        raise InputError(f"holds a metric that this program does not know ({error})", where=called) from None
    except (ValueError, AttributeError, TypeError):
        raise InputError(
            "its metadata about the run cannot be read", where=called, advice="push the run again"
        ) from None
    return dict(facts)


def _differences(result: IngestResult, source: Run, prefix: str) -> list[Note]:
    """Return a note per metric whose mean in MLflow differs from the mean here."""
    notes = []
    for evaluated in result.metrics:
        there = source.data.metrics.get(prefix + metric_name(evaluated.metric))
        if there is not None and evaluated.mean is not None and there != evaluated.mean:
            facts: dict[str, Fact] = {"metric": evaluated.metric, "here": evaluated.mean, "there": float(there)}
            facts |= {"version": result.label_set_version, "dataset": result.dataset}
            notes.append(Note("other_mean", facts))
    return notes
