"""What an import of these layers must not bring along."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("ndcg_tracker.reporting.formats", {"numpy", "scipy", "pandas", "pyarrow", "sqlalchemy", "rich", "typer"}),
        ("ndcg_tracker.comparison", {"scipy", "pandas", "pyarrow", "sqlalchemy"}),
    ],
)
def test_import_is_light(module: str, unwanted: set[str]) -> None:
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert unwanted.isdisjoint(done.stdout.split())


def test_a_comparison_needs_no_scipy_stats() -> None:
    program = (
        "import sys, numpy; from ndcg_tracker.comparison import *; "
        "paired_t(numpy.array([0.5, 0.25])); detectable_delta(9, 1.0); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "scipy.special" in done.stdout.split()
    assert "scipy.stats" not in done.stdout.split()
