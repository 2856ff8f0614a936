"""A real MLflow for the tests: a SQLite backend and a folder for artifacts, nothing over the network."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "GIT_PYTHON_REFRESH": "quiet",
}
MLFLOW_WARNINGS = [
    pytest.mark.filterwarnings(f"ignore:{message}")
    for message in (
        "The ``noload`` loader strategy is deprecated:sqlalchemy.exc.SADeprecationWarning",  # in MLflow's own mappings
        ".*Any type hint is inferred as AnyType:UserWarning",  # of MLflow's own types, when they are imported
        "Starting with pandas version 4.0 all arguments of all will be keyword-only:DeprecationWarning",
        "The inplace keyword in DataFrame.drop is deprecated:DeprecationWarning",
        "Hint. Inferred schema contains integer column:UserWarning",
    )
]
"""What MLflow 3.17 warns of by itself."""


@dataclass(frozen=True)
class MlflowStore:
    """A tracking URI, and an experiment ``shop`` whose artifacts lie in a folder of the test."""

    uri: str
    experiment_id: str

    @property
    def client(self) -> Any:
        """A client of it."""
        import mlflow

        return mlflow.MlflowClient(tracking_uri=self.uri)

    def run(self, run_id: str) -> Any:
        """Return an MLflow run."""
        return self.client.get_run(run_id)

    def runs(self) -> list[Any]:
        """Return the MLflow runs of all experiments, oldest first."""
        experiments = [one.experiment_id for one in self.client.search_experiments()]
        return list(reversed(self.client.search_runs(experiments)))

    def artifacts(self, run_id: str) -> list[str]:
        """Return the names of the artifacts at the root of a run."""
        return sorted(one.path for one in self.client.list_artifacts(run_id))

    def artifact(self, run_id: str, name: str) -> Path:
        """Return the file of an artifact."""
        path = Path(self.run(run_id).info.artifact_uri.removeprefix("file://")) / name
        assert path.is_file()
        return path


def variables(store: MlflowStore | None = None) -> dict[str, str]:
    """Return the environment of a program of its own that uses MLflow."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "NDCG_TRACK"))}
    return kept | QUIET | ({} if store is None else {"MLFLOW_TRACKING_URI": store.uri})


def store_in(folder: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch) -> MlflowStore:
    """Make a store in a folder, which becomes the current one, and let MLflow and ndcg_tracker work there.

    ``sessions``: the folder of this session's tests; the tables, which take seconds to make, are made there once.
    """
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "NDCG_TRACK"))]:
        monkeypatch.delenv(name)
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    import mlflow

    path = folder / "mlflow.db"
    uri = f"sqlite:///{path}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    shutil.copyfile(_empty(sessions.parent if "PYTEST_XDIST_WORKER" in os.environ else sessions), path)
    client = mlflow.MlflowClient()
    return MlflowStore(uri, client.create_experiment("shop", artifact_location=f"file://{folder / 'artifacts'}"))


def _empty(folder: Path) -> Path:
    """Return a SQLite backend with MLflow's tables and nothing else, which all processes of a session share."""
    import mlflow

    path = folder / "mlflow-empty.db"
    if not path.exists():
        unfinished = folder / f"mlflow-empty-{os.getpid()}.db"
        mlflow.MlflowClient(tracking_uri=f"sqlite:///{unfinished}").search_experiments()
        unfinished.replace(path)
    return path
