"""Where and with what a run was made, and what of it is there."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from processes import ROOT, Figures, TaskError, Worker, done

_VERSIONS = """
import importlib.metadata as metadata, importlib.util as util, json, sys
found = {}
for module, distribution in json.loads(sys.argv[1]):
    if util.find_spec(module) is not None:
        try:
            found[module] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found[module] = ""
print(json.dumps(found))
"""


def versions(python: str, modules: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the version of each module that a Python has ("" where none is known)."""
    found = json.loads(done([python, "-c", _VERSIONS, json.dumps(list(modules))]))
    return {str(name): str(version) for name, version in found.items()}


def described(tools: Mapping[str, str], postgres: str) -> Figures:
    """Return the machine, the commit and the versions."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit.stdout.strip(),
        "postgres": postgres,
        "tools": dict(tools),
    }


def trec_eval_version(path: str) -> str:
    """Return what ``trec_eval --version`` says of itself. Raises: TaskError where there is no such program."""
    if not Path(path).is_file():
        raise TaskError(f"there is no file {path}")
    found = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return (found.stdout or found.stderr).strip().rpartition(" ")[2]


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


class Postgres:
    """The server of ``postgres.py``: databases for those who ask."""

    def __init__(self, python: str, url: str) -> None:
        program = [python, str(ROOT / "benchmarks" / "postgres.py")]
        self._worker = Worker([*program, url] if url else program)
        self.version = str(self._worker.first["version"])

    def create(self, name: str) -> str:
        """Create a database and return its URL."""
        self.drop(name)
        return str(self._worker.ask(f"create {name}")["url"])

    def drop(self, name: str) -> None:
        """Drop a database, if there is one."""
        self._worker.ask(f"drop {name}")

    def megabytes(self, name: str) -> float:
        """Return how large a database is."""
        return float(str(self._worker.ask(f"size {name}")["bytes"])) / 1e6

    def close(self) -> None:
        """Stop the server if it was started for this."""
        self._worker.close()
