"""The examples for DVC, DuckDB and notebooks, run with the real tools."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from notebook_cells import code_cells, outputs_of, timeless

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MOST_LINES = 40


def printed_by(example: str, folder: Path) -> str:
    """Run an example in a process of its own, in a folder that is its home too, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NDCG_TRACK", "DVC_", "GIT_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    own = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "DVC_SITE_CACHE_DIR", "DVC_GLOBAL_CONFIG_DIR")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / example)],
        cwd=folder,
        env={**kept, **own, "PATH": path, "COLUMNS": "100", "TZ": "UTC", "PYTHONPATH": str(EXAMPLES.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", ["duckdb_over_parquet.py", "dvc_pipeline.py"])
def test_an_example_fits_on_a_page(example: str) -> None:
    assert len((EXAMPLES / example).read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.nightly
def test_dvc_shows_what_changed_between_two_commits(tmp_path: Path) -> None:
    lines = printed_by("dvc_pipeline.py", tmp_path).splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["Path", "Metric", "HEAD~1", "HEAD", "Change"],
        ["metrics.json", "RR", "0.75", "1.0", "0.25"],
        ["metrics.json", "ndcg_at_10", "0.74532", "0.92986", "0.18454"],
    ]
    runs = [line.split() for line in lines if line.startswith("run-")]
    assert [words[3] for words in runs] == ["0.7453", "0.9299"]
    assert runs[1][-1] == "+0.1845"


@pytest.mark.nightly
def test_duckdb_reads_the_export(tmp_path: Path) -> None:
    means, worst, judged, views = printed_by("duckdb_over_parquet.py", tmp_path).splitlines()
    assert means == "[('new', 0.9532395666173991, 6), ('old', 1.0, 6)]"
    assert worst == "[('query 1', -0.14028130014780282), ('query 2', -0.14028130014780282)]"
    assert judged == "[('new', 1.0), ('old', 1.0)]"
    assert views == "[['new', 0.9532395666173991, 6], ['old', 1.0, 6]]"


@pytest.mark.nightly
def test_the_notebook_shows_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NDCG_TRACK_DB", raising=False)
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = code_cells(notebook)
    stored = [cell["outputs"] for cell in cells]
    found = outputs_of(notebook)
    assert timeless(found) == timeless(stored)
    shown = ["".join(output[0]["data"]["text/html"]) for output in found if output]
    assert len(shown) == 6
    assert all("<table" in html for html in shown)
    n_lines = sum(bool(line.strip()) for cell in cells for line in cell["source"])
    assert n_lines <= MOST_LINES
