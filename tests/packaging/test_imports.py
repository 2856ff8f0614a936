import subprocess
import sys

import pytest

HEAVY = ["alembic", "pandas", "psycopg", "pyarrow", "scipy", "sqlalchemy"]


@pytest.mark.parametrize("module", ["ndcg_tracker", "ndcg_tracker.cli.app"])
def test_the_start_imports_nothing_heavy(module: str) -> None:
    program = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_importing_the_package_does_not_import_typer() -> None:
    program = "import sys, ndcg_tracker; print('typer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
