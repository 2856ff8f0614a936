"""The year of ``benchmarks/year.py`` on tiny data: it is made, asked, and kept."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
def test_a_small_year_is_made_and_asked(tmp_path: Path, postgres_url: str) -> None:
    program = [sys.executable, str(REPOSITORY / "benchmarks" / "year.py"), "--folder", str(tmp_path)]
    sizes = ["--postgres", postgres_url, "--runs", "12", "--groups", "24", "--rounds", "1"]
    done = subprocess.run([*program, *sizes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    head, _, *rows = done.stdout.splitlines()
    assert head == "| 12 runs x 24 groups, seconds | Postgres | SQLite | goal | rows |"
    assert [row.split(" | ")[-2] for row in rows][:3] == ["2", "2", "0.5"]
    assert all(len(row.split(" | ")) == 5 and not row.endswith("| 0 |") for row in rows), rows
    assert (tmp_path / "year-12-24.db").is_file()
