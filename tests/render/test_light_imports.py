"""What an import of these layers must not bring along."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("ndcg_tracker.render.formats", {"numpy", "scipy", "pandas", "pyarrow", "sqlalchemy", "rich", "typer"}),
        ("ndcg_tracker.compare.decide", {"scipy", "pandas", "pyarrow", "sqlalchemy"}),
    ],
)
def test_import_is_light(module: str, unwanted: set[str]) -> None:
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert unwanted.isdisjoint(done.stdout.split())


def test_an_ordinary_comparison_needs_no_scipy() -> None:
    program = (
        "import sys, numpy; from ndcg_tracker.compare.decide import compare_metrics; "
        "from ndcg_tracker.statistics.t_test import detectable_delta, paired_t; "
        "detectable_delta(paired_t(numpy.array([0.5, 0.25]))); print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
