"""The example for MLflow runs with the real library, and prints what both sides hold."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow_store import variables

import ndcg_tracker as nt

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mlflow_evaluator.py"


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.nightly
def test_it_prints_the_means_and_what_changed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        cwd=tmp_path,
        env={**variables(), "PYTHONPATH": str(EXAMPLE.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    with nt.Tracker(tmp_path / "ndcg-track.db") as tracker:
        stored = {run.name: {one.metric: one.mean for one in tracker.run(run.name)[1]} for run in tracker.runs("shop")}
    assert lines[:2] == [
        f"{name} { ({'ndcg_at_10': round(means['ndcg@10'] or 0, 4), 'AP': round(means['AP'] or 0, 4)}) }"
        for name, means in stored.items()
    ]
    gain = (stored["text+popularity"]["ndcg@10"] or 0) - (stored["text"]["ndcg@10"] or 0)
    assert gain > 0.01
    assert lines[2].startswith("text+popularity against text on shop (")
    assert f"): ndcg@10 better by {gain:.4f}" in lines[2]
    assert re.fullmatch("the same again: (ndcg-track compare text text.popularity)", lines[-1])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlflow.db", "mlruns", "ndcg-track.db"]
