"""What an example prints, run as a reader runs it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def printed(tmp_path: Path, preloaded_programs: Path) -> Callable[..., str]:
    """Returns what an example prints, run in a folder of its own by a Python that has begun."""

    def run(name: str, *arguments: str) -> str:
        environment = {key: value for key, value in os.environ.items() if key != "NDCG_TRACK_DB"}
        environment["PYTHONPATH"] = str(EXAMPLES.parent)
        done = subprocess.run(
            [preloaded_programs / "preloaded-python", "-W", "error", EXAMPLES / name, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run
