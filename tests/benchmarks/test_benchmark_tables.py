"""The programs that make a table of the docs, on tiny data."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "options", "head", "first"),
    [
        (
            "steps.py",
            ["--groups", "50", "--share", "0.01"],
            "| runs | no step | 1 unit | 1.5 units | 2 units | 3 units |",
            "20",
        ),
        (
            "pages.py",
            ["--groups", "30"],
            "| groups | the file | `compare` | `report` | `plot` | to open the page |",
            "30",
        ),
    ],
)
def test_a_table_is_printed(program: str, options: list[str], head: str, first: str) -> None:
    command = [sys.executable, str(REPOSITORY / "benchmarks" / program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == head
    assert lines[2].startswith(f"| {first} | ")
