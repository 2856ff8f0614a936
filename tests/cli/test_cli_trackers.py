"""``ndcg-track push mlflow`` and ``ndcg-track pull mlflow`` with the real MLflow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from mlflow_store import MLFLOW_WARNINGS, MlflowStore, store_in

pytestmark = MLFLOW_WARNINGS


@pytest.fixture
def store(folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> MlflowStore:
    """MLflow on a SQLite file."""
    return store_in(folder, tmp_path_factory.getbasetemp(), monkeypatch)


@pytest.mark.nightly
def test_there_and_back(store: MlflowStore, shop: CommandLine, sqlite_command: CommandLine) -> None:
    printed = shop.done("push", "mlflow", "dense", "--experiment", "shop")
    (run,) = store.runs()
    run_id = run.info.run_id
    heading, row = printed.splitlines()
    assert heading.split() == ["run", "dataset", "outcome", "mlflow_run_id", "experiment", "metrics", "tracking_uri"]
    assert row.split()[:6] == ["dense", "shop", "created", run_id, "shop", "1"]
    (again,) = shop.rows("push", "mlflow", "dense", "--experiment", "shop", "--dataset", "shop")
    assert again == {
        "run": "dense", "dataset": "shop", "outcome": "updated", "mlflow_run_id": run_id, "experiment": "shop",
        "n_metrics": 1, "tracking_uri": store.uri,
    }  # fmt: skip
    sqlite_command.url = "other.db"
    (line,) = sqlite_command.done("pull", "mlflow", run_id).splitlines()[1:]
    assert line.split() == ["dense", "1", "shop", "stored", "4", "9", "1", "ndcg@10", "0.4981"]
    assert sqlite_command.done("pull", "mlflow", run_id, "--format", "csv").splitlines() == [
        "run,run_id,dataset,outcome,n_groups,n_items,label_set_version,metric,mean",
        f"dense,1,shop,already stored,4,9,1,ndcg@10,{run.data.metrics['ndcg_at_10']!r}",
    ]
    (renamed,) = sqlite_command.rows(
        "pull", "mlflow", "dense", "--experiment", "shop", "--dataset", "copy", "--name", "copied"
    )
    assert (renamed["run"], renamed["dataset"], renamed["outcome"]) == ("copied", "copy", "stored")


def test_another_server(store: MlflowStore, shop: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert shop.refused("pull", "mlflow", "x", "--tracking-uri", "sqlite:///none.db") == (
        "none.db: the MLflow database does not exist; give --tracking-uri or set MLFLOW_TRACKING_URI"
    )
    shop.done("push", "mlflow", "bm25", "--tracking-uri", store.uri, "--experiment", "shop")
    (run,) = store.runs()
    assert shop.rows("pull", "mlflow", run.info.run_id, "--tracking-uri", store.uri)[0]["outcome"] == "already stored"


def test_notes_and_errors_are_told(store: MlflowStore, shop: CommandLine) -> None:
    shop("ingest", "bm25.csv", "--labels", "labels.csv", "--dataset", "noted", "--name", "noted", "--param", "a@b=1")
    printed = shop("push", "mlflow", "noted", "--experiment", "shop")
    assert (printed.code, printed.err) == (
        0,
        "note: noted: parameter 'a@b' was not pushed: MLflow allows only letters, digits, _ - . : / and spaces in a "
        "name\n",
    )
    assert shop.refused("push", "mlflow", "nope").startswith("no run 'nope'")
    assert shop.refused("pull", "mlflow", "nope") == (
        "there is no MLflow run 'nope'; give an id, or a name with --experiment"
    )
    (run,) = store.runs()
    shop("ingest", "bm25.csv", "--labels", "labels.csv", "--dataset", "large", "--name", "other")
    shop("ingest", "dense.run", "--dataset", "large", "--name", "noted")
    assert shop.refused("pull", "mlflow", run.info.run_id, "--dataset", "large") == (
        "run 'noted' of dataset 'large' is already stored with other content; keep both with --name noted-2, or "
        "replace it with --replace"
    )
    (replaced,) = shop.rows("pull", "mlflow", run.info.run_id, "--dataset", "large", "--replace")
    assert replaced["outcome"] == "replaced"


def test_without_mlflow_installed(shop: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    for arguments in (["push", "mlflow", "bm25"], ["pull", "mlflow", "x"]):
        assert shop.refused(*arguments) == (
            "mlflow is not installed; install it with: pip install 'ndcg-tracker[mlflow]'"
        )


@pytest.mark.parametrize(
    "statements",
    [
        "import ndcg_tracker.cli.app",
        "import ndcg_tracker.integrations.mlflow",
        "from ndcg_tracker.cli.app import run; assert run(['push', 'mlflow', '--help']) == 0",
    ],
)
def test_mlflow_is_not_imported_before_it_is_used(statements: str) -> None:
    program = f"import json, sys; {statements}; print(json.dumps(['mlflow' in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [False]
