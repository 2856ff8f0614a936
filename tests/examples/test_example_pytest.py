"""The example of a release test, run by a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pytest_gate.py"


@pytest.mark.nightly
def test_the_gate_as_a_test_says_what_it_decided(tmp_path: Path) -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40
    others = ("NDCG_TRACK", "PYTEST", "GITHUB")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-q", "-rP", str(EXAMPLE)], cwd=tmp_path, env=kept, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "PASS: new may replace old on shop (ndcg@10, margin 0.01)\n" in done.stdout
    delta = "delta +0.0055; the data allow -0.0001 to +0.014; PASS needs the lower end above -0.01"
    assert f"  {delta}\n" in done.stdout
    assert "2 passed" in done.stdout
